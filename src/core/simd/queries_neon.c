// SPDX-License-Identifier: MIT
// Compiled to nothing where the baseline of the target has no NEON.
#include "simd/kernels.h"

#ifdef CLV_HAVE_NEON

#include "base/bits.h"
#include "simd/query_lanes.h"

#include <arm_neon.h>
#include <math.h>

#include "simd/eight_neon.h"

#include "simd/query_picks_plain.h"

#include "simd/query_body.h"

const simd_queries clv_simd_queries_neon = { walk_overlap, walk_cast, walk_distance, walk_closest,
    walk_nearest, walk_count, bound_node };

#endif
