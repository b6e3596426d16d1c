// SPDX-License-Identifier: MIT
// Where items in order are cut in two.
#pragma once

#include "query/query_tree.h"

enum
{
    QUERY_SWEPT = 64, ///< items up to which every cut is tried
};

/// The cut of at most QUERY_SWEPT items that costs least. Few are put in another order before: their keys are of no more use.
uint32_t clv_query_cut_sweep( query_item* items, uint32_t first, uint32_t end );

/// Where the highest bit that differs changes; the first and the last key differ.
uint32_t clv_query_cut_bit( const query_item* items, uint32_t first, uint32_t end );
