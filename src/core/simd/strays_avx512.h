// SPDX-License-Identifier: MIT
// Which boxes left their rest boxes, two at a time.
// No include guard: part of a template, see box_x86_body.h.

// Two boxes at a time: lower corners in the lower halves, upper ones in the upper, the fourth lane means nothing.
static uint64_t find_strays( const clv_aabb* boxes, const simd_rest_box* rests, uint32_t count )
{
    const __m512i order = _mm512_setr_epi32( 0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11 );
    uint64_t bits = 0;
    for ( uint32_t i = 0; i < count; i += 2 )
    {
        bool is_last = i + 1 == count;
        __m512 rest = _mm512_maskz_loadu_ps( is_last ? 0x00FF : 0xFFFF, rests[i].lower );
        __m512 box = _mm512_maskz_loadu_ps( is_last ? 0x003F : 0x0FFF, &boxes[i].lower.x );
        __m512 face = _mm512_permutexvar_ps( order, box );
        __m512 margin = _mm512_shuffle_ps( rest, rest, _MM_SHUFFLE( 3, 3, 3, 3 ) );
        __mmask16 above = _mm512_cmp_ps_mask( _mm512_sub_ps( rest, margin ), face, _CMP_LE_OQ );
        __mmask16 near = _mm512_mask_cmp_ps_mask( above, face, _mm512_add_ps( rest, margin ), _CMP_LE_OQ );
        uint32_t out = ~(uint32_t)near & 0x7777;
        bits |= (uint64_t)( ( out & 0xFF ) != 0 ) << i;
        bits |= is_last ? 0 : (uint64_t)( ( out >> 8 ) != 0 ) << ( i + 1 );
    }
    return bits;
}
