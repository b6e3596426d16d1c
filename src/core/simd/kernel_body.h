// SPDX-License-Identifier: MIT
// Boxes by axis, every one against every other, and boxes one by one as they lie in memory: written once over
// two types of registers, which lanes_<isa>.h defines.
//   WIDE_LANES            floats per register, a power of two, at most KERNEL_LANES / 2
//   wide                  that many floats
//   wide_load( p )        p aligned to the width
//   wide_load_any( p )    p aligned to a float
//   wide_splat( f )
//   wide_mask             the outcome of a comparison
//   wide_le( a, b )       a <= b, false where either is NaN
//   wide_le_and( m, a, b ) the same where m holds
//   wide_bits( m )        one bit per lane, lane 0 lowest
//   four, four_load, ...  four floats likewise, which hold a corner of a box: see lanes_x86.h
//   OWN_STRAYS            defined where the file that includes this has a find_strays of its own
//   OWN_CODES             likewise, a find_codes
// A step always starts at a multiple of the width: lanes that lie before the first wanted column are masked
// away, which costs less than loads that straddle cache lines. Bits are walked from the lowest, so the order
// is that of a plain loop. The library of methods uses some of these functions: all are inline, so that the
// others cost it nothing. No include guard: this is a template.

// A box in every lane.
typedef struct wide_row
{
    wide lower[3];
    wide upper[3];
    uint32_t slot;
} wide_row;

static inline wide_row row_in_lanes( const simd_boxes* boxes, uint32_t row )
{
    wide_row q;
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

static inline void put_pairs( clv_pair_sink* sink, uint32_t slot, const uint32_t* slots, uint32_t bits )
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
    wide_mask mask, const wide_row* q, const simd_boxes* boxes, int axis, uint32_t at )
{
    mask = wide_le_and( mask, wide_load( boxes->lower[axis] + at ), q->upper[axis] );
    return wide_le_and( mask, q->lower[axis], wide_load( boxes->upper[axis] + at ) );
}

static inline uint32_t overlap_bits( const wide_row* q, const simd_boxes* boxes, uint32_t at )
{
    wide_mask mask = wide_le( wide_load( boxes->lower[0] + at ), q->upper[0] );
    mask = wide_le_and( mask, q->lower[0], wide_load( boxes->upper[0] + at ) );
    mask = overlap_axis( mask, q, boxes, 1, at );
    return wide_bits( overlap_axis( mask, q, boxes, 2, at ) );
}

// One row of test_block. False, and *column where to go on, if the sink is full.
static inline bool test_row(
    const simd_boxes* boxes, uint32_t row, uint32_t* column, uint32_t end, clv_pair_sink* sink )
{
    wide_row q = row_in_lanes( boxes, row );
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
        if ( clv_pair_sink_is_full( sink ) )
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

static inline bool test_block( const simd_boxes* boxes, uint32_t row_end, uint32_t column_begin,
    uint32_t column_end, simd_cursor* cursor, clv_pair_sink* sink )
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

// ---- boxes one by one

static inline four lower_corner( const clv_aabb* box )
{
    return four_load( &box->lower.x );
}

// Read from lower z on, so that nothing behind the box is read. As in lower_corner the fourth lane means
// nothing.
static inline four upper_corner( const clv_aabb* box )
{
    return four_next( four_load( &box->lower.z ) );
}

static inline bool corners_hold( four_mask m )
{
    return ( four_bits( m ) & 7 ) == 7;
}

static inline bool boxes_touch( const clv_aabb* a, const clv_aabb* b )
{
    four upper_a = upper_corner( a ), upper_b = upper_corner( b );
    return corners_hold(
        four_and( four_le( lower_corner( a ), upper_b ), four_le( lower_corner( b ), upper_a ) ) );
}

// A box's upper faces lie three floats behind its lower ones, so boxes in a row are compared with themselves
// from the fourth float on. Of each six floats the first three count; three registers are half as many boxes
// as one has lanes. Returns how many boxes were looked at: one step less than there are at least, so that no
// float behind them is read.
static inline uint32_t skip_good_steps( const clv_aabb* boxes, uint32_t count, bool* are_all_good )
{
    const uint64_t lower_faces = UINT64_C( 0x1C71C71C71C7 ); // three of each six, from the lowest bit on
    const uint32_t step = WIDE_LANES / 2;
    const float* faces = (const float*)boxes;
    wide_mask good[3];
    uint32_t done = 0;
    for ( int part = 0; part < 3; ++part )
    {
        good[part] = wide_le( wide_splat( 0 ), wide_splat( 0 ) );
    }
    for ( ; count - done > step; done += step, faces += 3 * WIDE_LANES )
    {
        for ( int part = 0; part < 3; ++part )
        {
            const float* from = faces + part * WIDE_LANES;
            good[part] = wide_le_and( good[part], wide_load_any( from ), wide_load_any( from + 3 ) );
        }
    }
    uint64_t bad = 0;
    for ( int part = 0; part < 3; ++part )
    {
        uint64_t lanes = lower_faces >> ( part * WIDE_LANES ) & ( ( (uint64_t)1 << WIDE_LANES ) - 1 );
        bad |= lanes & ~(uint64_t)wide_bits( good[part] );
    }
    *are_all_good = bad == 0;
    return done;
}

static inline bool are_good( const clv_aabb* boxes, uint32_t count )
{
    bool are_all_good;
    four_mask good = four_le( four_splat( 0 ), four_splat( 0 ) );
    for ( uint32_t i = skip_good_steps( boxes, count, &are_all_good ); i < count; ++i )
    {
        good = four_and( good, four_le( lower_corner( &boxes[i] ), upper_corner( &boxes[i] ) ) );
    }
    return are_all_good && corners_hold( good );
}

#ifndef OWN_APART
#define are_good_apart clv_simd_are_good_apart
#define put_near clv_simd_put_near
#define put_anywhere clv_simd_put_anywhere
#endif

static inline uint64_t find_touching( const clv_aabb* boxes, const clv_pair* pairs, uint32_t count )
{
    uint64_t bits = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        bits |= (uint64_t)boxes_touch( &boxes[pairs[i].a], &boxes[pairs[i].b] ) << i;
    }
    return bits;
}

#ifndef OWN_STRAYS
static inline bool is_near( four face, four rest )
{
    four margin = four_last( rest );
    return corners_hold(
        four_and( four_le( four_sub( rest, margin ), face ), four_le( face, four_add( rest, margin ) ) ) );
}

static inline uint64_t find_strays( const clv_aabb* boxes, const simd_rest_box* rests, uint32_t count )
{
    uint64_t bits = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        bool lower_is_near = is_near( lower_corner( &boxes[i] ), four_load( rests[i].lower ) );
        bool upper_is_near = is_near( upper_corner( &boxes[i] ), four_load( rests[i].upper ) );
        bits |= ( uint64_t ) !( lower_is_near & upper_is_near ) << i;
    }
    return bits;
}
#endif

#ifndef OWN_CODES
// No coordinate borrows the bit above it where this one begins at most where the other ends.
static inline uint32_t find_codes(
    const simd_code_box* boxes, uint32_t count, simd_code_box asked, uint32_t* found )
{
    uint64_t lower = asked.lower & ~( UINT64_C( 0xFFFF ) << 48 );
    uint32_t found_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint64_t begins = asked.upper - boxes[i].lower, ends = boxes[i].upper - lower;
        found[found_count] = i;
        found_count += ( begins & ends & SIMD_CODE_TOPS ) == SIMD_CODE_TOPS;
    }
    return found_count;
}
#endif

// A rest box grown and shrunk by its margin.
typedef struct rest_corners
{
    four fat_lower, fat_upper, core_lower, core_upper;
} rest_corners;

static inline rest_corners corners_of( const simd_rest_box* rest )
{
    four lower = four_load( rest->lower ), upper = four_load( rest->upper ), margin = four_last( lower );
    return ( rest_corners ){ four_sub( lower, margin ), four_add( upper, margin ), four_add( lower, margin ),
        four_sub( upper, margin ) };
}

static inline uint32_t cores_overlap( const rest_corners* a, const rest_corners* b )
{
    return (uint32_t)corners_hold(
        four_and( four_le( a->core_lower, b->core_upper ), four_le( b->core_lower, a->core_upper ) ) );
}

// How far two of them overlap: not at all, fat alone, fat and core.
static inline uint32_t corners_class( const rest_corners* a, const rest_corners* b )
{
    return (uint32_t)corners_hold(
               four_and( four_le( a->fat_lower, b->fat_upper ), four_le( b->fat_lower, a->fat_upper ) ) ) +
        cores_overlap( a, b );
}

static inline uint64_t find_sure( const simd_rest_box* rests, const clv_pair* pairs, uint32_t count )
{
    uint64_t bits = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        rest_corners a = corners_of( &rests[pairs[i].a] ), b = corners_of( &rests[pairs[i].b] );
        bits |= (uint64_t)cores_overlap( &a, &b ) << i;
    }
    return bits;
}

static inline uint64_t find_changed( const simd_rest_box* rests, const uint32_t* slots, uint32_t count,
    const simd_rest_box* from, const simd_rest_box* to )
{
    const rest_corners before = corners_of( from ), after = corners_of( to );
    uint64_t bits = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        rest_corners other = corners_of( &rests[slots[i]] );
        bits |= (uint64_t)( corners_class( &other, &before ) != corners_class( &other, &after ) ) << i;
    }
    return bits;
}
