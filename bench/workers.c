// SPDX-License-Identifier: MIT
// Where a frame of several workers goes: each job that its calls hand to the workers, in turn, with the time
// until it is done, the sum of all workers' time in it, the slowest worker, and what lies between the jobs,
// which the calling thread does alone. The workers' jobs are watched from outside: the linker puts this
// program's function in place of the pool's, which the library itself knows nothing of. In the same way it is
// told for worlds of many blocks whether records are written past the caches: `--stream on` or `off`.
// `--short` leaves the jobs out.
//
// With `--near` it is neighbour lists of so many points instead, half, as pairs, made anew each time.
//
//   workers [--workers N] [--spin MS] [--frames N] [--stream on|off] [--short] [--meet] [--near] [BOXES]...
//       default: 16 workers, 60 frames, 32000 128000
#define _POSIX_C_SOURCE 200809L

#include "base/timer.h"
#include "cleave/cleave.h"
#include "engine/block.h"
#include "math/splitmix.h"
#include "task/task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    MOST_WORKERS = 64,
    MOST_JOBS = 16, // of a call
    MOST_FRAMES = 2000,
    WARM_FRAMES = 8, // not counted
};

typedef enum job_figure
{
    JOB_BEFORE, ///< since the last job of the call ended, or the call began
    JOB_WALL,
    JOB_FIRST, ///< until the first piece of another worker begins
    JOB_SLOWEST,
    JOB_SUM,
    JOB_FIGURES
} job_figure;

// A job of a call, in microseconds, one row of figures for each frame that had it.
typedef struct job_times
{
    uint32_t runs, pieces;
    double figures[JOB_FIGURES][MOST_FRAMES];
} job_times;

typedef struct call_times
{
    job_times jobs[MOST_JOBS];
    uint32_t job_count, calls;
    double after[MOST_FRAMES]; ///< the last job
} call_times;

// One worker in the job that runs.
typedef struct worker_time
{
    _Alignas( 64 ) uint64_t ns;
    uint64_t begun;
} worker_time;

static struct
{
    call_times* call; ///< NULL: nothing is counted
    uint32_t next;    ///< job of this call
    uint64_t last_ns; ///< when the last job ended
    clv_task* piece;
    void* context;
    worker_time workers[MOST_WORKERS];
} s_watch;

static void watched_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)context;
    worker_time* own = &s_watch.workers[worker];
    uint64_t start = clv_base_clock_ns();
    own->begun = own->begun == 0 ? start : own->begun;
    s_watch.piece( index, worker, s_watch.context );
    own->ns += clv_base_clock_ns() - start;
}

void __real_clv_task_pool_run( task_pool* pool, clv_task* piece, uint32_t count, void* context, bool wakes );
void __wrap_clv_task_pool_run( task_pool* pool, clv_task* piece, uint32_t count, void* context, bool wakes );

void __wrap_clv_task_pool_run( task_pool* pool, clv_task* piece, uint32_t count, void* context, bool wakes )
{
    if ( s_watch.call == NULL || s_watch.next == MOST_JOBS )
    {
        __real_clv_task_pool_run( pool, piece, count, context, wakes );
        return;
    }
    memset( s_watch.workers, 0, sizeof( s_watch.workers ) );
    s_watch.piece = piece;
    s_watch.context = context;
    uint64_t start = clv_base_clock_ns();
    __real_clv_task_pool_run( pool, watched_piece, count, NULL, wakes );
    uint64_t end = clv_base_clock_ns(), sum = 0, slowest = 0, first = end;
    for ( int i = 0; i < MOST_WORKERS; ++i )
    {
        const worker_time* own = &s_watch.workers[i];
        sum += own->ns;
        slowest = own->ns > slowest ? own->ns : slowest;
        first = i > 0 && own->begun > 0 && own->begun < first ? own->begun : first;
    }
    job_times* job = &s_watch.call->jobs[s_watch.next++];
    s_watch.call->job_count = s_watch.next > s_watch.call->job_count ? s_watch.next : s_watch.call->job_count;
    const uint64_t figures[JOB_FIGURES] = { start - s_watch.last_ns, end - start, first - start, slowest,
        sum };
    for ( int i = 0; i < JOB_FIGURES; ++i )
    {
        job->figures[i][job->runs] = (double)figures[i] * 1e-3;
    }
    job->runs += 1;
    job->pieces = count;
    s_watch.last_ns = clv_base_clock_ns();
}

static struct
{
    bool is_set, on;
} s_stream; ///< --stream

void __real_clv_engine_block_scatter( const block_work* work );
void __wrap_clv_engine_block_scatter( const block_work* work );

void __wrap_clv_engine_block_scatter( const block_work* given )
{
    block_work work = *given;
    work.may_stream = s_stream.is_set ? s_stream.on : given->may_stream;
    __real_clv_engine_block_scatter( &work );
}

static void check( bool ok, const char* what )
{
    if ( !ok )
    {
        fprintf( stderr, "workers: %s failed\n", what );
        exit( 2 );
    }
}

// Unit cubes that each touch one in six others, about; each goes its own way and turns back at the walls.
static void bake( clv_aabb* frames, uint32_t count, uint32_t frame_count )
{
    math_random random = math_random_seed( 1 );
    double side = cbrt( count / 0.0425 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        double at[3], step[3];
        for ( int axis = 0; axis < 3; ++axis )
        {
            at[axis] = math_random_between( &random, 0, side );
            step[axis] = math_random_between( &random, -0.1, 0.1 );
        }
        for ( uint32_t frame = 0; frame < frame_count; ++frame )
        {
            clv_aabb* box = &frames[(size_t)frame * count + i];
            for ( int axis = 0; axis < 3; ++axis )
            {
                step[axis] = at[axis] < 0 || at[axis] > side ? -step[axis] : step[axis];
                at[axis] += step[axis];
                ( &box->lower.x )[axis] = (float)at[axis];
                ( &box->upper.x )[axis] = (float)at[axis] + 1;
            }
        }
    }
}

static void begin_call( call_times* call )
{
    s_watch.call = call;
    s_watch.next = 0;
    s_watch.last_ns = clv_base_clock_ns();
}

static void end_call( call_times* call )
{
    if ( call != NULL )
    {
        call->after[call->calls++] = (double)( clv_base_clock_ns() - s_watch.last_ns ) * 1e-3;
    }
    s_watch.call = NULL;
}

static int compare_doubles( const void* a, const void* b )
{
    double left = *(const double*)a, right = *(const double*)b;
    return ( left > right ) - ( left < right );
}

static double median_of( double* values, uint32_t count )
{
    qsort( values, count, sizeof( double ), compare_doubles );
    return count > 0 ? values[count / 2] : 0;
}

static void print_call( const char* name, call_times* call )
{
    for ( uint32_t i = 0; i < call->job_count; ++i )
    {
        job_times* job = &call->jobs[i];
        printf( "| %s %u | %.2f | %u |", name, i + 1, (double)job->runs / call->calls, job->pieces );
        for ( int figure = 0; figure < JOB_FIGURES; ++figure )
        {
            printf( " %.1f |", median_of( job->figures[figure], job->runs ) );
        }
        printf( "\n" );
    }
    printf( "| %s, end | | | %.1f | | | | |\n", name, median_of( call->after, call->calls ) );
}

static void print_head( void )
{
    printf(
        "\n| job | times | pieces | alone before it, us | until done | until another worker begins | slowest worker | "
        "sum of workers |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n" );
}

static void do_nothing( uint32_t index, uint32_t worker, void* context )
{
    (void)index;
    (void)worker;
    (void)context;
}

// What it takes to have all workers do nothing, right after another job.
static void time_meetings( uint32_t workers, double spin_ms )
{
    enum
    {
        MEETINGS = MOST_FRAMES
    };
    static double times[MEETINGS];
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    task_runner tasks;
    check( clv_task_runner_start( &tasks, workers, spin_ms, ( clv_task_hooks ){ 0 }, &memory ),
        "starting workers" );
    printf( "%u workers:", workers );
    for ( uint32_t pieces = workers; pieces <= 4 * workers; pieces *= 2 )
    {
        for ( int i = 0; i < MEETINGS; ++i )
        {
            uint64_t start = clv_base_clock_ns();
            clv_task_run( &tasks, do_nothing, pieces, NULL );
            times[i] = (double)( clv_base_clock_ns() - start ) * 1e-3;
        }
        printf( " %u empty pieces %.2f us,", pieces, median_of( times, MEETINGS ) );
    }
    printf( " medians\n" );
    clv_task_runner_stop( &tasks, &memory );
}

static void time_world(
    uint32_t count, uint32_t workers, double spin_ms, uint32_t frame_count, bool is_short )
{
    clv_aabb* frames = calloc( (size_t)count * frame_count, sizeof( clv_aabb ) );
    clv_id* ids = calloc( count, sizeof( clv_id ) );
    double* times = calloc( frame_count, sizeof( double ) );
    check( frames != NULL && ids != NULL && times != NULL, "taking memory" );
    bake( frames, count, frame_count );
    clv_space* space = NULL;
    clv_space_def def = clv_default_space_def();
    def.worker_count = workers;
    def.worker_spin_ms = spin_ms;
    check( clv_space_create( &def, &space ) == CLV_OK, "clv_space_create" );
    check( clv_space_add( space, frames, count, ids ) == CLV_OK, "clv_space_add" );
    // Twice: as it is, and watched.
    static call_times moves, updates;
    moves.job_count = moves.calls = updates.job_count = updates.calls = 0;
    memset( moves.jobs, 0, sizeof( moves.jobs ) );
    memset( updates.jobs, 0, sizeof( updates.jobs ) );
    double median = 0, least = 0, first = 0;
    uint32_t counted = frame_count - WARM_FRAMES;
    for ( int pass = 0; pass < ( is_short ? 1 : 2 ); ++pass )
    {
        for ( uint32_t frame = 0; frame < frame_count; ++frame )
        {
            bool is_watched = pass == 1 && frame >= WARM_FRAMES;
            uint32_t at = pass == 0 ? frame : frame_count - 1 - frame;
            uint64_t start = clv_base_clock_ns();
            begin_call( is_watched ? &moves : NULL );
            check( clv_space_move( space, ids, frames + (size_t)at * count, count ) == CLV_OK,
                "clv_space_move" );
            end_call( is_watched ? &moves : NULL );
            begin_call( is_watched ? &updates : NULL );
            check( clv_space_update( space ) == CLV_OK, "clv_space_update" );
            end_call( is_watched ? &updates : NULL );
            times[frame] = (double)( clv_base_clock_ns() - start ) * 1e-6;
        }
        if ( pass == 0 )
        {
            first = times[0];
            qsort( times + WARM_FRAMES, counted, sizeof( double ), compare_doubles );
            median = times[WARM_FRAMES + counted / 2];
            least = times[WARM_FRAMES];
        }
    }
    printf( "%s%u boxes, %u workers, spin %g ms: %.3f ms (least %.3f, first %.2f); %.2f pairs a box\n",
        is_short ? "" : "\n", count, workers, spin_ms, median, least, first,
        (double)clv_space_pairs( space ).count / count );
    if ( !is_short )
    {
        print_head();
        print_call( "move", &moves );
        print_call( "update", &updates );
    }
    fflush( stdout );
    clv_space_destroy( space );
    free( frames );
    free( ids );
    free( times );
}

// Points with about 40 others within 1 of each.
static void time_points( uint32_t count, uint32_t workers, uint32_t frame_count )
{
    float* points = calloc( 3 * (size_t)count, sizeof( float ) );
    double* times = calloc( frame_count, sizeof( double ) );
    check( points != NULL && times != NULL, "taking memory" );
    math_random random = math_random_seed( 1 );
    double edge = cbrt( count * 0.1047 ); // 4 / 3 pi / 40 of volume for each
    for ( size_t i = 0; i < 3 * (size_t)count; ++i )
    {
        points[i] = (float)math_random_between( &random, 0, edge );
    }
    clv_near_def def = clv_default_near_def();
    def.cutoff = 1;
    def.worker_count = workers;
    clv_near* near = NULL;
    check( clv_near_create( &def, &near ) == CLV_OK, "clv_near_create" );
    const clv_near_points given = { .positions = points, .stride = 3 * sizeof( float ), .count = count };
    static call_times updates;
    memset( &updates, 0, sizeof( updates ) );
    for ( uint32_t frame = 0; frame < frame_count; ++frame )
    {
        uint64_t start = clv_base_clock_ns();
        begin_call( frame >= WARM_FRAMES ? &updates : NULL );
        check( clv_near_update( near, &given, NULL ) == CLV_OK, "clv_near_update" );
        end_call( frame >= WARM_FRAMES ? &updates : NULL );
        times[frame] = (double)( clv_base_clock_ns() - start ) * 1e-6;
    }
    double first = times[0], median = median_of( times + WARM_FRAMES, frame_count - WARM_FRAMES );
    printf( "\n%u points, %u workers: %.3f ms (least %.3f, first %.2f); %.2f pairs a point\n", count, workers,
        median, times[WARM_FRAMES], first, (double)clv_near_list( near ).count / count );
    print_head();
    print_call( "update", &updates );
    fflush( stdout );
    clv_near_destroy( near );
    free( points );
    free( times );
}

int main( int argc, char** argv )
{
    static const uint32_t counts[] = { 32000, 128000 };
    uint32_t workers = 16, frames = 60, done = 0;
    double spin_ms = 0;
    bool is_short = false, is_near = false;
    for ( int i = 1; i < argc; ++i )
    {
        bool has_value = i + 1 < argc;
        double value = strtod( argv[has_value ? i + 1 : i], NULL );
        if ( has_value && strcmp( argv[i], "--workers" ) == 0 && value >= 2 && value <= MOST_WORKERS )
        {
            workers = (uint32_t)value;
            i += 1;
        }
        else if ( has_value && strcmp( argv[i], "--spin" ) == 0 && value >= 0 && value <= 1000 )
        {
            spin_ms = value;
            i += 1;
        }
        else if ( has_value && strcmp( argv[i], "--frames" ) == 0 && value > 2 * WARM_FRAMES &&
            value <= MOST_FRAMES )
        {
            frames = (uint32_t)value;
            i += 1;
        }
        else if ( has_value && strcmp( argv[i], "--stream" ) == 0 &&
            ( strcmp( argv[i + 1], "on" ) == 0 || strcmp( argv[i + 1], "off" ) == 0 ) )
        {
            s_stream.is_set = true;
            s_stream.on = argv[++i][1] == 'n';
        }
        else if ( strcmp( argv[i], "--short" ) == 0 )
        {
            is_short = true;
        }
        else if ( strcmp( argv[i], "--near" ) == 0 )
        {
            is_near = true;
        }
        else if ( strcmp( argv[i], "--meet" ) == 0 )
        {
            time_meetings( workers, spin_ms );
            done += 1;
        }
        else if ( strtod( argv[i], NULL ) >= 100 && strtod( argv[i], NULL ) <= 1e7 )
        {
            uint32_t count = (uint32_t)strtod( argv[i], NULL );
            if ( is_near )
            {
                time_points( count, workers, frames );
            }
            else
            {
                time_world( count, workers, spin_ms, frames, is_short );
            }
            done += 1;
        }
        else
        {
            fprintf( stderr,
                "usage: workers [--workers N] [--spin MS] [--frames N] [--stream on|off] [--short] "
                "[--meet] [--near] [BOXES]...\n" );
            return 2;
        }
    }
    for ( size_t i = 0; done == 0 && i < sizeof( counts ) / sizeof( counts[0] ); ++i )
    {
        time_world( counts[i], workers, spin_ms, frames, is_short );
    }
    return 0;
}
