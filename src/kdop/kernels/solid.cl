// SPDX-License-Identifier: MIT
// Bodies as they lie in a device's memory, behind common.cl and src/core/solid/solid_math.h in front of every
// program about them.

SOLID math_pose load_pose( __global const double* poses, uint body )
{
    __global const double* from = poses + (size_t)body * POSE_DOUBLES;
    math_pose pose;
    for ( int i = 0; i < 9; ++i )
    {
        pose.rotation.m[i / 3][i % 3] = from[i];
    }
    pose.position = math_make( from[9], from[10], from[11] );
    return pose;
}

SOLID void store_pose( __global double* poses, uint body, const math_pose* pose )
{
    __global double* to = poses + (size_t)body * POSE_DOUBLES;
    for ( int i = 0; i < 9; ++i )
    {
        to[i] = pose->rotation.m[i / 3][i % 3];
    }
    to[9] = pose->position.x;
    to[10] = pose->position.y;
    to[11] = pose->position.z;
}
