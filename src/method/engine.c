// SPDX-License-Identifier: MIT
// The method behind a default space: brute force while sorting would cost more than it saves, a sweep above. The choice
// depends on the number of objects alone, so the order of the pairs does too.
#include "method/methods.h"

enum
{
    FEW = 200 // where the two cross on AVX2 and AVX-512; docs/measuring.md has the figures
};

typedef struct engine
{
    const method_context* context;
    void* few;
    void* many;
} engine;

static void destroy( void* state )
{
    engine* self = state;
    if ( self->few != NULL )
    {
        method_brute.destroy( self->few );
    }
    if ( self->many != NULL )
    {
        method_sap.destroy( self->many );
    }
    base_memory_give( self->context->memory, self, 1, sizeof( engine ) );
}

static void* create( const method_context* context )
{
    engine* self = base_memory_take( context->memory, 1, sizeof( engine ) );
    if ( self == NULL )
    {
        return NULL;
    }
    *self = ( engine ){ context, method_brute.create( context ), method_sap.create( context ) };
    if ( self->few == NULL || self->many == NULL )
    {
        destroy( self );
        return NULL;
    }
    return self;
}

static clv_result update( void* state, const method_input* input, pair_sink* sink, method_counters* counters )
{
    engine* self = state;
    return input->live_count <= FEW ? method_brute.update( self->few, input, sink, counters )
                                    : method_sap.update( self->many, input, sink, counters );
}

static void shrink( void* state )
{
    engine* self = state;
    method_brute.shrink( self->few );
    method_sap.shrink( self->many );
}

const method method_engine = {
    .name = METHOD_DEFAULT,
    .family = "default",
    .source = "own: brute force for few objects, sweep and prune for many",
    .licence = "MIT",
    .time_cost = "O(n log n + n^(5/3) + k)",
    .space_cost = "O(n)",
    .has_isa = true,
    .create = create,
    .destroy = destroy,
    .update = update,
    .shrink = shrink,
};
