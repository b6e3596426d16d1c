// SPDX-License-Identifier: MIT
// Lists of queries at the doors of a space: each call is one list of probes, whatever its arithmetic. A list
// is checked as a whole, then done in pieces, by the workers where it is long.
#include "space/space_query.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "base/fp_mode.h"

enum
{
    CHECKED_QUERIES = 4096, // of a list, looked at by one worker at a time
    ORDERED_NODES =
        16384, // 4 MiB of them do not stay in the cache by themselves; of less, sorting gains nothing
};

// ---- lists of either arithmetic

// clv_queries or clv_queries64. All members of its union point to rows of the kind's items.
#define LIST_OF( q, suffix )                                                                                 \
    ( ( query_list ){ .kind = ( q )->kind,                                                                   \
        .count = ( q )->count,                                                                               \
        .items = ( q )->points,                                                                              \
        .filters = ( q )->filters,                                                                           \
        .filter_each = ( q )->filter_each,                                                                   \
        .as_given = ( q )->as_given,                                                                         \
        .callback##suffix = ( q )->callback,                                                                 \
        .user = ( q )->user,                                                                                 \
        .is_double = sizeof( *( q )->points ) == sizeof( clv_vec64 ) } )

// ---- is each a question, for a space of this kind?

static bool are_finite( const clv_vec3* v )
{
    return v->x - v->x == 0 && v->y - v->y == 0 && v->z - v->z == 0;
}

// Rays of floats as they stand, as in query_search.c.
static clv_result check_item( const query_list* list, uint32_t index )
{
    CLV_ASSERT( index < list->count );
    query_probe probe;
    if ( list->kind == CLV_QUERY_RAY )
    {
        const clv_ray* ray = &( (const clv_ray*)list->items )[index];
        bool is_good = are_finite( &ray->origin ) && are_finite( &ray->direction ) && ray->max_t >= 0;
        return is_good ? CLV_OK : CLV_BAD_ARGUMENT;
    }
    if ( list->kind == CLV_QUERY_BOX )
    {
        return clv_aabb_is_valid( ( (const clv_aabb*)list->items )[index] ) ? CLV_OK : CLV_BAD_BOX;
    }
    if ( list->kind == CLV_QUERY_BOX64 )
    {
        return clv_aabb64_is_valid( ( (const clv_aabb64*)list->items )[index] ) ? CLV_OK : CLV_BAD_BOX;
    }
    query_probe_read( &probe, list->kind, list->items, index );
    return clv_query_check( &probe );
}

typedef struct check_job
{
    const query_list* list;
    atomic_uint first_bad; // the least that any worker found
} check_job;

static void check_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    check_job* job = context;
    uint32_t first = piece * CHECKED_QUERIES, count = job->list->count;
    uint32_t end = count - first < CHECKED_QUERIES ? count : first + CHECKED_QUERIES;
    for ( uint32_t i = first; i < end; ++i )
    {
        if ( check_item( job->list, i ) != CLV_OK )
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

static clv_result check_list(
    const clv_space* space, const query_list* list, query_mode mode, uint32_t* position )
{
    uint32_t count = list->count;
    uint32_t bad = count > 0 && !query_mode_fits( list->kind, mode ) ? 0 : UINT32_MAX;
    clv_result result = bad == 0 ? CLV_BAD_ARGUMENT : CLV_OK;
    if ( result == CLV_OK && count > 0 )
    {
        check_job job = { .list = list };
        atomic_init( &job.first_bad, UINT32_MAX );
        task_runner alone = { 0 };
        // A busy space has its workers elsewhere, and will refuse.
        bool is_long = count > CHECKED_QUERIES && space_queries_are_shared( space, list ) && !space->is_busy;
        task_runner* tasks = is_long ? clv_space_take_workers( space_unlocked( space ), &alone ) : &alone;
        clv_task_run( tasks, check_piece, ( count - 1 ) / CHECKED_QUERIES + 1, &job );
        space_give_workers( space_unlocked( space ), tasks );
        bad = atomic_load_explicit( &job.first_bad, memory_order_relaxed );
        result = bad != UINT32_MAX ? check_item( list, bad ) : CLV_OK;
    }
    CLV_ASSERT( result == CLV_OK || bad < count );
    if ( result != CLV_OK && position != NULL )
    {
        *position = bad;
    }
    return result;
}

// Looks at every query of a list, by workers where it is long, and opens the scene that it is about. The
// first bad one's place goes to `position`, where that is not NULL. Kinds that are none are refused item by
// item.
static clv_result open_list(
    const clv_space* space, const query_list* list, query_mode mode, uint32_t* position, query_scene* scene )
{
    space_kind kind = query_is_flat( list->kind ) ? SPACE_FLAT
        : query_is_double( list->kind )           ? SPACE_DOUBLES
                                                  : SPACE_FLOATS;
    if ( query_is_double( list->kind ) != list->is_double )
    {
        return CLV_UNSUPPORTED; // of the other arithmetic: not for this call, whatever the space
    }
    clv_result result = check_list( space, list, mode, position );
    return result == CLV_OK ? clv_space_open_scene( space, kind, scene ) : result;
}

typedef clv_result answer_function( clv_space* space, query_job* job );

static clv_result find_lists( clv_space* space, query_job* job );
static clv_result visit_queries( clv_space* space, query_job* job );

// What a question does between the door and the answer. A callback is the caller's code: what would change
// the space is refused then.
static clv_result ask_untold(
    const clv_space* space, query_job* job, uint32_t* position, answer_function* answer )
{
    CLV_ASSERT( space != NULL && ( job->list->count == 0 || job->list->items != NULL ) );
    base_fp_mode mode = base_fp_enter();
    clv_result result = open_list( space, job->list, job->mode, position, &job->scene );
    if ( result == CLV_OK )
    {
        clv_space* owner = space_unlocked( space );
        bool may_call = query_calls( job->list ) || job->visitor != NULL || job->visitor64 != NULL;
        if ( may_call )
        {
            space_start_reading( owner );
        }
        result = answer( owner, job );
        if ( may_call )
        {
            space_stop_reading( owner );
        }
    }
    base_fp_leave( mode );
    return result;
}

// ---- a space that is listened to: what callbacks and visitors say is told too

typedef struct told_query
{
    space_tap* tap;
    uint64_t ticket;
    query_job* job;
    query_list own; ///< the caller's list
    clv_query_visitor* visitor;
    clv_query_visitor64* visitor64;
    void* user; ///< of the visitor
} told_query;

static bool tell_counted( const clv_space* space, uint32_t query, clv_hit hit, float* reach, void* user )
{
    const told_query* told = user;
    bool counts = told->own.callback( space, query, hit, reach, told->own.user );
    told->tap->counted(
        told->tap, told->ticket, &( space_counted ){ query, hit.index, counts, (double)*reach } );
    return counts;
}

static bool tell_counted64( const clv_space* space, uint32_t query, clv_hit64 hit, double* reach, void* user )
{
    const told_query* told = user;
    bool counts = told->own.callback64( space, query, hit, reach, told->own.user );
    told->tap->counted( told->tap, told->ticket, &( space_counted ){ query, hit.index, counts, *reach } );
    return counts;
}

static bool tell_seen( uint32_t query, const clv_hit* hits, uint64_t count, void* user )
{
    const told_query* told = user;
    bool wants_more = told->visitor( query, hits, count, told->user );
    told->tap->seen( told->tap, told->job, query, hits, count, wants_more );
    return wants_more;
}

static bool tell_seen64( uint32_t query, const clv_hit64* hits, uint64_t count, void* user )
{
    const told_query* told = user;
    bool wants_more = told->visitor64( query, hits, count, told->user );
    told->tap->seen( told->tap, told->job, query, hits, count, wants_more );
    return wants_more;
}

static space_call_kind call_kind_of( const query_job* job, answer_function* answer )
{
    space_call_kind kind = answer == visit_queries ? SPACE_CALL_QUERY_VISIT
        : answer == find_lists                     ? SPACE_CALL_QUERY_ALL
        : job->mode == QUERY_ANY                   ? SPACE_CALL_QUERY_ANY
        : job->mode == QUERY_CLOSEST               ? SPACE_CALL_QUERY_CLOSEST
                                                   : SPACE_CALL_QUERY_NEAREST;
    return job->list->is_double ? (space_call_kind)( kind + 1 ) : kind;
}

static clv_result ask_told(
    const clv_space* space, query_job* job, uint32_t* position, answer_function* answer )
{
    CLV_ASSERT( space->tap != NULL && job->list != NULL );
    space_call call = { .kind = call_kind_of( job, answer ), .job = job };
    told_query told = { .tap = space->tap,
        .ticket = space->tap->ask( space->tap, space, &call ),
        .job = job,
        .own = *job->list,
        .visitor = job->visitor,
        .visitor64 = job->visitor64,
        .user = job->user };
    query_list list = *job->list;
    list.callback = list.callback != NULL ? tell_counted : NULL;
    list.callback64 = list.callback64 != NULL ? tell_counted64 : NULL;
    list.user = &told;
    job->list = &list;
    job->visitor = job->visitor != NULL ? tell_seen : NULL;
    job->visitor64 = job->visitor64 != NULL ? tell_seen64 : NULL;
    job->user = &told;
    call.lists.position = UINT32_MAX;
    clv_result result = ask_untold( space, job, &call.lists.position, answer );
    if ( position != NULL && call.lists.position != UINT32_MAX )
    {
        *position = call.lists.position;
    }
    told.tap->answer( told.tap, &call, told.ticket, result );
    job->list = NULL; // it ends here, and so does what was told
    job->user = NULL;
    return result;
}

static clv_result ask( const clv_space* space, query_job* job, uint32_t* position, answer_function* answer )
{
    bool is_told = space->tap != NULL && !space->is_busy;
    return is_told ? ask_told( space, job, position, answer ) : ask_untold( space, job, position, answer );
}

// ---- any, closest, nearest
//
// Each answer has its place beforehand, so that pieces go anywhere at any time, and long lists along a curve.

static void answer_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const query_job* job = context;
    uint32_t first, end, which[SPACE_PIECE_QUERIES];
    space_piece_range( job, piece, &first, &end );
    for ( uint32_t i = first; i < end; ++i )
    {
        which[i - first] = job->order != NULL ? job->order[i].value : i;
        CLV_ASSERT( which[i - first] < job->list->count );
    }
    if ( job->mode == QUERY_NEAREST )
    {
        clv_query_find_nearest(
            &job->scene, job->list, which, end - first, job->k, job->max_distance, job->hits );
        return;
    }
    clv_query_find_one( &job->scene, job->list, which, end - first, job->mode, job->hits );
}

// Without memory for an order the list is gone through as it comes.
static void order_queries( clv_space* space, query_job* job, task_runner* tasks )
{
    query_state* state = &space->query;
    uint32_t count = job->list->count;
    if ( job->scene.tree->node_count < ORDERED_NODES || count == 0 || !query_has_order( job->list->kind ) )
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
        job->order = clv_query_order( job->list, &job->scene, state->order, state->more_order, tasks );
    }
}

static clv_result answer_list( clv_space* space, query_job* job )
{
    task_runner alone = { 0 };
    bool is_long = !query_calls( job->list ) && job->list->count >= SPACE_SHARED_QUERIES;
    task_runner* tasks = is_long ? clv_space_take_workers( space, &alone ) : &alone;
    job->order = NULL;
    if ( tasks != &alone )
    {
        order_queries( space, job, tasks );
    }
    clv_task_run( tasks, answer_piece, space_query_pieces( job ), job );
    space_give_workers( space, tasks );
    return CLV_OK;
}

static clv_result ask_each( const clv_space* space, const query_list* list, query_mode mode, uint32_t k,
    double max_distance, void* hits, uint32_t* position )
{
    query_job job = { .list = list, .mode = mode, .k = k, .max_distance = max_distance, .hits = hits };
    CLV_ASSERT( list->count == 0 || hits != NULL );
    if ( !( max_distance >= 0 ) )
    {
        if ( position != NULL )
        {
            *position = 0;
        }
        return CLV_BAD_ARGUMENT;
    }
    return ask( space, &job, position, answer_list );
}

// ---- all
//
// Workers do not know where their hits go before all have counted. Hits wait, piece by piece, and are then
// copied.

// Hits of a piece wait in a place of their own; how many each query has is noted where its offset will be.
static void find_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    query_job* job = context;
    uint32_t first, end;
    void* waiting = space_round_piece( job, index, &first, &end );
    uint64_t used = 0;
    for ( uint32_t i = first; i < end; ++i )
    {
        uint64_t count = clv_query_find_all( &job->scene, job->list, i,
            waiting != NULL ? space_hit_at( job->list, waiting, used ) : NULL, job->room - used );
        job->offsets[i + 1] = count;
        used = count <= job->room - used ? used + count : job->room;
    }
    CLV_ASSERT( used <= job->room );
    job->is_over[index] = used == job->room; // once: others write beside it
}

static void place_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    const query_job* job = context;
    uint32_t first, end;
    const void* waiting = space_round_piece( job, index, &first, &end );
    if ( !job->is_over[index] )
    {
        CLV_ASSERT( job->offsets[first] <= job->offsets[end] && job->offsets[end] <= job->capacity );
        uint64_t count = job->offsets[end] - job->offsets[first];
        if ( count > 0 )
        {
            CLV_ASSERT( waiting != NULL && count < job->room );
            memcpy( space_hit_at( job->list, job->hits, job->offsets[first] ), waiting,
                (size_t)count * query_hit_size( job->list ) );
        }
        return;
    }
    for ( uint32_t i = first; i < end; ++i )
    {
        uint64_t count = job->offsets[i + 1] - job->offsets[i];
        if ( count > 0 )
        {
            clv_query_find_all(
                &job->scene, job->list, i, space_hit_at( job->list, job->hits, job->offsets[i] ), count );
        }
    }
}

void clv_space_reserve_waiting( clv_space* space, query_job* job, uint32_t pieces )
{
    query_state* state = &space->query;
    space_start_reading( space );
    clv_task_lock_take( &state->lock );
    uint64_t bytes = (uint64_t)pieces * SPACE_PIECE_HITS * query_hit_size( job->list );
    bool has_room = clv_base_memory_renew( &space->memory, &state->hits, &state->hit_capacity,
        bytes / sizeof( clv_hit64 ) + 1, sizeof( clv_hit64 ) );
    clv_task_lock_give( &state->lock );
    space_stop_reading( space );
    job->waiting = has_room ? state->hits : NULL;
    job->room = has_room ? SPACE_PIECE_HITS : 0;
}

static void find_shared( clv_space* space, query_job* job, task_runner* tasks )
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
            CLV_ASSERT( job->offsets[i] <= job->offsets[i + 1] );
        }
        if ( job->offsets[end] <= job->capacity )
        {
            clv_task_run( tasks, place_piece, count, job );
        }
    }
    CLV_ASSERT( job->offsets[0] == 0 );
    job->count = job->offsets[job->list->count];
}

static void find_alone( query_job* job )
{
    uint64_t total = 0;
    for ( uint32_t i = 0; i < job->list->count; ++i )
    {
        if ( job->offsets != NULL )
        {
            job->offsets[i] = total;
        }
        uint64_t room = total < job->capacity ? job->capacity - total : 0;
        total += clv_query_find_all(
            &job->scene, job->list, i, room > 0 ? space_hit_at( job->list, job->hits, total ) : NULL, room );
    }
    if ( job->offsets != NULL )
    {
        job->offsets[job->list->count] = total;
    }
    job->count = total;
}

static clv_result find_lists( clv_space* space, query_job* job )
{
    task_runner alone = { 0 };
    bool is_shared_list = space_queries_are_shared( space, job->list ) && job->offsets != NULL;
    task_runner* tasks = is_shared_list ? clv_space_take_workers( space, &alone ) : &alone;
    if ( tasks != &alone )
    {
        find_shared( space, job, tasks );
    }
    else
    {
        find_alone( job );
    }
    space_give_workers( space, tasks );
    return job->count <= job->capacity ? CLV_OK : CLV_NO_ROOM;
}

static clv_result ask_all( const clv_space* space, query_job* job, uint64_t* count, uint32_t* position )
{
    CLV_ASSERT( job->hits != NULL || job->capacity == 0 );
    CLV_ASSERT( job->offsets != NULL || job->list->count <= 1 );
    job->count = *count;
    clv_result result = ask( space, job, position, find_lists );
    *count = job->count;
    return result;
}

// ---- visits: query after query, shown to the caller on its own thread. No arrays of the caller's are needed

void clv_space_room_open( hit_room* room, const clv_space* space, const query_list* list )
{
    room->space = space_unlocked( space );
    room->hit_size = query_hit_size( list );
    CLV_ASSERT( room->hit_size * SPACE_FEW_HITS <= sizeof( room->few ) );
    room->hits = room->few;
    room->capacity = SPACE_FEW_HITS;
}

void clv_space_room_close( hit_room* room )
{
    if ( room->hits != NULL && room->hits != room->few )
    {
        clv_task_lock_take( &room->space->query.lock );
        clv_base_memory_give( &room->space->memory, room->hits, room->capacity, room->hit_size );
        clv_task_lock_give( &room->space->query.lock );
    }
}

bool clv_space_room_widen( hit_room* room, uint64_t needed )
{
    if ( needed <= room->capacity )
    {
        return true;
    }
    clv_space_room_close( room );
    clv_task_lock_take( &room->space->query.lock );
    room->hits = clv_base_memory_take( &room->space->memory, needed + needed / 4, room->hit_size );
    clv_task_lock_give( &room->space->query.lock );
    room->capacity = room->hits != NULL ? needed + needed / 4 : 0;
    return room->hits != NULL;
}

bool clv_space_room_find(
    hit_room* room, const query_scene* scene, const query_list* list, uint32_t index, uint64_t* count )
{
    *count = clv_query_find_all( scene, list, index, room->hits, room->capacity );
    if ( *count <= room->capacity )
    {
        return true;
    }
    if ( !clv_space_room_widen( room, *count ) )
    {
        return false;
    }
    CLV_ASSERT( *count <= room->capacity && !query_calls( list ) );
    clv_query_find_all( scene, list, index, room->hits, room->capacity );
    return true;
}

static bool show_hits( const query_job* job, uint32_t query, const void* hits, uint64_t count )
{
    return job->list->is_double ? job->visitor64( query, hits, count, job->user )
                                : job->visitor( query, hits, count, job->user );
}

static clv_result visit_queries( clv_space* space, query_job* job )
{
    hit_room room;
    clv_space_room_open( &room, space, job->list );
    clv_result result = CLV_OK;
    // A callback is asked once: room for all there can be.
    if ( query_calls( job->list ) && !clv_space_room_widen( &room, job->scene.tree->item_count ) )
    {
        result = CLV_OUT_OF_MEMORY;
    }
    for ( uint32_t i = 0; i < job->list->count && result == CLV_OK; ++i )
    {
        uint64_t count = 0;
        if ( !clv_space_room_find( &room, &job->scene, job->list, i, &count ) )
        {
            result = CLV_OUT_OF_MEMORY;
            break;
        }
        result = show_hits( job, i, room.hits, count ) ? CLV_OK : CLV_STOPPED;
    }
    clv_space_room_close( &room );
    return result;
}

// ---- the doors, of floats and of doubles: clv_space_query_any, _any64 and so on

#define QUERY_DOORS( suffix, real )                                                                          \
    clv_result clv_space_query_any##suffix( const clv_space* space, const clv_queries##suffix* queries,      \
        clv_hit##suffix* hits, uint32_t* position )                                                          \
    {                                                                                                        \
        query_list list = LIST_OF( queries, suffix );                                                        \
        return ask_each( space, &list, QUERY_ANY, 1, 0, hits, position );                                    \
    }                                                                                                        \
    clv_result clv_space_query_closest##suffix( const clv_space* space, const clv_queries##suffix* queries,  \
        clv_hit##suffix* hits, uint32_t* position )                                                          \
    {                                                                                                        \
        query_list list = LIST_OF( queries, suffix );                                                        \
        return ask_each( space, &list, QUERY_CLOSEST, 1, 0, hits, position );                                \
    }                                                                                                        \
    clv_result clv_space_query_nearest##suffix( const clv_space* space, const clv_queries##suffix* queries,  \
        uint32_t k, real max_distance, clv_hit##suffix* hits, uint32_t* position )                           \
    {                                                                                                        \
        query_list list = LIST_OF( queries, suffix );                                                        \
        base_fp_mode mode = base_fp_enter();                                                                 \
        base_fp_settle( &max_distance );                                                                     \
        clv_result result =                                                                                  \
            ask_each( space, &list, QUERY_NEAREST, k, (double)max_distance, hits, position );                \
        base_fp_leave( mode );                                                                               \
        return result;                                                                                       \
    }                                                                                                        \
    clv_result clv_space_query_all##suffix(                                                                  \
        const clv_space* space, const clv_queries##suffix* queries, clv_query_lists##suffix* lists )         \
    {                                                                                                        \
        CLV_ASSERT( lists != NULL );                                                                         \
        query_list list = LIST_OF( queries, suffix );                                                        \
        query_job job = {                                                                                    \
            .list = &list, .hits = lists->hits, .offsets = lists->offsets, .capacity = lists->capacity       \
        };                                                                                                   \
        return ask_all( space, &job, &lists->count, &lists->position );                                      \
    }                                                                                                        \
    clv_result clv_space_query_visit##suffix( const clv_space* space, const clv_queries##suffix* queries,    \
        clv_query_visitor##suffix* visitor, void* user, uint32_t* position )                                 \
    {                                                                                                        \
        CLV_ASSERT( visitor != NULL );                                                                       \
        query_list list = LIST_OF( queries, suffix );                                                        \
        query_job job = { .list = &list, .visitor##suffix = visitor, .user = user };                         \
        return ask( space, &job, position, visit_queries );                                                  \
    }

QUERY_DOORS(, float )
QUERY_DOORS( 64, double )
