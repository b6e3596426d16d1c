// SPDX-License-Identifier: MIT
// An array of pairs, and its order.
#pragma once

#include "base/array.h"
#include "cleave/types.h"

typedef BASE_ARRAY( clv_pair ) pair_list;

/// Sort by (a, b), with `scratch` as second buffer (the two may trade places). Indices are below `index_end`.
bool clv_pair_list_sort( pair_list* list, pair_list* scratch, base_memory* memory, uint32_t index_end );
