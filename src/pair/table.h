// SPDX-License-Identifier: MIT
// A set of pairs that outlives the frame: a list in order of arrival, and a hash table that knows who is in it. For
// methods that learn of beginnings only; what has ended is found by testing the list.
#pragma once

#include "pair/list.h"
#include "pair/sink.h"

typedef struct pair_table
{
    pair_list list;
    uint64_t* keys;    ///< open addressing, 0 where empty: (a << 32) | b is never 0
    uint64_t capacity; ///< a power of two, at most half of it used; 0 at first
} pair_table;

void pair_table_free( pair_table* table, base_memory* memory );

/// Forget all pairs; keeps the memory.
void pair_table_clear( pair_table* table );

/// Add a pair unless it is there. False if out of memory, with the table as it was.
bool pair_table_add( pair_table* table, base_memory* memory, uint32_t slot_a, uint32_t slot_b );

/// Keep, in order, the pairs whose boxes overlap. Where `is_live` is given, boxes of slots that are not are not read.
void pair_table_cull( pair_table* table, const clv_aabb* boxes, const uint8_t* is_live );

/// NULL if list and table agree, else what is wrong.
const char* pair_table_check( const pair_table* table );
