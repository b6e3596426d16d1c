// SPDX-License-Identifier: MIT
#include "kd_fixture.h"

#include <string.h>

void kd_fixture_open( kd_fixture* g, uint32_t leaf_limit )
{
    static const float lower[3] = { -100, -100, -100 }, upper[3] = { 100, 100, 100 };
    memset( g, 0, sizeof( *g ) );
    g->memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    clv_kd_tree_init( &g->tree, &g->memory, clv_simd_method_kernels_for( CLV_ISA_SCALAR ), leaf_limit,
        KD_BALANCE_ALL, KD_FLOW_OURS );
    CHECK( clv_kd_tree_reserve( &g->tree, KD_FIXTURE_MOST ) );
    CHECK( clv_kd_tree_plant( &g->tree, lower, upper ) );
    g->tree.boxes = g->boxes;
}

void kd_fixture_close( kd_fixture* g )
{
    clv_kd_tree_release( &g->tree );
    CHECK_EQUAL( g->memory.bytes, 0 );
}

uint32_t kd_fixture_add( kd_fixture* g, float x, float y )
{
    uint32_t slot = g->count++;
    g->boxes[slot] = test_cube( x, y, 0, 0.5f );
    clv_kd_tree_append( &g->tree, slot );
    return slot;
}

void kd_fixture_check( kd_fixture* g )
{
    char text[256] = "";
    if ( !clv_kd_check( &g->tree, text, sizeof( text ) ) )
    {
        test_fail( __FILE__, __LINE__, "%s", text );
    }
}

void kd_fixture_update( kd_fixture* g )
{
    g->tree.counters = ( kd_counters ){ 0 };
    clv_kd_tree_admit( &g->tree, NULL );
    CHECK( clv_kd_refit( &g->tree ) );
    CHECK( clv_kd_optimize( &g->tree ) );
    kd_fixture_check( g );
}

kd_node* kd_fixture_node( kd_fixture* g, const char* path )
{
    kd_node* node = &g->tree.nodes.items[g->tree.root];
    for ( ; *path != '\0'; ++path )
    {
        CHECK( !kd_node_is_leaf( node ) );
        node = &g->tree.nodes.items[*path == 'L' ? node->left : node->right];
    }
    return node;
}

bool kd_fixture_owns( kd_fixture* g, const char* path, uint32_t slot )
{
    const kd_node* node = kd_fixture_node( g, path );
    for ( uint32_t i = node->begin; i < node->end; ++i )
    {
        if ( g->tree.order.items[i] == slot )
        {
            return true;
        }
    }
    return false;
}

void kd_fixture_add_row( kd_fixture* g, uint32_t count, float first, float step, float y )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        kd_fixture_add( g, first + step * (float)i, y );
    }
}

void kd_fixture_of_figure_5( kd_fixture* g )
{
    kd_fixture_open( g, 5 );
    kd_fixture_add_row( g, 4, -20, 1.5f, 0 );   // 0-3: LL
    kd_fixture_add_row( g, 4, -8.5f, 1.5f, 0 ); // 4-7: LR
    for ( int i = 0; i < 3; ++i )
    {
        kd_fixture_add( g, -12, 3 * (float)( i + 1 ) ); // 8-10: L
    }
    kd_fixture_add( g, 0, 0 );           // 11: root
    kd_fixture_add_row( g, 5, 9, 3, 0 ); // 12-16: R
    kd_tree* tree = &g->tree;
    // By hand, so that the planes are where the figure has them.
    uint32_t nodes[4];
    for ( int i = 0; i < 4; ++i )
    {
        nodes[i] = clv_kd_node_take( tree );
    }
    kd_node* root = &tree->nodes.items[tree->root];
    root->axis = 0, root->plane = 0, root->left = nodes[0], root->right = nodes[1];
    kd_node* left = &tree->nodes.items[nodes[0]];
    left->axis = 0, left->plane = -12, left->left = nodes[2], left->right = nodes[3];
    tree->nodes.items[nodes[0]].parent = tree->nodes.items[nodes[1]].parent = tree->root;
    tree->nodes.items[nodes[2]].parent = tree->nodes.items[nodes[3]].parent = nodes[0];
    const uint32_t order[17] = { 0, 1, 2, 3, 8, 9, 10, 4, 5, 6, 7, 11, 12, 13, 14, 15, 16 };
    memcpy( tree->order.items, order, sizeof( order ) );
    const uint32_t blocks[5][3] = { { nodes[2], 0, 4 }, { nodes[0], 4, 7 }, { nodes[3], 7, 11 },
        { tree->root, 11, 12 }, { nodes[1], 12, 17 } };
    for ( int i = 0; i < 5; ++i )
    {
        tree->nodes.items[blocks[i][0]].begin = blocks[i][1];
        tree->nodes.items[blocks[i][0]].end = blocks[i][2];
        tree->nodes.items[blocks[i][0]].rest_begin = tree->nodes.items[blocks[i][0]].rest_end = blocks[i][1];
    }
    static const float lower[3] = { -100, -100, -100 }, upper[3] = { 100, 100, 100 };
    clv_kd_tree_set_region( tree, lower, upper );
    CHECK( clv_kd_refit( tree ) ); // counts the populations
    kd_fixture_check( g );
}
