// SPDX-License-Identifier: MIT
#pragma once

#include "narrow/hull.h"
#include "solid/solid_match.h"

/// What matching knows of a hull, which must outlive it.
static inline sim_rest_shape sim_rest_shape_of( const clv_hull* hull )
{
    return sim_rest_shape_make( &hull->vertices[0].x, hull->vertex_count );
}

/// Linear terms, then squares, then products of two.
#define SIM_SOFT_TERMS 9

/// What matching with deformation knows of a hull besides: the terms of its vertices and how to solve for
/// them.
typedef struct sim_soft_rest
{
    uint32_t term_count; // 3 linear, 9 quadratic
    double size;         // lengths are taken by it, so that squares are as large as what is squared
    double term_mean[SIM_SOFT_TERMS];             // terms are taken about it: they move no center
    double solve[SIM_SOFT_TERMS][SIM_SOFT_TERMS]; // pseudo-inverse of the sum of products of terms
    bool keeps_volume;                            // linear, and of a body with thickness
} sim_soft_rest;

/// How a body is deformed: a vertex is off the vertices' mean by the sum of these, each times a term. Terms
/// that are not used are zero.
typedef struct sim_soft_shape
{
    math_vec3 modes[SIM_SOFT_TERMS];
} sim_soft_shape;

sim_soft_rest clv_sim_soft_rest_make( const sim_rest_shape* rest, bool quadratic );

/// Not deformed: where the rigid body would have its vertices.
sim_soft_shape clv_sim_soft_shape_rigid( const sim_soft_rest* soft, const math_mat3* rotation );

/// The vertices about the body's position, vertex_count of them, in the world's axes. Returns how far the
/// farthest is.
double clv_sim_soft_place( const sim_rest_shape* rest, const sim_soft_rest* soft, const sim_soft_shape* shape,
    const math_mat3* rotation, math_vec3* cloud );

/// As sim_shape_match, from vertices that may be deformed already. With MATH_POLAR_OK *shape is set too:
/// `softness` of the deformation that fits best, the rest rigid.
math_polar_result clv_sim_soft_match( const sim_rest_shape* rest, const sim_soft_rest* soft, double softness,
    const math_pose* pose, const math_vec3* cloud, sim_contact_plane plane, sim_soft_shape* shape,
    math_pose* fitted );

/// A frame without contacts: `softness` of the deformation stays.
void clv_sim_soft_relax(
    const sim_soft_rest* soft, double softness, const math_mat3* rotation, sim_soft_shape* shape );
