// SPDX-License-Identifier: MIT
// Figures 2 to 5 of the CGF 2019 paper as cases: where objects belong, which are external, how blocks lie and
// how they move.
#include "kd_fixture.h"

#include <string.h>

static void figure_2_objects_reach_their_ideal_position( void )
{
    kd_fixture g;
    kd_fixture_of_figure_5( &g );
    // From LL into LR: an incorrect position, so the refit takes it as far up as needed: L holds it, which is
    // fitting.
    g.boxes[0] = test_cube( -6, -4, 0, 0.5f );
    CHECK( clv_kd_refit( &g.tree ) );
    CHECK( kd_fixture_owns( &g, "L", 0 ) );
    // The optimisation takes it down to the deepest node that holds it.
    CHECK( clv_kd_optimize( &g.tree ) );
    kd_fixture_check( &g );
    CHECK( kd_fixture_owns( &g, "LR", 0 ) );
    CHECK_EQUAL( g.tree.counters.refit_count, 1 );
    CHECK( g.tree.counters.filter_count >= 1 );
    kd_fixture_close( &g );
}

static clv_result refuse( clv_pair_sink* sink )
{
    (void)sink;
    return CLV_TOO_MANY_PAIRS;
}

static void figure_3_externals_go_only_where_they_reach( void )
{
    // Root cut at x = 0, its right child at y = 0. Of the two objects across the root's plane each is
    // external to one of the right child's children.
    kd_fixture g;
    kd_fixture_open( &g, 4 );
    kd_fixture_add( &g, 0, 20 );
    kd_fixture_add( &g, 0, -20 );
    for ( int i = 0; i < 4; ++i )
    {
        kd_fixture_add( &g, -10 - 2 * (float)i, 2 * (float)i - 3 );
        kd_fixture_add( &g, 10 + 2 * (float)( i % 2 ), 20 + 3 * (float)( i / 2 ) );
        kd_fixture_add( &g, 10 + 2 * (float)( i % 2 ), -20 - 3 * (float)( i / 2 ) );
    }
    kd_tree* tree = &g.tree;
    uint32_t nodes[4];
    for ( int i = 0; i < 4; ++i )
    {
        nodes[i] = clv_kd_node_take( tree );
    }
    kd_node* root = &tree->nodes.items[tree->root];
    root->axis = 0, root->plane = 0, root->left = nodes[0], root->right = nodes[1];
    tree->nodes.items[nodes[0]].parent = tree->nodes.items[nodes[1]].parent = tree->root;
    kd_node* right = &tree->nodes.items[nodes[1]];
    right->axis = 1, right->plane = 0, right->left = nodes[2], right->right = nodes[3];
    tree->nodes.items[nodes[2]].parent = tree->nodes.items[nodes[3]].parent = nodes[1];
    for ( int i = 0; i < 4; ++i )
    {
        tree->nodes.items[nodes[i]].begin = tree->nodes.items[nodes[i]].end = i == 0 ? 0 : tree->count;
    }
    clv_kd_refit( tree );
    clv_kd_filter( tree, tree->root );
    clv_kd_node_settle( tree, nodes[1] );
    clv_kd_filter( tree, nodes[1] );
    for ( int i = 2; i < 4; ++i )
    {
        clv_kd_node_settle( tree, nodes[i] );
    }
    kd_fixture_check( &g );
    CHECK_EQUAL( kd_fixture_node( &g, "" )->end - kd_fixture_node( &g, "" )->begin, 2 );

    kd_search search;
    kd_search_rules rules = { .sweep = KD_SWEEP_SMALL };
    clv_kd_search_init( &search, &g.memory, tree->kernels, &rules );
    clv_pair pairs[256];
    clv_pair_sink sink = { .pairs = pairs, .capacity = 256, .make_room = refuse };
    kd_search_job job = { &search, tree, g.boxes, NULL, NULL, &sink, 0, 1, 0 };
    CHECK_OK( clv_kd_search_begin( &job ) );
    CHECK_OK( clv_kd_search_walk( &job, clv_kd_search_root( &job ) ) );
    clv_kd_search_end( &job, true );
    // Left 2, right 2, right-left 1, right-right 1.
    CHECK_EQUAL( search.counters.external_count, 6 );
    CHECK_EQUAL( search.counters.node_count, 5 );
    CHECK_EQUAL( sink.count, 0 );
    clv_kd_search_release( &search );
    kd_fixture_close( &g );
}

static void figure_4_blocks_follow_the_in_order_traversal( void )
{
    kd_fixture g;
    kd_fixture_of_figure_5( &g );
    const uint32_t expected[17] = { 0, 1, 2, 3, 8, 9, 10, 4, 5, 6, 7, 11, 12, 13, 14, 15, 16 };
    CHECK( memcmp( g.tree.order.items, expected, sizeof( expected ) ) == 0 );
    const char* const walk[5] = { "LL", "L", "LR", "", "R" };
    uint32_t at = 0;
    for ( int i = 0; i < 5; ++i )
    {
        CHECK_EQUAL( kd_fixture_node( &g, walk[i] )->begin, at );
        at = kd_fixture_node( &g, walk[i] )->end;
    }
    CHECK_EQUAL( at, 17 );
    kd_fixture_close( &g );
}

static void figure_5_leavers_pass_the_inner_child_with_a_delayed_offset( void )
{
    kd_fixture g;
    kd_fixture_of_figure_5( &g );
    for ( uint32_t slot = 8; slot <= 10; ++slot )
    {
        g.boxes[slot] = test_cube( 0, 3 * (float)( slot - 7 ), 0, 0.5f ); // across the root's plane
    }
    CHECK( clv_kd_refit( &g.tree ) );
    const uint32_t expected[17] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
    CHECK( memcmp( g.tree.order.items, expected, sizeof( expected ) ) == 0 );
    CHECK_EQUAL( kd_fixture_node( &g, "L" )->begin, 4 );
    CHECK_EQUAL( kd_fixture_node( &g, "L" )->end, 4 );
    CHECK_EQUAL( kd_fixture_node( &g, "" )->begin, 8 );
    CHECK_EQUAL( kd_fixture_node( &g, "" )->end, 12 );
    // The block in between moved by three; its indices do not know yet.
    CHECK( kd_fixture_node( &g, "LR" )->offset == -3 );
    CHECK_EQUAL( kd_fixture_node( &g, "LR" )->begin, 7 );
    CHECK_EQUAL( g.tree.counters.shift_count, 4 );
    clv_kd_node_settle( &g.tree, kd_fixture_node( &g, "" )->left );
    clv_kd_node_settle( &g.tree, kd_fixture_node( &g, "L" )->right );
    CHECK_EQUAL( kd_fixture_node( &g, "LR" )->begin, 4 );
    CHECK_EQUAL( kd_fixture_node( &g, "LR" )->end, 8 );
    CHECK( clv_kd_optimize( &g.tree ) );
    kd_fixture_check( &g );
    kd_fixture_close( &g );
}

static void figure_5_in_the_mirror_shifts_upwards( void )
{
    // The same tree turned round: what was left of a plane is right of it.
    kd_fixture g;
    kd_fixture_of_figure_5( &g );
    kd_tree* tree = &g.tree;
    for ( uint32_t slot = 12; slot <= 16; ++slot )
    {
        g.boxes[slot] = test_cube( slot < 14 ? 5.0f : 20.0f, 4 * (float)slot - 56, 0, 0.5f );
    }
    uint32_t right = tree->nodes.items[tree->root].right;
    uint32_t inner = clv_kd_node_take( tree ), outer = clv_kd_node_take( tree );
    kd_node* node = &tree->nodes.items[right];
    node->axis = 0, node->plane = 12, node->left = inner, node->right = outer;
    tree->nodes.items[inner].parent = tree->nodes.items[outer].parent = right;
    tree->nodes.items[inner].begin = tree->nodes.items[inner].end = 12;
    tree->nodes.items[outer].begin = tree->nodes.items[outer].end = 17;
    clv_kd_filter( tree, right );
    clv_kd_node_settle( tree, inner );
    clv_kd_node_settle( tree, outer );
    CHECK_EQUAL( tree->nodes.items[inner].end - tree->nodes.items[inner].begin, 2 );
    // One that lies across the plane of the right child, then across the root's.
    g.boxes[14] = test_cube( 12, 30, 0, 0.5f );
    CHECK( clv_kd_refit( tree ) );
    CHECK( kd_fixture_owns( &g, "R", 14 ) );
    clv_kd_node_settle( tree, right );
    clv_kd_node_settle( tree, inner );
    g.boxes[14] = test_cube( 0, 30, 0, 0.5f );
    CHECK( clv_kd_refit( tree ) );
    CHECK( kd_fixture_owns( &g, "", 14 ) );
    CHECK( tree->nodes.items[inner].offset == 1 );
    kd_fixture_close( &g );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( figure_2_objects_reach_their_ideal_position ),
        TEST_CASE( figure_3_externals_go_only_where_they_reach ),
        TEST_CASE( figure_4_blocks_follow_the_in_order_traversal ),
        TEST_CASE( figure_5_leavers_pass_the_inner_child_with_a_delayed_offset ),
        TEST_CASE( figure_5_in_the_mirror_shifts_upwards ),
    };
    return test_run( "kd_figures", cases, TEST_COUNT( cases ), argc, argv );
}
