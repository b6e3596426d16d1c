// SPDX-License-Identifier: MIT
// All boxes of an update, filled in and searched: as one grid, or in blocks where they are too many for the caches.
#pragma once

#include "block/block.h"
#include "engine/segments.h"
#include "simd/cells.h"
#include "simd/kernels.h"
#include "task/gather.h"

enum
{
    WORLD_SLABS = 64 // at most
};

/// Rows of cells, cut into slabs of about equal weight.
typedef struct world_slabs
{
    uint32_t dims[3]; ///< of the grid
    uint32_t wanted;
    uint32_t count;
    uint32_t rows[WORLD_SLABS + 1]; ///< first row of each, and one more
} world_slabs;

typedef struct block_world
{
    base_memory* memory;
    const simd_kernels* kernels;
    task_runner* tasks;
    uint32_t block_boxes; ///< boxes in a block, about
    uint32_t alone_boxes; ///< boxes up to which one worker is quicker than several

    block_plan plan;       ///< no blocks: all boxes are in one grid
    uint32_t plan_age;     ///< updates since it was made
    uint32_t plan_count;   ///< boxes it was made for
    uint32_t plan_outside; ///< of a few of them, those it did not reach

    const clv_aabb* boxes;   ///< of the update
    world_segments segments; ///< of blocks, or of slabs
    cell_record* records;    ///< of all boxes, or of the block that a worker is at
    uint64_t record_capacity;
    uint32_t* starts; ///< per cell, and one more
    uint64_t start_capacity;
    uint32_t largest_block;
    uint64_t in_blocks; ///< boxes, some in several

    cell_job flat;           ///< where all boxes are in one grid
    cell_extent flat_extent; ///< of a sample of them
    cell_grid chosen;        ///< by that sample
    uint32_t grid_age;       ///< updates since
    uint32_t grid_count;     ///< boxes then; 0: never
    float held_size;         ///< of a few of them together
    cell_entry* entries;     ///< of that one
    uint64_t entry_capacity;
    world_slabs slabs;      ///< of this update
    world_slabs next_slabs; ///< for the next, by the entries of this one
    uint8_t* slab_of_cell;
    uint64_t slab_map_capacity;

    cell_scratch* scratches; ///< per worker
    uint64_t scratch_capacity;
    cell_counters* counters; ///< likewise
    uint64_t counter_capacity;
    task_gather gather;
} block_world;

void block_world_init( block_world* world, base_memory* memory, const simd_kernels* kernels,
    task_runner* tasks, uint32_t block_boxes, uint32_t alone_boxes );
void block_world_release( block_world* world );

/// Put the boxes in. False if out of memory; the next call starts afresh.
bool block_world_fill( block_world* world, const block_input* input );

/// Every touching pair of what was filled in.
clv_result block_world_search( block_world* world, pair_sink* sink, uint64_t* test_count );
