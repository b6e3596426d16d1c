// SPDX-License-Identifier: MIT
// Sweep and prune for the lists of a node, without a full sort and without floats. Every bound becomes a step
// of a small grid laid over the node; boxes are put into buckets by lower step along one axis, which one pass
// does. A box is tested against those behind it up to the end of the bucket in which its upper bound lies: a
// few more than an exact sort would leave, none fewer, and the range is known before the test begins. Long
// lists are cut into strips along a second axis, each swept by itself; a box stands in every strip that it
// reaches into.
#pragma once

#include "base/array.h"
#include "simd/box_lanes.h"
#include "simd/method_kernels.h"

/// The grid of a node. Bounds beyond it are clamped to its border, which is still monotonic.
typedef struct sweep_grid
{
    simd_small_grid small;
    /// to sweep along, to cut into strips along, the other one: spread against length, best first
    uint32_t axis[3];
    uint32_t strip_bits; ///< strips, as a power of two
} sweep_grid;

/// Boxes by slot, and the slots of those in the list.
typedef struct sweep_list
{
    const clv_aabb* boxes;
    const uint32_t* slots;
    uint32_t count;
    const uint64_t* marks; ///< by slot, a bit: its mark; NULL: every mark is 1
} sweep_list;

/// From a sample of the boxes, of which there is at least one.
sweep_grid clv_sweep_grid_find( const sweep_list* list );

typedef struct sweep_small
{
    base_memory* memory;
    const simd_method_kernels* kernels;
    simd_small_boxes boxes;               ///< in order of bucket, and as given within one
    void* block;                          ///< their memory: six arrays in one, and so no BASE_ARRAY
    uint64_t capacity;                    ///< boxes there is room for
    BASE_ARRAY( simd_small_item ) items;  ///< as given
    BASE_ARRAY( simd_small_item ) placed; ///< in order of cell
    base_u32_array wide;                  ///< which of the items reach into more than one strip
    BASE_ARRAY( simd_small_row ) rows;
    uint32_t* starts; ///< by strip and bucket; one more for the end
    uint32_t start_count;
    uint32_t bucket_bits;  ///< buckets of a strip, as a power of two
    uint32_t bucket_shift; ///< steps to buckets
    uint32_t strip_shift;  ///< steps to strips
    int32_t reach;         ///< no box is longer, in steps
} sweep_small;

void clv_sweep_small_release( sweep_small* small );

/// Room for `count` boxes and as many rows; false if out of memory.
bool clv_sweep_small_reserve( sweep_small* small, uint32_t count );

/// Room for `count` rows; false if out of memory.
bool clv_sweep_small_reserve_rows( sweep_small* small, uint32_t count );

typedef enum sweep_outcome
{
    SWEEP_DONE,
    SWEEP_CROWDED, ///< too many in one bucket: an exact sort is needed
    SWEEP_OUT_OF_MEMORY,
} sweep_outcome;

/// Those of the list whose mark is `mark`. The outcome refers to the list's boxes.
sweep_outcome clv_sweep_small_fill(
    sweep_small* small, const sweep_grid* grid, const sweep_list* list, uint32_t mark );

/// For each item with a mark of at least `least_mark` the columns that it may overlap, into small->rows;
/// items that can overlap none are left out. False if out of memory.
bool clv_sweep_small_find( sweep_small* small, const sweep_grid* grid, const simd_item* items, uint32_t count,
    uint32_t least_mark, uint32_t* row_count );
