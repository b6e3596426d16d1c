// SPDX-License-Identifier: MIT
#include "match/match_ranks.h"

#include "base/assertion.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Doubles as integers that sort like them. -0 is 0: the two are equal.
static uint64_t order_of_double( double value )
{
    uint64_t bits;
    value = value == 0 ? 0 : value;
    memcpy( &bits, &value, sizeof( bits ) );
    return bits ^ ( ( bits >> 63 ) != 0 ? UINT64_MAX : (uint64_t)1 << 63 );
}

// The same of floats, in the upper half.
static uint64_t order_of_float( float value )
{
    uint32_t bits;
    value = value == 0 ? 0 : value;
    memcpy( &bits, &value, sizeof( bits ) );
    return (uint64_t)( bits ^ ( ( bits >> 31 ) != 0 ? UINT32_MAX : (uint32_t)1 << 31 ) ) << 32;
}

static bool is_float( double value )
{
    return !( fabs( value ) > (double)FLT_MAX ) ? (double)(float)value == value : fabs( value ) > DBL_MAX;
}

// The ends of all regions on an axis: lower ones in the order of the regions, then upper ones.
typedef struct rank_ends
{
    base_keyed *items, *scratch;
    uint64_t* keys; ///< by end
    uint32_t count; ///< of ends
} rank_ends;

// Where all coordinates are floats their lower halves are 0, and half of the sort is left out.
static bool make_keys(
    const match_world* world, const clv_regions sets[2], uint32_t axis, const rank_ends* ends )
{
    bool are_floats = true;
    for ( uint32_t i = 0; i < ends->count && are_floats; ++i )
    {
        bool is_upper = i >= world->count;
        are_floats = is_float( match_coordinate( sets, i - is_upper * world->count, axis, is_upper ) );
    }
    for ( uint32_t i = 0; i < ends->count; ++i )
    {
        bool is_upper = i >= world->count;
        double value = match_coordinate( sets, i - is_upper * world->count, axis, is_upper );
        ends->keys[i] = are_floats ? order_of_float( (float)value ) : order_of_double( value );
    }
    return are_floats;
}

// Ends by key, a radix sort in two stable halves; of equal keys lower ends come first, and those of regions
// that come first.
static const base_keyed* sort_ends( const rank_ends* ends, bool are_floats )
{
    for ( uint32_t i = 0; i < ends->count; ++i )
    {
        ends->items[i] = ( base_keyed ){ (uint32_t)( ends->keys[i] >> ( are_floats ? 32 : 0 ) ), i };
    }
    base_keyed* half = clv_base_sort_keyed( ends->items, ends->scratch, ends->count );
    if ( are_floats )
    {
        return half;
    }
    for ( uint32_t i = 0; i < ends->count; ++i )
    {
        half[i].key = (uint32_t)( ends->keys[half[i].value] >> 32 );
    }
    return clv_base_sort_keyed( half, half == ends->items ? ends->scratch : ends->items, ends->count );
}

static void rank_regions_on(
    match_world* world, const clv_regions sets[2], uint32_t axis, const rank_ends* ends )
{
    const base_keyed* sorted = sort_ends( ends, make_keys( world, sets, axis, ends ) );
    uint32_t rank = 0;
    for ( uint32_t i = 0; i < ends->count; ++i )
    {
        bool is_upper = sorted[i].value >= world->count;
        uint32_t region = sorted[i].value - is_upper * world->count;
        CLV_ASSERT( region < world->count && rank <= world->count );
        if ( axis == 0 && !is_upper )
        {
            world->order.items[rank] = region;
            world->places.items[region] = rank;
        }
        match_reach* reach =
            &world->reaches.items[(size_t)world->places.items[region] * world->axis_count + axis];
        if ( is_upper )
        {
            reach->end = rank;
            CLV_ASSERT( reach->begin < reach->end );
            continue;
        }
        reach->begin = rank;
        rank += 1;
    }
    CLV_ASSERT( rank == world->count );
}

bool clv_match_rank( match_world* world, const clv_regions sets[2], uint32_t axis_count, base_memory* memory )
{
    uint32_t count = sets[0].count + sets[1].count;
    world->axis_count = axis_count;
    world->count = count;
    if ( !base_array_reserve( &world->reaches, memory, (uint64_t)count * axis_count ) ||
        !base_array_reserve( &world->order, memory, count ) ||
        !base_array_reserve( &world->places, memory, count ) ||
        !base_array_reserve( &world->sorts, memory, 4 * (uint64_t)count ) ||
        !base_array_reserve( &world->keys, memory, 2 * (uint64_t)count ) )
    {
        return false;
    }
    rank_ends ends = { world->sorts.items, world->sorts.items + 2 * (size_t)count, world->keys.items,
        2 * count };
    for ( uint32_t axis = 0; axis < axis_count; ++axis )
    {
        rank_regions_on( world, sets, axis, &ends );
    }
    return true;
}

void clv_match_free( match_world* world, base_memory* memory )
{
    base_array_free( &world->reaches, memory );
    base_array_free( &world->order, memory );
    base_array_free( &world->places, memory );
    base_array_free( &world->sorts, memory );
    base_array_free( &world->keys, memory );
}
