// SPDX-License-Identifier: MIT
// Convex shapes for the narrow-phase tests, and judges that know nothing of GJK and EPA: separating axes, and
// certificates that prove an answer right.
#pragma once

#include "cleave/narrow.h"
#include "math/splitmix.h"

/// Hulls to test with; made once, never freed before the end of the program.
typedef enum shapes_kind
{
    SHAPES_BOX,
    SHAPES_BOX_HULL,
    SHAPES_OCTAHEDRON,
    SHAPES_RHOMBI,
    SHAPES_CLOUD, ///< 200 random points: large enough to climb
    SHAPES_SPHERE,
    SHAPES_CAPSULE,
    SHAPES_SQUARE, ///< flat
    SHAPES_KIND_COUNT
} shapes_kind;

clv_shape shapes_make( shapes_kind kind );

/// Component by component.
static inline math_vec3 shapes_stretch( math_vec3 p, math_vec3 by )
{
    return math_make( p.x * by.x, p.y * by.y, p.z * by.z );
}

/// Turned at random, at most `spread` from the origin along each axis.
clv_transform shapes_pose( math_random* random, double spread );

/// The largest of dot( direction, p ) over the shape, by looking at every vertex.
double shapes_reach( clv_shape shape, clv_transform at, math_vec3 direction );

/// Two boxes by the 15 separating axes: negative is the depth of their overlap, positive a lower bound of the
/// distance.
double shapes_box_separation( clv_vec3 half_a, clv_transform at_a, clv_vec3 half_b, clv_transform at_b );

/// The same for any two solid hulls: every face normal and every cross product of two edges.
double shapes_hull_separation( const clv_hull* a, clv_transform at_a, const clv_hull* b, clv_transform at_b );
