// SPDX-License-Identifier: MIT
// Compiled to nothing where the baseline of the target has no SSE2.
#include "simd/method_kernels.h"

#ifdef CLV_HAVE_SSE2

#include "base/bits.h"

#include <math.h>

#include "simd/lanes_sse2.h"

#include "simd/kernel_body.h"

#include "simd/small_x86.h"

typedef __m128i small_wide;

static inline small_wide small_splat( int16_t value )
{
    return _mm_set1_epi16( value );
}

// Sixteen columns: two registers of eight, apart where any comparison says so.
static inline uint32_t small_apart(
    const small_wide lower[2], const small_wide upper[2], const simd_small_boxes* boxes, uint32_t at )
{
    __m128i apart[2];
    for ( uint32_t half = 0; half < 2; ++half )
    {
        uint32_t from = at + half * 8;
        __m128i l0 = _mm_loadu_si128( (const __m128i*)( boxes->lower[0] + from ) );
        __m128i u0 = _mm_loadu_si128( (const __m128i*)( boxes->upper[0] + from ) );
        __m128i l1 = _mm_loadu_si128( (const __m128i*)( boxes->lower[1] + from ) );
        __m128i u1 = _mm_loadu_si128( (const __m128i*)( boxes->upper[1] + from ) );
        __m128i first = _mm_or_si128( _mm_cmpgt_epi16( l0, upper[0] ), _mm_cmpgt_epi16( lower[0], u0 ) );
        __m128i second = _mm_or_si128( _mm_cmpgt_epi16( l1, upper[1] ), _mm_cmpgt_epi16( lower[1], u1 ) );
        apart[half] = _mm_or_si128( first, second );
    }
    return (uint32_t)_mm_movemask_epi8( _mm_packs_epi16( apart[0], apart[1] ) );
}

static inline uint32_t small_round(
    const small_wide lower[2], const small_wide upper[2], const simd_small_boxes* boxes, uint32_t at )
{
    return ~( small_apart( lower, upper, boxes, at ) | small_apart( lower, upper, boxes, at + 16 ) << 16 );
}

#include "simd/method_body.h"

const simd_method_kernels clv_simd_method_kernels_sse2 = { CLV_ISA_SSE2, test_block, sweep, sweep_cross,
    sweep_movers, take_leavers, pick_overlapping, scan_overlapping, keep_overlapping, regrow, make_small,
    gather_small, spread_small, sweep_small, cross_small };

#endif
