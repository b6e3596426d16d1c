// SPDX-License-Identifier: MIT
// Bullet's dynamic tree (forward: every move asks; deferred: tree against tree once) and its three-axis
// sweep, each with a hashed pair cache as btDiscreteDynamicsWorld has it. Every object gets setAabb every
// frame.
#include "peers/peer.h"

#include <BulletCollision/BroadphaseCollision/btAxisSweep3.h>
#include <BulletCollision/BroadphaseCollision/btDbvtBroadphase.h>

#include <algorithm>

namespace
{

btVector3 vector_of( const clv_vec3& v )
{
    return btVector3( v.x, v.y, v.z );
}

// Slots as client pointers, one up: NULL means none.
void* client_of( uint32_t slot )
{
    return reinterpret_cast<void*>( static_cast<uintptr_t>( slot ) + 1 );
}

uint32_t slot_of( const btBroadphaseProxy* proxy )
{
    return static_cast<uint32_t>( reinterpret_cast<uintptr_t>( proxy->m_clientObject ) - 1 );
}

// What both kinds do alike.
class bullet : public peer::broad_phase
{
  public:
    void update( const peer::frame& now, peer::output& out ) override
    {
        m_proxies.resize( now.slot_count, nullptr );
        for ( uint32_t slot : now.went )
        {
            m_phase->destroyProxy( m_proxies[slot], nullptr );
            m_proxies[slot] = nullptr;
        }
        for ( uint32_t slot : now.came )
        {
            const clv_aabb& box = now.boxes[slot];
            m_proxies[slot] = m_phase->createProxy( vector_of( box.lower ), vector_of( box.upper ),
                BOX_SHAPE_PROXYTYPE, client_of( slot ), 1, 1, nullptr );
        }
        for ( uint32_t slot : now.slots )
        {
            const clv_aabb& box = now.boxes[slot];
            m_phase->setAabb( m_proxies[slot], vector_of( box.lower ), vector_of( box.upper ), nullptr );
        }
        m_phase->calculateOverlappingPairs( nullptr );
        const btBroadphasePair* pairs = m_cache.getOverlappingPairArrayPtr();
        int count = m_cache.getNumOverlappingPairs();
        for ( int i = 0; i < count; ++i )
        {
            out.put( slot_of( pairs[i].m_pProxy0 ), slot_of( pairs[i].m_pProxy1 ) );
        }
    }

  protected:
    btHashedOverlappingPairCache m_cache;
    std::unique_ptr<btBroadphaseInterface> m_phase; // goes before the cache it points to
    std::vector<btBroadphaseProxy*> m_proxies;      // by slot
};

template <bool Deferred> class dbvt : public bullet
{
  public:
    dbvt()
    {
        auto phase = std::make_unique<btDbvtBroadphase>( &m_cache );
        phase->m_deferedcollide = Deferred;
        m_phase = std::move( phase );
    }
};

class axis_sweep : public bullet
{
  public:
    // The sweep wants to know the world and how many there will be. Boxes that leave that world are still
    // found: they are clamped to its faces.
    void update( const peer::frame& now, peer::output& out ) override
    {
        if ( m_phase == nullptr || now.slots.size() > m_most )
        {
            begin( now );
            peer::frame anew = { now.boxes, now.slots, now.slots, {}, now.slot_count };
            bullet::update( anew, out );
            return;
        }
        bullet::update( now, out );
    }

  private:
    void begin( const peer::frame& now )
    {
        m_proxies.clear();
        m_phase.reset();
        btVector3 lower( 0, 0, 0 ), upper( 1, 1, 1 );
        for ( size_t i = 0; i < now.slots.size(); ++i )
        {
            const clv_aabb& box = now.boxes[now.slots[i]];
            btVector3 box_lower = vector_of( box.lower ), box_upper = vector_of( box.upper );
            i == 0 ? lower = box_lower, upper = box_upper : upper;
            lower.setMin( box_lower );
            upper.setMax( box_upper );
        }
        btVector3 slack = ( upper - lower ) * 0.1f + btVector3( 1, 1, 1 );
        m_most = std::max<size_t>( 1024, now.slots.size() + now.slots.size() / 2 );
        if ( m_most < 16384 )
        {
            m_phase = std::make_unique<btAxisSweep3>(
                lower - slack, upper + slack, static_cast<unsigned short>( m_most + 1 ), &m_cache, true );
        }
        else
        {
            m_phase = std::make_unique<bt32BitAxisSweep3>(
                lower - slack, upper + slack, static_cast<unsigned int>( m_most + 1 ), &m_cache, true );
        }
    }

    size_t m_most = 0;
};

const clv_method s_rows[] = {
    peer::row<dbvt<false>>( { "bullet-dbvt-f", "bounding volume hierarchy",
        "Bullet 3.24, btDbvtBroadphase, forward", "zlib", "O(n log n)", "persistent tree, forward", true } ),
    peer::row<dbvt<true>>(
        { "bullet-dbvt-d", "bounding volume hierarchy", "Bullet 3.24, btDbvtBroadphase, deferred", "zlib",
            "O(n log n)", "persistent tree, deferred", true } ),
    peer::row<axis_sweep>( { "bullet-axissweep", "sweep and prune",
        "Bullet 3.24, btAxisSweep3 and bt32BitAxisSweep3", "zlib", "O(n + s)", "insertion sort", true } ),
};

} // namespace

CLV_PLUGIN clv_result clv_plugin_register( const clv_plugin_host* host )
{
    return clv_plugin_register_all( host, s_rows, sizeof( s_rows ) / sizeof( s_rows[0] ) );
}
