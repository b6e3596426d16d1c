// SPDX-License-Identifier: MIT
// A line and a box where doubles are too few: a line so long that the rounding of a place on it is as large
// as the distance that is asked for. The same as query_shape.c has in double, from the numbers as given and
// in about 104 bits; some twenty times as slow.
#include "query/query_shape.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "base/double_double.h"

enum
{
    LINE_BREAKS = 8,  // ends of a line and places where it enters or leaves a slab
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
static int breaks_of( const long_line* line, double_double t, double_double breaks[LINE_BREAKS] )
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
    CLV_ASSERT( count <= LINE_BREAKS );
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
    double_double breaks[LINE_BREAKS];
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
