// SPDX-License-Identifier: MIT
// `cleave-mpi plan`: a scene cut for many processes by the library's own bisection, at its first frame, and what they would hold and send
// in a later one. Nothing of theirs runs; with a sample not even all boxes are made.
#include "mpi_regions.h"

#include "lab/base/text.h"
#include "lab/mpi_frames.h"
#include "lab/result/output.h"
#include "lab/result/results.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Over all processes of the plan. Counts of a sample are scaled up.
typedef struct plan_sums
{
    double objects, ghosts, bytes, letters, going, wide, neighbours;
    double own_most, load_most, ghosts_most, bytes_most, neighbours_most;
    double own_imbalance;  ///< most own boxes / mean - 1
    double load_imbalance; ///< the same of own boxes and ghosts
    double noise;          ///< of either, from a sample alone
    uint32_t owning;
} plan_sums;

static double larger( double a, double b )
{
    return a > b ? a : b;
}

static plan_sums sum_up( const mpi_plan* plan, double scale )
{
    plan_sums s = { 0 };
    double count = plan->process_count;
    for ( int32_t r = 0; r < plan->process_count; ++r )
    {
        const mpi_plan_process* one = &plan->processes[r];
        double neighbours = clv_mpi_plan_neighbours( plan, r );
        s.objects += (double)one->own * scale;
        s.ghosts += (double)one->ghosts * scale;
        s.bytes += (double)one->bytes * scale;
        s.letters += (double)one->letters * scale;
        s.going += (double)one->going * scale;
        s.wide += (double)one->wide * scale;
        s.neighbours += neighbours / count;
        s.own_most = larger( s.own_most, (double)one->own * scale );
        s.load_most = larger( s.load_most, (double)( one->own + one->ghosts ) * scale );
        s.ghosts_most = larger( s.ghosts_most, (double)one->ghosts * scale );
        s.bytes_most = larger( s.bytes_most, (double)one->bytes * scale );
        s.neighbours_most = larger( s.neighbours_most, neighbours );
        s.owning += one->own > 0;
    }
    s.own_imbalance = s.objects > 0 ? s.own_most * count / s.objects - 1 : 0;
    s.load_imbalance = s.objects > 0 ? s.load_most * count / ( s.objects + s.ghosts ) - 1 : 0;
    // The largest of so many counts of a few: about sqrt( 2 ln P ) standard deviations.
    double each = s.objects / scale / count;
    s.noise = scale > 1 && each > 0 ? sqrt( 2 * log( count ) / each ) : 0;
    return s;
}

static json_value* plan_value( const plan_sums* s, const mpi_plan* plan, const mpi_frames* f, uint64_t made )
{
    json_value* value = json_object();
    json_put_text( value, "scene", f->header.name );
    json_put_text( value, "type", f->header.type );
    json_put_count( value, "objects", f->header.object_count );
    json_put_count( value, "sample", made );
    json_put_count( value, "frame", f->frame_count );
    json_put_count( value, "processes", (uint64_t)plan->process_count );
    json_put_count( value, "owning", s->owning );
    json_put_number( value, "ghosts", s->ghosts );
    json_put_number( value, "bytes_sent", s->bytes );
    json_put_number( value, "letters", s->letters );
    json_put_number( value, "going", s->going );
    json_put_number( value, "wide", s->wide );
    json_put_number( value, "own_most", s->own_most );
    json_put_number( value, "load_most", s->load_most );
    json_put_number( value, "ghosts_most", s->ghosts_most );
    json_put_number( value, "bytes_most", s->bytes_most );
    json_put_number( value, "own_imbalance", s->own_imbalance );
    json_put_number( value, "load_imbalance", s->load_imbalance );
    json_put_number( value, "sample_noise", s->noise );
    json_put_number( value, "neighbours", plan->links != NULL ? s->neighbours : NAN );
    json_put_number( value, "neighbours_most", plan->links != NULL ? s->neighbours_most : NAN );
    return value;
}

static json_value* plan_document( json_value* value )
{
    json_value* document = results_document( json_array(), NULL );
    json_put( document, "plan", value );
    return document;
}

static void print_plan( const plan_sums* s, const mpi_plan* plan, const mpi_frames* f, uint64_t made )
{
    char size[TEXT_SIZE_ROOM], bytes[TEXT_SIZE_ROOM], most[TEXT_SIZE_ROOM];
    double count = plan->process_count;
    printf( "%s, %s objects on %d processes, frame %u", f->header.name,
        text_size( f->header.object_count, size ), plan->process_count, f->frame_count );
    if ( made < f->header.object_count )
    {
        printf( ", from a sample of %s", text_size( made, size ) );
    }
    printf( "\n  objects   %.*f each, at most %.0f: %.1f %% above the mean", s->objects < 10 * count ? 1 : 0,
        s->objects / count, s->own_most, 100 * s->own_imbalance );
    if ( s->noise > 0 )
    {
        printf( ", of which up to %.1f %% is the sample's", 100 * s->noise );
    }
    printf( "\n  ghosts    %.0f, %.2f %% of the objects; at most %.0f on one\n", s->ghosts,
        100 * s->ghosts / larger( s->objects, 1 ), s->ghosts_most );
    printf(
        "  load      own boxes and ghosts: the most is %.1f %% above the mean\n", 100 * s->load_imbalance );
    printf(
        "  bytes     %s in an update, at most %s by one; %.0f objects change owner, %.0f reach more than %u\n",
        text_bytes( (uint64_t)s->bytes, bytes ), text_bytes( (uint64_t)s->bytes_most, most ), s->going,
        s->wide, plan->wide );
    if ( plan->links != NULL )
    {
        printf( "  messages  from %.1f neighbours, at most %.0f\n", s->neighbours, s->neighbours_most );
    }
}

static bool report( const mpi_plan* plan, const mpi_frames* f, uint64_t made, job* j, text_output* output )
{
    plan_sums s = sum_up( plan, (double)f->header.object_count / (double)made );
    if ( !text_output_is_stdout( output ) )
    {
        print_plan( &s, plan, f, made );
    }
    return output->path == NULL ||
        text_output_write_json( output, plan_document( plan_value( &s, plan, f, made ) ), &j->why );
}

// Cut at frame 0, counted from the last frame but one to the last.
static bool make_plan( mpi_plan* plan, mpi_frames* f, clv_aabb* before, job* j, text_output* output )
{
    if ( !mpi_frames_read( f, j, 0 ) )
    {
        return false;
    }
    clv_result result =
        clv_mpi_plan_open( plan, MPI_COMM_WORLD, (int32_t)j->o->processes, f->boxes, f->count );
    if ( result != CLV_OK )
    {
        return lab_error_write( &j->why, "plan: %s", clv_result_text( result ) );
    }
    if ( f->frame_count > 1 && !mpi_frames_read( f, j, f->frame_count - 1 ) )
    {
        return false;
    }
    memcpy( before, f->boxes, (size_t)f->count * sizeof( clv_aabb ) );
    if ( !mpi_frames_read( f, j, f->frame_count ) )
    {
        return false;
    }
    clv_mpi_plan_count( plan, before, f->boxes, f->count );
    clv_mpi_plan_sum( plan, MPI_COMM_WORLD );
    uint64_t made = job_sum( f->count );
    return job_agree( j, j->rank != 0 || report( plan, f, made, j, output ) );
}

bool job_plan( job* j )
{
    if ( j->o->processes == 0 )
    {
        return lab_error_write( &j->why, "plan: needs -P N, the number of processes to plan for" );
    }
    if ( j->o->processes < (uint64_t)j->process_count )
    {
        return lab_error_write( &j->why, "plan: -P %" PRIu64 " is less than the %d processes that plan",
            j->o->processes, j->process_count );
    }
    text_output output = { 0 };
    if ( !job_agree( j, j->rank != 0 || text_output_open_json( &output, j->o->json, &j->why ) ) )
    {
        return false;
    }
    mpi_frames f;
    mpi_plan plan = { 0 };
    bool ok = mpi_frames_open( &f, j );
    clv_aabb* before = ok ? calloc( (size_t)f.count + 1, sizeof( clv_aabb ) ) : NULL;
    ok = ok &&
        job_agree( j, before != NULL || lab_error_write( &j->why, "process %d: out of memory", j->rank ) ) &&
        make_plan( &plan, &f, before, j, &output );
    free( before );
    clv_mpi_plan_close( &plan );
    mpi_frames_close( &f );
    text_output_close( &output );
    return ok;
}
