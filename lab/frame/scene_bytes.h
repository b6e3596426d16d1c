// SPDX-License-Identifier: MIT
// Numbers of scene files: little endian, on any machine.
#pragma once

#include <stdint.h>
#include <string.h>

static inline uint32_t scene_decode_u32( const unsigned char* bytes )
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline void scene_encode_u32( unsigned char* bytes, uint32_t value )
{
    bytes[0] = (unsigned char)( value & 0xFF );
    bytes[1] = (unsigned char)( value >> 8 & 0xFF );
    bytes[2] = (unsigned char)( value >> 16 & 0xFF );
    bytes[3] = (unsigned char)( value >> 24 );
}

static inline float scene_decode_float( const unsigned char* bytes )
{
    uint32_t bits = scene_decode_u32( bytes );
    float value;
    memcpy( &value, &bits, sizeof( value ) );
    return value;
}

static inline void scene_encode_float( unsigned char* bytes, float value )
{
    uint32_t bits;
    memcpy( &bits, &value, sizeof( bits ) );
    scene_encode_u32( bytes, bits );
}
