// SPDX-License-Identifier: MIT
// The registers of SSE2, as kernel_body.h, query_body.h and cell_body.h want them. No include guard: part of
// a template.
#include <emmintrin.h>

#include "simd/lanes_x86.h"

// Two floats from one place and two from another.
static inline four four_halves( const void* low, const void* high )
{
    return _mm_castpd_ps( _mm_loadh_pd( _mm_load_sd( low ), high ) );
}

#include "simd/lanes_four.h"

static inline uint32_t eight_bits( eight_mask m )
{
    return (uint32_t)( _mm_movemask_ps( m.low ) | _mm_movemask_ps( m.high ) << 4 );
}

static inline float eight_least( eight a )
{
    __m128 quad = _mm_min_ps( a.low, a.high );
    __m128 two = _mm_min_ps( quad, _mm_movehl_ps( quad, quad ) );
    return _mm_cvtss_f32( _mm_min_ss( two, _mm_shuffle_ps( two, two, 1 ) ) );
}

static inline float eight_most( eight a )
{
    __m128 quad = _mm_max_ps( a.low, a.high );
    __m128 two = _mm_max_ps( quad, _mm_movehl_ps( quad, quad ) );
    return _mm_cvtss_f32( _mm_max_ss( two, _mm_shuffle_ps( two, two, 1 ) ) );
}

static inline uint32_t eight_signs( const uint32_t* p )
{
    __m128 low = _mm_castsi128_ps( _mm_load_si128( (const __m128i*)p ) );
    __m128 high = _mm_castsi128_ps( _mm_load_si128( (const __m128i*)( p + 4 ) ) );
    return (uint32_t)( _mm_movemask_ps( low ) | _mm_movemask_ps( high ) << 4 );
}

#define BYTE_LANES 16
typedef __m128i bytes;

static inline bytes bytes_load( const uint8_t* p )
{
    return _mm_load_si128( (const __m128i*)(const void*)p );
}

static inline bytes bytes_splat( uint8_t value )
{
    return _mm_set1_epi8( (char)value );
}

SIMD_TWO( bytes_excess, bytes, bytes, _mm_subs_epu8 )
SIMD_TWO( bytes_or, bytes, bytes, _mm_or_si128 )
SIMD_TWO( bytes_and, bytes, bytes, _mm_and_si128 )

static inline uint32_t bytes_zero_bits( bytes a )
{
    return (uint32_t)_mm_movemask_epi8( _mm_cmpeq_epi8( a, _mm_setzero_si128() ) );
}
