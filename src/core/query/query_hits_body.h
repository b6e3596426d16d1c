// SPDX-License-Identifier: MIT
// What query_hits.h says, written once for clv_hit and clv_hit64. query_hits.c defines, before it includes this file:
//   HITS_OF, HITS_TIME     a hit, and its time
//   HITS_NAME( name )      that name for these hits
// No include guard: this is a template.

static void HITS_NAME( insert_hits )( HITS_OF* hits, uint64_t count )
{
    for ( uint64_t i = 1; i < count; ++i )
    {
        HITS_OF hit = hits[i];
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
static void HITS_NAME( place_digits )(
    HITS_OF* hits, uint32_t shift, const uint32_t counts[DIGITS], uint64_t first, uint64_t ends[DIGITS] )
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
            HITS_OF hit = hits[next[digit]];
            uint32_t to = hit.index >> shift & ( DIGITS - 1 );
            while ( to != digit )
            {
                CLV_ASSERT( next[to] < ends[to] );
                HITS_OF other = hits[next[to]];
                hits[next[to]++] = hit;
                hit = other;
                to = hit.index >> shift & ( DIGITS - 1 );
            }
            hits[next[digit]++] = hit;
        }
    }
}

void HITS_NAME( clv_query_hits_sort )( HITS_OF* hits, uint64_t count )
{
    hit_range waiting[MOST_SLOT_DIGITS * ( DIGITS - 1 ) + 1];
    uint32_t all = 1;
    for ( uint64_t i = 0; i < count && count > FEW_HITS; ++i )
    {
        all |= hits[i].index;
    }
    waiting[0] = ( hit_range ){ 0, count, ( base_bit_width( all ) - 1 ) / DIGIT_BITS * DIGIT_BITS };
    uint32_t top = 1;
    while ( top > 0 )
    {
        hit_range r = waiting[--top];
        CLV_ASSERT( r.first <= r.end && r.end <= count );
        if ( r.end - r.first <= FEW_HITS )
        {
            HITS_NAME( insert_hits )( hits + r.first, r.end - r.first );
            continue;
        }
        uint32_t counts[DIGITS] = { 0 };
        uint64_t ends[DIGITS];
        for ( uint64_t i = r.first; i < r.end; ++i )
        {
            counts[hits[i].index >> r.shift & ( DIGITS - 1 )] += 1;
        }
        HITS_NAME( place_digits )( hits, r.shift, counts, r.first, ends );
        CLV_ASSERT( ends[DIGITS - 1] == r.end );
        for ( uint32_t digit = 0; digit < DIGITS && r.shift > 0; ++digit )
        {
            if ( counts[digit] > 1 )
            {
                CLV_ASSERT( top < MOST_SLOT_DIGITS * ( DIGITS - 1 ) + 1 );
                waiting[top++] =
                    ( hit_range ){ ends[digit] - counts[digit], ends[digit], r.shift - DIGIT_BITS };
            }
        }
    }
}

uint64_t HITS_NAME( clv_query_hits_drop )( HITS_OF* hits, uint64_t count, HITS_TIME reach )
{
    uint64_t kept = 0;
    for ( uint64_t i = 0; i < count; ++i )
    {
        hits[kept] = hits[i];
        kept += hits[i].t <= reach ? 1 : 0;
    }
    return kept;
}
