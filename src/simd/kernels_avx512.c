// SPDX-License-Identifier: MIT
// The only file compiled with AVX-512 (F, BW, DQ, VL) turned on; nothing here runs before dispatch.c has asked the CPU.
#include "simd/kernels.h"

#ifdef CLV_HAVE_AVX512

#include "base/bits.h"

#include <immintrin.h>

#define WIDE_LANES 16
typedef __m512 wide;
typedef __mmask16 wide_mask;

static inline wide wide_load( const float* p )
{
    return _mm512_load_ps( p );
}

static inline wide wide_splat( float f )
{
    return _mm512_set1_ps( f );
}

static inline wide_mask wide_le( wide a, wide b )
{
    return _mm512_cmp_ps_mask( a, b, _CMP_LE_OQ );
}

static inline wide_mask wide_le_and( wide_mask m, wide a, wide b )
{
    return _mm512_mask_cmp_ps_mask( m, a, b, _CMP_LE_OQ );
}

static inline uint32_t wide_bits( wide_mask m )
{
    return (uint32_t)m;
}

#include "simd/kernel_body.h"

#include "simd/cross_body.h"

#include "simd/range_body.h"

const simd_kernels simd_kernels_avx512 = { CLV_ISA_AVX512, test_block, sweep, sweep_cross, sweep_ranges,
    cross_ranges };

#endif
