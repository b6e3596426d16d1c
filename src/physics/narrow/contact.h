// SPDX-License-Identifier: MIT
// The queries behind narrow.h in double, for those who already have poses: the simulations.
#pragma once

#include "narrow/epa.h"

typedef struct narrow_contact
{
    bool touching, converged;
    math_vec3 normal; // unit, from a to b
    double depth;
    math_vec3 point_a, point_b;
    uint32_t gjk_round_count, epa_round_count;
} narrow_contact;

/// `skins`: both radii. Everything but `touching` and gjk_round_count is left alone where they are apart.
void clv_narrow_find_contact( narrow_core* a, double radius_a, narrow_core* b, double radius_b,
    clv_pair_cache* cache, narrow_contact* contact );

/// A core against the half-space of `plane`.
void clv_narrow_find_plane_contact( narrow_core* a, double radius, clv_plane plane, narrow_contact* contact );
