// SPDX-License-Identifier: MIT
// A flat world or one of doubles, in a space and beside it: what the space should see, by slot. What is
// rounded to float for the flat ones is rounded here.
#pragma once

#include "support.h"

#include "cleave/world_query.h"

enum
{
    JUDGE_MOST = 700,
};

/// A space, and what it should see, by slot.
typedef struct judge_world
{
    clv_space* space;
    bool is_flat;
    int crowd; ///< test_crowd or far_crowd_kind
    test_random random;
    uint32_t count;
    clv_id ids[JUDGE_MOST];
    clv_aabb64 given[JUDGE_MOST];
    clv_margin_rule rules[JUDGE_MOST];
    clv_vec3 motions[JUDGE_MOST]; ///< of the next update
    clv_filter filters[JUDGE_MOST];
    bool is_there[JUDGE_MOST];
    clv_aabb64 seen_box[JUDGE_MOST], seen_given[JUDGE_MOST];
    bool is_seen[JUDGE_MOST]; ///< there at the update, and not removed since
} judge_world;

judge_world* judge_world_make(
    bool is_flat, clv_isa isa, uint32_t workers, int crowd, uint32_t count, uint64_t seed );
void judge_world_free( judge_world* world );

/// One object moves, goes or comes. The space is told, and not updated.
void judge_world_change_one( judge_world* world );

/// Adds, moves, removes; dresses with margins and filters. Likewise.
void judge_world_change( judge_world* world );
void judge_world_dress( judge_world* world );

/// Rules of margins, and motions, for some.
void judge_world_push( judge_world* world );

/// After an update or, with false, a refresh, which leaves motions for the update.
void judge_world_see( judge_world* world, bool is_update );

/// Are the pairs of the update those of brute force, and the test boxes as they should be?
void judge_world_check_pairs( judge_world* world );

/// A box of its crowd; the same with two axes; a value as its arithmetic has it.
clv_aabb64 judge_world_box( judge_world* world );
clv_aabb2 judge_flat_box( clv_aabb64 box );
double judge_rounded( const judge_world* world, double value );

/// Categories and masks that sometimes meet, and whether two do.
clv_filter judge_some_mask( test_random* random );
bool judge_filters_agree( const clv_filter* a, const clv_filter* b );
