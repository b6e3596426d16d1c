// SPDX-License-Identifier: MIT
// Compiled with AVX2 turned on; nothing here runs before dispatch.c has asked the CPU.
#include "simd/cells.h"

#ifdef CLV_HAVE_AVX2

#include "base/bits.h"
#include "cell/scaling.h"

#include <immintrin.h>

#define BYTE_LANES 32
typedef __m256i bytes;

static inline bytes bytes_load( const uint8_t* p )
{
    return _mm256_load_si256( (const __m256i*)(const void*)p );
}

static inline bytes bytes_splat( const uint32_t* p )
{
    return _mm256_set1_epi32( (int)*p );
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

static inline bytes bytes_min( bytes a, bytes b )
{
    return _mm256_min_epu8( a, b );
}

#include "simd/cells_meet.h"

#include "simd/cells_avx.h"

#include "simd/cells_x86.h"

#include "simd/cell_body.h"

#include "simd/block_body.h"

const simd_cells simd_cells_avx2 = {
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
