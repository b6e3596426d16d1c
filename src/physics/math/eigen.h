// SPDX-License-Identifier: MIT
#pragma once

#include "math/mat3.h"
#include <stdbool.h>

#define MATH_EIGEN_ROUNDS 32

typedef struct math_eigen
{
    double values[3];  ///< descending
    math_mat3 vectors; ///< column i belongs to values[i]; a rotation
    int round_count;   ///< Jacobi rotations it took; 3 to 9 as a rule
    bool converged;    ///< false for NaN, infinities, or after MATH_EIGEN_ROUNDS
} math_eigen;

/// Eigenvalues and eigenvectors of a symmetric matrix; only the upper triangle and the diagonal are read.
math_eigen clv_math_eigen_symmetric( const math_mat3* symmetric );
