// SPDX-License-Identifier: MIT
// A hash table of pairs as keys (base/pair_key.h), with open addressing. Slots stay below 2^31, so a key has
// a bit to spare for its owner.
#pragma once

#include "base/assertion.h"
#include "base/memory.h"
#include "base/pair_key.h"

#define PAIR_KEY_BIT ( (uint64_t)1 << 63 )

typedef struct pair_keys
{
    uint64_t* places;  ///< 0 where empty, which would be a pair of two equal slots
    uint64_t capacity; ///< a power of two, at most half of it used; 0 at first
    uint64_t count;
} pair_keys;

void clv_pair_keys_free( pair_keys* keys, base_memory* memory );

/// Forget everything; keeps the memory.
void clv_pair_keys_clear( pair_keys* keys );

/// Room for one more. False if out of memory, with the table as it was.
bool clv_pair_keys_make_room( pair_keys* keys, base_memory* memory );

/// The place of a key, or the empty one where it would go. There must be places.
static inline uint64_t pair_keys_find( const pair_keys* keys, uint64_t key )
{
    CLV_ASSERT( keys->count < keys->capacity && ( keys->capacity & ( keys->capacity - 1 ) ) == 0 );
    uint64_t at = base_pair_home( key, keys->capacity );
    while ( keys->places[at] != 0 && ( keys->places[at] & ~PAIR_KEY_BIT ) != key )
    {
        at = ( at + 1 ) & ( keys->capacity - 1 );
    }
    return at;
}
