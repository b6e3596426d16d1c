// SPDX-License-Identifier: MIT
// Invariants of a world at rest, for tests.
#include "rest/rest_world.h"

#include <stdio.h>

static bool has_reference( const rest_world* world, uint32_t slot )
{
    return slot < world->slot_count && base_bits_has( world->known, slot );
}

static rest_class class_of( const rest_world* world, clv_pair pair )
{
    rest_zone a = rest_zone_of( &world->boxes.items[pair.a] );
    rest_zone b = rest_zone_of( &world->boxes.items[pair.b] );
    return rest_classify( &a, &b );
}

static bool report_broken( char* text, size_t size, const char* sentence, uint32_t a, uint32_t b )
{
    snprintf( text, size, "%s (slots %u and %u)", sentence, a, b );
    return false;
}

static bool check_class( const rest_world* world, clv_pair pair, rest_class class, char* text, size_t size )
{
    if ( !has_reference( world, pair.a ) || !has_reference( world, pair.b ) || pair.a >= pair.b )
    {
        return report_broken( text, size, "a pair of objects that are not there", pair.a, pair.b );
    }
    return class_of( world, pair ) == class ||
        report_broken( text, size, "a pair has the wrong class", pair.a, pair.b );
}

static bool check_pairs( const rest_world* world, char* text, size_t size )
{
    const rest_pairs* pairs = &world->pairs;
    bool ok = true;
    for ( uint32_t i = 0; i < pairs->marginal.count && ok; ++i )
    {
        ok = check_class( world, pairs->marginal.pairs.items[i], REST_MARGINAL, text, size );
    }
    for ( uint64_t i = 0; i < pairs->sure_count && ok; ++i )
    {
        ok = check_class( world, pairs->list.items[i], REST_SURE, text, size );
    }
    const char* broken = ok ? clv_rest_pairs_check( pairs, world->slot_count ) : NULL;
    return ok && ( broken == NULL || report_broken( text, size, broken, 0, 0 ) );
}

// A question about its own box must find every object exactly once, and may find others.
static bool check_grid( rest_world* world, char* text, size_t size )
{
    for ( uint32_t slot = 0; slot < world->slot_count && world->grid_is_made; ++slot )
    {
        if ( !has_reference( world, slot ) )
        {
            continue;
        }
        rest_zone zone = rest_zone_of( &world->boxes.items[slot] );
        uint32_t times = 0;
        if ( !clv_rest_grid_ask( &world->grid, &zone.fat ) )
        {
            return report_broken( text, size, "out of memory to ask the grid", slot, slot );
        }
        for ( uint64_t i = 0; i < world->grid.found.count; ++i )
        {
            uint32_t found = world->grid.found.items[i];
            times += found == slot;
            if ( !has_reference( world, found ) )
            {
                return report_broken( text, size, "the grid holds an object that went", slot, found );
            }
        }
        if ( times != 1 )
        {
            return report_broken( text, size, "an object is not once in the grid", slot, times );
        }
    }
    return true;
}

bool clv_rest_world_check( rest_world* world, char* text, size_t text_size )
{
    return !world->is_on || ( check_pairs( world, text, text_size ) && check_grid( world, text, text_size ) );
}
