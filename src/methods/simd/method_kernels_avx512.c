// SPDX-License-Identifier: MIT
// Compiled with AVX-512 turned on; nothing here runs before dispatch.c has asked the CPU.
#include "simd/method_kernels.h"

#ifdef CLV_HAVE_AVX512

#include "base/bits.h"

#include <math.h>

#include "simd/lanes_avx512.h"

#include "simd/kernel_body.h"

#include "simd/small_x86.h"

typedef __m512i small_wide;

static inline small_wide small_splat( int16_t value )
{
    return _mm512_set1_epi16( value );
}

static inline uint32_t small_round(
    const small_wide lower[2], const small_wide upper[2], const simd_small_boxes* boxes, uint32_t at )
{
    __m512i l0 = _mm512_loadu_si512( boxes->lower[0] + at );
    __m512i u0 = _mm512_loadu_si512( boxes->upper[0] + at );
    __m512i l1 = _mm512_loadu_si512( boxes->lower[1] + at );
    __m512i u1 = _mm512_loadu_si512( boxes->upper[1] + at );
    __mmask32 first = _mm512_mask_cmple_epi16_mask( _mm512_cmple_epi16_mask( l0, upper[0] ), lower[0], u0 );
    __mmask32 second = _mm512_mask_cmple_epi16_mask( _mm512_cmple_epi16_mask( l1, upper[1] ), lower[1], u1 );
    return first & second;
}

#include "simd/method_body.h"

const simd_method_kernels clv_simd_method_kernels_avx512 = { CLV_ISA_AVX512, test_block, sweep, sweep_cross,
    sweep_movers, take_leavers, pick_overlapping, scan_overlapping, keep_overlapping, regrow, make_small,
    gather_small, spread_small, sweep_small, cross_small };

TARGET_END

#endif
