// SPDX-License-Identifier: MIT
// Detection, sections 3.1 and 3.3: top-down, each node's own objects against each other and against the external ones that
// reach into its region from above, by sweep and prune along the node's best axis.
#pragma once

#include "kd/kd_batch.h"
#include "kd/kd_tree.h"
#include "simd/method_kernels.h"
#include "sweep/box_items.h"
#include "sweep/small_boxes.h"

/// Tests made and saved, since the search began.
typedef struct kd_search_counters
{
    uint64_t node_count;
    uint64_t external_count;    ///< entries of all external lists
    uint64_t tree_pair_count;   ///< pairs that the tree could not rule out
    uint64_t static_pair_count; ///< of those, ruled out because both objects are at rest
    uint64_t test_count;        ///< of the others, those that the sweep could not rule out
    kd_batches batches;         ///< of the sweeps, where asked for
} kd_search_counters;

typedef struct kd_search_frame
{
    uint32_t node;
    uint32_t begin; ///< of the externals in the arena
    uint32_t end;
    uint32_t own_end; ///< the node's own objects follow its externals
} kd_search_frame;

typedef struct kd_search
{
    base_memory* memory;
    const simd_method_kernels* kernels;
    bool use_sweep;      ///< false: brute force in the nodes ("KD only")
    bool counts_batches; ///< fill counters.batches; false until set
    bool is_published;   ///< sorted lists in every node, as in the paper; false until clv_kd_search_publish

    sweep_sorter sorter;
    simd_small_item* steps; ///< of a node that is being put in order
    uint64_t step_capacity;
    simd_item* arena; ///< lists of the path from the root, one behind the other
    uint64_t arena_capacity;
    kd_search_frame* frames;
    uint64_t frame_capacity;
    uint32_t* active_counts; ///< by node, of its subtree
    uint64_t active_capacity;
    sweep_small small[2];               ///< own objects: at rest, active
    simd_box_lanes own[2], external[2]; ///< the same where buckets would be crowded
    kd_search_counters counters;
} kd_search;

void clv_kd_search_init(
    kd_search* search, base_memory* memory, const simd_method_kernels* kernels, bool use_sweep );
void clv_kd_search_release( kd_search* search );

/// From now on as the paper has it: each node's lists are quick-sorted along the axis on which its own objects vary most, and no
/// node is passed by because all in it rest.
void clv_kd_search_publish( kd_search* search );

/// Room beforehand for what a search among `object_count` objects of a tree is likely to need, so that a steady frame takes
/// no memory. False if there was none; the search will ask again for what it needs.
bool clv_kd_search_reserve( kd_search* search, uint32_t object_count );

/// Every pair of objects whose `boxes` overlap and of which at least one is active, once each, in an order that depends on
/// the tree alone. `active` by slot; NULL: all are. Boxes lie within those that the tree was updated with.
clv_result clv_kd_search_run(
    kd_search* search, kd_tree* tree, const clv_aabb* boxes, const uint64_t* active, pair_sink* sink );

/// Every pair of these slots whose boxes overlap, by a sort along one axis; the tree takes no part.
clv_result clv_kd_search_sweep(
    kd_search* search, const clv_aabb* boxes, const uint32_t* slots, uint32_t count, pair_sink* sink );
