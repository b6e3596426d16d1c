// SPDX-License-Identifier: MIT
// Worlds of another kind than the scenes': boxes in double, near and 10^9 metres away; boxes of two axes,
// beside Box2D's tree where that is installed. bench/worlds.md is made of its output.
//
//   worlds [double|flat|match] [COUNT]        default: all, 32000 boxes
//
// Every frame all boxes move, are handed over and searched. Each row is run several times in turn with the
// others; of each frame the least counts, since a busy machine can only make a frame longer, and the mean
// over the frames is shown.
#include "base/timer.h"
#include "cleave/cleave.h"
#include "math/splitmix.h"

#ifdef CLV_HAVE_BOX2D
#include "box2d_tree.h"
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 7
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
    double frame_ms[FRAMES];
    uint64_t pair_count; ///< in the last
} outcome;

static void keep_least( outcome* best, const outcome* now, bool is_first )
{
    for ( int frame = 0; frame < FRAMES; ++frame )
    {
        bool is_less = is_first || now->frame_ms[frame] < best->frame_ms[frame];
        best->frame_ms[frame] = is_less ? now->frame_ms[frame] : best->frame_ms[frame];
    }
    best->pair_count = now->pair_count;
}

static void show_row( const char* name, const outcome* best )
{
    double sum = 0;
    for ( int frame = WARM_FRAMES; frame < FRAMES; ++frame )
    {
        sum += best->frame_ms[frame];
    }
    printf( "| %s | %.3f | %llu |\n", name, sum / ( FRAMES - WARM_FRAMES ),
        (unsigned long long)best->pair_count );
}

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
    outcome seen = { { 0 }, 0 };
    for ( int frame = 0; frame < FRAMES; ++frame )
    {
        step_world( &all );
        uint64_t start = clv_base_clock_ns();
        check( doubles ? clv_space_move64( space, all.ids, all.boxes64, count )
                       : clv_space_move( space, all.ids, all.boxes, count ),
            "move" );
        check( clv_space_update( space ), "update" );
        seen.frame_ms[frame] = (double)( clv_base_clock_ns() - start ) * 1e-6;
    }
    seen.pair_count = clv_space_pairs( space ).count;
    clv_space_destroy( space );
    free_world( &all );
    return seen;
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
            keep_least( &best[i], &now, round == 0 );
        }
    }
    printf( "| %u boxes of a metre | ms | pairs |\n| --- | --- | --- |\n", count );
    for ( int i = 0; i < ROWS; ++i )
    {
        show_row( rows[i].name, &best[i] );
    }
}

// ---- two axes

typedef enum flat_way
{
    FLAT_CLEAVE,   ///< a flat space
    FLAT_SOLID,    ///< the same squares as boxes of three axes, all from 0 to 1 on the third
    FLAT_BOX2D,    ///< Box2D's own way
    FLAT_BOX2D_ALL ///< and every pair
} flat_way;

// Squares of a metre, a third of the room filled.
typedef struct plane
{
    uint32_t count;
    double side;
    double ( *place )[2];
    double ( *speed )[2];
    clv_aabb2* boxes;
    clv_aabb* solids;
    clv_id* ids;
} plane;

static plane make_plane( uint32_t count )
{
    plane all = { .count = count, .side = sqrt( 3.0 * count ) };
    all.place = take( count, sizeof( *all.place ) );
    all.speed = take( count, sizeof( *all.speed ) );
    all.boxes = take( count, sizeof( *all.boxes ) );
    all.solids = take( count, sizeof( *all.solids ) );
    all.ids = take( count, sizeof( *all.ids ) );
    math_random state = math_random_seed( 2 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( int axis = 0; axis < 2; ++axis )
        {
            all.place[i][axis] = between( &state, 0, all.side );
            all.speed[i][axis] = between( &state, -0.05, 0.05 );
        }
    }
    return all;
}

static void free_plane( plane* all )
{
    free( all->place );
    free( all->speed );
    free( all->boxes );
    free( all->solids );
    free( all->ids );
}

static void step_plane( plane* all )
{
    for ( uint32_t i = 0; i < all->count; ++i )
    {
        for ( int axis = 0; axis < 2; ++axis )
        {
            double at = all->place[i][axis] + all->speed[i][axis];
            all->speed[i][axis] *= at < 0 || at > all->side ? -1 : 1;
            all->place[i][axis] = at;
        }
        float x = (float)all->place[i][0], y = (float)all->place[i][1];
        all->boxes[i] = ( clv_aabb2 ){ { x, y }, { x + 1, y + 1 } };
        all->solids[i] = ( clv_aabb ){ { x, y, 0 }, { x + 1, y + 1, 1 } };
    }
}

static clv_space* open_plane( plane* all, flat_way way )
{
    if ( way > FLAT_SOLID )
    {
        return NULL;
    }
    clv_space_def def = clv_default_space_def();
    def.flat = way == FLAT_CLEAVE;
    clv_space* space = NULL;
    check( clv_space_create( &def, &space ), "create" );
    check( way == FLAT_CLEAVE ? clv_space_add2( space, all->boxes, all->count, all->ids )
                              : clv_space_add( space, all->solids, all->count, all->ids ),
        "add" );
    return space;
}

static uint64_t step_space( clv_space* space, plane* all, flat_way way )
{
    check( way == FLAT_CLEAVE ? clv_space_move2( space, all->ids, all->boxes, all->count )
                              : clv_space_move( space, all->ids, all->solids, all->count ),
        "move" );
    check( clv_space_update( space ), "update" );
    return clv_space_pairs( space ).count;
}

#ifdef CLV_HAVE_BOX2D
typedef box2d_tree flat_peer;
#else
typedef struct flat_peer flat_peer; // there is none
#endif

static flat_peer* open_peer( plane* all, flat_way way )
{
#ifdef CLV_HAVE_BOX2D
    return way > FLAT_SOLID ? box2d_tree_open( all->boxes, all->count ) : NULL;
#else
    (void)all, (void)way;
    return NULL;
#endif
}

static uint64_t step_peer( flat_peer* peer, plane* all, flat_way way )
{
#ifdef CLV_HAVE_BOX2D
    return way == FLAT_BOX2D ? box2d_tree_step( peer, all->boxes, all->count )
                             : box2d_tree_list( peer, all->boxes, all->count );
#else
    (void)peer, (void)all, (void)way;
    return 0;
#endif
}

static void close_peer( flat_peer* peer )
{
#ifdef CLV_HAVE_BOX2D
    box2d_tree_close( peer );
#else
    (void)peer;
#endif
}

static outcome run_plane( uint32_t count, flat_way way )
{
    plane all = make_plane( count );
    step_plane( &all );
    clv_space* space = open_plane( &all, way );
    flat_peer* peer = open_peer( &all, way );
    outcome seen = { { 0 }, 0 };
    for ( int frame = 0; frame < FRAMES; ++frame )
    {
        step_plane( &all );
        uint64_t start = clv_base_clock_ns();
        uint64_t found = space != NULL ? step_space( space, &all, way ) : step_peer( peer, &all, way );
        seen.frame_ms[frame] = (double)( clv_base_clock_ns() - start ) * 1e-6;
        seen.pair_count = found;
    }
    clv_space_destroy( space );
    close_peer( peer );
    free_plane( &all );
    return seen;
}

static void show_flat( uint32_t count )
{
    static const char* const names[] = { "cleave, flat", "cleave, three axes",
        "Box2D, grown boxes, what moved out of them", "Box2D, every pair" };
#ifdef CLV_HAVE_BOX2D
    const int ways = 4;
#else
    const int ways = 2;
    fprintf( stderr, "worlds: built without Box2D (Debian: libbox2d-dev)\n" );
#endif
    outcome best[4];
    for ( int round = 0; round < ROUNDS; ++round )
    {
        for ( int way = 0; way < ways; ++way )
        {
            outcome now = run_plane( count, (flat_way)way );
            keep_least( &best[way], &now, round == 0 );
        }
    }
    printf( "| %u squares of a metre | ms | pairs |\n| --- | --- | --- |\n", count );
    for ( int way = 0; way < ways; ++way )
    {
        show_row( names[way], &best[way] );
    }
}

// ---- many axes

static bool count_pairs( const clv_pair* pairs, size_t count, void* user )
{
    (void)pairs;
    *(uint64_t*)user += count;
    return true;
}

// Regions that meet half a dozen others each, about, on however many axes.
static void show_match( uint32_t count )
{
    double* corners = take( (size_t)count * 2 * CLV_MATCH_AXES, sizeof( double ) );
    printf( "| %u regions, axes | ms | pairs |\n| --- | --- | --- |\n", count );
    for ( uint32_t axes = 1; axes <= CLV_MATCH_AXES; ++axes )
    {
        math_random state = math_random_seed( axes );
        double side = 0.5 * pow( 12.0 / count, 1.0 / axes );
        for ( uint32_t i = 0; i < count * axes; ++i )
        {
            corners[2 * ( i / axes ) * axes + i % axes] = between( &state, 0, 1 );
            corners[( 2 * ( i / axes ) + 1 ) * axes + i % axes] =
                corners[2 * ( i / axes ) * axes + i % axes] + side;
        }
        clv_match_def def = clv_default_match_def();
        def.axis_count = axes;
        clv_regions all = { corners, corners + axes, 2 * axes * sizeof( double ), count };
        double least = INFINITY;
        uint64_t found = 0;
        for ( int round = 0; round < 3; ++round )
        {
            found = 0;
            uint64_t start = clv_base_clock_ns();
            check( clv_match_regions( &def, all, count_pairs, &found, NULL ), "match" );
            double ms = (double)( clv_base_clock_ns() - start ) * 1e-6;
            least = ms < least ? ms : least;
        }
        printf( "| %u | %.1f | %llu |\n", axes, least, (unsigned long long)found );
    }
    free( corners );
}

int main( int argc, char** argv )
{
    static const char* const parts[] = { "double", "flat", "match" };
    uint32_t count = 32000;
    int part = -1; // all
    for ( int i = 1; i < argc; ++i )
    {
        int number = atoi( argv[i] ), named = 0;
        while ( named < 3 && strcmp( argv[i], parts[named] ) != 0 )
        {
            named += 1;
        }
        if ( named == 3 && ( number < 1 || number > 1 << 24 ) )
        {
            fprintf( stderr, "worlds: what is '%s'? usage: worlds [double|flat|match] [COUNT]\n", argv[i] );
            return 2;
        }
        part = named < 3 ? named : part;
        count = named < 3 ? count : (uint32_t)number;
    }
    void ( *const shows[] )( uint32_t ) = { show_doubles, show_flat, show_match };
    for ( int i = 0; i < 3; ++i )
    {
        if ( part < 0 || part == i )
        {
            shows[i]( count );
        }
    }
    return 0;
}
