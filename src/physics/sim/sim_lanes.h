// SPDX-License-Identifier: MIT
// Four floats side by side. GCC and Clang turn the vector type into SSE, NEON or whatever the target has; the twin
// below it is plain C. Both round every operation as a single float does, so they give the same bits.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#define SIM_LANES 4

#if !defined( SIM_LANES_PLAIN ) && ( ( defined( __GNUC__ ) && __GNUC__ >= 12 ) || defined( __clang__ ) )

typedef float sim_lanes __attribute__( ( vector_size( 16 ) ) );
typedef int32_t sim_lanes_bits __attribute__( ( vector_size( 16 ) ) );

static inline sim_lanes sim_lanes_set( float x )
{
    return ( sim_lanes ){ x, x, x, x };
}

static inline sim_lanes sim_lanes_add( sim_lanes a, sim_lanes b )
{
    return a + b;
}

static inline sim_lanes sim_lanes_sub( sim_lanes a, sim_lanes b )
{
    return a - b;
}

static inline sim_lanes sim_lanes_mul( sim_lanes a, sim_lanes b )
{
    return a * b;
}

/// a > b ? x : y
static inline sim_lanes sim_lanes_if_greater( sim_lanes a, sim_lanes b, sim_lanes x, sim_lanes y )
{
    sim_lanes_bits mask = a > b;
    return (sim_lanes)( ( mask & (sim_lanes_bits)x ) | ( ~mask & (sim_lanes_bits)y ) );
}

/// Rows become columns.
static inline void sim_lanes_transpose( sim_lanes r[4] )
{
    sim_lanes a = __builtin_shufflevector( r[0], r[1], 0, 4, 1, 5 );
    sim_lanes b = __builtin_shufflevector( r[2], r[3], 0, 4, 1, 5 );
    sim_lanes c = __builtin_shufflevector( r[0], r[1], 2, 6, 3, 7 );
    sim_lanes d = __builtin_shufflevector( r[2], r[3], 2, 6, 3, 7 );
    r[0] = __builtin_shufflevector( a, b, 0, 1, 4, 5 );
    r[1] = __builtin_shufflevector( a, b, 2, 3, 6, 7 );
    r[2] = __builtin_shufflevector( c, d, 0, 1, 4, 5 );
    r[3] = __builtin_shufflevector( c, d, 2, 3, 6, 7 );
}

#else

typedef struct sim_lanes
{
    float f[SIM_LANES];
} sim_lanes;

static inline sim_lanes sim_lanes_set( float x )
{
    sim_lanes r = { { x, x, x, x } };
    return r;
}

static inline sim_lanes sim_lanes_add( sim_lanes a, sim_lanes b )
{
    sim_lanes r = { { a.f[0] + b.f[0], a.f[1] + b.f[1], a.f[2] + b.f[2], a.f[3] + b.f[3] } };
    return r;
}

static inline sim_lanes sim_lanes_sub( sim_lanes a, sim_lanes b )
{
    sim_lanes r = { { a.f[0] - b.f[0], a.f[1] - b.f[1], a.f[2] - b.f[2], a.f[3] - b.f[3] } };
    return r;
}

static inline sim_lanes sim_lanes_mul( sim_lanes a, sim_lanes b )
{
    sim_lanes r = { { a.f[0] * b.f[0], a.f[1] * b.f[1], a.f[2] * b.f[2], a.f[3] * b.f[3] } };
    return r;
}

/// a > b ? x : y
static inline sim_lanes sim_lanes_if_greater( sim_lanes a, sim_lanes b, sim_lanes x, sim_lanes y )
{
    sim_lanes r;
    for ( int l = 0; l < SIM_LANES; ++l )
    {
        r.f[l] = a.f[l] > b.f[l] ? x.f[l] : y.f[l];
    }
    return r;
}

/// Rows become columns.
static inline void sim_lanes_transpose( sim_lanes r[4] )
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

/// A hint that this cache line is needed soon. Bodies lie where chance put them, so the hardware cannot guess.
static inline void sim_fetch( const void* p )
{
#if defined( __GNUC__ ) || defined( __clang__ )
    __builtin_prefetch( p );
#else
    (void)p;
#endif
}

static inline sim_lanes sim_lanes_load( const float* p )
{
    sim_lanes r;
    memcpy( &r, p, sizeof( r ) );
    return r;
}

static inline void sim_lanes_store( float* p, sim_lanes a )
{
    memcpy( p, &a, sizeof( a ) );
}

static inline sim_lanes sim_lanes_max( sim_lanes a, sim_lanes b )
{
    return sim_lanes_if_greater( a, b, a, b );
}

static inline sim_lanes sim_lanes_min( sim_lanes a, sim_lanes b )
{
    return sim_lanes_if_greater( a, b, b, a );
}

/// limit / sqrt( square ) where the root is above the limit, 1 elsewhere. Rarely needed, so lane by lane.
static inline sim_lanes sim_lanes_shorten( sim_lanes square, sim_lanes limit )
{
    float s[SIM_LANES], m[SIM_LANES], r[SIM_LANES];
    sim_lanes_store( s, square );
    sim_lanes_store( m, limit );
    for ( int l = 0; l < SIM_LANES; ++l )
    {
        r[l] = s[l] > m[l] * m[l] ? m[l] / sqrtf( s[l] ) : 1.0f;
    }
    return sim_lanes_load( r );
}

/// A vector in each lane.
typedef struct sim_lanes3
{
    sim_lanes x, y, z;
} sim_lanes3;

/// All x, then all y, then all z.
static inline sim_lanes3 sim_lanes3_load( const float* p )
{
    sim_lanes3 r = { sim_lanes_load( p ), sim_lanes_load( p + SIM_LANES ),
        sim_lanes_load( p + 2 * SIM_LANES ) };
    return r;
}

static inline sim_lanes3 sim_lanes3_add( sim_lanes3 a, sim_lanes3 b )
{
    sim_lanes3 r = { sim_lanes_add( a.x, b.x ), sim_lanes_add( a.y, b.y ), sim_lanes_add( a.z, b.z ) };
    return r;
}

static inline sim_lanes3 sim_lanes3_sub( sim_lanes3 a, sim_lanes3 b )
{
    sim_lanes3 r = { sim_lanes_sub( a.x, b.x ), sim_lanes_sub( a.y, b.y ), sim_lanes_sub( a.z, b.z ) };
    return r;
}

static inline sim_lanes3 sim_lanes3_scale( sim_lanes3 a, sim_lanes s )
{
    sim_lanes3 r = { sim_lanes_mul( a.x, s ), sim_lanes_mul( a.y, s ), sim_lanes_mul( a.z, s ) };
    return r;
}

static inline sim_lanes sim_lanes3_dot( sim_lanes3 a, sim_lanes3 b )
{
    return sim_lanes_add(
        sim_lanes_add( sim_lanes_mul( a.x, b.x ), sim_lanes_mul( a.y, b.y ) ), sim_lanes_mul( a.z, b.z ) );
}

static inline sim_lanes3 sim_lanes3_cross( sim_lanes3 a, sim_lanes3 b )
{
    sim_lanes3 r = {
        sim_lanes_sub( sim_lanes_mul( a.y, b.z ), sim_lanes_mul( a.z, b.y ) ),
        sim_lanes_sub( sim_lanes_mul( a.z, b.x ), sim_lanes_mul( a.x, b.z ) ),
        sim_lanes_sub( sim_lanes_mul( a.x, b.y ), sim_lanes_mul( a.y, b.x ) ),
    };
    return r;
}

/// m v for symmetric matrices, given as all xx, then all yy, zz, xy, xz, yz.
static inline sim_lanes3 sim_lanes3_transform( const float* m, sim_lanes3 v )
{
    sim_lanes3 diagonal = sim_lanes3_load( m ), rest = sim_lanes3_load( m + 3 * SIM_LANES );
    sim_lanes3 rx = { diagonal.x, rest.x, rest.y };
    sim_lanes3 ry = { rest.x, diagonal.y, rest.z };
    sim_lanes3 rz = { rest.y, rest.z, diagonal.z };
    sim_lanes3 r = { sim_lanes3_dot( rx, v ), sim_lanes3_dot( ry, v ), sim_lanes3_dot( rz, v ) };
    return r;
}
