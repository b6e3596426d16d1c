// SPDX-License-Identifier: MIT
#pragma once

#include "narrow/core.h"
#include "narrow/simplex.h"

/// More rounds than any pair of 10 million needed, by a factor of five.
#define NARROW_GJK_ROUNDS 128

typedef struct narrow_gjk
{
    narrow_simplex simplex; // vertices of the difference around or next to the origin
    math_vec3 nearest;      // of the difference, a - b; zero where the cores touch
    double distance;        // between the cores; with `stop_apart`, only a lower bound if beyond the skins
    bool touching;          // the cores (without skins) touch
    bool converged;
    uint32_t round_count;
} narrow_gjk;

/// `skins`: the sum of both radii. With `stop_apart` the search ends as soon as cores are known to be farther
/// apart. `cache` may be NULL.
void clv_narrow_gjk_search( narrow_core* a, narrow_core* b, double skins, bool stop_apart,
    clv_pair_cache* cache, narrow_gjk* result );

/// The point of the difference farthest along `direction`.
narrow_vertex clv_narrow_difference_support( narrow_core* a, narrow_core* b, math_vec3 direction );
