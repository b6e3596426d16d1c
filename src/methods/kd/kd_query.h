// SPDX-License-Identifier: MIT
// Detection when few objects are active: each asks the tree for its own pairs, instead of every node being
// swept. For that a node keeps its objects at rest in the cells of a grid over two axes from frame to frame
// (kd_node.rest_*): they are a stretch of its block in order of cell; whatever stands before and behind the
// stretch is tested one by one. An object is in the one cell where its lower corner lies, and a question goes
// to all cells from which a box may reach it.
#pragma once

#include "kd/kd_search.h"

/// As clv_kd_search_run, for active objects alone; `active` is not NULL and has `active_count` bits. Uses the
/// search's scratch and counters, and puts objects at rest in order where too many are not.
clv_result clv_kd_query_run( kd_search* search, kd_tree* tree, const clv_aabb* boxes, const uint64_t* active,
    uint32_t active_count, pair_sink* sink );

/// Would a question with its own box find the object at rest at order[at], with the box as it is in the tree?
bool clv_kd_query_finds( const kd_tree* tree, uint32_t index, uint32_t at );

/// Forget what is in order, in every node.
void clv_kd_query_forget( kd_tree* tree );
