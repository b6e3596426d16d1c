// SPDX-License-Identifier: MIT
// Fat boxes by place, to find those near a given box, and to move one at a time. A stack of grids, each for
// boxes of about one size: a box lies in the one cell of its lower corner, on the finest level whose limit it
// does not exceed. So a question visits the cells of its box, grown downwards by the limit. What exceeds
// every limit is in a list of its own; what lies outside is clamped to the border cells.
#pragma once

#include "base/array.h"
#include "rest/margin.h"

enum
{
    REST_LEVELS = 20
};

typedef struct rest_level
{
    float limit[3]; ///< no box here is longer
    float origin[3];
    float scale[3]; ///< cells per metre
    uint32_t dims[3];
    uint32_t first_cell;
} rest_level;

typedef struct rest_grid
{
    base_memory* memory;
    rest_level levels[REST_LEVELS]; ///< finest first
    uint32_t level_count;
    base_u32_array heads; ///< by cell: the first slot and 1, or 0
    base_u32_array nexts; ///< by slot: likewise; in the list of large boxes, the place there
    base_u32_array large; ///< slots
    base_u32_array found; ///< slots, by the last question
} rest_grid;

void clv_rest_grid_init( rest_grid* grid, base_memory* memory );
void clv_rest_grid_release( rest_grid* grid );

/// Room for slots below `slot_count`.
bool clv_rest_grid_reserve( rest_grid* grid, uint32_t slot_count );

/// Levels and cells for the fat boxes of those slots below `slot_count` that have a bit in `known`. Empty
/// afterwards. False if out of memory.
bool clv_rest_grid_plan(
    rest_grid* grid, const simd_rest_box* boxes, const uint64_t* known, uint32_t slot_count );

/// Put a box in. False if out of memory.
bool clv_rest_grid_insert( rest_grid* grid, uint32_t slot, const clv_aabb* box );

/// Take it out; `box` is the one it was put in with.
void clv_rest_grid_remove( rest_grid* grid, uint32_t slot, const clv_aabb* box );

/// Would it stay where it is?
bool clv_rest_grid_is_same_place( const rest_grid* grid, const clv_aabb* before, const clv_aabb* after );

/// The slots of all boxes that overlap this one, into `found`; some others may be among them. False if out of
/// memory.
bool clv_rest_grid_ask( rest_grid* grid, const clv_aabb* box );

/// NULL if every slot below `slot_count` with a bit in `known` is in its own cell and no other slot is in
/// any, else what is not so.
const char* clv_rest_grid_check(
    const rest_grid* grid, const simd_rest_box* boxes, const uint64_t* known, uint32_t slot_count );
