// SPDX-License-Identifier: MIT
// A binary tree of boxes, kept from update to update: leaves hold one object's grown box each and are taken
// out and put back one by one, or the whole tree is built anew along a space-filling curve. After Bullet's
// btDbvt and Box2D's b2DynamicTree; insertion by surface area as in Catto, Dynamic Bounding Volume
// Hierarchies (2019); building as in Lauterbach et al. (2009).
#pragma once

#include "base/memory.h"
#include "base/radix_sort.h"
#include "grid/grid_cells.h"

#define BVH_NONE UINT32_MAX

typedef struct bvh_node
{
    clv_aabb box;
    uint32_t parent;   ///< BVH_NONE at the root; in a free node the next free one
    uint32_t child[2]; ///< second BVH_NONE: a leaf, the first is its slot
} bvh_node;

typedef struct bvh_tree
{
    BASE_ARRAY( bvh_node ) nodes; ///< count: those used so far, free ones among them
    uint32_t first_free;
    uint32_t root;
    uint32_t leaf_count;
    base_u32_array leaves; ///< by slot; BVH_NONE if it has none
    base_keyed_array keys; ///< two in one, for building
} bvh_tree;

static inline bool bvh_is_leaf( const bvh_node* node )
{
    return node->child[1] == BVH_NONE;
}

void clv_bvh_tree_init( bvh_tree* tree );
void clv_bvh_tree_free( bvh_tree* tree, base_memory* memory );

/// Room for this many leaves, and for slots below `slot_count`. False if out of memory, with the tree as it
/// was.
bool clv_bvh_tree_reserve( bvh_tree* tree, base_memory* memory, uint32_t leaf_count, uint32_t slot_count );

/// Needs room. The slot has no leaf yet.
void clv_bvh_tree_insert( bvh_tree* tree, uint32_t slot, clv_aabb box );

/// The slot has a leaf.
void clv_bvh_tree_remove( bvh_tree* tree, uint32_t slot );

/// Forget everything; keeps the memory.
void clv_bvh_tree_clear( bvh_tree* tree );

/// A new tree over the boxes, all of which are finite. Needs room for them; false if out of memory for the
/// building.
bool clv_bvh_tree_build( bvh_tree* tree, base_memory* memory, const clv_method_input* input );

static inline clv_aabb bvh_union( clv_aabb a, clv_aabb b )
{
    return ( clv_aabb ){
        { a.lower.x < b.lower.x ? a.lower.x : b.lower.x, a.lower.y < b.lower.y ? a.lower.y : b.lower.y,
            a.lower.z < b.lower.z ? a.lower.z : b.lower.z },
        { a.upper.x > b.upper.x ? a.upper.x : b.upper.x, a.upper.y > b.upper.y ? a.upper.y : b.upper.y,
            a.upper.z > b.upper.z ? a.upper.z : b.upper.z },
    };
}

static inline bool bvh_contains( clv_aabb outer, clv_aabb inner )
{
    return outer.lower.x <= inner.lower.x && outer.lower.y <= inner.lower.y &&
        outer.lower.z <= inner.lower.z && outer.upper.x >= inner.upper.x && outer.upper.y >= inner.upper.y &&
        outer.upper.z >= inner.upper.z;
}

/// NULL if everything holds, else what does not.
const char* clv_bvh_tree_check( const bvh_tree* tree );
