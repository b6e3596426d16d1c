// SPDX-License-Identifier: MIT
// The only file compiled with AVX2 turned on; nothing here runs before dispatch.c has asked the CPU.
#include "simd/kernels.h"

#ifdef CLV_HAVE_AVX2

#include "base/bits.h"

#include <immintrin.h>

#define WIDE_LANES 8
typedef __m256 wide;
typedef __m256 wide_mask;

static inline wide wide_load( const float* p )
{
    return _mm256_load_ps( p );
}

static inline wide wide_splat( float f )
{
    return _mm256_set1_ps( f );
}

static inline wide_mask wide_le( wide a, wide b )
{
    return _mm256_cmp_ps( a, b, _CMP_LE_OQ );
}

static inline wide_mask wide_le_and( wide_mask m, wide a, wide b )
{
    return _mm256_and_ps( m, _mm256_cmp_ps( a, b, _CMP_LE_OQ ) );
}

static inline uint32_t wide_bits( wide_mask m )
{
    return (uint32_t)_mm256_movemask_ps( m );
}

#include "simd/kernel_body.h"

#include "simd/cross_body.h"

#include "simd/range_body.h"

const simd_kernels simd_kernels_avx2 = { CLV_ISA_AVX2, test_block, sweep, sweep_cross, sweep_ranges,
    cross_ranges };

#endif
