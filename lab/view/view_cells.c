// SPDX-License-Identifier: MIT
#include "lab/view/view_cells.h"

#include "lab/base/byte_buffer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    BLOCK_BOXES = 1 << 14, // boxes in a block, about
    FEW = 128,             // boxes for which there are no cells
    GRIDS_MOST = 256,      // more could not be told apart
};

void view_cells_open( view_cells* cells )
{
    *cells = ( view_cells ){ .is_open = true };
    cells->memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    clv_engine_init( &cells->engine, &cells->memory, clv_simd_kernels_for( clv_isa_best() ), &cells->tasks,
        BLOCK_BOXES, UINT32_MAX );
}

void view_cells_close( view_cells* cells )
{
    if ( cells->is_open )
    {
        clv_engine_release( &cells->engine );
    }
    *cells = ( view_cells ){ 0 };
}

static void put_grid( byte_buffer* out, const cell_grid* grid )
{
    double sides[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        sides[axis] = 256 / (double)grid->scale[axis];
        if ( !isfinite( sides[axis] ) || !isfinite( grid->origin[axis] ) )
        {
            return;
        }
    }
    char* text = text_format( "%s[%.7g,%.7g,%.7g,%.7g,%.7g,%.7g,%u,%u,%u]", out->count > 1 ? "," : "",
        (double)grid->origin[0], (double)grid->origin[1], (double)grid->origin[2], sides[0], sides[1],
        sides[2], (unsigned)grid->dims[0], (unsigned)grid->dims[1], (unsigned)grid->dims[2] );
    byte_buffer_put( out, text, strlen( text ) );
    free( text );
}

const cell_grid* view_cells_find(
    view_cells* cells, const clv_aabb* boxes, uint32_t box_count, uint32_t* count )
{
    const clv_engine* engine = &cells->engine;
    clv_method_input input = {
        .size = sizeof( input ), .boxes = boxes, .live_count = box_count, .slot_count = box_count
    };
    *count = 0;
    if ( box_count <= FEW || !clv_engine_fill( &cells->engine, &input ) )
    {
        return NULL;
    }
    bool is_plain = clv_engine_scaled_axes( engine ) == 0;
    bool is_flat = engine->plan.block_count == 0;
    uint32_t grid_count = is_flat ? 1 : engine->plan.block_count;
    *count = is_plain && grid_count <= GRIDS_MOST ? grid_count : 0;
    return is_flat ? &engine->flat.grid : engine->plan.grids.items;
}

char* view_cells_text( view_cells* cells, const clv_aabb* boxes, uint32_t count )
{
    byte_buffer out = { 0 };
    uint32_t grid_count = 0;
    const cell_grid* grids = view_cells_find( cells, boxes, count, &grid_count );
    byte_buffer_put_byte( &out, '[' );
    for ( uint32_t i = 0; i < grid_count; ++i )
    {
        put_grid( &out, &grids[i] );
    }
    byte_buffer_put( &out, "]", 2 );
    char* text = out.has_failed ? NULL : text_copy( (const char*)out.bytes );
    byte_buffer_free( &out );
    return text;
}
