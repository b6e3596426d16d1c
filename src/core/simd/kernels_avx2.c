// SPDX-License-Identifier: MIT
// Compiled with AVX2 turned on, as cells_avx2.c is; nothing here runs before dispatch.c has asked the CPU.
#include "simd/kernels.h"

#ifdef CLV_HAVE_AVX2

#include "base/bits.h"
#include "simd/cells.h"
#include "simd/query_lanes.h"

#include "simd/target_avx2.h"

#include "simd/wide_avx2.h"

#include "simd/kernel_body.h"

#include "simd/box_x86_body.h"

#include "simd/strays_x86.h"

const simd_kernels clv_simd_kernels_avx2 = { CLV_ISA_AVX2, test_block, are_good, find_strays, find_touching,
    &clv_simd_cells_avx2, &clv_simd_queries_avx2 };

#include "simd/target_end.h"

#endif
