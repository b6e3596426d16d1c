// SPDX-License-Identifier: MIT
// Points and boxes of which every number is one: neither NaN nor infinite. No comparison here raises a
// floating-point exception.
#pragma once

#include "base/exact.h"
#include "cleave/types.h"

#include <math.h>

static inline bool base_is_finite_point( clv_vec3 point )
{
    return isfinite( point.x ) && isfinite( point.y ) && isfinite( point.z );
}

static inline bool base_is_finite_box( const clv_aabb* box )
{
    return base_is_finite_point( box->lower ) && base_is_finite_point( box->upper );
}
