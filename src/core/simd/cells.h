// SPDX-License-Identifier: MIT
// The kernels of the default engine (engine/cell.h, engine/block.h): one set per instruction set, as in kernels.h.
#pragma once

#include "engine/block.h"
#include "engine/cell.h"
#include "simd/have.h"

typedef struct simd_cells
{
    /// Every touching pair of a block's boxes, as far as it does not belong to another block, or the first result other than
    /// CLV_OK that the sink gave. Makes room in the sink by itself. The scratch has room for all a block may need; the job's
    /// grid and records may change, entries and starts are made here.
    clv_result ( *search_block )( cell_job* job, pair_sink* sink );

    // The same in steps, for one block that many workers share.

    /// Boxes [first, last) as records in `grid`.
    void ( *block_records )(
        const block_input* input, uint32_t first, uint32_t last, const cell_grid* grid, cell_record* out );

    /// Boxes to their slabs, as records.
    void ( *slab_scatter )( const slab_work* work );

    /// How many entries a share's boxes have in each of its cells; false if far too many. `kinds` has room for eight times
    /// cell_count_reached, `counts` for all cells; counts of others mean nothing.
    bool ( *count_cells )( const cell_job* job, const cell_share* share, uint32_t* kinds, uint32_t* counts );

    /// Entries of a share's boxes to its cells; next[cell] is where the next one goes.
    void ( *place_entries )( const cell_job* job, const cell_share* share, uint32_t* next );

    /// The pairs of cells [first, last), which are whole rows. The scratch has room for the fullest cell.
    clv_result ( *search_cells )( const cell_job* job, uint32_t first, uint32_t last, pair_sink* sink );

    // Boxes to blocks.

    /// How many boxes begin in each coarse cell, by every step-th.
    void ( *block_histogram )(
        const block_input* input, const cell_grid* grid, uint32_t step, uint32_t* histogram );

    /// Boxes to their blocks, as records. In a block they lie in the same order whatever the piece, as long as it begins with a
    /// multiple of BLOCK_CHUNK.
    void ( *block_scatter )( const block_work* work );
} simd_cells;

extern const simd_cells simd_cells_scalar;
extern const simd_cells simd_cells_sse2;
extern const simd_cells simd_cells_avx2;
extern const simd_cells simd_cells_avx512;
extern const simd_cells simd_cells_neon;
