// SPDX-License-Identifier: MIT
// What the files of this folder share.
#pragma once

#include "engine/world.h"

// ---- world_memory.c ----------------------------------------------------------------------------------------------

/// Room for so many; false if out of memory. What was in them is lost.
bool clv_engine_reserve_records( block_world* world, uint64_t count );
bool clv_engine_reserve_starts( block_world* world, uint64_t count );
bool clv_engine_reserve_slab_map( block_world* world, uint64_t count );

/// A scratch, still without memory of its own, and counters for each worker.
bool clv_engine_reserve_workers( block_world* world );

/// Add what a piece of work did.
void clv_engine_count( block_world* world, uint32_t worker, const cell_counters* done );

/// Those who share the work on so many boxes.
task_runner* clv_engine_tasks_for( block_world* world, uint32_t count );

// ---- axis_scale.c ------------------------------------------------------------------------------------------------

/// Have the input's boxes on the scale that tells them apart. False if out of memory.
bool clv_engine_axes_apply( block_world* world, block_input* input );

// ---- axis_rank.c -------------------------------------------------------------------------------------------------

/// Ranks of the input's faces into the copies, for which there is room. False if out of memory.
bool clv_engine_ranks_make( block_world* world, const block_input* input );

/// What a search did, to its end: the next may have to be at a finer scale or by rank, or need not any more.
void clv_engine_axes_note( block_world* world, const cell_counters* done );

// ---- flat_grid.c -------------------------------------------------------------------------------------------------

/// Does the last choice of a grid still serve? A sample is many trips to memory, all by one worker; so it is taken now and then, and in
/// between a few boxes are looked at.
bool clv_engine_grid_serves( const block_world* world, const block_input* input );

/// A grid for a sample of the boxes.
void clv_engine_choose_grid( block_world* world, const block_input* input );

// ---- slabs.c -----------------------------------------------------------------------------------------------------

/// Cut the grid's rows for so many workers: as the last update did, where its grid was like this one. One worker has one slab.
void clv_engine_cut_slabs( block_world* world, const block_input* input, uint32_t workers );

/// Slabs for the next update, by the entries of this one: the same while they will do, and looked at when the grid is new, since
/// others need other segments.
void clv_engine_remember_slabs( block_world* world );

/// The records that reach a slab, and its cells.
cell_share clv_engine_share_of( const block_world* world, uint32_t slab );

// ---- flat_world.c ------------------------------------------------------------------------------------------------

/// One grid over all boxes.
bool clv_engine_fill_flat( block_world* world, const block_input* input );
clv_result clv_engine_search_flat( block_world* world, pair_sink* sink, uint64_t* test_count );
