// SPDX-License-Identifier: MIT
// The cells in which the default engine would look for the pairs of a frame, to be drawn.
#pragma once

#include "cleave/geom.h"
#include "engine/engine.h"
#include "lab/base/text.h"

/// Zero-initialised is closed.
typedef struct view_cells
{
    base_memory memory;
    task_runner tasks;
    clv_engine engine;
    bool is_open;
} view_cells;

/// Has none for fewer boxes than the engine is used for.
void view_cells_open( view_cells* cells );
void view_cells_close( view_cells* cells );

/// The grids that the engine would lay over these boxes, `*count` of them; they live until the next call. None where none could be drawn:
/// few boxes, or axes that are not to scale. NULL, with no grids, if out of memory too.
const cell_grid* view_cells_find(
    view_cells* cells, const clv_aabb* boxes, uint32_t box_count, uint32_t* count );

/// "[[ox,oy,oz,sx,sy,sz,nx,ny,nz],…]", origin, sides and number of the cells of each grid, as a string to free. "[]" where there are none. NULL
/// if out of memory.
char* view_cells_text( view_cells* cells, const clv_aabb* boxes, uint32_t count );
