// SPDX-License-Identifier: MIT
// `cleave-mpi verify`: the pairs of many processes, frame by frame, beside those of one.
#include "cleave/space.h"
#include "lab/mpi_world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// Up to here brute force judges; beyond, the default method on one process.
#define BRUTE_MOST 20000u

/// On process 0.
typedef struct one_judge
{
    clv_space* space;
    clv_id* ids;
    clv_aabb* boxes;
    uint64_t pair_count; ///< over all frames
} one_judge;

static bool open_judge( one_judge* judge, const mpi_frames* f, job* j )
{
    uint32_t count = f->header.object_count;
    clv_space_def def = clv_default_space_def();
    def.sorted = true;
    def.method = count <= BRUTE_MOST ? "brute" : "cleave";
    judge->ids = calloc( count, sizeof( clv_id ) );
    judge->boxes = calloc( count, sizeof( clv_aabb ) );
    return ( judge->ids != NULL && judge->boxes != NULL &&
               clv_space_create( &def, &judge->space ) == CLV_OK ) ||
        lab_error_write( &j->why, "out of memory for %u boxes on one process", count );
}

static void close_judge( one_judge* judge )
{
    clv_space_destroy( judge->space );
    free( judge->ids );
    free( judge->boxes );
}

static bool feed_judge( one_judge* judge, const mpi_frames* f, job* j, uint32_t frame )
{
    uint32_t count = f->header.object_count;
    clv_result result = frame == 0 ? clv_space_add( judge->space, judge->boxes, count, judge->ids )
                                   : clv_space_move( judge->space, judge->ids, judge->boxes, count );
    result = result == CLV_OK ? clv_space_update( judge->space ) : result;
    return result == CLV_OK ||
        lab_error_write( &j->why, "frame %u: one process: %s", frame, clv_result_text( result ) );
}

// Both lists are sorted.
static bool same_lists( job* j, clv_pair_view one, clv_mpi_pair_view many, uint32_t frame )
{
    for ( uint64_t i = 0; i < one.count || i < many.count; ++i )
    {
        bool has_one = i < one.count, has_many = i < many.count;
        uint64_t a = has_many ? many.pairs[i].a : 0, b = has_many ? many.pairs[i].b : 0;
        if ( has_one && has_many && one.pairs[i].a == a && one.pairs[i].b == b )
        {
            continue;
        }
        bool is_missing =
            has_one && ( !has_many || one.pairs[i].a < a || ( one.pairs[i].a == a && one.pairs[i].b < b ) );
        lab_error_write( &j->why, "frame %u: pair %" PRIu64 "-%" PRIu64 " is %s", frame,
            is_missing ? one.pairs[i].a : a, is_missing ? one.pairs[i].b : b,
            is_missing ? "missing" : "extra" );
        j->why.status = LAB_DISAGREES;
        return false;
    }
    return true;
}

static bool verify_frame( mpi_world* w, one_judge* judge, job* j, uint32_t frame )
{
    double ms = 0;
    bool ok = frame == 0 ? mpi_world_begin( w, j )
                         : mpi_frames_read( &w->frames, j, frame ) && mpi_world_step( w, j, frame, &ms );
    if ( !ok )
    {
        return false;
    }
    mpi_frames_gather( &w->frames, j, judge->boxes );
    if ( !job_agree( j, j->rank != 0 || feed_judge( judge, &w->frames, j, frame ) ) )
    {
        return false;
    }
    clv_mpi_pair_view many;
    clv_result result = clv_mpi_space_gather( w->space, 0, &many );
    if ( result != CLV_OK )
    {
        return lab_error_write( &j->why, "frame %u: %s", frame, clv_mpi_space_error( w->space ).text );
    }
    judge->pair_count += many.count;
    return job_agree( j, j->rank != 0 || same_lists( j, clv_space_pairs( judge->space ), many, frame ) );
}

static bool verify_frames( mpi_world* w, one_judge* judge, job* j )
{
    bool ok = job_agree( j, j->rank != 0 || open_judge( judge, &w->frames, j ) );
    for ( uint32_t frame = 0; ok && frame <= w->frames.frame_count; ++frame )
    {
        ok = verify_frame( w, judge, j, frame );
    }
    if ( ok && j->rank == 0 )
    {
        printf( "%s: %d processes agree with %s on one, frames 0 to %u, %" PRIu64 " pairs\n", j->o->what,
            j->process_count, clv_space_method( judge->space ), w->frames.frame_count, judge->pair_count );
    }
    return ok;
}

bool job_verify( job* j )
{
    mpi_world w;
    one_judge judge = { 0 };
    bool ok = mpi_world_open( &w, j ) && verify_frames( &w, &judge, j );
    mpi_world_close( &w );
    close_judge( &judge );
    return ok;
}
