// SPDX-License-Identifier: MIT
// What is chosen from a sample of the boxes: the axes and widths of the grid that a node's boxes are swept
// in, the axis of a sweep, where a uniform grid lies. It decides nothing about the pairs, only how many tests
// they take.
#include "base/bits.h"
#include "grid/grid_cells.h"
#include "support.h"
#include "sweep/axis.h"
#include "sweep/box_items.h"
#include "sweep/small_boxes.h"

#include <math.h>
#include <stdlib.h>

enum
{
    OBJECTS = 2000,
};

static clv_aabb s_boxes[OBJECTS];
static uint32_t s_slots[OBJECTS];

static float rnd( test_random* random, float most )
{
    return test_random_between( random, 0, most );
}

// Cubes of side 1 on a floor of 40 by 40, and as many in a hundred of them as told anywhere up to 65 above
// it.
static sweep_list rain( uint32_t falling_percent )
{
    test_random random = test_random_make( falling_percent + 1 );
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        float y = test_random_chance( &random, falling_percent ) ? rnd( &random, 65 ) : rnd( &random, 0.8f );
        float x = rnd( &random, 40 ), z = rnd( &random, 40 );
        s_boxes[i] = test_box( x, y, z, x + 1, y + 1, z + 1 );
        s_slots[i] = i;
    }
    return ( sweep_list ){ s_boxes, s_slots, OBJECTS, NULL };
}

static void a_crowd_on_the_ground_is_not_swept_by_height( void )
{
    for ( uint32_t percent = 0; percent <= 40; percent += 5 )
    {
        test_where.seed = percent;
        sweep_list list = rain( percent );
        sweep_grid grid = clv_sweep_grid_find( &list );
        CHECK_EQUAL( grid.axis[2], 1 );
        CHECK( grid.strip_bits > 0 );
    }
}

static void evenly_spread_boxes_are_swept_along_the_longest_side( void )
{
    sweep_list list = rain( 100 );
    sweep_grid grid = clv_sweep_grid_find( &list );
    CHECK_EQUAL( grid.axis[0], 1 );
}

static void long_boxes_are_swept_across( void )
{
    sweep_list list = rain( 100 );
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        s_boxes[i].upper.y = s_boxes[i].lower.y + 30;
    }
    sweep_grid grid = clv_sweep_grid_find( &list );
    CHECK_EQUAL( grid.axis[2], 1 );
}

// Does a grid of so many boxes look at this one?
static bool is_sampled( uint32_t index, uint32_t count )
{
    uint32_t step = ( count + 47 ) / 48;
    return base_sample_step( index - index % step, step, count ) == index;
}

static float width_of( const sweep_grid* grid, uint32_t axis )
{
    return (float)SMALL_MOST / grid->small.scale[axis];
}

static void one_far_box_does_not_stretch_the_grid( void )
{
    sweep_list list = rain( 0 );
    sweep_grid plain = clv_sweep_grid_find( &list );
    uint32_t far = 0;
    while ( !is_sampled( far, OBJECTS ) )
    {
        far += 1;
    }
    static const float places[] = { 1e3f, -1e3f, 1e6f, -1e6f };
    for ( size_t i = 0; i < TEST_COUNT( places ); ++i )
    {
        for ( uint32_t axis = 0; axis < 3; ++axis )
        {
            list = rain( 0 );
            ( &s_boxes[far].lower.x )[axis] = places[i];
            ( &s_boxes[far].upper.x )[axis] = places[i] + 1;
            sweep_grid grid = clv_sweep_grid_find( &list );
            // A bin at least remains, which is a sixteenth of the way to the far box.
            CHECK( width_of( &grid, axis ) < 0.2f * fabsf( places[i] ) + 2 * width_of( &plain, axis ) );
            CHECK( width_of( &grid, ( axis + 1 ) % 3 ) == width_of( &plain, ( axis + 1 ) % 3 ) );
        }
    }
}

static void awkward_lists_have_a_grid_too( void )
{
    static const struct
    {
        clv_aabb box;
        const char* note;
    } rows[] = { { { { 0, 0, 0 }, { 0, 0, 0 } }, "points in one place" },
        { { { 1e30f, 1e30f, 1e30f }, { 2e30f, 2e30f, 2e30f } }, "huge" },
        { { { -INFINITY, -INFINITY, -INFINITY }, { INFINITY, INFINITY, INFINITY } }, "endless" },
        { { { 0, -INFINITY, 0 }, { 1, 0, 1 } }, "half-spaces" } };
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        for ( uint32_t count = 1; count <= OBJECTS; count = count * 3 + 1 )
        {
            test_where.note = rows[row].note;
            sweep_list list = rain( 0 );
            list.count = count;
            for ( uint32_t i = 0; i < count; ++i )
            {
                s_boxes[i] = rows[row].box;
            }
            sweep_grid grid = clv_sweep_grid_find( &list );
            for ( uint32_t axis = 0; axis < 3; ++axis )
            {
                CHECK( grid.small.scale[axis] >= 0 && isfinite( grid.small.scale[axis] ) );
            }
            CHECK_EQUAL( 1u << grid.axis[0] | 1u << grid.axis[1] | 1u << grid.axis[2], 7 );
        }
    }
}

// ---- crowds in which every so many-th box is another kind, at the very distance of the samples

// Boxes all over 40 by 40 on the floor, and every `step`-th in a thin tower of this height above one spot.
static clv_method_input floor_and_tower( uint32_t step, float spot, float height )
{
    rain( 0 );
    test_random random = test_random_make( step );
    for ( uint32_t i = 0; i < OBJECTS; i += step )
    {
        float y = rnd( &random, height );
        float x = spot + rnd( &random, 0.5f ), z = spot + rnd( &random, 0.5f );
        s_boxes[i] = test_box( x, y, z, x, y, z );
    }
    return ( clv_method_input ){ .boxes = s_boxes, .live_count = OBJECTS };
}

static void no_order_fools_the_grid_of_a_node( void )
{
    for ( uint32_t step = 40; step <= 44; ++step ) // 48 samples
    {
        test_where.seed = step;
        floor_and_tower( step, 20, 65 );
        sweep_list list = { s_boxes, s_slots, OBJECTS, NULL };
        sweep_grid grid = clv_sweep_grid_find( &list );
        CHECK_EQUAL( grid.axis[2], 1 );
    }
}

static void no_order_fools_the_axis_of_a_list( void )
{
    for ( uint32_t step = 30; step <= 34; ++step ) // 64 samples
    {
        test_where.seed = step;
        floor_and_tower( step, 20, 60 );
        static simd_item items[OBJECTS];
        for ( uint32_t i = 0; i < OBJECTS; ++i )
        {
            const clv_aabb* box = &s_boxes[i];
            items[i] = ( simd_item ){ { box->lower.x, box->lower.y, box->lower.z }, i,
                { box->upper.x, box->upper.y, box->upper.z }, 1 };
        }
        CHECK( clv_sweep_choose_item_axis( items, OBJECTS ) != 1 );
    }
}

static void no_order_fools_the_axis_of_a_sweep( void )
{
    for ( uint32_t step = 61; step <= 65; ++step ) // 32 samples
    {
        test_where.seed = step;
        clv_method_input input = floor_and_tower( step, 1e6f, 500 );
        CHECK( clv_sweep_choose_axis( &input ) != 1 );
    }
}

static void no_order_fools_a_uniform_grid( void )
{
    for ( uint32_t step = 7; step <= 9; ++step ) // 256 samples
    {
        test_where.seed = step;
        clv_method_input input = floor_and_tower( step, 20, 0.1f );
        grid_lattice lattice = clv_grid_lattice_choose( &input, 8, 3 );
        CHECK( lattice.cells[0] > 5 && lattice.cells[2] > 5 );
        CHECK( (float)lattice.cells[0] / lattice.scale[0] > 38 );
        CHECK( (float)lattice.cells[2] / lattice.scale[2] > 38 );
    }
}

// The same seen from outside: how many tests it takes, and that the pairs are right.
static void rain_takes_few_tests( void )
{
    for ( uint32_t percent = 0; percent <= 40; percent += 10 )
    {
        test_where.seed = percent;
        rain( percent );
        uint64_t counts[2];
        for ( uint32_t way = 0; way < 2; ++way )
        {
            clv_space* space;
            clv_space_def def = clv_default_space_def();
            def.method = way == 0 ? "brute" : "kd-complete";
            CHECK_OK( clv_space_create( &def, &space ) );
            CHECK_OK( clv_space_add( space, s_boxes, OBJECTS, NULL ) );
            CHECK_OK( clv_space_update( space ) );
            counts[way] = clv_space_pairs( space ).count;
            CHECK( way == 0 || clv_space_stats( space ).test_count < 60 * OBJECTS ); // 600 and more by height
            clv_space_destroy( space );
        }
        CHECK_EQUAL( counts[1], counts[0] );
    }
}

// ---- what the sample does not see

enum
{
    DENSE = 6000 // of which the sample sees every 125th
};

static clv_aabb s_dense[DENSE];
static uint32_t s_dense_slots[DENSE];

// Cubes of side 1 in a room of 20, cut into four strips; every `step`th that the sample does not see is as
// long as the room along the axis of the strips. How many there are.
static uint32_t fill_dense( uint32_t step, uint32_t axis )
{
    test_random random = test_random_make( 11 );
    uint32_t long_count = 0;
    for ( uint32_t i = 0; i < DENSE; ++i )
    {
        float x = rnd( &random, 20 ), y = rnd( &random, 20 ), z = rnd( &random, 20 );
        s_dense[i] = test_box( x, y, z, x + 1, y + 1, z + 1 );
        s_dense_slots[i] = i;
        if ( !is_sampled( i, DENSE ) && i % step == 1 % step )
        {
            ( &s_dense[i].lower.x )[axis] = -1;
            ( &s_dense[i].upper.x )[axis] = 22;
            long_count += 1;
        }
    }
    return long_count;
}

static void strips_are_given_up_for_boxes_that_reach_into_all( void )
{
    fill_dense( DENSE, 0 );
    sweep_list list = { s_dense, s_dense_slots, DENSE, NULL };
    sweep_grid plain = clv_sweep_grid_find( &list );
    CHECK( plain.strip_bits >= 2 );
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    sweep_small small = { .memory = &memory, .kernels = clv_simd_method_kernels_for( clv_isa_best() ) };
    for ( uint32_t step = 1; step <= 64; step *= 64 )
    {
        fill_dense( step, plain.axis[1] );
        sweep_grid grid = clv_sweep_grid_find( &list );
        CHECK_EQUAL( grid.strip_bits, plain.strip_bits ); // it saw none of them
        CHECK_EQUAL( grid.axis[1], plain.axis[1] );
        CHECK_EQUAL( clv_sweep_small_fill( &small, &grid, &list, 1 ), SWEEP_DONE );
        uint32_t strips = small.start_count >> small.bucket_bits;
        CHECK_EQUAL( strips, step == 1 ? 1 : 1u << grid.strip_bits );
        CHECK( small.boxes.count <= 2 * DENSE );
    }
    clv_sweep_small_release( &small );
    CHECK_EQUAL( memory.bytes, 0 );
}

// Long ones move among short ones that rest, so that each asks in every strip; and all are long. As brute
// force says.
static void long_boxes_are_found_in_every_strip( void )
{
    static const char* const names[] = { "brute", "kd", "kd-incremental", "kd-complete" };
    for ( uint32_t step = 1; step <= 8; step *= 8 )
    {
        for ( uint32_t axis = 0; axis < 3; ++axis )
        {
            uint64_t expected[4] = { 0 };
            for ( uint32_t way = 0; way < TEST_COUNT( names ); ++way )
            {
                clv_space* space;
                clv_space_def def = clv_default_space_def();
                def.method = names[way];
                CHECK_OK( clv_space_create( &def, &space ) );
                clv_id ids[DENSE];
                fill_dense( step, axis );
                CHECK_OK( clv_space_add( space, s_dense, DENSE, ids ) );
                for ( uint32_t frame = 0; frame < 4; ++frame )
                {
                    test_where.frame = frame, test_where.seed = step, test_where.method = names[way];
                    for ( uint32_t i = 0; i < DENSE; ++i )
                    {
                        float shift = i % 8 == 1 ? 0.2f : 0;
                        ( &s_dense[i].lower.x )[( axis + 1 ) % 3] += shift;
                        ( &s_dense[i].upper.x )[( axis + 1 ) % 3] += shift;
                    }
                    CHECK_OK( clv_space_move( space, ids, s_dense, DENSE ) );
                    CHECK_OK( clv_space_update( space ) );
                    clv_pair_view view = clv_space_pairs( space );
                    uint64_t hash = test_mix( test_set_hash( view.pairs, view.count ) ^ view.count );
                    expected[frame] = way == 0 ? hash : expected[frame];
                    CHECK_EQUAL( hash, expected[frame] );
                }
                clv_space_destroy( space );
            }
        }
    }
}

enum
{
    LONG_LIST = 70000, // more than 16 bits number
    WANTED_EVERY = 50,
};

// Of a list of many a few are wanted, those that reach a region; the others are far away.
static void a_few_of_a_long_list_are_sorted( void )
{
    test_random random = test_random_make( 7 );
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    simd_item* items = test_alloc( LONG_LIST, sizeof( simd_item ) );
    uint32_t wanted_count = 0;
    for ( uint32_t i = 0; i < LONG_LIST; ++i )
    {
        float at = rnd( &random, 100 ) + ( i % WANTED_EVERY == 0 ? 0 : 1000.0f );
        items[i] = ( simd_item ){ { at, 0, 0 }, i, { at + 1, 1, 1 }, 0 };
        wanted_count += i % WANTED_EVERY == 0;
    }
    const simd_item region = { { 0, 0, 0 }, 0, { 200, 1, 1 }, 0 };
    sweep_wanted wanted = { items, LONG_LIST, 0, -INFINITY, &region };
    sweep_sorter sorter = { .memory = &memory };
    sweep_sorted sorted = { .was_in_order = false };
    CHECK( clv_sweep_sort_items( &sorter, &wanted, &sorted ) );
    const simd_boxes* boxes = &sorted.lanes.boxes;
    CHECK_EQUAL( boxes->count, wanted_count );
    for ( uint32_t i = 0; i < boxes->count; ++i )
    {
        CHECK_EQUAL( boxes->slots[i] % WANTED_EVERY, 0 );
        CHECK( boxes->lower[0][i] == items[boxes->slots[i]].lower[0] );
        CHECK( i == 0 || boxes->lower[0][i - 1] <= boxes->lower[0][i] );
    }
    clv_sweep_sorted_release( &sorted, &memory );
    clv_sweep_sorter_release( &sorter );
    CHECK_EQUAL( memory.bytes, 0 );
    free( items );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_crowd_on_the_ground_is_not_swept_by_height ),
        TEST_CASE( evenly_spread_boxes_are_swept_along_the_longest_side ),
        TEST_CASE( long_boxes_are_swept_across ),
        TEST_CASE( one_far_box_does_not_stretch_the_grid ),
        TEST_CASE( awkward_lists_have_a_grid_too ),
        TEST_CASE( no_order_fools_the_grid_of_a_node ),
        TEST_CASE( no_order_fools_the_axis_of_a_list ),
        TEST_CASE( no_order_fools_the_axis_of_a_sweep ),
        TEST_CASE( no_order_fools_a_uniform_grid ),
        TEST_CASE( rain_takes_few_tests ),
        TEST_CASE( strips_are_given_up_for_boxes_that_reach_into_all ),
        TEST_CASE( long_boxes_are_found_in_every_strip ),
        TEST_CASE( a_few_of_a_long_list_are_sorted ),
    };
    return test_run( "sweep_grid", cases, TEST_COUNT( cases ), argc, argv );
}
