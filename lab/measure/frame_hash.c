// SPDX-License-Identifier: MIT
#include "lab/measure/frame_hash.h"

#include "lab/base/random.h"

static uint64_t pair_key( clv_pair pair )
{
    return (uint64_t)pair.a << 32 | pair.b;
}

uint64_t frame_hash_pairs( const clv_pair* pairs, uint64_t count, uint64_t frame )
{
    uint64_t sum = 0;
    for ( uint64_t index = 0; index < count; ++index )
    {
        sum += random_mix( pair_key( pairs[index] ) );
    }
    return sum * ( 2 * frame + 1 );
}

uint64_t frame_hash_order( const clv_pair* pairs, uint64_t count )
{
    uint64_t hash = count;
    for ( uint64_t index = 0; index < count; ++index )
    {
        hash = random_mix( hash ^ pair_key( pairs[index] ) );
    }
    return hash;
}
