// SPDX-License-Identifier: MIT
// Rows against ranges of columns that are known beforehand, over the wide type of the file that includes this behind
// kernel_body.h. The ranges come from buckets along the first axis and hold little that does not overlap there, so the
// steps test the other two axes and only hits are looked at on the first.
// No include guard: this is a template.

enum
{
    RANGE_BLOCK = 32 // columns per round: most rows need one, and its steps need no branch
};

// What a round needs of a row.
typedef struct range_query
{
    wide lower[2], upper[2]; // second and third axis
    float first_lower, first_upper;
    uint32_t slot;
} range_query;

static inline uint32_t range_step( const range_query* q, const simd_boxes* boxes, uint32_t at )
{
    wide_mask mask = wide_le( wide_load( boxes->lower[1] + at ), q->upper[0] );
    mask = wide_le_and( mask, q->lower[0], wide_load( boxes->upper[1] + at ) );
    mask = wide_le_and( mask, wide_load( boxes->lower[2] + at ), q->upper[1] );
    return wide_bits( wide_le_and( mask, q->lower[1], wide_load( boxes->upper[2] + at ) ) );
}

// Bits of columns base .. base + RANGE_BLOCK; those outside [first, end) mean nothing.
static inline uint32_t range_round(
    const range_query* q, const simd_boxes* boxes, uint32_t base, uint32_t first, uint32_t end )
{
    uint32_t bits = 0;
#if WIDE_LANES >= 8
    (void)first;
    (void)end;
    for ( uint32_t step = 0; step < RANGE_BLOCK; step += WIDE_LANES )
    {
        bits |= range_step( q, boxes, base + step ) << step;
    }
#else
    // Eight steps to a round: here it pays to make only the ones that matter.
    uint32_t step = first > base ? ( first - base ) & ~( WIDE_LANES - 1u ) : 0;
    uint32_t last = end - base < RANGE_BLOCK ? end - base : RANGE_BLOCK;
    for ( ; step < last; step += WIDE_LANES )
    {
        bits |= range_step( q, boxes, base + step ) << step;
    }
#endif
    return bits;
}

static inline void put_if_first_axis_overlaps(
    pair_sink* sink, const range_query* q, const simd_boxes* boxes, uint32_t base, uint32_t bits )
{
    for ( ; bits != 0; bits &= bits - 1 )
    {
        uint32_t at = base + base_lowest_bit( bits );
        if ( boxes->lower[0][at] <= q->first_upper && q->first_lower <= boxes->upper[0][at] )
        {
            uint32_t other = boxes->slots[at];
            sink->pairs[sink->count++] =
                ( clv_pair ){ q->slot < other ? q->slot : other, q->slot < other ? other : q->slot };
        }
    }
}

// Columns *column .. end. False, and *column where to go on, if the sink is full.
static inline bool test_range(
    const range_query* q, const simd_boxes* boxes, uint32_t* column, uint32_t end, pair_sink* sink )
{
    uint32_t first = *column;
    // Rounds start at a multiple of the widest step: the lanes are padded for that and no further.
    for ( uint32_t base = first & ~( KERNEL_LANES - 1u ); base < end; base += RANGE_BLOCK )
    {
        uint32_t bits = range_round( q, boxes, base, first, end );
        bits &= first > base ? ~0u << ( first - base ) : ~0u;
        bits &= end - base < RANGE_BLOCK ? ( 1u << ( end - base ) ) - 1 : ~0u;
        if ( bits == 0 )
        {
            continue;
        }
        if ( pair_sink_is_full( sink ) )
        {
            *column = base > first ? base : first;
            return false;
        }
        put_if_first_axis_overlaps( sink, q, boxes, base, bits );
    }
    return true;
}

static bool sweep_ranges( const simd_boxes* boxes, const uint32_t* ends, simd_cursor* cursor, pair_sink* sink,
    uint64_t* test_count )
{
    uint64_t tests = 0;
    for ( ; cursor->row < boxes->count; cursor->row += 1 )
    {
        uint32_t row = cursor->row;
        range_query q = {
            { wide_splat( boxes->lower[1][row] ), wide_splat( boxes->lower[2][row] ) },
            { wide_splat( boxes->upper[1][row] ), wide_splat( boxes->upper[2][row] ) },
            boxes->lower[0][row],
            boxes->upper[0][row],
            boxes->slots[row],
        };
        uint32_t column = cursor->column > 0 ? cursor->column : row + 1;
        if ( !test_range( &q, boxes, &column, ends[row], sink ) )
        {
            cursor->column = column;
            *test_count += tests;
            return false;
        }
        tests += ends[row] - ( row + 1 );
        cursor->column = 0;
    }
    *test_count += tests;
    return true;
}

static bool cross_ranges( const simd_item* items, uint32_t axis, const simd_range* ranges,
    uint32_t range_count, const simd_boxes* boxes, simd_cursor* cursor, pair_sink* sink,
    uint64_t* test_count )
{
    uint32_t second = ( axis + 1 ) % 3;
    uint32_t third = ( axis + 2 ) % 3;
    uint64_t tests = 0;
    for ( ; cursor->row < range_count; cursor->row += 1 )
    {
        const simd_range* range = &ranges[cursor->row];
        const simd_item* item = &items[range->row];
        range_query q = {
            { wide_splat( item->lower[second] ), wide_splat( item->lower[third] ) },
            { wide_splat( item->upper[second] ), wide_splat( item->upper[third] ) },
            item->lower[axis],
            item->upper[axis],
            item->slot,
        };
        uint32_t column = cursor->column > range->begin ? cursor->column : range->begin;
        if ( !test_range( &q, boxes, &column, range->end, sink ) )
        {
            cursor->column = column;
            *test_count += tests;
            return false;
        }
        tests += range->end - range->begin;
        cursor->column = 0;
    }
    *test_count += tests;
    return true;
}
