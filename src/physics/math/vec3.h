// SPDX-License-Identifier: MIT
// Between floats, which bodies, boxes and hulls are stored in, and the doubles of solid_math.h.
#pragma once

#include "cleave/geom.h"
#include "solid/solid_math.h"

static inline math_vec3 math_widen( clv_vec3 v )
{
    return math_make( (double)v.x, (double)v.y, (double)v.z );
}

/// GCC 12, from -O2 on, makes vectors of neighbouring conversions and then takes double to float to double
/// for nothing: what was narrowed and widened again was never rounded. It does not see through this.
#if defined( __GNUC__ ) && !defined( __clang__ )
#define MATH_ROUNDED( value ) __asm__( "" : "+m"( value ) )
#else
#define MATH_ROUNDED( value ) (void)( value )
#endif

static inline clv_vec3 math_narrow( math_vec3 v )
{
    clv_vec3 narrow = { (float)v.x, (float)v.y, (float)v.z };
    MATH_ROUNDED( narrow );
    return narrow;
}
