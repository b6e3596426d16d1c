// SPDX-License-Identifier: MIT
// What ways to search share (a sample, words that are filled, a radix sort), and the simplest way: all pairs
// in tiles.
#include "base/assertion.h"
#include "gpu_state.h"

enum
{
    SAMPLE_BYTES = GPU_SAMPLE * ( sizeof( clv_aabb ) + 2 * sizeof( float ) )
};

static clv_result read_sample( clv_gpu* gpu, const gpu_frame* frame, gpu_sample* sample )
{
    uint32_t count = sample->count;
    gpu->stats.plan_count += 1;
    clv_result result = clv_gpu_reserve( gpu, &gpu->buffers.sample, GPU_SAMPLE * sizeof( clv_aabb ) );
    GPU_THEN( result,
        GPU_LAUNCH(
            gpu, GPU_KERNEL_sample_boxes, count, frame->boxes, frame->count, gpu->buffers.sample, count ) );
    GPU_THEN( result,
        clv_gpu_read(
            gpu, gpu->buffers.sample.memory, 0, sample->boxes, (size_t)count * sizeof( clv_aabb ) ) );
    return result;
}

clv_result clv_gpu_sample_open( clv_gpu* gpu, const gpu_frame* frame, gpu_sample* sample )
{
    CLV_ASSERT( frame->count > 0 && frame->boxes != NULL );
    sample->count = frame->count < GPU_SAMPLE ? frame->count : GPU_SAMPLE;
    sample->boxes = clv_base_memory_take( &gpu->memory, SAMPLE_BYTES, 1 );
    if ( sample->boxes == NULL )
    {
        return clv_gpu_fail( gpu, CLV_OUT_OF_MEMORY, "no memory for a sample" );
    }
    sample->room = (float*)( sample->boxes + GPU_SAMPLE );
    clv_result result = read_sample( gpu, frame, sample );
    if ( result != CLV_OK )
    {
        clv_gpu_sample_close( gpu, sample );
    }
    return result;
}

void clv_gpu_sample_close( clv_gpu* gpu, gpu_sample* sample )
{
    clv_base_memory_give( &gpu->memory, sample->boxes, SAMPLE_BYTES, 1 );
}

clv_result clv_gpu_fill( clv_gpu* gpu, cl_mem words, uint64_t count, uint32_t value )
{
    CLV_ASSERT( words != NULL && count > 0 );
    return GPU_LAUNCH( gpu, GPU_KERNEL_fill_words, count, words, count, value );
}

// ---- a radix sort; kernels/sort.cl tells how

enum
{
    BLOCK = 4 * GPU_GROUP,
    DIGITS = 256,
};

uint32_t clv_gpu_scan_blocks( uint64_t count )
{
    return (uint32_t)( ( count + BLOCK - 1 ) / BLOCK );
}

clv_result clv_gpu_sort_reserve( clv_gpu* gpu, uint32_t count )
{
    gpu_buffers* b = &gpu->buffers;
    uint64_t bytes = (uint64_t)count * sizeof( uint32_t );
    uint64_t number_count = (uint64_t)clv_gpu_scan_blocks( count ) * DIGITS;
    clv_result result = clv_gpu_reserve( gpu, &b->keys, bytes );
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->keys_twin, bytes ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->values, bytes ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->values_twin, bytes ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->digits, number_count * sizeof( uint32_t ) ) );
    GPU_THEN( result,
        clv_gpu_reserve(
            gpu, &b->digit_sums, (uint64_t)clv_gpu_scan_blocks( number_count ) * sizeof( uint32_t ) ) );
    return result;
}

clv_result clv_gpu_scan( clv_gpu* gpu, const gpu_buffer* numbers, uint32_t count, const gpu_buffer* sums )
{
    uint64_t items = (uint64_t)clv_gpu_scan_blocks( count ) * GPU_GROUP;
    CLV_ASSERT( count > 0 && gpu_holds( numbers, count, sizeof( uint32_t ) ) );
    CLV_ASSERT( gpu_holds( sums, clv_gpu_scan_blocks( count ), sizeof( uint32_t ) ) );
    clv_result result = GPU_LAUNCH( gpu, GPU_KERNEL_scan_sums, items, *numbers, count, *sums );
    GPU_THEN( result, GPU_LAUNCH( gpu, GPU_KERNEL_scan_add, items, *numbers, count, *sums ) );
    return result;
}

static clv_result sort_digit( clv_gpu* gpu, uint32_t count, uint32_t shift )
{
    gpu_buffers* b = &gpu->buffers;
    uint32_t blocks = clv_gpu_scan_blocks( count );
    CLV_ASSERT( shift < 32 && gpu_holds( &b->keys, count, sizeof( uint32_t ) ) &&
        gpu_holds( &b->values, count, sizeof( uint32_t ) ) );
    CLV_ASSERT( gpu_holds( &b->keys_twin, count, sizeof( uint32_t ) ) &&
        gpu_holds( &b->values_twin, count, sizeof( uint32_t ) ) );
    uint32_t numbers = blocks * DIGITS;
    uint64_t items = (uint64_t)blocks * GPU_GROUP;
    clv_result result =
        GPU_LAUNCH( gpu, GPU_KERNEL_sort_count, items, b->keys, count, shift, b->digits, blocks );
    GPU_THEN( result, clv_gpu_scan( gpu, &b->digits, numbers, &b->digit_sums ) );
    GPU_THEN( result,
        GPU_LAUNCH( gpu, GPU_KERNEL_sort_scatter, items, b->keys, b->values, b->keys_twin, b->values_twin,
            count, shift, b->digits, blocks ) );
    gpu_swap( &b->keys, &b->keys_twin );
    gpu_swap( &b->values, &b->values_twin );
    return result;
}

clv_result clv_gpu_sort( clv_gpu* gpu, uint32_t count, uint32_t first_bit, uint32_t end_bit )
{
    CLV_ASSERT( count > 0 && first_bit < end_bit && end_bit <= 32 );
    clv_result result = CLV_OK;
    for ( uint32_t shift = first_bit; shift < end_bit && result == CLV_OK; shift += 8 )
    {
        result = sort_digit( gpu, count, shift );
    }
    return result;
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
    CLV_ASSERT( (uint64_t)rows * ( rows + 1 ) / 2 * TILE_STRIPS <= UINT32_MAX );
    frame->unit_count = rows * ( rows + 1 ) / 2 * TILE_STRIPS;
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
