// SPDX-License-Identifier: MIT
#pragma once

#include "narrow/gjk.h"

/// Rounds, and so vertices, an expansion may take; each adds two faces.
#define NARROW_EPA_ROUNDS 256

typedef struct narrow_epa
{
    math_vec3 normal; // unit, from a to b
    double depth;     // of the cores in each other
    math_vec3 point_a, point_b;
    bool converged;       // false: the cores are parted by depth * normal, but maybe by less elsewhere
    uint32_t round_count; // points of the difference looked at
} narrow_epa;

/// How deep two cores that touch are in each other. `found` is what GJK ended with.
void clv_narrow_epa_expand( narrow_core* a, narrow_core* b, const narrow_gjk* found, narrow_epa* result );
