// SPDX-License-Identifier: MIT
#include "mpi_state.h"

// ---- regions

enum
{
    SEEN_CUT = 1, // bits of a place in regions->stack, which is free here
    SEEN_RANK = 2
};

// A child is a later cut or a process, and has one parent.
static const char* check_child( const mpi_regions* regions, uint64_t parent, int32_t child )
{
    int32_t index = child < 0 ? ~child : child;
    if ( child < 0 ? index >= regions->process_count
                   : (uint64_t)child <= parent || (uint64_t)child >= regions->cuts.count )
    {
        return "a cut leads to a process that does not exist, or to a cut that is not below it";
    }
    int32_t seen = child < 0 ? SEEN_RANK : SEEN_CUT;
    if ( ( regions->stack[index] & seen ) != 0 )
    {
        return "a cut or a process has two parents, so another one has none";
    }
    regions->stack[index] |= seen;
    return NULL;
}

static const char* check_tree( const mpi_regions* regions )
{
    uint64_t processes = (uint64_t)regions->process_count;
    if ( regions->cuts.count + 1 != processes || regions->root != ( processes > 1 ? 0 : ~0 ) )
    {
        return "there are not as many cuts as processes less one, or the root is not the first";
    }
    memset( regions->stack, 0, processes * sizeof( int32_t ) );
    const char* message = NULL;
    for ( uint64_t i = 0; i < regions->cuts.count && message == NULL; ++i )
    {
        const mpi_cut* cut = &regions->cuts.items[i];
        if ( cut->axis < 0 || cut->axis > 2 || !( cut->at < INFINITY ) )
        {
            return "a cut has no axis, or lies at NaN or plus infinity";
        }
        message = check_child( regions, i, cut->left );
        message = message == NULL ? check_child( regions, i, cut->right ) : message;
    }
    return message;
}

// One side of a part, written otherwise than clv_mpi_regions_finish does it: the part's face or the cut,
// whichever is nearer.
static bool is_side_of(
    const clv_mpi_region* side, const clv_mpi_region* part, const mpi_cut* cut, bool is_left )
{
    bool is_side = true;
    for ( int32_t axis = 0; axis < 3; ++axis )
    {
        float lower = mpi_on_axis( part->lower, axis ), upper = mpi_on_axis( part->upper, axis );
        bool is_cut = axis == cut->axis;
        is_side = is_side &&
            mpi_on_axis( side->lower, axis ) == ( is_cut && !is_left ? fmaxf( lower, cut->at ) : lower ) &&
            mpi_on_axis( side->upper, axis ) == ( is_cut && is_left ? fminf( upper, cut->at ) : upper );
    }
    return is_side;
}

static const clv_mpi_region* region_below( const mpi_regions* regions, int32_t child )
{
    return child < 0 ? &regions->bounds[~child] : &regions->cut_bounds[child];
}

static const char* check_bounds( const mpi_regions* regions )
{
    const clv_mpi_region all = { { -INFINITY, -INFINITY, -INFINITY }, { INFINITY, INFINITY, INFINITY } };
    if ( memcmp( region_below( regions, regions->root ), &all, sizeof( all ) ) != 0 )
    {
        return "the root does not have all of space";
    }
    for ( uint64_t i = 0; i < regions->cuts.count; ++i )
    {
        const mpi_cut* cut = &regions->cuts.items[i];
        if ( !is_side_of( region_below( regions, cut->left ), &regions->cut_bounds[i], cut, true ) ||
            !is_side_of( region_below( regions, cut->right ), &regions->cut_bounds[i], cut, false ) )
        {
            return "a region is not one side of the cut above it";
        }
    }
    return NULL;
}

// How many regions hold a point by their bounds, and does the tree lead to the one that does?
static const char* check_point( const mpi_regions* regions, clv_vec3 point )
{
    int32_t holders = 0, holder = -1;
    for ( int32_t r = 0; r < regions->process_count; ++r )
    {
        if ( mpi_region_holds( &regions->bounds[r], point ) )
        {
            holders += 1;
            holder = r;
        }
    }
    return holders != 1 ? "a point belongs to no region, or to two"
        : holder != clv_mpi_regions_home( regions, point )
        ? "the tree leads a point to another region than the one that holds it"
        : NULL;
}

static const char* check_points( const mpi_regions* regions )
{
    int32_t step = ( regions->process_count + CHECKED_REGIONS - 1 ) / CHECKED_REGIONS;
    const char* message = NULL;
    for ( int32_t r = 0; r < regions->process_count && message == NULL; r += step )
    {
        const clv_mpi_region* region = &regions->bounds[r];
        clv_aabb inner = clv_mpi_region_inner( region );
        message = check_point( regions, region->lower );
        message = message == NULL ? check_point( regions, region->upper ) : message;
        message = message == NULL ? check_point( regions, inner.upper ) : message;
    }
    return message;
}

const char* clv_mpi_regions_check( const mpi_regions* regions )
{
    const char* message = check_tree( regions );
    message = message == NULL ? check_bounds( regions ) : message;
    return message == NULL ? check_points( regions ) : message;
}

// ---- ids

const char* clv_mpi_ids_check( const mpi_ids* ids )
{
    uint64_t places = ids->values.capacity > 0 ? (uint64_t)1 << ids->place_bits : 0, used = 0;
    if ( places > ids->values.capacity || places > ids->keys.capacity )
    {
        return "a table of ids has more places than memory";
    }
    for ( uint64_t i = 0; i < places; ++i )
    {
        used += ids->values.items[i] != SLOT_NONE;
    }
    if ( used != ids->count || used * 2 > places )
    {
        return "a table of ids has another count than keys, or is more than half full";
    }
    for ( uint64_t i = 0; i < places; ++i )
    {
        uint64_t key = ids->keys.items[i];
        uint64_t at = clv_mpi_ids_mix( key ) >> ( 64 - ids->place_bits );
        while ( ids->values.items[i] != SLOT_NONE && at != i )
        {
            if ( ids->values.items[at] == SLOT_NONE || ids->keys.items[at] == key )
            {
                return "a search for an id ends before it, or the id is there twice";
            }
            at = ( at + 1 ) & ( places - 1 );
        }
    }
    return NULL;
}

const char* clv_mpi_directory_check( const clv_mpi_space* space )
{
    const mpi_ids* ids = &space->lookup.directory;
    const char* message = clv_mpi_ids_check( ids );
    uint64_t places = ids->values.capacity > 0 ? (uint64_t)1 << ids->place_bits : 0;
    for ( uint64_t i = 0; i < places && message == NULL; ++i )
    {
        uint64_t keeper = clv_mpi_ids_mix( ids->keys.items[i] ) % (uint64_t)space->process_count;
        if ( ids->values.items[i] != SLOT_NONE && keeper != (uint64_t)space->rank )
        {
            message = "this process keeps an id that another process is to keep";
        }
    }
    return message;
}

// Anonymous ghosts are not in the table, nor are those about to be forgotten.
static bool has_name( const clv_mpi_space* space, uint32_t flags )
{
    return ( flags & SLOT_OWN ) != 0 ||
        ( ( flags & SLOT_LIVE ) != 0 && !mpi_ghosts_are_anonymous( space ) && !space->modes.must_resend );
}

const char* clv_mpi_lookup_check( const clv_mpi_space* space )
{
    const char* message = clv_mpi_ids_check( &space->lookup.table );
    if ( message != NULL || space->lookup.is_stale || space->lookup.changes.count > 0 ||
        space->def.trust_ids )
    {
        return message; // out of date, or as unique as the caller's ids
    }
    const mpi_columns* c = &space->columns;
    uint64_t named = 0;
    for ( uint32_t slot = 0; slot < space->slots.end; ++slot )
    {
        if ( has_name( space, c->flags.items[slot] ) )
        {
            named += 1;
            if ( clv_mpi_ids_find( &space->lookup.table, c->ids.items[slot] ) != slot )
            {
                return "the table of ids leads to another slot than the object's";
            }
        }
    }
    return named != space->lookup.table.count && !space->modes.must_resend
        ? "the table of ids has an id of no object"
        : NULL;
}

// ---- objects

static const char* check_slot( const clv_mpi_space* space, uint32_t slot )
{
    const mpi_columns* c = &space->columns;
    uint32_t flags = c->flags.items[slot];
    if ( ( flags & SLOT_LIVE ) == 0 )
    {
        return ( flags & SLOT_OWN ) != 0 ? "a free slot is owned" : NULL;
    }
    return c->locals.items[slot].index != slot ? "a slot has an id of another slot of the space inside"
        : c->identities.items[slot].id != c->ids.items[slot] ? "the name of an object has another id"
        : ( c->identities.items[slot].is_inside != 0 ) != ( ( flags & SLOT_INSIDE ) != 0 )
        ? "name and flags of an object differ on whether it lies inside"
        : !clv_aabb_is_valid( c->boxes.items[slot] ) ? "an object has no valid box"
                                                     : NULL;
}

// The list of own objects has those that are flagged, by slot.
static const char* check_own( const clv_mpi_space* space )
{
    uint64_t at = 0;
    for ( uint32_t slot = 0; slot < space->slots.end; ++slot )
    {
        bool is_own = ( space->columns.flags.items[slot] & SLOT_OWN ) != 0;
        bool is_listed = at < space->slots.own.count && space->slots.own.items[at] == slot;
        if ( is_own != is_listed )
        {
            return "the list of own objects is not that of the slots that are owned, ascending";
        }
        at += is_listed;
    }
    return at == space->slots.own.count ? NULL : "the list of own objects goes beyond the slots";
}

const char* clv_mpi_objects_check( const clv_mpi_space* space )
{
    const mpi_columns* c = &space->columns;
    if ( c->flags.capacity < space->slots.end || c->identities.capacity < space->slots.end ||
        space->slots.end != clv_space_stats( space->inside ).slot_count )
    {
        return "there are other slots than those of the space inside, or columns are too short for them";
    }
    uint64_t live = 0;
    const char* message = NULL;
    for ( uint32_t slot = 0; slot < space->slots.end && message == NULL; ++slot )
    {
        live += ( c->flags.items[slot] & SLOT_LIVE ) != 0;
        message = check_slot( space, slot );
    }
    if ( message == NULL && live != clv_space_object_count( space->inside ) )
    {
        return "the space inside has more or fewer objects than slots are taken";
    }
    return message != NULL || space->slots.own_is_stale ? message : check_own( space );
}

const char* clv_mpi_ghosts_check( const clv_mpi_space* space )
{
    const mpi_columns* c = &space->columns;
    const clv_aabb here = clv_mpi_region_inner( &space->partition.regions.bounds[space->rank] );
    uint64_t count = 0;
    for ( uint32_t slot = 0; slot < space->slots.end; ++slot )
    {
        uint32_t flags = c->flags.items[slot];
        if ( ( flags & ( SLOT_LIVE | SLOT_OWN ) ) != SLOT_LIVE )
        {
            continue;
        }
        count += 1;
        if ( c->locals.items[slot].index != slot )
        {
            return "a ghost lies in a slot that the space inside knows by another id";
        }
        if ( ( ( flags & SLOT_INSIDE ) != 0 ) != mpi_box_encloses( &here, &c->boxes.items[slot] ) )
        {
            return "a ghost does not know whether it lies inside the region";
        }
    }
    return count == space->slots.ghost_count ? NULL : "there are more or fewer ghosts than were counted";
}

// ---- pairs

// With trust_ids the caller answers for unique ids: repeated ones make pairs of one id.
static bool is_pair( const clv_mpi_space* space, uint64_t a, uint64_t b )
{
    return a < b || ( a == b && space->def.trust_ids );
}

static const char* check_found( const clv_mpi_space* space )
{
    const mpi_columns* c = &space->columns;
    const clv_mpi_region* here = &space->partition.regions.bounds[space->rank];
    for ( uint64_t i = 0; i < space->pairs.found.count; ++i )
    {
        const mpi_found* pair = &space->pairs.found.items[i];
        if ( pair->slot_a >= space->slots.end || pair->slot_b >= space->slots.end ||
            c->ids.items[pair->slot_a] != pair->a || c->ids.items[pair->slot_b] != pair->b )
        {
            return "a pair has slots of other objects than its ids";
        }
        clv_vec3 corner = mpi_overlap_corner( &c->boxes.items[pair->slot_a], &c->boxes.items[pair->slot_b] );
        if ( !mpi_region_holds( here, corner ) )
        {
            return "a pair is another process's to report";
        }
    }
    return NULL;
}

static const char* check_list( const clv_mpi_space* space, const mpi_pair_list* list, bool is_sorted )
{
    for ( uint64_t i = 0; i < list->count; ++i )
    {
        const clv_mpi_pair* pair = &list->items[i];
        if ( !is_pair( space, pair->a, pair->b ) )
        {
            return "a pair does not have the lower id first";
        }
        bool is_after = i == 0 || pair[-1].a < pair->a || ( pair[-1].a == pair->a && pair[-1].b < pair->b );
        if ( is_sorted && !is_after && !space->def.trust_ids )
        {
            return "pairs that are to be sorted are not, or one is there twice";
        }
    }
    return NULL;
}

const char* clv_mpi_pairs_check( const clv_mpi_space* space )
{
    bool is_sorted = space->def.space.sorted || space->def.space.events;
    if ( is_sorted && space->pairs.found.count != space->pairs.list.count )
    {
        return "the list has more or fewer pairs than were found";
    }
    const char* message = is_sorted ? check_found( space ) : NULL;
    message = message == NULL ? check_list( space, &space->pairs.list, is_sorted ) : message;
    message = message == NULL ? check_list( space, &space->pairs.begun, true ) : message;
    return message == NULL ? check_list( space, &space->pairs.ended, true ) : message;
}

const char* clv_mpi_space_check( const clv_mpi_space* space )
{
    const char* message = clv_mpi_regions_check( &space->partition.regions );
    message = message == NULL ? clv_mpi_objects_check( space ) : message;
    message = message == NULL ? clv_mpi_lookup_check( space ) : message;
    return message == NULL ? clv_mpi_directory_check( space ) : message;
}
