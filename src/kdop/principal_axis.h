// SPDX-License-Identifier: MIT
#pragma once

#include "math/vec3.h"
#include "volume.h"
#include <stdint.h>

/// Sums from which the spread of points follows; centred on the first point, so that far-off scenes keep
/// their digits.
typedef struct volume_spread
{
    math_vec3 origin, sum;
    math_mat3 products;
    uint32_t count;
} volume_spread;

void clv_volume_spread_add( volume_spread* spread, math_vec3 point );

/// The direction the points are spread along most, of length 1: the eigenvector of the largest eigenvalue of
/// their covariance, MᵀM / n about the mean. Zero if they are all one point, or not finite.
math_vec3 clv_volume_spread_direction( const volume_spread* spread );

/// Of the axes of a kind of k-DOP the one nearest to a direction; the first of equals.
uint32_t clv_volume_nearest_axis( math_vec3 direction, clv_dop_kind kind );
