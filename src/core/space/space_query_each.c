// SPDX-License-Identifier: MIT
// A fixed number of hits for each query of a list: any, the closest, the k nearest. Each answer has its place beforehand, so that pieces
// go anywhere at any time, and long lists along a curve.
#include "space/space_query.h"

#include "base/assertion.h"
#include "base/fp_mode.h"
#include "query/query_order.h"

enum
{
    ORDERED_NODES =
        16384, // 4 MiB of them do not stay in the cache by themselves; of less, sorting gains nothing
};

static void answer_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const query_job* job = context;
    uint32_t first, end, which[SPACE_PIECE_QUERIES];
    space_piece_range( job, piece, &first, &end );
    for ( uint32_t i = first; i < end; ++i )
    {
        which[i - first] = job->order != NULL ? job->order[i].value : i;
    }
    if ( job->mode == QUERY_NEAREST )
    {
        job->family->find_nearest(
            &job->scene, job->queries, which, end - first, job->k, job->max_distance, job->hits );
        return;
    }
    job->family->find_one( &job->scene, job->queries, which, end - first, job->mode, job->hits );
}

// Without memory for an order the list is gone through as it comes.
static void order_queries( clv_space* space, query_job* job, task_runner* tasks )
{
    query_state* state = &space->query;
    uint32_t count = job->queries->count;
    clv_vec3 place;
    if ( job->scene.tree->node_count < ORDERED_NODES || count == 0 ||
        !clv_query_item_place( job->queries, 0, &place ) ) // half-spaces and doubles have none
    {
        return;
    }
    space_start_reading( space );
    clv_task_lock_take( &state->lock );
    bool has_room = clv_base_memory_renew( &space->memory, &state->order, &state->order_capacity, count,
                        sizeof( base_keyed ) ) &&
        clv_base_memory_renew(
            &space->memory, &state->more_order, &state->more_order_capacity, count, sizeof( base_keyed ) );
    clv_task_lock_give( &state->lock );
    space_stop_reading( space );
    if ( has_room )
    {
        job->order = clv_query_order( job->queries, &job->scene, state->order, state->more_order, tasks );
    }
}

static void answer_list( clv_space* space, query_job* job )
{
    task_runner alone = { 0 };
    bool is_long =
        !space_queries_call( job->family, job->queries ) && job->queries->count >= SPACE_SHARED_QUERIES;
    task_runner* tasks = is_long ? clv_space_take_workers( space, &alone ) : &alone;
    job->order = NULL;
    if ( tasks != &alone )
    {
        order_queries( space, job, tasks );
    }
    clv_task_run( tasks, answer_piece, space_query_pieces( job ), job );
    space_give_workers( space, tasks );
}

static clv_result ask_each( const clv_space* space, query_job* job, uint32_t* position )
{
    CLV_ASSERT( space != NULL && job->queries != NULL );
    CLV_ASSERT( job->queries->count == 0 || ( job->queries->items != NULL && job->hits != NULL ) );
    base_fp_mode mode = base_fp_enter();
    clv_result result =
        clv_space_open_list( space, job->family, job->queries, job->mode, position, &job->scene );
    if ( result == CLV_OK )
    {
        bool may_call = space_queries_call( job->family, job->queries );
        if ( may_call )
        {
            space_start_reading( space_unlocked( space ) );
        }
        answer_list( space_unlocked( space ), job );
        if ( may_call )
        {
            space_stop_reading( space_unlocked( space ) );
        }
    }
    base_fp_leave( mode );
    return result;
}

static clv_result ask_one( const clv_space* space, const query_family* family, query_mode mode,
    const clv_queries* queries, void* hits, uint32_t* position )
{
    query_job job;
    job.family = family;
    job.queries = queries;
    job.mode = mode;
    job.hits = hits;
    return ask_each( space, &job, position );
}

clv_result clv_space_query_any(
    const clv_space* space, const clv_queries* queries, clv_hit* hits, uint32_t* position )
{
    return ask_one( space, &clv_query_family_floats, QUERY_ANY, queries, hits, position );
}

clv_result clv_space_query_any64(
    const clv_space* space, const clv_queries* queries, clv_hit64* hits, uint32_t* position )
{
    return ask_one( space, &clv_query_family_doubles, QUERY_ANY, queries, hits, position );
}

clv_result clv_space_query_closest(
    const clv_space* space, const clv_queries* queries, clv_hit* hits, uint32_t* position )
{
    return ask_one( space, &clv_query_family_floats, QUERY_CLOSEST, queries, hits, position );
}

clv_result clv_space_query_closest64(
    const clv_space* space, const clv_queries* queries, clv_hit64* hits, uint32_t* position )
{
    return ask_one( space, &clv_query_family_doubles, QUERY_CLOSEST, queries, hits, position );
}

static clv_result ask_nearest( const clv_space* space, query_job* job, uint32_t* position )
{
    job->mode = QUERY_NEAREST;
    if ( !( job->max_distance >= 0 ) )
    {
        if ( position != NULL )
        {
            *position = 0;
        }
        return CLV_BAD_ARGUMENT;
    }
    return ask_each( space, job, position );
}

clv_result clv_space_query_nearest( const clv_space* space, const clv_queries* queries, uint32_t k,
    float max_distance, clv_hit* hits, uint32_t* position )
{
    query_job job;
    job.family = &clv_query_family_floats;
    job.queries = queries;
    job.k = k;
    job.hits = hits;
    base_fp_mode mode = base_fp_enter();
    base_fp_settle( &max_distance );
    job.max_distance = (double)max_distance;
    clv_result result = ask_nearest( space, &job, position );
    base_fp_leave( mode );
    return result;
}

clv_result clv_space_query_nearest64( const clv_space* space, const clv_queries* queries, uint32_t k,
    double max_distance, clv_hit64* hits, uint32_t* position )
{
    query_job job;
    job.family = &clv_query_family_doubles;
    job.queries = queries;
    job.k = k;
    job.hits = hits;
    base_fp_mode mode = base_fp_enter();
    base_fp_settle( &max_distance );
    job.max_distance = max_distance;
    clv_result result = ask_nearest( space, &job, position );
    base_fp_leave( mode );
    return result;
}
