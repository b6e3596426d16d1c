// SPDX-License-Identifier: MIT
// Memory of the host that the device reads and writes by itself; any other goes through a copy of the
// driver's, three to six times as slow.
#include "base/assertion.h"
#include "gpu_state.h"

#include <string.h>

void clv_gpu_host_release( clv_gpu* gpu, gpu_host_block* block )
{
    if ( block->memory != NULL )
    {
        if ( block->data != NULL )
        {
            gpu->cl->clEnqueueUnmapMemObject( block->queue, block->memory, block->data, 0, NULL, NULL );
        }
        gpu->cl->clReleaseMemObject( block->memory );
    }
    if ( block->queue != NULL )
    {
        gpu->cl->clReleaseCommandQueue( block->queue );
    }
    block->queue = NULL;
    block->memory = NULL;
    block->data = NULL;
    block->bytes = 0;
}

static cl_mem make_block( clv_gpu* gpu, size_t bytes, cl_int* error )
{
    return gpu->cl->clCreateBuffer(
        gpu->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, error );
}

clv_result clv_gpu_host_reserve( clv_gpu* gpu, gpu_host_block* block, size_t bytes )
{
    bytes = bytes < 64 ? 64 : bytes;
    if ( block->bytes >= bytes )
    {
        return CLV_OK;
    }
    clv_gpu_host_release( gpu, block );
    CLV_ASSERT( gpu->queue != NULL && gpu->context != NULL && block->data == NULL );
    size_t roomy = bytes + bytes / 8;
    cl_int error = CL_SUCCESS;
    cl_mem memory = make_block( gpu, roomy, &error );
    if ( error != CL_SUCCESS ) // as much as is needed may still fit
    {
        roomy = bytes;
        memory = make_block( gpu, roomy, &error );
    }
    clv_result result = clv_gpu_check( gpu, error, "memory of the host for the device" );
    if ( result != CLV_OK )
    {
        return result;
    }
    block->memory = memory;
    error = gpu->cl->clRetainCommandQueue( gpu->queue );
    if ( error == CL_SUCCESS )
    {
        block->queue = gpu->queue;
        block->data = gpu->cl->clEnqueueMapBuffer(
            gpu->queue, memory, 1, CL_MAP_READ | CL_MAP_WRITE, 0, roomy, 0, NULL, NULL, &error );
    }
    result = clv_gpu_check( gpu, error, "mapping memory of the host" );
    if ( result != CLV_OK )
    {
        block->data = NULL;
        clv_gpu_host_release( gpu, block );
        return result;
    }
    block->bytes = roomy;
    CLV_ASSERT( block->bytes >= bytes );
    return CLV_OK;
}

void* clv_gpu_host_take( clv_gpu* gpu, size_t bytes )
{
    gpu->error[0] = '\0';
    if ( clv_gpu_open( gpu ) != CLV_OK )
    {
        return NULL;
    }
    gpu_host_block* block = clv_base_memory_take( &gpu->memory, 1, sizeof( gpu_host_block ) );
    if ( block == NULL )
    {
        clv_gpu_fail( gpu, CLV_OUT_OF_MEMORY, "no memory for a block of the host's" );
        return NULL;
    }
    *block = ( gpu_host_block ){ 0 };
    if ( clv_gpu_host_reserve( gpu, block, bytes ) != CLV_OK )
    {
        clv_base_memory_give( &gpu->memory, block, 1, sizeof( gpu_host_block ) );
        return NULL;
    }
    block->next = gpu->taken;
    gpu->taken = block;
    return block->data;
}

void clv_gpu_host_give( clv_gpu* gpu, void* memory )
{
    for ( gpu_host_block** link = &gpu->taken; *link != NULL; link = &( *link )->next )
    {
        gpu_host_block* block = *link;
        if ( block->data == memory )
        {
            *link = block->next;
            if ( gpu->queue != NULL )
            {
                gpu->cl->clFinish( gpu->queue ); // it may be on its way
            }
            clv_gpu_host_release( gpu, block );
            clv_base_memory_give( &gpu->memory, block, 1, sizeof( gpu_host_block ) );
            return;
        }
    }
}
