// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/volume.h"
#include "narrow/core.h"

/// Square root of 2, rounded up: the length of a diagonal axis.
#define VOLUME_DIAGONAL 1.4142135623730952

/// The nearest float that is not below (above) the value.
float clv_volume_round_up( double value );
float clv_volume_round_down( double value );

/// A shape and a transform the narrow phase would take.
bool clv_volume_is_placed( clv_shape shape, clv_transform at );

/// Writes the volume of a core with a skin.
typedef void volume_maker( const narrow_core* core, double radius, void* volume );

/// The volume of a placed shape, as the public functions give it: in the library's floating-point mode, and
/// CLV_BAD_ARGUMENT for what cannot be placed.
clv_result clv_volume_around( clv_shape shape, clv_transform at, volume_maker* make, void* volume );

/// Volumes of cores with a skin; dop.h and obb.h have more.
clv_aabb clv_volume_core_aabb( const narrow_core* core, double radius );
clv_dop18 clv_volume_core_dop18( const narrow_core* core, double radius );
clv_sphere clv_volume_core_sphere( const narrow_core* core, double radius );
