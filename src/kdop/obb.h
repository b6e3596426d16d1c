// SPDX-License-Identifier: MIT
#pragma once

#include "narrow/core.h"
#include "volume.h"

/// The box around a core in its own coordinates, which turns and moves with it: made once per body.
typedef struct volume_own_box
{
    math_mat3 axes; // columns
    math_vec3 center;
    math_vec3 half_size;
} volume_own_box;

/// Along the shape's own axes, or along those of its vertices' spread if that box is smaller.
volume_own_box clv_volume_own_box_make( const narrow_core* core );

/// The same along given axes, for a core whose points are not where its hull has them.
volume_own_box clv_volume_own_box_along( const narrow_core* core, const math_mat3* axes );

/// The oriented box around a core with a skin, where it stands: no vertex is looked at.
clv_obb clv_volume_core_obb( const narrow_core* core, double radius, const volume_own_box* own );

/// Axes at right angles and of length 1, to a few steps of a float; no NaN.
bool clv_volume_obb_is_good( const clv_obb* obb );

/// From where to where it reaches along x, y or z, outwards beyond every rounding.
void clv_volume_obb_interval( const clv_obb* obb, uint32_t axis, float* lower, float* upper );

/// By separating axes: those of the faces, of all pairs of edges, and x, y, z. Boxes nearer to each other
/// than a fifty-thousandth of the sum of their half sides count as touching, so that no rounding parts what
/// touches. In the caller's floating-point mode.
bool clv_volume_obb_overlap( const clv_obb* a, const clv_obb* b );
