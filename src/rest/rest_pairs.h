// SPDX-License-Identifier: MIT
// What is known about pairs of objects at rest: the list of those that touch, which is the answer itself and changes only
// where something happens; and the marginal pairs, which are tested to keep it so. An index finds a pair in either; it is made
// when first needed. The order of both lists is a function of the calls made here.
#pragma once

#include "pair/list.h"
#include "rest/margin.h"

typedef struct rest_pairs
{
    base_memory* memory;
    pair_list list; ///< sure pairs, and the marginal ones that touch

    clv_pair* marginal;
    uint64_t marginal_capacity;
    uint32_t* places; ///< per marginal pair: where in the list, if it touches
    uint64_t place_capacity;
    uint64_t* touching; ///< per marginal pair a bit
    uint64_t touching_capacity;
    uint64_t* tested; ///< likewise, by the last test; filled by whoever tests
    uint64_t tested_capacity;
    uint32_t marginal_count;

    uint32_t* degrees; ///< by slot: marginal pairs it is in
    uint64_t degree_capacity;

    uint32_t*
        index; ///< open addressing: 0, or 1 + 2 * place in the list, or 2 + 2 * number of a marginal pair
    uint64_t index_capacity; ///< a power of two
    uint64_t index_count;
    bool index_is_made;

    uint64_t change_count; ///< of the list, so far
} rest_pairs;

void rest_pairs_init( rest_pairs* pairs, base_memory* memory );
void rest_pairs_release( rest_pairs* pairs );

/// Forget all pairs, and make room for slots below `slot_count`.
bool rest_pairs_begin( rest_pairs* pairs, uint32_t slot_count );

/// Room for slots below `slot_count`.
bool rest_pairs_reserve( rest_pairs* pairs, uint32_t slot_count );

/// A pair of class `from` is of class `to` from now on. What becomes marginal counts as touching if it was sure, and as not
/// touching until it is tested if it was apart. False if out of memory; then forget everything.
bool rest_pairs_change( rest_pairs* pairs, uint32_t slot_a, uint32_t slot_b, rest_class from, rest_class to );

/// A marginal pair touches now, or does not. False if out of memory; then forget everything.
bool rest_pairs_turn( rest_pairs* pairs, uint32_t number, bool touches );

/// Number of a marginal pair that is there. UINT32_MAX if out of memory for the index.
uint32_t rest_pairs_find_marginal( rest_pairs* pairs, uint32_t slot_a, uint32_t slot_b );

static inline bool rest_pairs_is_touching( const rest_pairs* pairs, uint32_t number )
{
    return ( pairs->touching[number >> 6] >> ( number & 63 ) & 1 ) != 0;
}

uint64_t rest_pairs_sure_count( const rest_pairs* pairs );

/// NULL if all agrees, else what does not.
const char* rest_pairs_check( const rest_pairs* pairs );
