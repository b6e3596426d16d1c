// SPDX-License-Identifier: MIT
#include "query/query_state.h"

#include "base/assertion.h"
#include "base/radix_sort.h"

#include <string.h>

enum
{
    REFIT_NODES = 32, // follow as a whole at the price of one object that follows alone
};

void clv_query_state_init( query_state* state )
{
    memset( state, 0, sizeof( *state ) );
    clv_task_lock_init( &state->lock );
    atomic_init( &state->is_ready, false );
    atomic_init( &state->reader_count, 0 );
    atomic_flag_clear( &state->workers_are_out );
}

static const size_t COPY_SIZES[QUERY_COPY_COUNT] = {
    [OBJECT_BOX] = sizeof( clv_aabb ),
    [OBJECT_GENERATION] = sizeof( uint32_t ),
    [OBJECT_GIVEN_BOX] = sizeof( clv_aabb ),
    [OBJECT_BOX64] = sizeof( clv_aabb64 ),
    [OBJECT_GIVEN_BOX64] = sizeof( clv_aabb64 ),
};

static void free_copy( query_state* state, base_memory* memory )
{
    for ( int i = 0; i < QUERY_COPY_COUNT; ++i )
    {
        clv_base_memory_give( memory, state->copies[i], state->copy_capacities[i], COPY_SIZES[i] );
        state->copies[i] = NULL;
        state->copy_capacities[i] = 0;
        state->copy_is_used[i] = false;
    }
    state->is_copied = false;
}

static void free_scratch( query_state* state, base_memory* memory )
{
    clv_base_memory_give( memory, state->changes.slots, state->changes.capacity, sizeof( uint32_t ) );
    state->changes = ( query_changes ){ 0 };
    clv_base_memory_give( memory, state->hits, state->hit_capacity, sizeof( clv_hit64 ) );
    clv_base_memory_give( memory, state->order, state->order_capacity, sizeof( base_keyed ) );
    clv_base_memory_give( memory, state->more_order, state->more_order_capacity, sizeof( base_keyed ) );
    state->hits = NULL;
    state->order = state->more_order = NULL;
    state->hit_capacity = state->order_capacity = state->more_order_capacity = 0;
}

static void free_all( query_state* state, base_memory* memory )
{
    free_copy( state, memory );
    clv_query_tree_free( &state->tree, memory );
    clv_query_wear_free( &state->wear, memory );
    clv_query_tree64_free( &state->tree64, memory );
    free_scratch( state, memory );
}

void clv_query_state_free( query_state* state, base_memory* memory )
{
    CLV_ASSERT( atomic_load( &state->reader_count ) == 0 );
    if ( state->keeper != NULL )
    {
        state->keeper->release( state, memory );
    }
    clv_task_lock_done( &state->lock );
}

static void set_ready( query_state* state, bool is_ready )
{
    atomic_store_explicit( &state->is_ready, is_ready, memory_order_release );
}

void clv_query_state_renew( query_state* state )
{
    // Nothing was changed: copy and tree, if there are any, are still those.
    bool is_same = state->has_boxes && state->store_is_seen && !state->may_be_gone;
    state->has_boxes = true;
    state->store_is_seen = true;
    state->is_lost = false;
    state->may_be_gone = false;
    if ( !is_same )
    {
        state->is_copied = false;
        state->tree_is_current = false;
        set_ready( state, false );
    }
}

void clv_query_state_note_removal( query_state* state )
{
    state->may_be_gone = true;
}

void clv_query_state_clear( query_state* state )
{
    state->has_boxes = state->store_is_seen = state->is_copied = state->is_lost = false;
    state->may_be_gone = state->tree_is_current = false;
    query_note_all( state );
    set_ready( state, false );
}

static bool reserve_copy( query_state* state, const object_store* objects, base_memory* memory )
{
    bool ok = true;
    for ( int i = 0; i < QUERY_COPY_COUNT && ok; ++i )
    {
        state->copy_is_used[i] = objects->columns[i] != NULL;
        ok = objects->columns[i] == NULL ||
            clv_base_memory_renew( memory, &state->copies[i], &state->copy_capacities[i],
                (uint64_t)objects->slot_count + 1, COPY_SIZES[i] );
    }
    return ok;
}

// Is an object in the store that the tree does not know? Where none is, the tree can follow.
static bool has_newcomers( const query_state* state, const object_store* objects )
{
    if ( state->tree.node_count == 0 || objects->slot_count > state->slot_count )
    {
        return true;
    }
    const uint32_t *now = object_generations( objects ), *then = state->copies[OBJECT_GENERATION];
    uint32_t different = 0;
    if ( memcmp( now, then, objects->slot_count * sizeof( uint32_t ) ) == 0 )
    {
        return false; // as in most frames
    }
    for ( uint32_t slot = 0; slot < objects->slot_count; ++slot )
    {
        // Alive now, and not the one of the copy; a slot that is free now costs nothing.
        different |= ( now[slot] & 1 ) & (uint32_t)( now[slot] != then[slot] );
    }
    return different != 0;
}

bool clv_query_state_is_copy( const query_state* state, const object_store* objects )
{
    bool is_same = state->slot_count == objects->slot_count && state->live_count == objects->live_count;
    for ( uint32_t slot = 0; slot < objects->slot_count && is_same; ++slot )
    {
        bool is_there = ( object_generations( objects )[slot] & 1 ) != 0;
        for ( int i = 0; i < QUERY_COPY_COUNT && is_same; ++i )
        {
            size_t at = slot * COPY_SIZES[i];
            is_same = !state->copy_is_used[i] || ( i != OBJECT_GENERATION && !is_there ) ||
                memcmp( (const char*)state->copies[i] + at, (const char*)objects->columns[i] + at,
                    COPY_SIZES[i] ) == 0;
        }
    }
    return is_same;
}

// Room for more slots, with what is in the others. False: none, or the store has other columns than the copy.
static bool extend_copy( query_state* state, const object_store* objects, base_memory* memory )
{
    bool ok = true;
    for ( int i = 0; i < QUERY_COPY_COUNT && ok; ++i )
    {
        ok = state->copy_is_used[i] == ( objects->columns[i] != NULL ) &&
            ( !state->copy_is_used[i] ||
                clv_base_memory_reserve( memory, &state->copies[i], &state->copy_capacities[i],
                    state->slot_count, (uint64_t)objects->slot_count + 1, COPY_SIZES[i] ) );
    }
    return ok;
}

// The copy as the store is now, by the slots that were noted.
static bool copy_changes( query_state* state, const object_store* objects, base_memory* memory )
{
    query_changes* changes = &state->changes;
    CLV_ASSERT( objects->slot_count >= state->slot_count && changes->count <= changes->capacity );
    if ( !extend_copy( state, objects, memory ) )
    {
        return false;
    }
    for ( uint32_t i = 0; i < changes->count; ++i )
    {
        uint32_t slot = changes->slots[i], now = object_generations( objects )[slot];
        uint32_t then = slot < state->slot_count ? ( (uint32_t*)state->copies[OBJECT_GENERATION] )[slot] : 0;
        state->members_changed |= ( now & 1 ) != 0 && now != then;
        CLV_ASSERT( slot < objects->slot_count );
        for ( int column = 0; column < QUERY_COPY_COUNT; ++column )
        {
            size_t size = COPY_SIZES[column];
            if ( state->copy_is_used[column] )
            {
                memcpy( (char*)state->copies[column] + slot * size,
                    (const char*)objects->columns[column] + slot * size, size );
            }
        }
    }
    changes->copied = changes->count;
    state->slot_count = objects->slot_count;
    state->live_count = objects->live_count;
    state->is_copied = true;
    return true;
}

static bool copy_boxes( query_state* state, const object_store* objects, base_memory* memory )
{
    CLV_ASSERT( state->store_is_seen );
    if ( state->changes.are_known && copy_changes( state, objects, memory ) )
    {
        CLV_VALIDATE( clv_query_state_is_copy( state, objects ) );
        return true;
    }
    query_note_all( state );
    state->members_changed |= state->copies[OBJECT_GENERATION] == NULL || has_newcomers( state, objects );
    if ( !reserve_copy( state, objects, memory ) )
    {
        state->members_changed = true; // the generations that could tell may be gone
        state->slot_count = 0;
        return false;
    }
    size_t count = objects->slot_count;
    state->slot_count = objects->slot_count;
    state->live_count = objects->live_count;
    for ( int i = 0; i < QUERY_COPY_COUNT; ++i )
    {
        CLV_ASSERT( !state->copy_is_used[i] || count < state->copy_capacities[i] );
        if ( state->copy_is_used[i] && count > 0 )
        {
            memcpy( state->copies[i], objects->columns[i], count * COPY_SIZES[i] );
        }
    }
    state->is_copied = true;
    return true;
}

void clv_query_state_freeze( query_state* state, const object_store* objects, base_memory* memory )
{
    if ( !state->store_is_seen )
    {
        return;
    }
    if ( state->keeper != NULL && !state->is_copied )
    {
        // Without memory queries see nothing until the next update; moving boxes does not fail for that.
        state->is_lost = !state->keeper->copy( state, objects, memory );
    }
    state->store_is_seen = false;
}

void clv_query_state_shrink( query_state* state, base_memory* memory )
{
    clv_query_tree_shrink( &state->tree, memory );
    free_scratch( state, memory );
    if ( !state->has_boxes )
    {
        free_all( state, memory );
        state->members_changed = true;
    }
}

static bool build_tree( query_state* state, const query_boxes* from, const simd_queries* kernels,
    base_memory* memory, task_runner* tasks )
{
    state->members_changed = true; // until it is built
    if ( !clv_query_tree_build( &state->tree, from, kernels, memory, tasks ) ||
        !clv_query_wear_start( &state->wear, &state->tree, from, kernels, memory ) )
    {
        return false;
    }
    CLV_ASSERT( state->tree.item_count == from->live_count );
    state->members_changed = false;
    return true;
}

// The tree by the slots that were noted before the copy was made. False: it needs to follow as a whole.
static bool patch_tree(
    query_state* state, const query_boxes* from, const simd_queries* kernels, base_memory* memory )
{
    query_changes* changes = &state->changes;
    if ( !changes->are_known || state->tree.node_count == 0 )
    {
        query_note_all( state );
        return false;
    }
    const query_slots changed = { changes->slots, changes->copied };
    const clv_aabb64* boxes64 = query_copy( state, OBJECT_BOX64 );
    changes->are_known =
        clv_query_tree_patch( &state->tree, &state->tree64, boxes64, from, &changed, kernels, memory );
    if ( changes->are_known )
    {
        changes->count -= changes->copied;
        if ( changes->count > 0 )
        {
            memmove( changes->slots, changes->slots + changes->copied, changes->count * sizeof( uint32_t ) );
        }
        changes->copied = 0;
        state->members_changed = false;
    }
    return changes->are_known;
}

static bool bring_tree(
    query_state* state, const simd_queries* kernels, base_memory* memory, task_runner* tasks )
{
    CLV_ASSERT( state->is_copied );
    const query_boxes from = { state->copies[OBJECT_BOX], state->copies[OBJECT_GENERATION], state->slot_count,
        state->live_count };
    const clv_aabb64* boxes64 = query_copy( state, OBJECT_BOX64 );
    const bool is_patched = patch_tree( state, &from, kernels, memory );
    bool is_over = state->members_changed;
    if ( !is_over && is_patched )
    {
        is_over = clv_query_wear_is_over_by_few( &state->wear, &state->tree, &from, kernels );
    }
    else if ( !is_over )
    {
        clv_query_tree_refit( &state->tree, &from, kernels, tasks );
        is_over = clv_query_wear_is_over( &state->wear, &state->tree, &from, kernels );
    }
    const bool has_hulls = ( is_patched && !is_over ) || boxes64 == NULL;
    if ( ( is_over && !build_tree( state, &from, kernels, memory, tasks ) ) ||
        ( !has_hulls &&
            !clv_query_tree64_bring(
                &state->tree64, &state->tree, boxes64, &from, kernels, memory, tasks ) ) )
    {
        query_note_all( state );
        return false;
    }
    state->tree_is_current = true;
    return true;
}

// From here on changes are noted, as many as cost less than a whole refit. Where there is no room for them
// they are not.
static void expect_changes( query_state* state, base_memory* memory )
{
    query_changes* changes = &state->changes;
    if ( !changes->are_known && state->store_is_seen )
    {
        changes->count = changes->copied = 0;
        changes->are_known = true;
    }
    uint32_t limit = state->tree.node_count / REFIT_NODES;
    void* slots = changes->slots;
    bool has_room = clv_base_memory_reserve(
        memory, &slots, &changes->capacity, changes->count, limit, sizeof( uint32_t ) );
    changes->slots = slots;
    changes->limit = has_room ? limit : 0;
}

void clv_query_state_use( query_state* state )
{
    static const query_keeper keeper = { copy_boxes, free_all };
    state->keeper = &keeper;
}

clv_result clv_query_state_prepare( query_state* state, const object_store* objects,
    const simd_queries* kernels, base_memory* memory, task_runner* tasks )
{
    if ( state->is_lost )
    {
        return CLV_OUT_OF_MEMORY;
    }
    clv_query_state_use( state );
    if ( !state->is_copied )
    {
        if ( !state->store_is_seen )
        {
            return CLV_STALE;
        }
        if ( !copy_boxes( state, objects, memory ) )
        {
            return CLV_OUT_OF_MEMORY;
        }
    }
    if ( !state->tree_is_current && !bring_tree( state, kernels, memory, tasks ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    CLV_ASSERT( state->is_copied && state->tree_is_current );
    expect_changes( state, memory );
    set_ready( state, true );
    return CLV_OK;
}
