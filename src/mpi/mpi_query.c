// SPDX-License-Identifier: MIT
// Questions over processes: lists checked, sent out in one round or two, and what came back in order, each id
// once.
#include "mpi_query.h"
#include "base/assertion.h"
#include "base/fp_mode.h"
#include "base/heap_sort.h"
#include "mpi_state.h"

// ---- what is refused

static const char* fault_of( const clv_mpi_space* space, const clv_queries* list )
{
    return list->callback != NULL ? "callbacks do not travel: ask without one, and choose among the hits"
        : list->as_given && space->modes.has_margins
        ? "boxes as given stay with their owners where there are margins or motions: ask without as_given"
        : clv_mpi_query_size( list->kind ) == 0 ? "questions of this kind do not travel"
                                                : NULL;
}

// The list of an empty space is checked as any other, and nothing is found.
static clv_result ask_nothing( clv_mpi_space* space, const mpi_asking* asking, uint32_t* position )
{
    mpi_questions* q = &space->questions;
    const clv_queries* list = asking->list;
    if ( q->nothing == NULL )
    {
        clv_space_def def = clv_default_space_def();
        def.allocator = space->def.space.allocator;
        clv_result result = clv_space_create( &def, &q->nothing );
        if ( result != CLV_OK )
        {
            return result;
        }
    }
    if ( !base_array_renew( &q->local, &space->memory, list->count ) ||
        !base_array_renew( &q->local_offsets, &space->memory, (uint64_t)list->count + 1 ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    clv_query_lists lists = { q->local_offsets.items, NULL, 0, 0, 0 };
    clv_result result = CLV_OK;
    switch ( asking->mode )
    {
    case ASK_ALL:
        result = clv_space_query_all( q->nothing, list, &lists );
        *position = lists.position;
        return result;
    case ASK_ANY: return clv_space_query_any( q->nothing, list, q->local.items, position );
    case ASK_CLOSEST: return clv_space_query_closest( q->nothing, list, q->local.items, position );
    default:
        return clv_space_query_nearest( q->nothing, list, 0, asking->max_distance, q->local.items, position );
    }
}

static clv_result check( clv_mpi_space* space, const mpi_asking* asking )
{
    const clv_queries* list = asking->list;
    if ( !space->pairs.is_valid || space->pairs.objects_changed )
    {
        return clv_mpi_fail( space, CLV_STALE,
            "questions are about the last update, and there was none, it failed, or objects have changed since: update first" );
    }
    if ( list->count == 0 )
    {
        return CLV_OK;
    }
    const char* fault = fault_of( space, list );
    if ( fault != NULL )
    {
        return clv_mpi_fail( space, CLV_UNSUPPORTED, "%s (process %d)", fault, space->rank );
    }
    uint32_t position = 0;
    clv_result result = ask_nothing( space, asking, &position );
    bool is_bad = result == CLV_BAD_ARGUMENT || result == CLV_BAD_BOX;
    return result == CLV_OK ? CLV_OK
        : !is_bad
        ? clv_mpi_fail( space, result, "no memory to look at %u questions", list->count )
        : clv_mpi_fail_at( space, result, position, 0, "question %u of process %d: %s", position, space->rank,
              result == CLV_BAD_BOX
                  ? "its box has a NaN, or its lower corner above its upper"
                  : "a NaN, a negative length or distance, an infinity, or a kind that cannot be asked that" );
}

// ---- who is asked

static bool add_errand( clv_mpi_space* space, int32_t to, uint32_t query )
{
    mpi_questions* q = &space->questions;
    CLV_ASSERT( to >= 0 && to < space->process_count );
    if ( !base_array_reserve( &q->errands, &space->memory, q->errands.count + 1 ) )
    {
        return false;
    }
    q->errands.items[q->errands.count++] = ( mpi_errand ){ to, query };
    return true;
}

// In the first of two rounds the process where the question begins, in the second the others; where there is
// one round, all.
static bool address_query( clv_mpi_space* space, const mpi_asking* asking, uint32_t query )
{
    const mpi_questions* q = &space->questions;
    CLV_ASSERT( query < q->limits.capacity );
    bool has_rounds = asking->mode != ASK_ALL;
    clv_vec3 begin;
    // As far as it first looked: the second round has the same home.
    float far = asking->mode == ASK_NEAREST ? asking->max_distance : INFINITY;
    if ( q->limits.items[query] < 0 || !clv_mpi_query_begin( asking, query, far, &q->bounds, &begin ) )
    {
        return true;
    }
    int32_t home = has_rounds ? clv_mpi_regions_home( &space->partition.regions, begin ) : -1;
    if ( has_rounds && asking->is_first_round )
    {
        return add_errand( space, home, query );
    }
    uint32_t count = clv_mpi_query_reach(
        asking, query, q->limits.items[query], &q->bounds, &space->partition.regions, space->exchange.ranks );
    CLV_ASSERT( count <= (uint32_t)space->process_count );
    bool ok = true;
    for ( uint32_t i = 0; ok && i < count; ++i )
    {
        ok = space->exchange.ranks[i] == home || add_errand( space, space->exchange.ranks[i], query );
    }
    return ok;
}

static clv_result no_memory( clv_mpi_space* space )
{
    return clv_mpi_reserved( space, false, "answers" );
}

static clv_result address( clv_mpi_space* space, const mpi_asking* asking )
{
    space->questions.errands.count = 0;
    bool is_nothing = asking->mode == ASK_NEAREST && asking->k == 0;
    bool ok = true;
    for ( uint32_t i = 0; ok && !is_nothing && i < asking->list->count; ++i )
    {
        ok = address_query( space, asking, i );
    }
    return ok ? CLV_OK : no_memory( space );
}

static clv_result set_limits( clv_mpi_space* space, const mpi_asking* asking )
{
    mpi_questions* q = &space->questions;
    if ( !base_array_renew( &q->limits, &space->memory, asking->list->count ) )
    {
        return no_memory( space );
    }
    for ( uint32_t i = 0; i < asking->list->count; ++i )
    {
        q->limits.items[i] = asking->mode == ASK_NEAREST ? asking->max_distance : INFINITY;
    }
    return CLV_OK;
}

// ---- answers in order

static int compare_ids( const void* a, const void* b )
{
    const mpi_answer *x = a, *y = b;
    return ( x->hit.id > y->hit.id ) - ( x->hit.id < y->hit.id );
}

static int compare_times( const void* a, const void* b )
{
    const mpi_answer *x = a, *y = b;
    return x->hit.t != y->hit.t ? ( x->hit.t > y->hit.t ) - ( x->hit.t < y->hit.t ) : compare_ids( a, b );
}

// By query, each sorted, with the same object of several processes once. The answers of query i: starts[2 i]
// .. starts[2 i + 1].
static clv_result order_answers( clv_mpi_space* space, const mpi_asking* asking )
{
    mpi_questions* q = &space->questions;
    uint64_t count = asking->list->count;
    if ( !base_array_renew( &q->ordered, &space->memory, q->answers.count ) ||
        !base_array_renew( &q->starts, &space->memory, 2 * count ) )
    {
        return no_memory( space );
    }
    for ( uint64_t i = 0; i < 2 * count; ++i )
    {
        q->starts.items[i] = 0;
    }
    for ( uint64_t i = 0; i < q->answers.count; ++i )
    {
        CLV_ASSERT( q->answers.items[i].query < count );
        q->starts.items[2 * q->answers.items[i].query] += 1;
    }
    uint64_t begin = 0;
    for ( uint64_t i = 0; i < count; ++i )
    {
        uint64_t here = q->starts.items[2 * i];
        q->starts.items[2 * i] = q->starts.items[2 * i + 1] = begin;
        begin += here;
    }
    CLV_ASSERT( begin == q->answers.count );
    for ( uint64_t i = 0; i < q->answers.count; ++i )
    {
        const mpi_answer* answer = &q->answers.items[i];
        CLV_ASSERT( q->starts.items[2 * answer->query + 1] < q->answers.count );
        q->ordered.items[q->starts.items[2 * answer->query + 1]++] = *answer;
    }
    for ( uint64_t i = 0; i < count; ++i )
    {
        uint64_t first = q->starts.items[2 * i], end = q->starts.items[2 * i + 1], kept = first;
        CLV_ASSERT( first <= end && end <= q->answers.count );
        clv_base_heap_sort( q->ordered.items + first, (size_t)( end - first ), sizeof( mpi_answer ),
            asking->mode != ASK_ALL ? compare_times : compare_ids );
        for ( uint64_t k = first; k < end; ++k )
        {
            if ( kept == first || q->ordered.items[k].hit.id != q->ordered.items[kept - 1].hit.id )
            {
                q->ordered.items[kept++] = q->ordered.items[k];
            }
        }
        q->starts.items[2 * i + 1] = kept;
    }
    return CLV_OK;
}

// How far each still looks after the first round. Times and distances are compared as floats, so one float
// farther.
static void draw_limits( clv_mpi_space* space, const mpi_asking* asking )
{
    mpi_questions* q = &space->questions;
    for ( uint32_t i = 0; i < asking->list->count; ++i )
    {
        uint64_t first = q->starts.items[2 * i], found = q->starts.items[2 * i + 1] - first;
        CLV_ASSERT( first + found <= q->answers.count );
        float* limit = &q->limits.items[i];
        if ( asking->mode == ASK_ANY )
        {
            *limit = found > 0 ? -1.0f : *limit;
        }
        else if ( asking->mode == ASK_CLOSEST )
        {
            *limit = found > 0 ? nextafterf( q->ordered.items[first].hit.t, INFINITY ) : *limit;
        }
        else if ( asking->k > 0 && found >= asking->k )
        {
            float farther = nextafterf( q->ordered.items[first + asking->k - 1].hit.t, INFINITY );
            *limit = farther < *limit ? farther : *limit;
        }
    }
}

// ---- what there is

static float smaller( float a, float b )
{
    return a < b ? a : b;
}

// Around all own objects; of none, the other way round.
static void measure_own( const clv_mpi_space* space, float least[6] )
{
    for ( int i = 0; i < 6; ++i )
    {
        least[i] = INFINITY;
    }
    for ( uint64_t i = 0; i < space->slots.own.count; ++i )
    {
        const clv_aabb* box = &space->columns.boxes.items[space->slots.own.items[i]];
        least[0] = smaller( box->lower.x, least[0] );
        least[1] = smaller( box->lower.y, least[1] );
        least[2] = smaller( box->lower.z, least[2] );
        least[3] = smaller( -box->upper.x, least[3] );
        least[4] = smaller( -box->upper.y, least[4] );
        least[5] = smaller( -box->upper.z, least[5] );
    }
}

// At the first question after an update; collective, and all are of one mind about whether it is needed.
static bool find_bounds( clv_mpi_space* space )
{
    mpi_questions* q = &space->questions;
    if ( q->has_bounds || !space->pairs.is_valid || space->pairs.objects_changed )
    {
        return true;
    }
    float* least = q->wire + 6;
    measure_own( space, q->wire );
    if ( !clv_mpi_reduce( space, q->wire, least, 6, MPI_FLOAT, MPI_MIN ) )
    {
        return false;
    }
    q->bounds = ( clv_aabb ){ { least[0], least[1], least[2] }, { -least[3], -least[4], -least[5] } };
    q->has_bounds = true;
    return true;
}

// ---- a call

// All rounds. What one process alone cannot do is told in the next exchange, where all listen.
static clv_result ask( clv_mpi_space* space, mpi_asking* asking )
{
    mpi_questions* q = &space->questions;
    q->answers.count = 0;
    q->errands.count = 0;
    if ( !find_bounds( space ) )
    {
        return CLV_LOST;
    }
    clv_result mine = check( space, asking );
    mine = mine == CLV_OK ? set_limits( space, asking ) : mine;
    asking->is_first_round = true;
    mine = mine == CLV_OK ? address( space, asking ) : mine;
    mine = clv_mpi_query_round( space, asking, mine );
    mine = mine == CLV_OK ? order_answers( space, asking ) : mine;
    if ( asking->mode == ASK_ALL )
    {
        return mine;
    }
    if ( mine == CLV_OK )
    {
        draw_limits( space, asking );
    }
    asking->is_first_round = false;
    mine = mine == CLV_OK ? address( space, asking ) : mine;
    mine = clv_mpi_query_round( space, asking, mine );
    return mine == CLV_OK ? order_answers( space, asking ) : mine;
}

static clv_result write_view( clv_mpi_space* space, uint32_t count )
{
    mpi_questions* q = &space->questions;
    uint64_t total = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        total += q->starts.items[2 * i + 1] - q->starts.items[2 * i];
    }
    if ( !base_array_renew( &q->offsets, &space->memory, (uint64_t)count + 1 ) ||
        !base_array_renew( &q->hits, &space->memory, total ) )
    {
        return no_memory( space );
    }
    q->hits.count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        q->offsets.items[i] = q->hits.count;
        for ( uint64_t k = q->starts.items[2 * i]; k < q->starts.items[2 * i + 1]; ++k )
        {
            q->hits.items[q->hits.count++] = q->ordered.items[k].hit;
        }
    }
    CLV_ASSERT( q->hits.count == total );
    q->offsets.items[count] = q->hits.count;
    return CLV_OK;
}

// The first `k` of each, and nothing behind them.
static void write_first( const clv_mpi_space* space, uint32_t count, uint32_t k, clv_mpi_hit* hits )
{
    const mpi_questions* q = &space->questions;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint64_t first = q->starts.items[2 * i], found = q->starts.items[2 * i + 1] - first;
        for ( uint32_t n = 0; n < k; ++n )
        {
            *hits++ = n < found ? q->ordered.items[first + n].hit : ( clv_mpi_hit ){ 0, -1, 0 };
        }
    }
}

static const clv_queries s_none = { .kind = CLV_QUERY_POINT };

static clv_result ask_some( clv_mpi_space* space, const clv_queries* queries, mpi_question mode, uint32_t k,
    float max_distance, clv_mpi_hit* hits )
{
    if ( space->is_lost )
    {
        return CLV_LOST;
    }
    base_fp_mode fp = base_fp_enter();
    mpi_asking asking = {
        .list = queries != NULL ? queries : &s_none, .mode = mode, .k = k, .max_distance = max_distance
    };
    clv_result result = clv_mpi_agree( space, ask( space, &asking ) );
    if ( result == CLV_OK )
    {
        write_first( space, asking.list->count, k, hits );
    }
    base_fp_leave( fp );
    return result;
}

// ---- doors

clv_result clv_mpi_space_query_all( clv_mpi_space* space, const clv_queries* queries, clv_mpi_hit_view* view )
{
    *view = ( clv_mpi_hit_view ){ NULL, NULL, 0 };
    if ( space->is_lost )
    {
        return CLV_LOST;
    }
    base_fp_mode fp = base_fp_enter();
    mpi_asking asking = { .list = queries != NULL ? queries : &s_none, .mode = ASK_ALL };
    clv_result mine = ask( space, &asking );
    mine = mine == CLV_OK ? write_view( space, asking.list->count ) : mine;
    clv_result result = clv_mpi_agree( space, mine );
    if ( result == CLV_OK )
    {
        const mpi_questions* q = &space->questions;
        *view = ( clv_mpi_hit_view ){ q->offsets.items, q->hits.items, q->hits.count };
    }
    base_fp_leave( fp );
    return result;
}

clv_result clv_mpi_space_query_any( clv_mpi_space* space, const clv_queries* queries, clv_mpi_hit* hits )
{
    return ask_some( space, queries, ASK_ANY, 1, 0, hits );
}

clv_result clv_mpi_space_query_closest( clv_mpi_space* space, const clv_queries* queries, clv_mpi_hit* hits )
{
    return ask_some( space, queries, ASK_CLOSEST, 1, 0, hits );
}

clv_result clv_mpi_space_query_nearest(
    clv_mpi_space* space, const clv_queries* queries, uint32_t k, float max_distance, clv_mpi_hit* hits )
{
    return ask_some( space, queries, ASK_NEAREST, k, max_distance, hits );
}
