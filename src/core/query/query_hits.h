// SPDX-License-Identifier: MIT
// The hits of one query, once the walk is over.
#pragma once

#include "cleave/query.h"
#include "cleave/world_query.h"

#include <stdint.h>

/// By slot. In place and without recursion, a digit of the slot after the other: six steps at most, whatever the order.
void clv_query_hits_sort( clv_hit* hits, uint64_t count );
void clv_query_hits_sort64( clv_hit64* hits, uint64_t count );

/// A callback that shortened the way leaves hits behind that lie beyond its end. How many are left.
uint64_t clv_query_hits_drop( clv_hit* hits, uint64_t count, float reach );
uint64_t clv_query_hits_drop64( clv_hit64* hits, uint64_t count, double reach );
