// SPDX-License-Identifier: MIT
#include "gpu_device.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    PLATFORMS_MOST = 16,
    DEVICES_MOST = 64,
    TEXT_ROOM = 160,
    LOCAL_LEAST = 32 * 1024, // bytes of local memory that the kernels take, with room for what compilers add
};

typedef struct device_texts
{
    char name[TEXT_ROOM];
    char vendor[TEXT_ROOM];
    char driver[TEXT_ROOM];
    char platform[TEXT_ROOM];
    char unusable[TEXT_ROOM];
} device_texts;

static gpu_device s_devices[DEVICES_MOST];
static device_texts s_texts[DEVICES_MOST];
static uint32_t s_count;
static bool s_is_listed;
static char s_missing[512];

// ---- asking

static void ask_text( const gpu_opencl* cl, cl_device_id id, cl_uint what, char text[TEXT_ROOM] )
{
    char answer[1024] = "";
    cl_int error = cl->clGetDeviceInfo( id, what, sizeof( answer ) - 1, answer, NULL );
    snprintf( text, TEXT_ROOM, "%.*s", TEXT_ROOM - 1,
        error == CL_SUCCESS && answer[0] != '\0' ? answer : "unknown" );
}

static uint64_t ask_number( const gpu_opencl* cl, cl_device_id id, cl_uint what )
{
    // Answers have 4 or 8 bytes; on a machine that puts the low byte last a short one would have to be shifted.
    union
    {
        uint64_t wide;
        uint32_t narrow;
    } answer = { 0 };
    size_t size = 0;
    cl_int error = cl->clGetDeviceInfo( id, what, sizeof( answer ), &answer, &size );
    return error != CL_SUCCESS ? 0 : size == sizeof( uint32_t ) ? answer.narrow : answer.wide;
}

static const char* why_unusable( const gpu_opencl* cl, const gpu_device* device, char text[TEXT_ROOM] )
{
    cl_device_id id = device->id;
    uint64_t group = ask_number( cl, id, CL_DEVICE_MAX_WORK_GROUP_SIZE );
    uint64_t local = ask_number( cl, id, CL_DEVICE_LOCAL_MEM_SIZE );
    if ( ask_number( cl, id, CL_DEVICE_AVAILABLE ) == 0 )
    {
        snprintf( text, TEXT_ROOM, "the driver says that it is not available" );
    }
    else if ( ask_number( cl, id, CL_DEVICE_COMPILER_AVAILABLE ) == 0 )
    {
        snprintf( text, TEXT_ROOM, "its driver has no compiler" );
    }
    else if ( device->facts.memory_bytes == 0 || device->allocation_most == 0 )
    {
        snprintf( text, TEXT_ROOM, "its driver tells no size of its memory" );
    }
    else if ( group < GPU_GROUP )
    {
        snprintf(
            text, TEXT_ROOM, "groups of %d items are needed, and it has %u", GPU_GROUP, (unsigned)group );
    }
    else if ( local < LOCAL_LEAST )
    {
        snprintf( text, TEXT_ROOM, "%d bytes of local memory are needed, and it has %llu", LOCAL_LEAST,
            (unsigned long long)local );
    }
    else
    {
        return NULL;
    }
    return text;
}

static void add_device(
    const gpu_opencl* cl, cl_platform_id platform, cl_device_id id, const char* platform_name )
{
    if ( s_count == DEVICES_MOST )
    {
        return;
    }
    device_texts* texts = &s_texts[s_count];
    ask_text( cl, id, CL_DEVICE_NAME, texts->name );
    ask_text( cl, id, CL_DEVICE_VENDOR, texts->vendor );
    ask_text( cl, id, CL_DRIVER_VERSION, texts->driver );
    snprintf( texts->platform, TEXT_ROOM, "%.*s", TEXT_ROOM - 1, platform_name );
    gpu_device* device = &s_devices[s_count++];
    *device = ( gpu_device ){
        .platform = platform,
        .id = id,
        .allocation_most = ask_number( cl, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE ),
        .has_doubles = ask_number( cl, id, CL_DEVICE_DOUBLE_FP_CONFIG ) != 0,
        .facts = {
            .name = texts->name,
            .vendor = texts->vendor,
            .driver = texts->driver,
            .platform = texts->platform,
            .unit_count = (uint32_t)ask_number( cl, id, CL_DEVICE_MAX_COMPUTE_UNITS ),
            .clock_mhz = (uint32_t)ask_number( cl, id, CL_DEVICE_MAX_CLOCK_FREQUENCY ),
            .memory_bytes = ask_number( cl, id, CL_DEVICE_GLOBAL_MEM_SIZE ),
            .is_cpu = ( ask_number( cl, id, CL_DEVICE_TYPE ) & CL_DEVICE_TYPE_CPU ) != 0,
        },
    };
    device->facts.unusable = why_unusable( cl, device, texts->unusable );
}

static void add_platform( const gpu_opencl* cl, cl_platform_id platform )
{
    char name[TEXT_ROOM] = "unknown";
    cl_device_id ids[DEVICES_MOST];
    cl_uint count = 0;
    cl->clGetPlatformInfo( platform, CL_PLATFORM_NAME, sizeof( name ) - 1, name, NULL );
    if ( cl->clGetDeviceIDs( platform, CL_DEVICE_TYPE_ALL, DEVICES_MOST, ids, &count ) != CL_SUCCESS )
    {
        return;
    }
    for ( cl_uint i = 0; i < count && i < DEVICES_MOST; ++i )
    {
        add_device( cl, platform, ids[i], name );
    }
}

static void list_devices( void )
{
    const char* why = NULL;
    const gpu_opencl* cl = clv_gpu_opencl( &why );
    cl_platform_id platforms[PLATFORMS_MOST];
    cl_uint count = 0;
    s_count = 0;
    s_is_listed = true;
    if ( cl == NULL )
    {
        snprintf( s_missing, sizeof( s_missing ), "%s", why );
        return;
    }
    cl_int error = cl->clGetPlatformIDs( PLATFORMS_MOST, platforms, &count );
    for ( cl_uint i = 0; error == CL_SUCCESS && i < count && i < PLATFORMS_MOST; ++i )
    {
        add_platform( cl, platforms[i] );
    }
    char name[GPU_ERROR_NAME_ROOM];
    snprintf( s_missing, sizeof( s_missing ),
        "OpenCL is installed and has no device%s%s; a driver brings one", error != CL_SUCCESS ? ": " : "",
        error != CL_SUCCESS ? clv_gpu_opencl_error_name( error, name ) : "" );
}

// ---- the list

uint32_t clv_gpu_device_count( void )
{
    if ( !s_is_listed )
    {
        list_devices();
    }
    return s_count;
}

const gpu_device* clv_gpu_device_get( uint32_t index )
{
    return index < clv_gpu_device_count() ? &s_devices[index] : NULL;
}

void clv_gpu_device_forget( void )
{
    s_is_listed = false;
}

clv_result clv_gpu_device_at( uint32_t index, clv_gpu_device* device )
{
    const gpu_device* found = clv_gpu_device_get( index );
    if ( found == NULL )
    {
        return CLV_BAD_ARGUMENT;
    }
    *device = found->facts;
    return CLV_OK;
}

const char* clv_gpu_missing( void )
{
    return clv_gpu_device_count() > 0 ? NULL : s_missing;
}

// ---- choosing

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
static uint64_t speed_of( const gpu_device* device )
{
    uint64_t speed = (uint64_t)device->facts.unit_count * ( device->facts.clock_mhz + 1 );
    return device->facts.unusable != NULL ? 0 : speed + ( device->facts.is_cpu ? 1 : UINT64_C( 1 ) << 62 );
}

static clv_result find_fastest( uint32_t* index, char* text, size_t size )
{
    uint64_t best = 0;
    for ( uint32_t i = 0; i < s_count; ++i )
    {
        uint64_t speed = speed_of( &s_devices[i] );
        if ( speed > best )
        {
            best = speed;
            *index = i;
        }
    }
    return best > 0 ? CLV_OK
                    : refuse( CLV_UNSUPPORTED, text, size, "no OpenCL device can be used: %s: %s",
                          s_devices[0].facts.name, s_devices[0].facts.unusable );
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
    uint32_t found = UINT32_MAX;
    uint32_t count = 0;
    for ( uint32_t i = 0; i < s_count; ++i )
    {
        if ( strcmp( s_devices[i].facts.name, wish ) == 0 )
        {
            *index = i;
            return CLV_OK;
        }
        if ( contains( s_devices[i].facts.name, wish ) || contains( s_devices[i].facts.platform, wish ) )
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
    return count > 1 ? refuse( CLV_BAD_ARGUMENT, text, size,
                           "'%.80s' means %u devices; give a number from 0 to %u", wish, count, s_count - 1 )
                     : refuse( CLV_BAD_ARGUMENT, text, size, "no device is called '%.80s'; %s is %s", wish,
                           s_count == 1 ? "the only one" : "the first", s_devices[0].facts.name );
}

clv_result clv_gpu_device_find( const char* wish, uint32_t* index, char* text, size_t text_size )
{
    if ( clv_gpu_device_count() == 0 )
    {
        return refuse( CLV_UNSUPPORTED, text, text_size, "%s", s_missing );
    }
    if ( wish == NULL || wish[0] == '\0' )
    {
        return find_fastest( index, text, text_size );
    }
    uint32_t found = UINT32_MAX;
    char* end = NULL;
    unsigned long number = strtoul( wish, &end, 10 );
    if ( isdigit( (unsigned char)wish[0] ) && *end == '\0' )
    {
        if ( number >= s_count )
        {
            return refuse( CLV_BAD_ARGUMENT, text, text_size, "there is no device %.20s; the last is %u",
                wish, s_count - 1 );
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
    if ( s_devices[found].facts.unusable != NULL )
    {
        return refuse( CLV_UNSUPPORTED, text, text_size, "device %u, %s, cannot be used: %s", found,
            s_devices[found].facts.name, s_devices[found].facts.unusable );
    }
    *index = found;
    return CLV_OK;
}
