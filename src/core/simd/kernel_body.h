// SPDX-License-Identifier: MIT
// Every box against every other, written once over a wide type, which wide_<isa>.h defines:
//   WIDE_LANES            floats per register, a power of two, at most KERNEL_LANES / 2
//   wide                  that many floats
//   wide_load( p )        p aligned to the width
//   wide_splat( f )
//   wide_mask             the outcome of a comparison
//   wide_le( a, b )       a <= b, false where either is NaN
//   wide_le_and( m, a, b ) the same where m holds
//   wide_bits( m )        one bit per lane, lane 0 lowest
// A step always starts at a multiple of the width: lanes that lie before the first wanted column are masked away, which
// costs less than loads that straddle cache lines. Bits are walked from the lowest, so the order is that of a plain loop.
// No include guard: this is a template.

typedef struct query
{
    wide lower[3];
    wide upper[3];
    uint32_t slot;
} query;

static inline query query_of( const simd_boxes* boxes, uint32_t row )
{
    query q;
    for ( int axis = 0; axis < 3; ++axis )
    {
        q.lower[axis] = wide_splat( boxes->lower[axis][row] );
        q.upper[axis] = wide_splat( boxes->upper[axis][row] );
    }
    q.slot = boxes->slots[row];
    return q;
}

// Lanes of the step at `base` that are at or behind `first`. Only the first step of a row has others.
static inline uint32_t lanes_from( uint32_t base, uint32_t first )
{
    uint32_t all = (uint32_t)( ( (uint64_t)1 << WIDE_LANES ) - 1 );
    return first > base ? ( all << ( first - base ) ) & all : all;
}

// Lanes of the step at `base` that are before `end`.
static inline uint32_t lanes_to( uint32_t base, uint32_t end )
{
    uint32_t all = (uint32_t)( ( (uint64_t)1 << WIDE_LANES ) - 1 );
    return end - base >= WIDE_LANES ? all : ( 1u << ( end - base ) ) - 1;
}

static inline void put_pairs( pair_sink* sink, uint32_t slot, const uint32_t* slots, uint32_t bits )
{
    clv_pair* out = sink->pairs + sink->count;
    do
    {
        uint32_t other = slots[base_lowest_bit( bits )];
        *out++ = ( clv_pair ){ slot < other ? slot : other, slot < other ? other : slot };
        bits &= bits - 1;
    } while ( bits != 0 );
    sink->count = (uint64_t)( out - sink->pairs );
}

static inline wide_mask overlap_axis(
    wide_mask mask, const query* q, const simd_boxes* boxes, int axis, uint32_t at )
{
    mask = wide_le_and( mask, wide_load( boxes->lower[axis] + at ), q->upper[axis] );
    return wide_le_and( mask, q->lower[axis], wide_load( boxes->upper[axis] + at ) );
}

static inline uint32_t overlap_bits( const query* q, const simd_boxes* boxes, uint32_t at )
{
    wide_mask mask = wide_le( wide_load( boxes->lower[0] + at ), q->upper[0] );
    mask = wide_le_and( mask, q->lower[0], wide_load( boxes->upper[0] + at ) );
    mask = overlap_axis( mask, q, boxes, 1, at );
    return wide_bits( overlap_axis( mask, q, boxes, 2, at ) );
}

// One row of test_block. False, and *column where to go on, if the sink is full.
static inline bool test_row(
    const simd_boxes* boxes, uint32_t row, uint32_t* column, uint32_t end, pair_sink* sink )
{
    query q = query_of( boxes, row );
    uint32_t first = *column;
    uint32_t base = first & ~( WIDE_LANES - 1u );
    uint32_t wanted = lanes_from( base, first );
    for ( ; base < end; base += WIDE_LANES )
    {
        uint32_t bits = overlap_bits( &q, boxes, base ) & wanted;
        wanted = ~0u;
        if ( bits == 0 )
        {
            continue;
        }
        bits &= lanes_to( base, end );
        if ( pair_sink_is_full( sink ) )
        {
            *column = base > first ? base : first;
            return false;
        }
        if ( bits != 0 )
        {
            put_pairs( sink, q.slot, boxes->slots + base, bits );
        }
    }
    return true;
}

static bool test_block( const simd_boxes* boxes, uint32_t row_end, uint32_t column_begin, uint32_t column_end,
    simd_cursor* cursor, pair_sink* sink )
{
    for ( ; cursor->row < row_end; cursor->row += 1 )
    {
        uint32_t column = cursor->row + 1 > column_begin ? cursor->row + 1 : column_begin;
        column = cursor->column > column ? cursor->column : column;
        if ( !test_row( boxes, cursor->row, &column, column_end, sink ) )
        {
            cursor->column = column;
            return false;
        }
        cursor->column = 0;
    }
    return true;
}
