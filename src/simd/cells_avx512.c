// SPDX-License-Identifier: MIT
// Compiled with AVX-512 (F, BW, DQ, VL) turned on; nothing here runs before dispatch.c has asked the CPU.
#include "simd/cells.h"

#ifdef CLV_HAVE_AVX512

#include "base/bits.h"
#include "cell/scaling.h"

#include <immintrin.h>

#define BYTE_LANES 64
typedef __m512i bytes;

static inline bytes bytes_load( const uint8_t* p )
{
    return _mm512_load_si512( p );
}

static inline bytes bytes_splat( const uint32_t* p )
{
    return _mm512_set1_epi32( (int)*p );
}

static inline bytes bytes_excess( bytes a, bytes b )
{
    return _mm512_subs_epu8( a, b );
}

static inline bytes bytes_or( bytes a, bytes b )
{
    return _mm512_or_si512( a, b );
}

static inline uint64_t bytes_zero_bits( bytes a )
{
    return _mm512_testn_epi8_mask( a, a );
}

static inline bytes bytes_and( bytes a, bytes b )
{
    return _mm512_and_si512( a, b );
}

static inline bytes bytes_min( bytes a, bytes b )
{
    return _mm512_min_epu8( a, b );
}

static inline uint64_t bytes_meet( const bytes a[6], const bytes b[6] )
{
    bytes first = _mm512_ternarylogic_epi32(
        bytes_excess( a[0], b[0] ), bytes_excess( a[1], b[1] ), bytes_excess( a[2], b[2] ), 0xFE );
    bytes second = _mm512_ternarylogic_epi32(
        bytes_excess( a[3], b[3] ), bytes_excess( a[4], b[4] ), bytes_excess( a[5], b[5] ), 0xFE );
    return bytes_zero_bits( bytes_or( first, second ) );
}

#include "simd/cells_avx.h"

#include "simd/cells_x86.h"

#include "simd/cell_body.h"

#include "simd/block_body.h"

const simd_cells simd_cells_avx512 = {
    .search_block = search_block,
    .block_records = block_records,
    .slab_assign = slab_assign,
    .slab_scatter = slab_scatter,
    .count_cells = count_cells,
    .place_entries = place_entries,
    .search_cells = search_cells,
    .block_histogram = block_histogram,
    .block_assign = block_assign,
    .block_scatter = block_scatter,
};

#endif
