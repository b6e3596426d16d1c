// SPDX-License-Identifier: MIT
#include "query/query_shape.h"

#include <float.h>
#include <math.h>

enum
{
    BREAKS = 8,      // ends of a line and places where it enters or leaves a slab
    MOST_STEPS = 64, // of Newton's method; a graze halves its distance with each
};

// ---- a turned box

static double dot3( const double a[3], const double b[3] )
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

query_turned_box clv_query_turn( const double center[3], const double half[3], const double rotation[4] )
{
    double x = rotation[0], y = rotation[1], z = rotation[2], w = rotation[3];
    double length = sqrt( x * x + y * y + z * z + w * w );
    w = length > 0 ? w : 1;
    length = length > 0 ? length : 1;
    x /= length;
    y /= length;
    z /= length;
    w /= length;
    query_turned_box turned = {
        .center = { center[0], center[1], center[2] },
        .half = { half[0], half[1], half[2] },
        .axes = { { 1 - 2 * ( y * y + z * z ), 2 * ( x * y + w * z ), 2 * ( x * z - w * y ) },
            { 2 * ( x * y - w * z ), 1 - 2 * ( x * x + z * z ), 2 * ( y * z + w * x ) },
            { 2 * ( x * z + w * y ), 2 * ( y * z - w * x ), 1 - 2 * ( x * x + y * y ) } },
    };
    for ( int i = 0; i < 3; ++i )
    {
        double at = dot3( turned.axes[i], turned.center );
        query_plane* front = &turned.faces[2 * i];
        query_plane* back = &turned.faces[2 * i + 1];
        for ( int axis = 0; axis < 3; ++axis )
        {
            front->normal[axis] = turned.axes[i][axis];
            back->normal[axis] = -turned.axes[i][axis];
        }
        front->offset = turned.half[i] + at;
        back->offset = turned.half[i] - at;
    }
    return turned;
}

query_turned_box clv_query_turned_box( clv_vec3 center, clv_vec3 half, const float rotation[4] )
{
    const double at[3] = { (double)center.x, (double)center.y, (double)center.z };
    const double sides[3] = { (double)half.x, (double)half.y, (double)half.z };
    const double turn[4] = { (double)rotation[0], (double)rotation[1], (double)rotation[2],
        (double)rotation[3] };
    return clv_query_turn( at, sides, turn );
}

static float round_down( double value )
{
    float near = value < -FLT_MAX ? -INFINITY : value > FLT_MAX ? FLT_MAX : (float)value;
    return (double)near > value ? nextafterf( near, -INFINITY ) : near;
}

clv_aabb clv_query_turned_box_bound( const query_turned_box* turned )
{
    clv_aabb box = { { 0, 0, 0 }, { 0, 0, 0 } };
    for ( int axis = 0; axis < 3; ++axis )
    {
        double reach = 0;
        for ( int i = 0; i < 3; ++i )
        {
            reach += fabs( turned->axes[i][axis] ) * turned->half[i];
        }
        ( &box.lower.x )[axis] = round_down( turned->center[axis] - reach );
        ( &box.upper.x )[axis] = -round_down( -( turned->center[axis] + reach ) );
    }
    return box;
}

// One axis of the separating axis test: do the two shadows on it touch?
static bool shadows_touch( const query_turned_box* turned, const clv_aabb64* box, const double along[3] )
{
    double least = 0, most = 0, reach = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double lower = ( &box->lower.x )[axis], upper = ( &box->upper.x )[axis];
        double n = along[axis];
        least += n > 0 ? n * lower : n < 0 ? n * upper : 0;
        most += n > 0 ? n * upper : n < 0 ? n * lower : 0;
        reach += turned->half[axis] * fabs( dot3( turned->axes[axis], along ) );
    }
    double at = dot3( turned->center, along );
    return !( least > at + reach ) &&
        !( most < at - reach ); // no number: endless both ways, and so they touch
}

bool clv_query_turned_box_edges_meet64( const query_turned_box* turned, const clv_aabb64* box )
{
    for ( int i = 0; i < 3; ++i )
    {
        const double* edge = turned->axes[i];
        const double across[3][3] = { { 0, -edge[2], edge[1] }, { edge[2], 0, -edge[0] },
            { -edge[1], edge[0], 0 } };
        for ( int axis = 0; axis < 3; ++axis )
        {
            // Of parallel edges nothing can be said; the faces have told all.
            if ( dot3( across[axis], across[axis] ) > 1e-12 && !shadows_touch( turned, box, across[axis] ) )
            {
                return false;
            }
        }
    }
    return true;
}

// ---- a line and a box

// How far a place is outside a side, with its sign: 0 within.
static double outside( double at, double lower, double upper )
{
    return at < lower ? at - lower : at > upper ? at - upper : 0;
}

// Half the derivative of the squared distance along the line.
static double slope( const double a[3], const double d[3], double s, const clv_aabb64* box )
{
    double sum = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        if ( d[axis] != 0 )
        {
            sum +=
                d[axis] * outside( a[axis] + s * d[axis], ( &box->lower.x )[axis], ( &box->upper.x )[axis] );
        }
    }
    return sum;
}

// Where the line enters or leaves a slab between its ends, in order, with the ends.
static int find_breaks( const double a[3], const double d[3], const clv_aabb64* box, double breaks[BREAKS] )
{
    int count = 0;
    breaks[count++] = 0;
    for ( int i = 0; i < 6; ++i )
    {
        int axis = i % 3;
        double face = i < 3 ? ( &box->lower.x )[axis] : ( &box->upper.x )[axis];
        double s = d[axis] != 0 ? ( face - a[axis] ) / d[axis] : -1;
        if ( !( s > 0 && s < 1 ) )
        {
            continue;
        }
        int at = count++;
        for ( ; at > 0 && breaks[at - 1] > s; --at )
        {
            breaks[at] = breaks[at - 1];
        }
        breaks[at] = s;
    }
    breaks[count++] = 1;
    return count;
}

// Where on the line from a along d it is nearest to the box. The squared distance is convex, and its slope is a straight line
// between breaks: where it passes through 0 is exact.
static double nearest_on_line( const double a[3], const double d[3], const clv_aabb64* box )
{
    double from = 0, from_slope = slope( a, d, 0, box );
    if ( !( from_slope < 0 ) )
    {
        return 0;
    }
    double breaks[BREAKS];
    int count = find_breaks( a, d, box, breaks );
    for ( int i = 1; i < count; ++i )
    {
        double to_slope = slope( a, d, breaks[i], box );
        if ( to_slope >= 0 )
        {
            double way = breaks[i] - from;
            return from + way * ( -from_slope / ( to_slope - from_slope ) );
        }
        from = breaks[i];
        from_slope = to_slope;
    }
    return 1;
}

// The way from the box to the line, shifted by t times the motion, where it is shortest; its squared length.
static double gap_vector(
    const query_capsule* capsule, const double motion[3], double t, const clv_aabb64* box, double gap[3] )
{
    double a[3], d[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        a[axis] = capsule->a[axis] + t * motion[axis];
        d[axis] = capsule->b[axis] - capsule->a[axis];
    }
    double s = nearest_on_line( a, d, box ), sum = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        gap[axis] = outside( a[axis] + s * d[axis], ( &box->lower.x )[axis], ( &box->upper.x )[axis] );
        sum += gap[axis] * gap[axis];
    }
    return sum;
}

bool clv_query_capsule_meets64( const query_capsule* capsule, const clv_aabb64* box )
{
    const double still[3] = { 0, 0, 0 };
    double gap[3];
    return gap_vector( capsule, still, 0, box, gap ) <= capsule->radius * capsule->radius;
}

bool clv_query_capsule_cast64(
    const query_capsule* capsule, const double motion[3], double end, const clv_aabb64* box, double* time )
{
    double t = 0, gap[3];
    for ( int step = 0; step < MOST_STEPS; ++step )
    {
        double square = gap_vector( capsule, motion, t, box, gap );
        if ( square <= capsule->radius * capsule->radius )
        {
            *time = t;
            return true;
        }
        double distance = sqrt( square );
        double approach = -dot3( gap, motion ) / distance;
        double more = approach > 0 ? ( distance - capsule->radius ) / approach : INFINITY;
        if ( !( t + more <= end && more <= DBL_MAX ) )
        {
            return false;
        }
        if ( t + more == t )
        {
            break; // as near as doubles tell
        }
        t += more;
    }
    *time = t;
    return true;
}

// ---- boxes of floats

bool clv_query_turned_box_edges_meet( const query_turned_box* turned, const clv_aabb* box )
{
    const clv_aabb64 wide = query_widen( box );
    return clv_query_turned_box_edges_meet64( turned, &wide );
}

bool clv_query_capsule_meets( const query_capsule* capsule, const clv_aabb* box )
{
    const clv_aabb64 wide = query_widen( box );
    return clv_query_capsule_meets64( capsule, &wide );
}

bool clv_query_capsule_cast(
    const query_capsule* capsule, const double motion[3], double end, const clv_aabb* box, double* time )
{
    const clv_aabb64 wide = query_widen( box );
    return clv_query_capsule_cast64( capsule, motion, end, &wide, time );
}
