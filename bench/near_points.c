// SPDX-License-Identifier: MIT
// Neighbour lists: ns per point of a list that is made anew each time, half, as pairs, on one core, in the
// thread's own time; with --forms the forms that a list can have instead. With --threads on so many workers
// each, in time that passes, beside the time that reading every point and writing every pair takes at the
// bandwidth of a copy. bench/near.md has its results. Usage: near_points [--forms float|double] [--threads
// T,...] [--device NAME|N] [--kernels yes] [--rounds N] [--scene WORD] [COUNT...] (10000 100000 1000000
// unless given; at least N rounds; scenes whose names have WORD; --device: lists that stay on a device, in
// ms, and with --kernels what each kernel takes)
#define _POSIX_C_SOURCE 200809L
#include "base/timer.h"
#include "cleave/cleave.h"
#include "gpu_state.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 10
#define LEAST_NS 1500000000u // of all columns together
#define COLUMNS 16           // at most
#define COPY_BYTES ( (size_t)64 << 20 )
#define PI 3.14159265358979323846

// Points with about so many neighbours within 1 of each, in random order.
typedef enum near_kind
{
    UNIFORM,
    CLUSTERED, // balls of 100 points, half a unit thick, in a space that would otherwise be thin
    SURFACE,   // of a ball
} near_kind;

static const struct
{
    const char* name;
    near_kind kind;
    double neighbours;
} s_scenes[] = {
    { "liquid, 40 neighbours", UNIFORM, 40 },
    { "liquid, 80 neighbours", UNIFORM, 80 },
    { "gas, 2 neighbours", UNIFORM, 2 },
    { "clusters of 100", CLUSTERED, 2 },
    { "surface, 40 neighbours", SURFACE, 40 },
};

static uint64_t s_state;

// From 0 up to 1.
static double next_random( void )
{
    s_state = s_state * UINT64_C( 6364136223846793005 ) + UINT64_C( 1442695040888963407 );
    return (double)( s_state >> 11 ) * 0x1p-53;
}

static double next_normal( void )
{
    double radius = sqrt( -2 * log( 1 - next_random() ) );
    return radius * cos( 2 * PI * next_random() );
}

// Fills xyz, and returns the edge of the cell they are in.
static double make_points( near_kind kind, double neighbours, uint32_t count, double* xyz )
{
    double edge = cbrt( count * 4 / 3.0 * PI / neighbours ), middle[3] = { 0, 0, 0 };
    double radius = sqrt( count / ( 4 * neighbours ) );
    s_state = 1;
    for ( uint32_t i = 0; i < count; ++i )
    {
        double* p = xyz + 3 * (size_t)i;
        double length = 0;
        for ( int k = 0; k < 3; ++k )
        {
            middle[k] = i % 100 == 0 ? next_random() * edge : middle[k];
            p[k] = kind == UNIFORM ? next_random() * edge : next_normal();
            length += p[k] * p[k];
        }
        for ( int k = 0; k < 3 && kind != UNIFORM; ++k )
        {
            p[k] = kind == CLUSTERED ? middle[k] + 0.5 * p[k] : radius * ( 1 + p[k] / sqrt( length ) );
        }
    }
    // Clusters are made one after the other: shuffled, as the others are.
    for ( uint32_t i = count - 1; i > 0 && i < count; --i )
    {
        uint32_t other = (uint32_t)( next_random() * ( i + 1 ) );
        double kept[3];
        memcpy( kept, xyz + 3 * (size_t)i, sizeof( kept ) );
        memmove( xyz + 3 * (size_t)i, xyz + 3 * (size_t)other, sizeof( kept ) );
        memcpy( xyz + 3 * (size_t)other, kept, sizeof( kept ) );
    }
    return kind == SURFACE ? 2 * radius + 2 : edge;
}

// What a column asks for.
typedef struct near_form
{
    const char* name;
    bool full, by_point, vectors;
    bool is_kept; // by a skin, as thick as makes no more pairs
    bool is_seen; // by a visitor: no list is written
} near_form;

static const near_form s_forms[] = {
    { "half pairs", false, false, false, false, false },
    { "half by point", false, true, false, false, false },
    { "full by point", true, true, false, false, false },
    { "full pairs", true, false, false, false, false },
    { "half pairs, vectors", false, false, true, false, false },
    { "full by point, vectors", true, true, true, false, false },
    { "kept, half pairs, vectors", false, false, true, true, false },
    { "kept, full by point, vectors", true, true, true, true, false },
    { "half pairs, visited", false, false, false, false, true },
};

enum
{
    FORMS = sizeof( s_forms ) / sizeof( s_forms[0] )
};

// One of the columns: a type of numbers, in open space or in a cell, a form, or a number of workers.
typedef struct near_column
{
    clv_near* near;
    clv_near_cell cell;
    clv_near_points points;
    uint64_t best_ns;
    bool is_seen;
} near_column;

static void give_up( clv_result result )
{
    fprintf( stderr, "near_points: %s\n", clv_result_text( result ) );
    exit( 1 );
}

static void open_column( near_column* column, const near_form* form, bool doubles, uint32_t workers,
    double edge, const double* xyz, const float* rounded, uint32_t count )
{
    clv_near_def def = clv_default_near_def();
    def.skin = form->is_kept ? 1e-3 : 0;
    def.cutoff = 1 - def.skin;
    def.full = form->full;
    def.by_point = form->by_point;
    def.vectors = form->vectors;
    def.doubles = doubles;
    def.worker_count = workers;
    *column = ( near_column ){ .best_ns = UINT64_MAX, .is_seen = form->is_seen };
    for ( int k = 0; k < 3; ++k )
    {
        column->cell.edges[k][k] = edge;
        column->cell.periodic[k] = true;
    }
    column->points.count = count;
    column->points.stride = 3 * ( doubles ? sizeof( double ) : sizeof( float ) );
    column->points.positions = doubles ? NULL : rounded;
    column->points.positions64 = doubles ? xyz : NULL;
    column->points.cell = edge > 0 ? &column->cell : NULL;
    clv_result result = clv_near_create( &def, &column->near );
    if ( result != CLV_OK )
    {
        give_up( result );
    }
}

// Time of this thread, or time that passes where others work for it.
static uint64_t now_ns( bool has_workers )
{
    struct timespec now;
    clock_gettime( has_workers ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &now );
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool see( const clv_near_view* entries, void* user )
{
    *(uint64_t*)user += entries->count;
    return true;
}

// The columns in turn, so that what disturbs one disturbs all; the first round takes their memory.
static void time_columns( near_column* columns, int column_count, int rounds, bool has_workers )
{
    uint64_t total = 0;
    for ( int round = 0; round < rounds || total < LEAST_NS; ++round )
    {
        for ( int i = 0; i < column_count; ++i )
        {
            uint64_t before = now_ns( has_workers ), seen = 0;
            clv_result result = columns[i].is_seen
                ? clv_near_visit( columns[i].near, &columns[i].points, see, &seen )
                : clv_near_update( columns[i].near, &columns[i].points, NULL );
            uint64_t ns = now_ns( has_workers ) - before;
            if ( result != CLV_OK )
            {
                give_up( result );
            }
            total += ns;
            columns[i].best_ns = round > 0 && ns < columns[i].best_ns ? ns : columns[i].best_ns;
        }
    }
}

// ---- the bandwidth of a copy: what a list can cost at least

typedef struct copy_job
{
    char *from, *to;
    size_t bytes;
} copy_job;

static void* copy_part( void* context )
{
    const copy_job* job = context;
    memcpy( job->to, job->from, job->bytes );
    return NULL;
}

// Bytes read and written per ns, by so many threads at once: the most of several copies.
static double copy_bandwidth( int threads )
{
    double best = 0;
    size_t bytes = COPY_BYTES * (size_t)threads;
    char* memory = malloc( 2 * bytes );
    copy_job* jobs = malloc( (size_t)threads * sizeof( copy_job ) );
    pthread_t* handles = malloc( (size_t)threads * sizeof( pthread_t ) );
    if ( memory == NULL || jobs == NULL || handles == NULL )
    {
        give_up( CLV_OUT_OF_MEMORY );
    }
    memset( memory, 1, 2 * bytes );
    for ( int round = 0; round < 7; ++round )
    {
        uint64_t before = clv_base_clock_ns();
        for ( int i = 0; i < threads; ++i )
        {
            size_t first = COPY_BYTES * (size_t)i;
            jobs[i] = ( copy_job ){ memory + first, memory + bytes + first, COPY_BYTES };
            if ( pthread_create( &handles[i], NULL, copy_part, &jobs[i] ) != 0 )
            {
                give_up( CLV_OUT_OF_MEMORY );
            }
        }
        for ( int i = 0; i < threads; ++i )
        {
            pthread_join( handles[i], NULL );
        }
        double rate = 2 * (double)bytes / (double)( clv_base_clock_ns() - before );
        best = rate > best ? rate : best;
    }
    free( memory );
    free( jobs );
    free( handles );
    return best;
}

// ---- rows

typedef struct near_options
{
    int threads[COLUMNS];
    int thread_count; // 0: the four columns of one worker
    int rounds;
    const char* scene;
    double bandwidths[COLUMNS];
    const char* device; // NULL: none
    bool has_kernels;
    const char* forms; // NULL: none; else the type of numbers
} near_options;

static double pairs_of( const near_column* column )
{
    return (double)clv_near_list( column->near ).count;
}

static void print_types( const near_column columns[4], uint32_t count )
{
    for ( int i = 0; i < 2; ++i )
    {
        printf( " %.1f |", 2 * pairs_of( &columns[i] ) / count );
    }
    for ( int i = 0; i < 4; ++i )
    {
        printf( " %.0f |", (double)columns[i].best_ns / count );
    }
    printf( " %.2f | %.2f |\n", (double)columns[1].best_ns / (double)columns[0].best_ns,
        (double)columns[2].best_ns / (double)columns[0].best_ns );
}

static void print_forms( const near_column columns[FORMS], uint32_t count )
{
    printf( " %.1f |", 2 * pairs_of( &columns[0] ) / count );
    for ( int i = 0; i < FORMS; ++i )
    {
        printf( " %.0f |", (double)columns[i].best_ns / count );
    }
    printf( "\n" );
}

static void print_threads( const near_column* columns, uint32_t count, const near_options* options )
{
    int last = options->thread_count - 1;
    double bytes = 12.0 * count + 8 * pairs_of( &columns[0] );
    printf( " %.1f |", 2 * pairs_of( &columns[0] ) / count );
    for ( int i = 0; i <= last; ++i )
    {
        printf( " %.1f |", (double)columns[i].best_ns / count );
    }
    printf( " %.1f | %.1f | %.1f |\n", (double)columns[0].best_ns / (double)columns[last].best_ns,
        bytes / options->bandwidths[0] / count, bytes / options->bandwidths[last] / count );
}

static void time_scene( size_t scene, uint32_t count, const near_options* options )
{
    double* xyz = malloc( 3 * sizeof( double ) * count );
    float* rounded = malloc( 3 * sizeof( float ) * count );
    if ( xyz == NULL || rounded == NULL )
    {
        give_up( CLV_OUT_OF_MEMORY );
    }
    double edge = make_points( s_scenes[scene].kind, s_scenes[scene].neighbours, count, xyz );
    for ( size_t i = 0; i < 3 * (size_t)count; ++i )
    {
        rounded[i] = (float)xyz[i];
    }
    near_column columns[COLUMNS];
    bool has_threads = options->thread_count > 0, has_forms = options->forms != NULL;
    int column_count = has_forms ? FORMS : has_threads ? options->thread_count : 4;
    for ( int i = 0; i < column_count; ++i )
    {
        bool doubles = !has_threads && i >= 2, is_periodic = !has_threads && i % 2 == 1;
        uint32_t workers = has_threads ? (uint32_t)options->threads[has_forms ? 0 : i] : 1;
        doubles = has_forms ? strcmp( options->forms, "double" ) == 0 : doubles;
        open_column( &columns[i], &s_forms[has_forms ? i : 0], doubles, workers,
            is_periodic && !has_forms ? edge : 0, xyz, rounded, count );
    }
    time_columns( columns, column_count, options->rounds, has_threads );
    printf( "| %s | %u |", s_scenes[scene].name, count );
    if ( has_forms )
    {
        print_forms( columns, count );
    }
    else if ( has_threads )
    {
        print_threads( columns, count, options );
    }
    else
    {
        print_types( columns, count );
    }
    fflush( stdout );
    for ( int i = 0; i < column_count; ++i )
    {
        clv_near_destroy( columns[i].near );
    }
    free( xyz );
    free( rounded );
}

// ---- on a device

static void give_up_gpu( const clv_gpu* gpu )
{
    fprintf( stderr, "near_points: %s\n", clv_gpu_error( gpu ) );
    exit( 1 );
}

// The least of many rounds, from call to list; the points are there already.
static double time_device(
    clv_gpu* gpu, const clv_near_def* def, uint32_t count, const clv_near_cell* cell, int rounds )
{
    double best = 1e300;
    uint64_t total = 0;
    for ( int round = 0; round < rounds || ( total < LEAST_NS / 10 && round < 1000 ); ++round )
    {
        uint64_t before = clv_base_clock_ns();
        if ( clv_gpu_near_buffer( gpu, def, gpu->buffers.near_points.memory, 12, count, cell ) != CLV_OK )
        {
            give_up_gpu( gpu );
        }
        gpu->cl->clFinish( gpu->queue );
        uint64_t ns = clv_base_clock_ns() - before;
        total += ns;
        best = round > 1 && (double)ns < best ? (double)ns : best;
    }
    return best * 1e-6;
}

static void print_kernels( clv_gpu* gpu, const clv_near_def* def, uint32_t count )
{
    gpu_spans spans = { 0 };
    gpu->spans = &spans;
    if ( clv_gpu_near_buffer( gpu, def, gpu->buffers.near_points.memory, 12, count, NULL ) != CLV_OK )
    {
        give_up_gpu( gpu );
    }
    gpu->cl->clFinish( gpu->queue );
    clv_gpu_spans_take( gpu );
    gpu->spans = NULL;
    printf( "  " );
    for ( gpu_kernel_id id = 0; id < GPU_KERNEL_COUNT; ++id )
    {
        if ( spans.ms[id] > 0 )
        {
            printf( " %s %.3f ms", clv_gpu_kernel_name( id ), spans.ms[id] );
        }
    }
    printf( "\n" );
    clv_gpu_spans_free( gpu, &spans );
}

static void time_scene_on_device( size_t scene, uint32_t count, const near_options* options )
{
    double* xyz = malloc( 3 * sizeof( double ) * count );
    float* rounded = malloc( 3 * sizeof( float ) * count );
    clv_gpu_def gpu_def = clv_default_gpu_def();
    clv_gpu* gpu = NULL;
    gpu_def.device = options->device;
    gpu_def.times = options->has_kernels;
    clv_result result = clv_gpu_create( &gpu_def, &gpu );
    if ( xyz == NULL || rounded == NULL || result != CLV_OK )
    {
        give_up( result != CLV_OK ? result : CLV_OUT_OF_MEMORY );
    }
    double edge = make_points( s_scenes[scene].kind, s_scenes[scene].neighbours, count, xyz );
    for ( size_t i = 0; i < 3 * (size_t)count; ++i )
    {
        rounded[i] = (float)xyz[i];
    }
    near_column column;
    open_column( &column, &s_forms[0], false, 1, edge, xyz, rounded, count );
    clv_near_def def = clv_default_near_def();
    def.cutoff = 1;
    double ms[4];
    printf( "| %s | %u |", s_scenes[scene].name, count );
    for ( int i = 0; i < 4; ++i ) // half lists of pairs, then full ones by point; open, then periodic
    {
        def.full = def.by_point = i >= 2;
        column.points.cell = i % 2 == 1 ? &column.cell : NULL;
        if ( clv_gpu_near( gpu, &def, &column.points ) != CLV_OK )
        {
            give_up_gpu( gpu );
        }
        uint64_t found = clv_gpu_near_list( gpu ).count / ( def.full ? 2 : 1 );
        result = i < 2 ? clv_near_update( column.near, &column.points, NULL ) : CLV_OK;
        if ( result != CLV_OK || ( i < 2 && found != clv_near_list( column.near ).count ) )
        {
            fprintf( stderr, "near_points: the device has other pairs than the CPU\n" );
            exit( 1 );
        }
        ms[i] = time_device( gpu, &def, count, column.points.cell, options->rounds );
        if ( i < 2 )
        {
            printf( " %.1f |", 2 * (double)found / count );
        }
    }
    printf( " %.3f | %.3f | %.3f | %.3f |\n", ms[0], ms[1], ms[2], ms[3] );
    for ( int i = 0; i < 2 && options->has_kernels; ++i )
    {
        def.full = def.by_point = i == 1;
        print_kernels( gpu, &def, count );
        print_kernels( gpu, &def, count ); // the second without a plan
    }
    fflush( stdout );
    clv_near_destroy( column.near );
    clv_gpu_destroy( gpu );
    free( xyz );
    free( rounded );
}

static void print_head( near_options* options )
{
    if ( options->device != NULL )
    {
        printf(
            "| points | count | neighbours, open | periodic | half pairs, open, ms | periodic | full by point, open "
            "| periodic |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n" );
        return;
    }
    if ( options->forms != NULL )
    {
        printf( "| points | count | neighbours |" );
        for ( int i = 0; i < FORMS; ++i )
        {
            printf( " %s |", s_forms[i].name );
        }
        printf( "\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n" );
        return;
    }
    if ( options->thread_count == 0 )
    {
        printf(
            "| points | count | neighbours, open | periodic | float, open | periodic | double, open | periodic "
            "| periodic : open | double : float |\n"
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n" );
        return;
    }
    int last = options->thread_count - 1;
    printf( "| points | count | neighbours |" );
    for ( int i = 0; i <= last; ++i )
    {
        printf( " %d worker%s |", options->threads[i], options->threads[i] == 1 ? "" : "s" );
        options->bandwidths[i] = i == 0 || i == last ? copy_bandwidth( options->threads[i] ) : 0;
    }
    printf( " first : last | floor, %d | floor, %d |\n| --- | ---: | ---: |", options->threads[0],
        options->threads[last] );
    for ( int i = 0; i <= last; ++i )
    {
        printf( " ---: |" );
    }
    printf( " ---: | ---: | ---: |\n" );
}

static int misused( const char* word )
{
    fprintf( stderr,
        "near_points: '%s': near_points [--forms float|double] [--threads T,...] [--device NAME|N] [--kernels yes] [--rounds N] [--scene WORD] "
        "[COUNT...], counts from "
        "100 to 100000000\n",
        word );
    return 2;
}

static bool read_threads( const char* text, near_options* options )
{
    char* end = NULL;
    for ( options->thread_count = 0; options->thread_count < COLUMNS; text = end + 1 )
    {
        long threads = strtol( text, &end, 10 );
        if ( end == text || threads < 1 || threads > 256 )
        {
            return false;
        }
        options->threads[options->thread_count++] = (int)threads;
        if ( *end != ',' )
        {
            return *end == '\0';
        }
    }
    return false;
}

static bool read_option( const char* name, const char* value, near_options* options )
{
    if ( strcmp( name, "--threads" ) == 0 )
    {
        return read_threads( value, options );
    }
    if ( strcmp( name, "--forms" ) == 0 )
    {
        options->forms = value;
        return strcmp( value, "float" ) == 0 || strcmp( value, "double" ) == 0;
    }
    if ( strcmp( name, "--rounds" ) == 0 )
    {
        options->rounds = atoi( value );
        return options->rounds > 1;
    }
    if ( strcmp( name, "--device" ) == 0 )
    {
        options->device = value;
        return true;
    }
    if ( strcmp( name, "--kernels" ) == 0 )
    {
        options->has_kernels = strcmp( value, "yes" ) == 0;
        return true;
    }
    options->scene = value;
    return strcmp( name, "--scene" ) == 0;
}

int main( int argc, char** argv )
{
    near_options options = { .rounds = ROUNDS, .scene = "" };
    uint32_t counts[64] = { 10000, 100000, 1000000 };
    int count_count = 0;
    for ( int i = 1; i < argc; ++i )
    {
        if ( argv[i][0] == '-' )
        {
            if ( i + 1 == argc || !read_option( argv[i], argv[i + 1], &options ) )
            {
                return misused( argv[i] );
            }
            i += 1;
            continue;
        }
        long count = atol( argv[i] );
        if ( count < 100 || count > 100000000 || count_count == 64 )
        {
            return misused( argv[i] );
        }
        counts[count_count++] = (uint32_t)count;
    }
    count_count = count_count > 0 ? count_count : 3;
    print_head( &options );
    for ( size_t scene = 0; scene < sizeof( s_scenes ) / sizeof( s_scenes[0] ); ++scene )
    {
        for ( int i = 0; i < count_count && strstr( s_scenes[scene].name, options.scene ) != NULL; ++i )
        {
            if ( options.device != NULL )
            {
                time_scene_on_device( scene, counts[i], &options );
                continue;
            }
            time_scene( scene, counts[i], &options );
        }
    }
    return 0;
}
