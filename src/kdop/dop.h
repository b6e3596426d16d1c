// SPDX-License-Identifier: MIT
#pragma once

#include "narrow/core.h"
#include "volume.h"

/// Square root of 2, rounded up: the length of a diagonal axis.
#define VOLUME_DIAGONAL 1.4142135623730952

#define VOLUME_DOP_AXES_MOST ( CLV_DOP_ENDS_MOST / 2 )

bool clv_volume_dop_is_kind( clv_dop_kind kind );

/// The length of one of the kind's axes, or a little more.
double clv_volume_dop_axis_length( clv_dop_kind kind, uint32_t index );

/// The ends of a core with a skin: `kind` floats, the lower ones first.
void clv_volume_core_dop( const narrow_core* core, double radius, clv_dop_kind kind, float* ends );

/// The sphere of a core with a skin.
clv_sphere clv_volume_core_sphere( const narrow_core* core, double radius );
