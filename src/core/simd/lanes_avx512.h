// SPDX-License-Identifier: MIT
// The registers of AVX-512, as kernel_body.h, query_body.h and cell_body.h want them. From here to
// TARGET_END functions are compiled for AVX-512 (F, BW, DQ, VL, VBMI, VBMI2), whatever the flags say: a
// file is the table it is, under -march=native as without any flag. After the other includes: what they
// define stays as it is everywhere else. No include guard: part of a template.
#include <immintrin.h>

#if defined( __clang__ )
#pragma clang attribute push(                                                                                \
    __attribute__( (                                                                                         \
        target( "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi,lzcnt,popcnt" ) ) ),          \
    apply_to = function )
#else
#pragma GCC push_options
#pragma GCC target( "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi,lzcnt,popcnt" )
#endif

#include "simd/lanes_x86.h"

#include "simd/lanes_avx.h"

#define WIDE_LANES 16
typedef __m512 wide;
typedef __mmask16 wide_mask;

SIMD_ONE( wide_load, wide, const float*, _mm512_load_ps )
SIMD_ONE( wide_load_any, wide, const float*, _mm512_loadu_ps )
SIMD_ONE( wide_splat, wide, float, _mm512_set1_ps )

static inline wide_mask wide_le( wide a, wide b )
{
    return _mm512_cmp_ps_mask( a, b, _CMP_LE_OQ );
}

static inline wide_mask wide_le_and( wide_mask m, wide a, wide b )
{
    return _mm512_mask_cmp_ps_mask( m, a, b, _CMP_LE_OQ );
}

static inline uint32_t wide_bits( wide_mask m )
{
    return (uint32_t)m;
}

#define BYTE_LANES 64
typedef __m512i bytes;

SIMD_ONE( bytes_load, bytes, const uint8_t*, _mm512_load_si512 )

static inline bytes bytes_splat( uint8_t value )
{
    return _mm512_set1_epi8( (char)value );
}

static inline uint64_t bytes_zero_bits( bytes a )
{
    return _mm512_testn_epi8_mask( a, a );
}

SIMD_TWO( bytes_and, bytes, bytes, _mm512_and_si512 )

// Where two intervals meet, the later beginning is at most the earlier end.
#define OWN_MEET
static inline uint64_t bytes_meet( const bytes lane_lower[3], const bytes lane_upper[3],
    const bytes row_lower[3], const bytes row_upper[3], int axes )
{
    uint64_t all = ~(uint64_t)0;
    for ( int axis = 0; axis < axes; ++axis )
    {
        all &= _mm512_cmple_epu8_mask( _mm512_max_epu8( lane_lower[axis], row_lower[axis] ),
            _mm512_min_epu8( lane_upper[axis], row_upper[axis] ) );
    }
    return all;
}

SIMD_TWO( bytes_at_least, uint64_t, bytes, _mm512_cmpge_epu8_mask )
