// SPDX-License-Identifier: MIT
// Box2D's b2DynamicTree over the first two axes: what it is made for are flat scenes. Leaves are told apart
// along the third axis, so that its answers are right in any scene, if slow.
#include "peers/query_leaf.h"

#include <box2d/b2_dynamic_tree.h>

#include <cmath>
#include <vector>

namespace
{

struct world
{
    b2DynamicTree tree;
    std::vector<clv_aabb> boxes;
    std::vector<uint32_t> slots; // by proxy
    float size = 1;              // of everything
};

b2AABB flat_box( const clv_aabb& box )
{
    b2AABB flat;
    flat.lowerBound.Set( box.lower.x, box.lower.y );
    flat.upperBound.Set( box.upper.x, box.upper.y );
    return flat;
}

void* build( const clv_aabb* boxes, uint32_t count )
{
    world* self = new world;
    self->boxes.assign( boxes, boxes + count );
    b2AABB all = { { 0, 0 }, { 0, 0 } };
    for ( uint32_t i = 0; i < count; ++i )
    {
        b2AABB flat = flat_box( boxes[i] );
        int32 proxy = self->tree.CreateProxy( flat, nullptr );
        self->slots.resize( std::max( self->slots.size(), static_cast<size_t>( proxy ) + 1 ) );
        self->slots[static_cast<size_t>( proxy )] = i;
        i == 0 ? all = flat : ( all.Combine( flat ), all );
    }
    self->size = b2Distance( all.lowerBound, all.upperBound ) + 1;
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

    bool QueryCallback( int32 proxy )
    {
        uint32_t slot = self->slots[static_cast<size_t>( proxy )];
        list.look_at( slot, self->boxes[slot] );
        return true;
    }
};

struct nearest_on_ray
{
    const world* self;
    query_leaf::first_hit hit;
    float step; // of the ray's time per length of Box2D's

    bool QueryCallback( int32 proxy )
    {
        uint32_t slot = self->slots[static_cast<size_t>( proxy )];
        hit.look_at( slot, self->boxes[slot] );
        return true;
    }

    // How far the ray still goes: to the hit, and a little more for what rounds.
    float RayCastCallback( const b2RayCastInput& input, int32 proxy )
    {
        QueryCallback( proxy );
        float end = hit.best.t / step * 1.0001f;
        end = end > 1e-6f ? end : 1e-6f; // 0 would mean: enough
        return hit.best.index != CLV_NO_HIT && end < input.maxFraction ? end : input.maxFraction;
    }
};

uint32_t cast( const world* self, const clv_ray& ray, clv_hit* hits, uint32_t room )
{
    nearest_on_ray found = { self, { ray, clv_hit{ CLV_NO_HIT, ray.max_t < 1e30f ? ray.max_t : 1e30f } }, 1 };
    b2Vec2 from( ray.origin.x, ray.origin.y ), way( ray.direction.x, ray.direction.y );
    float length = way.Length();
    if ( length < 1e-6f ) // it sees a point
    {
        b2AABB place = { from, from };
        self->tree.Query( &found, place );
        return found.hit.put( hits, room );
    }
    // As far as there is anything: Box2D has no use for rays without end.
    float far = self->size;
    for ( int axis = 0; axis < 2; ++axis )
    {
        far += std::fabs( ( &ray.origin.x )[axis] );
    }
    found.step = far / length;
    b2RayCastInput input;
    input.p1 = from;
    input.p2 = from + found.step * way;
    input.maxFraction = 1;
    self->tree.RayCast( &found, input );
    return found.hit.put( hits, room );
}

uint32_t ask( void* state, query_family family, const void* item, clv_hit* hits, uint32_t room )
{
    const world* self = static_cast<const world*>( state );
    if ( family == QUERY_FAMILY_RAYS )
    {
        return cast( self, *static_cast<const clv_ray*>( item ), hits, room );
    }
    collect found = { self, { family, item, hits, room, 0 } };
    self->tree.Query( &found, flat_box( query_leaf::box_of( family, item ) ) );
    return found.list.count;
}

const query_peer s_peer = { "box2d", "Box2D's b2DynamicTree, for flat scenes",
    1u << QUERY_FAMILY_RAYS | 1u << QUERY_FAMILY_BOXES | 1u << QUERY_FAMILY_SPHERES, build, destroy, ask };

} // namespace

extern "C" __attribute__( ( visibility( "default" ) ) ) const query_peer* clv_query_peer()
{
    return &s_peer;
}
