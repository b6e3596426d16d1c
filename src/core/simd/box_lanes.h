// SPDX-License-Identifier: MIT
// Memory for the kernels' boxes by axis.
#pragma once

#include "base/memory.h"
#include "simd/kernels.h"

typedef struct simd_box_lanes
{
    simd_boxes boxes;
    void* block;       ///< seven rows: lower and upper of three axes, slots
    uint64_t capacity; ///< entries per row, padding included
} simd_box_lanes;

/// Room for `count` boxes; false if out of memory, with the lanes as they were. Contents are lost on growth.
bool clv_simd_box_lanes_reserve( simd_box_lanes* lanes, base_memory* memory, uint32_t count );

/// Back to no memory at all.
void clv_simd_box_lanes_release( simd_box_lanes* lanes, base_memory* memory );

/// Entry `index` becomes `box` of `slot`, its axes turned so that `axis` comes first.
static inline void simd_box_lanes_set(
    simd_boxes* boxes, uint32_t index, const clv_aabb* box, uint32_t slot, int axis )
{
    static const int turn[3][3] = { { 0, 1, 2 }, { 1, 2, 0 }, { 2, 0, 1 } };
    const float* lower = &box->lower.x;
    const float* upper = &box->upper.x;
    for ( int i = 0; i < 3; ++i )
    {
        boxes->lower[i][index] = lower[turn[axis][i]];
        boxes->upper[i][index] = upper[turn[axis][i]];
    }
    boxes->slots[index] = slot;
}

/// Say that `count` entries are set, and put NaN behind them as the kernels expect.
void clv_simd_box_lanes_finish( simd_box_lanes* lanes, uint32_t count );
