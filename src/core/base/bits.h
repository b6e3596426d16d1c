// SPDX-License-Identifier: MIT
// Bit tricks with a portable twin each.
#pragma once

#include "base/assertion.h"
#include "base/exact.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/// Index of the lowest set bit; `bits` is not 0.
static inline uint32_t base_lowest_bit( uint64_t bits )
{
    CLV_ASSERT( bits != 0 );
#if defined( __GNUC__ ) || defined( __clang__ )
    return (uint32_t)__builtin_ctzll( bits );
#else
    uint32_t index = 0;
    while ( ( bits & 1 ) == 0 )
    {
        bits >>= 1;
        index += 1;
    }
    return index;
#endif
}

static inline uint32_t base_bit_count( uint64_t bits )
{
#if defined( __GNUC__ ) || defined( __clang__ )
    return (uint32_t)__builtin_popcountll( bits );
#else
    uint32_t count = 0;
    for ( ; bits != 0; bits &= bits - 1 )
    {
        count += 1;
    }
    return count;
#endif
}

/// Bits needed to write `value`; 0 for 0.
static inline uint32_t base_bit_width( uint64_t value )
{
#if defined( __GNUC__ ) || defined( __clang__ )
    return value != 0 ? 64 - (uint32_t)__builtin_clzll( value ) : 0;
#else
    uint32_t width = 0;
    for ( ; value != 0; value >>= 1 )
    {
        width += 1;
    }
    return width;
#endif
}

/// Unsigned integers that sort like the floats they came from: negatives have all bits flipped, the others
/// the sign. -0 comes right below +0; infinities are where they belong; NaN never gets this far.
static inline uint32_t base_float_order( float value )
{
    uint32_t bits;
    memcpy( &bits, &value, sizeof( bits ) );
    uint32_t flip = (uint32_t)( -(int32_t)( bits >> 31 ) ) | 0x80000000u;
    return bits ^ flip;
}

/// One of begin .. end - 1, always the same for the same salt. Samples at equal distances would see every
/// 50th of a crowd whose every 50th is special as all of it.
static inline uint32_t base_pick( uint32_t salt, uint32_t begin, uint32_t end )
{
    uint32_t mixed = ( salt + 1 ) * 0x9E3779B9u;
    mixed = ( mixed ^ mixed >> 15 ) * 0x85EBCA6Bu;
    return begin + (uint32_t)( (uint64_t)( mixed ^ mixed >> 13 ) * ( end - begin ) >> 32 );
}

/// The `i`-th of `wanted` samples of 0 .. count - 1, wanted <= count: one from each of as many equal parts.
static inline uint32_t base_sample( uint32_t i, uint32_t wanted, uint32_t count )
{
    CLV_ASSERT( i < wanted && wanted <= count );
    uint32_t begin = (uint32_t)( (uint64_t)i * count / wanted );
    uint32_t end = (uint32_t)( ( (uint64_t)i + 1 ) * count / wanted );
    return base_pick( i, begin, end );
}

/// The same for a walk in steps: one of the `step` numbers from `first` on, below `count`. A step of 1 gives
/// `first`.
static inline uint32_t base_sample_step( uint32_t first, uint32_t step, uint32_t count )
{
    return base_pick( first, first, step < count - first ? first + step : count );
}

/// A function that runs when a space is made, or once in many updates over a sample: compiled for size, with
/// all that only it calls. One that is there once, however many call it. And one that is compiled anew for
/// each call, because its arguments are constants there.
#if defined( __GNUC__ ) || defined( __clang__ )
#define BASE_COLD __attribute__( ( cold ) )
#define BASE_NOINLINE __attribute__( ( noinline ) )
#define BASE_INLINE inline __attribute__( ( always_inline ) )
#else
#define BASE_COLD
#define BASE_NOINLINE
#define BASE_INLINE inline
#endif

/// Before a loop: `times` rounds of it without a test or a jump between them, where counting and the guess
/// where it ends cost as much as the work.
#if defined( __clang__ )
#define BASE_UNROLL( times ) BASE_PRAGMA( clang loop unroll_count( times ) )
#elif defined( __GNUC__ )
#define BASE_UNROLL( times ) BASE_PRAGMA( GCC unroll times )
#else
#define BASE_UNROLL( times )
#endif
#define BASE_PRAGMA( text ) _Pragma( #text )

/// Ask for the cache line at `address`; costs a slot in the pipeline and changes nothing else.
static inline void base_prefetch( const void* address )
{
#if defined( __GNUC__ ) || defined( __clang__ )
    __builtin_prefetch( address );
#else
    (void)address;
#endif
}

/// isfinite for doubles, which mingw's headers cannot take without narrowing them.
static inline bool base_is_finite( double value )
{
    return value - value == 0;
}
