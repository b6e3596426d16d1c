// SPDX-License-Identifier: MIT
// The reference: registers of one byte.
#include "simd/cells.h"

#include "base/bits.h"
#include "engine/scaling.h"

// A register of one byte.
#define BYTE_LANES 1
typedef uint8_t bytes;

static inline bytes bytes_load( const uint8_t* p )
{
    return *p;
}

static inline bytes bytes_splat( uint8_t value )
{
    return value;
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

#include "simd/cells_meet.h"

static inline byte_box row_of( const cell_entry* entry )
{
    byte_box row;
    for ( int axis = 0; axis < 3; ++axis )
    {
        row.lower[axis] = (uint8_t)( entry->code >> ( 8 * axis ) );
        row.upper[axis] = (uint8_t)( entry->code >> ( 32 + 8 * axis ) );
    }
    return row;
}

#include "simd/cells_plain.h"

static inline uint16_t word_of( float value, const scaling* s, int axis )
{
    float v = ( value - s->origin[axis] ) * s->scale[axis];
    v = v > 0 ? v : 0;
    v = v < s->most[axis] ? v : s->most[axis];
    return (uint16_t)v;
}

static inline words words_of( const clv_aabb* box, const scaling* s )
{
    const float* lower = &box->lower.x;
    const float* upper = &box->upper.x;
    words w = { { 0, 0, 0, 0 }, { 0, 0, 0, 0 } };
    for ( int axis = 0; axis < 3; ++axis )
    {
        w.lower[axis] = word_of( lower[axis], s, axis );
        w.upper[axis] = word_of( upper[axis], s, axis );
    }
    return w;
}

#include "simd/hit_plain.h"

#include "simd/hits_plain.h"

#include "simd/cell_body.h"

#include "simd/records_plain.h"

#include "simd/block_body.h"

const simd_cells simd_cells_scalar = {
    .search_block = search_block,
    .block_records = block_records,
    .slab_scatter = slab_scatter,
    .count_cells = count_cells,
    .place_entries = place_entries,
    .search_cells = search_cells,
    .block_histogram = block_histogram,
    .block_scatter = block_scatter,
};
