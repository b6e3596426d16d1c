// SPDX-License-Identifier: MIT
#include "query/query_search.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "object/filter_rule.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const float WIDER = 1.000002f;

static float wider( float reach )
{
    float more = reach > 0 ? reach * WIDER + 1e-40f : 0;
    return more < FLT_MAX ? more : FLT_MAX;
}

static const clv_hit NO_HIT = { CLV_NO_HIT, INFINITY };

enum
{
    NEAREST_SOME = 32, // lists of nearest at a time: each needs a few hundred bytes
};

// A distance and a slot, from query_key.
static clv_hit hit_of( uint64_t key )
{
    clv_hit hit = { (uint32_t)key, 0 };
    uint32_t bits = (uint32_t)( key >> 32 );
    memcpy( &hit.t, &bits, sizeof( bits ) );
    return hit;
}

// ---- are they questions?

static bool is_real( float value )
{
    return value - value == 0;
}

static bool are_real( clv_vec3 v )
{
    return is_real( v.x ) && is_real( v.y ) && is_real( v.z );
}

static bool is_length( float value )
{
    return value >= 0;
}

static clv_result verdict( bool is_good )
{
    return is_good ? CLV_OK : CLV_BAD_ARGUMENT;
}

static bool is_capsule( const clv_capsule* c )
{
    return are_real( c->a ) && are_real( c->b ) && is_real( c->radius ) && is_length( c->radius );
}

static bool is_sphere( const clv_sphere* s )
{
    return are_real( s->center ) && is_length( s->radius );
}

static bool are_half_spaces( const clv_half_spaces* h )
{
    for ( uint32_t i = 0; i < h->count; ++i )
    {
        float offset = h->planes[i].offset;
        if ( !are_real( h->planes[i].normal ) || offset != offset )
        {
            return false;
        }
    }
    return true;
}

static clv_result check_box_cast( const clv_box_cast* cast )
{
    if ( !clv_aabb_is_valid( cast->box ) )
    {
        return CLV_BAD_BOX;
    }
    return verdict( are_real( cast->box.lower ) && are_real( cast->box.upper ) && are_real( cast->motion ) &&
        is_length( cast->max_t ) );
}

static clv_result check_oriented_box( const clv_oriented_box* box )
{
    const clv_quat* q = &box->rotation;
    return verdict( are_real( box->center ) && are_real( box->half_size ) && is_length( box->half_size.x ) &&
        is_length( box->half_size.y ) && is_length( box->half_size.z ) && is_real( q->x ) &&
        is_real( q->y ) && is_real( q->z ) && is_real( q->w ) );
}

static bool are_half_planes( const clv_half_planes* h )
{
    for ( uint32_t i = 0; i < h->count; ++i )
    {
        float offset = h->planes[i].offset;
        if ( !is_real( h->planes[i].normal.x ) || !is_real( h->planes[i].normal.y ) || offset != offset )
        {
            return false;
        }
    }
    return true;
}

static clv_result check_flat_item( const clv_queries* list, uint32_t index )
{
    query_raised raised;
    memset( &raised, 0, sizeof( raised ) );
    clv_query_kind kind = clv_query_raise( list, index, &raised );
    clv_queries one = clv_query_list( kind, &raised.item, 1 );
    return kind == CLV_QUERY_HALF_SPACES ? verdict( are_half_planes( &raised.half_planes ) )
                                         : clv_query_check_item( &one, 0 );
}

clv_result clv_query_check_item( const clv_queries* list, uint32_t index )
{
    if ( query_is_flat( list->kind ) )
    {
        return check_flat_item( list, index );
    }
    switch ( list->kind )
    {
    case CLV_QUERY_POINT:
    {
        clv_vec3 p = ( (const clv_vec3*)list->items )[index];
        return verdict( p.x == p.x && p.y == p.y && p.z == p.z );
    }
    case CLV_QUERY_BOX:
        return clv_aabb_is_valid( ( (const clv_aabb*)list->items )[index] ) ? CLV_OK : CLV_BAD_BOX;
    case CLV_QUERY_SPHERE: return verdict( is_sphere( &( (const clv_sphere*)list->items )[index] ) );
    case CLV_QUERY_NEIGHBOURHOOD:
    {
        const clv_neighbourhood* around = &( (const clv_neighbourhood*)list->items )[index];
        return !clv_aabb_is_valid( around->box ) ? CLV_BAD_BOX : verdict( is_length( around->distance ) );
    }
    case CLV_QUERY_CAPSULE: return verdict( is_capsule( &( (const clv_capsule*)list->items )[index] ) );
    case CLV_QUERY_ORIENTED_BOX:
        return check_oriented_box( &( (const clv_oriented_box*)list->items )[index] );
    case CLV_QUERY_HALF_SPACES:
        return verdict( are_half_spaces( &( (const clv_half_spaces*)list->items )[index] ) );
    case CLV_QUERY_RAY:
    {
        const clv_ray* ray = &( (const clv_ray*)list->items )[index];
        return verdict( are_real( ray->origin ) && are_real( ray->direction ) && is_length( ray->max_t ) );
    }
    case CLV_QUERY_BOX_CAST: return check_box_cast( &( (const clv_box_cast*)list->items )[index] );
    case CLV_QUERY_SPHERE_CAST:
    {
        const clv_sphere_cast* cast = &( (const clv_sphere_cast*)list->items )[index];
        return verdict( is_sphere( &cast->sphere ) && is_real( cast->sphere.radius ) &&
            are_real( cast->motion ) && is_length( cast->max_t ) );
    }
    case CLV_QUERY_CAPSULE_CAST:
    {
        const clv_capsule_cast* cast = &( (const clv_capsule_cast*)list->items )[index];
        return verdict(
            is_capsule( &cast->capsule ) && are_real( cast->motion ) && is_length( cast->max_t ) );
    }
    default: return CLV_BAD_ARGUMENT;
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

bool clv_query_mode_fits( clv_query_kind kind, query_mode mode )
{
    kind = query_is_flat( kind ) ? (clv_query_kind)( (uint32_t)kind - QUERY_FLAT ) : kind;
    switch ( mode )
    {
    case QUERY_CLOSEST: return kind >= CLV_QUERY_RAY && kind <= CLV_QUERY_CAPSULE_CAST;
    case QUERY_NEAREST: return kind == CLV_QUERY_POINT || kind == CLV_QUERY_BOX;
    default: return kind >= CLV_QUERY_POINT && kind <= CLV_QUERY_CAPSULE_CAST;
    }
}

// ---- making ready

static void start_walk( query_probe* probe )
{
    query_walk* walk = &probe->walk;
    const query_tree* tree = probe->scene->tree;
    walk->nodes = tree->nodes;
    walk->top = tree->node_count > 0 ? 1 : 0;
    walk->node_count = walk->found_count = 0;
    walk->stack.near[0] = 0;
    walk->stack.node[0] = 0;
    walk->reach = INFINITY;
    walk->reach_least = UINT32_MAX;
}

static void start_box( query_probe* probe, clv_aabb box )
{
    probe->walk.box = box;
}

static void start_distance( query_probe* probe, clv_aabb box, float distance )
{
    start_box( probe, box );
    probe->square = (double)distance * (double)distance;
    probe->walk.reach = query_lane_reach( probe->square );
    probe->walk.band = INFINITY;
    probe->walk.reach_time = INFINITY;
    probe->reach = distance;
}

// A box that moves: its faces are taken off those of the others.
static void set_cast( query_cast* cast, clv_aabb box, clv_vec3 motion, float stretch )
{
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        float d = ( &motion.x )[axis];
        float lower = ( &box.lower.x )[axis], upper = ( &box.upper.x )[axis];
        uint32_t lower_face = axis * QUERY_LANES, upper_face = ( 3 + axis ) * QUERY_LANES;
        cast->near_inverse[axis] = d == 0 ? INFINITY : 1.0f / d;
        cast->far_inverse[axis] = cast->near_inverse[axis] * stretch;
        cast->near_face[axis] = d < 0 ? upper_face : lower_face;
        cast->far_face[axis] = d < 0 ? lower_face : upper_face;
        cast->near_origin[axis] = d < 0 ? lower : upper;
        cast->far_origin[axis] = d < 0 ? upper : lower;
    }
}

// A time is finite: what never is reached has infinite ones, and must not be within an infinite reach.
static float finite_reach( float max_t )
{
    return max_t < FLT_MAX ? max_t : FLT_MAX;
}

static void start_cast( query_probe* probe, clv_aabb box, clv_vec3 motion, float max_t, float stretch )
{
    set_cast( &probe->walk.cast, box, motion, stretch );
    probe->walk.reach = probe->reach = finite_reach( max_t );
}

// The box of a shape that has a test of its own, so much larger that no rounding of the lanes can lose what that test finds.
static clv_aabb wide_box( clv_vec3 a, clv_vec3 b, float radius )
{
    clv_aabb box = { { 0, 0, 0 }, { 0, 0, 0 } };
    for ( int axis = 0; axis < 3; ++axis )
    {
        double p = (double)( &a.x )[axis], q = (double)( &b.x )[axis];
        double low = p < q ? p : q, high = p < q ? q : p;
        double more = (double)radius + QUERY_SLACK * ( (double)radius + fabs( low ) + fabs( high ) ) + 1e-40;
        ( &box.lower.x )[axis] = (float)fmax( low - more, -(double)FLT_MAX );
        ( &box.upper.x )[axis] = (float)fmin( high + more, (double)FLT_MAX );
    }
    return box;
}

static query_capsule capsule_of( clv_vec3 a, clv_vec3 b, float radius )
{
    return ( query_capsule ){ { (double)a.x, (double)a.y, (double)a.z },
        { (double)b.x, (double)b.y, (double)b.z }, (double)radius };
}

static void start_shape_cast(
    query_probe* probe, clv_vec3 a, clv_vec3 b, float radius, clv_vec3 motion, float max_t )
{
    probe->capsule = capsule_of( a, b, radius );
    for ( int axis = 0; axis < 3; ++axis )
    {
        probe->motion[axis] = (double)( &motion.x )[axis];
    }
    start_cast( probe, wide_box( a, b, radius ), motion, max_t, WIDER );
    probe->walk.reach = wider( probe->reach );
    probe->end = (double)probe->reach;
}

// A capsule that stands still, walked as a sphere from end to end: its own box may be far larger.
static void start_capsule( query_probe* probe, const clv_capsule* capsule )
{
    clv_vec3 a = capsule->a, b = capsule->b, way = { b.x - a.x, b.y - a.y, b.z - a.z };
    probe->capsule = capsule_of( a, b, capsule->radius );
    if ( are_real( way ) )
    {
        start_cast( probe, wide_box( a, a, capsule->radius ), way, WIDER, WIDER );
    }
    else // longer than floats go
    {
        start_cast( probe, wide_box( a, b, capsule->radius ), ( clv_vec3 ){ 0, 0, 0 }, 0, 1 );
    }
    probe->reach = INFINITY;
}

static void start_turned_box( query_probe* probe, const clv_oriented_box* box )
{
    const float rotation[4] = { box->rotation.x, box->rotation.y, box->rotation.z, box->rotation.w };
    probe->turned = clv_query_turned_box( box->center, box->half_size, rotation );
    start_box( probe, clv_query_turned_box_bound( &probe->turned ) );
}

static void start_item( query_probe* probe, const void* items, uint32_t index )
{
    switch ( probe->kind )
    {
    case CLV_QUERY_POINT:
    {
        clv_vec3 p = ( (const clv_vec3*)items )[index];
        start_box( probe, ( clv_aabb ){ p, p } );
        break;
    }
    case CLV_QUERY_BOX: start_box( probe, ( (const clv_aabb*)items )[index] ); break;
    case CLV_QUERY_SPHERE:
    {
        clv_sphere s = ( (const clv_sphere*)items )[index];
        start_distance( probe, ( clv_aabb ){ s.center, s.center }, s.radius );
        break;
    }
    case CLV_QUERY_NEIGHBOURHOOD:
    {
        const clv_neighbourhood* around = &( (const clv_neighbourhood*)items )[index];
        start_distance( probe, around->box, around->distance );
        break;
    }
    case CLV_QUERY_CAPSULE: start_capsule( probe, &( (const clv_capsule*)items )[index] ); break;
    case CLV_QUERY_ORIENTED_BOX: start_turned_box( probe, &( (const clv_oriented_box*)items )[index] ); break;
    case CLV_QUERY_HALF_SPACES:
    {
        const clv_half_spaces* shape = &( (const clv_half_spaces*)items )[index];
        probe->planes = shape->planes;
        probe->plane_count = shape->count;
        break;
    }
    case CLV_QUERY_RAY:
    {
        const clv_ray* ray = &( (const clv_ray*)items )[index];
        start_cast( probe, ( clv_aabb ){ ray->origin, ray->origin }, ray->direction, ray->max_t, 1 );
        break;
    }
    case CLV_QUERY_BOX_CAST:
    {
        const clv_box_cast* cast = &( (const clv_box_cast*)items )[index];
        start_cast( probe, cast->box, cast->motion, cast->max_t, 1 );
        break;
    }
    case CLV_QUERY_SPHERE_CAST:
    {
        const clv_sphere_cast* cast = &( (const clv_sphere_cast*)items )[index];
        clv_vec3 center = cast->sphere.center;
        start_shape_cast( probe, center, center, cast->sphere.radius, cast->motion, cast->max_t );
        break;
    }
    default:
    {
        const clv_capsule_cast* cast = &( (const clv_capsule_cast*)items )[index];
        start_shape_cast(
            probe, cast->capsule.a, cast->capsule.b, cast->capsule.radius, cast->motion, cast->max_t );
        break;
    }
    }
}

static void start_flat( query_probe* probe, const clv_queries* list, uint32_t index )
{
    query_raised raised;
    probe->kind = clv_query_raise( list, index, &raised );
    start_item( probe, &raised.item, 0 );
    if ( probe->kind == CLV_QUERY_HALF_SPACES )
    {
        probe->half_planes = raised.half_planes;
    }
    else if ( probe->kind == CLV_QUERY_ORIENTED_BOX )
    {
        probe->turned = clv_query_turn( probe->turned.center, probe->turned.half, raised.frame );
        start_box( probe, clv_query_turned_box_bound( &probe->turned ) );
    }
}

static void start(
    query_probe* probe, const query_scene* scene, const clv_queries* list, uint32_t index, query_mode mode )
{
    probe->scene = scene;
    probe->list = list;
    probe->filter = list->filters == NULL ? NULL : &list->filters[list->filter_each ? index : 0];
    probe->index = index;
    probe->kind = list->kind;
    probe->mode = mode;
    probe->count = probe->room = 0;
    probe->hits = NULL;
    probe->best = NO_HIT;
    probe->reach = INFINITY;
    probe->is_shortened = probe->is_done = false;
    probe->is_flat = query_is_flat( list->kind );
    start_walk( probe );
    if ( probe->is_flat )
    {
        start_flat( probe, list, index );
    }
    else
    {
        start_item( probe, list->items, index );
    }
}

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
        // Times that round to the reach are within it, also those that round to 0.
        double end = probe->reach > 0 ? (double)wider( probe->reach ) : (double)FLT_TRUE_MIN;
        bool is_met = clv_query_capsule_cast(
            &probe->capsule, probe->motion, end < probe->end ? end : probe->end, box, &time );
        *t = (float)time;
        return is_met && *t <= probe->reach;
    }
    case CLV_QUERY_ORIENTED_BOX:
        return clv_aabb_overlap( *box, walk->box ) && query_planes_meet( probe->turned.faces, 6, box ) &&
            clv_query_turned_box_edges_meet( &probe->turned, box );
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
    bool is_exact = probe->kind == CLV_QUERY_RAY || probe->kind == CLV_QUERY_BOX_CAST;
    bool is_cast = is_exact || probe->kind == CLV_QUERY_SPHERE_CAST || probe->kind == CLV_QUERY_CAPSULE_CAST;
    probe->reach = reach;
    if ( is_cast )
    {
        probe->walk.reach = is_exact ? reach : wider( reach );
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

// The common case: nothing but boxes and slots.
static bool is_unfiltered( const query_scene* scene, const clv_queries* list )
{
    return list->filters == NULL && list->callback == NULL && !scene->may_be_gone &&
        !( list->as_given && scene->given != NULL );
}

static void run_overlap( query_probe* probe )
{
    query_walk* walk = &probe->walk;
    bool is_more = true;
    bool is_plain = probe->mode == QUERY_ALL && is_unfiltered( probe->scene, probe->list );
    while ( is_more && !probe->is_done )
    {
        is_more = probe->scene->kernels->overlap( walk );
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
        for ( uint32_t i = 0; i < walk->found_count && !probe->is_done; ++i )
        {
            box = needs_box ? query_lane_box( walk->found_node, walk->found_lane[i] ) : box;
            examine( probe, walk->found[i], walk->found_near[i], &box );
        }
    }
}

static bool may_meet_planes( const query_probe* probe, const clv_aabb* box )
{
    if ( probe->kind == CLV_QUERY_HALF_SPACES )
    {
        return meets_half_spaces( probe, box );
    }
    return clv_aabb_overlap( *box, probe->walk.box ) && query_planes_meet( probe->turned.faces, 6, box );
}

// Regions between planes, in plain C: the arithmetic is double all the way.
static void run_planes( query_probe* probe )
{
    query_walk* walk = &probe->walk;
    while ( walk->top > 0 && !probe->is_done )
    {
        const query_node* node = &walk->nodes[walk->stack.node[--walk->top]];
        for ( uint32_t lane = 0; lane < QUERY_LANES && !probe->is_done; ++lane )
        {
            clv_aabb box = query_lane_box( node, lane );
            uint32_t child = node->child[lane];
            if ( child == QUERY_NOBODY || !may_meet_planes( probe, &box ) )
            {
                continue;
            }
            if ( ( child & QUERY_OBJECT ) != 0 )
            {
                examine( probe, child & ~QUERY_OBJECT, 0, &box );
                continue;
            }
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
    case CLV_QUERY_HALF_SPACES: run_planes( probe ); break;
    default: run_by_reach( probe, kernels->cast ); break;
    }
}

// ---- by slot

enum
{
    FEW_FLOAT_HITS = 24, // are put in order one by one
    DIGIT_BITS = 6,      // of a slot, at a time
    DIGITS = 1 << DIGIT_BITS,
    MOST_SLOT_DIGITS = 6, // 31 bits of a slot
};

typedef struct hit_range
{
    uint64_t first, end;
    uint32_t shift; // of its digit
} hit_range;

static void insert_hits( clv_hit* hits, uint64_t count )
{
    for ( uint64_t i = 1; i < count; ++i )
    {
        clv_hit hit = hits[i];
        uint64_t at = i;
        for ( ; at > 0 && hits[at - 1].index > hit.index; --at )
        {
            hits[at] = hits[at - 1];
        }
        hits[at] = hit;
    }
}

// Hits of one range to their digits' places, each where the one that was there has to go next (P. M. McIlroy et al.,
// "Engineering radix sort", 1993). `ends` are where digits end.
static void place_digits(
    clv_hit* hits, uint32_t shift, const uint32_t counts[DIGITS], uint64_t first, uint64_t ends[DIGITS] )
{
    uint64_t next[DIGITS];
    for ( uint32_t digit = 0; digit < DIGITS; ++digit )
    {
        next[digit] = first;
        first += counts[digit];
        ends[digit] = first;
    }
    for ( uint32_t digit = 0; digit < DIGITS; ++digit )
    {
        while ( next[digit] < ends[digit] )
        {
            clv_hit hit = hits[next[digit]];
            uint32_t to = hit.index >> shift & ( DIGITS - 1 );
            while ( to != digit )
            {
                clv_hit other = hits[next[to]];
                hits[next[to]++] = hit;
                hit = other;
                to = hit.index >> shift & ( DIGITS - 1 );
            }
            hits[next[digit]++] = hit;
        }
    }
}

// In place and without recursion, a digit of the slot after the other: six steps at most, whatever the order.
static void sort_hits( clv_hit* hits, uint64_t count )
{
    hit_range waiting[MOST_SLOT_DIGITS * ( DIGITS - 1 ) + 1];
    uint32_t all = 1;
    for ( uint64_t i = 0; i < count && count > FEW_FLOAT_HITS; ++i )
    {
        all |= hits[i].index;
    }
    waiting[0] = ( hit_range ){ 0, count, ( base_bit_width( all ) - 1 ) / DIGIT_BITS * DIGIT_BITS };
    uint32_t top = 1;
    while ( top > 0 )
    {
        hit_range r = waiting[--top];
        if ( r.end - r.first <= FEW_FLOAT_HITS )
        {
            insert_hits( hits + r.first, r.end - r.first );
            continue;
        }
        uint32_t counts[DIGITS] = { 0 };
        uint64_t ends[DIGITS];
        for ( uint64_t i = r.first; i < r.end; ++i )
        {
            counts[hits[i].index >> r.shift & ( DIGITS - 1 )] += 1;
        }
        place_digits( hits, r.shift, counts, r.first, ends );
        for ( uint32_t digit = 0; digit < DIGITS && r.shift > 0; ++digit )
        {
            if ( counts[digit] > 1 )
            {
                waiting[top++] =
                    ( hit_range ){ ends[digit] - counts[digit], ends[digit], r.shift - DIGIT_BITS };
            }
        }
    }
}

// A callback that shortened the way leaves hits behind that lie beyond its end.
static uint64_t drop_beyond( clv_hit* hits, uint64_t count, float reach )
{
    uint64_t kept = 0;
    for ( uint64_t i = 0; i < count; ++i )
    {
        hits[kept] = hits[i];
        kept += hits[i].t <= reach ? 1 : 0;
    }
    return kept;
}

// ---- the doors

uint64_t clv_query_find_all(
    const query_scene* scene, const clv_queries* list, uint32_t index, clv_hit* hits, uint64_t room )
{
    query_probe probe;
    start( &probe, scene, list, index, QUERY_ALL );
    probe.hits = hits;
    probe.room = room;
    run_probe( &probe );
    if ( probe.count <= room && probe.is_shortened )
    {
        probe.count = drop_beyond( hits, probe.count, probe.reach );
    }
    if ( probe.count <= room && probe.count > 1 )
    {
        sort_hits( hits, probe.count );
    }
    return probe.count;
}

// ---- where everything counts

// Rays and moving boxes: their times are those of the lanes.
static bool is_plain_closest( const query_scene* scene, const clv_queries* list, query_mode mode )
{
    clv_query_kind kind = list->kind;
    bool is_exact = kind == CLV_QUERY_RAY || kind == CLV_QUERY_BOX_CAST || kind == CLV_QUERY_RAY2 ||
        kind == CLV_QUERY_BOX_CAST2;
    return mode == QUERY_CLOSEST && is_exact && is_unfiltered( scene, list );
}

// A list of one item of three axes in place of a flat one.
static clv_queries raised_list( const clv_queries* list, uint32_t index, query_raised* raised )
{
    clv_query_kind kind = clv_query_raise( list, index, raised );
    return clv_query_list( kind, &raised->item, 1 );
}

static void set_exact_cast( query_cast* cast, const clv_queries* list, uint32_t index )
{
    float max_t;
    query_raised raised;
    clv_queries one;
    if ( query_is_flat( list->kind ) )
    {
        one = raised_list( list, index, &raised );
        list = &one;
        index = 0;
    }
    if ( list->kind == CLV_QUERY_RAY )
    {
        const clv_ray* ray = &( (const clv_ray*)list->items )[index];
        set_cast( cast, ( clv_aabb ){ ray->origin, ray->origin }, ray->direction, 1 );
        max_t = ray->max_t;
    }
    else
    {
        const clv_box_cast* item = &( (const clv_box_cast*)list->items )[index];
        set_cast( cast, item->box, item->motion, 1 );
        max_t = item->max_t;
    }
    cast->best = query_key( finite_reach( max_t ), CLV_NO_HIT );
}

static clv_hit best_hit( uint64_t key )
{
    clv_hit hit = hit_of( key );
    return hit.index != CLV_NO_HIT ? hit : NO_HIT;
}

static void find_closest(
    const query_scene* scene, const clv_queries* list, const uint32_t* which, uint32_t count, clv_hit* hits )
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
        hits[which[i]] = best_hit( casts[i].best );
    }
}

static void set_nearest(
    query_nearest* query, const clv_queries* list, uint32_t index, uint32_t k, float max_distance )
{
    query_raised raised;
    clv_queries one;
    if ( query_is_flat( list->kind ) )
    {
        one = raised_list( list, index, &raised );
        list = &one;
        index = 0;
    }
    if ( list->kind == CLV_QUERY_POINT )
    {
        clv_vec3 p = ( (const clv_vec3*)list->items )[index];
        query->box = ( clv_aabb ){ p, p };
    }
    else
    {
        query->box = ( (const clv_aabb*)list->items )[index];
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

static void find_few_nearest( const query_scene* scene, const clv_queries* list, const uint32_t* which,
    uint32_t count, uint32_t k, float max_distance, clv_hit* hits )
{
    query_nearest queries[NEAREST_SOME];
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
            to[j] = hit_of( queries[i].keys[j] );
        }
    }
}

static clv_hit find_one( const query_scene* scene, const clv_queries* list, uint32_t index, query_mode mode )
{
    query_probe probe;
    start( &probe, scene, list, index, mode );
    run_probe( &probe );
    return probe.best.t <= probe.reach ? probe.best : NO_HIT; // a callback may have put it out of reach since
}

static void find_nearest( const query_scene* scene, const clv_queries* list, uint32_t index, uint32_t k,
    float max_distance, clv_hit* hits )
{
    query_probe probe;
    start( &probe, scene, list, index, QUERY_NEAREST );
    clv_aabb box = probe.walk.box;
    start_distance( &probe, box, max_distance );
    probe.hits = hits;
    probe.room = k;
    if ( k > 0 )
    {
        run_probe( &probe );
    }
    // What a callback put out of reach afterwards.
    probe.count = probe.is_shortened ? drop_beyond( hits, probe.count, probe.reach ) : probe.count;
    for ( uint64_t i = probe.count; i < k; ++i )
    {
        hits[i] = NO_HIT;
    }
}

void clv_query_find_one( const query_scene* scene, const clv_queries* list, const uint32_t* which,
    uint32_t count, query_mode mode, clv_hit* hits )
{
    CLV_ASSERT( count <= QUERY_SOME );
    if ( is_plain_closest( scene, list, mode ) )
    {
        find_closest( scene, list, which, count, hits );
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
    bool are_few = k > 0 && k <= QUERY_NEAREST_MOST && is_unfiltered( scene, list );
    for ( uint32_t i = 0; i < count && are_few; i += NEAREST_SOME )
    {
        uint32_t some = count - i < NEAREST_SOME ? count - i : NEAREST_SOME;
        find_few_nearest( scene, list, which + i, some, k, max_distance, hits );
    }
    for ( uint32_t i = 0; i < count && !are_few; ++i )
    {
        find_nearest( scene, list, which[i], k, max_distance, hits + (uint64_t)which[i] * k );
    }
}
