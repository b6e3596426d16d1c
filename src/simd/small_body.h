// SPDX-License-Identifier: MIT
// Rows against ranges of small boxes. The file that includes this behind kernel_body.h defines
//   small_wide            a register of 16-bit numbers
//   small_splat( n )
//   small_round( lower, upper, boxes, at )  SMALL_ROUND bits, lowest first: which columns from `at` on overlap on both axes
// Rounds start at the first wanted column, at any address: one round does for most rows, where aligned ones would need two
// and a branch that nothing predicts.
// No include guard: this is a template.

static inline void put_exact(
    pair_sink* sink, const simd_small_boxes* boxes, const simd_item* item, uint32_t at, uint32_t bits )
{
    uint32_t slot = item->slot;
    for ( ; bits != 0; bits &= bits - 1 )
    {
        const simd_item* other = &boxes->exact[boxes->items[at + base_lowest_bit( bits )]];
        if ( simd_items_overlap( item, other ) )
        {
            uint32_t other_slot = other->slot;
            sink->pairs[sink->count++] =
                ( clv_pair ){ slot < other_slot ? slot : other_slot, slot < other_slot ? other_slot : slot };
        }
    }
}

// Columns *column .. end. False, and *column where to go on, if the sink is full.
static inline bool test_small_row( const int16_t lower[2], const int16_t upper[2], const simd_item* item,
    const simd_small_boxes* boxes, uint32_t* column, uint32_t end, pair_sink* sink )
{
    const small_wide wide_lower[2] = { small_splat( lower[0] ), small_splat( lower[1] ) };
    const small_wide wide_upper[2] = { small_splat( upper[0] ), small_splat( upper[1] ) };
    for ( uint32_t at = *column; at < end; at += SMALL_ROUND )
    {
        uint32_t bits = small_round( wide_lower, wide_upper, boxes, at );
        bits &= end - at < SMALL_ROUND ? ( 1u << ( end - at ) ) - 1 : ~0u;
        if ( bits == 0 )
        {
            continue;
        }
        if ( pair_sink_is_full( sink ) )
        {
            *column = at;
            return false;
        }
        put_exact( sink, boxes, item, at, bits );
    }
    return true;
}

static bool sweep_small(
    const simd_small_boxes* boxes, simd_cursor* cursor, pair_sink* sink, uint64_t* test_count )
{
    uint64_t tests = 0;
    for ( ; cursor->row < boxes->count; cursor->row += 1 )
    {
        uint32_t row = cursor->row;
        const int16_t lower[2] = { boxes->lower[0][row], boxes->lower[1][row] };
        const int16_t upper[2] = { boxes->upper[0][row], boxes->upper[1][row] };
        uint32_t column = cursor->column > 0 ? cursor->column : row + 1;
        if ( !test_small_row(
                 lower, upper, &boxes->exact[boxes->items[row]], boxes, &column, boxes->ends[row], sink ) )
        {
            cursor->column = column;
            *test_count += tests;
            return false;
        }
        tests += boxes->ends[row] - ( row + 1 );
        cursor->column = 0;
    }
    *test_count += tests;
    return true;
}

static bool cross_small( const simd_item* items, const simd_small_row* rows, uint32_t row_count,
    const simd_small_boxes* boxes, simd_cursor* cursor, pair_sink* sink, uint64_t* test_count )
{
    uint64_t tests = 0;
    for ( ; cursor->row < row_count; cursor->row += 1 )
    {
        const simd_small_row* row = &rows[cursor->row];
        uint32_t column = cursor->column > 0 ? cursor->column : row->begin;
        if ( !test_small_row( row->lower, row->upper, &items[row->item], boxes, &column, row->end, sink ) )
        {
            cursor->column = column;
            *test_count += tests;
            return false;
        }
        tests += row->end - row->begin;
        cursor->column = 0;
    }
    *test_count += tests;
    return true;
}
