// SPDX-License-Identifier: MIT
// Three-component vectors, unit quaternions and symmetric matrices in single precision, as far as the rigid
// bodies need them. Only + - * / and sqrt, each correctly rounded by IEEE 754, so that every compiler gives
// the same bits.
#pragma once

#include <math.h>

#include "cleave/transform.h"

/// Rows of a rotation: column j is local axis j seen from the world.
typedef struct sim_mat3
{
    float m[3][3];
} sim_mat3;

/// Symmetric 3 x 3.
typedef struct sim_sym3
{
    float xx, yy, zz, xy, xz, yz;
} sim_sym3;

static inline clv_vec3 sim_vec3( float x, float y, float z )
{
    clv_vec3 v = { x, y, z };
    return v;
}

static inline clv_vec3 sim_add( clv_vec3 a, clv_vec3 b )
{
    return sim_vec3( a.x + b.x, a.y + b.y, a.z + b.z );
}

static inline clv_vec3 sim_sub( clv_vec3 a, clv_vec3 b )
{
    return sim_vec3( a.x - b.x, a.y - b.y, a.z - b.z );
}

static inline clv_vec3 sim_scale( clv_vec3 a, float s )
{
    return sim_vec3( a.x * s, a.y * s, a.z * s );
}

/// a + s b
static inline clv_vec3 sim_add_scaled( clv_vec3 a, float s, clv_vec3 b )
{
    return sim_vec3( a.x + s * b.x, a.y + s * b.y, a.z + s * b.z );
}

static inline float sim_dot( clv_vec3 a, clv_vec3 b )
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline float sim_length( clv_vec3 a )
{
    return sqrtf( sim_dot( a, a ) );
}

static inline float sim_min( float a, float b )
{
    return a < b ? a : b;
}

static inline float sim_max( float a, float b )
{
    return a > b ? a : b;
}

static inline float sim_abs( float a )
{
    return a < 0.0f ? -a : a;
}

static inline clv_quat sim_quat_normalize( clv_quat q )
{
    float length = sqrtf( q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w );
    float s = length > 0.0f ? 1.0f / length : 0.0f;
    clv_quat unit = { q.x * s, q.y * s, q.z * s, length > 0.0f ? q.w * s : 1.0f };
    return unit;
}

/// Turned by the rotation vector d (world axes), to first order and normalised: 0.4 % short at a quarter
/// radian.
static inline clv_quat sim_quat_turn( clv_quat q, clv_vec3 d )
{
    clv_quat r = {
        q.x + 0.5f * ( d.x * q.w + d.y * q.z - d.z * q.y ),
        q.y + 0.5f * ( d.y * q.w + d.z * q.x - d.x * q.z ),
        q.z + 0.5f * ( d.z * q.w + d.x * q.y - d.y * q.x ),
        q.w - 0.5f * ( d.x * q.x + d.y * q.y + d.z * q.z ),
    };
    return sim_quat_normalize( r );
}

static inline sim_mat3 sim_mat3_from_quat( clv_quat q )
{
    float xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    float xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    float wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    sim_mat3 r = { {
        { 1.0f - 2.0f * ( yy + zz ), 2.0f * ( xy - wz ), 2.0f * ( xz + wy ) },
        { 2.0f * ( xy + wz ), 1.0f - 2.0f * ( xx + zz ), 2.0f * ( yz - wx ) },
        { 2.0f * ( xz - wy ), 2.0f * ( yz + wx ), 1.0f - 2.0f * ( xx + yy ) },
    } };
    return r;
}

/// R diag( d ) R^T
static inline sim_sym3 sim_sym3_from_diagonal( const sim_mat3* r, clv_vec3 d )
{
    const float( *m )[3] = r->m;
    sim_sym3 s = {
        m[0][0] * m[0][0] * d.x + m[0][1] * m[0][1] * d.y + m[0][2] * m[0][2] * d.z,
        m[1][0] * m[1][0] * d.x + m[1][1] * m[1][1] * d.y + m[1][2] * m[1][2] * d.z,
        m[2][0] * m[2][0] * d.x + m[2][1] * m[2][1] * d.y + m[2][2] * m[2][2] * d.z,
        m[0][0] * m[1][0] * d.x + m[0][1] * m[1][1] * d.y + m[0][2] * m[1][2] * d.z,
        m[0][0] * m[2][0] * d.x + m[0][1] * m[2][1] * d.y + m[0][2] * m[2][2] * d.z,
        m[1][0] * m[2][0] * d.x + m[1][1] * m[2][1] * d.y + m[1][2] * m[2][2] * d.z,
    };
    return s;
}
