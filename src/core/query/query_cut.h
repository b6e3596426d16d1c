// SPDX-License-Identifier: MIT
// Where items in order are cut in two.
#pragma once

#include "query/query_tree.h"

enum
{
    QUERY_SWEPT = 64, ///< items up to which every cut is tried
};

/// Half its surface. That of something endless is large, not infinite: sums must stay comparable.
static inline float query_half_area( const float lower[3], const float upper[3] )
{
    float x = upper[0] - lower[0], y = upper[1] - lower[1], z = upper[2] - lower[2];
    float area = x * y + y * z + z * x;
    return area < 1e30f ? area : 1e30f;
}

/// The cut of at most QUERY_SWEPT items that costs least. Few are put in another order before: their keys are of no more use.
uint32_t clv_query_cut_sweep( query_item* items, uint32_t first, uint32_t end );

/// Where the highest bit that differs changes; the first and the last key differ.
uint32_t clv_query_cut_bit( const query_item* items, uint32_t first, uint32_t end );
