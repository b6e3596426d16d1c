// SPDX-License-Identifier: MIT
// The operators of src/methods/kd one by one, figure 6 of the CGF 2019 paper.
#include "kd_fixture.h"

static void filter_hands_down_both_sides_and_keeps_what_lies_across( void )
{
    kd_fixture g;
    kd_fixture_open( &g, 3 );
    kd_fixture_add_row( &g, 3, -9, 3, 0 );
    kd_fixture_add( &g, 0, 0 );
    kd_fixture_add_row( &g, 3, 3, 3, 0 );
    kd_fixture_update( &g );
    const kd_node* root = kd_fixture_node( &g, "" );
    CHECK( root->plane == 0.0f && root->axis == 0 );
    CHECK_EQUAL( root->end - root->begin, 1 );
    CHECK( kd_fixture_owns( &g, "", 3 ) );
    CHECK_EQUAL( kd_fixture_node( &g, "L" )->population, 3 );
    CHECK_EQUAL( kd_fixture_node( &g, "R" )->population, 3 );
    kd_fixture_close( &g );
}

static void only_the_right_side_includes_the_plane( void )
{
    // Two boxes that touch at the plane may not end in different branches.
    clv_aabb below = test_box( -1, 0, 0, 0, 1, 1 ), above = test_box( 0, 0, 0, 1, 1, 1 );
    CHECK( kd_side( &below, 0, 0 ) == 0 );
    CHECK( kd_side( &above, 0, 0 ) == 1 );
    CHECK( kd_side( &below, 0, 0.5f ) == -1 );
    clv_aabb point = test_box( 0, 0, 0, 0, 0, 0 );
    CHECK( kd_side( &point, 0, 0 ) == 1 );
}

static void partition_cuts_at_the_mean_of_the_axis_of_largest_variance( void )
{
    kd_fixture g;
    kd_fixture_open( &g, 4 );
    for ( int i = 0; i < 6; ++i )
    {
        kd_fixture_add( &g, 0.1f * (float)i, 10 * (float)i );
    }
    kd_fixture_update( &g );
    CHECK_EQUAL( kd_fixture_node( &g, "" )->axis, 1 );
    CHECK( kd_fixture_node( &g, "" )->plane == 25.0f );
    CHECK_EQUAL( g.tree.counters.partition_count, 1 );
    kd_fixture_close( &g );
}

static void partition_does_not_cut_bars_across( void )
{
    // Long along x and spread most along x, but any plane there would cut them all.
    kd_fixture g;
    kd_fixture_open( &g, 8 );
    for ( int i = 0; i < 32; ++i )
    {
        float x = (float)( i * 7 % 32 - 16 );
        float y = (float)( i * 13 % 32 - 16 ) * 0.4f;
        g.boxes[g.count] = test_box( x - 40, y, 0, x + 40, y + 0.1f, 0.1f );
        clv_kd_tree_append( &g.tree, g.count++ );
    }
    kd_fixture_update( &g );
    CHECK( !kd_node_is_leaf( kd_fixture_node( &g, "" ) ) );
    CHECK_EQUAL( kd_fixture_node( &g, "" )->axis, 1 );
    kd_fixture_close( &g );
}

static void identical_boxes_stay_in_one_leaf_and_are_left_alone( void )
{
    kd_fixture g;
    kd_fixture_open( &g, 4 );
    for ( int i = 0; i < 20; ++i )
    {
        kd_fixture_add( &g, 1, 2 );
    }
    kd_fixture_update( &g );
    CHECK( kd_node_is_leaf( kd_fixture_node( &g, "" ) ) );
    CHECK( kd_fixture_node( &g, "" )->refused );
    CHECK_EQUAL( g.tree.counters.refusal_count, 1 );
    // Known not to have changed: not even tried again.
    static const uint64_t nothing[1] = { 0 };
    g.tree.changed = nothing;
    kd_fixture_update( &g );
    CHECK_EQUAL( g.tree.counters.refusal_count, 0 );
    // One moves: tried again.
    static const uint64_t first[1] = { 1 };
    g.tree.changed = first;
    g.boxes[0] = test_cube( 3, 2, 0, 0.5f );
    kd_fixture_update( &g );
    CHECK_EQUAL( g.tree.counters.refusal_count, 1 );
    kd_fixture_close( &g );
}

static void collapse_gathers_a_thin_subtree( void )
{
    kd_fixture g;
    kd_fixture_open( &g, 4 );
    kd_fixture_add_row( &g, 8, -14, 4, 0 );
    kd_fixture_update( &g );
    CHECK( g.tree.node_count >= 3 );
    uint64_t live[1] = { 0x7 }; // 0, 1 and 2
    clv_kd_tree_remove_dead( &g.tree, live, NULL );
    CHECK_EQUAL( g.tree.count, 3 );
    kd_fixture_update( &g );
    CHECK_EQUAL( g.tree.node_count, 1 );
    CHECK_EQUAL( kd_fixture_node( &g, "" )->end, 3 );
    CHECK_EQUAL( g.tree.counters.collapse_count, 1 );
    kd_fixture_close( &g );
}

static void collapse_takes_a_subtree_with_an_empty_child( void )
{
    kd_fixture g;
    kd_fixture_open( &g, 4 );
    kd_fixture_add_row( &g, 8, -14, 4, 0 );
    kd_fixture_update( &g );
    for ( uint32_t slot = 0; slot < 8; ++slot )
    {
        g.boxes[slot] = test_cube( 30 + 4 * (float)slot, 0, 0, 0.5f );
    }
    kd_fixture_update( &g );
    CHECK( g.tree.counters.collapse_count > 0 );
    CHECK( g.tree.counters.partition_count > 0 ); // and cut again where they are now
    CHECK( kd_fixture_node( &g, "" )->plane > 30.0f );
    kd_fixture_close( &g );
}

static void evaluate_follows_equations_1_to_3( void )
{
    static const struct
    {
        uint32_t own, left, right;
        bool all, children;
    } cases[] = {
        { 0, 50, 50, true, true },
        { 0, 0, 0, false, false },
        { 100, 0, 0, false, false },
        { 0, 100, 0, false, false },
        { 10, 45, 45, true, true },
        // Straddlers: Cost passes Balance at 31 in a hundred, or later if they do not count against the
        // balance.
        { 30, 35, 35, true, true },
        { 34, 33, 33, false, true },
        // Lopsided: at 23 in a hundred for large numbers.
        { 0, 2500, 7500, true, true },
        { 0, 2200, 7800, false, false },
        { 0, 7500, 2500, true, true },
        // Two single objects.
        { 0, 1, 1, true, true },
        { 1, 1, 1, false, true },
    };
    for ( size_t i = 0; i < TEST_COUNT( cases ); ++i )
    {
        test_where.frame = (uint32_t)i;
        CHECK(
            clv_kd_evaluate( KD_BALANCE_ALL, cases[i].own, cases[i].left, cases[i].right ) == cases[i].all );
        CHECK( clv_kd_evaluate( KD_BALANCE_CHILDREN, cases[i].own, cases[i].left, cases[i].right ) ==
            cases[i].children );
    }
}

static void translate_follows_the_crowd_along_the_same_axis( void )
{
    kd_fixture g;
    kd_fixture_open( &g, 8 );
    kd_fixture_add_row( &g, 12, -22, 4, 0 );
    kd_fixture_update( &g );
    CHECK( kd_fixture_node( &g, "" )->plane == 0.0f );
    for ( uint32_t slot = 0; slot < 12; ++slot )
    {
        g.boxes[slot] = test_cube( -2 + 4 * (float)slot, 0, 0, 0.5f );
    }
    kd_fixture_update( &g );
    CHECK_EQUAL( g.tree.counters.translate_count, 1 );
    CHECK_EQUAL( g.tree.counters.erase_count, 0 );
    CHECK( kd_fixture_node( &g, "" )->plane == 20.0f && kd_fixture_node( &g, "" )->axis == 0 );
    CHECK_EQUAL( kd_fixture_node( &g, "L" )->population, 6 );
    kd_fixture_close( &g );
}

static void erase_keeps_the_larger_branch_with_all_objects( void )
{
    kd_fixture g;
    kd_fixture_of_figure_5( &g );
    // All on one spot across the root's plane but a few: no plane along x is good for the root any more.
    for ( uint32_t slot = 0; slot < 17; ++slot )
    {
        g.boxes[slot] = test_cube( slot < 13 ? 0.0f : slot < 15 ? -20.0f : 20.0f, 3 * (float)slot, 0, 0.5f );
    }
    kd_fixture_update( &g );
    CHECK( g.tree.counters.erase_count >= 1 );
    CHECK( kd_fixture_node( &g, "" )->axis == 1 ); // built again the other way
    CHECK_EQUAL( g.tree.count, 17 );
    kd_fixture_close( &g );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( filter_hands_down_both_sides_and_keeps_what_lies_across ),
        TEST_CASE( only_the_right_side_includes_the_plane ),
        TEST_CASE( partition_cuts_at_the_mean_of_the_axis_of_largest_variance ),
        TEST_CASE( partition_does_not_cut_bars_across ),
        TEST_CASE( identical_boxes_stay_in_one_leaf_and_are_left_alone ),
        TEST_CASE( collapse_gathers_a_thin_subtree ),
        TEST_CASE( collapse_takes_a_subtree_with_an_empty_child ),
        TEST_CASE( evaluate_follows_equations_1_to_3 ),
        TEST_CASE( translate_follows_the_crowd_along_the_same_axis ),
        TEST_CASE( erase_keeps_the_larger_branch_with_all_objects ),
    };
    return test_run( "kd_operators", cases, TEST_COUNT( cases ), argc, argv );
}
