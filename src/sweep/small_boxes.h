// SPDX-License-Identifier: MIT
// Sweep and prune for the lists of a node, without a full sort and without floats. Every bound becomes a step of a small
// grid laid over the node; boxes are put into buckets by lower step along one axis, which one pass does. A box is tested
// against those behind it up to the end of the bucket in which its upper bound lies: a few more than an exact sort
// would leave, none less, and which ones is known before the test begins.
#pragma once

#include "simd/box_lanes.h"

/// The grid of a node. Bounds beyond it count as its border: still monotonic, so still right.
typedef struct sweep_grid
{
    simd_small_grid small;
    uint32_t axis; ///< to sweep along: spread against length, the best of the three
} sweep_grid;

/// From a sample of the items.
sweep_grid sweep_grid_find( const simd_item* items, uint32_t count );

typedef struct sweep_small
{
    base_memory* memory;
    const simd_kernels* kernels;
    simd_small_boxes boxes; ///< in order of bucket, and as given within one
    void* block;            ///< that they stand in
    uint64_t capacity;      ///< boxes there is room for
    uint64_t item_capacity;
    simd_small_item* items; ///< scratch
    simd_small_row* rows;
    uint64_t row_capacity;
    uint32_t* starts; ///< by bucket; one more for the end
    uint32_t bucket_count;
    uint32_t bucket_shift; ///< steps to buckets
    int32_t reach;         ///< no box is longer, in steps
} sweep_small;

void sweep_small_release( sweep_small* small );

/// Room for `count` boxes and as many rows; false if out of memory.
bool sweep_small_reserve( sweep_small* small, uint32_t count );

typedef enum sweep_outcome
{
    SWEEP_DONE,
    SWEEP_CROWDED, ///< too many in one bucket: an exact sort is needed
    SWEEP_OUT_OF_MEMORY,
} sweep_outcome;

/// Those items whose mark is `mark`. The boxes refer to the items, which must stay where they are.
sweep_outcome sweep_small_fill(
    sweep_small* small, const sweep_grid* grid, const simd_item* items, uint32_t count, uint32_t mark );

/// For each item with a mark of at least `least_mark` the boxes that it may overlap, into small->rows; items that can overlap
/// none are left out. False if out of memory.
bool sweep_small_find( sweep_small* small, const sweep_grid* grid, const simd_item* items, uint32_t count,
    uint32_t least_mark, uint32_t* row_count );
