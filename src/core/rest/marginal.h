// SPDX-License-Identifier: MIT
// The marginal pairs: a dense array to be tested from end to end, and for each object a chain through those it is in.
#pragma once

#include "base/memory.h"
#include "cleave/types.h"

typedef struct rest_marginal
{
    base_memory* memory;
    clv_pair* pairs;
    uint64_t capacity;
    uint32_t* places; ///< per pair, for whoever keeps a list of those that touch
    uint64_t place_capacity;
    uint64_t* touching; ///< per pair a bit
    uint64_t touching_capacity;
    uint64_t* tested; ///< likewise, for whoever tests
    uint64_t tested_capacity;
    uint32_t* links; ///< per pair four: next and previous in the chain of a, next and previous in that of b
    uint64_t link_capacity;
    uint32_t count;

    uint32_t* heads; ///< by slot two: its chain, and how many pairs are in it
    uint64_t head_capacity;
} rest_marginal;

#define REST_NO_PAIR UINT32_MAX

void clv_rest_marginal_init( rest_marginal* set, base_memory* memory );
void clv_rest_marginal_release( rest_marginal* set );

/// Room for slots below `slot_count`.
bool clv_rest_marginal_reserve( rest_marginal* set, uint32_t slot_count );

/// Forget all pairs.
void clv_rest_marginal_clear( rest_marginal* set );

/// A pair that is not there, not touching. False if out of memory, with the set as it was.
bool clv_rest_marginal_add( rest_marginal* set, clv_pair pair );

/// The last pair takes its number.
void clv_rest_marginal_drop( rest_marginal* set, uint32_t number );

/// REST_NO_PAIR if it is not there.
uint32_t clv_rest_marginal_find( const rest_marginal* set, clv_pair pair );

static inline uint32_t rest_marginal_degree( const rest_marginal* set, uint32_t slot )
{
    return set->heads[2 * (size_t)slot + 1];
}

/// First pair of a slot, then the one behind `number`; REST_NO_PAIR: no more.
uint32_t clv_rest_marginal_first( const rest_marginal* set, uint32_t slot );
uint32_t clv_rest_marginal_next( const rest_marginal* set, uint32_t number, uint32_t slot );

static inline bool rest_marginal_is_touching( const rest_marginal* set, uint32_t number )
{
    return ( set->touching[number >> 6] >> ( number & 63 ) & 1 ) != 0;
}

static inline void rest_marginal_set_touching( rest_marginal* set, uint32_t number, bool touches )
{
    uint64_t bit = (uint64_t)1 << ( number & 63 );
    uint64_t* word = &set->touching[number >> 6];
    *word = touches ? *word | bit : *word & ~bit;
}

/// NULL if chains and pairs agree, else what does not.
const char* clv_rest_marginal_check( const rest_marginal* set, uint32_t slot_count );
