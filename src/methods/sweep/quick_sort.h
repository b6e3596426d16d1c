// SPDX-License-Identifier: MIT
// Quick-sort (Hoare, 1962), as the KD-tree's papers name it for the lists of their nodes. Our own methods
// sort by counting, base/radix_sort.h and sweep/box_items.c; this one is for the rows that follow the papers.
#pragma once

#include "base/radix_sort.h"

/// In place, ascending by key, equal keys by value: one order whatever the list was before. Never more than
/// about n log n steps: a list that keeps being cut badly is handed to the heap sort.
void clv_sweep_quick_sort( base_keyed* keys, uint32_t count );
