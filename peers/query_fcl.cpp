// SPDX-License-Identifier: MIT
// FCL's dynamic tree, built balanced: everything that touches a box or a sphere. It knows no rays.
#include "peers/query_leaf.h"

#include <fcl/broadphase/broadphase_dynamic_AABB_tree.h>
#include <fcl/geometry/shape/box.h>

#include <memory>
#include <vector>

namespace
{

// FCL would compute the box from a shape and a transform, and round; this one is told.
class object : public fcl::CollisionObject<double>
{
  public:
    object( const std::shared_ptr<fcl::CollisionGeometry<double>>& shape, uint32_t slot )
        : fcl::CollisionObject<double>( shape ), slot( slot )
    {
    }

    void set( const clv_aabb& box )
    {
        aabb.min_ << box.lower.x, box.lower.y, box.lower.z;
        aabb.max_ << box.upper.x, box.upper.y, box.upper.z;
    }

    const uint32_t slot;
};

struct world
{
    std::shared_ptr<fcl::CollisionGeometry<double>> shape = std::make_shared<fcl::Box<double>>( 1, 1, 1 );
    std::vector<clv_aabb> boxes;
    std::vector<std::unique_ptr<object>> objects;
    fcl::DynamicAABBTreeCollisionManager<double> manager;
    std::unique_ptr<object> asker = std::make_unique<object>( shape, CLV_NO_HIT );
};

void* build( const clv_aabb* boxes, uint32_t count )
{
    world* self = new world;
    self->boxes.assign( boxes, boxes + count );
    std::vector<fcl::CollisionObject<double>*> all;
    for ( uint32_t i = 0; i < count; ++i )
    {
        self->objects.push_back( std::make_unique<object>( self->shape, i ) );
        self->objects[i]->set( boxes[i] );
        all.push_back( self->objects[i].get() );
    }
    self->manager.registerObjects( all ); // all at once into an empty tree is balanced
    self->manager.setup();
    return self;
}

void destroy( void* state )
{
    delete static_cast<world*>( state );
}

struct collect
{
    const world* self;
    query_leaf::found_list list;
};

bool take( fcl::CollisionObject<double>* a, fcl::CollisionObject<double>* b, void* data )
{
    collect* found = static_cast<collect*>( data );
    uint32_t slot = static_cast<const object*>( a )->slot;
    slot = slot != CLV_NO_HIT ? slot : static_cast<const object*>( b )->slot;
    found->list.look_at( slot, found->self->boxes[slot] );
    return false;
}

uint32_t ask( void* state, query_family family, const void* item, clv_hit* hits, uint32_t room )
{
    world* self = static_cast<world*>( state );
    collect found = { self, { family, item, hits, room, 0 } };
    self->asker->set( query_leaf::box_of( family, item ) );
    self->manager.collide( self->asker.get(), &found, take );
    return found.list.count;
}

const query_peer s_peer = { "fcl", "FCL's dynamic tree, built balanced",
    1u << QUERY_FAMILY_BOXES | 1u << QUERY_FAMILY_SPHERES, build, destroy, ask };

} // namespace

extern "C" __attribute__( ( visibility( "default" ) ) ) const query_peer* clv_query_peer()
{
    return &s_peer;
}
