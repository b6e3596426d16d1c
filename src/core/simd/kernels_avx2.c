// SPDX-License-Identifier: MIT
// Compiled with AVX2 turned on; nothing here runs before dispatch.c has asked the CPU.
#include "simd/kernels.h"

#ifdef CLV_HAVE_AVX2

#include "base/bit_set.h"
#include "simd/cells.h"
#include "simd/near_lanes.h"
#include "simd/query_lanes.h"

#include <math.h>
#include <string.h>

#include "simd/lanes_avx2.h"

#include "simd/kernels_x86.h"

#define OWN_CODES
// Eight boxes at a time, two to a register, as with AVX-512.
static uint32_t find_codes( const simd_code_box* boxes, uint32_t count, simd_code_box asked, uint32_t* found )
{
    const uint64_t beside = UINT64_C( 0xFFFF ) << 48;
    const int64_t upper = (int64_t)( ( asked.upper ^ SIMD_CODE_TOPS ) | beside );
    const int64_t lower = (int64_t)( ( asked.lower | SIMD_CODE_TOPS ) & ~beside );
    const __m256i most = _mm256_set_epi64x( -1, upper, -1, upper );
    const __m256i least = _mm256_set_epi64x( lower, 0, lower, 0 );
    const __m256i order = _mm256_set_epi64x( 3, 2, 1, 0 );
    uint32_t found_count = 0;
    for ( uint32_t i = 0; i < count; i += 8 )
    {
        uint32_t near = 0;
        for ( uint32_t k = 0; k < 4; ++k )
        {
            __m256i left = _mm256_set1_epi64x( 2 * ( (int64_t)count - i - 2 * k ) );
            __m256i code = _mm256_maskload_epi64(
                (const long long*)(const void*)( boxes + i + 2 * k ), _mm256_cmpgt_epi64( left, order ) );
            __m256i out =
                _mm256_or_si256( _mm256_subs_epu16( code, most ), _mm256_subs_epu16( least, code ) );
            __m256i zero = _mm256_cmpeq_epi64( out, _mm256_setzero_si256() );
            near |= (uint32_t)_mm256_movemask_pd( _mm256_castsi256_pd( zero ) ) << 4 * k;
        }
        for ( near &= near >> 1 & 0x5555; near != 0; near &= near - 1 )
        {
            found[found_count++] = i + base_lowest_bit( near ) / 2;
        }
    }
    return found_count;
}

#define OWN_FEW_HITS
// Where rows have few hits: four at a time, counted afterwards. The lowest of no bits is 64, the number of an
// entry that may be read. Not inline: it is quicker with registers of its own.
static BASE_NOINLINE uint32_t list_few( hit_places* list, const row_hits* hits )
{
    uint32_t count = 0;
    for ( uint32_t i = 0; i < hits->count; ++i )
    {
        uint64_t bits = hits->lanes[i];
        uint16_t* row = list->rows + count;
        uint16_t* lane = list->lanes + count;
        count += base_bit_count( bits );
        while ( bits != 0 )
        {
            for ( int k = 0; k < 4; ++k )
            {
                *row++ = (uint16_t)( hits->rows[i] * sizeof( cell_entry ) );
                *lane++ = (uint16_t)( _tzcnt_u64( bits ) * sizeof( cell_entry ) );
                bits &= bits - 1;
            }
        }
    }
    return count;
}

// ---- from rows and lanes that may touch to pairs: no instruction presses lanes together, so a table tells
// which lane goes where

// Lanes of `bits` first, in order.
static inline __m256i press_lanes( uint32_t bits )
{
    __m128i from = _mm_loadu_si128( (const __m128i*)(const void*)clv_simd_lane_places[bits] );
    return _mm256_srli_epi32( _mm256_cvtepu16_epi32( from ), 4 ); // an entry has 16 bytes
}

#define SOME_HITS 4
static inline __m256i load_two( const cell_entry* first, const cell_entry* second )
{
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256( _mm_loadu_si128( (const __m128i*)(const void*)first ) ),
        _mm_loadu_si128( (const __m128i*)(const void*)second ), 1 );
}

// The pairs of four hits. A tie is a lower byte equal to the upper one it is compared with: turned by half, a
// code's uppers lie over the other's lowers.
static inline uint32_t put_some_hits( const cell_entry* const rows[4], const cell_entry* const lanes[4],
    uint32_t valid, clv_pair* sure, clv_pair* ties )
{
    __m256i a = load_two( rows[0], rows[2] ), b = load_two( rows[1], rows[3] );
    __m256i c = load_two( lanes[0], lanes[2] ), d = load_two( lanes[1], lanes[3] );
    __m256i row = _mm256_unpackhi_epi64( a, b ), lane = _mm256_unpackhi_epi64( c, d ); // slots, in order
    __m256i more = _mm256_slli_epi64( _mm256_max_epu32( row, lane ), 32 );
    __m256i pairs = _mm256_blend_epi32( _mm256_min_epu32( row, lane ), more, 0xAA );
    __m256i turned = _mm256_shuffle_epi32( _mm256_unpacklo_epi64( c, d ), 0xB1 );
    __m256i equal = _mm256_and_si256(
        _mm256_cmpeq_epi8( _mm256_unpacklo_epi64( a, b ), turned ), _mm256_set1_epi32( 0x00FFFFFF ) );
    __m256i none = _mm256_cmpeq_epi64( equal, _mm256_setzero_si256() );
    uint32_t bits = (uint32_t)_mm256_movemask_ps( _mm256_castsi256_ps( none ) ); // two for each
    uint32_t all = 255u >> ( 8 - 2 * valid );
    _mm256_storeu_si256(
        (__m256i*)(void*)sure, _mm256_permutevar8x32_epi32( pairs, press_lanes( bits & all ) ) );
    _mm256_storeu_si256(
        (__m256i*)(void*)ties, _mm256_permutevar8x32_epi32( pairs, press_lanes( ~bits & all ) ) );
    return base_bit_count( bits & all ) / 2;
}

// ---- from boxes to records, eight at once: words_of, words_key and words_code over registers of one
// coordinate each

// Eight times four floats, of boxes 0 to 3 in the low halves and 4 to 7 in the high ones.
typedef struct eight_quads
{
    __m256 of[4];
} eight_quads;

static inline eight_quads load_quads( const float* first, size_t stride )
{
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
static inline void store_two( cell_record* out, __m256i both, bool streams )
{
    store_record( out, _mm256_castsi256_si128( both ), streams );
    store_record( out + 4, _mm256_extracti128_si256( both, 1 ), streams );
}

static inline void store_records(
    cell_record* out, __m256i lower, __m256i upper, __m256i slots, __m256i cells, bool streams )
{
    __m256i codes[2] = { _mm256_unpacklo_epi32( lower, upper ), _mm256_unpackhi_epi32( lower, upper ) };
    __m256i names[2] = { _mm256_unpacklo_epi32( slots, cells ), _mm256_unpackhi_epi32( slots, cells ) };
    for ( int i = 0; i < 2; ++i )
    {
        store_two( out + 2 * i, _mm256_unpacklo_epi64( codes[i], names[i] ), streams );
        store_two( out + 2 * i + 1, _mm256_unpackhi_epi64( codes[i], names[i] ), streams );
    }
}

#define OWN_RECORDS
// Boxes from `first` on, one behind the other, as many as go at once: how many is returned.
static inline uint32_t whole_records(
    const clv_aabb* boxes, uint32_t first, uint32_t count, const scaling* s, cell_record* out )
{
    const __m256i numbers = _mm256_set_epi32( 7, 6, 5, 4, 3, 2, 1, 0 );
    const size_t stride = sizeof( clv_aabb ) / sizeof( float );
    uint32_t done = 0;
    for ( ; count - done >= 8; done += 8 )
    {
        eight_quads low = load_quads( &boxes[first + done].lower.x, stride );  // lower x y z, upper x
        eight_quads high = load_quads( &boxes[first + done].lower.z, stride ); // lower z, upper x y z
        __m256 xy[2], zx[2], yz[2];
        split_quads( &low, false, xy );
        split_quads( &low, true, zx );
        split_quads( &high, true, yz );
        __m256i lower[3] = { steps_of( xy[0], s, 0 ), steps_of( xy[1], s, 1 ), steps_of( zx[0], s, 2 ) };
        __m256i upper[3] = { steps_of( zx[1], s, 0 ), steps_of( yz[0], s, 1 ), steps_of( yz[1], s, 2 ) };
        __m256i classes, cells = keys_of( lower, upper, s, &classes );
        __m256i slots = _mm256_add_epi32( numbers, _mm256_set1_epi32( (int)( first + done ) ) );
        store_records( out + done, bytes_of( lower ), _mm256_or_si256( bytes_of( upper ), classes ), slots,
            cells, false );
    }
    return done;
}

// A tray by eights, whatever is in it: how many is returned.
static inline uint32_t whole_tray(
    const cell_tray* tray, uint32_t count, const scaling* s, cell_record* out, bool streams )
{
    const size_t stride = sizeof( tray->items[0] ) / sizeof( float );
    for ( uint32_t done = 0; done < count; done += 8 )
    {
        eight_quads first = load_quads( &tray->items[done].box.lower.x, stride ); // lower x y z, upper x
        eight_quads last = load_quads( &tray->items[done].box.upper.y, stride );  // upper y z, slot, before
        __m256 xy[2], zx[2], yz[2], rest[2];
        split_quads( &first, false, xy );
        split_quads( &first, true, zx );
        split_quads( &last, false, yz );
        split_quads( &last, true, rest );
        __m256i lower[3] = { steps_of( xy[0], s, 0 ), steps_of( xy[1], s, 1 ), steps_of( zx[0], s, 2 ) };
        __m256i upper[3] = { steps_of( zx[1], s, 0 ), steps_of( yz[0], s, 1 ), steps_of( yz[1], s, 2 ) };
        __m256i classes, cells = keys_of( lower, upper, s, &classes );
        __m256i before = _mm256_castps_si256( rest[1] );
        store_records( out + done, _mm256_or_si256( bytes_of( lower ), before ),
            _mm256_or_si256( bytes_of( upper ), classes ), _mm256_castps_si256( rest[0] ), cells, streams );
    }
    return count;
}

// ---- nodes onto the stack, all at once

static inline __m256 mask_of_bits( uint32_t bits )
{
    const __m256i each = _mm256_setr_epi32( 1, 2, 4, 8, 16, 32, 64, 128 );
    return _mm256_castsi256_ps(
        _mm256_cmpeq_epi32( _mm256_and_si256( _mm256_set1_epi32( (int)bits ), each ), each ) );
}

// The least of these lanes, in every lane.
static inline __m256 least_of( __m256 mask, __m256 a )
{
    a = _mm256_blendv_ps( _mm256_set1_ps( INFINITY ), a, mask );
    a = _mm256_min_ps( a, _mm256_permute2f128_ps( a, a, 1 ) );
    a = _mm256_min_ps( a, _mm256_permute_ps( a, 0x4E ) );
    return _mm256_min_ps( a, _mm256_permute_ps( a, 0xB1 ) );
}

#define OWN_NODES
static inline uint32_t pick_nodes(
    query_stack* stack, uint32_t top, const uint32_t child[QUERY_LANES], eight near, uint32_t bits )
{
    __m256 nearest = least_of( mask_of_bits( bits ), near );
    uint32_t equal = (uint32_t)_mm256_movemask_ps( _mm256_cmp_ps( near, nearest, _CMP_EQ_OQ ) ) & bits;
    uint32_t first = equal & ( 0u - equal ), count = base_bit_count( bits );
    __m256i order = press_lanes( bits & ~first );
    __m256i children = _mm256_load_si256( (const __m256i*)child );
    _mm256_storeu_ps( stack->near + top, _mm256_permutevar8x32_ps( near, order ) );
    _mm256_storeu_si256( (__m256i*)( stack->node + top ), _mm256_permutevar8x32_epi32( children, order ) );
    // Where there is none this writes behind the last.
    uint32_t last = top + count - ( count > 0 );
    stack->near[last] = _mm256_cvtss_f32( nearest );
    stack->node[last] = child[base_lowest_bit( first | 0x100u ) & ( QUERY_LANES - 1 )];
    return top + count;
}

// Lanes of `bits` first, in order.
static inline eight eight_press( eight a, uint32_t bits )
{
    return _mm256_permutevar8x32_ps( a, press_lanes( bits ) );
}

#include "simd/kernel_body.h"

#define LENDS_CELLS
#include "simd/cell_body.h"

#include "simd/query_body.h"

#include "simd/query_body64.h"

#define NEAR_FLOATS 8
typedef __m256 near_f;
typedef __m256d near_d;

static inline uint32_t near_f_le_bits( near_f a, near_f b )
{
    return (uint32_t)_mm256_movemask_ps( _mm256_cmp_ps( a, b, _CMP_LE_OQ ) );
}

static inline uint32_t near_d_le_bits( near_d a, near_d b )
{
    return (uint32_t)_mm256_movemask_pd( _mm256_cmp_pd( a, b, _CMP_LE_OQ ) );
}

// Pressed together in a register and interleaved with the row.
static inline uint32_t* near_emit(
    uint32_t* out, uint32_t id, bool is_directed, const uint32_t* ids, uint32_t lanes, uint32_t bits )
{
    (void)lanes;
    __m256i row = _mm256_set1_epi32( (int)id ), all = _mm256_loadu_si256( (const __m256i*)ids );
    if ( is_directed )
    {
        __m256i is_kept = _mm256_cmpeq_epi32( _mm256_max_epu32( all, row ), all );
        bits &= (uint32_t)_mm256_movemask_ps( _mm256_castsi256_ps( is_kept ) );
        _mm256_storeu_si256( (__m256i*)out, _mm256_permutevar8x32_epi32( all, press_lanes( bits ) ) );
        return out + base_bit_count( bits );
    }
    __m256i found = _mm256_permutevar8x32_epi32( all, press_lanes( bits ) );
    __m256i a = _mm256_min_epu32( row, found ), b = _mm256_max_epu32( row, found );
    __m256i low = _mm256_unpacklo_epi32( a, b ), high = _mm256_unpackhi_epi32( a, b );
    _mm256_storeu_si256( (__m256i*)out, _mm256_permute2x128_si256( low, high, 0x20 ) );
    _mm256_storeu_si256( (__m256i*)( out + 8 ), _mm256_permute2x128_si256( low, high, 0x31 ) );
    return out + 2 * base_bit_count( bits );
}

static inline void near_f_press( float* to, near_f a, uint32_t bits )
{
    _mm256_storeu_ps( to, _mm256_permutevar8x32_ps( a, press_lanes( bits ) ) );
}

static inline void near_f_press_ids( uint32_t* to, const uint32_t* ids, uint32_t bits )
{
    __m256i all = _mm256_loadu_si256( (const __m256i*)ids );
    _mm256_storeu_si256( (__m256i*)to, _mm256_permutevar8x32_epi32( all, press_lanes( bits ) ) );
}

// A double is two lanes.
static inline void near_d_press( double* to, near_d a, uint32_t bits )
{
    uint32_t twice = ( bits & 1 ) * 3 | ( bits & 2 ) * 6 | ( bits & 4 ) * 12 | ( bits & 8 ) * 24;
    near_f_press( (float*)(void*)to, _mm256_castpd_ps( a ), twice );
}

static inline void near_d_press_ids( uint32_t* to, const uint32_t* ids, uint32_t bits )
{
    __m256i all = _mm256_castsi128_si256( _mm_loadu_si128( (const __m128i*)ids ) );
    __m256i found = _mm256_permutevar8x32_epi32( all, press_lanes( bits ) );
    _mm_storeu_si128( (__m128i*)to, _mm256_castsi256_si128( found ) );
}

#define near_f_max( a, b ) _mm256_max_ps( a, b )
#define near_d_max( a, b ) _mm256_max_pd( a, b )
#define near_f_load( p ) _mm256_loadu_ps( p )
#define near_f_store( p, a ) _mm256_storeu_ps( p, a )
#define near_f_splat( a ) _mm256_set1_ps( a )
#define near_f_sub( a, b ) _mm256_sub_ps( a, b )
#define near_f_mul( a, b ) _mm256_mul_ps( a, b )
#define near_f_add( a, b ) _mm256_add_ps( a, b )
#define near_d_load( p ) _mm256_loadu_pd( p )
#define near_d_store( p, a ) _mm256_storeu_pd( p, a )
#define near_d_splat( a ) _mm256_set1_pd( a )
#define near_d_sub( a, b ) _mm256_sub_pd( a, b )
#define near_d_mul( a, b ) _mm256_mul_pd( a, b )
#define near_d_add( a, b ) _mm256_add_pd( a, b )

#include "simd/near_twice.h"

#define KERNELS avx2
#define KERNELS_ISA CLV_ISA_AVX2
#include "simd/kernel_tables.h"

TARGET_END

#endif
