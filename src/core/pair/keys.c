// SPDX-License-Identifier: MIT
#include "pair/keys.h"

#include <string.h>

void clv_pair_keys_free( pair_keys* keys, base_memory* memory )
{
    clv_base_memory_give( memory, keys->places, keys->capacity, sizeof( uint64_t ) );
    *keys = ( pair_keys ){ 0 };
}

void clv_pair_keys_clear( pair_keys* keys )
{
    if ( keys->capacity > 0 )
    {
        memset( keys->places, 0, (size_t)keys->capacity * sizeof( uint64_t ) );
    }
    keys->count = 0;
}

bool clv_pair_keys_make_room( pair_keys* keys, base_memory* memory )
{
    if ( keys->count < keys->capacity / 2 )
    {
        return true;
    }
    pair_keys larger = { .capacity = keys->capacity > 0 ? keys->capacity * 2 : BASE_LEAST_PLACES };
    larger.places = clv_base_memory_take( memory, larger.capacity, sizeof( uint64_t ) );
    if ( larger.places == NULL )
    {
        return false;
    }
    clv_pair_keys_clear( &larger );
    for ( uint64_t i = 0; i < keys->capacity; ++i )
    {
        uint64_t entry = keys->places[i];
        if ( entry != 0 )
        {
            larger.places[pair_keys_find( &larger, entry & ~PAIR_KEY_BIT )] = entry;
        }
    }
    larger.count = keys->count;
    clv_pair_keys_free( keys, memory );
    *keys = larger;
    return true;
}
