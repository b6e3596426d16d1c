// SPDX-License-Identifier: MIT
// The checkers of the GPU library say what broke: the host's view is spoilt in one place, its checker answers
// with the sentence about that, and with NULL once it is as it was.
#include "gpu_bodies.h"
#include "gpu_fixture.h"
#include "gpu_schedule.h"

#include <stdlib.h>
#include <string.h>

enum
{
    BOXES = 900
};

static clv_aabb s_boxes[BOXES];

/// A place gets a wrong value, the checker names it, and the place gets its value back.
#define SPOIL( place, value, call, words )                                                                   \
    do                                                                                                       \
    {                                                                                                        \
        char kept_[sizeof( place )];                                                                         \
        memcpy( kept_, &( place ), sizeof( place ) );                                                        \
        ( place ) = ( value );                                                                               \
        CHECK( ( call ) != NULL );                                                                           \
        CHECK_TEXT( call, words );                                                                           \
        memcpy( &( place ), kept_, sizeof( place ) );                                                        \
        CHECK( ( call ) == NULL );                                                                           \
    } while ( 0 )

static void fill_boxes( void )
{
    test_random random = test_random_make( 5 );
    for ( int i = 0; i < BOXES; ++i )
    {
        s_boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, BOXES, &random );
    }
}

static clv_gpu* open_gpu( clv_gpu_way way, bool has_events )
{
    clv_gpu_def def = clv_default_gpu_def();
    clv_gpu* gpu = NULL;
    def.way = way;
    def.events = has_events;
    CHECK_OK( clv_gpu_create( &def, &gpu ) );
    CHECK( clv_gpu_frame_check( gpu ) == NULL );
    fill_boxes();
    CHECK_OK( clv_gpu_update( gpu, s_boxes, BOXES ) );
    CHECK_OK( clv_gpu_update( gpu, s_boxes, BOXES ) );
    CHECK( clv_gpu_frame_check( gpu ) == NULL );
    return gpu;
}

static void the_checker_sees_spoilt_buffers( void )
{
    clv_gpu* gpu = open_gpu( CLV_GPU_TILES, false );
    const char* whole = "a buffer has bytes without memory, or memory without bytes";
    SPOIL( gpu->buffers.pairs.bytes, 0, clv_gpu_frame_check( gpu ), whole );
    SPOIL( gpu->buffers.boxes.bytes, gpu->buffers.boxes.bytes + 64, clv_gpu_frame_check( gpu ),
        "the buffers have more bytes than device_bytes says" );
    SPOIL( gpu->device_bytes, gpu->device_bytes - 1, clv_gpu_frame_check( gpu ),
        "the buffers have more bytes than device_bytes says" );
    SPOIL( gpu->is_open, false, clv_gpu_frame_check( gpu ),
        "a device that is closed has memory, a queue or a context" );
    clv_gpu_destroy( gpu );
}

static void the_checker_sees_spoilt_lists( void )
{
    clv_gpu* gpu = open_gpu( CLV_GPU_TILES, false );
    SPOIL( gpu->is_pending, true, clv_gpu_frame_check( gpu ), "there is a list while a frame is under way" );
    SPOIL( gpu->next_slot, GPU_SLOTS, clv_gpu_frame_check( gpu ), "there is no such slot of counters" );
    SPOIL( gpu->pair_room, gpu->buffers.pairs.bytes, clv_gpu_frame_check( gpu ),
        "the list has less memory than room" );
    SPOIL( gpu->rest.kept_room, 1000, clv_gpu_frame_check( gpu ),
        "the list that is kept has less memory than room" );
    SPOIL( gpu->is_chunked, true, clv_gpu_frame_check( gpu ), "boxes in blocks have a whole list" );
    SPOIL( gpu->counters.pair_count, gpu->pair_room + 1, clv_gpu_frame_check( gpu ),
        "a whole list has more pairs than room" );
    SPOIL( gpu->ahead.count, gpu->download.bytes + 1, clv_gpu_frame_check( gpu ),
        "more pairs were sent for than the host has room for" );
    clv_gpu_destroy( gpu );
}

static void the_checker_sees_spoilt_events( void )
{
    clv_gpu* gpu = open_gpu( CLV_GPU_TILES, true );
    CHECK( gpu->events.has_before );
    const char* before = "the list before has less memory than room, or more pairs";
    const char* table = "a table of pairs has another size than its mask";
    SPOIL( gpu->events.rooms[1], UINT32_MAX, clv_gpu_frame_check( gpu ),
        "begun or ended pairs have less memory than room" );
    SPOIL( gpu->events.room_before, UINT32_MAX, clv_gpu_frame_check( gpu ), before );
    SPOIL(
        gpu->events.count_before, (uint32_t)gpu->events.room_before + 1, clv_gpu_frame_check( gpu ), before );
    SPOIL( gpu->events.mask, gpu->events.mask - 1, clv_gpu_frame_check( gpu ), table );
    SPOIL( gpu->events.mask_before, UINT32_MAX >> 1, clv_gpu_frame_check( gpu ), table );
    clv_gpu_destroy( gpu );
}

static void the_checker_sees_spoilt_plans( void )
{
    clv_gpu* gpu = open_gpu( CLV_GPU_GRID, false );
    CHECK( gpu->grid.is_planned );
    SPOIL( gpu->grid.kept_slot, GPU_SLOTS + 1, clv_gpu_frame_check( gpu ),
        "an order is kept from no slot, or more boxes may leave their cells than are listed" );
    SPOIL( gpu->grid.entry_count, gpu->grid.entry_count + 1, clv_gpu_frame_check( gpu ),
        "a grid has no level, or other entries than its rows" );
    SPOIL( gpu->frame.count, 1u << 24, clv_gpu_frame_check( gpu ), "a grid has fewer records than boxes" );
    uint32_t entries = gpu->grid.entry_count, rows = gpu->grid.row_count;
    gpu->grid.row_count = (uint32_t)( gpu->buffers.starts.bytes / sizeof( uint32_t ) );
    gpu->grid.entry_count = gpu->grid.row_count * gpu->grid.pitch;
    CHECK_TEXT( clv_gpu_frame_check( gpu ), "the tables of a grid are shorter than its entries" );
    gpu->grid.entry_count = entries;
    gpu->grid.row_count = rows;
    CHECK( clv_gpu_frame_check( gpu ) == NULL );
    clv_gpu_destroy( gpu );
    gpu = open_gpu( CLV_GPU_SAP, false );
    SPOIL( gpu->sap.axes[1], gpu->sap.axes[0], clv_gpu_frame_check( gpu ),
        "a sweep is planned along an axis twice" );
    clv_gpu_destroy( gpu );
    gpu = open_gpu( CLV_GPU_LBVH, false );
    SPOIL( gpu->tree.top, 0, clv_gpu_frame_check( gpu ), "a tree is planned without nodes" );
    SPOIL( gpu->tree.count, BOXES - 1, clv_gpu_frame_check( gpu ),
        "a tree was searched that is not that of the frame's boxes" );
    clv_gpu_destroy( gpu );
}

static void the_checker_sees_a_spoilt_rest( void )
{
    clv_gpu* gpu = NULL;
    clv_gpu_def def = clv_default_gpu_def();
    def.way = CLV_GPU_GRID;
    CHECK_OK( clv_gpu_create( &def, &gpu ) );
    gpu->grid_wish.keeps = 1;
    gpu->grid_wish.rests = 1;
    fill_boxes();
    CHECK_OK( clv_gpu_update( gpu, s_boxes, BOXES ) );
    CHECK_OK( clv_gpu_update( gpu, s_boxes, BOXES ) );
    CHECK( gpu->rest.tracks && gpu->rest.slot != 0 && clv_gpu_frame_check( gpu ) == NULL );
    SPOIL( gpu->rest.slot, GPU_SLOTS + 1, clv_gpu_frame_check( gpu ), "resting goes on from no slot" );
    SPOIL( gpu->rest.tracks, false, clv_gpu_frame_check( gpu ), "boxes were compared while none are to be" );
    SPOIL( gpu->has_no_room_to_rest, true, clv_gpu_frame_check( gpu ),
        "boxes are compared though there is no room for that" );
    SPOIL( gpu->rest.count, 1u << 24, clv_gpu_frame_check( gpu ),
        "there are fewer boxes to compare with than were compared" );
    gpu->rest.wants_order = true;
    SPOIL( gpu->grid.keeps, false, clv_gpu_frame_check( gpu ),
        "resting wants an order that the grid does not keep" );
    gpu->rest.wants_order = false;
    clv_gpu_destroy( gpu );
}

static void the_checker_sees_spoilt_pairs( void )
{
    clv_gpu* gpu = open_gpu( CLV_GPU_GRID, false );
    uint64_t count = 0;
    clv_pair* pairs = gpu_test_pairs( gpu, &count );
    CHECK( count > 4 && gpu_test_check_pairs( pairs, count, BOXES, true ) == NULL );
    SPOIL( pairs[1].a, pairs[1].b, gpu_test_check_pairs( pairs, count, BOXES, false ),
        "a pair does not have the lower number first" );
    SPOIL( pairs[1].b, BOXES, gpu_test_check_pairs( pairs, count, BOXES, false ),
        "a pair has a number that no box has" );
    SPOIL( pairs[2], pairs[1], gpu_test_check_pairs( pairs, count, BOXES, true ),
        "pairs that are to be sorted are not, or one is there twice" );
    SPOIL( pairs[0], pairs[3], gpu_test_check_pairs( pairs, count, BOXES, true ),
        "pairs that are to be sorted are not, or one is there twice" );
    clv_pair kept = pairs[2];
    pairs[2] = pairs[1];
    CHECK( gpu_test_check_pairs( pairs, count, BOXES, false ) == NULL ); // no order was asked for
    pairs[2] = kept;
    free( pairs );
    clv_gpu_destroy( gpu );
}

static void the_checker_sees_spoilt_bodies( void )
{
    static const clv_vec3 s_corners[5] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 1, 1, 1 } };
    const clv_gpu_hull hulls[2] = { { .vertices = s_corners, .vertex_count = 4 },
        { .vertices = s_corners, .vertex_count = 5 } };
    const uint32_t hull_of[3] = { 0, 1, 1 };
    clv_gpu* gpu = gpu_test_make( CLV_GPU_AUTO );
    CHECK_OK( clv_gpu_set_bodies( gpu, hulls, 2, hull_of, 3 ) );
    gpu_bodies* bodies = gpu_bodies_of( gpu );
    CHECK( clv_gpu_bodies_check( bodies ) == NULL );
    SPOIL( bodies->rows[4], 3, clv_gpu_bodies_check( bodies ),
        "a hull does not begin where the one before ends, or has no vertices" );
    SPOIL( bodies->hulls[2], 2, clv_gpu_bodies_check( bodies ), "a body has a hull that does not exist" );
    SPOIL( bodies->hulls[2], 0, clv_gpu_bodies_check( bodies ),
        "there are other vertices than those of the hulls and bodies" );
    SPOIL( bodies->on.poses.bytes, 64, clv_gpu_frame_check( gpu ),
        "a buffer of bodies has bytes without memory, or memory without bytes" );
    SPOIL( bodies->has_volumes, true, clv_gpu_frame_check( gpu ), "volumes are there without their bodies" );
    bodies->is_there = true;
    SPOIL( bodies->has_volumes, true, clv_gpu_frame_check( gpu ), "there are fewer volumes than bodies" );
    bodies->is_there = false;
    clv_gpu_destroy( gpu );
}

static void the_checker_sees_a_spoilt_schedule( void )
{
    const clv_pair pairs[4] = { { 0, 1 }, { 0, 2 }, { 2, 3 }, { 4, 5 } };
    const uint32_t reaches[6] = { 0, 1, 0, 0, 0, 1 };
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    gpu_schedule schedule = { 0 };
    const gpu_schedule_input input = { pairs, 4, reaches, 6, 2 };
    CHECK( clv_gpu_schedule_make( &schedule, &memory, &input ) );
    CHECK( clv_gpu_schedule_check( &schedule, &input ) == NULL );
    const char* number = "the levels do not have as many tasks as there are responses";
    SPOIL(
        schedule.tasks.count, schedule.tasks.count - 1, clv_gpu_schedule_check( &schedule, &input ), number );
    SPOIL( schedule.starts.items[0], 1, clv_gpu_schedule_check( &schedule, &input ), number );
    SPOIL( schedule.starts.items[1], 0, clv_gpu_schedule_check( &schedule, &input ), "a level has no task" );
    SPOIL( schedule.tasks.items[0], 10, clv_gpu_schedule_check( &schedule, &input ),
        "a level has a task of no pair and no body" );
    // The first level has pairs 0 and 3, of other bodies; pair 1 has body 0 too.
    SPOIL( schedule.tasks.items[1], 1, clv_gpu_schedule_check( &schedule, &input ),
        "a body has two responses in one level" );
    clv_gpu_schedule_free( &schedule, &memory );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( the_checker_sees_spoilt_buffers ),
        TEST_CASE( the_checker_sees_spoilt_lists ),
        TEST_CASE( the_checker_sees_spoilt_events ),
        TEST_CASE( the_checker_sees_spoilt_plans ),
        TEST_CASE( the_checker_sees_a_spoilt_rest ),
        TEST_CASE( the_checker_sees_spoilt_pairs ),
        TEST_CASE( the_checker_sees_spoilt_bodies ),
        TEST_CASE( the_checker_sees_a_spoilt_schedule ),
    };
    return gpu_test_is_skipped() ? 77 : test_run( "gpu_check", cases, TEST_COUNT( cases ), argc, argv );
}
