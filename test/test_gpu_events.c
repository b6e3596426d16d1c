// SPDX-License-Identifier: MIT
// Begun and ended pairs on a device, by every way, against two loops and against a space on the CPU; lists of
// them without room, and updates that fail in between.
#include "gpu_fixture.h"
#include "gpu_state.h"
#include "heap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    EVENT_COUNT = 700,
};

typedef struct event_judge
{
    clv_space* space; // with brute force
    clv_id ids[EVENT_COUNT];
    clv_pair* before;
    uint64_t before_count;
} event_judge;

static bool has_pair( const clv_pair* pairs, uint64_t count, clv_pair pair )
{
    uint64_t low = 0;
    while ( count > 0 ) // in order by a, then b
    {
        uint64_t half = count / 2;
        clv_pair middle = pairs[low + half];
        bool is_less = middle.a != pair.a ? middle.a < pair.a : middle.b < pair.b;
        low = is_less ? low + half + 1 : low;
        count = is_less ? count - half - 1 : half;
    }
    return pairs[low].a == pair.a && pairs[low].b == pair.b;
}

// What is in `pairs` and not in `others` is what was found; one place more is read of either.
static void check_subtracted( const clv_pair* pairs, uint64_t count, const clv_pair* others,
    uint64_t other_count, const clv_pair* found, uint64_t found_count )
{
    uint64_t at = 0;
    for ( uint64_t i = 0; i < count; ++i )
    {
        if ( !has_pair( others, other_count, pairs[i] ) )
        {
            CHECK( at < found_count && found[at].a == pairs[i].a && found[at].b == pairs[i].b );
            at += 1;
        }
    }
    CHECK_EQUAL( at, found_count );
}

static void check_ids(
    const clv_id_pair* expected, uint64_t expected_count, const clv_pair* found, uint64_t found_count )
{
    CHECK_EQUAL( expected_count, found_count );
    for ( uint64_t i = 0; i < found_count; ++i )
    {
        CHECK( expected[i].a.index == found[i].a && expected[i].b.index == found[i].b );
    }
}

// One more update, and its events are those of two loops, and of a space on the CPU.
static void check_events( clv_gpu* gpu, event_judge* judge, const clv_aabb* boxes, uint32_t count )
{
    static const clv_pair nowhere = { UINT32_MAX, UINT32_MAX };
    uint64_t now_count = 0;
    uint64_t begun_count = 0;
    uint64_t ended_count = 0;
    clv_pair* now = gpu_test_brute( boxes, count, &now_count );
    now = realloc( now, ( now_count + 1 ) * sizeof( clv_pair ) );
    now[now_count] = nowhere;
    CHECK_OK( clv_gpu_update( gpu, boxes, count ) );
    clv_pair* begun = gpu_test_begun( gpu, &begun_count );
    clv_pair* ended = gpu_test_ended( gpu, &ended_count );
    CHECK_EQUAL( clv_gpu_pair_count( gpu ), now_count );
    CHECK( clv_gpu_begun_buffer( gpu ) != NULL && clv_gpu_ended_buffer( gpu ) != NULL );
    check_subtracted( now, now_count, judge->before, judge->before_count, begun, begun_count );
    check_subtracted( judge->before, judge->before_count, now, now_count, ended, ended_count );
    if ( judge->space != NULL )
    {
        CHECK_OK( clv_space_move( judge->space, judge->ids, boxes, count ) );
        CHECK_OK( clv_space_update( judge->space ) );
        clv_event_view view = clv_space_events( judge->space );
        check_ids( view.begun, view.begun_count, begun, begun_count );
        check_ids( view.ended, view.ended_count, ended, ended_count );
    }
    free( begun );
    free( ended );
    free( judge->before );
    judge->before = now;
    judge->before_count = now_count;
}

static void open_judge( event_judge* judge, const clv_aabb* boxes, bool has_space )
{
    static const clv_pair nowhere = { UINT32_MAX, UINT32_MAX };
    *judge = ( event_judge ){ .before = malloc( sizeof( clv_pair ) ) };
    judge->before[0] = nowhere;
    if ( has_space )
    {
        clv_space_def def = clv_default_space_def();
        def.method = "brute";
        def.events = true;
        def.sorted = true;
        CHECK_OK( clv_space_create( &def, &judge->space ) );
        CHECK_OK( clv_space_add( judge->space, boxes, EVENT_COUNT, judge->ids ) );
    }
}

static void close_judge( event_judge* judge )
{
    clv_space_destroy( judge->space );
    free( judge->before );
}

static void step_boxes( clv_aabb* boxes, test_random* random )
{
    for ( int i = 0; i < EVENT_COUNT; ++i )
    {
        boxes[i] = test_crowd_step( TEST_CROWD_LATTICE, boxes[i], random );
    }
}

static clv_gpu* make_event_gpu( clv_gpu_way way, uint64_t capacity, heap* memory )
{
    clv_gpu_def def = clv_default_gpu_def();
    clv_gpu* gpu = NULL;
    def.way = way;
    def.events = true;
    def.event_capacity = capacity;
    def.pair_capacity = 5;
    def.allocator = memory != NULL ? heap_hooks( memory ) : def.allocator;
    CHECK_OK( clv_gpu_create( &def, &gpu ) );
    test_where.method = gpu_test_way_name( way );
    return gpu;
}

static void begun_and_ended_pairs_agree( void )
{
    static clv_aabb boxes[EVENT_COUNT];
    EACH_WAY( way )
    {
        event_judge judge;
        test_random random = test_random_make( 31 );
        clv_gpu* gpu = make_event_gpu( way, 4096, NULL );
        for ( int i = 0; i < EVENT_COUNT; ++i )
        {
            boxes[i] = test_crowd_box( TEST_CROWD_LATTICE, EVENT_COUNT, &random );
        }
        open_judge( &judge, boxes, true );
        CHECK_EQUAL( clv_gpu_begun_count( gpu ) + clv_gpu_ended_count( gpu ), 0 );
        for ( uint32_t frame = 0; frame < 4; ++frame )
        {
            test_where.frame = frame;
            check_events( gpu, &judge, boxes, EVENT_COUNT );
            step_boxes( boxes, &random );
        }
        check_events( gpu, &judge, boxes, EVENT_COUNT );
        check_events( gpu, &judge, boxes, EVENT_COUNT ); // nothing moved
        CHECK_EQUAL( clv_gpu_begun_count( gpu ) + clv_gpu_ended_count( gpu ), 0 );
        close_judge( &judge );
        clv_gpu_destroy( gpu );
    }
}

// Room for none, for one, for one too few, for all; fewer boxes, none, and all again.
static void events_without_room_are_found_again( void )
{
    static clv_aabb boxes[EVENT_COUNT];
    static const uint32_t s_counts[] = { EVENT_COUNT, EVENT_COUNT - 100, 1, 0, 400, EVENT_COUNT };
    test_random random = test_random_make( 33 );
    for ( int i = 0; i < EVENT_COUNT; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_LATTICE, EVENT_COUNT, &random );
    }
    uint64_t need = 0;
    free( gpu_test_brute( boxes, EVENT_COUNT, &need ) );
    const uint64_t rooms[] = { 0, 1, need - 1, need };
    for ( size_t k = 0; k < TEST_COUNT( rooms ); ++k )
    {
        event_judge judge;
        clv_gpu* gpu = make_event_gpu( CLV_GPU_TILES, rooms[k], NULL );
        open_judge( &judge, boxes, false );
        for ( size_t frame = 0; frame < TEST_COUNT( s_counts ); ++frame )
        {
            test_where.frame = (uint32_t)frame;
            check_events( gpu, &judge, boxes, s_counts[frame] );
            step_boxes( boxes, &random );
        }
        close_judge( &judge );
        clv_gpu_destroy( gpu );
    }
}

// What fails is no update: the next good one is compared with the last good one. And frames that were not
// waited for are no updates.
static void failed_updates_are_no_base_for_events( void )
{
    static clv_aabb boxes[EVENT_COUNT];
    event_judge judge;
    test_random random = test_random_make( 34 );
    clv_gpu* gpu = make_event_gpu( CLV_GPU_GRID, 16, NULL );
    for ( int i = 0; i < EVENT_COUNT; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_LATTICE, EVENT_COUNT, &random );
    }
    open_judge( &judge, boxes, false );
    check_events( gpu, &judge, boxes, EVENT_COUNT );
    clv_aabb kept = boxes[9];
    boxes[9].lower.x = NAN;
    CHECK_RESULT( clv_gpu_update( gpu, boxes, EVENT_COUNT ), CLV_BAD_BOX );
    CHECK_EQUAL( clv_gpu_begun_count( gpu ) + clv_gpu_ended_count( gpu ), 0 );
    CHECK( clv_gpu_begun_buffer( gpu ) == NULL );
    boxes[9] = kept;
    gpu->def.memory_most = 8; // the list comes in pieces
    step_boxes( boxes, &random );
    for ( int i = 0; i < EVENT_COUNT; ++i )
    {
        boxes[i] = test_cube( 0, 0, 0, 1 );
    }
    CHECK_RESULT( clv_gpu_update( gpu, boxes, EVENT_COUNT ), CLV_TOO_MANY_PAIRS );
    CHECK( strstr( clv_gpu_error( gpu ), "memory_most" ) != NULL );
    gpu->def.memory_most = 0;
    gpu->def.box_most = EVENT_COUNT / 2;
    CHECK_RESULT( clv_gpu_update( gpu, boxes, EVENT_COUNT ), CLV_TOO_MANY_PAIRS );
    CHECK( strstr( clv_gpu_error( gpu ), "blocks" ) != NULL );
    gpu->def.box_most = 0;
    for ( int i = 0; i < EVENT_COUNT; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_LATTICE, EVENT_COUNT, &random );
    }
    check_events( gpu, &judge, boxes, EVENT_COUNT );
    gpu_buffer buffer = { 0 };
    CHECK_OK( clv_gpu_reserve( gpu, &buffer, sizeof( boxes ) ) );
    CHECK_OK( clv_gpu_write( gpu, buffer.memory, 0, boxes, sizeof( boxes ), true ) );
    CHECK_OK( clv_gpu_enqueue( gpu, buffer.memory, EVENT_COUNT / 2 ) );
    CHECK_OK( clv_gpu_enqueue( gpu, buffer.memory, EVENT_COUNT ) );
    CHECK_OK( clv_gpu_wait( gpu ) );
    CHECK_EQUAL( clv_gpu_begun_count( gpu ) + clv_gpu_ended_count( gpu ), 0 );
    step_boxes( boxes, &random );
    check_events( gpu, &judge, boxes, EVENT_COUNT );
    CHECK_RESULT( clv_gpu_enqueue( gpu, buffer.memory, UINT32_MAX ), CLV_TOO_MANY_OBJECTS );
    CHECK_EQUAL( clv_gpu_begun_count( gpu ) + clv_gpu_ended_count( gpu ), 0 );
    step_boxes( boxes, &random );
    check_events( gpu, &judge, boxes, EVENT_COUNT );
    gpu->cl->clReleaseMemObject( buffer.memory );
    close_judge( &judge );
    clv_gpu_destroy( gpu );
}

// ---- memory that runs out

static uint32_t s_buffers_until, s_buffers_refused; // device buffers that are still made, and then are not
static const gpu_opencl* s_opencl;

static cl_mem CL_CALL refuse_buffer(
    cl_context context, cl_bitfield kind, size_t bytes, void* data, cl_int* error )
{
    if ( s_buffers_until > 0 || s_buffers_refused == 2 ) // with room to grow, and without
    {
        s_buffers_until -= s_buffers_until > 0 ? 1 : 0;
        return s_opencl->clCreateBuffer( context, kind, bytes, data, error );
    }
    s_buffers_refused += 1;
    *error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return NULL;
}

// A good update, one that runs out of memory at allocation number `at`, and a good one again, the events of
// which are against the first. False where an update does not allocate as often. `is_host`: the library's own
// memory, else buffers of the device.
static bool run_out( clv_gpu_way way, uint32_t at, bool is_host )
{
    static clv_aabb boxes[EVENT_COUNT];
    heap memory = { 0 };
    event_judge judge;
    test_random random = test_random_make( 36 + at );
    clv_gpu* gpu = make_event_gpu( way, 16, &memory );
    for ( int i = 0; i < EVENT_COUNT; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_LATTICE, EVENT_COUNT, &random );
    }
    open_judge( &judge, boxes, false );
    check_events( gpu, &judge, boxes, EVENT_COUNT / 4 );
    step_boxes( boxes, &random );
    check_events( gpu, &judge, boxes, EVENT_COUNT / 4 );
    step_boxes( boxes, &random );
    s_opencl = gpu->cl;
    gpu_opencl refusing = *gpu->cl;
    refusing.clCreateBuffer = refuse_buffer;
    s_buffers_until = at;
    s_buffers_refused = is_host ? 2 : 0;
    memory.refuse_from = is_host ? memory.allocate_count + at + 1 : 0;
    memory.refuse_count = 1;
    gpu->cl = &refusing;
    test_where.frame = at;
    clv_result result = clv_gpu_update( gpu, boxes, EVENT_COUNT ); // four times as many: everything grows
    gpu->cl = s_opencl;
    heap_heal( &memory );
    bool was_refused = memory.refused_count > 0 || s_buffers_refused == ( is_host ? 3 : 2 );
    CHECK_RESULT( result, was_refused ? CLV_OUT_OF_MEMORY : CLV_OK );
    if ( was_refused )
    {
        CHECK( clv_gpu_error( gpu )[0] != '\0' );
        CHECK( clv_gpu_pair_count( gpu ) == 0 && clv_gpu_pair_buffer( gpu ) == NULL );
        CHECK_EQUAL( clv_gpu_begun_count( gpu ) + clv_gpu_ended_count( gpu ), 0 );
        CHECK( clv_gpu_begun_buffer( gpu ) == NULL && clv_gpu_ended_buffer( gpu ) == NULL );
        s_buffers_until = at / 2; // and once more
        s_buffers_refused = 0;
        gpu->cl = &refusing;
        CHECK_RESULT( clv_gpu_update( gpu, boxes, EVENT_COUNT ), CLV_OUT_OF_MEMORY );
        gpu->cl = s_opencl;
        for ( uint32_t count = EVENT_COUNT; count > 0; count /= 8 )
        {
            check_events( gpu, &judge, boxes, count );
            step_boxes( boxes, &random );
        }
    }
    close_judge( &judge );
    clv_gpu_destroy( gpu );
    CHECK_EQUAL( memory.bytes, 0 );
    return was_refused;
}

static void events_go_on_after_memory_ran_out( void )
{
    EACH_WAY( way )
    {
        uint32_t refusals[2] = { 0, 0 };
        for ( int is_host = 0; is_host < 2; ++is_host )
        {
            while ( run_out( way, refusals[is_host], is_host == 1 ) )
            {
                refusals[is_host] += 1;
            }
        }
        CHECK( refusals[0] >= 4 ); // boxes, pairs, tables
        CHECK(
            refusals[1] >= ( way == CLV_GPU_GRID || way == CLV_GPU_LBVH ? 1 : 0 ) ); // a sample for the plan
    }
}

static bool count_pairs( const clv_pair* pairs, size_t count, void* user )
{
    (void)pairs;
    *(uint64_t*)user += count;
    return true;
}

static cl_int CL_CALL refuse_launch( cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
    const size_t* offset, const size_t* global, const size_t* local, cl_uint count, const cl_event* events,
    cl_event* event )
{
    (void)queue, (void)kernel, (void)dimensions, (void)offset, (void)global;
    (void)local, (void)count, (void)events, (void)event;
    return CL_OUT_OF_RESOURCES;
}

// An update whose list there was no memory to read was a good one all the same. What a device that failed had
// on it is lost.
static void events_go_on_after_reading_failed_but_not_after_the_device_did( void )
{
    static clv_aabb boxes[EVENT_COUNT];
    event_judge judge;
    test_random random = test_random_make( 35 );
    clv_gpu* gpu = make_event_gpu( CLV_GPU_GRID, 4096, NULL );
    for ( int i = 0; i < EVENT_COUNT; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_LATTICE, EVENT_COUNT, &random );
    }
    open_judge( &judge, boxes, false );
    check_events( gpu, &judge, boxes, EVENT_COUNT );
    s_opencl = gpu->cl;
    gpu_opencl refusing = *gpu->cl;
    refusing.clCreateBuffer = refuse_buffer;
    refusing.clEnqueueNDRangeKernel = refuse_launch;
    s_buffers_until = 0;
    s_buffers_refused = 0;
    clv_gpu_host_release( gpu, &gpu->download ); // of the events, which were read
    gpu->cl = &refusing;
    uint64_t count = 0;
    CHECK_RESULT( clv_gpu_read_pairs( gpu, count_pairs, &count ), CLV_OUT_OF_MEMORY );
    gpu->cl = s_opencl;
    step_boxes( boxes, &random );
    check_events( gpu, &judge, boxes, EVENT_COUNT );
    gpu->cl = &refusing;
    CHECK_RESULT( clv_gpu_update( gpu, boxes, EVENT_COUNT ), CLV_DEVICE_FAILED );
    CHECK_OK( clv_gpu_update( gpu, boxes, EVENT_COUNT ) ); // on a device opened again
    CHECK_EQUAL( clv_gpu_begun_count( gpu ), judge.before_count );
    CHECK_EQUAL( clv_gpu_ended_count( gpu ), 0 );
    step_boxes( boxes, &random );
    check_events( gpu, &judge, boxes, EVENT_COUNT );
    close_judge( &judge );
    clv_gpu_destroy( gpu );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( begun_and_ended_pairs_agree ),
        TEST_CASE( events_without_room_are_found_again ),
        TEST_CASE( failed_updates_are_no_base_for_events ),
        TEST_CASE( events_go_on_after_memory_ran_out ),
        TEST_CASE( events_go_on_after_reading_failed_but_not_after_the_device_did ),
    };
    return gpu_test_is_skipped() ? 77 : test_run( "gpu_events", cases, TEST_COUNT( cases ), argc, argv );
}
