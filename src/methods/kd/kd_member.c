// SPDX-License-Identifier: MIT
// Objects in and out, as section 3.2 has it: insertion at the end of the array, in the rightmost node;
// removal by swap with the last. Both leave objects in wrong places, which the next refit lifts and the next
// optimisation lowers.
#include "kd/kd_tree.h"

#include "base/assertion.h"

// The last node of the in-order sequence.
static kd_node* rightmost( kd_tree* tree )
{
    kd_node* node = &tree->nodes.items[tree->root];
    while ( !kd_node_is_leaf( node ) )
    {
        node = &tree->nodes.items[node->right];
    }
    return node;
}

void clv_kd_tree_append( kd_tree* tree, uint32_t slot )
{
    CLV_ASSERT( tree->count < tree->order.capacity );
    kd_node* node = rightmost( tree );
    CLV_ASSERT( node->end == tree->count );
    tree->order.items[tree->count++] = slot;
    node->end += 1;
    node->touched = true;
}

static uint32_t clip( uint32_t index, uint32_t end )
{
    return index < end ? index : end;
}

// Blocks lie in order, so the nodes that lost their last objects are those that reach beyond the new end.
static void clip_blocks( kd_tree* tree )
{
    uint32_t count = clv_kd_tree_list( tree );
    for ( uint32_t i = 0; i < count; ++i )
    {
        kd_node* node = &tree->nodes.items[tree->stack.items[i]];
        node->touched = true;
        node->begin = clip( node->begin, tree->count );
        node->end = clip( node->end, tree->count );
        node->rest_begin = clip( node->rest_begin, tree->count );
        node->rest_end = clip( node->rest_end, tree->count );
        node->rest_is_hit = true; // by the object that took the place of a dead one, and belongs elsewhere
    }
}

static uint32_t remove_from_list( uint32_t* slots, uint32_t count, const uint64_t* live, uint64_t* displaced )
{
    for ( uint32_t i = 0; i < count; )
    {
        if ( base_bits_has( live, slots[i] ) )
        {
            i += 1;
            continue;
        }
        slots[i] = slots[--count];
        if ( i < count && displaced != NULL )
        {
            base_bits_add( displaced, slots[i] );
        }
    }
    return count;
}

void clv_kd_tree_remove_dead( kd_tree* tree, const uint64_t* live, uint64_t* displaced )
{
    if ( tree->root == KD_NONE )
    {
        return;
    }
    CLV_ASSERT( tree->count <= tree->order.capacity && tree->outside_count <= tree->outside.capacity );
    tree->outside_count = remove_from_list( tree->outside.items, tree->outside_count, live, NULL );
    uint32_t count = remove_from_list( tree->order.items, tree->count, live, displaced );
    if ( count != tree->count )
    {
        tree->count = count;
        clip_blocks( tree );
    }
}

void clv_kd_tree_admit( kd_tree* tree, uint64_t* displaced )
{
    CLV_ASSERT( tree->root != KD_NONE && tree->boxes != NULL );
    const kd_node* root = &tree->nodes.items[tree->root];
    uint32_t kept = 0;
    for ( uint32_t i = 0; i < tree->outside_count; ++i )
    {
        uint32_t slot = tree->outside.items[i];
        if ( kd_node_holds( root, &tree->boxes[slot] ) )
        {
            clv_kd_tree_append( tree, slot );
            if ( displaced != NULL )
            {
                base_bits_add( displaced, slot );
            }
        }
        else
        {
            CLV_ASSERT( kept <= i );
            tree->outside.items[kept++] = slot;
        }
    }
    tree->outside_count = kept;
}
