// SPDX-License-Identifier: MIT
// Pairs of the boxes of one space with those of another: each box of the first is a query to the second.
#include "space/space_query.h"

#include "base/assertion.h"
#include "base/fp_mode.h"

typedef struct pair_output
{
    clv_pair* pairs;
    uint64_t capacity, count;
} pair_output;

static void put_pairs_of(
    pair_output* out, uint32_t slot, const query_list* list, void* hits, uint64_t count )
{
    CLV_ASSERT( count == 0 || out->count + count > out->capacity || hits != NULL );
    for ( uint64_t i = 0; i < count && out->count + count <= out->capacity; ++i )
    {
        uint32_t index; // both kinds of hits begin with it
        memcpy( &index, space_hit_at( list, hits, i ), sizeof( index ) );
        out->pairs[out->count + i] = ( clv_pair ){ slot, index };
    }
    out->count += count;
}

static bool is_alive( const query_scene* scene, uint32_t slot )
{
    uint32_t generation = scene->generations[slot];
    return ( generation & 1 ) != 0 &&
        ( !scene->may_be_gone || object_generations( scene->objects )[slot] == generation );
}

// Pairs of a list of boxes with all of another space, one box after the other.
static clv_result find_pairs_alone( const clv_space* second, const query_scene* one, const query_scene* other,
    const query_list* queries, pair_output* out )
{
    hit_room room;
    clv_space_room_open( &room, second, queries );
    clv_result result = CLV_OK;
    for ( uint32_t slot = 0; slot < queries->count && result == CLV_OK; ++slot )
    {
        uint64_t count = 0;
        if ( !is_alive( one, slot ) )
        {
            continue;
        }
        if ( !clv_space_room_find( &room, other, queries, slot, &count ) )
        {
            result = CLV_OUT_OF_MEMORY;
            break;
        }
        put_pairs_of( out, slot, queries, room.hits, count );
    }
    clv_space_room_close( &room );
    return result;
}

// The same by all workers, a piece of the list at a time, as find_shared does it.
typedef struct pair_job
{
    query_job list;
    const query_scene* one;
    const clv_space* second;
    base_keyed* counts; // key: how many hits a slot has
    uint64_t piece_counts[SPACE_ROUND_PIECES];
    pair_output out;
} pair_job;

static void find_pairs_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    pair_job* job = context;
    query_job* list = &job->list;
    uint32_t first, end;
    void* waiting = space_round_piece( list, index, &first, &end );
    uint64_t used = 0, total = 0;
    bool is_over = false;
    for ( uint32_t slot = first; slot < end; ++slot )
    {
        uint64_t room = list->room - used, count = 0;
        if ( is_alive( job->one, slot ) )
        {
            count = clv_query_find_all( &list->scene, list->list, slot,
                waiting != NULL ? space_hit_at( list->list, waiting, used ) : NULL, room );
        }
        job->counts[slot] = ( base_keyed ){ (uint32_t)count, slot };
        is_over |= count > room;
        used += count <= room ? count : room;
        total += count;
    }
    CLV_ASSERT( used <= list->room && ( is_over || used == total ) );
    job->piece_counts[index] = total;
    list->is_over[index] = is_over;
}

static void place_pairs_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    pair_job* job = context;
    query_job* list = &job->list;
    uint32_t first, end;
    void* waiting = space_round_piece( list, index, &first, &end );
    pair_output out = { job->out.pairs, job->out.capacity, job->piece_counts[index] };
    clv_hit64 few[SPACE_FEW_HITS]; // the larger of the two kinds of hits
    for ( uint32_t slot = first; slot < end; ++slot )
    {
        uint64_t count = job->counts[slot].key;
        if ( !list->is_over[index] )
        {
            put_pairs_of( &out, slot, list->list, waiting, count );
            waiting = count > 0 ? space_hit_at( list->list, waiting, count ) : waiting;
        }
        else if ( count > SPACE_FEW_HITS )
        {
            out.count += count; // place_long_lists
        }
        else if ( count > 0 )
        {
            clv_query_find_all( &list->scene, list->list, slot, few, SPACE_FEW_HITS );
            put_pairs_of( &out, slot, list->list, few, count );
        }
    }
}

// Lists that need memory are the calling thread's: hooks of the caller's hear of no other.
static clv_result place_long_lists( pair_job* job, uint32_t piece_count )
{
    query_job* list = &job->list;
    hit_room room;
    clv_space_room_open( &room, job->second, list->list );
    clv_result result = CLV_OK;
    for ( uint32_t index = 0; index < piece_count && result == CLV_OK; ++index )
    {
        uint32_t first, end;
        space_piece_range( list, list->first_piece + index, &first, &end );
        pair_output out = { job->out.pairs, job->out.capacity, job->piece_counts[index] };
        for ( uint32_t slot = first; list->is_over[index] && slot < end && result == CLV_OK; ++slot )
        {
            uint64_t count = job->counts[slot].key;
            if ( count <= SPACE_FEW_HITS )
            {
                out.count += count;
            }
            else if ( clv_space_room_find( &room, &list->scene, list->list, slot, &count ) )
            {
                put_pairs_of( &out, slot, list->list, room.hits, count );
            }
            else
            {
                result = CLV_OUT_OF_MEMORY;
            }
        }
    }
    clv_space_room_close( &room );
    return result;
}

static clv_result find_pairs_shared( clv_space* second, pair_job* job, task_runner* tasks )
{
    query_job* list = &job->list;
    uint32_t pieces = space_query_pieces( list ),
             round = pieces < SPACE_ROUND_PIECES ? pieces : SPACE_ROUND_PIECES;
    clv_space_reserve_waiting( second, list, round );
    clv_result result = CLV_OK;
    for ( uint32_t done = 0; done < pieces && result == CLV_OK; done += round )
    {
        uint32_t count = pieces - done < round ? pieces - done : round;
        list->first_piece = done;
        memset( list->is_over, 0, sizeof( list->is_over ) );
        clv_task_run( tasks, find_pairs_piece, count, job );
        for ( uint32_t i = 0; i < count; ++i ) // from how many to where
        {
            uint64_t found = job->piece_counts[i];
            job->piece_counts[i] = job->out.count;
            job->out.count += found;
        }
        if ( job->out.count <= job->out.capacity )
        {
            clv_task_run( tasks, place_pairs_piece, count, job );
            result = place_long_lists( job, count );
        }
    }
    return result;
}

// Room to note how many hits each slot has, which is all that sharing needs.
static base_keyed* reserve_counts( clv_space* space, uint32_t count )
{
    query_state* state = &space->query;
    clv_task_lock_take( &state->lock );
    bool has_room = clv_base_memory_renew(
        &space->memory, &state->order, &state->order_capacity, count, sizeof( base_keyed ) );
    clv_task_lock_give( &state->lock );
    return has_room ? state->order : NULL;
}

// The boxes of the one are the queries of the other: query i is slot i. Filters are asked for only where one
// of the two has some.
static query_list boxes_as_queries( const query_scene* one, const query_scene* other, uint32_t slot_count,
    bool as_given, const clv_filter* usual )
{
    const clv_filter* filters = one->objects->columns[OBJECT_FILTER];
    bool has_filters = filters != NULL || other->objects->columns[OBJECT_FILTER] != NULL;
    query_list list = { .kind = CLV_QUERY_BOX, .count = slot_count, .as_given = as_given };
    list.items = as_given && one->given != NULL ? one->given : one->boxes;
    if ( one->boxes64 != NULL )
    {
        list.kind = CLV_QUERY_BOX64;
        list.is_double = true;
        list.items = as_given && one->given64 != NULL ? one->given64 : one->boxes64;
    }
    CLV_ASSERT( list.items != NULL || slot_count == 0 );
    list.filters = !has_filters ? NULL : filters != NULL ? filters : usual;
    list.filter_each = filters != NULL;
    return list;
}

static clv_result find_pairs( const clv_space* second, const query_scene* one, const query_scene* other,
    uint32_t slot_count, bool as_given, pair_output* out )
{
    const clv_filter usual = clv_default_filter();
    query_list queries = boxes_as_queries( one, other, slot_count, as_given, &usual );
    task_runner alone = { 0 };
    clv_space* owner = space_unlocked( second );
    task_runner* tasks =
        space_queries_are_shared( second, &queries ) ? clv_space_take_workers( owner, &alone ) : &alone;
    base_keyed* counts = tasks != &alone ? reserve_counts( owner, slot_count ) : NULL;
    clv_result result;
    if ( counts != NULL )
    {
        pair_job job = { .one = one, .second = second, .counts = counts, .out = *out };
        job.list.scene = *other;
        job.list.list = &queries;
        result = find_pairs_shared( owner, &job, tasks );
        out->count = job.out.count;
    }
    else
    {
        result = find_pairs_alone( second, one, other, &queries, out );
    }
    space_give_workers( owner, tasks );
    return result;
}

clv_result clv_space_query_pairs( const clv_space* first, const clv_space* second, bool as_given,
    clv_pair* pairs, uint64_t capacity, uint64_t* count )
{
    CLV_ASSERT( first != NULL && second != NULL && count != NULL && ( pairs != NULL || capacity == 0 ) );
    base_fp_mode mode = base_fp_enter();
    query_scene one, other;
    space_kind kind = space_kind_of( first );
    clv_result result = clv_space_open_scene( first, kind, &one );
    result = result == CLV_OK ? clv_space_open_scene( second, kind, &other ) : result;
    pair_output out = { pairs, capacity, 0 };
    if ( result == CLV_OK )
    {
        uint32_t slot_count = first->query.has_boxes ? first->query.slot_count : 0;
        space_start_reading( space_unlocked( second ) );
        result = find_pairs( second, &one, &other, slot_count, as_given, &out );
        space_stop_reading( space_unlocked( second ) );
    }
    *count = result == CLV_OK ? out.count : 0;
    base_fp_leave( mode );
    result = result == CLV_OK && out.count > capacity ? CLV_NO_ROOM : result;
    // A recorder has one space: a call on two spaces cannot be recorded whole.
    if ( first->tap != NULL && first == second && result != CLV_BUSY )
    {
        const space_call call = { .kind = SPACE_CALL_QUERY_PAIRS,
            .as_given = as_given,
            .pairs = pairs,
            .capacity = capacity,
            .pair_count = *count };
        first->tap->answer( first->tap, &call, first->tap->ask( first->tap, first, &call ), result );
    }
    return result;
}
