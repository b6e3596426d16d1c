// SPDX-License-Identifier: MIT
// The marginal pairs: a dense array to be tested from end to end, and for each object a chain through those
// it is in.
#pragma once

#include "base/array.h"
#include "base/bit_set.h"
#include "cleave/types.h"

typedef struct rest_marginal
{
    base_memory* memory;
    BASE_ARRAY( clv_pair ) pairs;
    base_u32_array places; ///< per pair: its place in the list of those that touch, which rest_pairs.c keeps
    base_u64_array touching; ///< per pair a bit
    base_u64_array tested;   ///< likewise: the result of the test in this update
    base_u32_array
        links;      ///< per pair four: next and previous in the chain of a, next and previous in that of b
    uint32_t count; ///< of pairs
    bool is_linked; ///< chains are there: they are made when first needed

    base_u32_array heads; ///< by slot two: its chain, and how many pairs are in it
} rest_marginal;

#define REST_NO_PAIR UINT32_MAX

void clv_rest_marginal_init( rest_marginal* set, base_memory* memory );
void clv_rest_marginal_release( rest_marginal* set );

/// Room for slots below `slot_count`.
bool clv_rest_marginal_reserve( rest_marginal* set, uint32_t slot_count );

/// Forget all pairs. There will be about `expected`.
bool clv_rest_marginal_clear( rest_marginal* set, uint64_t expected );

/// Pairs that are not there, not touching, while there are no chains. False if out of memory.
bool clv_rest_marginal_append( rest_marginal* set, const clv_pair* pairs, uint32_t count );

/// Make the chains if they are not there. False if out of memory.
bool clv_rest_marginal_link( rest_marginal* set );

/// What follows needs chains.
///
/// A pair that is not there, not touching. False if out of memory, with the set as it was.
bool clv_rest_marginal_add( rest_marginal* set, clv_pair pair );

/// The last pair takes its number.
void clv_rest_marginal_drop( rest_marginal* set, uint32_t number );

/// REST_NO_PAIR if it is not there.
uint32_t clv_rest_marginal_find( const rest_marginal* set, clv_pair pair );

static inline uint32_t rest_marginal_degree( const rest_marginal* set, uint32_t slot )
{
    return set->heads.items[2 * (size_t)slot + 1];
}

/// First pair of a slot, then the one behind `number`; REST_NO_PAIR: no more.
uint32_t clv_rest_marginal_first( const rest_marginal* set, uint32_t slot );
uint32_t clv_rest_marginal_next( const rest_marginal* set, uint32_t number, uint32_t slot );

static inline bool rest_marginal_is_touching( const rest_marginal* set, uint32_t number )
{
    return base_bits_has( set->touching.items, number );
}

static inline void rest_marginal_set_touching( rest_marginal* set, uint32_t number, bool touches )
{
    base_bits_put( set->touching.items, number, touches );
}

/// NULL if chains and pairs agree, else what does not.
const char* clv_rest_marginal_check( const rest_marginal* set, uint32_t slot_count );
