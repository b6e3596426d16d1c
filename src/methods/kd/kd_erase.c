// SPDX-License-Identifier: MIT
// Erase (figure 6d): the node and its smaller branch go, the larger branch takes their place and all objects.
// Comes after Translate, so the branch is empty below its top.
#include "kd/kd_tree.h"

#include "base/assertion.h"

uint32_t clv_kd_erase( kd_tree* tree, uint32_t index )
{
    kd_node* node = &tree->nodes.items[index];
    CLV_ASSERT( !kd_node_is_leaf( node ) && node->offset == 0 && !node->lifted );
    kd_node* left = &tree->nodes.items[node->left];
    kd_node* right = &tree->nodes.items[node->right];
    bool keep_left = left->population >= right->population;
    uint32_t kept_index = keep_left ? node->left : node->right;
    uint32_t gone_index = keep_left ? node->right : node->left;
    kd_node* kept = keep_left ? left : right;
    CLV_ASSERT(
        left->end - left->begin == left->population && right->end - right->begin == right->population );

    // What is below `kept` is empty and still to be told so; this tells it where the two ends are.
    kept->begin = left->begin;
    kept->end = right->end;
    kept->rest_begin = kept->rest_end = kept->begin;
    kept->population = node->population;
    CLV_ASSERT( kept->end - kept->begin == kept->population );
    kept->lifted = true;
    kept->offset = 0;
    kept->touched = true;
    kept->refused = false;

    kept->parent = node->parent;
    if ( node->parent == KD_NONE )
    {
        tree->root = kept_index;
    }
    else
    {
        kd_node* parent = &tree->nodes.items[node->parent];
        CLV_ASSERT( parent->left == index || parent->right == index );
        *( parent->left == index ? &parent->left : &parent->right ) = kept_index;
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        kept->lower[axis] = node->lower[axis];
        kept->upper[axis] = node->upper[axis];
    }

    tree->nodes.items[gone_index].parent = KD_NONE;
    clv_kd_subtree_free( tree, gone_index );
    node->left = node->right = KD_NONE;
    node->parent = KD_NONE;
    clv_kd_subtree_free( tree, index );
    tree->counters.erase_count += 1;
    return kept_index;
}
