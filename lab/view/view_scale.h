// SPDX-License-Identifier: MIT
// Coordinates as whole numbers, for looking at: a sixty-fourth of the typical side of a box is one step.
#pragma once

#include "cleave/geom.h"

#include <stdint.h>

/// In place of an infinite coordinate; no finite one comes near.
#define VIEW_INFINITE ( INT32_C( 1 ) << 28 )

typedef struct view_scale
{
    double origin[3];
    double step; ///< metres, the same on all axes
} view_scale;

/// By the boxes of one frame. Steps grow in worlds that are very large for their boxes.
view_scale view_scale_choose( const clv_aabb* boxes, uint32_t count );

/// The nearest whole number of steps; what lies too far out is put at the edge, infinities at VIEW_INFINITE.
int32_t view_scale_place( const view_scale* scale, double value, int axis );
