// SPDX-License-Identifier: MIT
// Questions: cleave/query.h and world_query.h for ../questions.js.
#include "binding.h"
#include "cleave/world_query.h"

#include <stdlib.h>

_Static_assert( sizeof( clv_hit ) == 8 && sizeof( clv_hit64 ) == 16, "readHits in questions.js" );
_Static_assert( sizeof( clv_oriented_box64 ) == 64, "packOrientedBoxes in questions.js" );

// As ../questions.js numbers them.
typedef enum question
{
    ASK_ALL,
    ASK_ANY,
    ASK_CLOSEST,
    ASK_NEAREST,
    ASK_VISIT,
} question;

// What ../questions.js hands over: numbers of 32 bits, so that the layout is plain.
typedef struct query_call
{
    uint32_t question;
    uint32_t kind; // of clv_query_kind
    const void* items;
    uint32_t count;
    const clv_filter* filters;
    uint32_t filter_count; // 0, 1 or `count`
    uint32_t as_given;
    uint32_t has_callback;
    uint32_t k;
    uint64_t* offsets;
    void* hits;
    uint32_t capacity;             // of hits, in hits
    const uint32_t* plane_offsets; // of half-spaces: where the planes of each region begin, and their end
    const clv_vec64* origins;      // of half-spaces in double
} query_call;

_Static_assert( sizeof( query_call ) == 14 * sizeof( uint32_t ), "CALL in questions.js" );

static bool ask_hit( const clv_space* space, uint32_t query, clv_hit hit, float* reach, void* user )
{
    (void)space;
    (void)user;
    double still = (double)*reach;
    bool counts = js_ask_hit( query, hit.index, (double)hit.t, &still ) != 0;
    *reach = (float)still;
    return counts;
}

static bool ask_hit64( const clv_space* space, uint32_t query, clv_hit64 hit, double* reach, void* user )
{
    (void)space;
    (void)user;
    return js_ask_hit( query, hit.index, hit.t, reach ) != 0;
}

static bool visit_hits( uint32_t query, const clv_hit* hits, uint64_t count, void* user )
{
    (void)user;
    return js_visit_hits( query, hits, (uint32_t)count ) != 0;
}

static bool visit_hits64( uint32_t query, const clv_hit64* hits, uint64_t count, void* user )
{
    (void)user;
    return js_visit_hits( query, hits, (uint32_t)count ) != 0;
}

// Regions as the library takes them, from runs of planes that lie side by side. NULL without memory.
static void* make_regions( const query_call* call )
{
    void* regions = malloc( ( (size_t)call->count + 1 ) * sizeof( clv_half_spaces64 ) );
    for ( uint32_t i = 0; regions != NULL && i < call->count; ++i )
    {
        uint32_t first = call->plane_offsets[i];
        uint32_t count = call->plane_offsets[i + 1] - first;
        switch ( call->kind )
        {
        case CLV_QUERY_HALF_SPACES64:
            ( (clv_half_spaces64*)regions )[i] =
                ( clv_half_spaces64 ){ call->origins[i], (const clv_plane64*)call->items + first, count };
            break;
        case CLV_QUERY_HALF_PLANES:
            ( (clv_half_planes*)regions )[i] =
                ( clv_half_planes ){ (const clv_half_plane*)call->items + first, count };
            break;
        default:
            ( (clv_half_spaces*)regions )[i] =
                ( clv_half_spaces ){ (const clv_plane*)call->items + first, count };
        }
    }
    return regions;
}

// The two halves differ in the types of C alone. max_distance is a double, and so is no part of the call.
static clv_result ask( const clv_space* space, const query_call* call, const void* items, double max_distance,
    uint64_t* hit_count, uint32_t* position )
{
    clv_queries queries = clv_query_list( (clv_query_kind)call->kind, call->count );
    queries.points = items;
    queries.filters = call->filter_count > 0 ? call->filters : NULL;
    queries.filter_each = call->filter_count > 1;
    queries.as_given = call->as_given != 0;
    queries.callback = call->has_callback != 0 ? ask_hit : NULL;
    clv_hit* hits = call->hits;
    switch ( (question)call->question )
    {
    case ASK_ANY: return clv_space_query_any( space, &queries, hits, position );
    case ASK_CLOSEST: return clv_space_query_closest( space, &queries, hits, position );
    case ASK_NEAREST:
        return clv_space_query_nearest( space, &queries, call->k, (float)max_distance, hits, position );
    case ASK_VISIT: return clv_space_query_visit( space, &queries, visit_hits, NULL, position );
    case ASK_ALL: break;
    }
    clv_query_lists lists = { call->offsets, hits, call->capacity, 0, UINT32_MAX };
    clv_result result = clv_space_query_all( space, &queries, &lists );
    *hit_count = lists.count;
    *position = lists.position;
    return result;
}

static clv_result ask64( const clv_space* space, const query_call* call, const void* items,
    double max_distance, uint64_t* hit_count, uint32_t* position )
{
    clv_queries64 queries = clv_query_list64( (clv_query_kind)call->kind, call->count );
    queries.points = items;
    queries.filters = call->filter_count > 0 ? call->filters : NULL;
    queries.filter_each = call->filter_count > 1;
    queries.as_given = call->as_given != 0;
    queries.callback = call->has_callback != 0 ? ask_hit64 : NULL;
    clv_hit64* hits = call->hits;
    switch ( (question)call->question )
    {
    case ASK_ANY: return clv_space_query_any64( space, &queries, hits, position );
    case ASK_CLOSEST: return clv_space_query_closest64( space, &queries, hits, position );
    case ASK_NEAREST:
        return clv_space_query_nearest64( space, &queries, call->k, max_distance, hits, position );
    case ASK_VISIT: return clv_space_query_visit64( space, &queries, visit_hits64, NULL, position );
    case ASK_ALL: break;
    }
    clv_query_lists64 lists = { call->offsets, hits, call->capacity, 0, UINT32_MAX };
    clv_result result = clv_space_query_all64( space, &queries, &lists );
    *hit_count = lists.count;
    *position = lists.position;
    return result;
}

/// out[0]: hits of ASK_ALL that there are; out[1]: position of the first bad query, or -1.
EMSCRIPTEN_KEEPALIVE int js_query(
    const clv_space* space, const query_call* call, double max_distance, double* out )
{
    bool is_of_planes = call->plane_offsets != NULL;
    void* regions = is_of_planes ? make_regions( call ) : NULL;
    if ( is_of_planes && regions == NULL )
    {
        return CLV_OUT_OF_MEMORY;
    }
    uint64_t hit_count = 0;
    uint32_t position = UINT32_MAX;
    const void* items = is_of_planes ? regions : call->items;
    clv_result result = call->kind >= CLV_QUERY_POINT64
        ? ask64( space, call, items, max_distance, &hit_count, &position )
        : ask( space, call, items, max_distance, &hit_count, &position );
    free( regions );
    out[0] = (double)hit_count;
    out[1] = position == UINT32_MAX ? -1.0 : (double)position;
    return result;
}

/// out[0]: pairs that there are, also where they are more than capacity (CLV_NO_ROOM).
EMSCRIPTEN_KEEPALIVE int js_query_pairs( const clv_space* first, const clv_space* second, int as_given,
    clv_pair* pairs, uint32_t capacity, double* out )
{
    uint64_t count = 0;
    clv_result result = clv_space_query_pairs( first, second, as_given != 0, pairs, capacity, &count );
    out[0] = (double)count;
    return result;
}

EMSCRIPTEN_KEEPALIVE int js_refresh( clv_space* space )
{
    return clv_space_refresh( space );
}
