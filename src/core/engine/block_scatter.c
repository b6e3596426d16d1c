// SPDX-License-Identifier: MIT
// Where there are too many boxes for one grid: they become records of the blocks that they reach, each on its
// block's scale. First all boxes become records of the coarse grid, whose cells and classes tell their
// blocks. Then each waits in a tray until there are enough of one block.
#include "engine/block.h"
#include "engine/corner.h"
#include "engine/segments.h"

#include "base/assertion.h"
#include "base/bits.h"

#define FIELD_TOPS UINT64_C( 0x800080008000 )

// A bit above each field of `a` that is at most that of `b`: fields are far below 2^15, so a borrow shows in
// their top bits.
static inline uint64_t fields_at_most( uint64_t a, uint64_t b )
{
    return ( b + FIELD_TOPS - a ) & FIELD_TOPS;
}

// On which axes a box begins before a block, as bits of a code.
static inline uint32_t before_block( const block_work* work, uint64_t first_cell, uint32_t block )
{
    uint64_t begun = fields_at_most( work->plan->leaves.items[block].first, first_cell ) ^ FIELD_TOPS;
    return (uint32_t)( ( begun >> 15 | begun >> 30 | begun >> 45 ) & 7 ) << 24;
}

// The boxes of a tray to their block's segment, as records.
static void flush_tray( const block_work* work, uint32_t block )
{
    cell_segment* segment = &work->segments[block];
    const cell_tray* tray = &work->trays.items[block];
    const scaling* s = &work->plan->scalings.items[block];
    uint32_t count = work->trays.counts[block];
    uint32_t room = segment->capacity > segment->count ? segment->capacity - segment->count : 0;
    if ( room >= CELL_TRAY )
    {
        work->kernels->empty_tray(
            tray, count, s, work->out + segment->first + segment->count, work->may_stream );
    }
    else
    {
        cell_record records[CELL_TRAY];
        work->kernels->empty_tray( tray, count, s, records, false );
        for ( uint32_t i = 0; i < count && i < room; ++i )
        {
            work->out[segment->first + segment->count + i] = records[i];
        }
    }
    segment->count += count;
    work->trays.counts[block] = 0;
}

// A box to the tray of a block; what does not go there is overwritten by the next that does.
static inline void wait_in_tray(
    const block_work* work, uint32_t block, uint32_t slot, uint32_t before, bool goes )
{
    const block_trays trays = work->trays;
    CLV_ASSERT( block < work->plan->block_count );
    uint32_t count = trays.counts[block];
    CLV_ASSERT( count < CELL_TRAY );
    trays.items[block].items[count].box = work->input->boxes[slot];
    trays.items[block].items[count].slot = slot;
    trays.items[block].items[count].before = before;
    count += goes;
    trays.counts[block] = (uint8_t)count;
    if ( count == CELL_TRAY )
    {
        flush_tray( work, block );
    }
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
        wait_in_tray( work, node->block, slot, before_block( work, span->first, node->block ), true );
        return;
    }
    visit_leaves( work, slot, span, node->left );
    visit_leaves( work, slot, span, node->left + 1 );
}

static void scatter_large( const block_work* work, const scaling* s, const cell_record* coarse,
    const uint16_t* more, uint32_t more_count )
{
    for ( uint32_t i = 0; i < more_count; ++i )
    {
        const cell_record* record = &coarse[more[i]];
        if ( cell_class( record ) == CELL_WIDE )
        {
            cell_words words = cell_words_of( &work->input->boxes[cell_slot( record )], s );
            cell_span span = cell_words_span( &words );
            visit_leaves( work, cell_slot( record ), &span, 0 );
        }
    }
}

// A box that spans at most two coarse cells on each axis, to the blocks of its corners, to each once. A block
// that is new at a corner lies at none of the corners before, among them those that are one axis nearer to
// the first: so the box begins before it on every axis of the corner.
static inline void visit_corners(
    const block_work* work, const corner_cells* near, const cell_record* coarse )
{
    uint32_t blocks[8], count = 0, kind = cell_class( coarse );
    CLV_ASSERT( kind < CELL_WIDE );
    for ( uint32_t k = 0; k < near->count[kind]; ++k )
    {
        uint32_t corner = near->corner[kind][k];
        uint32_t block = work->plan->map.items[cell_first( coarse ) + near->offset[corner]];
        uint32_t other = 0;
        while ( other < count && blocks[other] != block )
        {
            other += 1;
        }
        if ( other == count )
        {
            blocks[count++] = block;
            wait_in_tray( work, block, cell_slot( coarse ), corner << 24, true );
        }
    }
}

// Boxes that lie in one block go there. The others are listed, how many is returned: they too are written to
// the tray of their first block, but not counted there, which avoids a branch.
static inline uint32_t scatter_inner( const block_work* work, const corner_cells* near,
    const cell_record* coarse, uint32_t count, uint16_t* more )
{
    const uint16_t* const map = work->plan->map.items;
    const uint32_t slot_count = work->input->slot_count;
    uint32_t more_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t kind = cell_class( &coarse[i] ), cell = cell_first( &coarse[i] );
        uint32_t slot = cell_slot( &coarse[i] ), next = slot + CELL_PART; // of the next part, most likely
        base_prefetch( &work->input->boxes[next < slot_count ? next : slot] );
        CLV_ASSERT( cell + near->offset[kind & 7] < cell_grid_count( &work->plan->grid ) );
        uint32_t block = map[cell], last = map[cell + near->offset[kind & 7]];
        bool is_inner = ( kind != CELL_WIDE ) & ( block == last );
        wait_in_tray( work, block, slot, 0, is_inner );
        more[more_count] = (uint16_t)i;
        more_count += !is_inner;
    }
    return more_count;
}

void clv_engine_block_scatter( const block_work* work )
{
    const scaling s = scaling_of( &work->plan->grid );
    const corner_cells near = corner_cells_of( &work->plan->grid );
    CLV_ASSERT( work->plan->block_count > 0 );
    CLV_ASSERT( work->first % BLOCK_CHUNK == 0 );
    for ( uint32_t first = work->first, count; first < work->last; first += count )
    {
        cell_record coarse[CELL_PART];
        uint16_t more[CELL_PART];
        count = work->last - first < CELL_PART ? work->last - first : CELL_PART;
        cell_boxes part = cell_boxes_part( work->input, first, count );
        work->kernels->make_records( &part, &s, coarse );
        uint32_t more_count = scatter_inner( work, &near, coarse, count, more );
        scatter_large( work, &s, coarse, more, more_count );
        for ( uint32_t i = 0; i < more_count; ++i )
        {
            if ( cell_class( &coarse[more[i]] ) != CELL_WIDE )
            {
                visit_corners( work, &near, &coarse[more[i]] );
            }
        }
    }
    for ( uint32_t block = 0; block < work->plan->block_count; ++block )
    {
        if ( work->trays.counts[block] > 0 )
        {
            flush_tray( work, block );
        }
    }
    work->kernels->finish_streams();
}
