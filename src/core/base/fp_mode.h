// SPDX-License-Identifier: MIT
// Callers may run with flush-to-zero, denormals-are-zero or another rounding mode. Each would change answers:
// with denormals read as zero, 1e-40 <= 0 holds. So every public call that compares or grows boxes puts the
// modes to the standard's defaults and back again. And callers may trap exceptions: none is raised under
// them, and their flags are put back too, for what we round is no news to them. So every public call that
// touches a float does this first, before it checks its arguments: a comparison with NaN raises an exception,
// one with a denormal another. test/doors.def lists them all. A few register moves on x86 and ARM.
#pragma once

#include "base/exact.h"

#include <stdint.h>

/// The compiler does not know that modes change what it computes, and may do so before they are set or after
/// they are put back. What lies at `data` is computed here: read afterwards, if it is read, and written
/// before, if it is written. Floats handed over by value are settled after the modes are set, results before
/// they are put back.
static inline void base_fp_settle( const void* data )
{
#if defined( __GNUC__ ) || defined( __clang__ )
    __asm__ volatile( "" : : "r"( data ) : "memory" );
#else
    (void)data;
#endif
}

#if defined( __wasm__ )

typedef int base_fp_mode; // WebAssembly has one mode, the standard's, and no flags

static inline base_fp_mode base_fp_enter( void )
{
    return 0;
}

static inline void base_fp_leave( base_fp_mode mode )
{
    (void)mode;
}

#elif defined( __SSE2__ ) || defined( _M_X64 )

#include <xmmintrin.h>

typedef uint32_t base_fp_mode;

// Written only where that changes something: a new value empties the pipeline, which takes as long as a small
// query, and most callers have the usual modes and the flag for inexact results long since.
static inline base_fp_mode base_fp_enter( void )
{
    const uint32_t usual = 0x1F80, flags = 0x3F; // all exceptions masked, round to nearest, no FTZ, no DAZ
    base_fp_mode mode = _mm_getcsr();
    if ( ( mode & ~flags ) != usual )
    {
        _mm_setcsr( usual );
    }
    base_fp_settle( &mode );
    return mode;
}

static inline void base_fp_leave( base_fp_mode mode )
{
    base_fp_settle( &mode );
    if ( _mm_getcsr() != mode )
    {
        _mm_setcsr( mode );
    }
}

#elif defined( __aarch64__ ) && ( defined( __GNUC__ ) || defined( __clang__ ) )

typedef struct base_fp_mode
{
    uint64_t control, status;
} base_fp_mode;

static inline base_fp_mode base_fp_enter( void )
{
    base_fp_mode mode;
    __asm__ volatile( "mrs %0, fpcr" : "=r"( mode.control ) );
    __asm__ volatile( "mrs %0, fpsr" : "=r"( mode.status ) );
    __asm__ volatile( "msr fpcr, %0" : : "r"( (uint64_t)0 ) : "memory" );
    return mode;
}

static inline void base_fp_leave( base_fp_mode mode )
{
    __asm__ volatile( "msr fpsr, %0" : : "r"( mode.status ) : "memory" );
    __asm__ volatile( "msr fpcr, %0" : : "r"( mode.control ) : "memory" );
}

#else

#include <fenv.h>

typedef fenv_t base_fp_mode;

static inline base_fp_mode base_fp_enter( void )
{
    base_fp_mode mode;
    fegetenv( &mode );
    fesetenv( FE_DFL_ENV );
    return mode;
}

static inline void base_fp_leave( base_fp_mode mode )
{
    fesetenv( &mode );
}

#endif
