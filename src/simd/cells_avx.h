// SPDX-License-Identifier: MIT
// What the cell kernels of AVX2 and AVX-512 share: a record of eight words in one register.
// No include guard: part of a template, see cell_body.h.

// A record in one register.
typedef __m256 record;

static inline record record_load( const cell_box* box )
{
    return _mm256_load_ps( box->lower );
}

static inline void record_store( cell_box* box, record r )
{
    _mm256_store_ps( box->lower, r );
}

// lower x y z and slot, upper x y z and 0, from six floats in a row.
static inline record record_from( const clv_aabb* box, uint32_t slot )
{
    __m128 lower = _mm_loadu_ps( &box->lower.x );
    __m128 upper = _mm_loadu_ps( &box->lower.z );
    __m128 name = _mm_castsi128_ps( _mm_cvtsi32_si128( (int32_t)slot ) );
    lower = _mm_insert_ps( lower, name, 0x30 );
    upper = _mm_blend_ps( _mm_shuffle_ps( upper, upper, 0x39 ), _mm_setzero_ps(), 8 );
    return _mm256_insertf128_ps( _mm256_castps128_ps256( lower ), upper, 1 );
}

// The two words of a record that are no coordinates read as 0.
static inline cell_span fixed_of( record r, const scaling* s, int16_t out[8] )
{
    const __m256 floats = _mm256_castsi256_ps( _mm256_set_epi32( 0, -1, -1, -1, 0, -1, -1, -1 ) );
    __m256 v = _mm256_and_ps( r, floats );
    v = _mm256_mul_ps( _mm256_sub_ps( v, _mm256_loadu_ps( s->origin ) ), _mm256_loadu_ps( s->scale ) );
    v = _mm256_min_ps( _mm256_max_ps( v, _mm256_setzero_ps() ), _mm256_loadu_ps( s->most ) );
    __m256i whole = _mm256_cvttps_epi32( v );
    __m128i words = _mm_packs_epi32( _mm256_castsi256_si128( whole ), _mm256_extracti128_si256( whole, 1 ) );
    _mm_store_si128( (__m128i*)(void*)out, words );
    __m128i cells = _mm_srli_epi16( words, 8 );
    return ( cell_span ){ (uint64_t)_mm_cvtsi128_si64( cells ), (uint64_t)_mm_extract_epi64( cells, 1 ) };
}
