// SPDX-License-Identifier: MIT
#include "base/radix_sort.h"

#include "base/bits.h"

#include <string.h>

enum
{
    DIGIT_BITS = 11,
    DIGIT_COUNT = 1 << DIGIT_BITS,
    DIGIT_MASK = DIGIT_COUNT - 1,
    KEY_DIGITS = 3, // 3 x 11 bits cover 32
    FEW = 48,       // below this clearing the histograms costs more than inserting
};

// Turns counts into first positions. False if one bucket holds everything: the pass would copy in place.
static bool counts_to_offsets( uint64_t* counts, uint64_t total )
{
    uint64_t sum = 0;
    for ( uint32_t digit = 0; digit < DIGIT_COUNT; ++digit )
    {
        uint64_t count = counts[digit];
        if ( count == total )
        {
            return false;
        }
        counts[digit] = sum;
        sum += count;
    }
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

base_keyed* base_sort_keyed( base_keyed* items, base_keyed* scratch, uint64_t count )
{
    if ( count <= FEW )
    {
        insertion_sort_keyed( items, count );
        return items;
    }

    uint64_t counts[KEY_DIGITS][DIGIT_COUNT];
    memset( counts, 0, sizeof( counts ) );
    for ( uint64_t i = 0; i < count; ++i )
    {
        uint32_t key = items[i].key;
        counts[0][key & DIGIT_MASK] += 1;
        counts[1][( key >> DIGIT_BITS ) & DIGIT_MASK] += 1;
        counts[2][key >> ( 2 * DIGIT_BITS )] += 1;
    }

    base_keyed* from = items;
    base_keyed* to = scratch;
    for ( uint32_t pass = 0; pass < KEY_DIGITS; ++pass )
    {
        uint64_t* offsets = counts[pass];
        if ( !counts_to_offsets( offsets, count ) )
        {
            continue;
        }
        uint32_t shift = pass * DIGIT_BITS;
        for ( uint64_t i = 0; i < count; ++i )
        {
            base_keyed item = from[i];
            to[offsets[( item.key >> shift ) & DIGIT_MASK]++] = item;
        }
        base_keyed* swap = from;
        from = to;
        to = swap;
    }
    return from;
}

static uint64_t pair_key( clv_pair pair )
{
    return ( (uint64_t)pair.a << 32 ) | pair.b;
}

static void insertion_sort_pairs( clv_pair* pairs, uint64_t count )
{
    for ( uint64_t i = 1; i < count; ++i )
    {
        clv_pair pair = pairs[i];
        uint64_t hole = i;
        for ( ; hole > 0 && pair_key( pairs[hole - 1] ) > pair_key( pair ); --hole )
        {
            pairs[hole] = pairs[hole - 1];
        }
        pairs[hole] = pair;
    }
}

// One stable pass by 11 bits of a or of b. False if all pairs share the digit and nothing was written.
static bool pass_pairs( const clv_pair* from, clv_pair* to, uint64_t count, bool by_a, uint32_t shift )
{
    uint64_t offsets[DIGIT_COUNT];
    memset( offsets, 0, sizeof( offsets ) );
    for ( uint64_t i = 0; i < count; ++i )
    {
        uint32_t index = by_a ? from[i].a : from[i].b;
        offsets[( index >> shift ) & DIGIT_MASK] += 1;
    }
    if ( !counts_to_offsets( offsets, count ) )
    {
        return false;
    }
    for ( uint64_t i = 0; i < count; ++i )
    {
        uint32_t index = by_a ? from[i].a : from[i].b;
        to[offsets[( index >> shift ) & DIGIT_MASK]++] = from[i];
    }
    return true;
}

clv_pair* base_sort_pairs( clv_pair* pairs, clv_pair* scratch, uint64_t count, uint32_t index_end )
{
    if ( count <= FEW )
    {
        insertion_sort_pairs( pairs, count );
        return pairs;
    }
    uint32_t index_bits = base_bit_width( index_end );
    clv_pair* from = pairs;
    clv_pair* to = scratch;
    for ( uint32_t member = 0; member < 2; ++member )
    {
        for ( uint32_t shift = 0; shift < index_bits; shift += DIGIT_BITS )
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
