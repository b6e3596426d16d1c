// SPDX-License-Identifier: MIT
// Spaces whose method is on a device beside one with brute force: lives of objects that come, move and go,
// with sorted lists, events and margins. What a space promises does not depend on where it searches.
#include "gpu_fixture.h"

#include <string.h>

enum
{
    COUNT = 900,
    FRAMES = 5,
};

static clv_space* make_space( const char* name )
{
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    def.method = name;
    def.sorted = true;
    def.events = true;
    def.margin = 0.125f;
    CHECK_OK( clv_space_create( &def, &space ) );
    return space;
}

static void check_same( const clv_space* space, const clv_space* judge )
{
    clv_pair_view found = clv_space_pairs( space );
    clv_pair_view expected = clv_space_pairs( judge );
    clv_event_view events = clv_space_events( space );
    clv_event_view expected_events = clv_space_events( judge );
    CHECK_EQUAL( found.count, expected.count );
    CHECK( memcmp( found.pairs, expected.pairs, found.count * sizeof( clv_pair ) ) == 0 );
    CHECK_EQUAL( events.begun_count, expected_events.begun_count );
    CHECK_EQUAL( events.ended_count, expected_events.ended_count );
}

// The same calls on both: some objects move, some go, some come, so that slots are reused and live ones have
// gaps.
static void live( clv_space* space, clv_space* judge, test_crowd crowd )
{
    static clv_aabb boxes[COUNT];
    static clv_id ids[COUNT], judge_ids[COUNT];
    test_random random = test_random_make( 21 );
    for ( int i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_crowd_box( crowd, COUNT, &random );
    }
    CHECK_OK( clv_space_update( space ) ); // of nothing
    CHECK_OK( clv_space_add( space, boxes, COUNT, ids ) );
    CHECK_OK( clv_space_add( judge, boxes, COUNT, judge_ids ) );
    for ( uint32_t frame = 0; frame < FRAMES; ++frame )
    {
        test_where.frame = frame;
        CHECK_OK( clv_space_update( space ) );
        CHECK_OK( clv_space_update( judge ) );
        if ( frame > 0 || clv_space_pairs( judge ).count > 0 )
        {
            check_same( space, judge );
        }
        for ( int i = 0; i < COUNT; ++i )
        {
            boxes[i] = test_crowd_step( crowd, boxes[i], &random );
        }
        uint32_t gone = 100 * frame;
        CHECK_OK( clv_space_remove( space, ids + gone, 50 ) );
        CHECK_OK( clv_space_remove( judge, judge_ids + gone, 50 ) );
        CHECK_OK( clv_space_add( space, boxes + gone, 25, ids + gone ) );
        CHECK_OK( clv_space_add( judge, boxes + gone, 25, judge_ids + gone ) );
        CHECK_OK( clv_space_move( space, ids + 600, boxes + 600, 300 ) );
        CHECK_OK( clv_space_move( judge, judge_ids + 600, boxes + 600, 300 ) );
    }
}

static void every_method_lives_like_brute_force( void )
{
    static const char* const s_names[] = { "gpu-tiles", "gpu-grid", "gpu-lbvh", "gpu-sap", "gpu" };
    for ( size_t k = 0; k < TEST_COUNT( s_names ); ++k )
    {
        clv_space* space = make_space( s_names[k] );
        clv_space* judge = make_space( "brute" );
        test_where.method = s_names[k];
        live( space, judge, k % 2 == 0 ? TEST_CROWD_MIXED : TEST_CROWD_LATTICE );
        clv_space_shrink( space );
        CHECK_OK( clv_space_update( space ) ); // the device was closed, and is opened anew
        CHECK_OK( clv_space_update( judge ) );
        check_same( space, judge );
        CHECK( clv_space_stats( space ).test_count > 0 );
        clv_space_destroy( space );
        clv_space_destroy( judge );
    }
}

static void limits_hold_on_a_device_too( void )
{
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    static clv_aabb boxes[500];
    for ( int i = 0; i < 500; ++i )
    {
        boxes[i] = test_cube( 0, 0, 0, 1 );
    }
    def.method = "gpu-grid";
    def.max_pairs = 1000;
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_OK( clv_space_add( space, boxes, 500, NULL ) );
    CHECK_RESULT( clv_space_update( space ), CLV_TOO_MANY_PAIRS );
    clv_space_destroy( space );
}

static void settings_are_checked( void )
{
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    def.method = "gpu-sap";
    def.settings = "gpu.device=0,gpu.pca=2,gpu.axis=2";
    CHECK_OK( clv_space_create( &def, &space ) );
    clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ) };
    CHECK_OK( clv_space_add( space, boxes, 2, NULL ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_pairs( space ).count, 1 );
    clv_space_destroy( space );
    def.settings = "gpu.device=64";
    CHECK_RESULT( clv_space_create( &def, &space ), CLV_BAD_DEF );
    def.settings = "gpu.device=63"; // there is none of that number
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_OK( clv_space_add( space, boxes, 2, NULL ) );
    CHECK_RESULT( clv_space_update( space ), CLV_UNSUPPORTED );
    clv_space_destroy( space );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( every_method_lives_like_brute_force ),
        TEST_CASE( limits_hold_on_a_device_too ),
        TEST_CASE( settings_are_checked ),
    };
    if ( gpu_test_is_skipped() )
    {
        return 77;
    }
    if ( clv_gpu_register() != CLV_OK || clv_gpu_register() != CLV_OK )
    {
        return 1;
    }
    return test_run( "gpu_space", cases, TEST_COUNT( cases ), argc, argv );
}
