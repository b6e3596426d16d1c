// SPDX-License-Identifier: MIT
// What one can say about a frame without finding pairs.
#pragma once

#include "cleave/geom.h"

#include <stdint.h>

/// Share of the objects none of whose faces moved by more than 1 % of the object's mean side (of the frame
/// before; infinite sides do not count) between two frames.
double frame_static_share( const clv_aabb* before, const clv_aabb* after, uint32_t count );

typedef struct frame_stats
{
    double size_min, size_max; ///< shortest and longest side of any box
    double size_mean;          ///< over all finite sides
    uint32_t outside_world;    ///< boxes whose centre lies outside the world
} frame_stats;

frame_stats frame_stats_of( const clv_aabb* boxes, uint32_t count, clv_aabb world );
