// SPDX-License-Identifier: MIT
#include "narrow/contact.h"

#include "base/assertion.h"

// Cores apart, skins not: GJK's answer is the contact.
static void contact_of_skins( const narrow_gjk* g, double radius_a, double radius_b, narrow_contact* contact )
{
    math_vec3 a, b;
    clv_narrow_simplex_witness( &g->simplex, &a, &b );
    contact->normal = math_scale( g->nearest, -1.0 / g->distance ); // nearest is a - b
    contact->depth = math_max( radius_a + radius_b - g->distance, 0.0 );
    contact->point_a = math_add_scaled( a, contact->normal, radius_a );
    contact->point_b = math_add_scaled( b, contact->normal, -radius_b );
    contact->converged = g->converged;
    contact->epa_round_count = 0;
}

void clv_narrow_find_contact( narrow_core* a, double radius_a, narrow_core* b, double radius_b,
    clv_pair_cache* cache, narrow_contact* contact )
{
    double skins = radius_a + radius_b;
    narrow_gjk g;
    clv_narrow_gjk_search( a, b, skins, true, cache, &g );
    contact->gjk_round_count = g.round_count;
    contact->touching = g.touching || g.distance <= skins;
    if ( !contact->touching )
    {
        return;
    }
    if ( !g.touching )
    {
        contact_of_skins( &g, radius_a, radius_b, contact );
        return;
    }
    narrow_epa e;
    clv_narrow_epa_expand( a, b, &g, &e );
    contact->normal = e.normal;
    contact->depth = e.depth + skins;
    contact->point_a = math_add_scaled( e.point_a, e.normal, radius_a );
    contact->point_b = math_add_scaled( e.point_b, e.normal, -radius_b );
    contact->converged = e.converged;
    contact->epa_round_count = e.round_count;
}

void clv_narrow_find_plane_contact( narrow_core* a, double radius, clv_plane plane, narrow_contact* contact )
{
    math_vec3 up = math_normalize( math_widen( plane.normal ), math_make( 0, 1, 0 ) );
    uint32_t index;
    math_vec3 lowest = clv_narrow_core_support( a, math_neg( up ), &index );
    lowest = math_add_scaled( lowest, up, -radius );
    double depth = (double)plane.offset - math_dot( up, lowest );
    contact->gjk_round_count = contact->epa_round_count = 0;
    contact->touching = depth >= 0.0;
    if ( contact->touching )
    {
        contact->converged = true;
        contact->depth = depth;
        contact->normal = math_neg( up );
        contact->point_a = lowest;
        contact->point_b = math_add_scaled( lowest, up, depth );
    }
}
