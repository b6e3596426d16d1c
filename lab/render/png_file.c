// SPDX-License-Identifier: MIT
// T. Boutell, "PNG (Portable Network Graphics) Specification", RFC 2083 (1997).
#include "lab/render/picture_file.h"

#include "lab/base/deflate.h"
#include "lab/base/output_file.h"

#include <string.h>

enum
{
    FILTER_UP = 2, // the byte above is taken off: even ground becomes zeros
};

static uint32_t crc_of( const uint8_t* bytes, size_t count )
{
    uint32_t crc = UINT32_MAX;
    for ( size_t i = 0; i < count; ++i )
    {
        crc ^= bytes[i];
        for ( int bit = 0; bit < 8; ++bit )
        {
            crc = crc >> 1 ^ ( ( crc & 1 ) != 0 ? 0xEDB88320u : 0 );
        }
    }
    return ~crc;
}

static uint32_t adler_of( const uint8_t* bytes, size_t count )
{
    uint32_t a = 1, b = 0;
    for ( size_t i = 0; i < count; ++i )
    {
        a = ( a + bytes[i] ) % 65521;
        b = ( b + a ) % 65521;
    }
    return b << 16 | a;
}

static void put_word( byte_buffer* out, uint32_t word )
{
    const uint8_t bytes[4] = { (uint8_t)( word >> 24 ), (uint8_t)( word >> 16 ), (uint8_t)( word >> 8 ),
        (uint8_t)word };
    byte_buffer_put( out, bytes, 4 );
}

static void put_chunk( byte_buffer* out, const char* kind, const byte_buffer* data )
{
    put_word( out, (uint32_t)data->count );
    size_t begin = out->count;
    byte_buffer_put( out, kind, 4 );
    byte_buffer_put( out, data->bytes, data->count );
    if ( !out->has_failed )
    {
        put_word( out, crc_of( out->bytes + begin, out->count - begin ) );
    }
}

static void put_rows( byte_buffer* out, const uint8_t* pixels, uint32_t width, uint32_t height )
{
    size_t row = (size_t)3 * width;
    for ( uint32_t y = 0; y < height; ++y )
    {
        byte_buffer_put_byte( out, FILTER_UP );
        for ( size_t i = 0; i < row; ++i )
        {
            uint8_t above = y > 0 ? pixels[( y - 1 ) * row + i] : 0;
            byte_buffer_put_byte( out, (uint8_t)( pixels[y * row + i] - above ) );
        }
    }
}

bool png_file_write(
    const char* path, const uint8_t* pixels, uint32_t width, uint32_t height, lab_error* why )
{
    static const uint8_t signature[8] = { 137, 'P', 'N', 'G', 13, 10, 26, 10 };
    static const uint8_t kind[5] = { 8, 2, 0, 0, 0 }; // eight bits, red green blue, not interlaced
    static const uint8_t zlib_head[2] = { 0x78, 0x01 };
    byte_buffer rows = { 0 }, chunk = { 0 }, out = { 0 };
    put_rows( &rows, pixels, width, height );
    byte_buffer_put( &out, signature, sizeof( signature ) );
    put_word( &chunk, width );
    put_word( &chunk, height );
    byte_buffer_put( &chunk, kind, sizeof( kind ) );
    put_chunk( &out, "IHDR", &chunk );
    byte_buffer_clear( &chunk );
    byte_buffer_put( &chunk, zlib_head, sizeof( zlib_head ) );
    bool good = !rows.has_failed && deflate_append( &chunk, rows.bytes, rows.count );
    put_word( &chunk, good ? adler_of( rows.bytes, rows.count ) : 0 );
    put_chunk( &out, "IDAT", &chunk );
    byte_buffer_clear( &chunk );
    put_chunk( &out, "IEND", &chunk );
    good = good && !chunk.has_failed && !out.has_failed;
    output_file file = { 0 };
    good = good ? output_file_open( &file, path, why ) &&
            output_file_write( &file, out.bytes, out.count, why ) && output_file_commit( &file, why )
                : lab_error_write( why, "%s: out of memory", path );
    byte_buffer_free( &rows );
    byte_buffer_free( &chunk );
    byte_buffer_free( &out );
    return good;
}
