// SPDX-License-Identifier: MIT
// Begun and ended: what two sorted lists of pairs do not share.
#pragma once

#include "pair/list.h"

typedef BASE_ARRAY( clv_id_pair ) pair_id_list;

/// User data beside the pairs of such a list.
typedef BASE_ARRAY( clv_user_pair ) pair_user_list;

/// Generations by slot tell whether a pair of the same slots is still a pair of the same objects.
typedef struct pair_snapshot
{
    const pair_list* pairs; ///< sorted
    const uint32_t* generations;
} pair_snapshot;

/// Fill `begun` with what is in `after` only and `ended` with what is in `before` only; a pair of slots in
/// both whose objects changed is in each. False if out of memory.
bool clv_pair_difference( pair_snapshot before, pair_snapshot after, pair_id_list* begun, pair_id_list* ended,
    base_memory* memory );
