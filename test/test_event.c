// SPDX-License-Identifier: MIT
// Begun and ended pairs: the difference of two lists by identity. space_group_update compares them with the
// oracle's; here the cases that matter are written out.
#include "heap.h"
#include "space_group.h"

#include <stdlib.h>

static clv_space_def events_def( void )
{
    clv_space_def def = clv_default_space_def();
    def.events = true;
    return def;
}

static void expect_events( space_group* all, uint64_t begun, uint64_t ended )
{
    space_group_update( all );
    CHECK_EQUAL( all->world.begun_count, begun );
    CHECK_EQUAL( all->world.ended_count, ended );
    for ( uint32_t i = 0; i < all->count; ++i )
    {
        test_variant_enter( test_variant_at( i ) );
        clv_event_view events = clv_space_events( all->spaces[i] );
        CHECK_EQUAL( events.begun_count, begun );
        CHECK_EQUAL( events.ended_count, ended );
    }
}

static void pairs_begin_stay_and_end( void )
{
    clv_space_def def = events_def();
    space_group all;
    space_group_open( &all, &def, NULL );
    clv_aabb boxes[3] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ), test_cube( 9, 0, 0, 1 ) };
    clv_id ids[3];
    expect_events( &all, 0, 0 );
    space_group_add( &all, boxes, 3, ids );
    expect_events( &all, 1, 0 );
    expect_events( &all, 0, 0 );
    boxes[2] = test_cube( 2, 0, 0, 1 );
    space_group_move( &all, ids, boxes, 3 );
    expect_events( &all, 2, 0 );
    boxes[0] = test_cube( -9, 0, 0, 1 );
    space_group_move( &all, ids, boxes, 3 );
    expect_events( &all, 0, 2 );
    space_group_close( &all );
}

static void a_removed_object_ends_its_pairs_with_its_old_id( void )
{
    clv_space_def def = events_def();
    space_group all;
    space_group_open( &all, &def, NULL );
    const clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ) };
    clv_id ids[2];
    space_group_add( &all, boxes, 2, ids );
    expect_events( &all, 1, 0 );
    space_group_remove( &all, &ids[1], 1 );
    expect_events( &all, 0, 1 );
    for ( uint32_t i = 0; i < all.count; ++i )
    {
        clv_id_pair ended = clv_space_events( all.spaces[i] ).ended[0];
        CHECK( clv_id_equals( ended.a, ids[0] ) && clv_id_equals( ended.b, ids[1] ) );
    }
    expect_events( &all, 0, 0 );
    space_group_close( &all );
}

static void a_reused_slot_ends_the_old_pair_and_begins_a_new_one( void )
{
    clv_space_def def = events_def();
    space_group all;
    space_group_open( &all, &def, NULL );
    const clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ) };
    clv_id ids[2], fresh;
    space_group_add( &all, boxes, 2, ids );
    expect_events( &all, 1, 0 );
    space_group_remove( &all, &ids[1], 1 );
    space_group_add( &all, &boxes[1], 1, &fresh );
    CHECK_EQUAL( fresh.index, ids[1].index );
    expect_events( &all, 1, 1 );
    for ( uint32_t i = 0; i < all.count; ++i )
    {
        clv_event_view events = clv_space_events( all.spaces[i] );
        CHECK( clv_id_equals( events.ended[0].b, ids[1] ) );
        CHECK( clv_id_equals( events.begun[0].b, fresh ) );
    }
    space_group_remove( &all, &fresh, 1 ); // came and went between two updates
    space_group_add( &all, &boxes[1], 1, &fresh );
    space_group_remove( &all, &fresh, 1 );
    expect_events( &all, 0, 1 );
    space_group_close( &all );
}

static void filters_begin_and_end_pairs( void )
{
    clv_space_def def = events_def();
    space_group all;
    space_group_open( &all, &def, NULL );
    const clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ) };
    const clv_filter closed = { 1, 0, 0 };
    const clv_filter open = clv_default_filter();
    clv_id ids[2];
    space_group_add( &all, boxes, 2, ids );
    expect_events( &all, 1, 0 );
    space_group_set_filter( &all, &ids[0], &closed, 1 );
    expect_events( &all, 0, 1 );
    space_group_set_filter( &all, &ids[0], &open, 1 );
    expect_events( &all, 1, 0 );
    space_group_set_filter( &all, &ids[0], &closed, 1 ); // there and back between two updates
    space_group_set_filter( &all, &ids[0], &open, 1 );
    expect_events( &all, 0, 0 );
    space_group_close( &all );
}

static bool accept_even_sums( uint64_t user_data_a, uint64_t user_data_b )
{
    return ( user_data_a + user_data_b ) % 2 == 0;
}

static void a_refilter_begins_and_ends_what_the_callback_says( void )
{
    clv_space_def def = events_def();
    space_group all;
    space_group_open( &all, &def, accept_even_sums );
    const clv_aabb boxes[3] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ), test_cube( 2, 0, 0, 1 ) };
    clv_id ids[3];
    const uint64_t one = 1;
    const uint64_t two = 2;
    space_group_add( &all, boxes, 3, ids );
    expect_events( &all, 3, 0 );
    space_group_set_user_data( &all, &ids[1], &one, 1 ); // refilters
    expect_events( &all, 0, 2 );
    space_group_set_user_data( &all, &ids[1], &two, 1 );
    expect_events( &all, 2, 0 );
    space_group_refilter( &all, ids, 3 ); // asked again, same answer: nothing ended
    expect_events( &all, 0, 0 );
    space_group_close( &all );
}

static void a_margin_begins_and_ends_pairs( void )
{
    clv_space_def def = events_def();
    space_group all;
    space_group_open( &all, &def, NULL );
    const clv_aabb boxes[2] = { test_box( 0, 0, 0, 1, 1, 1 ), test_box( 2, 0, 0, 3, 1, 1 ) };
    const float wide = 1.0f;
    const float none = 0.0f;
    clv_id ids[2];
    space_group_add( &all, boxes, 2, ids );
    expect_events( &all, 0, 0 );
    space_group_set_margin( &all, &ids[1], &wide, 1 );
    expect_events( &all, 1, 0 );
    space_group_set_margin( &all, &ids[1], &none, 1 );
    expect_events( &all, 0, 1 );
    space_group_close( &all );
}

static void a_clear_forgets_every_pair_without_events( void )
{
    clv_space_def def = events_def();
    space_group all;
    space_group_open( &all, &def, NULL );
    const clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ) };
    space_group_add( &all, boxes, 2, NULL );
    expect_events( &all, 1, 0 );
    space_group_clear( &all );
    CHECK_EQUAL( clv_space_events( all.spaces[0] ).ended_count, 0 );
    space_group_add( &all, boxes, 2, NULL );
    expect_events( &all, 1, 0 );
    space_group_clear( &all );
    expect_events( &all, 0, 0 );
    space_group_close( &all );
}

static void without_events_in_the_def_there_are_none( void )
{
    space_group all;
    space_group_open( &all, NULL, NULL );
    const clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ) };
    clv_id ids[2];
    space_group_add( &all, boxes, 2, ids );
    space_group_update( &all );
    CHECK_EQUAL( clv_space_events( all.spaces[0] ).begun_count, 0 );
    space_group_remove( &all, ids, 2 );
    space_group_update( &all );
    CHECK_EQUAL( clv_space_events( all.spaces[0] ).ended_count, 0 );
    space_group_close( &all );
}

// ---- against the last good list

enum
{
    LIMIT = 10,
    OBJECTS = 12,
};

static void place( clv_aabb* boxes, uint32_t frame )
{
    // Crowded in frame 1: 66 pairs. A chain of 11 before, every second link of it after.
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        float step = frame == 1 ? 0.0f : frame == 0 ? 2.5f : i % 2 == 0 ? 2.5f : 2.2f;
        boxes[i] = test_cube( step * (float)i, 0, 0, i < OBJECTS - 2 || frame == 1 ? 1.25f : 0.1f );
    }
}

static void after_a_failed_update_events_are_against_the_last_good_list( void )
{
    for ( uint32_t v = 0; v < test_variant_count(); ++v )
    {
        clv_space_def def = events_def();
        def.max_pairs = LIMIT;
        clv_space* space = test_space_make( test_variant_at( v ), &def );
        oracle world;
        oracle_open( &world, &def, NULL );
        clv_aabb boxes[OBJECTS];
        clv_id ids[OBJECTS];
        place( boxes, 0 );
        CHECK_OK( clv_space_add( space, boxes, OBJECTS, ids ) );
        for ( uint32_t i = 0; i < OBJECTS; ++i )
        {
            oracle_add( &world, ids[i], boxes[i] );
        }
        CHECK_OK( clv_space_update( space ) );
        oracle_update( &world );
        CHECK( world.pair_count > 0 && world.pair_count <= LIMIT );
        oracle_check( &world, space );

        // Two failures in a row, with a removal and a slot used again in between.
        place( boxes, 1 );
        CHECK_OK( clv_space_move( space, ids, boxes, OBJECTS ) );
        CHECK_RESULT( clv_space_update( space ), CLV_TOO_MANY_PAIRS );
        CHECK_EQUAL( clv_space_events( space ).begun_count + clv_space_events( space ).ended_count, 0 );
        CHECK_OK( clv_space_remove_one( space, ids[1] ) );
        oracle_remove( &world, ids[1] );
        CHECK_OK( clv_space_add_one( space, boxes[1], &ids[1] ) );
        oracle_add( &world, ids[1], boxes[1] );
        CHECK_RESULT( clv_space_update( space ), CLV_TOO_MANY_PAIRS );

        place( boxes, 2 );
        CHECK_OK( clv_space_move( space, ids, boxes, OBJECTS ) );
        for ( uint32_t i = 0; i < OBJECTS; ++i )
        {
            oracle_find( &world, ids[i] )->box = boxes[i];
        }
        CHECK_OK( clv_space_update( space ) );
        oracle_update( &world );
        CHECK( world.begun_count > 0 && world.ended_count > 0 && world.begun_count < world.pair_count );
        oracle_check( &world, space );
        oracle_close( &world );
        clv_space_destroy( space );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( pairs_begin_stay_and_end ),
        TEST_CASE( a_removed_object_ends_its_pairs_with_its_old_id ),
        TEST_CASE( a_reused_slot_ends_the_old_pair_and_begins_a_new_one ),
        TEST_CASE( filters_begin_and_end_pairs ),
        TEST_CASE( a_refilter_begins_and_ends_what_the_callback_says ),
        TEST_CASE( a_margin_begins_and_ends_pairs ),
        TEST_CASE( a_clear_forgets_every_pair_without_events ),
        TEST_CASE( without_events_in_the_def_there_are_none ),
        TEST_CASE( after_a_failed_update_events_are_against_the_last_good_list ),
    };
    return test_run( "event", cases, TEST_COUNT( cases ), argc, argv );
}
