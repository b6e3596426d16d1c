// SPDX-License-Identifier: MIT
// The list's order is a function of the def and the calls alone.
#include "space_group.h"

#include <stdlib.h>
#include <string.h>

enum
{
    OBJECTS = 400,
    FRAMES = 8,
};

// A life with births, deaths, moves and margins; the order hash of every frame.
static void run_life( clv_space* space, uint64_t seed, uint64_t hashes[FRAMES] )
{
    test_random random = test_random_make( seed );
    clv_aabb* boxes = test_alloc( OBJECTS, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( OBJECTS, sizeof( clv_id ) );
    test_crowd crowd = (test_crowd)( seed % TEST_CROWD_COUNT );
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        boxes[i] = test_crowd_box( crowd, OBJECTS, &random );
    }
    CHECK_OK( clv_space_add( space, boxes, OBJECTS, ids ) );
    for ( uint32_t frame = 0; frame < FRAMES; ++frame )
    {
        test_where.frame = frame;
        for ( uint32_t i = 0; i < OBJECTS; ++i )
        {
            boxes[i] = test_crowd_step( crowd, boxes[i], &random );
        }
        CHECK_OK( clv_space_move( space, ids, boxes, OBJECTS ) );
        uint32_t first = test_random_below( &random, OBJECTS - 50 );
        CHECK_OK( clv_space_remove( space, ids + first, frame % 3 == 2 ? 50 : 0 ) );
        CHECK_OK( clv_space_add( space, boxes + first, frame % 3 == 2 ? 50 : 0, ids + first ) );
        float margin = test_random_between( &random, 0.0f, 0.3f );
        CHECK_OK( clv_space_set_margin( space, &ids[first], &margin, 1 ) );
        CHECK_OK( clv_space_update( space ) );
        clv_pair_view view = clv_space_pairs( space );
        hashes[frame] = test_order_hash( view.pairs, view.count );
    }
    free( boxes );
    free( ids );
}

static void the_same_calls_give_the_same_order( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        for ( uint64_t seed = 0; seed < TEST_CROWD_COUNT; ++seed )
        {
            test_where.seed = seed;
            uint64_t first[FRAMES], second[FRAMES];
            clv_space* space = test_space_make( test_variant_at( i ), NULL );
            run_life( space, seed, first );
            clv_space* again = test_space_make( test_variant_at( i ), NULL ); // at other addresses
            run_life( again, seed, second );
            CHECK( memcmp( first, second, sizeof( first ) ) == 0 );
            clv_space_destroy( space );
            clv_space_destroy( again );
        }
    }
}

static void every_instruction_set_gives_the_same_order( void )
{
    for ( uint64_t seed = 0; seed < TEST_CROWD_COUNT * 2; ++seed )
    {
        test_where.seed = seed;
        const clv_method* current = NULL;
        uint64_t expected[FRAMES], hashes[FRAMES];
        for ( uint32_t i = 0; i < test_variant_count(); ++i )
        {
            test_variant variant = test_variant_at( i );
            clv_space_def def = clv_default_space_def();
            def.settings = test_settings_token( seed < TEST_CROWD_COUNT ? 0 : 1 + (uint32_t)seed % 4 );
            clv_space* space = test_space_make( variant, &def );
            run_life( space, seed, hashes );
            clv_space_destroy( space );
            if ( variant.method != current )
            {
                current = variant.method;
                memcpy( expected, hashes, sizeof( expected ) );
            }
            for ( uint32_t frame = 0; frame < FRAMES; ++frame )
            {
                test_where.frame = frame;
                CHECK_EQUAL( hashes[frame], expected[frame] );
            }
        }
    }
}

// Counters are part of the answer: they may steer methods, so they may not depend on the instruction set
// either.
static void every_instruction_set_counts_the_same_tests( void )
{
    const clv_method* current = NULL;
    uint64_t expected = 0;
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        test_variant variant = test_variant_at( i );
        clv_space* space = test_space_make( variant, NULL );
        uint64_t hashes[FRAMES];
        run_life( space, 3, hashes );
        uint64_t test_count = clv_space_stats( space ).test_count;
        clv_space_destroy( space );
        if ( variant.method != current )
        {
            current = variant.method;
            expected = test_count;
        }
        CHECK_EQUAL( test_count, expected );
    }
}

static void reserving_changes_no_order( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        uint64_t plain[FRAMES], reserved[FRAMES];
        clv_space* space = test_space_make( test_variant_at( i ), NULL );
        run_life( space, 5, plain );
        clv_space_destroy( space );
        clv_space_def def = clv_default_space_def();
        def.capacity = 5000;
        def.pair_capacity = 100000;
        def.stage_times = true;
        space = test_space_make( test_variant_at( i ), &def );
        run_life( space, 5, reserved );
        clv_space_destroy( space );
        CHECK( memcmp( plain, reserved, sizeof( plain ) ) == 0 );
    }
}

static void a_sorted_list_is_sorted_and_the_same_set( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        for ( uint64_t seed = 0; seed < TEST_CROWD_COUNT; ++seed )
        {
            test_where.seed = seed;
            clv_space_def def = clv_default_space_def();
            uint64_t hashes[FRAMES];
            clv_space* plain = test_space_make( test_variant_at( i ), &def );
            run_life( plain, seed, hashes );
            def.sorted = true;
            clv_space* sorted = test_space_make( test_variant_at( i ), &def );
            run_life( sorted, seed, hashes );

            clv_pair_view list = clv_space_pairs( sorted );
            clv_pair_view other = clv_space_pairs( plain );
            for ( uint64_t p = 1; p < list.count; ++p )
            {
                CHECK( test_pair_less( list.pairs[p - 1], list.pairs[p] ) );
            }
            CHECK_EQUAL( list.count, other.count );
            CHECK_EQUAL( test_set_hash( list.pairs, list.count ), test_set_hash( other.pairs, other.count ) );
            clv_space_destroy( plain );
            clv_space_destroy( sorted );
        }
    }
}

static void sorted_lists_are_the_same_for_all_methods( void )
{
    uint64_t expected[FRAMES], hashes[FRAMES];
    clv_space_def def = clv_default_space_def();
    def.sorted = true;
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space* space = test_space_make( test_variant_at( i ), &def );
        run_life( space, 4, i == 0 ? expected : hashes );
        clv_space_destroy( space );
        CHECK( i == 0 || memcmp( expected, hashes, sizeof( hashes ) ) == 0 );
    }
}

// Filters drop pairs and events look at them; neither may shuffle what stays.
static void events_change_no_order( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        uint64_t plain[FRAMES], with_events[FRAMES];
        clv_space_def def = clv_default_space_def();
        clv_space* space = test_space_make( test_variant_at( i ), &def );
        run_life( space, 0, plain );
        clv_space_destroy( space );
        def.events = true;
        space = test_space_make( test_variant_at( i ), &def );
        run_life( space, 0, with_events );
        clv_space_destroy( space );
        CHECK( memcmp( plain, with_events, sizeof( plain ) ) == 0 );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( the_same_calls_give_the_same_order ),
        TEST_CASE( every_instruction_set_gives_the_same_order ),
        TEST_CASE( every_instruction_set_counts_the_same_tests ),
        TEST_CASE( reserving_changes_no_order ),
        TEST_CASE( a_sorted_list_is_sorted_and_the_same_set ),
        TEST_CASE( sorted_lists_are_the_same_for_all_methods ),
        TEST_CASE( events_change_no_order ),
    };
    return test_run( "order", cases, TEST_COUNT( cases ), argc, argv );
}
