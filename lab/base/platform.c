// SPDX-License-Identifier: MIT
#if defined( _WIN32 )
#define _CRT_SECURE_NO_WARNINGS
#define WIN32_LEAN_AND_MEAN
#else
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#define _DARWIN_C_SOURCE
#define _FILE_OFFSET_BITS 64
#endif

#include "lab/base/platform.h"

#include "lab/base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#if defined( _WIN32 )
#include <direct.h>
#include <io.h>
#include <process.h>
#include <sys/utime.h>
#include <windows.h>
#else
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>
#endif

int64_t platform_now_s( void )
{
    return (int64_t)time( NULL );
}

FILE* platform_open( const char* path )
{
    return fopen( path, "rb" );
}

bool platform_read( const char* path, char** bytes, uint64_t* size )
{
    errno = 0;
    FILE* file = platform_open( path );
    uint64_t room = platform_look( path ).size + 2;
    *bytes = file != NULL ? lab_take( room, 1 ) : NULL;
    *size = 0;
    for ( size_t got = 1; file != NULL && got > 0; *size += got )
    {
        if ( *size + 1 == room )
        {
            room *= 2;
            *bytes = lab_grow( *bytes, room, 1 );
        }
        got = fread( *bytes + *size, 1, (size_t)( room - 1 - *size ), file );
    }
    bool good = file != NULL && ferror( file ) == 0;
    if ( file != NULL )
    {
        ( *bytes )[*size] = '\0';
        fclose( file );
    }
    return good;
}

FILE* platform_overwrite( const char* path )
{
    return fopen( path, "wb" );
}

FILE* platform_update( const char* path )
{
    return fopen( path, "r+b" );
}

bool platform_remove( const char* path )
{
    return remove( path ) == 0;
}

static void list_entry( const char* folder, const char* name, platform_visitor* visit, void* user )
{
    if ( strcmp( name, "." ) == 0 || strcmp( name, ".." ) == 0 )
    {
        return;
    }
    char* path = text_format( "%s/%s", folder, name );
    visit( name, platform_look( path ), user );
    free( path );
}

// A folder's parents first. Both separators count: Windows takes either.
bool platform_make_folder( const char* path )
{
    char* partial = text_copy( path );
    size_t length = strlen( partial );
    bool made = true;
    for ( size_t index = 1; made && index <= length; ++index )
    {
        char separator = partial[index];
        if ( separator != '/' && separator != '\\' && separator != '\0' )
        {
            continue;
        }
        partial[index] = '\0';
        if ( platform_look( partial ).kind != PLATFORM_FOLDER )
        {
#if defined( _WIN32 )
            made = _mkdir( partial ) == 0 || errno == EEXIST;
#else
            made = mkdir( partial, 0777 ) == 0 || errno == EEXIST;
#endif
        }
        partial[index] = separator;
    }
    int reason = errno;
    made = made && platform_look( path ).kind == PLATFORM_FOLDER;
    free( partial );
    errno = reason;
    return made;
}

#if defined( _WIN32 )

platform_entry platform_look( const char* path )
{
    platform_entry entry = { PLATFORM_MISSING, 0, 0 };
    struct __stat64 info;
    if ( _stat64( path, &info ) == 0 )
    {
        unsigned mode = info.st_mode & _S_IFMT;
        entry.kind = mode == _S_IFREG ? PLATFORM_FILE : mode == _S_IFDIR ? PLATFORM_FOLDER : PLATFORM_OTHER;
        entry.size = info.st_size > 0 ? (uint64_t)info.st_size : 0;
        entry.modified_s = (int64_t)info.st_mtime;
    }
    return entry;
}

FILE* platform_create( const char* path )
{
    if ( platform_look( path ).kind != PLATFORM_MISSING )
    {
        errno = EEXIST;
        return NULL;
    }
    return fopen( path, "wb" );
}

// The C library's are removed when they are closed, and lie where Windows has such files.
FILE* platform_create_private( const char* folder )
{
    (void)folder;
    return tmpfile();
}

bool platform_seek( FILE* file, uint64_t offset )
{
    return _fseeki64( file, (long long)offset, SEEK_SET ) == 0;
}

bool platform_replace( const char* from, const char* to )
{
    if ( MoveFileExA( from, to, MOVEFILE_REPLACE_EXISTING ) != 0 )
    {
        return true;
    }
    errno = EACCES;
    return false;
}

bool platform_is_writable( const char* path )
{
    return _access( path, 2 ) == 0;
}

char* platform_resolve( const char* path )
{
    return text_copy( path );
}

bool platform_touch( const char* path )
{
    return _utime( path, NULL ) == 0;
}

bool platform_list( const char* folder, platform_visitor* visit, void* user )
{
    char* pattern = text_format( "%s/*", folder );
    struct _finddata_t data;
    intptr_t handle = _findfirst( pattern, &data );
    free( pattern );
    if ( handle == -1 )
    {
        return false;
    }
    do
    {
        list_entry( folder, data.name, visit, user );
    } while ( _findnext( handle, &data ) == 0 );
    _findclose( handle );
    return true;
}

void platform_open_streams( void )
{
    // Without a console the streams have no number that a file could get.
}

bool platform_is_terminal( FILE* stream )
{
    return _isatty( _fileno( stream ) ) != 0;
}

#if !defined( ENABLE_VIRTUAL_TERMINAL_PROCESSING )
#define ENABLE_VIRTUAL_TERMINAL_PROCESSING 0x0004
#endif

bool platform_has_colours( FILE* stream )
{
    HANDLE console = (HANDLE)_get_osfhandle( _fileno( stream ) );
    DWORD mode = 0;
    return platform_is_terminal( stream ) && GetConsoleMode( console, &mode ) != 0 &&
        SetConsoleMode( console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING ) != 0;
}

bool platform_has_utf8( void )
{
    return GetConsoleOutputCP() == CP_UTF8;
}

uint32_t platform_columns( void )
{
    return 80;
}

uint32_t platform_stream_columns( FILE* stream )
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    bool is_console = platform_is_terminal( stream ) &&
        GetConsoleScreenBufferInfo( (HANDLE)_get_osfhandle( _fileno( stream ) ), &info ) != 0;
    return is_console && info.dwSize.X > 0 ? (uint32_t)info.dwSize.X : 0;
}

uint32_t platform_rows( void )
{
    return 24;
}

double platform_load( void )
{
    return NAN;
}

uint64_t platform_process_id( void )
{
    return (uint64_t)_getpid();
}

uint32_t platform_core_count( void )
{
    SYSTEM_INFO info;
    GetSystemInfo( &info );
    return info.dwNumberOfProcessors > 0 ? (uint32_t)info.dwNumberOfProcessors : 1;
}

uint64_t platform_thread_time_ns( void )
{
    FILETIME created, ended, kernel, user;
    GetThreadTimes( GetCurrentThread(), &created, &ended, &kernel, &user );
    uint64_t ticks = ( (uint64_t)user.dwHighDateTime << 32 | user.dwLowDateTime ) +
        ( (uint64_t)kernel.dwHighDateTime << 32 | kernel.dwLowDateTime );
    return ticks * 100;
}

const char* platform_name( void )
{
    return "Windows";
}

#else

platform_entry platform_look( const char* path )
{
    platform_entry entry = { PLATFORM_MISSING, 0, 0 };
    struct stat info = { 0 }; // the memory sanitizer does not know that stat64 fills it
    if ( stat( path, &info ) == 0 )
    {
        entry.kind = S_ISREG( info.st_mode ) ? PLATFORM_FILE
            : S_ISDIR( info.st_mode ) ? PLATFORM_FOLDER
                                      : PLATFORM_OTHER;
        entry.size = info.st_size > 0 ? (uint64_t)info.st_size : 0;
        entry.modified_s = (int64_t)info.st_mtime;
    }
    return entry;
}

FILE* platform_create( const char* path )
{
    return fopen( path, "wbx" );
}

// mkstemp makes a file of mode 0600 that was not there before, so that no link is followed. It has its name
// for a moment in which no signal ends the program.
FILE* platform_create_private( const char* folder )
{
    char* path = text_format( "%s/cleave-XXXXXX", folder );
    sigset_t all, before;
    sigfillset( &all );
    sigprocmask( SIG_SETMASK, &all, &before );
    int handle = mkstemp( path );
    int reason = errno;
    if ( handle >= 0 )
    {
        unlink( path );
    }
    sigprocmask( SIG_SETMASK, &before, NULL );
    free( path );
    errno = reason;
    FILE* file = handle >= 0 ? fdopen( handle, "w+b" ) : NULL;
    if ( handle >= 0 && file == NULL )
    {
        close( handle );
    }
    return file;
}

bool platform_seek( FILE* file, uint64_t offset )
{
    return fseeko( file, (off_t)offset, SEEK_SET ) == 0;
}

bool platform_replace( const char* from, const char* to )
{
    return rename( from, to ) == 0;
}

bool platform_is_writable( const char* path )
{
    return access( path, W_OK ) == 0;
}

char* platform_resolve( const char* path )
{
    char* resolved = realpath( path, NULL );
    return resolved != NULL ? resolved : text_copy( path );
}

bool platform_touch( const char* path )
{
    return utimes( path, NULL ) == 0;
}

bool platform_list( const char* folder, platform_visitor* visit, void* user )
{
    DIR* handle = opendir( folder );
    if ( handle == NULL )
    {
        return false;
    }
    for ( struct dirent* entry = readdir( handle ); entry != NULL; entry = readdir( handle ) )
    {
        list_entry( folder, entry->d_name, visit, user );
    }
    closedir( handle );
    return true;
}

void platform_open_streams( void )
{
    // Output gets a file that cannot be written, so that writing fails as on a full disk; an error
    // message could not be read.
    static const int flags[] = { O_RDONLY, O_RDONLY, O_WRONLY };
    for ( int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream )
    {
        if ( fcntl( stream, F_GETFD ) == -1 && errno == EBADF &&
            open( "/dev/null", flags[stream] ) != stream )
        {
            _exit( 2 ); // the lowest free number is this one; without /dev/null there is nothing to stand on
        }
    }
}

bool platform_is_terminal( FILE* stream )
{
    return isatty( fileno( stream ) ) != 0;
}

bool platform_has_colours( FILE* stream )
{
    const char* kind = getenv( "TERM" );
    return platform_is_terminal( stream ) && kind != NULL && kind[0] != '\0' && strcmp( kind, "dumb" ) != 0;
}

bool platform_has_utf8( void )
{
    return false; // the plain C locale
}

uint32_t platform_stream_columns( FILE* stream )
{
#if defined( TIOCGWINSZ )
    struct winsize size;
    if ( platform_is_terminal( stream ) && ioctl( fileno( stream ), TIOCGWINSZ, &size ) == 0 )
    {
        return size.ws_col;
    }
#endif
    return 0;
}

uint32_t platform_columns( void )
{
    uint32_t columns = platform_stream_columns( stderr );
    return columns > 0 ? columns : 80;
}

uint32_t platform_rows( void )
{
#if defined( TIOCGWINSZ )
    struct winsize size;
    if ( ioctl( STDERR_FILENO, TIOCGWINSZ, &size ) == 0 && size.ws_row > 0 )
    {
        return size.ws_row;
    }
#endif
    return 24;
}

double platform_load( void )
{
    double loads[1];
    return getloadavg( loads, 1 ) == 1 ? loads[0] : NAN;
}

uint64_t platform_process_id( void )
{
    return (uint64_t)getpid();
}

uint32_t platform_core_count( void )
{
    long count = sysconf( _SC_NPROCESSORS_ONLN );
    return count > 0 ? (uint32_t)count : 1;
}

uint64_t platform_thread_time_ns( void )
{
    struct timespec now = { 0 };
    clock_gettime( CLOCK_THREAD_CPUTIME_ID, &now );
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

const char* platform_name( void )
{
#if defined( __linux__ )
    return "Linux";
#elif defined( __APPLE__ )
    return "macOS";
#else
    return "POSIX";
#endif
}

#endif
