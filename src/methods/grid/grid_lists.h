// SPDX-License-Identifier: MIT
// Sorted lists of ends for every cell and axis, each a stretch of one array. A frame's lists are made from
// the last frame's: boxes that stay in a cell keep their order and are sorted by insertion, those that left
// drop out, newcomers are merged in. The last frame's lists are only read, so cells can be made by any
// worker, and made again.
#pragma once

#include "grid/grid_cells.h"
#include "sweep/box_items.h"

typedef struct grid_lists
{
    base_u32_array starts;    ///< objects before each cell, and one past the end
    base_keyed_array ends[3]; ///< of cell c: 2 * starts[c] to 2 * starts[c + 1]
    grid_span_array spans;    ///< by slot; large where it is in no cell
} grid_lists;

/// Makes room for what the cells hold and notes which boxes are in which. False if out of memory.
bool clv_grid_lists_lay_out(
    grid_lists* lists, base_memory* memory, const grid_cells* cells, const clv_method_input* input );

/// All cells empty: the lists to start from.
bool clv_grid_lists_lay_out_empty( grid_lists* lists, base_memory* memory, const grid_cells* cells );

void clv_grid_lists_release( grid_lists* lists, base_memory* memory );

/// What making a cell needs.
typedef struct grid_lists_job
{
    const grid_lists* before;
    const grid_lists* now;
    const grid_cells* cells;
    const clv_aabb* boxes;
    base_keyed* scratch;  ///< 4 * cells->fullest
    double swaps_per_end; ///< above, a cell is sorted afresh
} grid_lists_job;

/// Make a cell's three lists, and put at least every pair that overlaps now and met neither in this cell nor
/// elsewhere before.
clv_result clv_grid_lists_make_cell(
    const grid_lists_job* job, uint32_t cell, clv_pair_sink* sink, uint64_t* test_count );
