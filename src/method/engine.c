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
    return result;
}

static void shrink( void* state )
{
    engine* self = state;
    method_brute.shrink( self->few );
    block_world_release( &self->many );
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
};
