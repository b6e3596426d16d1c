// SPDX-License-Identifier: MIT
// What the cell kernels of all x86 instruction sets share: records and codes in registers of sixteen bytes.
// No include guard: part of a template, see cell_body.h.

typedef __m128i words;

static inline words words_load( const cell_record* record )
{
    return _mm_load_si128( (const __m128i*)(const void*)record );
}

static inline void words_store( cell_record* record, words w, uint32_t name )
{
    w = _mm_insert_epi16( w, (int16_t)( name & 0xFFFF ), 3 );
    w = _mm_insert_epi16( w, (int16_t)( name >> 16 ), 7 );
    _mm_store_si128( (__m128i*)(void*)record, w );
}

static inline uint64_t low_half( __m128i v )
{
    uint64_t low;
    _mm_storel_epi64( (__m128i*)(void*)&low, v );
    return low;
}

static inline cell_span words_span( words w )
{
    __m128i cells = _mm_srli_epi16( w, 8 );
    return ( cell_span ){ low_half( cells ), low_half( _mm_srli_si128( cells, 8 ) ) };
}

static inline cell_key words_key( words w, const key_weights* weights )
{
    __m128i cells = _mm_srli_epi16( w, 8 );
    __m128i sums = _mm_madd_epi16( cells, _mm_loadu_si128( (const __m128i*)(const void*)weights->by_axis ) );
    uint64_t both = low_half( sums ); // x and y, z
    __m128i size = _mm_sub_epi16( _mm_srli_si128( cells, 8 ), cells );
    __m128i two = _mm_cmpgt_epi16( size, _mm_setzero_si128() );
    __m128i more = _mm_cmpgt_epi16( size, _mm_set1_epi16( 1 ) );
    uint32_t bits = (uint32_t)_mm_movemask_epi8( _mm_packs_epi16( two, more ) );
    return ( cell_key ){ (uint32_t)both + (uint32_t)( both >> 32 ), bits & 7, ( bits & 0x700 ) != 0 };
}

static inline words words_from_cell( words w )
{
    __m128i cell = _mm_and_si128( w, _mm_set1_epi16( (short)0xFF00 ) );
    return _mm_sub_epi16( w, _mm_unpacklo_epi64( cell, cell ) );
}

static inline void words_put( cell_entry* entry, words w, uint32_t before, uint32_t slot, uint32_t corner )
{
    static const int16_t steps[8][8] __attribute__( ( aligned( 16 ) ) ) = {
        { 0, 0, 0, 0, 0, 0, 0, 0 },
        { 256, 0, 0, 0, 256, 0, 0, 0 },
        { 0, 256, 0, 0, 0, 256, 0, 0 },
        { 256, 256, 0, 0, 256, 256, 0, 0 },
        { 0, 0, 256, 0, 0, 0, 256, 0 },
        { 256, 0, 256, 0, 256, 0, 256, 0 },
        { 0, 256, 256, 0, 0, 256, 256, 0 },
        { 256, 256, 256, 0, 256, 256, 256, 0 },
    };
    const __m128i coordinates = _mm_set1_epi32( 0x00FFFFFF );
    w = _mm_sub_epi16( w, _mm_load_si128( (const __m128i*)(const void*)steps[corner] ) );
    __m128i code = _mm_min_epu8( _mm_packus_epi16( w, w ), _mm_set1_epi8( (char)254 ) );
    __m128i bits = _mm_cvtsi32_si128( (int)( ( before | corner ) << 24 ) );
    code = _mm_or_si128( _mm_and_si128( code, coordinates ), bits );
    code = _mm_unpacklo_epi64( code, _mm_cvtsi32_si128( (int)slot ) );
    _mm_store_si128( (__m128i*)(void*)entry, code );
}

static inline void spread_row( uint64_t code, cell_row* row )
{
    __m128i bytes8 = _mm_loadl_epi64( (const __m128i*)(const void*)&code );
    __m128i twice = _mm_unpacklo_epi8( bytes8, bytes8 );
    __m128i lower = _mm_unpacklo_epi16( twice, twice );
    __m128i upper = _mm_unpackhi_epi16( twice, twice );
    _mm_store_si128( (__m128i*)(void*)row->bytes, upper );
    _mm_store_si128( (__m128i*)(void*)( row->bytes + 4 ), _mm_xor_si128( lower, _mm_set1_epi8( -1 ) ) );
}

static inline void transpose_codes( const cell_entry* entries, uint8_t* lanes, size_t stride )
{
    const __m128i turn = _mm_set1_epi8( -1 );
    __m128i a[8], b[8];
    for ( int i = 0; i < 8; ++i )
    {
        a[i] = _mm_unpacklo_epi64( _mm_load_si128( (const __m128i*)(const void*)( entries + 2 * i ) ),
            _mm_load_si128( (const __m128i*)(const void*)( entries + 2 * i + 1 ) ) );
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
        __m128i row = i >= 4 ? _mm_xor_si128( a[i], turn ) : a[i];
        _mm_store_si128( (__m128i*)(void*)( lanes + (size_t)i * stride ), row );
    }
}
