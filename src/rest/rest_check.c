// SPDX-License-Identifier: MIT
// Invariants of a world at rest, for tests.
#include "rest/rest_world.h"

#include <stdio.h>

static bool is_known( const rest_world* world, uint32_t slot )
{
    return slot < world->slot_count && ( world->known[slot >> 6] >> ( slot & 63 ) & 1 ) != 0;
}

static rest_class class_of( const rest_world* world, clv_pair pair )
{
    rest_zone a = rest_zone_of( &world->boxes[pair.a] );
    rest_zone b = rest_zone_of( &world->boxes[pair.b] );
    return rest_classify( &a, &b );
}

static bool complain( char* text, size_t size, const char* what, uint32_t a, uint32_t b )
{
    snprintf( text, size, "%s (slots %u and %u)", what, a, b );
    return false;
}

static bool check_pairs( const rest_world* world, char* text, size_t size )
{
    const rest_pairs* pairs = &world->pairs;
    uint64_t touching = 0, sure = 0;
    for ( uint32_t i = 0; i < pairs->marginal_count; ++i )
    {
        clv_pair pair = pairs->marginal[i];
        touching += rest_pairs_is_touching( pairs, i );
        if ( !is_known( world, pair.a ) || !is_known( world, pair.b ) || pair.a >= pair.b ||
            class_of( world, pair ) != REST_MARGINAL )
        {
            return complain( text, size, "a marginal pair is none", pair.a, pair.b );
        }
    }
    for ( uint64_t i = 0; i < pairs->list.count; ++i )
    {
        clv_pair pair = pairs->list.pairs[i];
        if ( !is_known( world, pair.a ) || !is_known( world, pair.b ) || pair.a >= pair.b ||
            class_of( world, pair ) == REST_APART )
        {
            return complain( text, size, "a pair of the list cannot touch", pair.a, pair.b );
        }
        sure += class_of( world, pair ) == REST_SURE;
    }
    if ( sure + touching != pairs->list.count )
    {
        return complain( text, size, "the list has marginal pairs that do not touch", 0, 0 );
    }
    const char* broken = rest_pairs_check( pairs );
    return broken == NULL || complain( text, size, broken, 0, 0 );
}

static bool check_degrees( const rest_world* world, char* text, size_t size )
{
    uint64_t sum = 0;
    for ( uint32_t slot = 0; slot < world->slot_count; ++slot )
    {
        uint32_t degree = world->pairs.degrees[slot];
        sum += degree;
        if ( degree > 0 && !is_known( world, slot ) )
        {
            return complain( text, size, "an object that went has marginal pairs", slot, slot );
        }
    }
    return sum == 2 * (uint64_t)world->pairs.marginal_count ||
        complain( text, size, "degrees do not add up to the marginal pairs", 0, 0 );
}

// Everybody must be found where he is; whoever asks finds a superset.
static bool check_grid( rest_world* world, char* text, size_t size )
{
    for ( uint32_t slot = 0; slot < world->slot_count && world->grid_is_made; ++slot )
    {
        if ( !is_known( world, slot ) )
        {
            continue;
        }
        rest_zone zone = rest_zone_of( &world->boxes[slot] );
        uint32_t times = 0;
        if ( !rest_grid_ask( &world->grid, &zone.fat ) )
        {
            return complain( text, size, "out of memory to ask the grid", slot, slot );
        }
        for ( uint32_t i = 0; i < world->grid.found_count; ++i )
        {
            uint32_t found = world->grid.found[i];
            times += found == slot;
            if ( !is_known( world, found ) )
            {
                return complain( text, size, "the grid holds an object that went", slot, found );
            }
        }
        if ( times != 1 )
        {
            return complain( text, size, "an object is not once in the grid", slot, times );
        }
    }
    return true;
}

bool rest_world_check( rest_world* world, char* text, size_t text_size )
{
    return !world->is_on ||
        ( check_pairs( world, text, text_size ) && check_degrees( world, text, text_size ) &&
            check_grid( world, text, text_size ) );
}
