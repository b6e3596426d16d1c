// SPDX-License-Identifier: MIT
// A register of floats, as kernel_body.h wants it. No include guard: part of a template.

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
