// SPDX-License-Identifier: MIT
// Optimisation, figure 7, in the order of the original program: Filter, Collapse, Evaluate, Translate,
// Evaluate, Erase for an inner node; Partition for a leaf. The paper's text has Collapse before Filter, and
// so has KD_FLOW_2019. Top-down, so every object reaches the deepest node that holds it in one pass.
#include "kd/kd_tree.h"

#include "base/assertion.h"

static bool is_well_cut( kd_tree* tree, const kd_node* node )
{
    tree->counters.evaluate_count += 1;
    CLV_ASSERT( node->population ==
        node->end - node->begin + tree->nodes.items[node->left].population +
            tree->nodes.items[node->right].population );
    return clv_kd_evaluate( tree->balance, node->end - node->begin, tree->nodes.items[node->left].population,
        tree->nodes.items[node->right].population );
}

static bool is_to_collapse( const kd_tree* tree, const kd_node* node )
{
    uint32_t left = tree->nodes.items[node->left].population;
    uint32_t right = tree->nodes.items[node->right].population;
    bool is_bare = tree->flow == KD_FLOW_OURS ? left == 0 || right == 0
                                              : tree->flow == KD_FLOW_2015 && left == 0 && right == 0;
    return node->population < tree->leaf_limit || is_bare;
}

// Returns the node to go on with below: itself, or the one that took its place; then *again is set.
static uint32_t improve_inner( kd_tree* tree, uint32_t index, bool* again )
{
    *again = false;
    bool collapses_first = tree->flow == KD_FLOW_2019;
    if ( !collapses_first )
    {
        clv_kd_filter( tree, index );
    }
    if ( is_to_collapse( tree, &tree->nodes.items[index] ) )
    {
        clv_kd_collapse( tree, index );
        *again = true; // as a leaf it may need a better plane
        return index;
    }
    if ( collapses_first )
    {
        clv_kd_filter( tree, index );
    }
    if ( is_well_cut( tree, &tree->nodes.items[index] ) )
    {
        return index;
    }
    clv_kd_translate( tree, index );
    if ( is_well_cut( tree, &tree->nodes.items[index] ) )
    {
        return index;
    }
    *again = true;
    return clv_kd_erase( tree, index );
}

static bool improve_leaf( kd_tree* tree, uint32_t index )
{
    kd_node* leaf = &tree->nodes.items[index];
    CLV_ASSERT( leaf->offset == 0 && leaf->begin <= leaf->end );
    leaf->population = leaf->end - leaf->begin;
    kd_node_tidy_rest( leaf );
    if ( leaf->population <= tree->leaf_limit )
    {
        leaf->refused = false;
        leaf->touched = false;
        return true;
    }
    if ( leaf->refused && !leaf->touched )
    {
        return true; // nothing changed, so the answer would be the same
    }
    leaf->touched = false;
    return clv_kd_partition( tree, index );
}

bool clv_kd_optimize( kd_tree* tree )
{
    uint32_t depth = 0;
    tree->stack.items[depth++] = tree->root;
    while ( depth > 0 )
    {
        uint32_t index = tree->stack.items[--depth];
        clv_kd_node_settle( tree, index );
        bool again = false;
        if ( kd_node_is_leaf( &tree->nodes.items[index] ) )
        {
            if ( !improve_leaf( tree, index ) )
            {
                return false;
            }
            // Fresh from Partition, which has filtered and evaluated already.
        }
        else
        {
            index = improve_inner( tree, index, &again );
        }
        const kd_node* node = &tree->nodes.items[index];
        CLV_ASSERT( depth + 2 <= tree->stack.capacity );
        if ( again )
        {
            tree->stack.items[depth++] = index;
        }
        else if ( !kd_node_is_leaf( node ) )
        {
            tree->stack.items[depth++] = node->right;
            tree->stack.items[depth++] = node->left;
        }
    }
    return true;
}
