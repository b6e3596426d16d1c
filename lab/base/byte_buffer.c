// SPDX-License-Identifier: MIT
#include "lab/base/byte_buffer.h"

#include <stdlib.h>
#include <string.h>

static bool reserve( byte_buffer* buffer, size_t more )
{
    if ( buffer->has_failed || more > SIZE_MAX / 4 - buffer->count )
    {
        buffer->has_failed = true;
        return false;
    }
    size_t needed = buffer->count + more;
    if ( needed <= buffer->capacity )
    {
        return true;
    }
    size_t capacity = needed < 2 * buffer->capacity ? 2 * buffer->capacity : needed + 256;
    uint8_t* bytes = realloc( buffer->bytes, capacity );
    if ( bytes == NULL )
    {
        buffer->has_failed = true;
        return false;
    }
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

void byte_buffer_put( byte_buffer* buffer, const void* bytes, size_t count )
{
    if ( count > 0 && reserve( buffer, count ) )
    {
        memcpy( buffer->bytes + buffer->count, bytes, count );
        buffer->count += count;
    }
}

void byte_buffer_put_byte( byte_buffer* buffer, uint8_t byte )
{
    if ( reserve( buffer, 1 ) )
    {
        buffer->bytes[buffer->count++] = byte;
    }
}

void byte_buffer_put_count( byte_buffer* buffer, uint32_t value )
{
    while ( value >= 0x80 )
    {
        byte_buffer_put_byte( buffer, (uint8_t)( value | 0x80 ) );
        value >>= 7;
    }
    byte_buffer_put_byte( buffer, (uint8_t)value );
}

void byte_buffer_put_difference( byte_buffer* buffer, int32_t value )
{
    byte_buffer_put_count( buffer, (uint32_t)value << 1 ^ ( value < 0 ? UINT32_MAX : 0 ) );
}

void byte_buffer_clear( byte_buffer* buffer )
{
    buffer->count = 0;
}

void byte_buffer_free( byte_buffer* buffer )
{
    free( buffer->bytes );
    *buffer = ( byte_buffer ){ 0 };
}
