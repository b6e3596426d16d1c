// SPDX-License-Identifier: MIT
// What a device is to survive in a child process before it is opened here: a context, a queue, a compiler and
// a kernel.
#include "gpu_state.h"

#include "gpu_look.h"

static const char s_text[] = "__kernel void number_items( __global uint* items )\n"
                             "{\n"
                             "    items[get_global_id( 0 )] = (uint)get_global_id( 0 );\n"
                             "}\n";
static const char s_options[] = "-cl-std=CL1.2";

uint64_t clv_gpu_device_exercise_key( const gpu_device* device )
{
    uint64_t hash = clv_gpu_hash_text( GPU_HASH_BEGIN, s_text );
    hash = clv_gpu_hash_text( hash, s_options );
    return clv_gpu_hash_device( hash, device );
}

// Objects are not given back where a call fails: the process ends.
static bool launch( const gpu_device* device, cl_context context, cl_command_queue queue, cl_kernel kernel )
{
    const gpu_opencl* cl = device->cl;
    size_t count = GPU_GROUP;
    cl_int error = CL_SUCCESS;
    clv_gpu_look_step( "clCreateBuffer" );
    cl_mem items = cl->clCreateBuffer( context, CL_MEM_READ_WRITE, count * sizeof( uint32_t ), NULL, &error );
    if ( error != CL_SUCCESS )
    {
        return false;
    }
    clv_gpu_look_step( "clEnqueueNDRangeKernel" );
    error = cl->clSetKernelArg( kernel, 0, sizeof( items ), &items );
    error = error != CL_SUCCESS
        ? error
        : cl->clEnqueueNDRangeKernel( queue, kernel, 1, NULL, &count, &count, 0, NULL, NULL );
    clv_gpu_look_step( "clFinish" );
    error = error != CL_SUCCESS ? error : cl->clFinish( queue );
    clv_gpu_look_step( "clReleaseMemObject" );
    cl->clReleaseMemObject( items );
    return error == CL_SUCCESS;
}

static bool compile( const gpu_device* device, cl_context context, cl_command_queue queue )
{
    const gpu_opencl* cl = device->cl;
    const char* text = s_text;
    cl_int error = CL_SUCCESS;
    clv_gpu_look_step( "clCreateProgramWithSource" );
    cl_program program = cl->clCreateProgramWithSource( context, 1, &text, NULL, &error );
    if ( error != CL_SUCCESS )
    {
        return false;
    }
    clv_gpu_look_step( "clBuildProgram" );
    if ( cl->clBuildProgram( program, 1, &device->id, s_options, NULL, NULL ) != CL_SUCCESS )
    {
        return false;
    }
    clv_gpu_look_step( "clCreateKernel" );
    cl_kernel kernel = cl->clCreateKernel( program, "number_items", &error );
    if ( error != CL_SUCCESS )
    {
        return false;
    }
    bool is_good = launch( device, context, queue, kernel );
    clv_gpu_look_step( "clReleaseKernel" );
    cl->clReleaseKernel( kernel );
    clv_gpu_look_step( "clReleaseProgram" );
    cl->clReleaseProgram( program );
    return is_good;
}

bool clv_gpu_device_exercise( const gpu_device* device )
{
    const gpu_opencl* cl = device->cl;
    const intptr_t properties[] = { CL_CONTEXT_PLATFORM, (intptr_t)device->platform, 0 };
    cl_int error = CL_SUCCESS;
    clv_gpu_look_step( "clCreateContext" );
    cl_context context = cl->clCreateContext( properties, 1, &device->id, NULL, NULL, &error );
    if ( error != CL_SUCCESS )
    {
        return false;
    }
    clv_gpu_look_step( "clCreateCommandQueue" );
    cl_command_queue queue = cl->clCreateCommandQueue( context, device->id, 0, &error );
    if ( error != CL_SUCCESS )
    {
        return false;
    }
    bool is_good = compile( device, context, queue );
    clv_gpu_look_step( "clReleaseCommandQueue" );
    cl->clReleaseCommandQueue( queue );
    clv_gpu_look_step( "clReleaseContext" );
    cl->clReleaseContext( context );
    return is_good;
}
