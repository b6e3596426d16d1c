// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/transform.h"
#include "math/mat3.h"

/// A rotation: w is the real part. q and -q turn the same way.
typedef struct math_quat
{
    double x, y, z, w;
} math_quat;

static inline math_quat math_quat_identity( void )
{
    math_quat q = { 0, 0, 0, 1 };
    return q;
}

static inline math_quat math_quat_make( double x, double y, double z, double w )
{
    math_quat q = { x, y, z, w };
    return q;
}

static inline math_quat math_quat_widen( clv_quat q )
{
    return math_quat_make( (double)q.x, (double)q.y, (double)q.z, (double)q.w );
}

static inline clv_quat math_quat_narrow( math_quat q )
{
    clv_quat narrow = { (float)q.x, (float)q.y, (float)q.z, (float)q.w };
    MATH_ROUNDED( narrow );
    return narrow;
}

/// Length 1; the identity for a length that is zero, infinite or not a number.
static inline math_quat math_quat_normalize( math_quat q )
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
static inline math_mat3 math_quat_matrix( math_quat q )
{
    double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    math_mat3 m = { { { 1 - 2 * ( yy + zz ), 2 * ( xy - wz ), 2 * ( xz + wy ) },
        { 2 * ( xy + wz ), 1 - 2 * ( xx + zz ), 2 * ( yz - wx ) },
        { 2 * ( xz - wy ), 2 * ( yz + wx ), 1 - 2 * ( xx + yy ) } } };
    return m;
}

/// The quaternion of a rotation matrix, w >= 0. Divides by the largest of the four components, so that half
/// turns (w = 0) are as exact as any other.
static inline math_quat math_quat_from_matrix( const math_mat3* a )
{
    double xx = a->m[0][0], yy = a->m[1][1], zz = a->m[2][2];
    double zy = a->m[2][1], yz = a->m[1][2], xz = a->m[0][2], zx = a->m[2][0], yx = a->m[1][0],
           xy = a->m[0][1];
    math_quat q;
    if ( xx + yy + zz > 0.0 )
    {
        q = math_quat_make( zy - yz, xz - zx, yx - xy, 1 + xx + yy + zz );
    }
    else if ( xx >= yy && xx >= zz )
    {
        q = math_quat_make( 1 + xx - yy - zz, xy + yx, xz + zx, zy - yz );
    }
    else if ( yy >= zz )
    {
        q = math_quat_make( xy + yx, 1 + yy - xx - zz, yz + zy, xz - zx );
    }
    else
    {
        q = math_quat_make( xz + zx, yz + zy, 1 + zz - xx - yy, yx - xy );
    }
    q = math_quat_normalize( q );
    return q.w < 0.0 ? math_quat_make( -q.x, -q.y, -q.z, -q.w ) : q;
}

/// Where a body stands, in the form that is quick to apply.
typedef struct math_pose
{
    math_mat3 rotation;
    math_vec3 position;
} math_pose;

static inline math_pose math_pose_widen( clv_transform transform )
{
    math_pose pose;
    pose.rotation = math_quat_matrix( math_quat_normalize( math_quat_widen( transform.rotation ) ) );
    pose.position = math_widen( transform.position );
    return pose;
}

static inline math_vec3 math_pose_apply( const math_pose* pose, math_vec3 point )
{
    return math_add( math_apply( &pose->rotation, point ), pose->position );
}
