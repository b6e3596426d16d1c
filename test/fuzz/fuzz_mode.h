// SPDX-License-Identifier: MIT
// Floating-point modes no caller should have, but some do: flush to zero, denormals are zero, rounding
// upwards.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#if defined( __SSE2__ )

#include <xmmintrin.h>

typedef uint32_t fuzz_mode;
#define FUZZ_MODE_HOSTILE 0xDFC0u // exceptions masked, flush, denormals are zero, round up

static inline fuzz_mode fuzz_mode_enter_hostile( void )
{
    fuzz_mode before = _mm_getcsr();
    _mm_setcsr( FUZZ_MODE_HOSTILE );
    return before;
}

static inline bool fuzz_mode_is_hostile( void )
{
    return ( _mm_getcsr() & ~0x3Fu ) == FUZZ_MODE_HOSTILE; // without the flags of what happened
}

static inline void fuzz_mode_leave( fuzz_mode before )
{
    _mm_setcsr( before );
}

#elif defined( __aarch64__ ) && defined( __GNUC__ )

typedef uint64_t fuzz_mode;
#define FUZZ_MODE_HOSTILE ( (uint64_t)1 << 24 | (uint64_t)1 << 22 ) // flush, round up

static inline void fuzz_mode_leave( fuzz_mode before )
{
    __asm__ volatile( "msr fpcr, %0" : : "r"( before ) : "memory" );
}

static inline fuzz_mode fuzz_mode_read( void )
{
    fuzz_mode mode;
    __asm__ volatile( "mrs %0, fpcr" : "=r"( mode ) : : "memory" );
    return mode;
}

static inline fuzz_mode fuzz_mode_enter_hostile( void )
{
    fuzz_mode before = fuzz_mode_read();
    fuzz_mode_leave( FUZZ_MODE_HOSTILE );
    return before;
}

static inline bool fuzz_mode_is_hostile( void )
{
    return fuzz_mode_read() == FUZZ_MODE_HOSTILE;
}

#else

#include <fenv.h>

typedef int fuzz_mode;

static inline fuzz_mode fuzz_mode_enter_hostile( void )
{
    int before = fegetround();
#if defined( FE_UPWARD )
    fesetround( FE_UPWARD );
#endif
    return before;
}

static inline bool fuzz_mode_is_hostile( void )
{
#if defined( FE_UPWARD )
    return fegetround() == FE_UPWARD;
#else
    return true;
#endif
}

static inline void fuzz_mode_leave( fuzz_mode before )
{
    fesetround( before );
}

#endif
