// SPDX-License-Identifier: MIT
// Which boxes are in which cell. Every box is entered into all cells it touches; a pair that shares several
// cells belongs to the first of them on every axis. A cell therefore sorts its boxes by "began before this
// cell", one bit per axis: a pair is this cell's own exactly if the two have no such bit in common.
#pragma once

#include "base/array.h"
#include "cleave/method.h"
#include "simd/box_lanes.h"
#include "simd/method_kernels.h"
#include "task/task.h"

// ---- Where the cells of a uniform grid lie: over the bulk of the boxes, the outermost cells reaching to
// infinity.

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

/// Cell coordinates of a box, both ends included.
typedef struct grid_span
{
    uint16_t low[3], high[3];
} grid_span;

typedef BASE_ARRAY( grid_span ) grid_span_array;

enum
{
    GRID_GROUPS = 8, ///< of a cell: by the bits "began before this cell"
};

typedef struct grid_cells
{
    grid_lattice lattice;
    grid_span_array spans;  ///< by position in the list of boxes
    base_u32_array starts;  ///< first entry of group g of cell c at c * GRID_GROUPS + g, and one past the end
    base_u32_array counts;  ///< scratch: by band of boxes and group
    base_u32_array entries; ///< slots
    uint32_t large_count;   ///< boxes in too many cells; they are in none
    uint32_t fullest;       ///< most entries of a cell
} grid_cells;

/// Enters all boxes into cells->lattice. After CLV_OUT_OF_MEMORY they must be entered again.
clv_result clv_grid_cells_enter(
    grid_cells* cells, base_memory* memory, task_runner* tasks, const clv_method_input* input );

/// Is a box kept apart because it is in too many cells?
static inline bool grid_span_is_large( const grid_span* span )
{
    return span->low[0] == UINT16_MAX; // below which every coordinate stays
}

void clv_grid_cells_release( grid_cells* cells, base_memory* memory );

/// The first cell whose entries do not begin before part / part_count of all entries; parts are for sharing
/// out work.
uint32_t clv_grid_cells_part( const grid_cells* cells, uint32_t part, uint32_t part_count );

/// NULL if everything holds, else what does not.
const char* clv_grid_cells_check( const grid_cells* cells, const clv_method_input* input );

// ---- Boxes in too many cells, infinite ones among them, tested against all.

typedef struct grid_large
{
    simd_box_lanes all; ///< the large ones first; filled only where there are some
    uint32_t count;     ///< of large ones
    uint32_t piece_count;
} grid_large;

/// Lay out the boxes the cells were made of. False if out of memory.
bool clv_grid_large_load(
    grid_large* large, base_memory* memory, const grid_cells* cells, const clv_method_input* input );

/// All pairs with a large box, one piece of piece_count.
clv_result clv_grid_large_search( const grid_large* large, const simd_method_kernels* kernels, uint32_t piece,
    clv_pair_sink* sink, uint64_t* test_count );

void clv_grid_large_release( grid_large* large, base_memory* memory );
