// SPDX-License-Identifier: MIT
// What exchanges cost, measured and planned.
#include "lab/base/text.h"
#include "lab/mpi/mpi_job.h"
#include "lab/result/output.h"
#include "lab/result/results.h"
#include "mpi_regions.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// With --json open on process 0 meanwhile.
static bool run_with_output( job* j, bool ( *work )( job* j, text_output* output ) )
{
    text_output output = { 0 };
    bool ok = job_agree( j, j->rank != 0 || text_output_open_json( &output, j->o->json, &j->why ) ) &&
        work( j, &output );
    text_output_close( &output );
    return ok;
}

static bool write_document( text_output* output, const char* name, json_value* value, lab_error* why )
{
    json_value* document = results_document( json_array(), NULL );
    json_put( document, name, value );
    if ( output->path == NULL )
    {
        json_free( document );
        return true;
    }
    return text_output_write_json( output, document, why );
}

// ---- `cleave-mpi net`

// What a message costs between two processes, one pair at a time and all pairs at once, and what a small
// reduction over all costs. A message of b bytes takes about alpha + b / beta (R. W. Hockney, The
// communication challenge for MPP, Parallel Computing 20, 1994); docs/mpi.md uses both.

enum
{
    SIZES = 11,
    REDUCTIONS = 2000
};

static const uint32_t s_sizes[SIZES] = { 8, 64, 512, 4096, 16384, 65536, 262144, 1048576, 2097152, 4194304,
    8388608 };

typedef struct net
{
    char* buffer;
    double one_us[SIZES], all_us[SIZES]; ///< from one process to the other
    double reduce_us;
} net;

static uint32_t rounds_for( uint32_t bytes )
{
    return bytes <= 4096 ? 1000 : bytes <= 262144 ? 100 : 20;
}

// There and back, in microseconds for one way. `partner` < 0: takes no part.
static double ping( net* n, int partner, bool is_first, uint32_t bytes )
{
    uint32_t rounds = rounds_for( bytes );
    double start = MPI_Wtime();
    for ( uint32_t i = 0; partner >= 0 && i < rounds; ++i )
    {
        if ( is_first )
        {
            MPI_Send( n->buffer, (int)bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD );
            MPI_Recv( n->buffer, (int)bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE );
        }
        else
        {
            MPI_Recv( n->buffer, (int)bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE );
            MPI_Send( n->buffer, (int)bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD );
        }
    }
    return partner >= 0 ? ( MPI_Wtime() - start ) * 1e6 / ( 2.0 * rounds ) : 0;
}

// The slowest pair's time, the least of the repeats.
static double measure( net* n, const job* j, int partner, bool is_first, uint32_t bytes )
{
    double best = INFINITY;
    for ( uint64_t repeat = 0; repeat < j->o->repeat; ++repeat )
    {
        MPI_Barrier( MPI_COMM_WORLD );
        double mine = ping( n, partner, is_first, bytes ), slowest = 0;
        MPI_Allreduce( &mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD );
        best = slowest < best ? slowest : best;
    }
    return best;
}

static double measure_reductions( const job* j )
{
    double best = INFINITY;
    for ( uint64_t repeat = 0; repeat < j->o->repeat; ++repeat )
    {
        MPI_Barrier( MPI_COMM_WORLD );
        double start = MPI_Wtime();
        for ( int i = 0; i < REDUCTIONS; ++i )
        {
            int mine = i, all = 0;
            MPI_Allreduce( &mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD );
        }
        double mine = ( MPI_Wtime() - start ) * 1e6 / REDUCTIONS, slowest = 0;
        MPI_Allreduce( &mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD );
        best = slowest < best ? slowest : best;
    }
    return best;
}

// Bytes per microsecond beyond the smallest message.
static double beta_of( const double* us )
{
    return ( s_sizes[SIZES - 1] - s_sizes[5] ) / ( us[SIZES - 1] - us[5] );
}

static json_value* times_value( const double* us )
{
    json_value* list = json_array();
    for ( int i = 0; i < SIZES; ++i )
    {
        json_value* point = json_object();
        json_put_count( point, "bytes", s_sizes[i] );
        json_put_number( point, "us", floor( us[i] * 1e3 + 0.5 ) / 1e3 );
        json_put( list, NULL, point );
    }
    return list;
}

static json_value* net_value( const net* n, const job* j )
{
    json_value* value = json_object();
    json_put_count( value, "processes", (uint64_t)j->process_count );
    json_put_number( value, "alpha_us", floor( n->one_us[0] * 1e3 + 0.5 ) / 1e3 );
    json_put_number( value, "beta_gb_s", floor( beta_of( n->one_us ) ) / 1e3 );
    json_put_number( value, "beta_all_gb_s", floor( beta_of( n->all_us ) ) / 1e3 );
    json_put_number( value, "reduce_us", floor( n->reduce_us * 1e3 + 0.5 ) / 1e3 );
    json_put( value, "one_pair", times_value( n->one_us ) );
    json_put( value, "all_pairs", times_value( n->all_us ) );
    return value;
}

static bool report_net( const net* n, job* j, text_output* output )
{
    if ( !text_output_is_stdout( output ) )
    {
        printf( "%10s %12s %12s\n", "bytes", "one pair us", "all pairs us" );
        for ( int i = 0; i < SIZES; ++i )
        {
            printf( "%10u %12.2f %12.2f\n", s_sizes[i], n->one_us[i], n->all_us[i] );
        }
        printf( "alpha %.2f us, beta %.2f GB/s (%.2f with all pairs at once), a reduction over %d processes "
                "%.2f us\n",
            n->one_us[0], beta_of( n->one_us ) / 1e3, beta_of( n->all_us ) / 1e3, j->process_count,
            n->reduce_us );
    }
    return write_document( output, "net", net_value( n, j ), &j->why );
}

static bool measure_all( job* j, text_output* output )
{
    net n = { .buffer = lab_take( s_sizes[SIZES - 1], 1 ) };
    // Process 0 and the last; then each process with the one half the number of processes away.
    int last = j->process_count - 1, half = j->process_count / 2;
    int one = j->rank == 0 ? last : j->rank == last ? 0 : -1;
    int all = j->rank < half ? j->rank + half : j->rank < 2 * half ? j->rank - half : -1;
    for ( int i = 0; i < SIZES; ++i )
    {
        n.one_us[i] = measure( &n, j, one, j->rank == 0, s_sizes[i] );
        n.all_us[i] = measure( &n, j, all, j->rank < half, s_sizes[i] );
    }
    n.reduce_us = measure_reductions( j );
    free( n.buffer );
    return job_agree( j, j->rank != 0 || report_net( &n, j, output ) );
}

bool job_net( job* j )
{
    return j->process_count < 2 ? lab_error_write( &j->why, "net needs two processes or more: mpirun -n 2" )
                                : run_with_output( j, measure_all );
}

// ---- `cleave-mpi plan`

// A scene cut for many processes by the library's own bisection, at its first frame, and what they would hold
// and send in a later one. None of these processes runs; with a sample not even all boxes are made.

/// Over all processes of the plan. Counts of a sample are scaled up.
typedef struct plan_sums
{
    double objects, ghosts, bytes, records, going, wide, neighbours;
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
        s.records += (double)one->records * scale;
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
    json_put_number( value, "letters", s->records );
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

static bool report_plan(
    const mpi_plan* plan, const mpi_frames* f, uint64_t made, job* j, text_output* output )
{
    plan_sums s = sum_up( plan, (double)f->header.object_count / (double)made );
    if ( !text_output_is_stdout( output ) )
    {
        print_plan( &s, plan, f, made );
    }
    return write_document( output, "plan", plan_value( &s, plan, f, made ), &j->why );
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
    return job_agree( j, j->rank != 0 || report_plan( plan, f, made, j, output ) );
}

static bool plan_scene( job* j, text_output* output )
{
    mpi_frames f;
    mpi_plan plan = { 0 };
    bool ok = mpi_frames_open( &f, j );
    clv_aabb* before = ok ? lab_take( f.count, sizeof( clv_aabb ) ) : NULL;
    ok = ok && make_plan( &plan, &f, before, j, output );
    free( before );
    clv_mpi_plan_close( &plan );
    mpi_frames_close( &f );
    return ok;
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
    return run_with_output( j, plan_scene );
}
