// SPDX-License-Identifier: MIT
// From each kind's item to what the lanes are asked.
#include "query/query_probe.h"

#include "base/bits.h"

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

void clv_query_probe_distance( query_probe* probe, clv_aabb box, float distance )
{
    start_box( probe, box );
    probe->square = (double)distance * (double)distance;
    probe->walk.reach = query_lane_reach( probe->square );
    probe->walk.band = INFINITY;
    probe->walk.reach_time = INFINITY;
    probe->reach = distance;
}

static void start_cast( query_probe* probe, clv_aabb box, clv_vec3 motion, float max_t, float stretch )
{
    query_set_cast( &probe->walk.cast, box, motion, stretch );
    probe->walk.reach = probe->reach = query_finite_reach( max_t );
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
    start_cast( probe, wide_box( a, b, radius ), motion, max_t, QUERY_WIDER );
    probe->walk.reach = query_wider( probe->reach );
    probe->end = (double)probe->reach;
}

// A capsule that stands still, walked as a sphere from end to end: its own box may be far larger.
static void start_capsule( query_probe* probe, const clv_capsule* capsule )
{
    clv_vec3 a = capsule->a, b = capsule->b, way = { b.x - a.x, b.y - a.y, b.z - a.z };
    probe->capsule = capsule_of( a, b, capsule->radius );
    if ( base_is_finite( (double)way.x ) && base_is_finite( (double)way.y ) &&
        base_is_finite( (double)way.z ) )
    {
        start_cast( probe, wide_box( a, a, capsule->radius ), way, QUERY_WIDER, QUERY_WIDER );
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
        clv_query_probe_distance( probe, ( clv_aabb ){ s.center, s.center }, s.radius );
        break;
    }
    case CLV_QUERY_NEIGHBOURHOOD:
    {
        const clv_neighbourhood* around = &( (const clv_neighbourhood*)items )[index];
        clv_query_probe_distance( probe, around->box, around->distance );
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

void clv_query_probe_start(
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
    probe->best = query_no_hit();
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
