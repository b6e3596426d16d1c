// SPDX-License-Identifier: MIT
#include "engine/cell.h"

#include "base/assertion.h"

#include <string.h>

// The next `bytes` of the block, or NULL while only sizes are wanted.
static void* carve( char* block, size_t* offset, size_t bytes )
{
    void* data = block != NULL ? block + *offset : NULL;
    *offset += ( bytes + BASE_ALIGNMENT - 1 ) / BASE_ALIGNMENT * BASE_ALIGNMENT;
    return data;
}

// Lay the arrays out in `block`; returns their size.
static size_t lay_out_cells(
    cell_scratch* scratch, char* block, size_t counted, size_t cell_count, size_t stack )
{
    size_t offset = 0;
    scratch->kinds = carve( block, &offset, counted * 8 * sizeof( uint32_t ) );
    scratch->starts =
        carve( block, &offset, ( cell_count + stack + 2 * ( CELL_DEPTH + 1 ) ) * sizeof( uint32_t ) );
    return offset;
}

static size_t lay_out_entries( cell_scratch* scratch, char* block, cell_layout layout )
{
    // Only crowded cells have grids within them.
    size_t inner = layout.fullest > CELL_OVERFULL ? 2 * (size_t)layout.fullest : 0;
    size_t entries = layout.entry_count + inner * CELL_ENTRIES_PER_BOX + CELL_SLACK * ( CELL_DEPTH + 1 );
    size_t fullest = layout.fullest > CELL_OVERFULL ? layout.fullest : CELL_OVERFULL;
    fullest = layout.strip > fullest ? layout.strip : fullest;
    size_t words = ( fullest + 63 ) / 64 * 64 + 64; // whole words of lanes
    size_t offset = 0;
    scratch->entries = carve( block, &offset, entries * sizeof( cell_entry ) );
    scratch->records = carve( block, &offset, inner * sizeof( cell_record ) );
    scratch->lanes = carve( block, &offset, words * 8 );
    scratch->slots = carve( block, &offset, words * sizeof( uint32_t ) );
    scratch->ties = carve( block, &offset, ( CELL_TIES + 64 ) * sizeof( clv_pair ) );
    return offset;
}

// A larger block in place of `block`; false if out of memory, and then there is none. What was in it is lost.
static bool grow( base_memory* memory, void** block, uint64_t* bytes, size_t needed )
{
    return clv_base_memory_renew( memory, block, bytes, needed, 1 ); // a need that comes and goes asks once
}

bool clv_engine_cell_scratch_reserve_cells(
    cell_scratch* scratch, base_memory* memory, uint32_t counted, uint32_t cell_count, uint32_t stack )
{
    cell_scratch sizes;
    size_t needed = lay_out_cells( &sizes, NULL, counted, cell_count, stack );
    bool ok = grow( memory, &scratch->cell_block, &scratch->cell_bytes, needed );
    if ( ok )
    {
        lay_out_cells( scratch, scratch->cell_block, counted, cell_count, stack );
    }
    return ok;
}

bool clv_engine_cell_scratch_reserve_entries( cell_scratch* scratch, base_memory* memory, cell_layout layout )
{
    cell_scratch sizes;
    size_t needed = lay_out_entries( &sizes, NULL, layout );
    const uint8_t* before = scratch->lanes;
    bool ok = grow( memory, &scratch->entry_block, &scratch->entry_bytes, needed );
    if ( ok )
    {
        lay_out_entries( scratch, scratch->entry_block, layout );
        CLV_ASSERT( (char*)scratch->ties + ( CELL_TIES + 64 ) * sizeof( clv_pair ) <=
            (char*)scratch->entry_block + scratch->entry_bytes );
    }
    if ( ok &&
        scratch->lanes != before ) // those behind a cell's last entry are read, though they have no say
    {
        memset( scratch->lanes, 0, (size_t)( (uint8_t*)scratch->ties - scratch->lanes ) );
    }
    return ok;
}

void clv_engine_cell_scratch_release( cell_scratch* scratch, base_memory* memory )
{
    clv_base_memory_give( memory, scratch->cell_block, scratch->cell_bytes, 1 );
    clv_base_memory_give( memory, scratch->entry_block, scratch->entry_bytes, 1 );
    *scratch = ( cell_scratch ){ 0 };
}
