// SPDX-License-Identifier: MIT
// From coordinates to cells, in plain C: the reference of every kernel, and what handles boxes one by one.
#pragma once

#include "simd/cell_entry.h"

#include "base/exact.h"

/// How eight coordinates become 256ths of cells; words 3 and 7 hold none and become 0.
typedef struct scaling
{
    float origin[8], scale[8], most[8];
    int16_t weights[8]; ///< what a cell's coordinates are multiplied with, and added up, to get its number
} scaling;

/// A box in 256ths of cells: for each coordinate ( value - origin ) * scale, held between 0 and most, without its fraction. Monotonic, so
/// what touches stays touching. The fourth words are 0.
typedef struct cell_words
{
    uint16_t lower[4], upper[4];
} cell_words;

/// The cells of a box's lower and upper corner: x, y and z as fields of 16 bits. The fourth field means nothing.
typedef struct cell_span
{
    uint64_t first, last;
} cell_span;

/// A box's first cell, and its class.
typedef struct cell_key
{
    uint32_t cell;
    uint32_t kind; ///< a bit for each axis on which there is a second cell; CELL_WIDE: more than two
} cell_key;

static inline uint16_t cell_word_of( float value, const scaling* s, int axis )
{
    float v = ( value - s->origin[axis] ) * s->scale[axis];
    v = v > 0 ? v : 0;
    v = v < s->most[axis] ? v : s->most[axis];
    return (uint16_t)v;
}

static inline cell_words cell_words_of( const clv_aabb* box, const scaling* s )
{
    const float* lower = &box->lower.x;
    const float* upper = &box->upper.x;
    cell_words w = { { 0, 0, 0, 0 }, { 0, 0, 0, 0 } };
    for ( int axis = 0; axis < 3; ++axis )
    {
        w.lower[axis] = cell_word_of( lower[axis], s, axis );
        w.upper[axis] = cell_word_of( upper[axis], s, axis );
    }
    return w;
}

static inline cell_span cell_words_span( const cell_words* w )
{
    cell_span span = { 0, 0 };
    for ( int axis = 0; axis < 3; ++axis )
    {
        span.first |= (uint64_t)( w->lower[axis] / CELL_STEPS ) << ( 16 * axis );
        span.last |= (uint64_t)( w->upper[axis] / CELL_STEPS ) << ( 16 * axis );
    }
    return span;
}

static inline cell_key cell_words_key( const cell_words* w, const scaling* s )
{
    cell_key key = { 0, 0 };
    bool is_wide = false;
    for ( int axis = 0; axis < 3; ++axis )
    {
        uint32_t first = w->lower[axis] / CELL_STEPS;
        uint32_t size = w->upper[axis] / CELL_STEPS - first;
        key.cell += first * (uint16_t)s->weights[axis];
        key.kind |= (uint32_t)( size > 0 ) << axis;
        is_wide = is_wide || size > 1;
    }
    key.kind = is_wide ? CELL_WIDE : key.kind;
    return key;
}

/// The low bytes, as a record's code without bits.
static inline uint64_t cell_words_code( const cell_words* w )
{
    uint64_t code = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        code |= (uint64_t)( w->lower[axis] % CELL_STEPS ) << ( 8 * axis );
        code |= (uint64_t)( w->upper[axis] % CELL_STEPS ) << ( 32 + 8 * axis );
    }
    return code;
}

/// Coordinate `axis` of a corner's cell, from four fields of 16 bits.
static inline uint32_t cell_field( uint64_t fields, int axis )
{
    return (uint32_t)( fields >> ( 16 * axis ) ) & 0xFFFF;
}
