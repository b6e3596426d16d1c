// SPDX-License-Identifier: MIT
// Every way to search on a device against two loops, on whatever OpenCL is here (PoCL on most machines):
// sizes about those of groups and blocks, worlds that are hard for one of the ways, and frames that follow
// each other.
#include "gpu_fixture.h"
#include "gpu_state.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    TILES_MOST = 2600
};

static clv_gpu* s_gpus[CLV_GPU_LBVH + 3]; // one of each way, and two more

// One for all cases: compiling takes longer than everything else.
static clv_gpu* gpu_of( clv_gpu_way way )
{
    if ( s_gpus[way] == NULL )
    {
        s_gpus[way] = gpu_test_make( way );
    }
    test_where.method = gpu_test_way_name( way );
    return s_gpus[way];
}

// The grid that keeps its order, which it would not of so few.
static clv_gpu* kept_grid( void )
{
    static clv_gpu* s_kept;
    if ( s_kept == NULL )
    {
        s_kept = gpu_test_make( CLV_GPU_GRID );
        s_kept->grid_wish.keeps = 1;
        s_gpus[CLV_GPU_LBVH + 1] = s_kept;
    }
    s_kept->grid.anew_count = 0; // every world is new to it: it would give up
    test_where.method = "kept grid";
    return s_kept;
}

// Sorted along the principal axis, whatever its direction, chosen anew in every update.
static clv_gpu* free_sap( void )
{
    static clv_gpu* s_free;
    if ( s_free == NULL )
    {
        s_free = gpu_test_make( CLV_GPU_SAP );
        s_free->def.axis_by_pca = true;
        s_free->def.axis_free = true;
        s_free->def.axis_frames = 1;
        s_gpus[CLV_GPU_LBVH + 2] = s_free;
    }
    test_where.method = "free sap";
    return s_free;
}

static void agree_everywhere( const clv_aabb* boxes, uint32_t count, const char* note )
{
    uint64_t expected_count = 0;
    clv_pair* expected = gpu_test_brute( boxes, count, &expected_count );
    EACH_WAY( way )
    {
        // Every pair of many takes seconds on a CPU's OpenCL, and has nothing new.
        if ( way != CLV_GPU_TILES || count < TILES_MOST )
        {
            gpu_test_expect( gpu_of( way ), boxes, count, expected, expected_count, note );
        }
    }
    gpu_test_expect( kept_grid(), boxes, count, expected, expected_count, note );
    if ( count < TILES_MOST )
    {
        gpu_test_expect( free_sap(), boxes, count, expected, expected_count, note );
    }
    free( expected );
}

// ---- sizes

static void random_boxes_of_every_size_agree( void )
{
    static const uint32_t s_sizes[] = { 0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 1023, 1025, 4097 };
    for ( size_t k = 0; k < TEST_COUNT( s_sizes ); ++k )
    {
        uint32_t count = s_sizes[k];
        test_random random = test_random_make( 17 + k );
        clv_aabb* boxes = malloc( ( count + 1 ) * sizeof( clv_aabb ) );
        for ( uint32_t i = 0; i < count; ++i )
        {
            boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, count, &random );
        }
        agree_everywhere( boxes, count, "spread" );
        free( boxes );
    }
}

static void crowds_of_every_kind_agree( void )
{
    enum
    {
        COUNT = 1500
    };
    static clv_aabb boxes[COUNT];
    for ( int crowd = 0; crowd < TEST_CROWD_COUNT; ++crowd )
    {
        char note[32];
        test_random random = test_random_make( 100 + (uint64_t)crowd );
        snprintf( note, sizeof( note ), "crowd %d", crowd );
        for ( uint32_t i = 0; i < COUNT; ++i )
        {
            boxes[i] = test_crowd_box( (test_crowd)crowd, COUNT, &random );
        }
        agree_everywhere( boxes, COUNT, note );
    }
}

static void twenty_thousand_agree( void )
{
    enum
    {
        COUNT = 20000
    };
    clv_aabb* boxes = malloc( COUNT * sizeof( clv_aabb ) );
    test_random random = test_random_make( 3 );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, COUNT, &random );
    }
    agree_everywhere( boxes, COUNT, "20k" );
    // Some that look ahead past all others, on every axis.
    boxes[7] = test_box( -1e6f, -1e6f, -1e6f, 1e6f, 1e6f, 1e6f );
    boxes[8] = test_box( 0, -1e6f, 0, 1e6f, 1e6f, 1e6f );
    agree_everywhere( boxes, COUNT, "20k with two around all" );
    free( boxes );
}

// ---- little worlds

static void touching_is_a_pair_and_one_ulp_apart_is_none( void )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        clv_aabb boxes[2] = { test_box( 0, 0, 0, 1, 1, 1 ), test_box( 0, 0, 0, 1, 1, 1 ) };
        float* lower = &boxes[1].lower.x + axis;
        float* upper = &boxes[1].upper.x + axis;
        *lower = 1;
        *upper = 2;
        EACH_WAY( way )
        {
            CHECK_OK( clv_gpu_update( gpu_of( way ), boxes, 2 ) );
            CHECK_EQUAL( clv_gpu_pair_count( gpu_of( way ) ), 1 );
        }
        *lower = nextafterf( 1, 2 );
        EACH_WAY( way )
        {
            CHECK_OK( clv_gpu_update( gpu_of( way ), boxes, 2 ) );
            CHECK_EQUAL( clv_gpu_pair_count( gpu_of( way ) ), 0 );
        }
    }
}

// A place on a lattice where neighbours touch, at the scale and sign of a world.
static void touching_lattices_agree( void )
{
    enum
    {
        SIDE = 9,
        COUNT = SIDE * SIDE * SIDE
    };
    static clv_aabb boxes[COUNT];
    static const float s_scales[] = { 1, -0.1f, 1e-30f, 3e6f };
    for ( size_t k = 0; k < TEST_COUNT( s_scales ); ++k )
    {
        float s = s_scales[k];
        for ( int i = 0; i < COUNT; ++i )
        {
            float x = s * (float)( i % SIDE );
            float y = s * (float)( i / SIDE % SIDE );
            float z = s * (float)( i / SIDE / SIDE );
            float side = fabsf( s );
            boxes[i] = test_box( x, y, z, x + side, y + side, z + side );
        }
        agree_everywhere( boxes, COUNT, "lattice" );
    }
}

static void minus_zero_is_zero( void )
{
    enum
    {
        COUNT = 300
    };
    static clv_aabb boxes[COUNT];
    for ( int i = 0; i < COUNT; ++i )
    {
        float zero = i % 2 == 0 ? 0.0f : -0.0f;
        boxes[i] = i % 3 == 0 ? test_box( zero, zero, (float)i, 1, 1, (float)i + 1.5f )
                              : test_box( -1, -1, (float)i, zero, zero, (float)i + 1.5f );
    }
    agree_everywhere( boxes, COUNT, "-0" );
}

static void boxes_of_all_equal_keys_agree( void )
{
    enum
    {
        COUNT = 3000
    };
    static clv_aabb boxes[COUNT];
    for ( int i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_box( 5, (float)( 3 * i ), 5, 6, (float)( 3 * i + 1 ), 6 ); // equal on two axes
    }
    agree_everywhere( boxes, COUNT, "equal keys" );
    for ( int i = 0; i < 400; ++i )
    {
        boxes[i] = test_box( 5, 5, 5, 6, 6, 6 );
    }
    agree_everywhere( boxes, 400, "identical" );
    for ( int i = 0; i < COUNT; ++i )
    {
        boxes[i] =
            test_box( (float)( i % 50 ), (float)( i / 50 ), 0, (float)( i % 50 ), (float)( i / 50 ), 0 );
    }
    agree_everywhere( boxes, COUNT, "points" );
}

static void outliers_and_giants_agree( void )
{
    enum
    {
        COUNT = 1300
    };
    static clv_aabb boxes[COUNT];
    test_random random = test_random_make( 5 );
    for ( int i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, COUNT, &random );
    }
    boxes[3] = test_cube( 1e9f, -1e9f, 1e9f, 1 );
    agree_everywhere( boxes, COUNT, "an outlier at 1e9" );
    boxes[1000] = test_box( -1e6f, -1e6f, -1e6f, 1e6f, 1e6f, 1e6f );
    agree_everywhere( boxes, COUNT, "one around all" );
    float inf = INFINITY;
    boxes[0] = test_box( -inf, -inf, -inf, inf, inf, inf );
    boxes[COUNT - 1] = test_box( -inf, -inf, 0, inf, inf, 0 );
    boxes[500] = test_box( inf, inf, inf, inf, inf, inf );
    boxes[501] = test_box( -FLT_MAX, -FLT_MAX, -FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX );
    agree_everywhere( boxes, COUNT, "infinite ones" );
    for ( int i = 0; i < COUNT; i += 2 )
    {
        boxes[i].lower.x = -inf;
        boxes[i].upper.x = inf;
    }
    agree_everywhere( boxes, COUNT, "half of them endless lines" );
}

static void sizes_over_many_decades_agree( void )
{
    enum
    {
        COUNT = 2500
    };
    static clv_aabb boxes[COUNT];
    test_random random = test_random_make( 6 );
    for ( int i = 0; i < COUNT; ++i )
    {
        float half = ldexpf( 0.01f, (int)test_random_below( &random, 21 ) );
        half = test_random_chance( &random, 95 ) ? 0.05f : half;
        boxes[i] = test_cube( test_random_between( &random, 0, 40 ), test_random_between( &random, 0, 40 ),
            test_random_between( &random, 0, 40 ), half );
    }
    agree_everywhere( boxes, COUNT, "sizes over 2^20" );
    for ( int i = 0; i < COUNT; ++i )
    {
        float x = test_random_between( &random, 0, 40 );
        float y = test_random_between( &random, 0, 40 );
        float z = test_random_between( &random, 0, 40 );
        float lengths[3] = { 0.02f, 0.02f, 0.02f };
        lengths[i % 3] = 15;
        boxes[i] = test_box( x, y, z, x + lengths[0], y + lengths[1], z + lengths[2] );
    }
    agree_everywhere( boxes, COUNT, "needles" );
}

// ---- frames

static void frames_that_follow_each_other_agree( void )
{
    enum
    {
        COUNT = 5000
    };
    static clv_aabb boxes[COUNT];
    EACH_WAY( way )
    {
        test_random random = test_random_make( 11 );
        for ( int i = 0; i < COUNT; ++i )
        {
            boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, COUNT, &random );
        }
        for ( uint32_t frame = 0; frame < 6; ++frame )
        {
            uint32_t most = way == CLV_GPU_TILES ? 600 : COUNT;
            uint32_t count = frame == 3 ? most / 5 : frame == 4 ? most - 1 : most;
            gpu_test_agree( gpu_of( way ), boxes, count, "moving" );
            for ( int i = 0; i < COUNT; ++i )
            {
                boxes[i] = test_crowd_step( TEST_CROWD_SPREAD, boxes[i], &random );
                if ( frame ==
                    1 ) // all into one corner: what was planned for the old world is bad for this one
                {
                    boxes[i] =
                        test_cube( boxes[i].lower.x * 0.02f, boxes[i].lower.y, boxes[i].lower.z, 0.2f );
                }
            }
        }
    }
}

enum
{
    KEPT_COUNT = 3000
};

// Cubes with room about them, and where `is_mixed` some of other sizes, one of which fits no level.
static void make_kept_world( clv_aabb boxes[KEPT_COUNT], bool is_mixed )
{
    test_random random = test_random_make( 21 );
    for ( int i = 0; i < KEPT_COUNT; ++i )
    {
        float half = is_mixed && i % 20 == 0 ? 0.5f * (float)( 1 + i % 7 ) : 0.5f;
        half = is_mixed && i == 777 ? 60 : half;
        boxes[i] = test_cube( test_random_between( &random, 0, 42 ), test_random_between( &random, 0, 42 ),
            test_random_between( &random, 0, 42 ), half );
    }
}

static void shift_box( clv_aabb* box, float x, float y, float z )
{
    *box = test_box( box->lower.x + x, box->lower.y + y, box->lower.z + z, box->upper.x + x, box->upper.y + y,
        box->upper.z + z );
}

// Boxes that stay near keep the order; few that leave ask about, and each other; many make it anew.
static void check_kept_order( clv_gpu* gpu, bool is_mixed )
{
    static clv_aabb boxes[KEPT_COUNT];
    make_kept_world( boxes, is_mixed );
    test_random random = test_random_make( 22 );
    for ( int frame = 0; frame < 9; ++frame )
    {
        gpu_test_agree( gpu, boxes, KEPT_COUNT, is_mixed ? "kept, mixed" : "kept" );
        uint64_t expected = frame < 8 ? 1 : 2;
        CHECK_EQUAL( clv_gpu_get_stats( gpu ).order_count, expected );
        bool has_movers = frame >= 4 && frame < 8;
        CHECK( has_movers ? gpu->counters.moved_count >= 30 && gpu->counters.moved_count <= 64
                          : gpu->counters.moved_count == 0 || frame == 0 || frame == 8 );
        for ( int i = 0; i < KEPT_COUNT; ++i )
        {
            shift_box( &boxes[i], test_random_between( &random, -0.02f, 0.02f ),
                test_random_between( &random, -0.02f, 0.02f ),
                test_random_between( &random, -0.02f, 0.02f ) );
        }
        for ( int i = 0; i < 40 && frame == 3;
              ++i ) // to one corner of the crowd, among others, and out of it
        {
            int mover = 100 + 71 * i;
            float far_off = i % 4 == 0 ? -500.0f : 0.0f;
            boxes[mover] = test_cube( 10 + 0.1f * (float)i + far_off, 12, 11, 0.5f );
        }
        for ( int i = 0; i < 300 && frame == 7; ++i )
        {
            shift_box( &boxes[10 * i], 9, -7, 5 );
        }
    }
}

static void an_order_is_kept_while_boxes_stay_near( void )
{
    for ( int mixed = 0; mixed < 2; ++mixed )
    {
        for ( int piecewise = 0; piecewise < 2; ++piecewise )
        {
            clv_gpu_def def = clv_default_gpu_def();
            clv_gpu* gpu = NULL;
            def.way = CLV_GPU_GRID;
            def.pair_capacity = 8; // the first list is cut: its search must find the records where they are
            def.memory_most = piecewise ? 8 * 900 : 0;
            CHECK_OK( clv_gpu_create( &def, &gpu ) );
            gpu->grid_wish.keeps = 1; // of so few it would not
            gpu->grid_wish.relay_items = 1024;
            test_where.method = "grid";
            check_kept_order( gpu, mixed != 0 );
            clv_gpu_destroy( gpu );
        }
    }
}

// Where all boxes are elsewhere in every frame, order is no longer kept, until it is tried again.
static void an_order_that_never_lasts_is_given_up( void )
{
    enum
    {
        COUNT = 600
    };
    static clv_aabb boxes[COUNT];
    clv_gpu* gpu = gpu_test_make( CLV_GPU_GRID );
    test_random random = test_random_make( 23 );
    gpu->grid_wish.keeps = 1;
    for ( int frame = 0; frame < 10; ++frame )
    {
        for ( int i = 0; i < COUNT; ++i )
        {
            boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, COUNT, &random );
        }
        gpu_test_agree( gpu, boxes, COUNT, "elsewhere" );
        CHECK( frame < 4 ? gpu->grid.keeps : frame < 6 || !gpu->grid.keeps );
    }
    gpu->stats.update_count += 1000; // long after
    gpu_test_agree( gpu, boxes, COUNT, "calm" );
    CHECK( gpu->grid.keeps );
    gpu_test_agree( gpu, boxes, COUNT, "calm" );
    CHECK_EQUAL( gpu->counters.moved_count, 0 );
    clv_gpu_destroy( gpu );
}

// More frames than there are slots of counters, without waiting in between: the last list is whole.
static void many_frames_without_waiting_agree( void )
{
    enum
    {
        COUNT = 300
    };
    static clv_aabb boxes[COUNT];
    test_random random = test_random_make( 12 );
    for ( int i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_LATTICE, COUNT, &random );
    }
    uint64_t expected_count = 0;
    clv_pair* expected = gpu_test_brute( boxes, COUNT, &expected_count );
    EACH_WAY( way )
    {
        clv_gpu_def def = clv_default_gpu_def();
        clv_gpu* gpu = NULL;
        def.way = way;
        def.pair_capacity = expected_count / 2; // the list is cut in every frame, and made whole by the wait
        CHECK_OK( clv_gpu_create( &def, &gpu ) );
        gpu_buffer buffer = { 0 };
        CHECK_OK( clv_gpu_reserve( gpu, &buffer, sizeof( boxes ) ) );
        CHECK_OK( clv_gpu_write( gpu, buffer.memory, 0, boxes, sizeof( boxes ), true ) );
        for ( int frame = 0; frame < GPU_SLOTS + 3; ++frame )
        {
            CHECK_OK( clv_gpu_enqueue( gpu, buffer.memory, COUNT ) );
        }
        CHECK_OK( clv_gpu_wait( gpu ) );
        CHECK_OK( clv_gpu_wait( gpu ) ); // nothing to wait for
        uint64_t found_count = 0;
        clv_pair* found = gpu_test_pairs( gpu, &found_count );
        CHECK_EQUAL( found_count, expected_count );
        CHECK( memcmp( found, expected, found_count * sizeof( clv_pair ) ) == 0 );
        CHECK( clv_gpu_pair_buffer( gpu ) != NULL );
        free( found );
        gpu->cl->clReleaseMemObject( buffer.memory );
        clv_gpu_destroy( gpu );
    }
    free( expected );
}

// ---- bad boxes

static void bad_boxes_are_named( void )
{
    clv_aabb boxes[3] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ), test_cube( 2, 0, 0, 1 ) };
    clv_gpu_def def = clv_default_gpu_def();
    clv_gpu* gpu = NULL;
    CHECK_OK( clv_gpu_create( &def, &gpu ) );
    boxes[1].lower.y = NAN;
    CHECK_RESULT( clv_gpu_update( gpu, boxes, 3 ), CLV_BAD_BOX );
    CHECK( strstr( clv_gpu_error( gpu ), "box 1" ) != NULL );
    CHECK_EQUAL( clv_gpu_pair_count( gpu ), 0 );
    boxes[1] = test_cube( 1, 0, 0, 1 );
    boxes[2].lower.x = 100;
    CHECK_RESULT( clv_gpu_update( gpu, boxes, 3 ), CLV_BAD_BOX );
    boxes[2].lower.x = 1;
    CHECK_OK( clv_gpu_update( gpu, boxes, 3 ) );
    CHECK_TEXT( clv_gpu_error( gpu ), "" );
    CHECK_EQUAL( clv_gpu_pair_count( gpu ), 3 );
    clv_gpu_destroy( gpu );
}

// Refused before anything was searched: no list is left, and the counters that the next update takes are
// clear, though the slots have come round.
static void too_many_boxes_are_refused( void )
{
    enum
    {
        COUNT = 40,
        TOO_MANY_FOR_TILES = 8000000
    };
    static clv_aabb boxes[COUNT];
    test_random random = test_random_make( 17 );
    for ( int i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_LATTICE, COUNT, &random );
    }
    clv_gpu* gpu = gpu_test_make( CLV_GPU_TILES );
    gpu->def.box_most = CLV_MAX_OBJECTS; // all at once
    gpu_buffer buffer = { 0 };
    CHECK_OK( clv_gpu_reserve( gpu, &buffer, sizeof( boxes ) ) );
    CHECK_OK( clv_gpu_write( gpu, buffer.memory, 0, boxes, sizeof( boxes ), true ) );
    for ( int frame = 0; frame < GPU_SLOTS + 3; ++frame )
    {
        CHECK_OK( clv_gpu_update_buffer( gpu, buffer.memory, COUNT ) );
    }
    CHECK( clv_gpu_pair_count( gpu ) > 0 );
    CHECK_RESULT( clv_gpu_update_buffer( gpu, buffer.memory, TOO_MANY_FOR_TILES ), CLV_TOO_MANY_OBJECTS );
    CHECK_EQUAL( clv_gpu_pair_count( gpu ), 0 );
    gpu_test_agree( gpu, boxes, COUNT, "after too many for tiles" );
    CHECK_RESULT( clv_gpu_update_buffer( gpu, buffer.memory, CLV_MAX_OBJECTS + 1 ), CLV_TOO_MANY_OBJECTS );
    CHECK_EQUAL( clv_gpu_pair_count( gpu ), 0 );
    gpu_test_agree( gpu, boxes, COUNT, "after too many" );
    CHECK_RESULT( clv_gpu_update( gpu, boxes, CLV_MAX_OBJECTS + 1 ), CLV_TOO_MANY_OBJECTS );
    CHECK_EQUAL( clv_gpu_pair_count( gpu ), 0 );
    gpu_test_agree( gpu, boxes, COUNT, "after too many of the host's" );
    clv_gpu_release( gpu, &buffer );
    clv_gpu_destroy( gpu );
}

// ---- small worlds through every kernel, for a device that is watched (scripts/check.sh oclgrind)

enum
{
    SMALL_COUNT = 290, // a group and a part of one
};

// Many small cubes, some large ones, one around all, and `moved` of them elsewhere than before.
static void make_small_world( clv_aabb boxes[SMALL_COUNT], uint32_t moved )
{
    test_random random = test_random_make( 41 );
    for ( uint32_t i = 0; i < SMALL_COUNT; ++i )
    {
        float half = i % 16 == 0 ? 2.0f : 0.5f;
        float far_off = i % 3 == 1 && i / 3 < moved ? 7.0f : 0.0f;
        boxes[i] = test_cube( test_random_between( &random, 0, 14 ) + far_off,
            test_random_between( &random, 0, 14 ), test_random_between( &random, 0, 14 ), half );
    }
    boxes[SMALL_COUNT - 1] = test_box( -40, -40, -40, 60, 60, 60 );
}

static clv_gpu* make_small( clv_gpu_way way, bool has_events )
{
    clv_gpu_def def = clv_default_gpu_def();
    clv_gpu* gpu = NULL;
    def.way = way;
    def.pair_capacity = has_events ? 64 : 4096;
    def.events = has_events;
    def.event_capacity = 16;
    def.axis_by_pca = has_events;
    def.axis_free = has_events;
    def.count_tests = true;
    CHECK_OK( clv_gpu_create( &def, &gpu ) );
    test_where.method = gpu_test_way_name( way );
    return gpu;
}

static void small_worlds_agree( void )
{
    static clv_aabb boxes[SMALL_COUNT];
    for ( clv_gpu_way way = CLV_GPU_TILES; way <= CLV_GPU_LBVH; way = (clv_gpu_way)( way + 1 ) )
    {
        clv_gpu* gpu = make_small( way, way == CLV_GPU_SAP );
        make_small_world( boxes, 0 );
        gpu_test_agree( gpu, boxes, SMALL_COUNT, "small" );
        clv_gpu_destroy( gpu );
    }
}

static void small_worlds_keep_their_order( void )
{
    static const uint32_t s_moved[] = { 0, 20, 90 };
    static clv_aabb boxes[SMALL_COUNT];
    clv_gpu* gpu = make_small( CLV_GPU_GRID, false );
    gpu->grid_wish.keeps = 1;
    for ( size_t k = 0; k < TEST_COUNT( s_moved ); ++k )
    {
        make_small_world( boxes, s_moved[k] );
        gpu_test_agree( gpu, boxes, SMALL_COUNT, "small, kept" );
    }
    clv_gpu_destroy( gpu );
}

// Rows longer than a group adds up at once, and boxes that look far ahead.
static void small_worlds_of_long_rows_agree( void )
{
    static clv_aabb boxes[SMALL_COUNT];
    for ( int i = 0; i < SMALL_COUNT; ++i )
    {
        boxes[i] = test_box( 30 * (float)i, 0, 0, 30 * (float)i + 1 + (float)( i % 40 ), 1, 1 );
    }
    for ( clv_gpu_way way = CLV_GPU_GRID; way <= CLV_GPU_SAP; way = (clv_gpu_way)( way + 1 ) )
    {
        clv_gpu* gpu = make_small( way, false );
        gpu_test_agree( gpu, boxes, SMALL_COUNT, "small, a line" );
        clv_gpu_destroy( gpu );
    }
}

static void memory_of_the_devices_choice_serves_too( void )
{
    clv_gpu* gpu = gpu_of( CLV_GPU_GRID );
    clv_aabb* boxes = clv_gpu_host_take( gpu, 1000 * sizeof( clv_aabb ) );
    CHECK( boxes != NULL );
    test_random random = test_random_make( 13 );
    for ( int i = 0; i < 1000; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, 1000, &random );
    }
    gpu_test_agree( gpu, boxes, 1000, "pinned" );
    clv_gpu_host_give( gpu, boxes );
    clv_gpu_host_give( gpu, NULL );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( random_boxes_of_every_size_agree ),
        TEST_CASE( crowds_of_every_kind_agree ),
        TEST_CASE( twenty_thousand_agree ),
        TEST_CASE( touching_is_a_pair_and_one_ulp_apart_is_none ),
        TEST_CASE( touching_lattices_agree ),
        TEST_CASE( minus_zero_is_zero ),
        TEST_CASE( boxes_of_all_equal_keys_agree ),
        TEST_CASE( outliers_and_giants_agree ),
        TEST_CASE( sizes_over_many_decades_agree ),
        TEST_CASE( frames_that_follow_each_other_agree ),
        TEST_CASE( an_order_is_kept_while_boxes_stay_near ),
        TEST_CASE( an_order_that_never_lasts_is_given_up ),
        TEST_CASE( many_frames_without_waiting_agree ),
        TEST_CASE( bad_boxes_are_named ),
        TEST_CASE( too_many_boxes_are_refused ),
        TEST_CASE( small_worlds_agree ),
        TEST_CASE( small_worlds_keep_their_order ),
        TEST_CASE( small_worlds_of_long_rows_agree ),
        TEST_CASE( memory_of_the_devices_choice_serves_too ),
    };
    if ( gpu_test_is_skipped() )
    {
        return 77;
    }
    int status = test_run( "gpu", cases, TEST_COUNT( cases ), argc, argv );
    for ( size_t way = 0; way < TEST_COUNT( s_gpus ); ++way )
    {
        clv_gpu_destroy( s_gpus[way] );
    }
    return status;
}
