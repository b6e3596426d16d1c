// SPDX-License-Identifier: MIT
// What the caller's filter callback said about each pair of the last list, so that it is asked once per touch
// and not once per frame. A hash table with open addressing; slots stay below 2^31, so a key has a bit to
// spare for the answer.
#pragma once

#include "base/parts_pass.h"
#include "cleave/types.h"

typedef struct pair_decisions
{
    uint64_t* entries; ///< a power of two of them, at most half of them used
    uint64_t capacity;
    uint64_t count;
} pair_decisions;

void clv_pair_decisions_free( pair_decisions* decisions, base_memory* memory );

/// Forget everything; keeps the memory.
void clv_pair_decisions_clear( pair_decisions* decisions );

/// Remember an answer about a pair not yet in the table. False if out of memory.
bool clv_pair_decisions_put( pair_decisions* decisions, base_memory* memory, clv_pair pair, bool answer );

/// True if the pair is known; then *answer is what was said.
bool clv_pair_decisions_get( const pair_decisions* decisions, clv_pair pair, bool* answer );

/// All answers as a part, in an order of their own; slots are below `slot_count`. What is read is checked.
void clv_pair_decisions_pass( pair_decisions* decisions, base_pass* pass, uint32_t tag, uint32_t slot_count );

/// The same as the table itself, `count` known on both sides. What is read is believed.
void clv_pair_decisions_pass_table( pair_decisions* decisions, base_pass* pass, uint32_t tag );
