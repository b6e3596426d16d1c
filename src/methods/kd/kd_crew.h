// SPDX-License-Identifier: MIT
// A complete or incremental search by several workers, the papers' future work: objects in different branches
// never touch, so subtrees are pieces of work of their own. Each node of the top of the tree is a piece, and
// so is each subtree below it. What is external to a piece its worker picks from the objects of the nodes
// above, which are gathered once, for all. Pieces are numbered in the order of a depth-first walk and joined
// in it, so the pairs come in the order in which one worker finds them, in any distribution over workers; the
// longest are begun first, and the rows of a leaf that has far more tests to do than others are cut in parts.
#pragma once

#include "kd/kd_search.h"
#include "task/gather.h"

/// What the last search of a node took, a guess for the next.
typedef struct kd_crew_past
{
    uint32_t object_count; ///< 0: there was none
    uint32_t tests;        ///< with its pairs, in tests
    uint32_t external_tests;
} kd_crew_past;

typedef struct kd_crew_piece
{
    uint32_t node;
    uint32_t parent;           ///< piece; KD_NONE at the root
    uint32_t depth;            ///< pieces above it
    uint32_t own;              ///< where its own objects stand in kd_crew.lists, if it is of the top
    uint32_t above;            ///< objects there that are not its own and may reach it
    uint32_t part, part_count; ///< of a leaf that has far more to do than others
    uint32_t object_count;
    uint32_t cost;          ///< a guess, in tests
    uint32_t external_cost; ///< of that, a leaf's externals; afterwards what they cost
    bool is_top;            ///< this node alone; else all below it too
} kd_crew_piece;

/// A worker's search. It takes no memory: that is the calling thread's matter.
typedef struct kd_crew_worker
{
    kd_search search;
    base_memory none;     ///< has none to give
    clv_pair* candidates; ///< pairs of grown boxes, before they are tested
    uint64_t candidate_count;
    kd_search_counters counters; ///< of the pieces that are done
} kd_crew_worker;

typedef struct kd_crew
{
    base_memory* memory;
    task_runner* tasks;
    kd_crew_worker* workers; ///< none until they are needed
    uint32_t worker_count;
    kd_search_needs given; ///< what each of them has room for
    BASE_ARRAY( kd_crew_piece ) pieces;
    BASE_ARRAY( simd_item )
    lists; ///< objects outside the tree, and of the nodes of the top in order of piece
    /// of the top, while it is walked: twice the piece above; one more for its left child
    base_u32_array branches;
    base_u32_array turns;              ///< which worker begins with which piece
    base_u64_array keys;               ///< for that: costs and pieces
    base_u64_array loads;              ///< by worker: the costs of what it begins with
    base_u32_array places, place_ends; ///< by worker: of its turns, the next free one and the end
    BASE_ARRAY( kd_crew_past ) pasts;  ///< by node
    uint64_t cost_sum;                 ///< of the pieces, in the last search
    uint64_t past_tests, past_objects; ///< of all pieces, in the last search
    task_gather gather;
    uint64_t chunks_given;
} kd_crew;

/// `tasks` outlives the crew; NULL: the calling thread alone.
void clv_kd_crew_init( kd_crew* crew, base_memory* memory, task_runner* tasks );
void clv_kd_crew_release( kd_crew* crew );

/// What is to be searched.
typedef struct kd_crew_wish
{
    kd_search* search; ///< the calling thread's; its counters tell of the whole search afterwards
    kd_tree* tree;
    const clv_aabb* boxes;
    const uint64_t* active;
    bool rests;               ///< not all are active
    const clv_aabb* exact;    ///< only pairs whose boxes overlap here go to the sink; NULL: all
    clv_pair* candidates;     ///< KD_CANDIDATES of them, where `exact` is not NULL
    clv_pair_sink* sink;      ///< where they go
    uint64_t candidate_count; ///< afterwards: pairs before `exact` was asked
} kd_crew_wish;

/// The search by all workers: the same pairs in the same order as by one, and the same counters.
clv_result clv_kd_crew_run( kd_crew* crew, kd_crew_wish* wish );
