// SPDX-License-Identifier: MIT
// From the question's own origin, where that is asked for: differences of doubles are exact nearby.
#include "query/query_wide_box.h"

#include "base/assertion.h"
#include "base/bits.h"

double clv_query_wide_scaled_length( double x, double y, double z )
{
    CLV_ASSERT( x >= 0 && y >= 0 && z >= 0 );
    double most = x > y ? x : y;
    most = z > most ? z : most;
    if ( most == 0 || !base_is_finite( most ) )
    {
        return most;
    }
    int exponent;
    frexp( most, &exponent );
    x = ldexp( x, -exponent );
    y = ldexp( y, -exponent );
    z = ldexp( z, -exponent );
    return ldexp( sqrt( x * x + y * y + z * z ), exponent );
}

double clv_query_wide_distance( const clv_aabb64* a, const clv_aabb64* b )
{
    double x = query_wide_gap( a->lower.x, a->upper.x, b->lower.x, b->upper.x );
    double y = query_wide_gap( a->lower.y, a->upper.y, b->lower.y, b->upper.y );
    double z = query_wide_gap( a->lower.z, a->upper.z, b->lower.z, b->upper.z );
    return query_wide_length( x * x + y * y + z * z, x, y, z );
}

clv_aabb64 clv_query_wide_from( const clv_aabb64* box, const double origin[3] )
{
    return ( clv_aabb64 ){
        { box->lower.x - origin[0], box->lower.y - origin[1], box->lower.z - origin[2] },
        { box->upper.x - origin[0], box->upper.y - origin[1], box->upper.z - origin[2] },
    };
}

// Finite faces no farther than the shapes reach, so that no product of theirs is infinite.
static double clamp_face( double face )
{
    double clamped = face < -QUERY_WIDE_MOST ? -QUERY_WIDE_MOST
        : face > QUERY_WIDE_MOST             ? QUERY_WIDE_MOST
                                             : face;
    return base_is_finite( face ) ? clamped : face;
}

static double least_dot64( const double* n, const clv_aabb64* box )
{
    double least = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double face = n[axis] > 0 ? ( &box->lower.x )[axis] : ( &box->upper.x )[axis];
        least += n[axis] != 0 ? n[axis] * clamp_face( face ) : 0;
    }
    return least;
}

bool clv_query_wide_planes_meet( const query_wide_probe* p, const clv_aabb64* from )
{
    CLV_ASSERT( p->look == WIDE_PLANES );
    for ( uint32_t i = 0; i < p->plane_count; ++i )
    {
        if ( least_dot64( &p->planes[i].normal.x, from ) > p->planes[i].offset )
        {
            return false;
        }
    }
    return true;
}

// The boxes' faces and the turned one's.
bool clv_query_wide_faces_meet( const query_wide_probe* p, const clv_aabb64* from )
{
    CLV_ASSERT( p->look == WIDE_TURNED );
    for ( int axis = 0; axis < 3; ++axis )
    {
        if ( ( &from->lower.x )[axis] > p->turned.reach[axis] ||
            ( &from->upper.x )[axis] < -p->turned.reach[axis] )
        {
            return false;
        }
    }
    for ( int i = 0; i < 6; ++i )
    {
        if ( least_dot64( p->turned.faces[i].normal, from ) > p->turned.faces[i].offset )
        {
            return false;
        }
    }
    return true;
}

bool clv_query_wide_cast_sides( const query_wide_probe* p, const clv_aabb64* box, double reach, double* near )
{
    CLV_ASSERT( p->look == WIDE_CAST );
    const double *lower = &box->lower.x, *upper = &box->upper.x;
    double from = 0, to = reach;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double near_face = p->is_forward[axis] ? lower[axis] : upper[axis];
        double far_face = p->is_forward[axis] ? upper[axis] : lower[axis];
        double first = ( ( near_face - p->near_place[axis] ) - p->near_more[axis] ) * p->near_inverse[axis];
        double last = ( ( far_face - p->far_place[axis] ) - p->far_more[axis] ) * p->far_inverse[axis];
        from = first > from ? first : from; // no number, 0 times infinity: on the edge of what does not move
        to = last < to ? last : to;
    }
    *near = from;
    return from <= to;
}
