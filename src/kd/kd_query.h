// SPDX-License-Identifier: MIT
// Detection when few objects are active: each asks the tree for its own pairs, instead of every node being swept. For that
// a node keeps its objects at rest sorted along an axis from frame to frame (kd_node.rest_*): they are a stretch of
// its block, found by bisection; whatever stands before and behind the stretch is tested one by one.
#pragma once

#include "kd/kd_search.h"

/// As kd_search_run, for active objects alone; `active` is not NULL. Uses the search's scratch and counters, and
/// puts objects at rest in order where too many are not.
clv_result kd_query_run( kd_search* search, kd_tree* tree, const clv_aabb* boxes, const uint64_t* active,
    uint32_t slot_end, pair_sink* sink );

/// Forget what is sorted, in every node.
void kd_query_forget( kd_tree* tree );
