// SPDX-License-Identifier: MIT
// The doors of cleave/query.h: lists of queries checked, the structure made ready by the first who asks, and the work shared.
#include "space/space_internal.h"

#include "base/assertion.h"
#include "base/fp_mode.h"
#include "base/radix_sort.h"
#include "query/query_family.h"
#include "query/query_order.h"

#include <string.h>

enum
{
    PIECE_QUERIES = QUERY_SOME, // of a list, done by one worker at a time
    SHARED_QUERIES = 256,       // lists from here on are shared
    CHECKED_QUERIES = 4096,     // of a list, looked at by one worker at a time
    ROUND_PIECES = 512,         // whose hits wait at once until all know their places
    PIECE_HITS = 1024, // that each has room for; one with more searches again when it knows where they go
    FEW_HITS = 512,
    ORDERED_NODES =
        16384, // 4 MiB of them do not stay in the cache by themselves; of less, sorting gains nothing
};

// ---- in and out

// Queries read a space, and yet the first of them makes the structure: that part of it has a lock.
static clv_space* unlocked( const clv_space* space )
{
    clv_space* mutable;
    memcpy( &mutable, &space, sizeof( mutable ) );
    return mutable;
}

static const task_runner s_alone = { 0 };

// The space's workers, for whoever comes first; the others work alone.
static task_runner* take_workers( clv_space* space, task_runner* alone )
{
    *alone = s_alone;
    bool are_out = atomic_flag_test_and_set_explicit( &space->query.workers_are_out, memory_order_acquire );
    return are_out ? alone : &space->tasks;
}

static void give_workers( clv_space* space, const task_runner* taken )
{
    if ( taken == &space->tasks )
    {
        atomic_flag_clear_explicit( &space->query.workers_are_out, memory_order_release );
    }
}

// From here to `stop_reading` hooks and callbacks may be called, and what would change the space is refused.
static void start_reading( clv_space* space )
{
    atomic_fetch_add_explicit( &space->query.reader_count, 1, memory_order_relaxed );
}

static void stop_reading( clv_space* space )
{
    atomic_fetch_sub_explicit( &space->query.reader_count, 1, memory_order_relaxed );
}

static clv_result make_ready( clv_space* space )
{
    query_state* state = &space->query;
    task_runner alone;
    start_reading( space );
    clv_task_lock_take( &state->lock );
    clv_result result = CLV_OK;
    if ( !atomic_load_explicit( &state->is_ready, memory_order_relaxed ) )
    {
        task_runner* tasks = take_workers( space, &alone );
        result =
            clv_query_state_prepare( state, &space->objects, space->kernels->queries, &space->memory, tasks );
        give_workers( space, tasks );
    }
    clv_task_lock_give( &state->lock );
    stop_reading( space );
    return result;
}

// Which spaces a list may be put to. Kinds that are none are refused item by item.
static space_kind space_for( clv_query_kind kind )
{
    return query_is_flat( kind ) ? SPACE_FLAT : query_is_wide( kind ) ? SPACE_DOUBLES : SPACE_FLOATS;
}

// What there is to ask about, ready. An empty scene before the first update.
static clv_result open_scene( const clv_space* asked, space_kind kind, query_scene* scene )
{
    static const query_tree no_tree = { 0 };
    clv_space* space = unlocked( asked );
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
    *scene = ( query_scene ){
        .tree = state->has_boxes ? &state->tree : &no_tree,
        .boxes = state->boxes,
        .given = state->has_given ? state->given : NULL,
        .generations = state->generations,
        .objects = &space->objects,
        .kernels = space->kernels->queries,
        .space = asked,
        .may_be_gone = state->may_be_gone,
        .wide = &state->wide,
        .boxes64 = state->boxes64,
        .given64 = state->has_given64 ? state->given64 : NULL,
    };
    return CLV_OK;
}

base_memory clv_space_memory( const clv_space* asked )
{
    clv_space* space = unlocked( asked );
    clv_task_lock_take( &space->query.lock );
    base_memory memory = space->memory;
    clv_task_lock_give( &space->query.lock );
    return memory;
}

// A kind of the other arithmetic is not for this call, whatever the space.
static bool is_of_family( const query_family* family, clv_query_kind kind )
{
    return query_is_wide( kind ) == ( family == &clv_query_family_doubles );
}

// Is there a callback, and so one thread alone? That of the other arithmetic is left alone.
static bool queries_have_callback( const query_family* family, const clv_queries* queries )
{
    return family == &clv_query_family_doubles ? queries->callback64 != NULL : queries->callback != NULL;
}

typedef struct check_job
{
    const query_family* family;
    const clv_queries* queries;
    atomic_uint first_bad; // the least that anybody found
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

// Is the list worth the workers, and may they have it?
static bool is_shared( const clv_space* space, const query_family* family, const clv_queries* queries )
{
    return !queries_have_callback( family, queries ) && queries->count >= SHARED_QUERIES &&
        task_worker_count( &space->tasks ) > 1;
}

static clv_result check_queries( const clv_space* space, const query_family* family,
    const clv_queries* queries, query_mode mode, uint32_t* position )
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
        task_runner alone = s_alone;
        // A busy space has its workers elsewhere, and will refuse.
        bool is_long = count > CHECKED_QUERIES && is_shared( space, family, queries ) && !space->is_busy;
        task_runner* tasks = is_long ? take_workers( unlocked( space ), &alone ) : &alone;
        clv_task_run( tasks, check_piece, ( count - 1 ) / CHECKED_QUERIES + 1, &job );
        give_workers( unlocked( space ), tasks );
        bad = atomic_load_explicit( &job.first_bad, memory_order_relaxed );
        result = bad != UINT32_MAX ? family->check( queries, bad ) : CLV_OK;
    }
    if ( result != CLV_OK && position != NULL )
    {
        *position = bad;
    }
    return result;
}

// ---- lists

typedef struct query_job
{
    const query_family* family;
    query_scene scene;
    const clv_queries* queries;
    query_mode mode;
    uint32_t k;
    double max_distance;
    void* hits;        // one or k for each query; or all
    uint64_t* offsets; // all

    const base_keyed* order; // in which one-hit lists are gone through; NULL: as they come

    uint32_t first_piece; // of this round
    void* waiting;        // PIECE_HITS for each piece of a round, or none
    uint64_t room;        // PIECE_HITS, or none
    bool is_over[ROUND_PIECES];
} query_job;

static void* hit_at( const query_family* family, void* hits, uint64_t index )
{
    return (char*)hits + index * family->hit_size;
}

static void piece_range( const query_job* job, uint32_t piece, uint32_t* first, uint32_t* end )
{
    uint32_t count = job->queries->count;
    *first = piece * PIECE_QUERIES;
    *end = count - *first < PIECE_QUERIES ? count : *first + PIECE_QUERIES;
}

static uint32_t query_pieces( const query_job* job )
{
    return job->queries->count / PIECE_QUERIES + ( job->queries->count % PIECE_QUERIES > 0 ? 1 : 0 );
}

static void answer_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const query_job* job = context;
    uint32_t first, end, which[PIECE_QUERIES];
    piece_range( job, piece, &first, &end );
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
    start_reading( space );
    clv_task_lock_take( &state->lock );
    bool has_room = clv_base_memory_renew( &space->memory, &state->order, &state->order_capacity, count,
                        sizeof( base_keyed ) ) &&
        clv_base_memory_renew(
            &space->memory, &state->more_order, &state->more_order_capacity, count, sizeof( base_keyed ) );
    clv_task_lock_give( &state->lock );
    stop_reading( space );
    if ( has_room )
    {
        job->order = clv_query_order( job->queries, &job->scene, state->order, state->more_order, tasks );
    }
}

static void answer_list( clv_space* space, query_job* job )
{
    task_runner alone = s_alone;
    bool is_long =
        !queries_have_callback( job->family, job->queries ) && job->queries->count >= SHARED_QUERIES;
    task_runner* tasks = is_long ? take_workers( space, &alone ) : &alone;
    job->order = NULL;
    if ( tasks != &alone )
    {
        order_queries( space, job, tasks );
    }
    clv_task_run( tasks, answer_piece, query_pieces( job ), job );
    give_workers( space, tasks );
}

static clv_result ask_each( const clv_space* space, query_job* job, uint32_t* position )
{
    CLV_ASSERT( space != NULL && job->queries != NULL );
    CLV_ASSERT( job->queries->count == 0 || ( job->queries->items != NULL && job->hits != NULL ) );
    base_fp_mode mode = base_fp_enter();
    clv_result result = check_queries( space, job->family, job->queries, job->mode, position );
    result = result == CLV_OK ? open_scene( space, space_for( job->queries->kind ), &job->scene ) : result;
    if ( result == CLV_OK )
    {
        bool may_call = queries_have_callback( job->family, job->queries );
        if ( may_call )
        {
            start_reading( unlocked( space ) );
        }
        answer_list( unlocked( space ), job );
        if ( may_call )
        {
            stop_reading( unlocked( space ) );
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

// ---- all hits

// Hits of a piece wait in a place of their own; how many each query has is noted where its offset will be.
static void find_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    query_job* job = context;
    uint32_t first, end;
    piece_range( job, job->first_piece + index, &first, &end );
    const query_family* family = job->family;
    void* waiting =
        job->waiting != NULL ? hit_at( family, job->waiting, (uint64_t)index * PIECE_HITS ) : NULL;
    uint64_t used = 0;
    for ( uint32_t i = first; i < end; ++i )
    {
        uint64_t count = family->find_all( &job->scene, job->queries, i,
            waiting != NULL ? hit_at( family, waiting, used ) : NULL, job->room - used );
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
    piece_range( job, job->first_piece + index, &first, &end );
    if ( !job->is_over[index] )
    {
        uint64_t count = job->offsets[end] - job->offsets[first];
        if ( count > 0 )
        {
            memcpy( hit_at( job->family, job->hits, job->offsets[first] ),
                hit_at( job->family, job->waiting, (uint64_t)index * PIECE_HITS ),
                (size_t)count * job->family->hit_size );
        }
        return;
    }
    for ( uint32_t i = first; i < end; ++i )
    {
        uint64_t count = job->offsets[i + 1] - job->offsets[i];
        if ( count > 0 )
        {
            job->family->find_all(
                &job->scene, job->queries, i, hit_at( job->family, job->hits, job->offsets[i] ), count );
        }
    }
}

// Without room for hits that wait every piece is searched twice, which is all that a lack of memory does here.
static void reserve_waiting( clv_space* space, query_job* job, uint32_t pieces )
{
    query_state* state = &space->query;
    start_reading( space );
    clv_task_lock_take( &state->lock );
    uint64_t bytes = (uint64_t)pieces * PIECE_HITS * job->family->hit_size;
    bool has_room = clv_base_memory_renew( &space->memory, &state->hits, &state->hit_capacity,
        bytes / sizeof( clv_hit64 ) + 1, sizeof( clv_hit64 ) );
    clv_task_lock_give( &state->lock );
    stop_reading( space );
    job->waiting = has_room ? state->hits : NULL;
    job->room = has_room ? PIECE_HITS : 0;
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
    uint32_t pieces = query_pieces( job );
    uint32_t round = pieces < ROUND_PIECES ? pieces : ROUND_PIECES;
    reserve_waiting( space, job, round );
    job->offsets[0] = 0;
    for ( uint32_t done = 0; done < pieces; done += round )
    {
        uint32_t count = pieces - done < round ? pieces - done : round;
        uint32_t first, end, unused;
        job->first_piece = done;
        memset( job->is_over, 0, sizeof( job->is_over ) );
        clv_task_run( tasks, find_piece, count, job );
        piece_range( job, done, &first, &unused );
        piece_range( job, done + count - 1, &unused, &end );
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
        total += job->family->find_all(
            &job->scene, job->queries, i, room > 0 ? hit_at( job->family, job->hits, total ) : NULL, room );
    }
    if ( lists->offsets != NULL )
    {
        lists->offsets[job->queries->count] = total;
    }
    lists->count = total;
}

static void find_lists( clv_space* space, query_job* job, hit_lists* lists )
{
    task_runner alone = s_alone;
    bool is_shared_list = is_shared( space, job->family, job->queries ) && lists->offsets != NULL;
    task_runner* tasks = is_shared_list ? take_workers( space, &alone ) : &alone;
    if ( tasks != &alone )
    {
        find_shared( space, job, lists, tasks );
    }
    else
    {
        find_alone( job, lists );
    }
    give_workers( space, tasks );
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
    clv_result result = check_queries( space, job->family, queries, QUERY_ALL, &lists->position );
    result = result == CLV_OK ? open_scene( space, space_for( queries->kind ), &job->scene ) : result;
    if ( result == CLV_OK )
    {
        bool may_call = queries_have_callback( job->family, queries );
        if ( may_call )
        {
            start_reading( unlocked( space ) );
        }
        find_lists( unlocked( space ), job, lists );
        if ( may_call )
        {
            stop_reading( unlocked( space ) );
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

// ---- one after the other

// Hits of one query: a few on the stack, many in memory of the space's.
typedef struct hit_room
{
    clv_space* space;
    const query_family* family;
    void* hits;
    uint64_t capacity;
    clv_hit64 few[FEW_HITS]; // the larger of the two kinds of hits
} hit_room;

static void open_room( hit_room* room, const clv_space* space, const query_family* family )
{
    room->space = unlocked( space );
    room->family = family;
    room->hits = room->few;
    room->capacity = FEW_HITS;
}

static void close_room( hit_room* room )
{
    if ( room->hits != NULL && room->hits != room->few )
    {
        clv_task_lock_take( &room->space->query.lock );
        clv_base_memory_give( &room->space->memory, room->hits, room->capacity, room->family->hit_size );
        clv_task_lock_give( &room->space->query.lock );
    }
}

static bool widen_room( hit_room* room, uint64_t needed )
{
    if ( needed <= room->capacity )
    {
        return true;
    }
    close_room( room );
    clv_task_lock_take( &room->space->query.lock );
    room->hits = clv_base_memory_take( &room->space->memory, needed + needed / 4, room->family->hit_size );
    clv_task_lock_give( &room->space->query.lock );
    room->capacity = room->hits != NULL ? needed + needed / 4 : 0;
    return room->hits != NULL;
}

static bool find_in_room(
    hit_room* room, const query_scene* scene, const clv_queries* list, uint32_t index, uint64_t* count )
{
    *count = room->family->find_all( scene, list, index, room->hits, room->capacity );
    if ( *count <= room->capacity )
    {
        return true;
    }
    if ( !widen_room( room, *count ) )
    {
        return false;
    }
    room->family->find_all( scene, list, index, room->hits, room->capacity );
    return true;
}

// A visitor of either kind.
typedef struct hit_visitor
{
    const query_family* family;
    clv_query_visitor* visit;
    clv_query_visitor64* visit64;
    void* user;
} hit_visitor;

static bool show_hits( const hit_visitor* visitor, uint32_t query, const void* hits, uint64_t count )
{
    return visitor->visit64 != NULL ? visitor->visit64( query, hits, count, visitor->user )
                                    : visitor->visit( query, hits, count, visitor->user );
}

static clv_result visit_queries(
    const clv_space* space, const query_scene* scene, const clv_queries* queries, const hit_visitor* visitor )
{
    hit_room room;
    open_room( &room, space, visitor->family );
    clv_result result = CLV_OK;
    // A callback is asked once: room for all there can be.
    if ( queries_have_callback( visitor->family, queries ) && !widen_room( &room, scene->tree->item_count ) )
    {
        result = CLV_OUT_OF_MEMORY;
    }
    for ( uint32_t i = 0; i < queries->count && result == CLV_OK; ++i )
    {
        uint64_t count = 0;
        if ( !find_in_room( &room, scene, queries, i, &count ) )
        {
            result = CLV_OUT_OF_MEMORY;
            break;
        }
        result = show_hits( visitor, i, room.hits, count ) ? CLV_OK : CLV_STOPPED;
    }
    close_room( &room );
    return result;
}

static clv_result visit_all(
    const clv_space* space, const clv_queries* queries, const hit_visitor* visitor, uint32_t* position )
{
    CLV_ASSERT( space != NULL && queries != NULL );
    CLV_ASSERT( queries->count == 0 || queries->items != NULL );
    base_fp_mode mode = base_fp_enter();
    query_scene scene;
    clv_result result = check_queries( space, visitor->family, queries, QUERY_ALL, position );
    result = result == CLV_OK ? open_scene( space, space_for( queries->kind ), &scene ) : result;
    if ( result == CLV_OK )
    {
        start_reading( unlocked( space ) );
        result = visit_queries( space, &scene, queries, visitor );
        stop_reading( unlocked( space ) );
    }
    base_fp_leave( mode );
    return result;
}

clv_result clv_space_query_visit( const clv_space* space, const clv_queries* queries,
    clv_query_visitor* visitor, void* user, uint32_t* position )
{
    CLV_ASSERT( visitor != NULL );
    const hit_visitor any = { &clv_query_family_floats, visitor, NULL, user };
    return visit_all( space, queries, &any, position );
}

clv_result clv_space_query_visit64( const clv_space* space, const clv_queries* queries,
    clv_query_visitor64* visitor, void* user, uint32_t* position )
{
    CLV_ASSERT( visitor != NULL );
    const hit_visitor any = { &clv_query_family_doubles, NULL, visitor, user };
    return visit_all( space, queries, &any, position );
}

// ---- two spaces

typedef struct pair_output
{
    clv_pair* pairs;
    uint64_t capacity, count;
} pair_output;

static void put_pairs_of(
    pair_output* out, uint32_t slot, const query_family* family, void* hits, uint64_t count )
{
    for ( uint64_t i = 0; i < count && out->count + count <= out->capacity; ++i )
    {
        uint32_t index; // both kinds of hits begin with it
        memcpy( &index, hit_at( family, hits, i ), sizeof( index ) );
        out->pairs[out->count + i] = ( clv_pair ){ slot, index };
    }
    out->count += count;
}

static const query_family* family_of( const query_scene* scene )
{
    return scene->boxes64 != NULL ? &clv_query_family_doubles : &clv_query_family_floats;
}

static bool is_alive( const query_scene* scene, uint32_t slot )
{
    uint32_t generation = scene->generations[slot];
    return ( generation & 1 ) != 0 &&
        ( !scene->may_be_gone || object_generations( scene->objects )[slot] == generation );
}

// Pairs of a list of boxes with all of another space, one box after the other.
static clv_result find_pairs_alone( const clv_space* second, const query_scene* one, const query_scene* other,
    const clv_queries* queries, pair_output* out )
{
    hit_room room;
    open_room( &room, second, family_of( one ) );
    clv_result result = CLV_OK;
    for ( uint32_t slot = 0; slot < queries->count && result == CLV_OK; ++slot )
    {
        uint64_t count = 0;
        if ( !is_alive( one, slot ) )
        {
            continue;
        }
        if ( !find_in_room( &room, other, queries, slot, &count ) )
        {
            result = CLV_OUT_OF_MEMORY;
            break;
        }
        put_pairs_of( out, slot, room.family, room.hits, count );
    }
    close_room( &room );
    return result;
}

// The same by all workers, a piece of the list at a time, as find_shared does it.
typedef struct pair_job
{
    query_job list;
    const query_scene* one;
    const clv_space* second;
    base_keyed* counts; // key: how many hits a slot has
    uint64_t piece_counts[ROUND_PIECES];
    pair_output out;
} pair_job;

static void find_pairs_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    pair_job* job = context;
    query_job* list = &job->list;
    uint32_t first, end;
    piece_range( list, list->first_piece + index, &first, &end );
    const query_family* family = list->family;
    void* waiting =
        list->waiting != NULL ? hit_at( family, list->waiting, (uint64_t)index * PIECE_HITS ) : NULL;
    uint64_t used = 0, total = 0;
    bool is_over = false;
    for ( uint32_t slot = first; slot < end; ++slot )
    {
        uint64_t room = list->room - used, count = 0;
        if ( is_alive( job->one, slot ) )
        {
            count = family->find_all( &list->scene, list->queries, slot,
                waiting != NULL ? hit_at( family, waiting, used ) : NULL, room );
        }
        job->counts[slot] = ( base_keyed ){ (uint32_t)count, slot };
        is_over |= count > room;
        used += count <= room ? count : room;
        total += count;
    }
    job->piece_counts[index] = total;
    list->is_over[index] = is_over;
}

static void place_pairs_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    pair_job* job = context;
    query_job* list = &job->list;
    uint32_t first, end;
    piece_range( list, list->first_piece + index, &first, &end );
    const query_family* family = list->family;
    void* waiting =
        list->waiting != NULL ? hit_at( family, list->waiting, (uint64_t)index * PIECE_HITS ) : NULL;
    pair_output out = { job->out.pairs, job->out.capacity, job->piece_counts[index] };
    clv_hit64 few[FEW_HITS]; // the larger of the two kinds of hits
    for ( uint32_t slot = first; slot < end; ++slot )
    {
        uint64_t count = job->counts[slot].key;
        if ( !list->is_over[index] )
        {
            put_pairs_of( &out, slot, family, waiting, count );
            waiting = count > 0 ? hit_at( family, waiting, count ) : waiting;
        }
        else if ( count > FEW_HITS )
        {
            out.count += count; // place_long_lists
        }
        else if ( count > 0 )
        {
            family->find_all( &list->scene, list->queries, slot, few, FEW_HITS );
            put_pairs_of( &out, slot, family, few, count );
        }
    }
}

// Lists that need memory are the calling thread's: hooks of the caller's hear of no other.
static clv_result place_long_lists( pair_job* job, uint32_t piece_count )
{
    query_job* list = &job->list;
    hit_room room;
    open_room( &room, job->second, list->family );
    clv_result result = CLV_OK;
    for ( uint32_t index = 0; index < piece_count && result == CLV_OK; ++index )
    {
        uint32_t first, end;
        piece_range( list, list->first_piece + index, &first, &end );
        pair_output out = { job->out.pairs, job->out.capacity, job->piece_counts[index] };
        for ( uint32_t slot = first; list->is_over[index] && slot < end && result == CLV_OK; ++slot )
        {
            uint64_t count = job->counts[slot].key;
            if ( count <= FEW_HITS )
            {
                out.count += count;
            }
            else if ( find_in_room( &room, &list->scene, list->queries, slot, &count ) )
            {
                put_pairs_of( &out, slot, list->family, room.hits, count );
            }
            else
            {
                result = CLV_OUT_OF_MEMORY;
            }
        }
    }
    close_room( &room );
    return result;
}

static clv_result find_pairs_shared( clv_space* second, pair_job* job, task_runner* tasks )
{
    query_job* list = &job->list;
    uint32_t pieces = query_pieces( list ), round = pieces < ROUND_PIECES ? pieces : ROUND_PIECES;
    reserve_waiting( second, list, round );
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

// The boxes of the one are the queries of the other: query i is slot i.
static clv_result find_pairs( const clv_space* second, const query_scene* one, const query_scene* other,
    uint32_t slot_count, bool as_given, pair_output* out )
{
    const clv_filter usual = clv_default_filter();
    const clv_filter* filters = one->objects->columns[OBJECT_FILTER];
    const query_family* family = family_of( one );
    clv_queries queries =
        clv_query_boxes( as_given && one->given != NULL ? one->given : one->boxes, slot_count );
    if ( family == &clv_query_family_doubles )
    {
        queries =
            clv_query_boxes64( as_given && one->given64 != NULL ? one->given64 : one->boxes64, slot_count );
    }
    queries.filters = filters != NULL ? filters : &usual;
    queries.filter_each = filters != NULL;
    if ( filters == NULL && other->objects->columns[OBJECT_FILTER] == NULL )
    {
        queries.filters = NULL;
    }
    queries.as_given = as_given;
    task_runner alone = s_alone;
    clv_space* owner = unlocked( second );
    task_runner* tasks = is_shared( second, family, &queries ) ? take_workers( owner, &alone ) : &alone;
    base_keyed* counts = tasks != &alone ? reserve_counts( owner, slot_count ) : NULL;
    clv_result result;
    if ( counts != NULL )
    {
        pair_job job = { .one = one, .second = second, .counts = counts, .out = *out };
        job.list.scene = *other;
        job.list.family = family;
        job.list.queries = &queries;
        result = find_pairs_shared( owner, &job, tasks );
        out->count = job.out.count;
    }
    else
    {
        result = find_pairs_alone( second, one, other, &queries, out );
    }
    give_workers( owner, tasks );
    return result;
}

clv_result clv_space_query_pairs( const clv_space* first, const clv_space* second, bool as_given,
    clv_pair* pairs, uint64_t capacity, uint64_t* count )
{
    CLV_ASSERT( first != NULL && second != NULL && count != NULL && ( pairs != NULL || capacity == 0 ) );
    base_fp_mode mode = base_fp_enter();
    query_scene one, other;
    space_kind kind = space_kind_of( first );
    clv_result result = open_scene( first, kind, &one );
    result = result == CLV_OK ? open_scene( second, kind, &other ) : result;
    pair_output out = { pairs, capacity, 0 };
    if ( result == CLV_OK )
    {
        uint32_t slot_count = first->query.has_boxes ? first->query.slot_count : 0;
        start_reading( unlocked( second ) );
        result = find_pairs( second, &one, &other, slot_count, as_given, &out );
        stop_reading( unlocked( second ) );
    }
    *count = result == CLV_OK ? out.count : 0;
    base_fp_leave( mode );
    return result == CLV_OK && out.count > capacity ? CLV_NO_ROOM : result;
}

// ---- without a search for pairs

clv_result clv_space_refresh( clv_space* space )
{
    CLV_ASSERT( space != NULL );
    if ( !clv_space_enter( space ) )
    {
        return CLV_BUSY;
    }
    base_fp_mode mode = base_fp_enter();
    query_state* state = &space->query;
    clv_space_will_change( space, space->objects.motion_is_spent );
    clv_space_drop_motions( space );
    // Doubles: a map that tells the boxes apart makes a better tree. Without memory for one the last one serves.
    if ( !clv_object_store_list_live( &space->objects ) || !clv_space_fit_doubles( space ) )
    {
        space->in_vain_count = 0;
    }
    clv_query_state_renew( state );
    clv_result result = clv_query_state_prepare(
        state, &space->objects, space->kernels->queries, &space->memory, &space->tasks );
    base_fp_leave( mode );
    return clv_space_leave( space,
        result == CLV_OK
            ? clv_space_succeed( space )
            : clv_space_fail( space, result, UINT32_MAX, clv_null_id(),
                  "out of memory for what queries need of %u objects", space->objects.live_count ) );
}
