// SPDX-License-Identifier: MIT
#include "base/timer.h"

#ifdef _WIN32

#include "base/win32.h"

uint64_t clv_base_clock_ns( void )
{
    LARGE_INTEGER now, rate;
    QueryPerformanceCounter( &now );
    QueryPerformanceFrequency( &rate );
    uint64_t ticks = (uint64_t)now.QuadPart;
    uint64_t per_second = (uint64_t)rate.QuadPart;
    return ticks / per_second * 1000000000u + ticks % per_second * 1000000000u / per_second;
}

#else

#include <time.h>

uint64_t clv_base_clock_ns( void )
{
    struct timespec now;
    clock_gettime( CLOCK_MONOTONIC, &now );
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
