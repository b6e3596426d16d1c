// SPDX-License-Identifier: MIT
// What devices leave undecided is decided here in the same way with more room: the same text of core/solid, about the same hulls.
#include "gpu_solid_host.h"

#include "solid/solid_math.h"

#include <string.h>

#define __global
typedef uint32_t uint;

static float as_float( uint bits )
{
    float value;
    memcpy( &value, &bits, sizeof( value ) );
    return value;
}

// clang-format off
#include "kernels/solid.cl"
#include "kernels/core.cl"
#undef EPA_VERTICES
#include "solid/solid_epa.h"
#include "solid/solid_match.h"
// clang-format on

gpu_solid_contact clv_gpu_solid_contact( const gpu_solids* solids, uint32_t a, uint32_t b, uint32_t* words )
{
    narrow_core core_a = load_core( solids->poses, solids->hulls, solids->rows, solids->vertices, a );
    narrow_core core_b = load_core( solids->poses, solids->hulls, solids->rows, solids->vertices, b );
    clv_pair_cache cache;
    memset( &cache, 0, sizeof( cache ) );
    if ( words != NULL )
    {
        memcpy( &cache, words, sizeof( cache ) );
    }
    narrow_contact found;
    narrow_contact_find( &core_a, 0.0, &core_b, 0.0, EPA_VERTICES, &cache, &found );
    if ( words != NULL )
    {
        memcpy( words, &cache, sizeof( cache ) );
    }
    gpu_solid_contact contact = { .touching = found.touching,
        .converged = found.converged,
        .gjk_round_count = found.gjk_round_count,
        .epa_round_count = found.epa_round_count };
    memcpy( contact.numbers, &found.normal, 3 * sizeof( double ) );
    contact.numbers[3] = found.depth;
    memcpy( contact.numbers + 4, &found.point_a, 3 * sizeof( double ) );
    memcpy( contact.numbers + 7, &found.point_b, 3 * sizeof( double ) );
    return contact;
}

void clv_gpu_solid_rest( const float* vertices, uint32_t vertex_count, double to[GPU_REST_DOUBLES] )
{
    sim_rest_shape rest = sim_rest_shape_make( vertices, vertex_count );
    memset( to, 0, GPU_REST_DOUBLES * sizeof( double ) );
    memcpy( to, &rest.mean, 3 * sizeof( double ) );
    memcpy( to + 3, rest.axes.m, sizeof( rest.axes.m ) );
    to[12] = rest.rank;
}

void clv_gpu_solid_pose( const float transform[7], double to[GPU_POSE_DOUBLES] )
{
    math_pose pose = pose_of( transform );
    store_pose( to, 0, &pose );
}

void clv_gpu_solid_transform( const double from[GPU_POSE_DOUBLES], float transform[7] )
{
    math_pose pose = load_pose( from, 0 );
    math_quat q = math_quat_from_matrix( &pose.rotation );
    const double numbers[7] = { pose.position.x, pose.position.y, pose.position.z, q.x, q.y, q.z, q.w };
    for ( int i = 0; i < 7; ++i )
    {
        transform[i] = (float)numbers[i];
    }
}
