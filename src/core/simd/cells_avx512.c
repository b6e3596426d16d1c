// SPDX-License-Identifier: MIT
// Compiled with AVX-512 (F, BW, DQ, VL, VBMI, VBMI2) turned on; nothing here runs before dispatch.c has asked the CPU.
#include "simd/cells.h"

#ifdef CLV_HAVE_AVX512

#include "base/bits.h"

#include "simd/target_avx512.h"

#define BYTE_LANES 64
typedef __m512i bytes;

static inline bytes bytes_load( const uint8_t* p )
{
    return _mm512_load_si512( p );
}

static inline bytes bytes_splat( uint8_t value )
{
    return _mm512_set1_epi8( (char)value );
}

static inline uint64_t bytes_zero_bits( bytes a )
{
    return _mm512_testn_epi8_mask( a, a );
}

static inline bytes bytes_and( bytes a, bytes b )
{
    return _mm512_and_si512( a, b );
}

typedef struct byte_box
{
    bytes lower[3], upper[3];
} byte_box;

// Where two intervals meet, the later beginning is at most the earlier end.
static inline uint64_t bytes_meet( const byte_box* lanes, const byte_box* row, int axes )
{
    uint64_t all = ~(uint64_t)0;
    for ( int axis = 0; axis < axes; ++axis )
    {
        all &= _mm512_cmple_epu8_mask( _mm512_max_epu8( lanes->lower[axis], row->lower[axis] ),
            _mm512_min_epu8( lanes->upper[axis], row->upper[axis] ) );
    }
    return all;
}

#include "simd/cells_splat.h"

#include "simd/cells_avx.h"

#include "simd/cells_x86.h"

#include "simd/hits_avx512.h"

#include "simd/records_avx512.h"

#include "simd/record_body.h"

#include "simd/cell_body.h"

const simd_cells clv_simd_cells_avx512 = {
    .make_records = make_records,
    .make_records_by = make_records_by,
    .put_records_by = put_records_by,
    .find_reaches = find_reaches,
    .search_cell = search_cell,
    .settle_ties = settle_ties,
};

#include "simd/target_end.h"

#endif
