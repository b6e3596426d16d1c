// SPDX-License-Identifier: MIT
// What AVX2 and AVX-512 share: the end of their target, and eight floats in one register, as query_body.h
// wants them. No include guard: part of a template.

// Closes what lanes_avx2.h or lanes_avx512.h opened.
#if defined( __clang__ )
#define TARGET_END _Pragma( "clang attribute pop" )
#else
#define TARGET_END _Pragma( "GCC pop_options" )
#endif

#define EIGHT_ALIGN _Alignas( 32 )

typedef __m256 eight;
typedef __m256 eight_mask;

SIMD_ONE( eight_load, eight, const float*, _mm256_load_ps )
SIMD_ONE( eight_load_any, eight, const float*, _mm256_loadu_ps )

static inline void eight_store( float* p, eight a )
{
    _mm256_store_ps( p, a );
}

static inline void eight_store_any( float* p, eight a )
{
    _mm256_storeu_ps( p, a );
}

SIMD_ONE( eight_splat, eight, float, _mm256_set1_ps )
SIMD_TWO( eight_sub, eight, eight, _mm256_sub_ps )
SIMD_TWO( eight_add, eight, eight, _mm256_add_ps )
SIMD_TWO( eight_mul, eight, eight, _mm256_mul_ps )
SIMD_TWO( eight_max, eight, eight, _mm256_max_ps )
SIMD_TWO( eight_min, eight, eight, _mm256_min_ps )

static inline eight_mask eight_le( eight a, eight b )
{
    return _mm256_cmp_ps( a, b, _CMP_LE_OQ );
}

SIMD_TWO( eight_and, eight_mask, eight_mask, _mm256_and_ps )

static inline uint32_t eight_bits( eight_mask m )
{
    return (uint32_t)_mm256_movemask_ps( m );
}

static inline float eight_least( eight a )
{
    __m128 quad = _mm_min_ps( _mm256_castps256_ps128( a ), _mm256_extractf128_ps( a, 1 ) );
    __m128 two = _mm_min_ps( quad, _mm_movehl_ps( quad, quad ) );
    return _mm_cvtss_f32( _mm_min_ss( two, _mm_shuffle_ps( two, two, 1 ) ) );
}

static inline float eight_most( eight a )
{
    __m128 quad = _mm_max_ps( _mm256_castps256_ps128( a ), _mm256_extractf128_ps( a, 1 ) );
    __m128 two = _mm_max_ps( quad, _mm_movehl_ps( quad, quad ) );
    return _mm_cvtss_f32( _mm_max_ss( two, _mm_shuffle_ps( two, two, 1 ) ) );
}

static inline uint32_t eight_signs( const uint32_t* p )
{
    return (uint32_t)_mm256_movemask_ps( _mm256_castsi256_ps( _mm256_load_si256( (const __m256i*)p ) ) );
}

static inline uint32_t eight_least_slot( const uint32_t* p )
{
    __m256i all = _mm256_load_si256( (const __m256i*)p );
    __m128i quad = _mm_min_epu32( _mm256_castsi256_si128( all ), _mm256_extracti128_si256( all, 1 ) );
    __m128i two = _mm_min_epu32( quad, _mm_shuffle_epi32( quad, _MM_SHUFFLE( 1, 0, 3, 2 ) ) );
    return (uint32_t)_mm_cvtsi128_si32( _mm_min_epu32( two, _mm_shuffle_epi32( two, 1 ) ) );
}

// One lane up, and 0 in the lowest.
static inline eight eight_before( eight a )
{
    __m256 up = _mm256_permutevar8x32_ps( a, _mm256_setr_epi32( 0, 0, 1, 2, 3, 4, 5, 6 ) );
    return _mm256_blend_ps( up, _mm256_setzero_ps(), 1 );
}

// The numbers from `first` on, as bits.
static inline eight eight_places( uint32_t first )
{
    return _mm256_castsi256_ps(
        _mm256_add_epi32( _mm256_set1_epi32( (int)first ), _mm256_setr_epi32( 0, 1, 2, 3, 4, 5, 6, 7 ) ) );
}

// So many lanes, the others infinite.
static inline eight eight_first( eight a, uint32_t count )
{
    __m256i is_other =
        _mm256_cmpgt_epi32( _mm256_setr_epi32( 1, 2, 3, 4, 5, 6, 7, 8 ), _mm256_set1_epi32( (int)count ) );
    return _mm256_blendv_ps( a, _mm256_set1_ps( INFINITY ), _mm256_castsi256_ps( is_other ) );
}
