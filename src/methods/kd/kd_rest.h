// SPDX-License-Identifier: MIT
// Temporal reasoning, section 3.4: which objects are at rest, and what is known about their pairs.
// An object is static while its box stays inside the grown box it had when it last was not, with each face
// within twice epsilon of that one's; the tree holds the grown box. A search looks for the pairs of grown
// boxes of which one is not static, and all that it finds are kept until the next. By then the grown boxes of
// static objects are the same, so pairs of two static ones are known: they are kept already, or were found by
// the last search. The first search after a change of modes looks for all pairs.
#pragma once

#include "kd/kd_tree.h"
#include "pair/sink.h"

typedef BASE_ARRAY( clv_pair ) kd_pair_array;

typedef struct kd_rest
{
    base_memory* memory;
    const simd_method_kernels* kernels;
    task_runner* tasks;           ///< NULL: the calling thread alone
    BASE_ARRAY( clv_aabb ) grown; ///< by slot

    // Sets of slots.
    base_u64_array moving;  ///< not static in this update
    base_u64_array changed; ///< grown box or place in the tree is new
    base_u64_array known;   ///< member of the tree
    base_u64_array live;    ///< scratch, for comparing members with those of the last update
    uint32_t slot_end;      ///< bits in use

    float epsilon; ///< of the last classification
    float still;   ///< objects that came further since the last update are not static; 0: no such rule
    BASE_ARRAY( clv_aabb ) last; ///< by slot, the box of the last update; only where `still` is above 0

    const uint64_t* active; ///< slots to be searched for in this update: the moving ones, or all of them
    uint32_t moving_count, active_count;
    bool was_cut_short; ///< the last classification
    bool is_filled;     ///< all pairs that the last search had to find are kept

    // Pairs whose grown boxes overlap. Of two static objects they are sure if they overlap wherever in their
    // grown boxes those are; the others are tested in every update.
    kd_pair_array sure; ///< and behind them, from a replay on, all others of this update's list
    uint64_t sure_count;
    kd_pair_array marginal;
    kd_pair_array fresh; ///< from the last search, whatever their objects did since
    uint64_t cache_test_count, candidate_count;
} kd_rest;

void clv_kd_rest_init( kd_rest* rest, base_memory* memory, const simd_method_kernels* kernels );
void clv_kd_rest_release( kd_rest* rest );

/// Room for slots below `slot_count`; with grown boxes and pairs only if `with_boxes`. False if out of
/// memory.
bool clv_kd_rest_reserve( kd_rest* rest, uint32_t slot_count, bool with_boxes );

/// A new object: whatever box it comes with, it is moving.
void clv_kd_rest_enter( kd_rest* rest, uint32_t slot );

/// Drop pairs of which an object is not in `live`.
void clv_kd_rest_purge( kd_rest* rest, const uint64_t* live );

/// No pair is known.
void clv_kd_rest_forget( kd_rest* rest );

/// Sets moving and moving_count, adds the moving to `changed`, and grows the boxes of those by `epsilon`.
/// Only boxes with a bit in `moved` are looked at; NULL: all. Where more than `enough` of a sample move
/// already, the others are left as they are: moving_count is then too low, and `moving` tells nothing.
void clv_kd_rest_classify(
    kd_rest* rest, const clv_aabb* boxes, const uint64_t* moved, float epsilon, uint32_t enough );

/// Sets active and active_count: the moving objects if all pairs of the others are known, else all.
void clv_kd_rest_choose_active( kd_rest* rest );

/// Room beforehand for as many pairs as there are now, should they all be kept. That there is none is no
/// failure yet.
void clv_kd_rest_expect( kd_rest* rest, uint64_t pair_count );

/// Give back what pairs do not need. The list stays where it is, since it may be lent.
void clv_kd_rest_shrink( kd_rest* rest );

/// Drop pairs with moving objects; of the others those whose boxes overlap now become the list. False if out
/// of memory.
bool clv_kd_rest_replay( kd_rest* rest, const clv_aabb* boxes );

/// The list to the sink, which may borrow it. Where nothing is active it has all pairs.
clv_result clv_kd_rest_hand_over( const kd_rest* rest, clv_pair_sink* sink );

/// After a classification: members alone move and are in kept pairs, as many move as are counted, and pairs
/// of two objects at rest overlap. The first that is not so becomes a sentence in `text`. True if all hold.
/// kd_check.c.
bool clv_kd_rest_check( const kd_rest* rest, char* text, size_t text_size );

/// Pairs that are kept.
static inline uint64_t kd_rest_pair_count( const kd_rest* rest )
{
    return rest->sure_count + rest->marginal.count + rest->fresh.count;
}

/// What a search fills in incremental mode: all its pairs are kept, as long as no more than `most` are, and
/// those whose boxes overlap join the list.
typedef struct kd_rest_sink
{
    clv_pair_sink sink; ///< hand this to the search; its pairs lie in rest->fresh
    kd_rest* rest;
    const clv_aabb* boxes;
    clv_pair_sink* out;
    uint64_t passed; ///< pairs that were tested
    uint64_t most;
    bool is_overfull; ///< there were more
} kd_rest_sink;

kd_rest_sink clv_kd_rest_open( kd_rest* rest, const clv_aabb* boxes, clv_pair_sink* out, uint64_t most );

/// After the search: the last pairs, and the list to `out`. If there were too many to keep, none are.
clv_result clv_kd_rest_close( kd_rest_sink* sink );
