// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "lab/measure/plugin.h"

#include "cleave/method.h"
#include "lab/base/platform.h"

#include <errno.h>
#include <stdio.h>
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

bool plugin_load( const char* path, char* reason, size_t reason_size )
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

bool plugin_load_named( const char* path, char* reason, size_t reason_size )
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

plugin_function* plugin_find( const char* path, const char* name, char* reason, size_t reason_size )
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
    static const char flag[] = "--plugin";
    const size_t length = sizeof( flag ) - 1;
    while ( *argc > 1 && strncmp( ( *argv )[1], flag, length ) == 0 )
    {
        const char* word = ( *argv )[1];
        bool is_joined = word[length] == '=';
        const char* path = is_joined ? word + length + 1 : *argc > 2 ? ( *argv )[2] : "";
        if ( !is_joined && word[length] != '\0' )
        {
            break; // another flag
        }
        if ( path[0] == '\0' )
        {
            return lab_error_write( why, "--plugin: needs a file; `cleave --plugin my.so bench …`" );
        }
        char reason[600];
        if ( !plugin_load_named( path, reason, sizeof( reason ) ) )
        {
            return lab_error_write( why, "--plugin: %s", reason );
        }
        *argc -= is_joined ? 1 : 2;
        *argv += is_joined ? 1 : 2;
    }
    return true;
}
