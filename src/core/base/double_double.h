// SPDX-License-Identifier: MIT
// Sums of two doubles, about 104 bits: for the few numbers that rounding would decide. After Dekker, "A
// Floating-Point Technique for Extending the Available Precision" (1971). For values between 1e-140 and
// 1e140, and for 0; the caller scales.
#pragma once

#include "base/exact.h"

#include <math.h>
#include <stdbool.h>

/// high + low, where low is at most half a unit in the last place of high.
typedef struct double_double
{
    double high, low;
} double_double;

static inline double_double dd_of( double value )
{
    return ( double_double ){ value, 0 };
}

static inline double dd_round( double_double a )
{
    return a.high + a.low;
}

/// Where |high| >= |low|, or high is 0.
static inline double_double dd_join( double high, double low )
{
    double sum = high + low;
    return ( double_double ){ sum, low - ( sum - high ) };
}

/// Without rounding.
static inline double_double dd_sum( double a, double b )
{
    double sum = a + b, b_seen = sum - a;
    return ( double_double ){ sum, ( a - ( sum - b_seen ) ) + ( b - b_seen ) };
}

/// Without rounding.
static inline double_double dd_product( double a, double b )
{
    double a_big = a * 134217729.0, b_big = b * 134217729.0; // 2^27 + 1 halves the bits
    double a_head = a_big - ( a_big - a ), b_head = b_big - ( b_big - b );
    double a_tail = a - a_head, b_tail = b - b_head, product = a * b;
    double rest = ( ( a_head * b_head - product ) + a_head * b_tail + a_tail * b_head ) + a_tail * b_tail;
    return ( double_double ){ product, rest };
}

static inline double_double dd_add( double_double a, double_double b )
{
    double_double high = dd_sum( a.high, b.high ), low = dd_sum( a.low, b.low );
    high = dd_join( high.high, high.low + low.high );
    return dd_join( high.high, high.low + low.low );
}

static inline double_double dd_negative( double_double a )
{
    return ( double_double ){ -a.high, -a.low };
}

static inline double_double dd_subtract( double_double a, double_double b )
{
    return dd_add( a, dd_negative( b ) );
}

static inline double_double dd_multiply( double_double a, double_double b )
{
    double_double product = dd_product( a.high, b.high );
    return dd_join( product.high, product.low + ( a.high * b.low + a.low * b.high ) );
}

/// b is not 0.
static inline double_double dd_divide( double_double a, double_double b )
{
    double first = a.high / b.high;
    double_double rest = dd_subtract( a, dd_multiply( dd_of( first ), b ) );
    double second = rest.high / b.high;
    rest = dd_subtract( rest, dd_multiply( dd_of( second ), b ) );
    return dd_add( dd_join( first, second ), dd_of( rest.high / b.high ) );
}

/// a is not negative.
static inline double_double dd_root( double_double a )
{
    double first = sqrt( a.high );
    if ( first == 0 )
    {
        return dd_of( 0 );
    }
    double_double rest = dd_subtract( a, dd_product( first, first ) );
    return dd_join( first, rest.high / ( 2 * first ) );
}

/// Times a power of two.
static inline double_double dd_scale( double_double a, int exponent )
{
    return ( double_double ){ ldexp( a.high, exponent ), ldexp( a.low, exponent ) };
}

/// Also where both are infinite.
static inline bool dd_is_less( double_double a, double_double b )
{
    return a.high < b.high || ( a.high == b.high && a.low < b.low );
}
