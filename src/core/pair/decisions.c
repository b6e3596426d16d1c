// SPDX-License-Identifier: MIT
#include "pair/decisions.h"

#include "base/assertion.h"
#include "base/pair_key.h"

#include <string.h>

#define NO_DECISION UINT64_MAX // would be a pair of two equal slots
#define ANSWER ( (uint64_t)1 << 63 )

// Position of the key, or of the hole where it belongs.
static uint64_t find_decision( const pair_decisions* decisions, uint64_t key )
{
    uint64_t mask = decisions->capacity - 1;
    uint64_t at = base_pair_home( key, decisions->capacity );
    while ( decisions->entries[at] != NO_DECISION && ( decisions->entries[at] & ~ANSWER ) != key )
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

static bool grow_decisions( pair_decisions* decisions, base_memory* memory )
{
    pair_decisions larger = { 0 };
    larger.capacity = decisions->capacity > 0 ? decisions->capacity * 2 : BASE_LEAST_PLACES;
    larger.entries = clv_base_memory_take( memory, larger.capacity, sizeof( uint64_t ) );
    if ( larger.entries == NULL )
    {
        return false;
    }
    clv_pair_decisions_clear( &larger );
    for ( uint64_t i = 0; i < decisions->capacity; ++i )
    {
        uint64_t entry = decisions->entries[i];
        if ( entry != NO_DECISION )
        {
            larger.entries[find_decision( &larger, entry & ~ANSWER )] = entry;
        }
    }
    larger.count = decisions->count;
    clv_pair_decisions_free( decisions, memory );
    *decisions = larger;
    return true;
}

bool clv_pair_decisions_put( pair_decisions* decisions, base_memory* memory, clv_pair pair, bool answer )
{
    if ( decisions->count >= decisions->capacity / 2 && !grow_decisions( decisions, memory ) )
    {
        return false;
    }
    uint64_t at = find_decision( decisions, base_pair_key( pair ) );
    CLV_ASSERT( decisions->entries[at] == NO_DECISION );
    decisions->entries[at] = base_pair_key( pair ) | ( answer ? ANSWER : 0 );
    decisions->count += 1;
    return true;
}

bool clv_pair_decisions_get( const pair_decisions* decisions, clv_pair pair, bool* answer )
{
    if ( decisions->count == 0 )
    {
        return false;
    }
    uint64_t entry = decisions->entries[find_decision( decisions, base_pair_key( pair ) )];
    *answer = ( entry & ANSWER ) != 0;
    return entry != NO_DECISION;
}
