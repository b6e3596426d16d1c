// SPDX-License-Identifier: MIT
// The structure that queries walk is made ready by the first query; all others wait for it.
#include "space/space_reader.h"

#include "base/assertion.h"

task_runner* clv_space_take_workers( clv_space* space, task_runner* alone )
{
    *alone = ( task_runner ){ 0 };
    bool are_out = atomic_flag_test_and_set_explicit( &space->query.workers_are_out, memory_order_acquire );
    return are_out ? alone : &space->tasks;
}

static clv_result make_ready( clv_space* space )
{
    query_state* state = &space->query;
    task_runner alone;
    space_start_reading( space );
    clv_task_lock_take( &state->lock );
    clv_result result = CLV_OK;
    if ( !atomic_load_explicit( &state->is_ready, memory_order_relaxed ) )
    {
        task_runner* tasks = clv_space_take_workers( space, &alone );
        result = clv_query_state_prepare(
            state, &space->objects, clv_simd_queries_for( space->kernels->isa ), &space->memory, tasks );
        space_give_workers( space, tasks );
    }
    CLV_ASSERT( result != CLV_OK || atomic_load_explicit( &state->is_ready, memory_order_relaxed ) );
    clv_task_lock_give( &state->lock );
    space_stop_reading( space );
    return result;
}

clv_result clv_space_open_scene( const clv_space* asked, space_kind kind, query_scene* scene )
{
    static const query_tree no_tree = { 0 };
    clv_space* space = space_unlocked( asked );
    query_state* state = &space->query;
    if ( space->is_busy )
    {
        return CLV_BUSY;
    }
    if ( space_kind_of( space ) != kind )
    {
        return CLV_UNSUPPORTED; // what the method sees there is not what the caller gave
    }
    if ( state->has_boxes && !atomic_load_explicit( &state->is_ready, memory_order_acquire ) )
    {
        clv_result result = make_ready( space );
        if ( result != CLV_OK )
        {
            return result;
        }
    }
    CLV_ASSERT( !state->has_boxes || atomic_load_explicit( &state->is_ready, memory_order_relaxed ) );
    *scene = ( query_scene ){
        .tree = state->has_boxes ? &state->tree : &no_tree,
        .boxes = query_copy( state, OBJECT_BOX ),
        .given = query_copy( state, OBJECT_GIVEN_BOX ),
        .generations = query_copy( state, OBJECT_GENERATION ),
        .objects = &space->objects,
        .kernels = clv_simd_queries_for( space->kernels->isa ),
        .space = asked,
        .may_be_gone = state->may_be_gone,
        .tree64 = &state->tree64,
        .boxes64 = query_copy( state, OBJECT_BOX64 ),
        .given64 = query_copy( state, OBJECT_GIVEN_BOX64 ),
    };
    return CLV_OK;
}

base_memory clv_space_memory( const clv_space* asked )
{
    clv_space* space = space_unlocked( asked );
    clv_task_lock_take( &space->query.lock );
    base_memory memory = space->memory;
    clv_task_lock_give( &space->query.lock );
    return memory;
}
