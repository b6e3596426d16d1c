// SPDX-License-Identifier: MIT
// Vectors in double. Bodies, boxes and hulls are stored in float; what is computed from them (simplices,
// volumes of thin tetrahedra, rotations fitted to particles) loses half its digits on the way, so it is
// computed in double. Only + - * / and square roots appear in this folder, each of them rounded the same way
// everywhere.
#pragma once

#include "base/exact.h"
#include "cleave/geom.h"

#include <math.h>

typedef struct math_vec3
{
    double x, y, z;
} math_vec3;

static inline math_vec3 math_make( double x, double y, double z )
{
    math_vec3 v = { x, y, z };
    return v;
}

static inline math_vec3 math_widen( clv_vec3 v )
{
    return math_make( (double)v.x, (double)v.y, (double)v.z );
}

/// GCC 12, from -O2 on, makes vectors of neighbouring conversions and then takes double to float to double for nothing:
/// what was narrowed and widened again was never rounded. It does not see through this.
#if defined( __GNUC__ ) && !defined( __clang__ )
#define MATH_ROUNDED( value ) __asm__( "" : "+m"( value ) )
#else
#define MATH_ROUNDED( value ) (void)( value )
#endif

static inline clv_vec3 math_narrow( math_vec3 v )
{
    clv_vec3 narrow = { (float)v.x, (float)v.y, (float)v.z };
    MATH_ROUNDED( narrow );
    return narrow;
}

static inline math_vec3 math_add( math_vec3 a, math_vec3 b )
{
    return math_make( a.x + b.x, a.y + b.y, a.z + b.z );
}

static inline math_vec3 math_sub( math_vec3 a, math_vec3 b )
{
    return math_make( a.x - b.x, a.y - b.y, a.z - b.z );
}

static inline math_vec3 math_neg( math_vec3 v )
{
    return math_make( -v.x, -v.y, -v.z );
}

static inline math_vec3 math_scale( math_vec3 v, double factor )
{
    return math_make( v.x * factor, v.y * factor, v.z * factor );
}

/// a + b * factor
static inline math_vec3 math_add_scaled( math_vec3 a, math_vec3 b, double factor )
{
    return math_make( a.x + b.x * factor, a.y + b.y * factor, a.z + b.z * factor );
}

static inline double math_dot( math_vec3 a, math_vec3 b )
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline math_vec3 math_cross( math_vec3 a, math_vec3 b )
{
    return math_make( a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x );
}

static inline double math_length_squared( math_vec3 v )
{
    return math_dot( v, v );
}

static inline double math_length( math_vec3 v )
{
    return sqrt( math_dot( v, v ) );
}

static inline double math_max( double a, double b )
{
    return a > b ? a : b;
}

static inline double math_min( double a, double b )
{
    return a < b ? a : b;
}

static inline double math_abs( double value )
{
    return value < 0.0 ? -value : value;
}

/// The largest of |x|, |y|, |z|.
static inline double math_largest( math_vec3 v )
{
    return math_max( math_max( math_abs( v.x ), math_abs( v.y ) ), math_abs( v.z ) );
}

/// Length 1, or `otherwise` for the zero vector. Scaled first, so that tiny and huge vectors keep their
/// digits.
static inline math_vec3 math_normalize( math_vec3 v, math_vec3 otherwise )
{
    double largest = math_largest( v );
    if ( !( largest > 0.0 ) || largest > 1e300 )
    {
        return otherwise;
    }
    math_vec3 scaled = math_make( v.x / largest, v.y / largest, v.z / largest );
    return math_scale( scaled, 1.0 / math_length( scaled ) );
}

/// Some unit vector at a right angle to the unit vector `v`.
static inline math_vec3 math_perpendicular( math_vec3 v )
{
    math_vec3 axis = math_abs( v.x ) < 0.6 ? math_make( 1, 0, 0 ) : math_make( 0, 1, 0 );
    return math_normalize( math_cross( v, axis ), math_make( 0, 0, 1 ) );
}
