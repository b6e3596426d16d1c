// SPDX-License-Identifier: MIT
// By all workers: each counts the buckets of its part of the list, then puts its part where it belongs, then the buckets are
// sorted each for itself.
#include "query/query_order.h"

#include "base/assertion.h"

#include <string.h>

enum
{
    PARTS = 16,      // of the list
    BUCKETS = 256,   // by the highest bits of the key
    BUCKET_BIT = 19, // the lowest of them
    CELLS = 512,     // along each axis: 27 bits of key
};

typedef struct order_job
{
    const clv_queries* list;
    base_keyed *items, *more;
    float lower[3], scale[3];
    uint32_t places[PARTS][BUCKETS]; // first how many, then where the next one goes
    uint32_t ends[BUCKETS];
} order_job;

// Every third bit.
static uint32_t spread_bits( uint32_t value )
{
    value = ( value | value << 16 ) & 0x030000FFu;
    value = ( value | value << 8 ) & 0x0300F00Fu;
    value = ( value | value << 4 ) & 0x030C30C3u;
    return ( value | value << 2 ) & 0x09249249u;
}

static uint32_t place_key( const order_job* job, clv_vec3 place )
{
    uint32_t key = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        float at = ( ( &place.x )[axis] - job->lower[axis] ) * job->scale[axis];
        uint32_t cell = at >= CELLS - 1 ? CELLS - 1 : at > 0 ? (uint32_t)at : 0;
        key |= spread_bits( cell ) << axis;
    }
    return key;
}

static void part_range( const order_job* job, uint32_t part, uint32_t* first, uint32_t* end )
{
    *first = (uint32_t)( (uint64_t)job->list->count * part / PARTS );
    *end = (uint32_t)( (uint64_t)job->list->count * ( part + 1 ) / PARTS );
    CLV_ASSERT( *first <= *end && *end <= job->list->count );
}

static void count_part( uint32_t part, uint32_t worker, void* context )
{
    (void)worker;
    order_job* job = context;
    uint32_t first, end;
    part_range( job, part, &first, &end );
    uint32_t* counts = job->places[part];
    memset( counts, 0, sizeof( job->places[part] ) );
    for ( uint32_t i = first; i < end; ++i )
    {
        clv_vec3 place = { 0, 0, 0 };
        (void)clv_query_item_place( job->list, i, &place );
        uint32_t key = place_key( job, place );
        CLV_ASSERT( key >> BUCKET_BIT < BUCKETS );
        job->items[i] = ( base_keyed ){ key, i };
        counts[key >> BUCKET_BIT] += 1;
    }
}

static void place_order_part( uint32_t part, uint32_t worker, void* context )
{
    (void)worker;
    order_job* job = context;
    uint32_t first, end;
    part_range( job, part, &first, &end );
    uint32_t* places = job->places[part];
    for ( uint32_t i = first; i < end; ++i )
    {
        base_keyed item = job->items[i];
        CLV_ASSERT( places[item.key >> BUCKET_BIT] < job->ends[item.key >> BUCKET_BIT] );
        job->more[places[item.key >> BUCKET_BIT]++] = item;
    }
}

static void sort_bucket( uint32_t bucket, uint32_t worker, void* context )
{
    (void)worker;
    const order_job* job = context;
    uint32_t first = bucket > 0 ? job->ends[bucket - 1] : 0, count = job->ends[bucket] - first;
    CLV_ASSERT( job->places[PARTS - 1][bucket] == job->ends[bucket] ); // all parts have put theirs
    base_keyed* sorted = clv_base_sort_keyed( job->more + first, job->items + first, count );
    if ( count > 0 && sorted != job->more + first )
    {
        memcpy( job->more + first, sorted, (size_t)count * sizeof( base_keyed ) );
    }
}

// From how many to where: bucket after bucket, and in each part after part.
static void find_places( order_job* job )
{
    uint32_t next = 0;
    for ( uint32_t bucket = 0; bucket < BUCKETS; ++bucket )
    {
        for ( uint32_t part = 0; part < PARTS; ++part )
        {
            uint32_t count = job->places[part][bucket];
            job->places[part][bucket] = next;
            next += count;
        }
        job->ends[bucket] = next;
    }
}

bool clv_query_item_place( const clv_queries* list, uint32_t index, clv_vec3* place )
{
    static const size_t sizes[CLV_QUERY_CAPSULE_CAST + 1] = {
        [CLV_QUERY_POINT] = sizeof( clv_vec3 ),
        [CLV_QUERY_BOX] = sizeof( clv_aabb ),
        [CLV_QUERY_SPHERE] = sizeof( clv_sphere ),
        [CLV_QUERY_NEIGHBOURHOOD] = sizeof( clv_neighbourhood ),
        [CLV_QUERY_CAPSULE] = sizeof( clv_capsule ),
        [CLV_QUERY_ORIENTED_BOX] = sizeof( clv_oriented_box ),
        [CLV_QUERY_RAY] = sizeof( clv_ray ),
        [CLV_QUERY_BOX_CAST] = sizeof( clv_box_cast ),
        [CLV_QUERY_SPHERE_CAST] = sizeof( clv_sphere_cast ),
        [CLV_QUERY_CAPSULE_CAST] = sizeof( clv_capsule_cast ),
    };
    if ( query_is_flat( list->kind ) )
    {
        query_raised raised;
        bool has_place = clv_query_raise( list, index, &raised ) != CLV_QUERY_HALF_SPACES;
        *place = has_place ? raised.item.point : *place;
        return has_place;
    }
    size_t size = list->kind <= CLV_QUERY_CAPSULE_CAST ? sizes[list->kind] : 0; // of doubles: none
    if ( size > 0 )
    {
        memcpy( place, (const char*)list->items + size * index, sizeof( *place ) );
    }
    return size > 0;
}

const base_keyed* clv_query_order( const clv_queries* list, const query_scene* scene, base_keyed* items,
    base_keyed* more, task_runner* tasks )
{
    order_job job;
    clv_vec3 place;
    if ( list->count == 0 || !clv_query_item_place( list, 0, &place ) )
    {
        return NULL;
    }
    job.list = list;
    job.items = items;
    job.more = more;
    query_node root_bound;
    scene->kernels->bound( scene->tree->nodes, &root_bound, 0 );
    for ( int axis = 0; axis < 3; ++axis )
    {
        job.lower[axis] = root_bound.lower[axis][0];
        float side = root_bound.upper[axis][0] - job.lower[axis];
        job.scale[axis] = side > 0 && side - side == 0 ? CELLS / side : 0.0f;
    }
    clv_task_run( tasks, count_part, PARTS, &job );
    find_places( &job );
    CLV_ASSERT( job.ends[BUCKETS - 1] == list->count );
    clv_task_run( tasks, place_order_part, PARTS, &job );
    clv_task_run( tasks, sort_bucket, BUCKETS, &job );
    return more;
}
