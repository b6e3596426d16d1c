// SPDX-License-Identifier: MIT
// From a probe to what the lanes are asked, in float or in double.
#include "query/query_walk.h"

#include "base/assertion.h"

static const double MOST_PLACE = 0x1p100; // less any float it is no more than the greatest
static const float MOST_MOTION = 0x1p40f; // times of so much are off by less than LANE_ROOM
static const double LANE_ROOM = 1e-32;
static const double LEAST_ROOM = 1e-150;   // squares below that of this vanish
static const double LEAST_MOTION = 1e-300; // of round casts: below it counts as 0

// ---- in float

static void start_distance( query_search* s )
{
    query_walk* walk = &s->walk.lanes;
    walk->reach = query_lane_reach( s->square );
    walk->band = INFINITY;
    walk->reach_time = INFINITY;
}

// The box of a shape that has a test of its own, so much larger that no rounding of the lanes can lose what
// that test finds. *span is the sum of what its faces are made of.
static clv_aabb roomy_box( const double a[3], const double b[3], double radius, double* span )
{
    CLV_ASSERT( radius >= 0 );
    *span = 0;
    clv_aabb box = { { 0, 0, 0 }, { 0, 0, 0 } };
    for ( int axis = 0; axis < 3; ++axis )
    {
        double low = a[axis] < b[axis] ? a[axis] : b[axis], high = a[axis] < b[axis] ? b[axis] : a[axis];
        double size = radius + fabs( low ) + fabs( high );
        double more = radius + QUERY_SLACK * size + LANE_ROOM;
        *span += size;
        ( &box.lower.x )[axis] = low - more > -(double)FLT_MAX ? (float)( low - more ) : -FLT_MAX;
        ( &box.upper.x )[axis] = high + more < (double)FLT_MAX ? (float)( high + more ) : FLT_MAX;
        CLV_ASSERT( ( &box.lower.x )[axis] <= ( &box.upper.x )[axis] );
    }
    return box;
}

// The lanes' times are bounds: from a little before to a little after. False: a difference of places or a
// time may leave the floats.
static bool start_round_lanes( query_search* s, const double b[3], clv_vec3 motion )
{
    double span;
    float speed = 0;
    bool is_lost = false;
    query_cast* cast = &s->walk.lanes.cast;
    query_set_cast( cast, roomy_box( s->probe.a, b, s->probe.radius, &span ), motion, QUERY_WIDER );
    for ( int axis = 0; axis < 3; ++axis )
    {
        float d = fabsf( ( &motion.x )[axis] );
        cast->near_inverse[axis] *= QUERY_EARLIER;
        speed += d;
        is_lost |= ( d > 0 ) & ( d < FLT_MIN );
    }
    return span <= MOST_PLACE && speed <= MOST_MOTION && !is_lost;
}

// A turned box is walked as its own box, which stands still.
static bool start_turned_lanes( query_search* s )
{
    double lower[3], upper[3], span;
    for ( int axis = 0; axis < 3; ++axis )
    {
        lower[axis] = s->probe.a[axis] - s->turned.reach[axis];
        upper[axis] = s->probe.a[axis] + s->turned.reach[axis];
    }
    query_set_cast( &s->walk.lanes.cast, roomy_box( lower, upper, 0, &span ), ( clv_vec3 ){ 0, 0, 0 }, 1 );
    return span <= MOST_PLACE;
}

// A walk in float. False: this one is better walked in double.
static bool start_lanes( query_search* s )
{
    const query_probe* p = &s->probe;
    query_walk* walk = &s->walk.lanes;
    query_walk_open( walk, s->scene->tree );
    clv_vec3 a = query_floats( p->a ), b = query_floats( p->b );
    walk->box = ( clv_aabb ){ a, b };
    switch ( p->form )
    {
    case QUERY_OVERLAP: return true;
    case QUERY_DISTANCE: start_distance( s ); return true;
    case QUERY_CAST:
        query_set_cast( &walk->cast, walk->box, query_floats( p->motion ), 1 );
        walk->reach = (float)s->reach;
        return true;
    case QUERY_ROUND_CAST:
        walk->reach = query_wider( (float)s->reach );
        return start_round_lanes( s, p->b, query_floats( p->motion ) );
    case QUERY_CAPSULE: // walked as a sphere from end to end: its own box may be far larger
        walk->reach = QUERY_WIDER;
        return start_round_lanes( s, p->a, ( clv_vec3 ){ b.x - a.x, b.y - a.y, b.z - a.z } );
    case QUERY_TURNED: walk->reach = QUERY_WIDER; return start_turned_lanes( s );
    default: return false;
    }
}

// ---- in double

// Spheres at a and at b that move by `motion`, walked as a box with room; `extra` times the motion is more of
// it.
static void set_round64( query_search* s, const double b[3], const double motion[3], double extra )
{
    const query_probe* p = &s->probe;
    query_set_cast64( &s->cast, p->a, p->a, motion );
    for ( int axis = 0; axis < 3; ++axis )
    {
        double d = b[axis] - p->a[axis],
               more = p->radius + QUERY_ROOM * ( p->radius + fabs( d ) ) + LEAST_ROOM;
        double low = ( d < 0 ? d : 0 ) - more, high = ( d > 0 ? d : 0 ) + more;
        double beyond = extra * fabs( motion[axis] );
        s->cast.near_more[axis] = motion[axis] < 0 ? low - beyond : high + beyond;
        s->cast.far_more[axis] = motion[axis] < 0 ? high + beyond : low - beyond;
        s->cast.far_inverse[axis] *= 1 + QUERY_ROOM;
    }
}

static double still_if_small( double motion )
{
    return fabs( motion ) < LEAST_MOTION ? 0 : motion;
}

static void start_doubles( query_search* s )
{
    const query_probe* p = &s->probe;
    double way[3]; // of a capsule that stands still: a sphere goes from end to end
    s->walk.doubles.top = s->scene->tree->node_count > 0 ? 1 : 0;
    s->walk.doubles.entries[0] = ( struct query_entry64 ){ 0, 0, 0 };
    switch ( p->form )
    {
    case QUERY_CAST: query_set_cast64( &s->cast, p->a, p->b, p->motion ); break;
    case QUERY_ROUND_CAST: set_round64( s, p->b, p->motion, 0 ); break;
    case QUERY_CAPSULE:
        for ( int axis = 0; axis < 3; ++axis )
        {
            way[axis] = still_if_small( p->b[axis] - p->a[axis] );
        }
        set_round64( s, p->a, way, QUERY_ROOM );
        break;
    default: break;
    }
}

// ---- either

// How far it looks, and what its own test needs.
static void start_test( query_search* s )
{
    const double most = s->probe.is_double ? DBL_MAX : (double)FLT_MAX;
    query_probe* p = &s->probe;
    s->reach = INFINITY;
    switch ( p->form )
    {
    case QUERY_DISTANCE:
        CLV_ASSERT( p->radius >= 0 );
        s->reach = p->radius;
        s->square = p->radius * p->radius;
        break;
    case QUERY_TURNED: s->turned = clv_query_turn( p->half, p->turn ); break;
    case QUERY_CAST:
    case QUERY_ROUND_CAST:
        CLV_ASSERT( p->max_t >= 0 );
        // A time is finite: what is never reached has infinite ones, and must not be within an infinite
        // reach.
        s->reach = s->end = p->max_t < most ? p->max_t : most;
        for ( int axis = 0; axis < 3 && p->form == QUERY_ROUND_CAST; ++axis )
        {
            p->motion[axis] = still_if_small( p->motion[axis] );
        }
        break;
    default: break;
    }
}

void clv_query_walk_start( query_search* s )
{
    start_test( s );
    s->reach_least = UINT32_MAX;
    s->is_by_lanes = !s->probe.is_double && start_lanes( s );
    if ( !s->is_by_lanes )
    {
        start_doubles( s );
    }
}
