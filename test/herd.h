// SPDX-License-Identifier: MIT
// One space per method and instruction set, led through the same calls, with the oracle walking beside them.
#pragma once

#include "oracle.h"

typedef struct herd
{
    oracle world;
    clv_space** spaces; ///< by variant
    uint32_t count;
} herd;

/// Spaces with the def's rules. With `accept` they get a filter callback that asks it about user data.
void herd_open( herd* all, const clv_space_def* def, oracle_accept* accept );
void herd_close( herd* all );

/// Calls that must succeed, on every space; ids must come out the same everywhere. `ids` may be NULL.
void herd_add( herd* all, const clv_aabb* boxes, uint32_t count, clv_id* ids );
void herd_move( herd* all, const clv_id* ids, const clv_aabb* boxes, uint32_t count );
void herd_remove( herd* all, const clv_id* ids, uint32_t count );
void herd_clear( herd* all );
void herd_set_margin( herd* all, const clv_id* ids, const float* margins, uint32_t count );
void herd_set_filter( herd* all, const clv_id* ids, const clv_filter* filters, uint32_t count );
void herd_set_static( herd* all, const clv_id* ids, const bool* is_static, uint32_t count );
void herd_refilter( herd* all, const clv_id* ids, uint32_t count );

/// Values decide what the callback answers, so this asks it again.
void herd_set_user_data( herd* all, const clv_id* ids, const uint64_t* values, uint32_t count );
void herd_shrink( herd* all );

/// Update every space and judge it; the order must be the same on all instruction sets of a method.
void herd_update( herd* all );

/// Judge ids, boxes and what else the objects carry.
void herd_check_objects( herd* all );

/// Update, and say outright which pairs there are.
void herd_expect( herd* all, const clv_pair* pairs, uint32_t count );
