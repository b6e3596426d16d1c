// SPDX-License-Identifier: MIT
// The kernels of sweeps, trees and grids, as simd/kernels.h has those of the core: a table per instruction
// set, all of which give the same pairs in the same order and the same counts.
#pragma once

#include "base/bit_set.h"
#include "base/bits.h"
#include "simd/kernels.h"

/// A box as a record of 32 bytes, so that a copy is two vector moves.
typedef struct simd_item
{
    float lower[3];
    uint32_t slot;
    float upper[3];
    uint32_t mark; ///< 0 or 1, to tell two kinds apart
} simd_item;

static_assert( sizeof( simd_item ) == 32, "two items to a cache line" );

/// Boxes in steps of a small grid, for a first test: small numbers, four times as many to a register. If two
/// boxes overlap, so do their small ones, since every bound went through the same monotonic function; those
/// that pass are tested exactly. The first axis, along which the boxes stand in order of bucket, is left to
/// that order and the exact test.
typedef struct simd_small_boxes
{
    int16_t* lower[2]; ///< second and third axis, never negative
    int16_t* upper[2];
    uint32_t* slots; ///< whose box this is, and SMALL_AGAIN
    uint32_t* ends;  ///< columns that a box may overlap end here
    uint32_t count;
    const clv_aabb* exact; ///< by slot
} simd_small_boxes;

/// A box that reaches into several strips of a list stands in each of them, in all but its first with this
/// bit. Two boxes that both have it have met before, so they are no pair here.
#define SMALL_AGAIN ( (uint32_t)1 << 31 )

static_assert( CLV_MAX_OBJECTS <= SMALL_AGAIN, "slots leave a bit to spare" );

/// Where the small grid lies: a bound b becomes ( b - origin ) * scale, cut off at 0 and SMALL_MOST, without
/// its fraction.
typedef struct simd_small_grid
{
    float origin[4]; ///< the fourth is 0
    float scale[4];  ///< not negative; the fourth is 0
} simd_small_grid;

/// Most steps of the grid: small numbers are positive in 16 bits.
#define SMALL_MOST 32767

/// An item in steps.
typedef struct simd_small_item
{
    int16_t lower[3];
    int16_t upper[3];
    uint32_t slot;
} simd_small_item;

static_assert( sizeof( simd_small_item ) == 16, "four to a cache line" );

/// How items become small boxes: which axis is which, and where the columns of a row end.
typedef struct simd_small_turn
{
    uint32_t sweep, second, third;
    const uint32_t* starts; ///< by bucket along the axis of the sweep; one more for the end
    uint32_t shift;         ///< steps to buckets
} simd_small_turn;

static inline void simd_small_set(
    const simd_small_boxes* boxes, uint32_t at, const simd_small_item* item, const simd_small_turn* turn )
{
    boxes->lower[0][at] = item->lower[turn->second];
    boxes->upper[0][at] = item->upper[turn->second];
    boxes->lower[1][at] = item->lower[turn->third];
    boxes->upper[1][at] = item->upper[turn->third];
    boxes->slots[at] = item->slot;
    boxes->ends[at] = turn->starts[( (uint32_t)item->upper[turn->sweep] >> turn->shift ) + 1];
}

/// Arrays of small boxes can be read this far beyond their last entry.
#define SMALL_ROUND 32

/// A box from elsewhere, and the columns it may overlap.
typedef struct simd_small_row
{
    int16_t lower[2];
    int16_t upper[2];
    uint32_t slot; ///< and SMALL_AGAIN
    uint32_t begin, end;
} simd_small_row;

/// The same for two lists: their heads, and the next column of the head that is being searched for; 0: none
/// yet.
typedef struct simd_cross_cursor
{
    uint32_t heads[2];
    uint32_t column;
} simd_cross_cursor;

/// A sorted list for sweeps that leave out pairs of two boxes at rest.
typedef struct simd_list
{
    const simd_boxes* boxes;
    /// by place, a bit: not at rest; one more at boxes->count ends the list. NULL: all move
    const uint64_t* movers;
} simd_list;

/// The first mover from `place` on.
static inline uint32_t simd_next_mover( const uint64_t* movers, uint32_t place )
{
    uint32_t index = place / 64;
    uint64_t word = movers[index] >> place % 64;
    if ( word != 0 )
    {
        return place + base_lowest_bit( word );
    }
    do
    {
        index += 1;
    } while ( movers[index] == 0 );
    return index * 64 + base_lowest_bit( movers[index] );
}

/// The bits of 32 places from `place` on.
static inline uint32_t simd_movers_at( const uint64_t* movers, uint32_t place )
{
    uint64_t low = movers[place / 64] >> place % 64;
    uint64_t high = movers[place / 64 + 1] << 1 << ( 63 - place % 64 );
    return (uint32_t)( low | high );
}

/// How many of the places [begin, end) are movers.
static inline uint32_t simd_count_movers( const uint64_t* movers, uint32_t begin, uint32_t end )
{
    uint32_t count = 0;
    for ( ; begin < end; begin += 64 )
    {
        uint64_t bits = movers[begin / 64] >> begin % 64 | movers[begin / 64 + 1] << 1 << ( 63 - begin % 64 );
        count += base_bit_count( end - begin < 64 ? bits & base_bits_low( end - begin ) : bits );
    }
    return count;
}

typedef struct simd_method_kernels
{
    clv_isa isa;

    /// As the core has it, simd/kernels.h.
    bool ( *test_block )( const simd_boxes* boxes, uint32_t row_end, uint32_t column_begin,
        uint32_t column_end, simd_cursor* cursor, clv_pair_sink* sink );

    /// Boxes sorted ascending by lower[0]. Each row is tested against the columns behind it until one begins
    /// past the row's upper[0]. Adds the columns looked at to *test_count. Start with cursor { 0, 0 };
    /// answers as test_block. A part of the rows: start with cursor { row_begin, 0 } and let boxes->count say
    /// where the rows end; columns go on behind them, up to the NaN at the end of the arrays.
    bool ( *sweep )(
        const simd_boxes* boxes, simd_cursor* cursor, clv_pair_sink* sink, uint64_t* test_count );

    /// Two lists, each sorted as above: all overlapping pairs of one box from each (Zomorodian and
    /// Edelsbrunner's scan of two lists). The head that begins first, the first list's on a tie, is tested
    /// against the other list from its head on until one begins past it, and is then done with. Start with
    /// cursor { 0, 0, 0 }; counts and answers as above. Pairs of two at rest are left out where the lists
    /// have movers: a head at rest is tested against movers alone.
    bool ( *sweep_cross )( const simd_list* first, const simd_list* second, simd_cross_cursor* cursor,
        clv_pair_sink* sink, uint64_t* test_count );

    /// As `sweep`, but a row at rest is tested against the movers behind it alone.
    bool ( *sweep_movers )(
        const simd_list* list, simd_cursor* cursor, clv_pair_sink* sink, uint64_t* test_count );

    /// Slots whose box is not within lower <= box.lower, box.upper < upper go into `leavers`, in order; the
    /// others move up. Returns how many left. Both arrays are `count` long.
    uint32_t ( *take_leavers )( const clv_aabb* boxes, const float lower[3], const float upper[3],
        uint32_t* slots, uint32_t count, uint32_t* leavers );

    /// Of the slots those whose box overlaps `box`, in order, into `hits`, which is `count` long. Returns how
    /// many.
    uint32_t ( *pick_overlapping )(
        const clv_aabb* boxes, const uint32_t* slots, uint32_t count, const clv_aabb* box, uint32_t* hits );

    /// The same for boxes in a row: their indices.
    uint32_t ( *scan_overlapping )(
        const clv_aabb* boxes, uint32_t count, const clv_aabb* box, uint32_t* hits );

    /// Of the pairs those whose boxes overlap, in order, into `kept`, which is `count` long and may be
    /// `pairs`. Returns how many.
    uint32_t ( *keep_overlapping )(
        const clv_aabb* boxes, const clv_pair* pairs, uint32_t count, clv_pair* kept );

    /// A bit for each of up to 64 boxes that is not at rest: one that does not lie in its grown box, or has a
    /// face more than twice epsilon inside it. The grown box becomes that box, grown by epsilon.
    uint64_t ( *regrow )( const clv_aabb* boxes, clv_aabb* grown, uint32_t count, float epsilon );

    /// Items in steps. Not a number, where an endless bound meets a scale of 0, becomes 0.
    void ( *make_small )(
        const simd_item* items, uint32_t count, const simd_small_grid* grid, simd_small_item* small );

    /// The same for boxes by slot.
    void ( *gather_small )( const clv_aabb* boxes, const uint32_t* slots, uint32_t count,
        const simd_small_grid* grid, simd_small_item* small );

    /// Items from `begin` to `end`, in this order, into the same places of the boxes.
    void ( *spread_small )( const simd_small_item* items, uint32_t begin, uint32_t end,
        const simd_small_turn* turn, const simd_small_boxes* boxes );

    /// Row by row, box `row` against columns row + 1 .. ends[row]: all pairs that overlap, ascending. Adds as
    /// above; start with cursor { 0, 0 }.
    bool ( *sweep_small )(
        const simd_small_boxes* boxes, simd_cursor* cursor, clv_pair_sink* sink, uint64_t* test_count );

    /// Row by row, each against its range of columns. Adds, answers and starts as above.
    bool ( *cross_small )( const simd_small_row* rows, uint32_t row_count, const simd_small_boxes* boxes,
        simd_cursor* cursor, clv_pair_sink* sink, uint64_t* test_count );
} simd_method_kernels;

/// The table for an instruction set; NULL if it was not compiled in or this CPU lacks it. AUTO is not
/// accepted.
const simd_method_kernels* clv_simd_method_kernels_for( clv_isa isa );
