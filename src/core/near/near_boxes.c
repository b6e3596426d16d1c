// SPDX-License-Identifier: MIT
// Where a grid of cells is no good, since points have radii of their own or lie in knots far apart: a box
// around each, as large as it reaches, and a space finds those that overlap, whatever the world looks like.
// Where there are more images than points, as in cells smaller than what a point reaches, the points ask for
// what they overlap instead: most pairs would be of two images, which count for nothing.
#include "near/near_internal.h"

#include "base/assertion.h"
#include "cleave/world_query.h"

#include <math.h>

typedef struct box_job
{
    clv_near* near;
    const near_call* call;
    clv_pair_sink* sink;
    clv_result result;
} box_job;

static void box_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const box_job* job = context;
    const clv_near* near = job->near;
    uint32_t end = near_piece_end( piece, near->point_count + near->image_count );
    for ( uint32_t i = near_piece_begin( piece ); i < end; ++i )
    {
        double at[3],
            half = near_radius( near, job->call, near_point_of( near, i ) ) + job->call->box_reach / 2;
        near_place( near, i, at );
        CLV_ASSERT( half >= 0 );
        for ( int axis = 0; axis < 3; ++axis )
        {
            // One step further out than rounded, which is where it would be exactly or beyond.
            double lower = at[axis] - half, upper = at[axis] + half;
            if ( near->def.doubles )
            {
                double* corners = (double*)(void*)( near->boxes.items + i * sizeof( clv_aabb64 ) );
                corners[axis] = nextafter( lower, -INFINITY );
                corners[axis + 3] = nextafter( upper, INFINITY );
            }
            else
            {
                float* corners = (float*)(void*)( near->boxes.items + i * sizeof( clv_aabb ) );
                corners[axis] = nextafterf( (float)lower, -INFINITY );
                corners[axis + 3] = nextafterf( (float)upper, INFINITY );
            }
        }
    }
}

// Are these two within the limit? All of it as T rounds.
static bool are_near( const clv_near* near, const near_call* call, clv_pair pair )
{
    uint32_t a = near_point_of( near, pair.a ), b = near_point_of( near, pair.b );
    if ( near->def.doubles )
    {
        const double *p = near_records64( near )[pair.a].at, *q = near_records64( near )[pair.b].at;
        double dx = q[0] - p[0], dy = q[1] - p[1], dz = q[2] - p[2];
        double limit = ( near_radius( near, call, a ) + near_radius( near, call, b ) ) + call->limit;
        return dx * dx + dy * dy + dz * dz <= limit * limit;
    }
    const float *p = near_records( near )[pair.a].at, *q = near_records( near )[pair.b].at;
    float dx = q[0] - p[0], dy = q[1] - p[1], dz = q[2] - p[2];
    float limit =
        ( (float)near_radius( near, call, a ) + (float)near_radius( near, call, b ) ) + (float)call->limit;
    return dx * dx + dy * dy + dz * dz <= limit * limit;
}

static void put_entry( box_job* job, uint32_t a, uint32_t b, uint32_t point )
{
    if ( job->result == CLV_OK )
    {
        const clv_pair pair = { a, b }, row[2] = { { a, 1 }, { b, 0 } };
        bool is_directed = near_is_directed( job->near );
        job->result = clv_pair_sink_put_all( job->sink, is_directed ? row : &pair, is_directed ? 2 : 1 );
        if ( is_directed )
        {
            job->near->offsets.items[point + 2] += 1;
        }
    }
}

// Into the sink, if it is one, from the sides that are wanted.
static void take_near_pair( box_job* job, clv_pair pair )
{
    const clv_near* near = job->near;
    CLV_ASSERT( pair.a < pair.b && pair.a < near->point_count );
    CLV_ASSERT( pair.b - near->point_count < near->image_count || pair.b < near->point_count );
    bool thins = job->call->points->groups != NULL || near->excluded.count > 0;
    if ( are_near( near, job->call, pair ) && !( thins && clv_near_is_excluded( near, job->call, pair ) ) )
    {
        uint32_t other = near_point_of( near, pair.b );
        bool is_directed = near_is_directed( near );
        if ( !is_directed || near->def.full || pair.a <= other )
        {
            put_entry( job, pair.a, pair.b, pair.a );
        }
        if ( is_directed && ( near->def.full || pair.a > other ) )
        {
            put_entry( job, pair.b, pair.a, other );
        }
    }
}

static bool near_take_pairs( const clv_pair* pairs, size_t count, void* user )
{
    box_job* job = user;
    job->near->test_count += count;
    for ( size_t i = 0; i < count && job->result == CLV_OK; ++i )
    {
        if ( pairs[i].a < job->near->point_count )
        {
            take_near_pair( job, pairs[i] );
        }
    }
    return job->result == CLV_OK;
}

// What the box of a point overlaps: pairs with what has a greater number, so that each is met once.
#define NEAR_TAKE_HITS( name, hit_type )                                                                     \
    static bool name( uint32_t point, const hit_type* hits, uint64_t count, void* user )                     \
    {                                                                                                        \
        box_job* job = user;                                                                                 \
        job->near->test_count += count;                                                                      \
        for ( uint64_t i = 0; i < count && job->result == CLV_OK; ++i )                                      \
        {                                                                                                    \
            if ( hits[i].index > point )                                                                     \
            {                                                                                                \
                take_near_pair( job, ( clv_pair ){ point, hits[i].index } );                                 \
            }                                                                                                \
        }                                                                                                    \
        return job->result == CLV_OK;                                                                        \
    }

NEAR_TAKE_HITS( near_take_hits, clv_hit )
NEAR_TAKE_HITS( near_take_hits64, clv_hit64 )

// The space's pieces run on our threads.
static void run_pieces( clv_task* task, uint32_t count, void* context, void* user )
{
    clv_task_run( user, task, count, context );
}

// What each point's box overlaps.
static clv_result ask_points( clv_space* space, box_job* job )
{
    const clv_near* near = job->near;
    const void* boxes = near->boxes.items;
    clv_result result = clv_space_refresh( space );
    if ( result == CLV_OK && near->def.doubles )
    {
        clv_queries64 queries = clv_query_boxes64( boxes, near->point_count );
        result = clv_space_query_visit64( space, &queries, near_take_hits64, job, NULL );
    }
    else if ( result == CLV_OK )
    {
        clv_queries queries = clv_query_boxes( boxes, near->point_count );
        result = clv_space_query_visit( space, &queries, near_take_hits, job, NULL );
    }
    return result;
}

static clv_result search_space( box_job* job )
{
    clv_near* near = job->near;
    clv_space_def def = clv_default_space_def();
    def.doubles = near->def.doubles;
    def.isa = near->isa;
    def.worker_count = task_worker_count( &near->tasks );
    def.tasks = ( clv_task_hooks ){ run_pieces, &near->tasks };
    def.allocator = near->def.allocator;
    clv_space* space = NULL;
    clv_result result = clv_space_create( &def, &space );
    uint32_t items = near->point_count + near->image_count;
    if ( result == CLV_OK )
    {
        const void* boxes = near->boxes.items;
        result = near->def.doubles ? clv_space_add64( space, boxes, items, NULL )
                                   : clv_space_add( space, boxes, items, NULL );
    }
    if ( result == CLV_OK )
    {
        result = near->image_count > near->point_count ? ask_points( space, job )
                                                       : clv_space_visit( space, near_take_pairs, job );
    }
    clv_space_destroy( space );
    CLV_ASSERT( result != CLV_STOPPED || job->result != CLV_OK );
    return result == CLV_STOPPED ? job->result : result;
}

clv_result clv_near_search_boxes( clv_near* near, near_call* call, clv_pair_sink* sink )
{
    CLV_ASSERT( near->grid.cell_count == 0 && near->point_count > 0 );
    clv_result result = clv_near_points_images( near, call );
    if ( result != CLV_OK )
    {
        return result;
    }
    uint32_t items = near->point_count + near->image_count;
    size_t size = near->def.doubles ? sizeof( clv_aabb64 ) : sizeof( clv_aabb );
    if ( !base_array_reserve( &near->boxes, &near->memory, items * (uint64_t)size ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    CLV_ASSERT( near->records.capacity >= items * (uint64_t)near_record_size( near ) );
    box_job job = { near, call, sink, CLV_OK };
    clv_task_run( &near->tasks, box_piece, near_piece_count( items ), &job );
    return search_space( &job );
}
