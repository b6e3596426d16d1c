// SPDX-License-Identifier: MIT
// The mixer is the finaliser of SplitMix64: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
// Generators", 2014.
#include "lab/base/random.h"

uint64_t random_mix( uint64_t value )
{
    value += UINT64_C( 0x9E3779B97F4A7C15 );
    value = ( value ^ value >> 30 ) * UINT64_C( 0xBF58476D1CE4E5B9 );
    value = ( value ^ value >> 27 ) * UINT64_C( 0x94D049BB133111EB );
    return value ^ value >> 31;
}

random_stream random_stream_make( uint64_t seed, uint64_t index, uint64_t purpose )
{
    uint64_t key = random_mix( seed );
    key = random_mix( key ^ index );
    key = random_mix( key ^ purpose );
    random_stream stream = { key, 0 };
    return stream;
}

uint64_t random_bits( random_stream* stream )
{
    // Consecutive multiples of the golden ratio, mixed: SplitMix64 itself.
    uint64_t position = stream->key + stream->draw_count * UINT64_C( 0x9E3779B97F4A7C15 );
    stream->draw_count += 1;
    return random_mix( position );
}

double random_unit( random_stream* stream )
{
    return (double)( random_bits( stream ) >> 11 ) * 0x1p-53;
}

void random_ball( random_stream* stream, double radius, double point[3] )
{
    double square = 0;
    do
    {
        square = 0;
        for ( int axis = 0; axis < 3; ++axis )
        {
            point[axis] = 2 * random_unit( stream ) - 1;
            square += point[axis] * point[axis];
        }
    } while ( square > 1 );
    for ( int axis = 0; axis < 3; ++axis )
    {
        point[axis] *= radius;
    }
}
