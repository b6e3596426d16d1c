// SPDX-License-Identifier: MIT
#pragma once

#include "base/exact.h"
#include "cleave/method.h"

/// The axis (0, 1, 2) on which the centres of the boxes vary most. Infinite boxes and far outliers have no
/// say: one object at 1e9 must not turn the sweep for a million others. The first axis wins a tie.
int clv_sweep_choose_axis( const clv_method_input* input );
