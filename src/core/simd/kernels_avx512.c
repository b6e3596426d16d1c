// SPDX-License-Identifier: MIT
// Compiled with AVX-512 (F, BW, DQ, VL) turned on, as cells_avx512.c is; nothing here runs before dispatch.c has asked the CPU.
#include "simd/kernels.h"

#ifdef CLV_HAVE_AVX512

#include "base/bits.h"
#include "simd/cells.h"
#include "simd/query_lanes.h"

#include "simd/target_avx512.h"

#include "simd/wide_avx512.h"

#include "simd/kernel_body.h"

#include "simd/box_x86_body.h"

#include "simd/strays_avx512.h"

const simd_kernels clv_simd_kernels_avx512 = { CLV_ISA_AVX512, test_block, are_good, find_strays,
    find_touching, &clv_simd_cells_avx512, &clv_simd_queries_avx512 };

#include "simd/target_end.h"

#endif
