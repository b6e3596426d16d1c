// SPDX-License-Identifier: MIT
// Which blocks a box lies in (block/block.h), over words_of of cell_body.h's instruction set.
// No include guard: this is a template.

#include "block/block.h"

// Boxes [first, last) of the input as records.
static inline void records_of(
    const block_input* input, uint32_t first, uint32_t last, const scaling* s, cell_record* out )
{
    for ( uint32_t i = first; i < last; ++i )
    {
        uint32_t slot = block_input_slot( input, i );
        out[i - first] = record_of( words_of( &input->boxes[slot], s ), s, slot, 0 );
    }
}

// The same, of one block.
static void block_records(
    const block_input* input, uint32_t first, uint32_t last, const cell_grid* grid, cell_record* out )
{
    const scaling s = scaling_of( grid );
    records_of( input, first, last, &s, out + first );
}

// A record to a slab, where there is room; counted in any case.
static inline void put_in_slab( const slab_work* work, uint32_t slab, cell_record record )
{
    uint32_t place = work->places[slab]++;
    if ( place < work->limits[slab] )
    {
        work->out[place] = record;
    }
}

// Records to the slabs of their first cells. Those that reach others too are listed, and those that are wide, which go to none
// yet, so that the wide ones of a slab stay in order. Nothing is left to guess.
static inline uint32_t scatter_first( const slab_work* work, const corner_cells* near,
    const cell_record* records, uint32_t count, uint16_t* more )
{
    uint32_t* const places = work->places;
    const uint32_t* const limits = work->limits;
    const uint8_t* const slab_of_cell = work->slab_of_cell;
    cell_record aside = { 0, 0 };
    uint32_t more_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t kind = cell_class( &records[i] ), cell = cell_first( &records[i] );
        bool is_wide = kind == CELL_WIDE;
        uint32_t slab = slab_of_cell[cell], last = slab_of_cell[cell + near->offset[kind & 7]];
        uint32_t place = places[slab];
        cell_record* out = ( !is_wide & ( place < limits[slab] ) ) ? &work->out[place] : &aside;
        *out = records[i];
        places[slab] = place + !is_wide;
        more[more_count] = (uint16_t)i;
        more_count += is_wide | ( slab != last );
    }
    return more_count;
}

// A box to its other slabs, or to all if it is wide. Later rows never lie in earlier slabs.
static void scatter_more( const slab_work* work, const scaling* s, cell_record record )
{
    cell_span span = words_span( words_of( &work->input->boxes[cell_slot( &record )], s ) );
    uint32_t x = field_of( span.first, 0 );
    uint32_t last =
        cell_class( &record ) == CELL_WIDE ? UINT32_MAX : work->slab_of_cell[cell_first( &record )];
    for ( uint32_t z = field_of( span.first, 2 ); z <= field_of( span.last, 2 ); ++z )
    {
        for ( uint32_t y = field_of( span.first, 1 ); y <= field_of( span.last, 1 ); ++y )
        {
            uint32_t slab = work->slab_of_cell[cell_at( work->grid, x, y, z )];
            if ( slab != last )
            {
                put_in_slab( work, slab, record );
            }
            last = slab;
        }
    }
}

// A part ends where a chunk of slots does, or records of the next would lie before the last of this one, and what is placed
// together would depend on the slabs.
static void slab_scatter( const slab_work* work )
{
    const scaling s = scaling_of( work->grid );
    const corner_cells near = corner_cells_of( work->grid );
    for ( uint32_t first = work->first, count; first < work->last; first += count )
    {
        cell_record records[CELL_PART];
        uint16_t more[CELL_PART];
        count = work->last - first < CELL_PART ? work->last - first : CELL_PART;
        records_of( work->input, first, first + count, &s, records );
        count = end_of_chunk( records, 0, count );
        uint32_t more_count = scatter_first( work, &near, records, count, more );
        for ( uint32_t i = 0; i < more_count; ++i )
        {
            scatter_more( work, &s, records[more[i]] );
        }
    }
}

// Count, per coarse cell, the boxes that begin there; every `step`-th box speaks for `step`.
static void block_histogram(
    const block_input* input, const cell_grid* grid, uint32_t step, uint32_t* histogram )
{
    const scaling s = scaling_of( grid );
    for ( uint32_t i = 0; i < input->count; i += step )
    {
        words w = words_of( &input->boxes[block_input_slot( input, i )], &s );
        histogram[words_key( w, &s ).cell] += step;
    }
}

// Is every field of `a` at most that of `b`? The fields are far below 2^15, so a borrow shows in their top bits.
static inline bool fields_at_most( uint64_t a, uint64_t b )
{
    return ( ( b + 0x800080008000u - a ) & 0x800080008000u ) == 0x800080008000u;
}

static inline uint64_t fields_of( const uint16_t corner[4] )
{
    return (uint64_t)corner[0] | (uint64_t)corner[1] << 16 | (uint64_t)corner[2] << 32;
}

// A box on its way to several blocks.
typedef struct block_guest
{
    uint32_t slot;
    cell_span span; // in coarse cells
} block_guest;

typedef void block_visit( const block_work* work, const block_guest* guest, uint32_t block );

// Every leaf that the span reaches. Depth is bounded by the coarse grid: each cut halves cells along some axis, so it is
// below 3 x BLOCK_SIDE.
static void visit_wide(
    const block_work* work, const block_guest* guest, uint32_t node_index, block_visit* visit )
{
    const block_node* node = &work->plan->nodes[node_index];
    if ( !fields_at_most( guest->span.first, fields_of( node->last ) ) ||
        !fields_at_most( fields_of( node->first ), guest->span.last ) )
    {
        return;
    }
    if ( node->left == 0 )
    {
        visit( work, guest, node->block );
        return;
    }
    visit_wide( work, guest, node->left, visit );
    visit_wide( work, guest, node->left + 1, visit );
}

// The same for a span of at most two cells on each axis: the blocks of its corners, each once.
static inline void visit_leaves( const block_work* work, const block_guest* guest, block_visit* visit )
{
    uint64_t first = guest->span.first, size = guest->span.last - first;
    if ( ( size & 0xFFFEFFFEFFFEu ) != 0 )
    {
        visit_wide( work, guest, 0, visit );
        return;
    }
    const cell_grid* grid = &work->plan->grid;
    uint32_t base = cell_at( grid, field_of( first, 0 ), field_of( first, 1 ), field_of( first, 2 ) );
    uint32_t kind = (uint32_t)( size | size >> 15 | size >> 30 ) & 7;
    uint32_t seen[8] = { 0 }, seen_count = 0;
    for ( uint32_t corner = 0; corner < 8; ++corner )
    {
        if ( ( corner & ~kind ) != 0 )
        {
            continue;
        }
        uint32_t cell = base + ( corner & 1 ) + ( corner >> 1 & 1 ) * grid->dims[0] +
            ( corner >> 2 ) * grid->dims[0] * grid->dims[1];
        uint32_t block = work->plan->map[cell];
        uint32_t i = 0;
        while ( i < seen_count && seen[i] != block )
        {
            i += 1;
        }
        if ( i == seen_count )
        {
            seen[seen_count++] = block;
            visit( work, guest, block );
        }
    }
}

static void count_in_block( const block_work* work, const block_guest* guest, uint32_t block )
{
    (void)guest;
    work->places[block] += 1;
}

static void block_assign( const block_work* work )
{
    const block_plan* plan = work->plan;
    const scaling s = scaling_of( &plan->grid );
    for ( uint32_t i = work->first; i < work->last; ++i )
    {
        uint32_t slot = block_input_slot( work->input, i );
        words w = words_of( &work->input->boxes[slot], &s );
        cell_span span = words_span( w );
        uint32_t block = plan->map[words_key( w, &s ).cell];
        if ( fields_at_most( span.last, plan->leaves[block].last ) )
        {
            work->places[block] += 1;
            work->numbers[i] = (uint16_t)block;
        }
        else
        {
            block_guest guest = { slot, span };
            work->numbers[i] = BLOCK_MANY;
            visit_leaves( work, &guest, count_in_block );
        }
    }
}

static inline void put_in_block( const block_work* work, uint32_t slot, uint32_t before, uint32_t block )
{
    const scaling* s = &work->plan->scalings[block];
    work->out[work->places[block]++] = record_of( words_of( &work->input->boxes[slot], s ), s, slot, before );
}

static void put_guest( const block_work* work, const block_guest* guest, uint32_t block )
{
    uint64_t begin = work->plan->leaves[block].first;
    uint32_t before = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        before |= (uint32_t)( field_of( guest->span.first, axis ) < field_of( begin, axis ) ) << axis;
    }
    put_in_block( work, guest->slot, before, block );
}

static void block_scatter( const block_work* work )
{
    const scaling coarse = scaling_of( &work->plan->grid );
    for ( uint32_t i = work->first; i < work->last; ++i )
    {
        uint32_t slot = block_input_slot( work->input, i );
        uint32_t block = work->numbers[i];
        if ( block != BLOCK_MANY )
        {
            put_in_block( work, slot, 0, block );
        }
        else
        {
            block_guest guest = { slot, words_span( words_of( &work->input->boxes[slot], &coarse ) ) };
            visit_leaves( work, &guest, put_guest );
        }
    }
}
