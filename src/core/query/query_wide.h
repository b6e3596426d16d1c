// SPDX-License-Identifier: MIT
// Queries over boxes in double. The tree's shape is that of the floats the boxes are mapped to (far/), which tell them apart wherever
// they are; its boxes are hulls in double, so nothing is rounded on the way down and each test is monotonic as it stands. What
// has a middle or a beginning is looked at from there: faces are taken less the query's own origin, in double, which is exact
// nearby, before anything is multiplied or squared.
#pragma once

#include "cleave/world_query.h"
#include "query/query_search.h"

enum
{
    QUERY_WIDE = 64, // bit of the kinds in double; the rest is the kind of floats
};

static inline bool query_is_wide( clv_query_kind kind )
{
    return ( (uint32_t)kind & ~31u ) == QUERY_WIDE;
}

/// What shapes with a test of their own may measure, and how far they reach: squares and sums of such are doubles.
#define QUERY_WIDE_MOST 1e150

/// Motions of these below this count as 0.
#define QUERY_WIDE_STILL 1e-300

/// As query_node; seven cache lines.
typedef struct query_wide_node
{
    double lower[3][QUERY_LANES];
    double upper[3][QUERY_LANES];
    uint32_t child[QUERY_LANES];
    uint32_t least[QUERY_LANES];
} query_wide_node;

typedef struct query_wide_tree
{
    query_wide_node* nodes; ///< as many as the tree of floats has, in the same order
    uint64_t node_capacity;
} query_wide_tree;

/// Hulls in double for a tree that is up to date. False if out of memory.
bool clv_query_wide_tree_bring( query_wide_tree* wide, const query_tree* tree, const clv_aabb64* boxes,
    const query_boxes* from, base_memory* memory, task_runner* tasks );

void clv_query_wide_tree_free( query_wide_tree* wide, base_memory* memory );

/// NULL, or what is not true of them; `tree` is up to date. query_check.c.
const char* clv_query_wide_tree_check(
    const query_wide_tree* wide, const query_tree* tree, const clv_aabb64* boxes, const query_boxes* from );

/// What query_search.h has for floats.
clv_result clv_query_wide_check_item( const clv_queries* list, uint32_t index );
bool clv_query_wide_mode_fits( clv_query_kind kind, query_mode mode );
uint64_t clv_query_wide_find_all(
    const query_scene* scene, const clv_queries* list, uint32_t index, clv_hit64* hits, uint64_t room );
clv_hit64 clv_query_wide_find_one(
    const query_scene* scene, const clv_queries* list, uint32_t index, query_mode mode );
void clv_query_wide_find_nearest( const query_scene* scene, const clv_queries* list, uint32_t index,
    uint32_t k, double max_distance, clv_hit64* hits );
