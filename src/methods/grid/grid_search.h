// SPDX-License-Identifier: MIT
// A grid made anew for every update, searched cell by cell: all against all in a cell, or a sweep in it.
#pragma once

#include "base/radix_sort.h"
#include "grid/grid_cells.h"
#include "simd/box_lanes.h"
#include "simd/method_kernels.h"
#include "task/gather.h"

typedef struct grid_rules
{
    bool sweeps;             ///< sweep in a cell; else all against all
    double objects_per_cell; ///< on average
    int dimensions;          ///< 2 or 3
} grid_rules;

/// What a worker fills for the cell at hand.
typedef struct grid_scratch
{
    simd_box_lanes lanes;
    base_keyed_array keys; ///< sweeps only: two in one
} grid_scratch;

typedef struct grid_search
{
    base_memory* memory;
    const simd_method_kernels* kernels;
    task_runner* tasks;
    grid_rules rules;
    grid_cells cells;
    task_gather gather;
    grid_scratch* scratch; ///< by worker
    uint32_t worker_count;
    grid_large large;
    const clv_method_input* input; ///< of the update
    int sweep_axis;
    uint32_t cell_piece_count;
} grid_search;

/// The context's members are used, not copied; false if out of memory.
bool clv_grid_search_init( grid_search* search, base_memory* memory, const simd_method_kernels* kernels,
    task_runner* tasks, grid_rules rules );
void clv_grid_search_free( grid_search* search );

/// Enter all boxes.
clv_result clv_grid_search_build( grid_search* search, const clv_method_input* input );

/// All pairs of the boxes entered last.
clv_result clv_grid_search_run( grid_search* search, clv_pair_sink* sink, uint64_t* test_count );

/// Gives back all memory but what init took.
void clv_grid_search_shrink( grid_search* search );
