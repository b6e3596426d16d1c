// SPDX-License-Identifier: MIT
#include "narrow/core.h"

#include "base/assertion.h"

static double height( const clv_hull* hull, uint32_t vertex, math_vec3 direction )
{
    clv_vec3 v = hull->vertices[vertex];
    return (double)v.x * direction.x + (double)v.y * direction.y + (double)v.z * direction.z;
}

uint32_t clv_narrow_support_brute( const clv_hull* hull, math_vec3 direction )
{
    uint32_t best = 0;
    double best_height = height( hull, 0, direction );
    for ( uint32_t v = 1; v < hull->vertex_count; ++v )
    {
        double h = height( hull, v, direction );
        best = h > best_height ? v : best;
        best_height = h > best_height ? h : best_height;
    }
    return best;
}

uint32_t clv_narrow_support_climb( const clv_hull* hull, math_vec3 direction, uint32_t start )
{
    uint32_t best = start;
    double best_height = height( hull, start, direction );
    for ( uint32_t at = start;; at = best )
    {
        // The steepest way up, not the first: fewer steps on large hulls.
        for ( uint32_t i = hull->climb_starts[at]; i < hull->climb_starts[at + 1]; ++i )
        {
            double h = height( hull, hull->climbs[i], direction );
            if ( h > best_height )
            {
                best = hull->climbs[i], best_height = h;
            }
        }
        if ( best == at )
        {
            return best;
        }
    }
}

static uint32_t support_of_cloud( const narrow_core* core, math_vec3 direction )
{
    uint32_t best = 0;
    double best_height = math_dot( core->cloud[0], direction );
    for ( uint32_t i = 1; i < core->hull->vertex_count; ++i )
    {
        double h = math_dot( core->cloud[i], direction );
        best = h > best_height ? i : best;
        best_height = h > best_height ? h : best_height;
    }
    return best;
}

static math_vec3 own_point( const narrow_core* core, uint32_t index )
{
    switch ( core->kind )
    {
    case CLV_SHAPE_BOX:
        return math_make( index & 1 ? core->half_size.x : -core->half_size.x,
            index & 2 ? core->half_size.y : -core->half_size.y,
            index & 4 ? core->half_size.z : -core->half_size.z );
    case CLV_SHAPE_HULL:
        return core->cloud != NULL ? core->cloud[index] : math_widen( core->hull->vertices[index] );
    case CLV_SHAPE_SPHERE: break;
    }
    return math_make( 0, 0, 0 );
}

math_vec3 clv_narrow_core_point( const narrow_core* core, uint32_t index )
{
    CLV_ASSERT( index < clv_narrow_core_point_count( core ) );
    if ( core->kind == CLV_SHAPE_SPHERE )
    {
        return core->pose.position;
    }
    return math_pose_apply( &core->pose, own_point( core, index ) );
}

uint32_t clv_narrow_core_point_count( const narrow_core* core )
{
    return core->kind == CLV_SHAPE_SPHERE ? 1 : core->kind == CLV_SHAPE_BOX ? 8 : core->hull->vertex_count;
}

math_vec3 clv_narrow_core_support( narrow_core* core, math_vec3 direction, uint32_t* index )
{
    if ( core->kind == CLV_SHAPE_SPHERE )
    {
        *index = 0;
        return core->pose.position;
    }
    math_vec3 own = math_apply_transposed( &core->pose.rotation, direction );
    if ( core->kind == CLV_SHAPE_BOX )
    {
        *index = ( own.x > 0.0 ? 1u : 0u ) | ( own.y > 0.0 ? 2u : 0u ) | ( own.z > 0.0 ? 4u : 0u );
    }
    else if ( core->cloud != NULL )
    {
        *index = support_of_cloud( core, own );
    }
    else if ( core->hull->vertex_count <= core->brute_limit )
    {
        *index = clv_narrow_support_brute( core->hull, own );
    }
    else
    {
        *index = clv_narrow_support_climb( core->hull, own, core->last );
        core->last = *index;
    }
    return math_pose_apply( &core->pose, own_point( core, *index ) );
}
