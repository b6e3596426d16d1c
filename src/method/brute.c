// SPDX-License-Identifier: MIT
// Every box against every other. The judge of all other methods, so it stays plain: no bounds, no order, no cleverness
// beyond keeping a tile of columns in the first-level cache.
#include "method/methods.h"

#include "simd/box_lanes.h"

enum
{
    TILE = 1024 // columns: 24 KiB of bounds, and a multiple of every kernel's width
};

typedef struct brute
{
    const method_context* context;
    simd_box_lanes lanes;
} brute;

static void* create( const method_context* context )
{
    brute* self = base_memory_take( context->memory, 1, sizeof( brute ) );
    if ( self != NULL )
    {
        *self = ( brute ){ .context = context };
    }
    return self;
}

static void destroy( void* state )
{
    brute* self = state;
    base_memory* memory = self->context->memory;
    simd_box_lanes_release( &self->lanes, memory );
    base_memory_give( memory, self, 1, sizeof( brute ) );
}

static void load_boxes( brute* self, const method_input* input )
{
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        uint32_t slot = method_live_slot( input, i );
        simd_box_lanes_set( &self->lanes.boxes, i, &input->boxes[slot], slot, 0 );
    }
    simd_box_lanes_finish( &self->lanes, input->live_count );
}

// Columns of one tile against all rows up to its end.
static clv_result search_tile( brute* self, uint32_t column_begin, uint32_t column_end, pair_sink* sink )
{
    const simd_kernels* kernels = self->context->kernels;
    simd_cursor cursor = { 0, 0 };
    while ( !kernels->test_block( &self->lanes.boxes, column_end, column_begin, column_end, &cursor, sink ) )
    {
        clv_result result = sink->make_room( sink );
        if ( result != CLV_OK )
        {
            return result;
        }
    }
    return CLV_OK;
}

static clv_result update( void* state, const method_input* input, pair_sink* sink, method_counters* counters )
{
    brute* self = state;
    method_stopwatch watch = method_stopwatch_start( self->context );
    uint32_t count = input->live_count;
    if ( !simd_box_lanes_reserve( &self->lanes, self->context->memory, count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    load_boxes( self, input );
    counters->update_ms = method_stopwatch_lap( &watch );

    clv_result result = CLV_OK;
    for ( uint32_t begin = 0; begin < count && result == CLV_OK; begin += TILE )
    {
        result = search_tile( self, begin, count - begin > TILE ? begin + TILE : count, sink );
    }
    counters->search_ms = method_stopwatch_lap( &watch );
    counters->test_count = count > 0 ? (uint64_t)count * ( count - 1 ) / 2 : 0;
    return result;
}

static void shrink( void* state )
{
    brute* self = state;
    simd_box_lanes_release( &self->lanes, self->context->memory );
}

const method method_brute = {
    .name = "brute",
    .family = "brute force",
    .source = "own",
    .licence = "MIT",
    .time_cost = "O(n^2)",
    .space_cost = "O(n)",
    .has_isa = true,
    .create = create,
    .destroy = destroy,
    .update = update,
    .shrink = shrink,
};
