// SPDX-License-Identifier: MIT
// One query over the tree: walks hand over objects, and here it is decided whether they count. Where
// everything counts, whole lists of rays and of neighbours go together, several in turn, so that one works
// while the others wait for memory.
#include "query/query_search.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "object/filter_rule.h"
#include "query/query_walk.h"

#include <string.h>

enum
{
    NEAREST_SOME = 32, // lists of nearest at a time: each needs a few hundred bytes
};

// ---- hits of either kind

static void write_hit( const query_search* s, uint64_t at, clv_hit64 hit )
{
    if ( s->probe.is_double )
    {
        ( (clv_hit64*)s->hits )[at] = hit;
    }
    else
    {
        ( (clv_hit*)s->hits )[at] = ( clv_hit ){ hit.index, (float)hit.t };
    }
}

static inline void put_overlap( const query_list* list, void* hits, uint64_t at, clv_hit64 hit )
{
    if ( list->is_double )
    {
        ( (clv_hit64*)hits )[at] = hit;
    }
    else
    {
        ( (clv_hit*)hits )[at] = ( clv_hit ){ hit.index, (float)hit.t };
    }
}

static clv_hit64 read_hit( const query_search* s, uint64_t at )
{
    if ( s->probe.is_double )
    {
        return ( (const clv_hit64*)s->hits )[at];
    }
    clv_hit hit = ( (const clv_hit*)s->hits )[at];
    return ( clv_hit64 ){ hit.index, (double)hit.t };
}

static clv_hit64 no_hit( void )
{
    return ( clv_hit64 ){ CLV_NO_HIT, INFINITY };
}

static bool comes_before( clv_hit64 a, clv_hit64 b )
{
    return a.t < b.t || ( a.t == b.t && a.index < b.index );
}

// ---- does it count?

// Is the object still there, and does the filter want it?
static bool is_wanted_slot( const query_search* s, uint32_t slot )
{
    const query_scene* scene = s->scene;
    const object_store* objects = scene->objects;
    if ( scene->may_be_gone && object_generations( objects )[slot] != scene->generations[slot] )
    {
        return false;
    }
    if ( s->filter == NULL )
    {
        return true;
    }
    const clv_filter* filters = objects->columns[OBJECT_FILTER];
    const clv_filter usual = clv_default_filter();
    return object_filters_allow( s->filter, filters != NULL ? &filters[slot] : &usual );
}

// Farther away than these shapes reach.
static bool is_out_of_reach( const clv_aabb64* from )
{
    double first = from->lower.x > from->lower.y ? from->lower.x : from->lower.y;
    double last = from->upper.x < from->upper.y ? from->upper.x : from->upper.y;
    first = first > from->lower.z ? first : from->lower.z;
    last = last < from->upper.z ? last : from->upper.z;
    return first >= QUERY_MOST || last <= -QUERY_MOST;
}

static bool meets_distance( const query_search* s, const clv_aabb64* box, double* t )
{
    double gaps[3], square = query_gaps( &s->probe.box, box, gaps );
    if ( s->probe.is_double )
    {
        *t = query_length( square, gaps[0], gaps[1], gaps[2] );
        return *t <= s->reach;
    }
    *t = (double)(float)sqrt( square );
    return square <= s->square;
}

static bool meets_cast( const query_search* s, const clv_aabb64* box, double* t )
{
    if ( s->probe.is_double )
    {
        return query_cast_sides( &s->cast, box, s->reach, t );
    }
    const clv_aabb floats = { query_floats( &box->lower.x ), query_floats( &box->upper.x ) };
    float near;
    bool is_met = query_cast_box( &s->walk.lanes.cast, &floats, (float)s->reach, &near );
    *t = (double)near;
    return is_met;
}

// In double what the shape's box with its room does not meet is not met: where one axis is so much longer
// than another that its rounding alone outweighs the other, only that tells. Lanes have been asked; a box as
// given is asked here.
static bool meets_round( const query_search* s, const clv_aabb64* box, double* t )
{
    const query_probe* p = &s->probe;
    clv_aabb64 from = p->is_double ? query_box_from( box, p->a ) : *box; // floats: endlessly far or not
    double near;
    if ( is_out_of_reach( &from ) ||
        ( p->is_double && s->is_given && !query_cast_sides( &s->cast, box, query_cast_reach( s ), &near ) ) )
    {
        return false;
    }
    if ( p->form == QUERY_CAPSULE )
    {
        return clv_query_capsule_meets( &p->round, box );
    }
    bool is_met =
        clv_query_capsule_cast( &p->round, p->motion, p->is_double ? s->reach : query_latest( s ), box, t );
    *t = p->is_double ? *t : (double)(float)*t;
    return is_met && *t <= s->reach;
}

static bool meets_turned( const query_search* s, const clv_aabb64* box )
{
    clv_aabb64 from = query_box_from( box, s->probe.a );
    return !is_out_of_reach( &from ) &&
        ( ( !s->is_given && !s->is_by_lanes ) || clv_query_turned_box_faces_meet( &s->turned, &from ) ) &&
        clv_query_turned_box_edges_meet( &s->turned, &from );
}

// The one test that decides, in the arithmetic of the question. Where the walk has asked all of it already it
// is not asked again.
static bool meets( const query_search* s, const clv_aabb64* box, double* t )
{
    if ( s->probe.form == QUERY_DISTANCE )
    {
        return meets_distance( s, box, t );
    }
    *t = 0;
    switch ( s->probe.form )
    {
    case QUERY_OVERLAP: return clv_aabb64_overlap( *box, s->probe.box );
    case QUERY_TURNED: return meets_turned( s, box );
    case QUERY_PLANES:
    {
        clv_aabb64 from = query_box_from( box, s->probe.a );
        return query_planes_meet( &s->probe, &from );
    }
    case QUERY_CAST: return meets_cast( s, box, t );
    default: return meets_round( s, box, t );
    }
}

// The walk need not look farther than this, and just there only for slots up to `least`.
static void shorten( query_search* s, double reach, uint32_t least )
{
    CLV_ASSERT( reach >= 0 && reach <= s->reach );
    s->reach = reach;
    s->reach_least = least;
    if ( !s->is_by_lanes )
    {
        return;
    }
    query_walk* walk = &s->walk.lanes;
    walk->reach_least = least;
    if ( s->probe.form == QUERY_CAST )
    {
        walk->reach = (float)reach;
    }
    else if ( s->probe.form == QUERY_ROUND_CAST )
    {
        walk->reach = query_wider( (float)reach );
    }
    else if ( s->probe.form == QUERY_DISTANCE )
    {
        walk->reach = query_lane_reach( reach * reach );
        walk->band = query_lane_band( reach * reach );
        walk->reach_time = (float)reach;
    }
}

// Among the k nearest so far, where it belongs.
static void keep_nearest( query_search* s, clv_hit64 hit )
{
    CLV_ASSERT( s->room > 0 && s->count <= s->room );
    uint64_t at = s->count < s->room ? s->count++ : s->room - 1;
    for ( ; at > 0 && comes_before( hit, read_hit( s, at - 1 ) ); --at )
    {
        write_hit( s, at, read_hit( s, at - 1 ) );
    }
    write_hit( s, at, hit );
    CLV_ASSERT( at + 1 == s->count || !comes_before( read_hit( s, at + 1 ), hit ) );
    if ( s->count == s->room )
    {
        clv_hit64 last = read_hit( s, s->room - 1 );
        if ( last.t <= s->reach ) // else a callback brought the end nearer, and whatever is there counts
        {
            shorten( s, last.t, last.index );
        }
    }
}

static void keep_one( query_search* s, clv_hit64 hit )
{
    switch ( s->mode )
    {
    case QUERY_ANY:
        s->best = hit;
        s->is_done = true;
        break;
    case QUERY_CLOSEST:
        CLV_ASSERT( hit.t <= s->reach && comes_before( hit, s->best ) );
        s->best = hit;
        // Where a node's time is only a bound, an equal one may hide an earlier hit; at 0 none is earlier.
        shorten( s, hit.t, s->probe.form == QUERY_CAST || hit.t == 0 ? hit.index : UINT32_MAX );
        break;
    default: keep_nearest( s, hit ); break;
    }
}

static inline void keep( query_search* s, clv_hit64 hit )
{
    if ( s->mode != QUERY_ALL )
    {
        keep_one( s, hit );
        return;
    }
    if ( s->count < s->room )
    {
        write_hit( s, s->count, hit );
    }
    s->count += 1;
}

// Would the callback's answer make a difference? It is not asked about what another hit has outdone.
static bool is_outdone( const query_search* s, clv_hit64 hit )
{
    if ( hit.t > s->reach )
    {
        return true;
    }
    if ( s->mode == QUERY_CLOSEST )
    {
        return !comes_before( hit, s->best );
    }
    return s->mode == QUERY_NEAREST && s->count == s->room &&
        !comes_before( hit, read_hit( s, s->room - 1 ) );
}

// What the caller says of a hit.
static bool ask_about( query_search* s, clv_hit64 hit )
{
    const query_list* list = s->list;
    double reach = s->reach;
    bool counts;
    if ( s->probe.is_double )
    {
        counts = list->callback64( s->scene->space, s->index, hit, &reach, list->user );
    }
    else
    {
        float short_reach = (float)reach;
        clv_hit floats = { hit.index, (float)hit.t };
        counts = list->callback( s->scene->space, s->index, floats, &short_reach, list->user );
        reach = (double)short_reach;
    }
    if ( !( reach >= s->reach ) )
    {
        s->is_shortened = true;
        // Whatever is at the new end counts; no number: nothing beyond.
        shorten( s, reach > 0 ? reach : 0, UINT32_MAX );
    }
    return counts && hit.t <= s->reach;
}

// `near` and `box` are what the walk has of it; the box is needed where the walk does not settle it.
static void examine( query_search* s, uint32_t slot, double near, const clv_aabb64* box )
{
    clv_aabb64 given;
    clv_hit64 hit = { slot, near };
    if ( slot == ( QUERY_EMPTY & ~QUERY_OBJECT ) || ( s->is_choosy && !is_wanted_slot( s, slot ) ) )
    {
        return;
    }
    if ( s->is_given )
    {
        given = s->probe.is_double ? s->scene->given64[slot] : query_widen( &s->scene->given[slot] );
        box = &given;
    }
    if ( ( !s->is_settled && !meets( s, box, &hit.t ) ) || is_outdone( s, hit ) )
    {
        return;
    }
    CLV_ASSERT( hit.t >= 0 );
    if ( !s->asks || ask_about( s, hit ) )
    {
        keep( s, hit );
    }
}

// ---- the walks

static inline void count_objects( const query_search* s, uint32_t count )
{
    if ( s->scene->counts != NULL )
    {
        s->scene->counts->object_count += count;
    }
}

// The common case, in which nothing but boxes and slots counts.
static bool is_plain( const query_scene* scene, const query_list* list )
{
    bool has_given = list->is_double ? scene->given64 != NULL : scene->given != NULL;
    return list->filters == NULL && !query_calls( list ) && !scene->may_be_gone &&
        !( list->as_given && has_given ) && scene->counts == NULL;
}

static void run_overlap( query_search* s )
{
    query_walk* walk = &s->walk.lanes;
    bool is_more = true;
    while ( is_more && !s->is_done )
    {
        is_more = s->scene->kernels->overlap( walk );
        CLV_ASSERT( walk->found_count <= QUERY_FOUND );
        count_objects( s, walk->found_count );
        for ( uint32_t i = 0; i < walk->found_count && !s->is_done; ++i )
        {
            examine( s, walk->found[i], 0, NULL );
        }
    }
}

static void run_by_reach( query_search* s, bool ( *step )( query_walk* walk ) )
{
    query_walk* walk = &s->walk.lanes;
    clv_aabb64 box;
    memset( &box, 0, sizeof( box ) );
    while ( !s->is_done && step( walk ) )
    {
        CLV_ASSERT( walk->found_count > 0 && walk->found_count <= QUERY_LANES );
        count_objects( s, walk->found_count );
        for ( uint32_t i = 0; i < walk->found_count && !s->is_done; ++i )
        {
            if ( !s->is_settled && !s->is_given )
            {
                clv_aabb lane = query_lane_box( walk->found_node, walk->found_lane[i] );
                box = query_widen( &lane );
            }
            examine( s, walk->found[i], (double)walk->found_near[i], &box );
        }
    }
}

// Of doubles the nearest is on top, of equals the lowest slot, among those of one node.
static void push_nodes(
    query_search* s, const query_node64* node, uint32_t lanes, const double near[QUERY_LANES] )
{
    query_stack64* stack = &s->walk.doubles;
    uint32_t first = stack->top;
    for ( ; lanes != 0; lanes &= lanes - 1 )
    {
        uint32_t lane = base_lowest_bit( lanes );
        struct query_entry64 entry = { near[lane], node->child[lane], node->least[lane] };
        CLV_ASSERT( stack->top < QUERY_STACK && entry.node < s->scene->tree->node_count );
        uint32_t at = stack->top++;
        for ( ; s->probe.is_double && at > first &&
              ( stack->entries[at - 1].near < entry.near ||
                  ( stack->entries[at - 1].near == entry.near &&
                      stack->entries[at - 1].least < entry.least ) );
              --at )
        {
            stack->entries[at] = stack->entries[at - 1];
        }
        stack->entries[at] = entry;
    }
}

static bool is_beyond( const query_search* s, double near, uint32_t least )
{
    query_form form = s->probe.form;
    bool is_cast = form == QUERY_CAST || form == QUERY_ROUND_CAST || form == QUERY_CAPSULE;
    double reach = is_cast ? query_cast_reach( s ) : s->reach;
    return near > reach || ( near == reach && least > s->reach_least );
}

// A node of floats as one of doubles.
static const query_node64* widen_node( const query_node* node, query_node64* to )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
        {
            to->lower[axis][lane] = (double)node->lower[axis][lane];
            to->upper[axis][lane] = (double)node->upper[axis][lane];
        }
    }
    memcpy( to->child, node->child, sizeof( to->child ) );
    memcpy( to->least, node->least, sizeof( to->least ) );
    return to;
}

static uint32_t run_doubles( query_search* s )
{
    query_stack64* stack = &s->walk.doubles;
    query_node64 room;
    double near[QUERY_LANES] = { 0 };
    uint32_t node_count = 0;
    while ( stack->top > 0 && !s->is_done )
    {
        struct query_entry64 entry = stack->entries[--stack->top];
        if ( is_beyond( s, entry.near, entry.least ) )
        {
            continue;
        }
        const query_node64* node = s->probe.is_double
            ? &s->scene->tree64->nodes[entry.node]
            : widen_node( &s->scene->tree->nodes[entry.node], &room );
        node_count += 1;
        uint32_t nodes = 0;
        for ( uint32_t passed = query_look_at( s, node, near ); passed != 0 && !s->is_done;
              passed &= passed - 1 )
        {
            uint32_t lane = base_lowest_bit( passed ), child = node->child[lane];
            if ( child == QUERY_EMPTY || is_beyond( s, near[lane], node->least[lane] ) )
            {
                continue;
            }
            if ( ( child & QUERY_OBJECT ) != 0 )
            {
                clv_aabb64 box = query_lane_box64( node, lane );
                count_objects( s, 1 );
                examine( s, child & ~QUERY_OBJECT, near[lane], &box );
            }
            else
            {
                nodes |= 1u << lane;
            }
        }
        push_nodes( s, node, nodes, near );
    }
    return node_count;
}

static void start_search( query_search* s, const query_scene* scene, const query_list* list, uint32_t index,
    query_mode mode, double max_distance )
{
    CLV_ASSERT( index < list->count );
    s->scene = scene;
    s->list = list;
    s->filter = list->filters == NULL ? NULL : &list->filters[list->filter_each ? index : 0];
    s->index = index;
    s->mode = mode;
    query_probe_read( &s->probe, list->kind, list->items, index );
    if ( mode == QUERY_NEAREST )
    {
        s->probe.form = QUERY_DISTANCE;
        s->probe.radius = max_distance;
    }
    s->hits = NULL;
    s->room = s->count = 0;
    s->best = no_hit();
    s->is_shortened = s->is_done = false;
    s->is_given = list->as_given && ( s->probe.is_double ? scene->given64 != NULL : scene->given != NULL );
    const uint32_t settled = 1u << QUERY_OVERLAP | 1u << QUERY_CAST | 1u << QUERY_PLANES |
        (uint32_t)s->probe.is_double << QUERY_DISTANCE;
    s->is_settled = !s->is_given && ( settled >> s->probe.form & 1 ) != 0;
    s->asks = query_calls( list );
    s->is_choosy = s->filter != NULL || scene->may_be_gone;
    clv_query_walk_start( s );
}

static void run_search( query_search* s )
{
    const simd_queries* kernels = s->scene->kernels;
    uint32_t node_count = 0;
    if ( !s->is_by_lanes )
    {
        node_count = run_doubles( s );
    }
    else if ( s->probe.form == QUERY_OVERLAP )
    {
        run_overlap( s );
    }
    else
    {
        run_by_reach( s, s->probe.form == QUERY_DISTANCE ? kernels->distance : kernels->cast );
    }
    if ( s->scene->counts != NULL )
    {
        s->scene->counts->node_count += s->is_by_lanes ? s->walk.lanes.node_count : node_count;
    }
}

// A callback that shortened the way leaves hits behind that lie beyond its end.
static void drop_hits( query_search* s )
{
    uint64_t kept = 0;
    for ( uint64_t i = 0; i < s->count && s->is_shortened; ++i )
    {
        clv_hit64 hit = read_hit( s, i );
        write_hit( s, kept, hit );
        kept += hit.t <= s->reach ? 1 : 0;
    }
    s->count = s->is_shortened ? kept : s->count;
}

// ---- lists where everything counts

static clv_aabb floats_of( const query_probe* p )
{
    return ( clv_aabb ){ query_floats( p->a ), query_floats( p->b ) };
}

// A time or distance and a slot, from query_key.
static clv_hit hit_of( uint64_t key )
{
    return ( clv_hit ){ (uint32_t)key, query_key_near( key ) };
}

// Rays of floats are taken as they stand: they are what is asked most, and a probe costs a tenth of the
// answer.
static void set_exact_cast( query_cast* cast, const query_list* list, uint32_t index )
{
    clv_ray ray;
    clv_aabb box;
    if ( list->kind == CLV_QUERY_RAY )
    {
        ray = ( (const clv_ray*)list->items )[index];
        box = ( clv_aabb ){ ray.origin, ray.origin };
    }
    else
    {
        query_probe p;
        query_probe_read( &p, list->kind, list->items, index );
        box = floats_of( &p );
        ray = ( clv_ray ){ box.lower, query_floats( p.motion ), (float)p.max_t };
    }
    query_set_cast( cast, box, ray.direction, 1 );
    cast->best = query_key( ray.max_t < FLT_MAX ? ray.max_t : FLT_MAX, CLV_NO_HIT );
}

// The same of boxes. Their hits in the order of the walk, and how many there are.
static uint64_t find_plain_overlaps(
    const query_scene* scene, const query_list* list, uint32_t index, void* hits, uint64_t room )
{
    query_walk walk;
    uint64_t count = 0;
    bool is_more = true;
    query_walk_open( &walk, scene->tree );
    if ( list->is_double )
    {
        query_probe p;
        query_probe_read( &p, list->kind, list->items, index );
        walk.nodes64 = scene->tree64->nodes;
        walk.box64 = p.box;
    }
    else if ( list->kind == CLV_QUERY_BOX )
    {
        walk.box = ( (const clv_aabb*)list->items )[index];
    }
    else
    {
        query_probe p;
        query_probe_read( &p, list->kind, list->items, index );
        walk.box = floats_of( &p );
    }
    while ( is_more )
    {
        is_more = list->is_double ? scene->kernels->overlap64( &walk ) : scene->kernels->overlap( &walk );
        CLV_ASSERT( walk.found_count <= QUERY_FOUND );
        for ( uint32_t i = 0; i < walk.found_count; ++i )
        {
            bool is_object = walk.found[i] != ( QUERY_EMPTY & ~QUERY_OBJECT );
            if ( is_object && count < room )
            {
                put_overlap( list, hits, count, ( clv_hit64 ){ walk.found[i], 0 } );
            }
            count += is_object;
        }
    }
    return count;
}

// Their times are those of the lanes: nothing is left to be looked at one by one.
static void find_plain_closest(
    const query_scene* scene, const query_list* list, const uint32_t* which, uint32_t count, clv_hit* hits )
{
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
        clv_hit hit = hit_of( casts[i].best );
        hits[which[i]] = hit.index != CLV_NO_HIT ? hit : ( clv_hit ){ CLV_NO_HIT, INFINITY };
    }
}

// The same in double.
static void find_plain_closest64(
    const query_scene* scene, const query_list* list, const uint32_t* which, uint32_t count, clv_hit64* hits )
{
    query_closest64 queries[QUERY_SOME];
    for ( uint32_t i = 0; i < count; ++i )
    {
        query_probe p;
        query_probe_read( &p, list->kind, list->items, which[i] );
        query_set_cast64( &queries[i].cast, p.a, p.b, p.motion );
        queries[i].best = p.max_t < DBL_MAX ? p.max_t : DBL_MAX;
        queries[i].above = query_above_float( queries[i].best );
        queries[i].slot = CLV_NO_HIT;
    }
    if ( scene->tree->node_count > 0 )
    {
        scene->kernels->closest64( scene->tree64->nodes, queries, count );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        bool is_hit = queries[i].slot != CLV_NO_HIT;
        hits[which[i]] = is_hit ? ( clv_hit64 ){ queries[i].slot, queries[i].best } : no_hit();
    }
}

// Points of floats as they stand, too.
static void set_nearest(
    query_nearest* query, const query_list* list, uint32_t index, uint32_t k, double max_distance )
{
    if ( list->kind == CLV_QUERY_POINT )
    {
        query->box.lower = query->box.upper = ( (const clv_vec3*)list->items )[index];
    }
    else
    {
        query_probe p;
        query_probe_read( &p, list->kind, list->items, index );
        query->box = floats_of( &p );
    }
    query->count = k;
    query->square = max_distance * max_distance;
    query->reach = query_lane_reach( query->square );
    query->band = query->reach_time = INFINITY;
    query->reach_least = UINT32_MAX;
    for ( uint32_t i = 0; i < QUERY_NEAREST_MOST && ( i < k || i % 8 > 0 ); ++i )
    {
        query->keys[i] = QUERY_NONE_NEAR;
    }
}

// NEAREST_SOME at most, and k is at most QUERY_NEAREST_MOST.
static void find_plain_nearest( const query_scene* scene, const query_list* list, const uint32_t* which,
    uint32_t count, uint32_t k, double max_distance, clv_hit* hits )
{
    query_nearest queries[NEAREST_SOME];
    CLV_ASSERT( count <= NEAREST_SOME && k <= QUERY_NEAREST_MOST );
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

// The same in double.
static void find_plain_nearest64( const query_scene* scene, const query_list* list, const uint32_t* which,
    uint32_t count, uint32_t k, double max_distance, clv_hit64* hits )
{
    query_nearest64 queries[NEAREST_SOME];
    CLV_ASSERT( count <= NEAREST_SOME && k <= QUERY_NEAREST_MOST );
    for ( uint32_t i = 0; i < count; ++i )
    {
        query_probe p;
        query_probe_read( &p, list->kind, list->items, which[i] );
        queries[i].box = p.box;
        queries[i].count = k;
        query_nearest_reach64( &queries[i], max_distance, UINT32_MAX );
        for ( uint32_t j = 0; j < k; ++j )
        {
            queries[i].near[j] = INFINITY;
            queries[i].slots[j] = CLV_NO_HIT;
        }
    }
    if ( scene->tree->node_count > 0 )
    {
        scene->kernels->nearest64( scene->tree64->nodes, queries, count );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( uint32_t j = 0; j < k; ++j )
        {
            hits[(uint64_t)which[i] * k + j] = ( clv_hit64 ){ queries[i].slots[j], queries[i].near[j] };
        }
    }
}

// ---- the doors

uint64_t clv_query_find_all(
    const query_scene* scene, const query_list* list, uint32_t index, void* hits, uint64_t room )
{
    uint64_t count;
    if ( query_row_of( list->kind )->form == QUERY_OVERLAP && is_plain( scene, list ) )
    {
        count = find_plain_overlaps( scene, list, index, hits, room );
    }
    else
    {
        query_search s;
        start_search( &s, scene, list, index, QUERY_ALL, 0 );
        s.hits = hits;
        s.room = room;
        run_search( &s );
        if ( s.count <= room )
        {
            drop_hits( &s );
        }
        count = s.count;
    }
    if ( count <= room && count > 1 )
    {
        clv_query_hits_sort( hits, count, query_hit_size( list ) );
    }
    return count;
}

void clv_query_find_one( const query_scene* scene, const query_list* list, const uint32_t* which,
    uint32_t count, query_mode mode, void* hits )
{
    CLV_ASSERT( count <= QUERY_SOME );
    if ( mode == QUERY_CLOSEST && query_row_of( list->kind )->form == QUERY_CAST && is_plain( scene, list ) )
    {
        if ( list->is_double )
        {
            find_plain_closest64( scene, list, which, count, hits );
            return;
        }
        find_plain_closest( scene, list, which, count, hits );
        return;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        query_search s;
        start_search( &s, scene, list, which[i], mode, 0 );
        run_search( &s );
        s.hits = hits;
        write_hit( &s, which[i],
            s.best.t <= s.reach ? s.best : no_hit() ); // a callback may have put it out of reach since
    }
}

void clv_query_find_nearest( const query_scene* scene, const query_list* list, const uint32_t* which,
    uint32_t count, uint32_t k, double max_distance, void* hits )
{
    CLV_ASSERT( count <= QUERY_SOME );
    bool are_few = k > 0 && k <= QUERY_NEAREST_MOST && is_plain( scene, list );
    for ( uint32_t i = 0; i < count && are_few; i += NEAREST_SOME )
    {
        uint32_t some = count - i < NEAREST_SOME ? count - i : NEAREST_SOME;
        if ( list->is_double )
        {
            find_plain_nearest64( scene, list, which + i, some, k, max_distance, hits );
            continue;
        }
        find_plain_nearest( scene, list, which + i, some, k, max_distance, hits );
    }
    for ( uint32_t i = 0; i < count && !are_few && k > 0; ++i )
    {
        query_search s;
        start_search( &s, scene, list, which[i], QUERY_NEAREST, max_distance );
        s.hits = (char*)hits + (uint64_t)which[i] * k * query_hit_size( list );
        s.room = k;
        run_search( &s );
        drop_hits( &s );
        CLV_ASSERT( s.count <= k );
        for ( ; s.count < k; ++s.count )
        {
            write_hit( &s, s.count, no_hit() );
        }
    }
}
