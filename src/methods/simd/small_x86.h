// SPDX-License-Identifier: MIT
// Small boxes of the kind that method_body.h wants, for every x86 instruction set: items of eight 16-bit
// numbers in registers of sixteen bytes. No include guard: part of a template.

// Corners become 16-bit numbers. The halves overlap in the lane that is not used.
static inline void store_small( simd_small_item* small, four lower, four upper, uint32_t slot )
{
    __m128i packed = _mm_packs_epi32( _mm_cvttps_epi32( lower ), _mm_cvttps_epi32( upper ) );
    _mm_storel_epi64( (__m128i*)(void*)small->lower, packed );
    _mm_storel_epi64( (__m128i*)(void*)small->upper, _mm_unpackhi_epi64( packed, packed ) );
    small->slot = slot;
}

// Eight records of eight numbers turned: all lower x, all lower y, … The last two of each are the slot.
static inline void turn_small( const simd_small_item* items, __m128i columns[6], __m128i slots[2] )
{
    __m128i row[8], pair[8], quad[4];
    for ( int i = 0; i < 8; ++i )
    {
        row[i] = _mm_loadu_si128( (const __m128i*)(const void*)&items[i] );
    }
    for ( int i = 0; i < 4; ++i )
    {
        pair[i] = _mm_unpacklo_epi16( row[2 * i], row[2 * i + 1] );
        pair[i + 4] = _mm_unpackhi_epi16( row[2 * i], row[2 * i + 1] );
    }
    quad[0] = _mm_unpacklo_epi32( pair[0], pair[1] );
    quad[1] = _mm_unpacklo_epi32( pair[2], pair[3] );
    quad[2] = _mm_unpackhi_epi32( pair[0], pair[1] );
    quad[3] = _mm_unpackhi_epi32( pair[2], pair[3] );
    columns[0] = _mm_unpacklo_epi64( quad[0], quad[1] );
    columns[1] = _mm_unpackhi_epi64( quad[0], quad[1] );
    columns[2] = _mm_unpacklo_epi64( quad[2], quad[3] );
    columns[3] = _mm_unpackhi_epi64( quad[2], quad[3] );
    quad[0] = _mm_unpacklo_epi32( pair[4], pair[5] );
    quad[1] = _mm_unpacklo_epi32( pair[6], pair[7] );
    columns[4] = _mm_unpacklo_epi64( quad[0], quad[1] );
    columns[5] = _mm_unpackhi_epi64( quad[0], quad[1] );
    for ( int i = 0; i < 2; ++i )
    {
        __m128i first = _mm_unpackhi_epi32( row[4 * i], row[4 * i + 1] );
        __m128i last = _mm_unpackhi_epi32( row[4 * i + 2], row[4 * i + 3] );
        slots[i] = _mm_unpackhi_epi64( first, last );
    }
}

static inline void store_column( int16_t* to, __m128i column )
{
    _mm_storeu_si128( (__m128i*)(void*)to, column );
}

static void spread_small( const simd_small_item* items, uint32_t begin, uint32_t end,
    const simd_small_turn* turn, const simd_small_boxes* boxes )
{
    const simd_small_turn t = *turn;
    const simd_small_boxes b = *boxes;
    const __m128i shift = _mm_cvtsi32_si128( (int32_t)t.shift );
    uint32_t at = begin;
    for ( ; end - at >= 8; at += 8 )
    {
        __m128i columns[6], slots[2]; // lower x, y, z, upper x, y, z
        turn_small( &items[at], columns, slots );
        store_column( b.lower[0] + at, columns[t.second] );
        store_column( b.upper[0] + at, columns[t.second + 3] );
        store_column( b.lower[1] + at, columns[t.third] );
        store_column( b.upper[1] + at, columns[t.third + 3] );
        _mm_storeu_si128( (__m128i*)(void*)( b.slots + at ), slots[0] );
        _mm_storeu_si128( (__m128i*)(void*)( b.slots + at + 4 ), slots[1] );
        int16_t buckets[8];
        store_column( buckets, _mm_srl_epi16( columns[t.sweep + 3], shift ) );
        for ( uint32_t i = 0; i < 8; ++i )
        {
            b.ends[at + i] = t.starts[buckets[i] + 1];
        }
    }
    for ( ; at < end; ++at )
    {
        simd_small_set( boxes, at, &items[at], turn );
    }
}
