// SPDX-License-Identifier: MIT
// All own objects handed over in one call, in the order of clv_mpi_space_object_at, as most callers do in every frame: a comparison of
// ids tells that it is so. Their boxes are taken a piece of slots at a time. While a piece is near, the space inside gets it, in one row:
// berths among own objects go along, as it has them already. And boxes that do not lie deep inside the region are listed, so that only they
// are looked at when letters are written.
#include "base/assertion.h"
#include "mpi_state.h"

bool clv_mpi_are_all_own( const clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    if ( space->slots.own_is_stale || count != space->slots.own.count )
    {
        return false;
    }
    const uint64_t* known = space->columns.ids.items;
    uint64_t different = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        different |= known[space->slots.own.items[i]] ^ ids[i];
    }
    return different == 0;
}

// From own object `i` on, up to a slot. Returns the next one.
static uint64_t take_piece(
    clv_mpi_space* space, const clv_aabb* here, uint64_t i, uint32_t end, const clv_aabb* boxes )
{
    mpi_columns* c = &space->columns;
    const uint32_t* own = space->slots.own.items;
    uint64_t count = space->slots.own.count, outer = space->slots.border.count;
    CLV_ASSERT( count < space->slots.border.capacity && outer <= i ); // one is written before it counts
    for ( ; i < count && own[i] < end; ++i )
    {
        uint32_t slot = own[i];
        c->boxes.items[slot] = boxes[i];
        space->slots.border.items[outer] = slot;
        outer += !mpi_box_encloses( here, &boxes[i] ) | ( ( c->flags.items[slot] & SLOT_INSIDE ) == 0 );
    }
    space->slots.border.count = outer;
    return i;
}

// Own objects of which the space inside could not hear now: the update tells it.
static void mark_moved( clv_mpi_space* space, uint32_t first, uint32_t end )
{
    for ( uint32_t slot = first; slot < end; ++slot )
    {
        CLV_ASSERT( slot < space->slots.end );
        uint32_t* flags = &space->columns.flags.items[slot];
        *flags |= ( *flags & SLOT_OWN ) != 0 ? (uint32_t)SLOT_MOVED : 0;
        space->slots.moved_count += ( *flags & SLOT_OWN ) != 0;
    }
}

static void tell_inside( clv_mpi_space* space, uint32_t first, uint32_t end )
{
    const mpi_columns* c = &space->columns;
    while ( first < end )
    {
        uint32_t row_end = clv_mpi_end_of_row( space, first, end );
        CLV_ASSERT( first <= row_end && row_end <= end );
        if ( row_end > first &&
            clv_space_move(
                space->inside, c->locals.items + first, c->boxes.items + first, row_end - first ) != CLV_OK )
        {
            mark_moved( space, first, row_end );
        }
        first = row_end + 1; // that one is free
    }
}

void clv_mpi_move_all_own( clv_mpi_space* space, const clv_aabb* boxes )
{
    enum
    {
        PIECE = 2048
    };
    mpi_columns* c = &space->columns;
    if ( space->modes.has_margins )
    {
        for ( uint64_t i = 0; i < space->slots.own.count; ++i )
        {
            c->givens.items[space->slots.own.items[i]] = boxes[i];
        }
        return;
    }
    const clv_aabb here = clv_mpi_region_inner( &space->partition.regions.bounds[space->rank] );
    // Workers share one large batch.
    uint32_t step = clv_space_worker_count( space->inside ) > 1 ? space->slots.end : PIECE;
    space->slots.border.count = 0;
    space->slots.moved_count = 0;
    uint64_t next = 0;
    for ( uint32_t first = 0; first < space->slots.end; first += step )
    {
        uint32_t end = space->slots.end - first < step ? space->slots.end : first + step;
        next = take_piece( space, &here, next, end, boxes );
        tell_inside( space, first, end );
    }
    CLV_ASSERT( next == space->slots.own.count ); // each box has its slot
    CLV_ASSERT( space->slots.border.count <= space->slots.own.count );
    space->slots.border_is_known = true;
}
