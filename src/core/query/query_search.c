// SPDX-License-Identifier: MIT
// One query over the tree: walks hand over objects, and here it is decided whether they count. Where
// everything counts, whole lists of rays and of neighbours go together, several in turn, so that one works
// while the others wait for memory.
#include "query/query_search.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "object/filter_rule.h"
#include "query/query_form.h"

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

static inline void put_listed( const query_list* list, void* hits, uint64_t at, clv_hit64 hit )
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

// The walk need not look farther than this, and just there only for slots up to `least`.
static void shorten( query_search* s, double reach, uint32_t least )
{
    CLV_ASSERT( reach >= 0 && reach <= s->reach );
    s->reach = reach;
    s->walk.reach_least = s->probe.is_double && reach > 0 ? UINT32_MAX : least;
    if ( s->rule->shorten != NULL )
    {
        s->rule->shorten( s );
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
        shorten( s, hit.t, s->rule->is_settled || hit.t == 0 ? hit.index : UINT32_MAX );
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
    clv_hit64 hit = { slot, s->is_settled ? near : 0 };
    if ( slot == ( QUERY_EMPTY & ~QUERY_OBJECT ) || ( s->is_choosy && !is_wanted_slot( s, slot ) ) )
    {
        return;
    }
    if ( s->is_given )
    {
        given = s->probe.is_double ? s->scene->given64[slot] : query_widen( &s->scene->given[slot] );
        box = &given;
    }
    if ( ( !s->is_settled && !s->rule->meets( s, box, &hit.t ) ) || is_outdone( s, hit ) )
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

// An object's box as the walk saw it, or in double as it is.
static clv_aabb64 found_box( const query_search* s, uint32_t i )
{
    const query_walk* walk = &s->walk;
    if ( s->probe.is_double )
    {
        return s->scene->boxes64[walk->found[i]];
    }
    clv_aabb lane = query_lane_box( walk->found_node, walk->found_lane[i] );
    return query_widen( &lane );
}

static void run_lanes( query_search* s, bool ( *step )( query_walk* walk ) )
{
    query_walk* walk = &s->walk;
    const bool has_times = s->rule->way != QUERY_BY_OVERLAP;
    const bool wants_boxes = !s->is_settled && !s->is_given;
    clv_aabb64 box;
    memset( &box, 0, sizeof( box ) );
    for ( bool is_more = true; is_more && !s->is_done; )
    {
        is_more = step( walk );
        CLV_ASSERT( walk->found_count <= ( has_times ? QUERY_LANES : QUERY_FOUND ) );
        count_objects( s, walk->found_count );
        for ( uint32_t i = 0; i < walk->found_count && !s->is_done; ++i )
        {
            if ( walk->found[i] != ( QUERY_EMPTY & ~QUERY_OBJECT ) )
            {
                box = wants_boxes ? found_box( s, i ) : box;
                examine( s, walk->found[i], has_times ? (double)walk->found_near[i] : 0, &box );
            }
        }
    }
}

// The lanes of a node in double, no smaller than they are.
static void widen_node( const query_node* node, bool is_far, clv_aabb64 lanes[QUERY_LANES] )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        double origin = is_far ? node->origin[axis] : 0, room = is_far ? QUERY_SUM_ROOM : 0;
        double size = fabs( origin );
        for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
        {
            double lower = (double)node->lower[axis][lane], upper = (double)node->upper[axis][lane];
            lower = is_far ? origin + lower - ( size + fabs( lower ) ) * room : lower;
            upper = is_far ? origin + upper + ( size + fabs( upper ) ) * room : upper;
            ( &lanes[lane].lower.x )[axis] = lower;
            ( &lanes[lane].upper.x )[axis] = upper;
        }
    }
}

// Half-spaces, one lane after the other in double.
static void run_planes( query_search* s )
{
    query_walk* walk = &s->walk;
    while ( walk->top > 0 && !s->is_done )
    {
        const query_node* node = &walk->nodes[walk->stack.node[--walk->top]];
        clv_aabb64 lanes[QUERY_LANES];
        memset( lanes, 0, sizeof( lanes ) );
        widen_node( node, s->probe.is_double, lanes );
        walk->node_count += 1;
        for ( uint32_t lane = 0; lane < QUERY_LANES && !s->is_done; ++lane )
        {
            uint32_t child = node->child[lane], slot = child & ~QUERY_OBJECT;
            bool is_object = ( child & QUERY_OBJECT ) != 0, decides = is_object && s->probe.is_double;
            if ( child == QUERY_EMPTY || ( !decides && !clv_query_planes_meet( &s->probe, &lanes[lane] ) ) )
            {
                continue;
            }
            if ( !is_object )
            {
                CLV_ASSERT( walk->top < QUERY_STACK && child < s->scene->tree->node_count );
                walk->stack.node[walk->top++] = child;
                continue;
            }
            count_objects( s, 1 );
            examine( s, slot, 0, decides ? &s->scene->boxes64[slot] : &lanes[lane] );
        }
    }
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
    s->rule = &clv_query_rules[s->probe.form];
    s->hits = NULL;
    s->room = s->count = 0;
    s->best = no_hit();
    s->is_shortened = s->is_done = false;
    s->is_given = list->as_given && ( s->probe.is_double ? scene->given64 != NULL : scene->given != NULL );
    s->is_settled = !s->is_given && ( s->probe.is_double ? s->rule->is_settled64 : s->rule->is_settled );
    s->asks = query_calls( list );
    s->is_choosy = s->filter != NULL || scene->may_be_gone;
    s->reach = INFINITY;
    query_walk_open( &s->walk, scene );
    s->rule->start( s );
}

static void run_search( query_search* s )
{
    const simd_queries* kernels = s->scene->kernels;
    const bool is_far = s->probe.is_double;
    switch ( s->rule->way )
    {
    case QUERY_BY_OVERLAP: run_lanes( s, is_far ? kernels->overlap64 : kernels->overlap ); break;
    case QUERY_BY_DISTANCE: run_lanes( s, is_far ? kernels->distance64 : kernels->distance ); break;
    case QUERY_BY_CAST: run_lanes( s, is_far ? kernels->cast64 : kernels->cast ); break;
    default: run_planes( s ); break;
    }
    if ( s->scene->counts != NULL )
    {
        s->scene->counts->node_count += s->walk.node_count;
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
    query_set_cast( cast, box, ray.direction );
    cast->best = query_key( ray.max_t < FLT_MAX ? ray.max_t : FLT_MAX, CLV_NO_HIT );
}

// A box or a point in double, likewise.
static clv_aabb64 box_of( const query_list* list, uint32_t index )
{
    query_probe p;
    if ( list->kind == CLV_QUERY_BOX64 )
    {
        return ( (const clv_aabb64*)list->items )[index];
    }
    query_probe_read( &p, list->kind, list->items, index );
    return p.box;
}

// The same of boxes. Their hits in the order of the walk, and how many there are.
static uint64_t find_plain_overlaps(
    const query_scene* scene, const query_list* list, uint32_t index, void* hits, uint64_t room )
{
    query_walk walk;
    uint64_t count = 0;
    bool is_more = true;
    query_walk_open( &walk, scene );
    if ( list->kind == CLV_QUERY_BOX )
    {
        walk.box = ( (const clv_aabb*)list->items )[index];
    }
    else if ( list->is_double )
    {
        walk.far.box = box_of( list, index );
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
                put_listed( list, hits, count, ( clv_hit64 ){ walk.found[i], 0 } );
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

// The same in double. How far it goes.
static double set_exact_cast64( query_closest64* query, const query_list* list, uint32_t index )
{
    if ( list->kind == CLV_QUERY_RAY64 )
    {
        const clv_ray64* ray = &( (const clv_ray64*)list->items )[index];
        clv_query_set_cast64( &query->exact, &ray->origin.x, &ray->origin.x, &ray->direction.x );
        return ray->max_t;
    }
    query_probe p;
    query_probe_read( &p, list->kind, list->items, index );
    clv_query_set_cast64( &query->exact, p.a, p.b, p.motion );
    return p.max_t;
}

static void find_plain_closest64(
    const query_scene* scene, const query_list* list, const uint32_t* which, uint32_t count, clv_hit64* hits )
{
    query_closest64 queries[QUERY_SOME];
    for ( uint32_t i = 0; i < count; ++i )
    {
        double max_t = set_exact_cast64( &queries[i], list, which[i] );
        query_cast_open( &queries[i].exact, &queries[i].cast );
        queries[i].best = max_t < DBL_MAX ? max_t : DBL_MAX;
        queries[i].above = query_far_reach( &queries[i].exact, queries[i].best );
        queries[i].slot = queries[i].least = CLV_NO_HIT;
    }
    if ( scene->tree->node_count > 0 )
    {
        scene->kernels->closest64( scene->tree64->nodes, scene->boxes64, queries, count );
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
        memcpy( query->lower, p.a, sizeof( p.a ) );
        memcpy( query->upper, p.b, sizeof( p.b ) );
        query->lower[3] = query->upper[3] = 0;
    }
    query->count = k;
    query->found = query->maybe_count = 0;
    query->square = max_distance * max_distance;
    query->reach = max_distance;
    query->above = query_lane_reach( query->square );
    query->band = query->reach_time = INFINITY;
    query->least = UINT32_MAX;
    query->bounds[QUERY_LANES - 1] = 0;
    for ( uint32_t i = 0; i < QUERY_NEAREST_MOST && ( i < k || i % QUERY_LANES > 0 ); ++i )
    {
        query->bounds[QUERY_LANES + i] = INFINITY;
        query->keys[i] = QUERY_NONE_NEAR;
    }
}

// NEAREST_SOME at most, and k is at most QUERY_NEAREST_MOST.
static void find_plain_nearest( const query_scene* scene, const query_list* list, const uint32_t* which,
    uint32_t count, uint32_t k, double max_distance, void* hits )
{
    query_nearest queries[NEAREST_SOME];
    const simd_queries* kernels = scene->kernels;
    CLV_ASSERT( count <= NEAREST_SOME && k <= QUERY_NEAREST_MOST );
    for ( uint32_t i = 0; i < count; ++i )
    {
        set_nearest( &queries[i], list, which[i], k, max_distance );
    }
    if ( scene->tree->node_count > 0 && list->is_double )
    {
        kernels->nearest64( scene->tree64->nodes, scene->boxes64, queries, count );
    }
    else if ( scene->tree->node_count > 0 )
    {
        kernels->nearest( scene->tree->nodes, NULL, queries, count );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( uint32_t j = 0; j < k; ++j )
        {
            bool is_found = j < queries[i].found;
            CLV_ASSERT( j == 0 || !is_found || queries[i].near[j - 1] <= queries[i].near[j] );
            clv_hit64 hit = is_found ? ( clv_hit64 ){ queries[i].slots[j], queries[i].near[j] } : no_hit();
            put_listed( list, hits, (uint64_t)which[i] * k + j, hit );
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
