// SPDX-License-Identifier: MIT
// Where the cells of a uniform grid lie: over the bulk of the boxes, the outermost cells reaching to
// infinity.
#pragma once

#include "cleave/method.h"

typedef struct grid_lattice
{
    float origin[3];
    float scale[3]; ///< cells per metre; 0 on an axis that is not cut
    uint32_t cells[3];
    uint32_t cell_count;
    int uncut_axis; ///< the axis a two-dimensional grid leaves alone, else -1
} grid_lattice;

/// About live_count / objects_per_cell cells over the boxes, in 2 or 3 dimensions. Infinite boxes and far
/// outliers do not count, and no cell is made smaller than the average box.
grid_lattice clv_grid_lattice_choose(
    const clv_method_input* input, double objects_per_cell, int dimensions );

/// `cells` of them along every axis, as long as the boxes are.
grid_lattice clv_grid_lattice_even( const clv_method_input* input, uint32_t cells );

/// The cell coordinate of a value; grows with it, also for infinities.
static inline uint32_t grid_lattice_at( const grid_lattice* lattice, int axis, float value )
{
    float place = ( value - lattice->origin[axis] ) * lattice->scale[axis];
    uint32_t last = lattice->cells[axis] - 1;
    // NaN, from an infinity on an axis that is not cut, takes the last branch as well.
    return place >= (float)last ? last : place > 0 ? (uint32_t)place : 0;
}
