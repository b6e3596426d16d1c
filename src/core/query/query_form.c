// SPDX-License-Identifier: MIT
// Form by form: is it a question, what is its walk asked, what decides.
#include "query/query_form.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <float.h>
#include <math.h>

/// Shapes with a test of their own are walked as boxes so much larger, and for so much longer, than any
/// rounding of that test; of floats more, for all that the walk's own were.
static const double ROOM = 1e-9;
static const double FLOAT_ROOM = QUERY_SLACK;
static const double LEAST_ROOM = 1e-150; // squares below that of this vanish
static const double LEAST_FLOAT_ROOM = 1e-32;
static const double LEAST_MOTION = 1e-300; // of round casts: below it counts as 0

// ---- what is a question

// Limits are those of doubles, which every finite float is within.
static bool is_finite_place( const double v[3] )
{
    return base_is_finite( v[0] ) && base_is_finite( v[1] ) && base_is_finite( v[2] );
}

// Small enough to be squared and summed up.
static bool is_modest( const double* numbers, int count )
{
    bool is_good = true;
    for ( int i = 0; i < count; ++i )
    {
        is_good = is_good && fabs( numbers[i] ) <= QUERY_MOST;
    }
    return is_good;
}

static bool is_ordered( const double lower[3], const double upper[3] )
{
    return lower[0] <= upper[0] && lower[1] <= upper[1] && lower[2] <= upper[2];
}

clv_result clv_query_check( const query_probe* p )
{
    return p->is_box && !is_ordered( p->a, p->b ) ? CLV_BAD_BOX
        : clv_query_rules[p->form].is_good( p )   ? CLV_OK
                                                  : CLV_BAD_ARGUMENT;
}

static bool is_never_good( const query_probe* p )
{
    (void)p;
    return false;
}

// ---- a box

// A place that is no number is not in order.
static bool is_good_overlap( const query_probe* p )
{
    return is_ordered( p->a, p->b );
}

static void start_overlap( query_search* s )
{
    s->walk.box = ( clv_aabb ){ query_floats( s->probe.a ), query_floats( s->probe.b ) };
    s->walk.far.box = s->probe.box;
}

static bool meets_overlap( const query_search* s, const clv_aabb64* box, double* t )
{
    (void)t;
    return clv_aabb64_overlap( *box, s->probe.box );
}

// ---- what is near a box

static bool is_good_distance( const query_probe* p )
{
    return ( p->is_box || is_finite_place( p->a ) ) && p->radius >= 0;
}

static void start_distance( query_search* s )
{
    start_overlap( s );
    s->reach = s->probe.radius;
    CLV_ASSERT( s->reach >= 0 );
    s->square = s->reach * s->reach;
    s->walk.reach = query_lane_reach( s->square );
    s->walk.band = s->walk.reach_time = INFINITY;
}

static void shorten_distance( query_search* s )
{
    s->walk.reach = query_lane_reach( s->reach * s->reach );
    s->walk.band = query_lane_band( s->reach * s->reach );
    s->walk.reach_time = (float)s->reach;
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

// ---- a box that moves

// A time is finite: what is never reached has infinite ones, and must not be within an infinite reach.
static void start_times( query_search* s )
{
    const double most = s->probe.is_double ? DBL_MAX : (double)FLT_MAX;
    CLV_ASSERT( s->probe.max_t >= 0 );
    s->reach = s->end = s->probe.max_t < most ? s->probe.max_t : most;
}

void clv_query_set_cast64(
    query_cast64* cast, const double* lower, const double* upper, const double* motion )
{
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        double d = motion[axis];
        uint32_t lower_face = axis * QUERY_LANES, upper_face = ( 3 + axis ) * QUERY_LANES;
        cast->near_face[axis] = d < 0 ? upper_face : lower_face;
        cast->far_face[axis] = d < 0 ? lower_face : upper_face;
        cast->near_place[axis] = d < 0 ? lower[axis] : upper[axis];
        cast->far_place[axis] = d < 0 ? upper[axis] : lower[axis];
        cast->near_more[axis] = cast->far_more[axis] = 0;
        cast->inverse[axis] = cast->far_inverse[axis] = d == 0 ? INFINITY : 1.0 / d;
    }
}

static bool is_good_cast( const query_probe* p )
{
    return is_finite_place( p->a ) && is_finite_place( p->b ) && is_finite_place( p->motion ) &&
        p->max_t >= 0;
}

static void shorten_cast( query_search* s )
{
    s->walk.reach = s->probe.is_double ? query_far_reach( &s->walk.far.cast, s->reach ) : (float)s->reach;
}

static void start_cast( query_search* s )
{
    const query_probe* p = &s->probe;
    start_times( s );
    if ( p->is_double )
    {
        clv_query_set_cast64( &s->walk.far.cast, p->a, p->b, p->motion );
        query_cast_open( &s->walk.far.cast, &s->walk.cast );
    }
    else
    {
        query_set_cast( &s->walk.cast, ( clv_aabb ){ query_floats( p->a ), query_floats( p->b ) },
            query_floats( p->motion ) );
    }
    shorten_cast( s );
}

static bool meets_cast( const query_search* s, const clv_aabb64* box, double* t )
{
    if ( s->probe.is_double )
    {
        return query_cast_sides( &s->walk.far.cast, box, s->reach, t );
    }
    const clv_aabb floats = { query_floats( &box->lower.x ), query_floats( &box->upper.x ) };
    float near;
    bool is_met = query_cast_box( &s->walk.cast, &floats, (float)s->reach, &near );
    *t = (double)near;
    return is_met;
}

// ---- shapes that are walked as boxes with room, which move from `a` on

static double still_if_small( double motion )
{
    return fabs( motion ) < LEAST_MOTION ? 0 : motion;
}

// From -reach to b - a + reach; `extra` times the motion is more of it. Of floats the walk looks from 0, and
// never has to look again.
static void start_with_room(
    query_search* s, const double b[3], const double reach[3], const double motion[3], double extra )
{
    const query_probe* p = &s->probe;
    query_cast64* cast = &s->walk.far.cast;
    const double none[4] = { 0, 0, 0, 0 };
    clv_query_set_cast64( cast, p->a, p->a, motion );
    for ( int axis = 0; axis < 3; ++axis )
    {
        double d = b[axis] - p->a[axis], size = reach[axis] + fabs( d );
        double more = reach[axis] + ROOM * size + LEAST_ROOM;
        if ( !p->is_double )
        {
            more += FLOAT_ROOM * ( size + 2 * fabs( p->a[axis] ) ) + LEAST_FLOAT_ROOM;
        }
        double low = ( d < 0 ? d : 0 ) - more, high = ( d > 0 ? d : 0 ) + more;
        double beyond = extra * fabs( motion[axis] );
        cast->near_more[axis] = motion[axis] < 0 ? low - beyond : high + beyond;
        cast->far_more[axis] = motion[axis] < 0 ? high + beyond : low - beyond;
        cast->far_inverse[axis] *= 1 + ROOM;
    }
    query_cast_open( cast, &s->walk.cast );
    if ( !p->is_double )
    {
        query_cast_seen_from( cast, none, &s->walk.cast );
    }
}

// What the shape's box with its room does not meet is not met, in double: where one axis is so much longer
// than another that its rounding alone outweighs the other, only that tells.
static bool is_in_room( const query_search* s, const clv_aabb64* box, double reach )
{
    double near, more = reach * ( 1 + ROOM );
    return !s->probe.is_double ||
        query_cast_sides( &s->walk.far.cast, box, more < DBL_MAX ? more : DBL_MAX, &near );
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

// The box as it is tested; floats are endlessly far or not.
static bool is_in_reach( const query_probe* p, const clv_aabb64* box )
{
    clv_aabb64 from = p->is_double ? query_box_from( box, p->a ) : *box;
    return !is_out_of_reach( &from );
}

// ---- a capsule, and one that moves

static bool is_good_capsule( const query_probe* p )
{
    return is_modest( p->a, 3 ) && is_modest( p->b, 3 ) && p->radius >= 0 && p->radius <= QUERY_MOST;
}

static bool is_good_round_cast( const query_probe* p )
{
    return is_good_capsule( p ) && is_modest( p->motion, 3 ) && p->max_t >= 0;
}

static const double WHOLE_LINE = 1 + 2e-9; // as a time, with room

// Walked as a sphere from end to end: its own box may be far larger.
static void start_capsule( query_search* s )
{
    const query_probe* p = &s->probe;
    const double reach[3] = { p->radius, p->radius, p->radius };
    double way[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        way[axis] = still_if_small( p->b[axis] - p->a[axis] );
    }
    s->walk.reach = query_above_float( WHOLE_LINE * ( 1 + FLOAT_ROOM ) );
    start_with_room( s, p->a, reach, way, ROOM );
}

static bool meets_capsule( const query_search* s, const clv_aabb64* box, double* t )
{
    (void)t;
    return is_in_reach( &s->probe, box ) && is_in_room( s, box, WHOLE_LINE ) &&
        clv_query_capsule_meets( &s->probe.round, box );
}

// Times of floats that round to the reach are within it, also those that round to 0.
static double latest( const query_search* s )
{
    double end = s->reach > 0 ? s->reach * ( 1 + 2 * QUERY_SLACK ) + 1e-40 : (double)FLT_TRUE_MIN;
    end = end < (double)FLT_MAX ? end : (double)FLT_MAX;
    return s->probe.is_double ? s->reach : end < s->end ? end : s->end;
}

static void shorten_round_cast( query_search* s )
{
    s->walk.reach = query_far_reach( &s->walk.far.cast, s->reach * ( 1 + 2 * QUERY_SLACK ) );
}

static void start_round_cast( query_search* s )
{
    query_probe* p = &s->probe;
    const double reach[3] = { p->radius, p->radius, p->radius };
    start_times( s );
    for ( int axis = 0; axis < 3; ++axis )
    {
        p->motion[axis] = still_if_small( p->motion[axis] );
    }
    start_with_room( s, p->b, reach, p->motion, 0 );
    shorten_round_cast( s );
}

static bool meets_round_cast( const query_search* s, const clv_aabb64* box, double* t )
{
    const query_probe* p = &s->probe;
    bool is_met = is_in_reach( p, box ) && is_in_room( s, box, s->reach ) &&
        clv_query_capsule_cast( &p->round, p->motion, latest( s ), box, t );
    *t = p->is_double ? *t : (double)(float)*t;
    return is_met && *t <= s->reach;
}

// ---- a turned box

static bool is_good_turned( const query_probe* p )
{
    const double none[3] = { 0, 0, 0 };
    return is_modest( p->a, 3 ) && is_modest( p->half, 3 ) && is_ordered( none, p->half ) &&
        is_modest( p->turn, 4 );
}

// Walked as its own box, which stands still.
static void start_turned( query_search* s )
{
    const double still[3] = { 0, 0, 0 };
    s->turned = clv_query_turn( s->probe.half, s->probe.turn );
    s->walk.reach = 1;
    start_with_room( s, s->probe.a, s->turned.reach, still, 0 );
}

static bool meets_turned( const query_search* s, const clv_aabb64* box, double* t )
{
    (void)t;
    clv_aabb64 from = query_box_from( box, s->probe.a );
    return !is_out_of_reach( &from ) && clv_query_turned_box_faces_meet( &s->turned, &from ) &&
        clv_query_turned_box_edges_meet( &s->turned, &from );
}

// ---- half-spaces

static bool are_good_planes( const query_probe* p )
{
    bool is_good = is_modest( p->a, 3 );
    for ( uint32_t i = 0; i < p->plane_count && is_good; ++i )
    {
        const query_plane plane = query_plane_at( p, i );
        is_good = is_modest( plane.normal, 3 ) && plane.offset == plane.offset;
    }
    return is_good;
}

static void start_planes( query_search* s )
{
    (void)s;
}

bool clv_query_planes_meet( const query_probe* p, const clv_aabb64* box )
{
    const clv_aabb64 from = query_box_from( box, p->a );
    const clv_aabb64 near = p->is_double ? query_near_faces( &from ) : from;
    for ( uint32_t i = 0; i < p->plane_count; ++i )
    {
        const query_plane plane = query_plane_at( p, i );
        if ( query_least_dot( plane.normal, &near ) > plane.offset )
        {
            return false;
        }
    }
    return true;
}

static bool meets_planes( const query_search* s, const clv_aabb64* box, double* t )
{
    (void)t;
    return clv_query_planes_meet( &s->probe, box );
}

// ---- the table

const query_rule clv_query_rules[QUERY_ROUND_CAST + 1] = {
    [QUERY_NO_FORM] = { .is_good = is_never_good },
    [QUERY_OVERLAP] = { QUERY_BY_OVERLAP, true, true, is_good_overlap, start_overlap, NULL, meets_overlap },
    [QUERY_DISTANCE] = { QUERY_BY_DISTANCE, false, false, is_good_distance, start_distance, shorten_distance,
        meets_distance },
    [QUERY_CAPSULE] = { QUERY_BY_CAST, false, false, is_good_capsule, start_capsule, NULL, meets_capsule },
    [QUERY_TURNED] = { QUERY_BY_CAST, false, false, is_good_turned, start_turned, NULL, meets_turned },
    [QUERY_PLANES] = { QUERY_BY_PLANES, true, false, are_good_planes, start_planes, NULL, meets_planes },
    [QUERY_CAST] = { QUERY_BY_CAST, true, false, is_good_cast, start_cast, shorten_cast, meets_cast },
    [QUERY_ROUND_CAST] = { QUERY_BY_CAST, false, false, is_good_round_cast, start_round_cast,
        shorten_round_cast, meets_round_cast },
};
