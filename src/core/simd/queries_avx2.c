// SPDX-License-Identifier: MIT
// Compiled with AVX2 turned on, as kernels_avx2.c is; nothing here runs before dispatch.c has asked the CPU.
#include "simd/kernels.h"

#ifdef CLV_HAVE_AVX2

#include "base/bits.h"
#include "simd/query_lanes.h"

#include <math.h>

#include "simd/target_avx2.h"

#include "simd/eight_avx2.h"

#include "simd/query_picks_avx2.h"

#include "simd/query_body.h"

const simd_queries clv_simd_queries_avx2 = { walk_overlap, walk_cast, walk_distance, walk_closest,
    walk_nearest, walk_count, bound_node };

#include "simd/target_end.h"

#endif
