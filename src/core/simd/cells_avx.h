// SPDX-License-Identifier: MIT
// What the cell kernels of AVX2 and AVX-512 share: six coordinates in one register.
// No include guard: part of a template, see cell_body.h.

// The two words that are no coordinates have a scale of 0: an infinity there becomes NaN, and max takes the 0.
static inline __m128i words_of( const clv_aabb* box, const scaling* s )
{
    __m128 lower = _mm_loadu_ps( &box->lower.x );
    __m128 upper = _mm_loadu_ps( &box->lower.z );
    upper = _mm_shuffle_ps( upper, upper, 0x39 );
    __m256 v = _mm256_insertf128_ps( _mm256_castps128_ps256( lower ), upper, 1 );
    v = _mm256_mul_ps( _mm256_sub_ps( v, _mm256_loadu_ps( s->origin ) ), _mm256_loadu_ps( s->scale ) );
    v = _mm256_min_ps( _mm256_max_ps( v, _mm256_setzero_ps() ), _mm256_loadu_ps( s->most ) );
    __m256i whole = _mm256_cvttps_epi32( v );
    return _mm_packs_epi32( _mm256_castsi256_si128( whole ), _mm256_extracti128_si256( whole, 1 ) );
}
