// SPDX-License-Identifier: MIT
// Which blocks a box lies in (engine/block.h), over words_of of cell_body.h's instruction set.
// No include guard: this is a template.

#include "engine/block.h"

#define FIELD_BITS UINT64_C( 0x800080008000 )

// Boxes [first, last) of the input as records.
static inline void records_of(
    const block_input* input, uint32_t first, uint32_t last, const scaling* s, cell_record* out )
{
    uint32_t done = input->live == NULL ? whole_records( input->boxes, first, last - first, s, out ) : 0;
    for ( uint32_t i = first + done; i < last; ++i )
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

// A record to a segment, where there is room; counted in any case.
static inline void put_in_segment( cell_segment* segment, cell_record* out, cell_record record )
{
    if ( segment->count < segment->capacity )
    {
        out[segment->first + segment->count] = record;
    }
    segment->count += 1;
}

// The same without a branch, and nothing at all where it does not go there.
static inline void put_if( cell_segment* segment, cell_record* out, cell_record record, bool goes )
{
    cell_record aside;
    uint32_t count = segment->count;
    bool has_room = goes & ( count < segment->capacity );
    *( has_room ? &out[segment->first + count] : &aside ) = record;
    segment->count = count + goes;
}

// Records to the slabs of their first cells. Those that reach others too are listed, and those that are wide, which go to none
// yet, so that the wide ones of a slab stay in order. Nothing is left to guess.
static inline uint32_t scatter_first( const slab_work* work, const corner_cells* near,
    const cell_record* records, uint32_t count, uint16_t* more )
{
    cell_segment* const segments = work->segments;
    cell_record* const out = work->out;
    const uint8_t* const slab_of_cell = work->slab_of_cell;
    uint32_t more_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t kind = cell_class( &records[i] ), cell = cell_first( &records[i] );
        bool is_wide = kind == CELL_WIDE;
        uint32_t slab = slab_of_cell[cell], last = slab_of_cell[cell + near->offset[kind & 7]];
        put_if( &segments[slab], out, records[i], !is_wide );
        more[more_count] = (uint16_t)i;
        more_count += is_wide | ( slab != last );
    }
    return more_count;
}

// A box to its other slabs. Later rows never lie in earlier slabs, so who has been there is told by the last; and which there are is
// not guessed.
static inline void scatter_more( const slab_work* work, const corner_cells* near, cell_record record )
{
    uint32_t kind = cell_class( &record ), cell = cell_first( &record );
    uint32_t last = work->slab_of_cell[cell];
    for ( uint32_t corner = 2; corner < 8; corner += 2 ) // cells that differ in x alone are in one slab
    {
        uint32_t slab = work->slab_of_cell[cell + near->offset[corner & kind]];
        put_if( &work->segments[slab], work->out, record, slab > last );
        last = slab > last ? slab : last;
    }
}

// A wide one to all of its slabs.
static void scatter_wide( const slab_work* work, const scaling* s, cell_record record )
{
    cell_span span = words_span( words_of( &work->input->boxes[cell_slot( &record )], s ) );
    uint32_t x = field_of( span.first, 0 );
    uint32_t last = UINT32_MAX;
    for ( uint32_t z = field_of( span.first, 2 ); z <= field_of( span.last, 2 ); ++z )
    {
        for ( uint32_t y = field_of( span.first, 1 ); y <= field_of( span.last, 1 ); ++y )
        {
            uint32_t slab = work->slab_of_cell[cell_at( work->grid, x, y, z )];
            if ( slab != last )
            {
                put_in_segment( &work->segments[slab], work->out, record );
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
            if ( cell_class( &records[more[i]] ) == CELL_WIDE )
            {
                scatter_wide( work, &s, records[more[i]] );
            }
            else
            {
                scatter_more( work, &near, records[more[i]] );
            }
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

// A bit above each field of `a` that is at most that of `b`: fields are far below 2^15, so a borrow shows in their top bits.
static inline uint64_t fields_at_most( uint64_t a, uint64_t b )
{
    return ( b + FIELD_BITS - a ) & FIELD_BITS;
}

static inline uint64_t fields_of( const uint16_t corner[4] )
{
    return (uint64_t)corner[0] | (uint64_t)corner[1] << 16 | (uint64_t)corner[2] << 32;
}

// Boxes of a part that lie in several blocks, and which.
typedef struct block_guests
{
    uint32_t count;
    uint16_t boxes[8 * CELL_PART];
    uint16_t blocks[8 * CELL_PART];
} block_guests;

static inline cell_record record_in_block(
    const block_work* work, uint32_t slot, uint32_t before, uint32_t block )
{
    const scaling* s = &work->plan->scalings[block];
    return record_of( words_of( &work->input->boxes[slot], s ), s, slot, before );
}

// On which axes a box begins before a block.
static inline uint32_t before_block( const block_work* work, uint64_t first_cell, uint32_t block )
{
    uint64_t begun = fields_at_most( work->plan->leaves[block].first, first_cell ) ^ FIELD_BITS;
    return (uint32_t)( begun >> 15 | begun >> 30 | begun >> 45 ) & 7;
}

static void put_guest( const block_work* work, uint32_t slot, uint64_t first_cell, uint32_t block )
{
    cell_record record = record_in_block( work, slot, before_block( work, first_cell, block ), block );
    put_in_segment( &work->segments[block], work->out, record );
}

// A box that spans more than two coarse cells on some axis, to every leaf that it reaches. Depth is bounded by the coarse grid: each
// cut halves cells along some axis, so it is below 3 x BLOCK_SIDE.
static void visit_leaves( const block_work* work, uint32_t slot, const cell_span* span, uint32_t node_index )
{
    const block_node* node = &work->plan->nodes[node_index];
    if ( fields_at_most( span->first, fields_of( node->last ) ) != FIELD_BITS ||
        fields_at_most( fields_of( node->first ), span->last ) != FIELD_BITS )
    {
        return;
    }
    if ( node->left == 0 )
    {
        put_guest( work, slot, span->first, node->block );
        return;
    }
    visit_leaves( work, slot, span, node->left );
    visit_leaves( work, slot, span, node->left + 1 );
}

// The blocks of a box that spans at most two coarse cells on each axis: those of its corners, each once. A corner that it has not
// is one that it has, and how many blocks there are is not guessed.
static inline void list_guest(
    const block_work* work, const corner_cells* near, cell_span span, uint32_t box, block_guests* guests )
{
    const cell_grid* grid = &work->plan->grid;
    uint64_t size = span.last - span.first;
    uint32_t kind = (uint32_t)( size | size >> 15 | size >> 30 ) & 7;
    uint32_t base =
        cell_at( grid, field_of( span.first, 0 ), field_of( span.first, 1 ), field_of( span.first, 2 ) );
    uint32_t blocks[8], count = guests->count;
    for ( uint32_t corner = 0; corner < 8; ++corner )
    {
        blocks[corner] = work->plan->map[base + near->offset[corner & kind]];
        bool is_new = true;
        for ( uint32_t other = 0; other < corner; ++other )
        {
            is_new = is_new & ( blocks[other] != blocks[corner] );
        }
        guests->boxes[count] = (uint16_t)box;
        guests->blocks[count] = (uint16_t)blocks[corner];
        count += is_new;
    }
    guests->count = count;
}

// The blocks in which boxes [first, first + count) begin; BLOCK_MANY for those that reach others, which are listed.
static inline uint32_t find_blocks( const block_work* work, const scaling* coarse, uint32_t first,
    uint32_t count, uint16_t* blocks, uint16_t* more )
{
    const uint16_t* const map = work->plan->map;
    const block_leaf* const leaves = work->plan->leaves;
    uint32_t more_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        words w = words_of( &work->input->boxes[block_input_slot( work->input, first + i )], coarse );
        uint32_t block = map[words_key( w, coarse ).cell];
        uint32_t is_inner = fields_at_most( words_span( w ).last, leaves[block].last ) == FIELD_BITS;
        blocks[i] = (uint16_t)( block | ( is_inner - 1 ) ); // BLOCK_MANY without a branch
        more[more_count] = (uint16_t)i;
        more_count += !is_inner;
    }
    return more_count;
}

// Boxes of one block each.
static inline void scatter_inner(
    const block_work* work, uint32_t first, uint32_t count, const uint16_t* blocks )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        bool is_inner = blocks[i] != BLOCK_MANY;
        uint32_t block = is_inner ? blocks[i] : 0;
        uint32_t slot = block_input_slot( work->input, first + i );
        put_if( &work->segments[block], work->out, record_in_block( work, slot, 0, block ), is_inner );
    }
}

// Boxes of several.
static inline void scatter_guests( const block_work* work, const scaling* coarse, const corner_cells* near,
    uint32_t first, uint32_t more_count, const uint16_t* more )
{
    block_guests guests;
    guests.count = 0;
    for ( uint32_t i = 0; i < more_count; ++i )
    {
        uint32_t slot = block_input_slot( work->input, first + more[i] );
        cell_span span = words_span( words_of( &work->input->boxes[slot], coarse ) );
        if ( ( ( span.last - span.first ) & 0xFFFEFFFEFFFEu ) != 0 )
        {
            visit_leaves( work, slot, &span, 0 );
            continue;
        }
        list_guest( work, near, span, more[i], &guests );
    }
    for ( uint32_t i = 0; i < guests.count; ++i )
    {
        uint32_t slot = block_input_slot( work->input, first + guests.boxes[i] );
        cell_span span = words_span( words_of( &work->input->boxes[slot], coarse ) );
        put_guest( work, slot, span.first, guests.blocks[i] );
    }
}

static void block_scatter( const block_work* work )
{
    const scaling coarse = scaling_of( &work->plan->grid );
    const corner_cells near = corner_cells_of( &work->plan->grid );
    for ( uint32_t first = work->first, count; first < work->last; first += count )
    {
        uint16_t blocks[CELL_PART], more[CELL_PART];
        count = work->last - first < CELL_PART ? work->last - first : CELL_PART;
        uint32_t more_count = find_blocks( work, &coarse, first, count, blocks, more );
        scatter_inner( work, first, count, blocks );
        scatter_guests( work, &coarse, &near, first, more_count, more );
    }
}
