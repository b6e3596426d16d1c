// SPDX-License-Identifier: MIT
// Opening and closing a device, its memory, and how calls fail.
#include "gpu_state.h"
#include "base/assertion.h"

#include <stdarg.h>
#include <stdio.h>

// ---- failing

clv_result clv_gpu_fail( clv_gpu* gpu, clv_result result, const char* format, ... )
{
    CLV_ASSERT( result != CLV_OK );
    va_list values;
    va_start( values, format );
    vsnprintf( gpu->error, sizeof( gpu->error ), format, values );
    va_end( values );
    if ( gpu->def.logger.write != NULL )
    {
        gpu->def.logger.write( CLV_LOG_ERROR, gpu->error, gpu->def.logger.user );
    }
    return result;
}

clv_result clv_gpu_check( clv_gpu* gpu, cl_int error, const char* call )
{
    if ( error == CL_SUCCESS )
    {
        return CLV_OK;
    }
    char name[GPU_ERROR_NAME_ROOM];
    bool is_memory = error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_HOST_MEMORY ||
        error == CL_INVALID_BUFFER_SIZE;
    return clv_gpu_fail( gpu, is_memory ? CLV_OUT_OF_MEMORY : CLV_DEVICE_FAILED, "%s: %s: %s",
        gpu->device != NULL ? gpu->device->facts.name : "OpenCL", call,
        clv_gpu_opencl_error_name( error, name ) );
}

// ---- the device

static clv_result make_context( clv_gpu* gpu )
{
    const gpu_opencl* cl = gpu->cl;
    cl_int error = CL_SUCCESS;
    if ( gpu->def.queue != NULL )
    {
        gpu->queue = gpu->def.queue;
        error = cl->clGetCommandQueueInfo(
            gpu->queue, CL_QUEUE_CONTEXT, sizeof( gpu->context ), &gpu->context, NULL );
        return clv_gpu_check( gpu, error, "asking the queue for its context" );
    }
    const intptr_t properties[] = { CL_CONTEXT_PLATFORM, (intptr_t)gpu->device->platform, 0 };
    gpu->context = cl->clCreateContext( properties, 1, &gpu->device->id, NULL, NULL, &error );
    clv_result result = clv_gpu_check( gpu, error, "making a context" );
    if ( result != CLV_OK )
    {
        gpu->context = NULL;
        return result;
    }
    gpu->queue = cl->clCreateCommandQueue(
        gpu->context, gpu->device->id, gpu->def.times ? CL_QUEUE_PROFILING_ENABLE : 0, &error );
    result = clv_gpu_check( gpu, error, "making a queue" );
    gpu->queue = result == CLV_OK ? gpu->queue : NULL;
    return result;
}

static clv_result clear_slots( clv_gpu* gpu )
{
    static const uint32_t s_zeros[GPU_SLOTS * SLOT_WORDS];
    gpu->next_slot = 0;
    clv_result result = clv_gpu_reserve( gpu, &gpu->buffers.slots, sizeof( s_zeros ) );
    return result != CLV_OK
        ? result
        : clv_gpu_write( gpu, gpu->buffers.slots.memory, 0, s_zeros, sizeof( s_zeros ), false );
}

// That of the gpu beside, that of the caller's queue, or the one that was chosen, whose driver is loaded now.
static clv_result find_device( clv_gpu* gpu )
{
    char why[512] = "";
    bool is_callers = gpu->beside == NULL && gpu->def.queue != NULL;
    if ( is_callers &&
        !clv_gpu_device_of_queue( gpu->def.queue, &gpu->own_device, &gpu->own_texts, why, sizeof( why ) ) )
    {
        return clv_gpu_fail( gpu, gpu->device == NULL ? CLV_BAD_DEF : CLV_DEVICE_FAILED, "%s", why );
    }
    const gpu_device* device = gpu->beside != NULL ? gpu->beside->device
        : is_callers                               ? &gpu->own_device
                     : clv_gpu_device_load( gpu->device_index, why, sizeof( why ) );
    if ( device == NULL )
    {
        return clv_gpu_fail( gpu, CLV_UNSUPPORTED, "%s", why );
    }
    if ( device->facts.unusable != NULL )
    {
        return clv_gpu_fail(
            gpu, CLV_UNSUPPORTED, "%s cannot be used: %s", device->facts.name, device->facts.unusable );
    }
    gpu->device = device;
    gpu->cl = device->cl;
    return CLV_OK;
}

static clv_result open_device( clv_gpu* gpu )
{
    clv_result result = find_device( gpu );
    if ( result != CLV_OK )
    {
        return result;
    }
    gpu->is_open = true; // as much as there is, for close
    return make_context( gpu );
}

clv_result clv_gpu_open( clv_gpu* gpu )
{
    if ( gpu->is_open && gpu->buffers.slots.memory != NULL )
    {
        return CLV_OK;
    }
    clv_result result = gpu->is_open ? CLV_OK : open_device( gpu );
    GPU_THEN( result, clear_slots( gpu ) );
    return result == CLV_OK ? result : clv_gpu_end_failed( gpu, result );
}

void clv_gpu_release( clv_gpu* gpu, gpu_buffer* buffer )
{
    if ( buffer->memory != NULL )
    {
        gpu->cl->clReleaseMemObject( buffer->memory );
        CLV_ASSERT( gpu->device_bytes >= buffer->bytes );
        gpu->device_bytes -= buffer->bytes;
    }
    *buffer = ( gpu_buffer ){ 0 };
}

static void release_programs( clv_gpu* gpu )
{
    for ( int i = 0; i < GPU_KERNEL_ROOM; ++i )
    {
        if ( gpu->kernels[i] != NULL )
        {
            gpu->cl->clReleaseKernel( gpu->kernels[i] );
        }
        gpu->kernels[i] = NULL;
    }
    for ( int i = 0; i < GPU_PROGRAM_ROOM; ++i )
    {
        if ( gpu->programs[i] != NULL )
        {
            gpu->cl->clReleaseProgram( gpu->programs[i] );
        }
        gpu->programs[i] = NULL;
    }
}

// But for the list that events go on from, where there is one.
static void release_memory( clv_gpu* gpu )
{
    gpu_buffers* b = &gpu->buffers;
    gpu_buffer pairs_before = { 0 }, pair_table_before = { 0 };
    if ( gpu->events.has_before )
    {
        gpu_swap( &pairs_before, &b->pairs_before );
        gpu_swap( &pair_table_before, &b->pair_table_before );
    }
    clv_gpu_host_release( gpu, &gpu->upload );
    clv_gpu_host_release( gpu, &gpu->download );
    clv_gpu_host_release( gpu, &gpu->direct );
#define GPU_BUFFER_RELEASE( name ) clv_gpu_release( gpu, &b->name );
    GPU_BUFFERS( GPU_BUFFER_RELEASE )
#undef GPU_BUFFER_RELEASE
    if ( gpu->guest != NULL )
    {
        gpu->guest->release( gpu );
    }
    CLV_ASSERT( gpu->device_bytes >= pairs_before.bytes + pair_table_before.bytes );
    b->pairs_before = pairs_before;
    b->pair_table_before = pair_table_before;
}

void clv_gpu_empty( clv_gpu* gpu )
{
    gpu_events kept = { .has_before = gpu->events.has_before };
    if ( kept.has_before )
    {
        kept.mask_before = gpu->events.mask_before;
        kept.count_before = gpu->events.count_before;
        kept.room_before = gpu->events.room_before;
    }
    if ( gpu->queue != NULL )
    {
        gpu->cl->clFinish( gpu->queue );
    }
    clv_gpu_chunks_close( gpu ); // its queue is ours
    release_memory( gpu );
    gpu->last_arguments = ( gpu_arguments ){ 0 };
    gpu->pair_room = 0;
    gpu->staged_count = 0;
    gpu->ahead.is_wanted = false;
    gpu->ahead.count = 0;
    gpu->is_pending = false;
    gpu->has_list = false;
    gpu->grid = ( gpu_grid_state ){ 0 };
    gpu->rest = ( gpu_rest_state ){ 0 };
    gpu->tree = ( gpu_tree_state ){ 0 };
    clv_gpu_near_forget( gpu );
    gpu->sap = ( gpu_sap_state ){ 0 };
    gpu->events = kept;
    CLV_ASSERT( gpu->inner == NULL && gpu->upload.data == NULL && gpu->download.data == NULL );
}

void clv_gpu_close( clv_gpu* gpu )
{
    if ( !gpu->is_open )
    {
        return;
    }
    gpu->events.has_before = false;
    clv_gpu_empty( gpu );
    release_programs( gpu );
    if ( gpu->queue != NULL && gpu->def.queue == NULL )
    {
        gpu->cl->clReleaseCommandQueue( gpu->queue );
    }
    if ( gpu->context != NULL && gpu->def.queue == NULL )
    {
        gpu->cl->clReleaseContext( gpu->context );
    }
    gpu->queue = NULL;
    gpu->context = NULL;
    gpu->is_open = false;
    CLV_ASSERT( !gpu->is_pending && !gpu->has_list );
}

// ---- memory of the device

static cl_int make_buffer( clv_gpu* gpu, gpu_buffer* buffer, uint64_t bytes )
{
    cl_int error = CL_SUCCESS;
    CLV_ASSERT( gpu->context != NULL && buffer->memory == NULL && bytes > 0 );
    buffer->memory = gpu->cl->clCreateBuffer( gpu->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &error );
    if ( error != CL_SUCCESS )
    {
        *buffer = ( gpu_buffer ){ 0 };
        return error;
    }
    buffer->bytes = bytes;
    gpu->last_arguments = ( gpu_arguments ){ 0 }; // its number may be that of one that is gone
    gpu->device_bytes += bytes;
    return CL_SUCCESS;
}

clv_result clv_gpu_reserve( clv_gpu* gpu, gpu_buffer* buffer, uint64_t bytes )
{
    bytes = bytes < 64 ? 64 : bytes;
    if ( buffer->memory != NULL && buffer->bytes >= bytes )
    {
        return CLV_OK;
    }
    if ( bytes > gpu->device->allocation_most )
    {
        return clv_gpu_fail( gpu, CLV_OUT_OF_MEMORY, "%s gives no buffer of %llu bytes; the most is %llu",
            gpu->device->facts.name, (unsigned long long)bytes,
            (unsigned long long)gpu->device->allocation_most );
    }
    clv_gpu_release( gpu, buffer ); // first, so that there is never twice as much
    uint64_t roomy = bytes + bytes / 8;
    cl_int error =
        roomy <= gpu->device->allocation_most ? make_buffer( gpu, buffer, roomy ) : CL_INVALID_BUFFER_SIZE;
    if ( error != CL_SUCCESS )
    {
        error = make_buffer( gpu, buffer, bytes );
    }
    CLV_ASSERT( error != CL_SUCCESS || ( buffer->memory != NULL && buffer->bytes >= bytes ) );
    char call[80];
    snprintf( call, sizeof( call ), "a buffer of %llu bytes", (unsigned long long)bytes );
    return clv_gpu_check( gpu, error, call );
}

clv_result clv_gpu_read( clv_gpu* gpu, cl_mem from, uint64_t offset, void* to, size_t bytes )
{
    CLV_ASSERT( gpu->queue != NULL && from != NULL && to != NULL && bytes > 0 );
    cl_int error =
        gpu->cl->clEnqueueReadBuffer( gpu->queue, from, 1, (size_t)offset, bytes, to, 0, NULL, NULL );
    return clv_gpu_check( gpu, error, "reading from the device" );
}

clv_result clv_gpu_write(
    clv_gpu* gpu, cl_mem to, uint64_t offset, const void* from, size_t bytes, bool waits )
{
    CLV_ASSERT( gpu->queue != NULL && to != NULL && from != NULL && bytes > 0 );
    cl_int error = gpu->cl->clEnqueueWriteBuffer(
        gpu->queue, to, waits ? 1 : 0, (size_t)offset, bytes, from, 0, NULL, NULL );
    return clv_gpu_check( gpu, error, "writing to the device" );
}

// ---- memory of the host that the device reads and writes by itself; any other goes through a copy of the
// driver's, three to six times as slow

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

// Mapped for as long as it lasts, so that the host may write to it. A driver that maps a copy is of no use.
bool clv_gpu_host_register( clv_gpu* gpu, gpu_host_block* block, void* data, size_t bytes )
{
    cl_int error = CL_SUCCESS;
    CLV_ASSERT( gpu->queue != NULL && block->memory == NULL && data != NULL && bytes > 0 );
    cl_mem memory =
        gpu->cl->clCreateBuffer( gpu->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, data, &error );
    if ( error != CL_SUCCESS )
    {
        return false;
    }
    block->memory = memory;
    if ( gpu->cl->clRetainCommandQueue( gpu->queue ) == CL_SUCCESS )
    {
        block->queue = gpu->queue;
        block->data = gpu->cl->clEnqueueMapBuffer(
            gpu->queue, memory, 1, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &error );
    }
    block->data = error == CL_SUCCESS ? block->data : NULL;
    block->bytes = bytes;
    if ( block->data != data )
    {
        clv_gpu_host_release( gpu, block );
    }
    return block->data == data;
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
