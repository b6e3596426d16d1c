// SPDX-License-Identifier: MIT
// A stream of numbers that depends on the seed alone (splitmix64: Steele, Lea, Flood, OOPSLA 2014).
#pragma once

#include "math/quat.h"
#include <stdint.h>

typedef struct math_random
{
    uint64_t state;
} math_random;

static inline math_random math_random_seed( uint64_t seed )
{
    math_random random = { seed };
    return random;
}

static inline uint64_t math_random_bits( math_random* random )
{
    uint64_t z = random->state += UINT64_C( 0x9E3779B97F4A7C15 );
    z = ( z ^ ( z >> 30 ) ) * UINT64_C( 0xBF58476D1CE4E5B9 );
    z = ( z ^ ( z >> 27 ) ) * UINT64_C( 0x94D049BB133111EB );
    return z ^ ( z >> 31 );
}

/// In [0, 1), a multiple of 2^-53.
static inline double math_random_unit( math_random* random )
{
    return (double)( math_random_bits( random ) >> 11 ) * 0x1p-53;
}

static inline double math_random_between( math_random* random, double low, double high )
{
    return low + ( high - low ) * math_random_unit( random );
}

/// Uniform over all rotations: a point of the 4-ball, found by rejection, needs no sine.
static inline math_quat math_random_rotation( math_random* random )
{
    for ( ;; )
    {
        double x = math_random_between( random, -1, 1 ), y = math_random_between( random, -1, 1 );
        double z = math_random_between( random, -1, 1 ), w = math_random_between( random, -1, 1 );
        double squared = x * x + y * y + z * z + w * w;
        if ( squared > 0.01 && squared <= 1.0 )
        {
            return math_quat_normalize( math_quat_make( x, y, z, w ) );
        }
    }
}

/// Uniform over all directions.
static inline math_vec3 math_random_direction( math_random* random )
{
    for ( ;; )
    {
        double x = math_random_between( random, -1, 1 ), y = math_random_between( random, -1, 1 );
        double z = math_random_between( random, -1, 1 );
        double squared = x * x + y * y + z * z;
        if ( squared > 0.01 && squared <= 1.0 )
        {
            return math_scale( math_make( x, y, z ), 1.0 / sqrt( squared ) );
        }
    }
}
