// SPDX-License-Identifier: MIT
// A block's worth of boxes, searched through a small grid of cells. Inside a cell a box is six bytes, so that one
// instruction tests it against as many others as a register has bytes; what the bytes let through is tested in float.
//
// A box lies in every cell it reaches into. Two boxes that meet in several cells are reported in one of them only: where
// the lower corner of their intersection lies, which is the cell in which, on each axis, at least one of the two begins.
#pragma once

#include "base/memory.h"
#include "pair/sink.h"

/// A box on its way through a block: 32 bytes, so that one register holds it.
typedef struct cell_box
{
    float lower[3];
    uint32_t slot;
    float upper[3];
    uint32_t before; ///< bit k: begins before this block on axis k, where another block sees its beginning
} cell_box;

/// A grid of at most CELL_GRID_CELLS cells over a region. What lies outside counts to the cells at the rim.
typedef struct cell_grid
{
    float origin[3];
    float scale[3]; ///< 256ths of a cell per metre, finite and above 0
    uint32_t dims[3];
} cell_grid;

enum
{
    CELL_GRID_SIDE = 64,      // cells per axis at most
    CELL_BOXES_PER_CELL = 4,  // and in all at least so many boxes for each
    CELL_CANDIDATES = 1024,   // collected before they are tested in float
    CELL_OVERFULL = 384,      // entries from which a cell gets a grid of its own
    CELL_ENTRIES_PER_BOX = 3, // a grid that needs more is made coarser
    CELL_STEPS = 256,         // positions inside a cell
    CELL_SAMPLES = 256,       // boxes looked at to choose a grid
    CELL_DEPTH = 8,           // grids within grids
};

/// What a search did; added to, never cleared here.
typedef struct cell_counters
{
    uint64_t cell_count;
    uint64_t entry_count;
    uint64_t test_count;
    uint64_t candidate_count;
} cell_counters;

typedef struct cell_candidate
{
    uint32_t row, column;
} cell_candidate;

/// One worker's memory for searching blocks of up to `capacity` boxes. A grid within a cell holds at most half the boxes
/// of the grid around it, so twice the need of the outermost is enough for all of them.
typedef struct cell_scratch
{
    uint32_t capacity;
    int16_t* fixed; ///< per box eight: lower x y z 0, upper x y z 0 in 256ths of a cell; one grid at a time
    uint64_t* list; ///< entries in order of boxes: cell << 32 | before bits << 29 | box; likewise
    int16_t* bases; ///< per cell eight: where it begins; likewise
    uint64_t*
        codes; ///< by cell: an entry's eight bytes, see simd/cell_body.h; a stack, inner grids behind outer
    uint32_t* owners;           ///< by cell: the entry's box; likewise
    uint32_t* starts;           ///< first entry of each cell; likewise
    cell_box* boxes;            ///< copies for grids within cells; likewise
    uint8_t* lanes;             ///< eight rows of bytes, the codes of one cell by byte
    uint64_t* rows;             ///< per entry of the cell what others are tested against
    cell_candidate* candidates; ///< CELL_CANDIDATES + 64
    void* block;                ///< all of the above
    size_t block_bytes;
} cell_scratch;

/// Room for blocks of `capacity` boxes; false if out of memory, with the scratch as it was.
bool cell_scratch_reserve( cell_scratch* scratch, base_memory* memory, uint32_t capacity );
void cell_scratch_release( cell_scratch* scratch, base_memory* memory );

/// Bounds of the boxes' corners, clipped to what the block is responsible for, and their typical size.
typedef struct cell_extent
{
    float low[3], high[3];
    float size[3];
    float crowding; ///< how many more others a box has around it than if all were spread evenly; at least 1
} cell_extent;

/// The grid that should cost least for `count` boxes of this extent, by a model with measured constants.
cell_grid cell_grid_choose( uint32_t count, const cell_extent* extent );

/// The same region with about half as many cells; false if it has only one.
bool cell_grid_coarsen( cell_grid* grid, const cell_extent* extent );

/// A block to search.
typedef struct cell_job
{
    const cell_box* boxes;
    uint32_t count;
    float region_low[3],
        region_high[3];    ///< where the block's own boxes begin; infinite where it has no neighbour
    cell_scratch* scratch; ///< capacity >= count
    cell_counters* counters;
} cell_job;
