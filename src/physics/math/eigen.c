// SPDX-License-Identifier: MIT
// Jacobi's rotations (1846) as in appendix B of "Detecção de Colisão usando Sweep and Prune com k-DOPs em
// GPU" (COPPE 2021): each round turns the largest element off the diagonal to zero. The appendix prints A <-
// A J; the eigenvectors are A <- A Rᵀ, and it is M that becomes J.
#include "math/eigen.h"

typedef struct jacobi_turn
{
    int p, q; // the plane
    double c, s;
} jacobi_turn;

static jacobi_turn find_rotation( const math_mat3* a )
{
    jacobi_turn r = { 0, 1, 1.0, 0.0 };
    if ( math_abs( a->m[0][2] ) > math_abs( a->m[r.p][r.q] ) )
    {
        r.q = 2;
    }
    if ( math_abs( a->m[1][2] ) > math_abs( a->m[r.p][r.q] ) )
    {
        r.p = 1, r.q = 2;
    }

    double off = a->m[r.p][r.q];
    double theta = ( a->m[r.q][r.q] - a->m[r.p][r.p] ) / ( 2.0 * off );
    double t =
        1.0 / ( math_abs( theta ) + sqrt( theta * theta + 1.0 ) ); // the smaller angle: at most 45 degrees
    t = theta < 0.0 ? -t : t;
    r.c = 1.0 / sqrt( t * t + 1.0 );
    r.s = t * r.c;
    return r;
}

static void rotate_columns( math_mat3* a, jacobi_turn r )
{
    for ( int row = 0; row < 3; ++row )
    {
        double p = a->m[row][r.p], q = a->m[row][r.q];
        a->m[row][r.p] = r.c * p - r.s * q;
        a->m[row][r.q] = r.s * p + r.c * q;
    }
}

static void rotate_rows( math_mat3* a, jacobi_turn r )
{
    for ( int column = 0; column < 3; ++column )
    {
        double p = a->m[r.p][column], q = a->m[r.q][column];
        a->m[r.p][column] = r.c * p - r.s * q;
        a->m[r.q][column] = r.s * p + r.c * q;
    }
}

static double off_diagonal( const math_mat3* a )
{
    return math_max( math_max( math_abs( a->m[0][1] ), math_abs( a->m[0][2] ) ), math_abs( a->m[1][2] ) );
}

static void swap_pairs( math_eigen* eigen, int i, int j )
{
    double value = eigen->values[i];
    eigen->values[i] = eigen->values[j];
    eigen->values[j] = value;
    for ( int row = 0; row < 3; ++row )
    {
        // One column changes its sign, so that the three stay a rotation.
        double element = eigen->vectors.m[row][i];
        eigen->vectors.m[row][i] = eigen->vectors.m[row][j];
        eigen->vectors.m[row][j] = -element;
    }
}

static void sort_descending( math_eigen* eigen )
{
    if ( eigen->values[0] < eigen->values[1] )
    {
        swap_pairs( eigen, 0, 1 );
    }
    if ( eigen->values[1] < eigen->values[2] )
    {
        swap_pairs( eigen, 1, 2 );
    }
    if ( eigen->values[0] < eigen->values[1] )
    {
        swap_pairs( eigen, 0, 1 );
    }
}

math_eigen clv_math_eigen_symmetric( const math_mat3* symmetric )
{
    math_eigen eigen = { { 0, 0, 0 }, math_identity(), 0, false };
    math_mat3 a = *symmetric;
    a.m[1][0] = a.m[0][1], a.m[2][0] = a.m[0][2], a.m[2][1] = a.m[1][2];

    double size =
        math_max( off_diagonal( &a ), math_largest( math_make( a.m[0][0], a.m[1][1], a.m[2][2] ) ) );
    if ( !( size <= 1e150 ) || a.m[0][0] != a.m[0][0] || a.m[1][1] != a.m[1][1] || a.m[2][2] != a.m[2][2] ||
        a.m[0][1] != a.m[0][1] || a.m[0][2] != a.m[0][2] || a.m[1][2] != a.m[1][2] )
    {
        return eigen;
    }

    // 2^-52 of the largest element: below it a rotation changes nothing any more.
    while ( off_diagonal( &a ) > size * 0x1p-52 && eigen.round_count < MATH_EIGEN_ROUNDS )
    {
        jacobi_turn r = find_rotation( &a );
        rotate_columns( &a, r );
        rotate_rows( &a, r );
        a.m[r.p][r.q] = a.m[r.q][r.p] = 0.0;
        rotate_columns( &eigen.vectors, r );
        eigen.round_count += 1;
    }
    eigen.converged = off_diagonal( &a ) <= size * 0x1p-52;
    eigen.values[0] = a.m[0][0], eigen.values[1] = a.m[1][1], eigen.values[2] = a.m[2][2];
    sort_descending( &eigen );
    return eigen;
}
