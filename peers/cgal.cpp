// SPDX-License-Identifier: MIT
// This file is MIT; a module made from it contains CGAL's box intersection and is therefore under the GPL.
// CGAL's streamed segment tree, stateless: all boxes anew every frame.
#include "peers/peer.h"

#include <CGAL/box_intersection_d.h>

namespace
{

// What CGAL calls a model of BoxIntersectionBox_d.
struct box
{
    typedef float NT;
    typedef uint32_t ID;

    float lower[3], upper[3];
    uint32_t slot;

    static int dimension()
    {
        return 3;
    }
    ID id() const
    {
        return slot;
    }
    NT min_coord( int axis ) const
    {
        return lower[axis];
    }
    NT max_coord( int axis ) const
    {
        return upper[axis];
    }
};

class cgal : public peer::broad_phase
{
  public:
    void update( const peer::frame& now, peer::output& out ) override
    {
        m_boxes.clear();
        for ( uint32_t slot : now.slots )
        {
            const clv_aabb& b = now.boxes[slot];
            m_boxes.push_back(
                { { b.lower.x, b.lower.y, b.lower.z }, { b.upper.x, b.upper.y, b.upper.z }, slot } );
        }
        auto report = [&out]( const box& a, const box& b ) { out.put( a.slot, b.slot ); };
        CGAL::box_self_intersection_d( m_boxes.begin(), m_boxes.end(), report, m_cutoff );
    }

    void configure( const double* settings ) override
    {
        m_cutoff = static_cast<std::ptrdiff_t>( settings[0] );
    }

  private:
    std::ptrdiff_t m_cutoff = 10;
    std::vector<box> m_boxes;
};

// CGAL's own default; its manual leaves the choice to the user.
const clv_method_param s_params[] = {
    PEER_FAT_PARAM,
    { "cgal.cutoff", 10, 1, 1000000, true, "sets up to this size are scanned; 10 is CGAL's default" },
};

const clv_method s_rows[] = {
    peer::row<cgal>( { "cgal", "segment tree and sweep", "CGAL 5.5, box_self_intersection_d",
                         "GPL-3.0-or-later", "O(n log^3 n + k)", "stateless", false },
        s_params, 2 ),
};

} // namespace

CLV_PLUGIN clv_result clv_plugin_register( const clv_plugin_host* host )
{
    return clv_plugin_register_all( host, s_rows, sizeof( s_rows ) / sizeof( s_rows[0] ) );
}
