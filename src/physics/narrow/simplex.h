// SPDX-License-Identifier: MIT
#pragma once

#include "math/vec3.h"
#include <stdbool.h>
#include <stdint.h>

/// A point of the difference of two shapes, and the two points it is the difference of.
typedef struct narrow_vertex
{
    math_vec3 w; // a - b
    math_vec3 a, b;
    uint32_t index_a, index_b;
} narrow_vertex;

/// Up to four points; with weights, a point in their convex hull.
typedef struct narrow_simplex
{
    narrow_vertex vertices[4];
    double weights[4];
    int count;
} narrow_simplex;

/// Finds the point of the simplex nearest to the origin, drops every vertex it does not need and sets the
/// weights. Four vertices are left only where the origin is inside the tetrahedron, and then (0, 0, 0) is
/// returned.
math_vec3 clv_narrow_simplex_reduce( narrow_simplex* simplex );

/// The points on both shapes that the weights tell.
void clv_narrow_simplex_witness( const narrow_simplex* simplex, math_vec3* a, math_vec3* b );

/// The same for four vertices around the origin, which clv_narrow_simplex_reduce leaves without weights: a point
/// of both shapes.
math_vec3 clv_narrow_simplex_common_point( const narrow_simplex* simplex );
