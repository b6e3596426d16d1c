// SPDX-License-Identifier: MIT
// The registers of NEON, as kernel_body.h, query_body.h and cell_body.h want them. No include guard: part of
// a template.
#include <arm_neon.h>

// Four floats, as lanes_x86.h has them.
typedef float32x4_t four;
typedef uint32x4_t four_mask;

SIMD_ONE( four_load, four, const float*, vld1q_f32 )
SIMD_ONE( four_load_aligned, four, const float*, vld1q_f32 )

static inline four four_halves( const void* low, const void* high )
{
    return vcombine_f32( vld1_f32( low ), vld1_f32( high ) );
}

static inline void four_store( float* p, four a )
{
    vst1q_f32( p, a );
}

SIMD_ONE( four_splat, four, float, vdupq_n_f32 )

static inline four four_set( float a, float b, float c, float d )
{
    return ( four ){ a, b, c, d };
}

static inline four four_next( four a )
{
    return vextq_f32( a, a, 1 );
}

static inline four four_last( four a )
{
    return vdupq_laneq_f32( a, 3 );
}

static inline four four_clear_last( four a )
{
    return vsetq_lane_f32( 0, a, 3 );
}

SIMD_TWO( four_add, four, four, vaddq_f32 )
SIMD_TWO( four_sub, four, four, vsubq_f32 )
SIMD_TWO( four_mul, four, four, vmulq_f32 )

// NEON's own maximum hands NaN on; this takes b.
static inline four four_max( four a, four b )
{
    return vbslq_f32( vcgtq_f32( a, b ), a, b );
}

static inline four four_min( four a, four b )
{
    return vbslq_f32( vcltq_f32( a, b ), a, b );
}

SIMD_TWO( four_le, four_mask, four, vcleq_f32 )
SIMD_TWO( four_lt, four_mask, four, vcltq_f32 )
SIMD_TWO( four_and, four_mask, four_mask, vandq_u32 )

// There is no movemask: each lane keeps its own bit, and the lanes are added up.
static inline uint32_t four_bits( four_mask m )
{
    const uint32x4_t weights = { 1, 2, 4, 8 };
    return vaddvq_u32( vandq_u32( m, weights ) );
}

#include "simd/lanes_four.h"

static inline uint32_t eight_bits( eight_mask m )
{
    const uint32x4_t low = { 1, 2, 4, 8 }, high = { 16, 32, 64, 128 };
    return vaddvq_u32( vorrq_u32( vandq_u32( m.low, low ), vandq_u32( m.high, high ) ) );
}

static inline float eight_least( eight a )
{
    return vminvq_f32( vminq_f32( a.low, a.high ) );
}

static inline float eight_most( eight a )
{
    return vmaxvq_f32( vmaxq_f32( a.low, a.high ) );
}

static inline uint32_t eight_signs( const uint32_t* p )
{
    const uint32x4_t zero = { 0, 0, 0, 0 };
    uint32x4_t low = vsubq_u32( zero, vshrq_n_u32( vld1q_u32( p ), 31 ) );
    uint32x4_t high = vsubq_u32( zero, vshrq_n_u32( vld1q_u32( p + 4 ), 31 ) );
    return eight_bits( ( eight_mask ){ low, high } );
}

static inline uint32_t eight_least_slot( const uint32_t* p )
{
    return vminvq_u32( vminq_u32( vld1q_u32( p ), vld1q_u32( p + 4 ) ) );
}

#define BYTE_LANES 16
typedef uint8x16_t bytes;

SIMD_ONE( bytes_load, bytes, const uint8_t*, vld1q_u8 )
SIMD_ONE( bytes_splat, bytes, uint8_t, vdupq_n_u8 )
SIMD_TWO( bytes_excess, bytes, bytes, vqsubq_u8 )
SIMD_TWO( bytes_or, bytes, bytes, vorrq_u8 )

// Each lane keeps the bit of its place among eight; pairwise sums gather them.
static inline uint32_t bytes_zero_bits( bytes a )
{
    static const uint8_t places[16] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
    uint8x16_t kept = vandq_u8( vceqq_u8( a, vdupq_n_u8( 0 ) ), vld1q_u8( places ) );
    return (uint32_t)vaddv_u8( vget_low_u8( kept ) ) | (uint32_t)vaddv_u8( vget_high_u8( kept ) ) << 8;
}

SIMD_TWO( bytes_and, bytes, bytes, vandq_u8 )
