// SPDX-License-Identifier: MIT
// Small lists of boxes on their way into a sweep: gathered as records, sorted along an axis, laid out for the
// kernels.
#pragma once

#include "base/array.h"
#include "base/radix_sort.h"
#include "simd/box_lanes.h"
#include "simd/method_kernels.h"

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
    const simd_item*
        region; ///< items with a mark of 0 that do not reach here are left out; NULL: all are wanted
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
