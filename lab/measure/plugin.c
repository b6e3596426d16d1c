// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "lab/measure/plugin.h"

#include "cleave/gpu.h"
#include "cleave/method.h"
#include "lab/base/platform.h"
#include "lab/base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

enum
{
    PATH_ROOM = 4096,
};

static const char* s_named[PLUGIN_MOST]; // words of the command line
static uint32_t s_named_count;

// ---- the two platforms

#ifdef _WIN32

static void* open_module( const char* path, char* reason, size_t size )
{
    void* module = (void*)LoadLibraryA( path );
    if ( module == NULL )
    {
        snprintf( reason, size, "%s cannot be loaded: error %lu", path, GetLastError() );
    }
    return module;
}

static void find_function( void* module, const char* name, plugin_function** function )
{
    FARPROC symbol = GetProcAddress( (HMODULE)module, name );
    memcpy( function, &symbol, sizeof( *function ) );
}

#else

static void* open_module( const char* path, char* reason, size_t size )
{
    void* module = dlopen( path, RTLD_NOW | RTLD_LOCAL );
    if ( module == NULL )
    {
        const char* error = dlerror(); // begins with the path, as a rule
        snprintf( reason, size, "%s", error != NULL ? error : "the module cannot be loaded" );
    }
    return module;
}

static void find_function( void* module, const char* name, plugin_function** function )
{
    // ISO C has no cast from void* to a function; POSIX asks for this one.
    void* symbol = dlsym( module, name );
    memcpy( function, &symbol, sizeof( *function ) );
}

#endif

static clv_plugin_entry* find_entry( void* module )
{
    plugin_function* found = NULL;
    find_function( module, CLV_PLUGIN_ENTRY, &found );
    return (clv_plugin_entry*)found;
}

// ---- loading

static bool refuse( char* reason, size_t size, const char* path, const char* why )
{
    snprintf( reason, size, "%.300s: %s", path, why );
    return false;
}

// A name without a folder means a file here; the loader would look among the system's libraries.
static bool find_file( const char* path, char found[PATH_ROOM], char* reason, size_t size )
{
    errno = 0;
    platform_entry entry = platform_look( path );
    if ( entry.kind == PLATFORM_MISSING )
    {
        return refuse( reason, size, path, strerror( errno != 0 ? errno : ENOENT ) );
    }
    if ( entry.kind != PLATFORM_FILE )
    {
        return refuse( reason, size, path, "is no file" );
    }
    bool is_bare = strchr( path, '/' ) == NULL && strchr( path, '\\' ) == NULL;
    int length = snprintf( found, PATH_ROOM, "%s%s", is_bare ? "./" : "", path );
    return ( length > 0 && length < PATH_ROOM ) || refuse( reason, size, path, "the path is too long" );
}

static bool register_methods( clv_plugin_entry* entry, const char* path, char* reason, size_t size )
{
    const clv_plugin_host host = {
        .size = sizeof( clv_plugin_host ),
        .version = CLV_METHOD_VERSION,
        .register_method = clv_method_register,
        .error = clv_method_error,
    };
    clv_result result = entry( &host );
    if ( result == CLV_OK )
    {
        return true;
    }
    const char* why = result == CLV_UNSUPPORTED
        ? "was built for another version of cleave; build it against this one's method.h"
        : clv_method_error();
    return refuse( reason, size, path, why[0] != '\0' ? why : clv_result_text( result ) );
}

// Loads the shared object at `path` and has it register its methods. It stays loaded. False, with a sentence
// in `reason`, if there is no such file, it cannot be loaded, it has no entry, it was built for another
// version, or a method of it was refused; methods registered until then stay. Call it before threads start.
static bool plugin_load( const char* path, char* reason, size_t reason_size )
{
    char found[PATH_ROOM];
    if ( !find_file( path, found, reason, reason_size ) )
    {
        return false;
    }
    void* module = open_module( found, reason, reason_size );
    if ( module == NULL )
    {
        return false;
    }
    clv_plugin_entry* entry = find_entry( module );
    if ( entry == NULL )
    {
        return refuse( reason, reason_size, path,
            "exports no " CLV_PLUGIN_ENTRY "; a plug-in does, see docs/adding-a-method.md" );
    }
    return register_methods( entry, path, reason, reason_size );
}

// The same for one that the user named: a process that this one starts is to load it too. At most
// PLUGIN_MOST.
static bool plugin_load_named( const char* path, char* reason, size_t reason_size )
{
    if ( s_named_count == PLUGIN_MOST )
    {
        return refuse( reason, reason_size, path, "is one plug-in too many" );
    }
    if ( !plugin_load( path, reason, reason_size ) )
    {
        return false;
    }
    s_named[s_named_count++] = path;
    return true;
}

uint32_t plugin_named_count( void )
{
    return s_named_count;
}

const char* plugin_named_path( uint32_t index )
{
    return s_named[index];
}

static plugin_function* plugin_find( const char* path, const char* name, char* reason, size_t reason_size )
{
    plugin_function* found = NULL;
    void* module = open_module( path, reason, reason_size );
    if ( module != NULL )
    {
        find_function( module, name, &found );
        if ( found == NULL )
        {
            refuse( reason, reason_size, path, "has no such function" );
        }
    }
    return found;
}

bool plugin_load_words( int* argc, char*** argv, lab_error* why )
{
    for ( const char* path = text_take_flag( argc, argv, "--plugin" ); path != NULL;
          path = text_take_flag( argc, argv, "--plugin" ) )
    {
        char reason[600];
        if ( path[0] == '\0' )
        {
            return lab_error_write( why, "--plugin: needs a file; `cleave --plugin my.so bench …`" );
        }
        if ( !plugin_load_named( path, reason, sizeof( reason ) ) )
        {
            return lab_error_write( why, "--plugin: %s", reason );
        }
    }
    return true;
}

// ---- peer modules

#ifdef _WIN32
#include <windows.h>
#define MODULE_ENDING ".dll"
#else
#include <unistd.h>
#define MODULE_ENDING ".so"
#endif

// What there is, so that a missing library can be named.
typedef struct known_peer
{
    const char* module;
    const char* package; // Debian's
    clv_method row;      // as much as can be said without the module
} known_peer;

#define KNOWN( file, debian, own_name, own_family, own_source, own_licence )                                 \
    {                                                                                                        \
        file, debian,                                                                                        \
        {                                                                                                    \
            .size = sizeof( clv_method ), .version = CLV_METHOD_VERSION, .name = ( own_name ),               \
            .family = ( own_family ), .source = ( own_source ), .licence = ( own_licence ),                  \
            .time_cost = "-", .space_cost = "-"                                                              \
        }                                                                                                    \
    }

static known_peer s_known[] = {
    KNOWN( "bullet", "libbullet-dev", "bullet-dbvt-f", "bounding volume hierarchy", "Bullet", "zlib" ),
    KNOWN( "bullet", "libbullet-dev", "bullet-dbvt-d", "bounding volume hierarchy", "Bullet", "zlib" ),
    KNOWN( "bullet", "libbullet-dev", "bullet-axissweep", "sweep and prune", "Bullet", "zlib" ),
    KNOWN( "cgal", "libcgal-dev", "cgal", "segment tree and sweep", "CGAL", "GPL-3.0-or-later" ),
    KNOWN( "embree", "libembree-dev", "embree", "bounding volume hierarchy", "Embree", "Apache-2.0" ),
    KNOWN( "fcl", "libfcl-dev", "fcl", "bounding volume hierarchy", "FCL", "BSD-3-Clause" ),
    KNOWN( "ode", "libode-dev", "ode-hash", "grid", "ODE", "BSD-3-Clause or LGPL-2.1-or-later" ),
    KNOWN( "ode", "libode-dev", "ode-sap", "sweep and prune", "ODE", "BSD-3-Clause or LGPL-2.1-or-later" ),
};

enum
{
    KNOWN_COUNT = sizeof( s_known ) / sizeof( s_known[0] ),
    REASON_ROOM = 512,
};

static char s_reasons[KNOWN_COUNT][REASON_ROOM];

// ---- the two platforms

#ifdef _WIN32

static bool program_path( char path[PATH_ROOM] )
{
    DWORD length = GetModuleFileNameA( NULL, path, PATH_ROOM );
    return length > 0 && length < PATH_ROOM;
}

#else

static bool program_path( char path[PATH_ROOM] )
{
    ssize_t length = readlink( "/proc/self/exe", path, PATH_ROOM - 1 );
    path[length > 0 ? length : 0] = '\0';
    return length > 0;
}

#endif

// ---- where to look

// Where `make install` puts the modules, seen from the program; the build tells.
#if !defined( LAB_PEERS_INSTALLED )
#define LAB_PEERS_INSTALLED "../lib/cleave/peers"
#endif

// The program's folder; "." where the system does not tell.
static void program_folder( char path[PATH_ROOM] )
{
    const char* name = program_path( path ) ? text_base_name( path ) : path;
    if ( name == path )
    {
        snprintf( path, PATH_ROOM, "." );
        return;
    }
    path[name - path - 1] = '\0';
}

// Folders in the order they are asked: the one the user names, and no other; else beside the program, as
// built, and where an installed one has them.
static text_list find_folders( void )
{
    const char* wish = getenv( "CLEAVE_PEERS" );
    text_list folders = { 0 };
    if ( wish != NULL && wish[0] != '\0' )
    {
        text_list_add( &folders, wish );
        return folders;
    }
    static const char* const names[] = { "peers", LAB_PEERS_INSTALLED };
    char base[PATH_ROOM];
    program_folder( base );
    for ( int i = 0; i < 2; ++i )
    {
        char* path = text_format( "%s/%s", base, names[i] );
        text_list_add( &folders, path );
        free( path );
    }
    return folders;
}

// ---- loading

// The module's path in the first folder that has it.
static bool find_module( const text_list* folders, const char* module, char path[PATH_ROOM] )
{
    bool found = false;
    for ( uint32_t i = 0; i < folders->count && !found; ++i )
    {
        int length = snprintf( path, PATH_ROOM, "%s/%s" MODULE_ENDING, folders->items[i], module );
        found = length > 0 && length < PATH_ROOM && platform_look( path ).kind == PLATFORM_FILE;
    }
    return found;
}

// It may never have been built, or not have been installed: say where it would be, and what puts it there.
static void tell_missing( const text_list* folders, const known_peer* peer, char reason[REASON_ROOM] )
{
    snprintf( reason, REASON_ROOM,
        "no %s" MODULE_ENDING
        " in %.150s%s%.150s; a build with Debian's %s makes it, CLEAVE_PEERS names its folder",
        peer->module, folders->items[0], folders->count > 1 ? " or " : "",
        folders->count > 1 ? folders->items[1] : "", peer->package );
}

void peer_modules_load( void )
{
    text_list folders = find_folders();
    const char* last = NULL;
    char reason[REASON_ROOM] = "", path[PATH_ROOM];
    for ( int i = 0; i < KNOWN_COUNT; ++i )
    {
        known_peer* peer = &s_known[i];
        if ( last == NULL || strcmp( last, peer->module ) != 0 )
        {
            last = peer->module;
            if ( find_module( &folders, peer->module, path ) )
            {
                plugin_load( path, reason, REASON_ROOM ); // its rows into the table
            }
            else
            {
                tell_missing( &folders, peer, reason );
            }
        }
        if ( clv_method_find( peer->row.name ) == NULL )
        {
            memcpy( s_reasons[i], reason, sizeof( reason ) );
            peer->row.missing = s_reasons[i];
            clv_method_register( &peer->row );
        }
    }
    text_list_free( &folders );
}

plugin_function* peer_modules_find(
    const char* module, const char* package, const char* function, char* reason, size_t reason_size )
{
    text_list folders = find_folders();
    known_peer peer = { .module = module, .package = package };
    char path[PATH_ROOM], missing[REASON_ROOM];
    plugin_function* found = NULL;
    if ( find_module( &folders, module, path ) )
    {
        found = plugin_find( path, function, reason, reason_size );
    }
    else
    {
        tell_missing( &folders, &peer, missing );
        snprintf( reason, reason_size, "%s", missing );
    }
    text_list_free( &folders );
    return found;
}

// ---- device choice

static const char s_setting[] = "gpu.device=";

bool device_is_of( const clv_method* row )
{
    return strcmp( row->name, "gpu" ) == 0 || text_starts_with( row->name, "gpu-" );
}

// ---- looking

// A device that was looked for. The library has a child process ask its driver: none is loaded into this
// one before a run needs it.
typedef struct device_seen
{
    bool is_found;
    uint32_t index;
    clv_gpu_device device;
    char reason[640]; // unless it was found
} device_seen;

static void look( const char* wish, device_seen* seen )
{
    *seen = ( device_seen ){ 0 };
    seen->is_found =
        clv_gpu_device_find( wish, &seen->index, seen->reason, sizeof( seen->reason ) ) == CLV_OK &&
        clv_gpu_device_at( seen->index, &seen->device ) == CLV_OK;
}

// What the settings name: the last one counts, as everywhere.
static void look_for_settings( const char* settings, device_seen* seen )
{
    char wish[16] = "";
    const char* at = settings != NULL ? strstr( settings, s_setting ) : NULL;
    while ( at != NULL )
    {
        const char* value = at + sizeof( s_setting ) - 1;
        size_t length = strcspn( value, "," );
        snprintf( wish, sizeof( wish ), "%.*s", length < 15 ? (int)length : 15, value );
        at = strstr( value, s_setting );
    }
    look( wish[0] == '-' ? "" : wish, seen );
}

// ---- asking

bool device_runs_unasked( void )
{
    device_seen seen;
    look( "", &seen );
    return seen.is_found && !seen.device.is_cpu;
}

bool device_is_usable( const char* settings, char* reason, size_t reason_size )
{
    device_seen seen;
    look_for_settings( settings, &seen );
    if ( !seen.is_found )
    {
        snprintf( reason, reason_size, "%s", seen.reason );
    }
    return seen.is_found;
}

const char* device_name_of( const char* settings )
{
    device_seen seen;
    look_for_settings( settings, &seen );
    return seen.is_found ? seen.device.name : NULL;
}

char* device_setting( const char* wish, lab_error* why )
{
    device_seen seen;
    look( wish, &seen );
    if ( !seen.is_found )
    {
        lab_error_write( why, "--device %s: %s; `cleave methods` tells which there are", wish, seen.reason );
        return NULL;
    }
    return text_format( "%s%u", s_setting, seen.index );
}
