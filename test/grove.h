// SPDX-License-Identifier: MIT
// A tree of src/methods/kd small enough to draw, built and grown by hand.
#pragma once

#include "kd/kd_search.h"
#include "support.h"

enum
{
    GROVE_MOST = 64
};

typedef struct grove
{
    base_memory memory;
    kd_tree tree;
    clv_aabb boxes[GROVE_MOST];
    uint32_t count;
} grove;

/// A root alone, from -100 to 100 on every axis.
void grove_open( grove* g, uint32_t leaf_limit );

/// Root cut at x = 0, left child at x = -12; objects 8, 9, 10 lie across the left child's plane, 11 across the root's.
void grove_of_figure_5( grove* g );

/// Nothing of the memory may be left over.
void grove_close( grove* g );

/// A cube of side 1 around (x, y, 0); its slot.
uint32_t grove_add( grove* g, float x, float y );

/// A row of cubes at x = first, first + step, …
void grove_add_row( grove* g, uint32_t count, float first, float step, float y );

/// A whole update, and the checker's opinion of what it leaves.
void grove_update( grove* g );
void grove_check( grove* g );

/// The node that a path of L and R from the root leads to.
kd_node* grove_node( grove* g, const char* path );
bool grove_owns( grove* g, const char* path, uint32_t slot );
