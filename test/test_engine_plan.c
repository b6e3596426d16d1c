// SPDX-License-Identifier: MIT
// The default engine's choices, each alone: what a sample says of a crowd, which grid follows from it, how
// space is cut into blocks.
#include "engine/block.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    BOXES = 4000
};

static clv_aabb s_boxes[BOXES];

static void fill_crowd( test_crowd crowd, uint32_t count, uint64_t seed )
{
    test_random random = test_random_make( seed );
    test_where.seed = seed;
    for ( uint32_t i = 0; i < count; ++i )
    {
        s_boxes[i] = test_crowd_box( crowd, count, &random );
    }
}

static const float s_everywhere_low[3] = { -1e30f, -1e30f, -1e30f };
static const float s_everywhere_high[3] = { 1e30f, 1e30f, 1e30f };

static cell_extent measure( uint32_t count )
{
    return clv_engine_cell_measure( s_boxes, count, s_everywhere_low, s_everywhere_high );
}

// A block of 10 x 10 x 10 cubes of 0.5, 1 apart, in a mixed order.
static void fill_even( void )
{
    for ( uint32_t i = 0; i < 1000; ++i )
    {
        uint32_t k = i * 37 % 1000;
        s_boxes[i] = test_cube( (float)( k % 10 ), (float)( k / 10 % 10 ), (float)( k / 100 ), 0.25f );
    }
}

// ---- measuring

static void an_even_crowd_is_measured_as_it_is( void )
{
    fill_even();
    cell_extent extent = measure( CELL_SAMPLES );
    for ( int axis = 0; axis < 3; ++axis )
    {
        CHECK( extent.low[axis] == -0.25f && extent.high[axis] == 9.25f );
        CHECK( fabsf( extent.size[axis] - 0.5f ) < 1e-5f );
        CHECK( extent.share[axis][0] == 1 );
        for ( uint32_t level = 1; level < 4; ++level ) // about half as many meet with twice the cells
        {
            float even = 1.0f / (float)( 1u << level );
            CHECK( extent.share[axis][level] > 0.8f * even && extent.share[axis][level] < 1.4f * even );
        }
        CHECK( extent.joint[axis] < 1.3f );
    }
}

static void shares_fall_with_every_level( void )
{
    for ( int crowd = 0; crowd < TEST_CROWD_COUNT; ++crowd )
    {
        fill_crowd( (test_crowd)crowd, CELL_SAMPLES, 1 );
        cell_extent extent = measure( CELL_SAMPLES );
        for ( int axis = 0; axis < 3; ++axis )
        {
            CHECK( extent.low[axis] <= extent.high[axis] );
            CHECK( extent.joint[axis] >= 1 );
            for ( uint32_t level = 1; level < CELL_LEVELS; ++level )
            {
                CHECK( extent.share[axis][level] <= extent.share[axis][level - 1] );
                CHECK( extent.share[axis][level] >= 1.0f / (float)( 1u << level ) );
            }
        }
    }
}

static void a_diagonal_is_seen_by_two_axes_together( void )
{
    for ( uint32_t i = 0; i < CELL_SAMPLES; ++i )
    {
        float at = (float)( i * 37 % CELL_SAMPLES );
        s_boxes[i] = test_cube( at, at, (float)( i * 101 % CELL_SAMPLES ), 0.25f );
    }
    cell_extent extent = measure( CELL_SAMPLES );
    CHECK( extent.joint[2] > 3 ); // x and y: as often as in 4 cells, not 16
    CHECK( extent.joint[0] < 1.6f && extent.joint[1] < 1.6f );
}

static void outliers_and_infinities_do_not_affect_the_region( void )
{
    fill_even();
    s_boxes[17] = test_cube( 1e9f, -1e9f, 1e20f, 1 );
    s_boxes[400] = test_box( -INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY );
    s_boxes[401] = test_box( -INFINITY, 1, 1, 2, 2, INFINITY );
    clv_method_input input = { .boxes = s_boxes, .live_count = 1000 };
    cell_extent extent = clv_engine_block_measure( &input );
    for ( int axis = 0; axis < 3; ++axis )
    {
        CHECK( extent.low[axis] > -10 && extent.low[axis] < 1 );
        CHECK( extent.high[axis] < 20 && extent.high[axis] > 8 );
        CHECK( fabsf( extent.size[axis] - 0.5f ) < 0.25f );
    }
}

static int by_value( const void* a, const void* b )
{
    float x = *(const float*)a, y = *(const float*)b;
    return ( x > y ) - ( x < y );
}

static void selection_finds_what_sorting_would( void )
{
    for ( uint32_t count = 1; count <= 64; ++count )
    {
        test_random random = test_random_make( count );
        float values[64], sorted[64];
        for ( uint32_t i = 0; i < count; ++i )
        {
            values[i] = (float)test_random_below( &random, count % 3 == 0 ? 4 : 1000 );
        }
        memcpy( sorted, values, sizeof( values ) );
        qsort( sorted, count, sizeof( float ), by_value );
        for ( uint32_t rank = 0; rank < count; ++rank )
        {
            CHECK( clv_engine_block_select( values, count, rank ) == sorted[rank] );
        }
    }
}

// ---- choosing a grid

static void check_grid( const cell_grid* grid, uint32_t count )
{
    CHECK( cell_grid_count( grid ) >= 1 && cell_grid_count( grid ) <= cell_count_most( count ) );
    for ( int axis = 0; axis < 3; ++axis )
    {
        CHECK( grid->dims[axis] >= 1 && grid->dims[axis] <= CELL_GRID_SIDE );
        CHECK( grid->scale[axis] > 0 && grid->scale[axis] <= 1e30f );
    }
}

static void every_crowd_gets_a_grid_within_bounds( void )
{
    for ( int crowd = 0; crowd < TEST_CROWD_COUNT; ++crowd )
    {
        for ( uint32_t count = 256; count <= 1u << 20; count *= 4 )
        {
            fill_crowd( (test_crowd)crowd, CELL_SAMPLES, count );
            cell_extent extent = measure( CELL_SAMPLES );
            cell_grid grid = clv_engine_cell_grid_choose( count, &extent );
            check_grid( &grid, count );
            CHECK( count > CELL_ALONE || cell_grid_count( &grid ) == 1 );
            uint32_t rounds = 0;
            for ( uint32_t before = cell_grid_count( &grid ); clv_engine_cell_grid_coarsen( &grid, &extent );
                  ++rounds )
            {
                check_grid( &grid, count );
                CHECK( cell_grid_count( &grid ) < before );
                before = cell_grid_count( &grid );
            }
            CHECK_EQUAL( cell_grid_count( &grid ), 1 );
            CHECK( rounds <= 18 );
        }
    }
}

static void an_even_crowd_gets_cells_of_some_dozen_boxes( void )
{
    fill_even();
    cell_extent extent = measure( CELL_SAMPLES );
    cell_grid grid = clv_engine_cell_grid_choose( 32000, &extent );
    uint32_t cells = cell_grid_count( &grid );
    CHECK( cells > 32000 / 120 && cells < 32000 / 8 );
    CHECK( grid.dims[0] == grid.dims[1] || grid.dims[0] * 2 >= grid.dims[1] );
}

// One in twenty flies: cells along the height divide few boxes.
static void boxes_on_one_floor_get_one_layer_of_cells( void )
{
    for ( uint32_t i = 0; i < CELL_SAMPLES; ++i )
    {
        float height = i % 20 == 7 ? (float)( i % 50 ) : 0;
        s_boxes[i] =
            test_cube( (float)( i * 37 % CELL_SAMPLES ), height, (float)( i * 101 % CELL_SAMPLES ), 0.25f );
    }
    cell_extent extent = measure( CELL_SAMPLES );
    cell_grid grid = clv_engine_cell_grid_choose( 32000, &extent );
    CHECK( extent.high[1] > 40 );
    CHECK_EQUAL( grid.dims[1], 1 );
    CHECK( grid.dims[0] > 4 && grid.dims[2] > 4 );
}

static void a_grid_tells_which_boxes_lie_beyond_it( void )
{
    cell_grid grid = { { 0, 0, 0 }, { CELL_STEPS, CELL_STEPS, CELL_STEPS }, { 4, 4, 4 } };
    const clv_aabb in = test_cube( 4, 4, 4, 0.5f ), touching = test_cube( 4.5f, 2, 2, 0.5f );
    const clv_aabb out = test_cube( 2, 2, 5, 0.5f ), before = test_cube( -1, 2, 2, 0.5f );
    CHECK( !clv_engine_cell_grid_misses( &grid, &in ) );
    CHECK( !clv_engine_cell_grid_misses( &grid, &touching ) );
    CHECK( clv_engine_cell_grid_misses( &grid, &out ) );
    CHECK( clv_engine_cell_grid_misses( &grid, &before ) );
}

// ---- blocks

// Every coarse cell in the one leaf that the map says, and no leaf too full that could be cut.
static void check_leaves( const block_plan* plan, uint32_t most )
{
    uint64_t cells = 0;
    for ( uint32_t block = 0; block < plan->block_count; ++block )
    {
        block_leaf leaf = plan->leaves.items[block];
        uint64_t boxes = 0, size = 0;
        for ( uint32_t z = cell_field( leaf.first, 2 ); z <= cell_field( leaf.last, 2 ); ++z )
        {
            for ( uint32_t y = cell_field( leaf.first, 1 ); y <= cell_field( leaf.last, 1 ); ++y )
            {
                for ( uint32_t x = cell_field( leaf.first, 0 ); x <= cell_field( leaf.last, 0 ); ++x )
                {
                    uint32_t cell = cell_at( &plan->grid, x, y, z );
                    CHECK_EQUAL( plan->map.items[cell], block );
                    boxes += plan->histogram.items[cell];
                    size += 1;
                }
            }
        }
        CHECK( boxes <= most || size == 1 );
        cells += size;
    }
    CHECK_EQUAL( cells, cell_grid_count( &plan->grid ) );
}

static void blocks_share_out_all_coarse_cells( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    for ( int crowd = 0; crowd < TEST_CROWD_COUNT; ++crowd )
    {
        for ( uint32_t most = 64; most <= 1024; most *= 4 )
        {
            block_plan plan = { 0 };
            fill_crowd( (test_crowd)crowd, BOXES, most );
            clv_method_input input = { .boxes = s_boxes, .live_count = BOXES };
            CHECK( clv_engine_plan_place( &plan, &memory, &input, most ) );
            clv_engine_plan_count( &plan, &input, 1 );
            uint64_t sum = 0;
            for ( uint32_t cell = 0; cell < cell_grid_count( &plan.grid ); ++cell )
            {
                sum += plan.histogram.items[cell];
            }
            CHECK_EQUAL( sum, BOXES );
            CHECK( clv_engine_plan_cut( &plan, &memory, most ) );
            check_leaves( &plan, most );
            CHECK( clv_engine_plan_choose_grids( &plan, &memory, &input ) );
            for ( uint32_t block = 0; block < plan.block_count; ++block )
            {
                check_grid( &plan.grids.items[block], UINT32_MAX - 8 );
                const scaling s = scaling_of( &plan.grids.items[block] );
                CHECK( memcmp( &s, &plan.scalings.items[block], sizeof( s ) ) == 0 );
            }
            clv_engine_plan_release( &plan, &memory );
        }
    }
    CHECK_EQUAL( memory.bytes, 0 );
}

static void a_histogram_of_a_few_speaks_for_all( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    block_plan plan = { 0 };
    fill_crowd( TEST_CROWD_SPREAD, BOXES, 3 );
    clv_method_input input = { .boxes = s_boxes, .live_count = BOXES };
    CHECK( clv_engine_plan_place( &plan, &memory, &input, 256 ) );
    clv_engine_plan_count( &plan, &input, 7 );
    uint64_t sum = 0;
    for ( uint32_t cell = 0; cell < cell_grid_count( &plan.grid ); ++cell )
    {
        CHECK( plan.histogram.items[cell] % 7 == 0 );
        sum += plan.histogram.items[cell];
    }
    CHECK_EQUAL( sum, ( BOXES + 6 ) / 7 * 7 );
    clv_engine_plan_release( &plan, &memory );
}

// Every seventh box sits in one corner, and every seventh is asked: they must not be taken for all, or for
// none.
static void a_histogram_is_not_fooled_by_regular_order( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    for ( uint32_t special = 0; special < 7; ++special )
    {
        block_plan plan = { 0 };
        fill_crowd( TEST_CROWD_SPREAD, BOXES, 3 );
        for ( uint32_t i = special; i < BOXES; i += 7 )
        {
            s_boxes[i] = s_boxes[special];
        }
        clv_method_input input = { .boxes = s_boxes, .live_count = BOXES };
        CHECK( clv_engine_plan_place( &plan, &memory, &input, 256 ) );
        clv_engine_plan_count( &plan, &input, 7 );
        uint32_t fullest = 0;
        for ( uint32_t cell = 0; cell < cell_grid_count( &plan.grid ); ++cell )
        {
            fullest = plan.histogram.items[cell] > fullest ? plan.histogram.items[cell] : fullest;
        }
        test_where.seed = special;
        CHECK( fullest > BOXES / 14 && fullest < BOXES * 2 / 7 );
        clv_engine_plan_release( &plan, &memory );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( an_even_crowd_is_measured_as_it_is ),
        TEST_CASE( shares_fall_with_every_level ),
        TEST_CASE( a_diagonal_is_seen_by_two_axes_together ),
        TEST_CASE( outliers_and_infinities_do_not_affect_the_region ),
        TEST_CASE( selection_finds_what_sorting_would ),
        TEST_CASE( every_crowd_gets_a_grid_within_bounds ),
        TEST_CASE( an_even_crowd_gets_cells_of_some_dozen_boxes ),
        TEST_CASE( boxes_on_one_floor_get_one_layer_of_cells ),
        TEST_CASE( a_grid_tells_which_boxes_lie_beyond_it ),
        TEST_CASE( blocks_share_out_all_coarse_cells ),
        TEST_CASE( a_histogram_of_a_few_speaks_for_all ),
        TEST_CASE( a_histogram_is_not_fooled_by_regular_order ),
    };
    return test_run( "engine_plan", cases, TEST_COUNT( cases ), argc, argv );
}
