// SPDX-License-Identifier: MIT
// Compiled to nothing where the baseline of the target has no NEON.
#include "simd/method_kernels.h"

#ifdef CLV_HAVE_NEON

#include "base/bits.h"

#include <math.h>

#include <arm_neon.h>

#include "simd/wide_neon.h"

#include "simd/kernel_body.h"

#include "simd/sweep_body.h"

#include "simd/cross_body.h"

typedef int16x8_t small_wide;

static inline small_wide small_splat( int16_t value )
{
    return vdupq_n_s16( value );
}

// Eight columns; again each lane keeps its own bit.
static inline uint32_t small_step(
    const small_wide lower[2], const small_wide upper[2], const simd_small_boxes* boxes, uint32_t at )
{
    const uint16x8_t weights = { 1, 2, 4, 8, 16, 32, 64, 128 };
    uint16x8_t first = vandq_u16( vcleq_s16( vld1q_s16( boxes->lower[0] + at ), upper[0] ),
        vcleq_s16( lower[0], vld1q_s16( boxes->upper[0] + at ) ) );
    uint16x8_t second = vandq_u16( vcleq_s16( vld1q_s16( boxes->lower[1] + at ), upper[1] ),
        vcleq_s16( lower[1], vld1q_s16( boxes->upper[1] + at ) ) );
    return vaddvq_u16( vandq_u16( vandq_u16( first, second ), weights ) );
}

static inline uint32_t small_round(
    const small_wide lower[2], const small_wide upper[2], const simd_small_boxes* boxes, uint32_t at )
{
    uint32_t bits = small_step( lower, upper, boxes, at );
    bits |= small_step( lower, upper, boxes, at + 8 ) << 8;
    bits |= small_step( lower, upper, boxes, at + 16 ) << 16;
    return bits | small_step( lower, upper, boxes, at + 24 ) << 24;
}

// Slot and mark, read as floats, would be denormals, with which arithmetic may be slow: they are set to 0.
static inline int16x4_t small_steps( float32x4_t bounds, float32x4_t origin, float32x4_t scale )
{
    bounds = vsetq_lane_f32( 0, bounds, 3 );
    float32x4_t steps = vmulq_f32( vsubq_f32( bounds, origin ), scale );
    float32x4_t zero = vdupq_n_f32( 0 );
    float32x4_t most = vdupq_n_f32( SMALL_MOST );
    steps = vbslq_f32( vcgtq_f32( steps, zero ), steps, zero ); // NaN is not greater
    steps = vbslq_f32( vcltq_f32( steps, most ), steps, most );
    return vmovn_s32( vcvtq_s32_f32( steps ) );
}

// The halves overlap in the lane that is not used.
static inline void store_small( simd_small_item* small, int16x4_t lower, int16x4_t upper, uint32_t slot )
{
    vst1_s16( small->lower, lower );
    vst1_s16( small->upper, upper );
    small->slot = slot;
}

static void make_small(
    const simd_item* items, uint32_t count, const simd_small_grid* grid, simd_small_item* small )
{
    float32x4_t origin = vld1q_f32( grid->origin );
    float32x4_t scale = vld1q_f32( grid->scale );
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* bounds = (const float*)(const void*)&items[i];
        int16x4_t lower = small_steps( vld1q_f32( bounds ), origin, scale );
        int16x4_t upper = small_steps( vld1q_f32( bounds + 4 ), origin, scale );
        store_small( &small[i], lower, upper, items[i].slot );
    }
}

static void gather_small( const clv_aabb* boxes, const uint32_t* slots, uint32_t count,
    const simd_small_grid* grid, simd_small_item* small )
{
    float32x4_t origin = vld1q_f32( grid->origin );
    float32x4_t scale = vld1q_f32( grid->scale );
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* box = &boxes[slots[i]].lower.x;
        float32x4_t last = vld1q_f32( box + 2 );
        int16x4_t lower = small_steps( vld1q_f32( box ), origin, scale );
        int16x4_t upper = small_steps( vextq_f32( last, last, 1 ), origin, scale );
        store_small( &small[i], lower, upper, slots[i] );
    }
}

static void spread_small( const simd_small_item* items, uint32_t begin, uint32_t end,
    const simd_small_turn* turn, const simd_small_boxes* boxes )
{
    for ( uint32_t at = begin; at < end; ++at )
    {
        simd_small_set( boxes, at, &items[at], turn );
    }
}

// A box is six floats; two registers of four hold them all, two of them twice.
static uint32_t take_leavers( const clv_aabb* boxes, const float lower[3], const float upper[3],
    uint32_t* slots, uint32_t count, uint32_t* leavers )
{
    const float32x4_t least = { lower[0], lower[1], lower[2], -INFINITY };
    const float32x4_t most = { INFINITY, upper[0], upper[1], upper[2] };
    uint32_t left = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t slot = slots[i];
        const float* box = &boxes[slot].lower.x;
        uint32x4_t inside =
            vandq_u32( vcgeq_f32( vld1q_f32( box ), least ), vcltq_f32( vld1q_f32( box + 2 ), most ) );
        // Branch-free, both written and one kept: a branch on whether a box left mispredicts.
        slots[i - left] = slot;
        leavers[left] = slot;
        left += vminvq_u32( inside ) == 0;
    }
    return left;
}

static uint32_t pick_overlapping(
    const clv_aabb* boxes, const uint32_t* slots, uint32_t count, const clv_aabb* box, uint32_t* hits )
{
    const float32x4_t most = { box->upper.x, box->upper.y, box->upper.z, INFINITY };
    const float32x4_t least = { -INFINITY, box->lower.x, box->lower.y, box->lower.z };
    uint32_t hit_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* other = &boxes[slots[i]].lower.x;
        uint32x4_t overlap =
            vandq_u32( vcleq_f32( vld1q_f32( other ), most ), vcgeq_f32( vld1q_f32( other + 2 ), least ) );
        hits[hit_count] = slots[i];
        hit_count += vminvq_u32( overlap ) != 0;
    }
    return hit_count;
}

static uint32_t scan_overlapping( const clv_aabb* boxes, uint32_t count, const clv_aabb* box, uint32_t* hits )
{
    const float32x4_t most = { box->upper.x, box->upper.y, box->upper.z, INFINITY };
    const float32x4_t least = { -INFINITY, box->lower.x, box->lower.y, box->lower.z };
    uint32_t hit_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* other = &boxes[i].lower.x;
        uint32x4_t overlap =
            vandq_u32( vcleq_f32( vld1q_f32( other ), most ), vcgeq_f32( vld1q_f32( other + 2 ), least ) );
        hits[hit_count] = i;
        hit_count += vminvq_u32( overlap ) != 0;
    }
    return hit_count;
}

static uint32_t keep_overlapping(
    const clv_aabb* boxes, const clv_pair* pairs, uint32_t count, clv_pair* kept )
{
    const uint32x4_t no_matter = { 0, 0, 0, UINT32_MAX };
    uint32_t kept_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* a = &boxes[pairs[i].a].lower.x;
        const float* b = &boxes[pairs[i].b].lower.x;
        // Lower z and the upper corner, moved down by one; the fourth lane is not used.
        float32x4_t a_upper = vld1q_f32( a + 2 ), b_upper = vld1q_f32( b + 2 );
        a_upper = vextq_f32( a_upper, a_upper, 1 );
        b_upper = vextq_f32( b_upper, b_upper, 1 );
        uint32x4_t overlap =
            vandq_u32( vcleq_f32( vld1q_f32( a ), b_upper ), vcleq_f32( vld1q_f32( b ), a_upper ) );
        kept[kept_count] = pairs[i];
        kept_count += vminvq_u32( vorrq_u32( overlap, no_matter ) ) != 0;
    }
    return kept_count;
}

// Boxes as above: lower corner and upper x, lower z and upper corner. What both registers hold comes out the same.
static uint64_t regrow( const clv_aabb* boxes, clv_aabb* grown, uint32_t count, float epsilon )
{
    const float32x4_t outward0 = { -epsilon, -epsilon, -epsilon, epsilon };
    const float32x4_t outward1 = { -epsilon, epsilon, epsilon, epsilon };
    const float32x4_t depth = vdupq_n_f32( 2 * epsilon );
    const uint32x4_t not_lower = { 0, 0, 0, UINT32_MAX };
    const uint32x4_t not_upper = { UINT32_MAX, 0, 0, 0 };
    uint64_t bits = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* box = &boxes[i].lower.x;
        float* old = &grown[i].lower.x;
        float32x4_t box0 = vld1q_f32( box ), box1 = vld1q_f32( box + 2 );
        float32x4_t old0 = vld1q_f32( old ), old1 = vld1q_f32( old + 2 );
        uint32x4_t above = vorrq_u32(
            vandq_u32( vcgeq_f32( box0, old0 ), vcleq_f32( box0, vaddq_f32( old0, depth ) ) ), not_lower );
        uint32x4_t below = vorrq_u32(
            vandq_u32( vcleq_f32( box1, old1 ), vcgeq_f32( box1, vsubq_f32( old1, depth ) ) ), not_upper );
        if ( vminvq_u32( vandq_u32( above, below ) ) == 0 )
        {
            vst1q_f32( old, vaddq_f32( box0, outward0 ) );
            vst1q_f32( old + 2, vaddq_f32( box1, outward1 ) );
            bits |= (uint64_t)1 << i;
        }
    }
    return bits;
}

#include "simd/small_body.h"

const simd_method_kernels clv_simd_method_kernels_neon = { CLV_ISA_NEON, test_block, sweep, sweep_cross,
    sweep_movers, take_leavers, pick_overlapping, scan_overlapping, keep_overlapping, regrow, make_small,
    gather_small, spread_small, sweep_small, cross_small };

#endif
