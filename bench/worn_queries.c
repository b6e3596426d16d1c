// SPDX-License-Identifier: MIT
// Questions to a space whose boxes have moved for a while, beside the same questions to a new space with the
// same boxes: beside infinite half-spaces, far walls and giants, in spaces of floats, of two axes and of
// doubles. bench/queries.md has its output.
//
//   worn_queries [COUNT]        default: 30000 boxes
//
// One thread, the structure ready; the least of several rounds, in ns per query. `refresh` is a frame's
// clv_space_refresh, on average.
#include "base/timer.h"
#include "cleave/cleave.h"
#include "math/splitmix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    ROUNDS = 5,
    QUERIES = 1000,
    FRAMES = 60,
    MOST_HITS = 400000,
};

typedef enum world_kind
{
    FLOATS,
    FLAT,
    DOUBLES,
} world_kind;

typedef struct worn_world
{
    world_kind kind;
    uint32_t count, giants; // the first boxes, which stay
    double side;
    math_random random;
    clv_aabb64* boxes;
    clv_vec64* speeds;
    clv_id* ids;
    clv_aabb* solid; // the same as floats, and with two axes
    clv_aabb2* flat;
} worn_world;

static void* take( size_t count, size_t size )
{
    void* memory = calloc( count, size );
    if ( memory == NULL )
    {
        fprintf( stderr, "worn_queries: out of memory\n" );
        exit( 2 );
    }
    return memory;
}

static void check( clv_result result )
{
    if ( result != CLV_OK )
    {
        fprintf( stderr, "worn_queries: %s\n", clv_result_text( result ) );
        exit( 2 );
    }
}

static double between( math_random* state, double least, double most )
{
    return least + math_random_unit( state ) * ( most - least );
}

// ---- worlds

static void set_cube( worn_world* w, uint32_t i, clv_vec64 at, double half )
{
    w->boxes[i] = ( clv_aabb64 ){ { at.x - half, at.y - half, at.z - half },
        { at.x + half, at.y + half, at.z + half } };
}

static clv_vec64 some_place( worn_world* w )
{
    math_random* r = &w->random;
    return ( clv_vec64 ){ between( r, 0, w->side ), between( r, 0, w->side ), between( r, 0, w->side ) };
}

static void set_half_spaces( worn_world* w )
{
    const double end = (double)INFINITY;
    w->boxes[0] = ( clv_aabb64 ){ { -end, -end, -end }, { end, 0, end } };
    w->boxes[1] = ( clv_aabb64 ){ { -end, -end, -end }, { 0, end, end } };
    w->giants = 2;
}

static void set_walls( worn_world* w )
{
    const double far = 5400;
    for ( uint32_t i = 0; i < 6; ++i )
    {
        clv_aabb64* wall = &w->boxes[i];
        *wall = ( clv_aabb64 ){ { -far, -far, -far }, { far, far, far } };
        double* face = i < 3 ? &wall->upper.x + i : &wall->lower.x + i - 3;
        *face = i < 3 ? 10 - far : far - 10;
    }
    w->giants = 6;
}

static void set_giants( worn_world* w )
{
    for ( uint32_t i = 0; i < 10; ++i )
    {
        set_cube( w, i, ( clv_vec64 ){ 3.0 * i, 2.0 * i, 0 }, 10000 );
    }
    w->giants = 10;
}

static void set_none( worn_world* w )
{
    w->giants = 0;
}

static void fly( worn_world* w )
{
    for ( uint32_t i = w->giants; i < w->count; ++i )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            double* speed = &w->speeds[i].x + axis;
            double at = ( &w->boxes[i].lower.x )[axis];
            *speed = at < 0 ? fabs( *speed ) : at > w->side ? -fabs( *speed ) : *speed;
            ( &w->boxes[i].lower.x )[axis] = at + *speed;
            ( &w->boxes[i].upper.x )[axis] = at + *speed + 1;
        }
    }
}

static void teleport( worn_world* w )
{
    for ( uint32_t i = w->giants; i < w->count; ++i )
    {
        set_cube( w, i, some_place( w ), 0.5 );
    }
}

static void open_world( worn_world* w, world_kind kind, uint32_t count )
{
    w->kind = kind;
    w->count = count;
    w->side = kind == FLAT ? sqrt( 4.0 * count ) : cbrt( 30.0 * count );
    w->random = math_random_seed( 1 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        set_cube( w, i, some_place( w ), 0.5 );
        math_random* r = &w->random;
        w->speeds[i] = ( clv_vec64 ){ between( r, -1, 1 ), between( r, -1, 1 ), between( r, -1, 1 ) };
    }
}

// The boxes into a space, anew or where they have moved to.
static void put_boxes( worn_world* w, clv_space* space, clv_id* ids, bool is_new )
{
    uint32_t n = w->count;
    for ( uint32_t i = 0; i < n; ++i )
    {
        const clv_aabb64* b = &w->boxes[i];
        w->solid[i] = ( clv_aabb ){ { (float)b->lower.x, (float)b->lower.y, (float)b->lower.z },
            { (float)b->upper.x, (float)b->upper.y, (float)b->upper.z } };
        w->flat[i] = ( clv_aabb2 ){ { (float)b->lower.x, (float)b->lower.y },
            { (float)b->upper.x, (float)b->upper.y } };
    }
    switch ( w->kind )
    {
    case FLOATS:
        check(
            is_new ? clv_space_add( space, w->solid, n, ids ) : clv_space_move( space, ids, w->solid, n ) );
        break;
    case FLAT:
        check(
            is_new ? clv_space_add2( space, w->flat, n, ids ) : clv_space_move2( space, ids, w->flat, n ) );
        break;
    default:
        check( is_new ? clv_space_add64( space, w->boxes, n, ids )
                      : clv_space_move64( space, ids, w->boxes, n ) );
        break;
    }
    check( clv_space_refresh( space ) );
}

static clv_space* open_space( worn_world* w, clv_id* ids )
{
    clv_space_def def = clv_default_space_def();
    def.flat = w->kind == FLAT;
    def.doubles = w->kind == DOUBLES;
    clv_space* space = NULL;
    check( clv_space_create( &def, &space ) );
    put_boxes( w, space, ids, true );
    return space;
}

// ---- asking

// Near the boxes that move.
typedef struct asked
{
    clv_ray rays[QUERIES];
    clv_ray2 rays2[QUERIES];
    clv_ray64 rays64[QUERIES];
    clv_aabb areas[QUERIES];
    clv_aabb2 areas2[QUERIES];
    clv_aabb64 areas64[QUERIES];
} asked;

static void draw( worn_world* w, asked* a )
{
    for ( uint32_t i = 0; i < QUERIES; ++i )
    {
        math_random* r = &w->random;
        clv_vec64 p = w->boxes[w->giants + i * 7 % ( w->count - w->giants )].upper;
        clv_vec64 d = { between( r, -1, 1 ), between( r, -1, 1 ), between( r, -1, 1 ) };
        p = ( clv_vec64 ){ p.x + 0.7, p.y + 0.6, p.z + 0.5 };
        const clv_vec3 f = { (float)p.x, (float)p.y, (float)p.z };
        a->rays64[i] = ( clv_ray64 ){ p, d, (double)INFINITY };
        a->rays[i] = ( clv_ray ){ f, { (float)d.x, (float)d.y, (float)d.z }, INFINITY };
        a->rays2[i] = ( clv_ray2 ){ { f.x, f.y }, { (float)d.x, (float)d.y }, INFINITY };
        a->areas64[i] = ( clv_aabb64 ){ p, { p.x + 1, p.y + 1, p.z + 1 } };
        a->areas[i] = ( clv_aabb ){ f, { f.x + 1, f.y + 1, f.z + 1 } };
        a->areas2[i] = ( clv_aabb2 ){ { f.x, f.y }, { f.x + 1, f.y + 1 } };
    }
}

static union
{
    clv_hit floats[MOST_HITS];
    clv_hit64 doubles[MOST_HITS];
} s_hits;

static void ask_rays( const clv_space* space, const worn_world* w, const asked* a )
{
    clv_queries rays =
        w->kind == FLAT ? clv_query_rays2( a->rays2, QUERIES ) : clv_query_rays( a->rays, QUERIES );
    clv_queries64 rays64 = clv_query_rays64( a->rays64, QUERIES );
    check( w->kind == DOUBLES ? clv_space_query_closest64( space, &rays64, s_hits.doubles, NULL )
                              : clv_space_query_closest( space, &rays, s_hits.floats, NULL ) );
}

static void ask_boxes( const clv_space* space, const worn_world* w, const asked* a )
{
    static uint64_t offsets[QUERIES + 1];
    clv_queries areas =
        w->kind == FLAT ? clv_query_boxes2( a->areas2, QUERIES ) : clv_query_boxes( a->areas, QUERIES );
    clv_queries64 areas64 = clv_query_boxes64( a->areas64, QUERIES );
    clv_query_lists floats = { offsets, s_hits.floats, MOST_HITS, 0, 0 };
    clv_query_lists64 doubles = { offsets, s_hits.doubles, MOST_HITS, 0, 0 };
    check( w->kind == DOUBLES ? clv_space_query_all64( space, &areas64, &doubles )
                              : clv_space_query_all( space, &areas, &floats ) );
}

static double least_ns( void ( *ask )( const clv_space*, const worn_world*, const asked* ),
    const clv_space* space, const worn_world* w, const asked* a )
{
    double least = 0;
    for ( int round = 0; round < ROUNDS; ++round )
    {
        uint64_t start = clv_base_clock_ns();
        ask( space, w, a );
        double ns = (double)( clv_base_clock_ns() - start ) / QUERIES;
        least = round == 0 || ns < least ? ns : least;
    }
    return least;
}

// ---- rows

static const struct
{
    const char* name;
    void ( *setup )( worn_world* w );
    void ( *step )( worn_world* w );
    uint32_t frames;
} s_scenes[] = {
    { "all fly", set_none, fly, FRAMES },
    { "two infinite half-spaces", set_half_spaces, fly, FRAMES },
    { "six walls of 10.8 km", set_walls, fly, FRAMES },
    { "ten giants, all others elsewhere", set_giants, teleport, 1 },
};

static void show_row( worn_world* w, asked* a, uint32_t scene, world_kind kind, uint32_t count )
{
    static const char* const kinds[] = { "floats", "flat", "doubles" };
    open_world( w, kind, count );
    s_scenes[scene].setup( w );
    clv_space* worn = open_space( w, w->ids );
    uint64_t spent = 0;
    for ( uint32_t frame = 0; frame < s_scenes[scene].frames; ++frame )
    {
        s_scenes[scene].step( w );
        uint64_t start = clv_base_clock_ns();
        put_boxes( w, worn, w->ids, false );
        spent += clv_base_clock_ns() - start;
    }
    clv_id* ids = take( count, sizeof( clv_id ) );
    clv_space* fresh = open_space( w, ids );
    draw( w, a );
    double ray = least_ns( ask_rays, worn, w, a ), fresh_ray = least_ns( ask_rays, fresh, w, a );
    double box = least_ns( ask_boxes, worn, w, a ), fresh_box = least_ns( ask_boxes, fresh, w, a );
    printf( "| %s, %s | %.0f | %.0f | %.1f | %.0f | %.0f | %.1f | %.2f |\n", s_scenes[scene].name,
        kinds[kind], ray, fresh_ray, ray / fresh_ray, box, fresh_box, box / fresh_box,
        (double)spent / s_scenes[scene].frames * 1e-6 );
    fflush( stdout );
    free( ids );
    clv_space_destroy( worn );
    clv_space_destroy( fresh );
}

int main( int argc, char** argv )
{
    int count = argc > 1 ? atoi( argv[1] ) : 30000;
    if ( count < 100 || count > 1 << 24 || argc > 2 )
    {
        fprintf( stderr, "usage: worn_queries [COUNT]; COUNT is 100 to 16777216\n" );
        return 2;
    }
    size_t n = (size_t)count;
    worn_world w = { .boxes = take( n, sizeof( clv_aabb64 ) ),
        .speeds = take( n, sizeof( clv_vec64 ) ),
        .ids = take( n, sizeof( clv_id ) ),
        .solid = take( n, sizeof( clv_aabb ) ),
        .flat = take( n, sizeof( clv_aabb2 ) ) };
    asked* a = take( 1, sizeof( asked ) );
    printf(
        "| %d boxes | ray, ns | in a new space | times | box, ns | in a new space | times | move, refresh, ms |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n",
        count );
    for ( uint32_t i = 0; i < 3 * sizeof( s_scenes ) / sizeof( s_scenes[0] ); ++i )
    {
        show_row( &w, a, i / 3, (world_kind)( i % 3 ), (uint32_t)count );
    }
    free( w.boxes );
    free( w.speeds );
    free( w.ids );
    free( w.solid );
    free( w.flat );
    free( a );
    return 0;
}
