// SPDX-License-Identifier: MIT
// Checksums of the container, and numbers in the order of its bytes.
#include "base/assertion.h"
#include "base/parts.h"

#include <string.h>

enum
{
    STRIPE = 8 * BASE_SUM_LANES
};

static const uint64_t SUM_FACTOR = 0x9E3779B97F4A7C15u;

const uint8_t clv_base_parts_magic[8] = { 0x89, 'C', 'L', 'V', '\r', '\n', 0x1A, '\n' };

static uint64_t mix_word( uint64_t value )
{
    value = ( value ^ value >> 30 ) * 0xBF58476D1CE4E5B9u;
    value = ( value ^ value >> 27 ) * 0x94D049BB133111EBu;
    return value ^ value >> 31;
}

void clv_base_sum_begin( base_sum* sum, uint64_t seed, uint64_t number )
{
    for ( uint64_t i = 0; i < BASE_SUM_LANES; ++i )
    {
        sum->lanes[i] = mix_word( mix_word( seed + SUM_FACTOR ) + number * SUM_FACTOR + i );
    }
    sum->length = 0;
}

static uint64_t word_at( const uint8_t* bytes )
{
    uint64_t word;
    memcpy( &word, bytes, 8 );
    return base_is_little_endian() ? word : base_get_u64( bytes );
}

static uint64_t add_word( uint64_t lane, const uint8_t* bytes )
{
    uint64_t product = ( lane ^ word_at( bytes ) ) * SUM_FACTOR;
    return product << 31 | product >> 33;
}

static void add_stripes( uint64_t lanes[BASE_SUM_LANES], const uint8_t* bytes, uint64_t count )
{
    // Written out, so that the lanes stay in registers: as a loop they go through memory,
    // which takes twice as long.
    uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];
    uint64_t e = lanes[4], f = lanes[5], g = lanes[6], h = lanes[7];
    for ( ; count > 0; --count, bytes += STRIPE )
    {
        a = add_word( a, bytes );
        b = add_word( b, bytes + 8 );
        c = add_word( c, bytes + 16 );
        d = add_word( d, bytes + 24 );
        e = add_word( e, bytes + 32 );
        f = add_word( f, bytes + 40 );
        g = add_word( g, bytes + 48 );
        h = add_word( h, bytes + 56 );
    }
    const uint64_t own[BASE_SUM_LANES] = { a, b, c, d, e, f, g, h };
    memcpy( lanes, own, sizeof( own ) );
}

void clv_base_sum_add( base_sum* sum, const void* bytes, uint64_t size )
{
    const uint8_t* from = bytes;
    uint64_t filled = sum->length % STRIPE;
    sum->length += size;
    if ( filled > 0 )
    {
        uint64_t part = size < STRIPE - filled ? size : STRIPE - filled;
        memcpy( sum->waiting + filled, from, (size_t)part );
        from += part;
        size -= part;
        if ( filled + part < STRIPE )
        {
            return;
        }
        add_stripes( sum->lanes, sum->waiting, 1 );
    }
    add_stripes( sum->lanes, from, size / STRIPE );
    if ( size % STRIPE > 0 )
    {
        memcpy( sum->waiting, from + size / STRIPE * STRIPE, (size_t)( size % STRIPE ) );
    }
}

uint64_t clv_base_sum_end( base_sum* sum )
{
    uint64_t length = sum->length, filled = length % STRIPE;
    if ( filled > 0 )
    {
        memset( sum->waiting + filled, 0, (size_t)( STRIPE - filled ) );
        add_stripes( sum->lanes, sum->waiting, 1 );
    }
    uint64_t all = mix_word( length + SUM_FACTOR );
    for ( int i = 0; i < BASE_SUM_LANES; ++i )
    {
        all = mix_word( ( all ^ sum->lanes[i] ) + SUM_FACTOR );
    }
    return all;
}

uint64_t clv_base_sum_of( uint64_t seed, uint64_t number, const void* bytes, uint64_t size )
{
    base_sum sum;
    clv_base_sum_begin( &sum, seed, number );
    clv_base_sum_add( &sum, bytes, size );
    return clv_base_sum_end( &sum );
}

void clv_base_copy_ordered( void* to, const void* from, uint64_t count, uint32_t unit )
{
    CLV_ASSERT( unit == 1 || unit == 2 || unit == 4 || unit == 8 );
    uint64_t size = count * unit;
    if ( size == 0 )
    {
        return;
    }
    if ( unit == 1 || base_is_little_endian() )
    {
        memcpy( to, from, (size_t)size );
        return;
    }
    uint8_t* out = to;
    const uint8_t* in = from;
    for ( uint64_t i = 0; i < size; ++i )
    {
        out[i] = in[i / unit * unit + ( unit - 1 - i % unit )];
    }
}
