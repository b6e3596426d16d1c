// SPDX-License-Identifier: MIT
// Compiled to nothing where the baseline of the target has no SSE2.
#include "simd/kernels.h"

#ifdef CLV_HAVE_SSE2

#include "base/bits.h"
#include "simd/cells.h"
#include "simd/query_lanes.h"

#include <emmintrin.h>

#include "simd/wide_sse2.h"

#include "simd/kernel_body.h"

#include "simd/box_x86_body.h"

#include "simd/strays_x86.h"

const simd_kernels clv_simd_kernels_sse2 = { CLV_ISA_SSE2, test_block, are_good, find_strays, find_touching,
    &clv_simd_cells_sse2, &clv_simd_queries_sse2 };

#endif
