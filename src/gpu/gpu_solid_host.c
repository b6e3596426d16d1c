// SPDX-License-Identifier: MIT
// What devices leave undecided is decided here in the same way with more room: kernels/gjk.cl, epa.cl, narrow.cl and match.cl are
// written in what C and OpenCL C have in common, and are compiled once more as C.
#include "gpu_solid_host.h"

#include "base/exact.h"

#include <math.h>
#include <string.h>

#define SOLID_ON_HOST
#define SOLID static inline
#define __global
#define EPA_VERTICES 264 // as src/physics/narrow/epa.c has it

typedef uint32_t uint;
typedef uint16_t ushort;

static float as_float( uint bits )
{
    float value;
    memcpy( &value, &bits, sizeof( value ) );
    return value;
}

// clang-format off
#include "kernels/solid.cl"
#include "kernels/gjk.cl"
#include "kernels/epa.cl"
#include "kernels/narrow.cl"
#include "kernels/match.cl"
// clang-format on

// Spread, squared, below this share of the widest is none, as src/physics/sim/shape_match.c has it.
#define THIN 1e-5

gpu_solid_contact clv_gpu_solid_contact( const gpu_solids* solids, uint32_t a, uint32_t b, uint32_t* words )
{
    solid_core core_a = load_core( solids->poses, solids->hulls, solids->rows, solids->vertices, a );
    solid_core core_b = load_core( solids->poses, solids->hulls, solids->rows, solids->vertices, b );
    gjk_cache cache;
    memset( &cache, 0, sizeof( cache ) );
    if ( words != NULL )
    {
        memcpy( &cache, words, sizeof( cache ) );
    }
    solid_contact found = find_contact( &core_a, &core_b, EPA_VERTICES, &cache );
    if ( words != NULL )
    {
        memcpy( words, &cache, sizeof( cache ) );
    }
    gpu_solid_contact contact = { .touching = found.touching,
        .converged = found.converged,
        .gjk_round_count = found.gjk_round_count,
        .epa_round_count = found.epa_round_count };
    store_contact( contact.numbers, 0, &found );
    return contact;
}

void clv_gpu_solid_rest( const float* vertices, uint32_t vertex_count, double to[GPU_REST_DOUBLES] )
{
    vec3d sum = vec_make( 0, 0, 0 );
    mat3d spread = mat_zero();
    for ( uint i = 0; i < vertex_count; ++i )
    {
        sum = vec_add( sum, load_vertex( vertices, i ) );
    }
    vec3d mean = vec_scale( sum, 1.0 / (double)vertex_count );
    for ( uint i = 0; i < vertex_count; ++i )
    {
        vec3d q = vec_sub( load_vertex( vertices, i ), mean );
        mat_add_outer( &spread, q, q );
    }
    jacobi_eigen eigen = eigen_symmetric( &spread );
    int rank = 0;
    for ( int i = 0; i < 3; ++i )
    {
        rank += eigen.values[i] > THIN * eigen.values[0] ? 1 : 0;
    }
    memset( to, 0, GPU_REST_DOUBLES * sizeof( double ) );
    to[0] = mean.x;
    to[1] = mean.y;
    to[2] = mean.z;
    memcpy( to + REST_AXES, eigen.vectors.m, sizeof( eigen.vectors.m ) );
    to[REST_RANK] = rank;
}

void clv_gpu_solid_pose( const float transform[7], double to[GPU_POSE_DOUBLES] )
{
    pose3d pose;
    pose.rotation =
        quat_matrix( (double)transform[3], (double)transform[4], (double)transform[5], (double)transform[6] );
    pose.position = vec_make( (double)transform[0], (double)transform[1], (double)transform[2] );
    store_pose( to, 0, &pose );
}

void clv_gpu_solid_transform( const double from[GPU_POSE_DOUBLES], float transform[7] )
{
    pose3d pose = load_pose( from, 0 );
    double q[4];
    rotation_quat( &pose.rotation, q );
    transform[0] = (float)pose.position.x;
    transform[1] = (float)pose.position.y;
    transform[2] = (float)pose.position.z;
    for ( int i = 0; i < 4; ++i )
    {
        transform[3 + i] = (float)q[i];
    }
}
