// SPDX-License-Identifier: MIT
// A number that stands for the pair sets of a run, whatever the order, method, instruction set or device:
// the sum modulo 2^64, over frames f = 0, 1, … after the initial one and pairs a < b, of
// random_mix( a << 32 | b ) * (2 f + 1).
#pragma once

#include "cleave/types.h"

/// What frame f adds to the sum; f counts from 0 after the initial frame, so f = file frame - 1.
uint64_t frame_hash_pairs( const clv_pair* pairs, uint64_t count, uint64_t frame );

/// The same for one list where order matters too.
uint64_t frame_hash_order( const clv_pair* pairs, uint64_t count );
