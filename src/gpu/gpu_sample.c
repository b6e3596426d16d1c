// SPDX-License-Identifier: MIT
// What every plan is made of, and the simplest way: all pairs in tiles.
#include "base/assertion.h"
#include "gpu_state.h"

clv_result clv_gpu_sample( clv_gpu* gpu, const gpu_frame* frame, clv_aabb* sample, uint32_t* sample_count )
{
    uint32_t count = frame->count < GPU_SAMPLE ? frame->count : GPU_SAMPLE;
    CLV_ASSERT( count > 0 && frame->boxes != NULL );
    *sample_count = count;
    gpu->stats.plan_count += 1;
    clv_result result = clv_gpu_reserve( gpu, &gpu->buffers.sample, GPU_SAMPLE * sizeof( clv_aabb ) );
    GPU_THEN( result,
        GPU_LAUNCH(
            gpu, GPU_KERNEL_sample_boxes, count, frame->boxes, frame->count, gpu->buffers.sample, count ) );
    GPU_THEN( result,
        clv_gpu_read( gpu, gpu->buffers.sample.memory, 0, sample, (size_t)count * sizeof( clv_aabb ) ) );
    return result;
}

clv_result clv_gpu_fill( clv_gpu* gpu, cl_mem words, uint64_t count, uint32_t value )
{
    CLV_ASSERT( words != NULL && count > 0 );
    return GPU_LAUNCH( gpu, GPU_KERNEL_fill_words, count, words, count, value );
}

// ---- tiles

// Rows of tiles whose strips still have a number of 32 bits.
#define TILE_ROWS_MOST 30000u

clv_result clv_gpu_tiles_prepare( clv_gpu* gpu, gpu_frame* frame )
{
    uint32_t rows = ( frame->count + GPU_GROUP - 1 ) / GPU_GROUP;
    if ( rows > TILE_ROWS_MOST )
    {
        return clv_gpu_fail(
            gpu, CLV_TOO_MANY_OBJECTS, "tiles take at most %u boxes", TILE_ROWS_MOST * GPU_GROUP );
    }
    CLV_ASSERT( (uint64_t)rows * ( rows + 1 ) / 2 * GPU_STRIPS <= UINT32_MAX );
    frame->unit_count = rows * ( rows + 1 ) / 2 * GPU_STRIPS;
    return CLV_OK;
}

clv_result clv_gpu_tiles_find( clv_gpu* gpu, const gpu_frame* frame, uint32_t first, uint32_t end )
{
    uint32_t next_slot = ( frame->slot + 1 ) % GPU_SLOTS;
    uint32_t capacity = (uint32_t)gpu->pair_room;
    CLV_ASSERT( gpu_may_find( gpu, frame, first, end ) );
    return GPU_LAUNCH( gpu, GPU_KERNEL_find_tiles, (uint64_t)( end - first ) * GPU_GROUP, frame->boxes,
        frame->count, first, gpu->buffers.slots, frame->slot, next_slot, gpu->buffers.pairs, capacity );
}
