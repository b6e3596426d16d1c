// SPDX-License-Identifier: MIT
#pragma once

#include "math/vec3.h"

/// Three rows of three; vectors are columns and stand on the right: math_apply( m, v ) is m v.
typedef struct math_mat3
{
    double m[3][3];
} math_mat3;

static inline math_mat3 math_identity( void )
{
    math_mat3 identity = { { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } };
    return identity;
}

static inline math_vec3 math_apply( const math_mat3* a, math_vec3 v )
{
    return math_make( a->m[0][0] * v.x + a->m[0][1] * v.y + a->m[0][2] * v.z,
        a->m[1][0] * v.x + a->m[1][1] * v.y + a->m[1][2] * v.z,
        a->m[2][0] * v.x + a->m[2][1] * v.y + a->m[2][2] * v.z );
}

/// The transpose of `a` times v: for a rotation, the way back.
static inline math_vec3 math_apply_transposed( const math_mat3* a, math_vec3 v )
{
    return math_make( a->m[0][0] * v.x + a->m[1][0] * v.y + a->m[2][0] * v.z,
        a->m[0][1] * v.x + a->m[1][1] * v.y + a->m[2][1] * v.z,
        a->m[0][2] * v.x + a->m[1][2] * v.y + a->m[2][2] * v.z );
}

static inline math_vec3 math_column( const math_mat3* a, int index )
{
    return math_make( a->m[0][index], a->m[1][index], a->m[2][index] );
}

static inline math_mat3 math_transpose( const math_mat3* a )
{
    math_mat3 t;
    for ( int row = 0; row < 3; ++row )
    {
        for ( int column = 0; column < 3; ++column )
        {
            t.m[row][column] = a->m[column][row];
        }
    }
    return t;
}

static inline math_mat3 math_multiply( const math_mat3* a, const math_mat3* b )
{
    math_mat3 product;
    for ( int row = 0; row < 3; ++row )
    {
        for ( int column = 0; column < 3; ++column )
        {
            product.m[row][column] = a->m[row][0] * b->m[0][column] + a->m[row][1] * b->m[1][column] +
                a->m[row][2] * b->m[2][column];
        }
    }
    return product;
}

/// a += p qᵀ
static inline void math_add_outer( math_mat3* a, math_vec3 p, math_vec3 q )
{
    a->m[0][0] += p.x * q.x, a->m[0][1] += p.x * q.y, a->m[0][2] += p.x * q.z;
    a->m[1][0] += p.y * q.x, a->m[1][1] += p.y * q.y, a->m[1][2] += p.y * q.z;
    a->m[2][0] += p.z * q.x, a->m[2][1] += p.z * q.y, a->m[2][2] += p.z * q.z;
}

static inline double math_determinant( const math_mat3* a )
{
    return a->m[0][0] * ( a->m[1][1] * a->m[2][2] - a->m[1][2] * a->m[2][1] ) -
        a->m[0][1] * ( a->m[1][0] * a->m[2][2] - a->m[1][2] * a->m[2][0] ) +
        a->m[0][2] * ( a->m[1][0] * a->m[2][1] - a->m[1][1] * a->m[2][0] );
}
