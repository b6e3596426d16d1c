// SPDX-License-Identifier: MIT
// The reference: the walks over plain loops.
#include "simd/query_lanes.h"

#include "base/bits.h"
#include "simd/kernels.h"

#include <math.h>

#include "simd/eight_scalar.h"

#include "simd/query_picks_plain.h"

#include "simd/query_body.h"

const simd_queries clv_simd_queries_scalar = { walk_overlap, walk_cast, walk_distance, walk_closest,
    walk_nearest, walk_count, bound_node };
