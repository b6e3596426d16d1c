// SPDX-License-Identifier: MIT
// Compiled to nothing where the baseline of the target has no SSE2.
#include "simd/kernels.h"

#ifdef CLV_HAVE_SSE2

#include "base/bits.h"
#include "simd/query_lanes.h"

#include <emmintrin.h>
#include <math.h>

#include "simd/eight_sse2.h"

#include "simd/query_picks_plain.h"

#include "simd/query_body.h"

const simd_queries clv_simd_queries_sse2 = { walk_overlap, walk_cast, walk_distance, walk_closest,
    walk_nearest, walk_count, bound_node };

#endif
