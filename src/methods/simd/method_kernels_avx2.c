// SPDX-License-Identifier: MIT
// Compiled with AVX2 turned on; nothing here runs before dispatch.c has asked the CPU.
#include "simd/method_kernels.h"

#ifdef CLV_HAVE_AVX2

#include "base/bits.h"

#include <math.h>

#include "simd/lanes_avx2.h"

#include "simd/kernel_body.h"

#include "simd/small_x86.h"

typedef __m256i small_wide;

static inline small_wide small_splat( int16_t value )
{
    return _mm256_set1_epi16( value );
}

static inline __m256i small_apart(
    const small_wide lower[2], const small_wide upper[2], const simd_small_boxes* boxes, uint32_t at )
{
    __m256i l0 = _mm256_loadu_si256( (const __m256i*)( boxes->lower[0] + at ) );
    __m256i u0 = _mm256_loadu_si256( (const __m256i*)( boxes->upper[0] + at ) );
    __m256i l1 = _mm256_loadu_si256( (const __m256i*)( boxes->lower[1] + at ) );
    __m256i u1 = _mm256_loadu_si256( (const __m256i*)( boxes->upper[1] + at ) );
    __m256i first = _mm256_or_si256( _mm256_cmpgt_epi16( l0, upper[0] ), _mm256_cmpgt_epi16( lower[0], u0 ) );
    __m256i second =
        _mm256_or_si256( _mm256_cmpgt_epi16( l1, upper[1] ), _mm256_cmpgt_epi16( lower[1], u1 ) );
    return _mm256_or_si256( first, second );
}

static inline uint32_t small_round(
    const small_wide lower[2], const small_wide upper[2], const simd_small_boxes* boxes, uint32_t at )
{
    // Packing works on each half of the registers by itself; the permutation puts the quarters back in order.
    __m256i packed = _mm256_packs_epi16(
        small_apart( lower, upper, boxes, at ), small_apart( lower, upper, boxes, at + 16 ) );
    return ~(uint32_t)_mm256_movemask_epi8( _mm256_permute4x64_epi64( packed, 0xD8 ) );
}

#include "simd/method_body.h"

const simd_method_kernels clv_simd_method_kernels_avx2 = { CLV_ISA_AVX2, test_block, sweep, sweep_cross,
    sweep_movers, take_leavers, pick_overlapping, scan_overlapping, keep_overlapping, regrow, make_small,
    gather_small, spread_small, sweep_small, cross_small };

TARGET_END

#endif
