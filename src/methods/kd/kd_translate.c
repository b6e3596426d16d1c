// SPDX-License-Identifier: MIT
// Translate (figure 6c): all objects of the subtree come up, which again is a matter of indices; the plane
// moves to their mean on its axis; Filter sends them down. Below, every block is empty from here on, so
// nothing lies in between.
#include "kd/kd_tree.h"

#include "base/assertion.h"

static void lift( kd_tree* tree, kd_node* node )
{
    kd_node* left = &tree->nodes.items[node->left];
    kd_node* right = &tree->nodes.items[node->right];
    CLV_ASSERT( left->population <= node->begin && right->population <= tree->count - node->end );
    node->begin -= left->population;
    node->end += right->population;
    node->rest_begin = node->rest_end = node->begin;
    left->begin = left->end = left->rest_begin = left->rest_end = node->begin;
    right->begin = right->end = right->rest_begin = right->rest_end = node->end;
    left->population = right->population = 0;
    left->offset = right->offset = 0;
    left->lifted = right->lifted = true;
}

static double mean_centre( kd_tree* tree, const kd_node* node )
{
    CLV_ASSERT( node->begin < node->end );
    kd_block block = { .begin = node->begin, .end = node->end, .axis = node->axis };
    return clv_kd_block_centres( tree, &block ).sum[node->axis] / 2 / ( node->end - node->begin );
}

void clv_kd_translate( kd_tree* tree, uint32_t index )
{
    kd_node* node = &tree->nodes.items[index];
    CLV_ASSERT( !kd_node_is_leaf( node ) && node->offset == 0 && !node->lifted );
    lift( tree, node );
    CLV_ASSERT( node->end - node->begin == node->population );
    node->touched = true;
    if ( node->end > node->begin )
    {
        node->plane = (float)mean_centre( tree, node );
    }
    tree->counters.translate_count += 1;
    clv_kd_filter( tree, index );
}
