// SPDX-License-Identifier: MIT
// Boxes in too many cells, infinite ones among them, tested against all.
#pragma once

#include "grid/grid_cells.h"
#include "simd/box_lanes.h"
#include "simd/method_kernels.h"

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
    pair_sink* sink, uint64_t* test_count );

void clv_grid_large_release( grid_large* large, base_memory* memory );
