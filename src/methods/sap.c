// SPDX-License-Identifier: MIT
// Sweep and prune on one axis, rebuilt every frame: Baraff (1992), Cohen et al. (I-COLLIDE, 1995). The axis
// is the one along which the centres vary most; a radix sort on the bits of the floats makes the order; a
// row's search ends at the first box that begins behind it.
#include "method/method.h"

#include "base/bits.h"
#include "base/radix_sort.h"
#include "simd/box_lanes.h"
#include "simd/method_kernels.h"
#include "sweep/axis.h"
#include "task/gather.h"

enum
{
    ROWS = 512 // of a piece
};

typedef struct sap
{
    const method_context* context;
    const simd_method_kernels* kernels;
    simd_box_lanes lanes;
    base_keyed_array keys; // two in one: what is sorted, and scratch
    task_gather gather;
} sap;

static bool begin_sap( void* state, int variant )
{
    (void)variant;
    sap* self = state;
    self->kernels = clv_simd_method_kernels_for( self->context->isa );
    return true;
}

static void shrink_sap( void* state )
{
    sap* self = state;
    base_memory* memory = self->context->memory;
    clv_simd_box_lanes_release( &self->lanes, memory );
    clv_task_gather_release( &self->gather, memory );
    base_array_free( &self->keys, memory );
}

METHOD_CREATE( create_sap, sap, begin_sap, shrink_sap, 0 )
METHOD_DESTROY( destroy_sap, sap, shrink_sap )

static bool reserve_sap( sap* self, uint32_t count )
{
    base_memory* memory = self->context->memory;
    return clv_simd_box_lanes_reserve( &self->lanes, memory, count ) &&
        base_array_reserve( &self->keys, memory, (uint64_t)count * 2 );
}

static base_keyed* sort_along( sap* self, const clv_method_input* input, int axis )
{
    uint32_t count = input->live_count;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t slot = clv_method_live_slot( input, i );
        const float* lower = &input->boxes[slot].lower.x;
        self->keys.items[i] = ( base_keyed ){ base_float_order( lower[axis] ), slot };
    }
    return clv_base_sort_keyed( self->keys.items, self->keys.items + count, count );
}

static void load_sorted_boxes( sap* self, const clv_method_input* input )
{
    int axis = clv_sweep_choose_axis( input );
    const base_keyed* sorted = sort_along( self, input, axis );
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        uint32_t slot = sorted[i].value;
        simd_box_lanes_set( &self->lanes.boxes, i, &input->boxes[slot], slot, axis );
    }
    clv_simd_box_lanes_finish( &self->lanes, input->live_count );
}

static clv_result search_rows(
    uint32_t piece, uint32_t worker, clv_pair_sink* sink, uint64_t* test_count, void* context )
{
    (void)worker;
    sap* self = context;
    simd_boxes part = self->lanes.boxes;
    simd_cursor cursor = { piece * ROWS, 0 };
    part.count = part.count - cursor.row > ROWS ? cursor.row + ROWS : part.count;
    clv_result result = CLV_OK;
    PAIR_SINK_DRIVE( result, sink, self->kernels->sweep( &part, &cursor, sink, test_count ) )
    return result;
}

static clv_result update_sap(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    sap* self = state;
    if ( input->live_count == 0 )
    {
        return CLV_OK; // there may be no keys yet to point into
    }
    method_stopwatch watch = method_stopwatch_start( self->context );
    if ( !reserve_sap( self, input->live_count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    load_sorted_boxes( self, input );
    counters->update_ms = method_stopwatch_lap( &watch );

    uint32_t piece_count = ( input->live_count + ROWS - 1 ) / ROWS;
    clv_result result = clv_task_gather_run( &self->gather, self->context->memory, self->context->tasks,
        piece_count, search_rows, self, sink, &counters->test_count );
    counters->search_ms = method_stopwatch_lap( &watch );
    return result;
}

const clv_method clv_methods_sap = {
    METHOD_OWN,
    .name = "sap",
    .family = "sweep and prune",
    .source = "Baraff 1992; Cohen et al. 1995",
    .time_cost = "O(n log n + n^(5/3) + k)",
    .space_cost = "O(n)",
    .remarks = "one axis, sorted anew every frame",
    .has_isa = true,
    .has_threads = true,
    .create = create_sap,
    .destroy = destroy_sap,
    .update = update_sap,
    .shrink = shrink_sap,
};
