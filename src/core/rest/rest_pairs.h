// SPDX-License-Identifier: MIT
// What is known about pairs of objects at rest. The list of those that touch is the answer itself and changes
// only where something happens: sure pairs first, behind them the marginal ones that touch. Chains find a
// sure pair in it; they are made when first needed. The order is a function of the calls made here.
#pragma once

#include "pair/list.h"
#include "rest/margin.h"
#include "rest/marginal.h"

typedef struct rest_pairs
{
    base_memory* memory;
    pair_list list;
    uint64_t sure_count; ///< of the list
    rest_marginal marginal;

    /// of the marginal pairs in the list, by place modulo the capacity, a power of two
    base_u32_array numbers;

    base_u32_array heads; ///< by slot: the first sure pair it owns, 1 + place, or 0
    base_u32_array nexts; ///< by place: the next one its owner owns
    bool is_chained;

    uint64_t most;         ///< sure and marginal ones together
    uint64_t change_count; ///< of the list, so far
    uint64_t step_count;   ///< along chains
} rest_pairs;

void clv_rest_pairs_init( rest_pairs* pairs, base_memory* memory );
void clv_rest_pairs_release( rest_pairs* pairs );

/// Forget all pairs, and make room for slots below `slot_count` and about `pair_count` pairs; there will be
/// no more than `most`. Until the first change pairs are added many at once, and there are no chains.
bool clv_rest_pairs_begin( rest_pairs* pairs, uint32_t slot_count, uint64_t pair_count, uint64_t most );

/// Room for slots below `slot_count`.
bool clv_rest_pairs_reserve( rest_pairs* pairs, uint32_t slot_count );

/// A pair of class `from` is of class `to` from now on. What becomes marginal counts as touching if it was
/// sure, and as not touching until it is tested if it was apart. False if out of memory, or if it were one
/// pair too many; then forget everything.
bool clv_rest_pairs_change(
    rest_pairs* pairs, uint32_t slot_a, uint32_t slot_b, rest_class from, rest_class to );

/// Pairs that were apart are sure, or marginal and not tested yet, while none is in the list that is marginal
/// and no pair has changed since clv_rest_pairs_begin. False as above.
bool clv_rest_pairs_add(
    rest_pairs* pairs, const clv_pair* sure, uint64_t sure_count, const clv_pair* marginal, uint32_t count );

/// The same, when all are there: those marginal ones touch that have a bit in `marginal.tested`. False if out
/// of memory.
bool clv_rest_pairs_add_touching( rest_pairs* pairs );

/// A marginal pair touches now, or does not. False if out of memory; then forget everything.
bool clv_rest_pairs_turn( rest_pairs* pairs, uint32_t number, bool touches );

/// After the list, the marginal pairs and the chains were read back: all that is made of them. False if out
/// of memory.
bool clv_rest_pairs_restore( rest_pairs* pairs, uint32_t slot_count );

/// NULL if all agrees, else what does not.
const char* clv_rest_pairs_check( const rest_pairs* pairs, uint32_t slot_count );
