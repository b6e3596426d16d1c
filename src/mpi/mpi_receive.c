// SPDX-License-Identifier: MIT
// Ghosts from the records that came. With history, or a filter to ask, a ghost is an object that is looked up
// by its id and keeps its slot. Otherwise it is anonymous: a box and an identity, and it does not matter
// which slot it had in the update before. Then the slots of last time's ghosts, and of objects that left, are
// filled one after the other: no id is looked up, and the space inside sees boxes that move instead of
// objects that come and go. Objects that arrive fill the lowest slots, so that own objects stay together and
// ghosts behind them.
#include "base/assertion.h"
#include "mpi_state.h"

/// Slots of anonymous ghosts, ascending: arrivals fill them from the front, ghosts from the back.
typedef struct receiver
{
    clv_mpi_space* space;
    clv_aabb inner; ///< what lies inside this process's region
    bool is_anonymous;
    uint32_t* slots;
    uint64_t front, back, count;
} receiver;

// The next ghost from a slot on, or the end. Groups of own objects are skipped at once.
static uint32_t next_ghost( const clv_mpi_space* space, uint32_t slot )
{
    const uint32_t* flags = space->columns.flags.items;
    uint32_t end = space->slots.end, any;
    slot = space->process_count > 1 ? slot : end;
    while ( slot < end && ( flags[slot] & ( SLOT_LIVE | SLOT_OWN ) ) != SLOT_LIVE )
    {
        bool is_own = slot % SLOT_GROUP == 0 && slot + SLOT_GROUP <= end &&
            ( mpi_group_flags( flags + slot, &any ) & SLOT_OWN ) != 0;
        slot += is_own ? SLOT_GROUP : 1;
    }
    return slot;
}

// ---- one record

mpi_record clv_mpi_record_read( const clv_mpi_space* space, const base_u64_array* box, uint64_t begin )
{
    CLV_ASSERT( begin + RECORD_SHORT_WORDS <= box->count );
    const uint64_t* at = box->items + begin;
    mpi_record record = { .id = at[0], .kind = (uint32_t)( at[4] >> 32 ), .owner = (int32_t)(uint32_t)at[4] };
    memcpy( &record.box, at + 1, sizeof( clv_aabb ) );
    record.end = begin + clv_mpi_record_words( space, record.kind );
    // Another process wrote it: its parts are there, and its numbers are of this space.
    CLV_ASSERT( record.end <= box->count && ( record.kind & ~(uint32_t)RECORD_ALL ) == 0 );
    CLV_ASSERT( record.owner >= 0 && record.owner < space->process_count );
    CLV_ASSERT( clv_aabb_is_valid( record.box ) );
    at += RECORD_SHORT_WORDS;
    record.full = ( record.kind & RECORD_FULL ) != 0 ? at : NULL;
    at += record.full != NULL ? RECORD_FULL_WORDS : 0;
    record.owned = ( record.kind & RECORD_OWNED ) != 0 ? at : NULL;
    record.payload = record.owned != NULL ? at + RECORD_OWNED_WORDS : NULL;
    return record;
}

static void apply_history( mpi_columns* c, uint32_t slot, const mpi_record* record )
{
    uint32_t* flags = &c->flags.items[slot];
    memcpy( &c->befores.items[slot], record->full, sizeof( clv_aabb ) );
    memcpy( &c->filters.items[slot], record->full + 3, sizeof( clv_filter ) );
    memcpy( &c->filters_before.items[slot], record->full + 6, sizeof( clv_filter ) );
    *flags &= ~(uint32_t)( SLOT_STATIC | SLOT_WAS_STATIC | SLOT_OLD );
    *flags |= ( ( record->kind & RECORD_STATIC ) != 0 ? SLOT_STATIC : 0u ) |
        ( ( record->kind & RECORD_WAS_STATIC ) != 0 ? SLOT_WAS_STATIC : 0u ) |
        ( ( record->kind & RECORD_OLD ) != 0 ? SLOT_OLD : 0u ) | SLOT_CHANGED;
}

// What a record says, into a ghost's slot.
static void fill_ghost( const receiver* r, uint32_t slot, const mpi_record* record )
{
    clv_mpi_space* space = r->space;
    mpi_columns* c = &space->columns;
    uint32_t* flags = &c->flags.items[slot];
    CLV_ASSERT( slot < space->slots.end && ( *flags & ( SLOT_LIVE | SLOT_OWN ) ) == SLOT_LIVE );
    CLV_ASSERT( c->locals.items[slot].index == slot );
    if ( r->is_anonymous )
    {
        c->ids.items[slot] = record->id;
        *flags = SLOT_LIVE | SLOT_MOVED;
    }
    *flags |=
        memcmp( &c->boxes.items[slot], &record->box, sizeof( clv_aabb ) ) != 0 ? (uint32_t)SLOT_MOVED : 0;
    c->boxes.items[slot] = record->box;
    if ( space->modes.has_history && record->full != NULL )
    {
        apply_history( c, slot, record );
    }
    if ( space->modes.has_margins && record->owned != NULL )
    {
        memcpy( &c->givens.items[slot], record->owned, sizeof( clv_aabb ) );
        memcpy( &c->rules.items[slot], record->owned + 3, sizeof( clv_margin_rule ) );
        memcpy( &c->motions.items[slot], record->owned + 5, sizeof( clv_vec3 ) );
    }
    bool is_inside = mpi_box_encloses( &r->inner, &record->box );
    *flags = ( *flags & ~(uint32_t)SLOT_INSIDE ) | ( is_inside ? (uint32_t)SLOT_INSIDE : 0 ) |
        ( record->owned != NULL ? (uint32_t)SLOT_ARRIVED : 0 );
    c->identities.items[slot] = ( mpi_identity ){ record->id, record->owner, is_inside };
    c->stamps.items[slot] = space->slots.stamp;
}

// Objects that have no slot yet wait for each other, since one by one they would cost as much as the search;
// payloads wait for the end of the update. False: out of memory.
static bool note_record( clv_mpi_space* space, base_u64_array* list, uint64_t at )
{
    CLV_ASSERT( list->count == 0 || list->items[list->count - 1] < at ); // in the order they came
    if ( !base_array_reserve( list, &space->memory, list->count + 1 ) )
    {
        return false;
    }
    list->items[list->count++] = at;
    return true;
}

static bool is_here( const clv_mpi_space* space, const mpi_record* record )
{
    return mpi_region_reached( &space->partition.regions.bounds[space->rank], &record->box );
}

static bool receive_anonymous( receiver* r, uint64_t at, const mpi_record* record )
{
    CLV_ASSERT( r->front <= r->back && r->back <= r->count );
    if ( r->front == r->back )
    {
        return note_record( r->space, &r->space->exchange.new_records, at );
    }
    fill_ghost( r, record->owned != NULL ? r->slots[r->front++] : r->slots[--r->back], record );
    return true;
}

// Ghosts were forgotten, and this one was here after the last good update: pairs of it that ended, and those
// that others report now, can only be told apart by its box. It goes again when the update is over.
static bool is_last_record( const clv_mpi_space* space, const mpi_record* record )
{
    if ( !space->modes.must_resend || record->full == NULL || ( record->kind & RECORD_OLD ) == 0 )
    {
        return false;
    }
    clv_aabb before;
    memcpy( &before, record->full, sizeof( before ) );
    return mpi_region_reached( &space->partition.regions_before.bounds[space->rank], &before );
}

// An object that is known gets its new box.
static bool receive_known( receiver* r, uint64_t at, const mpi_record* record )
{
    clv_mpi_space* space = r->space;
    uint32_t slot = clv_mpi_ids_find( &space->lookup.table, record->id );
    if ( slot == SLOT_NONE )
    {
        return ( !is_here( space, record ) && !is_last_record( space, record ) ) ||
            note_record( space, &space->exchange.new_records, at );
    }
    fill_ghost( r, slot, record );
    return true;
}

// ---- all records

static clv_result take_new( const receiver* r, const base_u64_array* box )
{
    clv_mpi_space* space = r->space;
    mpi_exchange* e = &space->exchange;
    uint64_t count = e->new_records.count;
    if ( count == 0 )
    {
        return CLV_OK;
    }
    if ( count > CLV_MAX_OBJECTS )
    {
        return clv_mpi_fail(
            space, CLV_TOO_MANY_OBJECTS, "process %d has too many ghosts: use more processes", space->rank );
    }
    if ( !base_array_renew( &space->slots.gone, &space->memory, count ) ||
        !base_array_renew( &e->new_ids, &space->memory, count ) ||
        !base_array_renew( &e->new_boxes, &space->memory, count ) )
    {
        return clv_mpi_reserved( space, false, "ghosts" );
    }
    for ( uint64_t i = 0; i < count; ++i )
    {
        mpi_record record = clv_mpi_record_read( space, box, e->new_records.items[i] );
        e->new_ids.items[i] = record.id;
        e->new_boxes.items[i] = record.box;
    }
    uint32_t* slots = space->slots.gone.items; // not used for another list yet
    clv_result result = clv_mpi_objects_take(
        space, e->new_ids.items, e->new_boxes.items, (uint32_t)count, SLOT_MOVED, slots );
    for ( uint64_t i = 0; result == CLV_OK && i < count; ++i )
    {
        mpi_record record = clv_mpi_record_read( space, box, e->new_records.items[i] );
        fill_ghost( r, slots[i], &record );
    }
    space->slots.ghost_count += result == CLV_OK ? count : 0;
    return result;
}

// Where the record behind this one begins; meanwhile the place of its id is fetched.
static uint64_t prefetch_record( const clv_mpi_space* space, const base_u64_array* box, uint64_t at )
{
    if ( at >= box->count )
    {
        return at;
    }
    clv_mpi_ids_fetch( &space->lookup.table, box->items[at] );
    return at + clv_mpi_record_words( space, (uint32_t)( box->items[at + 4] >> 32 ) );
}

static clv_result receive_all( receiver* r )
{
    clv_mpi_space* space = r->space;
    mpi_exchange* e = &space->exchange;
    const base_u64_array* box = &e->inbox;
    CLV_ASSERT( e->wide_begin <= box->count );
    e->new_records.count = 0;
    uint64_t ahead = r->is_anonymous ? box->count : 0;
    for ( uint32_t i = 0; i < PREFETCH_DISTANCE; ++i )
    {
        ahead = prefetch_record( space, box, ahead );
    }
    bool ok = true;
    for ( uint64_t at = 0; ok && at < box->count; )
    {
        ahead = prefetch_record( space, box, ahead );
        mpi_record record = clv_mpi_record_read( space, box, at );
        // What goes to all also goes where it is not needed, and to a new owner, who has a record of its own.
        bool is_needed = at < e->wide_begin ||
            ( record.owner != space->rank && ( !r->is_anonymous || is_here( space, &record ) ) );
        ok = !is_needed ||
            ( r->is_anonymous ? receive_anonymous( r, at, &record ) : receive_known( r, at, &record ) );
        ok = ok && ( record.payload == NULL || note_record( space, &e->arrivals, at ) );
        at = record.end;
    }
    return ok ? take_new( r, box ) : clv_mpi_reserved( space, false, "ghosts" );
}

// ---- what the space inside is told

// Ghosts that have a record of this update are listed; others were removed, or are out of reach.
static uint64_t list_known( clv_mpi_space* space )
{
    uint64_t count = 0, gone = 0;
    CLV_ASSERT( space->slots.end <= space->slots.ghosts.capacity );
    for ( uint32_t slot = next_ghost( space, 0 ); slot < space->slots.end;
          slot = next_ghost( space, slot + 1 ) )
    {
        bool has_record = space->columns.stamps.items[slot] == space->slots.stamp;
        ( has_record ? space->slots.ghosts.items : space->slots.gone.items )[has_record ? count : gone] =
            slot;
        count += has_record;
        gone += !has_record;
    }
    space->slots.ghosts.count = space->slots.ghost_count = count;
    return gone;
}

static void list_reusable( receiver* r )
{
    const clv_mpi_space* space = r->space;
    for ( uint32_t slot = next_ghost( space, 0 ); slot < space->slots.end;
          slot = next_ghost( space, slot + 1 ) )
    {
        CLV_ASSERT( r->count < space->slots.ghosts.capacity );
        r->slots[r->count++] = slot;
    }
    r->back = r->count;
}

// Filters and hints that are new, of own objects and ghosts.
static clv_result set_inner_filters( clv_mpi_space* space )
{
    const mpi_columns* c = &space->columns;
    clv_result result = CLV_OK;
    for ( uint32_t slot = 0; space->modes.has_history && result == CLV_OK && slot < space->slots.end; ++slot )
    {
        if ( ( c->flags.items[slot] & SLOT_LIVE ) != 0 && ( c->flags.items[slot] & SLOT_CHANGED ) != 0 )
        {
            result = clv_mpi_objects_set_inner( space, space->inside, c->locals.items[slot], slot );
        }
    }
    return result;
}

clv_result clv_mpi_receive( clv_mpi_space* space )
{
    base_memory* memory = &space->memory;
    mpi_slots* s = &space->slots;
    receiver r = { .space = space, .is_anonymous = mpi_ghosts_are_anonymous( space ) };
    r.inner = clv_mpi_region_inner( &space->partition.regions.bounds[space->rank] );
    space->exchange.arrivals.count = 0;
    s->ghost_count = 0;
    if ( r.is_anonymous )
    {
        if ( !base_array_renew( &s->ghosts, memory, s->end ) )
        {
            return clv_mpi_reserved( space, false, "ghosts" );
        }
        r.slots = s->ghosts.items;
        list_reusable( &r );
        s->ghosts.count = r.count;
    }
    clv_result result = receive_all( &r );
    if ( result != CLV_OK )
    {
        return result;
    }
    // Slots are as many now as they will be, and so is what a good end of the update needs.
    if ( ( !r.is_anonymous && !base_array_renew( &s->ghosts, memory, s->end ) ) ||
        !base_array_renew( &s->gone, memory, s->end ) || !base_array_renew( &s->moved_ids, memory, s->end ) ||
        !base_array_renew( &s->moved_boxes, memory, s->end ) ||
        !base_array_reserve( &s->own, memory, s->end ) ) // for objects that arrive
    {
        return clv_mpi_reserved( space, false, "ghosts" );
    }
    CLV_ASSERT( !s->own_is_stale );
    if ( r.is_anonymous )
    {
        s->ghost_count += r.front + r.count - r.back;
        clv_mpi_objects_drop_all( space, r.slots + r.front, r.back - r.front );
    }
    else
    {
        clv_mpi_objects_drop_all( space, s->gone.items, list_known( space ) );
    }
    CLV_ASSERT( s->ghost_count <= s->end - s->own.count );
    CLV_VALIDATE( clv_mpi_ghosts_check( space ) == NULL );
    result = set_inner_filters( space );
    return clv_mpi_inner_result(
        space, result == CLV_OK ? clv_mpi_move_flagged( space, &s->ghosts ) : result );
}
