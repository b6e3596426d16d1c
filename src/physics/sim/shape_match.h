// SPDX-License-Identifier: MIT
#pragma once

#include "math/polar.h"
#include "math/quat.h"
#include "narrow/hull.h"

/// What shape matching knows of a hull: its vertices about their mean, the particles' rest positions.
typedef struct sim_rest_shape
{
    const clv_hull* hull;
    math_vec3 mean;
    math_mat3 axes; // of the vertices' spread, the widest first
    int rank;       // how many of them count: 2 for a plate, 1 for a needle, 0 for a point
} sim_rest_shape;

sim_rest_shape clv_sim_rest_shape_make( const clv_hull* hull );

/// The rotation of the sum of places times rest places; `products` is completed where the body has no thickness. The pose's own
/// where there is none to be had.
math_polar_result clv_sim_shape_rotation(
    const sim_rest_shape* rest, const math_pose* pose, math_mat3* products, math_mat3* rotation );

/// Everything with dot( normal, p ) > offset is pushed back onto the plane.
typedef struct sim_contact_plane
{
    math_vec3 normal; // unit
    double offset;
} sim_contact_plane;

/// Where a body goes whose particles beyond the plane are projected onto it: the rigid placement nearest to
/// all of them. MATH_POLAR_OK: *fitted is set. Otherwise no rotation could be had (a mirror image counts as
/// drift), and only fitted->position is set, to where the particles' mean moves the body without turning it. A body without
/// thickness is no reason: a plate's third axis follows from the other two, and a needle keeps its turn about itself.
math_polar_result clv_sim_shape_match(
    const sim_rest_shape* rest, const math_pose* pose, sim_contact_plane plane, math_pose* fitted );
