// SPDX-License-Identifier: MIT
// What the cell kernels of all x86 instruction sets share: records and codes in registers of sixteen bytes.
// No include guard: part of a template, see cell_body.h.

typedef __m128i words;

static inline void store_record( cell_record* out, __m128i record, bool streams )
{
    if ( streams )
    {
        _mm_stream_si128( (__m128i*)(void*)out, record );
    }
    else
    {
        _mm_storeu_si128( (__m128i*)(void*)out, record );
    }
}

#define OWN_STREAM
static inline void stream_record( cell_record* out, cell_record record )
{
    store_record( out, _mm_set_epi64x( (long long)record.name, (long long)record.code ), true );
}

static void finish_streams( void )
{
    _mm_sfence();
}

static inline uint64_t low_half( __m128i v )
{
    uint64_t low;
    _mm_storel_epi64( (__m128i*)(void*)&low, v );
    return low;
}

// The two words that are no coordinates have a scale of 0: an infinity there becomes NaN, and max takes
// the 0.
#if WIDE_LANES == 4
static inline __m128i words_of_corner(
    __m128 corner, const float* origin, const float* scale, const float* most )
{
    __m128 v = _mm_mul_ps( _mm_sub_ps( corner, _mm_loadu_ps( origin ) ), _mm_loadu_ps( scale ) );
    v = _mm_min_ps( _mm_max_ps( v, _mm_setzero_ps() ), _mm_loadu_ps( most ) );
    return _mm_cvttps_epi32( v );
}

static inline words words_of( const clv_aabb* box, const scaling* s )
{
    __m128 upper = _mm_loadu_ps( &box->lower.z );
    upper = _mm_shuffle_ps( upper, upper, 0x39 );
    return _mm_packs_epi32( words_of_corner( _mm_loadu_ps( &box->lower.x ), s->origin, s->scale, s->most ),
        words_of_corner( upper, s->origin + 4, s->scale + 4, s->most + 4 ) );
}
#else
static inline words words_of( const clv_aabb* box, const scaling* s )
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
#endif

static inline cell_key words_key( words w, const scaling* s )
{
    __m128i cells = _mm_srli_epi16( w, 8 );
    __m128i sums = _mm_madd_epi16( cells, _mm_loadu_si128( (const __m128i*)(const void*)s->weights ) );
    uint64_t both = low_half( sums ); // x and y, z
    __m128i size = _mm_sub_epi16( _mm_srli_si128( cells, 8 ), cells );
    __m128i two = _mm_cmpgt_epi16( size, _mm_setzero_si128() );
    __m128i more = _mm_cmpgt_epi16( size, _mm_set1_epi16( 1 ) );
    uint32_t bits = (uint32_t)_mm_movemask_epi8( _mm_packs_epi16( two, more ) );
    return (
        cell_key ){ (uint32_t)both + (uint32_t)( both >> 32 ), ( bits & 0x700 ) != 0 ? CELL_WIDE : bits & 7 };
}

static inline uint64_t words_code( words w )
{
    __m128i low = _mm_and_si128( w, _mm_set1_epi16( 0xFF ) );
    return low_half( _mm_packus_epi16( low, low ) );
}

static inline void transpose_codes( const cell_entry* entries, uint8_t* lanes, size_t stride )
{
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
        _mm_store_si128( (__m128i*)(void*)( lanes + (size_t)i * stride ), a[i] );
    }
}
