// SPDX-License-Identifier: MIT
#include "query/query_shape.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "base/double_double.h"

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

// ---- a line and a box where doubles are too few: a line so long that the rounding of a place on it is as
// large as the distance that is asked for. The same from the numbers as given and in about 104 bits; some
// twenty times as slow

enum
{
    LINE_STEPS = 128, // of Newton's method; a graze halves its distance with each
};

static const double PLACE_NOISE =
    0x1p-97; // what a place may be off by, as a part of the lengths it is made of
static const double STEP_BOUND =
    1 - 0x1p-50; // a step may come out so much too far: the time itself is compared in the end
static const double LEAST_STEP = 0x1p-100; // as a part of the time: so that it goes on

// From the line's beginning, in units that bring the lengths and the motion near 1: squares and products stay
// within the doubles.
typedef struct long_line
{
    double_double lower[3], upper[3]; // of the box
    double_double way[3];             // from a to b
    double motion[3];
    double radius;
    int unit, motion_unit; // exponents of two
} long_line;

typedef struct line_gap
{
    double_double axis[3], square;
    bool is_closed; // as near as the radius, as far as can be told
} line_gap;

// An infinite face stays one.
static double_double face_from( double face, double origin, int exponent )
{
    return base_is_finite( face ) ? dd_scale( dd_sum( face, -origin ), exponent ) : dd_of( face );
}

static int exponent_of( double value )
{
    int exponent = 0;
    frexp( value, &exponent );
    return exponent;
}

// How far the box is from the line's beginning along the axes, at most; 0 where it is beside it.
static double farthest_gap( const double a[3], const clv_aabb64* box )
{
    double most = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double above = ( &box->lower.x )[axis] - a[axis], below = a[axis] - ( &box->upper.x )[axis];
        double gap = above > below ? above : below;
        most = gap > most && base_is_finite( gap ) ? gap : most;
    }
    return most;
}

static long_line line_of( const query_capsule* capsule, const double motion[3], const clv_aabb64* box )
{
    long_line line = { .radius = capsule->radius };
    double most = fmax( capsule->radius, farthest_gap( capsule->a, box ) ), fastest = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        most = fmax( most, fabs( capsule->b[axis] - capsule->a[axis] ) );
        fastest = fmax( fastest, fabs( motion[axis] ) );
    }
    line.unit = exponent_of( most );
    line.motion_unit = exponent_of( fastest );
    line.radius = ldexp( capsule->radius, -line.unit );
    CLV_ASSERT( line.radius >= 0 && line.radius < 1 );
    for ( int axis = 0; axis < 3; ++axis )
    {
        double a = capsule->a[axis];
        line.lower[axis] = face_from( ( &box->lower.x )[axis], a, -line.unit );
        line.upper[axis] = face_from( ( &box->upper.x )[axis], a, -line.unit );
        line.way[axis] = dd_scale( dd_sum( capsule->b[axis], -a ), -line.unit );
        line.motion[axis] = ldexp( motion[axis], -line.motion_unit );
    }
    return line;
}

// A place on the line, shifted by t times the motion: how far it is outside a side, with its sign; 0 within.
static double_double outside_at( const long_line* line, int axis, double_double t, double_double s )
{
    double_double at =
        dd_add( dd_multiply( t, dd_of( line->motion[axis] ) ), dd_multiply( s, line->way[axis] ) );
    if ( dd_is_less( at, line->lower[axis] ) )
    {
        return dd_subtract( at, line->lower[axis] );
    }
    return dd_is_less( line->upper[axis], at ) ? dd_subtract( at, line->upper[axis] ) : dd_of( 0 );
}

// Half the derivative of the squared distance along the line.
static double_double slope_at( const long_line* line, double_double t, double_double s )
{
    double_double sum = dd_of( 0 );
    for ( int axis = 0; axis < 3; ++axis )
    {
        sum = dd_add( sum, dd_multiply( line->way[axis], outside_at( line, axis, t, s ) ) );
    }
    return sum;
}

// Where the line enters or leaves a slab between its ends, in order, with the ends.
static int breaks_of( const long_line* line, double_double t, double_double breaks[BREAKS] )
{
    int count = 0;
    breaks[count++] = dd_of( 0 );
    for ( int i = 0; i < 6; ++i )
    {
        int axis = i % 3;
        double_double face = i < 3 ? line->lower[axis] : line->upper[axis];
        if ( !base_is_finite( face.high ) || line->way[axis].high == 0 )
        {
            continue;
        }
        double_double from = dd_subtract( face, dd_multiply( t, dd_of( line->motion[axis] ) ) );
        double_double s = dd_divide( from, line->way[axis] );
        if ( !( dd_is_less( dd_of( 0 ), s ) && dd_is_less( s, dd_of( 1 ) ) ) )
        {
            continue;
        }
        int at = count++;
        for ( ; at > 0 && dd_is_less( s, breaks[at - 1] ); --at )
        {
            breaks[at] = breaks[at - 1];
        }
        breaks[at] = s;
    }
    breaks[count++] = dd_of( 1 );
    CLV_ASSERT( count <= BREAKS );
    return count;
}

// Where on the line it is nearest to the box: where the slope, straight between breaks, passes through 0.
static double_double nearest_place( const long_line* line, double_double t )
{
    double_double from = dd_of( 0 ), from_slope = slope_at( line, t, from );
    if ( !( from_slope.high < 0 ) )
    {
        return from;
    }
    double_double breaks[BREAKS];
    int count = breaks_of( line, t, breaks );
    for ( int i = 1; i < count; ++i )
    {
        double_double to_slope = slope_at( line, t, breaks[i] );
        if ( to_slope.high >= 0 )
        {
            double_double part = dd_divide( dd_negative( from_slope ), dd_subtract( to_slope, from_slope ) );
            return dd_add( from, dd_multiply( part, dd_subtract( breaks[i], from ) ) );
        }
        from = breaks[i];
        from_slope = to_slope;
    }
    return dd_of( 1 );
}

// The part of a gap that is sure.
static double_double sure_gap(
    const long_line* line, int axis, double_double t, double_double s, double_double gap )
{
    double noise =
        PLACE_NOISE * ( fabs( t.high * line->motion[axis] ) + fabs( s.high * line->way[axis].high ) );
    double_double size = gap.high < 0 ? dd_negative( gap ) : gap;
    return size.high > noise ? dd_subtract( size, dd_of( noise ) ) : dd_of( 0 );
}

// Touching counts, and with it what cannot be told from touching.
static line_gap gap_at( const long_line* line, double_double t )
{
    double_double s = nearest_place( line, t ), sure = dd_of( 0 );
    double_double radius = { line->radius, PLACE_NOISE * line->radius };
    line_gap gap = { .square = dd_of( 0 ) };
    for ( int axis = 0; axis < 3; ++axis )
    {
        double_double whole = outside_at( line, axis, t, s ), part = sure_gap( line, axis, t, s, whole );
        gap.axis[axis] = whole;
        gap.square = dd_add( gap.square, dd_multiply( whole, whole ) );
        sure = dd_add( sure, dd_multiply( part, part ) );
    }
    gap.is_closed = !dd_is_less( dd_multiply( radius, radius ), sure );
    return gap;
}

bool clv_query_line_meets( const query_capsule* capsule, const clv_aabb64* box )
{
    const double still[3] = { 0, 0, 0 };
    long_line line = line_of( capsule, still, box );
    return gap_at( &line, dd_of( 0 ) ).is_closed;
}

// How fast the distance shrinks.
static double_double approach_of( const long_line* line, const line_gap* gap, double_double distance )
{
    double_double sum = dd_of( 0 );
    for ( int axis = 0; axis < 3; ++axis )
    {
        sum = dd_subtract( sum, dd_multiply( gap->axis[axis], dd_of( line->motion[axis] ) ) );
    }
    return dd_divide( sum, distance );
}

bool clv_query_line_cast(
    const query_capsule* capsule, const double motion[3], double end, const clv_aabb64* box, double* time )
{
    long_line line = line_of( capsule, motion, box );
    int unit = line.unit - line.motion_unit; // of times
    double_double t = dd_of( 0 );
    for ( int step = 0; step < LINE_STEPS; ++step )
    {
        line_gap gap = gap_at( &line, t );
        if ( gap.is_closed )
        {
            break;
        }
        double_double distance = dd_root( gap.square );
        double_double approach = approach_of( &line, &gap, distance );
        double_double more = dd_subtract( distance, dd_of( line.radius ) );
        more = approach.high > 0 ? dd_divide( more, approach ) : dd_of( INFINITY );
        bool is_away = !base_is_finite( more.high );
        t = dd_add( t, more.high > LEAST_STEP * t.high ? more : dd_of( LEAST_STEP * t.high ) );
        if ( is_away || ldexp( t.high * STEP_BOUND, unit ) > end )
        {
            return false;
        }
    }
    CLV_ASSERT( t.high >= 0 );
    *time = ldexp( dd_round( t ), unit );
    return *time <= end;
}
