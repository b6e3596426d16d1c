// SPDX-License-Identifier: MIT
// Shifting the origin: boxes are where the definition says, pairs are those of the boxes so moved, and a
// shift that rounds nothing keeps the list.
#include "far_crowd.h"
#include "heap.h"
#include "oracle.h"
#include "space/space_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum
{
    COUNT = 300
};

static clv_vec64 point64( double x, double y, double z )
{
    return ( clv_vec64 ){ x, y, z };
}

// The definition, once more.
static clv_aabb shifted( clv_aabb box, clv_vec64 by )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        float* faces[2] = { &( &box.lower.x )[axis], &( &box.upper.x )[axis] };
        for ( int i = 0; i < 2; ++i )
        {
            *faces[i] = isinf( *faces[i] ) ? *faces[i] : (float)( (double)*faces[i] - ( &by.x )[axis] );
        }
    }
    return box;
}

static void shift_and_judge( clv_space* space, oracle* world, clv_vec64 by )
{
    CHECK_OK( clv_space_shift_origin( space, by ) );
    for ( uint32_t slot = 0; slot < world->slot_count; ++slot )
    {
        world->objects[slot].box = shifted( world->objects[slot].box, by );
    }
    oracle_check_objects( world, space );
    CHECK_OK( clv_space_update( space ) );
    oracle_update( world );
    oracle_check( world, space );
}

static void run_floats( test_variant variant, test_crowd crowd, bool carries )
{
    clv_space_def def = clv_default_space_def();
    def.settings = test_small;
    def.events = true;
    def.margin = carries ? 0.125f : 0;
    clv_space* space = test_space_make( variant, &def );
    oracle world;
    oracle_open( &world, &def, NULL );
    test_random random = test_random_make( (uint64_t)crowd );
    clv_aabb boxes[COUNT];
    clv_id ids[COUNT];
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_crowd_box( crowd, COUNT, &random );
    }
    CHECK_OK( clv_space_add( space, boxes, COUNT, ids ) );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        oracle_add( &world, ids[i], boxes[i] );
    }
    for ( uint32_t i = 5; i < 40 && carries; i += 5 )
    {
        CHECK_OK( clv_space_remove_one( space, ids[i] ) );
        oracle_remove( &world, ids[i] );
    }
    CHECK_OK( clv_space_update( space ) );
    oracle_update( &world );
    static const double s_ways[] = { 1, -1, 4096, 0.1, 1e7, -1e7, 1e-42, 1e20 };
    for ( uint32_t i = 0; i < TEST_COUNT( s_ways ); ++i )
    {
        test_where.frame = i;
        shift_and_judge( space, &world, point64( s_ways[i], -2 * s_ways[i], 0 ) );
        clv_aabb to = shifted( boxes[0], point64( 0.5, 0, 0 ) ); // and one moves by itself
        CHECK_OK( clv_space_move_one( space, ids[0], to ) );
        oracle_find( &world, ids[0] )->box = to;
        CHECK_OK( clv_space_update( space ) );
        oracle_update( &world );
        oracle_check( &world, space );
    }
    oracle_close( &world );
    clv_space_destroy( space );
}

static void boxes_and_pairs_are_as_the_definition_says( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        for ( int crowd = 0; crowd < TEST_CROWD_COUNT;
              crowd += test_variant_is_usual( test_variant_at( i ) ) ? 2 : 5 )
        {
            test_where.seed = (uint64_t)crowd;
            run_floats( test_variant_at( i ), (test_crowd)crowd, crowd % 4 == 0 );
        }
    }
}

static clv_space* lattice_space( const clv_space_def* def, clv_id* ids )
{
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( def, &space ) );
    test_random random = test_random_make( 1 );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        clv_aabb box = test_crowd_box( TEST_CROWD_LATTICE, COUNT, &random );
        clv_aabb64 wide = { { (double)box.lower.x, (double)box.lower.y, (double)box.lower.z },
            { (double)box.upper.x, (double)box.upper.y, (double)box.upper.z } };
        CHECK_OK( def->doubles ? clv_space_add64( space, &wide, 1, &ids[i] )
                               : clv_space_add( space, &box, 1, &ids[i] ) );
    }
    CHECK_OK( clv_space_update( space ) );
    return space;
}

static void a_shift_that_rounds_nothing_keeps_the_list( void )
{
    for ( int doubles = 0; doubles < 2; ++doubles )
    {
        clv_space_def def = clv_default_space_def();
        def.events = true;
        def.doubles = doubles == 1;
        def.settings = "cleave.rest=1,cleave.rest_least=0";
        clv_id ids[COUNT];
        clv_space* space = lattice_space( &def, ids );
        for ( int frame = 0; frame < 20 && doubles == 1; ++frame )
        {
            CHECK_OK( clv_space_update( space ) ); // until it rests
        }
        uint64_t hash = test_order_hash( clv_space_pairs( space ).pairs, clv_space_pairs( space ).count );
        CHECK( clv_space_pairs( space ).count > COUNT / 2 );
        for ( int i = 0; i < 5; ++i )
        {
            CHECK_OK( clv_space_shift_origin( space, point64( 64 * i, -8, 1024 ) ) );
            CHECK_EQUAL(
                test_order_hash( clv_space_pairs( space ).pairs, clv_space_pairs( space ).count ), hash );
            CHECK_OK( clv_space_update( space ) );
            CHECK_EQUAL( clv_space_stats( space ).test_count, 0 );
            CHECK_EQUAL(
                test_order_hash( clv_space_pairs( space ).pairs, clv_space_pairs( space ).count ), hash );
            CHECK_EQUAL( clv_space_events( space ).begun_count + clv_space_events( space ).ended_count, 0 );
        }
        clv_space_destroy( space );
    }
}

static void what_changes_beside_a_shift_is_searched( void )
{
    clv_space_def def = clv_default_space_def();
    def.events = true;
    clv_id ids[COUNT];
    clv_space* space = lattice_space( &def, ids );
    uint64_t before = clv_space_pairs( space ).count;
    CHECK_OK( clv_space_shift_origin( space, point64( 3, 3, 3 ) ) );
    clv_aabb away = test_cube( 500, 500, 500, 1 );
    clv_aabb home;
    CHECK_OK( clv_space_get_box( space, ids[7], &home ) );
    CHECK_OK( clv_space_move_one( space, ids[7], away ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK( clv_space_pairs( space ).count < before );
    CHECK_OK( clv_space_move_one( space, ids[7], home ) );
    CHECK_OK( clv_space_shift_origin( space, point64( -5, 0, 0 ) ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_pairs( space ).count, before );
    CHECK_OK( clv_space_shift_origin( space, point64( 1, 0, 0 ) ) );
    CHECK_OK( clv_space_remove_one( space, ids[7] ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK( clv_space_pairs( space ).count < before );
    CHECK_OK( clv_space_shift_origin( space, point64( 1, 0, 0 ) ) );
    const clv_filter none = { 1, 0, 0 };
    CHECK_OK( clv_space_set_filter( space, &ids[8], &none, 1 ) );
    before = clv_space_pairs( space ).count;
    CHECK_OK( clv_space_update( space ) );
    CHECK( clv_space_pairs( space ).count < before );
    clv_space_destroy( space );
}

static uint64_t hits_in( const clv_space* space, clv_aabb box )
{
    clv_hit hits[COUNT];
    uint64_t count = 0;
    CHECK_OK( clv_space_overlap_box( space, box, hits, COUNT, &count ) );
    return count;
}

// Questions answer by the boxes of the last update, also after one that kept the list without a search.
static void questions_see_a_shift_after_the_next_update( void )
{
    clv_space_def def = clv_default_space_def();
    clv_id ids[COUNT];
    clv_space* space = lattice_space( &def, ids );
    clv_aabb home;
    CHECK_OK( clv_space_get_box( space, ids[7], &home ) );
    uint64_t before = hits_in( space, home );
    CHECK( before > 0 );
    clv_aabb there = shifted( home, point64( 4096, 0, 0 ) );
    for ( int i = 0; i < 3; ++i )
    {
        CHECK_OK( clv_space_shift_origin( space, point64( 4096, 0, 0 ) ) );
        CHECK_EQUAL( hits_in( space, home ), before );
        CHECK_EQUAL( hits_in( space, there ), 0 );
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( clv_space_stats( space ).test_count, 0 ); // the list was kept
        CHECK_EQUAL( hits_in( space, home ), 0 );
        CHECK_EQUAL( hits_in( space, there ), before );
        home = there;
        there = shifted( there, point64( 4096, 0, 0 ) );
    }
    clv_space_destroy( space );
    space = lattice_space( &def, ids );
    clv_hit hit;
    CHECK_OK( clv_space_shift_origin( space, point64( 1, 0, 0 ) ) );
    clv_queries first = clv_query_boxes( &home, 1 );
    CHECK_RESULT( clv_space_query_any( space, &first, &hit, NULL ), CLV_STALE );
    clv_space_destroy( space );
}

// A motion lasts for one update; a shift after it must not keep the pairs it made.
static void a_motion_ends_though_all_is_shifted( void )
{
    clv_space_def def = clv_default_space_def();
    clv_id ids[COUNT];
    clv_space* space = lattice_space( &def, ids );
    uint64_t before = clv_space_pairs( space ).count;
    const clv_vec3 across = { 1000, 0, 0 };
    CHECK_OK( clv_space_set_motion( space, &ids[7], &across, 1 ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK( clv_space_pairs( space ).count > before );
    CHECK_OK( clv_space_shift_origin( space, point64( 64, 0, 0 ) ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_pairs( space ).count, before );
    CHECK_OK( clv_space_set_motion( space, &ids[7], &across, 1 ) );
    CHECK_OK( clv_space_shift_origin( space, point64( 64, 0, 0 ) ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK( clv_space_pairs( space ).count > before );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_pairs( space ).count, before );
    clv_space_destroy( space );
}

// Far from the origin floats are rounded together: pairs begin that were none before.
static void rounding_makes_pairs_of_the_boxes_so_moved( void )
{
    clv_space_def def = clv_default_space_def();
    def.events = true;
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    clv_aabb boxes[300];
    clv_id ids[300];
    for ( int i = 0; i < 300; ++i )
    {
        boxes[i] = test_cube( (float)i, 0, 0, 0.25f );
    }
    CHECK_OK( clv_space_add( space, boxes, 300, ids ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_pairs( space ).count, 0 );
    CHECK_OK( clv_space_shift_origin( space, point64( -1e9, 0, 0 ) ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK( clv_space_pairs( space ).count > 300 );
    CHECK_EQUAL( clv_space_events( space ).begun_count, clv_space_pairs( space ).count );
    clv_space_destroy( space );
}

static void doubles_follow_a_shift( void )
{
    for ( int kind = 0; kind < FAR_CROWD_KIND_COUNT; ++kind )
    {
        clv_space_def def = clv_default_space_def();
        def.doubles = true;
        test_where.seed = (uint64_t)kind;
        clv_space *space = NULL, *fresh = NULL;
        CHECK_OK( clv_space_create( &def, &space ) );
        CHECK_OK( clv_space_create( &def, &fresh ) );
        test_random random = test_random_make( 3 );
        clv_aabb64 boxes[COUNT];
        clv_id ids[COUNT];
        for ( uint32_t i = 0; i < COUNT; ++i )
        {
            boxes[i] = far_crowd_box( (far_crowd_kind)kind, i, COUNT, &random );
        }
        CHECK_OK( clv_space_add64( space, boxes, COUNT, ids ) );
        CHECK_OK( clv_space_update( space ) );
        static const double s_ways[] = { 1e9, 7, -1e9, 0.1, 1e15, -1e15, 1e-300 };
        for ( uint32_t i = 0; i < TEST_COUNT( s_ways ); ++i )
        {
            test_where.frame = i;
            CHECK_OK( clv_space_shift_origin( space, point64( s_ways[i], s_ways[i], -s_ways[i] ) ) );
            CHECK_OK( clv_space_update( space ) );
            for ( uint32_t k = 0; k < COUNT; ++k )
            {
                CHECK_OK( clv_space_get_box64( space, ids[k], &boxes[k] ) );
            }
            clv_space_clear( fresh );
            CHECK_OK( clv_space_add64( fresh, boxes, COUNT, NULL ) );
            CHECK_OK( clv_space_update( fresh ) );
            clv_pair_view a = clv_space_pairs( space ), b = clv_space_pairs( fresh );
            CHECK_EQUAL( a.count, b.count );
            CHECK_EQUAL( test_set_hash( a.pairs, a.count ), test_set_hash( b.pairs, b.count ) );
        }
        clv_space_destroy( space );
        clv_space_destroy( fresh );
    }
}

static void an_origin_out_of_reach_is_refused( void )
{
    clv_id ids[COUNT];
    clv_space_def def = clv_default_space_def();
    clv_space* space = lattice_space( &def, ids );
    const clv_aabb edge = test_cube( 3e38f, 0, 0, 0 );
    clv_id id;
    CHECK_OK( clv_space_add_one( space, edge, &id ) );
    CHECK_OK( clv_space_update( space ) );
    test_snapshot before = test_snapshot_take( space );
    CHECK_RESULT( clv_space_shift_origin( space, point64( NAN, 0, 0 ) ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_space_shift_origin( space, point64( 0, -INFINITY, 0 ) ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_space_shift_origin( space, point64( -1e38, 0, 0 ) ), CLV_BAD_ARGUMENT );
    CHECK( clv_id_equals( clv_space_error( space ).id, id ) );
    CHECK( strstr( clv_space_error( space ).text, "floats" ) != NULL );
    test_snapshot_check( &before, space );
    test_snapshot_free( &before );
    CHECK_OK( clv_space_shift_origin( space, point64( 1e38, 0, 0 ) ) );
    clv_space_destroy( space );

    def.doubles = true;
    space = lattice_space( &def, ids );
    const clv_aabb64 far = { { 1.7e308, 0, 0 }, { 1.7e308, 0, 0 } };
    CHECK_OK( clv_space_add64( space, &far, 1, &id ) );
    CHECK_RESULT( clv_space_shift_origin( space, point64( -1.7e308, 0, 0 ) ), CLV_BAD_ARGUMENT );
    CHECK( clv_id_equals( clv_space_error( space ).id, id ) );
    CHECK_OK( clv_space_update( space ) );
    clv_space_destroy( space );
}

static void a_shift_takes_no_memory( void )
{
    heap hooks = { 0 };
    clv_space_def def = clv_default_space_def();
    def.allocator = heap_hooks( &hooks );
    clv_id ids[COUNT];
    clv_space* space = lattice_space( &def, ids );
    uint64_t calls = hooks.allocate_count;
    CHECK_OK( clv_space_shift_origin( space, point64( 1, 2, 3 ) ) );
    CHECK_EQUAL( hooks.allocate_count, calls );
    clv_space_destroy( space );
    CHECK_EQUAL( hooks.bytes, 0 );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( boxes_and_pairs_are_as_the_definition_says ),
        TEST_CASE( a_shift_that_rounds_nothing_keeps_the_list ),
        TEST_CASE( what_changes_beside_a_shift_is_searched ),
        TEST_CASE( questions_see_a_shift_after_the_next_update ),
        TEST_CASE( a_motion_ends_though_all_is_shifted ),
        TEST_CASE( rounding_makes_pairs_of_the_boxes_so_moved ),
        TEST_CASE( doubles_follow_a_shift ),
        TEST_CASE( an_origin_out_of_reach_is_refused ),
        TEST_CASE( a_shift_takes_no_memory ),
    };
    return test_run( "shift", cases, TEST_COUNT( cases ), argc, argv );
}
