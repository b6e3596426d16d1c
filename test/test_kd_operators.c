// SPDX-License-Identifier: MIT
// The tree of src/kd, operator by operator, on trees small enough to draw; figures 2 to 6 of the CGF 2019 paper as cases.
#include "kd/kd_search.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    MOST = 64
};

typedef struct grove
{
    base_memory memory;
    kd_tree tree;
    clv_aabb boxes[MOST];
    uint32_t count;
} grove;

static void grove_open( grove* g, uint32_t leaf_limit )
{
    static const float lower[3] = { -100, -100, -100 }, upper[3] = { 100, 100, 100 };
    memset( g, 0, sizeof( *g ) );
    g->memory = base_memory_make( ( clv_allocator ){ 0 } );
    kd_tree_init( &g->tree, &g->memory, simd_kernels_for( CLV_ISA_SCALAR ), leaf_limit, KD_BALANCE_ALL );
    CHECK( kd_tree_reserve( &g->tree, MOST ) );
    CHECK( kd_tree_plant( &g->tree, lower, upper ) );
    g->tree.boxes = g->boxes;
}

static void grove_close( grove* g )
{
    kd_tree_release( &g->tree );
    CHECK_EQUAL( g->memory.bytes, 0 );
}

// A cube of side 1 around (x, y, 0); its slot.
static uint32_t grove_add( grove* g, float x, float y )
{
    uint32_t slot = g->count++;
    g->boxes[slot] = test_cube( x, y, 0, 0.5f );
    kd_tree_append( &g->tree, slot );
    return slot;
}

static void grove_check( grove* g )
{
    char text[256] = "";
    if ( !kd_check( &g->tree, text, sizeof( text ) ) )
    {
        test_fail( __FILE__, __LINE__, "%s", text );
    }
}

static void grove_update( grove* g )
{
    g->tree.counters = ( kd_counters ){ 0 };
    kd_tree_admit( &g->tree, NULL );
    CHECK( kd_refit( &g->tree ) );
    CHECK( kd_optimize( &g->tree ) );
    grove_check( g );
}

static kd_node* node_at( grove* g, const char* path )
{
    kd_node* node = &g->tree.nodes[g->tree.root];
    for ( ; *path != '\0'; ++path )
    {
        CHECK( !kd_node_is_leaf( node ) );
        node = &g->tree.nodes[*path == 'L' ? node->left : node->right];
    }
    return node;
}

static bool node_owns( grove* g, const char* path, uint32_t slot )
{
    const kd_node* node = node_at( g, path );
    for ( uint32_t i = node->begin; i < node->end; ++i )
    {
        if ( g->tree.order[i] == slot )
        {
            return true;
        }
    }
    return false;
}

// A row of cubes at x = first, first + step, …
static void grove_add_row( grove* g, uint32_t count, float first, float step, float y )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        grove_add( g, first + step * (float)i, y );
    }
}

// Root cut at x = 0, left child at x = -12; objects 8, 9, 10 lie across the left child's plane, 11 across the root's.
static void grove_of_figure_5( grove* g )
{
    grove_open( g, 5 );
    grove_add_row( g, 4, -20, 1.5f, 0 );   // 0-3: LL
    grove_add_row( g, 4, -8.5f, 1.5f, 0 ); // 4-7: LR
    for ( int i = 0; i < 3; ++i )
    {
        grove_add( g, -12, 3 * (float)( i + 1 ) ); // 8-10: L
    }
    grove_add( g, 0, 0 );           // 11: root
    grove_add_row( g, 5, 9, 3, 0 ); // 12-16: R
    kd_tree* tree = &g->tree;
    // By hand, so that the planes are where the figure has them.
    uint32_t nodes[4];
    for ( int i = 0; i < 4; ++i )
    {
        nodes[i] = kd_node_take( tree );
    }
    kd_node* root = &tree->nodes[tree->root];
    root->axis = 0, root->plane = 0, root->left = nodes[0], root->right = nodes[1];
    kd_node* left = &tree->nodes[nodes[0]];
    left->axis = 0, left->plane = -12, left->left = nodes[2], left->right = nodes[3];
    tree->nodes[nodes[0]].parent = tree->nodes[nodes[1]].parent = tree->root;
    tree->nodes[nodes[2]].parent = tree->nodes[nodes[3]].parent = nodes[0];
    const uint32_t order[17] = { 0, 1, 2, 3, 8, 9, 10, 4, 5, 6, 7, 11, 12, 13, 14, 15, 16 };
    memcpy( tree->order, order, sizeof( order ) );
    const uint32_t blocks[5][3] = { { nodes[2], 0, 4 }, { nodes[0], 4, 7 }, { nodes[3], 7, 11 },
        { tree->root, 11, 12 }, { nodes[1], 12, 17 } };
    for ( int i = 0; i < 5; ++i )
    {
        tree->nodes[blocks[i][0]].begin = blocks[i][1];
        tree->nodes[blocks[i][0]].end = blocks[i][2];
        tree->nodes[blocks[i][0]].rest_begin = tree->nodes[blocks[i][0]].rest_end = blocks[i][1];
    }
    static const float lower[3] = { -100, -100, -100 }, upper[3] = { 100, 100, 100 };
    kd_tree_set_region( tree, lower, upper );
    CHECK( kd_refit( tree ) ); // counts the populations
    grove_check( g );
}

// ---- figures

static void figure_2_objects_reach_their_ideal_position( void )
{
    grove g;
    grove_of_figure_5( &g );
    // From LL into LR: an incorrect position, so the refit takes it as far up as needed: L holds it, which is fitting.
    g.boxes[0] = test_cube( -6, -4, 0, 0.5f );
    CHECK( kd_refit( &g.tree ) );
    CHECK( node_owns( &g, "L", 0 ) );
    // The optimisation takes it down to the deepest node that holds it.
    CHECK( kd_optimize( &g.tree ) );
    grove_check( &g );
    CHECK( node_owns( &g, "LR", 0 ) );
    CHECK_EQUAL( g.tree.counters.refit_count, 1 );
    CHECK( g.tree.counters.filter_count >= 1 );
    grove_close( &g );
}

static clv_result refuse( pair_sink* sink )
{
    (void)sink;
    return CLV_TOO_MANY_PAIRS;
}

static void figure_3_externals_go_only_where_they_reach( void )
{
    // Root cut at x = 0, its right child at y = 0. Of the two objects across the root's plane each is external to one of
    // the right child's children.
    grove g;
    grove_open( &g, 4 );
    grove_add( &g, 0, 20 );
    grove_add( &g, 0, -20 );
    for ( int i = 0; i < 4; ++i )
    {
        grove_add( &g, -10 - 2 * (float)i, 2 * (float)i - 3 );
        grove_add( &g, 10 + 2 * (float)( i % 2 ), 20 + 3 * (float)( i / 2 ) );
        grove_add( &g, 10 + 2 * (float)( i % 2 ), -20 - 3 * (float)( i / 2 ) );
    }
    kd_tree* tree = &g.tree;
    uint32_t nodes[4];
    for ( int i = 0; i < 4; ++i )
    {
        nodes[i] = kd_node_take( tree );
    }
    kd_node* root = &tree->nodes[tree->root];
    root->axis = 0, root->plane = 0, root->left = nodes[0], root->right = nodes[1];
    tree->nodes[nodes[0]].parent = tree->nodes[nodes[1]].parent = tree->root;
    kd_node* right = &tree->nodes[nodes[1]];
    right->axis = 1, right->plane = 0, right->left = nodes[2], right->right = nodes[3];
    tree->nodes[nodes[2]].parent = tree->nodes[nodes[3]].parent = nodes[1];
    for ( int i = 0; i < 4; ++i )
    {
        tree->nodes[nodes[i]].begin = tree->nodes[nodes[i]].end = i == 0 ? 0 : tree->count;
    }
    kd_refit( tree );
    kd_filter( tree, tree->root );
    kd_node_settle( tree, nodes[1] );
    kd_filter( tree, nodes[1] );
    for ( int i = 2; i < 4; ++i )
    {
        kd_node_settle( tree, nodes[i] );
    }
    grove_check( &g );
    CHECK_EQUAL( node_at( &g, "" )->end - node_at( &g, "" )->begin, 2 );

    kd_search search;
    kd_search_init( &search, &g.memory, tree->kernels, true );
    clv_pair pairs[256];
    pair_sink sink = { pairs, 0, 256, refuse };
    CHECK_OK( kd_search_run( &search, tree, g.boxes, NULL, &sink ) );
    // Left 2, right 2, right-left 1, right-right 1.
    CHECK_EQUAL( search.counters.external_count, 6 );
    CHECK_EQUAL( search.counters.node_count, 5 );
    CHECK_EQUAL( sink.count, 0 );
    kd_search_release( &search );
    grove_close( &g );
}

static void figure_4_blocks_follow_the_in_order_traversal( void )
{
    grove g;
    grove_of_figure_5( &g );
    const uint32_t expected[17] = { 0, 1, 2, 3, 8, 9, 10, 4, 5, 6, 7, 11, 12, 13, 14, 15, 16 };
    CHECK( memcmp( g.tree.order, expected, sizeof( expected ) ) == 0 );
    const char* const walk[5] = { "LL", "L", "LR", "", "R" };
    uint32_t at = 0;
    for ( int i = 0; i < 5; ++i )
    {
        CHECK_EQUAL( node_at( &g, walk[i] )->begin, at );
        at = node_at( &g, walk[i] )->end;
    }
    CHECK_EQUAL( at, 17 );
    grove_close( &g );
}

static void figure_5_leavers_pass_the_inner_child_with_a_delayed_offset( void )
{
    grove g;
    grove_of_figure_5( &g );
    for ( uint32_t slot = 8; slot <= 10; ++slot )
    {
        g.boxes[slot] = test_cube( 0, 3 * (float)( slot - 7 ), 0, 0.5f ); // across the root's plane
    }
    CHECK( kd_refit( &g.tree ) );
    const uint32_t expected[17] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
    CHECK( memcmp( g.tree.order, expected, sizeof( expected ) ) == 0 );
    CHECK_EQUAL( node_at( &g, "L" )->begin, 4 );
    CHECK_EQUAL( node_at( &g, "L" )->end, 4 );
    CHECK_EQUAL( node_at( &g, "" )->begin, 8 );
    CHECK_EQUAL( node_at( &g, "" )->end, 12 );
    // The block in between moved by three; its indices do not know yet.
    CHECK( node_at( &g, "LR" )->offset == -3 );
    CHECK_EQUAL( node_at( &g, "LR" )->begin, 7 );
    CHECK_EQUAL( g.tree.counters.shift_count, 4 );
    kd_node_settle( &g.tree, node_at( &g, "" )->left );
    kd_node_settle( &g.tree, node_at( &g, "L" )->right );
    CHECK_EQUAL( node_at( &g, "LR" )->begin, 4 );
    CHECK_EQUAL( node_at( &g, "LR" )->end, 8 );
    CHECK( kd_optimize( &g.tree ) );
    grove_check( &g );
    grove_close( &g );
}

static void figure_5_in_the_mirror_shifts_upwards( void )
{
    // The same tree turned round: what was left of a plane is right of it.
    grove g;
    grove_of_figure_5( &g );
    kd_tree* tree = &g.tree;
    for ( uint32_t slot = 12; slot <= 16; ++slot )
    {
        g.boxes[slot] = test_cube( slot < 14 ? 5.0f : 20.0f, 4 * (float)slot - 56, 0, 0.5f );
    }
    uint32_t right = tree->nodes[tree->root].right;
    uint32_t inner = kd_node_take( tree ), outer = kd_node_take( tree );
    kd_node* node = &tree->nodes[right];
    node->axis = 0, node->plane = 12, node->left = inner, node->right = outer;
    tree->nodes[inner].parent = tree->nodes[outer].parent = right;
    tree->nodes[inner].begin = tree->nodes[inner].end = 12;
    tree->nodes[outer].begin = tree->nodes[outer].end = 17;
    kd_filter( tree, right );
    kd_node_settle( tree, inner );
    kd_node_settle( tree, outer );
    CHECK_EQUAL( tree->nodes[inner].end - tree->nodes[inner].begin, 2 );
    // One that lies across the plane of the right child, then across the root's.
    g.boxes[14] = test_cube( 12, 30, 0, 0.5f );
    CHECK( kd_refit( tree ) );
    CHECK( node_owns( &g, "R", 14 ) );
    kd_node_settle( tree, right );
    kd_node_settle( tree, inner );
    g.boxes[14] = test_cube( 0, 30, 0, 0.5f );
    CHECK( kd_refit( tree ) );
    CHECK( node_owns( &g, "", 14 ) );
    CHECK( tree->nodes[inner].offset == 1 );
    grove_close( &g );
}

// ---- operators, figure 6

static void filter_hands_down_both_sides_and_keeps_what_lies_across( void )
{
    grove g;
    grove_open( &g, 3 );
    grove_add_row( &g, 3, -9, 3, 0 );
    grove_add( &g, 0, 0 );
    grove_add_row( &g, 3, 3, 3, 0 );
    grove_update( &g );
    const kd_node* root = node_at( &g, "" );
    CHECK( root->plane == 0.0f && root->axis == 0 );
    CHECK_EQUAL( root->end - root->begin, 1 );
    CHECK( node_owns( &g, "", 3 ) );
    CHECK_EQUAL( node_at( &g, "L" )->population, 3 );
    CHECK_EQUAL( node_at( &g, "R" )->population, 3 );
    grove_close( &g );
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
    grove g;
    grove_open( &g, 4 );
    for ( int i = 0; i < 6; ++i )
    {
        grove_add( &g, 0.1f * (float)i, 10 * (float)i );
    }
    grove_update( &g );
    CHECK_EQUAL( node_at( &g, "" )->axis, 1 );
    CHECK( node_at( &g, "" )->plane == 25.0f );
    CHECK_EQUAL( g.tree.counters.partition_count, 1 );
    grove_close( &g );
}

static void partition_does_not_cut_bars_across( void )
{
    // Long along x and spread most along x, but any plane there would cut them all.
    grove g;
    grove_open( &g, 8 );
    for ( int i = 0; i < 32; ++i )
    {
        float x = (float)( i * 7 % 32 - 16 );
        float y = (float)( i * 13 % 32 - 16 ) * 0.4f;
        g.boxes[g.count] = test_box( x - 40, y, 0, x + 40, y + 0.1f, 0.1f );
        kd_tree_append( &g.tree, g.count++ );
    }
    grove_update( &g );
    CHECK( !kd_node_is_leaf( node_at( &g, "" ) ) );
    CHECK_EQUAL( node_at( &g, "" )->axis, 1 );
    grove_close( &g );
}

static void identical_boxes_stay_in_one_leaf_and_are_left_alone( void )
{
    grove g;
    grove_open( &g, 4 );
    for ( int i = 0; i < 20; ++i )
    {
        grove_add( &g, 1, 2 );
    }
    grove_update( &g );
    CHECK( kd_node_is_leaf( node_at( &g, "" ) ) );
    CHECK( node_at( &g, "" )->refused );
    CHECK_EQUAL( g.tree.counters.refusal_count, 1 );
    // Known not to have changed: not even tried again.
    static const uint64_t nothing[1] = { 0 };
    g.tree.changed = nothing;
    grove_update( &g );
    CHECK_EQUAL( g.tree.counters.refusal_count, 0 );
    // One moves: tried again.
    static const uint64_t first[1] = { 1 };
    g.tree.changed = first;
    g.boxes[0] = test_cube( 3, 2, 0, 0.5f );
    grove_update( &g );
    CHECK_EQUAL( g.tree.counters.refusal_count, 1 );
    grove_close( &g );
}

static void collapse_gathers_a_thin_subtree( void )
{
    grove g;
    grove_open( &g, 4 );
    grove_add_row( &g, 8, -14, 4, 0 );
    grove_update( &g );
    CHECK( g.tree.node_count >= 3 );
    uint64_t live[1] = { 0x7 }; // 0, 1 and 2
    kd_tree_remove_dead( &g.tree, live, NULL );
    CHECK_EQUAL( g.tree.count, 3 );
    grove_update( &g );
    CHECK_EQUAL( g.tree.node_count, 1 );
    CHECK_EQUAL( node_at( &g, "" )->end, 3 );
    CHECK_EQUAL( g.tree.counters.collapse_count, 1 );
    grove_close( &g );
}

static void collapse_takes_a_subtree_with_an_empty_child( void )
{
    grove g;
    grove_open( &g, 4 );
    grove_add_row( &g, 8, -14, 4, 0 );
    grove_update( &g );
    for ( uint32_t slot = 0; slot < 8; ++slot )
    {
        g.boxes[slot] = test_cube( 30 + 4 * (float)slot, 0, 0, 0.5f );
    }
    grove_update( &g );
    CHECK( g.tree.counters.collapse_count > 0 );
    CHECK( g.tree.counters.partition_count > 0 ); // and cut again where they are now
    CHECK( node_at( &g, "" )->plane > 30.0f );
    grove_close( &g );
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
        // Straddlers: Cost passes Balance at 31 in a hundred, or later if they do not count against the balance.
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
        CHECK( kd_evaluate( KD_BALANCE_ALL, cases[i].own, cases[i].left, cases[i].right ) == cases[i].all );
        CHECK( kd_evaluate( KD_BALANCE_CHILDREN, cases[i].own, cases[i].left, cases[i].right ) ==
            cases[i].children );
    }
}

static void translate_follows_the_crowd_along_the_same_axis( void )
{
    grove g;
    grove_open( &g, 8 );
    grove_add_row( &g, 12, -22, 4, 0 );
    grove_update( &g );
    CHECK( node_at( &g, "" )->plane == 0.0f );
    for ( uint32_t slot = 0; slot < 12; ++slot )
    {
        g.boxes[slot] = test_cube( -2 + 4 * (float)slot, 0, 0, 0.5f );
    }
    grove_update( &g );
    CHECK_EQUAL( g.tree.counters.translate_count, 1 );
    CHECK_EQUAL( g.tree.counters.erase_count, 0 );
    CHECK( node_at( &g, "" )->plane == 20.0f && node_at( &g, "" )->axis == 0 );
    CHECK_EQUAL( node_at( &g, "L" )->population, 6 );
    grove_close( &g );
}

static void erase_keeps_the_larger_branch_with_all_objects( void )
{
    grove g;
    grove_of_figure_5( &g );
    // All on one spot across the root's plane but a few: no plane along x is good for the root any more.
    for ( uint32_t slot = 0; slot < 17; ++slot )
    {
        g.boxes[slot] = test_cube( slot < 13 ? 0.0f : slot < 15 ? -20.0f : 20.0f, 3 * (float)slot, 0, 0.5f );
    }
    grove_update( &g );
    CHECK( g.tree.counters.erase_count >= 1 );
    CHECK( node_at( &g, "" )->axis == 1 ); // built again the other way
    CHECK_EQUAL( g.tree.count, 17 );
    grove_close( &g );
}

// ---- the update as a whole

static void a_second_update_changes_nothing_at_all( void )
{
    for ( uint64_t seed = 1; seed <= 50; ++seed )
    {
        test_where.seed = seed;
        test_random random = test_random_make( seed );
        grove g;
        grove_open( &g, 1 + test_random_below( &random, 8 ) );
        for ( uint32_t i = 0; i < MOST; ++i )
        {
            grove_add( &g, test_random_between( &random, -30, 30 ), test_random_between( &random, -30, 30 ) );
        }
        grove_update( &g );
        for ( uint32_t i = 0; i < MOST; ++i )
        {
            g.boxes[i] = test_cube(
                test_random_between( &random, -30, 30 ), test_random_between( &random, -30, 30 ), 0, 0.5f );
        }
        grove_update( &g );
        uint32_t order[MOST];
        memcpy( order, g.tree.order, sizeof( order ) );
        size_t size = g.tree.node_end * sizeof( kd_node );
        kd_node* nodes = malloc( size );
        memcpy( nodes, g.tree.nodes, size );
        for ( uint32_t i = 0; i < g.tree.node_end; ++i )
        {
            nodes[i].touched = g.tree.nodes[i].touched =
                true; // a note for the next update, not part of the tree
        }
        grove_update( &g );
        CHECK( memcmp( order, g.tree.order, sizeof( order ) ) == 0 );
        for ( uint32_t i = 0; i < g.tree.node_end; ++i )
        {
            g.tree.nodes[i].touched = true;
        }
        CHECK( memcmp( nodes, g.tree.nodes, size ) == 0 );
        CHECK_EQUAL(
            g.tree.counters.refit_count + g.tree.counters.filter_count + g.tree.counters.shift_count, 0 );
        free( nodes );
        grove_close( &g );
    }
}

static void the_last_object_takes_the_place_of_a_removed_one( void )
{
    grove g;
    grove_open( &g, 4 );
    grove_add_row( &g, 8, -14, 4, 0 );
    grove_update( &g );
    uint32_t last = g.tree.order[7];
    uint32_t first = g.tree.order[0];
    uint64_t live[1] = { 0xFF & ~( (uint64_t)1 << first ) };
    uint64_t displaced[1] = { 0 };
    kd_tree_remove_dead( &g.tree, live, displaced );
    CHECK_EQUAL( g.tree.order[0], last );
    CHECK_EQUAL( displaced[0], (uint64_t)1 << last );
    CHECK_EQUAL( g.tree.count, 7 );
    grove_update( &g );
    // And one at the end of the array finds its place.
    kd_tree_append( &g.tree, first );
    CHECK_EQUAL( g.tree.order[7], first );
    grove_update( &g );
    CHECK( g.tree.order[7] != first );
    grove_close( &g );
}

static void what_the_root_does_not_hold_waits_outside( void )
{
    grove g;
    grove_open( &g, 4 );
    grove_add_row( &g, 8, -14, 4, 0 );
    g.boxes[3] = test_box( -INFINITY, 0, 0, INFINITY, 1, 1 );
    g.boxes[5] = test_cube( 1e9f, 0, 0, 1 );
    grove_update( &g );
    CHECK_EQUAL( g.tree.outside_count, 2 );
    CHECK_EQUAL( g.tree.count, 6 );
    g.boxes[5] = test_cube( 6, 0, 0, 1 );
    grove_update( &g );
    CHECK_EQUAL( g.tree.outside_count, 1 );
    CHECK_EQUAL( g.tree.outside[0], 3 );
    CHECK_EQUAL( g.tree.count, 7 );
    grove_close( &g );
}

static void depth_stays_bounded_by_the_balance( void )
{
    // Each object twice as far out as the one before: the mean always lies beside the crowd.
    grove g;
    grove_open( &g, 1 );
    for ( int i = 0; i < 40; ++i )
    {
        float x = ldexpf( 1, -i ) * 90;
        g.boxes[g.count] = test_box( x, 0, 0, x * 1.01f, 1, 1 );
        kd_tree_append( &g.tree, g.count++ );
    }
    grove_update( &g );
    CHECK( kd_tree_height( &g.tree ) <= 20 );
    grove_close( &g );
}

// ---- instruments

typedef void damage( grove* g );

static void damage_offset( grove* g )
{
    node_at( g, "LR" )->offset = 1;
}
static void damage_block( grove* g )
{
    node_at( g, "L" )->begin -= 1;
}
static void damage_population( grove* g )
{
    node_at( g, "" )->population += 1;
}
static void damage_region( grove* g )
{
    node_at( g, "LL" )->upper[0] += 1;
}
static void damage_parent( grove* g )
{
    node_at( g, "LL" )->parent = KD_NONE;
}
static void damage_place( grove* g )
{
    g->boxes[0] = test_cube( 50, 0, 0, 0.5f );
}
static void damage_ideal( grove* g )
{
    g->boxes[11] = test_cube( 3, 0, 0, 0.5f );
}
static void damage_limit( grove* g )
{
    g->tree.leaf_limit = 3;
}
static void damage_least( grove* g )
{
    g->tree.leaf_limit = 15;
}
static void damage_child( grove* g )
{
    node_at( g, "L" )->right = KD_NONE;
}
static void damage_end( grove* g )
{
    g->tree.count -= 1;
}

static void the_checker_names_every_kind_of_damage( void )
{
    static const struct
    {
        damage* act;
        const char* word;
    } cases[] = {
        { damage_offset, "delayed offset" },
        { damage_block, "in-order" },
        { damage_population, "population" },
        { damage_region, "plane" },
        { damage_parent, "parent" },
        { damage_place, "does not hold" },
        { damage_ideal, "R3" },
        { damage_limit, "R1" },
        { damage_least, "R2" },
        { damage_child, "strictly binary" },
        { damage_end, "array" },
    };
    for ( size_t i = 0; i < TEST_COUNT( cases ); ++i )
    {
        grove g;
        grove_of_figure_5( &g );
        cases[i].act( &g );
        char text[256] = "";
        test_where.note = cases[i].word;
        CHECK( !kd_check( &g.tree, text, sizeof( text ) ) );
        if ( strstr( text, cases[i].word ) == NULL )
        {
            test_fail( __FILE__, __LINE__, "'%s' does not speak of '%s'", text, cases[i].word );
        }
        kd_tree_release( &g.tree );
    }
}

static void the_dump_tells_every_node_and_object( void )
{
    grove g;
    grove_of_figure_5( &g );
    size_t length = kd_dump( &g.tree, NULL, 0 );
    char* text = malloc( length + 1 );
    CHECK_EQUAL( kd_dump( &g.tree, text, length + 1 ), length );
    CHECK_EQUAL( strlen( text ), length );
    uint32_t nodes = 0;
    for ( const char* at = text; ( at = strstr( at, "\"node\":" ) ) != NULL; ++at )
    {
        nodes += 1;
    }
    CHECK_EQUAL( nodes, 5 );
    CHECK( strstr( text, "\"objects\": [8, 9, 10]" ) != NULL );
    CHECK( strstr( text, "\"plane\": -12" ) != NULL );
    char small[16];
    CHECK_EQUAL( kd_dump( &g.tree, small, sizeof( small ) ), length );
    CHECK_EQUAL( strlen( small ), sizeof( small ) - 1 );
    free( text );
    grove_close( &g );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( figure_2_objects_reach_their_ideal_position ),
        TEST_CASE( figure_3_externals_go_only_where_they_reach ),
        TEST_CASE( figure_4_blocks_follow_the_in_order_traversal ),
        TEST_CASE( figure_5_leavers_pass_the_inner_child_with_a_delayed_offset ),
        TEST_CASE( figure_5_in_the_mirror_shifts_upwards ),
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
        TEST_CASE( a_second_update_changes_nothing_at_all ),
        TEST_CASE( the_last_object_takes_the_place_of_a_removed_one ),
        TEST_CASE( what_the_root_does_not_hold_waits_outside ),
        TEST_CASE( depth_stays_bounded_by_the_balance ),
        TEST_CASE( the_checker_names_every_kind_of_damage ),
        TEST_CASE( the_dump_tells_every_node_and_object ),
    };
    return test_run( "kd_operators", cases, TEST_COUNT( cases ), argc, argv );
}
