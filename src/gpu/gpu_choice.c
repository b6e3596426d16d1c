// SPDX-License-Identifier: MIT Which device a name or a number means, and which is the fastest; and what a
// device is to survive in a child process before it is opened here.
#include "gpu_look.h"
#include "gpu_state.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static clv_result refuse( clv_result result, char* text, size_t size, const char* format, ... )
{
    if ( text != NULL && size > 0 )
    {
        va_list values;
        va_start( values, format );
        vsnprintf( text, size, format, values );
        va_end( values );
    }
    return result;
}

// Units times clock: crude, and right between a card and what is on the board. Any GPU before any CPU.
static uint64_t speed_of( const clv_gpu_device* device )
{
    uint64_t speed = (uint64_t)device->unit_count * ( device->clock_mhz + 1 );
    return device->unusable != NULL ? 0 : speed + ( device->is_cpu ? 1 : UINT64_C( 1 ) << 62 );
}

static clv_gpu_device device_at( uint32_t index )
{
    clv_gpu_device device = { 0 };
    clv_gpu_device_at( index, &device );
    return device;
}

// Of those that can be opened: the next fastest where one cannot.
static clv_result find_fastest( bool keeps, uint32_t* index, char* text, size_t size )
{
    uint32_t count = clv_gpu_device_count();
    for ( uint32_t tries = 0; tries < count; ++tries )
    {
        uint64_t best = 0;
        uint32_t fastest = 0;
        for ( uint32_t i = 0; i < count; ++i )
        {
            clv_gpu_device device = device_at( i );
            uint64_t speed = speed_of( &device );
            fastest = speed > best ? i : fastest;
            best = speed > best ? speed : best;
        }
        if ( best > 0 && clv_gpu_device_prove( fastest, keeps ) )
        {
            *index = fastest;
            return CLV_OK;
        }
    }
    clv_gpu_device first = device_at( 0 );
    return refuse(
        CLV_UNSUPPORTED, text, size, "no OpenCL device can be used: %s: %s", first.name, first.unusable );
}

static bool contains( const char* text, const char* part )
{
    size_t length = strlen( part );
    for ( ; *text != '\0'; ++text )
    {
        size_t i = 0;
        while ( i < length && tolower( (unsigned char)text[i] ) == tolower( (unsigned char)part[i] ) )
        {
            i += 1;
        }
        if ( i == length )
        {
            return true;
        }
    }
    return false;
}

static clv_result find_named( const char* wish, uint32_t* index, char* text, size_t size )
{
    uint32_t device_count = clv_gpu_device_count();
    uint32_t found = UINT32_MAX;
    uint32_t count = 0;
    for ( uint32_t i = 0; i < device_count; ++i )
    {
        clv_gpu_device device = device_at( i );
        if ( strcmp( device.name, wish ) == 0 )
        {
            *index = i;
            return CLV_OK;
        }
        if ( contains( device.name, wish ) || contains( device.platform, wish ) )
        {
            found = i;
            count += 1;
        }
    }
    if ( count == 1 )
    {
        *index = found;
        return CLV_OK;
    }
    return count > 1
        ? refuse( CLV_BAD_ARGUMENT, text, size, "'%.80s' means %u devices; give a number from 0 to %u", wish,
              count, device_count - 1 )
        : refuse( CLV_BAD_ARGUMENT, text, size, "no device is called '%.80s'; %s is %s", wish,
              device_count == 1 ? "the only one" : "the first", device_at( 0 ).name );
}

clv_result clv_gpu_device_choose(
    const char* wish, bool keeps, uint32_t* index, char* text, size_t text_size )
{
    uint32_t count = clv_gpu_device_count();
    if ( count == 0 )
    {
        return refuse( CLV_UNSUPPORTED, text, text_size, "%s", clv_gpu_missing() );
    }
    if ( wish == NULL || wish[0] == '\0' )
    {
        return find_fastest( keeps, index, text, text_size );
    }
    uint32_t found = UINT32_MAX;
    char* end = NULL;
    unsigned long number = strtoul( wish, &end, 10 );
    if ( isdigit( (unsigned char)wish[0] ) && *end == '\0' )
    {
        if ( number >= count )
        {
            return refuse( CLV_BAD_ARGUMENT, text, text_size, "there is no device %.20s; the last is %u",
                wish, count - 1 );
        }
        found = (uint32_t)number;
    }
    else
    {
        clv_result result = find_named( wish, &found, text, text_size );
        if ( result != CLV_OK )
        {
            return result;
        }
    }
    if ( !clv_gpu_device_prove( found, keeps ) )
    {
        clv_gpu_device device = device_at( found );
        return refuse( CLV_UNSUPPORTED, text, text_size, "device %u, %s, cannot be used: %s", found,
            device.name, device.unusable );
    }
    *index = found;
    return CLV_OK;
}

clv_result clv_gpu_device_find( const char* wish, uint32_t* index, char* text, size_t text_size )
{
    return clv_gpu_device_choose( wish, true, index, text, text_size );
}

// ---- in a child process: a context, a queue, a compiler and a kernel

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
