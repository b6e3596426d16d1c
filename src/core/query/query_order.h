// SPDX-License-Identifier: MIT
// A long list is gone through along a curve through the world: neighbours walk the same nodes, which are in the cache then. Each
// answer goes where it belongs, so that this shows in time alone.
#pragma once

#include "base/radix_sort.h"
#include "query/query_search.h"
#include "task/task.h"

/// The place where item `index` of a list begins: every kind but half-spaces begins with one.
bool clv_query_item_place( const clv_queries* list, uint32_t index, clv_vec3* place );

/// The queries of a list in that order: the values of `items` or `more`, each as long as the list; NULL for queries that have
/// no place. The tree has nodes.
const base_keyed* clv_query_order( const clv_queries* list, const query_scene* scene, base_keyed* items,
    base_keyed* more, task_runner* tasks );
