// SPDX-License-Identifier: MIT
// Müller, Heidelberger, Teschner, Gross, "Meshless deformations based on shape matching" (SIGGRAPH 2005), as
// section 3.7 of "Detecção de Colisão usando Sweep and Prune com k-DOPs em GPU" (COPPE 2021) uses it for
// rigid bodies.
#include "sim/shape_match.h"

// The paper skips a body whose rotation is off by more than a hundredth in some axis.
#define SCALE_DRIFT 0.01

sim_rest_shape sim_rest_shape_make( const clv_hull* hull )
{
    math_vec3 sum = { 0, 0, 0 };
    for ( uint32_t i = 0; i < hull->vertex_count; ++i )
    {
        sum = math_add( sum, math_widen( hull->vertices[i] ) );
    }
    sim_rest_shape rest = { hull, math_scale( sum, 1.0 / (double)hull->vertex_count ) };
    return rest;
}

math_polar_result sim_shape_match(
    const sim_rest_shape* rest, const math_pose* pose, sim_contact_plane plane, math_pose* fitted )
{
    // With rest positions q about their mean the sum of ( p - mean ) qᵀ is that of p qᵀ: one pass over the
    // particles. p is taken relative to the body, which keeps its digits far from the origin.
    uint32_t count = rest->hull->vertex_count;
    math_vec3 sum = { 0, 0, 0 };
    math_mat3 products = { { { 0 } } };
    double offset = plane.offset - math_dot( plane.normal, pose->position );
    for ( uint32_t i = 0; i < count; ++i )
    {
        math_vec3 vertex = math_widen( rest->hull->vertices[i] );
        math_vec3 p = math_apply( &pose->rotation, vertex );
        double beyond = math_dot( plane.normal, p ) - offset;
        if ( beyond > 0.0 )
        {
            p = math_add_scaled( p, plane.normal, -beyond );
        }
        sum = math_add( sum, p );
        math_add_outer( &products, p, math_sub( vertex, rest->mean ) );
    }
    math_vec3 mean = math_scale( sum, 1.0 / (double)count );

    math_mat3 rotation = pose->rotation;
    math_polar_result result = math_polar_decompose( &products, SCALE_DRIFT, &rotation, NULL );
    if ( result == MATH_POLAR_OK && math_determinant( &rotation ) < 0.0 )
    {
        rotation = pose->rotation;
        result = MATH_POLAR_DRIFTED;
    }
    math_vec3 center = math_apply( &rotation, rest->mean ); // from the body's origin to its particles' mean
    fitted->rotation = rotation;
    fitted->position = math_add( pose->position, math_sub( mean, center ) );
    return result;
}
