// SPDX-License-Identifier: MIT
// Loads OpenCL when somebody asks for a device, so that a machine without it runs everything else.
#define _POSIX_C_SOURCE 200809L
#include "opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
#define LIBRARY_NAME "OpenCL.dll"
#elif defined( __APPLE__ )
#include <dlfcn.h>
#define LIBRARY_NAME "/System/Library/Frameworks/OpenCL.framework/OpenCL"
#else
#include <dlfcn.h>
#define LIBRARY_NAME "libOpenCL.so.1"
#endif

enum
{
    REASON_ROOM = 512,
};

typedef enum load_state
{
    NOT_TRIED,
    LOADED,
    NOT_THERE,
} load_state;

static load_state s_state;
static gpu_opencl s_table;
static char s_reason[REASON_ROOM];

// ---- the two platforms

#ifdef _WIN32

static void* open_library( const char* name )
{
    void* library = (void*)LoadLibraryA( name );
    if ( library == NULL )
    {
        snprintf( s_reason, sizeof( s_reason ),
            "%.200s cannot be loaded (error %lu): no OpenCL driver is installed", name, GetLastError() );
    }
    return library;
}

static void find_function( void* library, const char* name, void* function, size_t size )
{
    FARPROC symbol = GetProcAddress( (HMODULE)library, name );
    memcpy( function, &symbol, size );
}

#else

static void* open_library( const char* name )
{
    void* library = dlopen( name, RTLD_NOW | RTLD_LOCAL );
    if ( library == NULL )
    {
        const char* error = dlerror();
        snprintf( s_reason, sizeof( s_reason ),
            "no OpenCL here: %.300s (Debian: ocl-icd-libopencl1 and a driver)",
            error != NULL ? error : "the library cannot be loaded" );
    }
    return library;
}

static void find_function( void* library, const char* name, void* function, size_t size )
{
    // ISO C has no cast from void* to a function; POSIX asks for this one.
    void* symbol = dlsym( library, name );
    memcpy( function, &symbol, size );
}

#endif

// ---- loading

static load_state load( void )
{
    const char* wish = getenv( "CLEAVE_OPENCL" );
    const char* name = wish != NULL && wish[0] != '\0' ? wish : LIBRARY_NAME;
    if ( strcmp( name, "none" ) == 0 )
    {
        snprintf( s_reason, sizeof( s_reason ), "CLEAVE_OPENCL=none keeps OpenCL away" );
        return NOT_THERE;
    }
    void* library = open_library( name );
    if ( library == NULL )
    {
        return NOT_THERE;
    }
    const char* absent = NULL;
#define OPENCL_FIND( result, call, arguments )                                                               \
    find_function( library, #call, &s_table.call, sizeof( s_table.call ) );                                  \
    absent = s_table.call == NULL ? #call : absent;
    OPENCL_CALLS( OPENCL_FIND )
#undef OPENCL_FIND
    if ( absent != NULL )
    {
        snprintf( s_reason, sizeof( s_reason ), "%.200s has no %s: it is no OpenCL 1.2", name, absent );
        return NOT_THERE; // it stays loaded: drivers do not like to be unloaded
    }
    return LOADED;
}

const gpu_opencl* clv_gpu_opencl( const char** why )
{
    if ( s_state == NOT_TRIED )
    {
        s_state = load();
    }
    if ( why != NULL )
    {
        *why = s_state == LOADED ? NULL : s_reason;
    }
    return s_state == LOADED ? &s_table : NULL;
}

void clv_gpu_opencl_replace( const gpu_opencl* table )
{
    s_state = table != NULL ? LOADED : NOT_THERE;
    if ( table != NULL )
    {
        s_table = *table;
        return;
    }
    snprintf( s_reason, sizeof( s_reason ), "no OpenCL here: it was taken away" );
}

// ---- errors

typedef struct error_name
{
    cl_int error;
    const char* name;
} error_name;

const char* clv_gpu_opencl_error_name( cl_int error, char buffer[GPU_ERROR_NAME_ROOM] )
{
    static const error_name s_names[] = {
        { 0, "CL_SUCCESS" },
        { -1, "CL_DEVICE_NOT_FOUND" },
        { -2, "CL_DEVICE_NOT_AVAILABLE" },
        { -3, "CL_COMPILER_NOT_AVAILABLE" },
        { -4, "CL_MEM_OBJECT_ALLOCATION_FAILURE" },
        { -5, "CL_OUT_OF_RESOURCES" },
        { -6, "CL_OUT_OF_HOST_MEMORY" },
        { -11, "CL_BUILD_PROGRAM_FAILURE" },
        { -12, "CL_MAP_FAILURE" },
        { -14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST" },
        { -30, "CL_INVALID_VALUE" },
        { -33, "CL_INVALID_DEVICE" },
        { -34, "CL_INVALID_CONTEXT" },
        { -36, "CL_INVALID_COMMAND_QUEUE" },
        { -38, "CL_INVALID_MEM_OBJECT" },
        { -42, "CL_INVALID_BINARY" },
        { -44, "CL_INVALID_PROGRAM" },
        { -45, "CL_INVALID_PROGRAM_EXECUTABLE" },
        { -46, "CL_INVALID_KERNEL_NAME" },
        { -48, "CL_INVALID_KERNEL" },
        { -49, "CL_INVALID_ARG_INDEX" },
        { -51, "CL_INVALID_ARG_SIZE" },
        { -52, "CL_INVALID_KERNEL_ARGS" },
        { -54, "CL_INVALID_WORK_GROUP_SIZE" },
        { -61, "CL_INVALID_BUFFER_SIZE" },
        { -1001, "CL_PLATFORM_NOT_FOUND_KHR" },
        { -9999, "a kernel read or wrote where it may not (NVIDIA -9999)" },
    };
    for ( size_t i = 0; i < sizeof( s_names ) / sizeof( s_names[0] ); ++i )
    {
        if ( s_names[i].error == error )
        {
            return s_names[i].name;
        }
    }
    snprintf( buffer, GPU_ERROR_NAME_ROOM, "OpenCL error %d", (int)error );
    return buffer;
}
