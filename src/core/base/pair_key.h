// SPDX-License-Identifier: MIT
// A pair as one word, and its place in a hash table with open addressing: what sorts and tables of pairs
// share.
#pragma once

#include "base/exact.h"
#include "cleave/types.h"

enum
{
    BASE_LEAST_PLACES = 64 ///< of a table that is not empty; capacities are powers of two
};

static inline uint64_t base_pair_key( clv_pair pair )
{
    return ( (uint64_t)pair.a << 32 ) | pair.b;
}

/// Where a key is looked for first. Fibonacci hashing with the high half folded in: the lower bits of the
/// product know one of the slots only, and all pairs of a hub would begin in the same few places.
static inline uint64_t base_pair_home( uint64_t key, uint64_t capacity )
{
    key *= 0x9E3779B97F4A7C15u;
    return ( key ^ ( key >> 32 ) ) & ( capacity - 1 );
}
