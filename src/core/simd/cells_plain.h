// SPDX-License-Identifier: MIT
// Records and codes in plain C, for the instruction sets without a quicker way. No include guard: part of a template, see
// cell_body.h.

#include <string.h>

typedef struct words
{
    uint16_t lower[4], upper[4];
} words;

static inline cell_span words_span( words w )
{
    cell_span span = { 0, 0 };
    for ( int axis = 0; axis < 3; ++axis )
    {
        span.first |= (uint64_t)( w.lower[axis] >> 8 ) << ( 16 * axis );
        span.last |= (uint64_t)( w.upper[axis] >> 8 ) << ( 16 * axis );
    }
    return span;
}

static inline cell_key words_key( words w, const scaling* s )
{
    cell_key key = { 0, 0 };
    bool is_wide = false;
    for ( int axis = 0; axis < 3; ++axis )
    {
        uint32_t first = (uint32_t)( w.lower[axis] >> 8 );
        uint32_t size = (uint32_t)( w.upper[axis] >> 8 ) - first;
        key.cell += first * (uint16_t)s->weights[axis];
        key.kind |= (uint32_t)( size > 0 ) << axis;
        is_wide = is_wide || size > 1;
    }
    key.kind = is_wide ? CELL_WIDE : key.kind;
    return key;
}

static inline uint64_t words_code( words w )
{
    uint64_t code = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        code |= (uint64_t)( w.lower[axis] & 0xFF ) << ( 8 * axis );
        code |= (uint64_t)( w.upper[axis] & 0xFF ) << ( 32 + 8 * axis );
    }
    return code;
}

static inline void words_store( uint16_t out[8], words w )
{
    memcpy( out, w.lower, sizeof( w.lower ) );
    memcpy( out + 4, w.upper, sizeof( w.upper ) );
}

static inline void transpose_codes( const cell_entry* entries, uint8_t* lanes, size_t stride )
{
    for ( int i = 0; i < 16; ++i )
    {
        for ( int byte = 0; byte < 7; ++byte )
        {
            lanes[(size_t)byte * stride + (size_t)i] = (uint8_t)( entries[i].code >> ( 8 * byte ) );
        }
    }
}

// All comparisons made, no branch taken: which of them fails is a coin toss.
static inline bool boxes_touch( const clv_aabb* a, const clv_aabb* b )
{
    return ( ( a->lower.x <= b->upper.x ) & ( b->lower.x <= a->upper.x ) & ( a->lower.y <= b->upper.y ) &
               ( b->lower.y <= a->upper.y ) & ( a->lower.z <= b->upper.z ) & ( b->lower.z <= a->upper.z ) ) !=
        0;
}
