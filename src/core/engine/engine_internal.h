// SPDX-License-Identifier: MIT
// What the files of this folder share.
#pragma once

#include "engine/engine.h"

// ---- engine_memory.c

/// A scratch, still without memory of its own, and counters for each worker.
bool clv_engine_reserve_workers( clv_engine* engine );

/// Add what a piece of work did.
void clv_engine_count( clv_engine* engine, uint32_t worker, const cell_counters* done );

/// The workers that share the work on so many boxes.
task_runner* clv_engine_tasks_for( clv_engine* engine, uint32_t count );

// ---- axis_scale.c

/// Have the input's boxes on the scale that tells them apart. False if out of memory.
bool clv_engine_axes_apply( clv_engine* engine, clv_method_input* input );

/// The boxes that planes cut: those of worlds over many orders of magnitude as given, since a scale that no
/// longer fits them may have made them all alike.
const clv_aabb* clv_engine_cut_boxes( const clv_engine* engine );

// ---- flat_grid.c

/// Does the last choice of a grid still serve? A sample is many trips to memory, all by one worker; so it is
/// taken now and then, and in between a few boxes are looked at.
bool clv_engine_grid_serves( const clv_engine* engine, const clv_method_input* input );

/// A grid for a sample of the boxes; one cell for a strip, where that is worth it and wanted.
void clv_engine_choose_grid( clv_engine* engine, const clv_method_input* input, bool may_be_strip );

// ---- slabs.c

/// Cut the grid's rows for so many workers: as the last update did, where its grid was like this one. One
/// worker has one slab.
void clv_engine_cut_slabs( clv_engine* engine, const clv_method_input* input, uint32_t workers );

/// Slabs for the next update, by the entries of this one: kept while within 25 % of even, and chosen anew
/// with a new grid, since others need other segments.
void clv_engine_remember_slabs( clv_engine* engine );

/// The records that reach a slab, and its cells.
cell_share clv_engine_share_of( const clv_engine* engine, uint32_t slab );

/// Room for each worker to bring the records of a slab together. False if out of memory.
bool clv_engine_reserve_slabs( clv_engine* engine, uint32_t workers );

/// The same records in the worker's room, piece by piece.
cell_share clv_engine_bring_slab( const clv_engine* engine, uint32_t slab, uint32_t worker );

// ---- strip.c

/// On which axis so many boxes, of which there is a sample, are better put in order than into cells; -1 if on
/// none. `grid` has one cell.
int32_t clv_engine_strip_axis( const simd_cells* kernels, const clv_aabb* samples, uint32_t sample_count,
    uint32_t count, const cell_grid* grid );

/// Are boxes in a strip, and was the last search of it worth it? Then its axis serves on.
bool clv_engine_strip_paid( const clv_engine* engine );

/// All boxes in one cell, in order on engine->strip_axis. False if out of memory.
bool clv_engine_strip_fill( clv_engine* engine, const clv_method_input* input );
clv_result clv_engine_strip_search( clv_engine* engine, clv_pair_sink* sink, uint64_t* test_count );

// ---- flat.c

/// All boxes as records in the flat grid, one behind the other; engine->records has room.
void clv_engine_make_all( clv_engine* engine, const clv_method_input* input );

/// One grid over all boxes.
bool clv_engine_fill_flat( clv_engine* engine, const clv_method_input* input );
clv_result clv_engine_search_flat( clv_engine* engine, clv_pair_sink* sink, uint64_t* test_count );
