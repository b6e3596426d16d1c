// SPDX-License-Identifier: MIT
// More objects than 16 bits can name. Too many for the oracle: the methods judge each other, by the hash of
// the set.
#include "support.h"

#include <stdlib.h>

enum
{
    OBJECTS = 70000,
    FRAMES = 2,
};

// Quadratic methods get one instruction set, the widest: the others are compared at smaller sizes.
static bool is_worth_it( test_variant variant )
{
    bool quadratic = variant.method == clv_method_find( "brute" );
    return !quadratic || variant.isa == clv_isa_best();
}

static void make_boxes( clv_aabb* boxes, uint32_t frame )
{
    test_random random = test_random_make( 77 );
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        boxes[i] = test_crowd_box( i % 1000 == 0 ? TEST_CROWD_BARS : TEST_CROWD_SPREAD, OBJECTS, &random );
    }
    for ( uint32_t i = 0; frame > 0 && i < OBJECTS; ++i )
    {
        boxes[i] = test_crowd_step( TEST_CROWD_SPREAD, boxes[i], &random );
    }
}

static void run( test_variant variant, uint64_t hashes[FRAMES], uint64_t counts[FRAMES] )
{
    clv_aabb* boxes = test_alloc( OBJECTS, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( OBJECTS, sizeof( clv_id ) );
    clv_space_def def = clv_default_space_def();
    def.sorted = true;
    clv_space* space = test_space_make( variant, &def );
    for ( uint32_t frame = 0; frame < FRAMES; ++frame )
    {
        test_where.frame = frame;
        make_boxes( boxes, frame );
        if ( frame == 0 )
        {
            CHECK_OK( clv_space_add( space, boxes, OBJECTS, ids ) );
        }
        else
        {
            CHECK_OK( clv_space_move( space, ids, boxes, OBJECTS ) );
        }
        CHECK_OK( clv_space_update( space ) );
        clv_pair_view view = clv_space_pairs( space );
        for ( uint64_t i = 1; i < view.count; ++i )
        {
            CHECK( test_pair_less( view.pairs[i - 1], view.pairs[i] ) );
        }
        counts[frame] = view.count;
        hashes[frame] = test_order_hash( view.pairs, view.count );
    }
    clv_space_destroy( space );
    free( boxes );
    free( ids );
}

static void all_methods_agree_above_65536_objects( void )
{
    uint64_t expected[FRAMES], expected_counts[FRAMES], hashes[FRAMES], counts[FRAMES];
    bool first = true;
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        test_variant variant = test_variant_at( i );
        if ( !is_worth_it( variant ) )
        {
            continue;
        }
        run( variant, first ? expected : hashes, first ? expected_counts : counts );
        for ( uint32_t frame = 0; frame < FRAMES && !first; ++frame )
        {
            test_where.frame = frame;
            CHECK_EQUAL( counts[frame], expected_counts[frame] );
            CHECK_EQUAL( hashes[frame], expected[frame] );
        }
        first = false;
    }
    CHECK( expected_counts[0] > OBJECTS );
}

static void pairs_above_65536_name_the_right_objects( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        test_variant variant = test_variant_at( i );
        if ( !is_worth_it( variant ) )
        {
            continue;
        }
        // Far apart, but for the first with the last and two neighbours across 65,536.
        clv_aabb* boxes = test_alloc( OBJECTS, sizeof( clv_aabb ) );
        for ( uint32_t k = 0; k < OBJECTS; ++k )
        {
            boxes[k] = test_cube( 3.0f * (float)( k % 300 ), 3.0f * (float)( k / 300 ), 0, 1 );
        }
        boxes[OBJECTS - 1] = boxes[0];
        boxes[65536] = boxes[65535];
        clv_space_def def = clv_default_space_def();
        def.sorted = true;
        clv_space* space = test_space_make( variant, &def );
        CHECK_OK( clv_space_add( space, boxes, OBJECTS, NULL ) );
        CHECK_OK( clv_space_update( space ) );
        clv_pair_view view = clv_space_pairs( space );
        CHECK_EQUAL( view.count, 2 );
        CHECK( view.pairs[0].a == 0 && view.pairs[0].b == OBJECTS - 1 );
        CHECK( view.pairs[1].a == 65535 && view.pairs[1].b == 65536 );
        clv_space_destroy( space );
        free( boxes );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( all_methods_agree_above_65536_objects ),
        TEST_CASE( pairs_above_65536_name_the_right_objects ),
    };
    return test_run( "large", cases, TEST_COUNT( cases ), argc, argv );
}
