// SPDX-License-Identifier: MIT
// An American flag sort by the slots' digits, by insertion where there are few.
#include "query/query_hits.h"

#include "base/bits.h"

enum
{
    FEW_FLOAT_HITS = 24, // are put in order one by one
    DIGIT_BITS = 6,      // of a slot, at a time
    DIGITS = 1 << DIGIT_BITS,
    MOST_SLOT_DIGITS = 6, // 31 bits of a slot
};

typedef struct hit_range
{
    uint64_t first, end;
    uint32_t shift; // of its digit
} hit_range;

static void insert_hits( clv_hit* hits, uint64_t count )
{
    for ( uint64_t i = 1; i < count; ++i )
    {
        clv_hit hit = hits[i];
        uint64_t at = i;
        for ( ; at > 0 && hits[at - 1].index > hit.index; --at )
        {
            hits[at] = hits[at - 1];
        }
        hits[at] = hit;
    }
}

// Hits of one range to their digits' places, each where the one that was there has to go next (P. M. McIlroy et al.,
// "Engineering radix sort", 1993). `ends` are where digits end.
static void place_digits(
    clv_hit* hits, uint32_t shift, const uint32_t counts[DIGITS], uint64_t first, uint64_t ends[DIGITS] )
{
    uint64_t next[DIGITS];
    for ( uint32_t digit = 0; digit < DIGITS; ++digit )
    {
        next[digit] = first;
        first += counts[digit];
        ends[digit] = first;
    }
    for ( uint32_t digit = 0; digit < DIGITS; ++digit )
    {
        while ( next[digit] < ends[digit] )
        {
            clv_hit hit = hits[next[digit]];
            uint32_t to = hit.index >> shift & ( DIGITS - 1 );
            while ( to != digit )
            {
                clv_hit other = hits[next[to]];
                hits[next[to]++] = hit;
                hit = other;
                to = hit.index >> shift & ( DIGITS - 1 );
            }
            hits[next[digit]++] = hit;
        }
    }
}

void clv_query_hits_sort( clv_hit* hits, uint64_t count )
{
    hit_range waiting[MOST_SLOT_DIGITS * ( DIGITS - 1 ) + 1];
    uint32_t all = 1;
    for ( uint64_t i = 0; i < count && count > FEW_FLOAT_HITS; ++i )
    {
        all |= hits[i].index;
    }
    waiting[0] = ( hit_range ){ 0, count, ( base_bit_width( all ) - 1 ) / DIGIT_BITS * DIGIT_BITS };
    uint32_t top = 1;
    while ( top > 0 )
    {
        hit_range r = waiting[--top];
        if ( r.end - r.first <= FEW_FLOAT_HITS )
        {
            insert_hits( hits + r.first, r.end - r.first );
            continue;
        }
        uint32_t counts[DIGITS] = { 0 };
        uint64_t ends[DIGITS];
        for ( uint64_t i = r.first; i < r.end; ++i )
        {
            counts[hits[i].index >> r.shift & ( DIGITS - 1 )] += 1;
        }
        place_digits( hits, r.shift, counts, r.first, ends );
        for ( uint32_t digit = 0; digit < DIGITS && r.shift > 0; ++digit )
        {
            if ( counts[digit] > 1 )
            {
                waiting[top++] =
                    ( hit_range ){ ends[digit] - counts[digit], ends[digit], r.shift - DIGIT_BITS };
            }
        }
    }
}

uint64_t clv_query_hits_drop( clv_hit* hits, uint64_t count, float reach )
{
    uint64_t kept = 0;
    for ( uint64_t i = 0; i < count; ++i )
    {
        hits[kept] = hits[i];
        kept += hits[i].t <= reach ? 1 : 0;
    }
    return kept;
}
