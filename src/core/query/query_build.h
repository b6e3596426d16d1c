// SPDX-License-Identifier: MIT
// A build of the tree on its way: objects are listed, put in order along the curve (query_sort.c), cut into nodes (query_tree.c, by
// query_cut.c), and hulls go upwards (query_refit.c).
#pragma once

#include "base/radix_sort.h"
#include "query/query_curve.h"
#include "query/query_tree.h"

#include <float.h>

typedef struct query_build
{
    query_tree* tree;
    const query_boxes* from;
    const simd_queries* kernels;
    base_memory* memory;
    base_keyed* keys;
    base_keyed* more_keys;
    uint32_t count;
    float typical; ///< side
    query_curve_tables* tables;
    query_node empty;
} query_build;

/// Everybody who is there, by slot, into the keys; how many they are.
uint32_t clv_query_list_objects( query_build* b );

/// The tree's items, in order along the curve, by all workers.
void clv_query_sort_items( query_build* b, task_runner* tasks );

/// Items that one key could not tell apart: keys of their own, by their own extent. All in one place: they stay as they are, by slot.
void clv_query_sort_again( query_build* b, uint32_t first, uint32_t end );

/// A lane that holds nobody, which no walk meets.
static inline void query_clear_lane( query_node* node, uint32_t lane )
{
    const float infinite = (float)( FLT_MAX * 2.0 );
    for ( int axis = 0; axis < 3; ++axis )
    {
        node->lower[axis][lane] = infinite;
        node->upper[axis][lane] = -infinite;
    }
    node->child[lane] = QUERY_NOBODY;
    node->least[lane] = QUERY_NOBODY;
}

static inline void query_set_lane( query_node* node, uint32_t lane, const float* lower, const float* upper )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        node->lower[axis][lane] = lower[axis];
        node->upper[axis][lane] = upper[axis];
    }
}

/// Hulls of inner lanes from those below; where `from` is not NULL objects' boxes too, and who is gone leaves its lane.
void clv_query_refit_run(
    query_tree* tree, const query_boxes* from, const simd_queries* kernels, task_runner* tasks );
