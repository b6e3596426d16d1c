// SPDX-License-Identifier: MIT
#pragma once

#include "base/parts_pass.h"
#include "engine/engine.h"

/// An engine's state as parts, or back into one that was just initialised. What is read is believed.
void clv_engine_pass( clv_engine* engine, base_pass* pass );
