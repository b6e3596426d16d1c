// SPDX-License-Identifier: MIT
// The files of a checkpoint: how they reach the disk whole, and their format.
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64 // parts are larger than 2 GiB, also where long has 32 bits
#include "mpi_checkpoint.h"
#include "base/assertion.h"
#include "base/timer.h"

#include <errno.h>
#include <time.h>

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

uint64_t clv_mpi_file_unique( void )
{
    uint64_t now = clv_mpi_ids_mix( clv_base_clock_ns() ) ^ (uint64_t)time( NULL );
    return clv_mpi_ids_mix( now + 0x9E3779B97F4A7C15u * process_number() );
}

// ---- the system

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
    // A pipe or a device cannot, and need not.
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

// The new name on the disk too. It counts whether or not the system can promise that, so a failure is
// ignored.
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

static bool fail_here( mpi_file* file, const char* what )
{
    char place[64];
    snprintf( place, sizeof( place ), "%s at byte %llu", what, (unsigned long long)file->at );
    return fail( file, place );
}

// What was written is removed.
static bool abandon( mpi_file* file, const char* what )
{
    fail_here( file, what );
    clv_mpi_file_close( file );
    if ( file->beside[0] != '\0' )
    {
        remove( file->beside );
        file->beside[0] = '\0';
    }
    return false;
}

// A base_parts_put.
static bool write_bytes( const void* bytes, uint64_t size, void* user )
{
    mpi_file* file = user;
    errno = 0;
    CLV_ASSERT( file->stream != NULL && file->beside[0] != '\0' );
    if ( fwrite( bytes, 1, (size_t)size, file->stream ) != (size_t)size )
    {
        return abandon( file, "cannot be written" );
    }
    file->at += size;
    return true;
}

bool clv_mpi_file_create(
    mpi_file* file, base_parts_writer* writer, const char* path, uint32_t kind, uint64_t stamp )
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
    remove( file->beside ); // left by a job that was killed while it wrote
    errno = 0;
    file->stream = fopen( file->beside, "wbx" );
    if ( file->stream == NULL )
    {
        return fail( file, "cannot be made" );
    }
    *writer = ( base_parts_writer ){ .put = write_bytes, .user = file };
    clv_base_parts_begin( writer, kind, CHECKPOINT_VERSION, 0, stamp );
    return !writer->failed;
}

bool clv_mpi_file_finish( mpi_file* file, base_parts_writer* writer )
{
    if ( writer->failed || !clv_base_parts_end( writer ) )
    {
        return false;
    }
    errno = 0;
    CLV_ASSERT( file->stream != NULL && file->beside[0] != '\0' ); // there is a file to rename
    if ( fflush( file->stream ) != 0 || !put_on_disk( file->stream ) )
    {
        return abandon( file, "cannot be written" );
    }
    FILE* stream = file->stream;
    file->stream = NULL;
    if ( fclose( stream ) != 0 )
    {
        return abandon( file, "cannot be closed" );
    }
    if ( !move_file( file->beside, file->path ) )
    {
        return abandon( file, "cannot be renamed" );
    }
    file->beside[0] = '\0';
    put_name_on_disk( file->path );
    return true;
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
    // A folder opens like a file, but its first byte cannot be read.
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

bool clv_mpi_file_read( uint64_t offset, void* bytes, uint64_t size, void* user )
{
    mpi_file* file = user;
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
    return fail_here( file, "cannot be read" );
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

// ---- errors

static clv_result path_error( clv_mpi_space* space, const char* path, const char* reason, uint64_t offset )
{
    enum
    {
        SHOWN = 90 ///< of a long path the end, which tells files apart
    };
    size_t length = strlen( path ), cut = length > SHOWN ? length - SHOWN : 0;
    char place[48] = "";
    if ( offset != UINT64_MAX )
    {
        snprintf( place, sizeof( place ), " at byte %llu", (unsigned long long)offset );
    }
    return clv_mpi_fail(
        space, CLV_FILE_FAILED, "%s%s: %s%s", cut > 0 ? "..." : "", path + cut, reason, place );
}

clv_result clv_mpi_file_error( clv_mpi_space* space, const char* path, const char* reason )
{
    return path_error( space, path, reason, UINT64_MAX );
}

clv_result clv_mpi_reader_error( clv_mpi_space* space, const char* path, const base_parts_reader* reader )
{
    return path_error( space, path, reader->fault, reader->fault_offset );
}

clv_result clv_mpi_file_reader_error(
    clv_mpi_space* space, const mpi_file* file, const base_parts_reader* reader )
{
    return file->reason[0] != '\0' ? clv_mpi_file_error( space, file->path, file->reason )
                                   : clv_mpi_reader_error( space, file->path, reader );
}

// ---- numbers to bytes and back

/// Goes through bytes that are written from numbers, or numbers from bytes.
typedef struct coder
{
    uint8_t* at;
    bool writes;
} coder;

// Sizes are constants where it is called, so that a copy is a few moves.
static inline void code( coder* c, void* numbers, uint64_t count, uint32_t unit )
{
    void* to = c->writes ? c->at : numbers;
    const void* from = c->writes ? numbers : c->at;
    if ( base_is_little_endian() )
    {
        memcpy( to, from, (size_t)( count * unit ) );
    }
    else
    {
        clv_base_copy_ordered( to, from, count, unit );
    }
    c->at += count * unit;
}

static void code_filter( coder* c, clv_filter* filter )
{
    code( c, &filter->category, 1, 8 );
    code( c, &filter->mask, 1, 8 );
    code( c, &filter->group, 1, 4 );
}

uint8_t* clv_mpi_code_object( uint8_t* bytes, bool writes, const mpi_save_kind* kind, mpi_saved_object* o )
{
    coder c = { bytes, writes };
    code( &c, &o->id, 1, 8 );
    code( &c, &o->box, 6, 4 );
    code( &c, &o->flags, 1, 4 );
    c.at += 4;
    if ( ( kind->flags & SAVES_FILTERS ) != 0 )
    {
        code( &c, &o->before, 6, 4 );
        code_filter( &c, &o->filter );
        code_filter( &c, &o->filter_before );
    }
    if ( ( kind->flags & SAVES_MARGINS ) != 0 )
    {
        code( &c, &o->rule, 3, 4 );
        code( &c, &o->motion, 3, 4 );
    }
    CLV_ASSERT( c.at + ( (uint64_t)kind->payload_size + 7 ) / 8 * 8 == bytes + kind->record_size );
    return c.at;
}

void clv_mpi_code_pair( uint8_t* bytes, bool writes, mpi_saved_pair* pair )
{
    coder c = { bytes, writes };
    code( &c, &pair->a, 1, 8 );
    code( &c, &pair->b, 1, 8 );
    code( &c, &pair->corner, 3, 4 );
    code( &c, &pair->is_gone, 1, 4 );
    CLV_ASSERT( c.at == bytes + PAIR_RECORD_BYTES );
}

// ---- sizes

enum
{
    RECORD_PLAIN = 40,   ///< id, box, flags, 4 bytes of nothing
    RECORD_FILTERS = 64, ///< box before, filter, filter before
    RECORD_MARGINS = 24, ///< rule, motion
};

mpi_save_kind clv_mpi_save_kind( uint64_t save, uint32_t flags, uint32_t payload_size )
{
    mpi_save_kind kind = { .save = save, .flags = flags, .payload_size = payload_size };
    kind.record_size = RECORD_PLAIN + ( ( flags & SAVES_FILTERS ) != 0 ? (uint64_t)RECORD_FILTERS : 0 ) +
        ( ( flags & SAVES_MARGINS ) != 0 ? (uint64_t)RECORD_MARGINS : 0 ) +
        ( (uint64_t)payload_size + 7 ) / 8 * 8;
    uint64_t fit = CHUNK_BYTES / kind.record_size;
    kind.chunk_records = fit < 1 ? 1 : fit < CHUNK_RECORDS ? fit : CHUNK_RECORDS;
    return kind;
}

uint64_t clv_mpi_chunk_count( const mpi_section* s, uint64_t first )
{
    return s->count - first < s->chunk_records ? s->count - first : s->chunk_records;
}

uint64_t clv_mpi_chunk_offset( const mpi_section* s, uint64_t first )
{
    return s->begin + first / s->chunk_records * base_part_bytes( s->chunk_records * s->record_size );
}

uint64_t clv_mpi_record_offset( const mpi_section* s, uint64_t record )
{
    return clv_mpi_chunk_offset( s, record ) + BASE_PART_HEAD_BYTES +
        record % s->chunk_records * s->record_size;
}

mpi_section clv_mpi_section( const mpi_save_kind* kind, const mpi_part* part, bool is_pairs )
{
    mpi_section s = { .tag = BASE_TAG( 'O', 'B', 'J', 'S' ),
        .count = part->object_count,
        .record_size = kind->record_size,
        .chunk_records = kind->chunk_records,
        .begin = BASE_PARTS_HEADER_BYTES };
    if ( is_pairs )
    {
        mpi_section objects = clv_mpi_section( kind, part, false );
        uint64_t chunks = ( objects.count + objects.chunk_records - 1 ) / objects.chunk_records;
        s = ( mpi_section ){ .tag = BASE_TAG( 'P', 'A', 'I', 'R' ),
            .first_chunk = (uint32_t)chunks,
            .count = part->pair_count,
            .record_size = PAIR_RECORD_BYTES,
            .chunk_records = CHUNK_RECORDS,
            .begin = objects.end };
    }
    uint64_t rest = s.count % s.chunk_records;
    s.end = clv_mpi_chunk_offset( &s, s.count ) + ( rest > 0 ? base_part_bytes( rest * s.record_size ) : 0 );
    return s;
}

// ---- names

void clv_mpi_part_path( char path[FILE_PATH_ROOM], const char* base, uint32_t generation, uint32_t part )
{
    snprintf( path, FILE_PATH_ROOM, "%s.%c-%u", base, generation == 0 ? 'a' : 'b', part );
}

void clv_mpi_manifest_path( char path[FILE_PATH_ROOM], const char* base )
{
    snprintf( path, FILE_PATH_ROOM, "%s.manifest", base );
}

clv_result clv_mpi_check_path( clv_mpi_space* space, const char* base )
{
    if ( base == NULL || base[0] == '\0' )
    {
        return clv_mpi_fail( space, CLV_BAD_ARGUMENT, "a checkpoint needs a path" );
    }
    return strlen( base ) < FILE_PATH_ROOM - 64 ? CLV_OK
                                                : clv_mpi_file_error( space, base, "the path is too long" );
}

// ---- a part

bool clv_mpi_part_open( mpi_file* file, base_parts_reader* reader, const char* base,
    const mpi_save_kind* kind, uint32_t generation, uint32_t part )
{
    char path[FILE_PATH_ROOM];
    clv_mpi_part_path( path, base, generation, part );
    *reader = ( base_parts_reader ){ .get = clv_mpi_file_read, .user = file };
    return clv_mpi_file_open( file, path ) && clv_mpi_file_size( file, &reader->size ) &&
        clv_base_parts_open( reader, CHECKPOINT_PART, CHECKPOINT_VERSION ) &&
        ( reader->stamp == kind->save + part ||
            clv_base_parts_fault( reader, 24, "is a part of another save, or of another process" ) );
}

// ---- the manifest

#define MANIFEST_SETTINGS BASE_TAG( 'S', 'E', 'T', 'S' )
#define MANIFEST_COUNTS BASE_TAG( 'C', 'N', 'T', 'S' )

enum
{
    SETTING_FLAGS,
    SETTING_PAYLOAD,
    SETTING_GENERATION,
    SETTING_UPDATES,
    SETTINGS,
    MANIFEST_PARTS_MOST = 1 << 24,
    MANIFEST_BYTES_MOST = MANIFEST_PARTS_MOST * MANIFEST_PART_BYTES + 1024
};

static const uint64_t PAIRS_MOST = UINT64_C( 1 )
    << 39; // of a part, so that all numbers of chunks and sums fit

void clv_mpi_manifest_write( base_parts_writer* writer, const mpi_manifest* m, const uint64_t* counts )
{
    const uint64_t settings[SETTINGS] = { m->kind.flags, m->kind.payload_size, m->generation,
        m->update_count };
    clv_base_part_write( writer, MANIFEST_SETTINGS, settings, SETTINGS, 8 );
    clv_base_part_write(
        writer, MANIFEST_COUNTS, counts, (uint64_t)m->part_count * MANIFEST_PART_BYTES / 8, 8 );
}

mpi_part clv_mpi_manifest_part( const mpi_manifest* manifest, uint32_t part )
{
    CLV_ASSERT( part < manifest->part_count );
    const uint8_t* at = manifest->parts + (uint64_t)part * MANIFEST_PART_BYTES;
    return ( mpi_part ){ base_get_u64( at ), base_get_u64( at + 8 ) };
}

// Impossible counts, whose sizes would not fit 64 bits, are refused before they are multiplied.
static bool sum_parts( base_parts_reader* reader, uint64_t offset, mpi_manifest* manifest )
{
    for ( uint32_t i = 0; i < manifest->part_count; ++i )
    {
        mpi_part part = clv_mpi_manifest_part( manifest, i );
        if ( part.object_count > CLV_MAX_OBJECTS || part.pair_count > PAIRS_MOST )
        {
            return clv_base_parts_fault( reader, offset + (uint64_t)i * MANIFEST_PART_BYTES,
                "has a part with counts that no process has" );
        }
        manifest->object_count += part.object_count;
        manifest->pair_count += part.pair_count;
    }
    return true;
}

static bool set_kind( base_parts_reader* reader, const uint64_t settings[SETTINGS], mpi_manifest* manifest )
{
    uint64_t flags = settings[SETTING_FLAGS];
    bool has_before = ( flags & SAVES_EVENTS ) == 0 || ( flags & SAVES_FILTERS ) != 0;
    if ( flags > SAVES_ALL || !has_before || settings[SETTING_PAYLOAD] > UINT32_MAX ||
        settings[SETTING_GENERATION] > 1 )
    {
        return clv_base_parts_fault( reader, MANIFEST_SETTINGS_AT, "has settings that no space has" );
    }
    manifest->kind = clv_mpi_save_kind( reader->stamp, (uint32_t)flags, (uint32_t)settings[SETTING_PAYLOAD] );
    manifest->generation = (uint32_t)settings[SETTING_GENERATION];
    manifest->update_count = settings[SETTING_UPDATES];
    return true;
}

bool clv_mpi_manifest_read( base_parts_reader* reader, mpi_manifest* manifest )
{
    uint64_t settings[SETTINGS];
    *manifest = ( mpi_manifest ){ 0 };
    if ( reader->size >= 8 && memcmp( reader->memory, "CLVMANIF", 8 ) == 0 )
    {
        return clv_base_parts_fault(
            reader, 0, "was made by Cleave 0.1; later versions do not read its format: old signature" );
    }
    if ( !clv_base_parts_open( reader, CHECKPOINT_MANIFEST, CHECKPOINT_VERSION ) ||
        !clv_base_part_expect( reader, MANIFEST_SETTINGS, sizeof( settings ) ) ||
        !clv_base_part_get_ordered( reader, settings, SETTINGS, 8 ) || !clv_base_part_close( reader ) ||
        !clv_base_part_expect( reader, MANIFEST_COUNTS, UINT64_MAX ) )
    {
        return false;
    }
    uint64_t count = reader->length / MANIFEST_PART_BYTES, offset = reader->payload_offset;
    if ( count == 0 || count > MANIFEST_PARTS_MOST || reader->length % MANIFEST_PART_BYTES != 0 )
    {
        return clv_base_parts_fault( reader, offset - 16, "has an impossible number of parts" );
    }
    manifest->part_count = (uint32_t)count;
    manifest->parts = clv_base_part_view( reader, reader->length );
    return clv_base_part_close( reader ) && clv_base_part_expect( reader, BASE_PART_END, 0 ) &&
        set_kind( reader, settings, manifest ) && sum_parts( reader, offset, manifest );
}

uint8_t* clv_mpi_manifest_fetch( clv_mpi_space* space, const char* base, uint64_t* size )
{
    mpi_file file;
    char path[FILE_PATH_ROOM];
    clv_mpi_manifest_path( path, base );
    uint8_t* bytes = NULL;
    bool ok = clv_mpi_file_open( &file, path ) && clv_mpi_file_size( &file, size );
    if ( ok && ( *size < BASE_PARTS_HEADER_BYTES || *size > MANIFEST_BYTES_MOST ) )
    {
        path_error( space, path, "is no manifest of a checkpoint: it ends", *size );
    }
    else if ( ok )
    {
        bytes = clv_base_memory_take( &space->memory, *size, 1 );
        clv_mpi_reserved( space, bytes != NULL, "a manifest" );
        ok = bytes == NULL || clv_mpi_file_read( 0, bytes, *size, &file );
    }
    if ( !ok )
    {
        clv_mpi_file_error( space, path, file.reason );
        clv_base_memory_give( &space->memory, bytes, bytes != NULL ? *size : 0, 1 );
        bytes = NULL;
    }
    clv_mpi_file_close( &file );
    return bytes;
}
