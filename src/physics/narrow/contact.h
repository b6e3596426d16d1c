// SPDX-License-Identifier: MIT
// The queries behind narrow.h in double, for those who already have poses: the simulations.
#pragma once

#include "narrow/core.h"
#include "solid/solid_epa.h"

/// How two cores with skins of these radii touch; narrow_contact_find with all the room there may be. `cache`
/// may be NULL.
void clv_narrow_find_contact( narrow_core* a, double radius_a, narrow_core* b, double radius_b,
    clv_pair_cache* cache, narrow_contact* contact );

/// A core against the half-space of `plane`.
void clv_narrow_find_plane_contact( narrow_core* a, double radius, clv_plane plane, narrow_contact* contact );
