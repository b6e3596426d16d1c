// SPDX-License-Identifier: MIT
#pragma once

#include "narrow/core.h"
#include "volume.h"

/// Square root of 2, rounded up: the length of a diagonal axis.
#define VOLUME_DIAGONAL 1.4142135623730952

#define VOLUME_DOP_AXES_MOST ( CLV_DOP_ENDS_MOST / 2 )

/// Along whose axes a volume is swept: a k-DOP's own. 0 for no kind of volume.
clv_dop_kind clv_volume_axes_of( clv_volume_kind kind );

/// Of one volume.
size_t clv_volume_bytes( clv_volume_kind kind );

/// The length of one of the kind's axes, or a little more.
double clv_volume_dop_axis_length( clv_dop_kind kind, uint32_t index );

/// The ends of a core with a skin: `kind` floats, the lower ones first.
void clv_volume_core_dop( const narrow_core* core, double radius, clv_dop_kind kind, float* ends );

/// The sphere of a core with a skin.
clv_sphere clv_volume_core_sphere( const narrow_core* core, double radius );
