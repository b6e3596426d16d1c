// SPDX-License-Identifier: MIT
// Which cells a box reaches that spans at most two on each axis.
#pragma once

#include "engine/cell.h"

#include <string.h>

/// A class is three bits, one per axis on which there is a second cell; a corner likewise, for the second of
/// the two.
typedef struct corner_cells
{
    uint32_t offset[8]; ///< from the first cell, by corner
    uint32_t count[8];  ///< corners of each class
    uint8_t corner[8][8];
} corner_cells;

static inline corner_cells corner_cells_of( const cell_grid* grid )
{
    corner_cells c;
    memset( &c, 0, sizeof( c ) );
    for ( uint32_t corner = 0; corner < 8; ++corner )
    {
        c.offset[corner] = ( corner & 1 ) + ( corner >> 1 & 1 ) * grid->dims[0] +
            ( corner >> 2 ) * grid->dims[0] * grid->dims[1];
        for ( uint32_t kind = 0; kind < 8; ++kind )
        {
            if ( ( corner & ~kind ) == 0 )
            {
                c.corner[kind][c.count[kind]++] = (uint8_t)corner;
            }
        }
    }
    return c;
}
