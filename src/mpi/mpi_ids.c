// SPDX-License-Identifier: MIT
// From ids to slots and processes, in three steps: a hash table; the slots of this process's objects; and the
// directory, which spreads all ids over the processes so that no two objects have the same.
#include "base/assertion.h"
#include "base/bits.h"
#include "mpi_state.h"

// ---- the table: open addressing, linear probing, no tombstones

// Neighbouring numbers, which ids often are, must not be neighbours in the table.
uint64_t clv_mpi_ids_mix( uint64_t id )
{
    id = ( id ^ id >> 30 ) * 0xBF58476D1CE4E5B9u;
    id = ( id ^ id >> 27 ) * 0x94D049BB133111EBu;
    return id ^ id >> 31;
}

static uint64_t place_of( const mpi_ids* ids, uint64_t key )
{
    CLV_ASSERT(
        ids->place_bits >= 4 && ids->place_bits < 64 && ids->values.capacity >> ids->place_bits != 0 );
    return clv_mpi_ids_mix( key ) >> ( 64 - ids->place_bits );
}

static uint64_t place_mask( const mpi_ids* ids )
{
    return ( (uint64_t)1 << ids->place_bits ) - 1;
}

// Where a key stands, or the empty place where it would.
static uint64_t find_place( const mpi_ids* ids, uint64_t key )
{
    uint64_t at = place_of( ids, key );
    while ( ids->values.items[at] != SLOT_NONE && ids->keys.items[at] != key )
    {
        at = ( at + 1 ) & place_mask( ids );
    }
    return at;
}

void clv_mpi_ids_put( mpi_ids* ids, uint64_t key, uint32_t value )
{
    CLV_ASSERT( value != SLOT_NONE ); // which marks an empty place
    uint64_t at = find_place( ids, key );
    ids->count += ids->values.items[at] == SLOT_NONE;
    ids->keys.items[at] = key;
    ids->values.items[at] = value;
    CLV_ASSERT( ids->count * 2 <= place_mask( ids ) + 1 ); // room was reserved, so that a search ends soon
}

bool clv_mpi_ids_reserve( mpi_ids* ids, base_memory* memory, uint64_t count )
{
    uint32_t bits = 4;
    while ( ( (uint64_t)1 << bits ) < count * 2 )
    {
        bits += 1;
    }
    if ( ids->values.capacity > 0 && bits <= ids->place_bits )
    {
        return true;
    }
    mpi_ids fresh = { .place_bits = bits };
    uint64_t places = (uint64_t)1 << bits;
    if ( !base_array_reserve( &fresh.keys, memory, places ) ||
        !base_array_reserve( &fresh.values, memory, places ) )
    {
        clv_mpi_ids_free( &fresh, memory );
        return false;
    }
    memset( fresh.values.items, 0xFF, places * sizeof( uint32_t ) );
    uint64_t old_places = ids->values.capacity > 0 ? place_mask( ids ) + 1 : 0;
    for ( uint64_t i = 0; i < old_places; ++i )
    {
        if ( ids->values.items[i] != SLOT_NONE )
        {
            clv_mpi_ids_put( &fresh, ids->keys.items[i], ids->values.items[i] );
        }
    }
    CLV_ASSERT( fresh.count == ids->count );
    clv_mpi_ids_free( ids, memory );
    *ids = fresh;
    return true;
}

void clv_mpi_ids_fetch( const mpi_ids* ids, uint64_t key )
{
    if ( ids->values.capacity > 0 )
    {
        uint64_t at = place_of( ids, key );
        base_prefetch( &ids->keys.items[at] );
        base_prefetch( &ids->values.items[at] );
    }
}

uint32_t clv_mpi_ids_find( const mpi_ids* ids, uint64_t key )
{
    return ids->count > 0 ? ids->values.items[find_place( ids, key )] : SLOT_NONE;
}

// Keys behind it move up where they may, so that a search never ends too early.
void clv_mpi_ids_drop( mpi_ids* ids, uint64_t key )
{
    if ( clv_mpi_ids_find( ids, key ) == SLOT_NONE )
    {
        return;
    }
    uint64_t mask = place_mask( ids ), hole = find_place( ids, key );
    for ( uint64_t at = ( hole + 1 ) & mask; ids->values.items[at] != SLOT_NONE; at = ( at + 1 ) & mask )
    {
        uint64_t home = place_of( ids, ids->keys.items[at] );
        if ( ( ( at - home ) & mask ) >= ( ( at - hole ) & mask ) )
        {
            ids->keys.items[hole] = ids->keys.items[at];
            ids->values.items[hole] = ids->values.items[at];
            hole = at;
        }
    }
    ids->values.items[hole] = SLOT_NONE;
    CLV_ASSERT( ids->count > 0 );
    ids->count -= 1;
}

void clv_mpi_ids_drop_of( mpi_ids* ids, uint64_t key, uint32_t value )
{
    if ( clv_mpi_ids_find( ids, key ) == value )
    {
        clv_mpi_ids_drop( ids, key );
    }
}

void clv_mpi_ids_free( mpi_ids* ids, base_memory* memory )
{
    base_array_free( &ids->keys, memory );
    base_array_free( &ids->values, memory );
    *ids = ( mpi_ids ){ 0 };
}

// ---- slots by id

// With anonymous ghosts only own objects are looked up, and a caller that hands over all of them at once
// never looks one up: so objects that left and came are logged, and the table is brought up to date when it
// is first needed. A caller that looks up after every update pays for what changed since; one that never
// does, for the log alone.

// A long log costs more than a new table.
static bool log_is_short( const clv_mpi_space* space, uint64_t more )
{
    return space->lookup.changes.count + more <= space->slots.own.count / 4 + 64;
}

static void log_slots( clv_mpi_space* space, const uint32_t* slots, uint64_t count, bool is_added )
{
    CLV_ASSERT( space->lookup.changes.count + count <= space->lookup.changes.capacity );
    for ( uint64_t i = 0; i < count; ++i )
    {
        space->lookup.changes.items[space->lookup.changes.count++] =
            ( mpi_id_change ){ space->columns.ids.items[slots[i]], slots[i], is_added };
    }
}

void clv_mpi_lookup_log( clv_mpi_space* space, const uint32_t* left, uint64_t left_count,
    const uint32_t* came, uint64_t came_count )
{
    uint64_t more = left_count + came_count;
    if ( space->lookup.is_stale || more == 0 )
    {
        return;
    }
    if ( !log_is_short( space, more ) ||
        !base_array_reserve( &space->lookup.changes, &space->memory, space->lookup.changes.count + more ) )
    {
        space->lookup.changes.count = 0;
        space->lookup.is_stale = true;
        return;
    }
    log_slots( space, left, left_count, false );
    log_slots( space, came, came_count, true );
}

static void apply_log( clv_mpi_space* space )
{
    const mpi_id_change* log = space->lookup.changes.items;
    uint64_t count = space->lookup.changes.count;
    for ( uint64_t i = 0; i < count; ++i )
    {
        clv_mpi_ids_fetch(
            &space->lookup.table, log[i + PREFETCH_DISTANCE < count ? i + PREFETCH_DISTANCE : i].id );
        if ( log[i].is_added )
        {
            clv_mpi_ids_put( &space->lookup.table, log[i].id, log[i].slot );
        }
        else
        {
            clv_mpi_ids_drop_of( &space->lookup.table, log[i].id, log[i].slot );
        }
    }
    space->lookup.changes.count = 0;
}

static void list_all( clv_mpi_space* space )
{
    const uint64_t* ids = space->columns.ids.items;
    mpi_ids* table = &space->lookup.table;
    memset( table->values.items, 0xFF, ( place_mask( table ) + 1 ) * sizeof( uint32_t ) );
    table->count = 0;
    for ( uint32_t slot = 0; slot < space->slots.end; ++slot )
    {
        uint32_t ahead = slot + PREFETCH_DISTANCE < space->slots.end ? slot + PREFETCH_DISTANCE : slot;
        clv_mpi_ids_fetch( table, ids[ahead] );
        if ( ( space->columns.flags.items[slot] & SLOT_OWN ) != 0 )
        {
            clv_mpi_ids_put( table, ids[slot], slot );
        }
    }
    space->lookup.is_stale = false;
}

bool clv_mpi_lookup_update( clv_mpi_space* space )
{
    if ( !space->lookup.is_stale && space->lookup.changes.count == 0 )
    {
        return true;
    }
    uint64_t most = space->lookup.table.count + space->lookup.changes.count;
    most = most > space->slots.own.count ? most : space->slots.own.count;
    if ( !clv_mpi_ids_reserve( &space->lookup.table, &space->memory, most ) )
    {
        return false;
    }
    if ( space->lookup.is_stale )
    {
        list_all( space );
    }
    else
    {
        apply_log( space );
    }
    CLV_ASSERT( !space->lookup.is_stale && space->lookup.changes.count == 0 );
    CLV_VALIDATE( clv_mpi_lookup_check( space ) == NULL );
    return true;
}

// ---- the directory: asked when objects are added and removed, never in an update

static int32_t keeper_of( const void* user, const void* id )
{
    uint64_t key;
    memcpy( &key, id, sizeof( key ) );
    return (int32_t)( clv_mpi_ids_mix( key ) % (uint64_t)( (const clv_mpi_space*)user )->process_count );
}

// Ids to the processes that keep them, into the inbox.
static clv_result send_to_keepers( clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    bool fits = count <= INT32_MAX && base_array_renew( &space->exchange.scratch, &space->memory, count );
    if ( fits )
    {
        clv_mpi_sort_by_rank(
            space, ids, count, sizeof( uint64_t ), keeper_of, space, space->exchange.scratch.items );
    }
    clv_result mine = clv_mpi_reserved( space, fits, "looking ids up" );
    return clv_mpi_deliver( space, mine, space->exchange.scratch.items, &space->exchange.inbox, 1, "ids" );
}

static int32_t sender_of( const clv_mpi_space* space, uint64_t at )
{
    int32_t rank = 0;
    CLV_ASSERT( at < space->exchange.inbox.count );
    while ( rank + 1 < space->process_count && (uint64_t)space->exchange.receive_starts[rank + 1] <= at )
    {
        rank += 1;
    }
    return rank;
}

// Until one is there already, which is an error. Returns how many were added.
static uint64_t add_to_directory( clv_mpi_space* space, clv_result* mine )
{
    const base_u64_array* inbox = &space->exchange.inbox;
    mpi_ids* directory = &space->lookup.directory;
    *mine = clv_mpi_reserved( space,
        clv_mpi_ids_reserve( directory, &space->memory, directory->count + inbox->count ), "the ids added" );
    uint64_t added = 0;
    while ( *mine == CLV_OK && added < inbox->count )
    {
        uint64_t id = inbox->items[added];
        if ( clv_mpi_ids_find( directory, id ) == SLOT_NONE )
        {
            clv_mpi_ids_put( directory, id, 0 );
            added += 1;
            continue;
        }
        int32_t sender = sender_of( space, added );
        *mine = clv_mpi_fail_at( space, CLV_DUPLICATE_ID, UINT32_MAX, id,
            "process %d adds object %llu, which some process has already", sender, (unsigned long long)id );
        space->error.rank = sender;
    }
    return added;
}

// The keeper knew which process sent the id, and that process alone knows which of its entries it was.
static clv_result share_position( clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    uint32_t* position = &space->net.wire.first_error.position;
    *position = 0;
    while ( space->rank == space->error.rank && *position < count && ids[*position] != space->error.id )
    {
        *position += 1;
    }
    if ( !clv_mpi_broadcast( space, position, sizeof( *position ), space->error.rank ) )
    {
        return CLV_LOST;
    }
    space->error.position = *position;
    return space->error.code;
}

clv_result clv_mpi_directory_add( clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    if ( space->def.trust_ids )
    {
        return CLV_OK;
    }
    clv_result result = send_to_keepers( space, ids, count );
    if ( result != CLV_OK )
    {
        return result;
    }
    clv_result mine;
    uint64_t added = add_to_directory( space, &mine );
    result = clv_mpi_agree( space, mine );
    for ( uint64_t i = 0; result != CLV_OK && i < added; ++i )
    {
        clv_mpi_ids_drop( &space->lookup.directory, space->exchange.inbox.items[i] );
    }
    CLV_ASSERT( result != CLV_OK || space->lookup.directory.count >= space->exchange.inbox.count );
    CLV_VALIDATE( space->is_lost || clv_mpi_directory_check( space ) == NULL );
    return result == CLV_DUPLICATE_ID ? share_position( space, ids, count ) : result;
}

// Of ids that were just added it needs no memory: the buffers that carried them are still there.
clv_result clv_mpi_directory_remove( clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    clv_result result = space->def.trust_ids ? CLV_OK : send_to_keepers( space, ids, count );
    for ( uint64_t i = 0; result == CLV_OK && !space->def.trust_ids && i < space->exchange.inbox.count; ++i )
    {
        clv_mpi_ids_drop( &space->lookup.directory, space->exchange.inbox.items[i] );
    }
    return result;
}
