// SPDX-License-Identifier: MIT
// What the cell kernels of all x86 instruction sets share: codes of eight bytes in registers of sixteen.
// No include guard: part of a template, see cell_body.h.

static inline uint64_t code_of( const int16_t* fixed, const int16_t* base )
{
    __m128i f = _mm_load_si128( (const __m128i*)(const void*)fixed );
    __m128i relative = _mm_sub_epi16( f, _mm_load_si128( (const __m128i*)(const void*)base ) );
    __m128i packed = _mm_min_epu8( _mm_packus_epi16( relative, relative ), _mm_set1_epi8( (char)254 ) );
    uint64_t code;
    _mm_storel_epi64( (__m128i*)(void*)&code, packed );
    return code;
}

static inline void transpose_codes( const uint64_t* codes, uint8_t* lanes, size_t stride, uint64_t* rows )
{
    const __m128i turn_row = _mm_set_epi32( 0x00FFFFFF, 0, 0x00FFFFFF, 0 );
    const __m128i turn_lanes = _mm_set1_epi8( (char)255 );
    __m128i a[8], b[8];
    for ( int i = 0; i < 8; ++i )
    {
        a[i] = _mm_loadu_si128( (const __m128i*)(const void*)( codes + 2 * i ) );
        // Upper first, then the complemented lower; the before bits come last.
        __m128i row = _mm_xor_si128( _mm_shuffle_epi32( a[i], 0xB1 ), turn_row );
        _mm_store_si128( (__m128i*)(void*)( rows + 2 * i ), row );
    }
    // Four rounds of perfect shuffles turn 16 codes of 8 bytes into 8 rows of 16.
    for ( int round = 0; round < 4; ++round )
    {
        for ( int i = 0; i < 4; ++i )
        {
            b[2 * i] = _mm_unpacklo_epi8( a[i], a[i + 4] );
            b[2 * i + 1] = _mm_unpackhi_epi8( a[i], a[i + 4] );
        }
        for ( int i = 0; i < 8; ++i )
        {
            a[i] = b[i];
        }
    }
    for ( int i = 0; i < 7; ++i )
    {
        __m128i row = i >= 4 ? _mm_xor_si128( a[i], turn_lanes ) : a[i];
        _mm_store_si128( (__m128i*)(void*)( lanes + (size_t)i * stride ), row );
    }
}
