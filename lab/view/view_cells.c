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

char* view_cells_text( view_cells* cells, const clv_aabb* boxes, uint32_t count )
{
    const clv_engine* engine = &cells->engine;
    clv_method_input input = {
        .size = sizeof( input ), .boxes = boxes, .live_count = count, .slot_count = count
    };
    byte_buffer out = { 0 };
    byte_buffer_put_byte( &out, '[' );
    if ( count > FEW )
    {
        if ( !clv_engine_fill( &cells->engine, &input ) )
        {
            byte_buffer_free( &out );
            return NULL;
        }
        bool is_plain = clv_engine_scaled_axes( engine ) == 0 && !engine->axes.is_ranked;
        uint32_t grid_count = engine->plan.block_count > 0 ? engine->plan.block_count : 1;
        for ( uint32_t i = 0; is_plain && grid_count <= GRIDS_MOST && i < grid_count; ++i )
        {
            put_grid(
                &out, engine->plan.block_count > 0 ? &engine->plan.grids.items[i] : &engine->flat.grid );
        }
    }
    byte_buffer_put( &out, "]", 2 );
    char* text = out.has_failed ? NULL : text_copy( (const char*)out.bytes );
    byte_buffer_free( &out );
    return text;
}
