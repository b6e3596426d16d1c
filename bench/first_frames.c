// SPDX-License-Identifier: MIT
// What a space costs before it is warm: create, add, the first update, and how far the slowest of the first
// 60 frames lies above their median; and what filters add to an update. Time of the processor, the least of
// many rounds. bench/first_frames.md has its results.
//
//   first_frames [BOXES]...       default: 10000 32000 128000
#define _POSIX_C_SOURCE 200809L

#include "head.h"

#include "cleave/cleave.h"
#include "math/splitmix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum
{
    ROUNDS = 30,
    FRAMES = 60,
};

typedef struct crowd
{
    uint32_t count;
    clv_aabb* boxes;
    clv_aabb* moved;
    clv_id* ids;
} crowd;

// Unit cubes, `density` of them in a unit of volume: each touches about eight times as many.
static crowd make_crowd( uint32_t count, double density )
{
    math_random random = math_random_seed( 1 );
    crowd c = { count, calloc( count, sizeof( clv_aabb ) ), calloc( count, sizeof( clv_aabb ) ),
        calloc( count, sizeof( clv_id ) ) };
    check( c.boxes != NULL && c.moved != NULL && c.ids != NULL, "taking memory" );
    double side = cbrt( count / density );
    for ( uint32_t i = 0; i < count; ++i )
    {
        float x = (float)math_random_between( &random, 0, side );
        float y = (float)math_random_between( &random, 0, side );
        float z = (float)math_random_between( &random, 0, side );
        c.boxes[i] = ( clv_aabb ){ { x, y, z }, { x + 1, y + 1, z + 1 } };
    }
    return c;
}

static void free_crowd( crowd* c )
{
    free( c->boxes );
    free( c->moved );
    free( c->ids );
}

// A space that is made, filled, asked once and thrown away.
static void time_one_shot( const crowd* c )
{
    double least[3] = { 1e300, 1e300, 1e300 };
    double pairs = 0;
    for ( int round = 0; round < ROUNDS; ++round )
    {
        clv_space* space = NULL;
        clv_space_def def = clv_default_space_def();
        double times[4] = { cpu_ms(), 0, 0, 0 };
        check( clv_space_create( &def, &space ) == CLV_OK, "clv_space_create" );
        times[1] = cpu_ms();
        check( clv_space_add( space, c->boxes, c->count, c->ids ) == CLV_OK, "clv_space_add" );
        times[2] = cpu_ms();
        check( clv_space_update( space ) == CLV_OK, "clv_space_update" );
        times[3] = cpu_ms();
        for ( int i = 0; i < 3; ++i )
        {
            double ms = times[i + 1] - times[i];
            least[i] = ms < least[i] ? ms : least[i];
        }
        pairs = (double)clv_space_pairs( space ).count;
        clv_space_destroy( space );
    }
    printf( "| %u, %.1f pairs each | %.1f | %.1f | %.3f |", c->count, pairs / c->count, least[0] * 1e3,
        least[1] * 1e6 / c->count, least[2] );
}

static int compare_doubles( const void* a, const void* b )
{
    double left = *(const double*)a, right = *(const double*)b;
    return ( left > right ) - ( left < right );
}

// All boxes drift a little in every frame; of each frame the least of several lives.
static void time_frames( crowd* c )
{
    double times[FRAMES];
    for ( int life = 0; life < 5; ++life )
    {
        clv_space* space = NULL;
        clv_space_def def = clv_default_space_def();
        check( clv_space_create( &def, &space ) == CLV_OK, "clv_space_create" );
        check( clv_space_add( space, c->boxes, c->count, c->ids ) == CLV_OK, "clv_space_add" );
        for ( int frame = 0; frame < FRAMES; ++frame )
        {
            for ( uint32_t i = 0; i < c->count; ++i )
            {
                float drift = 0.02f * (float)frame * (float)( (int)( i % 7 ) - 3 );
                c->moved[i] = c->boxes[i];
                c->moved[i].lower.x += drift;
                c->moved[i].upper.x += drift;
            }
            double start = cpu_ms();
            check( clv_space_move( space, c->ids, c->moved, c->count ) == CLV_OK, "clv_space_move" );
            check( clv_space_update( space ) == CLV_OK, "clv_space_update" );
            double ms = cpu_ms() - start;
            times[frame] = life == 0 || ms < times[frame] ? ms : times[frame];
        }
        clv_space_destroy( space );
    }
    qsort( times, FRAMES, sizeof( double ), compare_doubles );
    printf( " %.3f | %.2f |\n", times[FRAMES / 2], times[FRAMES - 1] / times[FRAMES / 2] );
}

// Least time of an update after clear and add_with. 64 different filters, an eighth of the pairs may not
// meet.
static double time_filled( const crowd* c, const clv_filter* filters )
{
    double least = 1e300;
    clv_space* space = NULL;
    clv_space_def def = clv_default_space_def();
    def.settings = "cleave.rest=0"; // the boxes are the same in every round, as no caller's are
    check( clv_space_create( &def, &space ) == CLV_OK, "clv_space_create" );
    for ( int round = 0; round < ROUNDS / 2; ++round )
    {
        clv_space_clear( space );
        clv_add_def with = clv_default_add_def();
        with.boxes = c->boxes;
        with.filters = filters;
        check( clv_space_add_with( space, &with, c->count, c->ids ) == CLV_OK, "clv_space_add_with" );
        double start = cpu_ms();
        check( clv_space_update( space ) == CLV_OK, "clv_space_update" );
        double ms = cpu_ms() - start;
        least = ms < least ? ms : least;
    }
    clv_space_destroy( space );
    return least;
}

static void time_filters( uint32_t count, double density )
{
    crowd c = make_crowd( count, density );
    clv_filter* filters = calloc( count, sizeof( clv_filter ) );
    check( filters != NULL, "taking memory" );
    math_random random = math_random_seed( 2 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t kind = (uint32_t)math_random_between( &random, 0, 64 );
        uint64_t category = (uint64_t)1 << kind % 16;
        filters[i] = ( clv_filter ){ category, kind < 32 ? UINT64_MAX : ~category, kind < 48 ? 0 : -1 };
    }
    double without = time_filled( &c, NULL ), with = time_filled( &c, filters );
    printf( "| %u, density %.1f | %.3f | %.3f | %.2f |\n", count, density, without, with, with / without );
    free( filters );
    free_crowd( &c );
}

static void time_count( uint32_t count )
{
    static const double densities[] = { 0.1, 8.5 };
    for ( size_t i = 0; i < sizeof( densities ) / sizeof( densities[0] ); ++i )
    {
        crowd c = make_crowd( count, densities[i] );
        time_one_shot( &c );
        time_frames( &c );
        fflush( stdout );
        free_crowd( &c );
    }
}

int main( int argc, char** argv )
{
    static const uint32_t counts[] = { 10000, 32000, 128000 };
    printf(
        "| boxes | create, µs | add, ns a box | first update, ms | median of 60 frames, ms | slowest / median |\n" );
    printf( "| --- | --- | --- | --- | --- | --- |\n" );
    for ( int i = 1; i < argc; ++i )
    {
        unsigned long count = strtoul( argv[i], NULL, 10 );
        if ( count < 100 || count > 10000000 )
        {
            fprintf( stderr, "usage: first_frames [BOXES]..., each 100 to 10,000,000\n" );
            return 2;
        }
        time_count( (uint32_t)count );
    }
    for ( size_t i = 0; argc < 2 && i < sizeof( counts ) / sizeof( counts[0] ); ++i )
    {
        time_count( counts[i] );
    }
    printf( "\n| boxes | update, ms | with filters | ratio |\n| --- | --- | --- | --- |\n" );
    for ( size_t i = 0; i < sizeof( counts ) / sizeof( counts[0] ); ++i )
    {
        uint32_t count = argc < 2 ? counts[i] : (uint32_t)strtoul( argv[1], NULL, 10 );
        time_filters( count, 0.1 );
        time_filters( count, 0.8 );
        time_filters( count, 8.5 );
        i = argc < 2 ? i : sizeof( counts );
    }
    return 0;
}
