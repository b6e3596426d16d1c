// SPDX-License-Identifier: MIT
// Every cell of a uniform grid by brute force, or by sweep and prune; the grid is made anew for every update.
// "Grid" of Broadmark's Table I, without its duplicates: a pair belongs to the cell where it begins.
#include "method/method.h"

#include "grid/grid_search.h"

enum
{
    GRID_PARAM_CELL,
    GRID_PARAM_AXES,
    GRID_PARAM_COUNT
};

#define GRID_PARAMS( cell )                                                                                  \
    {                                                                                                        \
        { "grid.cell", cell, 1, 1000000, false, "objects per cell, on average" },                            \
            { "grid.axes", 3, 2, 3, true, "axes that are cut: 3, or the 2 longest" },                        \
    }

static const clv_method_param s_grid_params[GRID_PARAM_COUNT] = GRID_PARAMS( 24 );
static const clv_method_param s_grid_sap_params[GRID_PARAM_COUNT] = GRID_PARAMS( 64 );

typedef struct grid
{
    const method_context* context;
    grid_search search;
} grid;

static bool begin_grid( void* state, int sweeps )
{
    grid* self = state;
    const method_context* context = self->context;
    grid_rules rules = {
        .sweeps = sweeps != 0,
        .objects_per_cell = context->params[GRID_PARAM_CELL],
        .dimensions = (int)context->params[GRID_PARAM_AXES],
    };
    return clv_grid_search_init(
        &self->search, context->memory, clv_simd_method_kernels_for( context->isa ), context->tasks, rules );
}

static void end_grid( void* state )
{
    grid* self = state;
    clv_grid_search_free( &self->search );
}

METHOD_CREATE( create_plain_grid, grid, begin_grid, end_grid, false )
METHOD_CREATE( create_swept_grid, grid, begin_grid, end_grid, true )
METHOD_DESTROY( destroy_grid, grid, end_grid )

static clv_result update_grid(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    grid* self = state;
    method_stopwatch watch = method_stopwatch_start( self->context );
    clv_result result = clv_grid_search_build( &self->search, input );
    counters->update_ms = method_stopwatch_lap( &watch );
    if ( result == CLV_OK )
    {
        result = clv_grid_search_run( &self->search, sink, &counters->test_count );
        counters->search_ms = method_stopwatch_lap( &watch );
    }
    return result;
}

static void shrink_grid( void* state )
{
    grid* self = state;
    clv_grid_search_shrink( &self->search );
}

#define GRID_ROW( row_name, cost, about, row_params, make )                                                  \
    {                                                                                                        \
        METHOD_OWN, .name = ( row_name ), .family = "grid",                                                  \
                    .source = "Broadmark (Serpa and Rodrigues 2019), Table I", .time_cost = ( cost ),        \
                    .space_cost = "O(n)", .remarks = ( about ), .has_isa = true, .has_threads = true,        \
                    .params = ( row_params ), .param_count = GRID_PARAM_COUNT, .create = ( make ),           \
                    .destroy = destroy_grid, .update = update_grid, .shrink = shrink_grid,                   \
    }

const clv_method clv_methods_grid = GRID_ROW(
    "grid", "O(n t)", "t objects per cell, all against all in each", s_grid_params, create_plain_grid );
const clv_method clv_methods_grid_sap = GRID_ROW(
    "grid-sap", "O(n t^(2/3))", "t objects per cell, swept in each", s_grid_sap_params, create_swept_grid );
