// SPDX-License-Identifier: MIT
// Compiled to nothing where the baseline of the target has no SSE2.
#include "simd/cells.h"

#ifdef CLV_HAVE_SSE2

#include "base/bits.h"

#include <emmintrin.h>

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

#include "simd/cells_meet.h"

static inline byte_box row_of( const cell_entry* entry )
{
    __m128i code = _mm_loadl_epi64( (const __m128i*)(const void*)&entry->code );
    __m128i twice = _mm_unpacklo_epi8( code, code );
    __m128i lower = _mm_unpacklo_epi16( twice, twice ), upper = _mm_unpackhi_epi16( twice, twice );
    return ( byte_box ){
        { _mm_shuffle_epi32( lower, 0x00 ), _mm_shuffle_epi32( lower, 0x55 ),
            _mm_shuffle_epi32( lower, 0xAA ) },
        { _mm_shuffle_epi32( upper, 0x00 ), _mm_shuffle_epi32( upper, 0x55 ),
            _mm_shuffle_epi32( upper, 0xAA ) },
    };
}

static inline __m128i words_of_corner(
    __m128 corner, const float* origin, const float* scale, const float* most )
{
    __m128 v = _mm_mul_ps( _mm_sub_ps( corner, _mm_loadu_ps( origin ) ), _mm_loadu_ps( scale ) );
    v = _mm_min_ps( _mm_max_ps( v, _mm_setzero_ps() ), _mm_loadu_ps( most ) );
    return _mm_cvttps_epi32( v );
}

// The two words that are no coordinates have a scale of 0: an infinity there becomes NaN, and max takes the 0.
static inline __m128i words_of( const clv_aabb* box, const scaling* s )
{
    __m128 upper = _mm_loadu_ps( &box->lower.z );
    upper = _mm_shuffle_ps( upper, upper, 0x39 );
    return _mm_packs_epi32( words_of_corner( _mm_loadu_ps( &box->lower.x ), s->origin, s->scale, s->most ),
        words_of_corner( upper, s->origin + 4, s->scale + 4, s->most + 4 ) );
}

#include "simd/cells_x86.h"

#include "simd/hit_plain.h"

#include "simd/hits_plain.h"

#include "simd/records_plain.h"

#include "simd/record_body.h"

#include "simd/cell_body.h"

const simd_cells clv_simd_cells_sse2 = {
    .make_records = make_records,
    .make_records_by = make_records_by,
    .put_records_by = put_records_by,
    .find_reaches = find_reaches,
    .search_cell = search_cell,
    .settle_ties = settle_ties,
};

#endif
