// SPDX-License-Identifier: MIT
// From each kind's item to what the lanes are asked, in double.
#include "query/query_wide_probe.h"

#include "base/assertion.h"

static const double LEAST_ROOM = 1e-150; // squares below that of this vanish

static void put_place( double to[3], clv_vec64 from )
{
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
}

static void start_cast64(
    query_wide_probe* p, clv_vec64 lower, clv_vec64 upper, clv_vec64 motion, double max_t )
{
    CLV_ASSERT( max_t >= 0 );
    p->look = WIDE_CAST;
    p->reach = max_t < DBL_MAX ? max_t : DBL_MAX; // a time is finite: what is never reached has infinite ones
    put_place( p->motion, motion );
    for ( int axis = 0; axis < 3; ++axis )
    {
        double d = p->motion[axis], low = ( &lower.x )[axis], high = ( &upper.x )[axis];
        p->is_forward[axis] = !( d < 0 );
        p->near_place[axis] = d < 0 ? low : high;
        p->far_place[axis] = d < 0 ? high : low;
        p->near_more[axis] = p->far_more[axis] = 0;
        p->near_inverse[axis] = p->far_inverse[axis] = d == 0 ? INFINITY : 1.0 / d;
    }
}

static double still_if_small( double motion )
{
    return fabs( motion ) < QUERY_WIDE_STILL ? 0 : motion;
}

// A capsule that moves, walked as a box with room.
static void start_round(
    query_wide_probe* p, clv_vec64 a, clv_vec64 b, double radius, clv_vec64 motion, double max_t )
{
    CLV_ASSERT( radius >= 0 );
    put_place( p->origin, a );
    p->round = ( query_capsule ){ { a.x, a.y, a.z }, { b.x, b.y, b.z }, radius };
    motion =
        ( clv_vec64 ){ still_if_small( motion.x ), still_if_small( motion.y ), still_if_small( motion.z ) };
    start_cast64( p, a, a, motion, max_t );
    for ( int axis = 0; axis < 3; ++axis )
    {
        double d = ( &b.x )[axis] - ( &a.x )[axis],
               more = radius + QUERY_WIDE_ROOM * ( radius + fabs( d ) ) + LEAST_ROOM;
        double low = ( d < 0 ? d : 0 ) - more, high = ( d > 0 ? d : 0 ) + more;
        p->near_more[axis] = p->motion[axis] < 0 ? low : high;
        p->far_more[axis] = p->motion[axis] < 0 ? high : low;
        p->far_inverse[axis] *= 1 + QUERY_WIDE_ROOM;
    }
}

// A capsule that stands still, walked as a sphere from end to end: its own box may be far larger.
static void start_capsule64( query_wide_probe* p, const clv_capsule64* c )
{
    clv_vec64 way = { c->b.x - c->a.x, c->b.y - c->a.y, c->b.z - c->a.z };
    start_round( p, c->a, c->a, c->radius, way, 1 + QUERY_WIDE_ROOM );
    for ( int axis = 0; axis < 3; ++axis )
    {
        double more = QUERY_WIDE_ROOM * fabs( ( &way.x )[axis] );
        p->near_more[axis] += p->motion[axis] < 0 ? -more : more;
        p->far_more[axis] += p->motion[axis] < 0 ? more : -more;
        p->round.b[axis] = ( &c->b.x )[axis];
    }
    p->reach = INFINITY; // of a hit, which has no time
}

static void start_turned64( query_wide_probe* p, const clv_oriented_box64* box )
{
    const double center[3] = { 0, 0, 0 };
    const double half[3] = { box->half_size.x, box->half_size.y, box->half_size.z };
    const double turn[4] = { (double)box->rotation.x, (double)box->rotation.y, (double)box->rotation.z,
        (double)box->rotation.w };
    p->look = WIDE_TURNED;
    put_place( p->origin, box->center );
    p->turned = clv_query_turn( center, half, turn );
}

void clv_query_wide_probe_distance( query_wide_probe* p, clv_aabb64 box, double distance )
{
    CLV_ASSERT( distance >= 0 );
    p->look = WIDE_DISTANCE;
    p->box = box;
    p->reach = distance;
}

static void start_item64( query_wide_probe* p, const void* items, uint32_t index )
{
    switch ( p->kind )
    {
    case CLV_QUERY_POINT: p->box.lower = p->box.upper = ( (const clv_vec64*)items )[index]; break;
    case CLV_QUERY_BOX: p->box = ( (const clv_aabb64*)items )[index]; break;
    case CLV_QUERY_SPHERE:
    {
        const clv_sphere64* s = &( (const clv_sphere64*)items )[index];
        clv_query_wide_probe_distance( p, ( clv_aabb64 ){ s->center, s->center }, s->radius );
        break;
    }
    case CLV_QUERY_NEIGHBOURHOOD:
    {
        const clv_neighbourhood64* n = &( (const clv_neighbourhood64*)items )[index];
        clv_query_wide_probe_distance( p, n->box, n->distance );
        break;
    }
    case CLV_QUERY_CAPSULE: start_capsule64( p, &( (const clv_capsule64*)items )[index] ); break;
    case CLV_QUERY_ORIENTED_BOX: start_turned64( p, &( (const clv_oriented_box64*)items )[index] ); break;
    case CLV_QUERY_HALF_SPACES:
    {
        const clv_half_spaces64* h = &( (const clv_half_spaces64*)items )[index];
        p->look = WIDE_PLANES;
        put_place( p->origin, h->origin );
        p->planes = h->planes;
        p->plane_count = h->count;
        break;
    }
    case CLV_QUERY_RAY:
    {
        const clv_ray64* r = &( (const clv_ray64*)items )[index];
        start_cast64( p, r->origin, r->origin, r->direction, r->max_t );
        break;
    }
    case CLV_QUERY_BOX_CAST:
    {
        const clv_box_cast64* c = &( (const clv_box_cast64*)items )[index];
        start_cast64( p, c->box.lower, c->box.upper, c->motion, c->max_t );
        break;
    }
    case CLV_QUERY_SPHERE_CAST:
    {
        const clv_sphere_cast64* c = &( (const clv_sphere_cast64*)items )[index];
        start_round( p, c->sphere.center, c->sphere.center, c->sphere.radius, c->motion, c->max_t );
        break;
    }
    default:
    {
        CLV_ASSERT( p->kind == CLV_QUERY_CAPSULE_CAST );
        const clv_capsule_cast64* c = &( (const clv_capsule_cast64*)items )[index];
        start_round( p, c->capsule.a, c->capsule.b, c->capsule.radius, c->motion, c->max_t );
        break;
    }
    }
}

void clv_query_wide_probe_start(
    query_wide_probe* p, const query_scene* scene, const clv_queries* list, uint32_t index, query_mode mode )
{
    CLV_ASSERT( query_is_wide( list->kind ) && index < list->count );
    p->scene = scene;
    p->list = list;
    p->filter = list->filters == NULL ? NULL : &list->filters[list->filter_each ? index : 0];
    p->index = index;
    p->kind = (clv_query_kind)( (uint32_t)list->kind - QUERY_WIDE );
    p->mode = mode;
    p->look = WIDE_OVERLAP;
    p->hits = NULL;
    p->room = p->count = 0;
    p->best = query_no_hit64();
    p->reach = INFINITY;
    p->reach_least = UINT32_MAX;
    p->is_shortened = p->is_done = false;
    start_item64( p, list->items, index );
    p->top = scene->tree->node_count > 0 ? 1 : 0;
    p->stack[0] = ( query_wide_entry ){ 0, 0, 0 };
}
