// SPDX-License-Identifier: MIT
// Bullet's btDbvt, optimised top down: closest rays, and everything that touches a box or a sphere.
#include "peers/query_leaf.h"

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
    query_leaf::found_list list;

    void Process( const btDbvtNode* leaf ) override
    {
        uint32_t slot = slot_of( leaf );
        list.look_at( slot, self->boxes[slot] );
    }
};

// btDbvt does not shorten a ray on the way: every leaf on it is looked at.
struct nearest_on_ray : btDbvt::ICollide
{
    const world* self;
    query_leaf::first_hit hit;

    void Process( const btDbvtNode* leaf ) override
    {
        uint32_t slot = slot_of( leaf );
        hit.look_at( slot, self->boxes[slot] );
    }
};

uint32_t ask( void* state, query_family family, const void* item, clv_hit* hits, uint32_t room )
{
    const world* self = static_cast<const world*>( state );
    if ( family != QUERY_FAMILY_RAYS )
    {
        collect found;
        found.self = self, found.list = { family, item, hits, room, 0 };
        clv_aabb box = query_leaf::box_of( family, item );
        btDbvtVolume volume = btDbvtVolume::FromMM( vector_of( box.lower ), vector_of( box.upper ) );
        self->tree.collideTV( self->tree.m_root, volume, found );
        return found.list.count;
    }
    nearest_on_ray found;
    found.self = self, found.hit = { *static_cast<const clv_ray*>( item ), clv_hit{ CLV_NO_HIT, 1e30f } };
    const clv_ray& ray = found.hit.ray;
    btVector3 from = vector_of( ray.origin );
    btDbvt::rayTest( self->tree.m_root, from, from + vector_of( ray.direction ) * 1e6f, found );
    return found.hit.put( hits, room );
}

const query_peer s_peer = { "bullet-dbvt", "Bullet's btDbvt, optimised top down",
    1u << QUERY_FAMILY_RAYS | 1u << QUERY_FAMILY_BOXES | 1u << QUERY_FAMILY_SPHERES, build, destroy, ask };

} // namespace

extern "C" __attribute__( ( visibility( "default" ) ) ) const query_peer* clv_query_peer()
{
    return &s_peer;
}
