// SPDX-License-Identifier: MIT
#pragma once

#include "math/mat3.h"
#include <stdbool.h>

typedef enum math_polar_result
{
    MATH_POLAR_OK,
    MATH_POLAR_DIVERGED, ///< NaN or infinity, or Jacobi's rotations did not end
    MATH_POLAR_SINGULAR, ///< flattened to a plane, line or point (or nearly): no one rotation is nearest
    MATH_POLAR_DRIFTED,  ///< R is off a rotation by more than the tolerance in some axis
} math_polar_result;

/// a = R S, R a rotation (or, where det a < 0, a rotation with a mirror) and S symmetric: S = sqrt( aᵀ a ),
/// R = a S^-1. `tolerance` bounds how far the columns of R may be from length 1; the paper skips a body at 1
/// %. *rotation and *stretch (which may be NULL) change only with MATH_POLAR_OK.
math_polar_result clv_math_polar_decompose(
    const math_mat3* a, double tolerance, math_mat3* rotation, math_mat3* stretch );
