// SPDX-License-Identifier: MIT
// Programs are compiled when one of their kernels is first needed, and their binaries kept.
#define _POSIX_C_SOURCE 200809L
#include "base/assertion.h"
#include "gpu_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <direct.h>
#include <process.h>
#define make_folder( path ) _mkdir( path )
#define process_number() ( (unsigned long)_getpid() )
#else
#include <sys/stat.h>
#include <unistd.h>
#define make_folder( path ) mkdir( path, 0755 )
#define process_number() ( (unsigned long)getpid() )
#endif

// Made from kernels/*.cl by cmake/kernels.cmake: an array kernel_text_NAME for each, a zero behind it.
#include "gpu_kernel_texts.inc"

static const char* const s_texts[GPU_PROGRAM_COUNT] = {
#define GPU_PROGRAM_TEXT( name ) kernel_text_##name,
    GPU_PROGRAMS( GPU_PROGRAM_TEXT )
#undef GPU_PROGRAM_TEXT
};

static const gpu_kernel_row s_kernels[GPU_KERNEL_COUNT] = {
#define GPU_KERNEL_NAME( name, program ) { #name, GPU_PROGRAM_##program },
    GPU_KERNELS( GPU_KERNEL_NAME )
#undef GPU_KERNEL_NAME
};

// What kernels are compiled with.
#define GPU_OPTIONS_ROOM 64
static void build_options( const clv_gpu* gpu, char options[GPU_OPTIONS_ROOM] )
{
    snprintf( options, GPU_OPTIONS_ROOM, "-cl-std=CL1.2 -DGROUP=%d -DQUEUE=%u", GPU_GROUP,
        gpu->queue_pairs > 0 ? gpu->queue_pairs : GPU_QUEUE );
}

static const gpu_kernel_row* row_of( const clv_gpu* gpu, gpu_kernel_id id )
{
    CLV_ASSERT( id < GPU_KERNEL_COUNT || gpu->guest != NULL );
    return id < GPU_KERNEL_COUNT ? &s_kernels[id] : &gpu->guest->kernels[id - GPU_KERNEL_COUNT];
}

// The text of a program, in parts, each NULL-terminated: what all share, what those about bodies or cells
// share, then its own. Parts that it does not need are empty.
static void kernel_text( const clv_gpu* gpu, uint32_t program, const char* parts[GPU_TEXT_PARTS] )
{
    for ( int i = 0; i < GPU_TEXT_PARTS; ++i )
    {
        parts[i] = "";
    }
    parts[0] = kernel_text_gpu_layout;
    parts[1] = kernel_text_common;
    if ( program >= GPU_PROGRAM_COUNT )
    {
        gpu->guest->text( program - GPU_PROGRAM_COUNT, parts );
        return;
    }
    parts[2] = program == GPU_PROGRAM_grid || program == GPU_PROGRAM_rest || program == GPU_PROGRAM_near
        ? kernel_text_cells
        : "";
    parts[3] = s_texts[program];
}

// ---- binaries, a file each, named by a hash of what they were compiled from, for and by. A file is written
// under another name and moved into place, and carries its own length and hash: a half-written or damaged one
// counts as none.

enum
{
    PATH_ROOM = 1024,
};

static const uint64_t s_mark = UINT64_C( 0x31475043564C43 ); // "CLVCPG1"
static const uint64_t s_size_most = UINT64_C( 256 ) << 20;

typedef struct cache_head
{
    uint64_t mark, key, size, hash;
} cache_head;

static uint64_t hash_bytes( const unsigned char* data, size_t size )
{
    uint64_t hash = UINT64_C( 0xCBF29CE484222325 );
    for ( size_t i = 0; i < size; ++i )
    {
        hash = ( hash ^ data[i] ) * UINT64_C( 0x100000001B3 );
    }
    return hash;
}

// $XDG_CACHE_HOME/cleave, ~/.cache/cleave, or %LOCALAPPDATA%\cleave. False where none of them is known.
static bool find_folder( char path[PATH_ROOM], bool makes )
{
#ifdef _WIN32
    const char* base = getenv( "LOCALAPPDATA" );
    const char* below = "";
#else
    const char* base = getenv( "XDG_CACHE_HOME" );
    const char* below = "";
    if ( base == NULL || base[0] != '/' ) // the specification: a relative path is to be ignored
    {
        base = getenv( "HOME" );
        below = "/.cache";
    }
#endif
    if ( base == NULL || base[0] == '\0' )
    {
        return false;
    }
    int length = snprintf( path, PATH_ROOM, "%s%s", base, below );
    if ( length < 0 || length > PATH_ROOM - 80 )
    {
        return false;
    }
    if ( makes )
    {
        make_folder( path );
    }
    snprintf( path + length, (size_t)( PATH_ROOM - length ), "/cleave" );
    if ( makes )
    {
        make_folder(
            // one that is there already is fine; one that cannot be made shows when the file is opened
            path );
    }
    return true;
}

static bool file_path( uint64_t key, char path[PATH_ROOM], bool makes )
{
    if ( !find_folder( path, makes ) )
    {
        return false;
    }
    size_t length = strlen( path );
    snprintf( path + length, PATH_ROOM - length, "/gpu-%016" PRIx64 ".bin", key );
    return true;
}

static bool read_file( FILE* file, uint64_t key, unsigned char** data, size_t* size )
{
    cache_head head;
    if ( fread( &head, sizeof( head ), 1, file ) != 1 || head.mark != s_mark || head.key != key ||
        head.size == 0 || head.size > s_size_most )
    {
        return false;
    }
    *size = (size_t)head.size;
    *data = malloc( *size );
    if ( *data != NULL && fread( *data, 1, *size, file ) == *size && hash_bytes( *data, *size ) == head.hash )
    {
        return true;
    }
    free( *data );
    *data = NULL;
    return false;
}

bool clv_gpu_cache_read( uint64_t key, unsigned char** data, size_t* size )
{
    char path[PATH_ROOM];
    FILE* file = file_path( key, path, false ) ? fopen( path, "rb" ) : NULL;
    if ( file == NULL )
    {
        return false;
    }
    bool good = read_file( file, key, data, size );
    fclose( file );
    return good;
}

void clv_gpu_cache_free( unsigned char* data )
{
    free( data );
}

void clv_gpu_cache_write( uint64_t key, const unsigned char* data, size_t size )
{
    char path[PATH_ROOM];
    char work[PATH_ROOM + 32];
    if ( size > s_size_most || !file_path( key, path, true ) )
    {
        return;
    }
    snprintf( work, sizeof( work ), "%s.%lu", path, process_number() );
    FILE* file = fopen( work, "wb" );
    if ( file == NULL )
    {
        return;
    }
    cache_head head = { s_mark, key, size, hash_bytes( data, size ) };
    bool good = fwrite( &head, sizeof( head ), 1, file ) == 1 && fwrite( data, 1, size, file ) == size;
    good = fclose( file ) == 0 && good;
#ifdef _WIN32
    good = good && ( remove( path ) == 0 || errno == ENOENT );
#endif
    if ( !good || rename( work, path ) != 0 )
    {
        remove( work );
    }
}

// ---- the cache's key

uint64_t clv_gpu_hash_text( uint64_t hash, const char* text )
{
    for ( ; *text != '\0'; ++text )
    {
        hash = ( hash ^ (unsigned char)*text ) * UINT64_C( 0x100000001B3 ); // FNV-1a
    }
    return ( hash ^ 0xFF ) * UINT64_C( 0x100000001B3 ); // where one text ends and the next begins
}

uint64_t clv_gpu_hash_device( uint64_t hash, const gpu_device* device )
{
    hash = clv_gpu_hash_text( hash, device->facts.name );
    hash = clv_gpu_hash_text( hash, device->facts.platform );
    return clv_gpu_hash_text( hash, device->facts.driver );
}

// Of everything the binary depends on.
static uint64_t key_of( const clv_gpu* gpu, uint32_t id )
{
    const char* parts[GPU_TEXT_PARTS];
    char options[GPU_OPTIONS_ROOM];
    build_options( gpu, options );
    kernel_text( gpu, id, parts );
    uint64_t hash = GPU_HASH_BEGIN;
    for ( int i = 0; i < GPU_TEXT_PARTS; ++i )
    {
        hash = clv_gpu_hash_text( hash, parts[i] );
    }
    return clv_gpu_hash_device( clv_gpu_hash_text( hash, options ), gpu->device );
}

// ---- compiling

static clv_result fail_build( clv_gpu* gpu, cl_program program, cl_int error, const char* what )
{
    char log[GPU_TEXT_ROOM - 512] = "";
    char name[GPU_ERROR_NAME_ROOM];
    gpu->cl->clGetProgramBuildInfo(
        program, gpu->device->id, CL_PROGRAM_BUILD_LOG, sizeof( log ) - 1, log, NULL );
    return clv_gpu_fail( gpu, CLV_DEVICE_FAILED, "%s: compiling %s.cl: %s; the driver says: %s",
        gpu->device->facts.name, what, clv_gpu_opencl_error_name( error, name ), log );
}

static const char* program_name( const clv_gpu* gpu, uint32_t id )
{
    static const char* const s_names[GPU_PROGRAM_COUNT] = {
#define GPU_PROGRAM_NAME( name ) #name,
        GPU_PROGRAMS( GPU_PROGRAM_NAME )
#undef GPU_PROGRAM_NAME
    };
    return id < GPU_PROGRAM_COUNT ? s_names[id] : gpu->guest->programs[id - GPU_PROGRAM_COUNT];
}

static cl_int build( clv_gpu* gpu, cl_program program )
{
    char options[GPU_OPTIONS_ROOM];
    build_options( gpu, options );
    return gpu->cl->clBuildProgram( program, 1, &gpu->device->id, options, NULL, NULL );
}

// A binary that the driver does not take is as good as none: it is compiled anew and written over.
static cl_program program_from_cache( clv_gpu* gpu, uint64_t key )
{
    unsigned char* data = NULL;
    size_t size = 0;
    if ( !gpu->def.cache || !clv_gpu_cache_read( key, &data, &size ) )
    {
        return NULL;
    }
    cl_int error = CL_SUCCESS;
    cl_int status = CL_SUCCESS;
    const unsigned char* binary = data;
    cl_program program = gpu->cl->clCreateProgramWithBinary(
        gpu->context, 1, &gpu->device->id, &size, &binary, &status, &error );
    clv_gpu_cache_free( data );
    if ( error != CL_SUCCESS )
    {
        return NULL;
    }
    if ( status != CL_SUCCESS || build( gpu, program ) != CL_SUCCESS )
    {
        gpu->cl->clReleaseProgram( program );
        return NULL;
    }
    return program;
}

// Failing to keep it is no failure.
static void keep_binary( clv_gpu* gpu, cl_program program, uint64_t key )
{
    size_t size = 0;
    if ( !gpu->def.cache ||
        gpu->cl->clGetProgramInfo( program, CL_PROGRAM_BINARY_SIZES, sizeof( size ), &size, NULL ) !=
            CL_SUCCESS ||
        size == 0 )
    {
        return;
    }
    unsigned char* data = clv_base_memory_take( &gpu->memory, size, 1 );
    if ( data == NULL )
    {
        return;
    }
    unsigned char* binary = data;
    if ( gpu->cl->clGetProgramInfo( program, CL_PROGRAM_BINARIES, sizeof( binary ), &binary, NULL ) ==
        CL_SUCCESS )
    {
        clv_gpu_cache_write( key, data, size );
    }
    clv_base_memory_give( &gpu->memory, data, size, 1 );
}

static clv_result compile( clv_gpu* gpu, uint32_t id, uint64_t key )
{
    const char* parts[GPU_TEXT_PARTS];
    cl_int error = CL_SUCCESS;
    kernel_text( gpu, id, parts );
    cl_program program =
        gpu->cl->clCreateProgramWithSource( gpu->context, GPU_TEXT_PARTS, parts, NULL, &error );
    clv_result result = clv_gpu_check( gpu, error, "handing over a program" );
    if ( result != CLV_OK )
    {
        return result;
    }
    error = build( gpu, program );
    if ( error != CL_SUCCESS )
    {
        result = fail_build( gpu, program, error, program_name( gpu, id ) );
        gpu->cl->clReleaseProgram( program );
        return result;
    }
    keep_binary( gpu, program, key );
    gpu->programs[id] = program;
    return CLV_OK;
}

static clv_result load_program( clv_gpu* gpu, uint32_t id )
{
    if ( gpu->programs[id] != NULL )
    {
        return CLV_OK;
    }
    uint64_t key = key_of( gpu, id );
    gpu->programs[id] = program_from_cache( gpu, key );
    return gpu->programs[id] != NULL ? CLV_OK : compile( gpu, id, key );
}

// The kernel, compiled or read from the cache where that was not done yet.
static clv_result kernel_of( clv_gpu* gpu, gpu_kernel_id id, cl_kernel* kernel )
{
    *kernel = gpu->kernels[id];
    if ( *kernel != NULL )
    {
        return CLV_OK;
    }
    const gpu_kernel_row* row = row_of( gpu, id );
    clv_result result = load_program( gpu, row->program );
    if ( result != CLV_OK )
    {
        return result;
    }
    cl_int error = CL_SUCCESS;
    *kernel = gpu->cl->clCreateKernel( gpu->programs[row->program], row->name, &error );
    gpu->kernels[id] = error == CL_SUCCESS ? *kernel : NULL;
    return clv_gpu_check( gpu, error, row_of( gpu, id )->name );
}

// ---- running

// A launch that cannot be kept is not timed.
static void keep_span( clv_gpu* gpu, gpu_kernel_id id, cl_event event )
{
    gpu_spans* spans = gpu->spans;
    void* items = spans->items;
    if ( !clv_base_memory_reserve(
             &gpu->memory, &items, &spans->capacity, spans->count, spans->count + 1, sizeof( gpu_span ) ) )
    {
        gpu->cl->clReleaseEvent( event );
        return;
    }
    spans->items = items;
    CLV_ASSERT( spans->count < spans->capacity );
    spans->items[spans->count++] = ( gpu_span ){ event, id };
}

void clv_gpu_spans_take( clv_gpu* gpu )
{
    gpu_spans* spans = gpu->spans;
    if ( spans == NULL )
    {
        return;
    }
    memset( spans->ms, 0, sizeof( spans->ms ) );
    for ( uint64_t i = 0; i < spans->count; ++i )
    {
        uint64_t start = 0;
        uint64_t end = 0;
        cl_event event = spans->items[i].event;
        gpu->cl->clGetEventProfilingInfo( event, CL_PROFILING_COMMAND_START, sizeof( start ), &start, NULL );
        gpu->cl->clGetEventProfilingInfo( event, CL_PROFILING_COMMAND_END, sizeof( end ), &end, NULL );
        gpu->cl->clReleaseEvent( event );
        spans->ms[spans->items[i].kernel] += end > start ? (double)( end - start ) * 1e-6 : 0.0;
    }
    spans->count = 0;
}

void clv_gpu_spans_free( clv_gpu* gpu, gpu_spans* spans )
{
    clv_base_memory_give( &gpu->memory, spans->items, spans->capacity, sizeof( gpu_span ) );
    *spans = ( gpu_spans ){ 0 };
}

// Was the kernel told this already? The caller's buffer is told anew each time: another one may have come in
// its place. Ours are forgotten with every buffer that is made (gpu_state.c).
static bool is_said( clv_gpu* gpu, gpu_kernel_id id, uint32_t index, const gpu_argument* argument )
{
    uint64_t value = 0;
    CLV_ASSERT( index < 20 && argument->size <= sizeof( value ) ); // the room of gpu_arguments
    memcpy( &value, argument->value, argument->size );
    bool is_same = gpu->last_arguments.sizes[id][index] == argument->size &&
        gpu->last_arguments.values[id][index] == value;
    bool is_callers = argument->size == sizeof( cl_mem ) &&
        ( memcmp( argument->value, &gpu->frame.boxes, sizeof( cl_mem ) ) == 0 ||
            memcmp( argument->value, &gpu->near.points, sizeof( cl_mem ) ) == 0 );
    gpu->last_arguments.sizes[id][index] = (uint8_t)argument->size;
    gpu->last_arguments.values[id][index] = value;
    return is_same && !is_callers;
}

const char* clv_gpu_kernel_name( gpu_kernel_id id )
{
    return s_kernels[id].name;
}

clv_result clv_gpu_launch(
    clv_gpu* gpu, gpu_kernel_id id, uint64_t item_count, const gpu_argument* arguments, uint32_t count )
{
    CLV_ASSERT( gpu->is_open && gpu->queue != NULL && id < GPU_KERNEL_ROOM );
    CLV_ASSERT( item_count > 0 ); // one group would look at an item that is not there
    cl_kernel kernel = NULL;
    clv_result result = kernel_of( gpu, id, &kernel );
    if ( result != CLV_OK )
    {
        return result;
    }
    cl_int error = CL_SUCCESS;
    for ( uint32_t i = 0; i < count && error == CL_SUCCESS; ++i )
    {
        gpu_argument argument = arguments[i];
        argument.size = argument.size == sizeof( gpu_buffer ) ? sizeof( cl_mem ) : argument.size;
        error = is_said( gpu, id, i, &argument )
            ? CL_SUCCESS
            : gpu->cl->clSetKernelArg( kernel, i, argument.size, argument.value );
    }
    size_t local = GPU_GROUP;
    size_t global = (size_t)( ( item_count + GPU_GROUP - 1 ) / GPU_GROUP * GPU_GROUP );
    global = global < local ? local : global;
    cl_event event = NULL;
    if ( error == CL_SUCCESS )
    {
        error = gpu->cl->clEnqueueNDRangeKernel(
            gpu->queue, kernel, 1, NULL, &global, &local, 0, NULL, gpu->spans != NULL ? &event : NULL );
    }
    if ( event != NULL )
    {
        keep_span( gpu, id, event );
    }
    return clv_gpu_check( gpu, error, row_of( gpu, id )->name );
}
