// SPDX-License-Identifier: MIT
// Müller, Heidelberger, Teschner, Gross, "Meshless deformations based on shape matching" (SIGGRAPH 2005), as
// section 3.7 of "Detecção de Colisão usando Sweep and Prune com k-DOPs em GPU" (COPPE 2021) uses it for
// rigid bodies.
#ifndef __OPENCL_C_VERSION__
#pragma once
#include "solid/solid_polar.h"
#endif

// The paper skips a body whose rotation is off by more than a hundredth in some axis.
#define SIM_SCALE_DRIFT 0.01
// Spread, squared, below this share of the widest is none: a plate 300 times as wide as thick. Its products
// would be a singular matrix for the polar decomposition soon after.
#define SIM_THIN 1e-5

/// What shape matching knows of a hull: its vertices about their mean, the particles' rest positions.
typedef struct sim_rest_shape
{
    SOLID_GLOBAL const float* vertices; // three floats each
    solid_u32 vertex_count;
    int rank; // how many axes count: 2 for a plate, 1 for a needle, 0 for a point
    math_vec3 mean;
    math_mat3 axes; // of the vertices' spread, the widest first
} sim_rest_shape;

/// Everything with dot( normal, p ) > offset is pushed back onto the plane.
typedef struct sim_contact_plane
{
    math_vec3 normal; // unit
    double offset;
} sim_contact_plane;

SOLID sim_rest_shape sim_rest_shape_make( SOLID_GLOBAL const float* vertices, solid_u32 vertex_count )
{
    sim_rest_shape rest;
    CLV_ASSERT( vertex_count > 0 );
    rest.vertices = vertices;
    rest.vertex_count = vertex_count;
    rest.rank = 0;
    math_vec3 sum = math_make( 0, 0, 0 );
    for ( solid_u32 i = 0; i < vertex_count; ++i )
    {
        sum = math_add( sum, math_load( vertices, i ) );
    }
    rest.mean = math_scale( sum, 1.0 / (double)vertex_count );
    math_mat3 spread = math_diagonal( 0.0 );
    for ( solid_u32 i = 0; i < vertex_count; ++i )
    {
        math_vec3 q = math_sub( math_load( vertices, i ), rest.mean );
        math_add_outer( &spread, q, q );
    }
    math_eigen eigen = math_eigen_symmetric( &spread );
    rest.axes = eigen.vectors;
    for ( int i = 0; i < 3; ++i )
    {
        rest.rank += eigen.values[i] > SIM_THIN * eigen.values[0] ? 1 : 0;
    }
    return rest;
}

// Particles say nothing of an axis along which they have no spread. It is given the place that a rigid body's
// would have: at right angles to those that are known, and otherwise as it was.
SOLID void sim_complete_products( const sim_rest_shape* rest, const math_pose* pose, math_mat3* products )
{
    CLV_ASSERT( rest->rank >= 0 && rest->rank < 3 );
    math_vec3 own[3], to[3];
    for ( int i = 0; i < 3; ++i )
    {
        own[i] = math_column( &rest->axes, i );
        to[i] = i < rest->rank ? math_apply( products, own[i] ) : math_apply( &pose->rotation, own[i] );
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

/// The rotation of the sum of places times rest places; `products` is completed where the body has no
/// thickness. The pose's own where there is none to be had.
SOLID math_polar_result sim_shape_rotation(
    const sim_rest_shape* rest, const math_pose* pose, math_mat3* products, math_mat3* rotation )
{
    if ( rest->rank < 3 )
    {
        sim_complete_products( rest, pose, products );
    }
    *rotation = pose->rotation;
    math_polar_result result = math_polar_decompose( products, SIM_SCALE_DRIFT, rotation, 0 );
    if ( result == MATH_POLAR_OK && math_determinant( rotation ) < 0.0 )
    {
        *rotation = pose->rotation;
        result = MATH_POLAR_DRIFTED;
    }
    return result;
}

/// Where a body goes whose particles beyond the plane are projected onto it: the rigid placement nearest to
/// all of them. MATH_POLAR_OK: *fitted is set. Otherwise no rotation could be had (a mirror image counts as
/// drift), and fitted has the pose's rotation and the position to which the particles' mean moves the body
/// without turning it. A body without thickness is no reason: a plate's third axis follows from the other
/// two, and a needle keeps its turn about itself.
SOLID math_polar_result sim_shape_match(
    const sim_rest_shape* rest, const math_pose* pose, sim_contact_plane plane, math_pose* fitted )
{
    // With rest positions q about their mean the sum of ( p - mean ) qᵀ is that of p qᵀ: one pass over the
    // particles. p is taken relative to the body, which keeps its digits far from the origin.
    CLV_ASSERT( rest->vertex_count > 0 );
    math_vec3 sum = math_make( 0, 0, 0 );
    math_mat3 products = math_diagonal( 0.0 );
    double offset = plane.offset - math_dot( plane.normal, pose->position );
    for ( solid_u32 i = 0; i < rest->vertex_count; ++i )
    {
        math_vec3 vertex = math_load( rest->vertices, i );
        math_vec3 p = math_apply( &pose->rotation, vertex );
        double beyond = math_dot( plane.normal, p ) - offset;
        if ( beyond > 0.0 )
        {
            p = math_add_scaled( p, plane.normal, -beyond );
        }
        sum = math_add( sum, p );
        math_add_outer( &products, p, math_sub( vertex, rest->mean ) );
    }
    math_vec3 mean = math_scale( sum, 1.0 / (double)rest->vertex_count );
    math_polar_result result = sim_shape_rotation( rest, pose, &products, &fitted->rotation );
    math_vec3 center =
        math_apply( &fitted->rotation, rest->mean ); // from the body's origin to its particles' mean
    fitted->position = math_add( pose->position, math_sub( mean, center ) );
    return result;
}

/// Is no vertex at y = 0 or above?
SOLID bool sim_is_below_floor( const sim_rest_shape* rest, const math_pose* pose )
{
    solid_u32 below = 0;
    while (
        below < rest->vertex_count && math_pose_apply( pose, math_load( rest->vertices, below ) ).y < 0.0 )
    {
        below += 1;
    }
    return below == rest->vertex_count;
}

/// One frame of free flight, by the number of a clv_integrator (src/kdop/shape_sim.h): section 2.6.1 of the
/// paper with a time step of one frame. Its equation 2.7 lacks parentheses (v + (a + a')/2), 2.4 and the
/// Runge-Kutta formula are garbled; with a constant acceleration the right ones reduce to what stands here.
SOLID void sim_fly( int how, math_vec3 gravity, double damping, math_vec3* position, math_vec3* velocity )
{
    math_vec3 v = *velocity;
    if ( how == 3 ) // Verlet: positions alone; the velocity is the last move, and damping shortens it
    {
        *velocity = math_add( math_scale( v, damping ), gravity );
        *position = math_add( *position, *velocity );
        return;
    }
    // Euler, or velocity Verlet, which is the midpoint rule too.
    *position = math_add( *position, how == 1 ? v : math_add_scaled( v, gravity, 0.5 ) );
    *velocity = math_scale( math_add( v, gravity ), damping );
}
