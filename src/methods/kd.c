// SPDX-License-Identifier: MIT
// The KD-tree of Serpa and Rodrigues (CGF 2019) in its four variants; figure 12 of the paper compares them.
#include "kd/kd_engine.h"
#include "method/method.h"

// ---- what the rows that stand on a kd_engine share; they differ in their parameters and rules

// Parameters that `kd` and `kd-paper` have in common come first in both.
enum
{
    METHODS_KD_LEAF,
    METHODS_KD_EPSILON,
    METHODS_KD_STATIC,
    METHODS_KD_TREE,
    METHODS_KD_SAP,
    METHODS_KD_SHARED ///< their number
};

typedef struct kd_method
{
    const method_context* context;
    kd_engine engine;
} kd_method;

static void kd_row_begin( kd_method* self, clv_isa isa, const kd_rules* rules )
{
    clv_kd_engine_init( &self->engine, self->context->memory, self->context->tasks,
        clv_simd_method_kernels_for( isa ), rules );
    self->engine.has_clock = self->context->stage_times;
}

static kd_rules kd_row_rules( const double* params, kd_mode mode )
{
    return ( kd_rules ){
        .mode = mode,
        .balance = KD_BALANCE_ALL,
        .leaf_limit = params[METHODS_KD_TREE] != 0 ? (uint32_t)params[METHODS_KD_LEAF] : UINT32_MAX,
        .epsilon = params[METHODS_KD_EPSILON],
        .static_share = params[METHODS_KD_STATIC],
    };
}

static void kd_row_end( void* state )
{
    kd_method* self = state;
    clv_kd_engine_release( &self->engine );
}

METHOD_DESTROY( kd_row_destroy, kd_method, kd_row_end )

static clv_result kd_row_update(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    kd_method* self = state;
    method_stopwatch watch = method_stopwatch_start( self->context );
    self->engine.keep_most = input->keep_most;
    if ( input->last_failed )
    {
        clv_kd_engine_distrust( &self->engine );
    }
    bool is_anew = !self->engine.is_sound || self->engine.rules.mode == KD_MODE_REBUILT;
    *self->context->host->reasons |= is_anew ? CLV_REASON_TREE : 0;
    clv_result result = clv_kd_engine_update( &self->engine, input );
    counters->update_ms = method_stopwatch_lap( &watch );
    if ( result != CLV_OK )
    {
        return result;
    }
    result = clv_kd_engine_search( &self->engine, input, sink );
    counters->clean_ms = self->engine.replay_ms;
    counters->search_ms = method_stopwatch_lap( &watch ) - counters->clean_ms;
    counters->test_count = self->engine.search.counters.test_count;
    if ( self->engine.was_incremental )
    {
        counters->test_count += self->engine.rest.cache_test_count;
    }
    return result;
}

static void kd_row_shrink( void* state )
{
    kd_method* self = state;
    clv_kd_search_release( &self->engine.search );
    clv_kd_crew_release( &self->engine.crew );
    clv_kd_rest_shrink( &self->engine.rest );
}

static bool kd_row_check( void* state, char* text, size_t text_size )
{
    kd_method* self = state;
    return clv_kd_engine_check( &self->engine, text, text_size );
}

static size_t kd_row_dump( void* state, char* text, size_t text_size )
{
    kd_method* self = state;
    return clv_kd_dump( &self->engine.tree, text, text_size );
}

static void report_tree( const kd_report* r, method_figure_list* list )
{
    method_figure_add( list, "refit objects", (double)r->tree.refit_count );
    method_figure_add( list, "filter objects", (double)r->tree.filter_count );
    method_figure_add( list, "shifted objects", (double)r->tree.shift_count );
    method_figure_add( list, "partitions", (double)r->tree.partition_count );
    method_figure_add( list, "refusals", (double)r->tree.refusal_count );
    method_figure_add( list, "collapses", (double)r->tree.collapse_count );
    method_figure_add( list, "evaluations", (double)r->tree.evaluate_count );
    method_figure_add( list, "translations", (double)r->tree.translate_count );
    method_figure_add( list, "erasures", (double)r->tree.erase_count );
    method_figure_add( list, "nodes", r->node_count );
    method_figure_add( list, "leaves", r->leaf_count );
    method_figure_add( list, "height", r->height );
    method_figure_add( list, "leaf fill least", r->leaf_fill_least );
    method_figure_add( list, "leaf fill most", r->leaf_fill_most );
    method_figure_add( list, "refused leaves", r->refused_leaf_count );
    method_figure_add( list, "objects in leaves", r->leaf_object_count );
    method_figure_add( list, "objects in inner nodes", r->inner_object_count );
    method_figure_add( list, "objects outside", r->outside_count );
    static const char* const depths[KD_REPORT_DEPTHS] = {
#define AT( depth ) "leaves at depth " #depth
        AT( 0 ), AT( 1 ), AT( 2 ), AT( 3 ), AT( 4 ), AT( 5 ), AT( 6 ), AT( 7 ), AT( 8 ), AT( 9 ), AT( 10 ),
        AT( 11 ), AT( 12 ), AT( 13 ), AT( 14 ), AT( 15 ), AT( 16 ), AT( 17 ), AT( 18 ), AT( 19 ), AT( 20 ),
        AT( 21 ), AT( 22 ), AT( 23 ), "leaves deeper"
#undef AT
    };
    for ( uint32_t depth = 0; depth < KD_REPORT_DEPTHS; ++depth )
    {
        method_figure_add( list, depths[depth], r->leaves_at[depth] );
    }
}

static void report_search( const kd_report* r, uint64_t members, method_figure_list* list )
{
    uint64_t all_pairs = members > 0 ? members * ( members - 1 ) / 2 : 0;
    uint64_t tested = r->search.tree_pair_count - r->search.static_pair_count;
    method_figure_add( list, "moving objects", r->moving_count );
    method_figure_add( list, "active objects", r->active_count );
    method_figure_add( list, "incremental", r->was_incremental );
    method_figure_add( list, "by query", r->was_by_query );
    method_figure_add( list, "nodes searched", (double)r->search.node_count );
    method_figure_add( list, "external objects", (double)r->search.external_count );
    method_figure_add( list, "pairs pruned by the tree", (double)( all_pairs - r->search.tree_pair_count ) );
    method_figure_add( list, "pairs pruned at rest", (double)r->search.static_pair_count );
    method_figure_add( list, "pairs pruned by the sweep", (double)( tested - r->search.test_count ) );
    method_figure_add( list, "pairs tested", (double)r->search.test_count );
    method_figure_add( list, "candidates", (double)r->candidate_count );
    method_figure_add( list, "cached pairs", (double)r->cache_count );
}

static void report_batches( const kd_batches* batches, method_figure_list* list )
{
    static const char* const names[KD_BATCH_BINS] = { "batches of 1", "batches to 2", "batches to 4",
        "batches to 8", "batches to 16", "batches to 32", "batches to 64", "batches to 128", "batches to 256",
        "batches to 512", "batches longer" };
    method_figure_add( list, "batches", (double)batches->count );
    method_figure_add( list, "batch tests", (double)batches->test_count );
    for ( uint32_t bin = 0; bin < KD_BATCH_BINS; ++bin )
    {
        method_figure_add( list, names[bin], (double)batches->bins[bin] );
    }
}

static uint32_t kd_row_report( void* state, clv_method_figure* figures, uint32_t capacity )
{
    kd_engine* engine = &( (kd_method*)state )->engine;
    kd_report r = clv_kd_engine_report( engine );
    method_figure_list list = { figures, capacity, 0 };
    report_tree( &r, &list );
    report_search( &r, (uint64_t)engine->tree.count + engine->tree.outside_count, &list );
    report_batches( &r.search.batches, &list );
    return list.count;
}

// The four that rows need, one for each way of detecting: begin_<name> takes the mode.
#define METHODS_KD_CREATES( name )                                                                           \
    METHOD_CREATE( create_##name##_rebuilt, kd_method, begin_##name, kd_row_end, KD_MODE_REBUILT )           \
    METHOD_CREATE( create_##name##_complete, kd_method, begin_##name, kd_row_end, KD_MODE_COMPLETE )         \
    METHOD_CREATE( create_##name##_incremental, kd_method, begin_##name, kd_row_end, KD_MODE_INCREMENTAL )   \
    METHOD_CREATE( create_##name##_adaptive, kd_method, begin_##name, kd_row_end, KD_MODE_ADAPTIVE )

// The row of a KD-tree. `temporal`: something is carried from update to update; `rests`: it uses the set of
// moved boxes.
#define METHODS_KD_ROW(                                                                                      \
    row_name, row_source, row_remarks, row_params, row_param_count, row_create, temporal, rests )            \
    {                                                                                                        \
        METHOD_OWN, .name = ( row_name ), .family = "kd-tree", .source = ( row_source ),                     \
                    .time_cost = "O(n log(n/T) + k)", .space_cost = "O(n)", .remarks = ( row_remarks ),      \
                    .has_isa = true, .has_threads = true, .is_temporal = ( temporal ),                       \
                    .wants_moved = ( rests ), .params = ( row_params ), .param_count = ( row_param_count ),  \
                    .create = ( row_create ), .destroy = kd_row_destroy, .update = kd_row_update,            \
                    .shrink = kd_row_shrink, .check = kd_row_check, .report = kd_row_report,                 \
                    .dump = kd_row_dump                                                                      \
    }

// ---- kd

enum
{
    KD_PARAM_QUERY = METHODS_KD_SHARED,
    KD_PARAM_SMALL,
    KD_PARAM_BATCHES,
    KD_PARAM_COUNT
};

static const clv_method_param s_kd_params[KD_PARAM_COUNT] = {
    [METHODS_KD_LEAF] = { "kd.leaf", 8192, 1, 1 << 30, true,
        "T: objects a leaf may hold before it is split" },
    [METHODS_KD_EPSILON] = { "kd.epsilon", 0.01, 0, 1, false,
        "growth of a box at rest, as a part of the median side" },
    [METHODS_KD_STATIC] = { "kd.static", 0.6, 0, 1, false,
        "K: kd detects incrementally above this share of static objects" },
    [METHODS_KD_TREE] = { "kd.tree", 1, 0, 1, true, "0: one leaf for all, the sweep alone prunes" },
    [METHODS_KD_SAP] = { "kd.sap", 1, 0, 1, true, "0: brute force in the nodes, the tree alone prunes" },
    [KD_PARAM_QUERY] = { "kd.query", 0.0625, 0, 1, false,
        "incremental: up to this share of active objects each asks the tree; above, nodes are swept" },
    [KD_PARAM_SMALL] = { "kd.small", 1, 0, 1, true, "0: sorted lists in the nodes instead of small boxes" },
    [KD_PARAM_BATCHES] = { "kd.batches", 0, 0, 1, true,
        "1: count the lengths of the sweeps' batches, which costs time" },
};

static bool begin_kd( void* state, int mode )
{
    const method_context* context = ( (kd_method*)state )->context;
    const double* params = context->params;
    kd_rules rules = kd_row_rules( params, (kd_mode)mode );
    rules.query_share = params[KD_PARAM_QUERY];
    kd_sweep sweep = params[KD_PARAM_SMALL] != 0 ? KD_SWEEP_SMALL : KD_SWEEP_SORTED;
    rules.search.sweep = params[METHODS_KD_SAP] != 0 ? sweep : KD_SWEEP_NONE;
    rules.search.count_batches = params[KD_PARAM_BATCHES] != 0;
    kd_row_begin( state, context->isa, &rules );
    return true;
}

METHODS_KD_CREATES( kd )

#define KD_ROW( row_name, about, row_create, temporal, rests )                                               \
    METHODS_KD_ROW( row_name, "Serpa and Rodrigues, CGF 2019", about, s_kd_params, KD_PARAM_COUNT,           \
        row_create, temporal, rests )

const clv_method clv_methods_kd_rebuilt =
    KD_ROW( "kd-rebuilt", "new tree every frame", create_kd_rebuilt, false, false );
const clv_method clv_methods_kd_complete =
    KD_ROW( "kd-complete", "persistent tree", create_kd_complete, true, false );
const clv_method clv_methods_kd_incremental =
    KD_ROW( "kd-incremental", "persistent tree, pairs at rest are kept", create_kd_incremental, true, true );
const clv_method clv_methods_kd = KD_ROW( "kd", "persistent tree, adaptive", create_kd_adaptive, true, true );

// ---- The KD-tree as its papers have it, for comparing with kd, which is ours on the same tree: Serpa and
// Rodrigues, "Flexible Use of Temporal and Spatial Reasoning for Fast and Scalable CPU Broad-Phase Collision
// Detection Using KD-Trees" (CGF 2019), with the options of its kin: leaves of 256 and K = 55 % of the
// Portuguese one, the speed rule of Broadmark's. Exact like every method: where the papers lose pairs, this
// row does not follow them; docs/kd.md lists those places.

enum
{
    PAPER_PARAM_SIMD = METHODS_KD_SHARED,
    PAPER_PARAM_SPEED,
    PAPER_PARAM_STEP,
    PAPER_PARAM_BATCHES,
    PAPER_PARAM_COUNT
};

static const clv_method_param s_paper_params[PAPER_PARAM_COUNT] = {
    [METHODS_KD_LEAF] = { "kd.leaf", 512, 1, 1 << 30, true, "T: objects a leaf may hold before it is split" },
    [METHODS_KD_EPSILON] = { "kd.epsilon", 0.01, 0, 1, false, "growth of a box, as a part of the mean side" },
    [METHODS_KD_STATIC] = { "kd.static", 0.6, 0, 1, false,
        "K: kd-paper detects incrementally above this share of static objects" },
    [METHODS_KD_TREE] = { "kd.tree", 1, 0, 1, true, "0: one leaf for all, the sweep alone prunes" },
    [METHODS_KD_SAP] = { "kd.sap", 1, 0, 1, true, "0: brute force in the nodes, the tree alone prunes" },
    [PAPER_PARAM_SIMD] = { "kd.simd", 1, 0, 1, true, "0: one pair at a time, whatever the instruction set" },
    [PAPER_PARAM_SPEED] = { "kd.speed", 0, 0, 1e9, false,
        "objects from this speed on are not static, in units a second; 0: the grown box alone decides" },
    [PAPER_PARAM_STEP] = { "kd.step", 1.0 / 30, 1e-9, 1e9, false, "seconds from one update to the next" },
    [PAPER_PARAM_BATCHES] = { "kd.batches", 0, 0, 1, true,
        "1: count the lengths of the sweeps' batches, which costs time" },
};

static bool begin_paper( void* state, int mode )
{
    const method_context* context = ( (kd_method*)state )->context;
    const double* params = context->params;
    kd_rules rules = kd_row_rules( params, (kd_mode)mode );
    rules.flow = KD_FLOW_2019;
    rules.still = params[PAPER_PARAM_SPEED] * params[PAPER_PARAM_STEP];
    rules.is_endless = true;
    rules.holds_grown = true;
    rules.looks_at_all = true;
    rules.search = ( kd_search_rules ){
        .sweep = params[METHODS_KD_SAP] != 0 ? KD_SWEEP_SORTED : KD_SWEEP_NONE,
        .by_variance = true,
        .is_quick = true,
        .keeps_order = true,
        .count_batches = params[PAPER_PARAM_BATCHES] != 0,
    };
    kd_row_begin( state, params[PAPER_PARAM_SIMD] != 0 ? context->isa : CLV_ISA_SCALAR, &rules );
    return true;
}

METHODS_KD_CREATES( paper )

#define PAPER_ROW( row_name, about, row_create, temporal )                                                   \
    METHODS_KD_ROW( row_name, "Serpa and Rodrigues, CGF 2019, as published", about, s_paper_params,          \
        PAPER_PARAM_COUNT, row_create, temporal, false )

// None uses the set of moved boxes: the papers look at every box.
const clv_method clv_methods_kd_paper_rebuilt =
    PAPER_ROW( "kd-paper-rebuilt", "new tree every frame", create_paper_rebuilt, false );
const clv_method clv_methods_kd_paper_complete =
    PAPER_ROW( "kd-paper-complete", "persistent tree", create_paper_complete, true );
const clv_method clv_methods_kd_paper_incremental = PAPER_ROW(
    "kd-paper-incremental", "persistent tree, pairs at rest are kept", create_paper_incremental, true );
const clv_method clv_methods_kd_paper =
    PAPER_ROW( "kd-paper", "persistent tree, adaptive", create_paper_adaptive, true );

// ---- The RAY KD-tree of Serpa and Rodrigues (2015), the first of the family: leaves of ten, no sweep, a
// brute-force test of each node's objects against each other and against its list of border objects. It
// shares the tree in src/methods/kd; its operators under their later names: Preparation is Refit,
// Optimisation Filter, Partition Partition, Prune Collapse, Evaluation Evaluate with the balance p/P,
// Translation Translate, Swap Erase; border objects are external ones.

enum
{
    RAY_PARAM_LEAF,
    RAY_PARAM_COUNT
};

static const clv_method_param s_ray_params[RAY_PARAM_COUNT] = {
    [RAY_PARAM_LEAF] = { "ray.leaf", 10, 1, 1 << 30, true, "T: objects a leaf may hold before it is split" },
};

static bool begin_ray( void* state, int variant )
{
    (void)variant;
    const method_context* context = ( (kd_method*)state )->context;
    kd_rules rules = {
        .mode = KD_MODE_COMPLETE,
        .balance = KD_BALANCE_CHILDREN,
        .flow = KD_FLOW_2015,
        .leaf_limit = (uint32_t)context->params[RAY_PARAM_LEAF],
        .search = { .sweep = KD_SWEEP_NONE },
    };
    kd_row_begin( state, context->isa, &rules );
    return true;
}

METHOD_CREATE( create_ray, kd_method, begin_ray, kd_row_end, 0 )

const clv_method clv_methods_ray_kd = METHODS_KD_ROW( "ray-kd", "Serpa and Rodrigues, RAY KD-Tree, 2015",
    "persistent tree", s_ray_params, RAY_PARAM_COUNT, create_ray, true, false );
