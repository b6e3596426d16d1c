// SPDX-License-Identifier: MIT
// What the files of this folder share.
#pragma once

#include "engine/world.h"

// ---- world_memory.c ----------------------------------------------------------------------------------------------

/// Room for so many; false if out of memory. What was in them is lost.
bool world_reserve_records( block_world* world, uint64_t count );
bool world_reserve_starts( block_world* world, uint64_t count );
bool world_reserve_slab_map( block_world* world, uint64_t count );

/// A scratch, still without memory of its own, and counters for each worker.
bool world_reserve_workers( block_world* world );

/// Add what a piece of work did.
void world_count( block_world* world, uint32_t worker, const cell_counters* done );

/// Those who share the work on so many boxes.
task_runner* world_tasks_for( block_world* world, uint32_t count );

// ---- axis_scale.c ------------------------------------------------------------------------------------------------

/// Have the input's boxes on the scale that tells them apart. False if out of memory.
bool world_axes_apply( block_world* world, block_input* input );

// ---- axis_rank.c -------------------------------------------------------------------------------------------------

/// Ranks of the input's faces into the copies, for which there is room. False if out of memory.
bool world_ranks_make( block_world* world, const block_input* input );

/// What a search did, to its end: the next may have to be at a finer scale or by rank, or need not any more.
void world_axes_note( block_world* world, const cell_counters* done );

// ---- flat_grid.c -------------------------------------------------------------------------------------------------

/// Does the last choice of a grid still serve? A sample is many trips to memory, all by one worker; so it is taken now and then, and in
/// between a few boxes are looked at.
bool world_grid_serves( const block_world* world, const block_input* input );

/// A grid for a sample of the boxes.
void world_choose_grid( block_world* world, const block_input* input );

// ---- slabs.c -----------------------------------------------------------------------------------------------------

/// Cut the grid's rows for so many workers: as the last update did, where its grid was like this one. One worker has one slab.
void world_cut_slabs( block_world* world, const block_input* input, uint32_t workers );

/// Slabs for the next update, by the entries of this one: the same while they will do, and looked at when the grid is new, since
/// others need other segments.
void world_remember_slabs( block_world* world );

/// The records that reach a slab, and its cells.
cell_share world_share_of( const block_world* world, uint32_t slab );

// ---- flat_world.c ------------------------------------------------------------------------------------------------

/// One grid over all boxes.
bool world_fill_flat( block_world* world, const block_input* input );
clv_result world_search_flat( block_world* world, pair_sink* sink, uint64_t* test_count );
