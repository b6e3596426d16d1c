// SPDX-License-Identifier: MIT
// From rows and lanes that may touch to pairs, one by one, over put_hit( row, lane, sure, ties ), which writes the pair of two
// entries to both and tells whether it is a tie. No include guard: part of a template, see cell_body.h.

#include "simd/hit_sides.h"

static inline void gather_slots( const cell_entry* entries, uint32_t* slots )
{
    (void)entries;
    (void)slots; // they are read from the entries
}

// Four at a time, counted afterwards: how many a row has is a coin toss.
static inline uint32_t hit_walk_begin( hit_walk* walk, const row_hits* hits )
{
    uint32_t count = 0;
    for ( uint32_t i = 0; i < hits->count; ++i )
    {
        uint64_t bits = hits->lanes[i];
        uint8_t* row = walk->rows + count;
        uint8_t* lane = walk->lanes + count;
        count += base_bit_count( bits );
        while ( bits != 0 )
        {
            for ( int k = 0; k < 4; ++k )
            {
                *row++ = hits->rows[i];
                *lane++ = (uint8_t)base_lowest_bit( bits | (uint64_t)1 << 63 );
                bits &= bits - 1;
            }
        }
    }
    walk->at = 0;
    return count;
}

// The next `count` hits: pairs that are sure, how many is returned, and ties. Each is written to both and counted in one: which
// is a coin toss.
static inline uint32_t split_hits(
    hit_walk* walk, const hit_sides* sides, uint32_t count, clv_pair* sure, clv_pair* ties )
{
    const clv_pair* begin = sure;
    const uint8_t* rows = walk->rows + walk->at;
    const uint8_t* lanes = walk->lanes + walk->at;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const cell_entry* row = &sides->rows.entries[rows[i]];
        const cell_entry* lane = &sides->lanes.entries[lanes[i]];
        bool is_tie = put_hit( row, lane, sure, ties );
        sure += !is_tie;
        ties += is_tie;
    }
    walk->at += count;
    return (uint32_t)( sure - begin );
}
