// SPDX-License-Identifier: MIT
// A tree over the boxes in Morton order, on the device; kernels/tree.cl tells how.
#include "base/assertion.h"
#include "gpu_grid_plan.h"
#include "gpu_state.h"

#include <float.h>

enum
{
    LEVELS_PER_LAUNCH = 4, // 4^4 = 256: one group's boxes
    ASK_AGAIN = 64,        // updates after which the world is measured again
    COARSE_BITS = 6,       // of the key, that fewer boxes than these need not be sorted by
    COARSE_MOST = 4000000,
    KEY_BITS = 30,
};

static void measure( gpu_tree_plan* plan, const clv_aabb* sample, uint32_t count, float* scratch )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        gpu_spread spread = clv_gpu_spread_of( sample, count, axis, scratch );
        double span = (double)spread.most - (double)spread.least + (double)spread.median_side;
        double scale = span > 0 ? 512 / span : 1;
        plan->origin[axis] = spread.least;
        plan->scale[axis] = (float)( scale < (double)FLT_MIN ? (double)FLT_MIN
                : scale > 1e37                               ? 1e37
                                                             : scale );
    }
}

// Where the levels lie; level 0 is the records.
static void lay_levels( gpu_tree_plan* plan, gpu_tree_state* tree, uint32_t count )
{
    uint32_t level_count = count;
    tree->top = 0;
    tree->node_count = 0;
    while ( level_count > 1 )
    {
        level_count = ( level_count + 3 ) / 4;
        tree->top += 1;
        CLV_ASSERT( tree->top < TREE_LEVELS );
        plan->first[tree->top] = tree->node_count;
        tree->node_count += level_count;
    }
    CLV_ASSERT( level_count <= 1 ); // the root
    plan->top = tree->top;
    tree->count = count;
}

static clv_result make_plan( clv_gpu* gpu, const gpu_frame* frame )
{
    gpu_tree_plan plan = { 0 };
    gpu_sample sample;
    clv_result result = clv_gpu_sample_open( gpu, frame, &sample );
    if ( result == CLV_OK )
    {
        measure( &plan, sample.boxes, sample.count, sample.room );
        lay_levels( &plan, &gpu->tree, frame->count );
        clv_gpu_sample_close( gpu, &sample );
    }
    GPU_THEN( result, clv_gpu_reserve( gpu, &gpu->buffers.tree_plan, sizeof( plan ) ) );
    GPU_THEN( result, clv_gpu_write( gpu, gpu->buffers.tree_plan.memory, 0, &plan, sizeof( plan ), true ) );
    gpu->tree.is_planned = result == CLV_OK;
    gpu->tree.asked_at = gpu->stats.update_count;
    return result;
}

static clv_result sort_boxes( clv_gpu* gpu, const gpu_frame* frame )
{
    gpu_buffers* b = &gpu->buffers;
    uint32_t next_slot = ( frame->slot + 1 ) % GPU_SLOTS;
    clv_result result = GPU_LAUNCH( gpu, GPU_KERNEL_tree_keys, frame->count, frame->boxes, frame->count,
        b->tree_plan, b->keys, b->values, b->slots, next_slot );
    uint32_t shift = frame->count <= COARSE_MOST ? COARSE_BITS : 0;
    GPU_THEN( result, clv_gpu_sort( gpu, frame->count, shift, KEY_BITS ) );
    if ( result != CLV_OK )
    {
        return result;
    }
    CLV_ASSERT( gpu_holds( &b->values, frame->count, sizeof( uint32_t ) ) &&
        gpu_holds( &b->records, frame->count, 32 ) );
    return GPU_LAUNCH(
        gpu, GPU_KERNEL_tree_gather, frame->count, frame->boxes, frame->count, b->values, b->records );
}

static clv_result build_nodes( clv_gpu* gpu, const gpu_frame* frame )
{
    gpu_buffers* b = &gpu->buffers;
    clv_result result = CLV_OK;
    uint64_t items = frame->count;
    CLV_ASSERT( gpu->tree.count == frame->count && gpu_holds( &b->nodes, gpu->tree.node_count, 32 ) );
    for ( uint32_t below = 0; below < gpu->tree.top && result == CLV_OK; below += LEVELS_PER_LAUNCH )
    {
        result = GPU_LAUNCH(
            gpu, GPU_KERNEL_tree_build, items, b->records, b->nodes, frame->count, below, b->tree_plan );
        items = ( items + GPU_GROUP - 1 ) / GPU_GROUP;
    }
    return result;
}

clv_result clv_gpu_tree_prepare( clv_gpu* gpu, gpu_frame* frame )
{
    gpu_buffers* b = &gpu->buffers;
    gpu_tree_state* tree = &gpu->tree;
    frame->unit_count = frame->count;
    bool is_old = !tree->is_planned || tree->count != frame->count ||
        gpu->stats.update_count >= tree->asked_at + ASK_AGAIN;
    clv_result result = is_old ? make_plan( gpu, frame ) : CLV_OK;
    GPU_THEN( result, clv_gpu_sort_reserve( gpu, frame->count ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->records, (uint64_t)frame->count * 32 ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->nodes, (uint64_t)tree->node_count * 32 ) );
    GPU_THEN( result, sort_boxes( gpu, frame ) );
    GPU_THEN( result, build_nodes( gpu, frame ) );
    gpu->stats.cell_count = 0;
    gpu->stats.level_count = tree->top;
    return result;
}

clv_result clv_gpu_tree_find( clv_gpu* gpu, const gpu_frame* frame, uint32_t first, uint32_t end )
{
    gpu_buffers* b = &gpu->buffers;
    uint32_t capacity = (uint32_t)gpu->pair_room;
    uint32_t counts_tests = gpu->def.count_tests ? 1 : 0;
    CLV_ASSERT( gpu_may_find( gpu, frame, first, end ) && gpu->tree.count == frame->count );
    CLV_ASSERT( gpu_holds( &b->records, frame->count, 32 ) &&
        gpu_holds( &b->tree_plan, 1, sizeof( gpu_tree_plan ) ) );
    return GPU_LAUNCH( gpu, GPU_KERNEL_tree_find, end - first, b->records, b->nodes, frame->count, first, end,
        b->tree_plan, b->slots, frame->slot, b->pairs, capacity, counts_tests );
}
