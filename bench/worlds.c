// SPDX-License-Identifier: MIT
// Worlds of another kind than the scenes': boxes in double, near and 10^9 metres away. bench/worlds.md is made of its output.
//
//   worlds [double] [COUNT]        default: all, 32000 boxes
//
// Every frame all boxes move, are handed over and searched. Each row is run several times in turn with the others, and of
// each frame the least counts: a busy machine can only make a frame longer.
#include "base/timer.h"
#include "cleave/cleave.h"
#include "math/splitmix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 5
#define FRAMES 24
#define WARM_FRAMES 8

typedef struct world
{
    uint32_t count;
    double reach; ///< of a town
    uint32_t town_count;
    double town_reach; ///< how far apart they are
    double ( *place )[3];
    double ( *speed )[3];
    double ( *town )[3]; ///< of each box
    clv_aabb* boxes;
    clv_aabb64* boxes64;
    clv_id* ids;
} world;

static void* take( size_t count, size_t size )
{
    void* memory = calloc( count, size );
    if ( memory == NULL )
    {
        fprintf( stderr, "worlds: out of memory\n" );
        exit( 2 );
    }
    return memory;
}

static void check( clv_result result, const char* what )
{
    if ( result != CLV_OK )
    {
        fprintf( stderr, "worlds: %s: %s\n", what, clv_result_text( result ) );
        exit( 2 );
    }
}

static double between( math_random* state, double least, double most )
{
    return least + math_random_unit( state ) * ( most - least );
}

// Cubes of a metre, a fiftieth of the room each fills; in towns that each have their share of them.
static world make_world( uint32_t count, uint32_t town_count, double town_reach )
{
    world all = { .count = count, .town_count = town_count, .town_reach = town_reach };
    all.reach = 0.5 * cbrt( 50.0 * count / town_count );
    all.place = take( count, sizeof( *all.place ) );
    all.speed = take( count, sizeof( *all.speed ) );
    all.town = take( count, sizeof( *all.town ) );
    all.boxes = take( count, sizeof( *all.boxes ) );
    all.boxes64 = take( count, sizeof( *all.boxes64 ) );
    all.ids = take( count, sizeof( *all.ids ) );
    math_random state = math_random_seed( 1 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        math_random town = math_random_seed( 77 + i % town_count );
        for ( int axis = 0; axis < 3; ++axis )
        {
            all.town[i][axis] = town_reach * ( 2 * math_random_unit( &town ) - 1 );
            all.place[i][axis] = between( &state, -all.reach, all.reach );
            all.speed[i][axis] = between( &state, -0.05, 0.05 );
        }
    }
    return all;
}

static void free_world( world* all )
{
    free( all->place );
    free( all->speed );
    free( all->town );
    free( all->boxes );
    free( all->boxes64 );
    free( all->ids );
}

static void step_world( world* all )
{
    for ( uint32_t i = 0; i < all->count; ++i )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            double at = all->place[i][axis] + all->speed[i][axis];
            all->speed[i][axis] *= fabs( at ) > all->reach ? -1 : 1;
            all->place[i][axis] = at;
            double lower = all->town[i][axis] + at - 0.5, upper = lower + 1;
            ( &all->boxes64[i].lower.x )[axis] = lower;
            ( &all->boxes64[i].upper.x )[axis] = upper;
            ( &all->boxes[i].lower.x )[axis] = (float)lower;
            ( &all->boxes[i].upper.x )[axis] = (float)upper;
        }
    }
}

typedef struct outcome
{
    double ms;
    uint64_t pair_count;
} outcome;

static clv_space* make_space( world* all, bool doubles )
{
    clv_space_def def = clv_default_space_def();
    def.doubles = doubles;
    clv_space* space = NULL;
    check( clv_space_create( &def, &space ), "create" );
    check( doubles ? clv_space_add64( space, all->boxes64, all->count, all->ids )
                   : clv_space_add( space, all->boxes, all->count, all->ids ),
        "add" );
    return space;
}

static outcome run_once( uint32_t count, uint32_t towns, double apart, bool doubles )
{
    world all = make_world( count, towns, apart );
    step_world( &all );
    clv_space* space = make_space( &all, doubles );
    outcome least = { INFINITY, 0 };
    for ( int frame = 0; frame < FRAMES; ++frame )
    {
        step_world( &all );
        uint64_t start = clv_base_clock_ns();
        check( doubles ? clv_space_move64( space, all.ids, all.boxes64, count )
                       : clv_space_move( space, all.ids, all.boxes, count ),
            "move" );
        check( clv_space_update( space ), "update" );
        double ms = (double)( clv_base_clock_ns() - start ) * 1e-6;
        least.ms = frame >= WARM_FRAMES && ms < least.ms ? ms : least.ms;
    }
    least.pair_count = clv_space_pairs( space ).count;
    clv_space_destroy( space );
    free_world( &all );
    return least;
}

static void show_doubles( uint32_t count )
{
    static const struct
    {
        const char* name;
        uint32_t towns;
        double apart;
        bool doubles;
    } rows[] = {
        { "one town, floats", 1, 0, false },
        { "one town, doubles", 1, 0, true },
        { "one town at 10^9 m, doubles", 1, 1e9, true },
        { "100 towns 10^9 m apart, doubles", 100, 1e9, true },
        { "100 towns 10^4 m apart, floats", 100, 1e4, false },
    };
    enum
    {
        ROWS = sizeof( rows ) / sizeof( rows[0] )
    };
    outcome best[ROWS];
    for ( int round = 0; round < ROUNDS; ++round )
    {
        for ( int i = 0; i < ROWS; ++i )
        {
            outcome now = run_once( count, rows[i].towns, rows[i].apart, rows[i].doubles );
            best[i] = round == 0 || now.ms < best[i].ms ? now : best[i];
        }
    }
    printf( "| %u boxes of a metre | ms | pairs |\n| --- | --- | --- |\n", count );
    for ( int i = 0; i < ROWS; ++i )
    {
        printf( "| %s | %.3f | %llu |\n", rows[i].name, best[i].ms, (unsigned long long)best[i].pair_count );
    }
}

int main( int argc, char** argv )
{
    uint32_t count = 32000;
    for ( int i = 1; i < argc; ++i )
    {
        count = atoi( argv[i] ) > 0 ? (uint32_t)atoi( argv[i] ) : count;
    }
    show_doubles( count );
    return 0;
}
