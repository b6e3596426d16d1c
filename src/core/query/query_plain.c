// SPDX-License-Identifier: MIT
// Rays and moving boxes have the lanes' times, and points and boxes their distances: nothing is left to be looked at one by one.
#include "query/query_plain.h"

#include "base/assertion.h"

#include <string.h>

// A distance and a slot, from query_key.
static clv_hit hit_of( uint64_t key )
{
    clv_hit hit = { (uint32_t)key, 0 };
    uint32_t bits = (uint32_t)( key >> 32 );
    memcpy( &hit.t, &bits, sizeof( bits ) );
    return hit;
}

// A query of a list, and room for one of three axes that takes the place of a flat one.
typedef struct plain_item
{
    clv_query_kind kind;
    const void* items;
    uint32_t index;
    query_raised raised;
} plain_item;

static void open_item( plain_item* item, const clv_queries* list, uint32_t index )
{
    bool is_flat = query_is_flat( list->kind );
    CLV_ASSERT( index < list->count );
    item->kind = is_flat ? clv_query_raise( list, index, &item->raised ) : list->kind;
    item->items = is_flat ? &item->raised.item : list->items;
    item->index = is_flat ? 0 : index;
}

static void set_exact_cast( query_cast* cast, const clv_queries* list, uint32_t index )
{
    float max_t;
    plain_item item;
    open_item( &item, list, index );
    if ( item.kind == CLV_QUERY_RAY )
    {
        const clv_ray* ray = &( (const clv_ray*)item.items )[item.index];
        query_set_cast( cast, ( clv_aabb ){ ray->origin, ray->origin }, ray->direction, 1 );
        max_t = ray->max_t;
    }
    else
    {
        CLV_ASSERT( item.kind == CLV_QUERY_BOX_CAST );
        const clv_box_cast* moving = &( (const clv_box_cast*)item.items )[item.index];
        query_set_cast( cast, moving->box, moving->motion, 1 );
        max_t = moving->max_t;
    }
    cast->best = query_key( query_finite_reach( max_t ), CLV_NO_HIT );
}

static clv_hit best_hit( uint64_t key )
{
    clv_hit hit = hit_of( key );
    return hit.index != CLV_NO_HIT ? hit : query_no_hit();
}

void clv_query_plain_closest(
    const query_scene* scene, const clv_queries* list, const uint32_t* which, uint32_t count, clv_hit* hits )
{
    CLV_ASSERT( count <= QUERY_SOME );
    query_cast casts[QUERY_SOME];
    for ( uint32_t i = 0; i < count; ++i )
    {
        set_exact_cast( &casts[i], list, which[i] );
    }
    if ( scene->tree->node_count > 0 )
    {
        scene->kernels->closest( scene->tree->nodes, casts, count );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        hits[which[i]] = best_hit( casts[i].best );
    }
}

static void set_nearest(
    query_nearest* query, const clv_queries* list, uint32_t index, uint32_t k, float max_distance )
{
    plain_item item;
    open_item( &item, list, index );
    if ( item.kind == CLV_QUERY_POINT )
    {
        clv_vec3 p = ( (const clv_vec3*)item.items )[item.index];
        query->box = ( clv_aabb ){ p, p };
    }
    else
    {
        CLV_ASSERT( item.kind == CLV_QUERY_BOX );
        query->box = ( (const clv_aabb*)item.items )[item.index];
    }
    query->count = k;
    query->square = (double)max_distance * (double)max_distance;
    query->reach = query_lane_reach( query->square );
    query->band = query->reach_time = INFINITY;
    query->reach_least = UINT32_MAX;
    for ( uint32_t i = 0; i < QUERY_NEAREST_MOST && ( i < k || i % 8 > 0 ); ++i )
    {
        query->keys[i] = QUERY_NONE_NEAR;
    }
}

void clv_query_plain_nearest( const query_scene* scene, const clv_queries* list, const uint32_t* which,
    uint32_t count, uint32_t k, float max_distance, clv_hit* hits )
{
    CLV_ASSERT( count <= QUERY_NEAREST_SOME && k <= QUERY_NEAREST_MOST );
    query_nearest queries[QUERY_NEAREST_SOME];
    for ( uint32_t i = 0; i < count; ++i )
    {
        set_nearest( &queries[i], list, which[i], k, max_distance );
    }
    if ( scene->tree->node_count > 0 )
    {
        scene->kernels->nearest( scene->tree->nodes, queries, count );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_hit* to = hits + (uint64_t)which[i] * k;
        for ( uint32_t j = 0; j < k; ++j )
        {
            CLV_ASSERT( j == 0 || queries[i].keys[j - 1] <= queries[i].keys[j] );
            to[j] = hit_of( queries[i].keys[j] );
        }
    }
}
