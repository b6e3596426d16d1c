// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>

// Vectors and boxes of floats.

/// A point or a vector; metres by convention, though no constant of the library depends on the unit.
typedef struct clv_vec3
{
    float x, y, z;
} clv_vec3;

/// An axis-aligned box, closed: its faces belong to it. 24 bytes; this layout is frozen.
/// lower <= upper on every axis. Infinities are legal and make planes, half-spaces and everything; NaN is
/// not.
typedef struct clv_aabb
{
    clv_vec3 lower, upper;
} clv_aabb;

/// Is this a box the library takes? False for NaN anywhere and for lower > upper.
static inline bool clv_aabb_is_valid( clv_aabb box )
{
    return box.lower.x <= box.upper.x && box.lower.y <= box.upper.y && box.lower.z <= box.upper.z;
}

/// The question the whole library answers, for two boxes. Touching faces, edges and corners count.
static inline bool clv_aabb_overlap( clv_aabb a, clv_aabb b )
{
    return a.lower.x <= b.upper.x && b.lower.x <= a.upper.x && // x
        a.lower.y <= b.upper.y && b.lower.y <= a.upper.y &&    // y
        a.lower.z <= b.upper.z && b.lower.z <= a.upper.z;      // z
}

/// The box moved outwards by `margin` on every side. With a margin of 0 the box comes back bit by bit.
static inline clv_aabb clv_aabb_grow( clv_aabb box, float margin )
{
    if ( margin != 0.0f )
    {
        box.lower.x -= margin;
        box.lower.y -= margin;
        box.lower.z -= margin;
        box.upper.x += margin;
        box.upper.y += margin;
        box.upper.z += margin;
    }
    return box;
}

/// All points p with dot( normal, p ) <= offset. The normal points out; it has length 1 where nothing else is
/// said.
typedef struct clv_plane
{
    clv_vec3 normal;
    float offset;
} clv_plane;

/// A ball, closed.
typedef struct clv_sphere
{
    clv_vec3 center;
    float radius;
} clv_sphere;
