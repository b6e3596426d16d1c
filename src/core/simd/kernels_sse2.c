// SPDX-License-Identifier: MIT
// Compiled to nothing where the baseline of the target has no SSE2.
#include "simd/kernels.h"

#ifdef CLV_HAVE_SSE2

#include "base/bits.h"
#include "simd/cells.h"
#include "simd/near_lanes.h"
#include "simd/query_lanes.h"

#include <math.h>
#include <string.h>

#include "simd/lanes_sse2.h"

#include "simd/kernels_x86.h"

#define OWN_ROW
static inline void load_row( const cell_entry* entry, bytes lower[3], bytes upper[3] )
{
    __m128i code = _mm_loadl_epi64( (const __m128i*)(const void*)&entry->code );
    __m128i twice = _mm_unpacklo_epi8( code, code );
    __m128i low = _mm_unpacklo_epi16( twice, twice ), high = _mm_unpackhi_epi16( twice, twice );
    lower[0] = _mm_shuffle_epi32( low, 0x00 );
    lower[1] = _mm_shuffle_epi32( low, 0x55 );
    lower[2] = _mm_shuffle_epi32( low, 0xAA );
    upper[0] = _mm_shuffle_epi32( high, 0x00 );
    upper[1] = _mm_shuffle_epi32( high, 0x55 );
    upper[2] = _mm_shuffle_epi32( high, 0xAA );
}

// ---- from rows and lanes that may touch to pairs

#define SOME_HITS 2
static inline __m128i load_entry( const cell_entry* entry )
{
    return _mm_load_si128( (const __m128i*)(const void*)entry );
}

// A tie is a lower byte equal to the upper one it is compared with: turned by half, a code's uppers lie over
// the other's lowers. Slots have 31 bits, so that they may be compared with their signs.
static inline uint32_t put_some_hits( const cell_entry* const rows[2], const cell_entry* const lanes[2],
    uint32_t valid, clv_pair* sure, clv_pair* ties )
{
    __m128i a = load_entry( rows[0] ), b = load_entry( rows[1] );
    __m128i c = load_entry( lanes[0] ), d = load_entry( lanes[1] );
    __m128i row = _mm_unpackhi_epi64( a, b ), lane = _mm_unpackhi_epi64( c, d ); // slots
    __m128i swapped = _mm_and_si128( _mm_xor_si128( row, lane ), _mm_cmpgt_epi32( row, lane ) );
    __m128i least = _mm_and_si128( _mm_xor_si128( row, swapped ), _mm_setr_epi32( -1, 0, -1, 0 ) );
    __m128i pairs = _mm_or_si128( least, _mm_slli_epi64( _mm_xor_si128( lane, swapped ), 32 ) );
    __m128i turned = _mm_shuffle_epi32( _mm_unpacklo_epi64( c, d ), 0xB1 );
    uint32_t equal = (uint32_t)_mm_movemask_epi8( _mm_cmpeq_epi8( _mm_unpacklo_epi64( a, b ), turned ) );
    uint32_t first = ( equal & 0x77 ) == 0, second = ( ( equal & 0x7700 ) == 0 ) & ( valid > 1 );
    _mm_storel_epi64( (__m128i*)(void*)sure, pairs );
    _mm_storel_epi64( (__m128i*)(void*)ties, pairs );
    _mm_storeh_pd( (double*)(void*)( sure + first ), _mm_castsi128_pd( pairs ) );
    _mm_storeh_pd( (double*)(void*)( ties + 1 - first ), _mm_castsi128_pd( pairs ) );
    return first + second;
}

static inline uint32_t eight_least_slot( const uint32_t* p )
{
    return query_least_slot( p );
}

#include "simd/kernel_body.h"

bool clv_simd_are_good_apart(
    const void* lower, const void* upper, size_t stride, size_t corner, uint32_t count )
{
    return four_are_good_apart( lower, upper, stride, corner, count );
}

#include "simd/cell_body.h"

#include "simd/query_body.h"

#include "simd/query_body64.h"

#define NEAR_FLOATS 4
typedef __m128 near_f;
typedef __m128d near_d;

static inline uint32_t near_f_le_bits( near_f a, near_f b )
{
    return (uint32_t)_mm_movemask_ps( _mm_cmple_ps( a, b ) );
}

static inline uint32_t near_d_le_bits( near_d a, near_d b )
{
    return (uint32_t)_mm_movemask_pd( _mm_cmple_pd( a, b ) );
}

#define near_f_max( a, b ) _mm_max_ps( a, b )
#define near_d_max( a, b ) _mm_max_pd( a, b )
#define near_f_press( p, a, bits ) ( near_f_store( p, a ), near_press_floats( p, 4, bits ) )
#define near_d_press( p, a, bits ) ( near_d_store( p, a ), near_press_doubles( p, 2, bits ) )
#define near_f_press_ids( p, ids, bits ) ( memcpy( p, ids, 16 ), near_press_ids( p, 4, bits ) )
#define near_d_press_ids( p, ids, bits ) ( memcpy( p, ids, 8 ), near_press_ids( p, 2, bits ) )
#define near_f_load( p ) _mm_loadu_ps( p )
#define near_f_store( p, a ) _mm_storeu_ps( p, a )
#define near_f_splat( a ) _mm_set1_ps( a )
#define near_f_sub( a, b ) _mm_sub_ps( a, b )
#define near_f_mul( a, b ) _mm_mul_ps( a, b )
#define near_f_add( a, b ) _mm_add_ps( a, b )
#define near_d_load( p ) _mm_loadu_pd( p )
#define near_d_store( p, a ) _mm_storeu_pd( p, a )
#define near_d_splat( a ) _mm_set1_pd( a )
#define near_d_sub( a, b ) _mm_sub_pd( a, b )
#define near_d_mul( a, b ) _mm_mul_pd( a, b )
#define near_d_add( a, b ) _mm_add_pd( a, b )

#define near_emit near_emit_lanes
#include "simd/near_twice.h"
#undef near_emit

#define KERNELS sse2
#define KERNELS_ISA CLV_ISA_SSE2
#include "simd/kernel_tables.h"

#endif
