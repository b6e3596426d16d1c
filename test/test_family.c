// SPDX-License-Identifier: MIT
// What is particular to the families of methods: their parameters, at the ends of their ranges, and what must
// not happen to structures that last.
#include "oracle.h"

#include <stdlib.h>
#include <string.h>

enum
{
    OBJECTS = 300,
    FRAMES = 12,
};

typedef struct family_case
{
    const char* method;
    const char* settings;
} family_case;

// Cells of one and of all boxes, columns instead of cubes, no swaps and any number, no margin and a large
// one, scans of four: small limits, so that a few hundred boxes meet every branch.
static const family_case s_cases[] = {
    { "grid", "grid.cell=1" },
    { "grid", "grid.cell=1000000" },
    { "grid", "grid.cell=2,grid.axes=2" },
    { "grid-sap", "grid.cell=1" },
    { "grid-sap", "grid.cell=1000000" },
    { "grid-sap", "grid.cell=4,grid.axes=2" },
    { "isap", "isap.swaps=0" },
    { "isap", "isap.swaps=1000000" },
    { "bvh-f", "bvh.margin=0" },
    { "bvh-f", "bvh.margin=2" },
    { "bvh-d", "bvh.margin=0" },
    { "bvh-d", "bvh.margin=2" },
    { "segment-tree", "segment-tree.cutoff=4" },
    { "segment-tree", "segment-tree.cutoff=40" },
    { "tracy", "tracy.cell=1" },
    { "tracy", "tracy.cell=1000000" },
    { "tracy", "tracy.cell=4,tracy.swaps=0" },
    { "tracy", "tracy.cell=4,tracy.swaps=1000000" },
};

// A crowd that moves, comes and goes, judged every frame.
static void live( const clv_space_def* def, test_crowd crowd, uint64_t seed )
{
    clv_space* space = NULL;
    oracle world;
    oracle_open( &world, def, NULL );
    CHECK_OK( clv_space_create( def, &space ) );
    test_random random = test_random_make( seed );
    clv_aabb boxes[OBJECTS];
    clv_id ids[OBJECTS];
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        boxes[i] = test_crowd_box( crowd, OBJECTS, &random );
    }
    CHECK_OK( clv_space_add( space, boxes, OBJECTS, ids ) );
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        oracle_add( &world, ids[i], boxes[i] );
    }
    for ( uint32_t frame = 0; frame < FRAMES; ++frame )
    {
        test_where.frame = frame;
        uint32_t turnover = frame % 3 == 1 ? 3 : frame % 3 == 2 ? OBJECTS / 2 : 0;
        CHECK_OK( clv_space_remove( space, ids, turnover ) );
        for ( uint32_t i = 0; i < turnover; ++i )
        {
            oracle_remove( &world, ids[i] );
            boxes[i] = test_crowd_box( crowd, OBJECTS, &random );
        }
        CHECK_OK( clv_space_add( space, boxes, turnover, ids ) );
        for ( uint32_t i = 0; i < OBJECTS; ++i )
        {
            boxes[i] = test_crowd_step( crowd, boxes[i], &random );
            if ( i < turnover )
            {
                oracle_add( &world, ids[i], boxes[i] );
            }
            oracle_find( &world, ids[i] )->box = boxes[i];
        }
        CHECK_OK( clv_space_move( space, ids, boxes, OBJECTS ) );
        CHECK_OK( clv_space_update( space ) );
        oracle_update( &world );
        oracle_check( &world, space );
    }
    clv_space_destroy( space );
    oracle_close( &world );
}

static void settings_at_the_ends_of_their_range_change_no_answer( void )
{
    for ( uint32_t i = 0; i < TEST_COUNT( s_cases ); ++i )
    {
        clv_space_def def = clv_default_space_def();
        def.method = s_cases[i].method;
        def.settings = s_cases[i].settings;
        test_where.method = def.method;
        test_where.note = def.settings;
        for ( uint32_t crowd = 0; crowd < TEST_CROWD_COUNT; ++crowd )
        {
            test_where.seed = crowd;
            live( &def, (test_crowd)crowd, 100 + crowd );
        }
    }
    test_where.note = NULL;
}

static void scatter( clv_aabb* boxes, uint32_t count, test_random* random )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        boxes[i] = test_cube( test_random_between( random, 0, 40 ), test_random_between( random, 0, 40 ),
            test_random_between( random, 0, 40 ), 0.5f );
    }
}

// The same boxes, in a tree that has seen much and in a new one: nearly the same number of tests.
static void churn_leaves_no_trace_in_a_tree( void )
{
    enum
    {
        COUNT = 2000
    };
    static const char* const names[] = { "bvh-d", "bvh-f" };
    clv_aabb* boxes = test_alloc( COUNT, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( COUNT, sizeof( clv_id ) );
    for ( uint32_t n = 0; n < TEST_COUNT( names ); ++n )
    {
        test_where.method = names[n];
        clv_space_def def = clv_default_space_def();
        def.method = names[n];
        clv_space* old = NULL;
        clv_space* fresh = NULL;
        CHECK_OK( clv_space_create( &def, &old ) );
        CHECK_OK( clv_space_create( &def, &fresh ) );
        test_random random = test_random_make( 5 );
        scatter( boxes, COUNT, &random );
        CHECK_OK( clv_space_add( old, boxes, COUNT, ids ) );
        for ( uint32_t frame = 0; frame < 200; ++frame )
        {
            uint32_t first = frame * 37 % ( COUNT - 100 );
            scatter( boxes + first, 100, &random );
            CHECK_OK( clv_space_move( old, ids + first, boxes + first, 100 ) );
            CHECK_OK( clv_space_update( old ) );
        }
        CHECK_OK( clv_space_add( fresh, boxes, COUNT, NULL ) );
        CHECK_OK( clv_space_update( fresh ) );
        CHECK_EQUAL( clv_space_pairs( old ).count, clv_space_pairs( fresh ).count );
        if ( n == 0 ) // the other one asks for those that moved alone
        {
            CHECK( clv_space_stats( old ).test_count < 2 * clv_space_stats( fresh ).test_count );
        }
        clv_space_destroy( old );
        clv_space_destroy( fresh );
    }
    free( boxes );
    free( ids );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( settings_at_the_ends_of_their_range_change_no_answer ),
        TEST_CASE( churn_leaves_no_trace_in_a_tree ),
    };
    return test_run( "family", cases, TEST_COUNT( cases ), argc, argv );
}
