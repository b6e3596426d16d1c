// SPDX-License-Identifier: MIT
// What the kernels of all x86 instruction sets share: records and codes in registers of sixteen bytes, and,
// where registers have 32, padded boxes. No include guard: part of a template, see cell_body.h and
// kernel_body.h.

// ---- records and codes

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

#if WIDE_LANES > 4

// ---- boxes whose upper corner lies 16 bytes behind the lower one, each padded to a register of four floats

// One load by a mask, so that nothing but corners is read. Others go the way of tables without masks.
#define OWN_APART

enum
{
    PADDED = 16
};

static inline __m256 load_padded( const char* lower )
{
    const __m256i corners = _mm256_setr_epi32( -1, -1, -1, 0, -1, -1, -1, 0 );
    return _mm256_maskload_ps( (const float*)(const void*)lower, corners );
}

static bool are_good_apart(
    const void* lower, const void* upper, size_t stride, size_t corner, uint32_t count )
{
    const char* low = lower;
    if ( (const char*)upper != low + PADDED || corner != sizeof( clv_vec3 ) || count % 2 != 0 )
    {
        return clv_simd_are_good_apart( lower, upper, stride, corner, count );
    }
    __m256 bad = _mm256_setzero_ps();
    for ( ; count > 0; count -= 2, low += 2 * stride )
    {
        __m256 one = load_padded( low ), other = load_padded( low + stride );
        __m256 from = _mm256_permute2f128_ps( one, other, 0x20 ),
               to = _mm256_permute2f128_ps( one, other, 0x31 );
        bad = _mm256_or_ps( bad, _mm256_cmp_ps( from, to, _CMP_NLE_UQ ) );
    }
    return _mm256_movemask_ps( bad ) == 0;
}

// By two stores: one by a mask takes longer.
static inline void put_padded( clv_aabb* own, const char* lower )
{
    const __m256i order = _mm256_setr_epi32( 0, 1, 2, 4, 5, 6, 7, 7 );
    __m256 box = _mm256_permutevar8x32_ps( load_padded( lower ), order );
    _mm_storeu_ps( &own->lower.x, _mm256_castps256_ps128( box ) );
    _mm_storel_pi( (__m64*)(void*)&own->upper.y, _mm256_extractf128_ps( box, 1 ) );
}

static uint64_t put_near(
    clv_aabb* own, const clv_id* ids, const char* lower, const char* upper, size_t stride )
{
    uint64_t bits = 0;
    if ( upper != lower + PADDED )
    {
        return clv_simd_put_near( own, ids, lower, upper, stride );
    }
    BASE_UNROLL( 2 )
    for ( uint32_t i = 0; i < SIMD_RUN; ++i, lower += stride )
    {
        uint32_t slot = ids[i].index; // once: a box stored might be an id
        put_padded( &own[slot], lower );
        bits |= (uint64_t)1 << ( slot & 63 );
    }
    return bits;
}

static void put_anywhere( clv_aabb* own, const clv_id* ids, const char* lower, const char* upper,
    size_t stride, uint32_t count, uint64_t* marks )
{
    if ( upper != lower + PADDED || marks == NULL )
    {
        clv_simd_put_anywhere( own, ids, lower, upper, stride, count, marks );
        return;
    }
    BASE_UNROLL( 1 )
    for ( uint32_t i = 0; i < count; ++i, lower += stride )
    {
        uint32_t slot = ids[i].index;
        put_padded( &own[slot], lower );
        base_bits_add( marks, slot );
    }
}

#endif
