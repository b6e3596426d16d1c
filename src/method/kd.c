// SPDX-License-Identifier: MIT
// The KD-tree of Serpa and Rodrigues (CGF 2019) in its four variants; figure 12 of the paper compares them.
#include "kd/kd_engine.h"
#include "method/methods.h"

#include <string.h>

enum
{
    LEAF,
    EPSILON,
    STATIC,
    TREE,
    SAP,
    QUERY,
    PARAM_COUNT
};

static const method_param s_params[PARAM_COUNT] = {
    [LEAF] = { "kd.leaf", 8192, 1, 1 << 30, true, "T: objects a leaf may hold before it is split" },
    [EPSILON] = { "kd.epsilon", 0.01, 0, 1, false, "growth of a box at rest, as a part of the median side" },
    [STATIC] = { "kd.static", 0.6, 0, 1, false,
        "K: kd detects incrementally above this share of static objects" },
    [TREE] = { "kd.tree", 1, 0, 1, true, "0: one leaf for all, the sweep alone prunes" },
    [SAP] = { "kd.sap", 1, 0, 1, true, "0: brute force in the nodes, the tree alone prunes" },
    [QUERY] = { "kd.query", 0.03125, 0, 1, false,
        "incremental: up to this share of active objects each asks the tree; above, nodes are swept" },
};

typedef struct kd_method
{
    const method_context* context;
    kd_engine engine;
} kd_method;

static void* create( const method_context* context, kd_mode mode )
{
    kd_method* self = base_memory_take( context->memory, 1, sizeof( kd_method ) );
    if ( self == NULL )
    {
        return NULL;
    }
    const double* params = context->params;
    kd_rules rules = {
        .mode = mode,
        .balance = KD_BALANCE_ALL,
        .leaf_limit = params[TREE] != 0 ? (uint32_t)params[LEAF] : UINT32_MAX,
        .use_sweep = params[SAP] != 0,
        .epsilon = params[EPSILON],
        .static_share = params[STATIC],
        .query_share = params[QUERY],
    };
    self->context = context;
    kd_engine_init( &self->engine, context->memory, context->kernels, &rules );
    return self;
}

static void* create_rebuilt( const method_context* context )
{
    return create( context, KD_MODE_REBUILT );
}

static void* create_complete( const method_context* context )
{
    return create( context, KD_MODE_COMPLETE );
}

static void* create_incremental( const method_context* context )
{
    return create( context, KD_MODE_INCREMENTAL );
}

static void* create_adaptive( const method_context* context )
{
    return create( context, KD_MODE_ADAPTIVE );
}

static void destroy( void* state )
{
    kd_method* self = state;
    base_memory* memory = self->context->memory;
    kd_engine_release( &self->engine );
    base_memory_give( memory, self, 1, sizeof( kd_method ) );
}

static clv_result update( void* state, const method_input* input, pair_sink* sink, method_counters* counters )
{
    kd_method* self = state;
    method_stopwatch watch = method_stopwatch_start( self->context );
    kd_crowd crowd = { input->boxes, input->live, input->live_count, input->moved };
    clv_result result = kd_engine_update( &self->engine, &crowd, input->slot_count, input->members_changed );
    counters->update_ms = method_stopwatch_lap( &watch );
    if ( result != CLV_OK )
    {
        return result;
    }
    result = kd_engine_search( &self->engine, &crowd, sink );
    counters->search_ms = method_stopwatch_lap( &watch );
    counters->test_count = self->engine.search.counters.test_count;
    if ( self->engine.was_incremental )
    {
        counters->test_count += self->engine.rest.cache_test_count;
    }
    return result;
}

static void shrink( void* state )
{
    kd_method* self = state;
    kd_search_release( &self->engine.search );
}

static bool check( void* state, char* text, size_t text_size )
{
    kd_method* self = state;
    return kd_engine_check( &self->engine, text, text_size );
}

static uint32_t report( void* state, method_figure* figures, uint32_t capacity )
{
    kd_method* self = state;
    return method_report_kd( &self->engine, figures, capacity );
}

uint32_t method_report_kd( kd_engine* engine, method_figure* figures, uint32_t capacity )
{
    kd_report r = kd_engine_report( engine );
    uint64_t members = (uint64_t)engine->tree.count + engine->tree.outside_count;
    uint64_t all_pairs = members > 0 ? members * ( members - 1 ) / 2 : 0;
    uint64_t tested = r.search.tree_pair_count - r.search.static_pair_count;
    const method_figure all[] = {
        { "refit objects", (double)r.tree.refit_count },
        { "filter objects", (double)r.tree.filter_count },
        { "shifted objects", (double)r.tree.shift_count },
        { "partitions", (double)r.tree.partition_count },
        { "refusals", (double)r.tree.refusal_count },
        { "collapses", (double)r.tree.collapse_count },
        { "evaluations", (double)r.tree.evaluate_count },
        { "translations", (double)r.tree.translate_count },
        { "erasures", (double)r.tree.erase_count },
        { "nodes", r.node_count },
        { "leaves", r.leaf_count },
        { "height", r.height },
        { "leaf fill least", r.leaf_fill_least },
        { "leaf fill most", r.leaf_fill_most },
        { "refused leaves", r.refused_leaf_count },
        { "objects in inner nodes", r.inner_object_count },
        { "objects outside", r.outside_count },
        { "moving objects", r.moving_count },
        { "active objects", r.active_count },
        { "incremental", r.was_incremental },
        { "by query", r.was_by_query },
        { "nodes searched", (double)r.search.node_count },
        { "external objects", (double)r.search.external_count },
        { "pairs pruned by the tree", (double)( all_pairs - r.search.tree_pair_count ) },
        { "pairs pruned at rest", (double)r.search.static_pair_count },
        { "pairs pruned by the sweep", (double)( tested - r.search.test_count ) },
        { "pairs tested", (double)r.search.test_count },
        { "candidates", (double)r.candidate_count },
        { "cached pairs", (double)r.cache_count },
    };
    uint32_t count = (uint32_t)( sizeof( all ) / sizeof( all[0] ) );
    memcpy( figures, all, ( count < capacity ? count : capacity ) * sizeof( method_figure ) );
    return count;
}

#define KD_ROW( row_name, row_create, temporal, rests )                                                      \
    {                                                                                                        \
        .name = row_name, .family = "kd-tree", .source = "Serpa and Rodrigues, CGF 2019", .licence = "MIT",  \
        .time_cost = "O(n log(n/T) + k)", .space_cost = "O(n)", .has_isa = true, .is_temporal = temporal,    \
        .wants_moved = rests, .params = s_params, .param_count = PARAM_COUNT, .create = row_create,          \
        .destroy = destroy, .update = update, .shrink = shrink, .check = check, .report = report             \
    }

const method method_kd_rebuilt = KD_ROW( "kd-rebuilt", create_rebuilt, false, false );
const method method_kd_complete = KD_ROW( "kd-complete", create_complete, true, false );
const method method_kd_incremental = KD_ROW( "kd-incremental", create_incremental, true, true );
const method method_kd = KD_ROW( "kd", create_adaptive, true, true );
