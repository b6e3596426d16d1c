// SPDX-License-Identifier: MIT
// What the caller's filter callback said about each pair of the last list, so that it is asked once per touch
// and not once per frame: keys, of which the owner's bit is the answer.
#pragma once

#include "base/parts_pass.h"
#include "cleave/types.h"
#include "pair/keys.h"

/// Remember an answer about a pair not yet in the table. False if out of memory.
bool clv_pair_decisions_put( pair_keys* decisions, base_memory* memory, clv_pair pair, bool answer );

/// True if the pair is known; then *answer is what was said.
bool clv_pair_decisions_get( const pair_keys* decisions, clv_pair pair, bool* answer );

/// All answers as a part, in an order of their own; slots are below `slot_count`. What is read is checked.
void clv_pair_decisions_pass( pair_keys* decisions, base_pass* pass, uint32_t tag, uint32_t slot_count );

/// The same as the table itself, `count` known on both sides. What is read is believed.
void clv_pair_decisions_pass_table( pair_keys* decisions, base_pass* pass, uint32_t tag );
