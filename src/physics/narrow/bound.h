// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/narrow.h"
#include "narrow/core.h"

/// The nearest float that is not below (above) the value.
float clv_narrow_round_up( double value );
float clv_narrow_round_down( double value );

/// Is every number of it finite?
bool clv_narrow_is_transform( clv_transform transform );

/// Writes the volume of a core with a skin.
typedef void narrow_maker( const narrow_core* core, double radius, void* volume );

/// The volume of a placed shape, as the public functions give it: in the library's floating-point mode, and
/// CLV_BAD_ARGUMENT for what cannot be placed.
clv_result clv_narrow_around( clv_shape shape, clv_transform at, narrow_maker* make, void* volume );

/// The box of a core with a skin.
clv_aabb clv_narrow_core_aabb( const narrow_core* core, double radius );
