// SPDX-License-Identifier: MIT
// A tree that follows the boxes: which objects left their grown box, when to rebuild, and the two ways to
// find pairs.
#pragma once

#include "bvh/bvh_tree.h"
#include "pair/list.h"
#include "pair/sink.h"

typedef struct bvh_rules
{
    /// search the tree for objects that left their grown box; else test it against itself every time
    bool forward;
    double margin; ///< growth, as a part of a box's longest side
    bool fat;      ///< report every pair of grown boxes
} bvh_rules;

/// Two subtrees still to be tested against each other; a subtree against itself if equal.
typedef struct bvh_task
{
    uint32_t a, b;
} bvh_task;

typedef struct bvh_engine
{
    base_memory* memory;
    bvh_rules rules;
    bvh_tree tree;
    BASE_ARRAY( clv_aabb ) grown; ///< by slot
    BASE_ARRAY( uint8_t )
    flags; ///< by slot, bvh_engine.c; three flags that are read together, so bytes and no bit sets
    base_u32_array touched; ///< slots that left their grown box or are new, ascending
    base_u32_array members; ///< slots in the tree, ascending; filled for building
    base_u32_array loose;   ///< slots of infinite boxes, which are in no tree
    BASE_ARRAY( bvh_task ) stack;
    pair_list near; ///< forward only: pairs whose grown boxes overlap
    uint32_t churn; ///< leaves put back since the tree was built
    bool is_sound;
} bvh_engine;

void clv_bvh_engine_init( bvh_engine* engine, base_memory* memory, bvh_rules rules );

/// Gives back all memory; the next update begins anew.
void clv_bvh_engine_shrink( bvh_engine* engine );

/// Brings the tree up to date. After CLV_OUT_OF_MEMORY the next update begins anew.
clv_result clv_bvh_engine_update( bvh_engine* engine, const clv_method_input* input );

/// All pairs as of the last update.
clv_result clv_bvh_engine_search(
    bvh_engine* engine, const clv_method_input* input, clv_pair_sink* sink, uint64_t* test_count );
