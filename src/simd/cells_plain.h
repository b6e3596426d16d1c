// SPDX-License-Identifier: MIT
// Records and codes in plain C, for the instruction sets without a quicker way. No include guard: part of a template, see
// cell_body.h.

typedef cell_record words;

static inline words words_load( const cell_record* record )
{
    return *record;
}

static inline void words_store( cell_record* record, words w, uint32_t name )
{
    w.name_low = (uint16_t)name;
    w.name_high = (uint16_t)( name >> 16 );
    *record = w;
}

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

static inline cell_key words_key( words w, const key_weights* weights )
{
    cell_key key = { 0, 0, false };
    for ( int axis = 0; axis < 3; ++axis )
    {
        uint32_t first = (uint32_t)( w.lower[axis] >> 8 );
        uint32_t size = (uint32_t)( w.upper[axis] >> 8 ) - first;
        key.cell += first * (uint16_t)weights->by_axis[axis];
        key.kind |= (uint32_t)( size > 0 ) << axis;
        key.is_wide = key.is_wide || size > 1;
    }
    return key;
}

static inline words words_from_cell( words w )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        uint16_t cell = w.lower[axis] & 0xFF00;
        w.lower[axis] = (uint16_t)( w.lower[axis] - cell );
        w.upper[axis] = (uint16_t)( w.upper[axis] - cell );
    }
    return w;
}

static inline void words_put( cell_entry* entry, words w, uint32_t before, uint32_t slot, uint32_t corner )
{
    uint64_t code = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        int32_t step = (int32_t)( corner >> axis & 1 ) * CELL_STEPS;
        int32_t lower = w.lower[axis] - step, upper = w.upper[axis] - step;
        lower = lower < 0 ? 0 : lower > 254 ? 254 : lower;
        upper = upper < 0 ? 0 : upper > 254 ? 254 : upper;
        code |= (uint64_t)lower << ( 8 * axis ) | (uint64_t)upper << ( 32 + 8 * axis );
    }
    *entry = ( cell_entry ){ code | (uint64_t)( before | corner ) << 24, slot, 0 };
}

static inline void spread_row( uint64_t code, cell_row* row )
{
    for ( int i = 0; i < 4; ++i )
    {
        row->bytes[i] = (uint32_t)( code >> ( 32 + 8 * i ) & 0xFF ) * 0x01010101u;
        row->bytes[i + 4] = ~( (uint32_t)( code >> ( 8 * i ) & 0xFF ) * 0x01010101u );
    }
}

static inline void transpose_codes( const cell_entry* entries, uint8_t* lanes, size_t stride )
{
    for ( int i = 0; i < 16; ++i )
    {
        for ( int byte = 0; byte < 7; ++byte )
        {
            uint8_t value = (uint8_t)( entries[i].code >> ( 8 * byte ) );
            lanes[(size_t)byte * stride + (size_t)i] = byte >= 4 ? (uint8_t)~value : value;
        }
    }
}
