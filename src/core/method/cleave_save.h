// SPDX-License-Identifier: MIT
#pragma once

#include "base/parts_pass.h"
#include "pair/list.h"

/// The default method's state as parts, or back into a new state. What is read is believed. Figures of the
/// last update are not among it.
void clv_method_cleave_pass( void* state, base_pass* pass );

/// Of a world at rest: the list that it lends.
pair_list clv_method_cleave_list( const void* state );
