// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64 // parts are larger than 2 GiB, also where long has 32 bits
#include "mpi_file.h"
#include "base/assertion.h"

#include "base/timer.h"
#include "mpi_state.h"

#include <errno.h>

#ifdef _WIN32
#include <io.h>
#include <process.h>
#include <windows.h>
#define process_number() ( (uint64_t)_getpid() )
#else
#include <fcntl.h>
#include <unistd.h>
#define process_number() ( (uint64_t)getpid() )
#endif

#include <time.h>

uint64_t clv_mpi_file_sum( uint64_t seed, const uint8_t* bytes, uint64_t size )
{
    uint64_t sum = seed;
    CLV_ASSERT( size % 8 == 0 );
    for ( uint64_t i = 0; i < size; i += 8 )
    {
        sum = clv_mpi_ids_mix( ( sum ^ mpi_get_u64( bytes + i ) ) + 0x9E3779B97F4A7C15u );
    }
    return sum;
}

uint64_t clv_mpi_file_unique( void )
{
    uint64_t now = clv_mpi_ids_mix( clv_base_clock_ns() ) ^ (uint64_t)time( NULL );
    return clv_mpi_ids_mix( now + 0x9E3779B97F4A7C15u * process_number() );
}

// ---- what the system has

static bool seek_to( FILE* stream, uint64_t offset )
{
#ifdef _WIN32
    return _fseeki64( stream, (__int64)offset, SEEK_SET ) == 0;
#else
    return fseeko( stream, (off_t)offset, SEEK_SET ) == 0;
#endif
}

static bool tell_end( FILE* stream, uint64_t* size )
{
#ifdef _WIN32
    __int64 end = _fseeki64( stream, 0, SEEK_END ) == 0 ? _ftelli64( stream ) : -1;
#else
    off_t end = fseeko( stream, 0, SEEK_END ) == 0 ? ftello( stream ) : -1;
#endif
    *size = (uint64_t)end;
    return end >= 0;
}

static bool put_on_disk( FILE* stream )
{
#ifdef _WIN32
    return _commit( _fileno( stream ) ) == 0;
#else
    // A pipe or a device cannot; what it was told is with it.
    return fsync( fileno( stream ) ) == 0 || errno == EINVAL || errno == EROFS;
#endif
}

static bool move_file( const char* from, const char* to )
{
#ifdef _WIN32
    return MoveFileExA( from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH ) != 0;
#else
    return rename( from, to ) == 0;
#endif
}

// The new name is on the disk too. It is in force whether or not the system can promise that, so nothing fails here.
static void put_name_on_disk( const char* path )
{
#ifndef _WIN32
    char folder[FILE_PATH_ROOM];
    snprintf( folder, sizeof( folder ), "%s", path );
    char* slash = strrchr( folder, '/' );
    if ( slash == NULL )
    {
        snprintf( folder, sizeof( folder ), "." );
    }
    else
    {
        slash[slash == folder ? 1 : 0] = '\0';
    }
    int handle = open( folder, O_RDONLY );
    if ( handle >= 0 )
    {
        fsync( handle );
        close( handle );
    }
#else
    (void)path;
#endif
}

// ---- writing

static bool fail( mpi_file* file, const char* what )
{
    const char* why = errno != 0 ? strerror( errno ) : "the system gives no reason";
    snprintf( file->reason, sizeof( file->reason ), "%s: %.80s", what, why );
    return false;
}

static bool fail_writing( mpi_file* file, const char* what )
{
    char place[64];
    snprintf( place, sizeof( place ), "%s at byte %llu", what, (unsigned long long)file->at );
    fail( file, place );
    clv_mpi_file_abandon( file );
    return false;
}

bool clv_mpi_file_create( mpi_file* file, const char* path )
{
    file->stream = NULL;
    file->at = 0;
    file->reason[0] = '\0';
    snprintf( file->path, sizeof( file->path ), "%s", path );
    int length = snprintf( file->beside, sizeof( file->beside ), "%s.new", path );
    errno = ENAMETOOLONG;
    if ( length < 0 || length >= (int)sizeof( file->beside ) )
    {
        return fail( file, "cannot be made" );
    }
    remove( file->beside ); // what a job that was ended in the middle left
    errno = 0;
    file->stream = fopen( file->beside, "wbx" );
    return file->stream != NULL || fail( file, "cannot be made" );
}

bool clv_mpi_file_write( mpi_file* file, const uint8_t* bytes, uint64_t size )
{
    errno = 0;
    CLV_ASSERT( file->stream != NULL && file->beside[0] != '\0' );
    if ( fwrite( bytes, 1, (size_t)size, file->stream ) != (size_t)size )
    {
        return fail_writing( file, "cannot be written" );
    }
    file->at += size;
    return true;
}

bool clv_mpi_file_finish( mpi_file* file )
{
    errno = 0;
    CLV_ASSERT( file->stream != NULL && file->beside[0] != '\0' ); // there is something to rename
    if ( fflush( file->stream ) != 0 || !put_on_disk( file->stream ) )
    {
        return fail_writing( file, "cannot be written" );
    }
    FILE* stream = file->stream;
    file->stream = NULL;
    if ( fclose( stream ) != 0 )
    {
        return fail_writing( file, "cannot be closed" );
    }
    if ( !move_file( file->beside, file->path ) )
    {
        return fail_writing( file, "cannot be renamed" );
    }
    file->beside[0] = '\0';
    put_name_on_disk( file->path );
    return true;
}

void clv_mpi_file_abandon( mpi_file* file )
{
    if ( file->stream != NULL )
    {
        fclose( file->stream );
        file->stream = NULL;
    }
    if ( file->beside[0] != '\0' )
    {
        remove( file->beside );
        file->beside[0] = '\0';
    }
}

// ---- reading

bool clv_mpi_file_open( mpi_file* file, const char* path )
{
    file->at = 0;
    file->beside[0] = file->reason[0] = '\0';
    snprintf( file->path, sizeof( file->path ), "%s", path );
    errno = 0;
    file->stream = fopen( path, "rb" );
    if ( file->stream == NULL )
    {
        return fail( file, "cannot be opened" );
    }
    // A folder opens like a file, and has an endless size; its first byte tells.
    if ( fgetc( file->stream ) == EOF && ferror( file->stream ) )
    {
        fail( file, "cannot be read" );
        clv_mpi_file_close( file );
        return false;
    }
    return true;
}

bool clv_mpi_file_size( mpi_file* file, uint64_t* size )
{
    errno = 0;
    CLV_ASSERT( file->stream != NULL );
    return tell_end( file->stream, size ) || fail( file, "has no size" );
}

bool clv_mpi_file_read( mpi_file* file, uint64_t offset, uint8_t* bytes, uint64_t size )
{
    errno = 0;
    file->at = offset;
    CLV_ASSERT( file->stream != NULL );
    if ( seek_to( file->stream, offset ) && fread( bytes, 1, (size_t)size, file->stream ) == (size_t)size )
    {
        return true;
    }
    if ( errno == 0 )
    {
        snprintf( file->reason, sizeof( file->reason ), "ends within the %llu bytes from byte %llu",
            (unsigned long long)size, (unsigned long long)offset );
        return false;
    }
    char place[64];
    snprintf( place, sizeof( place ), "cannot be read at byte %llu", (unsigned long long)offset );
    return fail( file, place );
}

void clv_mpi_file_close( mpi_file* file )
{
    if ( file->stream != NULL )
    {
        fclose( file->stream );
        file->stream = NULL;
    }
}

bool clv_mpi_file_is_missing( const char* path )
{
    errno = 0;
    FILE* stream = fopen( path, "rb" );
    if ( stream != NULL )
    {
        fclose( stream );
    }
    return stream == NULL && ( errno == ENOENT || errno == ENOTDIR );
}
