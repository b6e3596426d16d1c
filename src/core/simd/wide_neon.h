// SPDX-License-Identifier: MIT
// A register of floats, as kernel_body.h wants it. No include guard: part of a template.

#define WIDE_LANES 4
typedef float32x4_t wide;
typedef uint32x4_t wide_mask;

static inline wide wide_load( const float* p )
{
    return vld1q_f32( p );
}

static inline wide wide_splat( float f )
{
    return vdupq_n_f32( f );
}

static inline wide_mask wide_le( wide a, wide b )
{
    return vcleq_f32( a, b );
}

static inline wide_mask wide_le_and( wide_mask m, wide a, wide b )
{
    return vandq_u32( m, vcleq_f32( a, b ) );
}

// There is no movemask: each lane keeps its own bit, and the lanes are added up.
static inline uint32_t wide_bits( wide_mask m )
{
    const uint32x4_t weights = { 1, 2, 4, 8 };
    return vaddvq_u32( vandq_u32( m, weights ) );
}
