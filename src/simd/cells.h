// SPDX-License-Identifier: MIT
// The kernels of the default engine (cell/cell.h, block/block.h): one set per instruction set, as in kernels.h.
#pragma once

#include "block/block.h"
#include "cell/cell.h"

typedef struct simd_cells
{
    /// Lay a grid over a block whose scratch has room for its cells; the job's grid and records may change.
    cell_layout ( *lay_block )( cell_job* job );

    /// Every touching pair of the boxes of a block that was laid, and whose scratch has room for its entries, as far as it
    /// does not belong to another block; or the first result other than CLV_OK that the sink gave. Makes room in the sink
    /// by itself.
    clv_result ( *search_block )( const cell_job* job, cell_layout layout, pair_sink* sink );

    /// How many boxes begin in each coarse cell, by every step-th.
    void ( *block_histogram )(
        const block_input* input, const cell_grid* grid, uint32_t step, uint32_t* histogram );

    /// All boxes as records of one block.
    void ( *block_records )( const block_input* input, const cell_grid* grid, cell_record* out );

    /// Which block each box lies in, and how many lie in each.
    void ( *block_assign )( const block_work* work );

    /// Boxes to their blocks.
    void ( *block_scatter )( const block_work* work );
} simd_cells;

extern const simd_cells simd_cells_scalar;
extern const simd_cells simd_cells_sse2;
extern const simd_cells simd_cells_avx2;
extern const simd_cells simd_cells_avx512;
extern const simd_cells simd_cells_neon;
