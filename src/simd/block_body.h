// SPDX-License-Identifier: MIT
// Which blocks a box lies in (block/block.h), over fixed_of of cell_body.h's instruction set.
// No include guard: this is a template.

#include "block/block.h"

static inline record input_record( const block_input* input, uint32_t index )
{
    uint32_t slot = block_input_slot( input, index );
    return record_from( &input->boxes[slot], slot );
}

static inline cell_span coarse_span( record r, const scaling* s )
{
    int16_t fixed[8] __attribute__( ( aligned( 16 ) ) );
    return fixed_of( r, s, fixed );
}

static inline uint32_t coarse_cell( const cell_grid* grid, uint64_t fields )
{
    return ( field_of( fields, 2 ) * grid->dims[1] + field_of( fields, 1 ) ) * grid->dims[0] +
        field_of( fields, 0 );
}

// Count, per coarse cell, the boxes that begin there; every `step`-th box speaks for `step`.
static void block_histogram(
    const block_input* input, const cell_grid* grid, uint32_t step, uint32_t* histogram )
{
    const scaling s = scaling_of( grid );
    for ( uint32_t i = 0; i < input->count; i += step )
    {
        record r = input_record( input, i );
        histogram[coarse_cell( grid, coarse_span( r, &s ).first )] += step;
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

typedef void block_visit( const block_work* work, record r, uint64_t first, uint32_t block );

// Every leaf that the span reaches. Depth is bounded by the coarse grid: each cut halves cells along some axis, so it is
// below 3 x BLOCK_SIDE.
static void visit_wide(
    const block_work* work, record r, cell_span span, uint32_t node_index, block_visit* visit )
{
    const block_node* node = &work->plan->nodes[node_index];
    if ( !fields_at_most( span.first, fields_of( node->last ) ) ||
        !fields_at_most( fields_of( node->first ), span.last ) )
    {
        return;
    }
    if ( node->left == 0 )
    {
        visit( work, r, span.first, node->block );
        return;
    }
    visit_wide( work, r, span, node->left, visit );
    visit_wide( work, r, span, node->left + 1, visit );
}

// The same for a span of at most two cells on each axis: the blocks of its corners, each once.
static inline void visit_leaves( const block_work* work, record r, cell_span span, block_visit* visit )
{
    uint64_t size = span.last - span.first;
    if ( ( size & 0xFFFEFFFEFFFEu ) != 0 )
    {
        visit_wide( work, r, span, 0, visit );
        return;
    }
    const cell_grid* grid = &work->plan->grid;
    uint32_t base = coarse_cell( grid, span.first );
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
            visit( work, r, span.first, block );
        }
    }
}

static inline void count_in_block( const block_work* work, record r, uint64_t first, uint32_t block )
{
    (void)r;
    (void)first;
    work->places[block] += 1;
}

static void block_assign( const block_work* work )
{
    const block_plan* plan = work->plan;
    const scaling s = scaling_of( &plan->grid );
    for ( uint32_t i = work->first; i < work->last; ++i )
    {
        record r = input_record( work->input, i );
        cell_span span = coarse_span( r, &s );
        uint32_t block = plan->map[coarse_cell( &plan->grid, span.first )];
        if ( fields_at_most( span.last, plan->leaves[block].last ) )
        {
            work->places[block] += 1;
            work->numbers[i] = (uint16_t)block;
        }
        else
        {
            work->numbers[i] = BLOCK_MANY;
            visit_leaves( work, r, span, count_in_block );
        }
    }
}

static inline void put_in_block( const block_work* work, record r, uint64_t first, uint32_t block )
{
    uint64_t begin = work->plan->leaves[block].first;
    cell_box* out = &work->out[work->places[block]++];
    record_store( out, r );
    uint32_t before = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        before |= (uint32_t)( field_of( first, axis ) < field_of( begin, axis ) ) << axis;
    }
    out->before = before;
}

static void block_scatter( const block_work* work )
{
    const scaling s = scaling_of( &work->plan->grid );
    cell_box* out = work->out;
    uint32_t* places = work->places;
    for ( uint32_t i = work->first; i < work->last; ++i )
    {
        record r = input_record( work->input, i );
        uint32_t block = work->numbers[i];
        if ( block != BLOCK_MANY )
        {
            record_store( &out[places[block]++], r );
        }
        else
        {
            visit_leaves( work, r, coarse_span( r, &s ), put_in_block );
        }
    }
}
