// SPDX-License-Identifier: MIT
// Invariants of a world at rest, for tests and debug builds.
#include "base/bits.h"
#include "rest/rest_world.h"

#include <stdio.h>

enum
{
    ASKED_SLOTS = 64,      // questions of one check
    CHECKED_WHOLE = 32768, // objects and pairs up to which a world is checked after every update
    CHECKED_UPDATES = 16,  // larger ones after one update in so many
};

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

// A question about its own box must find an object once, and may find others. Some objects are enough: the
// grid was checked as a whole.
static bool check_questions( rest_world* world, char* text, size_t size )
{
    uint32_t wanted = world->slot_count < ASKED_SLOTS ? world->slot_count : ASKED_SLOTS;
    for ( uint32_t i = 0; i < wanted; ++i )
    {
        uint32_t slot = base_sample( i, wanted, world->slot_count ), times = 0;
        if ( !has_reference( world, slot ) )
        {
            continue;
        }
        rest_zone zone = rest_zone_of( &world->boxes.items[slot] );
        if ( !clv_rest_grid_ask( &world->grid, &zone.fat ) )
        {
            return report_broken( text, size, "out of memory to ask the grid", slot, slot );
        }
        for ( uint64_t k = 0; k < world->grid.found.count; ++k )
        {
            times += world->grid.found.items[k] == slot;
        }
        if ( times != 1 )
        {
            return report_broken( text, size, "a question does not find an object once", slot, times );
        }
    }
    return true;
}

static bool check_grid( const rest_world* world, char* text, size_t size )
{
    const char* broken = !world->grid_is_made
        ? NULL
        : clv_rest_grid_check( &world->grid, world->boxes.items, world->known, world->slot_count );
    return broken == NULL || report_broken( text, size, broken, 0, 0 );
}

BASE_COLD bool clv_rest_world_check( rest_world* world, char* text, size_t text_size )
{
    return !world->is_on ||
        ( check_pairs( world, text, text_size ) && check_grid( world, text, text_size ) &&
            ( !world->grid_is_made || check_questions( world, text, text_size ) ) );
}

// ---- against the boxes of the update

static bool is_resting( const rest_zone* zone, const clv_aabb* box )
{
    bool rests = true;
    for ( int axis = 0; axis < 3; ++axis )
    {
        float lower = ( &box->lower.x )[axis], upper = ( &box->upper.x )[axis];
        rests = rests && ( &zone->fat.lower.x )[axis] <= lower && lower <= ( &zone->core.lower.x )[axis] &&
            ( &zone->core.upper.x )[axis] <= upper && upper <= ( &zone->fat.upper.x )[axis];
    }
    return rests;
}

static bool check_members( const rest_world* world, const clv_method_input* input, char* text, size_t size )
{
    uint64_t known_count = 0;
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        uint32_t slot = clv_method_live_slot( input, i );
        if ( !has_reference( world, slot ) )
        {
            return report_broken( text, size, "a live object is not followed", slot, slot );
        }
        rest_zone zone = rest_zone_of( &world->boxes.items[slot] );
        if ( !is_resting( &zone, &input->boxes[slot] ) )
        {
            return report_broken( text, size, "an object left its margin and was not refitted", slot, slot );
        }
    }
    for ( uint32_t slot = 0; slot < world->slot_count; ++slot )
    {
        known_count += has_reference( world, slot );
    }
    return known_count == input->live_count ||
        report_broken( text, size, "an object that went is followed", 0, 0 );
}

bool clv_rest_world_check_boxes(
    const rest_world* world, const clv_method_input* input, char* text, size_t text_size )
{
    const rest_marginal* marginal = &world->pairs.marginal;
    bool ok = check_members( world, input, text, text_size );
    for ( uint32_t i = 0; i < marginal->count && ok; ++i )
    {
        clv_pair pair = marginal->pairs.items[i];
        bool touches = clv_aabb_overlap( input->boxes[pair.a], input->boxes[pair.b] );
        ok = touches == rest_marginal_is_touching( marginal, i ) ||
            report_broken( text, text_size, "a marginal pair was not tested", pair.a, pair.b );
    }
    return ok;
}

bool clv_rest_world_is_sound( const rest_world* world, const clv_method_input* input )
{
    uint64_t size = world->slot_count + world->pairs.list.count + world->pairs.marginal.count;
    if ( size > CHECKED_WHOLE && world->now % CHECKED_UPDATES != 0 )
    {
        return true;
    }
    char text[200];
    bool ok = check_pairs( world, text, sizeof( text ) ) && check_grid( world, text, sizeof( text ) ) &&
        clv_rest_world_check_boxes( world, input, text, sizeof( text ) );
    if ( !ok )
    {
        fprintf( stderr, "rest: %s\n", text );
    }
    return ok;
}
