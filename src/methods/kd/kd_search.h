// SPDX-License-Identifier: MIT
// Detection, sections 3.1 and 3.3: top-down, each node's own objects against each other and against the
// external ones that reach into its region from above, by sweep and prune along the node's best axis.
#pragma once

#include "kd/kd_tree.h"
#include "pair/sink.h"
#include "simd/method_kernels.h"
#include "sweep/box_items.h"
#include "sweep/small_boxes.h"

// ---- How long the batches are that the sweeps hand to the kernels: one object, and all others in reach
// along the axis. Figure 11 of the paper explains the small gain of wide instructions by them. Counting walks
// the lists once more, so it is done where a setting asks for it alone.

/// Bin i holds batches of up to 2^i tests; the last one all longer ones.
#define KD_BATCH_BINS 11

typedef struct kd_batches
{
    uint64_t count; ///< of at least one test
    uint64_t test_count;
    uint64_t bins[KD_BATCH_BINS];
} kd_batches;

void clv_kd_batches_add( kd_batches* batches, uint32_t length );

// ---- A sink on the way to another that lets those pairs pass whose boxes overlap: a search of grown boxes
// finds too many.

enum
{
    KD_CANDIDATES = 2048 // 16 KiB: they are still in the first-level cache when they are looked at
};

typedef struct kd_exact_sink
{
    clv_pair_sink sink; ///< hand this to the search
    clv_pair_sink* out;
    const clv_aabb* boxes; ///< NULL: all pass, and the search may have `out` itself
    const simd_method_kernels* kernels;
    uint64_t passed; ///< candidates so far
} kd_exact_sink;

/// What the search is to write to.
static inline clv_pair_sink* kd_exact_in( kd_exact_sink* exact )
{
    return exact->boxes != NULL ? &exact->sink : exact->out;
}

static inline clv_result kd_exact_pass( clv_pair_sink* sink )
{
    kd_exact_sink* self = (kd_exact_sink*)sink;
    self->passed += sink->count;
    uint32_t kept =
        self->kernels->keep_overlapping( self->boxes, sink->pairs, (uint32_t)sink->count, sink->pairs );
    sink->count = 0;
    return clv_pair_sink_put_all( self->out, sink->pairs, kept );
}

/// `candidates` is KD_CANDIDATES long.
static inline kd_exact_sink kd_exact_open(
    const simd_method_kernels* kernels, const clv_aabb* boxes, clv_pair* candidates, clv_pair_sink* out )
{
    return ( kd_exact_sink ){
        .sink = { .pairs = candidates, .capacity = KD_CANDIDATES, .make_room = kd_exact_pass },
        .out = out,
        .boxes = boxes,
        .kernels = kernels,
    };
}

/// After the search: the last candidates.
static inline clv_result kd_exact_close( kd_exact_sink* sink )
{
    return sink->boxes != NULL ? kd_exact_pass( &sink->sink ) : CLV_OK;
}

/// How a node's lists are searched.
typedef enum kd_sweep
{
    KD_SWEEP_NONE,   ///< every object against every other ("KD only")
    KD_SWEEP_SORTED, ///< sorted by lower bound, as in the paper
    KD_SWEEP_SMALL,  ///< buckets of small boxes, and sorted only where these are crowded
} kd_sweep;

/// What differs from row to row in a search.
typedef struct kd_search_rules
{
    kd_sweep sweep;
    /// sort along the axis on which own objects vary most; else where they are short against that
    bool by_variance;
    bool is_quick;      ///< sort by quick-sort, else by counting
    bool keeps_order;   ///< leave the objects of a node in the order of its sweep, for the next one
    bool count_batches; ///< fill counters.batches
} kd_search_rules;

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

/// Marks of items and lists.
enum
{
    KD_MARK_REST = 0,
    KD_MARK_ACTIVE = 1
};

enum
{
    KD_SMALL_MOST = 8192 // own objects of a node that a small grid does for; more are sorted
};

/// The most that any node asked for, whether it got it or not: what several workers are given beforehand.
typedef enum kd_need
{
    KD_NEED_ARENA,     ///< items
    KD_NEED_OWN,       ///< objects of a node
    KD_NEED_DEPTH,     ///< of the frames
    KD_NEED_EXTERNALS, ///< of a node
    KD_NEED_SORTED,    ///< entries of a list that was sorted or tested one by one
    KD_NEED_ROWS,      ///< of small boxes: an external one has a row in every strip it reaches
    KD_NEED_COUNT
} kd_need;

typedef struct kd_search_needs
{
    uint64_t of[KD_NEED_COUNT];
} kd_search_needs;

static inline void kd_need_at_least( kd_search_needs* needs, kd_need need, uint64_t count )
{
    needs->of[need] = count > needs->of[need] ? count : needs->of[need];
}

typedef struct kd_search
{
    base_memory* memory;
    const simd_method_kernels* kernels;
    kd_search_rules rules;

    sweep_sorter sorter;
    BASE_ARRAY( simd_small_item ) steps; ///< of a node that is being put in order
    BASE_ARRAY( simd_item ) arena;       ///< lists of the path from the root, one behind the other
    BASE_ARRAY( kd_search_frame ) frames;
    base_u32_array active_counts; ///< by node, of its subtree
    sweep_small small[2];         ///< own objects: at rest, active
    sweep_sorted own, external;   ///< lists that are sorted
    kd_search_counters counters;
    kd_search_needs needs;
    uint64_t external_tests; ///< of the last node: what its externals cost
} kd_search;

/// One search: what it needs everywhere.
typedef struct kd_search_job
{
    kd_search* search;
    kd_tree* tree;
    const clv_aabb* boxes;
    const uint64_t* active;        ///< by slot; NULL: all are
    const uint32_t* active_counts; ///< by node, of its subtree; where `active` is not NULL
    clv_pair_sink* sink;

    /// For several workers in one leaf: so many rows of its own objects are this search's, and the last part
    /// has the externals too. The others need not be given these. Fewer than two parts: all is.
    uint32_t part, part_count;
    uint64_t external_tests; ///< a guess at what the externals cost, for which the last part has fewer rows
} kd_search_job;

/// A node and the lists to be searched in it.
typedef struct kd_node_lists
{
    kd_node* node;
    const simd_item* externals;
    uint32_t external_count;
    simd_item* own; ///< room for them, if they are not gathered yet
    uint32_t own_count;
    bool is_gathered;
} kd_node_lists;

/// Which boxes reach into a node past the planes above it: those with lower <= lower_most and upper >=
/// upper_least on all axes.
typedef struct kd_reach
{
    float lower_most[3], upper_least[3];
} kd_reach;

static inline uint64_t kd_pairs_of( uint64_t count )
{
    return count > 0 ? count * ( count - 1 ) / 2 : 0;
}

void clv_kd_search_init( kd_search* search, base_memory* memory, const simd_method_kernels* kernels,
    const kd_search_rules* rules );
void clv_kd_search_release( kd_search* search );

/// Room beforehand for what a search among `object_count` objects of a tree is likely to need, so that a
/// steady frame takes no memory. False if there was none; the search will ask again for what it needs.
bool clv_kd_search_reserve( kd_search* search, uint32_t object_count );

/// Room for so much; `rests` if some objects are at rest.
bool clv_kd_search_equip( kd_search* search, const kd_search_needs* needs, bool rests );

/// Where more memory comes from, and whether there is any.
void clv_kd_search_use_memory( kd_search* search, base_memory* memory );

// ---- the parts of a run, for kd_crew.c: every pair of objects whose boxes overlap and of which at least one
// is active, once each, in an order that depends on the tree alone. Boxes lie within those that the tree was
// updated with.

/// First: which objects are active below each node, the pairs of the objects outside, and these as items in
/// search->arena. Sets job->active_counts.
clv_result clv_kd_search_begin( kd_search_job* job );

/// Then, for a walk of the whole tree: its root, with the objects outside as externals.
kd_search_frame clv_kd_search_root( const kd_search_job* job );

/// Last: nodes whose order changed take it, unless the search failed. Until then it waits in tree->spare, so
/// that a part of the search that is done again finds every list as it was.
void clv_kd_search_end( kd_search_job* job, bool is_done );

/// A node and all below it, depth first. Its externals are in the arena of job->search, from frame.begin on,
/// and nothing else is behind frame.end.
clv_result clv_kd_search_walk( const kd_search_job* job, kd_search_frame frame );

/// Those of the items that reach into a node, behind the `*kept` that are in the arena already; without those
/// at rest, if they have nothing to find there. False if out of memory.
bool clv_kd_search_add_externals( kd_search* search, const kd_reach* reach, bool keep_rest,
    const simd_item* items, uint32_t count, uint32_t* kept );

/// Is there nothing to find in this subtree unless something active reaches into it?
bool clv_kd_search_is_idle( const kd_search_job* job, uint32_t node );

void clv_kd_search_gather(
    const kd_search_job* job, const uint32_t* slots, uint32_t count, simd_item* items );

/// The pairs of one node; kd_node_search.c.
clv_result clv_kd_node_search( const kd_search_job* job, const kd_node_lists* lists );

uint32_t clv_kd_count_active( const simd_item* items, uint32_t count );

/// All pairs of search->own, or of small boxes, into the sink; of search->own those with a mover alone, where
/// that is asked for.
clv_result clv_kd_sweep_sorted( kd_search* search, bool movers_alone, clv_pair_sink* sink );
clv_result clv_kd_sweep_small( kd_search* search, const simd_small_boxes* boxes, clv_pair_sink* sink );

/// Every pair of these slots whose boxes overlap, by a sort along one axis; the tree takes no part.
clv_result clv_kd_search_sweep(
    kd_search* search, const clv_aabb* boxes, const uint32_t* slots, uint32_t count, clv_pair_sink* sink );
