// SPDX-License-Identifier: MIT
// Compiled with AVX2 turned on; nothing here runs before dispatch.c has asked the CPU.
#include "simd/cells.h"

#ifdef CLV_HAVE_AVX2

#include "base/bits.h"

#include "simd/target_avx2.h"

#define BYTE_LANES 32
typedef __m256i bytes;

static inline bytes bytes_load( const uint8_t* p )
{
    return _mm256_load_si256( (const __m256i*)(const void*)p );
}

static inline bytes bytes_splat( uint8_t value )
{
    return _mm256_set1_epi8( (char)value );
}

static inline bytes bytes_excess( bytes a, bytes b )
{
    return _mm256_subs_epu8( a, b );
}

static inline bytes bytes_or( bytes a, bytes b )
{
    return _mm256_or_si256( a, b );
}

static inline uint32_t bytes_zero_bits( bytes a )
{
    return (uint32_t)_mm256_movemask_epi8( _mm256_cmpeq_epi8( a, _mm256_setzero_si256() ) );
}

static inline bytes bytes_and( bytes a, bytes b )
{
    return _mm256_and_si256( a, b );
}

#include "simd/cells_meet.h"

#include "simd/cells_splat.h"

#include "simd/cells_avx.h"

#include "simd/cells_x86.h"

// A tie is a lower byte equal to the upper one it is compared with: turned by half, a code's uppers lie over the other's lowers.
static inline bool put_hit( const cell_entry* row, const cell_entry* lane, clv_pair* sure, clv_pair* tie )
{
    __m128i a = _mm_loadu_si128( (const __m128i*)(const void*)row );
    __m128i b = _mm_loadu_si128( (const __m128i*)(const void*)lane );
    __m128i pair =
        _mm_unpackhi_epi32( _mm_min_epu32( a, b ), _mm_max_epu32( a, b ) ); // slots are the third words
    _mm_storel_epi64( (__m128i*)(void*)sure, pair );
    _mm_storel_epi64( (__m128i*)(void*)tie, pair );
    return ( _mm_movemask_epi8( _mm_cmpeq_epi8( a, _mm_shuffle_epi32( b, 0xB1 ) ) ) & 0x77 ) != 0;
}

#include "simd/hits_plain.h"

#include "simd/records_avx2.h"

#include "simd/record_body.h"

#include "simd/cell_body.h"

const simd_cells clv_simd_cells_avx2 = {
    .make_records = make_records,
    .make_records_by = make_records_by,
    .put_records_by = put_records_by,
    .find_reaches = find_reaches,
    .search_cell = search_cell,
    .settle_ties = settle_ties,
};

#include "simd/target_end.h"

#endif
