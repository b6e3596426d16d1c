// SPDX-License-Identifier: MIT
// The list is made by a child process that loads the drivers and comes back with what they say. Where the
// child dies, every driver has a child of its own, and those that live are used by their own libraries, past
// the one that would load the others too.
#include "gpu_state.h"

#include "gpu_look.h"
#include "task/lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    PLATFORMS_MOST = 16,
    DEVICES_MOST = 64,
    LEFT_OUT_MOST = GPU_ICD_MOST + 1,
    REASON_ROOM = 400,
    PATH_ROOM = 512,
    LOCAL_LEAST = 32 * 1024, // bytes of local memory that the kernels take, with room for what compilers add
};

#define ALL_DRIVERS 0u

// Plain but for pointers, which mean nothing in another process.
typedef struct device_list
{
    uint32_t driver; // whose; ALL_DRIVERS or one more than its place in s_icds
    uint32_t count;
    cl_int error;           // of listing platforms
    char note[REASON_ROOM]; // why the driver could not be loaded
    char path[PATH_ROOM];   // of the driver's library
    gpu_device devices[DEVICES_MOST];
    gpu_device_texts texts[DEVICES_MOST];
} device_list;

// Listing, loading and trying are one caller's at a time.
static task_lock s_lock = TASK_LOCK_STATIC;

static device_list s_list;
static bool s_is_listed;
static char s_missing[REASON_ROOM + 560];

static gpu_icd s_icds[GPU_ICD_MOST];
static uint32_t s_icd_count; // 0 where $CLEAVE_OPENCL names a library
static char s_left_out[LEFT_OUT_MOST][REASON_ROOM + 480];
static uint32_t s_left_out_count;
static char s_paths[GPU_ICD_MOST + 1]
                   [PATH_ROOM]; // of the libraries, as far as they were looked at one by one
static bool s_is_one_by_one;    // the library that has them all must not be asked

// By device_list.driver: loaded here?
static bool s_is_here[GPU_ICD_MOST + 1];
static gpu_opencl s_drivers[GPU_ICD_MOST + 1];

// ---- asking

static void ask_text( const gpu_opencl* cl, cl_device_id id, cl_uint what, char* text, size_t size )
{
    char answer[1024] = "";
    cl_int error = cl->clGetDeviceInfo( id, what, sizeof( answer ) - 1, answer, NULL );
    snprintf(
        text, size, "%.*s", (int)size - 1, error == CL_SUCCESS && answer[0] != '\0' ? answer : "unknown" );
}

static uint64_t ask_number( const gpu_opencl* cl, cl_device_id id, cl_uint what )
{
    // Answers have 4 or 8 bytes; on a machine that puts the low byte last a short one would have to be
    // shifted.
    union
    {
        uint64_t wide;
        uint32_t narrow;
    } answer = { 0 };
    size_t size = 0;
    cl_int error = cl->clGetDeviceInfo( id, what, sizeof( answer ), &answer, &size );
    return error != CL_SUCCESS ? 0 : size == sizeof( uint32_t ) ? answer.narrow : answer.wide;
}

// "" if it can be used.
static void tell_unusable( const gpu_device* device, char* text, size_t size )
{
    const gpu_opencl* cl = device->cl;
    uint64_t group = ask_number( cl, device->id, CL_DEVICE_MAX_WORK_GROUP_SIZE );
    uint64_t local = ask_number( cl, device->id, CL_DEVICE_LOCAL_MEM_SIZE );
    text[0] = '\0';
    if ( ask_number( cl, device->id, CL_DEVICE_AVAILABLE ) == 0 )
    {
        snprintf( text, size, "the driver says that it is not available" );
    }
    else if ( ask_number( cl, device->id, CL_DEVICE_COMPILER_AVAILABLE ) == 0 )
    {
        snprintf( text, size, "its driver has no compiler" );
    }
    else if ( device->facts.memory_bytes == 0 || device->allocation_most == 0 )
    {
        snprintf( text, size, "its driver tells no size of its memory" );
    }
    else if ( group < GPU_GROUP )
    {
        snprintf( text, size, "groups of %d items are needed, and it has %u", GPU_GROUP, (unsigned)group );
    }
    else if ( local < LOCAL_LEAST )
    {
        snprintf( text, size, "%d bytes of local memory are needed, and it has %llu", LOCAL_LEAST,
            (unsigned long long)local );
    }
}

static void point_at_texts( gpu_device* device, const gpu_device_texts* texts )
{
    device->facts.name = texts->name;
    device->facts.vendor = texts->vendor;
    device->facts.driver = texts->driver;
    device->facts.platform = texts->platform;
    device->facts.unusable = texts->unusable[0] != '\0' ? texts->unusable : NULL;
}

// Everything but its places.
static void describe( const gpu_opencl* cl, cl_platform_id platform, cl_device_id id, gpu_device* device,
    gpu_device_texts* texts )
{
    clv_gpu_look_step( "clGetPlatformInfo" );
    snprintf( texts->platform, sizeof( texts->platform ), "unknown" );
    cl->clGetPlatformInfo( platform, CL_PLATFORM_NAME, sizeof( texts->platform ) - 1, texts->platform, NULL );
    clv_gpu_look_step( "clGetDeviceInfo" );
    ask_text( cl, id, CL_DEVICE_NAME, texts->name, sizeof( texts->name ) );
    ask_text( cl, id, CL_DEVICE_VENDOR, texts->vendor, sizeof( texts->vendor ) );
    ask_text( cl, id, CL_DRIVER_VERSION, texts->driver, sizeof( texts->driver ) );
    *device = ( gpu_device ){
        .cl = cl,
        .platform = platform,
        .id = id,
        .allocation_most = ask_number( cl, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE ),
        .has_doubles = ask_number( cl, id, CL_DEVICE_DOUBLE_FP_CONFIG ) != 0,
        .has_denormals = ( ask_number( cl, id, CL_DEVICE_SINGLE_FP_CONFIG ) & CL_FP_DENORM ) != 0,
        .facts = {
            .unit_count = (uint32_t)ask_number( cl, id, CL_DEVICE_MAX_COMPUTE_UNITS ),
            .clock_mhz = (uint32_t)ask_number( cl, id, CL_DEVICE_MAX_CLOCK_FREQUENCY ),
            .memory_bytes = ask_number( cl, id, CL_DEVICE_GLOBAL_MEM_SIZE ),
            .is_cpu = ( ask_number( cl, id, CL_DEVICE_TYPE ) & CL_DEVICE_TYPE_CPU ) != 0,
        },
    };
    tell_unusable( device, texts->unusable, sizeof( texts->unusable ) );
    point_at_texts( device, texts );
}

// ---- one driver, or all of them, in this process: the child's, or this one where it has to be

static const gpu_opencl* load_driver( uint32_t driver, char* path, char* why, size_t why_size )
{
    char unwanted[PATH_ROOM];
    const char* reason = NULL;
    const gpu_opencl* all = driver == ALL_DRIVERS ? clv_gpu_opencl( &reason ) : NULL;
    if ( driver == ALL_DRIVERS )
    {
        snprintf( why, why_size, "%s", reason != NULL ? reason : "" );
        s_is_here[driver] = all != NULL;
        return all;
    }
    if ( !s_is_here[driver] )
    {
        s_is_here[driver] = clv_gpu_opencl_load_driver( s_icds[driver - 1].library, &s_drivers[driver],
            path != NULL ? path : unwanted, PATH_ROOM, why, why_size );
    }
    return s_is_here[driver] ? &s_drivers[driver] : NULL;
}

static cl_uint list_platforms( const gpu_opencl* cl, cl_platform_id platforms[PLATFORMS_MOST], cl_int* error )
{
    cl_uint count = 0;
    clv_gpu_look_step( "clGetPlatformIDs" );
    *error = cl->clGetPlatformIDs( PLATFORMS_MOST, platforms, &count );
    return *error != CL_SUCCESS ? 0 : count < PLATFORMS_MOST ? count : PLATFORMS_MOST;
}

static cl_uint list_ids( const gpu_opencl* cl, cl_platform_id platform, cl_device_id ids[DEVICES_MOST] )
{
    cl_uint count = 0;
    clv_gpu_look_step( "clGetDeviceIDs" );
    cl_int error = cl->clGetDeviceIDs( platform, CL_DEVICE_TYPE_ALL, DEVICES_MOST, ids, &count );
    return error != CL_SUCCESS ? 0 : count < DEVICES_MOST ? count : DEVICES_MOST;
}

static void list_driver( device_list* list )
{
    cl_platform_id platforms[PLATFORMS_MOST];
    cl_device_id ids[DEVICES_MOST];
    const gpu_opencl* cl = load_driver( list->driver, list->path, list->note, sizeof( list->note ) );
    cl_uint platform_count = cl != NULL ? list_platforms( cl, platforms, &list->error ) : 0;
    for ( cl_uint p = 0; p < platform_count; ++p )
    {
        bool is_its = list->driver == ALL_DRIVERS || clv_gpu_opencl_owns( cl, platforms[p] );
        cl_uint count = is_its ? list_ids( cl, platforms[p], ids ) : 0;
        for ( cl_uint i = 0; i < count && list->count < DEVICES_MOST; ++i )
        {
            gpu_device* device = &list->devices[list->count];
            describe( cl, platforms[p], ids[i], device, &list->texts[list->count] );
            device->driver = list->driver;
            device->platform_place = p;
            device->place = i;
            list->count += 1;
        }
    }
}

static void list_driver_apart( void* data )
{
    list_driver( data );
}

// ---- the list

// What a child found. Its pointers are its own.
static void add_found( const device_list* found )
{
    for ( uint32_t i = 0; i < found->count && s_list.count < DEVICES_MOST; ++i )
    {
        gpu_device* device = &s_list.devices[s_list.count];
        s_list.texts[s_list.count] = found->texts[i];
        *device = found->devices[i];
        device->cl = NULL;
        device->platform = NULL;
        device->id = NULL;
        point_at_texts( device, &s_list.texts[s_list.count] );
        s_list.count += 1;
    }
    s_list.error = found->error;
}

static void leave_out( uint32_t driver, const char* reason )
{
    bool is_wish = false;
    const gpu_icd* icd = driver != ALL_DRIVERS ? &s_icds[driver - 1] : NULL;
    const char* library = icd != NULL ? icd->library : clv_gpu_opencl_name( &is_wish );
    bool has_file = icd != NULL && icd->file[0] != '\0';
    if ( s_left_out_count < LEFT_OUT_MOST )
    {
        snprintf( s_left_out[s_left_out_count++], sizeof( s_left_out[0] ),
            "the OpenCL %s %.159s%s%.255s%s is left out: %.*s", icd != NULL ? "driver" : "library",
            has_file ? icd->file : "", has_file ? " (" : "", library, has_file ? ")" : "", REASON_ROOM - 1,
            reason );
    }
}

static gpu_look_end look_at( uint32_t driver, device_list* found, char* reason, size_t reason_size )
{
    char how[REASON_ROOM] = "";
    memset( found, 0, sizeof( *found ) );
    found->driver = driver;
    gpu_look_end end = clv_gpu_look( list_driver_apart, found, sizeof( *found ), how, sizeof( how ) );
    snprintf( reason, reason_size, "in a child process it %.*s", REASON_ROOM - 40, how );
    return end;
}

// Two names, in a file and in a variable, may lead to one library.
static bool is_known( uint32_t driver, const char* path )
{
    bool is_known = false;
    for ( uint32_t i = 0; i < driver && path[0] != '\0'; ++i )
    {
        is_known = is_known || strcmp( s_paths[i], path ) == 0;
    }
    snprintf( s_paths[driver], PATH_ROOM, "%s", path );
    return is_known;
}

// One of them, or all together, died in a child: each in a child of its own.
static void list_one_by_one( device_list* found )
{
    char reason[REASON_ROOM];
    s_is_one_by_one = true;
    memset( s_paths, 0, sizeof( s_paths ) );
    for ( uint32_t driver = 1; driver <= s_icd_count; ++driver )
    {
        gpu_look_end end = look_at( driver, found, reason, sizeof( reason ) );
        if ( is_known( driver, found->path ) )
        {
            continue;
        }
        if ( end == GPU_LOOK_DONE && found->note[0] == '\0' )
        {
            add_found( found );
            continue;
        }
        leave_out( driver,
            end == GPU_LOOK_DONE       ? found->note
                : end == GPU_LOOK_DIED ? reason
                                       : "no child process can be started to look at it" );
    }
}

// False: no child can be started.
static bool list_apart( void )
{
    static device_list s_found; // too large for a small stack
    char reason[REASON_ROOM];
    gpu_look_end end = look_at( ALL_DRIVERS, &s_found, reason, sizeof( reason ) );
    if ( end == GPU_LOOK_DONE )
    {
        add_found( &s_found );
    }
    else if ( end == GPU_LOOK_DIED && s_icd_count < 2 )
    {
        leave_out( s_icd_count, reason ); // the only driver, if one is known
    }
    else if ( end == GPU_LOOK_DIED )
    {
        list_one_by_one( &s_found );
    }
    return end != GPU_LOOK_NOT_STARTED;
}

// Drivers that the program itself has loaded cannot be asked in a fork: their threads are not there.
static bool has_drivers_already( void )
{
    bool has = false;
    for ( uint32_t i = 0; i < s_icd_count && !has; ++i )
    {
        has = clv_gpu_icd_is_loaded( &s_icds[i] );
    }
    return has;
}

static void list_devices( void )
{
    const char* why = NULL;
    memset( &s_list, 0, sizeof( s_list ) );
    memset( s_is_here, 0, sizeof( s_is_here ) );
    s_left_out_count = 0;
    s_is_one_by_one = false;
    s_is_listed = true;
    if ( clv_gpu_opencl( &why ) == NULL )
    {
        snprintf( s_missing, sizeof( s_missing ), "%s", why );
        return;
    }
    bool is_wish = false;
    clv_gpu_opencl_name( &is_wish );
    s_icd_count = is_wish || clv_gpu_opencl_is_replaced() ? 0 : clv_gpu_icd_list( s_icds );
    bool is_apart = !clv_gpu_opencl_is_replaced() && clv_gpu_look_is_here() && !has_drivers_already();
    if ( !is_apart || !list_apart() )
    {
        list_driver( &s_list );
    }
    char name[GPU_ERROR_NAME_ROOM];
    if ( s_left_out_count > 0 )
    {
        snprintf( s_missing, sizeof( s_missing ), "%s", s_left_out[0] );
        return;
    }
    snprintf( s_missing, sizeof( s_missing ),
        "OpenCL is installed and has no device%s%s; a driver brings one",
        s_list.error != CL_SUCCESS ? ": " : "",
        s_list.error != CL_SUCCESS ? clv_gpu_opencl_error_name( s_list.error, name ) : "" );
}

uint32_t clv_gpu_device_count( void )
{
    clv_task_lock_take( &s_lock );
    if ( !s_is_listed )
    {
        list_devices();
    }
    uint32_t count = s_list.count;
    clv_task_lock_give( &s_lock );
    return count;
}

// Device `index` as it was listed; NULL from clv_gpu_device_count on.
static const gpu_device* get_device( uint32_t index )
{
    return index < clv_gpu_device_count() ? &s_list.devices[index] : NULL;
}

void clv_gpu_device_forget( void )
{
    s_is_listed = false;
    clv_gpu_opencl_forget();
}

clv_result clv_gpu_device_at( uint32_t index, clv_gpu_device* device )
{
    const gpu_device* found = get_device( index );
    if ( found == NULL )
    {
        return CLV_BAD_ARGUMENT;
    }
    clv_task_lock_take( &s_lock ); // whether it can be used may be found out meanwhile
    *device = found->facts;
    clv_task_lock_give( &s_lock );
    return CLV_OK;
}

const char* clv_gpu_missing( void )
{
    return clv_gpu_device_count() > 0 ? NULL : s_missing;
}

const char* clv_gpu_driver_left_out( uint32_t index )
{
    clv_gpu_device_count();
    return index < s_left_out_count ? s_left_out[index] : NULL;
}

// ---- a device in this process

static bool load_device( gpu_device* device, char* why, size_t why_size )
{
    cl_platform_id platforms[PLATFORMS_MOST];
    cl_device_id ids[DEVICES_MOST];
    char name[sizeof( s_list.texts[0].name )] = "";
    cl_int error = CL_SUCCESS;
    const gpu_opencl* cl =
        device->cl != NULL ? device->cl : load_driver( device->driver, NULL, why, why_size );
    if ( cl == NULL || device->id != NULL )
    {
        return cl != NULL;
    }
    cl_uint platform_count = list_platforms( cl, platforms, &error );
    cl_uint count =
        device->platform_place < platform_count ? list_ids( cl, platforms[device->platform_place], ids ) : 0;
    if ( device->place < count )
    {
        ask_text( cl, ids[device->place], CL_DEVICE_NAME, name, sizeof( name ) );
    }
    if ( strcmp( name, device->facts.name ) != 0 )
    {
        snprintf( why, why_size, "%s is not where it was when devices were listed", device->facts.name );
        return false;
    }
    device->cl = cl;
    device->platform = platforms[device->platform_place];
    device->id = ids[device->place];
    return true;
}

const gpu_device* clv_gpu_device_load( uint32_t index, char* why, size_t why_size )
{
    gpu_device* device = index < clv_gpu_device_count() ? &s_list.devices[index] : NULL;
    if ( device == NULL )
    {
        snprintf( why, why_size, "the device is gone" );
        return NULL;
    }
    clv_task_lock_take( &s_lock );
    bool is_loaded = load_device( device, why, why_size );
    clv_task_lock_give( &s_lock );
    return is_loaded ? device : NULL;
}

// The library that has all drivers finds the right one itself; it must not be asked where one of them dies in
// it.
static const gpu_opencl* driver_of( void* queue, char* why, size_t why_size )
{
    if ( !s_is_one_by_one )
    {
        return load_driver( ALL_DRIVERS, NULL, why, why_size );
    }
    const gpu_opencl* found = NULL;
    for ( uint32_t i = 0; i < s_list.count && found == NULL; ++i )
    {
        const gpu_opencl* driver = load_driver( s_list.devices[i].driver, NULL, why, why_size );
        found = driver != NULL && clv_gpu_opencl_owns( driver, queue ) ? driver : NULL;
    }
    return found;
}

bool clv_gpu_device_of_queue(
    void* queue, gpu_device* device, gpu_device_texts* texts, char* why, size_t why_size )
{
    cl_device_id id = NULL;
    cl_platform_id platform = NULL;
    clv_task_lock_take( &s_lock );
    const gpu_opencl* cl = driver_of( queue, why, why_size );
    clv_task_lock_give( &s_lock );
    if ( cl == NULL ||
        cl->clGetCommandQueueInfo( queue, CL_QUEUE_DEVICE, sizeof( id ), &id, NULL ) != CL_SUCCESS ||
        cl->clGetDeviceInfo( id, CL_DEVICE_PLATFORM, sizeof( platform ), &platform, NULL ) != CL_SUCCESS )
    {
        snprintf( why, why_size, "the queue is none of this OpenCL's" );
        return false;
    }
    describe( cl, platform, id, device, texts );
    return true;
}

// ---- a device that was not opened before

typedef struct device_trial
{
    gpu_device device;
    bool went_well;
} device_trial;

static void try_apart( void* data )
{
    device_trial* trial = data;
    char why[REASON_ROOM];
    trial->went_well =
        load_device( &trial->device, why, sizeof( why ) ) && clv_gpu_device_exercise( &trial->device );
}

static void prove( gpu_device* device, gpu_device_texts* texts, bool keeps )
{
    unsigned char* data = NULL;
    size_t size = 0;
    uint64_t key = clv_gpu_device_exercise_key( device );
    if ( keeps && clv_gpu_cache_read( key, &data, &size ) )
    {
        clv_gpu_cache_free( data );
        device->is_proven = true;
        return;
    }
    char how[REASON_ROOM] = "";
    device_trial trial = { *device, false };
    gpu_look_end end = clv_gpu_look( try_apart, &trial, sizeof( trial ), how, sizeof( how ) );
    device->is_proven = end != GPU_LOOK_DIED; // an error is no death: opening it here will have its words
    if ( end == GPU_LOOK_DONE && trial.went_well && keeps )
    {
        static const unsigned char s_good[] = "opened";
        clv_gpu_cache_write( key, s_good, sizeof( s_good ) );
    }
    if ( end == GPU_LOOK_DIED )
    {
        snprintf(
            texts->unusable, sizeof( texts->unusable ), "opened in a child process, its driver %s", how );
        device->facts.unusable = texts->unusable;
    }
}

bool clv_gpu_device_prove( uint32_t index, bool keeps )
{
    if ( index >= clv_gpu_device_count() )
    {
        return false;
    }
    gpu_device* device = &s_list.devices[index];
    clv_task_lock_take( &s_lock );
    bool is_new = !device->is_proven && device->facts.unusable == NULL && !s_is_here[device->driver];
    if ( is_new && clv_gpu_look_is_here() )
    {
        prove( device, &s_list.texts[index], keeps );
    }
    bool is_good = device->facts.unusable == NULL;
    clv_task_lock_give( &s_lock );
    return is_good;
}
