/* SPDX-License-Identifier: MIT */
/* What is asked of a leaf that a tree hands over: the tests of cleave/query.h, so that answers differ only
 * where a tree's own nodes round. */
#pragma once

#include "peers/query_peer.h"

namespace query_leaf
{

/* The slabs in float, within the reach. */
inline bool meets_ray( const clv_ray& ray, const clv_aabb& box, float reach, float& t )
{
    const float* o = &ray.origin.x;
    const float* d = &ray.direction.x;
    const float* lower = &box.lower.x;
    const float* upper = &box.upper.x;
    float from = 0, to = reach;
    for ( int axis = 0; axis < 3; ++axis )
    {
        float inverse = 1.0f / d[axis];
        float first = ( ( d[axis] < 0 ? upper : lower )[axis] - o[axis] ) * inverse;
        float last = ( ( d[axis] < 0 ? lower : upper )[axis] - o[axis] ) * inverse;
        from = first > from ? first : from;
        to = last < to ? last : to;
    }
    t = from;
    return from <= to;
}

/* Squared distances in double. */
inline bool meets_sphere( const clv_sphere& sphere, const clv_aabb& box )
{
    double sum = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double at = static_cast<double>( ( &sphere.center.x )[axis] );
        double below = static_cast<double>( ( &box.lower.x )[axis] ) - at;
        double above = at - static_cast<double>( ( &box.upper.x )[axis] );
        double gap = below > 0 ? below : above > 0 ? above : 0;
        sum += gap * gap;
    }
    double radius = static_cast<double>( sphere.radius );
    return sum <= radius * radius;
}

/* The box of what is asked, a little larger for a sphere. */
inline clv_aabb box_of( query_family family, const void* item )
{
    if ( family == QUERY_FAMILY_BOXES )
    {
        return *static_cast<const clv_aabb*>( item );
    }
    const clv_sphere& sphere = *static_cast<const clv_sphere*>( item );
    clv_aabb box = { { 0, 0, 0 }, { 0, 0, 0 } };
    for ( int axis = 0; axis < 3; ++axis )
    {
        float at = ( &sphere.center.x )[axis];
        float more = sphere.radius + 1e-6f * ( sphere.radius + ( at < 0 ? -at : at ) );
        ( &box.lower.x )[axis] = at - more;
        ( &box.upper.x )[axis] = at + more;
    }
    return box;
}

/* Everything that touches a box or a sphere, leaf by leaf. */
struct found_list
{
    query_family family;
    const void* item;
    clv_hit* hits;
    uint32_t room, count;

    void look_at( uint32_t slot, const clv_aabb& box )
    {
        bool is_met = family == QUERY_FAMILY_BOXES
            ? clv_aabb_overlap( box, *static_cast<const clv_aabb*>( item ) )
            : meets_sphere( *static_cast<const clv_sphere*>( item ), box );
        if ( is_met )
        {
            if ( count < room )
            {
                hits[count] = clv_hit{ slot, 0 };
            }
            count += 1;
        }
    }
};

/* The first hit so far; of equal times the lower slot. */
struct first_hit
{
    clv_ray ray;
    clv_hit best;

    void look_at( uint32_t slot, const clv_aabb& box )
    {
        float t;
        if ( meets_ray( ray, box, best.t, t ) && ( t < best.t || slot < best.index ) )
        {
            best = clv_hit{ slot, t };
        }
    }

    uint32_t put( clv_hit* hits, uint32_t room ) const
    {
        if ( best.index != CLV_NO_HIT && room > 0 )
        {
            hits[0] = best;
        }
        return best.index != CLV_NO_HIT ? 1 : 0;
    }
};

} // namespace query_leaf
