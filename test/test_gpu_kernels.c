// SPDX-License-Identifier: MIT
// Each kernel alone against a loop on the host: sample, check, fill, scan of a grid's rows, sort, moments;
// and the plans, which are made on the host.
#include "gpu_fixture.h"
#include "gpu_grid_plan.h"
#include "gpu_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static clv_gpu* s_gpu;

static void put( gpu_buffer* buffer, const void* data, size_t size )
{
    CHECK_OK( clv_gpu_reserve( s_gpu, buffer, size ) );
    CHECK_OK( clv_gpu_write( s_gpu, buffer->memory, 0, data, size, true ) );
}

// ---- sort

// Keys and values of every kind of size: sorted by the bits asked for, equal keys in the order they had.
static void check_sort( uint32_t count, uint32_t mask, uint32_t first_bit, uint32_t end_bit )
{
    uint32_t* keys = test_alloc( count, sizeof( uint32_t ) );
    uint32_t* values = test_alloc( count, sizeof( uint32_t ) );
    uint32_t* sorted = test_alloc( count, sizeof( uint32_t ) );
    uint32_t* order = test_alloc( count, sizeof( uint32_t ) );
    uint8_t* seen = calloc( count + 1, 1 );
    test_random random = test_random_make( count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        keys[i] = (uint32_t)test_random_next( &random ) & mask;
        values[i] = i;
    }
    test_where.frame = count;
    CHECK_OK( clv_gpu_sort_reserve( s_gpu, count ) );
    put( &s_gpu->buffers.keys, keys, count * sizeof( uint32_t ) );
    put( &s_gpu->buffers.values, values, count * sizeof( uint32_t ) );
    CHECK_OK( clv_gpu_sort( s_gpu, count, first_bit, end_bit ) );
    CHECK_OK( clv_gpu_read( s_gpu, s_gpu->buffers.keys.memory, 0, sorted, count * sizeof( uint32_t ) ) );
    CHECK_OK( clv_gpu_read( s_gpu, s_gpu->buffers.values.memory, 0, order, count * sizeof( uint32_t ) ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        CHECK( order[i] < count && seen[order[i]] == 0 && sorted[i] == keys[order[i]] );
        seen[order[i]] = 1;
        uint32_t before = i > 0 ? sorted[i - 1] >> first_bit : 0;
        CHECK( before <= sorted[i] >> first_bit );
        CHECK( i == 0 || before < sorted[i] >> first_bit || order[i - 1] < order[i] );
    }
    free( keys );
    free( values );
    free( sorted );
    free( order );
    free( seen );
}

static void keys_are_sorted_and_equal_ones_keep_their_order( void )
{
    static const uint32_t s_counts[] = { 1, 2, 255, 256, 1023, 1024, 1025, 4096, 70000 };
    for ( size_t k = 0; k < TEST_COUNT( s_counts ); ++k )
    {
        check_sort( s_counts[k], UINT32_MAX, 0, 32 );
        check_sort( s_counts[k], 0x3FFFFFFF, 6, 30 );
    }
    check_sort( 5000, 7, 0, 32 );  // few keys
    check_sort( 70000, 0, 0, 32 ); // one key
}

static void float_keys_sort_like_floats( void )
{
    // The keys of sap_keys, by the sweep itself: boxes along a line, with both zeros, denormals and
    // infinities.
    static const float s_places[] = { 1, -1, 0.0f, -0.0f, 1e-45f, -1e-45f, INFINITY, -INFINITY, 3e38f, -3e38f,
        1e-38f };
    clv_aabb boxes[TEST_COUNT( s_places )];
    for ( size_t i = 0; i < TEST_COUNT( s_places ); ++i )
    {
        boxes[i] = test_box( s_places[i], 0, 0, s_places[i], 1, 1 );
    }
    uint32_t count = TEST_COUNT( s_places );
    uint32_t axis = 0;
    float none = 0;
    uint32_t next_slot = 1;
    uint32_t order[TEST_COUNT( s_places )];
    CHECK_OK( clv_gpu_sort_reserve( s_gpu, count ) );
    put( &s_gpu->buffers.boxes, boxes, sizeof( boxes ) );
    CHECK_OK( GPU_LAUNCH( s_gpu, GPU_KERNEL_sap_keys, count, s_gpu->buffers.boxes, count, axis, none, none,
        none, s_gpu->buffers.keys, s_gpu->buffers.values, s_gpu->buffers.slots, next_slot ) );
    CHECK_OK( clv_gpu_sort( s_gpu, count, 0, 32 ) );
    CHECK_OK( clv_gpu_read( s_gpu, s_gpu->buffers.values.memory, 0, order, sizeof( order ) ) );
    for ( uint32_t i = 1; i < count; ++i )
    {
        CHECK( s_places[order[i - 1]] <= s_places[order[i]] );
        CHECK(
            s_places[order[i - 1]] < s_places[order[i]] || order[i - 1] < order[i] ); // zeros are equal keys
    }
}

// ---- the scan of a grid

static void check_scan( uint32_t pitch, uint32_t rows, uint32_t most )
{
    uint32_t total = pitch * rows;
    uint32_t* counts = test_alloc( total, sizeof( uint32_t ) );
    uint32_t* starts = test_alloc( total, sizeof( uint32_t ) );
    uint32_t words[GPU_SLOTS * 16] = { 0 };
    words[3 * 16 + 9] = 1; // one box left its cell, so that there is something to add up
    test_random random = test_random_make( pitch );
    uint64_t sum = 0;
    uint64_t excess = 0;
    for ( uint32_t i = 0; i < total; ++i )
    {
        counts[i] = i % pitch == pitch - 1 ? 0 : test_random_below( &random, most );
        counts[i] = test_random_chance( &random, 60 ) ? 0 : counts[i];
        sum += counts[i];
        excess += (uint64_t)counts[i] * counts[i] - counts[i];
    }
    put( &s_gpu->buffers.counts, counts, total * sizeof( uint32_t ) );
    CHECK_OK( clv_gpu_reserve( s_gpu, &s_gpu->buffers.starts, total * sizeof( uint32_t ) ) );
    CHECK_OK( clv_gpu_write( s_gpu, s_gpu->buffers.slots.memory, 0, words, sizeof( words ), true ) );
    uint32_t rows_each = 2048 / pitch > 1 ? 2048 / pitch : 1;
    uint32_t stretch = rows_each * pitch;
    uint32_t slot = 3;
    uint32_t moved_most = 0;
    gpu_kernel_id kernel = stretch <= 2048 ? GPU_KERNEL_grid_scan : GPU_KERNEL_grid_scan_long;
    CHECK_OK( GPU_LAUNCH( s_gpu, kernel, (uint64_t)( rows + rows_each - 1 ) / rows_each * GPU_GROUP,
        s_gpu->buffers.counts, s_gpu->buffers.starts, total, stretch, s_gpu->buffers.slots, slot,
        moved_most ) );
    CHECK_OK( clv_gpu_read( s_gpu, s_gpu->buffers.starts.memory, 0, starts, total * sizeof( uint32_t ) ) );
    gpu_counters counters;
    gpu_frame frame = { .slot = slot };
    CHECK_OK( clv_gpu_read_counters( s_gpu, &frame, &counters ) );
    CHECK_EQUAL( counters.placed_count, sum );
    CHECK_EQUAL( counters.cell_squares, excess );
    // Rows are whole, follow their own cells, and together cover every place once.
    uint8_t* taken = calloc( sum + 1, 1 );
    for ( uint32_t i = 0; i < total; ++i )
    {
        CHECK( i % pitch == pitch - 1 || starts[i + 1] == starts[i] + counts[i] );
        for ( uint32_t k = 0; k < counts[i]; ++k )
        {
            CHECK( starts[i] + k < sum && taken[starts[i] + k] == 0 );
            taken[starts[i] + k] = 1;
        }
    }
    CHECK_OK( clv_gpu_read( s_gpu, s_gpu->buffers.counts.memory, 0, counts, total * sizeof( uint32_t ) ) );
    for ( uint32_t i = 0; i < total; ++i )
    {
        CHECK( counts[i] == 0 ); // for the next frame
    }
    free( counts );
    free( starts );
    free( taken );
}

static void rows_of_cells_are_added_up( void )
{
    check_scan( 8, 1, 5 );
    check_scan( 8, 1000, 3 );
    check_scan( 152, 333, 4 );
    check_scan( 1000, 7, 400 ); // with squares beyond a word's
    check_scan( 2048, 3, 3 );
    check_scan( 2056, 3, 3 ); // longer than a group
    check_scan( 9000, 2, 700 );
}

// ---- the others

static void samples_are_spread_evenly( void )
{
    enum
    {
        COUNT = 10000
    };
    static clv_aabb boxes[COUNT];
    gpu_sample sample;
    for ( int i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_cube( (float)i, 0, 0, 1 );
    }
    put( &s_gpu->buffers.boxes, boxes, sizeof( boxes ) );
    gpu_frame frame = { .boxes = s_gpu->buffers.boxes.memory, .count = COUNT };
    CHECK_OK( clv_gpu_sample_open( s_gpu, &frame, &sample ) );
    CHECK_EQUAL( sample.count, GPU_SAMPLE );
    for ( uint32_t i = 0; i < sample.count; ++i )
    {
        uint32_t from = (uint32_t)( (uint64_t)i * COUNT / GPU_SAMPLE );
        CHECK( memcmp( &sample.boxes[i], &boxes[from], sizeof( clv_aabb ) ) == 0 );
    }
    clv_gpu_sample_close( s_gpu, &sample );
    frame.count = 7;
    CHECK_OK( clv_gpu_sample_open( s_gpu, &frame, &sample ) );
    CHECK_EQUAL( sample.count, 7 );
    CHECK( memcmp( sample.boxes, boxes, 7 * sizeof( clv_aabb ) ) == 0 );
    clv_gpu_sample_close( s_gpu, &sample );
}

static void the_first_bad_box_is_found( void )
{
    enum
    {
        COUNT = 2000
    };
    static clv_aabb boxes[COUNT];
    for ( int i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_cube( (float)i, 0, 0, 1 );
    }
    boxes[1999].upper.z = NAN;
    boxes[777].lower.y = 100;
    boxes[1200].lower.x = NAN;
    CHECK_RESULT( clv_gpu_update( s_gpu, boxes, COUNT ), CLV_BAD_BOX );
    CHECK( strstr( clv_gpu_error( s_gpu ), "box 777 " ) != NULL );
}

// Far from the origin, where squares of floats would drown the spread.
static void the_principal_axis_is_found( void )
{
    enum
    {
        COUNT = 3000
    };
    static clv_aabb boxes[COUNT];
    for ( int axis = 0; axis < 3; ++axis )
    {
        test_random random = test_random_make( 5 );
        clv_gpu_def def = clv_default_gpu_def();
        clv_gpu* gpu = NULL;
        def.way = CLV_GPU_SAP;
        def.axis_by_pca = true;
        def.axis_frames = 1;
        CHECK_OK( clv_gpu_create( &def, &gpu ) );
        for ( int i = 0; i < COUNT; ++i )
        {
            float place[3];
            for ( int k = 0; k < 3; ++k )
            {
                float reach = k == axis ? 100.0f : 40.0f;
                place[k] = 3000 + test_random_between( &random, -reach, reach );
            }
            boxes[i] = test_cube( place[0], place[1], place[2], 0.5f );
        }
        boxes[0] = test_box( -INFINITY, 0, 0, INFINITY, 1, 1 ); // counts for nothing
        gpu_test_agree( gpu, boxes, COUNT, "principal axis" );
        gpu_test_agree( gpu, boxes, COUNT, "about the mean of last time" );
        CHECK_EQUAL( clv_gpu_get_stats( gpu ).axis, axis );
        CHECK( fabsf( gpu->sap.direction[axis] ) > 0.99f );
        gpu->def.axis_free = true;
        gpu_test_agree( gpu, boxes, COUNT, "along it" );
        CHECK_EQUAL( gpu->sap.sort_axis, AXIS_FREE );
        clv_gpu_destroy( gpu );
        uint32_t axes[3];
        clv_gpu_axes_by_sample( boxes, COUNT, axes );
        CHECK_EQUAL( axes[0], axis );
    }
    const double flat[10] = { 0, 0, 0, 1, 1, 4, 0.5, 0, 0, 1 };
    float direction[3];
    CHECK_EQUAL( clv_gpu_axis_by_moments( flat, direction ), 2 );
    const double none[10] = { 0 };
    CHECK( clv_gpu_axis_by_moments( none, direction ) < 3 );
}

// ---- plans

static void plans_stay_within_their_bounds( void )
{
    static clv_aabb boxes[2000];
    static float scratch[4000];
    for ( int crowd = 0; crowd < TEST_CROWD_COUNT; ++crowd )
    {
        test_random random = test_random_make( 9 );
        for ( int i = 0; i < 2000; ++i )
        {
            boxes[i] = test_crowd_box( (test_crowd)crowd, 2000, &random );
        }
        for ( uint32_t count = 2000; count <= 2000000000u; count *= 100 )
        {
            uint32_t rows = 0;
            gpu_grid_wish none = { .rests = 0 };
            bool keeps = false;
            gpu_grid_plan plan = clv_gpu_grid_plan_make( boxes, 2000, count, &none, scratch, &rows, &keeps );
            test_where.frame = (uint32_t)crowd;
            CHECK( plan.level_count >= 1 && plan.level_count <= GRID_LEVELS );
            CHECK( plan.pitch % 8 == 0 && rows >= 1 );
            CHECK( (uint64_t)rows * plan.pitch < UINT64_C( 1 ) << 29 ); // cells have 29 bits
            for ( uint32_t level = 0; level < plan.level_count; ++level )
            {
                const gpu_grid_level* l = &plan.levels[level];
                for ( int axis = 0; axis < 3; ++axis )
                {
                    CHECK(
                        isfinite( plan.origin[axis] ) && isfinite( l->scale[axis] ) && l->scale[axis] > 0 );
                }
                CHECK( (uint32_t)l->last[0] + 2 <= plan.pitch );
                CHECK( l->first_row + l->rows_y * ( (uint32_t)l->last[2] + 1 ) <= rows );
                CHECK( (uint32_t)l->last[1] + 1 == l->rows_y );
            }
        }
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( keys_are_sorted_and_equal_ones_keep_their_order ),
        TEST_CASE( float_keys_sort_like_floats ),
        TEST_CASE( rows_of_cells_are_added_up ),
        TEST_CASE( samples_are_spread_evenly ),
        TEST_CASE( the_first_bad_box_is_found ),
        TEST_CASE( the_principal_axis_is_found ),
        TEST_CASE( plans_stay_within_their_bounds ),
    };
    if ( gpu_test_is_skipped() )
    {
        return 77;
    }
    s_gpu = gpu_test_make( CLV_GPU_AUTO );
    int status = test_run( "gpu_kernels", cases, TEST_COUNT( cases ), argc, argv );
    clv_gpu_destroy( s_gpu );
    return status;
}
