// SPDX-License-Identifier: MIT
#include "fuzz_bytes.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void fuzz_fail( const char* file, int line, const char* condition, const char* format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    fprintf( stderr, "%s:%d: does not hold: %s: ", file, line, condition );
    vfprintf( stderr, format, arguments );
    fputc( '\n', stderr );
    va_end( arguments );
    abort();
}

uint8_t fuzz_take_byte( fuzz_bytes* bytes )
{
    if ( bytes->left == 0 )
    {
        return 0;
    }
    bytes->left -= 1;
    return *bytes->at++;
}

uint32_t fuzz_take_word( fuzz_bytes* bytes )
{
    uint32_t word = 0;
    for ( int shift = 0; shift < 32; shift += 8 )
    {
        word |= (uint32_t)fuzz_take_byte( bytes ) << shift;
    }
    return word;
}

static float float_of_bits( uint32_t bits )
{
    float value;
    memcpy( &value, &bits, sizeof( value ) );
    return value;
}

static float odd_float( uint32_t choice )
{
    static const float odd[] = { 0.0f, FLT_TRUE_MIN, FLT_MIN, FLT_MIN - FLT_TRUE_MIN, FLT_MAX, INFINITY, NAN,
        1e9f, 16777216.0f, 16777218.0f, 1e-30f, 0.1f, 1e38f, 3 * FLT_TRUE_MIN, 1.0f + FLT_EPSILON, 65536.0f };
    float value = odd[choice % ( sizeof( odd ) / sizeof( odd[0] ) )];
    return ( choice & 16 ) != 0 ? -value : value;
}

float fuzz_take_float( fuzz_bytes* bytes )
{
    uint8_t kind = fuzz_take_byte( bytes );
    if ( kind < 192 ) // quarters around 0: they meet
    {
        return (float)( kind - 96 ) * 0.25f;
    }
    return kind < 248 ? odd_float( kind - 192u ) : float_of_bits( fuzz_take_word( bytes ) );
}

clv_aabb fuzz_take_box( fuzz_bytes* bytes )
{
    float corner[6];
    uint8_t shape = fuzz_take_byte( bytes );
    for ( int i = 0; i < 3; ++i )
    {
        corner[i] = fuzz_take_float( bytes );
        corner[3 + i] = shape < 192 ? corner[i] + (float)( ( shape >> ( 2 * i ) ) & 3 )
                                    : fuzz_take_float( bytes ); // as likely as not upside down
    }
    return ( clv_aabb ){ { corner[0], corner[1], corner[2] }, { corner[3], corner[4], corner[5] } };
}

uint64_t fuzz_mix( uint64_t value )
{
    value += 0x9E3779B97F4A7C15u;
    value = ( value ^ ( value >> 30 ) ) * 0xBF58476D1CE4E5B9u;
    value = ( value ^ ( value >> 27 ) ) * 0x94D049BB133111EBu;
    return value ^ ( value >> 31 );
}

clv_aabb fuzz_crowd_box( uint32_t seed, uint32_t index )
{
    uint64_t bits = fuzz_mix( ( (uint64_t)seed << 32 ) | index );
    // The seed chooses how dense, how large, and on which scale: 1, denormal, or 2^20 away from the origin.
    uint32_t spread = 8u << ( seed & 3 );
    float scale = ( seed & 12 ) == 12 ? FLT_TRUE_MIN : 1.0f;
    float offset = ( seed & 12 ) == 8 ? 1048576.0f : 0.0f;
    float corner[6];
    for ( int i = 0; i < 3; ++i )
    {
        corner[i] = ( (float)( bits % spread ) - 0.5f * (float)spread ) * scale + offset;
        bits /= 64;
        corner[3 + i] = corner[i] + (float)( bits % 3 ) * scale;
        bits /= 4;
    }
    if ( ( bits & 63 ) == 0 )
    {
        int axis = (int)( ( bits >> 6 ) % 3 );
        corner[axis] = -INFINITY;
        corner[3 + axis] = INFINITY;
    }
    return ( clv_aabb ){ { corner[0], corner[1], corner[2] }, { corner[3], corner[4], corner[5] } };
}
