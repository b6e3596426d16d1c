// SPDX-License-Identifier: MIT
// nanoflann's kd-tree over the objects' centres: the nearest centres, where a space tells the nearest boxes.
#include "peers/query_peer.h"

#include <nanoflann.hpp>

#include <memory>
#include <vector>

namespace
{

struct cloud
{
    std::vector<clv_vec3> points;

    size_t kdtree_get_point_count() const
    {
        return points.size();
    }

    float kdtree_get_pt( size_t index, size_t axis ) const
    {
        return ( &points[index].x )[axis];
    }

    template <class box> bool kdtree_get_bbox( box& ) const
    {
        return false;
    }
};

using kd_tree =
    nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<float, cloud>, cloud, 3, uint32_t>;

struct world
{
    cloud centers;
    std::unique_ptr<kd_tree> tree;
};

void* build( const clv_aabb* boxes, uint32_t count )
{
    world* self = new world;
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_vec3 center = { 0.5f * ( boxes[i].lower.x + boxes[i].upper.x ),
            0.5f * ( boxes[i].lower.y + boxes[i].upper.y ), 0.5f * ( boxes[i].lower.z + boxes[i].upper.z ) };
        self->centers.points.push_back( center );
    }
    self->tree.reset( new kd_tree( 3, self->centers, nanoflann::KDTreeSingleIndexAdaptorParams( 10 ) ) );
    self->tree->buildIndex();
    return self;
}

void destroy( void* state )
{
    delete static_cast<world*>( state );
}

uint32_t ask( void* state, query_family, const void* item, clv_hit* hits, uint32_t room )
{
    uint32_t indices[QUERY_NEIGHBOURS];
    float squares[QUERY_NEIGHBOURS];
    size_t found = static_cast<const world*>( state )->tree->knnSearch(
        &static_cast<const clv_vec3*>( item )->x, QUERY_NEIGHBOURS, indices, squares );
    for ( uint32_t i = 0; i < found && i < room; ++i )
    {
        hits[i] = clv_hit{ indices[i], squares[i] };
    }
    return static_cast<uint32_t>( found );
}

const query_peer s_peer = { "nanoflann", "nanoflann, nearest centres", 1u << QUERY_FAMILY_NEAREST, build,
    destroy, ask };

} // namespace

extern "C" __attribute__( ( visibility( "default" ) ) ) const query_peer* clv_query_peer()
{
    return &s_peer;
}
