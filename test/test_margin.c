// SPDX-License-Identifier: MIT
#include "space_group.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const clv_pair s_pair = { 0, 1 };

static void the_defs_margin_grows_every_box( void )
{
    clv_space_def def = clv_default_space_def();
    def.margin = 0.5f;
    space_group all;
    space_group_open( &all, &def, NULL );
    clv_aabb boxes[2] = { test_box( 0, 0, 0, 1, 1, 1 ), test_box( 2, 0, 0, 3, 1, 1 ) };
    clv_id ids[2];
    space_group_add( &all, boxes, 2, ids );
    space_group_expect( &all, &s_pair, 1 ); // 1 + 0.5 touches 2 - 0.5
    boxes[1] = test_box( nextafterf( 2.0f, 3.0f ), 0, 0, 3, 1, 1 );
    space_group_move( &all, ids, boxes, 2 );
    space_group_expect( &all, NULL, 0 );
    space_group_check_objects( &all ); // boxes come back as given
    space_group_close( &all );
}

static void an_objects_margin_replaces_the_defs_at_once( void )
{
    clv_space_def def = clv_default_space_def();
    def.margin = 0.25f;
    space_group all;
    space_group_open( &all, &def, NULL );
    const clv_aabb boxes[2] = { test_box( 0, 0, 0, 1, 1, 1 ), test_box( 2, 0, 0, 3, 1, 1 ) };
    clv_id ids[2];
    space_group_add( &all, boxes, 2, ids );
    space_group_expect( &all, NULL, 0 );
    const float wide = 0.75f;
    space_group_set_margin( &all, &ids[0], &wide, 1 ); // without a move
    space_group_expect( &all, &s_pair, 1 );
    space_group_move( &all, ids, boxes, 2 ); // and it stays
    space_group_expect( &all, &s_pair, 1 );
    const float none = 0.0f;
    space_group_set_margin( &all, &ids[0], &none, 1 );
    space_group_expect( &all, NULL, 0 );
    const float both[2] = { 0.5f, 0.5f };
    space_group_set_margin( &all, ids, both, 2 );
    space_group_expect( &all, &s_pair, 1 );
    space_group_check_objects( &all );
    space_group_close( &all );
}

static void margins_grow_all_six_faces( void )
{
    space_group all;
    space_group_open( &all, NULL, NULL );
    clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 0, 0, 0, 1 ) };
    clv_id ids[2];
    const float margin = 2.0f;
    space_group_add( &all, boxes, 2, ids );
    space_group_set_margin( &all, &ids[0], &margin, 1 );
    for ( int face = 0; face < 6; ++face )
    {
        test_where.frame = (uint32_t)face;
        float reach = face % 2 == 0 ? 4.0f : -4.0f;
        boxes[1] =
            test_cube( face / 2 == 0 ? reach : 0, face / 2 == 1 ? reach : 0, face / 2 == 2 ? reach : 0, 1 );
        space_group_move( &all, &ids[1], &boxes[1], 1 );
        space_group_expect( &all, &s_pair, 1 );
        reach *= 1.001f;
        boxes[1] =
            test_cube( face / 2 == 0 ? reach : 0, face / 2 == 1 ? reach : 0, face / 2 == 2 ? reach : 0, 1 );
        space_group_move( &all, &ids[1], &boxes[1], 1 );
        space_group_expect( &all, NULL, 0 );
    }
    space_group_close( &all );
}

static void margins_round_to_the_nearest_float( void )
{
    space_group all;
    space_group_open( &all, NULL, NULL );
    // 1e7 + 0.25 is 1e7: the margin is lost, and must be lost.
    const clv_aabb boxes[2] = { test_box( 0, 0, 0, 1e7f, 1, 1 ), test_box( 1e7f + 1.0f, 0, 0, 2e7f, 1, 1 ) };
    clv_id ids[2];
    space_group_add( &all, boxes, 2, ids );
    const float lost[2] = { 0.25f, 0.25f };
    space_group_set_margin( &all, ids, lost, 2 );
    space_group_expect( &all, NULL, 0 );
    const float kept[2] = { 0.75f, 0.0f };
    space_group_set_margin( &all, ids, kept, 2 );
    space_group_expect( &all, &s_pair, 1 );
    space_group_close( &all );
}

static void margins_leave_infinite_boxes_alone( void )
{
    clv_space_def def = clv_default_space_def();
    def.margin = 1.0f;
    space_group all;
    space_group_open( &all, &def, NULL );
    const clv_aabb boxes[4] = { test_box( -INFINITY, -INFINITY, -INFINITY, INFINITY, 0, INFINITY ),
        test_box( 0, 2, 0, 1, 3, 1 ), test_box( INFINITY, 0, 0, INFINITY, 1, 1 ),
        test_box( -FLT_MAX, 100, 0, FLT_MAX, 101, 1 ) };
    const clv_pair pairs[] = { { 0, 1 }, { 0, 2 } };
    clv_id ids[4];
    space_group_add( &all, boxes, 4, ids );
    space_group_expect( &all, pairs, 2 );
    const float huge[4] = { 0, 0, 0, FLT_MAX };
    space_group_set_margin( &all, ids, huge, 4 ); // -FLT_MAX - FLT_MAX reaches infinity
    space_group_update( &all );
    CHECK_EQUAL( all.world.pair_count, 4 );
    space_group_check_objects( &all );
    space_group_close( &all );
}

static void the_box_comes_back_bit_by_bit( void )
{
    space_group all;
    clv_space_def def = clv_default_space_def();
    def.margin = 0.1f;
    space_group_open( &all, &def, NULL );
    const clv_aabb boxes[4] = { test_box( -0.0f, 0.0f, -0.0f, 0.0f, -0.0f + 0.0f, 1.1f ),
        test_cube( 1e7f, 1e7f, 1e7f, 1 ), test_box( FLT_TRUE_MIN, 0, 0, 1, 1, 1 ),
        test_box( -INFINITY, -FLT_MAX, -0.0f, INFINITY, FLT_MAX, 0.0f ) };
    clv_id ids[4];
    space_group_add( &all, boxes, 4, ids );
    space_group_check_objects( &all );
    const float margins[4] = { 0.3f, 0.7f, 0.0f, 1e30f };
    space_group_set_margin( &all, ids, margins, 4 );
    space_group_check_objects( &all );
    space_group_update( &all );
    space_group_check_objects( &all );
    space_group_close( &all );
}

// The first own margin of a space makes the column; all others must keep the def's.
static void one_own_margin_leaves_the_others_with_the_defs( void )
{
    clv_space_def def = clv_default_space_def();
    def.margin = 0.5f;
    space_group all;
    space_group_open( &all, &def, NULL );
    clv_aabb boxes[40];
    clv_id ids[40];
    for ( uint32_t i = 0; i < 40; ++i )
    {
        boxes[i] =
            test_box( 2.0f * (float)i, 0, 0, 2.0f * (float)i + 1, 1, 1 ); // touch their neighbours' margins
    }
    space_group_add( &all, boxes, 20, ids );
    space_group_update( &all );
    CHECK_EQUAL( all.world.pair_count, 19 );
    const float none = 0.0f;
    space_group_set_margin( &all, &ids[7], &none, 1 );
    space_group_update( &all );
    CHECK_EQUAL( all.world.pair_count, 17 );
    space_group_add( &all, boxes + 20, 20, ids + 20 );
    space_group_update( &all );
    CHECK_EQUAL( all.world.pair_count, 37 );
    space_group_check_objects( &all );
    space_group_close( &all );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( the_defs_margin_grows_every_box ),
        TEST_CASE( an_objects_margin_replaces_the_defs_at_once ),
        TEST_CASE( margins_grow_all_six_faces ),
        TEST_CASE( margins_round_to_the_nearest_float ),
        TEST_CASE( margins_leave_infinite_boxes_alone ),
        TEST_CASE( the_box_comes_back_bit_by_bit ),
        TEST_CASE( one_own_margin_leaves_the_others_with_the_defs ),
    };
    return test_run( "margin", cases, TEST_COUNT( cases ), argc, argv );
}
