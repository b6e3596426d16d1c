// SPDX-License-Identifier: MIT
// Where there are too many boxes for one grid: they become records of the blocks that they reach, each on its
// block's scale.
#include "engine/block.h"
#include "engine/corner.h"
#include "engine/segments.h"

#include "base/assertion.h"

#define FIELD_TOPS UINT64_C( 0x800080008000 )

// Some boxes on their way.
typedef struct block_part
{
    cell_boxes boxes;
    cell_reach reaches[CELL_PART]; ///< in the coarse grid
    uint16_t blocks[CELL_PART];    ///< in which they begin
    bool is_inner[CELL_PART];      ///< and end
    uint32_t more_count;
    uint16_t more[CELL_PART]; ///< those that reach others
} block_part;

// Boxes of a part that lie in several blocks, and which.
typedef struct block_guests
{
    uint32_t count;
    uint16_t boxes[8 * CELL_PART];
    uint16_t blocks[8 * CELL_PART];
} block_guests;

// A bit above each field of `a` that is at most that of `b`: fields are far below 2^15, so a borrow shows in
// their top bits.
static inline uint64_t fields_at_most( uint64_t a, uint64_t b )
{
    return ( b + FIELD_TOPS - a ) & FIELD_TOPS;
}

// On which axes a box begins before a block, as bits of a code.
static inline uint64_t before_block( const block_work* work, uint64_t first_cell, uint32_t block )
{
    uint64_t begun = fields_at_most( work->plan->leaves.items[block].first, first_cell ) ^ FIELD_TOPS;
    return ( ( begun >> 15 | begun >> 30 | begun >> 45 ) & 7 ) << 24;
}

// Where boxes begin, and which of them reach beyond their block.
static void find_blocks( const block_work* work, const scaling* coarse, block_part* part )
{
    const uint16_t* const map = work->plan->map.items;
    const block_leaf* const leaves = work->plan->leaves.items;
    uint32_t more_count = 0;
    work->kernels->find_reaches( &part->boxes, coarse, part->reaches );
    for ( uint32_t i = 0; i < part->boxes.count; ++i )
    {
        const cell_reach* reach = &part->reaches[i];
        CLV_ASSERT( reach->cell < cell_grid_count( &work->plan->grid ) );
        uint32_t block = map[reach->cell];
        CLV_ASSERT( block < work->plan->block_count );
        bool is_inner = fields_at_most( reach->span.last, leaves[block].last ) == FIELD_TOPS;
        part->blocks[i] = (uint16_t)block;
        part->is_inner[i] = is_inner;
        part->more[more_count] = (uint16_t)i;
        more_count += !is_inner;
    }
    part->more_count = more_count;
}

// A box that spans more than two coarse cells on some axis, to every leaf that it reaches. Depth is bounded
// by the coarse grid: each cut halves cells along some axis, so it is below 3 x BLOCK_SIDE.
static void visit_leaves( const block_work* work, uint32_t slot, const cell_span* span, uint32_t node_index )
{
    const block_node* node = &work->plan->nodes.items[node_index];
    if ( fields_at_most( span->first, block_fields( node->last ) ) != FIELD_TOPS ||
        fields_at_most( block_fields( node->first ), span->last ) != FIELD_TOPS )
    {
        return;
    }
    if ( node->left == 0 )
    {
        cell_boxes one = { work->input->boxes, NULL, slot, 1 };
        cell_record record;
        work->kernels->make_records( &one, &work->plan->scalings.items[node->block], &record );
        record.code |= before_block( work, span->first, node->block );
        segment_put( &work->segments[node->block], work->out, record );
        return;
    }
    visit_leaves( work, slot, span, node->left );
    visit_leaves( work, slot, span, node->left + 1 );
}

// The blocks of a box that spans at most two coarse cells on each axis: those of its corners, each once.
// Missing corners repeat an existing one, so that the number of blocks needs no branch.
static inline void list_guest( const block_work* work, const corner_cells* near, const cell_reach* reach,
    uint32_t box, block_guests* guests )
{
    uint64_t size = reach->span.last - reach->span.first;
    uint32_t kind = (uint32_t)( size | size >> 15 | size >> 30 ) & 7;
    uint32_t blocks[8], count = guests->count;
    for ( uint32_t corner = 0; corner < 8; ++corner )
    {
        blocks[corner] = work->plan->map.items[reach->cell + near->offset[corner & kind]];
        bool is_new = true;
        for ( uint32_t other = 0; other < corner; ++other )
        {
            is_new = is_new & ( blocks[other] != blocks[corner] );
        }
        guests->boxes[count] = (uint16_t)box;
        guests->blocks[count] = (uint16_t)blocks[corner];
        count += is_new;
    }
    CLV_ASSERT( count <= 8 * CELL_PART );
    guests->count = count;
}

// Guests [first, first + count) of a part.
static void put_guests( const block_work* work, const block_part* part, const block_guests* guests,
    uint32_t first, uint32_t count )
{
    uint32_t slots[CELL_PART];
    cell_record records[CELL_PART];
    CLV_ASSERT( count <= CELL_PART );
    for ( uint32_t i = 0; i < count; ++i )
    {
        slots[i] = cell_boxes_slot( &part->boxes, guests->boxes[first + i] );
    }
    cell_boxes some = { part->boxes.boxes, slots, 0, count };
    work->kernels->make_records_by( &some, work->plan->scalings.items, guests->blocks + first, records );
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t block = guests->blocks[first + i];
        uint64_t first_cell = part->reaches[guests->boxes[first + i]].span.first;
        records[i].code |= before_block( work, first_cell, block );
        segment_put( &work->segments[block], work->out, records[i] );
    }
}

// Boxes of several blocks.
static void scatter_guests( const block_work* work, const corner_cells* near, const block_part* part )
{
    block_guests guests;
    guests.count = 0;
    for ( uint32_t i = 0; i < part->more_count; ++i )
    {
        const cell_reach* reach = &part->reaches[part->more[i]];
        if ( ( ( reach->span.last - reach->span.first ) & 0xFFFEFFFEFFFEu ) != 0 )
        {
            visit_leaves( work, cell_boxes_slot( &part->boxes, part->more[i] ), &reach->span, 0 );
            continue;
        }
        list_guest( work, near, reach, part->more[i], &guests );
    }
    for ( uint32_t first = 0; first < guests.count; first += CELL_PART )
    {
        uint32_t left = guests.count - first;
        put_guests( work, part, &guests, first, left < CELL_PART ? left : CELL_PART );
    }
}

void clv_engine_block_scatter( const block_work* work )
{
    const scaling coarse = scaling_of( &work->plan->grid );
    const corner_cells near = corner_cells_of( &work->plan->grid );
    CLV_ASSERT( work->plan->block_count > 0 );
    CLV_ASSERT( work->first % BLOCK_CHUNK == 0 );
    for ( uint32_t first = work->first, count; first < work->last; first += count )
    {
        block_part part;
        count = work->last - first < CELL_PART ? work->last - first : CELL_PART;
        part.boxes = cell_boxes_part( work->input, first, count );
        find_blocks( work, &coarse, &part );
        // Boxes of one block each. The others become records of their first one too, which go nowhere: this
        // avoids a branch on the kind of box.
        work->kernels->put_records_by(
            &part.boxes, work->plan->scalings.items, part.blocks, part.is_inner, work->segments, work->out );
        scatter_guests( work, &near, &part );
    }
}
