// SPDX-License-Identifier: MIT
// Compiled to nothing where the baseline of the target has no NEON.
#include "simd/method_kernels.h"

#ifdef CLV_HAVE_NEON

#include "base/bits.h"

#include <math.h>

#include "simd/lanes_neon.h"

#include "simd/kernel_body.h"

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

// Corners become 16-bit numbers. The halves overlap in the lane that is not used.
static inline void store_small( simd_small_item* small, four lower, four upper, uint32_t slot )
{
    vst1_s16( small->lower, vmovn_s32( vcvtq_s32_f32( lower ) ) );
    vst1_s16( small->upper, vmovn_s32( vcvtq_s32_f32( upper ) ) );
    small->slot = slot;
}

static void spread_small( const simd_small_item* items, uint32_t begin, uint32_t end,
    const simd_small_turn* turn, const simd_small_boxes* boxes )
{
    for ( uint32_t at = begin; at < end; ++at )
    {
        simd_small_set( boxes, at, &items[at], turn );
    }
}

#include "simd/method_body.h"

const simd_method_kernels clv_simd_method_kernels_neon = { CLV_ISA_NEON, test_block, sweep, sweep_cross,
    sweep_movers, take_leavers, pick_overlapping, scan_overlapping, keep_overlapping, regrow, make_small,
    gather_small, spread_small, sweep_small, cross_small };

#endif
