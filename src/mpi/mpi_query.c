// SPDX-License-Identifier: MIT
// Questions over processes: lists checked, sent out in one round or two, and what came back in order, each id
// once.
#include "mpi_query.h"
#include "base/assertion.h"
#include "base/directed.h"
#include "base/fp_mode.h"
#include "base/heap_sort.h"
#include "mpi_state.h"
#include "query/query_probe.h"

#include <float.h>

// ---- which regions a question may find something in

// Never too few. Times and distances inside are rounded, so that what is met may lie a little beside the way;
// the way is made wider by more than that.

/// A box that goes straight on, in double.
typedef struct path
{
    double lower[3], upper[3]; ///< of the box at the beginning
    double way[3], first, end; ///< it goes from first to end times this
    double motion[3];          ///< all of it, to the end
    double pad[3];             ///< rounding
    bool moves;
} path;

static void put_box( path* p, const double lower[3], const double upper[3], double more )
{
    *p = ( path ){ .moves = false };
    for ( int axis = 0; axis < 3; ++axis )
    {
        // Infinity less infinity is no number; what has no end reaches everywhere.
        p->lower[axis] = more < INFINITY ? lower[axis] - more : -INFINITY;
        p->upper[axis] = more < INFINITY ? upper[axis] + more : INFINITY;
        p->pad[axis] = more < INFINITY ? more * 1e-5 : 0;
    }
}

// The reciprocal of a number so small is infinite: then the question stands still along this axis.
static bool stands( const path* p, int axis )
{
    return fabs( p->way[axis] ) < (double)FLT_MIN;
}

// Cuts off what is before and after all boxes there are, `all` around them. A way without an end has one
// then, and rounding, which goes with the length of the way, does not reach every region any more. False: it
// comes by none of them. What is no number, of infinities, cuts nothing off.
static bool clip( path* p, const clv_aabb* all )
{
    const double lower[3] = { (double)all->lower.x, (double)all->lower.y, (double)all->lower.z };
    const double upper[3] = { (double)all->upper.x, (double)all->upper.y, (double)all->upper.z };
    double first = 0, last = p->end;
    bool misses = false;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double way = p->way[axis];
        double size = fabs( p->lower[axis] ) + fabs( p->upper[axis] );
        double slack = p->pad[axis] + size * 1e-6 + 1e-30;
        double near = lower[axis] - p->upper[axis], far = upper[axis] - p->lower[axis]; // going up
        if ( !p->moves || stands( p, axis ) )
        {
            slack += fabs( way ) * p->end;
            misses |= near > slack || far < -slack;
            continue;
        }
        double to = way > 0 ? near : far, from = way > 0 ? far : near;
        double enters = to / way - ( fabs( to ) * 1e-5 + slack ) / fabs( way );
        double leaves = from / way + ( fabs( from ) * 1e-5 + slack ) / fabs( way );
        first = enters > first ? enters : first;
        last = leaves < last ? leaves : last;
    }
    p->first = first;
    p->end = last < 0 ? 0 : last;
    return !misses && !( first > last );
}

static void set_out( path* p )
{
    for ( int axis = 0; p->moves && axis < 3; ++axis )
    {
        double length = fabs( p->way[axis] ) * p->end;
        p->motion[axis] = p->way[axis] * p->end;
        p->pad[axis] += stands( p, axis ) ? length : length * 1e-5 + fabs( p->way[axis] ) * 1e-44;
    }
}

// However a turned box is turned.
static double reach_of_turned( const double half[3] )
{
    return sqrt( half[0] * half[0] + half[1] * half[1] + half[2] * half[2] );
}

// The box around both places of a probe, as far as it reaches around them and `more`, on its way.
static void put_query( path* p, const clv_queries* list, uint32_t index, float limit, float more )
{
    query_probe probe;
    double lower[3], upper[3];
    query_probe_read( &probe, list->kind, list->points, index );
    for ( int axis = 0; axis < 3; ++axis )
    {
        lower[axis] = fmin( probe.a[axis], probe.b[axis] );
        upper[axis] = fmax( probe.a[axis], probe.b[axis] );
    }
    double reach = probe.form == QUERY_TURNED ? reach_of_turned( probe.half ) : probe.radius;
    put_box( p, lower, upper, reach + (double)more );
    if ( query_row_of( list->kind )->moves )
    {
        double end = probe.max_t < (double)limit ? probe.max_t : (double)limit;
        p->end = end < (double)FLT_MAX ? end : (double)FLT_MAX;
        memcpy( p->way, probe.motion, sizeof( p->way ) );
        p->moves = true;
    }
}

static float round_down( double value )
{
    return -base_round_up( -value, 0 );
}

static float round_up( double value )
{
    return base_round_up( value, 0 );
}

static float least_of( const path* p, int axis )
{
    return round_down( p->lower[axis] + ( p->motion[axis] < 0 ? p->motion[axis] : 0 ) - p->pad[axis] );
}

static float most_of( const path* p, int axis )
{
    return round_up( p->upper[axis] + ( p->motion[axis] > 0 ? p->motion[axis] : 0 ) + p->pad[axis] );
}

// Does it come by this region, and not only by the box around its way?
static bool passes( const path* p, const clv_mpi_region* region )
{
    const double lower[3] = { (double)region->lower.x, (double)region->lower.y, (double)region->lower.z };
    const double upper[3] = { (double)region->upper.x, (double)region->upper.y, (double)region->upper.z };
    double first = p->end > 0 ? p->first / p->end : 0, last = 1;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double near = lower[axis] - p->upper[axis] - p->pad[axis];
        double far = upper[axis] - p->lower[axis] + p->pad[axis];
        double motion = p->motion[axis];
        if ( motion == 0 )
        {
            last = near > 0 || far < 0 ? -1 : last;
            continue;
        }
        double enters = ( motion > 0 ? near : far ) / motion, leaves = ( motion > 0 ? far : near ) / motion;
        first = enters > first ? enters : first;
        last = leaves < last ? leaves : last;
    }
    return first <= last;
}

static clv_aabb beginning( const path* p )
{
    return ( clv_aabb ){ { round_down( p->lower[0] ), round_down( p->lower[1] ), round_down( p->lower[2] ) },
        { round_up( p->upper[0] ), round_up( p->upper[1] ), round_up( p->upper[2] ) } };
}

static bool find_begin(
    const mpi_asking* asking, uint32_t index, float limit, const clv_aabb* all, clv_vec3* point )
{
    path p;
    CLV_ASSERT( index < asking->list->count );
    put_query( &p, asking->list, index, limit, 0 );
    bool meets = clip( &p, all ) || asking->mode == ASK_NEAREST;
    for ( int axis = 0; p.moves && axis < 3; ++axis )
    {
        p.lower[axis] += p.way[axis] * p.first;
        p.upper[axis] += p.way[axis] * p.first;
    }
    clv_aabb box = beginning( &p );
    *point = clv_mpi_box_middle( &box );
    return meets;
}

static uint32_t find_reached( const mpi_asking* asking, uint32_t index, float limit, const clv_aabb* all,
    const mpi_regions* regions, int32_t* ranks )
{
    path p;
    CLV_ASSERT( index < asking->list->count && clv_mpi_query_size( asking->list->kind ) > 0 );
    put_query( &p, asking->list, index, limit, asking->mode == ASK_NEAREST ? limit : 0 );
    if ( !clip( &p, all ) )
    {
        return 0;
    }
    set_out( &p );
    clv_aabb around = { { least_of( &p, 0 ), least_of( &p, 1 ), least_of( &p, 2 ) },
        { most_of( &p, 0 ), most_of( &p, 1 ), most_of( &p, 2 ) } };
    uint32_t reached = clv_mpi_regions_reach( regions, &around, ranks ), count = 0;
    CLV_ASSERT( reached <= (uint32_t)regions->process_count );
    for ( uint32_t i = 0; i < reached; ++i )
    {
        ranks[count] = ranks[i];
        count += !p.moves || passes( &p, &regions->bounds[ranks[i]] );
    }
    return count;
}

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
    if ( q->limits.items[query] < 0 || !find_begin( asking, query, far, &q->bounds, &begin ) )
    {
        return true;
    }
    int32_t home = has_rounds ? clv_mpi_regions_home( &space->partition.regions, begin ) : -1;
    if ( has_rounds && asking->is_first_round )
    {
        return add_errand( space, home, query );
    }
    uint32_t count = find_reached(
        asking, query, q->limits.items[query], &q->bounds, &space->partition.regions, space->exchange.ranks );
    CLV_ASSERT( count <= (uint32_t)space->process_count );
    bool ok = true;
    for ( uint32_t i = 0; ok && i < count; ++i )
    {
        ok = space->exchange.ranks[i] == home || add_errand( space, space->exchange.ranks[i], query );
    }
    return ok;
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
    return ok ? CLV_OK : clv_mpi_reserved( space, false, "answers" );
}

static clv_result set_limits( clv_mpi_space* space, const mpi_asking* asking )
{
    mpi_questions* q = &space->questions;
    if ( !base_array_renew( &q->limits, &space->memory, asking->list->count ) )
    {
        return clv_mpi_reserved( space, false, "answers" );
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

// By query, each sorted, with the same object of several processes once.
static clv_result order_answers( clv_mpi_space* space, const mpi_asking* asking )
{
    mpi_questions* q = &space->questions;
    uint64_t count = asking->list->count, all = q->answers.count;
    if ( !base_array_renew( &q->ordered, &space->memory, all ) ||
        !base_array_renew( &q->hits, &space->memory, all ) ||
        !base_array_renew( &q->offsets, &space->memory, count + 2 ) )
    {
        return clv_mpi_reserved( space, false, "answers" );
    }
    // Counted two places on, so that an offset is where the next answer goes, and then where its query ends.
    uint64_t* next = q->offsets.items + 1;
    memset( q->offsets.items, 0, ( count + 2 ) * sizeof( uint64_t ) );
    for ( uint64_t i = 0; i < all; ++i )
    {
        CLV_ASSERT( q->answers.items[i].query < count );
        next[q->answers.items[i].query + 1] += 1;
    }
    for ( uint64_t i = 0; i < count; ++i )
    {
        next[i + 1] += next[i];
    }
    CLV_ASSERT( next[count] == all );
    for ( uint64_t i = 0; i < all; ++i )
    {
        q->ordered.items[next[q->answers.items[i].query]++] = q->answers.items[i];
    }
    q->hits.count = 0;
    for ( uint64_t i = 0, first = 0; i < count; ++i )
    {
        uint64_t end = next[i], kept = q->hits.count;
        CLV_ASSERT( first <= end && end <= all );
        clv_base_heap_sort( q->ordered.items + first, (size_t)( end - first ), sizeof( mpi_answer ),
            asking->mode != ASK_ALL ? compare_times : compare_ids );
        q->offsets.items[i] = kept;
        for ( ; first < end; ++first )
        {
            const clv_mpi_hit* hit = &q->ordered.items[first].hit;
            if ( q->hits.count == kept || hit->id != q->hits.items[q->hits.count - 1].id )
            {
                q->hits.items[q->hits.count++] = *hit;
            }
        }
    }
    CLV_ASSERT( q->hits.count <= all );
    q->offsets.items[count] = q->hits.count;
    return CLV_OK;
}

// How far each still looks after the first round. Times and distances are compared as floats, so one float
// farther.
static void draw_limits( clv_mpi_space* space, const mpi_asking* asking )
{
    mpi_questions* q = &space->questions;
    for ( uint32_t i = 0; i < asking->list->count; ++i )
    {
        uint64_t found = q->offsets.items[i + 1] - q->offsets.items[i];
        const clv_mpi_hit* hits = q->hits.items + q->offsets.items[i];
        CLV_ASSERT( q->offsets.items[i] + found <= q->hits.count );
        float* limit = &q->limits.items[i];
        if ( asking->mode == ASK_ANY )
        {
            *limit = found > 0 ? -1.0f : *limit;
        }
        else if ( asking->mode == ASK_CLOSEST )
        {
            *limit = found > 0 ? nextafterf( hits[0].t, INFINITY ) : *limit;
        }
        else if ( asking->k > 0 && found >= asking->k )
        {
            float farther = nextafterf( hits[asking->k - 1].t, INFINITY );
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
    clv_mpi_boxes_fetch( space );
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

// The first `k` of each, and nothing behind them.
static void write_first( const clv_mpi_space* space, uint32_t count, uint32_t k, clv_mpi_hit* hits )
{
    const mpi_questions* q = &space->questions;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint64_t first = q->offsets.items[i], found = q->offsets.items[i + 1] - first;
        for ( uint32_t n = 0; n < k; ++n )
        {
            *hits++ = n < found ? q->hits.items[first + n] : ( clv_mpi_hit ){ 0, -1, 0 };
        }
    }
}

static const clv_queries s_none = { .kind = CLV_QUERY_POINT };

static clv_result ask_space( clv_mpi_space* space, mpi_asking asking )
{
    if ( space->is_lost )
    {
        return CLV_LOST;
    }
    base_fp_mode fp = base_fp_enter();
    asking.list = asking.list != NULL ? asking.list : &s_none;
    clv_result result = clv_mpi_agree( space, ask( space, &asking ) );
    base_fp_leave( fp );
    return result;
}

static clv_result ask_some( clv_mpi_space* space, const clv_queries* queries, mpi_question mode, uint32_t k,
    float max_distance, clv_mpi_hit* hits )
{
    const mpi_asking asking = { .list = queries, .mode = mode, .k = k, .max_distance = max_distance };
    clv_result result = ask_space( space, asking );
    if ( result == CLV_OK && queries != NULL )
    {
        write_first( space, queries->count, k, hits );
    }
    return result;
}

// ---- doors

clv_result clv_mpi_space_query_all( clv_mpi_space* space, const clv_queries* queries, clv_mpi_hit_view* view )
{
    clv_result result = ask_space( space, ( mpi_asking ){ .list = queries, .mode = ASK_ALL } );
    const mpi_questions* q = &space->questions;
    *view = result == CLV_OK ? ( clv_mpi_hit_view ){ q->offsets.items, q->hits.items, q->hits.count }
                             : ( clv_mpi_hit_view ){ NULL, NULL, 0 };
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
