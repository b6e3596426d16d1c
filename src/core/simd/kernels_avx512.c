// SPDX-License-Identifier: MIT
// Compiled with AVX-512 (F, BW, DQ, VL, VBMI, VBMI2) turned on; nothing here runs before dispatch.c has asked
// the CPU.
#include "simd/kernels.h"

#ifdef CLV_HAVE_AVX512

#include "base/bit_set.h"
#include "simd/cells.h"
#include "simd/near_lanes.h"
#include "simd/query_lanes.h"

#include <math.h>
#include <string.h>

#include "simd/lanes_avx512.h"

#include "simd/kernels_x86.h"

#define OWN_STRAYS
// Two boxes at a time: lower corners in the lower halves, upper ones in the upper, the fourth lane means
// nothing.
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

#define OWN_CODES
// 16 boxes at a time, four to a register. What a lower coordinate exceeds the other box's end by, and an
// upper one falls short of its beginning by, is 0 where they overlap. A box that is not there, all zero,
// falls short by the bits above the coordinates.
static uint32_t find_codes( const simd_code_box* boxes, uint32_t count, simd_code_box asked, uint32_t* found )
{
    const uint64_t beside = UINT64_C( 0xFFFF ) << 48;
    const int64_t upper = (int64_t)( ( asked.upper ^ SIMD_CODE_TOPS ) | beside );
    const int64_t lower = (int64_t)( ( asked.lower | SIMD_CODE_TOPS ) & ~beside );
    const __m512i most = _mm512_broadcast_i32x4( _mm_set_epi64x( -1, upper ) );
    const __m512i least = _mm512_broadcast_i32x4( _mm_set_epi64x( lower, 0 ) );
    uint32_t found_count = 0;
    for ( uint32_t i = 0; i < count; i += 16 )
    {
        uint32_t there = count - i < 16 ? ( 1u << 2 * ( count - i ) ) - 1 : UINT32_MAX, near = 0;
        for ( uint32_t k = 0; k < 4; ++k )
        {
            __m512i code = _mm512_maskz_loadu_epi64( (__mmask8)( there >> 8 * k ), boxes + i + 4 * k );
            __m512i out =
                _mm512_or_si512( _mm512_subs_epu16( code, most ), _mm512_subs_epu16( least, code ) );
            near |= (uint32_t)_mm512_testn_epi64_mask( out, out ) << 8 * k;
        }
        for ( near &= near >> 1 & 0x55555555; near != 0; near &= near - 1 )
        {
            found[found_count++] = i + base_lowest_bit( near ) / 2;
        }
    }
    return found_count;
}

// ---- from boxes to records, 16 at once: words_of, words_key and words_code over registers of one coordinate
// each

#define OWN_RECORDS
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

// Four records: a line, where they are streamed.
static inline void store_four( cell_record* out, __m512i records, bool streams )
{
    if ( streams )
    {
        _mm512_stream_si512( (__m512i*)(void*)out, records );
    }
    else
    {
        _mm512_storeu_si512( out, records );
    }
}

static inline void store_records(
    cell_record* out, __m512i lower, __m512i upper, __m512i slots, __m512i cells, bool streams )
{
    __m512i codes[2] = { _mm512_unpacklo_epi32( lower, upper ), _mm512_unpackhi_epi32( lower, upper ) };
    __m512i names[2] = { _mm512_unpacklo_epi32( slots, cells ), _mm512_unpackhi_epi32( slots, cells ) };
    for ( int i = 0; i < 2; ++i )
    {
        store_four( out + 8 * i, _mm512_unpacklo_epi64( codes[i], names[i] ), streams );
        store_four( out + 8 * i + 4, _mm512_unpackhi_epi64( codes[i], names[i] ), streams );
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
        store_records( out + done, bytes_of( lower ), _mm512_or_si512( bytes_of( upper ), classes ), slots,
            cells, false );
    }
    return done;
}

// Four registers of four times four floats: the first floats of all, the second ones, …
static inline void transpose_quads( const __m512 q[4], __m512 out[4] )
{
    __m512 a = _mm512_unpacklo_ps( q[0], q[1] ), b = _mm512_unpackhi_ps( q[0], q[1] );
    __m512 c = _mm512_unpacklo_ps( q[2], q[3] ), d = _mm512_unpackhi_ps( q[2], q[3] );
    out[0] = _mm512_shuffle_ps( a, c, 0x44 );
    out[1] = _mm512_shuffle_ps( a, c, 0xEE );
    out[2] = _mm512_shuffle_ps( b, d, 0x44 );
    out[3] = _mm512_shuffle_ps( b, d, 0xEE );
}

// All of a tray, whatever is in it: how many is returned.
static inline uint32_t whole_tray(
    const cell_tray* tray, uint32_t count, const scaling* s, cell_record* out, bool streams )
{
    __m512 first[4], last[4], low[4], high[4];
    for ( int i = 0; i < 4; ++i )
    {
        __m512 two = _mm512_loadu_ps( &tray->items[4 * i] ),
               more = _mm512_loadu_ps( &tray->items[4 * i + 2] );
        first[i] = _mm512_shuffle_f32x4( two, more, 0x88 ); // lower x y z, upper x
        last[i] = _mm512_shuffle_f32x4( two, more, 0xDD );  // upper y z, slot, before
    }
    transpose_quads( first, low );
    transpose_quads( last, high );
    __m512i lower[3] = { steps_of( low[0], s, 0 ), steps_of( low[1], s, 1 ), steps_of( low[2], s, 2 ) };
    __m512i upper[3] = { steps_of( low[3], s, 0 ), steps_of( high[0], s, 1 ), steps_of( high[1], s, 2 ) };
    __m512i classes, cells = keys_of( lower, upper, s, &classes );
    __m512i slots = _mm512_castps_si512( high[2] ), before = _mm512_castps_si512( high[3] );
    store_records( out, _mm512_or_si512( bytes_of( lower ), before ),
        _mm512_or_si512( bytes_of( upper ), classes ), slots, cells, streams );
    return count;
}

#undef LANE_BOXES

// ---- from rows and lanes that may touch to pairs, 48 at once

#define OWN_HITS
// The slots of 16 entries: every fourth 32-bit word from the third on.
static inline void gather_slots( const cell_entry* entries, uint32_t* slots )
{
    const __m512i pick = _mm512_set_epi32( 0, 0, 0, 0, 0, 0, 0, 0, 30, 26, 22, 18, 14, 10, 6, 2 );
    __m256i low = _mm512_castsi512_si256(
        _mm512_permutex2var_epi32( _mm512_loadu_si512( entries ), pick, _mm512_loadu_si512( entries + 4 ) ) );
    __m256i high = _mm512_castsi512_si256( _mm512_permutex2var_epi32(
        _mm512_loadu_si512( entries + 8 ), pick, _mm512_loadu_si512( entries + 12 ) ) );
    _mm256_storeu_si256( (__m256i*)(void*)slots, low );
    _mm256_storeu_si256( (__m256i*)(void*)( slots + 8 ), high );
}

// 64 slots in registers, to be looked up by number.
typedef struct slot_table
{
    __m512i part[4];
} slot_table;

static inline slot_table load_slots( const uint32_t* slots )
{
    slot_table t;
    for ( int i = 0; i < 4; ++i )
    {
        t.part[i] = _mm512_loadu_si512( slots + 16 * i );
    }
    return t;
}

static inline __m512i look_up( const slot_table* table, const uint8_t* numbers )
{
    __m512i at = _mm512_cvtepu8_epi32( _mm_loadu_si128( (const __m128i*)(const void*)numbers ) );
    __m512i low = _mm512_permutex2var_epi32( table->part[0], at, table->part[1] );
    __m512i high = _mm512_permutex2var_epi32( table->part[2], at, table->part[3] );
    return _mm512_mask_mov_epi32( low, _mm512_test_epi32_mask( at, _mm512_set1_epi32( 32 ) ), high );
}

// A bit for each hit in which some lower byte is equal to the upper one it is compared with.
static inline uint64_t hits_that_tie( const hit_sides* sides, const uint8_t* rows, const uint8_t* lanes )
{
    __m512i row = _mm512_loadu_si512( rows ), lane = _mm512_loadu_si512( lanes );
    uint64_t ties = 0;
    for ( size_t axis = 0; axis < 3; ++axis )
    {
        size_t lower = axis * sides->stride, upper = ( axis + 4 ) * sides->stride;
        ties |= _mm512_cmpeq_epi8_mask(
            _mm512_permutexvar_epi8( row, _mm512_loadu_si512( sides->rows.bytes + lower ) ),
            _mm512_permutexvar_epi8( lane, _mm512_loadu_si512( sides->lanes.bytes + upper ) ) );
        ties |= _mm512_cmpeq_epi8_mask(
            _mm512_permutexvar_epi8( row, _mm512_loadu_si512( sides->rows.bytes + upper ) ),
            _mm512_permutexvar_epi8( lane, _mm512_loadu_si512( sides->lanes.bytes + lower ) ) );
    }
    return ties;
}

// All hits by their numbers, and how far they have become pairs. Whole registers may be written behind the
// last.
typedef struct hit_walk
{
    uint32_t at;
    uint8_t rows[64 * 64 + 64];
    uint8_t lanes[64 * 64 + 64];
} hit_walk;

static inline uint32_t hit_walk_begin(
    hit_walk* walk, const row_hits* hits, uint32_t lane_count, const cell_counters* so_far )
{
    (void)lane_count, (void)so_far;
    static const uint8_t numbers[64] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
        20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44,
        45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63 };
    const __m512i all = _mm512_loadu_si512( numbers );
    uint32_t count = 0;
    for ( uint32_t i = 0; i < hits->count; ++i )
    {
        uint32_t hit_count = base_bit_count( hits->lanes[i] );
        __m512i lanes = _mm512_maskz_compress_epi8( hits->lanes[i], all );
        __m512i row = _mm512_set1_epi8( (char)hits->rows[i] );
        _mm_storeu_si128( (__m128i*)(void*)( walk->lanes + count ), _mm512_castsi512_si128( lanes ) );
        _mm_storeu_si128( (__m128i*)(void*)( walk->rows + count ), _mm512_castsi512_si128( row ) );
        if ( hit_count > 16 ) // seldom, and a store of 64 bytes takes long where it lies in two lines
        {
            _mm512_storeu_si512( walk->lanes + count, lanes );
            _mm512_storeu_si512( walk->rows + count, row );
        }
        count += hit_count;
    }
    // Whole registers are read; what is behind the last has no say, but is something.
    _mm512_storeu_si512( walk->lanes + count, _mm512_setzero_si512() );
    _mm512_storeu_si512( walk->rows + count, _mm512_setzero_si512() );
    walk->at = 0;
    return count;
}

// The next `count` hits: pairs that are sure, how many is returned, and ties.
static inline uint32_t split_hits(
    hit_walk* walk, const hit_sides* sides, uint32_t count, clv_pair* sure, clv_pair* ties )
{
    const uint8_t* rows = walk->rows + walk->at;
    const uint8_t* lanes = walk->lanes + walk->at;
    walk->at += count;
    const __m512i first_eight = _mm512_set_epi32( 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0 );
    const __m512i last_eight =
        _mm512_set_epi32( 31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8 );
    const clv_pair* begin = sure;
    slot_table of_rows = load_slots( sides->rows.slots ), of_lanes = load_slots( sides->lanes.slots );
    uint64_t valid = ( (uint64_t)1 << count ) - 1;
    uint64_t tied = hits_that_tie( sides, rows, lanes ) & valid, plain = valid & ~tied;
    for ( uint32_t i = 0; i < count; i += 16, tied >>= 16, plain >>= 16 )
    {
        __m512i a = look_up( &of_rows, rows + i ), b = look_up( &of_lanes, lanes + i );
        __m512i low = _mm512_min_epu32( a, b ), high = _mm512_max_epu32( a, b );
        __m512i pairs[2] = { _mm512_permutex2var_epi32( low, first_eight, high ),
            _mm512_permutex2var_epi32( low, last_eight, high ) };
        for ( int half = 0; half < 2; ++half )
        {
            __mmask8 is_sure = (__mmask8)( plain >> ( 8 * half ) ),
                     is_tie = (__mmask8)( tied >> ( 8 * half ) );
            _mm512_storeu_si512( sure, _mm512_maskz_compress_epi64( is_sure, pairs[half] ) );
            _mm512_storeu_si512( ties, _mm512_maskz_compress_epi64( is_tie, pairs[half] ) );
            sure += base_bit_count( is_sure );
            ties += base_bit_count( is_tie );
        }
    }
    return (uint32_t)( sure - begin );
}

// ---- lanes of a query, all at once and without a branch: the instruction that is made for it presses them
// together

#define OWN_NODES
#define OWN_PICKS
// The other lanes infinite.
static inline eight eight_chosen( eight a, uint32_t bits )
{
    return _mm256_mask_blend_ps( (__mmask8)bits, _mm256_set1_ps( INFINITY ), a );
}

// The least of these lanes, in every lane.
static inline __m256 least_of( uint32_t bits, __m256 a )
{
    a = eight_chosen( a, bits );
    a = _mm256_min_ps( a, _mm256_permute2f128_ps( a, a, 1 ) );
    a = _mm256_min_ps( a, _mm256_permute_ps( a, 0x4E ) );
    return _mm256_min_ps( a, _mm256_permute_ps( a, 0xB1 ) );
}

static inline uint32_t pick_nodes(
    query_stack* stack, uint32_t top, const uint32_t child[QUERY_LANES], eight near, uint32_t bits )
{
    __m256 nearest = least_of( bits, near );
    uint32_t equal = _mm256_mask_cmp_ps_mask( (__mmask8)bits, near, nearest, _CMP_EQ_OQ );
    uint32_t first = equal & ( 0u - equal ), count = base_bit_count( bits );
    __mmask8 rest = (__mmask8)( bits & ~first );
    __m256i children = _mm256_load_si256( (const __m256i*)child );
    _mm256_storeu_ps( stack->near + top, _mm256_maskz_compress_ps( rest, near ) );
    _mm256_storeu_si256( (__m256i*)( stack->node + top ), _mm256_maskz_compress_epi32( rest, children ) );
    // Where there is none this writes behind the last.
    uint32_t last = top + count - ( count > 0 );
    stack->near[last] = _mm256_cvtss_f32( nearest );
    stack->node[last] = child[base_lowest_bit( first | 0x100u ) & ( QUERY_LANES - 1 )];
    return top + count;
}

static inline uint64_t pick_best( const query_node* node, eight near, uint32_t bits, uint64_t best )
{
    __m256 nearest = least_of( bits, near );
    uint32_t equal = _mm256_mask_cmp_ps_mask( (__mmask8)bits, near, nearest, _CMP_EQ_OQ );
    uint32_t slot = node->least[base_lowest_bit( equal | 0x100u ) & ( QUERY_LANES - 1 )];
    for ( equal &= equal - 1; equal != 0; equal &= equal - 1 ) // seldom
    {
        uint32_t other = node->least[base_lowest_bit( equal )];
        slot = other < slot ? other : slot;
    }
    uint64_t key = query_key( _mm256_cvtss_f32( nearest ), slot );
    return key < best ? key : best;
}

// Lanes of `bits` first, in order.
static inline eight eight_press( eight a, uint32_t bits )
{
    return _mm256_maskz_compress_ps( (__mmask8)bits, a );
}

enum
{
    DECIDES_AT_ONCE = true, // eight floats in double, which other instruction sets put off
};

static inline __m512i keys_of_lanes( const query_node* node, __m256 near )
{
    __m512i times = _mm512_slli_epi64( _mm512_cvtepu32_epi64( _mm256_castps_si256( near ) ), 32 );
    return _mm512_or_si512(
        times, _mm512_cvtepu32_epi64( _mm256_load_si256( (const __m256i*)node->least ) ) );
}

// query_gap_squared of eight lanes, step by step as there.
static inline __m512d gaps_squared( const clv_aabb* box, const query_node* node )
{
    __m512d sum = _mm512_setzero_pd();
    for ( int axis = 0; axis < 3; ++axis )
    {
        __m512d lower = _mm512_cvtps_pd( _mm256_load_ps( node->lower[axis] ) );
        __m512d upper = _mm512_cvtps_pd( _mm256_load_ps( node->upper[axis] ) );
        __m512d below = _mm512_sub_pd( lower, _mm512_set1_pd( (double)( &box->upper.x )[axis] ) );
        __m512d above = _mm512_sub_pd( _mm512_set1_pd( (double)( &box->lower.x )[axis] ), upper );
        __m512d gap = _mm512_max_pd( _mm512_max_pd( above, below ), _mm512_setzero_pd() );
        sum = _mm512_add_pd( sum, _mm512_mul_pd( gap, gap ) );
    }
    return sum;
}

// Keys one up from where the new one belongs: the greater of it and the one before, if that is less than what
// is there. One that is greater than all changes nothing.
static inline __m512i insert_key( __m512i keys, __m512i before, uint64_t key )
{
    return _mm512_min_epu64( keys, _mm512_max_epu64( _mm512_set1_epi64( (long long)key ), before ) );
}

static inline __m512i keys_before( __m512i keys )
{
    return _mm512_maskz_permutexvar_epi64( 0xFE, _mm512_setr_epi64( 0, 0, 1, 2, 3, 4, 5, 6 ), keys );
}

static inline void insert_keys(
    uint64_t* keys, uint32_t count, const uint64_t* newcomers, uint32_t newcomer_count )
{
    if ( count <= 8 )
    {
        __m512i all = _mm512_loadu_si512( keys );
        for ( uint32_t i = 0; i < 4; ++i ) // few newcomers are more, and four cost less than a guess
        {
            all = insert_key( all, keys_before( all ), newcomers[i] );
        }
        for ( uint32_t i = 4; newcomer_count > 4 && i < 8; ++i )
        {
            all = insert_key( all, keys_before( all ), newcomers[i] );
        }
        _mm512_storeu_si512( keys, all );
        return;
    }
    for ( uint32_t i = 0; i < newcomer_count; ++i )
    {
        for ( uint32_t at = ( count - 1 ) & ~7u; at > 0; at -= 8 )
        {
            __m512i here = _mm512_loadu_si512( keys + at ), before = _mm512_loadu_si512( keys + at - 1 );
            _mm512_storeu_si512( keys + at, insert_key( here, before, newcomers[i] ) );
        }
        __m512i first = _mm512_loadu_si512( keys );
        _mm512_storeu_si512( keys, insert_key( first, keys_before( first ), newcomers[i] ) );
    }
}

static inline void pick_nearest( query_nearest* query, const query_node* node, uint32_t bits )
{
    __m512d squares = gaps_squared( &query->box, node );
    __m256 times = _mm512_cvtpd_ps( _mm512_sqrt_pd( squares ) );
    __m256i slots = _mm256_load_si256( (const __m256i*)node->least );
    __mmask8 counts = _mm512_cmp_pd_mask( squares, _mm512_set1_pd( query->square ), _CMP_LE_OQ );
    counts = _mm256_mask_cmpneq_epi32_mask( counts, slots, _mm256_set1_epi32( -1 ) );
    __m512i keys = _mm512_mask_blend_epi64(
        counts, _mm512_set1_epi64( (long long)QUERY_NONE_NEAR ), keys_of_lanes( node, times ) );
    _Alignas( 64 ) uint64_t newcomers[QUERY_LANES];
    _mm512_storeu_si512(
        newcomers, _mm512_mask_compress_epi64( _mm512_set1_epi64( -1 ), (__mmask8)bits, keys ) );
    insert_keys( query->keys, query->count, newcomers, base_bit_count( bits ) );
    uint64_t last = query->keys[query->count - 1];
    query_nearest_shorten( query, (double)query_key_near( last ), (uint32_t)last );
}

// Keys become distances and slots, once.
static inline void close_nearest( query_nearest* query )
{
    for ( uint32_t i = 0; i < query->count; ++i )
    {
        uint64_t key = query->keys[i];
        query->near[i] = (double)query_key_near( key );
        query->slots[i] = (uint32_t)key;
        query->found += (uint32_t)key != UINT32_MAX;
    }
    query->count = 0;
}

#include "simd/kernel_body.h"

#define BORROWS_CELLS
#include "simd/cell_body.h"

#include "simd/query_body.h"

#include "simd/query_body64.h"

#define NEAR_FLOATS 16
typedef __m512 near_f;
typedef __m512d near_d;

static inline uint32_t near_f_le_bits( near_f a, near_f b )
{
    return _mm512_cmp_ps_mask( a, b, _CMP_LE_OQ );
}

static inline uint32_t near_d_le_bits( near_d a, near_d b )
{
    return _mm512_cmp_pd_mask( a, b, _CMP_LE_OQ );
}

// Compressed in a register, since a compressing store is slow on some CPUs, and interleaved with the row.
static inline uint32_t* near_emit(
    uint32_t* out, uint32_t id, bool is_directed, const uint32_t* ids, uint32_t lanes, uint32_t bits )
{
    (void)lanes;
    const __m512i low = _mm512_setr_epi32( 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23 );
    const __m512i high = _mm512_setr_epi32( 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31 );
    __m512i row = _mm512_set1_epi32( (int)id ), all = _mm512_loadu_si512( ids );
    if ( is_directed )
    {
        __mmask16 kept = _mm512_mask_cmpge_epu32_mask( (__mmask16)bits, all, row );
        _mm512_storeu_si512( out, _mm512_maskz_compress_epi32( kept, all ) );
        return out + base_bit_count( kept );
    }
    __m512i found = _mm512_maskz_compress_epi32( (__mmask16)bits, all );
    __m512i a = _mm512_min_epu32( row, found ), b = _mm512_max_epu32( row, found );
    _mm512_storeu_si512( out, _mm512_permutex2var_epi32( a, low, b ) );
    _mm512_storeu_si512( out + 16, _mm512_permutex2var_epi32( a, high, b ) );
    return out + 2 * base_bit_count( bits );
}

#define near_f_max( a, b ) _mm512_max_ps( a, b )
#define near_d_max( a, b ) _mm512_max_pd( a, b )
#define near_f_press( p, a, bits ) _mm512_storeu_ps( p, _mm512_maskz_compress_ps( (__mmask16)( bits ), a ) )
#define near_d_press( p, a, bits ) _mm512_storeu_pd( p, _mm512_maskz_compress_pd( (__mmask8)( bits ), a ) )
#define near_f_press_ids( to, from, bits )                                                                   \
    _mm512_storeu_si512( to, _mm512_maskz_compress_epi32( (__mmask16)( bits ), _mm512_loadu_si512( from ) ) )
#define near_d_press_ids( to, from, bits )                                                                   \
    _mm256_storeu_si256( (__m256i*)( to ),                                                                   \
        _mm256_maskz_compress_epi32( (__mmask8)( bits ), _mm256_loadu_si256( (const __m256i*)( from ) ) ) )
#define near_f_load( p ) _mm512_loadu_ps( p )
#define near_f_store( p, a ) _mm512_storeu_ps( p, a )
#define near_f_splat( a ) _mm512_set1_ps( a )
#define near_f_sub( a, b ) _mm512_sub_ps( a, b )
#define near_f_mul( a, b ) _mm512_mul_ps( a, b )
#define near_f_add( a, b ) _mm512_add_ps( a, b )
#define near_d_load( p ) _mm512_loadu_pd( p )
#define near_d_store( p, a ) _mm512_storeu_pd( p, a )
#define near_d_splat( a ) _mm512_set1_pd( a )
#define near_d_sub( a, b ) _mm512_sub_pd( a, b )
#define near_d_mul( a, b ) _mm512_mul_pd( a, b )
#define near_d_add( a, b ) _mm512_add_pd( a, b )

#include "simd/near_twice.h"

#define KERNELS avx512
#define KERNELS_ISA CLV_ISA_AVX512
#include "simd/kernel_tables.h"

TARGET_END

#endif
