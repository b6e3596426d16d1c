// SPDX-License-Identifier: MIT
// One question in double over the tree: the walk hands over objects, and here it is decided whether they count, as query_search.c does for
// floats.
#include "query/query_wide.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "object/filter_rule.h"
#include "query/query_hits.h"
#include "query/query_wide_lanes.h"

static bool is_wanted64( const query_wide_probe* p, uint32_t slot )
{
    const query_scene* scene = p->scene;
    const clv_filter* filters = scene->objects->columns[OBJECT_FILTER];
    const clv_filter usual = clv_default_filter();
    if ( scene->may_be_gone && object_generations( scene->objects )[slot] != scene->generations[slot] )
    {
        return false;
    }
    return p->filter == NULL || object_filters_allow( p->filter, filters != NULL ? &filters[slot] : &usual );
}

// Farther away than these shapes reach.
static bool is_out_of_reach( const clv_aabb64* from )
{
    const double *lower = &from->lower.x, *upper = &from->upper.x;
    bool is_out = false;
    for ( int axis = 0; axis < 3; ++axis )
    {
        is_out |= lower[axis] >= QUERY_WIDE_MOST || upper[axis] <= -QUERY_WIDE_MOST;
    }
    return is_out;
}

// What the shape's box with its room does not meet is not met: where one axis is so much longer than another that its rounding
// alone outweighs the other, only that tells. Lanes have been asked; a box as given is asked here.
static bool meets_round( const query_wide_probe* p, const clv_aabb64* box, bool is_given, double* t )
{
    clv_aabb64 from = clv_query_wide_from( box, p->origin );
    double near;
    if ( is_out_of_reach( &from ) ||
        ( is_given && !clv_query_wide_cast_sides( p, box, query_wide_cast_reach( p ), &near ) ) )
    {
        return false;
    }
    return p->kind == CLV_QUERY_CAPSULE ? clv_query_capsule_meets64( &p->round, box )
                                        : clv_query_capsule_cast64( &p->round, p->motion, p->reach, box, t );
}

// In the kind's own arithmetic. `near` is what the lane said of the box with margins.
static bool meets64( const query_wide_probe* p, const clv_aabb64* box, bool is_given, double near, double* t )
{
    *t = 0;
    switch ( p->look )
    {
    case WIDE_OVERLAP: return !is_given || clv_aabb64_overlap( *box, p->box );
    case WIDE_DISTANCE: *t = is_given ? clv_query_wide_distance( &p->box, box ) : near; return *t <= p->reach;
    case WIDE_PLANES:
    {
        clv_aabb64 from = clv_query_wide_from( box, p->origin );
        return clv_query_wide_planes_meet( p, &from );
    }
    case WIDE_TURNED:
    {
        clv_aabb64 from = clv_query_wide_from( box, p->origin );
        return !is_out_of_reach( &from ) && clv_query_wide_faces_meet( p, &from ) &&
            clv_query_turned_box_edges_meet( &p->turned, &from );
    }
    default: break;
    }
    if ( p->kind == CLV_QUERY_RAY || p->kind == CLV_QUERY_BOX_CAST )
    {
        *t = near;
        return !is_given || clv_query_wide_cast_sides( p, box, p->reach, t );
    }
    return meets_round( p, box, is_given, t );
}

static bool comes_before( clv_hit64 a, clv_hit64 b )
{
    return a.t < b.t || ( a.t == b.t && a.index < b.index );
}

static void keep_nearest64( query_wide_probe* p, clv_hit64 hit )
{
    CLV_ASSERT( p->room > 0 && p->count <= p->room );
    uint64_t at = p->count < p->room ? p->count++ : p->room - 1;
    for ( ; at > 0 && comes_before( hit, p->hits[at - 1] ); --at )
    {
        p->hits[at] = p->hits[at - 1];
    }
    p->hits[at] = hit;
    CLV_ASSERT( at + 1 == p->count || !comes_before( p->hits[at + 1], hit ) );
    if ( p->count == p->room )
    {
        clv_hit64 last = p->hits[p->room - 1];
        if ( last.t <= p->reach ) // else a callback brought the end nearer, and whatever is there counts
        {
            p->reach = last.t;
            p->reach_least = last.index;
        }
    }
}

static void keep64( query_wide_probe* p, clv_hit64 hit )
{
    switch ( p->mode )
    {
    case QUERY_ALL:
        if ( p->count < p->room )
        {
            p->hits[p->count] = hit;
        }
        p->count += 1;
        break;
    case QUERY_ANY:
        p->best = hit;
        p->is_done = true;
        break;
    case QUERY_CLOSEST:
        CLV_ASSERT( hit.t <= p->reach && comes_before( hit, p->best ) );
        p->best = hit;
        p->reach = hit.t;
        // Where a lane's time is only a bound, an equal one may hide an earlier hit; at 0 none is earlier.
        p->reach_least = query_wide_is_exact( p ) || hit.t == 0 ? hit.index : UINT32_MAX;
        break;
    default: keep_nearest64( p, hit ); break;
    }
}

// Would it make a difference? What another hit has outdone is not asked about.
static bool is_outdone64( const query_wide_probe* p, clv_hit64 hit )
{
    if ( hit.t > p->reach )
    {
        return true;
    }
    if ( p->mode == QUERY_CLOSEST )
    {
        return !comes_before( hit, p->best );
    }
    return p->mode == QUERY_NEAREST && p->count == p->room && !comes_before( hit, p->hits[p->room - 1] );
}

static void examine64( query_wide_probe* p, uint32_t slot, double near )
{
    const clv_aabb64* given = p->list->as_given ? p->scene->given64 : NULL;
    clv_hit64 hit = { slot, 0 };
    if ( !is_wanted64( p, slot ) ||
        !meets64( p, given != NULL ? &given[slot] : &p->scene->boxes64[slot], given != NULL, near, &hit.t ) ||
        is_outdone64( p, hit ) )
    {
        return;
    }
    if ( p->list->callback64 != NULL )
    {
        double reach = p->reach;
        bool counts = p->list->callback64( p->scene->space, p->index, hit, &reach, p->list->user );
        if ( !( reach >= p->reach ) )
        {
            p->is_shortened = true;
            p->reach_least = UINT32_MAX;      // whatever is at the new end counts
            p->reach = reach > 0 ? reach : 0; // no number: nothing beyond
        }
        if ( !counts || hit.t > p->reach )
        {
            return;
        }
    }
    keep64( p, hit );
}

// ---- the walk

// Nearest on top, of equals the lowest slot, among those of one node.
static void push_nodes(
    query_wide_probe* p, const query_wide_node* node, uint32_t lanes, const double near[QUERY_LANES] )
{
    uint32_t first = p->top;
    for ( ; lanes != 0; lanes &= lanes - 1 )
    {
        uint32_t lane = base_lowest_bit( lanes );
        query_wide_entry entry = { near[lane], node->child[lane], node->least[lane] };
        CLV_ASSERT( p->top < QUERY_STACK );
        uint32_t at = p->top++;
        for ( ; at > first &&
              ( p->stack[at - 1].near < entry.near ||
                  ( p->stack[at - 1].near == entry.near && p->stack[at - 1].least < entry.least ) );
              --at )
        {
            p->stack[at] = p->stack[at - 1];
        }
        p->stack[at] = entry;
    }
}

static bool is_beyond( const query_wide_probe* p, double near, uint32_t least )
{
    double reach = p->look == WIDE_CAST ? query_wide_cast_reach( p ) : p->reach;
    return near > reach || ( near == reach && least > p->reach_least );
}

static void run_wide( query_wide_probe* p )
{
    double near[QUERY_LANES] = { 0 };
    uint64_t node_count = 0, object_count = 0;
    while ( p->top > 0 && !p->is_done )
    {
        query_wide_entry entry = p->stack[--p->top];
        CLV_ASSERT( entry.node < p->scene->tree->node_count );
        const query_wide_node* node = &p->scene->wide->nodes[entry.node];
        if ( is_beyond( p, entry.near, entry.least ) )
        {
            continue;
        }
        node_count += 1;
        uint32_t nodes = 0;
        for ( uint32_t passed = query_wide_look_at( p, node, near ); passed != 0 && !p->is_done;
              passed &= passed - 1 )
        {
            uint32_t lane = base_lowest_bit( passed ), child = node->child[lane];
            if ( child == QUERY_NOBODY || is_beyond( p, near[lane], node->least[lane] ) )
            {
                continue;
            }
            if ( ( child & QUERY_OBJECT ) != 0 )
            {
                object_count += 1;
                examine64( p, child & ~QUERY_OBJECT, near[lane] );
            }
            else
            {
                nodes |= 1u << lane;
            }
        }
        push_nodes( p, node, nodes, near );
    }
    if ( p->scene->counts != NULL )
    {
        p->scene->counts->node_count += node_count;
        p->scene->counts->object_count += object_count;
    }
}

// ---- the doors

uint64_t clv_query_wide_find_all(
    const query_scene* scene, const clv_queries* list, uint32_t index, clv_hit64* hits, uint64_t room )
{
    query_wide_probe p;
    clv_query_wide_probe_start( &p, scene, list, index, QUERY_ALL );
    p.hits = hits;
    p.room = room;
    run_wide( &p );
    if ( p.count <= room && p.is_shortened )
    {
        p.count = clv_query_hits_drop64( hits, p.count, p.reach );
    }
    if ( p.count <= room && p.count > 1 )
    {
        clv_query_hits_sort64( hits, p.count );
    }
    return p.count;
}

clv_hit64 clv_query_wide_find_one(
    const query_scene* scene, const clv_queries* list, uint32_t index, query_mode mode )
{
    query_wide_probe p;
    clv_query_wide_probe_start( &p, scene, list, index, mode );
    run_wide( &p );
    return p.best.t <= p.reach ? p.best : query_no_hit64(); // a callback may have put it out of reach since
}

void clv_query_wide_find_nearest( const query_scene* scene, const clv_queries* list, uint32_t index,
    uint32_t k, double max_distance, clv_hit64* hits )
{
    query_wide_probe p;
    clv_query_wide_probe_start( &p, scene, list, index, QUERY_NEAREST );
    clv_query_wide_probe_distance( &p, p.box, max_distance );
    p.hits = hits;
    p.room = k;
    if ( k > 0 )
    {
        run_wide( &p );
    }
    uint64_t count = p.is_shortened ? clv_query_hits_drop64( hits, p.count, p.reach ) : p.count;
    CLV_ASSERT( count <= k );
    for ( uint64_t i = count; i < k; ++i )
    {
        hits[i] = query_no_hit64();
    }
}
