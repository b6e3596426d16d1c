// SPDX-License-Identifier: MIT
#include "query/query_shape.h"

#include "base/assertion.h"

#include <float.h>
#include <math.h>

enum
{
    BREAKS = 8,      // ends of a line and places where it enters or leaves a slab
    MOST_STEPS = 64, // of Newton's method; a graze halves its distance with each
};

// ---- two boxes

double clv_query_scaled_length( double x, double y, double z )
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

// ---- a turned box

static double dot3( const double a[3], const double b[3] )
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

query_turned_box clv_query_turn( const double half[3], const double rotation[4] )
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
        .half = { half[0], half[1], half[2] },
        .axes = { { 1 - 2 * ( y * y + z * z ), 2 * ( x * y + w * z ), 2 * ( x * z - w * y ) },
            { 2 * ( x * y - w * z ), 1 - 2 * ( x * x + z * z ), 2 * ( y * z + w * x ) },
            { 2 * ( x * z + w * y ), 2 * ( y * z - w * x ), 1 - 2 * ( x * x + y * y ) } },
    };
    CLV_ASSERT( half[0] >= 0 && half[1] >= 0 && half[2] >= 0 );
    for ( int i = 0; i < 3; ++i )
    {
        query_plane* front = &turned.faces[2 * i];
        query_plane* back = &turned.faces[2 * i + 1];
        for ( int axis = 0; axis < 3; ++axis )
        {
            front->normal[axis] = turned.axes[i][axis];
            back->normal[axis] = -turned.axes[i][axis];
            turned.reach[axis] += fabs( turned.axes[i][axis] ) * half[i];
        }
        front->offset = back->offset = half[i];
    }
    return turned;
}

bool clv_query_turned_box_faces_meet( const query_turned_box* turned, const clv_aabb64* from )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        if ( ( &from->lower.x )[axis] > turned->reach[axis] ||
            ( &from->upper.x )[axis] < -turned->reach[axis] )
        {
            return false;
        }
    }
    const clv_aabb64 near = query_near_faces( from );
    for ( int i = 0; i < 6; ++i )
    {
        if ( query_least_dot( turned->faces[i].normal, &near ) > turned->faces[i].offset )
        {
            return false;
        }
    }
    return true;
}

// One axis of the separating axis test, from the turned box's centre: do the two shadows on it touch?
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
    return !( least > reach ) && !( most < -reach ); // no number: endless both ways, and so they touch
}

bool clv_query_turned_box_edges_meet( const query_turned_box* turned, const clv_aabb64* from )
{
    for ( int i = 0; i < 3; ++i )
    {
        const double* edge = turned->axes[i];
        const double across[3][3] = { { 0, -edge[2], edge[1] }, { edge[2], 0, -edge[0] },
            { -edge[1], edge[0], 0 } };
        for ( int axis = 0; axis < 3; ++axis )
        {
            // Of parallel edges nothing can be said; the faces have told all.
            if ( dot3( across[axis], across[axis] ) > 1e-12 && !shadows_touch( turned, from, across[axis] ) )
            {
                return false;
            }
        }
    }
    return true;
}

// ---- a line and a box

static const double LINE_NOISE = 0x1p-48; // what a place on a line may be off by, as a part of the line
static const double TIME_NOISE = 0x1p-51; // the same of a place on its way, along each axis for itself
static const double TIME_BOUND =
    1 - 0x1p-28; // a step may come out so much too far: the time itself is compared in the end
static const double LONG_LINE = 1024;  // lines of more than so many distances are looked at with more bits
static const double LONG_WAY = 0x1p20; // and so is what ends nearer than such a part of its line and its way

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
    CLV_ASSERT( count <= BREAKS );
    return count;
}

// Where on the line from a along d it is nearest to the box. The squared distance is convex, and its slope is
// a straight line between breaks: where it passes through 0 is exact.
static double nearest_on_line( const double a[3], const double d[3], const clv_aabb64* box )
{
    double from = 0, from_slope = slope( a, d, 0, box );
    if ( !( from_slope < 0 ) )
    {
        return 0;
    }
    double end_slope = slope( a, d, 1, box );
    if ( end_slope < 0 )
    {
        return 1;
    }
    double breaks[BREAKS];
    int count = find_breaks( a, d, box, breaks );
    for ( int i = 1; i < count; ++i )
    {
        double to_slope = i < count - 1 ? slope( a, d, breaks[i], box ) : end_slope;
        CLV_ASSERT( breaks[i] >= from ); // in order
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

// A line as seen from its beginning, which loses nothing of boxes nearby.
typedef struct near_line
{
    clv_aabb64 box;
    double way[3];
    double length; // sum of the axes
} near_line;

static near_line line_from( const query_capsule* capsule, const clv_aabb64* box )
{
    near_line line = { .length = 0 };
    for ( int axis = 0; axis < 3; ++axis )
    {
        double a = capsule->a[axis];
        ( &line.box.lower.x )[axis] = ( &box->lower.x )[axis] - a;
        ( &line.box.upper.x )[axis] = ( &box->upper.x )[axis] - a;
        line.way[axis] = capsule->b[axis] - a;
        line.length += fabs( line.way[axis] );
    }
    return line;
}

// The way from the box to the line, shifted by t times the motion, where it is shortest; its squared length.
static double gap_vector( const near_line* line, const double motion[3], double t, double gap[3] )
{
    const clv_aabb64* box = &line->box;
    double a[3], sum = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        a[axis] = t * motion[axis];
    }
    double s = line->length > 0 ? nearest_on_line( a, line->way, box ) : 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        gap[axis] =
            outside( a[axis] + s * line->way[axis], ( &box->lower.x )[axis], ( &box->upper.x )[axis] );
        sum += gap[axis] * gap[axis];
    }
    return sum;
}

// Is a squared distance so near that of the radius that the rounding of places on the line decides?
static bool is_doubtful( const near_line* line, double square, double radius )
{
    CLV_ASSERT( radius >= 0 );
    double noise = LINE_NOISE * line->length;
    return fabs( square - radius * radius ) <= noise * ( 2 * radius + noise ) && noise > 0;
}

bool clv_query_capsule_meets( const query_capsule* capsule, const clv_aabb64* box )
{
    const double still[3] = { 0, 0, 0 };
    double gap[3];
    near_line line = line_from( capsule, box );
    double square = gap_vector( &line, still, 0, gap );
    return is_doubtful( &line, square, capsule->radius ) ? clv_query_line_meets( capsule, box )
                                                         : square <= capsule->radius * capsule->radius;
}

// Is the line as near as the radius, as far as doubles tell places that far from its beginning apart?
static bool is_closed(
    const near_line* line, double radius, const double motion[3], double t, const double gap[3] )
{
    double sum = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double noise = TIME_NOISE * ( fabs( line->way[axis] ) + fabs( t * motion[axis] ) );
        double sure = fabs( gap[axis] ) > noise ? fabs( gap[axis] ) - noise : 0;
        sum += sure * sure;
    }
    return sum <= radius * radius * ( 1 + TIME_NOISE );
}

bool clv_query_capsule_cast(
    const query_capsule* capsule, const double motion[3], double end, const clv_aabb64* box, double* time )
{
    double gap[3], t = 0, radius = capsule->radius, most = LONG_LINE;
    near_line line = line_from( capsule, box );
    CLV_ASSERT( end >= 0 );
    double square = gap_vector( &line, motion, t, gap );
    if ( line.length > 0 && is_doubtful( &line, square, radius ) )
    {
        return clv_query_line_cast( capsule, motion, end, box, time );
    }
    if ( square <= radius * radius )
    {
        *time = 0;
        return true;
    }
    double speed = fabs( motion[0] ) + fabs( motion[1] ) + fabs( motion[2] );
    for ( int step = 0; step < MOST_STEPS; ++step )
    {
        CLV_ASSERT( square >= 0 && t >= 0 );
        double distance = sqrt( square ), left = distance - radius, way = line.length + t * speed;
        if ( way > most * distance )
        {
            break;
        }
        if ( left <= TIME_NOISE * ( way + distance ) && step > 0 &&
            ( left <= 0 || is_closed( &line, radius, motion, t, gap ) ) )
        {
            *time = t;
            return t <= end;
        }
        double approach = -dot3( gap, motion ), more = approach > 0 ? left * distance / approach : INFINITY;
        t += more > t * DBL_EPSILON ? more : t * DBL_EPSILON;
        if ( !( t * TIME_BOUND <= end && more <= DBL_MAX ) )
        {
            return false;
        }
        square = gap_vector( &line, motion, t, gap );
        most = LONG_WAY;
    }
    return clv_query_line_cast( capsule, motion, end, box, time );
}
