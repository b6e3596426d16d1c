// SPDX-License-Identifier: MIT
// Lists that have no room, by every way: searched again, in pieces where the device has no memory for them,
// in blocks where the boxes are too many; always whole.
#include "gpu_fixture.h"
#include "gpu_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void lists_without_room_are_searched_again( void )
{
    enum
    {
        COUNT = 700
    };
    static clv_aabb boxes[COUNT];
    test_random random = test_random_make( 8 );
    for ( int i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_LATTICE, COUNT, &random );
    }
    uint64_t need = 0;
    free( gpu_test_brute( boxes, COUNT, &need ) );
    CHECK( need > 2 );
    const uint64_t rooms[] = { 0, 1, need - 1, need };
    EACH_WAY( way )
    {
        for ( size_t k = 0; k < TEST_COUNT( rooms ); ++k )
        {
            clv_gpu_def def = clv_default_gpu_def();
            clv_gpu* gpu = NULL;
            def.way = way;
            def.pair_capacity = rooms[k];
            CHECK_OK( clv_gpu_create( &def, &gpu ) );
            test_where.method = gpu_test_way_name( way );
            gpu_test_agree( gpu, boxes, COUNT, "little room" );
            CHECK_EQUAL( clv_gpu_get_stats( gpu ).search_count, rooms[k] < need ? 2 : 1 );
            gpu_test_agree( gpu, boxes, COUNT, "room by now" );
            CHECK_EQUAL( clv_gpu_get_stats( gpu ).search_count, rooms[k] < need ? 3 : 2 );
            clv_gpu_destroy( gpu );
        }
    }
}

static void lists_beyond_the_devices_memory_come_in_pieces( void )
{
    enum
    {
        COUNT = 600
    };
    static clv_aabb boxes[COUNT];
    for ( int i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_box( 0, 0, (float)i, 1, 1, (float)i + 150 );
    }
    EACH_WAY( way )
    {
        clv_gpu_def def = clv_default_gpu_def();
        clv_gpu* gpu = NULL;
        def.way = way;
        def.pair_capacity = 10;
        def.memory_most = 8 * 900;
        CHECK_OK( clv_gpu_create( &def, &gpu ) );
        test_where.method = gpu_test_way_name( way );
        gpu_test_agree( gpu, boxes, COUNT, "in pieces" );
        bool has_tiles = way == CLV_GPU_TILES || way == CLV_GPU_AUTO;
        CHECK( has_tiles || clv_gpu_get_stats( gpu ).piece_count > 10 );
        CHECK( clv_gpu_pair_buffer( gpu ) == NULL );
        gpu_test_agree( gpu, boxes, 50, "whole again" );
        clv_gpu_destroy( gpu );
    }
}

// More boxes than are searched at once, in two blocks and in many, also where all meet all.
static void boxes_beyond_the_devices_memory_come_in_blocks( void )
{
    enum
    {
        COUNT = 800
    };
    static clv_aabb boxes[COUNT];
    static const uint32_t s_mosts[] = { COUNT - 1, 270 };
    EACH_WAY( way )
    {
        clv_gpu_def def = clv_default_gpu_def();
        clv_gpu* gpu = NULL;
        def.way = way;
        def.few = 100;
        def.count_tests = true;
        CHECK_OK( clv_gpu_create( &def, &gpu ) );
        for ( size_t k = 0; k < TEST_COUNT( s_mosts ); ++k )
        {
            test_random random = test_random_make( 14 );
            gpu->def.box_most = s_mosts[k];
            test_where.method = gpu_test_way_name( way );
            for ( int i = 0; i < COUNT; ++i )
            {
                boxes[i] = test_crowd_box( TEST_CROWD_MIXED, COUNT, &random );
            }
            gpu_test_agree( gpu, boxes, COUNT, "in blocks" );
            uint32_t blocks = ( COUNT + s_mosts[k] / 2 - 1 ) / ( s_mosts[k] / 2 );
            clv_gpu_stats stats = clv_gpu_get_stats( gpu );
            CHECK_EQUAL( stats.piece_count, blocks * ( blocks + 1 ) / 2 );
            CHECK( stats.way != CLV_GPU_AUTO && stats.test_count > 0 && clv_gpu_pair_buffer( gpu ) == NULL );
            boxes[COUNT - 1].lower.y = NAN;
            CHECK_RESULT( clv_gpu_update( gpu, boxes, COUNT ), CLV_BAD_BOX );
            CHECK( strstr( clv_gpu_error( gpu ), "box 799 " ) != NULL );
            for ( int i = 0; i < COUNT; ++i )
            {
                boxes[i] = test_cube( 0, 0, 0.001f * (float)i, 0.1f );
            }
            gpu_test_agree( gpu, boxes, COUNT, "in blocks, most meet most" );
            gpu_test_agree( gpu, boxes, 200, "at once again" );
            CHECK( clv_gpu_pair_buffer( gpu ) != NULL );
        }
        clv_gpu_destroy( gpu );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( lists_without_room_are_searched_again ),
        TEST_CASE( lists_beyond_the_devices_memory_come_in_pieces ),
        TEST_CASE( boxes_beyond_the_devices_memory_come_in_blocks ),
    };
    return gpu_test_is_skipped() ? 77 : test_run( "gpu_lists", cases, TEST_COUNT( cases ), argc, argv );
}
