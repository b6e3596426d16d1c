// SPDX-License-Identifier: MIT
// Rows against one word of lanes on the first CELL_AXES axes: part of cell_body.h, once for three and once for two. Whoever includes it
// defines CELL_AXES, lanes_that_meet and search_word, which are gone afterwards. No include guard: this is a template.

// A bit for each lane that may touch the row.
static inline uint64_t lanes_that_meet( const lane_word* lanes, const cell_entry* entry )
{
    byte_box row = row_of( entry );
    uint64_t all = 0;
    for ( uint32_t part = 0; part < LANE_PARTS; ++part )
    {
        all |= (uint64_t)bytes_meet( &lanes->parts[part], &row, CELL_AXES ) << ( part * BYTE_LANES % 64 );
    }
    return all;
}

// Up to 64 rows, from `first` on, against one word of lanes, which stay in registers. Rows without a hit are passed over
// without a branch. Where the rows are these very lanes, each has only those behind it, one fewer than the row before; rows that
// lie before the word have them all.
static clv_result search_word( cell_search* search, const cell_view* view, const lane_word* lanes,
    uint32_t word, uint32_t first, uint32_t last )
{
    const cell_entry* rows = view->entries + first;
    row_hits hits;
    uint32_t found = 0;
    uint32_t shift = first == word;
    uint64_t behind = ~(uint64_t)shift;
    for ( uint32_t row = 0; row < last - first; ++row )
    {
        uint64_t all =
            lanes_that_meet( lanes, &rows[row] ) & behind & lanes->allowed[cell_before( &rows[row] )];
        behind <<= shift;
        hits.lanes[found] = all;
        hits.rows[found] = (uint8_t)row;
        found += all != 0;
    }
    hits.count = found;
    hit_sides sides = { { rows, search->lanes + first, search->slots + first },
        { view->entries + word, search->lanes + word, search->slots + word }, view->stride };
    return put_hits( search, &hits, &sides );
}

#undef CELL_AXES
#undef lanes_that_meet
#undef search_word
