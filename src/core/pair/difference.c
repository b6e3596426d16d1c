// SPDX-License-Identifier: MIT
#include "pair/difference.h"

#include "base/assertion.h"
#include "base/pair_key.h"

static bool append( pair_id_list* list, base_memory* memory, clv_pair pair, const uint32_t* generations )
{
    if ( !base_array_reserve( list, memory, list->count + 1 ) )
    {
        return false;
    }
    list->items[list->count++] =
        ( clv_id_pair ){ { pair.a, generations[pair.a] }, { pair.b, generations[pair.b] } };
    return true;
}

static uint64_t key_at( const pair_list* list, uint64_t index )
{
    return index < list->count ? base_pair_key( list->items[index] ) : UINT64_MAX;
}

static bool same_objects( pair_snapshot before, pair_snapshot after, clv_pair pair )
{
    return before.generations[pair.a] == after.generations[pair.a] &&
        before.generations[pair.b] == after.generations[pair.b];
}

bool clv_pair_difference(
    pair_snapshot before, pair_snapshot after, pair_id_list* begun, pair_id_list* ended, base_memory* memory )
{
    begun->count = 0;
    ended->count = 0;
    uint64_t i = 0, j = 0;
    while ( i < before.pairs->count || j < after.pairs->count )
    {
        uint64_t old_key = key_at( before.pairs, i );
        uint64_t new_key = key_at( after.pairs, j );
        CLV_ASSERT( i == 0 || key_at( before.pairs, i - 1 ) < old_key ); // both lists ascend
        CLV_ASSERT( j == 0 || key_at( after.pairs, j - 1 ) < new_key );
        bool in_old = old_key <= new_key;
        bool in_new = new_key <= old_key;
        bool same = in_old && in_new && same_objects( before, after, after.pairs->items[j] );
        if ( in_old && !same && !append( ended, memory, before.pairs->items[i], before.generations ) )
        {
            return false;
        }
        if ( in_new && !same && !append( begun, memory, after.pairs->items[j], after.generations ) )
        {
            return false;
        }
        i += in_old;
        j += in_new;
    }
    return true;
}
