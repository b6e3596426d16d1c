// SPDX-License-Identifier: MIT
// Lists of queries at the door: is each a question, of this call's arithmetic, for a space of this kind?
#include "space/space_query.h"

enum
{
    CHECKED_QUERIES = 4096, // of a list, looked at by one worker at a time
};

// A kind of the other arithmetic is not for this call, whatever the space.
static bool is_of_family( const query_family* family, clv_query_kind kind )
{
    return query_is_wide( kind ) == ( family == &clv_query_family_doubles );
}

typedef struct check_job
{
    const query_family* family;
    const clv_queries* queries;
    atomic_uint first_bad; // the least that any worker found
} check_job;

static void check_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    check_job* job = context;
    uint32_t first = piece * CHECKED_QUERIES, count = job->queries->count;
    uint32_t end = count - first < CHECKED_QUERIES ? count : first + CHECKED_QUERIES;
    for ( uint32_t i = first; i < end; ++i )
    {
        if ( job->family->check( job->queries, i ) != CLV_OK )
        {
            unsigned int least = atomic_load_explicit( &job->first_bad, memory_order_relaxed );
            while ( i < least &&
                !atomic_compare_exchange_weak_explicit(
                    &job->first_bad, &least, i, memory_order_relaxed, memory_order_relaxed ) )
            {
            }
            return;
        }
    }
}

static clv_result check_list( const clv_space* space, const query_family* family, const clv_queries* queries,
    query_mode mode, uint32_t* position )
{
    if ( !is_of_family( family, queries->kind ) )
    {
        return CLV_UNSUPPORTED;
    }
    uint32_t count = queries->count;
    uint32_t bad = count > 0 && !family->fits( queries->kind, mode ) ? 0 : UINT32_MAX;
    clv_result result = bad == 0 ? CLV_BAD_ARGUMENT : CLV_OK;
    if ( result == CLV_OK && count > 0 )
    {
        check_job job = { .family = family, .queries = queries };
        atomic_init( &job.first_bad, UINT32_MAX );
        task_runner alone = { 0 };
        // A busy space has its workers elsewhere, and will refuse.
        bool is_long =
            count > CHECKED_QUERIES && space_queries_are_shared( space, family, queries ) && !space->is_busy;
        task_runner* tasks = is_long ? clv_space_take_workers( space_unlocked( space ), &alone ) : &alone;
        clv_task_run( tasks, check_piece, ( count - 1 ) / CHECKED_QUERIES + 1, &job );
        space_give_workers( space_unlocked( space ), tasks );
        bad = atomic_load_explicit( &job.first_bad, memory_order_relaxed );
        result = bad != UINT32_MAX ? family->check( queries, bad ) : CLV_OK;
    }
    if ( result != CLV_OK && position != NULL )
    {
        *position = bad;
    }
    return result;
}

// Which spaces a list may be put to. Kinds that are none are refused item by item.
static space_kind space_for( clv_query_kind kind )
{
    return query_is_flat( kind ) ? SPACE_FLAT : query_is_wide( kind ) ? SPACE_DOUBLES : SPACE_FLOATS;
}

clv_result clv_space_open_list( const clv_space* space, const query_family* family,
    const clv_queries* queries, query_mode mode, uint32_t* position, query_scene* scene )
{
    clv_result result = check_list( space, family, queries, mode, position );
    return result == CLV_OK ? clv_space_open_scene( space, space_for( queries->kind ), scene ) : result;
}
