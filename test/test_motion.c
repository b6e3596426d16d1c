// SPDX-License-Identifier: MIT
// Swept boxes and margins by rule: what the headers say about them, to the last bit.
#include "base/directed.h"
#include "heap.h"
#include "space_group.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const clv_pair s_pair = { 0, 1 };

static clv_vec3 vec( float x, float y, float z )
{
    clv_vec3 v = { x, y, z };
    return v;
}

// ---- sums

// Any float, so that exponents lie far apart as often as near.
static float any_float( test_random* random )
{
    for ( ;; )
    {
        uint32_t bits = (uint32_t)test_random_next( random );
        float value;
        memcpy( &value, &bits, sizeof( value ) );
        if ( isfinite( value ) )
        {
            return value;
        }
    }
}

static float hardware_sum( float a, float b, int mode )
{
    volatile float x = a, y = b;
    fesetround( mode );
    volatile float sum = x + y;
    fesetround( FE_TONEAREST );
    return sum;
}

static void check_sum( float a, float b )
{
    float up = hardware_sum( a, b, FE_UPWARD ), down = hardware_sum( a, b, FE_DOWNWARD );
    if ( base_sum_up( a, b ) != up || base_sum_down( a, b ) != down )
    {
        test_fail( __FILE__, __LINE__, "%a + %a: %a to %a, not %a to %a", (double)a, (double)b,
            (double)base_sum_down( a, b ), (double)base_sum_up( a, b ), (double)down, (double)up );
    }
}

static void sums_round_as_the_processor_does( void )
{
    const float edges[] = { 0.0f, -0.0f, 1.0f, -1.0f, FLT_MAX, -FLT_MAX, FLT_MIN, -FLT_MIN, FLT_TRUE_MIN,
        -FLT_TRUE_MIN, 1e7f, 0x1p-24f, 0x1p-25f, -0x1p-25f, 0x1p103f, -0x1p103f, 0x1p102f, 1.0f / 3 };
    for ( size_t i = 0; i < TEST_COUNT( edges ); ++i )
    {
        for ( size_t k = 0; k < TEST_COUNT( edges ); ++k )
        {
            check_sum( edges[i], edges[k] );
        }
        check_sum( INFINITY, edges[i] );
        check_sum( -INFINITY, edges[i] );
    }
    test_random random = test_random_make( 3 );
    for ( uint32_t i = 0; i < test_scaled( 300000 ); ++i )
    {
        float a = any_float( &random ), b = any_float( &random );
        check_sum( a, b );
        check_sum( a, a * test_random_between( &random, -1.0f, 1.0f ) * 0x1p-22f );
    }
}

// ---- motions

static void a_swept_box_meets_what_lies_on_its_way( void )
{
    space_group all;
    space_group_open( &all, NULL, NULL );
    const clv_aabb boxes[3] = { test_cube( 0, 0, 0, 0.1f ), test_box( 5, -9, -9, 5.01f, 9, 9 ),
        test_cube( 10, 0, 0, 0.1f ) };
    clv_id ids[3];
    space_group_add( &all, boxes, 2, ids );
    space_group_expect( &all, NULL, 0 ); // the bullet before the wall
    space_group_move( &all, ids, &boxes[2], 1 );
    space_group_expect( &all, NULL, 0 ); // and behind it
    space_group_move( &all, ids, &boxes[0], 1 );
    const clv_vec3 way = { 10, 0, 0 };
    space_group_set_motion( &all, ids, &way, 1 );
    space_group_check_objects( &all );
    space_group_expect( &all, &s_pair, 1 );
    space_group_check_objects( &all ); // the box is where it was
    space_group_expect( &all, NULL, 0 );
    space_group_close( &all );
}

// Only faces in front of the motion move, on each axis for itself.
static void each_axis_is_swept_for_itself( void )
{
    space_group all;
    space_group_open( &all, NULL, NULL );
    clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 0, 0, 0, 1 ) };
    clv_id ids[2];
    space_group_add( &all, boxes, 2, ids );
    for ( int face = 0; face < 12; ++face )
    {
        test_where.frame = (uint32_t)face;
        float sign = face % 2 == 0 ? 1.0f : -1.0f, reach = sign * 5.0f;
        int axis = face / 2 % 3;
        bool is_behind = face >= 6;
        float at = is_behind ? -reach : reach;
        boxes[1] = test_cube( axis == 0 ? at : 0, axis == 1 ? at : 0, axis == 2 ? at : 0, 1 );
        space_group_move( &all, &ids[1], &boxes[1], 1 );
        clv_vec3 way = vec( axis == 0 ? 3 * sign : 0, axis == 1 ? 3 * sign : 0, axis == 2 ? 3 * sign : 0 );
        space_group_set_motion( &all, &ids[0], &way, 1 );
        space_group_expect( &all, &s_pair, is_behind ? 0 : 1 ); // 1 + 3 touches 5 - 1
    }
    space_group_close( &all );
}

static void two_swept_boxes_meet( void )
{
    space_group all;
    space_group_open( &all, NULL, NULL );
    const clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 10, 0, 0, 1 ) };
    const clv_vec3 ways[2] = { { 4, 0, 0 }, { -4, 0, 0 } };
    clv_id ids[2];
    space_group_add( &all, boxes, 2, ids );
    space_group_set_motion( &all, ids, ways, 1 );
    space_group_expect( &all, NULL, 0 );
    space_group_set_motion( &all, &ids[1], &ways[1], 1 );
    space_group_expect( &all, NULL, 0 ); // the other's is spent
    space_group_set_motion( &all, ids, ways, 2 );
    space_group_expect( &all, &s_pair, 1 );
    space_group_close( &all );
}

// Box, margin and motion as they are at the update; in which order they came is no matter.
static void the_order_of_the_calls_does_not_matter( void )
{
    const clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 10, 0, 0, 1 ) };
    const clv_aabb near = test_cube( 2, 0, 0, 1 );
    const clv_vec3 way = { 5.5f, 0, 0 };
    const clv_margin_rule rule = { 0.0f, 0.0f, 0.1f }; // 0.55, rounded up
    for ( uint32_t order = 0; order < 6; ++order )
    {
        test_where.frame = order;
        space_group all;
        space_group_open( &all, NULL, NULL );
        clv_id ids[2];
        space_group_add( &all, boxes, 2, ids );
        space_group_update( &all );
        for ( uint32_t step = 0; step < 3; ++step )
        {
            uint32_t what = order < 3 ? ( order + step ) % 3 : ( order + 3 - step ) % 3;
            if ( what == 0 )
            {
                space_group_move( &all, ids, &near, 1 );
            }
            else if ( what == 1 )
            {
                space_group_set_motion( &all, ids, &way, 1 );
            }
            else
            {
                space_group_set_margin_rule( &all, ids, &rule, 1 );
            }
        }
        space_group_check_objects( &all );
        space_group_expect( &all, &s_pair, 1 );
        space_group_close( &all );
    }
}

static void a_failed_update_leaves_motions_for_the_next( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space_def def = clv_default_space_def();
        def.max_pairs = 1;
        clv_space* space = test_space_make( test_variant_at( i ), &def );
        const clv_aabb boxes[3] = { test_cube( 0, 0, 0, 1 ), test_cube( 10, 0, 0, 1 ),
            test_cube( 10.5f, 0, 0, 1 ) };
        const clv_vec3 way = { 9, 0, 0 };
        clv_id ids[3];
        clv_vec3 left;
        CHECK_OK( clv_space_add( space, boxes, 3, ids ) );
        CHECK_OK( clv_space_set_motion( space, ids, &way, 1 ) );
        CHECK_RESULT( clv_space_update( space ), CLV_TOO_MANY_PAIRS );
        CHECK_OK( clv_space_get_motion( space, ids[0], &left ) );
        CHECK( left.x == 9 );
        CHECK_OK( clv_space_remove( space, &ids[2], 1 ) );
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( clv_space_pairs( space ).count, 1 );
        CHECK_OK( clv_space_get_motion( space, ids[0], &left ) );
        CHECK( left.x == 0 );
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( clv_space_pairs( space ).count, 0 );
        clv_space_destroy( space );
    }
}

static bool count_pairs( const clv_pair* pairs, size_t count, void* user )
{
    (void)pairs;
    *(uint64_t*)user += count;
    return true;
}

static void a_visit_sweeps_and_spends_too( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space* space = test_space_make( test_variant_at( i ), NULL );
        const clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 10, 0, 0, 1 ) };
        const clv_vec3 way = { 9, 0, 0 };
        clv_id ids[2];
        CHECK_OK( clv_space_add( space, boxes, 2, ids ) );
        CHECK_OK( clv_space_set_motion( space, ids, &way, 1 ) );
        for ( uint64_t expected = 2; expected > 0; --expected )
        {
            uint64_t seen = 0;
            CHECK_OK( clv_space_visit( space, count_pairs, &seen ) );
            CHECK_EQUAL( seen, expected - 1 );
        }
        clv_space_destroy( space );
    }
}

static void newcomers_do_not_inherit_a_motion( void )
{
    space_group all;
    space_group_open( &all, NULL, NULL );
    const clv_aabb boxes[2] = { test_cube( 10, 0, 0, 1 ), test_cube( 0, 0, 0, 1 ) };
    const clv_vec3 way = { 9, 0, 0 };
    clv_id ids[2];
    for ( uint32_t frame = 0; frame < 4; ++frame )
    {
        test_where.frame = frame;
        space_group_add( &all, boxes + ( frame > 0 ), 2 - ( frame > 0 ), ids + ( frame > 0 ) );
        if ( frame % 2 == 0 )
        {
            space_group_set_motion( &all, &ids[1], &way, 1 );
        }
        if ( frame == 2 ) // set and never looked at
        {
            space_group_remove( &all, &ids[1], 1 );
            space_group_add( &all, &boxes[1], 1, &ids[1] );
        }
        space_group_check_objects( &all );
        space_group_expect( &all, &s_pair, frame == 0 ? 1 : 0 );
        space_group_remove( &all, &ids[1], 1 );
    }
    space_group_close( &all );
}

// ---- to the last bit

static void faces_are_rounded_outwards( void )
{
    space_group all;
    space_group_open( &all, NULL, NULL );
    // Floats are whole numbers here: 1e7 + 0.25 lies between two of them, and the far one touches.
    const clv_aabb boxes[3] = { test_box( 0, 0, 0, 1e7f, 1, 1 ), test_box( 1e7f + 1.0f, 0, 0, 2e7f, 1, 1 ),
        test_box( 3e38f, 9, 9, FLT_MAX, 10, 10 ) };
    const clv_pair reached[1] = { { 0, 1 } };
    const clv_vec3 ways[3] = { { 0.25f, 0, 0 }, { -FLT_TRUE_MIN, 0, 0 }, { FLT_MAX, 0, 0 } };
    clv_id ids[3];
    clv_aabb box;
    space_group_add( &all, boxes, 3, ids );
    space_group_set_motion( &all, ids, ways, 3 );
    CHECK_OK( clv_space_get_test_box( all.spaces[0], ids[0], &box ) );
    CHECK( box.upper.x == 1e7f + 1.0f && box.lower.x == 0 );
    CHECK_OK( clv_space_get_test_box( all.spaces[0], ids[1], &box ) );
    CHECK( box.lower.x == 1e7f && box.upper.x == 2e7f );
    CHECK_OK( clv_space_get_test_box( all.spaces[0], ids[2], &box ) );
    CHECK( box.lower.x == 3e38f && isinf( box.upper.x ) );
    space_group_expect( &all, reached, 1 );
    space_group_close( &all );
}

static void infinite_boxes_stay_as_they_are( void )
{
    space_group all;
    clv_space_def def = clv_default_space_def();
    def.margin_by_size = 0.5f;
    def.margin_by_speed = FLT_MAX;
    space_group_open( &all, &def, NULL );
    const clv_aabb boxes[3] = { test_box( -INFINITY, -INFINITY, -INFINITY, INFINITY, 0, INFINITY ),
        test_box( INFINITY, 0, 0, INFINITY, 1, 1 ), test_cube( 0, 50, 0, 1 ) };
    const clv_vec3 ways[3] = { { FLT_MAX, -FLT_MAX, 3 }, { -FLT_MAX, 0, 0 }, { 0, -50, 0 } };
    clv_id ids[3];
    clv_aabb box;
    space_group_add( &all, boxes, 3, ids );
    CHECK_OK( clv_space_get_test_box( all.spaces[0], ids[0], &box ) );
    CHECK( box.upper.y == 0 ); // no side of it has a length
    CHECK_OK( clv_space_get_test_box( all.spaces[0], ids[2], &box ) );
    CHECK( box.upper.y == 52 ); // half of 2 more
    space_group_set_motion( &all, ids, ways, 3 );
    for ( uint32_t i = 0; i < 3; ++i )
    {
        CHECK_OK( clv_space_get_test_box( all.spaces[0], ids[i], &box ) );
        CHECK( clv_aabb_is_valid( box ) ); // and no NaN comes of it
    }
    space_group_check_objects( &all );
    space_group_update( &all );
    space_group_check_objects( &all );
    space_group_close( &all );
}

static void the_margin_rule_is_the_sum_of_its_parts( void )
{
    clv_space* space = test_space_make( test_variant_at( 0 ), NULL );
    const clv_aabb given = test_box( 0, 0, 0, 2, 8, 4 );
    const clv_vec3 way = { 0, 3, -4 };
    const clv_margin_rule rule = { 1.0f, 0.25f, 0.5f }; // 1 + 2 + 2.5
    clv_id id;
    clv_aabb box;
    CHECK_OK( clv_space_add( space, &given, 1, &id ) );
    CHECK_OK( clv_space_set_margin_rule( space, &id, &rule, 1 ) );
    CHECK_OK( clv_space_get_test_box( space, id, &box ) );
    CHECK( box.lower.x == -3.0f && box.upper.y == 11.0f );
    CHECK_OK( clv_space_set_motion( space, &id, &way, 1 ) );
    CHECK_OK( clv_space_get_test_box( space, id, &box ) );
    CHECK( box.lower.x == -5.5f && box.upper.x == 7.5f );
    CHECK( box.lower.y == -5.5f && box.upper.y == 16.5f );
    CHECK( box.lower.z == -9.5f && box.upper.z == 9.5f );
    const float fixed = 2.0f; // in place of the whole rule
    CHECK_OK( clv_space_set_margin( space, &id, &fixed, 1 ) );
    CHECK_OK( clv_space_get_test_box( space, id, &box ) );
    CHECK( box.lower.x == -2.0f && box.upper.y == 13.0f && box.lower.z == -6.0f );
    const clv_id stale = { 5, 1 };
    clv_vec3 untouched = { 7, 7, 7 };
    CHECK_RESULT( clv_space_get_test_box( space, stale, &box ), CLV_BAD_ID );
    CHECK_RESULT( clv_space_get_motion( space, stale, &untouched ), CLV_BAD_ID );
    CHECK( box.lower.x == -2.0f && untouched.x == 7 );
    clv_space_destroy( space );
}

// 0.1 of 1 is a double between two floats: the margin is the upper one, and with it the box touches.
static void margins_by_rule_round_up( void )
{
    clv_space* space = test_space_make( test_variant_at( 0 ), NULL );
    const clv_aabb given = test_box( 0, 0, 0, 3, 0, 0 );
    const clv_margin_rule rule = { 0, 0.1f, 0 };
    clv_id id;
    clv_aabb box;
    CHECK_OK( clv_space_add( space, &given, 1, &id ) );
    CHECK_OK( clv_space_set_margin_rule( space, &id, &rule, 1 ) );
    CHECK_OK( clv_space_get_test_box( space, id, &box ) );
    CHECK( (double)box.upper.y >= 3 * (double)0.1f );
    CHECK( (double)nextafterf( box.upper.y, 0 ) < 3 * (double)0.1f );
    clv_space_destroy( space );
}

static float hostile_length( test_random* random )
{
    const float lengths[] = { 0, -0.0f, FLT_TRUE_MIN, -FLT_TRUE_MIN, FLT_MAX, -FLT_MAX, 1e-10f, 1e10f, 1,
        -1 };
    return test_random_chance( random, 50 )
        ? test_random_between( random, -2, 2 )
        : lengths[test_random_below( random, (uint32_t)TEST_COUNT( lengths ) )];
}

// Every crowd, with lengths that over- and underflow, against boxes made by the processor's own directed
// rounding.
static void hostile_rules_and_motions_match_the_oracle( void )
{
    enum
    {
        COUNT = 80
    };
    for ( uint32_t seed = 1; seed <= test_scaled( TEST_CROWD_COUNT ); ++seed )
    {
        test_where.seed = seed;
        test_random random = test_random_make( seed );
        test_crowd crowd = (test_crowd)( seed % TEST_CROWD_COUNT );
        space_group all;
        clv_space_def def = clv_default_space_def();
        def.events = true;
        def.sorted = seed % 2 == 0;
        def.margin_by_size = seed % 3 == 0 ? 0.01f : 0;
        space_group_open( &all, &def, NULL );
        clv_aabb boxes[COUNT];
        clv_vec3 ways[COUNT];
        clv_margin_rule rules[COUNT];
        clv_id ids[COUNT];
        for ( uint32_t i = 0; i < COUNT; ++i )
        {
            boxes[i] = test_crowd_box( crowd, COUNT, &random );
        }
        space_group_add( &all, boxes, COUNT, ids );
        for ( uint32_t frame = 0; frame < 4; ++frame )
        {
            test_where.frame = frame;
            for ( uint32_t i = 0; i < COUNT; ++i )
            {
                boxes[i] = test_crowd_step( crowd, boxes[i], &random );
                ways[i] =
                    vec( hostile_length( &random ), hostile_length( &random ), hostile_length( &random ) );
                rules[i] = ( clv_margin_rule ){ fabsf( hostile_length( &random ) ) * 0.1f,
                    fabsf( hostile_length( &random ) ) * 0.1f, fabsf( hostile_length( &random ) ) * 0.1f };
            }
            uint32_t some = test_random_below( &random, COUNT );
            space_group_move( &all, ids, boxes, COUNT );
            space_group_set_motion( &all, ids, ways, some );
            space_group_set_margin_rule( &all, ids + some, rules, ( COUNT - some ) / 4 );
            space_group_check_objects( &all );
            space_group_update( &all );
        }
        space_group_close( &all );
    }
}

// ---- rest, and memory

// A world at rest is followed object by object: a bullet through it is found on its way and forgotten behind
// it.
static void a_bullet_flies_through_a_world_at_rest( void )
{
    enum
    {
        COUNT = 640
    };
    space_group all;
    clv_space_def def = clv_default_space_def();
    def.events = true;
    space_group_open( &all, &def, NULL );
    clv_aabb* boxes = test_alloc( COUNT + 1, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( COUNT + 1, sizeof( clv_id ) );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_cube( (float)( i % 40 ), (float)( i / 40 ), 0, 0.45f );
    }
    boxes[COUNT] = test_cube( -10, 7.7f, 0, 0.01f );
    space_group_add( &all, boxes, COUNT + 1, ids );
    for ( uint32_t frame = 0; frame < 24; ++frame )
    {
        test_where.frame = frame;
        if ( frame >= 8 && frame < 20 )
        {
            const clv_vec3 way = { 5, 0.125f, 0 };
            space_group_set_motion( &all, &ids[COUNT], &way, 1 );
        }
        space_group_update( &all );
        CHECK( ( all.world.pair_count > 0 ) == ( frame >= 9 && frame < 18 ) );
        if ( frame >= 8 && frame < 20 )
        {
            float x = -10 + 5 * (float)( frame - 7 ), y = 7.7f + 0.125f * (float)( frame - 7 );
            boxes[COUNT] = test_cube( x, y, 0, 0.01f );
        }
        space_group_move( &all, ids, boxes, COUNT + 1 );
    }
    free( boxes );
    free( ids );
    space_group_close( &all );
}

static void motions_take_memory_once( void )
{
    enum
    {
        COUNT = 300
    };
    heap hooks = { 0 };
    clv_space_def def = clv_default_space_def();
    def.allocator = heap_hooks( &hooks );
    def.events = true;
    clv_space* space = test_space_make( test_variant_at( 0 ), &def );
    clv_aabb boxes[COUNT];
    clv_vec3 ways[COUNT];
    clv_id ids[COUNT];
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_cube( 2.0f * (float)i, 0, 0, 0.5f );
        ways[i] = vec( 1.5f, 0, 0 );
    }
    CHECK_OK( clv_space_add( space, boxes, COUNT, ids ) );
    uint64_t allocated = 0;
    for ( uint32_t frame = 0; frame < 40; ++frame )
    {
        allocated = frame < 20 ? hooks.allocate_count : allocated;
        CHECK_OK( clv_space_move( space, ids, boxes, COUNT ) );
        CHECK_OK( clv_space_set_motion( space, ids, ways, frame % 2 * COUNT ) );
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( clv_space_pairs( space ).count, frame % 2 * ( COUNT - 1 ) );
    }
    CHECK_EQUAL( hooks.allocate_count, allocated );
    clv_space_destroy( space );
    CHECK_EQUAL( hooks.bytes, 0 );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( sums_round_as_the_processor_does ),
        TEST_CASE( a_swept_box_meets_what_lies_on_its_way ),
        TEST_CASE( each_axis_is_swept_for_itself ),
        TEST_CASE( two_swept_boxes_meet ),
        TEST_CASE( the_order_of_the_calls_does_not_matter ),
        TEST_CASE( a_failed_update_leaves_motions_for_the_next ),
        TEST_CASE( a_visit_sweeps_and_spends_too ),
        TEST_CASE( newcomers_do_not_inherit_a_motion ),
        TEST_CASE( faces_are_rounded_outwards ),
        TEST_CASE( infinite_boxes_stay_as_they_are ),
        TEST_CASE( the_margin_rule_is_the_sum_of_its_parts ),
        TEST_CASE( margins_by_rule_round_up ),
        TEST_CASE( hostile_rules_and_motions_match_the_oracle ),
        TEST_CASE( a_bullet_flies_through_a_world_at_rest ),
        TEST_CASE( motions_take_memory_once ),
    };
    return test_run( "motion", cases, TEST_COUNT( cases ), argc, argv );
}
