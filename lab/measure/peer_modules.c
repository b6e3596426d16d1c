// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "lab/measure/peer_modules.h"

#include "cleave/method.h"
#include "lab/base/text.h"
#include "lab/measure/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    PATH_ROOM = 4096,
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

// Folders in the order they are asked.
typedef struct module_folders
{
    char items[2][PATH_ROOM];
    int count;
} module_folders;

static void add_folder( module_folders* folders, const char* base, const char* name )
{
    char* path = folders->items[folders->count];
    int length = snprintf( path, PATH_ROOM, "%s%s%s", base, base[0] != '\0' ? "/" : "", name );
    folders->count += length > 0 && length < PATH_ROOM ? 1 : 0;
}

// The program's folder; "." where the system does not tell.
static void program_folder( char path[PATH_ROOM] )
{
    char* slash = NULL;
    if ( program_path( path ) )
    {
        char* backslash = strrchr( path, '\\' );
        slash = strrchr( path, '/' );
        slash = backslash != NULL && ( slash == NULL || backslash > slash ) ? backslash : slash;
    }
    if ( slash == NULL )
    {
        snprintf( path, PATH_ROOM, "." );
        return;
    }
    *slash = '\0';
}

// The folder the user names, and no other; else beside the program, as built; else where an installed one has them.
static void find_folders( module_folders* folders )
{
    const char* wish = getenv( "CLEAVE_PEERS" );
    folders->count = 0;
    if ( wish != NULL && wish[0] != '\0' )
    {
        add_folder( folders, "", wish );
        return;
    }
    char base[PATH_ROOM];
    program_folder( base );
    add_folder( folders, base, "peers" );
    add_folder( folders, base, LAB_PEERS_INSTALLED );
}

// ---- loading

static bool file_exists( const char* path )
{
    FILE* file = fopen( path, "rb" );
    if ( file != NULL )
    {
        fclose( file );
    }
    return file != NULL;
}

// The module's path in the first folder that has it.
static bool find_module( const module_folders* folders, const char* module, char path[PATH_ROOM] )
{
    for ( int i = 0; i < folders->count; ++i )
    {
        int length = snprintf( path, PATH_ROOM, "%s/%s" MODULE_ENDING, folders->items[i], module );
        if ( length > 0 && length < PATH_ROOM && file_exists( path ) )
        {
            return true;
        }
    }
    return false;
}

// It may never have been built, or not have been installed: say where it would be, and what puts it there.
static void tell_missing( const module_folders* folders, const known_peer* peer, char reason[REASON_ROOM] )
{
    snprintf( reason, REASON_ROOM,
        "no %s" MODULE_ENDING
        " in %.150s%s%.150s; a build with Debian's %s makes it, CLEAVE_PEERS names its folder",
        peer->module, folders->items[0], folders->count > 1 ? " or " : "",
        folders->count > 1 ? folders->items[1] : "", peer->package );
}

// A module's rows into the table. False, with the reason, if it is not there or not to be used.
static bool load_module( const module_folders* folders, const known_peer* peer, char reason[REASON_ROOM] )
{
    char path[PATH_ROOM];
    if ( !find_module( folders, peer->module, path ) )
    {
        tell_missing( folders, peer, reason );
        return false;
    }
    return plugin_load( path, reason, REASON_ROOM );
}

void peer_modules_load( void )
{
    module_folders folders;
    find_folders( &folders );
    const char* last = NULL;
    char reason[REASON_ROOM] = "";
    for ( int i = 0; i < KNOWN_COUNT; ++i )
    {
        known_peer* peer = &s_known[i];
        if ( last == NULL || strcmp( last, peer->module ) != 0 )
        {
            load_module( &folders, peer, reason );
            last = peer->module;
        }
        if ( clv_method_find( peer->row.name ) == NULL )
        {
            memcpy( s_reasons[i], reason, sizeof( reason ) );
            peer->row.missing = s_reasons[i];
            clv_method_register( &peer->row );
        }
    }
}

plugin_function* peer_modules_find(
    const char* module, const char* package, const char* function, char* reason, size_t reason_size )
{
    module_folders folders;
    char path[PATH_ROOM], missing[REASON_ROOM];
    find_folders( &folders );
    if ( find_module( &folders, module, path ) )
    {
        return plugin_find( path, function, reason, reason_size );
    }
    known_peer peer = { .module = module, .package = package };
    tell_missing( &folders, &peer, missing );
    snprintf( reason, reason_size, "%s", missing );
    return NULL;
}
