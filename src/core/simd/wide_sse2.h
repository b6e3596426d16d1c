// SPDX-License-Identifier: MIT
// A register of floats, as kernel_body.h wants it. No include guard: part of a template.

#define WIDE_LANES 4
typedef __m128 wide;
typedef __m128 wide_mask;

static inline wide wide_load( const float* p )
{
    return _mm_load_ps( p );
}

static inline wide wide_splat( float f )
{
    return _mm_set1_ps( f );
}

static inline wide_mask wide_le( wide a, wide b )
{
    return _mm_cmple_ps( a, b );
}

static inline wide_mask wide_le_and( wide_mask m, wide a, wide b )
{
    return _mm_and_ps( m, _mm_cmple_ps( a, b ) );
}

static inline uint32_t wide_bits( wide_mask m )
{
    return (uint32_t)_mm_movemask_ps( m );
}
