// SPDX-License-Identifier: MIT
// Questions in floats over the tree. An item is checked (query_item_check.c), made ready as a probe (query_probe.c) and walked with
// (query_search.c, by simd/query_lanes.h); where everything counts whole lists go together (query_plain.c).
#pragma once

#include "cleave/query.h"
#include "object/store.h"
#include "query/query_flat.h"
#include "query/query_shape.h"
#include "query/query_tree.h"

/// What walks have looked at: the counters by which tests compare one tree with another.
typedef struct query_counts
{
    uint64_t node_count;
    uint64_t object_count; ///< whose boxes a walk met
} query_counts;

/// What there is to ask about. Owns nothing.
typedef struct query_scene
{
    const query_tree* tree;
    const clv_aabb* boxes;       ///< by slot, as of the update
    const clv_aabb* given;       ///< by slot, without margins; NULL: there are none
    const uint32_t* generations; ///< by slot, as of the update
    const object_store* objects; ///< now: who is still there, and whom it may meet
    const simd_queries* kernels;
    const clv_space* space; ///< for callbacks
    bool may_be_gone;       ///< some were removed since

    const struct query_wide_tree* wide; ///< where boxes are doubles: hulls in double for the tree's nodes
    const clv_aabb64* boxes64;          ///< by slot, as of the update
    const clv_aabb64* given64;          ///< by slot, without margins; NULL: there are none

    query_counts* counts; ///< NULL: not counted. One thread's
} query_scene;

typedef enum query_mode
{
    QUERY_ALL,
    QUERY_ANY,
    QUERY_CLOSEST,
    QUERY_NEAREST,
} query_mode;

enum
{
    QUERY_SOME = 64, ///< queries that are answered at a time, at most
};

/// CLV_OK, CLV_BAD_ARGUMENT or CLV_BAD_BOX for item `index` of a list.
clv_result clv_query_check_item( const clv_queries* list, uint32_t index );

/// Has the question a meaning for that kind?
bool clv_query_mode_fits( clv_query_kind kind, query_mode mode );

/// All hits of query `index`, by slot, as far as there is room. How many there are.
uint64_t clv_query_find_all(
    const query_scene* scene, const clv_queries* list, uint32_t index, clv_hit* hits, uint64_t room );

/// One hit of each of some queries of a list, `which` of them, to hits[which[i]]: any, or the closest. CLV_NO_HIT if there is
/// none.
void clv_query_find_one( const query_scene* scene, const clv_queries* list, const uint32_t* which,
    uint32_t count, query_mode mode, clv_hit* hits );

/// The k nearest of each, to hits[which[i] * k], and CLV_NO_HIT behind them.
void clv_query_find_nearest( const query_scene* scene, const clv_queries* list, const uint32_t* which,
    uint32_t count, uint32_t k, float max_distance, clv_hit* hits );
