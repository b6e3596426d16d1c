// SPDX-License-Identifier: MIT
// Compiled to nothing where the baseline of the target has no NEON.
#include "simd/kernels.h"

#ifdef CLV_HAVE_NEON

#include "base/bits.h"
#include "simd/cells.h"
#include "simd/near_lanes.h"
#include "simd/query_lanes.h"

#include <math.h>
#include <string.h>

#include "simd/lanes_neon.h"

typedef cell_words words;

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

static inline cell_key words_key( words w, const scaling* s )
{
    return cell_words_key( &w, s );
}

static inline uint64_t words_code( words w )
{
    return cell_words_code( &w );
}

static inline void transpose_codes( const cell_entry* entries, uint8_t* lanes, size_t stride )
{
    for ( int i = 0; i < 16; ++i )
    {
        for ( int byte = 0; byte < 7; ++byte )
        {
            lanes[(size_t)byte * stride + (size_t)i] = (uint8_t)( entries[i].code >> ( 8 * byte ) );
        }
    }
}

// ---- from rows and lanes that may touch to pairs

static inline clv_pair pair_of( uint32_t a, uint32_t b )
{
    uint32_t lower = a < b ? a : b;
    return ( clv_pair ){ lower, a ^ b ^ lower };
}

// Is some lower byte equal to the upper one it is compared with? Turned by half, a code's uppers lie over the
// other's lowers; then the question is whether one of six bytes of the difference is 0.
static inline bool entries_tie( const cell_entry* row, const cell_entry* lane )
{
    const uint64_t ones = UINT64_C( 0x0101010101010101 );
    uint64_t turned = lane->code << 32 | lane->code >> 32;
    uint64_t difference = ( row->code ^ turned ) | UINT64_C( 0xFF000000FF000000 );
    return ( ( difference - ones ) & ~difference & ones << 7 ) != 0;
}

#define SOME_HITS 1
static inline uint32_t put_some_hits( const cell_entry* const rows[1], const cell_entry* const lanes[1],
    uint32_t valid, clv_pair* sure, clv_pair* ties )
{
    (void)valid;
    const clv_pair pair = pair_of( cell_slot( rows[0] ), cell_slot( lanes[0] ) );
    *sure = pair;
    *ties = pair;
    return !entries_tie( rows[0], lanes[0] );
}

#include "simd/kernel_body.h"

bool clv_simd_are_good_apart(
    const void* lower, const void* upper, size_t stride, size_t corner, uint32_t count )
{
    return four_are_good_apart( lower, upper, stride, corner, count );
}

#include "simd/cell_body.h"

#include "simd/query_body.h"

#include "simd/query_body64.h"

#define NEAR_FLOATS 4
typedef float32x4_t near_f;
typedef float64x2_t near_d;

static inline uint32_t near_f_le_bits( near_f a, near_f b )
{
    return four_bits( vcleq_f32( a, b ) );
}

static inline uint32_t near_d_le_bits( near_d a, near_d b )
{
    uint64x2_t m = vcleq_f64( a, b );
    return (uint32_t)( ( vgetq_lane_u64( m, 0 ) & 1 ) | ( vgetq_lane_u64( m, 1 ) & 2 ) );
}

#define near_f_max( a, b ) vmaxq_f32( a, b )
#define near_d_max( a, b ) vmaxq_f64( a, b )
#define near_f_press( p, a, bits ) ( near_f_store( p, a ), near_press_floats( p, 4, bits ) )
#define near_d_press( p, a, bits ) ( near_d_store( p, a ), near_press_doubles( p, 2, bits ) )
#define near_f_press_ids( p, ids, bits ) ( memcpy( p, ids, 16 ), near_press_ids( p, 4, bits ) )
#define near_d_press_ids( p, ids, bits ) ( memcpy( p, ids, 8 ), near_press_ids( p, 2, bits ) )
#define near_f_load( p ) vld1q_f32( p )
#define near_f_store( p, a ) vst1q_f32( p, a )
#define near_f_splat( a ) vdupq_n_f32( a )
#define near_f_sub( a, b ) vsubq_f32( a, b )
#define near_f_mul( a, b ) vmulq_f32( a, b )
#define near_f_add( a, b ) vaddq_f32( a, b )
#define near_d_load( p ) vld1q_f64( p )
#define near_d_store( p, a ) vst1q_f64( p, a )
#define near_d_splat( a ) vdupq_n_f64( a )
#define near_d_sub( a, b ) vsubq_f64( a, b )
#define near_d_mul( a, b ) vmulq_f64( a, b )
#define near_d_add( a, b ) vaddq_f64( a, b )

#define near_emit near_emit_lanes
#include "simd/near_twice.h"
#undef near_emit

#define KERNELS neon
#define KERNELS_ISA CLV_ISA_NEON
#include "simd/kernel_tables.h"

#endif
