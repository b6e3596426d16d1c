// SPDX-License-Identifier: MIT
// Compiled to nothing where the baseline of the target has no SSE2.
#include "simd/kernels.h"

#ifdef CLV_HAVE_SSE2

#include "base/bits.h"
#include "simd/cells.h"

#include <math.h>

#include <emmintrin.h>

#define WIDE_LANES 4
typedef __m128 wide;
typedef __m128 wide_mask;

static inline wide wide_load( const float* p )
{
    return _mm_load_ps( p );
}

static inline wide wide_splat( float f )
{
    return _mm_set1_ps( f );
}

static inline wide_mask wide_le( wide a, wide b )
{
    return _mm_cmple_ps( a, b );
}

static inline wide_mask wide_le_and( wide_mask m, wide a, wide b )
{
    return _mm_and_ps( m, _mm_cmple_ps( a, b ) );
}

static inline uint32_t wide_bits( wide_mask m )
{
    return (uint32_t)_mm_movemask_ps( m );
}

#include "simd/kernel_body.h"

#include "simd/cross_body.h"

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

#include "simd/box_x86_body.h"

#include "simd/strays_x86.h"

#include "simd/small_body.h"

const simd_kernels simd_kernels_sse2 = { CLV_ISA_SSE2, test_block, sweep, sweep_cross, take_leavers,
    pick_overlapping, scan_overlapping, keep_overlapping, are_good, regrow, find_strays, find_touching,
    make_small, gather_small, spread_small, sweep_small, cross_small, &simd_cells_sse2 };

#endif
