// SPDX-License-Identifier: MIT
// From boxes to records, 16 at once: words_of, words_key and words_code over registers of one coordinate each.
// No include guard: part of a template, see record_body.h.

// Lane 4 j + k holds box j + 4 k, so that what is interleaved to records in the end lies in order.
#define LANE_BOXES( at )                                                                                     \
    at( 0 ), at( 4 ), at( 8 ), at( 12 ), at( 1 ), at( 5 ), at( 9 ), at( 13 ), at( 2 ), at( 6 ), at( 10 ),    \
        at( 14 ), at( 3 ), at( 7 ), at( 11 ), at( 15 )

// One coordinate of 16 boxes, which lie in six registers: number `c` of the six.
static inline __m512 coordinate_of( const __m512 boxes[6], int c )
{
#define BOX_AT( box ) ( 6 * ( box ) )
    static const int32_t first[16] = { LANE_BOXES( BOX_AT ) };
#undef BOX_AT
    __m512i at = _mm512_add_epi32( _mm512_loadu_si512( first ), _mm512_set1_epi32( c ) );
    __mmask16 beyond_two = _mm512_cmpge_epi32_mask( at, _mm512_set1_epi32( 32 ) );
    __mmask16 beyond_four = _mm512_cmpge_epi32_mask( at, _mm512_set1_epi32( 64 ) );
    __m512 all = _mm512_permutex2var_ps( boxes[0], at, boxes[1] ); // only the low bits of `at` count
    all = _mm512_mask_mov_ps( all, beyond_two, _mm512_permutex2var_ps( boxes[2], at, boxes[3] ) );
    return _mm512_mask_mov_ps( all, beyond_four, _mm512_permutex2var_ps( boxes[4], at, boxes[5] ) );
}

static inline __m512i steps_of( __m512 v, const scaling* s, int axis )
{
    v = _mm512_mul_ps(
        _mm512_sub_ps( v, _mm512_set1_ps( s->origin[axis] ) ), _mm512_set1_ps( s->scale[axis] ) );
    v = _mm512_min_ps( _mm512_max_ps( v, _mm512_setzero_ps() ), _mm512_set1_ps( s->most[axis] ) );
    return _mm512_cvttps_epi32( v );
}

// The low bytes of three coordinates.
static inline __m512i bytes_of( const __m512i steps[3] )
{
    const __m512i low = _mm512_set1_epi32( 255 );
    __m512i y = _mm512_slli_epi32( _mm512_and_si512( steps[1], low ), 8 );
    __m512i z = _mm512_slli_epi32( _mm512_and_si512( steps[2], low ), 16 );
    return _mm512_or_si512( _mm512_and_si512( steps[0], low ), _mm512_or_si512( y, z ) );
}

// First cells, and classes in the top byte.
static inline __m512i keys_of(
    const __m512i lower[3], const __m512i upper[3], const scaling* s, __m512i* classes )
{
    __m512i cells = _mm512_setzero_si512(), kinds = cells;
    __mmask16 is_wide = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        __m512i first = _mm512_srli_epi32( lower[axis], 8 );
        __m512i size = _mm512_sub_epi32( _mm512_srli_epi32( upper[axis], 8 ), first );
        __mmask16 has_two = _mm512_cmpgt_epi32_mask( size, _mm512_setzero_si512() );
        is_wide |= _mm512_cmpgt_epi32_mask( size, _mm512_set1_epi32( 1 ) );
        // Both factors have 16 bits.
        cells = _mm512_add_epi32( cells, _mm512_madd_epi16( first, _mm512_set1_epi32( s->weights[axis] ) ) );
        kinds = _mm512_mask_or_epi32( kinds, has_two, kinds, _mm512_set1_epi32( 1 << ( 24 + axis ) ) );
    }
    *classes = _mm512_mask_mov_epi32( kinds, is_wide, _mm512_set1_epi32( CELL_WIDE << 24 ) );
    return cells;
}

static inline void store_records(
    cell_record* out, __m512i lower, __m512i upper, __m512i slots, __m512i cells )
{
    __m512i codes[2] = { _mm512_unpacklo_epi32( lower, upper ), _mm512_unpackhi_epi32( lower, upper ) };
    __m512i names[2] = { _mm512_unpacklo_epi32( slots, cells ), _mm512_unpackhi_epi32( slots, cells ) };
    for ( int i = 0; i < 2; ++i )
    {
        _mm512_storeu_si512( out + 8 * i, _mm512_unpacklo_epi64( codes[i], names[i] ) );
        _mm512_storeu_si512( out + 8 * i + 4, _mm512_unpackhi_epi64( codes[i], names[i] ) );
    }
}

// Boxes from `first` on, one behind the other, as many as go at once: how many is returned.
static inline uint32_t whole_records(
    const clv_aabb* boxes, uint32_t first, uint32_t count, const scaling* s, cell_record* out )
{
#define BOX_AT( box ) ( box )
    static const int32_t lane_boxes[16] = { LANE_BOXES( BOX_AT ) };
#undef BOX_AT
    uint32_t done = 0;
    for ( ; count - done >= 16; done += 16 )
    {
        __m512 in[6];
        __m512i lower[3], upper[3], classes;
        for ( int i = 0; i < 6; ++i )
        {
            in[i] = _mm512_loadu_ps( &boxes[first + done].lower.x + 16 * i );
        }
        for ( int axis = 0; axis < 3; ++axis )
        {
            lower[axis] = steps_of( coordinate_of( in, axis ), s, axis );
            upper[axis] = steps_of( coordinate_of( in, axis + 3 ), s, axis );
        }
        __m512i cells = keys_of( lower, upper, s, &classes );
        __m512i slots =
            _mm512_add_epi32( _mm512_loadu_si512( lane_boxes ), _mm512_set1_epi32( (int)( first + done ) ) );
        store_records(
            out + done, bytes_of( lower ), _mm512_or_si512( bytes_of( upper ), classes ), slots, cells );
    }
    return done;
}

#undef LANE_BOXES
