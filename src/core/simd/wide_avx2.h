// SPDX-License-Identifier: MIT
// A register of floats, as kernel_body.h wants it. No include guard: part of a template.

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
