// SPDX-License-Identifier: MIT
#include "gpu_fake.h"

#include "gpu_device.h"

#include <stdlib.h>
#include <string.h>

gpu_fake fake;

// Does this call fail?
static bool fails( void )
{
    fake.call_count += 1;
    return fake.call_count == fake.fail_at;
}

// In front of each object.
typedef struct object_head
{
    uint32_t keeper_count;
    cl_command_queue mapped_by;
} object_head;

enum
{
    HEAD_SIZE = 64,
    ALLOCATION_MOST = 1 << 28
};

static object_head* head_of( void* object )
{
    return (object_head*)(void*)( (char*)object - HEAD_SIZE );
}

static void* make( cl_int* error, size_t size )
{
    if ( fails() )
    {
        *error = fake.error;
        return NULL;
    }
    *error = CL_SUCCESS;
    fake.object_count += 1;
    char* memory = calloc( 1, HEAD_SIZE + ( size < 64 ? 64 : size ) );
    head_of( memory + HEAD_SIZE )->keeper_count = 1;
    return memory + HEAD_SIZE;
}

// Released even where the call fails: there is nothing better to do.
static cl_int drop( void* object )
{
    object_head* head = head_of( object );
    head->keeper_count -= 1;
    if ( head->keeper_count == 0 )
    {
        fake.object_count -= 1;
        free( head );
    }
    return fails() ? fake.error : CL_SUCCESS;
}

static cl_int done( void )
{
    return fails() ? fake.error : CL_SUCCESS;
}

static cl_int CL_CALL get_platforms( cl_uint room, cl_platform_id* ids, cl_uint* count )
{
    (void)room;
    ids[0] = (cl_platform_id)(uintptr_t)16;
    *count = 1;
    return done();
}

static cl_int tell( size_t room, void* value, size_t* size, const void* answer, size_t answer_size )
{
    if ( fails() )
    {
        return fake.error;
    }
    if ( value != NULL && answer_size <= room )
    {
        memcpy( value, answer, answer_size );
    }
    if ( size != NULL )
    {
        *size = answer_size;
    }
    return CL_SUCCESS;
}

static cl_int CL_CALL get_platform_info(
    cl_platform_id id, cl_uint what, size_t room, void* value, size_t* size )
{
    (void)id;
    (void)what;
    return tell( room, value, size, "Fake platform", 14 );
}

static cl_int CL_CALL get_devices(
    cl_platform_id id, cl_bitfield type, cl_uint room, cl_device_id* ids, cl_uint* count )
{
    (void)id;
    (void)type;
    (void)room;
    for ( cl_uint i = 0; i < fake.device_count; ++i )
    {
        ids[i] = (cl_device_id)(uintptr_t)( 32 + i );
    }
    *count = fake.device_count;
    return done();
}

static cl_int CL_CALL get_device_info( cl_device_id id, cl_uint what, size_t room, void* value, size_t* size )
{
    bool is_cpu = fake.device_count > 1 && id == (cl_device_id)(uintptr_t)32;
    uint64_t number = what == CL_DEVICE_TYPE   ? ( is_cpu ? 2u : 4u )
        : what == CL_DEVICE_GLOBAL_MEM_SIZE    ? 1u << 30
        : what == CL_DEVICE_MAX_MEM_ALLOC_SIZE ? ALLOCATION_MOST
        : what == CL_DEVICE_SINGLE_FP_CONFIG   ? CL_FP_DENORM
                                               : 65536u;
    uint32_t narrow = is_cpu ? 1000 : 8;
    if ( what == CL_DEVICE_NAME )
    {
        return tell( room, value, size, is_cpu ? "Fake CPU" : "Fake GPU", 9 );
    }
    if ( what == CL_DEVICE_VENDOR || what == CL_DRIVER_VERSION )
    {
        return tell( room, value, size, "1.0", 4 );
    }
    if ( what == CL_DEVICE_MAX_COMPUTE_UNITS || what == CL_DEVICE_MAX_CLOCK_FREQUENCY )
    {
        return tell( room, value, size, &narrow, sizeof( narrow ) );
    }
    return tell( room, value, size, &number, sizeof( number ) );
}

static cl_context CL_CALL create_context( const intptr_t* properties, cl_uint count, const cl_device_id* ids,
    cl_context_callback* callback, void* user, cl_int* error )
{
    (void)properties;
    (void)count;
    (void)ids;
    (void)callback;
    (void)user;
    return make( error, 0 );
}

static cl_int CL_CALL drop_context( cl_context context )
{
    return drop( context );
}

static cl_command_queue CL_CALL create_queue(
    cl_context context, cl_device_id id, cl_bitfield kind, cl_int* error )
{
    (void)context;
    (void)id;
    (void)kind;
    return make( error, 0 );
}

static cl_int CL_CALL keep_queue( cl_command_queue queue )
{
    cl_int error = done();
    head_of( queue )->keeper_count += error == CL_SUCCESS ? 1 : 0;
    return error;
}

static cl_int CL_CALL drop_queue( cl_command_queue queue )
{
    return drop( queue );
}

static cl_int CL_CALL get_queue_info(
    cl_command_queue queue, cl_uint what, size_t room, void* value, size_t* size )
{
    (void)queue;
    void* answer = what == CL_QUEUE_DEVICE ? (void*)(uintptr_t)32 : (void*)(uintptr_t)48;
    return tell( room, value, size, &answer, sizeof( answer ) );
}

static cl_program CL_CALL create_program(
    cl_context context, cl_uint count, const char** texts, const size_t* sizes, cl_int* error )
{
    (void)context;
    (void)count;
    (void)texts;
    (void)sizes;
    return make( error, 0 );
}

static cl_program CL_CALL create_from_binary( cl_context context, cl_uint count, const cl_device_id* ids,
    const size_t* sizes, const unsigned char** data, cl_int* status, cl_int* error )
{
    (void)context;
    (void)count;
    (void)ids;
    *status = sizes[0] == 6 && memcmp( data[0], "binary", 6 ) == 0 ? CL_SUCCESS : -42;
    fake.binary_count += 1;
    return make( error, 0 );
}

static cl_int CL_CALL build( cl_program program, cl_uint count, const cl_device_id* ids, const char* options,
    cl_program_callback* callback, void* user )
{
    (void)program;
    (void)count;
    (void)ids;
    (void)options;
    (void)callback;
    (void)user;
    fake.build_count += 1;
    return fake.cannot_compile ? CL_BUILD_PROGRAM_FAILURE : done();
}

static cl_int CL_CALL get_program_info(
    cl_program program, cl_uint what, size_t room, void* value, size_t* size )
{
    (void)program;
    size_t length = 6;
    if ( what == CL_PROGRAM_BINARIES && !fails() )
    {
        memcpy( *(unsigned char**)value, "binary", 6 );
        return CL_SUCCESS;
    }
    return tell( room, value, size, &length, sizeof( length ) );
}

static cl_int CL_CALL get_build_info(
    cl_program program, cl_device_id id, cl_uint what, size_t room, void* value, size_t* size )
{
    (void)program;
    (void)id;
    (void)what;
    return tell( room, value, size, "line 7: no such thing", 22 );
}

static cl_int CL_CALL drop_program( cl_program program )
{
    return drop( program );
}

static cl_kernel CL_CALL create_kernel( cl_program program, const char* name, cl_int* error )
{
    (void)program;
    (void)name;
    return make( error, 0 );
}

static cl_int CL_CALL drop_kernel( cl_kernel kernel )
{
    return drop( kernel );
}

static cl_int CL_CALL set_argument( cl_kernel kernel, cl_uint index, size_t size, const void* value )
{
    (void)kernel;
    (void)index;
    (void)size;
    (void)value;
    return done();
}

static cl_mem CL_CALL create_buffer(
    cl_context context, cl_bitfield kind, size_t size, void* data, cl_int* error )
{
    (void)context;
    (void)kind;
    (void)data;
    if ( fake.has_no_memory || size > ALLOCATION_MOST )
    {
        fake.call_count += 1;
        *error = fake.has_no_memory ? CL_MEM_OBJECT_ALLOCATION_FAILURE : CL_INVALID_BUFFER_SIZE;
        return NULL;
    }
    return make( error, size );
}

static cl_int CL_CALL drop_memory( cl_mem memory )
{
    return drop( memory );
}

// Counters are 64 bytes; everything else reads as it lies there, which is zero.
static cl_int CL_CALL read_buffer( cl_command_queue queue, cl_mem memory, cl_uint waits, size_t offset,
    size_t size, void* to, cl_uint count, const cl_event* events, cl_event* event )
{
    (void)queue;
    (void)waits;
    (void)count;
    (void)events;
    (void)event;
    if ( fails() )
    {
        return fake.error;
    }
    memcpy( to, (const char*)memory + offset, size );
    if ( size == 64 )
    {
        memcpy( to, &fake.pair_count, sizeof( fake.pair_count ) );
        memcpy( (char*)to + 44, &fake.kept_count, sizeof( fake.kept_count ) );
        memcpy( (char*)to + 60, &fake.work, sizeof( fake.work ) );
    }
    return CL_SUCCESS;
}

static cl_int CL_CALL write_buffer( cl_command_queue queue, cl_mem memory, cl_uint waits, size_t offset,
    size_t size, const void* from, cl_uint count, const cl_event* events, cl_event* event )
{
    (void)queue;
    (void)waits;
    (void)count;
    (void)events;
    (void)event;
    if ( fails() )
    {
        return fake.error;
    }
    memcpy( (char*)memory + offset, from, size );
    return CL_SUCCESS;
}

static void* CL_CALL map_buffer( cl_command_queue queue, cl_mem memory, cl_uint waits, cl_bitfield kind,
    size_t offset, size_t size, cl_uint count, const cl_event* events, cl_event* event, cl_int* error )
{
    (void)waits;
    (void)kind;
    (void)size;
    (void)count;
    (void)events;
    (void)event;
    *error = done();
    if ( *error != CL_SUCCESS )
    {
        return NULL;
    }
    fake.mapped_count += 1;
    head_of( memory )->mapped_by = queue;
    return (char*)memory + offset;
}

static cl_int CL_CALL unmap( cl_command_queue queue, cl_mem memory, void* data, cl_uint count,
    const cl_event* events, cl_event* event )
{
    (void)data;
    (void)count;
    (void)events;
    (void)event;
    cl_int error = done();
    bool is_its_own = head_of( memory )->mapped_by == queue;
    fake.mapped_count -= is_its_own && error == CL_SUCCESS ? 1 : 0;
    return is_its_own ? error : -34; // CL_INVALID_CONTEXT
}

static cl_int CL_CALL launch( cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
    const size_t* offset, const size_t* global, const size_t* local, cl_uint count, const cl_event* events,
    cl_event* event )
{
    (void)queue;
    (void)kernel;
    (void)dimensions;
    (void)offset;
    (void)global;
    (void)local;
    (void)count;
    (void)events;
    (void)event;
    return done();
}

static cl_int CL_CALL get_times( cl_event event, cl_uint what, size_t room, void* value, size_t* size )
{
    (void)event;
    (void)what;
    uint64_t number = 0;
    return tell( room, value, size, &number, sizeof( number ) );
}

static cl_int CL_CALL drop_event( cl_event event )
{
    return drop( event );
}

static cl_int CL_CALL finish( cl_command_queue queue )
{
    (void)queue;
    return done();
}

void gpu_fake_install( void )
{
    static const gpu_opencl s_table = {
        .clGetPlatformIDs = get_platforms,
        .clGetPlatformInfo = get_platform_info,
        .clGetDeviceIDs = get_devices,
        .clGetDeviceInfo = get_device_info,
        .clCreateContext = create_context,
        .clReleaseContext = drop_context,
        .clCreateCommandQueue = create_queue,
        .clRetainCommandQueue = keep_queue,
        .clReleaseCommandQueue = drop_queue,
        .clGetCommandQueueInfo = get_queue_info,
        .clCreateProgramWithSource = create_program,
        .clCreateProgramWithBinary = create_from_binary,
        .clBuildProgram = build,
        .clGetProgramInfo = get_program_info,
        .clGetProgramBuildInfo = get_build_info,
        .clReleaseProgram = drop_program,
        .clCreateKernel = create_kernel,
        .clReleaseKernel = drop_kernel,
        .clSetKernelArg = set_argument,
        .clCreateBuffer = create_buffer,
        .clReleaseMemObject = drop_memory,
        .clEnqueueReadBuffer = read_buffer,
        .clEnqueueWriteBuffer = write_buffer,
        .clEnqueueMapBuffer = map_buffer,
        .clEnqueueUnmapMemObject = unmap,
        .clEnqueueNDRangeKernel = launch,
        .clGetEventProfilingInfo = get_times,
        .clReleaseEvent = drop_event,
        .clFinish = finish,
    };
    fake = ( gpu_fake ){ .device_count = 1, .error = CL_OUT_OF_RESOURCES };
    clv_gpu_opencl_replace( &s_table );
    clv_gpu_device_forget();
}
