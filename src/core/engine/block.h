// SPDX-License-Identifier: MIT
// Space cut into blocks of some thousand boxes, so that everything a search touches stays in the second-level
// cache and blocks can be searched by different workers. A coarse grid over the world; a KD-tree over its
// cells whose leaves are the blocks; a map from cell to block. A box lies in every block it reaches into;
// engine/cell.h tells how a pair that meets in several is reported once.
#pragma once

#include "base/array.h"
#include "cleave/method.h"
#include "engine/cell.h"

enum
{
    BLOCK_SIDE = 64,       // coarse cells per axis at most
    BLOCK_SAMPLES = 64,    // boxes looked at to place the coarse grid
    BLOCK_MANY = 0xFFFF,   // in place of a block's number: the box lies in several
    BLOCK_LIMIT = 0xFFF0,  // blocks at most
    BLOCK_CHUNK = 1 << 12, // boxes handled by one piece of work, or a multiple
};

/// A node of the KD-tree over coarse cells. A leaf has no children and is block number `block`.
typedef struct block_node
{
    uint16_t first[4]; ///< coarse cells, x y z; the fourth is not used
    uint16_t last[4];
    uint32_t left; ///< 0: a leaf; right is left + 1
    uint32_t block;
} block_node;

/// What a block's boxes are asked for: its first and last coarse cell, x y z as fields of 16 bits.
typedef struct block_leaf
{
    uint64_t first, last;
} block_leaf;

static inline uint64_t block_fields( const uint16_t cell[4] )
{
    return (uint64_t)cell[0] | (uint64_t)cell[1] << 16 | (uint64_t)cell[2] << 32;
}

typedef struct block_plan
{
    cell_grid grid;                 ///< the coarse grid, in 256ths as cells are
    BASE_ARRAY( uint16_t ) map;     ///< coarse cell to leaf block
    base_u32_array histogram;       ///< boxes that begin in each coarse cell
    BASE_ARRAY( block_node ) nodes; ///< the root first
    uint32_t node_count;
    BASE_ARRAY( block_leaf ) leaves; ///< of each block
    BASE_ARRAY( cell_grid ) grids;   ///< of each block
    BASE_ARRAY( scaling ) scalings;  ///< of each block's grid
    BASE_ARRAY( clv_aabb ) samples;  ///< by block, while grids are chosen
    base_u32_array tallies; ///< by block, how many of them, and behind those how many boxes were seen
    uint32_t block_count;
} block_plan;

/// Boxes [first, first + count) of the input.
static inline cell_boxes cell_boxes_part( const clv_method_input* input, uint32_t first, uint32_t count )
{
    return ( cell_boxes ){ input->boxes, input->live, first, count };
}

/// The value that would be at `rank` if they were sorted; moves them about.
float clv_engine_block_select( float* values, uint32_t count, uint32_t rank );

/// Where most of so many values are; likewise.
void clv_engine_block_window( float* values, uint32_t count, float* low, float* high );

/// Where most of the boxes are, from a sample: far outliers and infinities have no say.
cell_extent clv_engine_block_measure( const clv_method_input* input );

/// Place the coarse grid, for blocks of about `block_boxes`. False if out of memory; then the plan is as it
/// was.
bool clv_engine_plan_place(
    block_plan* plan, base_memory* memory, const clv_method_input* input, uint32_t block_boxes );

/// Count, per coarse cell, the boxes that begin there; of every `step` boxes one speaks for all.
void clv_engine_plan_count( block_plan* plan, const clv_method_input* input, uint32_t step );

/// Cut until no leaf holds more than `most` boxes by the histogram, or is a single cell. False if out of
/// memory.
bool clv_engine_plan_cut( block_plan* plan, base_memory* memory, uint32_t most );

/// Choose a grid for every block, by a sample of the boxes. False if out of memory.
bool clv_engine_plan_choose_grids( block_plan* plan, base_memory* memory, const clv_method_input* input );

/// The same, where blocks at the border reach to infinity: boxes beyond the grid are in them.
void clv_engine_plan_open_region( const block_plan* plan, uint32_t block, float low[3], float high[3] );

void clv_engine_plan_release( block_plan* plan, base_memory* memory );

/// Boxes of one worker that wait for others of their block: a tray for each. So a block's scale is fetched
/// once for many boxes, which become records in whole registers, and its records are written line by line.
typedef struct block_trays
{
    cell_tray* items; ///< by block
    uint8_t* counts;  ///< likewise: boxes in each; 0 between pieces
} block_trays;

/// Work of one piece: boxes [first, last) of the input to blocks.
typedef struct block_work
{
    const simd_cells* kernels;
    const block_plan* plan;
    const clv_method_input* input;
    uint32_t first, last;
    block_trays trays;
    cell_segment* segments; ///< of each block
    cell_record* out;
    bool may_stream; ///< records past the caches
} block_work;

/// Boxes to their blocks, as records. In a block they lie in the same order whatever the piece, as long as it
/// begins with a multiple of BLOCK_CHUNK.
void clv_engine_block_scatter( const block_work* work );

/// Work of one piece where several workers share one block: boxes [first, last) to slabs.
typedef struct slab_work
{
    const simd_cells* kernels;
    const clv_method_input* input;
    const cell_grid* grid;
    uint32_t first, last;
    const uint8_t* slab_of_cell;
    uint32_t slab_count;
    cell_segment* segments; ///< of each slab, still empty
    cell_record* out;
} slab_work;

/// Boxes to their slabs, as records.
void clv_engine_slab_scatter( const slab_work* work );
