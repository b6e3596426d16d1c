// SPDX-License-Identifier: MIT
// Worlds in double for tests: near and far, dense and sparse, and what floats cannot tell apart.
#pragma once

#include "support.h"

typedef enum far_crowd_kind
{
    FAR_CROWD_SPREAD,  ///< metres, anywhere within 10^9 of them
    FAR_CROWD_TOWNS,   ///< metres, in a hundred towns as far apart
    FAR_CROWD_LATTICE, ///< whole numbers around 10^9: faces, edges and corners touch all the time
    FAR_CROWD_PILES,   ///< millimetres, in piles of a metre, in towns of a kilometre, in a world of 10^9
    FAR_CROWD_SPOT,    ///< all within a metre, at 10^9
    FAR_CROWD_DUST,    ///< neighbouring doubles at 10^9
    FAR_CROWD_SAME,    ///< few different boxes, many times
    FAR_CROWD_LINE,    ///< in a row, each touching the next
    FAR_CROWD_TINY,    ///< denormal doubles
    FAR_CROWD_HUGE,    ///< at the other end of the doubles
    FAR_CROWD_DECADES, ///< over 600 orders of magnitude
    FAR_CROWD_ENDLESS, ///< towns, and half of the boxes without an end somewhere
    FAR_CROWD_NEAR,    ///< where floats would do
    FAR_CROWD_KIND_COUNT
} far_crowd_kind;

/// Box `index` of a crowd of `count`.
clv_aabb64 far_crowd_box( far_crowd_kind kind, uint32_t index, uint32_t count, test_random* random );

/// Where that box goes in a frame's time: near, by the crowd's measure.
clv_aabb64 far_crowd_step( far_crowd_kind kind, clv_aabb64 box, test_random* random );

/// Uniform in double.
double far_random_between( test_random* random, double least, double most );
