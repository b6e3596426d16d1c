// SPDX-License-Identifier: MIT
// A complete or incremental search by several workers, the papers' future work: objects in different branches never touch, so
// subtrees are pieces of work of their own. The calling thread walks the top of the tree and makes the lists of externals
// there; each node of the top is a piece, and so is each subtree below it. Pieces are numbered in the order of a
// depth-first walk and joined in it, so the pairs come in the order in which one worker finds them.
#pragma once

#include "kd/kd_exact.h"
#include "kd/kd_search.h"
#include "task/gather.h"

typedef struct kd_crew_piece
{
    kd_search_frame frame; ///< of the lists in kd_crew.lists
    bool is_top;           ///< this node alone; else all below it too
    bool was_tried;        ///< a second call comes from the calling thread, which may take memory
    uint64_t candidate_count;
    kd_search_counters counters;
} kd_crew_piece;

/// A worker's search. It takes no memory: that is the calling thread's matter.
typedef struct kd_crew_worker
{
    kd_search search;
    base_memory none;     ///< has none to give
    clv_pair* candidates; ///< pairs of grown boxes, before they are tested
} kd_crew_worker;

/// A branch still to be walked by the calling thread.
typedef struct kd_crew_branch
{
    uint32_t parent; ///< piece
    bool to_left;
} kd_crew_branch;

typedef struct kd_crew
{
    base_memory* memory;
    task_runner* tasks;
    kd_crew_worker* workers; ///< none until they are needed
    uint32_t worker_count;
    kd_search_needs given; ///< what each of them has room for
    kd_crew_piece* pieces;
    uint64_t piece_capacity;
    uint32_t piece_count;
    simd_item* lists; ///< of the pieces, one behind the other
    uint64_t list_capacity;
    uint32_t list_end;
    kd_crew_branch* branches;
    uint64_t branch_capacity;
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
    pair_sink* sink;          ///< where they go
    uint64_t candidate_count; ///< afterwards: pairs before `exact` was asked
} kd_crew_wish;

/// What clv_kd_search_run does, by all workers: the same pairs in the same order, and the same counters.
clv_result clv_kd_crew_run( kd_crew* crew, kd_crew_wish* wish );
