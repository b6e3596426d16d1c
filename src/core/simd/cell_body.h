// SPDX-License-Identifier: MIT
// The pairs of one cell, as simd/cells.h says, written once over a register of bytes. Each cells_<isa>.c but the scalar one defines, before it
// includes this file:
//   BYTE_LANES                 bytes per register: a divisor of 64
//   bytes                      that many
//   bytes_load( p )            p aligned
//   bytes_splat( value )       a byte in every lane
//   bytes_and( a, b )
//   bytes_zero_bits( a )       a bit per lane that is 0, lane 0 lowest
//   bytes_meet( lanes, row, axes )   a bit per lane in which lanes.lower <= row.upper and row.lower <= lanes.upper on so many axes
//   byte_box                   lower and upper x y z in registers
//   boxes_touch( a, b )
//   row_of( entry )            of one entry, in every lane
//   hit_walk, split_hits, gather_slots          as in simd/hits_plain.h
//   transpose_codes( entries, lanes, stride )   16 codes to 16 bytes in each of seven rows of lanes
//
// An entry's code is eight bytes: lower x y z in 256ths of the cell, before bits, upper x y z, and its class, which means nothing here. Two boxes may touch
// if on each axis the lower of one is at most the upper of the other, both ways. Where every lower is less than the upper it is
// compared with, rounding cannot have made it so: the boxes touch. Only a tie has to be looked up in float.
// No include guard: this is a template.

// A cell.
typedef struct cell_view
{
    const cell_entry* entries;
    uint32_t count;
    uint32_t stride; ///< from one row of lanes to the next
} cell_view;

enum
{
    LANE_PARTS = 64 / BYTE_LANES // registers in a word of 64 lanes
};

// A word of lanes: what 64 entries hold against a row, and which of them a row may meet by its before bits.
typedef struct lane_word
{
    byte_box parts[LANE_PARTS];
    uint64_t allowed[8];
} lane_word;

// Codes behind the cell's last are the next cell's, or slack: no row may meet them.
static void load_cell( const cell_search* search, const cell_view* view )
{
    for ( uint32_t first = 0; first < view->count; first += 16 )
    {
        transpose_codes( view->entries + first, search->lanes + first, view->stride );
        gather_slots( view->entries + first, search->slots + first );
    }
}

static inline uint64_t lanes_without( const uint8_t* before, uint8_t bit )
{
    uint64_t all = 0;
    for ( uint32_t part = 0; part < LANE_PARTS; ++part )
    {
        bytes b = bytes_and( bytes_load( before + (size_t)part * BYTE_LANES ), bytes_splat( bit ) );
        all |= (uint64_t)bytes_zero_bits( b ) << ( part * BYTE_LANES % 64 );
    }
    return all;
}

// Two that both begin before this cell on some axis meet in another one.
static inline void load_allowed( const uint8_t* before, uint32_t lane_count, uint64_t allowed[8] )
{
    uint64_t valid = lane_count < 64 ? ( (uint64_t)1 << lane_count ) - 1 : ~(uint64_t)0;
    allowed[0] = valid;
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        uint32_t bit = 1u << axis;
        uint64_t without = lanes_without( before, (uint8_t)bit );
        for ( uint32_t i = 0; i < bit; ++i )
        {
            allowed[bit + i] = allowed[i] & without;
        }
    }
}

// In place: returned by value, 64 bytes written in parts would be read at once.
static inline void load_word( lane_word* l, const cell_view* view, const uint8_t* lanes, uint32_t word )
{
    for ( uint32_t part = 0; part < LANE_PARTS; ++part )
    {
        const uint8_t* at = lanes + word + (size_t)part * BYTE_LANES;
        for ( int axis = 0; axis < 3; ++axis )
        {
            l->parts[part].lower[axis] = bytes_load( at + (size_t)axis * view->stride );
            l->parts[part].upper[axis] = bytes_load( at + (size_t)( axis + 4 ) * view->stride );
        }
    }
    load_allowed( lanes + word + (size_t)3 * view->stride, view->count - word, l->allowed );
}

static inline clv_result have_room( pair_sink* sink )
{
    return pair_sink_is_full( sink ) ? sink->make_room( sink ) : CLV_OK;
}

static clv_result settle_ties( cell_search* search )
{
    const clv_aabb* boxes = search->exact;
    const clv_pair* ties = search->ties;
    pair_sink* sink = search->sink;
    for ( uint32_t first = 0; first < search->tie_count; first += PAIR_SINK_ROOM )
    {
        clv_result result = have_room( sink );
        if ( result != CLV_OK )
        {
            return result;
        }
        uint32_t left = search->tie_count - first;
        uint32_t end = first + ( left < PAIR_SINK_ROOM ? left : PAIR_SINK_ROOM );
        clv_pair* out = sink->pairs + sink->count;
        for ( uint32_t i = first; i < end; ++i ) // many trips to memory at once, where there are many boxes
        {
            base_prefetch( &boxes[ties[i].a] );
            base_prefetch( &boxes[ties[i].b] );
        }
        for ( uint32_t i = first; i < end; ++i )
        {
            *out = ties[i];
            out += boxes_touch( &boxes[ties[i].a], &boxes[ties[i].b] );
        }
        uint64_t touching = (uint64_t)( out - sink->pairs ) - sink->count;
        search->counters->failed_count += end - first - touching;
        sink->count += touching;
    }
    search->counters->tie_count += search->tie_count;
    search->tie_count = 0;
    return CLV_OK;
}

// The pairs of hits: those that are sure to the sink, ties behind the ties, which are looked up when there are many.
static inline clv_result put_hits( cell_search* search, const row_hits* hits, const hit_sides* sides )
{
    pair_sink* sink = search->sink;
    hit_walk walk;
    uint32_t hit_count = hit_walk_begin( &walk, hits );
    for ( uint32_t first = 0; first < hit_count; first += HITS_AT_ONCE )
    {
        clv_result result = have_room( sink );
        if ( result == CLV_OK && search->tie_count >= CELL_TIES )
        {
            result = settle_ties( search );
            result = result == CLV_OK ? have_room( sink ) : result;
        }
        if ( result != CLV_OK )
        {
            return result;
        }
        uint32_t left = hit_count - first, count = left < HITS_AT_ONCE ? left : HITS_AT_ONCE;
        uint32_t sure =
            split_hits( &walk, sides, count, sink->pairs + sink->count, search->ties + search->tie_count );
        sink->count += sure;
        search->tie_count += count - sure;
    }
    search->counters->candidate_count += hit_count;
    return CLV_OK;
}

#define CELL_AXES 3
#define lanes_that_meet lanes_that_meet_solid
#define search_word search_word_solid
#include "simd/cell_word.h"

#define CELL_AXES 2
#define lanes_that_meet lanes_that_meet_flat
#define search_word search_word_flat
#include "simd/cell_word.h"

// Have all entries the same bytes on the third axis, as in a flat world? Then nothing is decided there. The last entry tells most cells
// of other worlds.
static bool is_flat_cell( const cell_view* view )
{
    const uint64_t third = UINT64_C( 0xFF ) << 16 | UINT64_C( 0xFF ) << 48;
    uint64_t first = view->entries[0].code, different = first ^ view->entries[view->count - 1].code;
    for ( uint32_t i = 1; ( different & third ) == 0 && i < view->count; ++i )
    {
        different |= first ^ view->entries[i].code;
    }
    return ( different & third ) == 0;
}

// All rows against all lanes behind them, a word of lanes at a time.
static clv_result search_rows( cell_search* search, const cell_view* view )
{
    const uint8_t* at = search->lanes;
    clv_result result = CLV_OK;
    bool is_flat = is_flat_cell( view );
    for ( uint32_t word = 0; word < view->count && result == CLV_OK; word += 64 )
    {
        lane_word lanes;
        load_word( &lanes, view, at, word );
        for ( uint32_t first = 0; first <= word && result == CLV_OK; first += 64 )
        {
            uint32_t last = first + 64 < view->count ? first + 64 : view->count;
            result = is_flat ? search_word_flat( search, view, &lanes, word, first, last )
                             : search_word_solid( search, view, &lanes, word, first, last );
        }
    }
    return result;
}

static clv_result search_cell( cell_search* search, const cell_entry* entries, uint32_t count )
{
    cell_view view = { entries, count, ( count + 63 ) & ~63u };
    load_cell( search, &view );
    return search_rows( search, &view );
}
