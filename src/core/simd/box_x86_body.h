// SPDX-License-Identifier: MIT
// Kernels that look at boxes one by one, as they lie in memory: four lanes hold most of a box, so every x86 table has the
// same ones, each compiled with its own instruction set. The file that includes this has <immintrin.h> or <emmintrin.h>.
// No include guard: this is a template.

static bool are_good( const clv_aabb* boxes, uint32_t count )
{
    __m128 good = _mm_castsi128_ps( _mm_set1_epi32( -1 ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* box = &boxes[i].lower.x;
        __m128 last = _mm_loadu_ps( box + 2 );
        last = _mm_shuffle_ps( last, last, _MM_SHUFFLE( 3, 3, 2, 1 ) );
        good = _mm_and_ps( good, _mm_cmple_ps( _mm_loadu_ps( box ), last ) );
    }
    return ( _mm_movemask_ps( good ) & 7 ) == 7; // the fourth lane means nothing
}

static uint64_t find_touching( const clv_aabb* boxes, const clv_pair* pairs, uint32_t count )
{
    uint64_t bits = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* a = &boxes[pairs[i].a].lower.x;
        const float* b = &boxes[pairs[i].b].lower.x;
        // Lower z and the upper corner, moved down by one; the fourth lane means nothing.
        __m128 a_upper = _mm_loadu_ps( a + 2 ), b_upper = _mm_loadu_ps( b + 2 );
        a_upper = _mm_shuffle_ps( a_upper, a_upper, _MM_SHUFFLE( 3, 3, 2, 1 ) );
        b_upper = _mm_shuffle_ps( b_upper, b_upper, _MM_SHUFFLE( 3, 3, 2, 1 ) );
        __m128 overlap = _mm_and_ps(
            _mm_cmple_ps( _mm_loadu_ps( a ), b_upper ), _mm_cmple_ps( _mm_loadu_ps( b ), a_upper ) );
        bits |= (uint64_t)( ( _mm_movemask_ps( overlap ) & 7 ) == 7 ) << i;
    }
    return bits;
}
