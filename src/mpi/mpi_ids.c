// SPDX-License-Identifier: MIT
#include "mpi_ids.h"
#include "base/assertion.h"

#include "base/bits.h"

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

static void put_new( mpi_ids* ids, uint64_t key, uint32_t value )
{
    CLV_ASSERT( value != SLOT_NONE ); // which is how an empty place is written
    uint64_t at = place_of( ids, key );
    while ( ids->values.items[at] != SLOT_NONE && ids->keys.items[at] != key )
    {
        at = ( at + 1 ) & place_mask( ids );
    }
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
            put_new( &fresh, ids->keys.items[i], ids->values.items[i] );
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
    if ( ids->count == 0 )
    {
        return SLOT_NONE;
    }
    uint64_t at = place_of( ids, key );
    while ( ids->values.items[at] != SLOT_NONE && ids->keys.items[at] != key )
    {
        at = ( at + 1 ) & place_mask( ids );
    }
    return ids->values.items[at];
}

void clv_mpi_ids_put( mpi_ids* ids, uint64_t key, uint32_t value )
{
    put_new( ids, key, value );
}

// What stands behind moves up, if it may stand here, so that a search never ends too early.
void clv_mpi_ids_drop( mpi_ids* ids, uint64_t key )
{
    if ( clv_mpi_ids_find( ids, key ) == SLOT_NONE )
    {
        return;
    }
    uint64_t mask = place_mask( ids ), hole = place_of( ids, key );
    while ( ids->keys.items[hole] != key || ids->values.items[hole] == SLOT_NONE )
    {
        hole = ( hole + 1 ) & mask;
    }
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

void clv_mpi_ids_clear( mpi_ids* ids )
{
    if ( ids->count > 0 )
    {
        memset( ids->values.items, 0xFF, ( place_mask( ids ) + 1 ) * sizeof( uint32_t ) );
    }
    ids->count = 0;
}

void clv_mpi_ids_free( mpi_ids* ids, base_memory* memory )
{
    base_array_free( &ids->keys, memory );
    base_array_free( &ids->values, memory );
    *ids = ( mpi_ids ){ 0 };
}
