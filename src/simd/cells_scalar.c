// SPDX-License-Identifier: MIT
// The reference: registers of one byte.
#include "simd/cells.h"

#include "base/bits.h"
#include "simd/scaling.h"

// A register of one byte.
#define BYTE_LANES 1
typedef uint8_t bytes;

static inline bytes bytes_load( const uint8_t* p )
{
    return *p;
}

static inline bytes bytes_splat( uint8_t b )
{
    return b;
}

static inline bytes bytes_excess( bytes a, bytes b )
{
    return (bytes)( a > b ? a - b : 0 );
}

static inline bytes bytes_or( bytes a, bytes b )
{
    return a | b;
}

static inline uint32_t bytes_zero_bits( bytes a )
{
    return a == 0;
}

static inline bytes bytes_and( bytes a, bytes b )
{
    return a & b;
}

typedef cell_box record;

static inline record record_load( const cell_box* box )
{
    return *box;
}

static inline void record_store( cell_box* box, record r )
{
    *box = r;
}

static inline record record_from( const clv_aabb* box, uint32_t slot )
{
    record r = { { box->lower.x, box->lower.y, box->lower.z }, slot,
        { box->upper.x, box->upper.y, box->upper.z }, 0 };
    return r;
}

static inline int16_t fixed_coordinate( float value, const scaling* s, int axis )
{
    float v = ( value - s->origin[axis] ) * s->scale[axis];
    v = v > 0 ? v : 0;
    v = v < s->most[axis] ? v : s->most[axis];
    return (int16_t)v;
}

static inline cell_span fixed_of( record r, const scaling* s, int16_t out[8] )
{
    cell_span span = { 0, 0 };
    for ( int axis = 0; axis < 3; ++axis )
    {
        out[axis] = fixed_coordinate( r.lower[axis], s, axis );
        out[axis + 4] = fixed_coordinate( r.upper[axis], s, axis );
        span.first |= (uint64_t)( out[axis] >> 8 ) << ( 16 * axis );
        span.last |= (uint64_t)( out[axis + 4] >> 8 ) << ( 16 * axis );
    }
    out[3] = out[7] = 0;
    return span;
}

#include "simd/cells_plain.h"

#include "simd/cell_body.h"

#include "simd/block_body.h"

const simd_cells simd_cells_scalar = { search_block, block_histogram, block_assign, block_scatter };
