// SPDX-License-Identifier: MIT
// What one box in double is asked. Nothing is rounded on the way down: each test is monotonic as it stands (query_wide.h).
#pragma once

#include "query/query_wide_probe.h"

/// Length of these gaps as if exponents had no end: the largest is brought near 1 where its square would leave the doubles.
double clv_query_wide_scaled_length( double x, double y, double z );

/// Of these gaps; `square` is x * x + y * y + z * z.
static inline double query_wide_length( double square, double x, double y, double z )
{
    return square > 1e-280 && square < 1e280 ? sqrt( square ) : clv_query_wide_scaled_length( x, y, z );
}

/// Infinity less infinity is no gap.
static inline double query_wide_gap( double a_lower, double a_upper, double b_lower, double b_upper )
{
    double below = b_lower - a_upper, above = a_lower - b_upper;
    double gap = above > below ? above : below;
    return gap > 0 ? gap : 0;
}

/// Distance of two boxes, as clv_neighbourhood64 has it.
double clv_query_wide_distance( const clv_aabb64* a, const clv_aabb64* b );

/// The box from a place: faces less its coordinates. Infinite ones stay.
clv_aabb64 clv_query_wide_from( const clv_aabb64* box, const double origin[3] );

/// Is part of the box, seen from the probe's origin, on the inner side of every plane? within the turned box's own box and its faces?
bool clv_query_wide_planes_meet( const query_wide_probe* p, const clv_aabb64* from );
bool clv_query_wide_faces_meet( const query_wide_probe* p, const clv_aabb64* from );

/// Times at which a motion starts and ends to meet the sides of a box: is there one up to the reach, and the first.
bool clv_query_wide_cast_sides(
    const query_wide_probe* p, const clv_aabb64* box, double reach, double* near );
