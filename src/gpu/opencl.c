// SPDX-License-Identifier: MIT
// Loads OpenCL when a device is first asked for, so that a machine without it runs everything else.
#define _GNU_SOURCE // dladdr, scandir
#include "opencl.h"

#include "gpu_look.h"

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
#ifndef _WIN32
#include <dirent.h>
#include <sys/stat.h>
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
static bool s_is_replaced;
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

static void* open_driver( const char* name )
{
    return (void*)LoadLibraryA( name );
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

static void* open_driver( const char* name )
{
    return dlopen( name, RTLD_LAZY | RTLD_LOCAL ); // as loaders do
}

static void find_function( void* library, const char* name, void* function, size_t size )
{
    // ISO C has no cast from void* to a function; POSIX asks for this one.
    void* symbol = dlsym( library, name );
    memcpy( function, &symbol, size );
}

#endif

// ---- loading

const char* clv_gpu_opencl_name( bool* is_wish )
{
    const char* wish = getenv( "CLEAVE_OPENCL" );
    *is_wish = wish != NULL && wish[0] != '\0';
    return *is_wish ? wish : LIBRARY_NAME;
}

static load_state load( void )
{
    bool is_wish = false;
    const char* name = clv_gpu_opencl_name( &is_wish );
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
#define OPENCL_FIND( place, result, call, arguments )                                                        \
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

bool clv_gpu_opencl_is_replaced( void )
{
    return s_is_replaced;
}

void clv_gpu_opencl_forget( void )
{
    s_state = s_is_replaced ? s_state : NOT_TRIED;
}

void clv_gpu_opencl_replace( const gpu_opencl* table )
{
    s_is_replaced = true;
    s_state = table != NULL ? LOADED : NOT_THERE;
    if ( table != NULL )
    {
        s_table = *table;
        return;
    }
    snprintf( s_reason, sizeof( s_reason ), "no OpenCL here: it was taken away" );
}

// ---- one driver

typedef cl_int( CL_CALL list_platforms )( cl_uint, cl_platform_id*, cl_uint* );
typedef void*( CL_CALL find_extension )( const char* );

// Which file a function is in, whatever names lead to it.
static void tell_file( const void* function, char* path, size_t path_size )
{
#ifdef _WIN32
    (void)function, (void)path, (void)path_size;
#else
    Dl_info info = { 0 };
    void* address = NULL;
    memcpy( &address, function, sizeof( address ) );
    char* file = address != NULL && dladdr( address, &info ) != 0 ? realpath( info.dli_fname, NULL ) : NULL;
    if ( file != NULL )
    {
        snprintf( path, path_size, "%s", file );
    }
    free( file );
#endif
}

// The table that an object of an installable driver points at.
static void* const* table_of( const void* object )
{
    void* const* table = NULL;
    memcpy( &table, object, sizeof( table ) );
    return table;
}

bool clv_gpu_opencl_owns( const gpu_opencl* driver, const void* object )
{
    void* own = NULL;
    memcpy( &own, &driver->clGetDeviceIDs, sizeof( own ) );
    void* const* table = table_of( object );
    return table != NULL && table[2] == own; // clGetDeviceIDs' place
}

bool clv_gpu_opencl_load_driver(
    const char* library_name, gpu_opencl* driver, char* path, size_t path_size, char* why, size_t why_size )
{
    path[0] = '\0';
    find_extension* find = NULL;
    list_platforms* list = NULL;
    cl_platform_id platform = NULL;
    cl_uint count = 0;
    clv_gpu_look_step( "dlopen" );
    void* library = open_driver( library_name );
    if ( library == NULL )
    {
        snprintf( why, why_size, "it cannot be loaded" );
        return false;
    }
    clv_gpu_look_step( "clGetExtensionFunctionAddress" );
    find_function( library, "clGetExtensionFunctionAddress", &find, sizeof( find ) );
    tell_file( &find, path, path_size );
    void* symbol = find != NULL ? find( "clIcdGetPlatformIDsKHR" ) : NULL;
    memcpy( &list, &symbol, sizeof( list ) );
    if ( list == NULL )
    {
        snprintf( why, why_size, "it is no installable driver: it has no clIcdGetPlatformIDsKHR" );
        return false;
    }
    clv_gpu_look_step( "clIcdGetPlatformIDsKHR" );
    if ( list( 1, &platform, &count ) != CL_SUCCESS || count == 0 || platform == NULL )
    {
        snprintf( why, why_size, "it has no platform" );
        return false;
    }
    const char* absent = NULL;
    void* const* table = table_of( platform );
#define OPENCL_TAKE( place, result, call, arguments )                                                        \
    memcpy( &driver->call, &table[place], sizeof( driver->call ) );
#define OPENCL_CHECK( place, result, call, arguments ) absent = driver->call == NULL ? #call : absent;
    OPENCL_CALLS( OPENCL_TAKE )
    driver->clGetPlatformIDs = list; // the platforms of this driver
    OPENCL_CALLS( OPENCL_CHECK )
#undef OPENCL_TAKE
#undef OPENCL_CHECK
    if ( absent != NULL )
    {
        snprintf( why, why_size, "it has no %s", absent );
    }
    return absent == NULL;
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

// ---- which drivers are installed

#ifdef _WIN32

uint32_t clv_gpu_icd_list( gpu_icd icds[GPU_ICD_MOST] )
{
    (void)icds;
    return 0;
}

bool clv_gpu_icd_is_loaded( const gpu_icd* icd )
{
    (void)icd;
    return false;
}

#else

#define FOLDER "/etc/OpenCL/vendors"

typedef struct icd_list
{
    gpu_icd* items;
    uint32_t count;
} icd_list;

static bool ends_with_icd( const char* name )
{
    size_t length = strlen( name );
    return length > 4 && strcmp( name + length - 4, ".icd" ) == 0;
}

static void add( icd_list* list, const char* file, const char* library )
{
    bool fits =
        strlen( file ) < sizeof( list->items->file ) && strlen( library ) < sizeof( list->items->library );
    for ( uint32_t i = 0; i < list->count; ++i )
    {
        fits = fits && strcmp( list->items[i].library, library ) != 0;
    }
    if ( library[0] == '\0' || list->count == GPU_ICD_MOST || !fits )
    {
        return;
    }
    gpu_icd* item = &list->items[list->count++];
    snprintf( item->file, sizeof( item->file ), "%s", file );
    snprintf( item->library, sizeof( item->library ), "%s", library );
}

// The library's name is the first line.
static bool add_file( icd_list* list, const char* path )
{
    char line[512] = "";
    FILE* file = fopen( path, "r" );
    if ( file == NULL )
    {
        return false;
    }
    if ( fgets( line, sizeof( line ), file ) != NULL )
    {
        line[strcspn( line, "\r\n" )] = '\0';
        add( list, path, line );
    }
    fclose( file );
    return true;
}

static bool add_folder( icd_list* list, const char* path )
{
    struct dirent** entries = NULL;
    struct stat kind;
    char file[512];
    int count =
        stat( path, &kind ) == 0 && S_ISDIR( kind.st_mode ) ? scandir( path, &entries, NULL, alphasort ) : -1;
    for ( int i = 0; i < count; ++i )
    {
        int length = snprintf( file, sizeof( file ), "%s/%s", path, entries[i]->d_name );
        if ( length > 0 && (size_t)length < sizeof( file ) && ends_with_icd( file ) )
        {
            add_file( list, file );
        }
        free( entries[i] );
    }
    free( entries );
    return count >= 0;
}

static const char* variable( const char* name )
{
    const char* value = getenv( name );
    return value != NULL && value[0] != '\0' ? value : NULL;
}

uint32_t clv_gpu_icd_list( gpu_icd icds[GPU_ICD_MOST] )
{
    icd_list list = { icds, 0 };
    char name[512];
    const char* path = variable( "OPENCL_VENDOR_PATH" );
    const char* folder = path != NULL ? path : FOLDER;
    const char* wish = variable( "OCL_ICD_VENDORS" );
    for ( const char* at = variable( "OCL_ICD_FILENAMES" ); at != NULL && *at != '\0'; )
    {
        size_t length = strcspn( at, ":" );
        snprintf( name, sizeof( name ), "%.*s", (int)( length < sizeof( name ) ? length : 0 ), at );
        add( &list, "", name );
        at += length + ( at[length] == ':' ? 1 : 0 );
    }
    if ( add_folder( &list, wish != NULL ? wish : folder ) || wish == NULL )
    {
        return list.count;
    }
    if ( !ends_with_icd( wish ) )
    {
        add( &list, "", wish );
        return list.count;
    }
    int length = snprintf( name, sizeof( name ), "%s/%s", folder, wish );
    bool is_there = strchr( wish, '/' ) == NULL && length > 0 && (size_t)length < sizeof( name ) &&
        add_file( &list, name );
    if ( !is_there )
    {
        add_file( &list, wish );
    }
    return list.count;
}

bool clv_gpu_icd_is_loaded( const gpu_icd* icd )
{
    void* library = dlopen( icd->library, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD );
    if ( library != NULL )
    {
        dlclose( library );
    }
    return library != NULL;
}

#endif
