// SPDX-License-Identifier: MIT
#include "cell/cell.h"

// The next `bytes` of the block, or NULL while only sizes are wanted.
static void* carve( char* block, size_t* offset, size_t bytes )
{
    void* data = block != NULL ? block + *offset : NULL;
    *offset += ( bytes + BASE_ALIGNMENT - 1 ) / BASE_ALIGNMENT * BASE_ALIGNMENT;
    return data;
}

// Lays the arrays out in `block`; returns their size.
static size_t lay_out( cell_scratch* scratch, char* block, size_t capacity )
{
    size_t lanes = ( capacity + 63 ) / 64 * 64 + 64; // whole words of lanes, and one past the end
    size_t offset = 0;
    size_t entries = capacity * CELL_ENTRIES_PER_BOX + 16;
    scratch->fixed = carve( block, &offset, capacity * 8 * sizeof( int16_t ) );
    scratch->list = carve( block, &offset, entries * sizeof( uint64_t ) );
    scratch->bases = carve( block, &offset, ( capacity / CELL_BOXES_PER_CELL + 2 ) * 8 * sizeof( int16_t ) );
    scratch->codes = carve( block, &offset, ( entries * 2 + 16 * ( CELL_DEPTH + 2 ) ) * sizeof( uint64_t ) );
    scratch->owners = carve( block, &offset, entries * 2 * sizeof( uint32_t ) );
    scratch->starts = carve( block, &offset,
        ( capacity * 2 / CELL_BOXES_PER_CELL + 2 * ( CELL_DEPTH + 1 ) ) * sizeof( uint32_t ) );
    scratch->boxes = carve( block, &offset, capacity * sizeof( cell_box ) );
    scratch->lanes = carve( block, &offset, lanes * 8 );
    scratch->rows = carve( block, &offset, lanes * sizeof( uint64_t ) );
    scratch->candidates = carve( block, &offset, ( CELL_CANDIDATES + 64 ) * sizeof( cell_candidate ) );
    return offset;
}

bool cell_scratch_reserve( cell_scratch* scratch, base_memory* memory, uint32_t capacity )
{
    if ( capacity <= scratch->capacity )
    {
        return true;
    }
    cell_scratch fresh = { .capacity = capacity };
    fresh.block_bytes = lay_out( &fresh, NULL, capacity );
    fresh.block = base_memory_take( memory, fresh.block_bytes, 1 );
    if ( fresh.block == NULL )
    {
        return false;
    }
    lay_out( &fresh, fresh.block, capacity );
    cell_scratch_release( scratch, memory );
    *scratch = fresh;
    return true;
}

void cell_scratch_release( cell_scratch* scratch, base_memory* memory )
{
    base_memory_give( memory, scratch->block, scratch->block_bytes, 1 );
    *scratch = ( cell_scratch ){ 0 };
}
