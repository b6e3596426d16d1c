// SPDX-License-Identifier: MIT
#pragma once

#include "engine/cell.h"

/// How eight coordinates become 256ths of cells; words 3 and 7 hold none and become 0.
typedef struct scaling
{
    float origin[8], scale[8], most[8];
    int16_t weights[8]; ///< what a cell's coordinates are multiplied with, and added up, to get its number
} scaling;

static inline scaling scaling_of( const cell_grid* grid )
{
    scaling s;
    for ( int axis = 0; axis < 4; ++axis )
    {
        bool is_axis = axis < 3;
        s.origin[axis] = s.origin[axis + 4] = is_axis ? grid->origin[axis] : 0;
        s.scale[axis] = s.scale[axis + 4] = is_axis ? grid->scale[axis] : 0;
        s.most[axis] = s.most[axis + 4] = is_axis ? (float)( grid->dims[axis] * CELL_STEPS - 1 ) : 0;
        s.weights[axis] = s.weights[axis + 4] = 0;
    }
    s.weights[0] = 1;
    s.weights[1] = (int16_t)grid->dims[0];
    s.weights[2] = (int16_t)( grid->dims[0] * grid->dims[1] );
    return s;
}

/// The cells of a box's lower and upper corner: x, y and z as fields of 16 bits. The fourth field means nothing.
typedef struct cell_span
{
    uint64_t first, last;
} cell_span;

/// A box's first cell, and its class.
typedef struct cell_key
{
    uint32_t cell;
    uint32_t kind; ///< a bit for each axis on which there is a second cell; CELL_WIDE: more than two
} cell_key;
