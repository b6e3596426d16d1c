// SPDX-License-Identifier: MIT
// Four floats side by side. GCC and Clang turn the vector type into SSE, NEON or whatever the target has; the
// twin below it is plain C. Both round every operation as a single float does, so they give the same bits.
#pragma once

#include "base/exact.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined( __SSE__ )
#include <xmmintrin.h>
#endif

#define MATH_LANES 4

#if !defined( MATH_LANES_PLAIN ) && ( ( defined( __GNUC__ ) && __GNUC__ >= 12 ) || defined( __clang__ ) )

typedef float math_lanes __attribute__( ( vector_size( 16 ) ) );

/// Yes (all bits) or no (none) in each lane.
typedef int32_t math_mask __attribute__( ( vector_size( 16 ) ) );

static inline math_lanes math_lanes_set( float x )
{
    return ( math_lanes ){ x, x, x, x };
}

#define MATH_LANES_OPERATOR( name, op )                                                                      \
    static inline math_lanes math_lanes_##name( math_lanes a, math_lanes b )                                 \
    {                                                                                                        \
        return a op b;                                                                                       \
    }

static inline math_lanes math_lanes_negate( math_lanes a )
{
    return -a;
}

static inline math_lanes math_lanes_abs( math_lanes a )
{
    return (math_lanes)( (math_mask)a & INT32_MAX );
}

static inline math_lanes math_lanes_sqrt( math_lanes a )
{
#if defined( __SSE__ )
    return _mm_sqrt_ps( a );
#else
    return ( math_lanes ){ sqrtf( a[0] ), sqrtf( a[1] ), sqrtf( a[2] ), sqrtf( a[3] ) };
#endif
}

static inline math_mask math_lanes_greater( math_lanes a, math_lanes b )
{
    return a > b;
}

/// Bit l: yes in lane l.
static inline uint32_t math_mask_bits( math_mask a )
{
#if defined( __SSE__ )
    return (uint32_t)_mm_movemask_ps( (math_lanes)a );
#else
    return ( (uint32_t)a[0] & 1 ) | ( (uint32_t)a[1] & 2 ) | ( (uint32_t)a[2] & 4 ) | ( (uint32_t)a[3] & 8 );
#endif
}

/// yes ? x : y
static inline math_lanes math_lanes_select( math_mask yes, math_lanes x, math_lanes y )
{
    return (math_lanes)( ( yes & (math_mask)x ) | ( ~yes & (math_mask)y ) );
}

/// Rows become columns.
static inline void math_lanes_transpose( math_lanes r[4] )
{
    math_lanes a = __builtin_shufflevector( r[0], r[1], 0, 4, 1, 5 );
    math_lanes b = __builtin_shufflevector( r[2], r[3], 0, 4, 1, 5 );
    math_lanes c = __builtin_shufflevector( r[0], r[1], 2, 6, 3, 7 );
    math_lanes d = __builtin_shufflevector( r[2], r[3], 2, 6, 3, 7 );
    r[0] = __builtin_shufflevector( a, b, 0, 1, 4, 5 );
    r[1] = __builtin_shufflevector( a, b, 2, 3, 6, 7 );
    r[2] = __builtin_shufflevector( c, d, 0, 1, 4, 5 );
    r[3] = __builtin_shufflevector( c, d, 2, 3, 6, 7 );
}

#else

typedef struct math_lanes
{
    float f[MATH_LANES];
} math_lanes;

static inline math_lanes math_lanes_set( float x )
{
    math_lanes r = { { x, x, x, x } };
    return r;
}

#define MATH_LANES_OPERATOR( name, op )                                                                      \
    static inline math_lanes math_lanes_##name( math_lanes a, math_lanes b )                                 \
    {                                                                                                        \
        math_lanes r = { { a.f[0] op b.f[0], a.f[1] op b.f[1], a.f[2] op b.f[2], a.f[3] op b.f[3] } };       \
        return r;                                                                                            \
    }

static inline math_lanes math_lanes_negate( math_lanes a )
{
    math_lanes r = { { -a.f[0], -a.f[1], -a.f[2], -a.f[3] } };
    return r;
}

static inline math_lanes math_lanes_abs( math_lanes a )
{
    math_lanes r = { { fabsf( a.f[0] ), fabsf( a.f[1] ), fabsf( a.f[2] ), fabsf( a.f[3] ) } };
    return r;
}

static inline math_lanes math_lanes_sqrt( math_lanes a )
{
    math_lanes r = { { sqrtf( a.f[0] ), sqrtf( a.f[1] ), sqrtf( a.f[2] ), sqrtf( a.f[3] ) } };
    return r;
}

/// Bit l: yes in lane l.
typedef uint32_t math_mask;

static inline math_mask math_lanes_greater( math_lanes a, math_lanes b )
{
    math_mask yes = 0;
    for ( uint32_t l = 0; l < MATH_LANES; ++l )
    {
        yes |= a.f[l] > b.f[l] ? 1u << l : 0u;
    }
    return yes;
}

static inline uint32_t math_mask_bits( math_mask a )
{
    return a & 15u;
}

/// yes ? x : y
static inline math_lanes math_lanes_select( math_mask yes, math_lanes x, math_lanes y )
{
    math_lanes r;
    for ( uint32_t l = 0; l < MATH_LANES; ++l )
    {
        r.f[l] = ( yes >> l & 1u ) != 0 ? x.f[l] : y.f[l];
    }
    return r;
}

/// Rows become columns.
static inline void math_lanes_transpose( math_lanes r[4] )
{
    for ( int i = 0; i < 4; ++i )
    {
        for ( int j = i + 1; j < 4; ++j )
        {
            float swap = r[i].f[j];
            r[i].f[j] = r[j].f[i];
            r[j].f[i] = swap;
        }
    }
}

#endif

MATH_LANES_OPERATOR( add, +)
MATH_LANES_OPERATOR( sub, -)
MATH_LANES_OPERATOR( mul, * )
MATH_LANES_OPERATOR( div, / )

static inline math_mask math_mask_and( math_mask a, math_mask b )
{
    return a & b;
}

static inline math_mask math_mask_or( math_mask a, math_mask b )
{
    return a | b;
}

static inline math_mask math_mask_not( math_mask a )
{
    return ~a;
}

/// A hint that this cache line is needed soon. Bodies lie where chance put them, so the hardware cannot
/// guess.
static inline void math_fetch( const void* p )
{
#if defined( __GNUC__ ) || defined( __clang__ )
    __builtin_prefetch( p );
#else
    (void)p;
#endif
}

static inline math_lanes math_lanes_load( const float* p )
{
    math_lanes r;
    memcpy( &r, p, sizeof( r ) );
    return r;
}

static inline void math_lanes_store( float* p, math_lanes a )
{
    memcpy( p, &a, sizeof( a ) );
}

/// a > b ? x : y
static inline math_lanes math_lanes_if_greater( math_lanes a, math_lanes b, math_lanes x, math_lanes y )
{
    return math_lanes_select( math_lanes_greater( a, b ), x, y );
}

static inline math_lanes math_lanes_max( math_lanes a, math_lanes b )
{
    return math_lanes_if_greater( a, b, a, b );
}

static inline math_lanes math_lanes_min( math_lanes a, math_lanes b )
{
    return math_lanes_if_greater( a, b, b, a );
}

/// limit / sqrt( square ) where the root is above the limit, 1 elsewhere.
static inline math_lanes math_lanes_shorten( math_lanes square, math_lanes limit )
{
    math_mask above = math_lanes_greater( square, math_lanes_mul( limit, limit ) );
    const math_lanes one = math_lanes_set( 1.0f );
    return math_mask_bits( above ) == 0
        ? one
        : math_lanes_select( above, math_lanes_div( limit, math_lanes_sqrt( square ) ), one );
}

/// A vector in each lane.
typedef struct math_lanes3
{
    math_lanes x, y, z;
} math_lanes3;

/// All x, then all y, then all z.
static inline math_lanes3 math_lanes3_load( const float* p )
{
    math_lanes3 r = { math_lanes_load( p ), math_lanes_load( p + MATH_LANES ),
        math_lanes_load( p + 2 * MATH_LANES ) };
    return r;
}

static inline void math_lanes3_store( float* p, math_lanes3 a )
{
    math_lanes_store( p, a.x );
    math_lanes_store( p + MATH_LANES, a.y );
    math_lanes_store( p + 2 * MATH_LANES, a.z );
}

static inline math_lanes3 math_lanes3_add( math_lanes3 a, math_lanes3 b )
{
    math_lanes3 r = { math_lanes_add( a.x, b.x ), math_lanes_add( a.y, b.y ), math_lanes_add( a.z, b.z ) };
    return r;
}

static inline math_lanes3 math_lanes3_sub( math_lanes3 a, math_lanes3 b )
{
    math_lanes3 r = { math_lanes_sub( a.x, b.x ), math_lanes_sub( a.y, b.y ), math_lanes_sub( a.z, b.z ) };
    return r;
}

static inline math_lanes3 math_lanes3_scale( math_lanes3 a, math_lanes s )
{
    math_lanes3 r = { math_lanes_mul( a.x, s ), math_lanes_mul( a.y, s ), math_lanes_mul( a.z, s ) };
    return r;
}

static inline math_lanes math_lanes3_dot( math_lanes3 a, math_lanes3 b )
{
    return math_lanes_add( math_lanes_add( math_lanes_mul( a.x, b.x ), math_lanes_mul( a.y, b.y ) ),
        math_lanes_mul( a.z, b.z ) );
}

static inline math_lanes3 math_lanes3_cross( math_lanes3 a, math_lanes3 b )
{
    math_lanes3 r = {
        math_lanes_sub( math_lanes_mul( a.y, b.z ), math_lanes_mul( a.z, b.y ) ),
        math_lanes_sub( math_lanes_mul( a.z, b.x ), math_lanes_mul( a.x, b.z ) ),
        math_lanes_sub( math_lanes_mul( a.x, b.y ), math_lanes_mul( a.y, b.x ) ),
    };
    return r;
}

/// Symmetric 3 x 3 matrices: xx, yy, zz, and xy, xz, yz.
typedef struct math_lanes_sym3
{
    math_lanes3 diagonal, rest;
} math_lanes_sym3;

static inline math_lanes3 math_lanes_sym3_mul( const math_lanes_sym3* m, math_lanes3 v )
{
    math_lanes3 rx = { m->diagonal.x, m->rest.x, m->rest.y };
    math_lanes3 ry = { m->rest.x, m->diagonal.y, m->rest.z };
    math_lanes3 rz = { m->rest.y, m->rest.z, m->diagonal.z };
    math_lanes3 r = { math_lanes3_dot( rx, v ), math_lanes3_dot( ry, v ), math_lanes3_dot( rz, v ) };
    return r;
}

/// m v for matrices given as all xx, then all yy, zz, xy, xz, yz.
static inline math_lanes3 math_lanes3_transform( const float* m, math_lanes3 v )
{
    math_lanes_sym3 matrix = { math_lanes3_load( m ), math_lanes3_load( m + 3 * MATH_LANES ) };
    return math_lanes_sym3_mul( &matrix, v );
}
