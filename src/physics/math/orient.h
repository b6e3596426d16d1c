// SPDX-License-Identifier: MIT
#pragma once

#include "math/vec3.h"

/// On which side of the line from a to b is c? 1: left, -1: right, 0: on it. Only x and y count. Exact: the
/// sign is that of the coordinates as given, however thin the triangle.
int clv_math_orient2( clv_vec3 a, clv_vec3 b, clv_vec3 c );

/// The sign of the triangle's normal ( b - a ) x ( c - a ) along an axis: 0, 1, 2 for x, y, z. Exact.
int clv_math_orient2_along( int axis, clv_vec3 a, clv_vec3 b, clv_vec3 c );

/// ( b - a ) x ( c - a ), to a hundred-millionth of its length or better, however thin the triangle.
math_vec3 clv_math_triangle_normal( clv_vec3 a, clv_vec3 b, clv_vec3 c );

/// On which side of the plane through a, b, c is d? 1: the side the face is seen counter-clockwise from (its
/// normal ( b - a ) x ( c - a ) points there), -1: behind, 0: on the plane. Exact.
int clv_math_orient3( clv_vec3 a, clv_vec3 b, clv_vec3 c, clv_vec3 d );

/// Do the three lie on one line (or spot)? Exact.
int clv_math_is_collinear( clv_vec3 a, clv_vec3 b, clv_vec3 c );
