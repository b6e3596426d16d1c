// SPDX-License-Identifier: MIT
// A set of pairs that outlives the frame: a list in order of arrival, and a hash table of what is in it. For
// methods that learn of beginnings only; what has ended is found by testing the list.
#pragma once

#include "pair/keys.h"
#include "pair/list.h"
#include "pair/sink.h"

typedef struct pair_table
{
    pair_list list;
    pair_keys keys; ///< of all in the list
} pair_table;

void clv_pair_table_free( pair_table* table, base_memory* memory );

/// Forget all pairs; keeps the memory.
void clv_pair_table_clear( pair_table* table );

/// Add a pair unless it is there. False if out of memory, with the table as it was.
bool clv_pair_table_add( pair_table* table, base_memory* memory, uint32_t slot_a, uint32_t slot_b );

/// A sink that adds what it is given and hands new pairs on at once, so that a limit downstream is felt
/// before the table has outgrown it.
typedef struct pair_table_sink
{
    clv_pair_sink sink;
    pair_table* table;
    base_memory* memory;
    clv_pair_sink* target; ///< NULL: new pairs are not handed on
    clv_pair pairs[1024];
} pair_table_sink;

void clv_pair_table_sink_open(
    pair_table_sink* out, pair_table* table, base_memory* memory, clv_pair_sink* target );

/// Add what still waits. CLV_OUT_OF_MEMORY, or what the target said.
clv_result clv_pair_table_sink_flush( pair_table_sink* out );

/// Keep, in order, the pairs whose boxes overlap. Where `live` is given, a set of slots, pairs of others end
/// unread.
void clv_pair_table_cull( pair_table* table, const clv_aabb* boxes, const uint64_t* live );

/// NULL if list and table agree, else what is wrong.
const char* clv_pair_table_check( const pair_table* table );
