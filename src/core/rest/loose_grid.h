// SPDX-License-Identifier: MIT
// Fat boxes by place, to find those near a given box, and to move one at a time. A stack of grids, each for
// boxes of about one size: a box lies in the one cell of its lower corner, on the finest level whose limit it
// does not exceed. So a question visits the cells of its box, grown downwards by the limit. What exceeds
// every limit is in the one cell of the last level; what lies outside is clamped to the border cells.
//
// A cell's boxes lie side by side as entries of 16 bytes, six coordinates of 15 bits each, so that a question
// reads few lines and compares a box in a few instructions.
#pragma once

#include "base/array.h"
#include "rest/margin.h"

enum
{
    REST_LEVELS = 20, ///< that have a limit
    REST_BLOCKS = 32  ///< sizes of blocks of entries: 1, 2, 4, ...
};

typedef struct rest_level
{
    float limit[3]; ///< no box here is longer
    float origin[3];
    float scale[3];   ///< codes per metre
    uint32_t dims[3]; ///< cells
    uint32_t first_cell;
} rest_level;

/// A block of entries, of which `count` are in use. `room` is a power of two, or 0: then there is no block.
typedef struct rest_cell
{
    uint32_t first, count, room;
} rest_cell;

typedef struct rest_grid
{
    base_memory* memory;
    const simd_kernels* kernels;
    rest_level levels[REST_LEVELS + 1]; ///< finest first; the last one has no limit
    uint32_t level_count;
    BASE_ARRAY( rest_cell ) cells;
    BASE_ARRAY( simd_code_box ) entries; ///< all blocks; a slot's halves are above the codes
    uint32_t
        free_blocks[REST_BLOCKS]; ///< by size: 1 and the first entry of a free one, which leads to the next
    base_u32_array places;        ///< by slot: which entry of its cell
    base_u32_array found;         ///< slots, by the last question
    uint64_t look_count;          ///< entries that all questions looked at
} rest_grid;

void clv_rest_grid_init( rest_grid* grid, base_memory* memory, const simd_kernels* kernels );
void clv_rest_grid_release( rest_grid* grid );

/// Room for slots below `slot_count`.
bool clv_rest_grid_reserve( rest_grid* grid, uint32_t slot_count );

/// Levels and cells for the fat boxes of those slots below `slot_count` that have a bit in `known`, and these
/// boxes in them. There is room for the slots. False if out of memory.
bool clv_rest_grid_make(
    rest_grid* grid, const simd_rest_box* boxes, const uint64_t* known, uint32_t slot_count );

/// Levels and empty cells alone.
bool clv_rest_grid_plan(
    rest_grid* grid, const simd_rest_box* boxes, const uint64_t* known, uint32_t slot_count );

/// Memory for `count` boxes that is the grid's before it is planned; it dies then. NULL if out of memory.
clv_aabb* clv_rest_grid_lend( rest_grid* grid, uint32_t count );

/// Put a box in. False if out of memory.
bool clv_rest_grid_insert( rest_grid* grid, uint32_t slot, const clv_aabb* box );

/// Take it out; `box` is the one it was put in with.
void clv_rest_grid_remove( rest_grid* grid, uint32_t slot, const clv_aabb* box );

/// Another box for it. False if out of memory; then it is out.
bool clv_rest_grid_move( rest_grid* grid, uint32_t slot, const clv_aabb* before, const clv_aabb* after );

/// The slots of all boxes that overlap this one, into `found`; some others may be among them. False if out of
/// memory.
bool clv_rest_grid_ask( rest_grid* grid, const clv_aabb* box );

/// NULL if every slot below `slot_count` with a bit in `known` is in its own cell and no other slot is in
/// any, else what is not so.
const char* clv_rest_grid_check(
    const rest_grid* grid, const simd_rest_box* boxes, const uint64_t* known, uint32_t slot_count );
