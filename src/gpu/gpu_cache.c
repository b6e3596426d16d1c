// SPDX-License-Identifier: MIT
// Binaries of programs, a file each, named by a hash of what they were compiled from, for and by. A file is
// written under another name and moved into place, and carries its own length and hash: a half-written or
// damaged one counts as none.
#define _POSIX_C_SOURCE 200809L
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

bool clv_gpu_cache_read( uint64_t key, const gpu_device* device, unsigned char** data, size_t* size )
{
    (void)device; // in the key
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

void clv_gpu_cache_write( uint64_t key, const gpu_device* device, const unsigned char* data, size_t size )
{
    (void)device;
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
