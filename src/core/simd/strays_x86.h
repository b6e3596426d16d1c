// SPDX-License-Identifier: MIT
// Which boxes left their rest boxes, one box at a time: for SSE2 and AVX2.
// No include guard: part of a template, see box_x86_body.h.

// The fourth lane means nothing.
static inline bool is_near( __m128 face, __m128 rest )
{
    __m128 margin = _mm_shuffle_ps( rest, rest, _MM_SHUFFLE( 3, 3, 3, 3 ) );
    __m128 above = _mm_cmple_ps( _mm_sub_ps( rest, margin ), face );
    __m128 below = _mm_cmple_ps( face, _mm_add_ps( rest, margin ) );
    return ( _mm_movemask_ps( _mm_and_ps( above, below ) ) & 7 ) == 7;
}

static uint64_t find_strays( const clv_aabb* boxes, const simd_rest_box* rests, uint32_t count )
{
    uint64_t bits = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* box = &boxes[i].lower.x;
        __m128 upper = _mm_loadu_ps( box + 2 );
        upper = _mm_shuffle_ps( upper, upper, _MM_SHUFFLE( 3, 3, 2, 1 ) );
        bool lower_is_near = is_near( _mm_loadu_ps( box ), _mm_loadu_ps( rests[i].lower ) );
        bool upper_is_near = is_near( upper, _mm_loadu_ps( rests[i].upper ) );
        bits |= ( uint64_t ) !( lower_is_near & upper_is_near ) << i;
    }
    return bits;
}
