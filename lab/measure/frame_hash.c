// SPDX-License-Identifier: MIT
#include "lab/measure/frame_hash.h"

uint64_t frame_hash_mix( uint64_t value )
{
    value += UINT64_C( 0x9E3779B97F4A7C15 );
    value = ( value ^ value >> 30 ) * UINT64_C( 0xBF58476D1CE4E5B9 );
    value = ( value ^ value >> 27 ) * UINT64_C( 0x94D049BB133111EB );
    return value ^ value >> 31;
}

static uint64_t pair_key( clv_pair pair )
{
    return (uint64_t)pair.a << 32 | pair.b;
}

uint64_t frame_hash_pairs( const clv_pair* pairs, uint64_t count, uint64_t frame )
{
    uint64_t sum = 0;
    for ( uint64_t index = 0; index < count; ++index )
    {
        sum += frame_hash_mix( pair_key( pairs[index] ) );
    }
    return sum * ( 2 * frame + 1 );
}

uint64_t frame_hash_order( const clv_pair* pairs, uint64_t count )
{
    uint64_t hash = count;
    for ( uint64_t index = 0; index < count; ++index )
    {
        hash = frame_hash_mix( hash ^ pair_key( pairs[index] ) );
    }
    return hash;
}
