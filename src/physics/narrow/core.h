// SPDX-License-Identifier: MIT
// A shape where it stands, without its skin: what GJK and EPA ask for extreme points.
#pragma once

#include "math/quat.h"
#include "narrow/hull.h"

/// Up to here looking at every vertex is quicker than climbing; measured, see bench/narrow.md.
#define NARROW_BRUTE_LIMIT 32

typedef struct narrow_core
{
    clv_shape_kind kind;
    math_pose pose;
    math_vec3 half_size;
    const clv_hull* hull;
    uint32_t last;        // where the last climb ended; the next starts there
    uint32_t brute_limit; // vertices up to which all are looked at
    // A hull whose vertices are elsewhere: deformed bodies. Their neighbours tell nothing, so all are looked
    // at.
    const math_vec3* cloud;
    double cloud_reach; // no point of it is farther from the core's own origin
} narrow_core;

static inline narrow_core narrow_core_make( clv_shape shape, const math_pose* pose )
{
    narrow_core core = { shape.kind, *pose, math_widen( shape.half_size ), shape.hull, 0, NARROW_BRUTE_LIMIT,
        NULL, 0.0 };
    return core;
}

/// Vertex farthest along `direction` (the hull's own coordinates), by looking at all; the first of equals.
uint32_t clv_narrow_support_brute( const clv_hull* hull, math_vec3 direction );

/// The same by walking from neighbour to neighbour while it goes up (Cameron's enhanced GJK, 1997).
uint32_t clv_narrow_support_climb( const clv_hull* hull, math_vec3 direction, uint32_t start );

/// The point number `index` of a core in world coordinates. Boxes count their corners 0 .. 7.
math_vec3 clv_narrow_core_point( const narrow_core* core, uint32_t index );

uint32_t clv_narrow_core_point_count( const narrow_core* core );

/// No point is farther from the core's own origin.
static inline double narrow_core_extent( const narrow_core* core )
{
    return core->kind == CLV_SHAPE_SPHERE ? 0.0
        : core->kind == CLV_SHAPE_BOX     ? core->half_size.x + core->half_size.y + core->half_size.z
        : core->cloud != NULL             ? core->cloud_reach
                                          : (double)core->hull->radius;
}

/// The point farthest along `direction` in world coordinates, and its number.
math_vec3 clv_narrow_core_support( narrow_core* core, math_vec3 direction, uint32_t* index );
