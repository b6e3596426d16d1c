// SPDX-License-Identifier: MIT
#include "lab/query/query_trial.h"

#include "base/timer.h"
#include "lab/base/platform.h"
#include "lab/base/random.h"
#include "query/query_shape.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    SINGLE_HITS = 4096, // of one query, where each is a call of its own
};

// ---- draw

const choice query_families[] = { { "rays", QUERY_FAMILY_RAYS }, { "boxes", QUERY_FAMILY_BOXES },
    { "spheres", QUERY_FAMILY_SPHERES }, { "nearest", QUERY_FAMILY_NEAREST }, { "casts", QUERY_FAMILY_CASTS },
    { NULL, 0 } };
static const size_t s_item_sizes[QUERY_FAMILY_COUNT] = { sizeof( clv_ray ), sizeof( clv_aabb ),
    sizeof( clv_sphere ), sizeof( clv_vec3 ), sizeof( clv_sphere_cast ) };

const char* query_family_name( query_family family )
{
    return query_families[family].word;
}

size_t query_family_item_size( query_family family )
{
    return s_item_sizes[family];
}

// An object to ask about: its middle and its side. Endless ones count as 1.
typedef struct subject
{
    double middle[3];
    double side;
    clv_aabb box;
} subject;

static subject pick( const clv_aabb* boxes, uint32_t count, random_stream* random )
{
    subject s = { .side = 0 };
    s.box = boxes[(uint32_t)( random_unit( random ) * count )];
    for ( int axis = 0; axis < 3; ++axis )
    {
        double lower = (double)( &s.box.lower.x )[axis], upper = (double)( &s.box.upper.x )[axis];
        double middle = ( lower + upper ) * 0.5, side = upper - lower;
        s.middle[axis] = middle - middle == 0 ? middle : 0;
        s.side += ( side - side == 0 ? side : 1 ) / 3;
    }
    return s;
}

static clv_vec3 near_by( const subject* s, double reach, random_stream* random )
{
    clv_vec3 at = { 0, 0, 0 };
    for ( int axis = 0; axis < 3; ++axis )
    {
        ( &at.x )[axis] = (float)( s->middle[axis] + ( 2 * random_unit( random ) - 1 ) * reach * s->side );
    }
    return at;
}

static clv_vec3 direction( random_stream* random )
{
    double p[3] = { 0, 0, 0 }, square = 0;
    while ( !( square > 1e-6 ) )
    {
        random_ball( random, 1, p );
        square = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    }
    double length = sqrt( square );
    clv_vec3 d = { (float)( p[0] / length ), (float)( p[1] / length ), (float)( p[2] / length ) };
    return d;
}

static clv_aabb shifted( const subject* s, random_stream* random )
{
    clv_aabb box = s->box;
    for ( int axis = 0; axis < 3; ++axis )
    {
        float shift = (float)( ( 2 * random_unit( random ) - 1 ) * 2 * s->side );
        ( &box.lower.x )[axis] += shift;
        ( &box.upper.x )[axis] += shift;
    }
    return box;
}

void query_draw_make( query_draw* draw, query_family family, const clv_aabb* boxes, uint32_t object_count,
    uint32_t count, uint64_t seed )
{
    *draw = ( query_draw ){ family, object_count > 0 ? count : 0, NULL };
    draw->items = lab_take( count, s_item_sizes[family] );
    for ( uint32_t i = 0; i < draw->count; ++i )
    {
        random_stream random = random_stream_make( seed, i, 0x7175657279u + (uint64_t)family );
        subject s = pick( boxes, object_count, &random );
        float radius = (float)( s.side * 0.5 );
        switch ( family )
        {
        case QUERY_FAMILY_BOXES: ( (clv_aabb*)draw->items )[i] = shifted( &s, &random ); break;
        case QUERY_FAMILY_SPHERES:
            ( (clv_sphere*)draw->items )[i] = ( clv_sphere ){ near_by( &s, 2, &random ), radius };
            break;
        case QUERY_FAMILY_NEAREST: ( (clv_vec3*)draw->items )[i] = near_by( &s, 1, &random ); break;
        case QUERY_FAMILY_CASTS:
        {
            clv_vec3 at = near_by( &s, 1, &random );
            ( (clv_sphere_cast*)draw->items )[i] =
                ( clv_sphere_cast ){ { at, radius }, direction( &random ), INFINITY };
            break;
        }
        default:
        {
            clv_vec3 at = near_by( &s, 1, &random );
            ( (clv_ray*)draw->items )[i] = ( clv_ray ){ at, direction( &random ), INFINITY };
            break;
        }
        }
    }
}

void query_draw_free( query_draw* draw )
{
    free( draw->items );
    draw->items = NULL;
}

// The list that a space is asked; starts at `first`.
static clv_queries query_draw_list( const query_draw* draw, uint32_t first, uint32_t count )
{
    static const clv_query_kind kinds[QUERY_FAMILY_COUNT] = { CLV_QUERY_RAY, CLV_QUERY_BOX, CLV_QUERY_SPHERE,
        CLV_QUERY_POINT, CLV_QUERY_SPHERE_CAST };
    const char* items = draw->items;
    clv_queries queries = clv_query_list( kinds[draw->family], count );
    queries.points = (const clv_vec3*)(const void*)( items +
        first * query_family_item_size( draw->family ) ); // any kind's
    return queries;
}

// ---- answers

void query_answers_free( query_answers* answers )
{
    free( answers->offsets );
    free( answers->hits );
    memset( answers, 0, sizeof( *answers ) );
}

static void answers_reserve( query_answers* answers, uint32_t queries, uint64_t hits )
{
    answers->offsets = lab_grow( answers->offsets, (uint64_t)queries + 1, sizeof( uint64_t ) );
    answers->count = queries;
    if ( hits > answers->capacity )
    {
        answers->hits = lab_grow( answers->hits, hits, sizeof( clv_hit ) );
        answers->capacity = hits;
    }
}

uint64_t query_answers_hash( const query_answers* answers )
{
    uint64_t hash = 0;
    for ( uint32_t i = 0; i < answers->count; ++i )
    {
        for ( uint64_t j = answers->offsets[i]; j < answers->offsets[i + 1]; ++j )
        {
            hash += random_mix( (uint64_t)i << 32 | answers->hits[j].index );
        }
    }
    return hash;
}

static uint64_t hash_of_one( const query_answers* answers, uint32_t i )
{
    uint64_t hash = 0;
    for ( uint64_t j = answers->offsets[i]; j < answers->offsets[i + 1]; ++j )
    {
        hash += random_mix( answers->hits[j].index );
    }
    return hash;
}

uint32_t query_answers_differ( const query_answers* a, const query_answers* b, uint32_t* first )
{
    uint32_t count = 0;
    for ( uint32_t i = 0; i < a->count; ++i )
    {
        if ( hash_of_one( a, i ) != hash_of_one( b, i ) )
        {
            *first = count == 0 ? i : *first;
            count += 1;
        }
    }
    return count;
}

// One hit or k for each query, CLV_NO_HIT where there is none, to offsets and hits.
static void pack( query_answers* answers, uint32_t queries, uint32_t k )
{
    uint64_t total = 0;
    for ( uint32_t i = 0; i < queries; ++i )
    {
        answers->offsets[i] = total;
        for ( uint32_t j = 0; j < k; ++j )
        {
            clv_hit hit = answers->hits[(uint64_t)i * k + j];
            if ( hit.index != CLV_NO_HIT )
            {
                answers->hits[total++] = hit;
            }
        }
    }
    answers->offsets[queries] = total;
}

static uint32_t hits_each( query_family family )
{
    return family == QUERY_FAMILY_NEAREST                                ? QUERY_NEIGHBOURS
        : family == QUERY_FAMILY_BOXES || family == QUERY_FAMILY_SPHERES ? 0
                                                                         : 1;
}

// ---- ours

static bool complain( lab_error* why, clv_result result )
{
    return lab_error_write( why, "queries: %s", clv_result_text( result ) );
}

// One list into the answers' arrays, wherever they begin.
static clv_result ask_list( const clv_space* space, query_family family, const clv_queries* list,
    uint64_t* offsets, clv_hit* hits, uint64_t capacity, uint64_t* count )
{
    if ( family == QUERY_FAMILY_NEAREST )
    {
        return clv_space_query_nearest( space, list, QUERY_NEIGHBOURS, INFINITY, hits, NULL );
    }
    if ( hits_each( family ) == 1 )
    {
        return clv_space_query_closest( space, list, hits, NULL );
    }
    clv_query_lists lists = { offsets, hits, capacity, 0, 0 };
    clv_result result = clv_space_query_all( space, list, &lists );
    *count = lists.count;
    return result;
}

static clv_result ask_batched( const clv_space* space, const query_draw* draw, query_answers* answers )
{
    clv_queries list = query_draw_list( draw, 0, draw->count );
    uint64_t count = 0;
    clv_result result =
        ask_list( space, draw->family, &list, answers->offsets, answers->hits, answers->capacity, &count );
    if ( result == CLV_NO_ROOM )
    {
        answers_reserve( answers, draw->count, count );
        result = ask_list(
            space, draw->family, &list, answers->offsets, answers->hits, answers->capacity, &count );
    }
    return result;
}

// A call each, into one place: as a caller that reads each answer at once.
static clv_result ask_singly( const clv_space* space, const query_draw* draw, uint64_t* seen )
{
    clv_hit hits[SINGLE_HITS];
    clv_result result = CLV_OK;
    for ( uint32_t i = 0; i < draw->count && result == CLV_OK; ++i )
    {
        clv_queries list = query_draw_list( draw, i, 1 );
        uint64_t count = 0;
        result = ask_list( space, draw->family, &list, NULL, hits, SINGLE_HITS, &count );
        result = result == CLV_NO_ROOM ? CLV_OK : result;
        *seen += count;
    }
    return result;
}

static uint64_t time_now( const query_world_def* world )
{
    return world->thread_time ? platform_thread_time_ns() : clv_base_clock_ns();
}

static double since( const query_world_def* world, uint64_t start )
{
    return (double)( time_now( world ) - start );
}

static void keep_least( double* least, double value )
{
    *least = *least <= value ? *least : value;
}

// Every box a little to one side: the tree follows.
static clv_result time_structure( clv_space* space, const query_world_def* world, query_times* times )
{
    clv_id* ids = lab_take( world->object_count, sizeof( clv_id ) );
    clv_aabb* moved = lab_take( world->object_count, sizeof( clv_aabb ) );
    clv_result result = CLV_OK;
    times->build_ms = times->refit_ms = INFINITY;
    for ( uint32_t pass = 0; pass < world->pass_count && result == CLV_OK; ++pass )
    {
        clv_space_clear( space );
        result = clv_space_add( space, world->boxes, world->object_count, ids );
        uint64_t start = time_now( world );
        result = result == CLV_OK ? clv_space_refresh( space ) : result;
        keep_least( &times->build_ms, since( world, start ) * 1e-6 );
        for ( uint32_t i = 0; i < world->object_count; ++i )
        {
            float step = ( world->boxes[i].upper.x - world->boxes[i].lower.x ) * 0.01f;
            moved[i] = world->boxes[i];
            moved[i].lower.x += step - step == 0 ? step : 0;
            moved[i].upper.x += step - step == 0 ? step : 0;
        }
        result = result == CLV_OK ? clv_space_move( space, ids, moved, world->object_count ) : result;
        start = time_now( world );
        result = result == CLV_OK ? clv_space_refresh( space ) : result;
        keep_least( &times->refit_ms, since( world, start ) * 1e-6 );
    }
    clv_space_clear( space );
    result = result == CLV_OK ? clv_space_add( space, world->boxes, world->object_count, ids ) : result;
    result = result == CLV_OK ? clv_space_refresh( space ) : result;
    free( ids );
    free( moved );
    return result;
}

bool query_trial_cleave( const query_world_def* world, const query_draw* draw, query_answers* answers,
    query_times* times, lab_error* why )
{
    clv_space_def def = clv_default_space_def();
    def.worker_count = world->thread_count;
    def.isa = world->isa;
    clv_space* space = NULL;
    clv_result result = clv_space_create( &def, &space );
    result = result == CLV_OK ? time_structure( space, world, times ) : result;
    uint32_t each = hits_each( draw->family );
    uint64_t room = (uint64_t)draw->count * ( each > 0 ? each : 4 );
    answers_reserve( answers, draw->count, room );
    times->single_ns = times->batched_ns = INFINITY;
    uint64_t seen = 0;
    for ( uint32_t pass = 0; pass <= world->pass_count && result == CLV_OK; ++pass )
    {
        uint64_t start = time_now( world );
        result = ask_singly( space, draw, &seen );
        keep_least( &times->single_ns, since( world, start ) / draw->count );
        start = time_now( world );
        result = result == CLV_OK ? ask_batched( space, draw, answers ) : result;
        keep_least( &times->batched_ns, since( world, start ) / draw->count );
    }
    if ( result == CLV_OK && each > 0 )
    {
        pack( answers, draw->count, each );
    }
    clv_space_destroy( space );
    return result == CLV_OK || complain( why, result );
}

// ---- the judge

static bool judge_ray( const clv_ray* ray, const clv_aabb* box, float* t )
{
    float entry = 0, exit = ray->max_t < FLT_MAX ? ray->max_t : FLT_MAX;
    for ( int axis = 0; axis < 3; ++axis )
    {
        float o = ( &ray->origin.x )[axis], d = ( &ray->direction.x )[axis];
        float lower = ( &box->lower.x )[axis], upper = ( &box->upper.x )[axis];
        if ( d == 0 )
        {
            if ( o < lower || o > upper )
            {
                return false;
            }
            continue;
        }
        float inverse = 1.0f / d;
        float a = ( ( d > 0 ? lower : upper ) - o ) * inverse,
              b = ( ( d > 0 ? upper : lower ) - o ) * inverse;
        entry = a > entry ? a : entry;
        exit = b < exit ? b : exit;
    }
    *t = entry;
    return entry <= exit;
}

static double judge_square( clv_vec3 p, const clv_aabb* box )
{
    double sum = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double at = (double)( &p.x )[axis];
        double above = (double)( &box->lower.x )[axis] - at, below = at - (double)( &box->upper.x )[axis];
        double gap = above > 0 ? above : below > 0 ? below : 0;
        sum += gap * gap;
    }
    return sum;
}

static bool judge_one( const query_draw* draw, uint32_t i, const clv_aabb* box, float* t )
{
    *t = 0;
    switch ( draw->family )
    {
    case QUERY_FAMILY_BOXES: return clv_aabb_overlap( ( (const clv_aabb*)draw->items )[i], *box );
    case QUERY_FAMILY_SPHERES:
    {
        clv_sphere s = ( (const clv_sphere*)draw->items )[i];
        return judge_square( s.center, box ) <= (double)s.radius * (double)s.radius;
    }
    case QUERY_FAMILY_NEAREST:
        *t = (float)sqrt( judge_square( ( (const clv_vec3*)draw->items )[i], box ) );
        return true;
    case QUERY_FAMILY_CASTS:
    {
        const clv_sphere_cast* cast = &( (const clv_sphere_cast*)draw->items )[i];
        clv_vec3 c = cast->sphere.center;
        query_capsule capsule = { { (double)c.x, (double)c.y, (double)c.z },
            { (double)c.x, (double)c.y, (double)c.z }, (double)cast->sphere.radius };
        double way[3] = { (double)cast->motion.x, (double)cast->motion.y, (double)cast->motion.z }, time = 0;
        const clv_aabb64 seen = query_widen( box );
        bool is_met = clv_query_capsule_cast( &capsule, way, (double)FLT_MAX, &seen, &time );
        *t = (float)time;
        return is_met;
    }
    default: return judge_ray( &( (const clv_ray*)draw->items )[i], box, t );
    }
}

// The best k of one query, or all of them where k is 0.
static void judge_query(
    const query_world_def* world, const query_draw* draw, uint32_t i, uint32_t k, query_answers* answers )
{
    uint64_t first = answers->offsets[i], count = 0;
    for ( uint32_t slot = 0; slot < world->object_count; ++slot )
    {
        float t;
        if ( !judge_one( draw, i, &world->boxes[slot], &t ) )
        {
            continue;
        }
        uint64_t room = first + count + 1;
        if ( room > answers->capacity )
        {
            answers_reserve( answers, answers->count, room * 2 );
        }
        clv_hit* hits = answers->hits + first;
        if ( k == 0 || count < k )
        {
            hits[count++] = ( clv_hit ){ slot, t };
        }
        else if ( t < hits[k - 1].t )
        {
            hits[k - 1] = ( clv_hit ){ slot, t };
        }
        for ( uint64_t at = count - 1; k > 0 && at > 0 && hits[at].t < hits[at - 1].t; --at )
        {
            clv_hit swap = hits[at];
            hits[at] = hits[at - 1];
            hits[at - 1] = swap;
        }
    }
    answers->offsets[i + 1] = first + count;
}

void query_trial_brute(
    const query_world_def* world, const query_draw* draw, query_answers* answers, query_times* times )
{
    *times = ( query_times ){ NAN, NAN, NAN, NAN };
    answers_reserve( answers, draw->count, (uint64_t)draw->count * 4 + 16 );
    uint64_t start = time_now( world );
    answers->offsets[0] = 0;
    for ( uint32_t i = 0; i < draw->count; ++i )
    {
        judge_query( world, draw, i, hits_each( draw->family ), answers );
    }
    times->single_ns = since( world, start ) / draw->count;
}

// ---- other people's

bool query_trial_peer( const query_peer* peer, const query_world_def* world, const query_draw* draw,
    query_answers* answers, query_times* times, lab_error* why )
{
    *times = ( query_times ){ NAN, NAN, INFINITY, NAN };
    uint64_t start = time_now( world );
    void* state = peer->build( world->boxes, world->object_count );
    times->build_ms = since( world, start ) * 1e-6;
    answers_reserve( answers, draw->count, (uint64_t)draw->count * 16 + SINGLE_HITS );
    for ( uint32_t pass = 0; pass <= world->pass_count && state != NULL; ++pass )
    {
        uint64_t total = 0;
        start = time_now( world );
        for ( uint32_t i = 0; i < draw->count; ++i )
        {
            const char* item = (const char*)draw->items + i * query_family_item_size( draw->family );
            answers->offsets[i] = total;
            uint64_t room = answers->capacity - total;
            total += peer->ask( state, draw->family, item, answers->hits + total,
                room < UINT32_MAX ? (uint32_t)room : UINT32_MAX );
            if ( total > answers->capacity )
            {
                answers_reserve( answers, draw->count, total * 2 );
                total = answers->offsets[i];
                i -= 1; // again, with room
            }
        }
        keep_least( &times->single_ns, since( world, start ) / draw->count );
        answers->offsets[draw->count] = total;
    }
    peer->destroy( state );
    return state != NULL || complain( why, CLV_OUT_OF_MEMORY );
}
