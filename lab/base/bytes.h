// SPDX-License-Identifier: MIT
// Bytes that are put one behind the other.
#pragma once

#include "lab/base/error.h"

#include <stddef.h>
#include <stdint.h>

/// Zero-initialised is empty.
typedef struct byte_buffer
{
    uint8_t* bytes;
    size_t count, capacity;
} byte_buffer;

void byte_buffer_put( byte_buffer* buffer, const void* bytes, size_t count );
void byte_buffer_put_byte( byte_buffer* buffer, uint8_t byte );

/// printf, without the zero.
void byte_buffer_print( byte_buffer* buffer, const char* format, ... ) LAB_ERROR_FORMAT( 2, 3 );

/// Seven bits a byte, the lowest first; all but the last have their top bit set.
void byte_buffer_put_count( byte_buffer* buffer, uint32_t value );

/// The same with a sign: 0, -1, 1, -2, … are 0, 1, 2, 3, …
void byte_buffer_put_difference( byte_buffer* buffer, int32_t value );

/// Empty again, with its memory kept.
void byte_buffer_clear( byte_buffer* buffer );
void byte_buffer_free( byte_buffer* buffer );

// ---- Base64 (RFC 4648, section 4).

void base64_append( byte_buffer* out, const uint8_t* bytes, size_t count );

// ---- Deflate (RFC 1951), for pages whose browser unpacks it and for PNG. Repeats of twelve bytes and more
// are referred to, and so are runs of one byte from four on; shorter ones are left to the code lengths, since
// in differences of coordinates they are chance and cost more than they save.

/// Appends `count` bytes as one whole deflate stream.
void deflate_append( byte_buffer* out, const uint8_t* bytes, size_t count );
