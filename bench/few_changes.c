// SPDX-License-Identifier: MIT
// One object is added, removed or moved, then one ray is asked: what a change costs a program that queries in
// between. bench/queries.md has its output.
//
//   few_changes [COUNT [CHANGES]]        default: 32000 boxes, 4000 changes of each kind
//
// One thread. A crowd of cubes of a metre, one in 30 m³; every change is followed by clv_space_refresh and
// one ray. Times are of a change with its refresh and ray, in µs: the median, the mean, which has the builds
// in it, and the longest. The last column is a ray's time after all these changes over that in a new space.
#include "base/timer.h"
#include "cleave/cleave.h"
#include "math/splitmix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum
{
    RAYS = 2000,
    ROUNDS = 5,
};

typedef struct few_world
{
    bool is_double;
    uint32_t count;
    double side;
    math_random random;
    clv_space* space;
    clv_id* ids;
    clv_aabb64* boxes;
    double* times; // of the changes
} few_world;

static void check( clv_result result )
{
    if ( result != CLV_OK )
    {
        fprintf( stderr, "few_changes: %s\n", clv_result_text( result ) );
        exit( 2 );
    }
}

static void* take( size_t count, size_t size )
{
    void* memory = calloc( count, size );
    if ( memory == NULL )
    {
        fprintf( stderr, "few_changes: out of memory\n" );
        exit( 2 );
    }
    return memory;
}

static double some( few_world* w, double least, double most )
{
    return least + math_random_unit( &w->random ) * ( most - least );
}

static clv_aabb64 some_cube( few_world* w )
{
    clv_vec64 p = { some( w, 0, w->side ), some( w, 0, w->side ), some( w, 0, w->side ) };
    return ( clv_aabb64 ){ p, { p.x + 1, p.y + 1, p.z + 1 } };
}

static clv_aabb narrow( const clv_aabb64* b )
{
    return ( clv_aabb ){ { (float)b->lower.x, (float)b->lower.y, (float)b->lower.z },
        { (float)b->upper.x, (float)b->upper.y, (float)b->upper.z } };
}

static void put( few_world* w, clv_space* space, uint32_t i, clv_id* id, bool is_new )
{
    clv_aabb floats = narrow( &w->boxes[i] );
    check( w->is_double ? ( is_new ? clv_space_add64( space, &w->boxes[i], 1, id )
                                   : clv_space_move64( space, id, &w->boxes[i], 1 ) )
            : is_new    ? clv_space_add( space, &floats, 1, id )
                        : clv_space_move( space, id, &floats, 1 ) );
}

static clv_space* open_space( few_world* w, clv_id* ids )
{
    clv_space_def def = clv_default_space_def();
    def.doubles = w->is_double;
    clv_space* space = NULL;
    check( clv_space_create( &def, &space ) );
    for ( uint32_t i = 0; i < w->count; ++i )
    {
        put( w, space, i, &ids[i], true );
    }
    check( clv_space_refresh( space ) );
    return space;
}

static uint32_t ask( few_world* w, const clv_space* space, uint32_t number )
{
    math_random r = math_random_seed( number );
    clv_vec64 p = { w->side * math_random_unit( &r ), w->side * math_random_unit( &r ),
        w->side * math_random_unit( &r ) };
    clv_vec64 d = { math_random_unit( &r ) - 0.5, math_random_unit( &r ) - 0.5,
        math_random_unit( &r ) - 0.5 };
    if ( w->is_double )
    {
        clv_hit64 hit;
        clv_ray64 ray = { p, d, (double)INFINITY };
        clv_queries64 rays = clv_query_rays64( &ray, 1 );
        check( clv_space_query_closest64( space, &rays, &hit, NULL ) );
        return hit.index;
    }
    clv_hit hit = { CLV_NO_HIT, 0 };
    clv_ray ray = { { (float)p.x, (float)p.y, (float)p.z }, { (float)d.x, (float)d.y, (float)d.z },
        INFINITY };
    (void)clv_space_cast_ray( space, ray, &hit );
    return hit.index;
}

// ---- changes

static void move_near( few_world* w, uint32_t i )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        double by = some( w, -0.1, 0.1 );
        ( &w->boxes[i].lower.x )[axis] += by;
        ( &w->boxes[i].upper.x )[axis] += by;
    }
    put( w, w->space, i, &w->ids[i], false );
}

static void move_far( few_world* w, uint32_t i )
{
    w->boxes[i] = some_cube( w );
    put( w, w->space, i, &w->ids[i], false );
}

static void remove_one( few_world* w, uint32_t i )
{
    check( clv_space_remove( w->space, &w->ids[i], 1 ) );
    w->count -= 1;
    w->boxes[i] = w->boxes[w->count];
    w->ids[i] = w->ids[w->count];
}

static void add_one( few_world* w, uint32_t i )
{
    (void)i;
    w->boxes[w->count] = some_cube( w );
    put( w, w->space, w->count, &w->ids[w->count], true );
    w->count += 1;
}

static void replace_one( few_world* w, uint32_t i )
{
    remove_one( w, i );
    add_one( w, 0 );
}

static const struct
{
    const char* name;
    void ( *change )( few_world* w, uint32_t i );
} s_changes[] = {
    { "moved by up to 0.1 m", move_near },
    { "moved to anywhere", move_far },
    { "added", add_one },
    { "removed", remove_one },
    { "removed, another one added", replace_one },
};

static int by_time( const void* a, const void* b )
{
    double x = *(const double*)a, y = *(const double*)b;
    return ( x > y ) - ( x < y );
}

static double ray_ns( few_world* w, const clv_space* space )
{
    double least = INFINITY;
    for ( int round = 0; round < ROUNDS; ++round )
    {
        uint64_t start = clv_base_clock_ns();
        for ( uint32_t i = 0; i < RAYS; ++i )
        {
            (void)ask( w, space, i );
        }
        double ns = (double)( clv_base_clock_ns() - start ) / RAYS;
        least = ns < least ? ns : least;
    }
    return least;
}

static void show_row( uint32_t row, bool is_double, uint32_t count, uint32_t changes )
{
    few_world w = { .is_double = is_double,
        .count = count,
        .side = cbrt( 30.0 * count ),
        .random = math_random_seed( 1 ),
        .ids = take( count + changes, sizeof( clv_id ) ),
        .boxes = take( count + changes, sizeof( clv_aabb64 ) ),
        .times = take( changes, sizeof( double ) ) };
    for ( uint32_t i = 0; i < count; ++i )
    {
        w.boxes[i] = some_cube( &w );
    }
    w.space = open_space( &w, w.ids );
    double sum = 0;
    for ( uint32_t i = 0; i < changes; ++i )
    {
        uint32_t which = (uint32_t)( math_random_unit( &w.random ) * w.count );
        uint64_t start = clv_base_clock_ns();
        s_changes[row].change( &w, which );
        check( clv_space_refresh( w.space ) );
        (void)ask( &w, w.space, i );
        w.times[i] = (double)( clv_base_clock_ns() - start ) * 1e-3;
        sum += w.times[i];
    }
    qsort( w.times, changes, sizeof( double ), by_time );
    clv_id* ids = take( w.count, sizeof( clv_id ) );
    clv_space* fresh = open_space( &w, ids );
    double worn = ray_ns( &w, w.space );
    printf( "| %u %s, %s | %.1f | %.1f | %.0f | %.2f |\n", count, is_double ? "doubles" : "floats",
        s_changes[row].name, w.times[changes / 2], sum / changes, w.times[changes - 1],
        worn / ray_ns( &w, fresh ) );
    fflush( stdout );
    clv_space_destroy( fresh );
    clv_space_destroy( w.space );
    free( ids );
    free( w.ids );
    free( w.boxes );
    free( w.times );
}

int main( int argc, char** argv )
{
    int count = argc > 1 ? atoi( argv[1] ) : 32000, changes = argc > 2 ? atoi( argv[2] ) : 4000;
    if ( count < 1 || changes < 1 || changes >= count || argc > 3 )
    {
        fprintf( stderr, "usage: few_changes [COUNT [CHANGES]]; fewer changes than boxes\n" );
        return 2;
    }
    printf( "| one of | median, µs | mean | longest | ray, times a new space's |\n"
            "| --- | --- | --- | --- | --- |\n" );
    for ( uint32_t i = 0; i < 2 * sizeof( s_changes ) / sizeof( s_changes[0] ); ++i )
    {
        show_row( i / 2, i % 2 == 1, (uint32_t)count, (uint32_t)changes );
    }
    return 0;
}
