// SPDX-License-Identifier: MIT
// Where the cells lie: chosen on the host from a sample, kept while it serves.
#pragma once

#include "cleave/geom.h"
#include "gpu_layout.h"

#include <stdbool.h>
#include <stdint.h>

/// For measuring: other cells than the plan would choose. All 0: none.
typedef struct gpu_grid_wish
{
    double factors[3];      ///< sides of a cell in sides of a box
    uint32_t reach_x;       ///< cells that a box may cross along x
    double entries_per_box; ///< of the table
    double slack;           ///< in sides of a box; below 0: none
    uint32_t moved_most;    ///< boxes that may leave their cells; 0: as chosen
    int keeps;              ///< the order: 1 yes, -1 no, 0 as chosen
    uint32_t relay_items;   ///< work items that lay all records anew; 0: as chosen
    int rests;              ///< only what changed is searched: 1 always, -1 never, 0 as chosen
    uint32_t rest_part;     ///< one box in so many may change for that; 0: as chosen
    uint32_t rest_least;    ///< boxes whose order is kept for that; 0: as chosen
} gpu_grid_wish;

/// A plan for `count` boxes like the sample; rows of all levels in *row_count, and whether the order is worth
/// keeping in *keeps: without it there is no slack. Sorts the sample's numbers in `scratch`, which has
/// room for 2 * sample_count floats.
gpu_grid_plan clv_gpu_grid_plan_make( const clv_aabb* sample, uint32_t sample_count, uint32_t count,
    const gpu_grid_wish* wish, float* scratch, uint32_t* row_count, bool* keeps );

/// Sorted by value; exported for the tree, which measures its world likewise. `part` of 0 .. 1 gives the
/// value that this part of all do not exceed.
typedef struct gpu_spread
{
    float least, most; ///< of all but the outermost fiftieth at each end
    float median_side; ///< of the boxes
    float large_side;  ///< that nineteen of twenty do not exceed
    float most_side;
} gpu_spread;

/// How the finite boxes of the sample lie along one axis; all 0 if there are none.
gpu_spread clv_gpu_spread_of( const clv_aabb* sample, uint32_t sample_count, int axis, float* scratch );
