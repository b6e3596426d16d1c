// SPDX-License-Identifier: MIT
// An OpenCL driver with one device that does nothing, and one that behaves badly: the variable FAKE_VARIABLE
// (a macro, so that there can be two) says how and in which call, such as "abort@clGetDeviceIDs"; "dlopen" is
// the moment it is loaded. It can be loaded as it is (CLEAVE_OPENCL names it), or by a loader of drivers, as
// a file .icd names it. test_gpu_driver.c and test_runner.c do.
#define _POSIX_C_SOURCE 200809L
#include "gpu/opencl.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum
{
    TABLE_PLACES = 160,
    PLATFORM_EXTENSIONS = 0x0904,
    PLATFORM_SUFFIX = 0x0920,
};

// ---- behaving badly

static void leave_an_orphan( void )
{
    if ( fork() == 0 )
    {
        sleep( 60 );
        _exit( 0 );
    }
}

static void behave( const char* call )
{
    const char* wish = getenv( FAKE_VARIABLE );
    const char* where = wish != NULL ? strchr( wish, '@' ) : NULL;
    if ( where == NULL || strcmp( where + 1, call ) != 0 )
    {
        return;
    }
    printf( "the next to last words of %s\n", FAKE_NAME );
    fflush( stdout );
    fprintf( stderr, "the last words of %s\n\n", FAKE_NAME );
    if ( strncmp( wish, "abort@", 6 ) == 0 || strncmp( wish, "orphan@", 7 ) == 0 )
    {
        wish[0] == 'o' ? leave_an_orphan() : (void)0;
        signal( SIGABRT, SIG_DFL );
        abort();
    }
    strncmp( wish, "crash@", 6 ) == 0 ? (void)raise( SIGSEGV ) : (void)0;
    strncmp( wish, "exit@", 5 ) == 0 ? exit( 3 ) : (void)0;
    strncmp( wish, "leave@", 6 ) == 0 ? _exit( 4 ) : (void)0;
    while ( strncmp( wish, "hang@", 5 ) == 0 )
    {
        pause();
    }
}

__attribute__( ( constructor ) ) static void begin( void )
{
    behave( "dlopen" );
}

// ---- objects: each begins with the table that loaders go by

typedef struct object
{
    void* const* table;
    size_t size;
    char data[16];
} object;

static void* s_table[TABLE_PLACES];
static object s_platform = { .table = s_table };
static object s_device = { .table = s_table };
static object s_context = { .table = s_table };
static object s_queue = { .table = s_table };
static object s_program = { .table = s_table };
static object s_kernel = { .table = s_table };

static cl_int tell( const void* answer, size_t length, size_t room, void* value, size_t* size )
{
    if ( value != NULL )
    {
        memcpy( value, answer, length < room ? length : room );
    }
    if ( size != NULL )
    {
        *size = length;
    }
    return CL_SUCCESS;
}

static cl_int tell_text( const char* text, size_t room, void* value, size_t* size )
{
    return tell( text, strlen( text ) + 1, room, value, size );
}

static void* give( object* made, cl_int* error )
{
    *error = CL_SUCCESS;
    return made;
}

// ---- its functions

cl_int clIcdGetPlatformIDsKHR( cl_uint room, cl_platform_id* ids, cl_uint* count );
void* clGetExtensionFunctionAddress( const char* name );
#define DECLARE( place, result, call, arguments ) result call arguments;
OPENCL_CALLS( DECLARE )

static void fill_table( void ){
#define FILL( place, result, call, arguments )                                                               \
    {                                                                                                        \
        result( *function ) arguments = call;                                                                \
        memcpy( &s_table[place], &function, sizeof( s_table[place] ) );                                      \
    }
    OPENCL_CALLS( FILL )
}

cl_int clGetPlatformIDs( cl_uint room, cl_platform_id* ids, cl_uint* count )
{
    cl_platform_id id = (cl_platform_id)(void*)&s_platform;
    behave( "clGetPlatformIDs" );
    fill_table();
    if ( ids != NULL && room > 0 )
    {
        ids[0] = id;
    }
    if ( count != NULL )
    {
        *count = 1;
    }
    return CL_SUCCESS;
}

cl_int clIcdGetPlatformIDsKHR( cl_uint room, cl_platform_id* ids, cl_uint* count )
{
    return clGetPlatformIDs( room, ids, count );
}

// ISO C has no cast from a function to void*.
static void* as_address( const void* function )
{
    void* address = NULL;
    memcpy( &address, function, sizeof( address ) );
    return address;
}

void* clGetExtensionFunctionAddress( const char* name )
{
    cl_int ( *list )( cl_uint, cl_platform_id*, cl_uint* ) = clIcdGetPlatformIDsKHR;
    cl_int ( *info )( cl_platform_id, cl_uint, size_t, void*, size_t* ) = clGetPlatformInfo;
    return strcmp( name, "clIcdGetPlatformIDsKHR" ) == 0 ? as_address( &list )
        : strcmp( name, "clGetPlatformInfo" ) == 0       ? as_address( &info )
                                                         : NULL;
}

cl_int clGetPlatformInfo( cl_platform_id id, cl_uint what, size_t room, void* value, size_t* size )
{
    (void)id;
    return tell_text( what == PLATFORM_EXTENSIONS ? "cl_khr_icd"
            : what == PLATFORM_SUFFIX             ? FAKE_NAME
                                                  : FAKE_NAME " platform",
        room, value, size );
}

cl_int clGetDeviceIDs( cl_platform_id id, cl_bitfield type, cl_uint room, cl_device_id* ids, cl_uint* count )
{
    (void)id;
    behave( "clGetDeviceIDs" );
    if ( ids != NULL && room > 0 )
    {
        ids[0] = (cl_device_id)(void*)&s_device;
    }
    if ( count != NULL )
    {
        *count = 1;
    }
    return type == CL_DEVICE_TYPE_CPU ? CL_DEVICE_NOT_FOUND : CL_SUCCESS;
}

cl_int clGetDeviceInfo( cl_device_id id, cl_uint what, size_t room, void* value, size_t* size )
{
    const char* version = getenv( "FAKE_OPENCL_VERSION" );
    void* platform = &s_platform;
    uint64_t number = what == CL_DEVICE_TYPE ? 4u : 1u << 28;
    uint32_t units = FAKE_UNITS;
    (void)id;
    behave( "clGetDeviceInfo" );
    switch ( what )
    {
    case CL_DEVICE_NAME: return tell_text( FAKE_NAME " device", room, value, size );
    case CL_DEVICE_VENDOR: return tell_text( "vendor", room, value, size );
    case CL_DRIVER_VERSION: return tell_text( version != NULL ? version : "1.0", room, value, size );
    case CL_DEVICE_PLATFORM: return tell( &platform, sizeof( platform ), room, value, size );
    case CL_DEVICE_MAX_COMPUTE_UNITS: return tell( &units, sizeof( units ), room, value, size );
    default: return tell( &number, sizeof( number ), room, value, size );
    }
}

cl_context clCreateContext( const intptr_t* properties, cl_uint count, const cl_device_id* ids,
    cl_context_callback* callback, void* user, cl_int* error )
{
    (void)properties, (void)count, (void)ids, (void)callback, (void)user;
    behave( "clCreateContext" );
    return give( &s_context, error );
}

cl_int clReleaseContext( cl_context context )
{
    (void)context;
    return CL_SUCCESS;
}

cl_command_queue clCreateCommandQueue( cl_context context, cl_device_id id, cl_bitfield kind, cl_int* error )
{
    (void)context, (void)id, (void)kind;
    behave( "clCreateCommandQueue" );
    return give( &s_queue, error );
}

cl_int clRetainCommandQueue( cl_command_queue queue )
{
    (void)queue;
    return CL_SUCCESS;
}

cl_int clReleaseCommandQueue( cl_command_queue queue )
{
    (void)queue;
    return CL_SUCCESS;
}

cl_int clGetCommandQueueInfo( cl_command_queue queue, cl_uint what, size_t room, void* value, size_t* size )
{
    void* answer = what == CL_QUEUE_DEVICE ? &s_device : &s_context;
    (void)queue;
    return tell( &answer, sizeof( answer ), room, value, size );
}

cl_program clCreateProgramWithSource(
    cl_context context, cl_uint count, const char** texts, const size_t* sizes, cl_int* error )
{
    (void)context, (void)count, (void)texts, (void)sizes;
    return give( &s_program, error );
}

cl_program clCreateProgramWithBinary( cl_context context, cl_uint count, const cl_device_id* ids,
    const size_t* sizes, const unsigned char** data, cl_int* status, cl_int* error )
{
    (void)context, (void)count, (void)ids, (void)sizes, (void)data;
    *status = CL_SUCCESS;
    return give( &s_program, error );
}

cl_int clBuildProgram( cl_program program, cl_uint count, const cl_device_id* ids, const char* options,
    cl_program_callback* callback, void* user )
{
    (void)program, (void)count, (void)ids, (void)options, (void)callback, (void)user;
    behave( "clBuildProgram" );
    return CL_SUCCESS;
}

cl_int clGetProgramInfo( cl_program program, cl_uint what, size_t room, void* value, size_t* size )
{
    size_t none = 0;
    (void)program, (void)what;
    return tell( &none, sizeof( none ), room, value, size );
}

cl_int clGetProgramBuildInfo(
    cl_program program, cl_device_id id, cl_uint what, size_t room, void* value, size_t* size )
{
    (void)program, (void)id, (void)what;
    return tell_text( "", room, value, size );
}

cl_int clReleaseProgram( cl_program program )
{
    (void)program;
    return CL_SUCCESS;
}

cl_kernel clCreateKernel( cl_program program, const char* name, cl_int* error )
{
    (void)program, (void)name;
    return give( &s_kernel, error );
}

cl_int clReleaseKernel( cl_kernel kernel )
{
    (void)kernel;
    return CL_SUCCESS;
}

cl_int clSetKernelArg( cl_kernel kernel, cl_uint index, size_t size, const void* value )
{
    (void)kernel, (void)index, (void)size, (void)value;
    return CL_SUCCESS;
}

cl_mem clCreateBuffer( cl_context context, cl_bitfield kind, size_t size, void* data, cl_int* error )
{
    object* made = calloc( 1, sizeof( object ) + size );
    (void)context, (void)kind, (void)data;
    *error = made != NULL ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE;
    if ( made != NULL )
    {
        made->table = s_table;
        made->size = size;
    }
    return (cl_mem)(void*)made;
}

cl_int clReleaseMemObject( cl_mem memory )
{
    free( memory );
    return CL_SUCCESS;
}

static char* data_of( cl_mem memory )
{
    return ( (object*)(void*)memory )->data;
}

cl_int clEnqueueReadBuffer( cl_command_queue queue, cl_mem memory, cl_uint waits, size_t at, size_t size,
    void* data, cl_uint count, const cl_event* events, cl_event* event )
{
    (void)queue, (void)waits, (void)count, (void)events, (void)event;
    memcpy( data, data_of( memory ) + at, size );
    return CL_SUCCESS;
}

cl_int clEnqueueWriteBuffer( cl_command_queue queue, cl_mem memory, cl_uint waits, size_t at, size_t size,
    const void* data, cl_uint count, const cl_event* events, cl_event* event )
{
    (void)queue, (void)waits, (void)count, (void)events, (void)event;
    memcpy( data_of( memory ) + at, data, size );
    return CL_SUCCESS;
}

void* clEnqueueMapBuffer( cl_command_queue queue, cl_mem memory, cl_uint waits, cl_bitfield kind, size_t at,
    size_t size, cl_uint count, const cl_event* events, cl_event* event, cl_int* error )
{
    (void)queue, (void)waits, (void)kind, (void)size, (void)count, (void)events, (void)event;
    *error = CL_SUCCESS;
    return data_of( memory ) + at;
}

cl_int clEnqueueUnmapMemObject( cl_command_queue queue, cl_mem memory, void* data, cl_uint count,
    const cl_event* events, cl_event* event )
{
    (void)queue, (void)memory, (void)data, (void)count, (void)events, (void)event;
    return CL_SUCCESS;
}

cl_int clEnqueueNDRangeKernel( cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
    const size_t* offset, const size_t* global, const size_t* local, cl_uint count, const cl_event* events,
    cl_event* event )
{
    (void)queue, (void)kernel, (void)dimensions, (void)offset, (void)global, (void)local;
    (void)count, (void)events, (void)event;
    behave( "clEnqueueNDRangeKernel" );
    return CL_SUCCESS;
}

cl_int clGetEventProfilingInfo( cl_event event, cl_uint what, size_t room, void* value, size_t* size )
{
    uint64_t time = 0;
    (void)event, (void)what;
    return tell( &time, sizeof( time ), room, value, size );
}

cl_int clReleaseEvent( cl_event event )
{
    (void)event;
    return CL_SUCCESS;
}

cl_int clFinish( cl_command_queue queue )
{
    (void)queue;
    behave( "clFinish" );
    return CL_SUCCESS;
}
