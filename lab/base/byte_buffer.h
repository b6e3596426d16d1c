// SPDX-License-Identifier: MIT
// Bytes that are put one behind the other.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Zero-initialised is empty.
typedef struct byte_buffer
{
    uint8_t* bytes;
    size_t count, capacity;
    bool has_failed; ///< out of memory once: what came since is missing
} byte_buffer;

void byte_buffer_put( byte_buffer* buffer, const void* bytes, size_t count );
void byte_buffer_put_byte( byte_buffer* buffer, uint8_t byte );

/// Seven bits a byte, the lowest first; all but the last have their top bit set.
void byte_buffer_put_count( byte_buffer* buffer, uint32_t value );

/// The same with a sign: 0, -1, 1, -2, … are 0, 1, 2, 3, …
void byte_buffer_put_difference( byte_buffer* buffer, int32_t value );

/// Empty again, with its memory kept.
void byte_buffer_clear( byte_buffer* buffer );
void byte_buffer_free( byte_buffer* buffer );
