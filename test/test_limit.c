// SPDX-License-Identifier: MIT
// max_pairs, and what a failed update leaves behind.
#include "heap.h"
#include "oracle.h"

#include <string.h>

enum
{
    OBJECTS = 30,
    PAIRS = OBJECTS * ( OBJECTS - 1 ) / 2,
};

static void fill( clv_aabb* boxes, float spacing )
{
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        boxes[i] = test_cube( spacing * (float)i, 0, 0, 1 );
    }
}

static clv_space* crowded_space( test_variant variant, clv_space_def def, clv_id* ids )
{
    clv_space* space = test_space_make( variant, &def );
    clv_aabb boxes[OBJECTS];
    fill( boxes, 0.0f );
    CHECK_OK( clv_space_add( space, boxes, OBJECTS, ids ) );
    return space;
}

static void exactly_the_limit_is_fine( void )
{
    for ( uint32_t i = 0; i < test_variant_count() * 4; ++i )
    {
        clv_space_def def = clv_default_space_def();
        def.max_pairs = PAIRS;
        def.sorted = i % 2 == 1;
        def.events = i % 4 >= 2;
        clv_id ids[OBJECTS];
        clv_space* space = crowded_space( test_variant_at( i / 4 ), def, ids );
        CHECK_OK( clv_space_update( space ) );
        CHECK( clv_space_pairs( space ).valid );
        CHECK_EQUAL( clv_space_pairs( space ).count, PAIRS );
        clv_space_destroy( space );
    }
}

static void check_failed( clv_space* space, const test_snapshot* before, uint64_t limit )
{
    clv_pair_view view = clv_space_pairs( space );
    CHECK( !view.valid );
    CHECK_EQUAL( view.count, 0 );
    CHECK_EQUAL( clv_space_events( space ).begun_count, 0 );
    CHECK_EQUAL( clv_space_events( space ).ended_count, 0 );
    clv_error error = clv_space_error( space );
    CHECK_RESULT( error.code, CLV_TOO_MANY_PAIRS );
    CHECK_EQUAL( error.position, UINT32_MAX );
    CHECK( clv_id_is_null( error.id ) );
    CHECK( error.pair_count >= limit && error.pair_count <= PAIRS );
    CHECK( error.text != NULL && strlen( error.text ) > 8 );
    CHECK_EQUAL( clv_space_stats( space ).update_count, before->stats.update_count );
    test_snapshot_check_objects( before, space );
}

static void one_more_than_the_limit_fails_and_the_objects_survive( void )
{
    for ( uint32_t i = 0; i < test_variant_count() * 4; ++i )
    {
        clv_space_def def = clv_default_space_def();
        def.max_pairs = PAIRS - 1;
        def.sorted = i % 2 == 1;
        def.events = i % 4 >= 2;
        clv_id ids[OBJECTS];
        clv_space* space = crowded_space( test_variant_at( i / 4 ), def, ids );
        test_snapshot before = test_snapshot_take( space );
        for ( uint32_t round = 0; round < 3; ++round )
        {
            test_where.frame = round;
            CHECK_RESULT( clv_space_update( space ), CLV_TOO_MANY_PAIRS );
            check_failed( space, &before, PAIRS - 1 );
        }
        test_snapshot_free( &before );

        // Leave in peace: a chain.
        clv_aabb boxes[OBJECTS];
        fill( boxes, 2.0f );
        CHECK_OK( clv_space_move( space, ids, boxes, OBJECTS ) );
        CHECK_OK( clv_space_update( space ) );
        CHECK( clv_space_pairs( space ).valid );
        CHECK_EQUAL( clv_space_pairs( space ).count, OBJECTS - 1 );
        CHECK_EQUAL( clv_space_events( space ).begun_count, def.events ? OBJECTS - 1 : 0 );
        CHECK_RESULT( clv_space_error( space ).code, CLV_OK );
        clv_space_destroy( space );
    }
}

static void the_smallest_limit_holds( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space_def def = clv_default_space_def();
        def.max_pairs = 1;
        clv_space* space = test_space_make( test_variant_at( i ), &def );
        clv_id ids[3];
        const clv_aabb boxes[3] = { test_cube( 0, 0, 0, 1 ), test_cube( 2, 0, 0, 1 ),
            test_cube( 9, 0, 0, 1 ) };
        CHECK_OK( clv_space_add( space, boxes, 3, ids ) );
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( clv_space_pairs( space ).count, 1 );
        CHECK_OK( clv_space_move_one( space, ids[2], test_cube( 4, 0, 0, 1 ) ) );
        CHECK_RESULT( clv_space_update( space ), CLV_TOO_MANY_PAIRS );
        CHECK_OK( clv_space_remove_one( space, ids[0] ) );
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( clv_space_pairs( space ).count, 1 );
        CHECK_EQUAL( clv_space_pairs( space ).pairs[0].a, 1 );
        CHECK_EQUAL( clv_space_pairs( space ).pairs[0].b, 2 );
        clv_space_destroy( space );
    }
}

// The limit is on pairs, and two boxes the filters keep apart are none.
static void pairs_the_filters_drop_do_not_count( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space_def def = clv_default_space_def();
        def.max_pairs = 5;
        clv_id ids[OBJECTS];
        clv_space* space = crowded_space( test_variant_at( i ), def, ids );
        clv_filter filters[OBJECTS];
        for ( uint32_t k = 0; k < OBJECTS; ++k )
        {
            filters[k] = ( clv_filter ){ 1, 1, k < OBJECTS - 1 ? -7 : 0 };
        }
        filters[0].group = 0; // meets all 29 others
        CHECK_OK( clv_space_set_filter( space, ids, filters, OBJECTS ) );
        CHECK_RESULT( clv_space_update( space ), CLV_TOO_MANY_PAIRS );
        filters[0].group = -7;
        filters[OBJECTS - 1] = ( clv_filter ){ 1, 0, 0 };
        CHECK_OK( clv_space_set_filter( space, ids, filters, OBJECTS ) );
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( clv_space_pairs( space ).count, 0 );
        clv_space_destroy( space );
    }
}

// Enough of them that a list must grow many times before the limit stops it.
static void a_limit_far_below_the_pairs_stops_early( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        heap hooks = { 0 };
        clv_space_def def = clv_default_space_def();
        def.max_pairs = 1000;
        def.allocator = heap_hooks( &hooks );
        clv_space* space = test_space_make( test_variant_at( i ), &def );
        clv_aabb boxes[2000];
        for ( uint32_t k = 0; k < 2000; ++k )
        {
            boxes[k] = test_cube( 0, 0, 0, 1 );
        }
        CHECK_OK( clv_space_add( space, boxes, 2000, NULL ) );
        CHECK_RESULT( clv_space_update( space ), CLV_TOO_MANY_PAIRS );
        CHECK( clv_space_error( space ).pair_count >= 1000 );
        // 1,999,000 pairs would be 16 MB: the limit saves them.
        CHECK( hooks.peak_bytes < 4u << 20 );
        clv_space_destroy( space );
        CHECK_EQUAL( hooks.bytes, 0 );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( exactly_the_limit_is_fine ),
        TEST_CASE( one_more_than_the_limit_fails_and_the_objects_survive ),
        TEST_CASE( the_smallest_limit_holds ),
        TEST_CASE( pairs_the_filters_drop_do_not_count ),
        TEST_CASE( a_limit_far_below_the_pairs_stops_early ),
    };
    return test_run( "limit", cases, TEST_COUNT( cases ), argc, argv );
}
