// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/shape_sim.h"

/// The bodies behind the boxes of generator_tower, for who wants to see them; lives as long as the scene.
const clv_shape_sim* tower_sim( const void* state );
