// SPDX-License-Identifier: MIT
#include "box2d_tree.h"

#include <box2d/b2_broad_phase.h>

#include <utility>
#include <vector>

struct box2d_tree
{
    b2BroadPhase broad_phase;
    std::vector<int32> proxies;
    std::vector<clv_aabb2> boxes;
    std::vector<std::pair<uint32_t, uint32_t>> pairs;

    // For UpdatePairs.
    void AddPair( void* a, void* b )
    {
        pairs.emplace_back( index_of( a ), index_of( b ) );
    }

    static uint32_t index_of( void* data )
    {
        return static_cast<uint32_t>( reinterpret_cast<uintptr_t>( data ) );
    }

    void move( const clv_aabb2* to, uint32_t count );
};

static b2AABB aabb_of( const clv_aabb2& box )
{
    b2AABB aabb;
    aabb.lowerBound.Set( box.lower.x, box.lower.y );
    aabb.upperBound.Set( box.upper.x, box.upper.y );
    return aabb;
}

void box2d_tree::move( const clv_aabb2* to, uint32_t count )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        b2Vec2 way( to[i].lower.x - boxes[i].lower.x, to[i].lower.y - boxes[i].lower.y );
        broad_phase.MoveProxy( proxies[i], aabb_of( to[i] ), way );
        boxes[i] = to[i];
    }
}

// Asks the tree for one box at a time, and takes those of a higher number that touch.
struct list_query
{
    box2d_tree* self;
    uint32_t index;

    bool QueryCallback( int32 proxy )
    {
        uint32_t other = box2d_tree::index_of( self->broad_phase.GetUserData( proxy ) );
        if ( other > index && clv_aabb2_overlap( self->boxes[index], self->boxes[other] ) )
        {
            self->pairs.emplace_back( index, other );
        }
        return true;
    }
};

box2d_tree* box2d_tree_open( const clv_aabb2* boxes, uint32_t count )
{
    box2d_tree* self = new box2d_tree;
    self->boxes.assign( boxes, boxes + count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        void* data = reinterpret_cast<void*>( static_cast<uintptr_t>( i ) );
        self->proxies.push_back( self->broad_phase.CreateProxy( aabb_of( boxes[i] ), data ) );
    }
    self->broad_phase.UpdatePairs( self );
    return self;
}

void box2d_tree_close( box2d_tree* self )
{
    delete self;
}

uint64_t box2d_tree_step( box2d_tree* self, const clv_aabb2* boxes, uint32_t count )
{
    self->pairs.clear();
    self->move( boxes, count );
    self->broad_phase.UpdatePairs( self );
    return self->pairs.size();
}

uint64_t box2d_tree_list( box2d_tree* self, const clv_aabb2* boxes, uint32_t count )
{
    self->pairs.clear();
    self->move( boxes, count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        list_query query = { self, i };
        self->broad_phase.Query( &query, aabb_of( boxes[i] ) );
    }
    return self->pairs.size();
}

// The closest of what the tree finds, by the boxes as they are.
struct cast_query
{
    box2d_tree* self;
    uint32_t hit;

    float RayCastCallback( const b2RayCastInput& input, int32 proxy )
    {
        uint32_t other = box2d_tree::index_of( self->broad_phase.GetUserData( proxy ) );
        b2AABB box = aabb_of( self->boxes[other] );
        b2Vec2 at = input.p1;
        bool is_inside = box.lowerBound.x <= at.x && at.x <= box.upperBound.x && box.lowerBound.y <= at.y &&
            at.y <= box.upperBound.y;
        b2RayCastOutput output;
        if ( is_inside || box.RayCast( &output, input ) )
        {
            hit = other;
            return is_inside ? 0.0f : output.fraction;
        }
        return input.maxFraction;
    }
};

void box2d_tree_cast( box2d_tree* self, const clv_ray2* rays, uint32_t count, uint32_t* hits )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        cast_query query = { self, UINT32_MAX };
        b2RayCastInput input;
        input.p1.Set( rays[i].origin.x, rays[i].origin.y );
        input.p2.Set( rays[i].origin.x + rays[i].direction.x, rays[i].origin.y + rays[i].direction.y );
        input.maxFraction = 1.0f;
        self->broad_phase.RayCast( &query, input );
        hits[i] = query.hit;
    }
}

struct overlap_query
{
    box2d_tree* self;
    clv_aabb2 box;
    uint64_t count;

    bool QueryCallback( int32 proxy )
    {
        uint32_t other = box2d_tree::index_of( self->broad_phase.GetUserData( proxy ) );
        count += clv_aabb2_overlap( box, self->boxes[other] ) ? 1 : 0;
        return true;
    }
};

uint64_t box2d_tree_overlap( box2d_tree* self, const clv_aabb2* boxes, uint32_t count )
{
    overlap_query query = { self, {}, 0 };
    for ( uint32_t i = 0; i < count; ++i )
    {
        query.box = boxes[i];
        self->broad_phase.Query( &query, aabb_of( boxes[i] ) );
    }
    return query.count;
}
