// SPDX-License-Identifier: MIT
// Exact little cases: which boxes are pairs, on every method and instruction set, answers written out by
// hand.
#include "space_group.h"

#include <float.h>
#include <math.h>

// These boxes, and these pairs, sorted, and no others; also with the boxes handed over in reverse.
static void expect( const clv_aabb* boxes, uint32_t count, const clv_pair* pairs, uint32_t pair_count )
{
    space_group all;
    space_group_open( &all, NULL, NULL );
    space_group_add( &all, boxes, count, NULL );
    space_group_expect( &all, pairs, pair_count );
    space_group_close( &all );

    clv_aabb reversed[64];
    CHECK( count <= 64 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        reversed[i] = boxes[count - 1 - i];
    }
    space_group_open( &all, NULL, NULL );
    space_group_add( &all, reversed, count, NULL );
    space_group_update( &all );
    CHECK_EQUAL( all.world.pair_count, pair_count );
    space_group_close( &all );
}

static void expect_pair( clv_aabb a, clv_aabb b, bool touch )
{
    const clv_aabb boxes[2] = { a, b };
    const clv_pair pair = { 0, 1 };
    expect( boxes, 2, &pair, touch ? 1 : 0 );
}

static void no_boxes_are_no_pairs( void )
{
    expect( NULL, 0, NULL, 0 );
}

static void one_box_is_no_pair( void )
{
    const clv_aabb box = test_cube( 0, 0, 0, 1 );
    expect( &box, 1, NULL, 0 );
    const clv_aabb everything = test_box( -INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY );
    expect( &everything, 1, NULL, 0 );
}

static void touching_faces_edges_and_corners_are_pairs( void )
{
    clv_aabb unit = test_box( 0, 0, 0, 1, 1, 1 );
    for ( int x = -1; x <= 1; ++x )
    {
        for ( int y = -1; y <= 1; ++y )
        {
            for ( int z = -1; z <= 1; ++z )
            {
                float fx = (float)x, fy = (float)y, fz = (float)z;
                expect_pair( unit, test_box( fx, fy, fz, fx + 1, fy + 1, fz + 1 ), true );
            }
        }
    }
}

static void one_float_apart_is_no_pair( void )
{
    clv_aabb unit = test_box( 0, 0, 0, 1, 1, 1 );
    float above = nextafterf( 1.0f, 2.0f );
    float below = nextafterf( 0.0f, -1.0f );
    expect_pair( unit, test_box( above, 0, 0, 2, 1, 1 ), false );
    expect_pair( unit, test_box( 0, above, 0, 1, 2, 1 ), false );
    expect_pair( unit, test_box( 0, 0, above, 1, 1, 2 ), false );
    expect_pair( unit, test_box( -1, 0, 0, below, 1, 1 ), false );
    expect_pair( unit, test_box( 0, -1, 0, 1, below, 1 ), false );
    expect_pair( unit, test_box( 0, 0, -1, 1, 1, below ), false );
}

static void boxes_without_size_touch_like_others( void )
{
    clv_aabb point = test_box( 1, 1, 1, 1, 1, 1 );
    expect_pair( point, point, true );
    expect_pair( point, test_box( 0, 0, 0, 1, 1, 1 ), true );
    expect_pair( point, test_box( 0, 0, 0, 2, 2, 2 ), true );
    expect_pair( point, test_box( 1, 0, 0, 1, 2, 2 ), true );
    expect_pair( point, test_box( 1, 1, nextafterf( 1.0f, 2.0f ), 1, 1, 2 ), false );
    expect_pair( test_box( 0, 0, 0, 4, 0, 0 ), test_box( 2, -1, 0, 2, 1, 0 ), true );  // crossing lines
    expect_pair( test_box( 0, 0, 0, 4, 0, 0 ), test_box( 2, -1, 1, 2, 1, 1 ), false ); // passing lines
}

static void contained_boxes_are_pairs( void )
{
    expect_pair( test_cube( 0, 0, 0, 10 ), test_cube( 1, 2, 3, 0.5f ), true );
    expect_pair( test_cube( 0, 0, 0, 1e9f ), test_cube( 1, 2, 3, 1e-9f ), true );
}

static void overlap_on_two_axes_is_no_pair( void )
{
    clv_aabb unit = test_box( 0, 0, 0, 1, 1, 1 );
    expect_pair( unit, test_box( 0, 0, 5, 1, 1, 6 ), false );
    expect_pair( unit, test_box( 0, 5, 0, 1, 6, 1 ), false );
    expect_pair( unit, test_box( 5, 0, 0, 6, 1, 1 ), false );
}

static void identical_boxes_are_all_pairs( void )
{
    clv_aabb boxes[40];
    clv_pair pairs[40 * 39 / 2];
    uint32_t pair_count = 0;
    for ( uint32_t a = 0; a < 40; ++a )
    {
        boxes[a] = test_cube( 3, 4, 5, 1 );
        for ( uint32_t b = a + 1; b < 40; ++b )
        {
            pairs[pair_count++] = ( clv_pair ){ a, b };
        }
    }
    expect( boxes, 40, pairs, pair_count );
}

static void identical_points_are_all_pairs( void )
{
    const clv_aabb boxes[3] = { test_cube( 7, 7, 7, 0 ), test_cube( 7, 7, 7, 0 ), test_cube( 7, 7, 7, 0 ) };
    const clv_pair pairs[3] = { { 0, 1 }, { 0, 2 }, { 1, 2 } };
    expect( boxes, 3, pairs, 3 );
}

static void minus_zero_equals_zero( void )
{
    expect_pair( test_box( -1, -1, -1, -0.0f, 1, 1 ), test_box( 0.0f, -1, -1, 1, 1, 1 ), true );
    expect_pair( test_box( -1, -1, -1, 0.0f, 1, 1 ), test_box( -0.0f, -1, -1, 1, 1, 1 ), true );
    expect_pair( test_box( 0.0f, 0.0f, 0.0f, -0.0f, -0.0f, -0.0f ), test_box( -0.0f, 0, 0, 0, 0, 0 ), true );
    expect_pair( test_box( -0.0f, 0, 0, -0.0f, 0, 0 ), test_box( 0, 0, 0, 0, 0, 0 ), true );
}

static void denormals_are_numbers( void )
{
    float tiny = FLT_TRUE_MIN;
    expect_pair( test_box( 0, 0, 0, 0, 1, 1 ), test_box( tiny, 0, 0, 1, 1, 1 ), false );
    expect_pair( test_box( -1, 0, 0, -tiny, 1, 1 ), test_box( 0, 0, 0, 1, 1, 1 ), false );
    expect_pair( test_box( -1, 0, 0, tiny, 1, 1 ), test_box( tiny, 0, 0, 1, 1, 1 ), true );
    expect_pair( test_box( 0, 0, 0, 3 * tiny, tiny, tiny ), test_box( 3 * tiny, tiny, tiny, 1, 1, 1 ), true );
    expect_pair(
        test_box( 0, 0, 0, 3 * tiny, tiny, tiny ), test_box( 4 * tiny, tiny, tiny, 1, 1, 1 ), false );
}

static void the_largest_floats_are_numbers( void )
{
    clv_aabb huge = test_box( -FLT_MAX, -FLT_MAX, -FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX );
    expect_pair( huge, test_cube( 0, 0, 0, 1 ), true );
    expect_pair( huge, huge, true );
    expect_pair( huge, test_box( FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX ), true );
    expect_pair( huge, test_box( INFINITY, 0, 0, INFINITY, 0, 0 ), false );
    float near_max = nextafterf( FLT_MAX, 0.0f );
    expect_pair( test_box( 0, 0, 0, near_max, 1, 1 ), test_box( FLT_MAX, 0, 0, FLT_MAX, 1, 1 ), false );
}

static void infinite_boxes_touch_what_they_reach( void )
{
    const clv_aabb boxes[6] = {
        test_cube( 0, 0, 0, 1 ),                                                   // 0
        test_cube( 0, 100, 0, 1 ),                                                 // 1
        test_box( -INFINITY, -INFINITY, -INFINITY, INFINITY, -1, INFINITY ),       // 2: below, touches 0
        test_box( -INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY ), // 3: everything
        test_box( -INFINITY, 50, -INFINITY, INFINITY, 50, INFINITY ),              // 4: a plane between
        test_box( -INFINITY, -0.5f, -0.5f, INFINITY, 0.5f, 0.5f ),                 // 5: a beam along x
    };
    const clv_pair pairs[] = { { 0, 2 }, { 0, 3 }, { 0, 5 }, { 1, 3 }, { 2, 3 }, { 3, 4 }, { 3, 5 } };
    expect( boxes, 6, pairs, TEST_COUNT( pairs ) );
}

static void boxes_at_infinity_touch_each_other_and_infinite_ones( void )
{
    const clv_aabb boxes[5] = {
        test_box( INFINITY, 0, 0, INFINITY, 1, 1 ),   // 0
        test_box( INFINITY, 1, 1, INFINITY, 2, 2 ),   // 1: touches 0 at its corner
        test_box( -INFINITY, 0, 0, -INFINITY, 1, 1 ), // 2: the other end
        test_box( 0, 0, 0, INFINITY, 1, 1 ),          // 3: reaches 0 and 1
        test_box( -INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY ), // 4
    };
    const clv_pair pairs[] = { { 0, 1 }, { 0, 3 }, { 0, 4 }, { 1, 3 }, { 1, 4 }, { 2, 4 }, { 3, 4 } };
    expect( boxes, 5, pairs, TEST_COUNT( pairs ) );
}

static void only_infinite_boxes_are_pairs_too( void )
{
    clv_aabb boxes[20];
    clv_pair pairs[20 * 19 / 2];
    uint32_t pair_count = 0;
    for ( uint32_t a = 0; a < 20; ++a )
    {
        boxes[a] = test_box( -INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY );
        for ( uint32_t b = a + 1; b < 20; ++b )
        {
            pairs[pair_count++] = ( clv_pair ){ a, b };
        }
    }
    expect( boxes, 20, pairs, pair_count );
}

static void far_outliers_do_not_affect_near_cells( void )
{
    const clv_aabb boxes[6] = { test_cube( 0, 0, 0, 0.5f ), test_cube( 1, 0, 0, 0.5f ),
        test_cube( 1e9f, 0, 0, 64.0f ), test_cube( 1e9f, 64.0f, 0, 64.0f ),
        test_cube( -1e9f, 1e9f, -1e9f, 1.0f ), test_cube( 1.5f, 1, 0, 0.25f ) };
    const clv_pair pairs[] = { { 0, 1 }, { 2, 3 } };
    expect( boxes, 6, pairs, TEST_COUNT( pairs ) );
}

static void boxes_at_ten_million_touch_to_the_float( void )
{
    float at = 1e7f; // floats are whole numbers here
    expect_pair(
        test_box( at, at, at, at + 1, at + 1, at + 1 ), test_box( at + 1, at, at, at + 2, at, at ), true );
    expect_pair(
        test_box( at, at, at, at + 1, at + 1, at + 1 ), test_box( at + 2, at, at, at + 3, at, at ), false );
    expect_pair(
        test_box( -at, -at, -at, 1 - at, 1 - at, 1 - at ), test_box( 1 - at, -at, -at, 0, 0, 0 ), true );
    expect_pair(
        test_box( -at, -at, -at, 1 - at, 1 - at, 1 - at ), test_box( 2 - at, -at, -at, 0, 0, 0 ), false );
}

static void a_chain_touches_link_by_link( void )
{
    clv_aabb boxes[33];
    clv_pair pairs[32];
    for ( uint32_t i = 0; i < 33; ++i )
    {
        boxes[i] = test_box( (float)i, 0, 0, (float)( i + 1 ), 1, 1 );
        if ( i < 32 )
        {
            pairs[i] = ( clv_pair ){ i, i + 1 };
        }
    }
    expect( boxes, 33, pairs, 32 );
}

// Along each axis in turn: a sweep on the wrong axis, or one that forgets an axis, would differ.
static void long_rows_along_each_axis_touch_only_neighbours( void )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        space_group all;
        space_group_open( &all, NULL, NULL );
        clv_aabb boxes[257];
        for ( uint32_t i = 0; i < 257; ++i )
        {
            float at = (float)( ( i * 97 ) % 257 ) * 2.0f;
            boxes[i] = test_cube( axis == 0 ? at : 0, axis == 1 ? at : 0, axis == 2 ? at : 0, 1 );
        }
        space_group_add( &all, boxes, 257, NULL );
        space_group_update( &all );
        CHECK_EQUAL( all.world.pair_count, 256 );
        space_group_close( &all );
    }
}

static void boxes_that_move_apart_and_together_are_followed( void )
{
    space_group all;
    space_group_open( &all, NULL, NULL );
    clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 5, 0, 0, 1 ) };
    clv_id ids[2];
    const clv_pair pair = { 0, 1 };
    space_group_add( &all, boxes, 2, ids );
    space_group_expect( &all, NULL, 0 );
    for ( uint32_t frame = 0; frame < 8; ++frame )
    {
        test_where.frame = frame;
        boxes[1] = frame % 2 == 0 ? test_cube( 2, 2, 2, 1 ) : test_cube( 2, 2, 2.001f, 1 );
        space_group_move( &all, ids, boxes, 2 );
        space_group_expect( &all, &pair, frame % 2 == 0 ? 1 : 0 );
    }
    space_group_close( &all );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( no_boxes_are_no_pairs ),
        TEST_CASE( one_box_is_no_pair ),
        TEST_CASE( touching_faces_edges_and_corners_are_pairs ),
        TEST_CASE( one_float_apart_is_no_pair ),
        TEST_CASE( boxes_without_size_touch_like_others ),
        TEST_CASE( contained_boxes_are_pairs ),
        TEST_CASE( overlap_on_two_axes_is_no_pair ),
        TEST_CASE( identical_boxes_are_all_pairs ),
        TEST_CASE( identical_points_are_all_pairs ),
        TEST_CASE( minus_zero_equals_zero ),
        TEST_CASE( denormals_are_numbers ),
        TEST_CASE( the_largest_floats_are_numbers ),
        TEST_CASE( infinite_boxes_touch_what_they_reach ),
        TEST_CASE( boxes_at_infinity_touch_each_other_and_infinite_ones ),
        TEST_CASE( only_infinite_boxes_are_pairs_too ),
        TEST_CASE( far_outliers_do_not_affect_near_cells ),
        TEST_CASE( boxes_at_ten_million_touch_to_the_float ),
        TEST_CASE( a_chain_touches_link_by_link ),
        TEST_CASE( long_rows_along_each_axis_touch_only_neighbours ),
        TEST_CASE( boxes_that_move_apart_and_together_are_followed ),
    };
    return test_run( "box", cases, TEST_COUNT( cases ), argc, argv );
}
