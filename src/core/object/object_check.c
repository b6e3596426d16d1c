// SPDX-License-Identifier: MIT
// Holds a store to what store.h says of it, with none of the code that keeps it. The first sentence that is
// not true is returned. For tests and debug builds.
#include "object/store.h"

#include "base/bit_set.h"

#include <string.h>

// Alive, free and retired slots.
typedef struct slot_counts
{
    uint32_t live, free;
} slot_counts;

static const char* check_columns( const object_store* store )
{
    for ( int column = 0; column < OBJECT_COLUMN_COUNT; ++column )
    {
        bool is_there = store->columns[column] != NULL;
        if ( ( is_there || column <= OBJECT_GENERATION ) && store->capacities[column] < store->slot_count )
        {
            return "a column has no room for all slots";
        }
        if ( !is_there && store->capacities[column] != 0 )
        {
            return "a column that is not there has a capacity";
        }
    }
    if ( store->columns[OBJECT_MARGIN_BY] != NULL && store->columns[OBJECT_MARGIN] == NULL )
    {
        return "margins by size or speed without the fixed ones";
    }
    return store->moved_is_known && store->moved.capacity < base_bits_words( store->slot_count )
        ? "moved slots are known, but not of all"
        : NULL;
}

static slot_counts count_slots( const object_store* store )
{
    const uint32_t* generations = object_generations( store );
    slot_counts counts = { 0, 0 };
    for ( uint32_t slot = 0; slot < store->slot_count; ++slot )
    {
        counts.live += generations[slot] & 1;
        counts.free += generations[slot] != 0 && ( generations[slot] & 1 ) == 0;
    }
    return counts;
}

// From the top of the stack down, as many as there are said to be: one that comes twice makes it too long.
static const char* check_free_slots( const object_store* store )
{
    const uint32_t* generations = object_generations( store );
    uint32_t slot = store->first_free;
    for ( uint32_t i = 0; i < store->free_count; ++i )
    {
        if ( slot >= store->slot_count || generations[slot] == 0 || ( generations[slot] & 1 ) != 0 )
        {
            return "the stack of free slots has one that is not free";
        }
        uint32_t next;
        memcpy( &next, &object_boxes( store )[slot], sizeof( next ) );
        bool is_last = i + 1 == store->free_count;
        if ( store->free_is_row && ( is_last ? slot + 1 != store->slot_count : next != slot + 1 ) )
        {
            return "free slots that are said to be a row are not";
        }
        slot = next;
    }
    return slot == UINT32_MAX ? NULL : "the stack of free slots does not end with the last";
}

static const char* check_live( const object_store* store )
{
    if ( !store->live_is_current || store->live_count == store->slot_count )
    {
        return NULL;
    }
    const uint32_t* generations = object_generations( store );
    uint32_t next = 0;
    for ( uint32_t i = 0; i < store->live.count; ++i )
    {
        uint32_t slot = store->live.items[i];
        if ( slot < next || slot >= store->slot_count || ( generations[slot] & 1 ) == 0 )
        {
            return "the list of live slots has one that is not alive, or not in order";
        }
        next = slot + 1;
    }
    return store->live.count == store->live_count ? NULL : "the list of live slots is longer or shorter";
}

static bool is_grown( clv_aabb given, float margin, clv_aabb box )
{
    clv_aabb grown = clv_aabb_grow( given, margin );
    return grown.lower.x == box.lower.x && grown.lower.y == box.lower.y && grown.lower.z == box.lower.z &&
        grown.upper.x == box.upper.x && grown.upper.y == box.upper.y && grown.upper.z == box.upper.z;
}

static const char* check_slots( const object_store* store )
{
    const uint32_t *generations = object_generations( store ), *stamps = store->columns[OBJECT_STAMP];
    const clv_aabb* given = store->columns[OBJECT_GIVEN_BOX];
    const uint8_t* renewed = store->columns[OBJECT_RENEWED];
    bool is_plain = object_store_grows_plainly( store ) && given != NULL && !store->is_flat;
    for ( uint32_t slot = 0; slot < store->slot_count; ++slot )
    {
        if ( stamps != NULL && stamps[slot] > store->stamp )
        {
            return "a slot has the stamp of a batch that is still to come";
        }
        if ( renewed != NULL && renewed[slot] > ( store->is_renewed ? 1 : 0 ) )
        {
            return "a slot is renewed, and the store does not know of it";
        }
        if ( is_plain && ( generations[slot] & 1 ) != 0 &&
            !is_grown( given[slot], ( (const float*)store->columns[OBJECT_MARGIN] )[slot],
                object_boxes( store )[slot] ) )
        {
            return "a test box is not the box as given and its margin";
        }
    }
    return NULL;
}

const char* clv_object_store_check( const object_store* store )
{
    const char* broken = check_columns( store );
    if ( broken != NULL )
    {
        return broken;
    }
    slot_counts counts = count_slots( store );
    if ( counts.live != store->live_count )
    {
        return "more or fewer slots are alive";
    }
    if ( counts.free != store->free_count )
    {
        return "more or fewer slots are free";
    }
    broken = check_free_slots( store );
    broken = broken == NULL ? check_live( store ) : broken;
    return broken == NULL ? check_slots( store ) : broken;
}
