// SPDX-License-Identifier: MIT
// Ghosts where nothing is remembered of them (no events, no filters, nobody to ask). Then a ghost is a box and a name, and it does not matter in which
// slot it lay in the update before: the slots of last time's ghosts, and of objects that left, are berths, which this time's take one
// after the other. Nobody looks for an id, and the space inside sees boxes that moved, not objects that come and go. Objects
// that arrive take the lowest berths, so that own objects stay together and ghosts behind them.
#include "base/assertion.h"
#include "mpi_check.h"
#include "mpi_state.h"

/// Berths in ascending order; arrivals take them from the front, ghosts from the back.
typedef struct berths
{
    clv_mpi_space* space;
    clv_aabb here; ///< what lies deep inside this process's region
    uint32_t* slots;
    uint64_t front, back, count;
} berths;

static void list_berths( berths* b )
{
    const clv_mpi_space* space = b->space;
    const uint32_t* flags = space->columns.flags.items;
    uint64_t count = 0;
    CLV_ASSERT( space->ghosts.capacity >= space->slot_end && b->slots == space->ghosts.items );
    for ( uint32_t slot = 0, any; slot < space->slot_end; ++slot )
    {
        if ( slot % MPI_BLOCK == 0 && slot + MPI_BLOCK <= space->slot_end &&
            ( mpi_flags_of( flags + slot, &any ) & MPI_OWN ) != 0 )
        {
            slot += MPI_BLOCK - 1;
            continue;
        }
        b->slots[count] = slot;
        count += ( flags[slot] & ( MPI_LIVE | MPI_OWN ) ) == MPI_LIVE;
    }
    b->count = b->back = count;
}

static void take_berth( const berths* b, uint32_t slot, const mpi_letter_text* text )
{
    clv_mpi_space* space = b->space;
    mpi_columns* c = &space->columns;
    CLV_ASSERT( slot < space->slot_end && c->locals.items[slot].index == slot );
    CLV_ASSERT( ( c->flags.items[slot] & ( MPI_LIVE | MPI_OWN ) ) == MPI_LIVE );
    bool is_inside = mpi_box_encloses( &b->here, &text->box ), is_owned = text->owned != NULL;
    c->ids.items[slot] = text->id;
    c->boxes.items[slot] = text->box;
    c->names.items[slot] = ( mpi_name ){ text->id, text->owner, is_inside };
    c->flags.items[slot] =
        MPI_LIVE | ( is_inside ? (uint32_t)MPI_INSIDE : 0 ) | ( is_owned ? (uint32_t)MPI_ARRIVED : 0 );
    c->stamps.items[slot] = 0;
    if ( is_owned && space->grows )
    {
        memcpy( &c->givens.items[slot], text->owned, sizeof( clv_aabb ) );
        memcpy( &c->rules.items[slot], text->owned + 3, sizeof( clv_margin_rule ) );
        memcpy( &c->motions.items[slot], text->owned + 5, sizeof( clv_vec3 ) );
    }
}

// False: out of memory.
static bool berth_one( berths* b, uint64_t at, const mpi_letter_text* text )
{
    CLV_ASSERT( b->front <= b->back && b->back <= b->count );
    if ( b->front == b->back )
    {
        return clv_mpi_put_aside( b->space, at, text );
    }
    uint32_t slot = text->owned != NULL ? b->slots[b->front++] : b->slots[--b->back];
    take_berth( b, slot, text );
    return true;
}

// Those for whom there was no berth: new slots, all at once.
static clv_result make_berths( berths* b, const uint64_t* words )
{
    clv_mpi_space* space = b->space;
    uint64_t count = space->fresh_letters.count;
    CLV_ASSERT( space->fresh_ids.count == count && space->fresh_boxes.count == count );
    if ( count == 0 )
    {
        return CLV_OK;
    }
    if ( count > CLV_MAX_OBJECTS )
    {
        return clv_mpi_complain( space, CLV_TOO_MANY_OBJECTS, UINT32_MAX, 0, "too many ghosts" );
    }
    if ( !base_array_renew( &space->gone, &space->memory, count ) )
    {
        return clv_mpi_complain( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for ghosts" );
    }
    clv_result result = clv_mpi_objects_take(
        space, space->fresh_ids.items, space->fresh_boxes.items, (uint32_t)count, 0, space->gone.items );
    for ( uint64_t i = 0; result == CLV_OK && i < count; ++i )
    {
        CLV_ASSERT( i < space->gone.capacity );
        mpi_letter_text text = clv_mpi_letter_read( space, words + space->fresh_letters.items[i] );
        take_berth( b, space->gone.items[i], &text );
    }
    space->ghost_count += result == CLV_OK ? count : 0;
    return result;
}

static clv_result no_memory( clv_mpi_space* space )
{
    return clv_mpi_complain( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for ghosts" );
}

static clv_result berth_letters( berths* b )
{
    clv_mpi_space* space = b->space;
    const base_u64_array* box = &space->inbox;
    space->fresh_letters.count = space->fresh_ids.count = space->fresh_boxes.count = 0;
    bool ok = true;
    for ( uint64_t at = 0; ok && at < box->count; )
    {
        mpi_letter_text text = clv_mpi_letter_read( space, box->items + at );
        ok = berth_one( b, at, &text ) && clv_mpi_note_arrival( space, at, &text );
        at = (uint64_t)( text.end - box->items );
    }
    return ok ? make_berths( b, box->items ) : no_memory( space );
}

// Boxes that go to all come back to who sent them, and to a new owner, who has a letter of its own.
static clv_result berth_wide( berths* b )
{
    clv_mpi_space* space = b->space;
    const base_u64_array* box = &space->wide_inbox;
    if ( box->count == 0 )
    {
        return CLV_OK;
    }
    uint64_t own = (uint64_t)space->wide_starts[space->rank],
             own_end = own + (uint64_t)space->wide_words[space->rank];
    CLV_ASSERT( own_end <= box->count && space->wide_words[space->rank] == space->wire.words );
    const clv_mpi_region* region = &space->regions.bounds[space->rank];
    space->fresh_letters.count = space->fresh_ids.count = space->fresh_boxes.count = 0;
    bool ok = true;
    for ( uint64_t at = 0; ok && at < box->count; )
    {
        mpi_letter_text text = clv_mpi_letter_read( space, box->items + at );
        bool is_known = ( at >= own && at < own_end ) || text.owner == space->rank;
        ok = is_known || !mpi_region_reached( region, &text.box ) || berth_one( b, at, &text );
        at = (uint64_t)( text.end - box->items );
    }
    return ok ? make_berths( b, box->items ) : no_memory( space );
}

// What the space inside is to know of the berths that were taken, in the order of their slots.
static clv_result move_berthed( const berths* b )
{
    clv_mpi_space* space = b->space;
    const mpi_columns* c = &space->columns;
    uint32_t count = 0;
    CLV_ASSERT( space->moved_ids.capacity >= b->count && space->moved_boxes.capacity >= b->count );
    for ( uint64_t i = 0; i < b->count; ++i )
    {
        uint32_t slot = b->slots[i];
        space->moved_ids.items[count] = c->locals.items[slot];
        space->moved_boxes.items[count] = c->boxes.items[slot];
        count += i < b->front || i >= b->back;
    }
    CLV_ASSERT( count == b->front + b->count - b->back );
    clv_result result =
        clv_space_move( space->inside, space->moved_ids.items, space->moved_boxes.items, count );
    return result == CLV_OK
        ? CLV_OK
        : clv_mpi_complain( space, result, UINT32_MAX, 0, "%s", clv_space_error( space->inside ).text );
}

clv_result clv_mpi_berth( clv_mpi_space* space )
{
    space->ghost_count = 0;
    if ( !base_array_renew( &space->ghosts, &space->memory, space->slot_end ) ||
        !base_array_renew( &space->moved_boxes, &space->memory, space->slot_end ) )
    {
        return no_memory( space );
    }
    berths b = { .space = space, .slots = space->ghosts.items };
    b.here = clv_mpi_region_inner( &space->regions.bounds[space->rank] );
    list_berths( &b );
    clv_result result = berth_letters( &b );
    result = result == CLV_OK ? berth_wide( &b ) : result;
    if ( result != CLV_OK )
    {
        return result;
    }
    space->ghost_count += b.front + b.count - b.back;
    // Slots are as many now as they will be, and so is what a good end of the update needs.
    if ( !base_array_renew( &space->gone, &space->memory, space->slot_end ) ||
        !base_array_renew( &space->moved_ids, &space->memory, space->slot_end ) ||
        !base_array_reserve( &space->own, &space->memory, space->slot_end ) )
    {
        return no_memory( space );
    }
    CLV_ASSERT( space->ghost_count <= space->slot_end - space->own.count );
    result = move_berthed( &b );
    if ( result == CLV_OK )
    {
        clv_mpi_objects_drop_all( space, b.slots + b.front, b.back - b.front );
        CLV_VALIDATE( clv_mpi_ghosts_check( space ) == NULL );
    }
    return result;
}
