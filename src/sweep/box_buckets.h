// SPDX-License-Identifier: MIT
// Sweep and prune for small lists, without a full sort: boxes are put into buckets by lower bound, which one pass does. A
// box is tested against those behind it up to the end of the bucket in which its upper bound lies: a few more than
// an exact sort would leave, none less, and which ones is known before the test begins.
#pragma once

#include "sweep/box_items.h"

typedef struct sweep_span
{
    uint32_t axis;
    float least, most; ///< lower bounds along it, of a sample
} sweep_span;

typedef struct sweep_buckets
{
    base_memory* memory;
    simd_box_lanes lanes; ///< in order of bucket, and as given within one; the axis turned first
    uint32_t* ends;       ///< by box: end of the bucket of its upper bound
    uint64_t end_capacity;
    uint32_t* starts; ///< by bucket; one more for the end
    uint32_t* places; ///< by item: its bucket. Scratch
    uint64_t start_capacity, place_capacity;
    uint32_t bucket_count;
    float origin, scale;
    float reach;        ///< no box is longer
    simd_range* ranges; ///< scratch of sweep_buckets_find
    uint64_t range_capacity;
} sweep_buckets;

void sweep_buckets_release( sweep_buckets* buckets );

/// The axis along which a sweep of these items meets fewest, spread against length, and where they begin on it.
sweep_span sweep_find_span( const simd_item* items, uint32_t count );

typedef enum sweep_outcome
{
    SWEEP_DONE,
    SWEEP_CROWDED, ///< too many in one bucket: an exact sort is needed
    SWEEP_OUT_OF_MEMORY,
} sweep_outcome;

/// Those items whose mark is `mark`.
sweep_outcome sweep_buckets_fill(
    sweep_buckets* buckets, const simd_item* items, uint32_t count, uint32_t mark, const sweep_span* span );

/// For each item with a mark of at least `least_mark` the boxes that it may overlap, into buckets->ranges; items that can
/// overlap none are left out. False if out of memory.
bool sweep_buckets_find( sweep_buckets* buckets, const simd_item* items, uint32_t count, uint32_t least_mark,
    uint32_t axis, uint32_t* range_count );
