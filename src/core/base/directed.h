// SPDX-License-Identifier: MIT
// Sums of floats rounded away from the box they bound, in the default rounding mode. The sum of two floats is
// not always a double (their exponents may lie 276 apart), so the error of the double sum is kept too: D. E.
// Knuth, The Art of Computer Programming, volume 2, section 4.2.2, theorem B. No float overflows or
// underflows as a double, so it is exact.
#pragma once

#include "base/bits.h"
#include "base/exact.h"

#include <float.h>
#include <math.h>

/// The next float above; `value` is neither NaN nor infinity.
static inline float base_float_above( float value )
{
    uint32_t bits;
    if ( value == 0 )
    {
        return FLT_TRUE_MIN;
    }
    memcpy( &bits, &value, sizeof( bits ) );
    bits = value > 0 ? bits + 1 : bits - 1;
    memcpy( &value, &bits, sizeof( bits ) );
    return value;
}

/// The least float that is at least value + rest, where `rest` is what a sum of doubles lost when it became
/// `value`.
static inline float base_round_up( double value, double rest )
{
    if ( value > FLT_MAX )
    {
        return INFINITY;
    }
    if ( value < -FLT_MAX )
    {
        return -FLT_MAX;
    }
    float nearest = (float)value;
    bool is_below = (double)nearest < value || ( (double)nearest == value && rest > 0 );
    return is_below ? base_float_above( nearest ) : nearest;
}

/// The least float that is at least a + b. `a` may be infinite and then comes back, `b` is finite.
static inline float base_sum_up( float a, float b )
{
    double x = a, y = b, sum = x + y;
    if ( !base_is_finite( sum ) )
    {
        return a;
    }
    double part = sum - x;
    return base_round_up( sum, ( x - ( sum - part ) ) + ( y - part ) );
}

/// The least double that is at least a + b; likewise.
static inline double base_sum_up64( double a, double b )
{
    double sum = a + b;
    if ( !base_is_finite( sum ) )
    {
        return base_is_finite( a ) && sum < 0 ? -DBL_MAX : sum;
    }
    double part = sum - a, rest = ( a - ( sum - part ) ) + ( b - part );
    return rest > 0 ? nextafter( sum, INFINITY ) : sum;
}

static inline double base_sum_down64( double a, double b )
{
    return -base_sum_up64( -a, -b );
}

/// The greatest float that is at most a + b; likewise.
static inline float base_sum_down( float a, float b )
{
    return -base_sum_up( -a, -b );
}
