// SPDX-License-Identifier: MIT
// Müller, Heidelberger, Teschner, Gross, "Meshless deformations based on shape matching" (SIGGRAPH 2005), as
// section 3.7 of "Detecção de Colisão usando Sweep and Prune com k-DOPs em GPU" (COPPE 2021) uses it for
// rigid bodies.
#include "sim/shape_match.h"

#include "math/eigen.h"

// The paper skips a body whose rotation is off by more than a hundredth in some axis.
#define SCALE_DRIFT 0.01
// Spread, squared, below this share of the widest is none: a plate 300 times as wide as thick. Its products would be a
// singular matrix for the polar decomposition soon after.
#define THIN 1e-5

sim_rest_shape clv_sim_rest_shape_make( const clv_hull* hull )
{
    math_vec3 sum = { 0, 0, 0 };
    for ( uint32_t i = 0; i < hull->vertex_count; ++i )
    {
        sum = math_add( sum, math_widen( hull->vertices[i] ) );
    }
    sim_rest_shape rest = { .hull = hull, .mean = math_scale( sum, 1.0 / (double)hull->vertex_count ) };
    math_mat3 spread = { { { 0 } } };
    for ( uint32_t i = 0; i < hull->vertex_count; ++i )
    {
        math_vec3 q = math_sub( math_widen( hull->vertices[i] ), rest.mean );
        math_add_outer( &spread, q, q );
    }
    math_eigen eigen = clv_math_eigen_symmetric( &spread );
    rest.axes = eigen.vectors;
    for ( int i = 0; i < 3; ++i )
    {
        rest.rank += eigen.values[i] > THIN * eigen.values[0] ? 1 : 0;
    }
    return rest;
}

// Particles say nothing of an axis along which they have no spread. It is given the place that a rigid body's would have:
// at right angles to those that are known, and otherwise as it was.
static void complete( const sim_rest_shape* rest, const math_pose* pose, math_mat3* products )
{
    math_vec3 own[3], to[3];
    for ( int i = 0; i < 3; ++i )
    {
        own[i] = math_column( &rest->axes, i );
        to[i] = math_apply( i < rest->rank ? products : &pose->rotation, own[i] );
    }
    double size = math_length( to[0] );
    if ( rest->rank == 1 )
    {
        math_vec3 along = math_normalize( to[0], math_apply( &pose->rotation, own[0] ) );
        to[1] = math_add_scaled( to[1], along, -math_dot( to[1], along ) );
        to[1] = math_normalize( to[1], math_perpendicular( along ) );
        to[2] = math_cross( along, to[1] );
    }
    if ( rest->rank == 2 )
    {
        to[2] = math_normalize( math_cross( to[0], to[1] ), math_make( 0, 0, 0 ) );
    }
    for ( int i = rest->rank; i < 3; ++i )
    {
        math_add_outer( products, math_scale( to[i], size ), own[i] );
    }
}

math_polar_result clv_sim_shape_rotation(
    const sim_rest_shape* rest, const math_pose* pose, math_mat3* products, math_mat3* rotation )
{
    if ( rest->rank < 3 )
    {
        complete( rest, pose, products );
    }
    *rotation = pose->rotation;
    math_polar_result result = clv_math_polar_decompose( products, SCALE_DRIFT, rotation, NULL );
    if ( result == MATH_POLAR_OK && math_determinant( rotation ) < 0.0 )
    {
        *rotation = pose->rotation;
        result = MATH_POLAR_DRIFTED;
    }
    return result;
}

math_polar_result clv_sim_shape_match(
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
    math_mat3 rotation;
    math_polar_result result = clv_sim_shape_rotation( rest, pose, &products, &rotation );
    math_vec3 center = math_apply( &rotation, rest->mean ); // from the body's origin to its particles' mean
    fitted->rotation = rotation;
    fitted->position = math_add( pose->position, math_sub( mean, center ) );
    return result;
}
