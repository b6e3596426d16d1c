// SPDX-License-Identifier: MIT
// What a recorder costs the program that is recorded. bench/recorder.md has its results.
//
//   recorder [--boxes N] [--frames N] [--rounds N] [--folder PATH] [WAY]...
//
// Default: 32000 boxes, 100 frames, 5 rounds, the working folder, all ways. Cubes of a metre, one in 30
// m³, all of which move in every frame; the time is that of clv_space_move and clv_space_update, after
// which comes what a program does besides: here making the next boxes. The ways are lived in turn, each
// with a space of its own, as often as there are rounds. Per way: the median frame of the round in which
// it was least, by the clock and in processor time of the calling thread, and its share above "none" of
// the same round, the median of all rounds. A file is removed after each round; what is not yet on the
// disk then is not written any more.
#define _GNU_SOURCE // clock_gettime

#include "head.h"

#include "base/timer.h"
#include "cleave/cleave.h"
#include "math/splitmix.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum
{
    WARM_FRAMES = 20,
    MOST_ROUNDS = 100,
};

typedef enum beside
{
    BESIDE_NOTHING,
    BESIDE_RECORDER,
    BESIDE_COPY,  ///< the boxes to one place in memory: no recorder without a thread can cost less
    BESIDE_WRITE, ///< the boxes to a file, by one write() a frame
} beside;

typedef struct way
{
    const char* name;
    beside what;
    bool has_thread, has_file;
} way;

static const way s_ways[] = {
    { "none", BESIDE_NOTHING, false, false },
    { "thread-sink", BESIDE_RECORDER, true, false },
    { "thread-file", BESIDE_RECORDER, true, true },
    { "sink", BESIDE_RECORDER, false, false },
    { "file", BESIDE_RECORDER, false, true },
    { "copy", BESIDE_COPY, false, false },
    { "write", BESIDE_WRITE, false, true },
};

enum
{
    WAY_COUNT = sizeof( s_ways ) / sizeof( s_ways[0] )
};

static uint32_t s_count = 32000, s_frames = 100, s_rounds = 5;
static const char* s_folder = ".";

// ---- the world

typedef struct world
{
    clv_space* space;
    clv_aabb* boxes;
    clv_id* ids;
    clv_vec3* speeds;
    float side;
} world;

static world make_world( void )
{
    world w = { NULL, take( s_count, sizeof( clv_aabb ) ), take( s_count, sizeof( clv_id ) ),
        take( s_count, sizeof( clv_vec3 ) ), (float)cbrt( 30.0 * s_count ) };
    math_random random = math_random_seed( 1 );
    clv_space_def def = clv_default_space_def();
    for ( uint32_t i = 0; i < s_count; ++i )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            float at = (float)math_random_between( &random, 0, (double)w.side );
            ( &w.boxes[i].lower.x )[axis] = at;
            ( &w.boxes[i].upper.x )[axis] = at + 1;
            ( &w.speeds[i].x )[axis] = (float)math_random_between( &random, -0.25, 0.25 );
        }
    }
    check( clv_space_create( &def, &w.space ) == CLV_OK, "clv_space_create" );
    return w;
}

static void step( world* w )
{
    for ( uint32_t i = 0; i < s_count; ++i )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            float *lower = &( &w->boxes[i].lower.x )[axis], *speed = &( &w->speeds[i].x )[axis];
            *speed = *lower < 0 ? fabsf( *speed ) : *lower > w->side ? -fabsf( *speed ) : *speed;
            *lower += *speed;
            ( &w->boxes[i].upper.x )[axis] = *lower + 1;
        }
    }
}

static void free_world( world* w )
{
    clv_space_destroy( w->space );
    free( w->boxes );
    free( w->ids );
    free( w->speeds );
}

// ---- what is beside it

static bool count_bytes( const void* bytes, size_t count, void* user )
{
    uint64_t* sum = user;
    (void)bytes;
    *sum += count;
    return true;
}

static clv_recorder* make_recorder( const way* how, clv_space* space, const char* path, uint64_t* sum )
{
    clv_recorder_def def = clv_default_recorder_def();
    clv_recorder* recorder = NULL;
    def.has_thread = how->has_thread;
    def.path = how->has_file ? path : NULL;
    def.put = how->has_file ? NULL : count_bytes;
    def.put_user = sum;
    check( clv_recorder_create( &def, space, &recorder ) == CLV_OK, "clv_recorder_create" );
    return recorder;
}

typedef struct cost
{
    double clock, cpu;
} cost;

static int by_size( const void* a, const void* b )
{
    double x = *(const double*)a, y = *(const double*)b;
    return ( x > y ) - ( x < y );
}

static double median( double* values, uint32_t count )
{
    qsort( values, count, sizeof( double ), by_size );
    return values[count / 2];
}

static cost live( const way* how )
{
    char path[1024];
    snprintf( path, sizeof( path ), "%s/bench-recorder.clvrec", s_folder );
    world w = make_world();
    size_t size = s_count * sizeof( clv_aabb );
    uint64_t sum = 0;
    clv_recorder* recorder = how->what == BESIDE_RECORDER ? make_recorder( how, w.space, path, &sum ) : NULL;
    int file = how->what == BESIDE_WRITE ? open( path, O_WRONLY | O_CREAT | O_TRUNC, 0600 ) : -1;
    check( how->what != BESIDE_WRITE || file >= 0, path );
    char* copy = take( size, 1 );
    double *clock = take( s_frames, sizeof( double ) ), *cpu = take( s_frames, sizeof( double ) );
    check( clv_space_add( w.space, w.boxes, s_count, w.ids ) == CLV_OK, "clv_space_add" );
    for ( uint32_t frame = 0; frame < WARM_FRAMES + s_frames; ++frame )
    {
        step( &w );
        double cpu_begin = cpu_ms();
        uint64_t begin = clv_base_clock_ns();
        if ( how->what == BESIDE_COPY )
        {
            memcpy( copy, w.boxes, size );
        }
        check( file < 0 || write( file, w.boxes, size ) == (ssize_t)size, "write" );
        check( clv_space_move( w.space, w.ids, w.boxes, s_count ) == CLV_OK, "clv_space_move" );
        check( clv_space_update( w.space ) == CLV_OK, "clv_space_update" );
        uint32_t at = frame < WARM_FRAMES ? 0 : frame - WARM_FRAMES;
        clock[at] = base_clock_ms( begin, clv_base_clock_ns() );
        cpu[at] = cpu_ms() - cpu_begin;
    }
    check( clv_recorder_close( recorder ) == CLV_OK, "clv_recorder_close" );
    if ( how->has_file )
    {
        unlink( path );
    }
    if ( file >= 0 )
    {
        close( file );
    }
    cost result = { median( clock, s_frames ), median( cpu, s_frames ) };
    free( clock );
    free( cpu );
    free( copy );
    free_world( &w );
    return result;
}

// ---- all of it

static void show( const char* name, const cost* costs, const cost* none )
{
    double clock_share[MOST_ROUNDS], cpu_share[MOST_ROUNDS];
    cost least = costs[0];
    for ( uint32_t i = 0; i < s_rounds; ++i )
    {
        clock_share[i] = 100 * ( costs[i].clock / none[i].clock - 1 );
        cpu_share[i] = 100 * ( costs[i].cpu / none[i].cpu - 1 );
        least.clock = fmin( least.clock, costs[i].clock );
        least.cpu = fmin( least.cpu, costs[i].cpu );
    }
    printf( "%-12s %8.3f %+6.0f %% %8.3f %+6.0f %%\n", name, least.clock, median( clock_share, s_rounds ),
        least.cpu, median( cpu_share, s_rounds ) );
}

static uint32_t number_after( const char* option, const char* text, uint32_t most )
{
    long value = text != NULL ? strtol( text, NULL, 10 ) : 0;
    if ( value < 1 || value > (long)most )
    {
        fprintf( stderr, "recorder: %s wants a number from 1 to %u\n", option, most );
        exit( 2 );
    }
    return (uint32_t)value;
}

static void choose( const char* name, bool chosen[WAY_COUNT] )
{
    bool is_one = false;
    for ( uint32_t i = 0; i < WAY_COUNT; ++i )
    {
        bool is = strcmp( s_ways[i].name, name ) == 0;
        chosen[i] |= is;
        is_one |= is;
    }
    if ( !is_one )
    {
        fprintf( stderr, "recorder: there is no way '%s'\n", name );
        exit( 2 );
    }
}

int main( int argc, char** argv )
{
    static cost costs[WAY_COUNT][MOST_ROUNDS];
    bool chosen[WAY_COUNT] = { true }, has_choice = false;
    for ( int i = 1; i < argc; ++i )
    {
        const char *word = argv[i], *next = argv[i + ( i + 1 < argc )];
        bool is_option = word[0] == '-';
        s_count = strcmp( word, "--boxes" ) == 0 ? number_after( word, next, 10000000 ) : s_count;
        s_frames = strcmp( word, "--frames" ) == 0 ? number_after( word, next, 1000000 ) : s_frames;
        s_rounds = strcmp( word, "--rounds" ) == 0 ? number_after( word, next, MOST_ROUNDS ) : s_rounds;
        s_folder = strcmp( word, "--folder" ) == 0 ? next : s_folder;
        if ( !is_option )
        {
            choose( word, chosen );
            has_choice = true;
        }
        i += is_option;
    }
    for ( uint32_t round = 0; round < s_rounds; ++round )
    {
        for ( uint32_t i = 0; i < WAY_COUNT; ++i )
        {
            chosen[i] |= !has_choice;
            costs[i][round] = chosen[i] ? live( &s_ways[i] ) : ( cost ){ 0 };
        }
    }
    printf( "way          clock ms     more   cpu ms     more\n" );
    for ( uint32_t i = 0; i < WAY_COUNT; ++i )
    {
        if ( chosen[i] )
        {
            show( s_ways[i].name, costs[i], costs[0] );
        }
    }
    return 0;
}
