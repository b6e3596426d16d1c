// SPDX-License-Identifier: MIT
// The planes of a method's tree over a frame, to be drawn.
#pragma once

#include "cleave/space.h"
#include "lab/base/byte_buffer.h"
#include "lab/view/view_scale.h"

enum
{
    VIEW_TREE_LEAF = 3, ///< in place of an axis
};

/// What a space's method keeps, in preorder: the number of nodes, then for each its axis, and behind one that is no leaf its plane in
/// steps of the scale. No nodes from methods that keep no tree. False if out of memory.
bool view_tree_put( clv_space* space, const view_scale* scale, byte_buffer* text_room, byte_buffer* out );

/// The same as arrays. Zero-initialised is empty.
typedef struct view_planes
{
    uint8_t* axes;    ///< or VIEW_TREE_LEAF
    double* planes;   ///< of inner nodes
    uint32_t* rights; ///< their right child; the left one is next
    uint32_t count;
} view_planes;

/// False if out of memory.
bool view_planes_read( view_planes* planes, clv_space* space );
void view_planes_free( view_planes* planes );

/// The node that owns a box, by the rule of docs/kd.md.
uint32_t view_planes_node( const view_planes* planes, const clv_aabb* box );
