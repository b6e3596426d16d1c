// SPDX-License-Identifier: MIT
// Compiled to nothing where the baseline of the target has no SSE2.
#include "simd/cells.h"

#ifdef CLV_HAVE_SSE2

#include "base/bits.h"
#include "simd/scaling.h"

#include <emmintrin.h>

#define BYTE_LANES 16
typedef __m128i bytes;

static inline bytes bytes_load( const uint8_t* p )
{
    return _mm_load_si128( (const __m128i*)(const void*)p );
}

static inline bytes bytes_splat( uint8_t b )
{
    return _mm_set1_epi8( (char)b );
}

static inline bytes bytes_excess( bytes a, bytes b )
{
    return _mm_subs_epu8( a, b );
}

static inline bytes bytes_or( bytes a, bytes b )
{
    return _mm_or_si128( a, b );
}

static inline uint32_t bytes_zero_bits( bytes a )
{
    return (uint32_t)_mm_movemask_epi8( _mm_cmpeq_epi8( a, _mm_setzero_si128() ) );
}

static inline bytes bytes_and( bytes a, bytes b )
{
    return _mm_and_si128( a, b );
}

// A record in two registers.
typedef struct record
{
    __m128 lower, upper;
} record;

static inline record record_load( const cell_box* box )
{
    return ( record ){ _mm_load_ps( box->lower ), _mm_load_ps( box->upper ) };
}

static inline void record_store( cell_box* box, record r )
{
    _mm_store_ps( box->lower, r.lower );
    _mm_store_ps( box->upper, r.upper );
}

// lower x y z and slot, upper x y z and 0, from six floats in a row.
static inline record record_from( const clv_aabb* box, uint32_t slot )
{
    const __m128 corner = _mm_castsi128_ps( _mm_set_epi32( 0, -1, -1, -1 ) );
    __m128 lower = _mm_and_ps( _mm_loadu_ps( &box->lower.x ), corner );
    __m128 upper = _mm_loadu_ps( &box->lower.z );
    __m128i name = _mm_slli_si128( _mm_cvtsi32_si128( (int32_t)slot ), 12 );
    lower = _mm_or_ps( lower, _mm_castsi128_ps( name ) );
    upper = _mm_and_ps( _mm_shuffle_ps( upper, upper, 0x39 ), corner );
    return ( record ){ lower, upper };
}

static inline __m128i fixed_corner(
    __m128 corner, const float* origin, const float* scale, const float* most )
{
    const __m128 floats = _mm_castsi128_ps( _mm_set_epi32( 0, -1, -1, -1 ) );
    __m128 v = _mm_and_ps( corner, floats );
    v = _mm_mul_ps( _mm_sub_ps( v, _mm_loadu_ps( origin ) ), _mm_loadu_ps( scale ) );
    v = _mm_min_ps( _mm_max_ps( v, _mm_setzero_ps() ), _mm_loadu_ps( most ) );
    return _mm_cvttps_epi32( v );
}

static inline cell_span fixed_of( record r, const scaling* s, int16_t out[8] )
{
    __m128i lower = fixed_corner( r.lower, s->origin, s->scale, s->most );
    __m128i upper = fixed_corner( r.upper, s->origin + 4, s->scale + 4, s->most + 4 );
    __m128i words = _mm_packs_epi32( lower, upper );
    _mm_store_si128( (__m128i*)(void*)out, words );
    cell_span span;
    _mm_storeu_si128( (__m128i*)(void*)&span, _mm_srli_epi16( words, 8 ) );
    return span;
}

#include "simd/cells_x86.h"

#include "simd/cell_body.h"

#include "simd/block_body.h"

const simd_cells simd_cells_sse2 = { search_block, block_histogram, block_assign, block_scatter };

#endif
