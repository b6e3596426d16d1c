// SPDX-License-Identifier: MIT
// Questions of two axes as questions of three: every box of a flat space reaches from 0 to 1 on the third axis (space/batch2.c), and
// the question lies half way, still and without a thickness. So the third axis adds nothing to any sum, not even rounding.
#pragma once

#include "cleave/world_query.h"
#include "query/query_shape.h"

enum
{
    QUERY_FLAT = 32, // bit of the kinds of two axes; the rest is the kind of three
};

static inline bool query_is_flat( clv_query_kind kind )
{
    return ( (uint32_t)kind & ~31u ) == QUERY_FLAT;
}

/// A question of three axes.
typedef struct query_raised
{
    union
    {
        clv_vec3 point;
        clv_aabb box;
        clv_sphere sphere;
        clv_neighbourhood around;
        clv_capsule capsule;
        clv_oriented_box turned;     ///< by its own arithmetic: `frame`
        clv_half_spaces half_spaces; ///< without planes: these stay as they are, `half_planes`
        clv_ray ray;
        clv_box_cast box_cast;
        clv_sphere_cast sphere_cast;
        clv_capsule_cast capsule_cast;
    } item;
    double frame[4]; ///< an oriented box's quaternion
    clv_half_planes half_planes;
} query_raised;

/// Item `index` of a flat list, and its kind.
clv_query_kind clv_query_raise( const clv_queries* list, uint32_t index, query_raised* raised );

/// query_half_spaces_meet for planes without z.
static inline bool query_half_planes_meet( const clv_half_planes* half, const clv_aabb* box )
{
    for ( uint32_t i = 0; i < half->count; ++i )
    {
        clv_vec2 n = half->planes[i].normal;
        if ( query_least_dot( (double)n.x, (double)n.y, 0, box ) > (double)half->planes[i].offset )
        {
            return false;
        }
    }
    return true;
}
