// SPDX-License-Identifier: MIT What the host knows of contacts on the device: kernels/narrow.cl searches for
// them, and the host finishes what a device's room leaves undecided.
#include "gpu_bodies.h"

#include "base/assertion.h"

#include <string.h>

uint32_t clv_gpu_contact_stride( const clv_gpu* gpu, uint64_t count )
{
    // An item's polytope takes a cache line for every word that its idle neighbours would have beside it:
    // where there are few, each gets a unit of its own.
    return gpu->device->facts.is_cpu ? 1
        : count <= 512               ? GPU_GROUP
        : count <= 8192              ? 32
        : count <= 65536             ? 8
                                     : 2;
}

// A hull of the caller's as the narrow phase takes it: all vertices are looked at, as on the device.
static narrow_core core_of( const clv_hull* hull, const double* poses, uint32_t body )
{
    const double* from = poses + (size_t)body * POSE_DOUBLES;
    math_pose pose;
    memcpy( pose.rotation.m, from, sizeof( pose.rotation.m ) );
    pose.position = math_make( from[9], from[10], from[11] );
    narrow_core core = narrow_core_make( clv_hull_shape( hull ), &pose );
    core.brute_limit = UINT32_MAX;
    return core;
}

static clv_hull hull_of( const gpu_bodies* bodies, uint32_t body )
{
    CLV_ASSERT( body < bodies->body_count && bodies->hulls[body] < bodies->hull_count );
    const uint32_t* row = bodies->rows + 4 * (size_t)bodies->hulls[body];
    clv_hull hull = { .vertex_count = row[1] };
    hull.vertices = (clv_vec3*)(void*)( bodies->vertices + 3 * (size_t)row[0] );
    memcpy( &hull.radius, &row[2], sizeof( hull.radius ) );
    return hull;
}

narrow_contact clv_gpu_host_contact(
    const gpu_bodies* bodies, const double* poses, uint32_t a, uint32_t b, clv_pair_cache* cache )
{
    clv_hull hull_a = hull_of( bodies, a ), hull_b = hull_of( bodies, b );
    narrow_core core_a = core_of( &hull_a, poses, a ), core_b = core_of( &hull_b, poses, b );
    narrow_contact contact;
    clv_narrow_find_contact( &core_a, 0.0, &core_b, 0.0, cache, &contact );
    return contact;
}

void clv_gpu_host_numbers( const narrow_contact* contact, double numbers[CONTACT_DOUBLES] )
{
    memcpy( numbers, &contact->normal, 3 * sizeof( double ) );
    numbers[3] = contact->depth;
    memcpy( numbers + 4, &contact->point_a, 3 * sizeof( double ) );
    memcpy( numbers + 7, &contact->point_b, 3 * sizeof( double ) );
}
