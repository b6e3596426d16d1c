// SPDX-License-Identifier: MIT
// Sections 4.2 and 4.3 of Müller, Heidelberger, Teschner, Gross, "Meshless deformations based on shape
// matching" (SIGGRAPH 2005): bodies that stretch and shear (linear), and that bend and twist as well
// (quadratic). The goal is beta A + ( 1 - beta ) R, with the best fit A and its rotation R; particles go to
// their goals at once, as paper 003's rigid ones do. Other than there the quadratic terms are taken about
// their mean, so that a deformation moves no center of mass, and directions of which the vertices say nothing
// (six vertices have no nine terms) are left out by a pseudo-inverse.
#include "soft_match.h"

#include <string.h>

// Eigenvalues below this share of the largest are none.
#define NOTHING 1e-9
#define SWEEPS 30

// ---- nine terms

static void make_terms( const sim_soft_rest* soft, math_vec3 q, double terms[SIM_SOFT_TERMS] )
{
    double x = q.x / soft->size, y = q.y / soft->size, z = q.z / soft->size;
    terms[0] = x, terms[1] = y, terms[2] = z;
    if ( soft->term_count == SIM_SOFT_TERMS )
    {
        terms[3] = x * x, terms[4] = y * y, terms[5] = z * z;
        terms[6] = x * y, terms[7] = y * z, terms[8] = z * x;
    }
    for ( uint32_t k = 0; k < soft->term_count; ++k )
    {
        terms[k] -= soft->term_mean[k];
    }
}

static math_vec3 rest_place( const sim_rest_shape* rest, uint32_t vertex )
{
    return math_sub( math_load( rest->vertices, vertex ), rest->mean );
}

// ---- the pseudo-inverse, by Jacobi's rotations

typedef struct soft_square
{
    double m[SIM_SOFT_TERMS][SIM_SOFT_TERMS];
} soft_square;

// One rotation in the plane of two axes, after which a[i][j] is zero.
static void rotate( soft_square* a, soft_square* vectors, uint32_t count, uint32_t i, uint32_t j )
{
    if ( a->m[i][j] == 0.0 )
    {
        return;
    }
    double theta = ( a->m[j][j] - a->m[i][i] ) / ( 2.0 * a->m[i][j] );
    double t = ( theta >= 0.0 ? 1.0 : -1.0 ) / ( math_abs( theta ) + sqrt( theta * theta + 1.0 ) );
    double c = 1.0 / sqrt( t * t + 1.0 ), s = t * c;
    for ( uint32_t k = 0; k < count; ++k )
    {
        double ki = a->m[k][i], kj = a->m[k][j];
        a->m[k][i] = c * ki - s * kj, a->m[k][j] = s * ki + c * kj;
    }
    for ( uint32_t k = 0; k < count; ++k )
    {
        double ik = a->m[i][k], jk = a->m[j][k];
        a->m[i][k] = c * ik - s * jk, a->m[j][k] = s * ik + c * jk;
        double vi = vectors->m[k][i], vj = vectors->m[k][j];
        vectors->m[k][i] = c * vi - s * vj, vectors->m[k][j] = s * vi + c * vj;
    }
}

static void invert( soft_square* a, uint32_t count, double inverse[SIM_SOFT_TERMS][SIM_SOFT_TERMS] )
{
    soft_square vectors = { { { 0 } } };
    for ( uint32_t i = 0; i < count; ++i )
    {
        vectors.m[i][i] = 1.0;
    }
    for ( uint32_t sweep = 0; sweep < SWEEPS; ++sweep )
    {
        for ( uint32_t i = 0; i < count; ++i )
        {
            for ( uint32_t j = i + 1; j < count; ++j )
            {
                rotate( a, &vectors, count, i, j );
            }
        }
    }
    double largest = 0.0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        largest = math_max( largest, a->m[i][i] );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( uint32_t row = 0; a->m[i][i] > NOTHING * largest && row < count; ++row )
        {
            for ( uint32_t column = 0; column < count; ++column )
            {
                inverse[row][column] += vectors.m[row][i] * vectors.m[column][i] / a->m[i][i];
            }
        }
    }
}

// ---- at rest

sim_soft_rest clv_sim_soft_rest_make( const sim_rest_shape* rest, bool quadratic )
{
    sim_soft_rest soft = { .term_count = quadratic ? SIM_SOFT_TERMS : 3,
        .keeps_volume = !quadratic && rest->rank == 3 };
    uint32_t count = rest->vertex_count;
    for ( uint32_t i = 0; i < count; ++i )
    {
        soft.size = math_max( soft.size, math_length( rest_place( rest, i ) ) );
    }
    soft.size = soft.size > 0.0 ? soft.size : 1.0; // a point
    double terms[SIM_SOFT_TERMS], sums[SIM_SOFT_TERMS] = { 0 };
    for ( uint32_t i = 0; i < count; ++i )
    {
        make_terms( &soft, rest_place( rest, i ), terms );
        for ( uint32_t k = 0; k < soft.term_count; ++k )
        {
            sums[k] += terms[k];
        }
    }
    for ( uint32_t k = 0; k < soft.term_count; ++k )
    {
        soft.term_mean[k] = sums[k] / (double)count;
    }
    soft_square products = { { { 0 } } };
    for ( uint32_t i = 0; i < count; ++i )
    {
        make_terms( &soft, rest_place( rest, i ), terms );
        for ( uint32_t k = 0; k < soft.term_count * soft.term_count; ++k )
        {
            products.m[k / soft.term_count][k % soft.term_count] +=
                terms[k / soft.term_count] * terms[k % soft.term_count];
        }
    }
    invert( &products, soft.term_count, soft.solve );
    return soft;
}

sim_soft_shape clv_sim_soft_shape_rigid( const sim_soft_rest* soft, const math_mat3* rotation )
{
    sim_soft_shape shape;
    memset( &shape, 0, sizeof( shape ) );
    for ( int i = 0; i < 3; ++i )
    {
        shape.modes[i] = math_scale( math_column( rotation, i ), soft->size );
    }
    return shape;
}

double clv_sim_soft_place( const sim_rest_shape* rest, const sim_soft_rest* soft, const sim_soft_shape* shape,
    const math_mat3* rotation, math_vec3* cloud )
{
    math_vec3 mean = math_apply( rotation, rest->mean );
    double farthest = 0.0;
    for ( uint32_t i = 0; i < rest->vertex_count; ++i )
    {
        double terms[SIM_SOFT_TERMS];
        make_terms( soft, rest_place( rest, i ), terms );
        math_vec3 p = mean;
        for ( uint32_t k = 0; k < soft->term_count; ++k )
        {
            p = math_add_scaled( p, shape->modes[k], terms[k] );
        }
        cloud[i] = p;
        farthest = math_max( farthest, math_length( p ) );
    }
    return farthest;
}

// ---- matching

static void blend(
    const sim_soft_rest* soft, double softness, const math_mat3* rotation, sim_soft_shape* shape )
{
    sim_soft_shape rigid = clv_sim_soft_shape_rigid( soft, rotation );
    for ( uint32_t k = 0; k < soft->term_count; ++k )
    {
        math_vec3 stays = math_scale( rigid.modes[k], 1.0 - softness );
        shape->modes[k] = math_add_scaled( stays, shape->modes[k], softness );
    }
}

void clv_sim_soft_relax(
    const sim_soft_rest* soft, double softness, const math_mat3* rotation, sim_soft_shape* shape )
{
    blend( soft, softness, rotation, shape );
}

// By Newton's method: + * / alone, so that it is the same everywhere. From above each step comes closer until
// rounding stops it.
static double cube_root( double value )
{
    double root = math_max( value, 1.0 );
    for ( ;; )
    {
        double next = ( 2.0 * root + value / ( root * root ) ) / 3.0;
        if ( !( next < root ) )
        {
            return root;
        }
        root = next;
    }
}

// The paper's: the linear fit is brought to the volume the body had. One that is flattened or turned inside
// out is not taken.
static bool keep_volume( const sim_soft_rest* soft, sim_soft_shape* shape )
{
    math_mat3 a;
    for ( int i = 0; i < 3; ++i )
    {
        math_vec3 column = math_scale( shape->modes[i], 1.0 / soft->size );
        a.m[0][i] = column.x, a.m[1][i] = column.y, a.m[2][i] = column.z;
    }
    double volume = math_determinant( &a );
    if ( !( volume > 1e-3 && volume < 1e3 ) )
    {
        return false;
    }
    double factor = 1.0 / cube_root( volume );
    for ( int i = 0; i < 3; ++i )
    {
        shape->modes[i] = math_scale( shape->modes[i], factor );
    }
    return true;
}

// Sums over the vertices, those beyond the plane put on it.
typedef struct soft_sums
{
    math_vec3 places;
    math_mat3 products;              // places times rest places
    math_vec3 terms[SIM_SOFT_TERMS]; // places times terms
} soft_sums;

static soft_sums add_up( const sim_rest_shape* rest, const sim_soft_rest* soft, const math_pose* pose,
    const math_vec3* cloud, sim_contact_plane plane )
{
    soft_sums sums;
    memset( &sums, 0, sizeof( sums ) );
    double offset = plane.offset - math_dot( plane.normal, pose->position );
    for ( uint32_t i = 0; i < rest->vertex_count; ++i )
    {
        math_vec3 q = rest_place( rest, i ), p = cloud[i];
        double beyond = math_dot( plane.normal, p ) - offset;
        p = beyond > 0.0 ? math_add_scaled( p, plane.normal, -beyond ) : p;
        double terms[SIM_SOFT_TERMS];
        make_terms( soft, q, terms );
        sums.places = math_add( sums.places, p );
        math_add_outer( &sums.products, p, q );
        for ( uint32_t k = 0; k < soft->term_count; ++k )
        {
            sums.terms[k] = math_add_scaled( sums.terms[k], p, terms[k] );
        }
    }
    return sums;
}

math_polar_result clv_sim_soft_match( const sim_rest_shape* rest, const sim_soft_rest* soft, double softness,
    const math_pose* pose, const math_vec3* cloud, sim_contact_plane plane, sim_soft_shape* shape,
    math_pose* fitted )
{
    soft_sums sums = add_up( rest, soft, pose, cloud, plane );
    math_vec3 mean = math_scale( sums.places, 1.0 / (double)rest->vertex_count );
    math_mat3 rotation = pose->rotation;
    math_polar_result result = sim_shape_rotation( rest, pose, &sums.products, &rotation );
    fitted->rotation = rotation;
    fitted->position = math_add( pose->position, math_sub( mean, math_apply( &rotation, rest->mean ) ) );
    if ( result != MATH_POLAR_OK )
    {
        return result;
    }
    sim_soft_shape fit;
    memset( &fit, 0, sizeof( fit ) );
    for ( uint32_t k = 0; k < soft->term_count; ++k )
    {
        for ( uint32_t j = 0; j < soft->term_count; ++j )
        {
            fit.modes[k] = math_add_scaled( fit.modes[k], sums.terms[j], soft->solve[j][k] );
        }
    }
    bool is_taken = !soft->keeps_volume || keep_volume( soft, &fit );
    *shape = is_taken ? fit : clv_sim_soft_shape_rigid( soft, &rotation );
    blend( soft, softness, &rotation, shape );
    return result;
}
