// SPDX-License-Identifier: MIT
// A set of small numbers, a bit for each, in words of 64. A set is a pointer to its words: slots of one word
// are looked at together, and pieces of work that share no word need no locks.
#pragma once

#include "base/bits.h"

/// Words for the numbers below `count`.
static inline uint64_t base_bits_words( uint64_t count )
{
    return ( count + 63 ) / 64;
}

static inline bool base_bits_has( const uint64_t* words, uint32_t number )
{
    return ( words[number >> 6] >> ( number & 63 ) & 1 ) != 0;
}

/// Are both in the set? Is one of them? Without a branch, which would mispredict.
static inline bool base_bits_has_both( const uint64_t* words, uint32_t a, uint32_t b )
{
    return ( words[a >> 6] >> ( a & 63 ) & words[b >> 6] >> ( b & 63 ) & 1 ) != 0;
}

static inline bool base_bits_has_either( const uint64_t* words, uint32_t a, uint32_t b )
{
    return ( ( words[a >> 6] >> ( a & 63 ) | words[b >> 6] >> ( b & 63 ) ) & 1 ) != 0;
}

static inline void base_bits_add( uint64_t* words, uint32_t number )
{
    words[number >> 6] |= (uint64_t)1 << ( number & 63 );
}

static inline void base_bits_remove( uint64_t* words, uint32_t number )
{
    words[number >> 6] &= ~( (uint64_t)1 << ( number & 63 ) );
}

/// In the set from now on, or out of it.
static inline void base_bits_put( uint64_t* words, uint32_t number, bool is_in )
{
    uint64_t bit = (uint64_t)1 << ( number & 63 );
    uint64_t* word = &words[number >> 6];
    *word = is_in ? *word | bit : *word & ~bit;
}

/// A word with its lowest `count` bits set, of 64 at most.
static inline uint64_t base_bits_low( uint32_t count )
{
    return count < 64 ? ( (uint64_t)1 << count ) - 1 : UINT64_MAX;
}

/// Takes the lowest run of set bits out of a word that is not 0: where it begins, and its length.
static inline uint32_t base_bits_take_run( uint64_t* word, uint32_t* length )
{
    uint32_t begin = base_lowest_bit( *word );
    uint64_t holes = ~( *word >> begin );
    uint32_t end = holes != 0 ? base_lowest_bit( holes ) : 64;
    *length = end < 64 - begin ? end : 64 - begin;
    *word &= ~( base_bits_low( *length ) << begin );
    return begin;
}
