// SPDX-License-Identifier: MIT
// From boxes to records, eight at once: words_of, words_key and words_code over registers of one coordinate each.
// No include guard: part of a template, see record_body.h.

// Eight times four floats, of boxes 0 to 3 in the low halves and 4 to 7 in the high ones.
typedef struct eight_quads
{
    __m256 of[4];
} eight_quads;

static inline eight_quads load_quads( const float* first )
{
    const size_t stride = sizeof( clv_aabb ) / sizeof( float );
    eight_quads q;
    for ( size_t i = 0; i < 4; ++i )
    {
        q.of[i] = _mm256_insertf128_ps( _mm256_castps128_ps256( _mm_loadu_ps( first + i * stride ) ),
            _mm_loadu_ps( first + ( i + 4 ) * stride ), 1 );
    }
    return q;
}

// The first two floats of each quad, or the last two, in registers of their own.
static inline void split_quads( const eight_quads* q, bool last_two, __m256 out[2] )
{
    __m256 a = last_two ? _mm256_unpackhi_ps( q->of[0], q->of[1] ) : _mm256_unpacklo_ps( q->of[0], q->of[1] );
    __m256 b = last_two ? _mm256_unpackhi_ps( q->of[2], q->of[3] ) : _mm256_unpacklo_ps( q->of[2], q->of[3] );
    out[0] = _mm256_shuffle_ps( a, b, 0x44 );
    out[1] = _mm256_shuffle_ps( a, b, 0xEE );
}

static inline __m256i steps_of( __m256 v, const scaling* s, int axis )
{
    v = _mm256_mul_ps(
        _mm256_sub_ps( v, _mm256_set1_ps( s->origin[axis] ) ), _mm256_set1_ps( s->scale[axis] ) );
    v = _mm256_min_ps( _mm256_max_ps( v, _mm256_setzero_ps() ), _mm256_set1_ps( s->most[axis] ) );
    return _mm256_cvttps_epi32( v );
}

// The low bytes of three coordinates.
static inline __m256i bytes_of( const __m256i steps[3] )
{
    const __m256i low = _mm256_set1_epi32( 255 );
    __m256i y = _mm256_slli_epi32( _mm256_and_si256( steps[1], low ), 8 );
    __m256i z = _mm256_slli_epi32( _mm256_and_si256( steps[2], low ), 16 );
    return _mm256_or_si256( _mm256_and_si256( steps[0], low ), _mm256_or_si256( y, z ) );
}

// First cells, and classes in the top byte.
static inline __m256i keys_of(
    const __m256i lower[3], const __m256i upper[3], const scaling* s, __m256i* classes )
{
    __m256i cells = _mm256_setzero_si256(), kinds = cells, is_wide = cells;
    for ( int axis = 0; axis < 3; ++axis )
    {
        __m256i first = _mm256_srli_epi32( lower[axis], 8 );
        __m256i size = _mm256_sub_epi32( _mm256_srli_epi32( upper[axis], 8 ), first );
        __m256i has_two = _mm256_cmpgt_epi32( size, _mm256_setzero_si256() );
        is_wide = _mm256_or_si256( is_wide, _mm256_cmpgt_epi32( size, _mm256_set1_epi32( 1 ) ) );
        // Both factors have 16 bits.
        cells = _mm256_add_epi32( cells, _mm256_madd_epi16( first, _mm256_set1_epi32( s->weights[axis] ) ) );
        kinds =
            _mm256_or_si256( kinds, _mm256_and_si256( has_two, _mm256_set1_epi32( 1 << ( 24 + axis ) ) ) );
    }
    *classes = _mm256_blendv_epi8( kinds, _mm256_set1_epi32( CELL_WIDE << 24 ), is_wide );
    return cells;
}

// Records i and i + 4 of the eight.
static inline void store_two( cell_record* out, __m256i both )
{
    _mm_storeu_si128( (__m128i*)(void*)out, _mm256_castsi256_si128( both ) );
    _mm_storeu_si128( (__m128i*)(void*)( out + 4 ), _mm256_extracti128_si256( both, 1 ) );
}

static inline void store_records(
    cell_record* out, __m256i lower, __m256i upper, __m256i slots, __m256i cells )
{
    __m256i codes[2] = { _mm256_unpacklo_epi32( lower, upper ), _mm256_unpackhi_epi32( lower, upper ) };
    __m256i names[2] = { _mm256_unpacklo_epi32( slots, cells ), _mm256_unpackhi_epi32( slots, cells ) };
    for ( int i = 0; i < 2; ++i )
    {
        store_two( out + 2 * i, _mm256_unpacklo_epi64( codes[i], names[i] ) );
        store_two( out + 2 * i + 1, _mm256_unpackhi_epi64( codes[i], names[i] ) );
    }
}

// Boxes from `first` on, one behind the other, as many as go at once: how many is returned.
static inline uint32_t whole_records(
    const clv_aabb* boxes, uint32_t first, uint32_t count, const scaling* s, cell_record* out )
{
    const __m256i numbers = _mm256_set_epi32( 7, 6, 5, 4, 3, 2, 1, 0 );
    uint32_t done = 0;
    for ( ; count - done >= 8; done += 8 )
    {
        eight_quads low = load_quads( &boxes[first + done].lower.x );  // lower x y z, upper x
        eight_quads high = load_quads( &boxes[first + done].lower.z ); // lower z, upper x y z
        __m256 xy[2], zx[2], yz[2];
        split_quads( &low, false, xy );
        split_quads( &low, true, zx );
        split_quads( &high, true, yz );
        __m256i lower[3] = { steps_of( xy[0], s, 0 ), steps_of( xy[1], s, 1 ), steps_of( zx[0], s, 2 ) };
        __m256i upper[3] = { steps_of( zx[1], s, 0 ), steps_of( yz[0], s, 1 ), steps_of( yz[1], s, 2 ) };
        __m256i classes, cells = keys_of( lower, upper, s, &classes );
        __m256i slots = _mm256_add_epi32( numbers, _mm256_set1_epi32( (int)( first + done ) ) );
        store_records(
            out + done, bytes_of( lower ), _mm256_or_si256( bytes_of( upper ), classes ), slots, cells );
    }
    return done;
}
