// SPDX-License-Identifier: MIT
// Questions to worlds of another kind: in double, near and 10^9 metres away, beside the same in floats; flat,
// beside Box2D's tree where that is installed. bench/worlds.md is made of its output.
//
//   world_queries [COUNT]        default: 32000 boxes
//
// Lists of queries on one thread, the structure ready; the least of several rounds, in ns per query. Hits are
// counted, to be compared.
#include "base/timer.h"
#include "cleave/cleave.h"
#include "math/splitmix.h"

#ifdef CLV_HAVE_BOX2D
#include "box2d_tree.h"
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum
{
    ROUNDS = 9,
    QUERIES = 4000,
    NEAREST = 8,
    MOST_HITS = 200000,
};

static const float WAY = 30; // of a ray, in metres

static void* take( size_t count, size_t size )
{
    void* memory = calloc( count, size );
    if ( memory == NULL )
    {
        fprintf( stderr, "world_queries: out of memory\n" );
        exit( 2 );
    }
    return memory;
}

static void check( clv_result result, const char* what )
{
    if ( result != CLV_OK )
    {
        fprintf( stderr, "world_queries: %s: %s\n", what, clv_result_text( result ) );
        exit( 2 );
    }
}

static double between( math_random* state, double least, double most )
{
    return least + math_random_unit( state ) * ( most - least );
}

// One row: what is asked, and what came out.
typedef struct row
{
    double ray_ns, box_ns, near_ns;
    uint64_t ray_hits, box_hits;
} row;

static void least( double* best, uint64_t start )
{
    double ns = (double)( clv_base_clock_ns() - start ) / QUERIES;
    *best = *best == 0 || ns < *best ? ns : *best;
}

static void show( const char* name, const row* r )
{
    printf( "| %s | %.0f | %.0f |", name, r->ray_ns, r->box_ns );
    if ( r->near_ns > 0 )
    {
        printf( " %.0f |", r->near_ns );
    }
    else
    {
        printf( " - |" );
    }
    printf( " %llu, %llu |\n", (unsigned long long)r->ray_hits, (unsigned long long)r->box_hits );
}

// ---- asking

// Lists of one world, of floats or, with other calls and hits, of doubles.
typedef struct asked
{
    clv_queries rays, boxes, points;
    clv_queries64 rays64, boxes64, points64; // or these
    bool doubles;
} asked;

static union
{
    clv_hit floats[MOST_HITS];
    clv_hit64 doubles[MOST_HITS];
} s_hits;

static clv_result closest( const clv_space* space, const asked* lists )
{
    return lists->doubles ? clv_space_query_closest64( space, &lists->rays64, s_hits.doubles, NULL )
                          : clv_space_query_closest( space, &lists->rays, s_hits.floats, NULL );
}

static clv_result all_hits( const clv_space* space, const asked* lists, uint64_t* count )
{
    static uint64_t offsets[QUERIES + 1];
    clv_query_lists floats = { offsets, s_hits.floats, MOST_HITS, 0, 0 };
    clv_query_lists64 doubles = { offsets, s_hits.doubles, MOST_HITS, 0, 0 };
    clv_result result = lists->doubles ? clv_space_query_all64( space, &lists->boxes64, &doubles )
                                       : clv_space_query_all( space, &lists->boxes, &floats );
    *count = lists->doubles ? doubles.count : floats.count;
    return result;
}

static clv_result nearest( const clv_space* space, const asked* lists )
{
    return lists->doubles
        ? clv_space_query_nearest64(
              space, &lists->points64, NEAREST, (double)INFINITY, s_hits.doubles, NULL )
        : clv_space_query_nearest( space, &lists->points, NEAREST, INFINITY, s_hits.floats, NULL );
}

static row ask( const clv_space* space, const asked* lists )
{
    row r = { 0 };
    for ( int round = 0; round < ROUNDS; ++round )
    {
        uint64_t start = clv_base_clock_ns();
        check( closest( space, lists ), "rays" );
        least( &r.ray_ns, start );
        r.ray_hits = 0;
        for ( uint32_t i = 0; i < QUERIES; ++i )
        {
            r.ray_hits += ( lists->doubles ? s_hits.doubles[i].index : s_hits.floats[i].index ) != CLV_NO_HIT;
        }
        start = clv_base_clock_ns();
        check( all_hits( space, lists, &r.box_hits ), "boxes" );
        least( &r.box_ns, start );
        start = clv_base_clock_ns();
        check( nearest( space, lists ), "nearest" );
        least( &r.near_ns, start );
    }
    return r;
}

// ---- three axes

typedef struct solid
{
    clv_aabb* boxes;
    clv_aabb64* boxes64;
    clv_ray rays[QUERIES];
    clv_ray64 rays64[QUERIES];
    clv_aabb areas[QUERIES];
    clv_aabb64 areas64[QUERIES];
    clv_vec3 points[QUERIES];
    clv_vec64 points64[QUERIES];
} solid;

// Cubes of a metre that fill a fiftieth of their room, in towns; queries where the boxes are.
static void fill_solid( solid* all, uint32_t count, uint32_t towns, double apart )
{
    math_random state = math_random_seed( 1 );
    double reach = 0.5 * cbrt( 50.0 * count / towns );
    for ( uint32_t i = 0; i < count; ++i )
    {
        math_random town = math_random_seed( 77 + i % towns );
        for ( int axis = 0; axis < 3; ++axis )
        {
            double at = apart * ( 2 * math_random_unit( &town ) - 1 ) + between( &state, -reach, reach );
            ( &all->boxes64[i].lower.x )[axis] = at;
            ( &all->boxes64[i].upper.x )[axis] = at + 1;
            ( &all->boxes[i].lower.x )[axis] = (float)at;
            ( &all->boxes[i].upper.x )[axis] = (float)( at + 1 );
        }
    }
    for ( uint32_t i = 0; i < QUERIES; ++i )
    {
        clv_vec64 at = all->boxes64[i % count].upper;
        clv_vec64 way = { between( &state, -1, 1 ), between( &state, -1, 1 ), between( &state, -1, 1 ) };
        all->points64[i] = ( clv_vec64 ){ at.x + 0.7, at.y + 0.6, at.z + 0.5 };
        clv_vec64 p = all->points64[i];
        all->rays64[i] = ( clv_ray64 ){ p, way, (double)WAY };
        all->areas64[i] = ( clv_aabb64 ){ p, { p.x + 1, p.y + 1, p.z + 1 } };
        all->points[i] = ( clv_vec3 ){ (float)p.x, (float)p.y, (float)p.z };
        all->rays[i] = ( clv_ray ){ all->points[i], { (float)way.x, (float)way.y, (float)way.z }, WAY };
        all->areas[i] = ( clv_aabb ){ all->points[i],
            { all->points[i].x + 1, all->points[i].y + 1, all->points[i].z + 1 } };
    }
}

static asked floats_of( const solid* all )
{
    return ( asked ){ .rays = clv_query_rays( all->rays, QUERIES ),
        .boxes = clv_query_boxes( all->areas, QUERIES ),
        .points = clv_query_points( all->points, QUERIES ) };
}

static asked doubles_of( const solid* all )
{
    return ( asked ){ .rays64 = clv_query_rays64( all->rays64, QUERIES ),
        .boxes64 = clv_query_boxes64( all->areas64, QUERIES ),
        .points64 = clv_query_points64( all->points64, QUERIES ),
        .doubles = true };
}

static void show_solid( uint32_t count )
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
    };
    solid* all = take( 1, sizeof( solid ) );
    all->boxes = take( count, sizeof( clv_aabb ) );
    all->boxes64 = take( count, sizeof( clv_aabb64 ) );
    printf(
        "| %u boxes of a metre | ray | box | 8 nearest | hits of rays, boxes |\n| --- | --- | --- | --- | --- |\n",
        count );
    for ( uint32_t i = 0; i < sizeof( rows ) / sizeof( rows[0] ); ++i )
    {
        fill_solid( all, count, rows[i].towns, rows[i].apart );
        clv_space_def def = clv_default_space_def();
        def.doubles = rows[i].doubles;
        clv_space* space = NULL;
        check( clv_space_create( &def, &space ), "create" );
        check( rows[i].doubles ? clv_space_add64( space, all->boxes64, count, NULL )
                               : clv_space_add( space, all->boxes, count, NULL ),
            "add" );
        check( clv_space_refresh( space ), "refresh" );
        asked lists = rows[i].doubles ? doubles_of( all ) : floats_of( all );
        row r = ask( space, &lists );
        show( rows[i].name, &r );
        clv_space_destroy( space );
    }
    free( all->boxes );
    free( all->boxes64 );
    free( all );
}

// ---- two axes

typedef struct plane
{
    clv_aabb2* boxes;
    clv_ray2 rays[QUERIES];
    clv_aabb2 areas[QUERIES];
    clv_vec2 points[QUERIES];
} plane;

// Squares of a metre, a third of the room filled.
static void fill_plane( plane* all, uint32_t count )
{
    math_random state = math_random_seed( 2 );
    double side = sqrt( 3.0 * count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        float x = (float)between( &state, 0, side ), y = (float)between( &state, 0, side );
        all->boxes[i] = ( clv_aabb2 ){ { x, y }, { x + 1, y + 1 } };
    }
    for ( uint32_t i = 0; i < QUERIES; ++i )
    {
        clv_vec2 p = { (float)between( &state, 0, side ), (float)between( &state, 0, side ) };
        all->points[i] = p;
        all->areas[i] = ( clv_aabb2 ){ p, { p.x + 1, p.y + 1 } };
        all->rays[i] =
            ( clv_ray2 ){ p, { (float)between( &state, -30, 30 ), (float)between( &state, -30, 30 ) }, 1 };
    }
}

static asked flat_of( const plane* all )
{
    return ( asked ){ .rays = clv_query_rays2( all->rays, QUERIES ),
        .boxes = clv_query_boxes2( all->areas, QUERIES ),
        .points = clv_query_points2( all->points, QUERIES ) };
}

static void show_peer( const plane* all, uint32_t count )
{
#ifdef CLV_HAVE_BOX2D
    static uint32_t hits[QUERIES];
    row r = { 0 };
    box2d_tree* tree = box2d_tree_open( all->boxes, count );
    for ( int round = 0; round < ROUNDS; ++round )
    {
        uint64_t start = clv_base_clock_ns();
        box2d_tree_cast( tree, all->rays, QUERIES, hits );
        least( &r.ray_ns, start );
        r.ray_hits = 0;
        for ( uint32_t i = 0; i < QUERIES; ++i )
        {
            r.ray_hits += hits[i] != UINT32_MAX;
        }
        start = clv_base_clock_ns();
        r.box_hits = box2d_tree_overlap( tree, all->areas, QUERIES );
        least( &r.box_ns, start );
    }
    show( "Box2D's tree", &r );
    box2d_tree_close( tree );
#else
    (void)all, (void)count;
    fprintf( stderr, "world_queries: built without Box2D (Debian: libbox2d-dev)\n" );
#endif
}

static void show_flat( uint32_t count )
{
    plane* all = take( 1, sizeof( plane ) );
    all->boxes = take( count, sizeof( clv_aabb2 ) );
    fill_plane( all, count );
    clv_space_def def = clv_default_space_def();
    def.flat = true;
    clv_space* space = NULL;
    check( clv_space_create( &def, &space ), "create" );
    check( clv_space_add2( space, all->boxes, count, NULL ), "add" );
    check( clv_space_refresh( space ), "refresh" );
    asked lists = flat_of( all );
    row r = ask( space, &lists );
    printf(
        "\n| %u squares of a metre | ray | box | 8 nearest | hits of rays, boxes |\n| --- | --- | --- | --- | --- |\n",
        count );
    show( "cleave, flat", &r );
    show_peer( all, count );
    clv_space_destroy( space );
    free( all->boxes );
    free( all );
}

int main( int argc, char** argv )
{
    int count = argc > 1 ? atoi( argv[1] ) : 32000;
    if ( count < 1 || count > 1 << 24 || argc > 2 )
    {
        fprintf( stderr, "usage: world_queries [COUNT]\n" );
        return 2;
    }
    show_solid( (uint32_t)count );
    show_flat( (uint32_t)count );
    return 0;
}
