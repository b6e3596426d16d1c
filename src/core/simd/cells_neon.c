// SPDX-License-Identifier: MIT
// Compiled to nothing where the baseline of the target has no NEON.
#include "simd/cells.h"

#ifdef CLV_HAVE_NEON

#include "base/bits.h"

#include <arm_neon.h>

#define BYTE_LANES 16
typedef uint8x16_t bytes;

static inline bytes bytes_load( const uint8_t* p )
{
    return vld1q_u8( p );
}

static inline bytes bytes_splat( uint8_t value )
{
    return vdupq_n_u8( value );
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

#include "simd/cells_meet.h"

#include "simd/cells_splat.h"

#include "simd/cells_plain.h"

static inline uint16x4_t words_of_corner(
    float32x4_t corner, const float* origin, const float* scale, const float* most )
{
    float32x4_t v = vmulq_f32( vsubq_f32( corner, vld1q_f32( origin ) ), vld1q_f32( scale ) );
    // maxnm takes the number where the other is NaN, as the comparisons of the other kernels do
    v = vminnmq_f32( vmaxnmq_f32( v, vdupq_n_f32( 0 ) ), vld1q_f32( most ) );
    return vmovn_u32( vcvtq_u32_f32( v ) );
}

static inline words words_of( const clv_aabb* box, const scaling* s )
{
    float32x4_t lower = vld1q_f32( &box->lower.x );
    float32x4_t upper = vld1q_f32( &box->lower.z );
    upper = vextq_f32( upper, upper, 1 );
    uint16x4_t low = words_of_corner( lower, s->origin, s->scale, s->most );
    uint16x4_t high = words_of_corner( upper, s->origin + 4, s->scale + 4, s->most + 4 );
    words w;
    vst1_u16( w.lower, low );
    vst1_u16( w.upper, high );
    return w;
}

#include "simd/hit_plain.h"

#include "simd/hits_plain.h"

#include "simd/records_plain.h"

#include "simd/record_body.h"

#include "simd/cell_body.h"

const simd_cells clv_simd_cells_neon = {
    .make_records = make_records,
    .make_records_by = make_records_by,
    .put_records_by = put_records_by,
    .find_reaches = find_reaches,
    .search_cell = search_cell,
    .settle_ties = settle_ties,
};

#endif
