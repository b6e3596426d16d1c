// SPDX-License-Identifier: MIT
// The orientation operator of appendix A of "Detecção de Colisão usando Sweep and Prune com k-DOPs em GPU"
// (COPPE 2021), but without its epsilon. The determinant in double decides nearly always; where its sign is
// within the rounding error, it is summed again without any, after Shewchuk, "Adaptive Precision
// Floating-Point Arithmetic and Fast Robust Geometric Predicates" (1997). Floats make that short: a product
// of two is exact in double, and a product of three is a sum of two doubles, with no overflow or underflow
// for any finite coordinates.
#include "math/orient.h"

// A sum of doubles without rounding: parts that do not overlap, by rising magnitude.
typedef struct expansion
{
    double parts[64];
    int count;
} expansion;

static void add_exact( expansion* e, double value )
{
    // Grow-expansion with zero elimination: `value` meets each part from the smallest up and leaves the
    // rounding behind.
    int kept = 0;
    for ( int i = 0; i < e->count; ++i )
    {
        double sum = value + e->parts[i];
        double part_seen = sum - value;
        double value_seen = sum - part_seen;
        double rest = ( value - value_seen ) + ( e->parts[i] - part_seen );
        value = sum;
        if ( rest != 0.0 )
        {
            e->parts[kept++] = rest;
        }
    }
    if ( value != 0.0 )
    {
        e->parts[kept++] = value;
    }
    e->count = kept;
}

static int sign_of( const expansion* e )
{
    return e->count == 0 ? 0 : e->parts[e->count - 1] > 0.0 ? 1 : -1;
}

// `xy` is a product of two floats (48 bits), z a float. Dekker's split halves xy; 26 bits times 24 are exact.
static void add_product( expansion* e, double xy, double z )
{
    double big = xy * 134217729.0;
    double head = big - ( big - xy );
    add_exact( e, head * z );
    add_exact( e, ( xy - head ) * z );
}

static double value_of( const expansion* e )
{
    double sum = 0.0;
    for ( int i = 0; i < e->count; ++i )
    {
        sum += e->parts[i];
    }
    return sum;
}

static expansion exact_orient2( double ax, double ay, double bx, double by, double cx, double cy )
{
    expansion e = { { 0 }, 0 };
    add_exact( &e, ax * by ), add_exact( &e, -( ay * bx ) );
    add_exact( &e, bx * cy ), add_exact( &e, -( by * cx ) );
    add_exact( &e, cx * ay ), add_exact( &e, -( cy * ax ) );
    return e;
}

static int orient2( double ax, double ay, double bx, double by, double cx, double cy )
{
    double left = ( ax - cx ) * ( by - cy );
    double right = ( ay - cy ) * ( bx - cx );
    double determinant = left - right;
    double bound = 3.4e-16 * ( math_abs( left ) + math_abs( right ) ); // Shewchuk's ccwerrboundA
    if ( determinant > bound || -determinant > bound )
    {
        return determinant > 0.0 ? 1 : -1;
    }
    expansion e = exact_orient2( ax, ay, bx, by, cx, cy );
    return sign_of( &e );
}

int clv_math_orient2( clv_vec3 a, clv_vec3 b, clv_vec3 c )
{
    return orient2( (double)a.x, (double)a.y, (double)b.x, (double)b.y, (double)c.x, (double)c.y );
}

int clv_math_orient2_along( int axis, clv_vec3 a, clv_vec3 b, clv_vec3 c )
{
    math_vec3 p = math_widen( a ), q = math_widen( b ), r = math_widen( c );
    return axis == 0 ? orient2( p.y, p.z, q.y, q.z, r.y, r.z )
        : axis == 1  ? orient2( p.z, p.x, q.z, q.x, r.z, r.x )
                     : orient2( p.x, p.y, q.x, q.y, r.x, r.y );
}

int clv_math_is_collinear( clv_vec3 a, clv_vec3 b, clv_vec3 c )
{
    return clv_math_orient2_along( 2, a, b, c ) == 0 && clv_math_orient2_along( 0, a, b, c ) == 0 &&
        clv_math_orient2_along( 1, a, b, c ) == 0;
}

math_vec3 clv_math_triangle_normal( clv_vec3 a, clv_vec3 b, clv_vec3 c )
{
    math_vec3 p = math_widen( a ), q = math_widen( b ), r = math_widen( c );
    math_vec3 u = math_sub( q, p ), v = math_sub( r, p ), normal = math_cross( u, v );
    // Products are off by a rounding each. Of a sliver they nearly cancel, and little else is left.
    if ( math_largest( normal ) > 1e-7 * math_largest( u ) * math_largest( v ) )
    {
        return normal;
    }
    expansion x = exact_orient2( p.y, p.z, q.y, q.z, r.y, r.z );
    expansion y = exact_orient2( p.z, p.x, q.z, q.x, r.z, r.x );
    expansion z = exact_orient2( p.x, p.y, q.x, q.y, r.x, r.y );
    return math_make( value_of( &x ), value_of( &y ), value_of( &z ) );
}

// sign * det[ a b c ]: the six products of Sarrus' rule
static void add_determinant( expansion* e, math_vec3 a, math_vec3 b, math_vec3 c, double sign )
{
    add_product( e, a.x * b.y, sign * c.z ), add_product( e, a.x * b.z, -sign * c.y );
    add_product( e, a.y * b.z, sign * c.x ), add_product( e, a.y * b.x, -sign * c.z );
    add_product( e, a.z * b.x, sign * c.y ), add_product( e, a.z * b.y, -sign * c.x );
}

static int exact_orient3( math_vec3 a, math_vec3 b, math_vec3 c, math_vec3 d )
{
    // det[ b-a, c-a, d-a ] = det[ b c d ] - det[ a c d ] + det[ a b d ] - det[ a b c ]
    expansion e = { { 0 }, 0 };
    add_determinant( &e, b, c, d, 1.0 );
    add_determinant( &e, a, c, d, -1.0 );
    add_determinant( &e, a, b, d, 1.0 );
    add_determinant( &e, a, b, c, -1.0 );
    return sign_of( &e );
}

int clv_math_orient3( clv_vec3 a, clv_vec3 b, clv_vec3 c, clv_vec3 d )
{
    math_vec3 wa = math_widen( a ), wb = math_widen( b ), wc = math_widen( c ), wd = math_widen( d );
    math_vec3 p = math_sub( wb, wa ), q = math_sub( wc, wa ), r = math_sub( wd, wa );
    double xy = p.x * q.y, yx = p.y * q.x, yz = p.y * q.z, zy = p.z * q.y, zx = p.z * q.x, xz = p.x * q.z;
    double determinant = ( yz - zy ) * r.x + ( zx - xz ) * r.y + ( xy - yx ) * r.z;
    double permanent = ( math_abs( yz ) + math_abs( zy ) ) * math_abs( r.x ) +
        ( math_abs( zx ) + math_abs( xz ) ) * math_abs( r.y ) +
        ( math_abs( xy ) + math_abs( yx ) ) * math_abs( r.z );
    double bound = 7.8e-16 * permanent; // Shewchuk's o3derrboundA
    if ( determinant > bound || -determinant > bound )
    {
        return determinant > 0.0 ? 1 : -1;
    }
    return exact_orient3( wa, wb, wc, wd );
}
