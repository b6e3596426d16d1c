// SPDX-License-Identifier: MIT
// Embree's rtcCollide on user geometry, one thread, the tree built anew every frame at low quality. Embree
// reports both orders of a pair, and pairs of grown bounds; half of them are kept.
#include "peers/peer.h"

#include <embree3/rtcore.h>

#include <stdexcept>

namespace
{

class embree : public peer::broad_phase
{
  public:
    embree()
    {
        m_device = rtcNewDevice( "threads=1,set_affinity=0" );
        m_scene = m_device != nullptr ? rtcNewScene( m_device ) : nullptr;
        m_geometry = m_scene != nullptr ? rtcNewGeometry( m_device, RTC_GEOMETRY_TYPE_USER ) : nullptr;
        if ( m_geometry == nullptr )
        {
            throw std::bad_alloc();
        }
        rtcSetSceneBuildQuality( m_scene, RTC_BUILD_QUALITY_LOW );
        rtcSetSceneFlags( m_scene, RTC_SCENE_FLAG_DYNAMIC );
        rtcSetGeometryBuildQuality( m_geometry, RTC_BUILD_QUALITY_LOW );
        rtcSetGeometryUserData( m_geometry, this );
        rtcSetGeometryBoundsFunction( m_geometry, bounds_of, nullptr );
        rtcAttachGeometry( m_scene, m_geometry );
    }

    ~embree() override
    {
        rtcReleaseGeometry( m_geometry );
        rtcReleaseScene( m_scene );
        rtcReleaseDevice( m_device );
    }

    void update( const peer::frame& now, peer::output& out ) override
    {
        m_now = &now;
        m_out = &out;
        rtcSetGeometryUserPrimitiveCount( m_geometry, static_cast<unsigned>( now.slots.size() ) );
        rtcCommitGeometry( m_geometry );
        rtcCommitScene( m_scene );
        if ( rtcGetDeviceError( m_device ) != RTC_ERROR_NONE )
        {
            throw std::bad_alloc();
        }
        if ( now.slots.size() > 1 )
        {
            rtcCollide( m_scene, m_scene, take_pairs, this );
        }
    }

  private:
    static void bounds_of( const RTCBoundsFunctionArguments* arguments )
    {
        const embree* self = static_cast<const embree*>( arguments->geometryUserPtr );
        const clv_aabb& box = self->m_now->boxes[self->m_now->slots[arguments->primID]];
        RTCBounds* bounds = arguments->bounds_o;
        bounds->lower_x = box.lower.x, bounds->lower_y = box.lower.y, bounds->lower_z = box.lower.z;
        bounds->upper_x = box.upper.x, bounds->upper_y = box.upper.y, bounds->upper_z = box.upper.z;
    }

    static void take_pairs( void* user, RTCCollision* collisions, unsigned count )
    {
        embree* self = static_cast<embree*>( user );
        const std::vector<uint32_t>& slots = self->m_now->slots;
        for ( unsigned i = 0; i < count; ++i )
        {
            if ( collisions[i].primID0 < collisions[i].primID1 )
            {
                self->m_out->put( slots[collisions[i].primID0], slots[collisions[i].primID1] );
            }
        }
    }

    RTCDevice m_device = nullptr;
    RTCScene m_scene = nullptr;
    RTCGeometry m_geometry = nullptr;
    const peer::frame* m_now = nullptr;
    peer::output* m_out = nullptr;
};

const clv_method s_rows[] = {
    peer::row<embree>( { "embree", "bounding volume hierarchy", "Embree 3.13, rtcCollide, low quality",
        "Apache-2.0", "O(n log n)", "new tree every frame", false } ),
};

} // namespace

CLV_PLUGIN clv_result clv_plugin_register( const clv_plugin_host* host )
{
    return clv_plugin_register_all( host, s_rows, sizeof( s_rows ) / sizeof( s_rows[0] ) );
}
