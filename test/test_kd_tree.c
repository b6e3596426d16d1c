// SPDX-License-Identifier: MIT
// The update of the tree as a whole: at rest it changes nothing, objects come, go and wait outside, the depth
// stays bounded.
#include "kd_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void a_second_update_changes_nothing_at_all( void )
{
    for ( uint64_t seed = 1; seed <= 50; ++seed )
    {
        test_where.seed = seed;
        test_random random = test_random_make( seed );
        kd_fixture g;
        kd_fixture_open( &g, 1 + test_random_below( &random, 8 ) );
        for ( uint32_t i = 0; i < KD_FIXTURE_MOST; ++i )
        {
            kd_fixture_add(
                &g, test_random_between( &random, -30, 30 ), test_random_between( &random, -30, 30 ) );
        }
        kd_fixture_update( &g );
        for ( uint32_t i = 0; i < KD_FIXTURE_MOST; ++i )
        {
            g.boxes[i] = test_cube(
                test_random_between( &random, -30, 30 ), test_random_between( &random, -30, 30 ), 0, 0.5f );
        }
        kd_fixture_update( &g );
        uint32_t order[KD_FIXTURE_MOST];
        memcpy( order, g.tree.order.items, sizeof( order ) );
        size_t size = g.tree.node_end * sizeof( kd_node );
        kd_node* nodes = malloc( size );
        memcpy( nodes, g.tree.nodes.items, size );
        for ( uint32_t i = 0; i < g.tree.node_end; ++i )
        {
            nodes[i].touched = g.tree.nodes.items[i].touched =
                true; // a note for the next update, not part of the tree
        }
        kd_fixture_update( &g );
        CHECK( memcmp( order, g.tree.order.items, sizeof( order ) ) == 0 );
        for ( uint32_t i = 0; i < g.tree.node_end; ++i )
        {
            g.tree.nodes.items[i].touched = true;
        }
        CHECK( memcmp( nodes, g.tree.nodes.items, size ) == 0 );
        CHECK_EQUAL(
            g.tree.counters.refit_count + g.tree.counters.filter_count + g.tree.counters.shift_count, 0 );
        free( nodes );
        kd_fixture_close( &g );
    }
}

static void the_last_object_takes_the_place_of_a_removed_one( void )
{
    kd_fixture g;
    kd_fixture_open( &g, 4 );
    kd_fixture_add_row( &g, 8, -14, 4, 0 );
    kd_fixture_update( &g );
    uint32_t last = g.tree.order.items[7];
    uint32_t first = g.tree.order.items[0];
    uint64_t live[1] = { 0xFF & ~( (uint64_t)1 << first ) };
    uint64_t displaced[1] = { 0 };
    clv_kd_tree_remove_dead( &g.tree, live, displaced );
    CHECK_EQUAL( g.tree.order.items[0], last );
    CHECK_EQUAL( displaced[0], (uint64_t)1 << last );
    CHECK_EQUAL( g.tree.count, 7 );
    kd_fixture_update( &g );
    // And one at the end of the array finds its place.
    clv_kd_tree_append( &g.tree, first );
    CHECK_EQUAL( g.tree.order.items[7], first );
    kd_fixture_update( &g );
    CHECK( g.tree.order.items[7] != first );
    kd_fixture_close( &g );
}

static void what_the_root_does_not_hold_waits_outside( void )
{
    kd_fixture g;
    kd_fixture_open( &g, 4 );
    kd_fixture_add_row( &g, 8, -14, 4, 0 );
    g.boxes[3] = test_box( -INFINITY, 0, 0, INFINITY, 1, 1 );
    g.boxes[5] = test_cube( 1e9f, 0, 0, 1 );
    kd_fixture_update( &g );
    CHECK_EQUAL( g.tree.outside_count, 2 );
    CHECK_EQUAL( g.tree.count, 6 );
    g.boxes[5] = test_cube( 6, 0, 0, 1 );
    kd_fixture_update( &g );
    CHECK_EQUAL( g.tree.outside_count, 1 );
    CHECK_EQUAL( g.tree.outside.items[0], 3 );
    CHECK_EQUAL( g.tree.count, 7 );
    kd_fixture_close( &g );
}

static void depth_stays_bounded_by_the_balance( void )
{
    // Each object twice as far out as the one before: the mean always lies beside the crowd.
    kd_fixture g;
    kd_fixture_open( &g, 1 );
    for ( int i = 0; i < 40; ++i )
    {
        float x = ldexpf( 1, -i ) * 90;
        g.boxes[g.count] = test_box( x, 0, 0, x * 1.01f, 1, 1 );
        clv_kd_tree_append( &g.tree, g.count++ );
    }
    kd_fixture_update( &g );
    for ( uint32_t i = clv_kd_tree_list( &g.tree ); i-- > 0; )
    {
        CHECK( kd_node_depth( &g.tree, g.tree.stack.items[i] ) <= 20 );
    }
    kd_fixture_close( &g );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_second_update_changes_nothing_at_all ),
        TEST_CASE( the_last_object_takes_the_place_of_a_removed_one ),
        TEST_CASE( what_the_root_does_not_hold_waits_outside ),
        TEST_CASE( depth_stays_bounded_by_the_balance ),
    };
    return test_run( "kd_tree", cases, TEST_COUNT( cases ), argc, argv );
}
