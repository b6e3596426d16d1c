// SPDX-License-Identifier: MIT
// Stable least-significant-digit radix sorts, 8 or 11 bits at a time. A digit that is the same everywhere is
// skipped.
#pragma once

#include "base/array.h"
#include "cleave/types.h"

/// A sort key and what it belongs to.
typedef struct base_keyed
{
    uint32_t key;
    uint32_t value;
} base_keyed;

typedef BASE_ARRAY( base_keyed ) base_keyed_array;

/// Sorts by key. Returns the buffer that holds the result: `items` or `scratch`, each `count` long.
base_keyed* clv_base_sort_keyed( base_keyed* items, base_keyed* scratch, uint64_t count );

/// Sorts by (a, b). Every index is below `index_end`, which bounds the number of passes. Returns as above.
clv_pair* clv_base_sort_pairs( clv_pair* pairs, clv_pair* scratch, uint64_t count, uint32_t index_end );
