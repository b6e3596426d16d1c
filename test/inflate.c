// SPDX-License-Identifier: MIT
#include "inflate.h"

typedef struct bit_reader
{
    const uint8_t* bytes;
    size_t count, at;
    uint32_t bit;
    bool is_bad;
} bit_reader;

typedef struct huffman
{
    uint16_t counts[16], symbols[288];
} huffman;

static uint32_t take( bit_reader* in, uint32_t count )
{
    uint32_t value = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( in->at >= in->count )
        {
            in->is_bad = true;
            return 0;
        }
        value |= (uint32_t)( in->bytes[in->at] >> in->bit & 1 ) << i;
        in->bit = ( in->bit + 1 ) % 8;
        in->at += in->bit == 0;
    }
    return value;
}

static huffman huffman_make( const uint8_t* lengths, int count )
{
    huffman made = { { 0 }, { 0 } };
    int at = 0;
    for ( int length = 1; length <= 15; ++length )
    {
        for ( int symbol = 0; symbol < count; ++symbol )
        {
            if ( lengths[symbol] == length )
            {
                made.counts[length] += 1;
                made.symbols[at++] = (uint16_t)symbol;
            }
        }
    }
    return made;
}

static int next_symbol( bit_reader* in, const huffman* table )
{
    int code = 0, first = 0, at = 0;
    for ( int length = 1; length <= 15 && !in->is_bad; ++length )
    {
        code |= (int)take( in, 1 );
        if ( code - table->counts[length] < first )
        {
            return table->symbols[at + code - first];
        }
        at += table->counts[length];
        first = ( first + table->counts[length] ) << 1;
        code <<= 1;
    }
    in->is_bad = true;
    return 256;
}

static void read_tables( bit_reader* in, huffman* literals, huffman* distances )
{
    static const int places[19] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };
    uint8_t lengths[320] = { 0 }, orders[19] = { 0 };
    int literal_count = (int)take( in, 5 ) + 257, distance_count = (int)take( in, 5 ) + 1;
    int order_count = (int)take( in, 4 ) + 4;
    for ( int i = 0; i < order_count; ++i )
    {
        orders[places[i]] = (uint8_t)take( in, 3 );
    }
    huffman table = huffman_make( orders, 19 );
    for ( int i = 0; i < literal_count + distance_count && !in->is_bad; )
    {
        int symbol = next_symbol( in, &table ), times = 1;
        uint8_t value = (uint8_t)symbol;
        if ( symbol >= 16 )
        {
            value = symbol == 16 ? lengths[i - 1] : 0;
            times = symbol == 16 ? 3 + (int)take( in, 2 )
                : symbol == 17   ? 3 + (int)take( in, 3 )
                                 : 11 + (int)take( in, 7 );
        }
        for ( ; times > 0 && i < 320; --times )
        {
            lengths[i++] = value;
        }
    }
    *literals = huffman_make( lengths, literal_count );
    *distances = huffman_make( lengths + literal_count, distance_count );
}

static void inflate_block( bit_reader* in, byte_buffer* out )
{
    huffman literals, distances;
    read_tables( in, &literals, &distances );
    while ( !in->is_bad )
    {
        int symbol = next_symbol( in, &literals );
        if ( symbol == 256 )
        {
            return;
        }
        if ( symbol < 256 )
        {
            byte_buffer_put_byte( out, (uint8_t)symbol );
            continue;
        }
        int step = symbol - 257, extra = step < 8 || step == 28 ? 0 : step / 4 - 1;
        uint32_t length = step == 28 ? 258
            : step < 8               ? 3 + (uint32_t)step
                       : 3 + ( ( 4 + (uint32_t)step % 4 ) << extra ) + take( in, (uint32_t)extra );
        int far = next_symbol( in, &distances ), more = far < 4 ? 0 : far / 2 - 1;
        uint32_t distance = far < 4 ? 1 + (uint32_t)far
                                    : 1 + ( ( 2 + (uint32_t)far % 2 ) << more ) + take( in, (uint32_t)more );
        for ( ; length > 0 && distance <= out->count; --length )
        {
            byte_buffer_put_byte( out, out->bytes[out->count - distance] );
        }
        in->is_bad |= length > 0;
    }
}

size_t test_inflate( const uint8_t* bytes, size_t count, byte_buffer* out )
{
    bit_reader in = { bytes, count, 0, 0, false };
    for ( bool is_last = false; !is_last && !in.is_bad; )
    {
        is_last = take( &in, 1 ) == 1;
        in.is_bad |= take( &in, 2 ) != 2;
        inflate_block( &in, out );
    }
    return in.is_bad ? 0 : in.at + ( in.bit > 0 );
}
