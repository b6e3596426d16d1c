// SPDX-License-Identifier: MIT
// Collapse (figure 6b, backwards): the blocks of a subtree are one stretch of the array, so taking them all
// is a matter of two indices, whatever is still delayed below.
#include "kd/kd_tree.h"

#include "base/assertion.h"

void clv_kd_collapse( kd_tree* tree, uint32_t index )
{
    kd_node* node = &tree->nodes.items[index];
    CLV_ASSERT( !kd_node_is_leaf( node ) && node->offset == 0 && !node->lifted );
    node->begin -= tree->nodes.items[node->left].population;
    node->end += tree->nodes.items[node->right].population;
    node->rest_begin = node->rest_end = node->begin;
    node->touched = true;
    node->refused = false;
    CLV_ASSERT( node->end - node->begin == node->population );
    clv_kd_subtree_free( tree, node->left );
    clv_kd_subtree_free( tree, node->right );
    node->left = node->right = KD_NONE;
    tree->counters.collapse_count += 1;
}
