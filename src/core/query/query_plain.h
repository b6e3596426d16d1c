// SPDX-License-Identifier: MIT
// Lists where everything counts: no filter, no callback, nobody gone, boxes as the tree has them. Then hits are what the lanes find, and
// several queries walk in turn, so that one works while the others wait for memory.
#pragma once

#include "query/query_probe.h"

enum
{
    QUERY_NEAREST_SOME = 32, ///< lists of nearest at a time: each needs a few hundred bytes
};

/// The closest hits of rays and moving boxes, `which` of the list, to hits[which[i]]; QUERY_SOME at most.
void clv_query_plain_closest(
    const query_scene* scene, const clv_queries* list, const uint32_t* which, uint32_t count, clv_hit* hits );

/// The k nearest of points and boxes, to hits[which[i] * k]; k is at most QUERY_NEAREST_MOST, and count QUERY_NEAREST_SOME.
void clv_query_plain_nearest( const query_scene* scene, const clv_queries* list, const uint32_t* which,
    uint32_t count, uint32_t k, float max_distance, clv_hit* hits );
