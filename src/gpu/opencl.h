// SPDX-License-Identifier: MIT
// As much of OpenCL 1.2 as is used here, declared by hand: the build needs no headers of OpenCL, and the
// library is loaded at run time. Names, types and numbers are those of the Khronos specification, so that a
// caller's cl_mem and ours are the same thing.
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
    CL_DEVICE_SINGLE_FP_CONFIG = 0x101B,
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    CL_DEVICE_AVAILABLE = 0x1027,
    CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
    CL_DEVICE_NAME = 0x102B,
    CL_DEVICE_VENDOR = 0x102C,
    CL_DRIVER_VERSION = 0x102D,
    CL_DEVICE_PLATFORM = 0x1031,
    CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,

    CL_CONTEXT_PLATFORM = 0x1084,
    CL_QUEUE_CONTEXT = 0x1090,
    CL_QUEUE_DEVICE = 0x1091,
    CL_PROGRAM_BINARY_SIZES = 0x1165,
    CL_PROGRAM_BINARIES = 0x1166,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_PROFILING_COMMAND_START = 0x1282,
    CL_PROFILING_COMMAND_END = 0x1283,
};

#define CL_FP_DENORM ( (cl_bitfield)1 )
#define CL_DEVICE_TYPE_CPU ( (cl_bitfield)2 )
#define CL_DEVICE_TYPE_ALL ( (cl_bitfield)0xFFFFFFFF )
#define CL_QUEUE_PROFILING_ENABLE ( (cl_bitfield)2 )
#define CL_MEM_READ_WRITE ( (cl_bitfield)1 )
#define CL_MEM_USE_HOST_PTR ( (cl_bitfield)8 )
#define CL_MEM_ALLOC_HOST_PTR ( (cl_bitfield)16 )
#define CL_MAP_READ ( (cl_bitfield)1 )
#define CL_MAP_WRITE ( (cl_bitfield)2 )

typedef void( CL_CALL cl_context_callback )( const char*, const void*, size_t, void* );
typedef void( CL_CALL cl_program_callback )( cl_program, void* );

// Every function that is called: CALL( place, result, name, arguments ). The place is that in the table which
// every object of an installable driver points at (extension cl_khr_icd): it never changes.
#define OPENCL_CALLS( CALL )                                                                                 \
    CALL( 0, cl_int, clGetPlatformIDs, (cl_uint, cl_platform_id*, cl_uint*))                                 \
    CALL( 1, cl_int, clGetPlatformInfo, (cl_platform_id, cl_uint, size_t, void*, size_t*))                   \
    CALL( 2, cl_int, clGetDeviceIDs, (cl_platform_id, cl_bitfield, cl_uint, cl_device_id*, cl_uint*))        \
    CALL( 3, cl_int, clGetDeviceInfo, (cl_device_id, cl_uint, size_t, void*, size_t*))                       \
    CALL( 4, cl_context, clCreateContext,                                                                    \
        (const intptr_t*, cl_uint, const cl_device_id*, cl_context_callback*, void*, cl_int*))               \
    CALL( 7, cl_int, clReleaseContext, ( cl_context ) )                                                      \
    CALL( 9, cl_command_queue, clCreateCommandQueue, (cl_context, cl_device_id, cl_bitfield, cl_int*))       \
    CALL( 10, cl_int, clRetainCommandQueue, ( cl_command_queue ) )                                           \
    CALL( 11, cl_int, clReleaseCommandQueue, ( cl_command_queue ) )                                          \
    CALL( 12, cl_int, clGetCommandQueueInfo, (cl_command_queue, cl_uint, size_t, void*, size_t*))            \
    CALL( 26, cl_program, clCreateProgramWithSource,                                                         \
        (cl_context, cl_uint, const char**, const size_t*, cl_int*))                                         \
    CALL( 27, cl_program, clCreateProgramWithBinary,                                                         \
        (cl_context, cl_uint, const cl_device_id*, const size_t*, const unsigned char**, cl_int*, cl_int*))  \
    CALL( 30, cl_int, clBuildProgram,                                                                        \
        (cl_program, cl_uint, const cl_device_id*, const char*, cl_program_callback*, void*))                \
    CALL( 32, cl_int, clGetProgramInfo, (cl_program, cl_uint, size_t, void*, size_t*))                       \
    CALL( 33, cl_int, clGetProgramBuildInfo, (cl_program, cl_device_id, cl_uint, size_t, void*, size_t*))    \
    CALL( 29, cl_int, clReleaseProgram, ( cl_program ) )                                                     \
    CALL( 34, cl_kernel, clCreateKernel, (cl_program, const char*, cl_int*))                                 \
    CALL( 37, cl_int, clReleaseKernel, ( cl_kernel ) )                                                       \
    CALL( 38, cl_int, clSetKernelArg, (cl_kernel, cl_uint, size_t, const void*))                             \
    CALL( 14, cl_mem, clCreateBuffer, (cl_context, cl_bitfield, size_t, void*, cl_int*))                     \
    CALL( 18, cl_int, clReleaseMemObject, ( cl_mem ) )                                                       \
    CALL( 48, cl_int, clEnqueueReadBuffer,                                                                   \
        (cl_command_queue, cl_mem, cl_uint, size_t, size_t, void*, cl_uint, const cl_event*, cl_event*))     \
    CALL( 49, cl_int, clEnqueueWriteBuffer,                                                                  \
        (cl_command_queue, cl_mem, cl_uint, size_t, size_t, const void*, cl_uint, const cl_event*,           \
            cl_event*))                                                                                      \
    CALL( 56, void*, clEnqueueMapBuffer,                                                                     \
        (cl_command_queue, cl_mem, cl_uint, cl_bitfield, size_t, size_t, cl_uint, const cl_event*,           \
            cl_event*, cl_int*))                                                                             \
    CALL( 58, cl_int, clEnqueueUnmapMemObject,                                                               \
        (cl_command_queue, cl_mem, void*, cl_uint, const cl_event*, cl_event*))                              \
    CALL( 59, cl_int, clEnqueueNDRangeKernel,                                                                \
        (cl_command_queue, cl_kernel, cl_uint, const size_t*, const size_t*, const size_t*, cl_uint,         \
            const cl_event*, cl_event*))                                                                     \
    CALL( 45, cl_int, clGetEventProfilingInfo, (cl_event, cl_uint, size_t, void*, size_t*))                  \
    CALL( 44, cl_int, clReleaseEvent, ( cl_event ) )                                                         \
    CALL( 47, cl_int, clFinish, ( cl_command_queue ) )

/// The functions of whichever OpenCL was loaded.
typedef struct gpu_opencl
{
#define OPENCL_MEMBER( place, result, name, arguments ) result( CL_CALL* name ) arguments;
    OPENCL_CALLS( OPENCL_MEMBER )
#undef OPENCL_MEMBER
} gpu_opencl;

/// The process's OpenCL, loaded by the first call; NULL, with a sentence in *why (which lives as long as the
/// program), where there is none. $CLEAVE_OPENCL names another library, and "none" no library at all.
const gpu_opencl* clv_gpu_opencl( const char** why );

/// The name of that library, loaded or not. *is_wish: $CLEAVE_OPENCL has it.
const char* clv_gpu_opencl_name( bool* is_wish );

/// The functions of one installable driver alone, by its own library, without the library that has them all.
/// False, with a sentence's end in `why`. `path`, of `path_size` bytes, is the library's file, known as soon
/// as that is loaded; "" where the system does not tell.
bool clv_gpu_opencl_load_driver(
    const char* library_name, gpu_opencl* driver, char* path, size_t path_size, char* why, size_t why_size );

/// Is this object (a platform, queue, ...) one of that driver's?
bool clv_gpu_opencl_owns( const gpu_opencl* driver, const void* object );

/// For tests: from now on these functions, and none at all for NULL. The devices are listed anew.
void clv_gpu_opencl_replace( const gpu_opencl* table );
bool clv_gpu_opencl_is_replaced( void );

/// For tests: unless it was replaced the next call loads it anew, by the name that it has then.
void clv_gpu_opencl_forget( void );

/// "CL_OUT_OF_RESOURCES" and the like; "error -9999" in a buffer of the caller's for numbers without a name
/// here.
#define GPU_ERROR_NAME_ROOM 48
const char* clv_gpu_opencl_error_name( cl_int error, char buffer[GPU_ERROR_NAME_ROOM] );

// ---- which drivers are installed: the files NAME.icd that loaders of OpenCL read, each with the name of a
// driver's library

typedef struct gpu_icd
{
    char file[160];    ///< "" where only the library was named
    char library[256]; ///< as dlopen takes it
} gpu_icd;

#define GPU_ICD_MOST 16

/// Those that a loader would load: $OCL_ICD_FILENAMES, and behind these $OCL_ICD_VENDORS (a folder, a file or
/// a library) or $OPENCL_VENDOR_PATH or /etc/OpenCL/vendors; in the order of their names, each library once.
/// None on Windows.
uint32_t clv_gpu_icd_list( gpu_icd icds[GPU_ICD_MOST] );

/// Is its library in this process already?
bool clv_gpu_icd_is_loaded( const gpu_icd* icd );
