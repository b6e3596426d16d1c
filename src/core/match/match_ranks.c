// SPDX-License-Identifier: MIT
#include "match/match_ranks.h"

#include "base/assertion.h"

#include <string.h>

// Doubles as integers that sort like them. -0 is 0: the two are equal.
static uint64_t order_of_double( double value )
{
    uint64_t bits;
    value = value == 0 ? 0 : value;
    memcpy( &bits, &value, sizeof( bits ) );
    return bits ^ ( ( bits >> 63 ) != 0 ? UINT64_MAX : (uint64_t)1 << 63 );
}

// A radix sort of 64 bits in two stable halves, each carrying its region.
typedef struct rank_sort
{
    base_keyed *items, *scratch;
    uint64_t* keys; ///< by region
    uint32_t count;
} rank_sort;

// Regions by key, those of equal keys by number.
static base_keyed* sort_regions( const rank_sort* sort )
{
    for ( uint32_t i = 0; i < sort->count; ++i )
    {
        sort->items[i] = ( base_keyed ){ (uint32_t)sort->keys[i], i };
    }
    base_keyed* half = clv_base_sort_keyed( sort->items, sort->scratch, sort->count );
    for ( uint32_t i = 0; i < sort->count; ++i )
    {
        half[i].key = (uint32_t)( sort->keys[half[i].value] >> 32 );
    }
    return clv_base_sort_keyed( half, half == sort->items ? sort->scratch : sort->items, sort->count );
}

// How many of the sorted lower ends are at or below the key.
static uint32_t count_up_to( const uint64_t* sorted, uint32_t count, uint64_t key )
{
    uint32_t first = 0;
    while ( count > 0 )
    {
        uint32_t half = count / 2;
        bool goes_on = sorted[first + half] <= key;
        first = goes_on ? first + half + 1 : first;
        count = goes_on ? count - half - 1 : half;
    }
    return first;
}

static void rank_regions_on(
    match_world* world, const clv_regions sets[2], uint32_t axis, rank_sort* sort, uint64_t* sorted )
{
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        sort->keys[i] = order_of_double( match_coordinate( sets, i, axis, false ) );
    }
    const base_keyed* by_rank = sort_regions( sort );
    for ( uint32_t rank = 0; rank < world->count; ++rank )
    {
        uint32_t region = by_rank[rank].value;
        sorted[rank] = sort->keys[region];
        world->reaches.items[(size_t)region * world->axis_count + axis].begin = rank;
        if ( axis == 0 )
        {
            world->order.items[rank] = region;
        }
    }
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        match_reach* reach = &world->reaches.items[(size_t)i * world->axis_count + axis];
        reach->end =
            count_up_to( sorted, world->count, order_of_double( match_coordinate( sets, i, axis, true ) ) );
        CLV_ASSERT( reach->begin < reach->end );
    }
}

bool clv_match_rank( match_world* world, const clv_regions sets[2], uint32_t axis_count, base_memory* memory )
{
    uint32_t count = sets[0].count + sets[1].count;
    world->axis_count = axis_count;
    world->count = count;
    if ( !base_array_reserve( &world->reaches, memory, (uint64_t)count * axis_count ) ||
        !base_array_reserve( &world->order, memory, count ) ||
        !base_array_reserve( &world->sorts, memory, 2 * (uint64_t)count ) ||
        !base_array_reserve( &world->keys, memory, 2 * (uint64_t)count ) )
    {
        return false;
    }
    rank_sort sort = { world->sorts.items, world->sorts.items + count, world->keys.items, count };
    for ( uint32_t axis = 0; axis < axis_count; ++axis )
    {
        rank_regions_on( world, sets, axis, &sort, world->keys.items + count );
    }
    return true;
}

void clv_match_free( match_world* world, base_memory* memory )
{
    base_array_free( &world->reaches, memory );
    base_array_free( &world->order, memory );
    base_array_free( &world->sorts, memory );
    base_array_free( &world->keys, memory );
}
