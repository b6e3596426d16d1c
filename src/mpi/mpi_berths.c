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
    CLV_ASSERT( space->slots.ghosts.capacity >= space->slots.end && b->slots == space->slots.ghosts.items );
    for ( uint32_t slot = 0, any; slot < space->slots.end; ++slot )
    {
        if ( slot % SLOT_GROUP == 0 && slot + SLOT_GROUP <= space->slots.end &&
            ( mpi_group_flags( flags + slot, &any ) & SLOT_OWN ) != 0 )
        {
            slot += SLOT_GROUP - 1;
            continue;
        }
        b->slots[count] = slot;
        count += ( flags[slot] & ( SLOT_LIVE | SLOT_OWN ) ) == SLOT_LIVE;
    }
    b->count = b->back = count;
}

static void take_berth( const berths* b, uint32_t slot, const mpi_record* text )
{
    clv_mpi_space* space = b->space;
    mpi_columns* c = &space->columns;
    CLV_ASSERT( slot < space->slots.end && c->locals.items[slot].index == slot );
    CLV_ASSERT( ( c->flags.items[slot] & ( SLOT_LIVE | SLOT_OWN ) ) == SLOT_LIVE );
    bool is_inside = mpi_box_encloses( &b->here, &text->box ), is_owned = text->owned != NULL;
    c->ids.items[slot] = text->id;
    c->boxes.items[slot] = text->box;
    c->identities.items[slot] = ( mpi_identity ){ text->id, text->owner, is_inside };
    c->flags.items[slot] =
        SLOT_LIVE | ( is_inside ? (uint32_t)SLOT_INSIDE : 0 ) | ( is_owned ? (uint32_t)SLOT_ARRIVED : 0 );
    c->stamps.items[slot] = 0;
    if ( is_owned && space->modes.has_margins )
    {
        memcpy( &c->givens.items[slot], text->owned, sizeof( clv_aabb ) );
        memcpy( &c->rules.items[slot], text->owned + 3, sizeof( clv_margin_rule ) );
        memcpy( &c->motions.items[slot], text->owned + 5, sizeof( clv_vec3 ) );
    }
}

// False: out of memory.
static bool berth_one( berths* b, uint64_t at, const mpi_record* text )
{
    CLV_ASSERT( b->front <= b->back && b->back <= b->count );
    if ( b->front == b->back )
    {
        return clv_mpi_defer_record( b->space, at, text );
    }
    uint32_t slot = text->owned != NULL ? b->slots[b->front++] : b->slots[--b->back];
    take_berth( b, slot, text );
    return true;
}

// Those for whom there was no berth: new slots, all at once.
static clv_result make_berths( berths* b, const uint64_t* words )
{
    clv_mpi_space* space = b->space;
    uint64_t count = space->exchange.new_records.count;
    CLV_ASSERT( space->exchange.new_ids.count == count && space->exchange.new_boxes.count == count );
    if ( count == 0 )
    {
        return CLV_OK;
    }
    if ( count > CLV_MAX_OBJECTS )
    {
        return clv_mpi_fail( space, CLV_TOO_MANY_OBJECTS, UINT32_MAX, 0, "too many ghosts" );
    }
    if ( !base_array_renew( &space->slots.gone, &space->memory, count ) )
    {
        return clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for ghosts" );
    }
    clv_result result = clv_mpi_objects_take( space, space->exchange.new_ids.items,
        space->exchange.new_boxes.items, (uint32_t)count, 0, space->slots.gone.items );
    for ( uint64_t i = 0; result == CLV_OK && i < count; ++i )
    {
        CLV_ASSERT( i < space->slots.gone.capacity );
        mpi_record text = clv_mpi_record_read( space, words + space->exchange.new_records.items[i] );
        take_berth( b, space->slots.gone.items[i], &text );
    }
    space->slots.ghost_count += result == CLV_OK ? count : 0;
    return result;
}

static clv_result no_memory( clv_mpi_space* space )
{
    return clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for ghosts" );
}

static clv_result berth_letters( berths* b )
{
    clv_mpi_space* space = b->space;
    const base_u64_array* box = &space->exchange.inbox;
    space->exchange.new_records.count = space->exchange.new_ids.count = space->exchange.new_boxes.count = 0;
    bool ok = true;
    for ( uint64_t at = 0; ok && at < box->count; )
    {
        mpi_record text = clv_mpi_record_read( space, box->items + at );
        ok = berth_one( b, at, &text ) && clv_mpi_log_arrival( space, at, &text );
        at = (uint64_t)( text.end - box->items );
    }
    return ok ? make_berths( b, box->items ) : no_memory( space );
}

// Boxes that go to all come back to who sent them, and to a new owner, who has a letter of its own.
static clv_result berth_wide( berths* b )
{
    clv_mpi_space* space = b->space;
    const base_u64_array* box = &space->exchange.wide_inbox;
    if ( box->count == 0 )
    {
        return CLV_OK;
    }
    uint64_t own = (uint64_t)space->exchange.wide_starts[space->rank],
             own_end = own + (uint64_t)space->exchange.wide_words[space->rank];
    CLV_ASSERT( own_end <= box->count && space->exchange.wide_words[space->rank] == space->net.wire.words );
    const clv_mpi_region* region = &space->partition.regions.bounds[space->rank];
    space->exchange.new_records.count = space->exchange.new_ids.count = space->exchange.new_boxes.count = 0;
    bool ok = true;
    for ( uint64_t at = 0; ok && at < box->count; )
    {
        mpi_record text = clv_mpi_record_read( space, box->items + at );
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
    CLV_ASSERT(
        space->slots.moved_ids.capacity >= b->count && space->slots.moved_boxes.capacity >= b->count );
    for ( uint64_t i = 0; i < b->count; ++i )
    {
        uint32_t slot = b->slots[i];
        space->slots.moved_ids.items[count] = c->locals.items[slot];
        space->slots.moved_boxes.items[count] = c->boxes.items[slot];
        count += i < b->front || i >= b->back;
    }
    CLV_ASSERT( count == b->front + b->count - b->back );
    clv_result result =
        clv_space_move( space->inside, space->slots.moved_ids.items, space->slots.moved_boxes.items, count );
    return result == CLV_OK
        ? CLV_OK
        : clv_mpi_fail( space, result, UINT32_MAX, 0, "%s", clv_space_error( space->inside ).text );
}

clv_result clv_mpi_receive_anonymous( clv_mpi_space* space )
{
    space->slots.ghost_count = 0;
    if ( !base_array_renew( &space->slots.ghosts, &space->memory, space->slots.end ) ||
        !base_array_renew( &space->slots.moved_boxes, &space->memory, space->slots.end ) )
    {
        return no_memory( space );
    }
    berths b = { .space = space, .slots = space->slots.ghosts.items };
    b.here = clv_mpi_region_inner( &space->partition.regions.bounds[space->rank] );
    list_berths( &b );
    clv_result result = berth_letters( &b );
    result = result == CLV_OK ? berth_wide( &b ) : result;
    if ( result != CLV_OK )
    {
        return result;
    }
    space->slots.ghost_count += b.front + b.count - b.back;
    // Slots are as many now as they will be, and so is what a good end of the update needs.
    if ( !base_array_renew( &space->slots.gone, &space->memory, space->slots.end ) ||
        !base_array_renew( &space->slots.moved_ids, &space->memory, space->slots.end ) ||
        !base_array_reserve( &space->slots.own, &space->memory, space->slots.end ) )
    {
        return no_memory( space );
    }
    CLV_ASSERT( space->slots.ghost_count <= space->slots.end - space->slots.own.count );
    result = move_berthed( &b );
    if ( result == CLV_OK )
    {
        clv_mpi_objects_drop_all( space, b.slots + b.front, b.back - b.front );
        CLV_VALIDATE( clv_mpi_ghosts_check( space ) == NULL );
    }
    return result;
}
