// SPDX-License-Identifier: MIT
#pragma once

#include "base/exact.h"

#include <stdint.h>

/// A clock that never goes back; nanoseconds since some moment of its own choice.
uint64_t clv_base_clock_ns( void );

/// Milliseconds between two readings.
static inline double base_clock_ms( uint64_t begin_ns, uint64_t end_ns )
{
    return (double)( end_ns - begin_ns ) * 1e-6;
}
