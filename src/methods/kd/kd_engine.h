// SPDX-License-Identifier: MIT
// The parts together: tree, search and rest, and the choice between complete and incremental detection
// (sections 3.4 to 3.6). The rows of kd.c differ in the rules alone.
#pragma once

#include "kd/kd_crew.h"
#include "kd/kd_rest.h"
#include "kd/kd_search.h"
#include "kd/kd_tree.h"

// ---- What the tree takes for the world: the region of its root, beyond which lie the far outliers, and the
// size of a usual object. Both stay as they are until the crowd has changed, so that nothing depends on one
// frame's chance.

typedef struct kd_world
{
    float lower[3], upper[3];
    float side;              ///< of a usual box: the median of the finite ones' mean sides, or their mean
    bool is_endless;         ///< all finite boxes belong inside: there is no crowd to be far from
    uint32_t measured_count; ///< objects when it was measured; 0: never
} kd_world;

// ---- Detection when few objects are active: each asks the tree for its own pairs, instead of every node
// being swept. For that a node keeps its objects at rest in the cells of a grid over two axes from frame to
// frame (kd_node.rest_*): they are a stretch of its block in order of cell; whatever stands before and behind
// the stretch is tested one by one. An object is in the one cell where its lower corner lies, and a question
// goes to all cells from which a box may reach it.

/// The pairs of clv_kd_crew_run, for active objects alone; `active` is not NULL and has `active_count` bits.
/// Uses the search's scratch and counters, and puts objects at rest in order where too many are not.
clv_result clv_kd_query_run( kd_search* search, kd_tree* tree, const clv_aabb* boxes, const uint64_t* active,
    uint32_t active_count, clv_pair_sink* sink );

/// Would a question with its own box find the object at rest at order[at], with the box as it is in the tree?
bool clv_kd_query_finds( const kd_tree* tree, uint32_t index, uint32_t at );

/// Forget what is in order, in every node.
void clv_kd_query_forget( kd_tree* tree );

typedef enum kd_mode
{
    KD_MODE_REBUILT,     ///< a new tree every update, complete detection
    KD_MODE_COMPLETE,    ///< the tree is updated, detection is complete
    KD_MODE_INCREMENTAL, ///< the tree is updated, pairs at rest are remembered
    KD_MODE_ADAPTIVE,    ///< incremental above a share of static objects, complete below
} kd_mode;

/// All that differs between the rows of kd.c: set once, when a state is made.
typedef struct kd_rules
{
    kd_mode mode;
    kd_balance balance;
    kd_flow flow;
    uint32_t leaf_limit; ///< T; UINT32_MAX: one leaf ("SAP only")
    kd_search_rules search;
    double epsilon;      ///< growth of boxes, as a part of the usual side
    double static_share; ///< K
    double query_share;  ///< up to this share of active objects each asks for itself; 0: never
    double still;        ///< how far a static object may come in a step; 0: as far as its grown box reaches
    bool is_endless;     ///< the root's region is all of space, and the usual side the mean; else the median
    bool holds_grown;    ///< grown boxes are in the tree in complete detection too
    bool looks_at_all;   ///< at every box and every place in every update, whatever is known of them
} kd_rules;

/// Leaves are counted by depth up to here; the last number is that of all deeper ones.
#define KD_REPORT_DEPTHS 25

/// What the last update did.
typedef struct kd_report
{
    kd_counters tree;
    kd_search_counters search;
    uint64_t cache_count, cache_test_count, candidate_count;
    uint32_t moving_count, active_count;
    uint32_t node_count, leaf_count, height;
    uint32_t inner_object_count; ///< in inner nodes
    uint32_t outside_count;
    uint32_t refused_leaf_count;
    uint32_t leaf_object_count;
    uint32_t leaves_at[KD_REPORT_DEPTHS]; ///< by levels below the root
    uint32_t leaf_fill_least, leaf_fill_most;
    bool was_incremental;
    bool was_by_query;
} kd_report;

typedef struct kd_engine
{
    base_memory* memory;
    kd_rules rules;
    kd_tree tree;
    kd_search search;
    kd_crew crew;
    kd_rest rest;
    kd_world world;
    uint32_t far_count; ///< finite boxes outside, as of the last update
    bool is_sound;      ///< false before the first update and after a failed one: begin anew
    bool was_incremental, was_by_query;
    bool holds_grown; ///< the tree's boxes are the grown ones
    bool is_at_rest;  ///< the last update left every object where it was, so one without motion need not look
    uint64_t keep_most; ///< pairs that may be remembered; set it before an update
    bool has_clock;     ///< time the replay of what is remembered
    double replay_ms;   ///< of the last search; 0 without a clock
    /// updates that go by, adaptively, before pairs are remembered again: there were too many
    uint32_t overfull;
} kd_engine;

/// `tasks` outlives the engine; NULL: the calling thread alone.
void clv_kd_engine_init( kd_engine* engine, base_memory* memory, task_runner* tasks,
    const simd_method_kernels* kernels, const kd_rules* rules );
void clv_kd_engine_release( kd_engine* engine );

/// Before an update: the last search was stopped somewhere, or what it found was of no use. Where that could
/// be seen later, the update begins anew.
void clv_kd_engine_distrust( kd_engine* engine );

/// First half of an update: the tree holds the crowd. Slots are below `slot_count`; `members_changed` if the
/// live ones are others than in the last good update.
clv_result clv_kd_engine_update( kd_engine* engine, const clv_method_input* input );

/// Second half: all overlapping pairs of the same crowd.
clv_result clv_kd_engine_search( kd_engine* engine, const clv_method_input* input, clv_pair_sink* sink );

/// Between updates the caller's boxes may have changed already, so what needs them is checked by debug builds
/// alone, at the end of clv_kd_engine_update.
bool clv_kd_engine_check( kd_engine* engine, char* text, size_t text_size );

kd_report clv_kd_engine_report( kd_engine* engine );
