// SPDX-License-Identifier: MIT
// The method behind a default space: blocks of cells (docs/engine.md), and brute force while there are so few boxes that
// any order costs more than it saves. The choice depends on the number of objects alone.
#include "method/methods.h"

#include "engine/world.h"

// There is nothing to tune: these are for tests, which make blocks small so that few boxes fill many.
static const method_param s_params[] = {
    { "cleave.few", 200, 0, 1e6, true, "boxes up to which brute force is quicker" },
    { "cleave.block", 16384, 16, 1e6, true, "boxes in a block, about" },
};

enum
{
    PARAM_FEW,
    PARAM_BLOCK,
    PARAM_COUNT
};

typedef struct engine
{
    const method_context* context;
    void* few;
    block_world many;
    bool was_many; // the last update went through blocks, to its end
} engine;

static void destroy( void* state )
{
    engine* self = state;
    if ( self->few != NULL )
    {
        method_brute.destroy( self->few );
    }
    block_world_release( &self->many );
    base_memory_give( self->context->memory, self, 1, sizeof( engine ) );
}

static void* create( const method_context* context )
{
    engine* self = base_memory_take( context->memory, 1, sizeof( engine ) );
    if ( self == NULL )
    {
        return NULL;
    }
    self->context = context;
    self->was_many = false;
    self->few = method_brute.create( context );
    block_world_init( &self->many, context->memory, context->kernels, context->tasks,
        (uint32_t)context->params[PARAM_BLOCK] );
    if ( self->few == NULL )
    {
        destroy( self );
        return NULL;
    }
    return self;
}

static clv_result update( void* state, const method_input* input, pair_sink* sink, method_counters* counters )
{
    engine* self = state;
    self->was_many = false;
    if ( input->live_count <= self->context->params[PARAM_FEW] )
    {
        return method_brute.update( self->few, input, sink, counters );
    }
    method_stopwatch watch = method_stopwatch_start( self->context );
    block_input boxes = { input->boxes, input->live, input->live_count };
    if ( !block_world_fill( &self->many, &boxes ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    counters->update_ms = method_stopwatch_lap( &watch );
    clv_result result = block_world_search( &self->many, sink, &counters->test_count );
    counters->search_ms = method_stopwatch_lap( &watch );
    self->was_many = result == CLV_OK;
    return result;
}

static void shrink( void* state )
{
    engine* self = state;
    method_brute.shrink( self->few );
    block_world_release( &self->many );
    self->was_many = false;
}

static uint32_t report( void* state, method_figure* figures, uint32_t capacity )
{
    const engine* self = state;
    const block_world* many = &self->many;
    cell_counters sum = { 0 };
    for ( uint64_t worker = 0; self->was_many && worker < many->counter_capacity; ++worker )
    {
        sum.cell_count += many->counters[worker].cell_count;
        sum.entry_count += many->counters[worker].entry_count;
        sum.test_count += many->counters[worker].test_count;
        sum.candidate_count += many->counters[worker].candidate_count;
    }
    uint32_t block_count = many->plan.block_count > 0 ? many->plan.block_count : 1;
    method_figure_list list = { figures, capacity, 0 };
    method_figure_add( &list, "by brute force", self->was_many ? 0 : 1 );
    method_figure_add( &list, "blocks", self->was_many ? block_count : 0 );
    method_figure_add( &list, "largest block", self->was_many ? many->largest_block : 0 );
    method_figure_add( &list, "boxes in blocks", self->was_many ? many->starts[block_count] : 0 );
    method_figure_add( &list, "cells", (double)sum.cell_count );
    method_figure_add( &list, "boxes in cells", (double)sum.entry_count );
    method_figure_add( &list, "tests in bytes", (double)sum.test_count );
    method_figure_add( &list, "tests in float", (double)sum.candidate_count );
    return list.count;
}

const method method_engine = {
    .name = METHOD_DEFAULT,
    .family = "blocks and cells",
    .source = "own",
    .licence = "MIT",
    .time_cost = "O(n + k)",
    .space_cost = "O(n)",
    .has_isa = true,
    .has_threads = true,
    .is_temporal = true,
    .params = s_params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .update = update,
    .shrink = shrink,
    .report = report,
};
