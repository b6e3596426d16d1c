// SPDX-License-Identifier: MIT
// Every cell of a uniform grid by sweep and prune; the grid is made anew for every update. "Grid" of Broadmark's
// Table I, without its duplicates: a pair belongs to the cell where it begins.
#include "method/methods.h"

#include "grid/grid_search.h"

enum
{
    PARAM_CELL,
    PARAM_AXES,
    PARAM_COUNT
};

static const method_param s_params[PARAM_COUNT] = {
    { "grid.cell", 64, 1, 1000000, false, "objects per cell, on average" },
    { "grid.axes", 3, 2, 3, true, "axes that are cut: 3, or the 2 longest" },
};

typedef struct grid_sap
{
    const method_context* context;
    grid_search search;
} grid_sap;

static void destroy( void* state )
{
    grid_sap* self = state;
    grid_search_free( &self->search );
    base_memory_give( self->context->memory, self, 1, sizeof( grid_sap ) );
}

static void* create( const method_context* context )
{
    grid_sap* self = base_memory_take( context->memory, 1, sizeof( grid_sap ) );
    if ( self == NULL )
    {
        return NULL;
    }
    self->context = context;
    grid_rules rules = {
        .sweeps = true,
        .objects_per_cell = context->params[PARAM_CELL],
        .dimensions = (int)context->params[PARAM_AXES],
    };
    if ( !grid_search_init( &self->search, context->memory, context->kernels, context->tasks, rules ) )
    {
        destroy( self );
        return NULL;
    }
    return self;
}

static clv_result update( void* state, const method_input* input, pair_sink* sink, method_counters* counters )
{
    grid_sap* self = state;
    method_stopwatch watch = method_stopwatch_start( self->context );
    grid_crowd crowd = { input->boxes, input->live, input->live_count };
    clv_result result = grid_search_build( &self->search, crowd );
    counters->update_ms = method_stopwatch_lap( &watch );
    if ( result == CLV_OK )
    {
        result = grid_search_run( &self->search, sink, &counters->test_count );
        counters->search_ms = method_stopwatch_lap( &watch );
    }
    return result;
}

static void shrink( void* state )
{
    grid_sap* self = state;
    grid_search_shrink( &self->search );
}

const method method_grid_sap = {
    .name = "grid-sap",
    .family = "grid",
    .source = "Broadmark (Serpa and Rodrigues 2019), Table I",
    .licence = "MIT",
    .time_cost = "O(n t^(2/3))",
    .space_cost = "O(n)",
    .has_isa = true,
    .has_threads = true,
    .params = s_params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .update = update,
    .shrink = shrink,
};
