// SPDX-License-Identifier: MIT
// From each kind's item to what the lanes are asked.
#include "query/query_probe.h"

#include "base/assertion.h"

static const double MOST_PLACE = 0x1p100; // less any float it is no more than the greatest
static const float MOST_MOTION = 0x1p40f; // times of so much are off by less than LANE_ROOM
static const double LANE_ROOM = 1e-32;
static const double SWEEP_ROOM = 1e-12; // more than sums and quotients of doubles are off by

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
    CLV_ASSERT( distance >= 0 );
    start_box( probe, box );
    probe->square = (double)distance * (double)distance;
    probe->walk.reach = query_lane_reach( probe->square );
    probe->walk.band = INFINITY;
    probe->walk.reach_time = INFINITY;
    probe->reach = distance;
}

static void start_cast( query_probe* probe, clv_aabb box, clv_vec3 motion, float max_t, float stretch )
{
    CLV_ASSERT( max_t >= 0 );
    query_set_cast( &probe->walk.cast, box, motion, stretch );
    probe->walk.reach = probe->reach = query_finite_reach( max_t );
}

// The box of a shape that has a test of its own, so much larger that no rounding of the lanes can lose what that test finds.
// *span is the sum of what its faces are made of.
static clv_aabb wide_box( clv_vec3 a, clv_vec3 b, float radius, double* span )
{
    CLV_ASSERT( radius >= 0 );
    *span = 0;
    clv_aabb box = { { 0, 0, 0 }, { 0, 0, 0 } };
    for ( int axis = 0; axis < 3; ++axis )
    {
        double p = (double)( &a.x )[axis], q = (double)( &b.x )[axis];
        double low = p < q ? p : q, high = p < q ? q : p;
        double size = (double)radius + fabs( low ) + fabs( high );
        double more = (double)radius + QUERY_SLACK * size + LANE_ROOM;
        *span += size;
        ( &box.lower.x )[axis] = low - more > -(double)FLT_MAX ? (float)( low - more ) : -FLT_MAX;
        ( &box.upper.x )[axis] = high + more < (double)FLT_MAX ? (float)( high + more ) : FLT_MAX;
        CLV_ASSERT( ( &box.lower.x )[axis] <= ( &box.upper.x )[axis] );
    }
    return box;
}

static query_capsule capsule_of( clv_vec3 a, clv_vec3 b, float radius )
{
    return ( query_capsule ){ { (double)a.x, (double)a.y, (double)a.z },
        { (double)b.x, (double)b.y, (double)b.z }, (double)radius };
}

// The lanes' times are bounds: from a little before to a little after. False: a difference of places or a time may leave the
// floats.
static bool start_lanes(
    query_probe* probe, clv_vec3 a, clv_vec3 b, float radius, clv_vec3 motion, float max_t )
{
    double span;
    float speed = 0;
    bool is_lost = false;
    start_cast( probe, wide_box( a, b, radius, &span ), motion, max_t, QUERY_WIDER );
    for ( int axis = 0; axis < 3; ++axis )
    {
        float d = fabsf( ( &motion.x )[axis] );
        probe->walk.cast.near_inverse[axis] *= QUERY_EARLIER;
        speed += d;
        is_lost |= ( d > 0 ) & ( d < FLT_MIN );
    }
    return span <= MOST_PLACE && speed <= MOST_MOTION && !is_lost;
}

// In place of the lanes: the box around spheres at the capsule's a and at `b`, on its way.
static void start_sweep( query_probe* probe, const double b[3] )
{
    query_sweep* sweep = &probe->sweep;
    double radius = probe->capsule.radius;
    probe->is_extreme = true;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double low = fmin( probe->capsule.a[axis], b[axis] ), high = fmax( probe->capsule.a[axis], b[axis] );
        double more = radius + SWEEP_ROOM * ( radius + fabs( low ) + fabs( high ) ) + LANE_ROOM;
        sweep->lower[axis] = low - more;
        sweep->upper[axis] = high + more;
        CLV_ASSERT( sweep->lower[axis] <= sweep->upper[axis] );
        sweep->motion[axis] = probe->motion[axis];
    }
}

bool clv_query_probe_sweep_meets( const query_probe* probe, const clv_aabb* box )
{
    CLV_ASSERT( probe->is_extreme );
    const query_sweep* sweep = &probe->sweep;
    double from = 0, to = probe->kind == CLV_QUERY_CAPSULE ? probe->end : query_latest( probe );
    for ( int axis = 0; axis < 3; ++axis )
    {
        double d = sweep->motion[axis];
        double low = (double)( &box->lower.x )[axis] - sweep->upper[axis];
        double high = (double)( &box->upper.x )[axis] - sweep->lower[axis];
        if ( d == 0 && ( low > 0 || high < 0 ) )
        {
            return false;
        }
        double first = d == 0 ? 0 : ( d > 0 ? low : high ) / d * ( 1 - SWEEP_ROOM );
        double last = d == 0 ? to : ( d > 0 ? high : low ) / d * ( 1 + SWEEP_ROOM );
        from = first > from ? first : from;
        to = last < to ? last : to;
    }
    return from <= to;
}

static void start_shape_cast(
    query_probe* probe, clv_vec3 a, clv_vec3 b, float radius, clv_vec3 motion, float max_t )
{
    probe->capsule = capsule_of( a, b, radius );
    for ( int axis = 0; axis < 3; ++axis )
    {
        probe->motion[axis] = (double)( &motion.x )[axis];
    }
    if ( !start_lanes( probe, a, b, radius, motion, max_t ) )
    {
        start_sweep( probe, probe->capsule.b );
    }
    probe->walk.reach = query_wider( probe->reach );
    probe->end = (double)probe->reach;
}

// A capsule that stands still, walked as a sphere from end to end: its own box may be far larger.
static void start_capsule( query_probe* probe, const clv_capsule* capsule )
{
    clv_vec3 a = capsule->a, b = capsule->b, way = { b.x - a.x, b.y - a.y, b.z - a.z };
    probe->capsule = capsule_of( a, b, capsule->radius );
    if ( !start_lanes( probe, a, a, capsule->radius, way, QUERY_WIDER ) )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            probe->motion[axis] = probe->capsule.b[axis] - probe->capsule.a[axis];
        }
        start_sweep( probe, probe->capsule.a );
    }
    probe->end = (double)QUERY_WIDER;
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
        CLV_ASSERT( probe->kind == CLV_QUERY_CAPSULE_CAST );
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
    CLV_ASSERT( index < list->count );
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
    probe->is_shortened = probe->is_done = probe->is_extreme = false;
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
