// SPDX-License-Identifier: MIT
// As much of OpenCL 1.2 as is used here, declared by hand: the build needs no headers of OpenCL, and the library is loaded at run
// time. Names, types and numbers are those of the Khronos specification, so that a caller's cl_mem and ours are the same thing.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined( _WIN32 ) && !defined( _WIN64 )
#define CL_CALL __stdcall
#else
#define CL_CALL
#endif

typedef struct opencl_platform* cl_platform_id;
typedef struct opencl_device* cl_device_id;
typedef struct opencl_context* cl_context;
typedef struct opencl_queue* cl_command_queue;
typedef struct opencl_memory* cl_mem;
typedef struct opencl_program* cl_program;
typedef struct opencl_kernel* cl_kernel;
typedef struct opencl_event* cl_event;
typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_bitfield;

enum
{
    CL_SUCCESS = 0,
    CL_DEVICE_NOT_FOUND = -1,
    CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    CL_OUT_OF_RESOURCES = -5,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_BUILD_PROGRAM_FAILURE = -11,
    CL_INVALID_BUFFER_SIZE = -61,

    CL_PLATFORM_NAME = 0x0902,

    CL_DEVICE_TYPE = 0x1000,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    CL_DEVICE_MAX_CLOCK_FREQUENCY = 0x100C,
    CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    CL_DEVICE_AVAILABLE = 0x1027,
    CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
    CL_DEVICE_NAME = 0x102B,
    CL_DEVICE_VENDOR = 0x102C,
    CL_DRIVER_VERSION = 0x102D,
    CL_DEVICE_VERSION = 0x102F,
    CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,

    CL_CONTEXT_PLATFORM = 0x1084,
    CL_QUEUE_CONTEXT = 0x1090,
    CL_QUEUE_DEVICE = 0x1091,
    CL_MEM_SIZE = 0x1102,
    CL_PROGRAM_BINARY_SIZES = 0x1165,
    CL_PROGRAM_BINARIES = 0x1166,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_PROFILING_COMMAND_START = 0x1282,
    CL_PROFILING_COMMAND_END = 0x1283,
};

#define CL_DEVICE_TYPE_CPU ( (cl_bitfield)2 )
#define CL_DEVICE_TYPE_ALL ( (cl_bitfield)0xFFFFFFFF )
#define CL_QUEUE_PROFILING_ENABLE ( (cl_bitfield)2 )
#define CL_MEM_READ_WRITE ( (cl_bitfield)1 )
#define CL_MEM_ALLOC_HOST_PTR ( (cl_bitfield)16 )
#define CL_MAP_READ ( (cl_bitfield)1 )
#define CL_MAP_WRITE ( (cl_bitfield)2 )

typedef void( CL_CALL cl_context_callback )( const char*, const void*, size_t, void* );
typedef void( CL_CALL cl_program_callback )( cl_program, void* );

// Every function that is called: CALL( result, name, arguments ).
#define OPENCL_CALLS( CALL )                                                                                 \
    CALL( cl_int, clGetPlatformIDs, (cl_uint, cl_platform_id*, cl_uint*))                                    \
    CALL( cl_int, clGetPlatformInfo, (cl_platform_id, cl_uint, size_t, void*, size_t*))                      \
    CALL( cl_int, clGetDeviceIDs, (cl_platform_id, cl_bitfield, cl_uint, cl_device_id*, cl_uint*))           \
    CALL( cl_int, clGetDeviceInfo, (cl_device_id, cl_uint, size_t, void*, size_t*))                          \
    CALL( cl_context, clCreateContext,                                                                       \
        (const intptr_t*, cl_uint, const cl_device_id*, cl_context_callback*, void*, cl_int*))               \
    CALL( cl_int, clRetainContext, ( cl_context ) )                                                          \
    CALL( cl_int, clReleaseContext, ( cl_context ) )                                                         \
    CALL( cl_command_queue, clCreateCommandQueue, (cl_context, cl_device_id, cl_bitfield, cl_int*))          \
    CALL( cl_int, clRetainCommandQueue, ( cl_command_queue ) )                                               \
    CALL( cl_int, clReleaseCommandQueue, ( cl_command_queue ) )                                              \
    CALL( cl_int, clGetCommandQueueInfo, (cl_command_queue, cl_uint, size_t, void*, size_t*))                \
    CALL(                                                                                                    \
        cl_program, clCreateProgramWithSource, (cl_context, cl_uint, const char**, const size_t*, cl_int*))  \
    CALL( cl_program, clCreateProgramWithBinary,                                                             \
        (cl_context, cl_uint, const cl_device_id*, const size_t*, const unsigned char**, cl_int*, cl_int*))  \
    CALL( cl_int, clBuildProgram,                                                                            \
        (cl_program, cl_uint, const cl_device_id*, const char*, cl_program_callback*, void*))                \
    CALL( cl_int, clGetProgramInfo, (cl_program, cl_uint, size_t, void*, size_t*))                           \
    CALL( cl_int, clGetProgramBuildInfo, (cl_program, cl_device_id, cl_uint, size_t, void*, size_t*))        \
    CALL( cl_int, clReleaseProgram, ( cl_program ) )                                                         \
    CALL( cl_kernel, clCreateKernel, (cl_program, const char*, cl_int*))                                     \
    CALL( cl_int, clReleaseKernel, ( cl_kernel ) )                                                           \
    CALL( cl_int, clSetKernelArg, (cl_kernel, cl_uint, size_t, const void*))                                 \
    CALL( cl_mem, clCreateBuffer, (cl_context, cl_bitfield, size_t, void*, cl_int*))                         \
    CALL( cl_int, clReleaseMemObject, ( cl_mem ) )                                                           \
    CALL( cl_int, clGetMemObjectInfo, (cl_mem, cl_uint, size_t, void*, size_t*))                             \
    CALL( cl_int, clEnqueueReadBuffer,                                                                       \
        (cl_command_queue, cl_mem, cl_uint, size_t, size_t, void*, cl_uint, const cl_event*, cl_event*))     \
    CALL( cl_int, clEnqueueWriteBuffer,                                                                      \
        (cl_command_queue, cl_mem, cl_uint, size_t, size_t, const void*, cl_uint, const cl_event*,           \
            cl_event*))                                                                                      \
    CALL( void*, clEnqueueMapBuffer,                                                                         \
        (cl_command_queue, cl_mem, cl_uint, cl_bitfield, size_t, size_t, cl_uint, const cl_event*,           \
            cl_event*, cl_int*))                                                                             \
    CALL( cl_int, clEnqueueUnmapMemObject,                                                                   \
        (cl_command_queue, cl_mem, void*, cl_uint, const cl_event*, cl_event*))                              \
    CALL( cl_int, clEnqueueNDRangeKernel,                                                                    \
        (cl_command_queue, cl_kernel, cl_uint, const size_t*, const size_t*, const size_t*, cl_uint,         \
            const cl_event*, cl_event*))                                                                     \
    CALL( cl_int, clGetEventProfilingInfo, (cl_event, cl_uint, size_t, void*, size_t*))                      \
    CALL( cl_int, clReleaseEvent, ( cl_event ) )                                                             \
    CALL( cl_int, clFlush, ( cl_command_queue ) )                                                            \
    CALL( cl_int, clFinish, ( cl_command_queue ) )

/// The functions of whichever OpenCL was loaded.
typedef struct gpu_opencl
{
#define OPENCL_MEMBER( result, name, arguments ) result( CL_CALL* name ) arguments;
    OPENCL_CALLS( OPENCL_MEMBER )
#undef OPENCL_MEMBER
} gpu_opencl;

/// The process's OpenCL, loaded by the first call; NULL, with a sentence in *why (which lives as long as the program), where
/// there is none. $CLEAVE_OPENCL names another library, and "none" no library at all.
const gpu_opencl* clv_gpu_opencl( const char** why );

/// For tests: from now on these functions, and none at all for NULL. The devices are listed anew.
void clv_gpu_opencl_replace( const gpu_opencl* table );

/// "CL_OUT_OF_RESOURCES" and the like; "error -9999" in a buffer of the caller's for numbers without a name here.
#define GPU_ERROR_NAME_ROOM 48
const char* clv_gpu_opencl_error_name( cl_int error, char buffer[GPU_ERROR_NAME_ROOM] );
