// SPDX-License-Identifier: MIT
// What exchanges cost, measured and planned.
#include "lab/base/text.h"
#include "lab/mpi/mpi_job.h"
#include "lab/result/output.h"
#include "lab/result/results.h"
#include "mpi_state.h"

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

/// What one process of the plan has and sends in one update.
typedef struct plan_process
{
    uint64_t own, ghosts; ///< objects, and boxes that others send to it
    uint64_t going;       ///< own ones that leave for another process
    uint64_t records;     ///< to one process each
    uint64_t wide;        ///< own boxes that go to all at once
    uint64_t bytes;       ///< of what it sends
} plan_process;

#define PLAN_LINKS_MOST 16384

typedef struct plan
{
    base_memory memory; ///< of the regions
    mpi_regions regions;
    int32_t process_count;
    uint32_t wide; ///< boxes that reach more regions than this go to all at once
    plan_process* processes;
    int32_t* ranks; ///< scratch
    uint8_t* links; ///< by receiver and sender; NULL beyond PLAN_LINKS_MOST processes
} plan;

static size_t link_count( const plan* p )
{
    return (size_t)p->process_count * (size_t)p->process_count;
}

// Cut at the boxes of all processes by the library's own bisection, as the first update does, every object
// alike.
static clv_result cut_plan( plan* p, const job* j, const clv_aabb* boxes, uint64_t count )
{
    clv_mpi_space space = { .net = { .all = MPI_COMM_WORLD },
        .rank = j->rank,
        .process_count = p->process_count,
        .memory = p->memory };
    mpi_points points;
    bool fits = clv_mpi_points_open( &points, &p->memory, count );
    fits &= clv_mpi_regions_open( &p->regions, &p->memory, p->process_count );
    for ( uint64_t i = 0; fits && i < count; ++i )
    {
        clv_mpi_points_set( &points, i, &boxes[i] );
    }
    clv_result result = clv_mpi_agree_reserved( &space, fits, "planning" );
    if ( result == CLV_OK && p->process_count > 1 )
    {
        result = clv_mpi_bisect( &space, &points, &p->regions );
        clv_mpi_regions_finish( &p->regions );
    }
    clv_mpi_points_close( &points, &p->memory );
    return result;
}

static void open_plan( plan* p, const job* j )
{
    *p = ( plan ){ .memory = clv_base_memory_make( ( clv_allocator ){ 0 } ),
        .process_count = (int32_t)j->o->processes,
        .wide = clv_default_mpi_def().wide };
    p->processes = lab_take( (uint64_t)p->process_count, sizeof( plan_process ) );
    p->ranks = lab_take( (uint64_t)p->process_count, sizeof( int32_t ) );
    p->links = p->process_count <= PLAN_LINKS_MOST ? lab_take( link_count( p ), 1 ) : NULL;
}

static void close_plan( plan* p )
{
    free( p->processes );
    free( p->ranks );
    free( p->links );
    clv_mpi_regions_close( &p->regions, &p->memory );
}

// The owner of a box: the process whose region holds its middle, or the first that it reaches.
static int32_t owner_in( plan* p, const clv_aabb* box, uint32_t* reached )
{
    int32_t owner = clv_mpi_regions_home( &p->regions, clv_mpi_box_middle( box ) );
    *reached = clv_mpi_regions_reach( &p->regions, box, p->ranks );
    return mpi_is_among( p->ranks, *reached, owner ) ? owner : p->ranks[0];
}

// As add_sends of mpi_send.c does it, where nothing is remembered.
static void count_one( plan* p, const clv_aabb* before, const clv_aabb* now )
{
    uint32_t reached = 0;
    int32_t sender = owner_in( p, before, &reached ), owner = owner_in( p, now, &reached );
    plan_process* from = &p->processes[sender];
    const clv_mpi_space plain = { 0 };
    const uint64_t words = clv_mpi_record_words( &plain, 0 );
    bool is_wide = reached > p->wide;
    p->processes[owner].own += 1;
    from->going += owner != sender;
    from->wide += is_wide;
    from->bytes += is_wide ? words * sizeof( uint64_t ) * ( (uint64_t)p->process_count - 1 ) : 0;
    for ( uint32_t i = 0; i < reached; ++i )
    {
        int32_t to = p->ranks[i];
        bool is_owner = to == owner && owner != sender;
        p->processes[to].ghosts += to != sender;
        if ( to != sender && ( !is_wide || is_owner ) )
        {
            from->records += 1;
            from->bytes += clv_mpi_record_words( &plain, is_owner ? RECORD_OWNED : 0 ) * sizeof( uint64_t );
            if ( p->links != NULL )
            {
                p->links[(size_t)to * (size_t)p->process_count + (size_t)sender] = 1;
            }
        }
    }
}

// What boxes that were at `before` in the last update cost in the next, over all processes that plan.
static void count_plan( plan* p, const clv_aabb* before, const clv_aabb* now, uint64_t count )
{
    for ( uint64_t i = 0; i < count; ++i )
    {
        // Most boxes lie inside a region where they were: one walk down tells.
        int32_t home = clv_mpi_regions_home( &p->regions, before[i].lower );
        const clv_mpi_region* region = &p->regions.bounds[home];
        if ( mpi_region_holds( region, before[i].upper ) && mpi_region_holds( region, now[i].lower ) &&
            mpi_region_holds( region, now[i].upper ) )
        {
            p->processes[home].own += 1;
            continue;
        }
        count_one( p, &before[i], &now[i] );
    }
    int words = (int)( sizeof( plan_process ) / sizeof( uint64_t ) ) * p->process_count;
    MPI_Allreduce( MPI_IN_PLACE, p->processes, words, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD );
    if ( p->links != NULL )
    {
        MPI_Allreduce( MPI_IN_PLACE, p->links, (int)link_count( p ), MPI_UINT8_T, MPI_BOR, MPI_COMM_WORLD );
    }
}

// Processes that send to a process, itself aside; 0 where links are not kept.
static double neighbours_of( const plan* p, int32_t process )
{
    double count = 0;
    for ( int32_t r = 0; p->links != NULL && r < p->process_count; ++r )
    {
        count += p->links[(size_t)process * (size_t)p->process_count + (size_t)r];
    }
    return count;
}

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

static plan_sums sum_up( const plan* p, double scale )
{
    plan_sums s = { 0 };
    double count = p->process_count;
    for ( int32_t r = 0; r < p->process_count; ++r )
    {
        const plan_process* one = &p->processes[r];
        double neighbours = neighbours_of( p, r );
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

static json_value* plan_value( const plan_sums* s, const plan* p, const mpi_frames* f, uint64_t made )
{
    json_value* value = json_object();
    json_put_text( value, "scene", f->header.name );
    json_put_text( value, "type", f->header.type );
    json_put_count( value, "objects", f->header.object_count );
    json_put_count( value, "sample", made );
    json_put_count( value, "frame", f->frame_count );
    json_put_count( value, "processes", (uint64_t)p->process_count );
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
    json_put_number( value, "neighbours", p->links != NULL ? s->neighbours : NAN );
    json_put_number( value, "neighbours_most", p->links != NULL ? s->neighbours_most : NAN );
    return value;
}

static void print_plan( const plan_sums* s, const plan* p, const mpi_frames* f, uint64_t made )
{
    double count = p->process_count;
    printf( "%s, %s objects on %d processes, frame %u", f->header.name,
        text_size( f->header.object_count ).text, p->process_count, f->frame_count );
    if ( made < f->header.object_count )
    {
        printf( ", from a sample of %s", text_size( made ).text );
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
        text_bytes( (uint64_t)s->bytes ).text, text_bytes( (uint64_t)s->bytes_most ).text, s->going, s->wide,
        p->wide );
    if ( p->links != NULL )
    {
        printf( "  messages  from %.1f neighbours, at most %.0f\n", s->neighbours, s->neighbours_most );
    }
}

static bool report_plan( const plan* p, const mpi_frames* f, uint64_t made, job* j, text_output* output )
{
    plan_sums s = sum_up( p, (double)f->header.object_count / (double)made );
    if ( !text_output_is_stdout( output ) )
    {
        print_plan( &s, p, f, made );
    }
    return write_document( output, "plan", plan_value( &s, p, f, made ), &j->why );
}

// Cut at frame 0, counted from the last frame but one to the last.
static bool make_plan( plan* p, mpi_frames* f, clv_aabb* before, job* j, text_output* output )
{
    if ( !mpi_frames_read( f, j, 0 ) )
    {
        return false;
    }
    clv_result result = cut_plan( p, j, f->boxes, f->count );
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
    count_plan( p, before, f->boxes, f->count );
    uint64_t made = job_sum( f->count );
    return job_agree( j, j->rank != 0 || report_plan( p, f, made, j, output ) );
}

static bool plan_scene( job* j, text_output* output )
{
    mpi_frames f;
    plan p;
    open_plan( &p, j );
    bool ok = mpi_frames_open( &f, j );
    clv_aabb* before = ok ? lab_take( f.count, sizeof( clv_aabb ) ) : NULL;
    ok = ok && make_plan( &p, &f, before, j, output );
    free( before );
    close_plan( &p );
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
