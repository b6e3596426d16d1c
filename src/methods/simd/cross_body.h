// SPDX-License-Identifier: MIT
// The sweep of two lists, over the wide type of the file that includes this behind simd/sweep_body.h.
// No include guard: this is a template.

// Row `row` of one list against the other from `begin` on; `*column` is where to start or go on.
static inline bool cross_row( const simd_boxes* rows, uint32_t row, const simd_boxes* columns, uint32_t begin,
    uint32_t* column, pair_sink* sink, uint64_t* test_count )
{
    float reach = rows->upper[0][row];
    uint32_t first = *column;
    const float* start = columns->lower[0];
    if ( !( start[first] <= reach ) )
    {
        *test_count += first - begin; // between two thin lists the usual case: nothing in reach
        return true;
    }
    query q = query_of( rows, row );
    uint32_t base = first & ~( WIDE_LANES - 1u );
    uint32_t wanted = lanes_from( base, first );
    for ( ;; )
    {
        // Sorted, so the lanes that begin inside the interval are the lowest ones.
        uint32_t begun = wide_bits( wide_le( wide_load( start + base ), q.upper[0] ) );
        uint32_t bits = overlap_bits_yz( &q, columns, base ) & wanted & begun;
        if ( bits != 0 )
        {
            if ( pair_sink_is_full( sink ) )
            {
                *column = base > first ? base : first;
                return false;
            }
            put_pairs( sink, q.slot, columns->slots + base, bits );
        }
        if ( ( begun >> ( WIDE_LANES - 1u ) & 1 ) == 0 )
        {
            *test_count += base + base_bit_count( begun ) - begin;
            return true;
        }
        wanted = ~0u;
        base += WIDE_LANES;
    }
}

static bool sweep_cross( const simd_boxes* first, const simd_boxes* second, simd_cross_cursor* cursor,
    pair_sink* sink, uint64_t* test_count )
{
    while ( cursor->first < first->count && cursor->second < second->count )
    {
        bool by_first = first->lower[0][cursor->first] <= second->lower[0][cursor->second];
        uint32_t begin = by_first ? cursor->second : cursor->first;
        uint32_t column = cursor->column > begin ? cursor->column : begin;
        bool done = by_first ? cross_row( first, cursor->first, second, begin, &column, sink, test_count )
                             : cross_row( second, cursor->second, first, begin, &column, sink, test_count );
        if ( !done )
        {
            cursor->column = column;
            return false;
        }
        cursor->column = 0;
        cursor->first += by_first;
        cursor->second += !by_first;
    }
    return true;
}
