// SPDX-License-Identifier: MIT
// FCL's DynamicAABBTreeCollisionManager: update(), then collide() with itself.
#include "peers/peer.h"

#include <fcl/broadphase/broadphase_dynamic_AABB_tree.h>
#include <fcl/geometry/shape/box.h>

#include <memory>

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

class fcl_tree : public peer::broad_phase
{
  public:
    void update( const peer::frame& now, peer::output& out ) override
    {
        m_objects.resize( now.slot_count );
        for ( uint32_t slot : now.went )
        {
            m_manager.unregisterObject( m_objects[slot].get() );
            m_objects[slot].reset();
        }
        for ( uint32_t slot : now.came )
        {
            m_objects[slot] = std::make_unique<object>( m_shape, slot );
            m_objects[slot]->set( now.boxes[slot] );
        }
        for ( uint32_t slot : now.slots )
        {
            m_objects[slot]->set( now.boxes[slot] );
        }
        enrol( now );
        m_age += 1;
        bool rebuilds = m_rebuild > 0 && m_age >= m_rebuild;
        m_age = rebuilds ? 0 : m_age;
        // A level no tree reaches: always balance top down, which builds the tree anew.
        m_manager.max_tree_nonbalanced_level = rebuilds ? -1000 : FCL_LEVEL;
        m_manager.update();
        m_manager.collide( &out, take_pair );
    }

    void configure( const double* settings ) override
    {
        m_rebuild = static_cast<uint32_t>( settings[0] );
    }

    // The tree refuses boxes without volume.
    bool takes( const clv_aabb& box ) const override
    {
        double x = (double)box.upper.x - (double)box.lower.x;
        double y = (double)box.upper.y - (double)box.lower.y;
        double z = (double)box.upper.z - (double)box.lower.z;
        return broad_phase::takes( box ) && x * y * z > 0;
    }

  private:
    // All at once into an empty tree is balanced; one by one is what is left for latecomers.
    void enrol( const peer::frame& now )
    {
        if ( m_manager.empty() )
        {
            std::vector<fcl::CollisionObject<double>*> all;
            for ( uint32_t slot : now.came )
            {
                all.push_back( m_objects[slot].get() );
            }
            m_manager.registerObjects( all );
            m_manager.setup();
            return;
        }
        for ( uint32_t slot : now.came )
        {
            m_manager.registerObject( m_objects[slot].get() );
        }
    }

    static bool take_pair( fcl::CollisionObject<double>* a, fcl::CollisionObject<double>* b, void* out )
    {
        static_cast<peer::output*>( out )->put(
            static_cast<object*>( a )->slot, static_cast<object*>( b )->slot );
        return false; // go on
    }

    static constexpr int FCL_LEVEL = 10; // FCL's default
    uint32_t m_rebuild = 0;
    uint32_t m_age = 0;
    std::shared_ptr<fcl::CollisionGeometry<double>> m_shape = std::make_shared<fcl::Box<double>>( 1, 1, 1 );
    std::vector<std::unique_ptr<object>> m_objects; // by slot; outlive the manager
    fcl::DynamicAABBTreeCollisionManager<double> m_manager;
};

const clv_method_param s_params[] = {
    PEER_FAT_PARAM,
    { "fcl.rebuild", 4, 0, 1000000, true,
        "updates after which the tree is balanced top down; 0: when FCL finds it due" },
};

const clv_method s_rows[] = {
    peer::row<fcl_tree>( { "fcl", "bounding volume hierarchy", "FCL 0.7, DynamicAABBTreeCollisionManager",
                             "BSD-3-Clause", "O(n log n)", "persistent tree", true },
        s_params, 2 ),
};

} // namespace

CLV_PLUGIN clv_result clv_plugin_register( const clv_plugin_host* host )
{
    return clv_plugin_register_all( host, s_rows, sizeof( s_rows ) / sizeof( s_rows[0] ) );
}
