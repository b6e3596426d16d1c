// SPDX-License-Identifier: MIT
// Choosing the axis to sweep along by principal component analysis, section 3.3 of "Detecção de Colisão
// usando Sweep and Prune com k-DOPs em GPU" (COPPE 2021). The paper prints M Mᵀ / n; it is MᵀM / n, and M is
// centred.
#include "principal_axis.h"

#include "dop.h"
#include "solid/solid_polar.h"

void clv_volume_spread_add( volume_spread* spread, math_vec3 point )
{
    if ( spread->count == 0 )
    {
        spread->origin = point;
    }
    math_vec3 p = math_sub( point, spread->origin );
    spread->sum = math_add( spread->sum, p );
    math_add_outer( &spread->products, p, p );
    spread->count += 1;
}

math_vec3 clv_volume_spread_direction( const volume_spread* spread )
{
    math_vec3 none = { 0, 0, 0 };
    if ( spread->count < 2 )
    {
        return none;
    }
    double n = (double)spread->count;
    math_vec3 mean = math_scale( spread->sum, 1.0 / n );
    math_mat3 covariance = spread->products;
    math_add_outer( &covariance, math_scale( spread->sum, -1.0 ), mean );
    for ( int i = 0; i < 9; ++i )
    {
        covariance.m[i / 3][i % 3] /= n;
    }
    math_eigen eigen = math_eigen_symmetric( &covariance );
    return eigen.converged && eigen.values[0] > 0.0 ? math_column( &eigen.vectors, 0 ) : none;
}

uint32_t clv_volume_nearest_axis( math_vec3 direction, clv_dop_kind kind )
{
    uint32_t best = 0;
    double best_along = -1.0;
    for ( uint32_t axis = 0; axis < (uint32_t)kind / 2; ++axis )
    {
        double along = math_abs( math_dot( direction, math_widen( clv_dop_axis( kind, axis ) ) ) );
        along = axis < 3 ? along : along / clv_volume_dop_axis_length( kind, axis );
        if ( along > best_along )
        {
            best = axis, best_along = along;
        }
    }
    return best;
}
