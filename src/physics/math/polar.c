// SPDX-License-Identifier: MIT
// Polar decomposition and matrix square root by Jacobi's rotations: appendix B of "Detecção de Colisão usando
// Sweep and Prune com k-DOPs em GPU" (COPPE 2021), for shape matching (Müller, Heidelberger, Teschner, Gross,
// SIGGRAPH 2005).
#include "math/polar.h"

#include "math/eigen.h"
#include <stddef.h>

// Below this share of the largest eigenvalue of aᵀa an axis counts as flattened: the stretch is the root of
// it, 1e-6.
#define SINGULAR 1e-12

/// V diag( d ) Vᵀ
static math_mat3 compose( const math_mat3* vectors, const double diagonal[3] )
{
    math_mat3 sum = { { { 0 } } };
    for ( int i = 0; i < 3; ++i )
    {
        math_vec3 column = math_column( vectors, i );
        math_add_outer( &sum, math_scale( column, diagonal[i] ), column );
    }
    return sum;
}

static bool is_orthonormal( const math_mat3* r, double tolerance )
{
    for ( int i = 0; i < 3; ++i )
    {
        // |length - 1| <= tolerance, said so that NaN fails too
        double length = math_length( math_column( r, i ) );
        if ( !( length <= 1.0 + tolerance && length >= 1.0 - tolerance ) )
        {
            return false;
        }
    }
    return true;
}

math_polar_result clv_math_polar_decompose(
    const math_mat3* a, double tolerance, math_mat3* rotation, math_mat3* stretch )
{
    math_mat3 transposed = math_transpose( a );
    math_mat3 squared = math_multiply( &transposed, a );
    math_eigen eigen = clv_math_eigen_symmetric( &squared );
    if ( !eigen.converged )
    {
        return MATH_POLAR_DIVERGED;
    }
    if ( !( eigen.values[0] > 0.0 ) || eigen.values[2] <= SINGULAR * eigen.values[0] )
    {
        return MATH_POLAR_SINGULAR;
    }

    double roots[3], inverses[3];
    for ( int i = 0; i < 3; ++i )
    {
        roots[i] = sqrt( eigen.values[i] );
        inverses[i] = 1.0 / roots[i];
    }
    math_mat3 inverse = compose( &eigen.vectors, inverses );
    math_mat3 r = math_multiply( a, &inverse );
    if ( !is_orthonormal( &r, tolerance ) )
    {
        return MATH_POLAR_DRIFTED;
    }
    *rotation = r;
    if ( stretch != NULL )
    {
        *stretch = compose( &eigen.vectors, roots );
    }
    return MATH_POLAR_OK;
}
