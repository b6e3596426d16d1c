// SPDX-License-Identifier: MIT
#include "base/radix_sort.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "base/pair_key.h"

#include <string.h>

enum
{
    INSERTION_MOST = 48,      // below this clearing the histograms costs more than inserting
    LARGE_DIGITS_FROM = 2000, // from here on fewer passes are worth larger histograms
    SMALL_DIGIT_BITS = 8,     // 4 passes over 32 bits
    LARGE_DIGIT_BITS = 11,    // 3 passes
    COUNTS_NEEDED = 3 << LARGE_DIGIT_BITS,
    PAIR_DIGIT_COUNT = 1 << LARGE_DIGIT_BITS,
};

// Turns counts into first positions. False if one bucket holds everything: the pass would copy in place.
static bool counts_to_offsets( uint64_t* counts, uint32_t digit_count, uint64_t total )
{
    uint64_t sum = 0;
    for ( uint32_t digit = 0; digit < digit_count; ++digit )
    {
        uint64_t count = counts[digit];
        if ( count == total )
        {
            return false;
        }
        counts[digit] = sum;
        sum += count;
    }
    CLV_ASSERT( sum == total );
    return true;
}

static void insertion_sort_keyed( base_keyed* items, uint64_t count )
{
    for ( uint64_t i = 1; i < count; ++i )
    {
        base_keyed item = items[i];
        uint64_t hole = i;
        for ( ; hole > 0 && items[hole - 1].key > item.key; --hole )
        {
            items[hole] = items[hole - 1];
        }
        items[hole] = item;
    }
}

// All histograms in one go: digit d of pass p is counted at counts[p << digit_bits | d].
static void count_digits(
    const base_keyed* items, uint64_t count, uint32_t digit_bits, uint32_t passes, uint64_t* counts )
{
    uint32_t mask = ( 1u << digit_bits ) - 1;
    memset( counts, 0, ( (size_t)passes << digit_bits ) * sizeof( uint64_t ) );
    for ( uint64_t i = 0; i < count; ++i )
    {
        uint32_t key = items[i].key;
        for ( uint32_t pass = 0; pass < passes; ++pass )
        {
            counts[( pass << digit_bits ) | ( ( key >> ( pass * digit_bits ) ) & mask )] += 1;
        }
    }
}

// Inlined with constants, so that the loops over passes unroll.
static inline base_keyed* sort_by_digits(
    base_keyed* items, base_keyed* scratch, uint64_t count, uint32_t digit_bits, uint32_t passes )
{
    uint64_t counts[COUNTS_NEEDED];
    CLV_ASSERT( ( passes << digit_bits ) <= COUNTS_NEEDED );
    uint32_t mask = ( 1u << digit_bits ) - 1;
    count_digits( items, count, digit_bits, passes, counts );
    base_keyed* from = items;
    base_keyed* to = scratch;
    for ( uint32_t pass = 0; pass < passes; ++pass )
    {
        uint64_t* offsets = counts + ( (size_t)pass << digit_bits );
        if ( !counts_to_offsets( offsets, 1u << digit_bits, count ) )
        {
            continue;
        }
        uint32_t shift = pass * digit_bits;
        for ( uint64_t i = 0; i < count; ++i )
        {
            base_keyed item = from[i];
            to[offsets[( item.key >> shift ) & mask]++] = item;
        }
        base_keyed* swap = from;
        from = to;
        to = swap;
    }
    return from;
}

base_keyed* clv_base_sort_keyed( base_keyed* items, base_keyed* scratch, uint64_t count )
{
    if ( count <= INSERTION_MOST )
    {
        insertion_sort_keyed( items, count );
        return items;
    }
    return count < LARGE_DIGITS_FROM ? sort_by_digits( items, scratch, count, SMALL_DIGIT_BITS, 4 )
                                     : sort_by_digits( items, scratch, count, LARGE_DIGIT_BITS, 3 );
}

static void insertion_sort_pairs( clv_pair* pairs, uint64_t count )
{
    for ( uint64_t i = 1; i < count; ++i )
    {
        clv_pair pair = pairs[i];
        uint64_t hole = i;
        for ( ; hole > 0 && base_pair_key( pairs[hole - 1] ) > base_pair_key( pair ); --hole )
        {
            pairs[hole] = pairs[hole - 1];
        }
        pairs[hole] = pair;
    }
}

// One stable pass by 11 bits of a or of b. False if all pairs share the digit and nothing was written.
static bool pass_pairs( const clv_pair* from, clv_pair* to, uint64_t count, bool by_a, uint32_t shift )
{
    uint64_t offsets[PAIR_DIGIT_COUNT];
    memset( offsets, 0, sizeof( offsets ) );
    for ( uint64_t i = 0; i < count; ++i )
    {
        uint32_t index = by_a ? from[i].a : from[i].b;
        offsets[( index >> shift ) & ( PAIR_DIGIT_COUNT - 1 )] += 1;
    }
    if ( !counts_to_offsets( offsets, PAIR_DIGIT_COUNT, count ) )
    {
        return false;
    }
    for ( uint64_t i = 0; i < count; ++i )
    {
        uint32_t index = by_a ? from[i].a : from[i].b;
        to[offsets[( index >> shift ) & ( PAIR_DIGIT_COUNT - 1 )]++] = from[i];
    }
    return true;
}

clv_pair* clv_base_sort_pairs( clv_pair* pairs, clv_pair* scratch, uint64_t count, uint32_t index_end )
{
    if ( count <= INSERTION_MOST )
    {
        insertion_sort_pairs( pairs, count );
        return pairs;
    }
    uint32_t index_bits = base_bit_width( index_end );
    clv_pair* from = pairs;
    clv_pair* to = scratch;
    for ( uint32_t member = 0; member < 2; ++member )
    {
        for ( uint32_t shift = 0; shift < index_bits; shift += LARGE_DIGIT_BITS )
        {
            if ( pass_pairs( from, to, count, member == 1, shift ) )
            {
                clv_pair* swap = from;
                from = to;
                to = swap;
            }
        }
    }
    return from;
}
