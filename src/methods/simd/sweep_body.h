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
#define SWEEP_STEP( found )                                                                                  \
    {                                                                                                        \
        uint32_t bits = ( found );                                                                           \
        if ( bits != 0 && movers != NULL )                                                                   \
        {                                                                                                    \
            bits &= simd_movers_at( movers, base ) | others;                                                 \
        }                                                                                                    \
        if ( bits != 0 )                                                                                     \
        {                                                                                                    \
            if ( pair_sink_is_full( sink ) )                                                                 \
            {                                                                                                \
                *column = base > first ? base : first;                                                       \
                return false;                                                                                \
            }                                                                                                \
            put_pairs( sink, q->slot, boxes->slots + base, bits );                                           \
        }                                                                                                    \
    }

// Columns from *column on that begin inside the interval of `q`, which reaches to `reach`: full steps while even the last lane
// does, then one step by mask. Unless `movers` is NULL, a pair is one with a mover, or any if `others` has all bits. *column
// becomes the end, or where to go on after false.
static inline bool sweep_columns( const query* q, float reach, const simd_boxes* boxes,
    const uint64_t* movers, uint32_t others, uint32_t* column, pair_sink* sink )
{
    uint32_t first = *column;
    uint32_t base = first & ~( WIDE_LANES - 1u );
    uint32_t wanted = lanes_from( base, first );
    const float* begin = boxes->lower[0];
    // Two registers a step: one branch for both, and loads that overlap with the other's comparisons.
    while ( begin[base + 2 * WIDE_LANES - 1] <= reach )
    {
        SWEEP_STEP( ( overlap_bits_yz( q, boxes, base ) & wanted ) |
            overlap_bits_yz( q, boxes, base + WIDE_LANES ) << WIDE_LANES )
        wanted = ~0u;
        base += 2 * WIDE_LANES;
    }
    if ( begin[base + WIDE_LANES - 1] <= reach )
    {
        SWEEP_STEP( overlap_bits_yz( q, boxes, base ) & wanted )
        wanted = ~0u;
        base += WIDE_LANES;
    }
    // Sorted, so the lanes that begin inside the interval are the lowest ones.
    uint32_t begun = wide_bits( wide_le( wide_load( begin + base ), q->upper[0] ) );
    SWEEP_STEP( overlap_bits_yz( q, boxes, base ) & wanted & begun )
    *column = base + base_bit_count( begun );
    return true;
}

#undef SWEEP_STEP

static bool sweep( const simd_boxes* boxes, simd_cursor* cursor, pair_sink* sink, uint64_t* test_count )
{
    for ( ; cursor->row < boxes->count; cursor->row += 1 )
    {
        uint32_t row = cursor->row;
        uint32_t column = cursor->column > 0 ? cursor->column : row + 1;
        query q = query_of( boxes, row );
        if ( !sweep_columns( &q, boxes->upper[0][row], boxes, NULL, 0, &column, sink ) )
        {
            cursor->column = column;
            return false;
        }
        *test_count += column - ( row + 1 );
        cursor->column = 0;
    }
    return true;
}

// A row of one list against the columns of a list from `begin` on, where pairs of two at rest are left out. Whether the row rests
// decides no branch: half of them may.
static inline bool sweep_list_row( const simd_list* rows, uint32_t row, const simd_list* columns,
    uint32_t begin, uint32_t* column, pair_sink* sink, uint64_t* test_count )
{
    const simd_boxes* boxes = columns->boxes;
    const uint64_t* movers = columns->movers;
    float reach = rows->boxes->upper[0][row];
    uint32_t others = UINT32_MAX;
    if ( movers != NULL )
    {
        uint32_t next = simd_next_mover( movers, *column );
        others = base_bits_has( rows->movers, row ) ? UINT32_MAX : 0;
        *column = ( *column & others ) | ( next & ~others );
    }
    uint32_t first = *column;
    if ( boxes->lower[0][first] <= reach ) // between two thin lists, and where few move, seldom
    {
        query q = query_of( rows->boxes, row );
        if ( !sweep_columns( &q, reach, boxes, movers, others, column, sink ) )
        {
            return false;
        }
    }
    *test_count += others != 0 ? *column - begin : simd_count_movers( movers, begin, *column );
    return true;
}

static bool sweep_movers( const simd_list* list, simd_cursor* cursor, pair_sink* sink, uint64_t* test_count )
{
    for ( ; cursor->row < list->boxes->count; cursor->row += 1 )
    {
        uint32_t row = cursor->row;
        uint32_t column = cursor->column > 0 ? cursor->column : row + 1;
        if ( !sweep_list_row( list, row, list, row + 1, &column, sink, test_count ) )
        {
            cursor->column = column;
            return false;
        }
        cursor->column = 0;
    }
    return true;
}
