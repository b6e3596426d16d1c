// SPDX-License-Identifier: MIT
// `cleave-mpi verify`: the pairs of many processes, frame by frame, beside those of one.
#include "cleave/space.h"
#include "lab/base/terminal.h"
#include "lab/measure/judge.h"
#include "lab/mpi/mpi_job.h"
#include "record/record.h"

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
    judge->ids = lab_take( count, sizeof( clv_id ) );
    judge->boxes = lab_take( count, sizeof( clv_aabb ) );
    return clv_space_create( &def, &judge->space ) == CLV_OK ||
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

// What process 0 sees. Ids are numbers of objects, and so fit 32 bits.
static verdict_difference compare_lists(
    const one_judge* judge, clv_mpi_pair_view many, uint32_t object_count )
{
    clv_pair_view one = clv_space_pairs( judge->space );
    verdict_list expected = { 0 }, found = { .items = lab_take( many.count, sizeof( clv_pair ) ) };
    verdict_list_set( &expected, one.pairs, one.count );
    for ( uint64_t i = 0; i < many.count; ++i )
    {
        found.items[found.count++] = ( clv_pair ){ (uint32_t)many.pairs[i].a, (uint32_t)many.pairs[i].b };
    }
    verdict_difference difference = verdict_compare( &expected, &found, object_count );
    verdict_list_free( &expected );
    verdict_list_free( &found );
    return difference;
}

// The process that owns an object; -1: none. Collective.
static int owner_of( const clv_mpi_space* space, const job* j, uint64_t wanted )
{
    int mine = -1, owner = -1;
    uint64_t id = 0;
    clv_aabb box;
    for ( uint32_t i = 0; clv_mpi_space_object_at( space, i, &id, &box ) == CLV_OK; ++i )
    {
        mine = id == wanted ? j->rank : mine;
    }
    MPI_Allreduce( &mine, &owner, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD );
    return owner;
}

// All processes get what process 0 found, with the owners of the first pair that differs. Collective.
static bool are_same( const clv_mpi_space* space, job* j, verdict_difference d, uint32_t frame )
{
    MPI_Bcast( &d, (int)sizeof( d ), MPI_BYTE, 0, MPI_COMM_WORLD );
    if ( d.fault == VERDICT_FINE )
    {
        return true;
    }
    int owner_a = owner_of( space, j, d.pair.a ), owner_b = owner_of( space, j, d.pair.b );
    lab_error_write( &j->why,
        "frame %u: pair %u-%u %s (%u is process %d's, %u process %d's); in all %" PRIu64 " missing, %" PRIu64
        " extra, %" PRIu64 " twice",
        frame, d.pair.a, d.pair.b, verdict_fault_text( d.fault ), d.pair.a, owner_a, d.pair.b, owner_b,
        d.missing_count, d.extra_count, d.duplicate_count );
    j->why.status = LAB_DISAGREES;
    return false;
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
    verdict_difference d = { .fault = VERDICT_FINE };
    if ( j->rank == 0 )
    {
        d = compare_lists( judge, many, w->frames.header.object_count );
    }
    return are_same( w->space, j, d, frame );
}

// ---- the calls that lead to a difference, with the judge's answers, to be played with
// the method of the processes

static bool feed_recorded( mpi_world* w, one_judge* judge, job* j, uint32_t last )
{
    bool ok = true;
    for ( uint32_t frame = 0; ok && frame <= last; ++frame )
    {
        ok = mpi_frames_read( &w->frames, j, frame );
        if ( ok )
        {
            mpi_frames_gather( &w->frames, j, judge->boxes );
            ok = job_agree( j, j->rank != 0 || feed_judge( judge, &w->frames, j, frame ) );
        }
    }
    return ok;
}

// Collective; what was found stays what the program ends with.
static void write_recording( mpi_world* w, job* j, uint32_t last )
{
    const run_spec* spec = &j->methods.items[0];
    clv_recorder_def how = clv_default_recorder_def();
    how.path = j->o->record;
    one_judge again = { 0 };
    clv_recorder* recorder = NULL;
    clv_result result = CLV_OK;
    lab_error found = j->why;
    bool ok = j->rank != 0 || open_judge( &again, &w->frames, j );
    if ( ok && j->rank == 0 )
    {
        result = clv_record_create_as(
            &how, again.space, spec->row->name, spec->settings != NULL ? spec->settings : "", &recorder );
        ok = result == CLV_OK || lab_error_write( &j->why, "%s", clv_result_text( result ) );
    }
    ok = job_agree( j, ok ) && feed_recorded( w, &again, j, last );
    result = clv_recorder_close( recorder );
    ok = ok && ( result == CLV_OK || lab_error_write( &j->why, "%s", clv_result_text( result ) ) );
    close_judge( &again );
    progress_clear_line();
    if ( j->rank == 0 && ok )
    {
        printf(
            "  %s: the calls up to here on one space; `cleave replay %s` tells if they are wrong there too\n",
            how.path, how.path );
    }
    else if ( j->rank == 0 )
    {
        lab_note( "verify: --record %s: %s", how.path, j->why.text );
    }
    j->why = found;
}

static bool verify_frames( mpi_world* w, one_judge* judge, job* j )
{
    bool ok = job_agree( j, j->rank != 0 || open_judge( judge, &w->frames, j ) );
    progress_bar bar;
    progress_begin( &bar, j->o->what, "frames", (uint64_t)w->frames.frame_count + 1 );
    for ( uint32_t frame = 0; ok && frame <= w->frames.frame_count; ++frame )
    {
        ok = verify_frame( w, judge, j, frame );
        if ( !ok && j->why.status == LAB_DISAGREES && j->o->record != NULL )
        {
            write_recording( w, j, frame );
        }
        progress_show( &bar, (uint64_t)frame + 1 );
    }
    progress_end( &bar );
    if ( ok && j->rank == 0 )
    {
        printf( "%s: %d process%s with %s on one, frames 0 to %u, %" PRIu64 " pairs\n", j->o->what,
            j->process_count, j->process_count == 1 ? " agrees" : "es agree",
            clv_space_method( judge->space ), w->frames.frame_count, judge->pair_count );
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
