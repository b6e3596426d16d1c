// SPDX-License-Identifier: MIT
#include "lab/base/base64.h"

void base64_append( byte_buffer* out, const uint8_t* bytes, size_t count )
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for ( size_t at = 0; at < count; at += 3 )
    {
        size_t rest = count - at;
        uint32_t word = (uint32_t)bytes[at] << 16 | ( rest > 1 ? (uint32_t)bytes[at + 1] << 8 : 0 ) |
            ( rest > 2 ? bytes[at + 2] : 0u );
        char four[4] = { digits[word >> 18], digits[word >> 12 & 63], rest > 1 ? digits[word >> 6 & 63] : '=',
            rest > 2 ? digits[word & 63] : '=' };
        byte_buffer_put( out, four, sizeof( four ) );
    }
}
