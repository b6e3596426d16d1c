// SPDX-License-Identifier: MIT
// One space per method and instruction set; all get the same calls, and so does the oracle that judges them.
#pragma once

#include "oracle.h"

typedef struct space_group
{
    oracle world;
    clv_space** spaces; ///< by variant
    uint32_t count;
} space_group;

/// Spaces with the def's rules. With `accept` they get a filter callback that asks it about user data.
void space_group_open( space_group* all, const clv_space_def* def, oracle_accept* accept );
void space_group_close( space_group* all );

/// Calls that must succeed, on every space; ids must come out the same everywhere. `ids` may be NULL.
void space_group_add( space_group* all, const clv_aabb* boxes, uint32_t count, clv_id* ids );
void space_group_move( space_group* all, const clv_id* ids, const clv_aabb* boxes, uint32_t count );
void space_group_remove( space_group* all, const clv_id* ids, uint32_t count );
void space_group_clear( space_group* all );
void space_group_set_margin( space_group* all, const clv_id* ids, const float* margins, uint32_t count );
void space_group_set_margin_rule(
    space_group* all, const clv_id* ids, const clv_margin_rule* rules, uint32_t count );
void space_group_set_motion( space_group* all, const clv_id* ids, const clv_vec3* motions, uint32_t count );
void space_group_set_filter( space_group* all, const clv_id* ids, const clv_filter* filters, uint32_t count );
void space_group_set_static( space_group* all, const clv_id* ids, const bool* is_static, uint32_t count );
void space_group_refilter( space_group* all, const clv_id* ids, uint32_t count );

/// Values decide what the callback answers, so this asks it again.
void space_group_set_user_data( space_group* all, const clv_id* ids, const uint64_t* values, uint32_t count );
void space_group_shrink( space_group* all );

/// Update every space and judge it; the order must be the same on all instruction sets of a method.
void space_group_update( space_group* all );

/// Judge ids, boxes and what else the objects carry.
void space_group_check_objects( space_group* all );

/// Update, and say outright which pairs there are.
void space_group_expect( space_group* all, const clv_pair* pairs, uint32_t count );
