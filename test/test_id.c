// SPDX-License-Identifier: MIT
// Identities over time, also where slots are used again.
#include "space_group.h"

#include <stdlib.h>

static clv_space* plain_space( void )
{
    return test_space_make( test_variant_at( 0 ), NULL );
}

static void the_first_boxes_get_the_first_indices( void )
{
    clv_space* space = plain_space();
    clv_aabb boxes[50];
    clv_id ids[50];
    for ( uint32_t i = 0; i < 50; ++i )
    {
        boxes[i] = test_cube( (float)i * 3, 0, 0, 1 );
    }
    CHECK_OK( clv_space_add( space, boxes, 30, ids ) );
    CHECK_OK( clv_space_add( space, boxes + 30, 20, ids + 30 ) );
    for ( uint32_t i = 0; i < 50; ++i )
    {
        CHECK_EQUAL( ids[i].index, i );
        CHECK( ids[i].generation != 0 );
        CHECK( clv_id_equals( clv_space_id_at( space, i ), ids[i] ) );
        CHECK( clv_space_contains( space, ids[i] ) );
    }
    CHECK_EQUAL( clv_space_object_count( space ), 50 );
    clv_space_destroy( space );
}

static void ids_may_be_left_out( void )
{
    clv_space* space = plain_space();
    clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ) };
    CHECK_OK( clv_space_add( space, boxes, 2, NULL ) );
    CHECK_OK( clv_space_add_one( space, test_cube( 2, 0, 0, 1 ), NULL ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_pairs( space ).count, 3 );
    for ( uint32_t i = 0; i < 3; ++i )
    {
        CHECK_EQUAL( clv_space_id_at( space, i ).index, i );
    }
    clv_space_destroy( space );
}

static void unused_slots_hold_no_object( void )
{
    clv_space* space = plain_space();
    const uint32_t places[] = { 0, 1, 1000, CLV_MAX_OBJECTS, UINT32_MAX };
    for ( size_t i = 0; i < TEST_COUNT( places ); ++i )
    {
        CHECK( clv_id_is_null( clv_space_id_at( space, places[i] ) ) );
        CHECK( !clv_space_contains( space, ( clv_id ){ places[i], 1 } ) );
    }
    CHECK( !clv_space_contains( space, clv_null_id() ) );
    clv_space_destroy( space );
}

static void a_removed_id_is_never_mistaken_for_its_successor( void )
{
    clv_space* space = plain_space();
    clv_id id;
    CHECK_OK( clv_space_add_one( space, test_cube( 0, 0, 0, 1 ), &id ) );
    for ( uint32_t round = 0; round < 1000; ++round )
    {
        test_where.frame = round;
        clv_id old = id;
        CHECK_OK( clv_space_remove_one( space, old ) );
        CHECK( !clv_space_contains( space, old ) );
        CHECK( clv_id_is_null( clv_space_id_at( space, old.index ) ) );
        CHECK_RESULT( clv_space_remove_one( space, old ), CLV_BAD_ID );
        CHECK_OK( clv_space_add_one( space, test_cube( 0, 0, 0, 1 ), &id ) );
        CHECK_EQUAL( id.index, old.index ); // one slot is enough
        CHECK( id.generation != old.generation && id.generation != 0 );
        CHECK( !clv_space_contains( space, old ) );
        CHECK_RESULT( clv_space_move_one( space, old, test_cube( 9, 9, 9, 1 ) ), CLV_BAD_ID );
    }
    CHECK_EQUAL( clv_space_stats( space ).slot_count, 1 );
    clv_space_destroy( space );
}

static void new_objects_in_old_slots_start_with_the_defaults( void )
{
    clv_space_def def = clv_default_space_def();
    def.margin = 0.25f;
    clv_space* space = test_space_make( test_variant_at( 0 ), &def );
    clv_id id;
    CHECK_OK( clv_space_add_one( space, test_cube( 0, 0, 0, 1 ), &id ) );
    const clv_filter filter = { 6, 5, -4 };
    const float margin = 3.0f;
    const bool is_static = true;
    const uint64_t value = 77;
    CHECK_OK( clv_space_set_filter( space, &id, &filter, 1 ) );
    CHECK_OK( clv_space_set_margin( space, &id, &margin, 1 ) );
    CHECK_OK( clv_space_set_static( space, &id, &is_static, 1 ) );
    CHECK_OK( clv_space_set_user_data( space, &id, &value, 1 ) );
    CHECK_OK( clv_space_remove_one( space, id ) );
    CHECK_OK( clv_space_add_one( space, test_cube( 0, 0, 0, 1 ), &id ) );

    clv_filter filter_now;
    float margin_now;
    bool static_now;
    uint64_t value_now;
    CHECK_OK( clv_space_get_filter( space, id, &filter_now ) );
    CHECK_OK( clv_space_get_margin( space, id, &margin_now ) );
    CHECK_OK( clv_space_get_static( space, id, &static_now ) );
    CHECK_OK( clv_space_get_user_data( space, id, &value_now ) );
    CHECK_EQUAL( filter_now.category, 1 );
    CHECK_EQUAL( filter_now.mask, UINT64_MAX );
    CHECK_EQUAL( filter_now.group, 0 );
    CHECK( margin_now == 0.25f );
    CHECK( !static_now );
    CHECK_EQUAL( value_now, 0 );
    clv_space_destroy( space );
}

static void what_objects_carry_comes_back( void )
{
    clv_space* space = plain_space();
    clv_id ids[300];
    clv_aabb boxes[300];
    uint64_t values[300];
    for ( uint32_t i = 0; i < 300; ++i )
    {
        boxes[i] = test_cube( (float)i, 0, 0, 1 );
        values[i] = test_mix( i );
    }
    CHECK_OK( clv_space_add( space, boxes, 100, ids ) );
    CHECK_OK( clv_space_set_user_data( space, ids, values, 100 ) );
    CHECK_OK( clv_space_add( space, boxes + 100, 200, ids + 100 ) ); // columns grow with the space
    for ( uint32_t i = 0; i < 300; ++i )
    {
        uint64_t value = 1;
        CHECK_OK( clv_space_get_user_data( space, ids[i], &value ) );
        CHECK_EQUAL( value, i < 100 ? values[i] : 0 );
    }
    clv_space_destroy( space );
}

static void getters_refuse_stale_ids_and_touch_nothing( void )
{
    clv_space* space = plain_space();
    clv_id id;
    CHECK_OK( clv_space_add_one( space, test_cube( 0, 0, 0, 1 ), &id ) );
    CHECK_OK( clv_space_remove_one( space, id ) );
    const clv_id bad[] = { id, { 0, 0 }, { 0, 12345 }, { 7, 1 }, { UINT32_MAX, UINT32_MAX } };
    for ( size_t i = 0; i < TEST_COUNT( bad ); ++i )
    {
        test_where.frame = (uint32_t)i;
        clv_aabb box = test_cube( 1, 2, 3, 4 );
        uint64_t value = 99;
        float margin = 99;
        clv_filter filter = { 99, 99, 99 };
        bool is_static = true;
        CHECK_RESULT( clv_space_get_box( space, bad[i], &box ), CLV_BAD_ID );
        CHECK_RESULT( clv_space_get_user_data( space, bad[i], &value ), CLV_BAD_ID );
        CHECK_RESULT( clv_space_get_margin( space, bad[i], &margin ), CLV_BAD_ID );
        CHECK_RESULT( clv_space_get_filter( space, bad[i], &filter ), CLV_BAD_ID );
        CHECK_RESULT( clv_space_get_static( space, bad[i], &is_static ), CLV_BAD_ID );
        CHECK( box.lower.x == -3.0f && value == 99 && margin == 99.0f && filter.category == 99 && is_static );
    }
    CHECK_RESULT( clv_space_error( space ).code, CLV_OK ); // getters leave the last error alone
    clv_space_destroy( space );
}

static void clear_starts_the_indices_again_and_ends_old_ids( void )
{
    space_group all;
    space_group_open( &all, NULL, NULL );
    clv_aabb boxes[40];
    clv_id old_ids[40], ids[40], again[40];
    for ( uint32_t i = 0; i < 40; ++i )
    {
        boxes[i] = test_cube( (float)i, 0, 0, 1 );
    }
    space_group_add( &all, boxes, 40, old_ids );
    space_group_update( &all );
    space_group_remove( &all, old_ids + 5, 20 ); // free slots in no particular order
    space_group_add( &all, boxes, 10, ids );
    space_group_update( &all );
    for ( uint32_t round = 0; round < 3; ++round )
    {
        test_where.frame = round;
        space_group_clear( &all );
        space_group_update( &all );
        CHECK_EQUAL( all.world.pair_count, 0 );
        space_group_add( &all, boxes, 40, again );
        for ( uint32_t i = 0; i < 40; ++i )
        {
            CHECK_EQUAL( again[i].index, i );
            CHECK( !clv_space_contains( all.spaces[0], old_ids[i] ) );
            CHECK( i >= 10 || !clv_space_contains( all.spaces[0], ids[i] ) );
        }
        space_group_update( &all );
        CHECK( all.world.pair_count > 0 );
    }
    space_group_check_objects( &all );
    space_group_close( &all );
}

// Pairs are of slots: after heavy reuse each must still name the objects whose boxes touch.
static void pairs_name_the_right_objects_through_slot_reuse( void )
{
    space_group all;
    space_group_open( &all, NULL, NULL );
    test_random random = test_random_make( 11 );
    for ( uint32_t frame = 0; frame < 40; ++frame )
    {
        test_where.frame = frame;
        clv_id gone[60];
        clv_aabb boxes[60];
        uint32_t count = oracle_pick_some( &all.world, test_random_below( &random, 60 ), gone, &random );
        space_group_remove( &all, gone, count );
        uint32_t fresh = test_random_below( &random, 60 );
        for ( uint32_t i = 0; i < fresh; ++i )
        {
            boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, 100, &random );
        }
        space_group_add( &all, boxes, fresh, NULL );
        space_group_update( &all );
        space_group_check_objects( &all );
    }
    space_group_close( &all );
}

static void removing_everything_and_starting_over_works( void )
{
    space_group all;
    space_group_open( &all, NULL, NULL );
    clv_aabb boxes[70];
    clv_id ids[70];
    for ( uint32_t i = 0; i < 70; ++i )
    {
        boxes[i] = test_cube( (float)( i % 7 ), (float)( i / 7 ), 0, 0.5f );
    }
    for ( uint32_t round = 0; round < 5; ++round )
    {
        test_where.frame = round;
        space_group_add( &all, boxes, 70 - round * 3, ids );
        space_group_update( &all );
        space_group_remove( &all, ids, 70 - round * 3 );
        space_group_update( &all );
        CHECK_EQUAL( all.world.pair_count, 0 );
        space_group_check_objects( &all );
    }
    space_group_close( &all );
}

static void single_calls_are_batches_of_one( void )
{
    clv_space* space = plain_space();
    clv_id a, b;
    CHECK_OK( clv_space_add_one( space, test_cube( 0, 0, 0, 1 ), &a ) );
    CHECK_OK( clv_space_add_one( space, test_cube( 9, 0, 0, 1 ), &b ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_pairs( space ).count, 0 );
    CHECK_OK( clv_space_move_one( space, b, test_cube( 2, 0, 0, 1 ) ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_pairs( space ).count, 1 );
    CHECK_OK( clv_space_remove_one( space, a ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_pairs( space ).count, 0 );
    CHECK_EQUAL( clv_space_object_count( space ), 1 );
    clv_space_destroy( space );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( the_first_boxes_get_the_first_indices ),
        TEST_CASE( ids_may_be_left_out ),
        TEST_CASE( unused_slots_hold_no_object ),
        TEST_CASE( a_removed_id_is_never_mistaken_for_its_successor ),
        TEST_CASE( new_objects_in_old_slots_start_with_the_defaults ),
        TEST_CASE( what_objects_carry_comes_back ),
        TEST_CASE( getters_refuse_stale_ids_and_touch_nothing ),
        TEST_CASE( clear_starts_the_indices_again_and_ends_old_ids ),
        TEST_CASE( pairs_name_the_right_objects_through_slot_reuse ),
        TEST_CASE( removing_everything_and_starting_over_works ),
        TEST_CASE( single_calls_are_batches_of_one ),
    };
    return test_run( "id", cases, TEST_COUNT( cases ), argc, argv );
}
