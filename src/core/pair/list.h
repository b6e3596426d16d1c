// SPDX-License-Identifier: MIT
// An array of pairs that grows through a space's memory.
#pragma once

#include "base/memory.h"
#include "cleave/types.h"

typedef struct pair_list
{
    clv_pair* pairs;
    uint64_t count;
    uint64_t capacity;
} pair_list;

/// At least `capacity` pairs fit; those there survive. False if out of memory, with the list as it was.
bool clv_pair_list_reserve( pair_list* list, base_memory* memory, uint64_t capacity );

/// Capacity down to `capacity`, at least count.
bool clv_pair_list_shrink( pair_list* list, base_memory* memory, uint64_t capacity );

void clv_pair_list_free( pair_list* list, base_memory* memory );

/// Sort by (a, b), with `scratch` as second buffer (the two may trade places). Indices are below `index_end`.
bool clv_pair_list_sort( pair_list* list, pair_list* scratch, base_memory* memory, uint32_t index_end );
