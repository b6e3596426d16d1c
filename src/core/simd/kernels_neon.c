// SPDX-License-Identifier: MIT
// Compiled to nothing where the baseline of the target has no NEON.
#include "simd/kernels.h"

#ifdef CLV_HAVE_NEON

#include "base/bits.h"
#include "simd/cells.h"
#include "simd/query_lanes.h"

#include <arm_neon.h>

#include "simd/wide_neon.h"

#include "simd/kernel_body.h"

static bool are_good( const clv_aabb* boxes, uint32_t count )
{
    uint32x4_t good = vdupq_n_u32( UINT32_MAX );
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* box = &boxes[i].lower.x;
        float32x4_t last = vld1q_f32( box + 2 );
        good = vandq_u32( good, vcleq_f32( vld1q_f32( box ), vextq_f32( last, last, 1 ) ) );
    }
    return vminvq_u32( vsetq_lane_u32( UINT32_MAX, good, 3 ) ) != 0; // the fourth lane means nothing
}

// The fourth lane means nothing.
static inline bool is_near( float32x4_t face, float32x4_t rest )
{
    const uint32x4_t no_matter = { 0, 0, 0, UINT32_MAX };
    float32x4_t margin = vdupq_laneq_f32( rest, 3 );
    uint32x4_t near = vandq_u32(
        vcleq_f32( vsubq_f32( rest, margin ), face ), vcleq_f32( face, vaddq_f32( rest, margin ) ) );
    return vminvq_u32( vorrq_u32( near, no_matter ) ) != 0;
}

static uint64_t find_strays( const clv_aabb* boxes, const simd_rest_box* rests, uint32_t count )
{
    uint64_t bits = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* box = &boxes[i].lower.x;
        float32x4_t last = vld1q_f32( box + 2 );
        bool rests_here = is_near( vld1q_f32( box ), vld1q_f32( rests[i].lower ) ) &
            is_near( vextq_f32( last, last, 1 ), vld1q_f32( rests[i].upper ) );
        bits |= (uint64_t)!rests_here << i;
    }
    return bits;
}

static uint64_t find_touching( const clv_aabb* boxes, const clv_pair* pairs, uint32_t count )
{
    const uint32x4_t no_matter = { 0, 0, 0, UINT32_MAX };
    uint64_t bits = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* a = &boxes[pairs[i].a].lower.x;
        const float* b = &boxes[pairs[i].b].lower.x;
        // Lower z and the upper corner, moved down by one; the fourth lane means nothing.
        float32x4_t a_upper = vld1q_f32( a + 2 ), b_upper = vld1q_f32( b + 2 );
        a_upper = vextq_f32( a_upper, a_upper, 1 );
        b_upper = vextq_f32( b_upper, b_upper, 1 );
        uint32x4_t overlap =
            vandq_u32( vcleq_f32( vld1q_f32( a ), b_upper ), vcleq_f32( vld1q_f32( b ), a_upper ) );
        bits |= (uint64_t)( vminvq_u32( vorrq_u32( overlap, no_matter ) ) != 0 ) << i;
    }
    return bits;
}

const simd_kernels clv_simd_kernels_neon = { CLV_ISA_NEON, test_block, are_good, find_strays, find_touching,
    &clv_simd_cells_neon, &clv_simd_queries_neon };

#endif
