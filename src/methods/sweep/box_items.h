// SPDX-License-Identifier: MIT
// Small lists of boxes on their way into a sweep: gathered as records, sorted along an axis, laid out for the
// kernels.
#pragma once

#include "base/array.h"
#include "base/bits.h"
#include "base/radix_sort.h"
#include "pair/sink.h"
#include "simd/box_lanes.h"
#include "simd/method_kernels.h"

// ---- Sorted lists of the boxes' ends along an axis that survive the frame: Baraff's (1992) coherence,
// I-COLLIDE's (1995) insertion sort. A beginning that passes an ending on its way down is the only way two
// boxes can come to overlap on the axis.

/// An end: `key` orders like the coordinate, `value` tells whose, with SWEEP_UPPER for the upper one. Equal
/// coordinates put lower ends first, so that touching boxes overlap.
#define SWEEP_UPPER 0x80000000u

static inline uint32_t sweep_owner( base_keyed end )
{
    return end.value & ~SWEEP_UPPER;
}

/// -0 and +0 are one place: adding +0 turns the first into the second.
static inline uint32_t sweep_key( float value )
{
    return base_float_order( value + 0.0f );
}

static inline base_keyed sweep_end_of( const clv_aabb* box, int axis, uint32_t value )
{
    const clv_vec3* corner = ( value & SWEEP_UPPER ) != 0 ? &box->upper : &box->lower;
    return ( base_keyed ){ sweep_key( ( &corner->x )[axis] ), value };
}

static inline uint64_t sweep_rank( base_keyed end )
{
    return ( (uint64_t)end.key << 32 ) | end.value;
}

/// What a sort did, and may do.
typedef struct sweep_effort
{
    uint64_t swaps_left; ///< the sort gives up when it would need more
    uint64_t test_count;
} sweep_effort;

typedef enum sweep_sort_outcome
{
    SWEEP_SORTED,
    SWEEP_GAVE_UP, ///< too many swaps; the list is a permutation of itself, pairs may be missing
    SWEEP_FAILED,  ///< the sink refused; likewise
} sweep_sort_outcome;

/// Insertion sort of an almost sorted list of ends with their new keys. Pairs that began to overlap on this
/// axis and overlap altogether go into the sink, perhaps together with pairs that overlapped before; *result
/// is the sink's answer.
sweep_sort_outcome clv_sweep_sort_ends( base_keyed* ends, uint32_t count, const clv_aabb* boxes,
    sweep_effort* effort, clv_pair_sink* sink, clv_result* result );

// ---- Quick-sort (Hoare, 1962), as the KD-tree's papers name it for the lists of their nodes. Our own
// methods sort by counting, base/radix_sort.h and sweep/box_items.c; this one is for the rows that follow the
// papers.

/// In place, ascending by key, equal keys by value: one order whatever the list was before. Never more than
/// about n log n steps: a list that keeps being cut badly is handed to the heap sort.
void clv_sweep_quick_sort( base_keyed* keys, uint32_t count );

/// Scratch of the sort.
typedef struct sweep_sorter
{
    base_memory* memory;
    base_keyed_array keys; ///< what is sorted, and as much again for the sort
    bool is_quick;         ///< by quick-sort, as the papers have it; else by counting
} sweep_sorter;

void clv_sweep_sorter_release( sweep_sorter* sorter );

/// Room for lists of `count`; false if out of memory.
bool clv_sweep_sorter_reserve( sweep_sorter* sorter, uint32_t count );

/// What is to be sorted, by lower[axis]. Lower bounds along the axis below `floor` count and are stored as
/// `floor`, and boxes that end below it are left out: fine for a search among boxes that lie above it, and it
/// keeps one endless box from spoiling the sort.
typedef struct sweep_wanted
{
    const simd_item* items;
    uint32_t count;
    uint32_t axis;
    float floor;
    /// items with a mark of 0 that do not reach here are left out; NULL: all are wanted
    const simd_item* region;
} sweep_wanted;

/// A sorted list and which of its entries move.
typedef struct sweep_sorted
{
    simd_box_lanes lanes;
    base_u64_array movers; ///< as simd_list has them
    bool was_in_order;     ///< the items stood so already
} sweep_sorted;

bool clv_sweep_sorted_reserve( sweep_sorted* sorted, base_memory* memory, uint32_t count );
void clv_sweep_sorted_release( sweep_sorted* sorted, base_memory* memory );

/// The wanted items into the lanes with `axis` turned first, ascending, equal ones as given. An order that
/// holds already costs one pass. False if out of memory.
bool clv_sweep_sort_items( sweep_sorter* sorter, const sweep_wanted* wanted, sweep_sorted* sorted );

/// The same without a sort, behind the entries that the lanes hold already; finish them afterwards. The lanes
/// need room.
void clv_sweep_append_items( const simd_item* items, uint32_t count, uint32_t mark, simd_box_lanes* lanes );

/// The axis along which a sweep of these items tests fewest pairs: spread against length, from a sample.
uint32_t clv_sweep_choose_item_axis( const simd_item* items, uint32_t count );

/// The axis along which the centres of all of them vary most, as the papers have it. Infinite bounds tell
/// nothing.
uint32_t clv_sweep_widest_item_axis( const simd_item* items, uint32_t count );
