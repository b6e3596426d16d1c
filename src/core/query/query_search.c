// SPDX-License-Identifier: MIT
// One query over the tree: walks (simd/query_lanes.h) hand over objects, and here it is decided whether they count.
#include "query/query_search.h"

#include "base/assertion.h"
#include "object/filter_rule.h"
#include "query/query_hits.h"
#include "query/query_plain.h"

#include <string.h>

// ---- does it count?

static bool is_wanted( const query_probe* probe, uint32_t slot )
{
    const query_scene* scene = probe->scene;
    const object_store* objects = scene->objects;
    if ( slot == ( QUERY_NOBODY & ~QUERY_OBJECT ) )
    {
        return false;
    }
    if ( scene->may_be_gone && object_generations( objects )[slot] != scene->generations[slot] )
    {
        return false;
    }
    if ( probe->filter == NULL )
    {
        return true;
    }
    const clv_filter* filters = objects->columns[OBJECT_FILTER];
    const clv_filter usual = clv_default_filter();
    return object_filters_allow( probe->filter, filters != NULL ? &filters[slot] : &usual );
}

static bool meets_half_spaces( const query_probe* probe, const clv_aabb* box )
{
    return probe->is_flat ? query_half_planes_meet( &probe->half_planes, box )
                          : query_half_spaces_meet( probe->planes, probe->plane_count, box );
}

// The walk has asked the faces already; those of a box as given are asked here.
static bool meets_turned( const query_probe* probe, const clv_aabb* box, bool is_given )
{
    const clv_aabb64 from = clv_query_turned_box_from( &probe->turned, box );
    return ( !is_given || clv_query_turned_box_faces_meet( &probe->turned, &from ) ) &&
        clv_query_turned_box_edges_meet( &probe->turned, &from );
}

// In the kind's own arithmetic. `near` is what the lane said of the box with margins.
static bool meets( const query_probe* probe, const clv_aabb* box, bool is_given, float near, float* t )
{
    const query_walk* walk = &probe->walk;
    *t = 0;
    switch ( probe->kind )
    {
    case CLV_QUERY_CAPSULE: return clv_query_capsule_meets( &probe->capsule, box );
    case CLV_QUERY_SPHERE:
    case CLV_QUERY_NEIGHBOURHOOD:
    {
        double square = query_gap_squared( &walk->box, box );
        *t = (float)sqrt( square );
        return square <= probe->square;
    }
    case CLV_QUERY_RAY:
    case CLV_QUERY_BOX_CAST:
        *t = near;
        return !is_given || query_cast_box( &walk->cast, box, probe->reach, t );
    case CLV_QUERY_SPHERE_CAST:
    case CLV_QUERY_CAPSULE_CAST:
    {
        double time = 0;
        bool is_met =
            clv_query_capsule_cast( &probe->capsule, probe->motion, query_latest( probe ), box, &time );
        *t = (float)time;
        return is_met && *t <= probe->reach;
    }
    case CLV_QUERY_ORIENTED_BOX: return meets_turned( probe, box, is_given );
    case CLV_QUERY_HALF_SPACES: return meets_half_spaces( probe, box );
    default:
        if ( probe->mode == QUERY_NEAREST )
        {
            double square = query_gap_squared( &walk->box, box );
            *t = (float)sqrt( square );
            return square <= probe->square;
        }
        return !is_given || ( clv_aabb_overlap( *box, walk->box ) );
    }
}

// The walk need not look farther than this.
static void shorten( query_probe* probe, float reach )
{
    CLV_ASSERT( reach >= 0 && reach <= probe->reach );
    bool is_exact = probe->kind == CLV_QUERY_RAY || probe->kind == CLV_QUERY_BOX_CAST;
    bool is_cast = is_exact || probe->kind == CLV_QUERY_SPHERE_CAST || probe->kind == CLV_QUERY_CAPSULE_CAST;
    probe->reach = reach;
    if ( is_cast )
    {
        probe->walk.reach = is_exact ? reach : query_wider( reach );
    }
    else if ( probe->mode == QUERY_NEAREST || probe->kind == CLV_QUERY_SPHERE ||
        probe->kind == CLV_QUERY_NEIGHBOURHOOD )
    {
        double square = (double)reach * (double)reach;
        probe->walk.reach = query_lane_reach( square );
        probe->walk.band = query_lane_band( square );
        probe->walk.reach_time = reach;
    }
}

// Among the k nearest so far, if it belongs there.
static void keep_nearest( query_probe* probe, clv_hit hit )
{
    clv_hit* hits = probe->hits;
    CLV_ASSERT( probe->room > 0 && probe->count <= probe->room );
    uint64_t at = probe->count < probe->room ? probe->count : probe->room - 1;
    if ( probe->count == probe->room )
    {
        clv_hit last = hits[at];
        if ( hit.t > last.t || ( hit.t == last.t && hit.index > last.index ) )
        {
            return;
        }
    }
    else
    {
        probe->count += 1;
    }
    for ( ; at > 0 &&
          ( hits[at - 1].t > hit.t || ( hits[at - 1].t == hit.t && hits[at - 1].index > hit.index ) );
          --at )
    {
        hits[at] = hits[at - 1];
    }
    hits[at] = hit;
    CLV_ASSERT( at + 1 == probe->count || hit.t <= hits[at + 1].t );
    if ( probe->count == probe->room )
    {
        clv_hit last = hits[probe->room - 1];
        if ( last.t <= probe->reach ) // else a callback brought the end nearer, and whatever is there counts
        {
            probe->walk.reach_least = last.index;
            shorten( probe, last.t );
        }
    }
}

static void keep( query_probe* probe, clv_hit hit )
{
    switch ( probe->mode )
    {
    case QUERY_ALL:
        if ( probe->count < probe->room )
        {
            probe->hits[probe->count] = hit;
        }
        probe->count += 1;
        break;
    case QUERY_ANY:
        probe->best = hit;
        probe->is_done = true;
        break;
    case QUERY_CLOSEST:
        if ( hit.t < probe->best.t || ( hit.t == probe->best.t && hit.index < probe->best.index ) )
        {
            probe->best = hit;
            // Where a node's time is only a bound, an equal one may hide an earlier hit; at 0 none is earlier.
            bool is_exact = probe->kind == CLV_QUERY_RAY || probe->kind == CLV_QUERY_BOX_CAST;
            probe->walk.reach_least = is_exact || hit.t == 0 ? hit.index : UINT32_MAX;
            shorten( probe, hit.t );
        }
        break;
    case QUERY_NEAREST: keep_nearest( probe, hit ); break;
    default: break;
    }
}

// Would the callback's answer make a difference? It is not asked about what another hit has outdone.
static bool is_outdone( const query_probe* probe, clv_hit hit )
{
    if ( hit.t > probe->reach )
    {
        return true;
    }
    if ( probe->mode == QUERY_CLOSEST )
    {
        return hit.t == probe->best.t && hit.index > probe->best.index;
    }
    if ( probe->mode == QUERY_NEAREST && probe->count == probe->room )
    {
        clv_hit last = probe->hits[probe->room - 1];
        return hit.t == last.t && hit.index > last.index;
    }
    return false;
}

static void examine( query_probe* probe, uint32_t slot, float near, const clv_aabb* lane_box )
{
    if ( !is_wanted( probe, slot ) )
    {
        return;
    }
    const clv_aabb* given = probe->list->as_given ? probe->scene->given : NULL;
    clv_hit hit = { slot, 0 };
    if ( !meets( probe, given != NULL ? &given[slot] : lane_box, given != NULL, near, &hit.t ) ||
        is_outdone( probe, hit ) )
    {
        return;
    }
    CLV_ASSERT( hit.t >= 0 );
    if ( probe->list->callback != NULL )
    {
        float reach = probe->reach;
        bool counts =
            probe->list->callback( probe->scene->space, probe->index, hit, &reach, probe->list->user );
        if ( !( reach >= probe->reach ) )
        {
            probe->is_shortened = true;
            probe->walk.reach_least = UINT32_MAX;    // whatever is at the new end counts
            shorten( probe, reach > 0 ? reach : 0 ); // no number: nothing beyond
        }
        if ( !counts || hit.t > probe->reach )
        {
            return;
        }
    }
    keep( probe, hit );
}

// ---- the walks

static inline void count_objects( const query_probe* probe, uint32_t count )
{
    if ( probe->scene->counts != NULL )
    {
        probe->scene->counts->object_count += count;
    }
}

static void run_overlap( query_probe* probe )
{
    query_walk* walk = &probe->walk;
    bool is_more = true;
    bool is_plain = probe->mode == QUERY_ALL && query_is_plain( probe->scene, probe->list );
    while ( is_more && !probe->is_done )
    {
        is_more = probe->scene->kernels->overlap( walk );
        CLV_ASSERT( walk->found_count <= QUERY_FOUND );
        count_objects( probe, walk->found_count );
        for ( uint32_t i = 0; i < walk->found_count && !probe->is_done; ++i )
        {
            uint32_t slot = walk->found[i];
            if ( !is_plain )
            {
                examine( probe, slot, 0, &probe->scene->boxes[slot] );
            }
            else if ( slot != ( QUERY_NOBODY & ~QUERY_OBJECT ) )
            {
                keep( probe, ( clv_hit ){ slot, 0 } );
            }
        }
    }
}

static void run_by_reach( query_probe* probe, bool ( *step )( query_walk* walk ) )
{
    query_walk* walk = &probe->walk;
    bool needs_box = probe->kind != CLV_QUERY_RAY && probe->kind != CLV_QUERY_BOX_CAST;
    clv_aabb box;
    memset( &box, 0, sizeof( box ) );
    while ( !probe->is_done && step( walk ) )
    {
        CLV_ASSERT( walk->found_count > 0 && walk->found_count <= QUERY_LANES );
        count_objects( probe, walk->found_count );
        for ( uint32_t i = 0; i < walk->found_count && !probe->is_done; ++i )
        {
            box = needs_box ? query_lane_box( walk->found_node, walk->found_lane[i] ) : box;
            examine( probe, walk->found[i], walk->found_near[i], &box );
        }
    }
}

static bool may_meet( const query_probe* probe, const clv_aabb* box )
{
    if ( probe->is_extreme )
    {
        return clv_query_probe_sweep_meets( probe, box );
    }
    if ( probe->kind == CLV_QUERY_HALF_SPACES )
    {
        return meets_half_spaces( probe, box );
    }
    if ( !clv_aabb_overlap( *box, probe->walk.box ) )
    {
        return false;
    }
    const clv_aabb64 from = clv_query_turned_box_from( &probe->turned, box );
    return clv_query_turned_box_faces_meet( &probe->turned, &from );
}

// Regions between planes, and what is too large or too small for lanes, in plain C: the arithmetic is double all the way.
static void run_doubles( query_probe* probe )
{
    query_walk* walk = &probe->walk;
    while ( walk->top > 0 && !probe->is_done )
    {
        const query_node* node = &walk->nodes[walk->stack.node[--walk->top]];
        walk->node_count += 1;
        for ( uint32_t lane = 0; lane < QUERY_LANES && !probe->is_done; ++lane )
        {
            clv_aabb box = query_lane_box( node, lane );
            uint32_t child = node->child[lane];
            if ( child == QUERY_NOBODY || !may_meet( probe, &box ) )
            {
                continue;
            }
            if ( ( child & QUERY_OBJECT ) != 0 )
            {
                count_objects( probe, 1 );
                examine( probe, child & ~QUERY_OBJECT, 0, &box );
                continue;
            }
            CLV_ASSERT( child < probe->scene->tree->node_count && walk->top < QUERY_STACK );
            walk->stack.node[walk->top++] = child;
        }
    }
}

static void run_probe( query_probe* probe )
{
    const simd_queries* kernels = probe->scene->kernels;
    switch ( probe->kind )
    {
    case CLV_QUERY_POINT:
    case CLV_QUERY_BOX:
        if ( probe->mode != QUERY_NEAREST )
        {
            run_overlap( probe );
        }
        else
        {
            run_by_reach( probe, kernels->distance );
        }
        break;
    case CLV_QUERY_SPHERE:
    case CLV_QUERY_NEIGHBOURHOOD: run_by_reach( probe, kernels->distance ); break;
    case CLV_QUERY_ORIENTED_BOX:
    case CLV_QUERY_HALF_SPACES: run_doubles( probe ); break;
    default:
        if ( probe->is_extreme )
        {
            run_doubles( probe );
        }
        else
        {
            run_by_reach( probe, kernels->cast );
        }
        break;
    }
    if ( probe->scene->counts != NULL )
    {
        probe->scene->counts->node_count += probe->walk.node_count;
    }
}

// ---- the doors

uint64_t clv_query_find_all(
    const query_scene* scene, const clv_queries* list, uint32_t index, clv_hit* hits, uint64_t room )
{
    query_probe probe;
    clv_query_probe_start( &probe, scene, list, index, QUERY_ALL );
    probe.hits = hits;
    probe.room = room;
    run_probe( &probe );
    if ( probe.count <= room && probe.is_shortened )
    {
        probe.count = clv_query_hits_drop( hits, probe.count, probe.reach );
    }
    if ( probe.count <= room && probe.count > 1 )
    {
        clv_query_hits_sort( hits, probe.count );
    }
    return probe.count;
}

// Rays and moving boxes: their times are those of the lanes.
static bool is_plain_closest( const query_scene* scene, const clv_queries* list, query_mode mode )
{
    clv_query_kind kind = list->kind;
    bool is_exact = kind == CLV_QUERY_RAY || kind == CLV_QUERY_BOX_CAST || kind == CLV_QUERY_RAY2 ||
        kind == CLV_QUERY_BOX_CAST2;
    return mode == QUERY_CLOSEST && is_exact && query_is_plain( scene, list );
}

static clv_hit find_one( const query_scene* scene, const clv_queries* list, uint32_t index, query_mode mode )
{
    query_probe probe;
    clv_query_probe_start( &probe, scene, list, index, mode );
    run_probe( &probe );
    // A callback may have put it out of reach since.
    return probe.best.t <= probe.reach ? probe.best : query_no_hit();
}

static void find_nearest( const query_scene* scene, const clv_queries* list, uint32_t index, uint32_t k,
    float max_distance, clv_hit* hits )
{
    query_probe probe;
    clv_query_probe_start( &probe, scene, list, index, QUERY_NEAREST );
    clv_aabb box = probe.walk.box;
    clv_query_probe_distance( &probe, box, max_distance );
    probe.hits = hits;
    probe.room = k;
    if ( k > 0 )
    {
        run_probe( &probe );
    }
    // What a callback put out of reach afterwards.
    probe.count = probe.is_shortened ? clv_query_hits_drop( hits, probe.count, probe.reach ) : probe.count;
    CLV_ASSERT( probe.count <= k );
    for ( uint64_t i = probe.count; i < k; ++i )
    {
        hits[i] = query_no_hit();
    }
}

void clv_query_find_one( const query_scene* scene, const clv_queries* list, const uint32_t* which,
    uint32_t count, query_mode mode, clv_hit* hits )
{
    CLV_ASSERT( count <= QUERY_SOME );
    if ( is_plain_closest( scene, list, mode ) )
    {
        clv_query_plain_closest( scene, list, which, count, hits );
        return;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        hits[which[i]] = find_one( scene, list, which[i], mode );
    }
}

void clv_query_find_nearest( const query_scene* scene, const clv_queries* list, const uint32_t* which,
    uint32_t count, uint32_t k, float max_distance, clv_hit* hits )
{
    CLV_ASSERT( count <= QUERY_SOME );
    bool are_few = k > 0 && k <= QUERY_NEAREST_MOST && query_is_plain( scene, list );
    for ( uint32_t i = 0; i < count && are_few; i += QUERY_NEAREST_SOME )
    {
        uint32_t some = count - i < QUERY_NEAREST_SOME ? count - i : QUERY_NEAREST_SOME;
        clv_query_plain_nearest( scene, list, which + i, some, k, max_distance, hits );
    }
    for ( uint32_t i = 0; i < count && !are_few; ++i )
    {
        find_nearest( scene, list, which[i], k, max_distance, hits + (uint64_t)which[i] * k );
    }
}
