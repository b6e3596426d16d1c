// SPDX-License-Identifier: MIT
// Vectors, matrices, rotations and poses in double. Bodies, boxes and hulls are stored in float; what is
// computed from them (simplices, volumes of thin tetrahedra, rotations fitted to particles) loses half its
// digits on the way, so it is computed in double.
//
// The files of this folder are C and OpenCL C: libraries include them, and cmake/kernels.cmake puts them in
// front of the kernels that need them. So they use what both languages have: no tables (OpenCL C keeps those
// in an address space of their own), no function of the C library but sqrt, #include and #pragma once for C
// alone. Only + - * / and square roots appear, each of them rounded the same way everywhere, and no product
// is contracted with a sum: base/exact.h sees to it in C, common.cl on a device.
#ifdef __OPENCL_C_VERSION__
#define SOLID static __attribute__( ( unused ) ) // not every program needs all of them
#define SOLID_GLOBAL __global
#define CLV_ASSERT( condition ) (void)0
typedef uint solid_u32;
typedef ushort solid_u16;
#else
#pragma once
#include "base/assertion.h"
#include "base/exact.h"
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#define SOLID static inline
#define SOLID_GLOBAL
typedef uint32_t solid_u32;
typedef uint16_t solid_u16;
#endif

// ---- numbers and vectors

typedef struct math_vec3
{
    double x, y, z;
} math_vec3;

SOLID double math_max( double a, double b )
{
    return a > b ? a : b;
}

SOLID double math_min( double a, double b )
{
    return a < b ? a : b;
}

SOLID double math_abs( double value )
{
    return value < 0.0 ? -value : value;
}

SOLID math_vec3 math_make( double x, double y, double z )
{
    math_vec3 v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}

// Point `index` of an array of three floats each.
SOLID math_vec3 math_load( SOLID_GLOBAL const float* points, solid_u32 index )
{
    SOLID_GLOBAL const float* from = points + 3 * (size_t)index;
    return math_make( (double)from[0], (double)from[1], (double)from[2] );
}

SOLID math_vec3 math_add( math_vec3 a, math_vec3 b )
{
    return math_make( a.x + b.x, a.y + b.y, a.z + b.z );
}

SOLID math_vec3 math_sub( math_vec3 a, math_vec3 b )
{
    return math_make( a.x - b.x, a.y - b.y, a.z - b.z );
}

SOLID math_vec3 math_neg( math_vec3 v )
{
    return math_make( -v.x, -v.y, -v.z );
}

SOLID math_vec3 math_scale( math_vec3 v, double factor )
{
    return math_make( v.x * factor, v.y * factor, v.z * factor );
}

/// a + b * factor
SOLID math_vec3 math_add_scaled( math_vec3 a, math_vec3 b, double factor )
{
    return math_make( a.x + b.x * factor, a.y + b.y * factor, a.z + b.z * factor );
}

SOLID double math_dot( math_vec3 a, math_vec3 b )
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

SOLID math_vec3 math_cross( math_vec3 a, math_vec3 b )
{
    return math_make( a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x );
}

SOLID double math_length_squared( math_vec3 v )
{
    return math_dot( v, v );
}

SOLID double math_length( math_vec3 v )
{
    return sqrt( math_dot( v, v ) );
}

/// The largest of |x|, |y|, |z|.
SOLID double math_largest( math_vec3 v )
{
    return math_max( math_max( math_abs( v.x ), math_abs( v.y ) ), math_abs( v.z ) );
}

/// Length 1, or `otherwise` for the zero vector. Scaled first, so that tiny and huge vectors keep their
/// digits.
SOLID math_vec3 math_normalize( math_vec3 v, math_vec3 otherwise )
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
SOLID math_vec3 math_perpendicular( math_vec3 v )
{
    math_vec3 axis = math_abs( v.x ) < 0.6 ? math_make( 1, 0, 0 ) : math_make( 0, 1, 0 );
    return math_normalize( math_cross( v, axis ), math_make( 0, 0, 1 ) );
}

// ---- matrices

/// Three rows of three; vectors are columns and stand on the right: math_apply( m, v ) is m v.
typedef struct math_mat3
{
    double m[3][3];
} math_mat3;

/// The same number on the diagonal, zero elsewhere.
SOLID math_mat3 math_diagonal( double value )
{
    math_mat3 diagonal;
    for ( int i = 0; i < 9; ++i )
    {
        diagonal.m[i / 3][i % 3] = i % 4 == 0 ? value : 0.0;
    }
    return diagonal;
}

SOLID math_mat3 math_identity( void )
{
    return math_diagonal( 1.0 );
}

SOLID math_vec3 math_apply( const math_mat3* a, math_vec3 v )
{
    return math_make( a->m[0][0] * v.x + a->m[0][1] * v.y + a->m[0][2] * v.z,
        a->m[1][0] * v.x + a->m[1][1] * v.y + a->m[1][2] * v.z,
        a->m[2][0] * v.x + a->m[2][1] * v.y + a->m[2][2] * v.z );
}

/// The transpose of `a` times v: for a rotation, the way back.
SOLID math_vec3 math_apply_transposed( const math_mat3* a, math_vec3 v )
{
    return math_make( a->m[0][0] * v.x + a->m[1][0] * v.y + a->m[2][0] * v.z,
        a->m[0][1] * v.x + a->m[1][1] * v.y + a->m[2][1] * v.z,
        a->m[0][2] * v.x + a->m[1][2] * v.y + a->m[2][2] * v.z );
}

SOLID math_vec3 math_column( const math_mat3* a, int index )
{
    return math_make( a->m[0][index], a->m[1][index], a->m[2][index] );
}

SOLID math_mat3 math_transpose( const math_mat3* a )
{
    math_mat3 t;
    for ( int i = 0; i < 9; ++i )
    {
        t.m[i / 3][i % 3] = a->m[i % 3][i / 3];
    }
    return t;
}

SOLID math_mat3 math_multiply( const math_mat3* a, const math_mat3* b )
{
    math_mat3 product;
    for ( int row = 0; row < 3; ++row )
    {
        for ( int column = 0; column < 3; ++column )
        {
            product.m[row][column] = a->m[row][0] * b->m[0][column] + a->m[row][1] * b->m[1][column] +
                a->m[row][2] * b->m[2][column];
        }
    }
    return product;
}

/// a += p qᵀ
SOLID void math_add_outer( math_mat3* a, math_vec3 p, math_vec3 q )
{
    a->m[0][0] += p.x * q.x, a->m[0][1] += p.x * q.y, a->m[0][2] += p.x * q.z;
    a->m[1][0] += p.y * q.x, a->m[1][1] += p.y * q.y, a->m[1][2] += p.y * q.z;
    a->m[2][0] += p.z * q.x, a->m[2][1] += p.z * q.y, a->m[2][2] += p.z * q.z;
}

SOLID double math_determinant( const math_mat3* a )
{
    return a->m[0][0] * ( a->m[1][1] * a->m[2][2] - a->m[1][2] * a->m[2][1] ) -
        a->m[0][1] * ( a->m[1][0] * a->m[2][2] - a->m[1][2] * a->m[2][0] ) +
        a->m[0][2] * ( a->m[1][0] * a->m[2][1] - a->m[1][1] * a->m[2][0] );
}

// ---- rotations and poses

/// A rotation: w is the real part. q and -q turn the same way.
typedef struct math_quat
{
    double x, y, z, w;
} math_quat;

SOLID math_quat math_quat_make( double x, double y, double z, double w )
{
    math_quat q;
    q.x = x;
    q.y = y;
    q.z = z;
    q.w = w;
    return q;
}

SOLID math_quat math_quat_identity( void )
{
    return math_quat_make( 0, 0, 0, 1 );
}

/// Length 1; the identity for a length that is zero, infinite or not a number.
SOLID math_quat math_quat_normalize( math_quat q )
{
    double squared = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    if ( !( squared > 1e-200 && squared < 1e200 ) )
    {
        return math_quat_identity();
    }
    double factor = 1.0 / sqrt( squared );
    return math_quat_make( q.x * factor, q.y * factor, q.z * factor, q.w * factor );
}

/// The matrix of a unit quaternion.
SOLID math_mat3 math_quat_matrix( math_quat q )
{
    double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    math_mat3 m;
    m.m[0][0] = 1 - 2 * ( yy + zz ), m.m[0][1] = 2 * ( xy - wz ), m.m[0][2] = 2 * ( xz + wy );
    m.m[1][0] = 2 * ( xy + wz ), m.m[1][1] = 1 - 2 * ( xx + zz ), m.m[1][2] = 2 * ( yz - wx );
    m.m[2][0] = 2 * ( xz - wy ), m.m[2][1] = 2 * ( yz + wx ), m.m[2][2] = 1 - 2 * ( xx + yy );
    return m;
}

/// The quaternion of a rotation matrix, w >= 0. Divides by the largest of the four components, so that half
/// turns (w = 0) are as exact as any other.
SOLID math_quat math_quat_from_matrix( const math_mat3* a )
{
    double xx = a->m[0][0], yy = a->m[1][1], zz = a->m[2][2];
    double zy = a->m[2][1], yz = a->m[1][2], xz = a->m[0][2], zx = a->m[2][0], yx = a->m[1][0],
           xy = a->m[0][1];
    bool by_w = xx + yy + zz > 0.0;
    bool by_x = !by_w && xx >= yy && xx >= zz;
    bool by_y = !by_w && !by_x && yy >= zz;
    math_quat q = by_w ? math_quat_make( zy - yz, xz - zx, yx - xy, 1 + xx + yy + zz )
        : by_x         ? math_quat_make( 1 + xx - yy - zz, xy + yx, xz + zx, zy - yz )
        : by_y         ? math_quat_make( xy + yx, 1 + yy - xx - zz, yz + zy, xz - zx )
                       : math_quat_make( xz + zx, yz + zy, 1 + zz - xx - yy, yx - xy );
    q = math_quat_normalize( q );
    return q.w < 0.0 ? math_quat_make( -q.x, -q.y, -q.z, -q.w ) : q;
}

/// Where a body stands, in the form that is quick to apply.
typedef struct math_pose
{
    math_mat3 rotation;
    math_vec3 position;
} math_pose;

SOLID math_vec3 math_pose_apply( const math_pose* pose, math_vec3 point )
{
    return math_add( math_apply( &pose->rotation, point ), pose->position );
}
