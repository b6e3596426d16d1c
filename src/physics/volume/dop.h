// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/volume.h"
#include "narrow/core.h"

#define VOLUME_DOP_AXES_MOST ( CLV_DOP_ENDS_MOST / 2 )

bool clv_volume_dop_is_kind( clv_dop_kind kind );

/// The length of one of the kind's axes, or a little more.
double clv_volume_dop_axis_length( clv_dop_kind kind, uint32_t index );

/// The ends of a core with a skin: `kind` floats, the lower ones first.
void clv_volume_core_dop( const narrow_core* core, double radius, clv_dop_kind kind, float* ends );
