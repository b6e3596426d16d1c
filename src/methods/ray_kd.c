// SPDX-License-Identifier: MIT
// The RAY KD-tree of Serpa and Rodrigues (2015), the first of the family: leaves of ten, no sweep, a brute-force test of
// each node's objects against each other and against its list of border objects. It shares the tree in src/methods/kd; its
// operators under their later names: Preparation is Refit, Optimisation Filter, Partition Partition, Prune Collapse,
// Evaluation Evaluate with the balance p/P, Translation Translate, Swap Erase; border objects are external ones.
#include "kd_rows.h"

enum
{
    LEAF,
    PARAM_COUNT
};

static const method_param s_params[PARAM_COUNT] = {
    [LEAF] = { "ray.leaf", 10, 1, 1 << 30, true, "T: objects a leaf may hold before it is split" },
};

typedef struct ray_kd
{
    const method_context* context;
    kd_engine engine;
} ray_kd;

static void* create( const clv_method_context* host )
{
    const method_context* context = NULL;
    ray_kd* self = clv_method_state_take( host, sizeof( ray_kd ), &context );
    if ( self == NULL )
    {
        return NULL;
    }
    kd_rules rules = {
        .mode = KD_MODE_COMPLETE,
        .balance = KD_BALANCE_CHILDREN,
        .leaf_limit = (uint32_t)context->params[LEAF],
        .use_sweep = false,
    };
    self->context = context;
    clv_kd_engine_init( &self->engine, context->memory, clv_simd_method_kernels_for( context->isa ), &rules );
    return self;
}

static void destroy( void* state )
{
    ray_kd* self = state;
    clv_kd_engine_release( &self->engine );
    clv_method_state_give( self->context, sizeof( ray_kd ) );
}

static clv_result update( void* state, const method_input* input, pair_sink* sink, method_counters* counters )
{
    ray_kd* self = state;
    method_stopwatch watch = method_stopwatch_start( self->context );
    kd_crowd crowd = { input->boxes, input->live, input->live_count, NULL };
    if ( input->last_failed )
    {
        clv_kd_engine_distrust( &self->engine );
    }
    clv_result result =
        clv_kd_engine_update( &self->engine, &crowd, input->slot_count, input->members_changed );
    counters->update_ms = method_stopwatch_lap( &watch );
    if ( result != CLV_OK )
    {
        return result;
    }
    result = clv_kd_engine_search( &self->engine, &crowd, sink );
    counters->search_ms = method_stopwatch_lap( &watch );
    counters->test_count = self->engine.search.counters.test_count;
    return result;
}

static void shrink( void* state )
{
    ray_kd* self = state;
    clv_kd_search_release( &self->engine.search );
}

static bool check( void* state, char* text, size_t text_size )
{
    ray_kd* self = state;
    return clv_kd_engine_check( &self->engine, text, text_size );
}

static size_t dump( void* state, char* text, size_t text_size )
{
    ray_kd* self = state;
    return clv_kd_dump( &self->engine.tree, text, text_size );
}

static uint32_t report( void* state, method_figure* figures, uint32_t capacity )
{
    ray_kd* self = state;
    return clv_methods_kd_report( &self->engine, figures, capacity );
}

const method clv_methods_ray_kd = {
    .size = sizeof( method ),
    .version = CLV_METHOD_VERSION,
    .name = "ray-kd",
    .family = "kd-tree",
    .source = "Serpa and Rodrigues, RAY KD-Tree, 2015",
    .licence = "MIT",
    .time_cost = "O(n log(n/T) + k)",
    .space_cost = "O(n)",
    .has_isa = true,
    .is_temporal = true,
    .params = s_params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .update = update,
    .shrink = shrink,
    .check = check,
    .report = report,
    .dump = dump,
};
