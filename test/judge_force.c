// SPDX-License-Identifier: MIT
// Written again from what cleave/world_query.h says, in one arithmetic whose steps are rounded to float for
// flat worlds; only shapes with a test of their own share that with the library, and it has tests of its own.
#include "judge_force.h"

#include "query/query_shape.h"

#include <float.h>
#include <math.h>

static bool slabs( const judge_world* world, const judge_question* q, const clv_aabb64* box, double* t )
{
    double most = world->is_flat ? (double)FLT_MAX : DBL_MAX, entry = 0,
           exit = q->max_t < most ? q->max_t : most;
    for ( int axis = 0; axis < ( world->is_flat ? 2 : 3 ); ++axis )
    {
        double d = ( &q->motion.x )[axis];
        double low = judge_rounded( world, ( &box->lower.x )[axis] - ( &q->box.upper.x )[axis] );
        double high = judge_rounded( world, ( &box->upper.x )[axis] - ( &q->box.lower.x )[axis] );
        if ( d == 0 )
        {
            if ( low > 0 || high < 0 )
            {
                return false;
            }
            continue;
        }
        double inverse = judge_rounded( world, 1 / d );
        double first = judge_rounded( world, ( d > 0 ? low : high ) * inverse );
        double last = judge_rounded( world, ( d > 0 ? high : low ) * inverse );
        entry = first > entry ? first : entry;
        exit = last < exit ? last : exit;
    }
    *t = entry;
    return entry <= exit;
}

static double gap( double lower, double upper, double other_lower, double other_upper )
{
    double above = other_lower - upper, below = lower - other_upper;
    return above > 0 ? above : below > 0 ? below : 0;
}

// Always by way of the largest gap's exponent, where the library does so only at the ends of the doubles.
static double distance_of( const clv_aabb64* a, const clv_aabb64* b )
{
    double x = gap( a->lower.x, a->upper.x, b->lower.x, b->upper.x );
    double y = gap( a->lower.y, a->upper.y, b->lower.y, b->upper.y );
    double z = gap( a->lower.z, a->upper.z, b->lower.z, b->upper.z );
    double most = fmax( x, fmax( y, z ) );
    if ( most == 0 || most - most != 0 )
    {
        return most;
    }
    int e = ilogb( most );
    x = scalbn( x, -e );
    y = scalbn( y, -e );
    z = scalbn( z, -e );
    return scalbn( sqrt( x * x + y * y + z * z ), e );
}

static bool is_near(
    const judge_world* world, const clv_aabb64* a, const clv_aabb64* b, double most, double* t )
{
    if ( !world->is_flat )
    {
        *t = distance_of( a, b );
        return *t <= most;
    }
    double x = gap( a->lower.x, a->upper.x, b->lower.x, b->upper.x );
    double y = gap( a->lower.y, a->upper.y, b->lower.y, b->upper.y );
    *t = (double)(float)sqrt( x * x + y * y );
    return x * x + y * y <= most * most;
}

static double product( double n, double face )
{
    return n == 0 ? 0 : n * ( face - face == 0 ? fmin( fmax( face, -1e150 ), 1e150 ) : face );
}

static bool planes_meet( const judge_world* world, const judge_question* q, const clv_aabb64* box )
{
    for ( uint32_t i = 0; i < q->plane_count; ++i )
    {
        clv_vec64 n = q->planes[i].normal, at = world->is_flat ? ( clv_vec64 ){ 0, 0, 0 } : q->box.lower;
        double least = product( n.x, ( n.x > 0 ? box->lower.x : box->upper.x ) - at.x );
        least += product( n.y, ( n.y > 0 ? box->lower.y : box->upper.y ) - at.y );
        least += product( n.z, ( n.z > 0 ? box->lower.z : box->upper.z ) - at.z );
        if ( least > q->planes[i].offset )
        {
            return false;
        }
    }
    return true;
}

// As the shape sees it: from its own place, or, flat, with the third axis that flat boxes have.
static clv_aabb64 seen_from( const judge_world* world, const judge_question* q, const clv_aabb64* box )
{
    clv_aabb64 from = *box;
    if ( world->is_flat )
    {
        from.lower.z = 0;
        from.upper.z = 1;
        return from;
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        ( &from.lower.x )[axis] -= ( &q->box.lower.x )[axis];
        ( &from.upper.x )[axis] -= ( &q->box.lower.x )[axis];
    }
    return from;
}

static bool is_far_off( const clv_aabb64* b )
{
    return b->lower.x >= 1e150 || b->lower.y >= 1e150 || b->lower.z >= 1e150 || b->upper.x <= -1e150 ||
        b->upper.y <= -1e150 || b->upper.z <= -1e150;
}

static double awake( double motion )
{
    return fabs( motion ) < 1e-300 ? 0 : motion;
}

// The box around the shape, larger by a billionth, on its way; a capsule that stands still is a sphere that
// goes from end to end.
static bool room_meets(
    const judge_question* q, const double d[3], const double motion[3], const clv_aabb64* from )
{
    bool is_still = q->kind == CLV_QUERY_CAPSULE;
    double room = 1e-9, entry = 0,
           exit = is_still ? ( 1 + 2 * room ) * ( 1 + room ) : q->max_t * ( 1 + room );
    exit = exit < DBL_MAX ? exit : DBL_MAX;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double m = is_still ? awake( d[axis] ) : motion[axis], e = is_still ? 0 : d[axis];
        double more = q->radius + room * ( q->radius + fabs( e ) ) + 1e-150;
        double high = ( e > 0 ? e : 0 ) + more, low = ( e < 0 ? e : 0 ) - more;
        high += is_still ? room * fabs( d[axis] ) : 0;
        low -= is_still ? room * fabs( d[axis] ) : 0;
        double near = ( &from->lower.x )[axis] - high, far = ( &from->upper.x )[axis] - low;
        if ( m == 0 )
        {
            if ( near > 0 || far < 0 )
            {
                return false;
            }
            continue;
        }
        double first = ( m > 0 ? near : far ) * ( 1 / m ),
               last = ( m > 0 ? far : near ) * ( 1 / m * ( 1 + room ) );
        entry = first > entry ? first : entry;
        exit = last < exit ? last : exit;
    }
    return entry <= exit;
}

// By the library's own test of one shape and one box, which has tests of its own.
static bool round_meets( const judge_world* world, const judge_question* q, const clv_aabb64* box, double* t )
{
    bool is_long = q->kind == CLV_QUERY_CAPSULE || q->kind == CLV_QUERY_CAPSULE_CAST;
    clv_vec64 a = q->box.lower, b = is_long ? q->end : q->box.lower;
    clv_aabb64 from = seen_from( world, q, box );
    query_capsule c = { { a.x, a.y, a.z }, { b.x, b.y, b.z }, q->radius };
    const double way[3] = { b.x - a.x, b.y - a.y, b.z - a.z };
    const double motion[3] = { awake( q->motion.x ), awake( q->motion.y ), awake( q->motion.z ) };
    if ( world->is_flat )
    {
        c.a[2] = c.b[2] = 0.5;
    }
    else if ( is_far_off( &from ) || !room_meets( q, way, motion, &from ) )
    {
        return false;
    }
    const clv_aabb64* seen = world->is_flat ? &from : box;
    if ( q->kind == CLV_QUERY_CAPSULE )
    {
        return clv_query_capsule_meets( &c, seen );
    }
    double most = world->is_flat ? (double)FLT_MAX : DBL_MAX;
    bool is_met = clv_query_capsule_cast( &c, motion, q->max_t < most ? q->max_t : most, seen, t );
    *t = judge_rounded( world, *t );
    return is_met;
}

static bool turned_meets( const judge_world* world, const judge_question* q, const clv_aabb64* box )
{
    clv_aabb64 from = seen_from( world, q, box );
    const double half[3] = { q->half.x, q->half.y, q->half.z };
    double turn[4] = { (double)q->rotation.x, (double)q->rotation.y, (double)q->rotation.z,
        (double)q->rotation.w };
    if ( world->is_flat )
    {
        double c = (double)q->rotation.x, s = (double)q->rotation.y, length = sqrt( c * c + s * s );
        for ( int axis = 0; axis < 3; ++axis )
        {
            double at = axis < 2 ? ( &q->box.lower.x )[axis] : 0.5;
            ( &from.lower.x )[axis] -= at;
            ( &from.upper.x )[axis] -= at;
        }
        turn[0] = turn[1] = 0;
        turn[2] = c < 0 ? length - c : s;
        turn[3] = c < 0 ? s : length + c;
    }
    else if ( is_far_off( &from ) )
    {
        return false;
    }
    query_turned_box t = clv_query_turn( half, turn );
    for ( int axis = 0; axis < 3; ++axis )
    {
        double reach = fabs( t.axes[0][axis] ) * half[0] + fabs( t.axes[1][axis] ) * half[1] +
            fabs( t.axes[2][axis] ) * half[2];
        if ( ( &from.lower.x )[axis] > reach || ( &from.upper.x )[axis] < -reach )
        {
            return false;
        }
    }
    for ( int i = 0; i < 6; ++i )
    {
        const double* n = t.faces[i].normal;
        double least = product( n[0], n[0] > 0 ? from.lower.x : from.upper.x );
        least += product( n[1], n[1] > 0 ? from.lower.y : from.upper.y );
        least += product( n[2], n[2] > 0 ? from.lower.z : from.upper.z );
        if ( least > half[i / 2] )
        {
            return false;
        }
    }
    return clv_query_turned_box_edges_meet( &t, &from );
}

static bool meets( const judge_world* world, const judge_question* q, const clv_aabb64* box, double* t )
{
    *t = 0;
    switch ( q->kind )
    {
    case CLV_QUERY_POINT:
    case CLV_QUERY_BOX: return clv_aabb64_overlap( q->box, *box );
    case CLV_QUERY_SPHERE:
    case CLV_QUERY_NEIGHBOURHOOD: return is_near( world, &q->box, box, q->radius, t );
    case CLV_QUERY_ORIENTED_BOX: return turned_meets( world, q, box );
    case CLV_QUERY_HALF_SPACES: return planes_meet( world, q, box );
    case CLV_QUERY_RAY:
    case CLV_QUERY_BOX_CAST: return slabs( world, q, box, t );
    default: return round_meets( world, q, box, t );
    }
}

uint32_t judge_find_all( const judge_world* world, const judge_question* q, const clv_filter* filter,
    bool as_given, clv_hit64* hits )
{
    uint32_t count = 0;
    for ( uint32_t slot = 0; slot < world->count; ++slot )
    {
        const clv_aabb64* box = as_given ? &world->seen_given[slot] : &world->seen_box[slot];
        double t = 0;
        if ( world->is_seen[slot] &&
            ( filter == NULL || judge_filters_agree( filter, &world->filters[slot] ) ) &&
            meets( world, q, box, &t ) )
        {
            hits[count++] = ( clv_hit64 ){ slot, t };
        }
    }
    return count;
}
