// SPDX-License-Identifier: MIT
// The sweep of one list, over the wide type of the file that includes this behind simd/kernel_body.h.
// No include guard: this is a template.

// The other two axes; the sweep has settled the first.
static inline uint32_t overlap_bits_yz( const query* q, const simd_boxes* boxes, uint32_t at )
{
    wide_mask mask = wide_le( wide_load( boxes->lower[1] + at ), q->upper[1] );
    mask = wide_le_and( mask, q->lower[1], wide_load( boxes->upper[1] + at ) );
    return wide_bits( overlap_axis( mask, q, boxes, 2, at ) );
}

// Keep the hits of a step, or stop because the sink is full.
#define SWEEP_STEP( bits )                                                                                   \
    if ( ( bits ) != 0 )                                                                                     \
    {                                                                                                        \
        if ( pair_sink_is_full( sink ) )                                                                     \
        {                                                                                                    \
            *column = base > first ? base : first;                                                           \
            return false;                                                                                    \
        }                                                                                                    \
        put_pairs( sink, q.slot, boxes->slots + base, bits );                                                \
    }

// One row of the sweep: full steps while even the last lane begins inside the interval, then one step by mask.
static inline bool sweep_row(
    const simd_boxes* boxes, uint32_t row, uint32_t* column, pair_sink* sink, uint64_t* test_count )
{
    query q = query_of( boxes, row );
    float reach = boxes->upper[0][row];
    uint32_t first = *column;
    uint32_t base = first & ~( WIDE_LANES - 1u );
    uint32_t wanted = lanes_from( base, first );
    const float* begin = boxes->lower[0];
    // Two registers a step: one branch for both, and loads that overlap with the other's comparisons.
    while ( begin[base + 2 * WIDE_LANES - 1] <= reach )
    {
        uint32_t bits = ( overlap_bits_yz( &q, boxes, base ) & wanted ) |
            overlap_bits_yz( &q, boxes, base + WIDE_LANES ) << WIDE_LANES;
        SWEEP_STEP( bits )
        wanted = ~0u;
        base += 2 * WIDE_LANES;
    }
    if ( begin[base + WIDE_LANES - 1] <= reach )
    {
        uint32_t bits = overlap_bits_yz( &q, boxes, base ) & wanted;
        SWEEP_STEP( bits )
        wanted = ~0u;
        base += WIDE_LANES;
    }
    // Sorted, so the lanes that begin inside the interval are the lowest ones.
    uint32_t begun = wide_bits( wide_le( wide_load( begin + base ), q.upper[0] ) );
    uint32_t bits = overlap_bits_yz( &q, boxes, base ) & wanted & begun;
    SWEEP_STEP( bits )
    uint32_t end = base + base_bit_count( begun );
    *test_count += end - ( row + 1 );
    return true;
}

#undef SWEEP_STEP

static bool sweep( const simd_boxes* boxes, simd_cursor* cursor, pair_sink* sink, uint64_t* test_count )
{
    for ( ; cursor->row < boxes->count; cursor->row += 1 )
    {
        uint32_t column = cursor->column > 0 ? cursor->column : cursor->row + 1;
        if ( !sweep_row( boxes, cursor->row, &column, sink, test_count ) )
        {
            cursor->column = column;
            return false;
        }
        cursor->column = 0;
    }
    return true;
}
