// SPDX-License-Identifier: MIT
// Eigenvalues by Jacobi's rotations (1846), and with them polar decomposition and matrix square root:
// appendix B of "Detecção de Colisão usando Sweep and Prune com k-DOPs em GPU" (COPPE 2021), for shape
// matching (Müller, Heidelberger, Teschner, Gross, SIGGRAPH 2005). Each round turns the largest element off
// the diagonal to zero. The appendix prints A <- A J; the eigenvectors are A <- A Rᵀ, and it is M that
// becomes J.
#ifndef __OPENCL_C_VERSION__
#pragma once
#include "solid/solid_math.h"
#endif

#define MATH_EIGEN_ROUNDS 32

// Below this share of the largest eigenvalue of aᵀa an axis counts as flattened: the stretch is the root of
// it, 1e-6.
#define MATH_POLAR_FLAT 1e-12

// ---- eigenvalues

typedef struct math_eigen
{
    double values[3];  ///< descending
    math_mat3 vectors; ///< column i belongs to values[i]; a rotation
    int round_count;   ///< Jacobi rotations it took; 3 to 9 as a rule
    bool converged;    ///< false for NaN, infinities, or after MATH_EIGEN_ROUNDS
} math_eigen;

typedef struct math_jacobi_turn
{
    int p, q; // the plane
    double c, s;
} math_jacobi_turn;

SOLID math_jacobi_turn math_jacobi_find( const math_mat3* a )
{
    math_jacobi_turn r;
    r.p = math_abs( a->m[1][2] ) > math_max( math_abs( a->m[0][1] ), math_abs( a->m[0][2] ) ) ? 1 : 0;
    r.q = r.p == 1 || math_abs( a->m[0][2] ) > math_abs( a->m[0][1] ) ? 2 : 1;
    CLV_ASSERT( r.p < r.q && a->m[r.p][r.q] != 0.0 );
    double off = a->m[r.p][r.q];
    double theta = ( a->m[r.q][r.q] - a->m[r.p][r.p] ) / ( 2.0 * off );
    double t =
        1.0 / ( math_abs( theta ) + sqrt( theta * theta + 1.0 ) ); // the smaller angle: at most 45 degrees
    t = theta < 0.0 ? -t : t;
    r.c = 1.0 / sqrt( t * t + 1.0 );
    r.s = t * r.c;
    return r;
}

SOLID void math_jacobi_columns( math_mat3* a, math_jacobi_turn r )
{
    for ( int row = 0; row < 3; ++row )
    {
        double p = a->m[row][r.p], q = a->m[row][r.q];
        a->m[row][r.p] = r.c * p - r.s * q;
        a->m[row][r.q] = r.s * p + r.c * q;
    }
}

SOLID void math_jacobi_rows( math_mat3* a, math_jacobi_turn r )
{
    for ( int column = 0; column < 3; ++column )
    {
        double p = a->m[r.p][column], q = a->m[r.q][column];
        a->m[r.p][column] = r.c * p - r.s * q;
        a->m[r.q][column] = r.s * p + r.c * q;
    }
}

SOLID double math_off_diagonal( const math_mat3* a )
{
    return math_max( math_max( math_abs( a->m[0][1] ), math_abs( a->m[0][2] ) ), math_abs( a->m[1][2] ) );
}

// One column changes its sign, so that the three stay a rotation.
SOLID void math_eigen_order( math_eigen* eigen, int i, int j )
{
    if ( eigen->values[i] < eigen->values[j] )
    {
        double value = eigen->values[i];
        eigen->values[i] = eigen->values[j];
        eigen->values[j] = value;
        for ( int row = 0; row < 3; ++row )
        {
            double element = eigen->vectors.m[row][i];
            eigen->vectors.m[row][i] = eigen->vectors.m[row][j];
            eigen->vectors.m[row][j] = -element;
        }
    }
}

SOLID bool math_has_nan( const math_mat3* a )
{
    bool has_nan = false;
    for ( int i = 0; i < 9; ++i )
    {
        has_nan = has_nan || a->m[i / 3][i % 3] != a->m[i / 3][i % 3];
    }
    return has_nan;
}

/// Eigenvalues and eigenvectors of a symmetric matrix; only the upper triangle and the diagonal are read.
SOLID math_eigen math_eigen_symmetric( const math_mat3* symmetric )
{
    math_eigen eigen;
    eigen.values[0] = eigen.values[1] = eigen.values[2] = 0.0;
    eigen.vectors = math_identity();
    eigen.round_count = 0;
    eigen.converged = false;
    math_mat3 a = *symmetric;
    a.m[1][0] = a.m[0][1], a.m[2][0] = a.m[0][2], a.m[2][1] = a.m[1][2];

    double size =
        math_max( math_off_diagonal( &a ), math_largest( math_make( a.m[0][0], a.m[1][1], a.m[2][2] ) ) );
    if ( !( size <= 1e150 ) || math_has_nan( &a ) )
    {
        return eigen;
    }
    // 2^-52 of the largest element: below it a rotation changes nothing any more.
    while ( math_off_diagonal( &a ) > size * 0x1p-52 && eigen.round_count < MATH_EIGEN_ROUNDS )
    {
        math_jacobi_turn r = math_jacobi_find( &a );
        math_jacobi_columns( &a, r );
        math_jacobi_rows( &a, r );
        a.m[r.p][r.q] = a.m[r.q][r.p] = 0.0;
        math_jacobi_columns( &eigen.vectors, r );
        eigen.round_count += 1;
    }
    eigen.converged = math_off_diagonal( &a ) <= size * 0x1p-52;
    for ( int i = 0; i < 3; ++i )
    {
        eigen.values[i] = a.m[i][i];
    }
    math_eigen_order( &eigen, 0, 1 );
    math_eigen_order( &eigen, 1, 2 );
    math_eigen_order( &eigen, 0, 1 );
    CLV_ASSERT( eigen.values[0] >= eigen.values[1] && eigen.values[1] >= eigen.values[2] );
    return eigen;
}

// ---- the rotation nearest to a matrix

typedef enum math_polar_result
{
    MATH_POLAR_OK,
    MATH_POLAR_DIVERGED, ///< NaN or infinity, or Jacobi's rotations did not end
    MATH_POLAR_SINGULAR, ///< flattened to a plane, line or point (or nearly): no one rotation is nearest
    MATH_POLAR_DRIFTED   ///< R is off a rotation by more than the tolerance in some axis
} math_polar_result;

/// V diag( d ) Vᵀ
SOLID math_mat3 math_compose( const math_mat3* vectors, const double* diagonal )
{
    math_mat3 sum = math_diagonal( 0.0 );
    for ( int i = 0; i < 3; ++i )
    {
        math_vec3 column = math_column( vectors, i );
        math_add_outer( &sum, math_scale( column, diagonal[i] ), column );
    }
    return sum;
}

SOLID bool math_is_orthonormal( const math_mat3* r, double tolerance )
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

/// a = R S, R a rotation (or, where det a < 0, a rotation with a mirror) and S symmetric: S = sqrt( aᵀ a ), R
/// = a S^-1. `tolerance` bounds how far the columns of R may be from length 1; the paper skips a body at 1 %.
/// *rotation and *stretch (which may be 0) change only with MATH_POLAR_OK.
SOLID math_polar_result math_polar_decompose(
    const math_mat3* a, double tolerance, math_mat3* rotation, math_mat3* stretch )
{
    math_mat3 transposed = math_transpose( a );
    math_mat3 squared = math_multiply( &transposed, a );
    math_eigen eigen = math_eigen_symmetric( &squared );
    if ( !eigen.converged )
    {
        return MATH_POLAR_DIVERGED;
    }
    if ( !( eigen.values[0] > 0.0 ) || eigen.values[2] <= MATH_POLAR_FLAT * eigen.values[0] )
    {
        return MATH_POLAR_SINGULAR;
    }

    double roots[3], inverses[3];
    for ( int i = 0; i < 3; ++i )
    {
        roots[i] = sqrt( eigen.values[i] );
        inverses[i] = 1.0 / roots[i];
    }
    math_mat3 inverse = math_compose( &eigen.vectors, inverses );
    math_mat3 r = math_multiply( a, &inverse );
    if ( !math_is_orthonormal( &r, tolerance ) )
    {
        return MATH_POLAR_DRIFTED;
    }
    *rotation = r;
    if ( stretch != 0 )
    {
        *stretch = math_compose( &eigen.vectors, roots );
    }
    return MATH_POLAR_OK;
}
