// SPDX-License-Identifier: MIT
// All hits of every query of a list, one list behind the other. Workers do not know where theirs go before all have counted: hits wait,
// piece by piece, and are copied when they do.
#include "space/space_query.h"

#include "base/assertion.h"
#include "base/fp_mode.h"

// Hits of a piece wait in a place of their own; how many each query has is noted where its offset will be.
static void find_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    query_job* job = context;
    uint32_t first, end;
    space_piece_range( job, job->first_piece + index, &first, &end );
    const query_family* family = job->family;
    void* waiting = space_waiting_hits( job, index );
    uint64_t used = 0;
    for ( uint32_t i = first; i < end; ++i )
    {
        uint64_t count = family->find_all( &job->scene, job->queries, i,
            waiting != NULL ? space_hit_at( family, waiting, used ) : NULL, job->room - used );
        job->offsets[i + 1] = count;
        used = count <= job->room - used ? used + count : job->room;
    }
    job->is_over[index] = used == job->room; // once: others write beside it
}

static void place_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    const query_job* job = context;
    uint32_t first, end;
    space_piece_range( job, job->first_piece + index, &first, &end );
    if ( !job->is_over[index] )
    {
        uint64_t count = job->offsets[end] - job->offsets[first];
        if ( count > 0 )
        {
            memcpy( space_hit_at( job->family, job->hits, job->offsets[first] ),
                space_waiting_hits( job, index ), (size_t)count * job->family->hit_size );
        }
        return;
    }
    for ( uint32_t i = first; i < end; ++i )
    {
        uint64_t count = job->offsets[i + 1] - job->offsets[i];
        if ( count > 0 )
        {
            job->family->find_all( &job->scene, job->queries, i,
                space_hit_at( job->family, job->hits, job->offsets[i] ), count );
        }
    }
}

void clv_space_reserve_waiting( clv_space* space, query_job* job, uint32_t pieces )
{
    query_state* state = &space->query;
    space_start_reading( space );
    clv_task_lock_take( &state->lock );
    uint64_t bytes = (uint64_t)pieces * SPACE_PIECE_HITS * job->family->hit_size;
    bool has_room = clv_base_memory_renew( &space->memory, &state->hits, &state->hit_capacity,
        bytes / sizeof( clv_hit64 ) + 1, sizeof( clv_hit64 ) );
    clv_task_lock_give( &state->lock );
    space_stop_reading( space );
    job->waiting = has_room ? state->hits : NULL;
    job->room = has_room ? SPACE_PIECE_HITS : 0;
}

// clv_query_lists and clv_query_lists64, but for the hits.
typedef struct hit_lists
{
    uint64_t* offsets;
    uint64_t capacity, count;
    uint32_t position;
} hit_lists;

static void find_shared( clv_space* space, query_job* job, hit_lists* lists, task_runner* tasks )
{
    uint32_t pieces = space_query_pieces( job );
    uint32_t round = pieces < SPACE_ROUND_PIECES ? pieces : SPACE_ROUND_PIECES;
    clv_space_reserve_waiting( space, job, round );
    job->offsets[0] = 0;
    for ( uint32_t done = 0; done < pieces; done += round )
    {
        uint32_t count = pieces - done < round ? pieces - done : round;
        uint32_t first, end, unused;
        job->first_piece = done;
        memset( job->is_over, 0, sizeof( job->is_over ) );
        clv_task_run( tasks, find_piece, count, job );
        space_piece_range( job, done, &first, &unused );
        space_piece_range( job, done + count - 1, &unused, &end );
        for ( uint32_t i = first; i < end; ++i )
        {
            job->offsets[i + 1] += job->offsets[i];
        }
        if ( job->offsets[end] <= lists->capacity )
        {
            clv_task_run( tasks, place_piece, count, job );
        }
    }
    lists->count = job->offsets[job->queries->count];
}

static void find_alone( const query_job* job, hit_lists* lists )
{
    uint64_t total = 0;
    for ( uint32_t i = 0; i < job->queries->count; ++i )
    {
        if ( lists->offsets != NULL )
        {
            lists->offsets[i] = total;
        }
        uint64_t room = total < lists->capacity ? lists->capacity - total : 0;
        total += job->family->find_all( &job->scene, job->queries, i,
            room > 0 ? space_hit_at( job->family, job->hits, total ) : NULL, room );
    }
    if ( lists->offsets != NULL )
    {
        lists->offsets[job->queries->count] = total;
    }
    lists->count = total;
}

static void find_lists( clv_space* space, query_job* job, hit_lists* lists )
{
    task_runner alone = { 0 };
    bool is_shared_list =
        space_queries_are_shared( space, job->family, job->queries ) && lists->offsets != NULL;
    task_runner* tasks = is_shared_list ? clv_space_take_workers( space, &alone ) : &alone;
    if ( tasks != &alone )
    {
        find_shared( space, job, lists, tasks );
    }
    else
    {
        find_alone( job, lists );
    }
    space_give_workers( space, tasks );
}

static clv_result ask_all( const clv_space* space, query_job* job, hit_lists* lists )
{
    const clv_queries* queries = job->queries;
    CLV_ASSERT( space != NULL && queries != NULL );
    CLV_ASSERT( queries->count == 0 || queries->items != NULL );
    CLV_ASSERT( job->hits != NULL || lists->capacity == 0 );
    CLV_ASSERT( lists->offsets != NULL || queries->count <= 1 );
    base_fp_mode mode = base_fp_enter();
    job->mode = QUERY_ALL;
    job->offsets = lists->offsets;
    clv_result result =
        clv_space_open_list( space, job->family, queries, QUERY_ALL, &lists->position, &job->scene );
    if ( result == CLV_OK )
    {
        bool may_call = space_queries_call( job->family, queries );
        if ( may_call )
        {
            space_start_reading( space_unlocked( space ) );
        }
        find_lists( space_unlocked( space ), job, lists );
        if ( may_call )
        {
            space_stop_reading( space_unlocked( space ) );
        }
        result = lists->count <= lists->capacity ? CLV_OK : CLV_NO_ROOM;
    }
    base_fp_leave( mode );
    return result;
}

clv_result clv_space_query_all( const clv_space* space, const clv_queries* queries, clv_query_lists* lists )
{
    CLV_ASSERT( lists != NULL );
    query_job job;
    job.family = &clv_query_family_floats;
    job.queries = queries;
    job.hits = lists->hits;
    hit_lists all = { lists->offsets, lists->capacity, lists->count, lists->position };
    clv_result result = ask_all( space, &job, &all );
    lists->count = all.count;
    lists->position = all.position;
    return result;
}

clv_result clv_space_query_all64(
    const clv_space* space, const clv_queries* queries, clv_query_lists64* lists )
{
    CLV_ASSERT( lists != NULL );
    query_job job;
    job.family = &clv_query_family_doubles;
    job.queries = queries;
    job.hits = lists->hits;
    hit_lists all = { lists->offsets, lists->capacity, lists->count, lists->position };
    clv_result result = ask_all( space, &job, &all );
    lists->count = all.count;
    lists->position = all.position;
    return result;
}
