// SPDX-License-Identifier: MIT
// ODE's hash space and its sweep-and-prune space, with box geoms that are moved every frame.
#include "peers/peer.h"

#include <ode/ode.h>

#include <algorithm>
#include <cfloat>

namespace
{

// ODE counts its users.
class ode_user
{
  public:
    ode_user()
    {
        dInitODE2( 0 );
        dAllocateODEDataForThread( dAllocateMaskAll );
    }
    ~ode_user()
    {
        dCloseODE();
    }
};

class ode : public peer::broad_phase
{
  public:
    void update( const peer::frame& now, peer::output& out ) override
    {
        m_geoms.resize( now.slot_count, nullptr );
        for ( uint32_t slot : now.went )
        {
            dGeomDestroy( m_geoms[slot] );
            m_geoms[slot] = nullptr;
        }
        for ( uint32_t slot : now.came )
        {
            m_geoms[slot] = dCreateBox( m_space, 1, 1, 1 );
            dGeomSetData( m_geoms[slot], reinterpret_cast<void*>( static_cast<uintptr_t>( slot ) ) );
        }
        for ( uint32_t slot : now.slots )
        {
            place( m_geoms[slot], now.boxes[slot] );
        }
        dSpaceCollide( m_space, &out, take_pair );
    }

    ~ode() override
    {
        if ( m_space != nullptr )
        {
            dSpaceDestroy( m_space ); // and the geoms in it
        }
    }

  protected:
    // Called by the derived constructors: ODE must have been started before it can make a space.
    void open( dSpaceID space )
    {
        if ( space == nullptr )
        {
            throw std::bad_alloc();
        }
        m_space = space;
    }

  private:
    // Middle and sides round, if only in double: a little more than the box is right, a little less would
    // lose pairs.
    static void place( dGeomID geom, const clv_aabb& box )
    {
        dReal middle[3], side[3];
        for ( int axis = 0; axis < 3; ++axis )
        {
            dReal lower = ( &box.lower.x )[axis], upper = ( &box.upper.x )[axis];
            middle[axis] = ( lower + upper ) * 0.5;
            side[axis] = upper - lower + ( std::fabs( lower ) + std::fabs( upper ) ) * ( 4 * DBL_EPSILON );
            side[axis] = std::max( side[axis], (dReal)FLT_MIN );
        }
        dGeomSetPosition( geom, middle[0], middle[1], middle[2] );
        dGeomBoxSetLengths( geom, side[0], side[1], side[2] );
    }

    static void take_pair( void* out, dGeomID a, dGeomID b )
    {
        static_cast<peer::output*>( out )->put( slot_of( a ), slot_of( b ) );
    }

    static uint32_t slot_of( dGeomID geom )
    {
        return static_cast<uint32_t>( reinterpret_cast<uintptr_t>( dGeomGetData( geom ) ) );
    }

    ode_user m_user;
    dSpaceID m_space = nullptr;
    std::vector<dGeomID> m_geoms; // by slot
};

class ode_hash : public ode
{
  public:
    ode_hash()
    {
        open( dHashSpaceCreate( nullptr ) );
    }
};

class ode_sap : public ode
{
  public:
    ode_sap()
    {
        open( dSweepAndPruneSpaceCreate( nullptr, dSAP_AXES_XYZ ) );
    }
};

const clv_method s_rows[] = {
    peer::row<ode_hash>( { "ode-hash", "grid", "ODE 0.16, dHashSpace", "BSD-3-Clause or LGPL-2.1-or-later",
        "O(n)", "stateless, levels of cells", false } ),
    peer::row<ode_sap>(
        { "ode-sap", "sweep and prune", "ODE 0.16, dSweepAndPruneSpace", "BSD-3-Clause or LGPL-2.1-or-later",
            "O(n log n + n^(5/3) + k)", "stateless, sorted anew every frame", false } ),
};

} // namespace

CLV_PLUGIN clv_result clv_plugin_register( const clv_plugin_host* host )
{
    return clv_plugin_register_all( host, s_rows, sizeof( s_rows ) / sizeof( s_rows[0] ) );
}
