// SPDX-License-Identifier: MIT
// Bullet's btDbvt, optimised top down: closest rays, and everything that touches a box.
#include "peers/query_peer.h"

#include <BulletCollision/BroadphaseCollision/btDbvt.h>

#include <vector>

namespace
{

struct world
{
    btDbvt tree;
    std::vector<clv_aabb> boxes;
};

btVector3 vector_of( const clv_vec3& v )
{
    return btVector3( v.x, v.y, v.z );
}

void* build( const clv_aabb* boxes, uint32_t count )
{
    world* self = new world;
    self->boxes.assign( boxes, boxes + count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        btDbvtVolume volume =
            btDbvtVolume::FromMM( vector_of( boxes[i].lower ), vector_of( boxes[i].upper ) );
        self->tree.insert( volume, reinterpret_cast<void*>( static_cast<uintptr_t>( i ) ) );
    }
    self->tree.optimizeTopDown();
    return self;
}

void destroy( void* state )
{
    delete static_cast<world*>( state );
}

uint32_t slot_of( const btDbvtNode* leaf )
{
    return static_cast<uint32_t>( reinterpret_cast<uintptr_t>( leaf->data ) );
}

struct collect : btDbvt::ICollide
{
    const world* self;
    clv_aabb box;
    clv_hit* hits;
    uint32_t room, count;

    void Process( const btDbvtNode* leaf ) override
    {
        uint32_t slot = slot_of( leaf );
        if ( clv_aabb_overlap( self->boxes[slot], box ) )
        {
            if ( count < room )
            {
                hits[count] = clv_hit{ slot, 0 };
            }
            count += 1;
        }
    }
};

// btDbvt does not shorten a ray on the way: every leaf on it is looked at.
struct first_hit : btDbvt::ICollide
{
    const world* self;
    clv_ray ray;
    clv_hit best;

    void Process( const btDbvtNode* leaf ) override
    {
        uint32_t slot = slot_of( leaf );
        const float* o = &ray.origin.x;
        const float* d = &ray.direction.x;
        const float* lower = &self->boxes[slot].lower.x;
        const float* upper = &self->boxes[slot].upper.x;
        float from = 0, to = best.t;
        for ( int axis = 0; axis < 3; ++axis )
        {
            float inverse = 1.0f / d[axis];
            float first = ( ( d[axis] < 0 ? upper : lower )[axis] - o[axis] ) * inverse;
            float last = ( ( d[axis] < 0 ? lower : upper )[axis] - o[axis] ) * inverse;
            from = first > from ? first : from;
            to = last < to ? last : to;
        }
        if ( from <= to && ( from < best.t || slot < best.index ) )
        {
            best = clv_hit{ slot, from };
        }
    }
};

uint32_t ask( void* state, query_family family, const void* item, clv_hit* hits, uint32_t room )
{
    const world* self = static_cast<const world*>( state );
    if ( family == QUERY_FAMILY_BOXES )
    {
        collect found;
        found.self = self, found.box = *static_cast<const clv_aabb*>( item );
        found.hits = hits, found.room = room, found.count = 0;
        btDbvtVolume volume =
            btDbvtVolume::FromMM( vector_of( found.box.lower ), vector_of( found.box.upper ) );
        self->tree.collideTV( self->tree.m_root, volume, found );
        return found.count;
    }
    first_hit found;
    found.self = self, found.ray = *static_cast<const clv_ray*>( item );
    found.best = clv_hit{ CLV_NO_HIT, 1e30f };
    btVector3 from = vector_of( found.ray.origin );
    btDbvt::rayTest( self->tree.m_root, from, from + vector_of( found.ray.direction ) * 1e6f, found );
    if ( found.best.index != CLV_NO_HIT && room > 0 )
    {
        hits[0] = found.best;
    }
    return found.best.index != CLV_NO_HIT ? 1 : 0;
}

const query_peer s_peer = { "bullet-dbvt", "Bullet's btDbvt, optimised top down",
    1u << QUERY_FAMILY_RAYS | 1u << QUERY_FAMILY_BOXES, build, destroy, ask };

} // namespace

extern "C" __attribute__( ( visibility( "default" ) ) ) const query_peer* clv_query_peer()
{
    return &s_peer;
}
