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

static void free_copy( query_state* state, base_memory* memory )
{
    clv_base_memory_give( memory, state->boxes, state->box_capacity, sizeof( clv_aabb ) );
    clv_base_memory_give( memory, state->given, state->given_capacity, sizeof( clv_aabb ) );
    clv_base_memory_give( memory, state->generations, state->generation_capacity, sizeof( uint32_t ) );
    clv_base_memory_give( memory, state->boxes64, state->box64_capacity, sizeof( clv_aabb64 ) );
    clv_base_memory_give( memory, state->given64, state->given64_capacity, sizeof( clv_aabb64 ) );
    state->boxes64 = state->given64 = NULL;
    state->box64_capacity = state->given64_capacity = 0;
    state->boxes = state->given = NULL;
    state->generations = NULL;
    state->box_capacity = state->given_capacity = state->generation_capacity = 0;
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
    clv_query_wide_tree_free( &state->wide, memory );
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

// Room for the boxes in double, where there are any.
static bool reserve_copy64( query_state* state, const object_store* objects, base_memory* memory )
{
    uint64_t count = (uint64_t)objects->slot_count + 1;
    void *boxes = state->boxes64, *given = state->given64;
    bool has_given = object_store_uses( objects, OBJECT_GIVEN_BOX64 );
    bool ok = object_boxes64( objects ) == NULL ||
        ( clv_base_memory_renew( memory, &boxes, &state->box64_capacity, count, sizeof( clv_aabb64 ) ) &&
            ( !has_given ||
                clv_base_memory_renew(
                    memory, &given, &state->given64_capacity, count, sizeof( clv_aabb64 ) ) ) );
    state->boxes64 = boxes;
    state->given64 = given;
    return ok;
}

static void copy_boxes64( query_state* state, const object_store* objects )
{
    size_t bytes = objects->slot_count * sizeof( clv_aabb64 );
    state->has_given64 = object_store_uses( objects, OBJECT_GIVEN_BOX64 );
    CLV_ASSERT( object_boxes64( objects ) == NULL || objects->slot_count < state->box64_capacity );
    if ( object_boxes64( objects ) != NULL && bytes > 0 )
    {
        memcpy( state->boxes64, object_boxes64( objects ), bytes );
    }
    if ( state->has_given64 && bytes > 0 )
    {
        memcpy( state->given64, objects->columns[OBJECT_GIVEN_BOX64], bytes );
    }
}

static bool reserve_copy( query_state* state, const object_store* objects, base_memory* memory )
{
    uint64_t count = (uint64_t)objects->slot_count + 1;
    void *boxes = state->boxes, *given = state->given, *generations = state->generations;
    bool has_given = object_store_uses( objects, OBJECT_GIVEN_BOX );
    bool ok = clv_base_memory_renew( memory, &boxes, &state->box_capacity, count, sizeof( clv_aabb ) ) &&
        clv_base_memory_renew(
            memory, &generations, &state->generation_capacity, count, sizeof( uint32_t ) ) &&
        ( !has_given ||
            clv_base_memory_renew( memory, &given, &state->given_capacity, count, sizeof( clv_aabb ) ) );
    state->boxes = boxes;
    state->given = given;
    state->generations = generations;
    return ok;
}

// Is an object in the store that the tree does not know? Where none is, the tree can follow.
static bool has_newcomers( const query_state* state, const object_store* objects )
{
    if ( !state->is_used || state->tree.node_count == 0 || objects->slot_count > state->slot_count )
    {
        return true;
    }
    const uint32_t* now = object_generations( objects );
    uint32_t different = 0;
    if ( memcmp( now, state->generations, objects->slot_count * sizeof( uint32_t ) ) == 0 )
    {
        return false; // as in most frames
    }
    for ( uint32_t slot = 0; slot < objects->slot_count; ++slot )
    {
        // Alive now, and not the one of the copy; a slot that is free now costs nothing.
        different |= ( now[slot] & 1 ) & (uint32_t)( now[slot] != state->generations[slot] );
    }
    return different != 0;
}

static bool copy_boxes( query_state* state, const object_store* objects, base_memory* memory )
{
    CLV_ASSERT( state->store_is_seen );
    state->members_changed |= state->generations == NULL || has_newcomers( state, objects );
    if ( !reserve_copy( state, objects, memory ) || !reserve_copy64( state, objects, memory ) )
    {
        state->members_changed = true; // the generations that could tell may be gone
        state->slot_count = 0;
        return false;
    }
    size_t count = objects->slot_count;
    CLV_ASSERT( count < state->box_capacity && count < state->generation_capacity );
    state->slot_count = objects->slot_count;
    state->live_count = objects->live_count;
    state->has_given = object_store_uses( objects, OBJECT_GIVEN_BOX );
    CLV_ASSERT( !state->has_given || count < state->given_capacity );
    if ( count > 0 )
    {
        memcpy( state->boxes, object_boxes( objects ), count * sizeof( clv_aabb ) );
        memcpy( state->generations, object_generations( objects ), count * sizeof( uint32_t ) );
        if ( state->has_given )
        {
            memcpy( state->given, objects->columns[OBJECT_GIVEN_BOX], count * sizeof( clv_aabb ) );
        }
    }
    copy_boxes64( state, objects );
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
        // Without memory queries see nothing until the next update; whoever moves boxes is not to suffer for it.
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
        clv_query_wide_tree_free( &state->wide, memory );
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
    const query_boxes from = { state->boxes, state->generations, state->slot_count, state->live_count };
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
    if ( state->boxes64 != NULL &&
        !clv_query_wide_tree_bring( &state->wide, &state->tree, state->boxes64, &from, memory, tasks ) )
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
