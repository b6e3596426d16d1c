// SPDX-License-Identifier: MIT
// Temporal reasoning, section 3.4: who is at rest, and what is known about pairs at rest.
// An object is static while its box stays inside the grown box it had when it last was not; the tree holds the grown box.
// An object is settled once all its pairs with other static objects are in the cache. Every search looks for the pairs of
// those that are not settled: moving ones, and ones that came to rest since. So the cache is filled by the search
// itself, whether one object stops or a whole scene starts at rest.
#pragma once

#include "kd/kd_tree.h"
#include "pair/sink.h"

typedef struct kd_rest
{
    base_memory* memory;
    const simd_method_kernels* kernels;
    task_runner* tasks;           ///< NULL: the calling thread alone
    BASE_ARRAY( clv_aabb ) grown; ///< by slot

    // Sets of slots.
    base_u64_array moving;  ///< not static in this update
    base_u64_array settled; ///< as of the last update
    base_u64_array active;  ///< to be searched for in this update
    base_u64_array changed; ///< grown box or place in the tree is new
    base_u64_array known;   ///< member of the tree
    uint32_t slot_end;      ///< bits in use

    float
        still; ///< who came further than this since the last update is not static; 0: the grown box alone decides
    BASE_ARRAY( clv_aabb ) last; ///< by slot, the box of the last update; only where `still` is above 0

    uint32_t moving_count, active_count;
    bool has_unsettled; ///< an active object was settled until now
    bool was_cut_short; ///< the last classification

    BASE_ARRAY( clv_pair ) cache;      ///< pairs of settled objects whose grown boxes overlap
    BASE_ARRAY( clv_pair ) candidates; ///< of the search, on their way
    uint64_t cache_test_count, candidate_count;
} kd_rest;

void clv_kd_rest_init( kd_rest* rest, base_memory* memory, const simd_method_kernels* kernels );
void clv_kd_rest_release( kd_rest* rest );

/// Room for slots below `slot_count`; with grown boxes and cache only if `with_boxes`. False if out of memory.
bool clv_kd_rest_reserve( kd_rest* rest, uint32_t slot_count, bool with_boxes );

/// A new object: whatever box it comes with, it is moving.
void clv_kd_rest_enter( kd_rest* rest, uint32_t slot );

/// Drop pairs from the cache of which an object is not in `live`.
void clv_kd_rest_purge( kd_rest* rest, const uint64_t* live );

/// Nothing is settled and the cache is empty.
void clv_kd_rest_forget( kd_rest* rest );

/// Sets moving and moving_count, adds the moving to `changed`, and grows the boxes of those by `epsilon`. Only boxes with a
/// bit in `moved` are looked at; NULL: all. Where more than `enough` of a sample move already, the others are left as they
/// are: moving_count is then too low, and `moving` tells nothing.
void clv_kd_rest_classify(
    kd_rest* rest, const clv_aabb* boxes, const uint64_t* moved, float epsilon, uint32_t enough );

/// Sets active and active_count: live and not settled, or moving.
void clv_kd_rest_choose_active( kd_rest* rest );

/// Room beforehand for as many pairs as there are now, should they all come to rest. That there is none is no failure yet.
void clv_kd_rest_expect( kd_rest* rest, uint64_t pair_count );

/// Drop pairs with active objects from the cache; of the others put those into the sink whose boxes overlap now.
clv_result clv_kd_rest_replay( kd_rest* rest, const clv_aabb* boxes, pair_sink* sink );

/// What a search fills in incremental mode: pairs of which at least one is active go to `out` if their boxes overlap, and
/// into the cache if both are static and no more than `most` are there.
typedef struct kd_rest_sink
{
    pair_sink sink; ///< hand this to the search
    kd_rest* rest;
    const clv_aabb* boxes;
    pair_sink* out;
    uint64_t most;
    bool is_overfull; ///< there were more
} kd_rest_sink;

kd_rest_sink clv_kd_rest_open( kd_rest* rest, const clv_aabb* boxes, pair_sink* out, uint64_t most );

/// After the search: the last candidates; then everything static is settled, or, if the cache is overfull, nothing is and it is
/// empty.
clv_result clv_kd_rest_close( kd_rest_sink* sink );
