// SPDX-License-Identifier: MIT
// The registers of AVX2, as kernel_body.h, query_body.h and cell_body.h want them. From here to TARGET_END
// functions are compiled for AVX2, whatever the flags say: a file is the table it is, under -march=native as
// without any flag. After the other includes: what they define stays as it is everywhere else. No include
// guard: part of a template.
#include <immintrin.h>

#if defined( __clang__ )
#pragma clang attribute push( __attribute__( ( target( "avx2,bmi,lzcnt,popcnt" ) ) ), apply_to = function )
#else
#pragma GCC push_options
#pragma GCC target( "avx2,bmi,lzcnt,popcnt" )
#endif

#include "simd/lanes_x86.h"

#include "simd/lanes_avx.h"

#define WIDE_LANES 8
typedef __m256 wide;
typedef __m256 wide_mask;

SIMD_ONE( wide_load, wide, const float*, _mm256_load_ps )
SIMD_ONE( wide_load_any, wide, const float*, _mm256_loadu_ps )
SIMD_ONE( wide_splat, wide, float, _mm256_set1_ps )

static inline wide_mask wide_le( wide a, wide b )
{
    return _mm256_cmp_ps( a, b, _CMP_LE_OQ );
}

static inline wide_mask wide_le_and( wide_mask m, wide a, wide b )
{
    return _mm256_and_ps( m, _mm256_cmp_ps( a, b, _CMP_LE_OQ ) );
}

static inline uint32_t wide_bits( wide_mask m )
{
    return (uint32_t)_mm256_movemask_ps( m );
}

#define BYTE_LANES 32
typedef __m256i bytes;

static inline bytes bytes_load( const uint8_t* p )
{
    return _mm256_load_si256( (const __m256i*)(const void*)p );
}

static inline bytes bytes_splat( uint8_t value )
{
    return _mm256_set1_epi8( (char)value );
}

SIMD_TWO( bytes_excess, bytes, bytes, _mm256_subs_epu8 )
SIMD_TWO( bytes_or, bytes, bytes, _mm256_or_si256 )

static inline uint32_t bytes_zero_bits( bytes a )
{
    return (uint32_t)_mm256_movemask_epi8( _mm256_cmpeq_epi8( a, _mm256_setzero_si256() ) );
}

SIMD_TWO( bytes_and, bytes, bytes, _mm256_and_si256 )
