// SPDX-License-Identifier: MIT
#include "query/query_state.h"

#include "base/assertion.h"
#include "base/radix_sort.h"

#include <string.h>

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
    clv_base_memory_give( memory, state->hits, state->hit_capacity, sizeof( clv_hit64 ) );
    clv_base_memory_give( memory, state->order, state->order_capacity, sizeof( base_keyed ) );
    clv_base_memory_give( memory, state->more_order, state->more_order_capacity, sizeof( base_keyed ) );
    state->hits = NULL;
    state->order = state->more_order = NULL;
    state->hit_capacity = state->order_capacity = state->more_order_capacity = 0;
}

void clv_query_state_free( query_state* state, base_memory* memory )
{
    CLV_ASSERT( atomic_load( &state->reader_count ) == 0 );
    free_copy( state, memory );
    clv_query_tree_free( &state->tree, memory );
    clv_query_wear_free( &state->wear, memory );
    clv_query_tree64_free( &state->tree64, memory );
    free_scratch( state, memory );
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
    if ( !state->is_used || state->tree.node_count == 0 || objects->slot_count > state->slot_count )
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

static bool copy_boxes( query_state* state, const object_store* objects, base_memory* memory )
{
    CLV_ASSERT( state->store_is_seen );
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
    if ( state->is_used && !state->is_copied )
    {
        // Without memory queries see nothing until the next update; whoever moves boxes is not to suffer for
        // it.
        state->is_lost = !copy_boxes( state, objects, memory );
    }
    state->store_is_seen = false;
}

void clv_query_state_shrink( query_state* state, base_memory* memory )
{
    clv_query_tree_shrink( &state->tree, memory );
    free_scratch( state, memory );
    if ( !state->has_boxes )
    {
        free_copy( state, memory );
        clv_query_tree_free( &state->tree, memory );
        clv_query_wear_free( &state->wear, memory );
        clv_query_tree64_free( &state->tree64, memory );
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

static bool bring_tree(
    query_state* state, const simd_queries* kernels, base_memory* memory, task_runner* tasks )
{
    CLV_ASSERT( state->is_copied );
    const query_boxes from = { state->copies[OBJECT_BOX], state->copies[OBJECT_GENERATION], state->slot_count,
        state->live_count };
    if ( !state->members_changed )
    {
        clv_query_tree_refit( &state->tree, &from, kernels, tasks );
    }
    bool is_over =
        state->members_changed || clv_query_wear_is_over( &state->wear, &state->tree, &from, kernels );
    if ( is_over && !build_tree( state, &from, kernels, memory, tasks ) )
    {
        return false;
    }
    const clv_aabb64* boxes64 = query_copy( state, OBJECT_BOX64 );
    if ( boxes64 != NULL &&
        !clv_query_tree64_bring( &state->tree64, &state->tree, boxes64, &from, memory, tasks ) )
    {
        return false;
    }
    state->tree_is_current = true;
    return true;
}

clv_result clv_query_state_prepare( query_state* state, const object_store* objects,
    const simd_queries* kernels, base_memory* memory, task_runner* tasks )
{
    if ( state->is_lost )
    {
        return CLV_OUT_OF_MEMORY;
    }
    state->is_used = true;
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
    set_ready( state, true );
    return CLV_OK;
}
