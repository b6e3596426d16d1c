// SPDX-License-Identifier: MIT
// Embree's closest rays over boxes as user geometry, medium quality, one thread.
#include "peers/query_peer.h"

#include <embree3/rtcore.h>

#include <cmath>
#include <vector>

namespace
{

struct world
{
    RTCDevice device = nullptr;
    RTCScene scene = nullptr;
    std::vector<clv_aabb> boxes;
};

void bounds_of( const RTCBoundsFunctionArguments* arguments )
{
    const clv_aabb& box = static_cast<const world*>( arguments->geometryUserPtr )->boxes[arguments->primID];
    RTCBounds* bounds = arguments->bounds_o;
    bounds->lower_x = box.lower.x, bounds->lower_y = box.lower.y, bounds->lower_z = box.lower.z;
    bounds->upper_x = box.upper.x, bounds->upper_y = box.upper.y, bounds->upper_z = box.upper.z;
}

// The slabs of query.h, in float, so that answers differ only where Embree's own nodes do. Of equal times the
// lower slot.
void meet( const RTCIntersectFunctionNArguments* arguments )
{
    if ( arguments->valid[0] == 0 )
    {
        return;
    }
    RTCRayHit* ray = reinterpret_cast<RTCRayHit*>( arguments->rayhit );
    const clv_aabb& box = static_cast<const world*>( arguments->geometryUserPtr )->boxes[arguments->primID];
    const float o[3] = { ray->ray.org_x, ray->ray.org_y, ray->ray.org_z };
    const float d[3] = { ray->ray.dir_x, ray->ray.dir_y, ray->ray.dir_z };
    const float* lower = &box.lower.x;
    const float* upper = &box.upper.x;
    float from = 0, to = ray->ray.tfar;
    for ( int axis = 0; axis < 3; ++axis )
    {
        float inverse = 1.0f / d[axis];
        float first = ( ( d[axis] < 0 ? upper : lower )[axis] - o[axis] ) * inverse;
        float last = ( ( d[axis] < 0 ? lower : upper )[axis] - o[axis] ) * inverse;
        from = first > from ? first : from;
        to = last < to ? last : to;
    }
    bool is_lower = from == ray->ray.tfar && arguments->primID < ray->hit.primID;
    if ( from <= to && ( from < ray->ray.tfar || is_lower ) )
    {
        ray->ray.tfar = from;
        ray->hit.primID = arguments->primID;
        ray->hit.geomID = 0;
    }
}

void destroy( void* state )
{
    world* self = static_cast<world*>( state );
    if ( self != nullptr )
    {
        rtcReleaseScene( self->scene );
        rtcReleaseDevice( self->device );
    }
    delete self;
}

void* build( const clv_aabb* boxes, uint32_t count )
{
    world* self = new world;
    self->boxes.assign( boxes, boxes + count );
    self->device = rtcNewDevice( "threads=1,set_affinity=0" );
    self->scene = rtcNewScene( self->device );
    RTCGeometry geometry = rtcNewGeometry( self->device, RTC_GEOMETRY_TYPE_USER );
    rtcSetGeometryUserPrimitiveCount( geometry, count );
    rtcSetGeometryUserData( geometry, self );
    rtcSetGeometryBoundsFunction( geometry, bounds_of, nullptr );
    rtcSetGeometryIntersectFunction( geometry, meet );
    rtcCommitGeometry( geometry );
    rtcAttachGeometry( self->scene, geometry );
    rtcReleaseGeometry( geometry );
    rtcCommitScene( self->scene );
    return self;
}

uint32_t ask( void* state, query_family, const void* item, clv_hit* hits, uint32_t room )
{
    const clv_ray* asked = static_cast<const clv_ray*>( item );
    RTCRayHit ray = {};
    ray.ray.org_x = asked->origin.x, ray.ray.org_y = asked->origin.y, ray.ray.org_z = asked->origin.z;
    ray.ray.dir_x = asked->direction.x, ray.ray.dir_y = asked->direction.y,
    ray.ray.dir_z = asked->direction.z;
    ray.ray.tfar = asked->max_t;
    ray.ray.mask = 0xFFFFFFFFu;
    ray.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    ray.hit.primID = RTC_INVALID_GEOMETRY_ID;
    RTCIntersectContext context;
    rtcInitIntersectContext( &context );
    rtcIntersect1( static_cast<const world*>( state )->scene, &context, &ray );
    if ( ray.hit.geomID == RTC_INVALID_GEOMETRY_ID || room == 0 )
    {
        return ray.hit.geomID == RTC_INVALID_GEOMETRY_ID ? 0 : 1;
    }
    hits[0] = clv_hit{ ray.hit.primID, ray.ray.tfar };
    return 1;
}

const query_peer s_peer = { "embree", "Embree 3, user geometry, medium quality", 1u << QUERY_FAMILY_RAYS,
    build, destroy, ask };

} // namespace

extern "C" __attribute__( ( visibility( "default" ) ) ) const query_peer* clv_query_peer()
{
    return &s_peer;
}
