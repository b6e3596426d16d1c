// SPDX-License-Identifier: MIT
// Questions to other processes and their answers back: counts, then words, both ways. To a process goes, if
// anything does: a head of three words (kind and flags; how many and k; the farthest any looks), the items,
// their filters. Back comes for each question how many hits there are, and for each hit its id, and owner and
// time.
#include "base/assertion.h"
#include "base/heap_sort.h"
#include "mpi_query.h"
#include "mpi_state.h"
#include "query/query_probe.h"

enum
{
    HEAD = 3,
    HAS_FILTERS = 1
};

size_t clv_mpi_query_size( clv_query_kind kind )
{
    bool travels = !query_is_flat( kind ) && !query_is_double( kind ) && kind != CLV_QUERY_HALF_SPACES;
    return travels ? query_kind_size( kind ) : 0;
}

static uint64_t words_for( uint64_t bytes )
{
    return ( bytes + 7 ) / 8;
}

static uint64_t message_words( const clv_queries* list, uint64_t count )
{
    uint64_t filters = list->filters != NULL ? words_for( count * sizeof( clv_filter ) ) : 0;
    return count == 0 ? 0 : HEAD + words_for( count * clv_mpi_query_size( list->kind ) ) + filters;
}

// ---- out

static int32_t receiver_of( const void* user, const void* errand )
{
    (void)user;
    return ( (const mpi_errand*)errand )->to;
}

// A ray or cast, which ends with its longest time, need not go farther than its limit.
static void shorten( clv_query_kind kind, char* item, float limit )
{
    float max_t;
    char* at = item + clv_mpi_query_size( kind ) - sizeof( max_t );
    memcpy( &max_t, at, sizeof( max_t ) );
    if ( query_row_of( kind )->moves && limit < max_t )
    {
        memcpy( at, &limit, sizeof( limit ) );
    }
}

static void write_message(
    clv_mpi_space* space, const mpi_asking* asking, const mpi_errand* errands, uint64_t count, uint64_t* to )
{
    const clv_queries* list = asking->list;
    size_t size = clv_mpi_query_size( list->kind );
    CLV_ASSERT( count > 0 && size > 0 );
    memset( to, 0, message_words( list, count ) * sizeof( uint64_t ) );
    to[0] = (uint64_t)( list->filters != NULL ? HAS_FILTERS : 0 ) << 32 | (uint32_t)list->kind;
    to[1] = (uint64_t)asking->k << 32 | (uint32_t)count;
    char* item = (char*)( to + HEAD );
    char* filter = (char*)( to + HEAD + words_for( count * size ) );
    float most = 0;
    for ( uint64_t i = 0; i < count; ++i )
    {
        uint32_t query = errands[i].query;
        CLV_ASSERT( query < list->count && query < space->questions.limits.capacity );
        memcpy( item + i * size, (const char*)list->points + query * size, size );
        float limit = space->questions.limits.items[query];
        most = limit > most ? limit : most;
        shorten( list->kind, item + i * size, limit );
        if ( list->filters != NULL )
        {
            const clv_filter* who = &list->filters[list->filter_each ? query : 0];
            memcpy( filter + i * sizeof( clv_filter ), who, sizeof( clv_filter ) );
        }
    }
    memcpy( &to[2], &most, sizeof( most ) );
}

static clv_result too_many( clv_mpi_space* space )
{
    return clv_mpi_fail(
        space, CLV_TOO_MANY_OBJECTS, "the questions exceed the message limit: ask in smaller batches" );
}

static clv_result write_questions( clv_mpi_space* space, const mpi_asking* asking )
{
    mpi_questions* q = &space->questions;
    if ( q->errands.count > INT32_MAX ) // each is more than a word, and 32 bits count them
    {
        return too_many( space );
    }
    if ( !base_array_renew( &q->sorted, &space->memory, q->errands.count ) )
    {
        return clv_mpi_reserved( space, false, "questions" );
    }
    clv_mpi_sort_by_rank(
        space, q->errands.items, q->errands.count, sizeof( mpi_errand ), receiver_of, NULL, q->sorted.items );
    mpi_exchange* e = &space->exchange;
    uint64_t total = 0;
    for ( int32_t r = 0; r < space->process_count; ++r )
    {
        e->counts[r] = e->send_words[r]; // errands, of which messages are made
        uint64_t words = message_words( asking->list, (uint64_t)e->counts[r] );
        total += words;
        if ( total > INT32_MAX )
        {
            return too_many( space );
        }
        e->send_words[r] = (int)words;
    }
    clv_mpi_starts_of( e->send_words, e->send_starts, space->process_count );
    if ( !base_array_renew( &q->outbox, &space->memory, total ) )
    {
        return clv_mpi_reserved( space, false, "questions" );
    }
    const mpi_errand* errands = q->sorted.items;
    for ( int32_t r = 0; r < space->process_count; ++r )
    {
        if ( e->counts[r] > 0 )
        {
            CLV_ASSERT( (uint64_t)e->send_starts[r] + (uint64_t)e->send_words[r] <= total );
            write_message(
                space, asking, errands, (uint64_t)e->counts[r], q->outbox.items + e->send_starts[r] );
            errands += e->counts[r];
        }
    }
    CLV_ASSERT( errands == q->sorted.items + q->errands.count );
    return CLV_OK;
}

// ---- answers

// Of the second word of a hit.
static float time_of( uint64_t word )
{
    uint32_t bits = (uint32_t)word;
    float time;
    memcpy( &time, &bits, sizeof( time ) );
    return time;
}

// Hits of a reply: earlier ones first, of those at one time the lower id.
static int compare_hits( const void* a, const void* b )
{
    uint64_t x[2], y[2];
    memcpy( x, a, sizeof( x ) );
    memcpy( y, b, sizeof( y ) );
    float x_time = time_of( x[1] ), y_time = time_of( y[1] );
    return x_time != y_time ? ( x_time > y_time ) - ( x_time < y_time ) : ( x[0] > y[0] ) - ( x[0] < y[0] );
}

// All of them; or, where they are more than `most`, the first `most` in order.
static bool put_hits( clv_mpi_space* space, const clv_hit* hits, uint64_t count, uint64_t most )
{
    base_u64_array* to = &space->questions.replies;
    if ( !base_array_reserve( to, &space->memory, to->count + 1 + 2 * count ) )
    {
        return false;
    }
    uint64_t* at = to->items + to->count + 1;
    for ( uint64_t i = 0; i < count; ++i )
    {
        CLV_ASSERT( hits[i].index < space->slots.end );
        const mpi_identity* name = &space->columns.identities.items[hits[i].index];
        uint32_t time;
        memcpy( &time, &hits[i].t, sizeof( time ) );
        at[2 * i] = name->id;
        at[2 * i + 1] = (uint64_t)(uint32_t)name->owner << 32 | time;
    }
    if ( count > most )
    {
        clv_base_heap_sort( at, (size_t)count, 2 * sizeof( uint64_t ), compare_hits );
        count = most;
    }
    CLV_ASSERT( to->count + 1 + 2 * count <= to->capacity );
    at[-1] = count;
    to->count += 1 + 2 * count;
    return true;
}

// All hits of a list inside, to `local`.
static clv_result find_all( clv_mpi_space* space, const clv_queries* list )
{
    mpi_questions* q = &space->questions;
    if ( !base_array_renew( &q->local_offsets, &space->memory, (uint64_t)list->count + 1 ) ||
        !base_array_renew( &q->local, &space->memory, (uint64_t)list->count * 4 + 64 ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    clv_query_lists lists = { q->local_offsets.items, q->local.items, q->local.capacity, 0, 0 };
    clv_result result = clv_space_query_all( space->inside, list, &lists );
    if ( result != CLV_NO_ROOM )
    {
        return result;
    }
    if ( !base_array_renew( &q->local, &space->memory, lists.count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    lists.hits = q->local.items;
    lists.capacity = q->local.capacity;
    return clv_space_query_all( space->inside, list, &lists );
}

static clv_result answer_all( clv_mpi_space* space, const clv_queries* list )
{
    clv_result result = find_all( space, list );
    const mpi_questions* q = &space->questions;
    for ( uint32_t i = 0; result == CLV_OK && i < list->count; ++i )
    {
        uint64_t first = q->local_offsets.items[i], end = q->local_offsets.items[i + 1];
        CLV_ASSERT( first <= end && end <= q->local.capacity );
        result =
            put_hits( space, q->local.items + first, end - first, UINT64_MAX ) ? CLV_OK : CLV_OUT_OF_MEMORY;
    }
    return result;
}

static clv_result answer_any( clv_mpi_space* space, const clv_queries* list )
{
    mpi_questions* q = &space->questions;
    if ( !base_array_renew( &q->local, &space->memory, list->count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    clv_result result = clv_space_query_any( space->inside, list, q->local.items, NULL );
    for ( uint32_t i = 0; result == CLV_OK && i < list->count; ++i )
    {
        const clv_hit* hit = &q->local.items[i];
        result = put_hits( space, hit, hit->index != CLV_NO_HIT, 1 ) ? CLV_OK : CLV_OUT_OF_MEMORY;
    }
    return result;
}

// Of hits at one time the lowest id counts, and inside it is the lowest slot: so the time is asked for first,
// and then all that is hit until then. Times of casts are rounded to floats: one farther has all that are the
// same.
static clv_result answer_closest( clv_mpi_space* space, clv_queries* list, char* items )
{
    mpi_questions* q = &space->questions;
    if ( !base_array_renew( &q->local, &space->memory, list->count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    clv_result result = clv_space_query_closest( space->inside, list, q->local.items, NULL );
    for ( uint32_t i = 0; result == CLV_OK && i < list->count; ++i )
    {
        const clv_hit* hit = &q->local.items[i];
        // One that hits nothing hits nothing at its beginning.
        shorten( list->kind, items + i * clv_mpi_query_size( list->kind ),
            hit->index != CLV_NO_HIT ? nextafterf( hit->t, INFINITY ) : 0 );
    }
    result = result == CLV_OK ? find_all( space, list ) : result;
    for ( uint32_t i = 0; result == CLV_OK && i < list->count; ++i )
    {
        uint64_t first = q->local_offsets.items[i], end = q->local_offsets.items[i + 1];
        CLV_ASSERT( first <= end && end <= q->local.capacity );
        result = put_hits( space, q->local.items + first, end - first, 1 ) ? CLV_OK : CLV_OUT_OF_MEMORY;
    }
    return result;
}

// More are as near as the k-th: all of them, so that ids decide.
static clv_result answer_ties(
    clv_mpi_space* space, const clv_queries* list, uint32_t index, uint32_t k, float distance, float most )
{
    clv_neighbourhood around;
    around.box = list->kind == CLV_QUERY_BOX ? list->boxes[index]
                                             : ( clv_aabb ){ list->points[index], list->points[index] };
    // Distances are compared as floats: what lies a little farther may be as far.
    around.distance = nextafterf( distance, INFINITY );
    around.distance = around.distance < most ? around.distance : most;
    clv_queries one = clv_query_neighbourhoods( &around, 1 );
    one.filters = list->filters != NULL ? list->filters + index : NULL;
    clv_result result = find_all( space, &one );
    if ( result != CLV_OK )
    {
        return result;
    }
    const mpi_questions* q = &space->questions;
    CLV_ASSERT( q->local_offsets.items[1] <= q->local.capacity );
    return put_hits( space, q->local.items, q->local_offsets.items[1], k ) ? CLV_OK : CLV_OUT_OF_MEMORY;
}

// One more than is wanted shows whether the last has others beside it.
static clv_result answer_nearest_one(
    clv_mpi_space* space, const clv_queries* list, uint32_t index, uint32_t k, float distance, clv_hit* hits )
{
    uint64_t count = 0;
    while ( count <= k && hits[count].index != CLV_NO_HIT )
    {
        count += 1;
    }
    CLV_ASSERT( count <= (uint64_t)k + 1 );
    if ( k > 0 && count > k && hits[k].t == hits[k - 1].t )
    {
        return answer_ties( space, list, index, k, hits[k].t, distance );
    }
    return put_hits( space, hits, count < k ? count : k, k ) ? CLV_OK : CLV_OUT_OF_MEMORY;
}

static clv_result answer_nearest( clv_mpi_space* space, const clv_queries* list, uint32_t k, float most )
{
    base_memory* memory = &space->memory;
    uint32_t known = clv_space_object_count( space->inside );
    k = k < known ? k : known; // so that one more is still a number, and fits
    uint64_t room = (uint64_t)list->count * ( (uint64_t)k + 1 );
    clv_hit* hits = clv_base_memory_take( memory, room, sizeof( clv_hit ) );
    if ( hits == NULL )
    {
        return CLV_OUT_OF_MEMORY;
    }
    clv_result result = clv_space_query_nearest( space->inside, list, k + 1, most, hits, NULL );
    for ( uint32_t i = 0; result == CLV_OK && i < list->count; ++i )
    {
        result = answer_nearest_one( space, list, i, k, most, hits + i * ( (uint64_t)k + 1 ) );
    }
    clv_base_memory_give( memory, hits, room, sizeof( clv_hit ) );
    return result;
}

// The questions of one process.
static clv_result answer_message( clv_mpi_space* space, const mpi_asking* asking, uint64_t* at )
{
    clv_query_kind kind = (clv_query_kind)(uint32_t)at[0];
    uint64_t count = (uint32_t)at[1];
    uint64_t* items = at + HEAD;
    float most;
    memcpy( &most, &at[2], sizeof( most ) );
    clv_queries list = clv_query_list( kind, (uint32_t)count );
    list.points = (const clv_vec3*)(const void*)items; // of whatever kind they are
    list.filters = ( at[0] >> 32 & HAS_FILTERS ) != 0
        ? (const clv_filter*)(const void*)( items + words_for( count * clv_mpi_query_size( kind ) ) )
        : NULL;
    list.filter_each = true;
    switch ( asking->mode )
    {
    case ASK_ALL: return answer_all( space, &list );
    case ASK_ANY: return answer_any( space, &list );
    case ASK_CLOSEST: return answer_closest( space, &list, (char*)items );
    default: return answer_nearest( space, &list, (uint32_t)( at[1] >> 32 ), most );
    }
}

// After an add that failed the space inside has the boxes of the last update, as before, but does not know
// that.
static clv_result refresh_inside( clv_mpi_space* space )
{
    clv_result result = space->questions.must_refresh ? clv_space_refresh( space->inside ) : CLV_OK;
    space->questions.must_refresh = result != CLV_OK;
    return result == CLV_OK ? CLV_OK : clv_mpi_reserved( space, false, "questions" );
}

static clv_result answer( clv_mpi_space* space, const mpi_asking* asking )
{
    mpi_questions* q = &space->questions;
    q->replies.count = 0;
    clv_result ready = refresh_inside( space );
    if ( ready != CLV_OK )
    {
        return ready;
    }
    for ( int32_t r = 0; r < space->process_count; ++r )
    {
        uint64_t before = q->replies.count;
        clv_result result = CLV_OK;
        if ( space->exchange.receive_words[r] > 0 )
        {
            result = answer_message( space, asking, q->inbox.items + space->exchange.receive_starts[r] );
        }
        if ( result != CLV_OK )
        {
            return clv_mpi_fail(
                space, result, "process %d could not answer: %s", space->rank, clv_result_text( result ) );
        }
        if ( q->replies.count > INT32_MAX )
        {
            return clv_mpi_fail(
                space, CLV_TOO_MANY_OBJECTS, "the hits exceed the message limit: ask in smaller batches" );
        }
        CLV_ASSERT( before <= q->replies.count );
        space->exchange.send_starts[r] = (int)before;
        space->exchange.send_words[r] = (int)( q->replies.count - before );
    }
    return CLV_OK;
}

// What came back, in the order of the errands.
static clv_result take_answers( clv_mpi_space* space )
{
    mpi_questions* q = &space->questions;
    const uint64_t* at = q->replied.items;
    for ( uint64_t i = 0; i < q->sorted.count; ++i )
    {
        uint64_t count = *at++;
        if ( !base_array_reserve( &q->answers, &space->memory, q->answers.count + count ) )
        {
            return clv_mpi_reserved( space, false, "questions" );
        }
        for ( uint64_t k = 0; k < count; ++k, at += 2 )
        {
            mpi_answer* to = &q->answers.items[q->answers.count++];
            CLV_ASSERT( q->answers.count <= q->answers.capacity );
            *to = ( mpi_answer ){ q->sorted.items[i].query,
                { at[0], (int32_t)( at[1] >> 32 ), time_of( at[1] ) } };
        }
    }
    return CLV_OK;
}

clv_result clv_mpi_query_round( clv_mpi_space* space, const mpi_asking* asking, clv_result mine )
{
    mpi_questions* q = &space->questions;
    mine = mine == CLV_OK ? write_questions( space, asking ) : mine;
    q->sorted.count = q->errands.count;
    clv_result result = clv_mpi_deliver( space, mine, q->outbox.items, &q->inbox, 1, "questions" );
    mine = result == CLV_OK ? answer( space, asking ) : result;
    result = result == CLV_OK ? clv_mpi_deliver( space, mine, q->replies.items, &q->replied, 1, "answers" )
                              : result;
    return result == CLV_OK ? take_answers( space ) : result;
}

void clv_mpi_questions_free( mpi_questions* q, base_memory* memory )
{
    clv_space_destroy( q->nothing );
    q->nothing = NULL;
    base_array_free( &q->errands, memory );
    base_array_free( &q->sorted, memory );
    base_array_free( &q->limits, memory );
    base_array_free( &q->outbox, memory );
    base_array_free( &q->inbox, memory );
    base_array_free( &q->replies, memory );
    base_array_free( &q->replied, memory );
    base_array_free( &q->local, memory );
    base_array_free( &q->local_offsets, memory );
    base_array_free( &q->answers, memory );
    base_array_free( &q->ordered, memory );
    base_array_free( &q->offsets, memory );
    base_array_free( &q->hits, memory );
}
