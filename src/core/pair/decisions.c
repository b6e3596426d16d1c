// SPDX-License-Identifier: MIT
#include "pair/decisions.h"

#include "base/assertion.h"

#include <string.h>

#define EMPTY UINT64_MAX // would be a pair of two equal slots
#define ANSWER ( (uint64_t)1 << 63 )

enum
{
    LEAST_CAPACITY = 64
};

static uint64_t key_of( clv_pair pair )
{
    return ( (uint64_t)pair.a << 32 ) | pair.b;
}

// Fibonacci hashing with the high half folded in: the lower bits of the product know one of the slots only, and all pairs of
// a hub would begin in the same few places.
static uint64_t home_of( const pair_decisions* decisions, uint64_t key )
{
    key *= 0x9E3779B97F4A7C15u;
    return ( key ^ ( key >> 32 ) ) & ( decisions->capacity - 1 );
}

// Position of the key, or of the hole where it belongs.
static uint64_t find( const pair_decisions* decisions, uint64_t key )
{
    uint64_t mask = decisions->capacity - 1;
    uint64_t at = home_of( decisions, key );
    while ( decisions->entries[at] != EMPTY && ( decisions->entries[at] & ~ANSWER ) != key )
    {
        at = ( at + 1 ) & mask;
    }
    return at;
}

void clv_pair_decisions_free( pair_decisions* decisions, base_memory* memory )
{
    clv_base_memory_give( memory, decisions->entries, decisions->capacity, sizeof( uint64_t ) );
    *decisions = ( pair_decisions ){ 0 };
}

void clv_pair_decisions_clear( pair_decisions* decisions )
{
    if ( decisions->capacity > 0 )
    {
        memset( decisions->entries, 0xFF, (size_t)decisions->capacity * sizeof( uint64_t ) );
    }
    decisions->count = 0;
}

static bool grow( pair_decisions* decisions, base_memory* memory )
{
    pair_decisions larger = { 0 };
    larger.capacity = decisions->capacity > 0 ? decisions->capacity * 2 : LEAST_CAPACITY;
    larger.entries = clv_base_memory_take( memory, larger.capacity, sizeof( uint64_t ) );
    if ( larger.entries == NULL )
    {
        return false;
    }
    clv_pair_decisions_clear( &larger );
    for ( uint64_t i = 0; i < decisions->capacity; ++i )
    {
        uint64_t entry = decisions->entries[i];
        if ( entry != EMPTY )
        {
            larger.entries[find( &larger, entry & ~ANSWER )] = entry;
        }
    }
    larger.count = decisions->count;
    clv_pair_decisions_free( decisions, memory );
    *decisions = larger;
    return true;
}

bool clv_pair_decisions_put( pair_decisions* decisions, base_memory* memory, clv_pair pair, bool answer )
{
    if ( decisions->count >= decisions->capacity / 2 && !grow( decisions, memory ) )
    {
        return false;
    }
    uint64_t at = find( decisions, key_of( pair ) );
    CLV_ASSERT( decisions->entries[at] == EMPTY );
    decisions->entries[at] = key_of( pair ) | ( answer ? ANSWER : 0 );
    decisions->count += 1;
    return true;
}

bool clv_pair_decisions_get( const pair_decisions* decisions, clv_pair pair, bool* answer )
{
    if ( decisions->count == 0 )
    {
        return false;
    }
    uint64_t entry = decisions->entries[find( decisions, key_of( pair ) )];
    *answer = ( entry & ANSWER ) != 0;
    return entry != EMPTY;
}
