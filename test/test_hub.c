// SPDX-License-Identifier: MIT
// One object that touches all others, and batches with more than one thing wrong: shapes that random boxes
// miss.
#include "space_group.h"

#include <math.h>

enum
{
    SPOKES = 300
};

// All pairs share their first slot, or their last: a digit of the sort is the same everywhere and its pass is
// skipped, so the sorted list ends in the other buffer.
static void check_hub( bool hub_is_first )
{
    clv_space_def def = clv_default_space_def();
    def.sorted = true;
    def.events = true;
    space_group all;
    space_group_open( &all, &def, NULL );
    clv_aabb boxes[SPOKES + 1];
    clv_id ids[SPOKES + 1];
    for ( uint32_t i = 0; i <= SPOKES; ++i )
    {
        boxes[i] = test_cube( 3.0f * (float)i, 0, 0, 1 );
    }
    clv_aabb hub = test_box( -INFINITY, 0, 0, INFINITY, 0, 0 );
    boxes[hub_is_first ? 0 : SPOKES] = hub;
    space_group_add( &all, boxes, SPOKES + 1, ids );
    space_group_update( &all );
    CHECK_EQUAL( all.world.pair_count, SPOKES );
    hub.lower.y = hub.upper.y = 9; // out of reach
    space_group_move( &all, &ids[hub_is_first ? 0 : SPOKES], &hub, 1 );
    space_group_update( &all );
    CHECK_EQUAL( all.world.ended_count, SPOKES );
    space_group_close( &all );
}

static void a_hub_with_the_lowest_slot_is_sorted( void )
{
    check_hub( true );
}

static void a_hub_with_the_highest_slot_is_sorted( void )
{
    check_hub( false );
}

// Nothing has been allocated yet that a search could point into.
static void a_first_update_without_objects_finds_nothing( void )
{
    clv_space_def def = clv_default_space_def();
    def.events = true;
    space_group all;
    space_group_open( &all, &def, NULL );
    space_group_set_filter( &all, NULL, NULL, 0 );
    space_group_update( &all );
    space_group_update( &all );
    CHECK_EQUAL( all.world.pair_count, 0 );
    space_group_close( &all );
}

static void the_first_bad_entry_of_a_batch_of_margins_is_named( void )
{
    clv_space* space = NULL;
    clv_space_def def = clv_default_space_def();
    CHECK_OK( clv_space_create( &def, &space ) );
    clv_aabb boxes[3] = { test_cube( 0, 0, 0, 1 ), test_cube( 9, 0, 0, 1 ), test_cube( 0, 9, 0, 1 ) };
    clv_id ids[3];
    CHECK_OK( clv_space_add( space, boxes, 3, ids ) );

    clv_id stale_then_bad_margin[3] = { ids[0], { 77, 1 }, ids[2] };
    float margins[3] = { 1, 1, -1 };
    CHECK_RESULT( clv_space_set_margin( space, stale_then_bad_margin, margins, 3 ), CLV_BAD_ID );
    CHECK_EQUAL( clv_space_error( space ).position, 1 );

    clv_id twice_then_bad_margin[3] = { ids[1], ids[1], ids[2] };
    CHECK_RESULT( clv_space_set_margin( space, twice_then_bad_margin, margins, 3 ), CLV_DUPLICATE_ID );
    CHECK_EQUAL( clv_space_error( space ).position, 1 );

    clv_id bad_margin_then_stale[3] = { ids[0], ids[1], { 77, 1 } };
    margins[0] = NAN;
    CHECK_RESULT( clv_space_set_margin( space, bad_margin_then_stale, margins, 3 ), CLV_BAD_ARGUMENT );
    CHECK_EQUAL( clv_space_error( space ).position, 0 );
    clv_space_destroy( space );
}

// Long batches are checked a few at a time; each place in them must be looked at all the same.
static void a_bad_box_anywhere_in_a_long_batch_is_named( void )
{
    enum
    {
        MOST = 100
    };
    clv_space* space = NULL;
    clv_space_def def = clv_default_space_def();
    CHECK_OK( clv_space_create( &def, &space ) );
    clv_aabb boxes[MOST];
    clv_id ids[MOST];
    for ( uint32_t i = 0; i < MOST; ++i )
    {
        boxes[i] = test_cube( (float)i, 0, 0, 1 );
    }
    CHECK_OK( clv_space_add( space, boxes, MOST, ids ) );
    for ( uint32_t position = 0; position < MOST; ++position )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            clv_aabb good = boxes[position];
            float* upper = &boxes[position].upper.x;
            upper[axis] = position % 2 == 0 ? NAN : -1e9f;
            test_where.frame = position;
            CHECK_RESULT( clv_space_add( space, boxes, MOST, ids ), CLV_BAD_BOX );
            CHECK_EQUAL( clv_space_error( space ).position, position );
            CHECK_RESULT( clv_space_move( space, ids, boxes, MOST ), CLV_BAD_BOX );
            CHECK_EQUAL( clv_space_error( space ).position, position );
            boxes[position] = good;
        }
    }
    CHECK_EQUAL( clv_space_object_count( space ), MOST );
    clv_space_destroy( space );
}

int main( int argc, char** argv )
{
    static const test_case cases[] = {
        TEST_CASE( a_hub_with_the_lowest_slot_is_sorted ),
        TEST_CASE( a_hub_with_the_highest_slot_is_sorted ),
        TEST_CASE( a_first_update_without_objects_finds_nothing ),
        TEST_CASE( the_first_bad_entry_of_a_batch_of_margins_is_named ),
        TEST_CASE( a_bad_box_anywhere_in_a_long_batch_is_named ),
    };
    return test_run( "hub", cases, TEST_COUNT( cases ), argc, argv );
}
