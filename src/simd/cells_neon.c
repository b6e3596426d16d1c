// SPDX-License-Identifier: MIT
// Compiled to nothing where the baseline of the target has no NEON.
#include "simd/cells.h"

#ifdef CLV_HAVE_NEON

#include "base/bits.h"
#include "simd/scaling.h"

#include <arm_neon.h>

#define BYTE_LANES 16
typedef uint8x16_t bytes;

static inline bytes bytes_load( const uint8_t* p )
{
    return vld1q_u8( p );
}

static inline bytes bytes_splat( uint8_t b )
{
    return vdupq_n_u8( b );
}

static inline bytes bytes_excess( bytes a, bytes b )
{
    return vqsubq_u8( a, b );
}

static inline bytes bytes_or( bytes a, bytes b )
{
    return vorrq_u8( a, b );
}

// Each lane keeps the bit of its place among eight; pairwise sums gather them.
static inline uint32_t bytes_zero_bits( bytes a )
{
    static const uint8_t places[16] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
    uint8x16_t kept = vandq_u8( vceqq_u8( a, vdupq_n_u8( 0 ) ), vld1q_u8( places ) );
    return (uint32_t)vaddv_u8( vget_low_u8( kept ) ) | (uint32_t)vaddv_u8( vget_high_u8( kept ) ) << 8;
}

static inline bytes bytes_and( bytes a, bytes b )
{
    return vandq_u8( a, b );
}

typedef cell_box record;

static inline record record_load( const cell_box* box )
{
    return *box;
}

static inline void record_store( cell_box* box, record r )
{
    *box = r;
}

static inline record record_from( const clv_aabb* box, uint32_t slot )
{
    record r = { { box->lower.x, box->lower.y, box->lower.z }, slot,
        { box->upper.x, box->upper.y, box->upper.z }, 0 };
    return r;
}

static inline uint16x4_t fixed_corner(
    const float* corner, const float* origin, const float* scale, const float* most )
{
    const uint32x4_t floats = { 0xFFFFFFFFu, 0xFFFFFFFFu, 0xFFFFFFFFu, 0 };
    float32x4_t v =
        vreinterpretq_f32_u32( vandq_u32( vreinterpretq_u32_f32( vld1q_f32( corner ) ), floats ) );
    v = vmulq_f32( vsubq_f32( v, vld1q_f32( origin ) ), vld1q_f32( scale ) );
    // maxnm takes the number where the other is NaN, as the comparisons of the other kernels do
    v = vminnmq_f32( vmaxnmq_f32( v, vdupq_n_f32( 0 ) ), vld1q_f32( most ) );
    return vmovn_u32( vcvtq_u32_f32( v ) );
}

static inline cell_span fixed_of( record r, const scaling* s, int16_t out[8] )
{
    uint16x4_t lower = fixed_corner( r.lower, s->origin, s->scale, s->most );
    uint16x4_t upper = fixed_corner( r.upper, s->origin + 4, s->scale + 4, s->most + 4 );
    uint16x8_t words = vcombine_u16( lower, upper );
    vst1q_s16( out, vreinterpretq_s16_u16( words ) );
    uint64x2_t cells = vreinterpretq_u64_u16( vshrq_n_u16( words, 8 ) );
    return ( cell_span ){ vgetq_lane_u64( cells, 0 ), vgetq_lane_u64( cells, 1 ) };
}

#include "simd/cells_plain.h"

#include "simd/cell_body.h"

#include "simd/block_body.h"

const simd_cells simd_cells_neon = { search_block, block_histogram, block_assign, block_scatter };

#endif
