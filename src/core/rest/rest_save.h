// SPDX-License-Identifier: MIT
#pragma once

#include "base/parts_pass.h"
#include "rest/rest_mode.h"

/// The state as parts, or back into one that was just initialised. What is read is believed.
void clv_rest_world_pass( rest_world* world, base_pass* pass );
void clv_rest_mode_pass( rest_mode* mode, base_pass* pass );
