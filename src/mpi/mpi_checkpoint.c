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
    remove( file->beside ); // left by a job that was killed while it wrote
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
        return abandon( file, "cannot be written" );
    }
    file->at += size;
    return true;
}

bool clv_mpi_file_finish( mpi_file* file )
{
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

static clv_result path_error( clv_mpi_space* space, const char* path, const char* reason, const char* place )
{
    enum
    {
        SHOWN = 90 ///< of a long path the end, which tells files apart
    };
    size_t length = strlen( path ), cut = length > SHOWN ? length - SHOWN : 0;
    return clv_mpi_fail(
        space, CLV_FILE_FAILED, "%s%s: %s%s", cut > 0 ? "..." : "", path + cut, reason, place );
}

clv_result clv_mpi_file_error( clv_mpi_space* space, const char* path, const char* reason )
{
    return path_error( space, path, reason, "" );
}

clv_result clv_mpi_file_error_at(
    clv_mpi_space* space, const char* path, const char* reason, uint64_t offset )
{
    char place[48];
    snprintf( place, sizeof( place ), " at byte %llu", (unsigned long long)offset );
    return path_error( space, path, reason, place );
}

// ---- numbers to bytes and back

/// Goes through bytes that are written from numbers, or numbers from bytes.
typedef struct coder
{
    uint8_t* at;
    bool writes;
} coder;

static void code_u32( coder* c, uint32_t* value )
{
    if ( c->writes )
    {
        mpi_put_u32( c->at, *value );
    }
    *value = mpi_get_u32( c->at );
    c->at += 4;
}

static void code_u64( coder* c, uint64_t* value )
{
    if ( c->writes )
    {
        mpi_put_u64( c->at, *value );
    }
    *value = mpi_get_u64( c->at );
    c->at += 8;
}

// `count` floats or int32_t in a row.
static void code_bits( coder* c, void* values, size_t count )
{
    for ( size_t i = 0; i < count; ++i )
    {
        uint32_t bits;
        memcpy( &bits, (char*)values + i * sizeof( bits ), sizeof( bits ) );
        code_u32( c, &bits );
        memcpy( (char*)values + i * sizeof( bits ), &bits, sizeof( bits ) );
    }
}

static void code_filter( coder* c, clv_filter* filter )
{
    code_u64( c, &filter->category );
    code_u64( c, &filter->mask );
    code_bits( c, &filter->group, 1 );
}

uint8_t* clv_mpi_code_object( uint8_t* bytes, bool writes, const mpi_save_kind* kind, mpi_saved_object* o )
{
    coder c = { bytes, writes };
    code_u64( &c, &o->id );
    code_bits( &c, &o->box, 6 );
    code_u32( &c, &o->flags );
    c.at += 4;
    if ( ( kind->flags & SAVES_FILTERS ) != 0 )
    {
        code_bits( &c, &o->before, 6 );
        code_filter( &c, &o->filter );
        code_filter( &c, &o->filter_before );
    }
    if ( ( kind->flags & SAVES_MARGINS ) != 0 )
    {
        code_bits( &c, &o->rule, 3 );
        code_bits( &c, &o->motion, 3 );
    }
    CLV_ASSERT( c.at + ( (uint64_t)kind->payload_size + 7 ) / 8 * 8 == bytes + kind->record_size );
    return c.at;
}

void clv_mpi_code_pair( uint8_t* bytes, bool writes, mpi_saved_pair* pair )
{
    coder c = { bytes, writes };
    code_u64( &c, &pair->a );
    code_u64( &c, &pair->b );
    code_bits( &c, &pair->corner, 3 );
    code_u32( &c, &pair->is_gone );
    CLV_ASSERT( c.at == bytes + PAIR_RECORD_BYTES );
}

static void code_part( coder* c, mpi_part* part )
{
    code_u64( c, &part->object_count );
    code_u64( c, &part->pair_count );
    code_u64( c, &part->size );
    code_u64( c, &part->header_sum );
}

// All behind the signature.
static void code_manifest( coder* c, mpi_manifest* m, uint32_t* version, uint32_t* chunk_records )
{
    code_u32( c, version );
    code_u32( c, &m->kind.flags );
    code_u64( c, &m->kind.save );
    code_u32( c, &m->part_count );
    code_u32( c, &m->generation );
    code_u64( c, &m->object_count );
    code_u64( c, &m->pair_count );
    code_u64( c, &m->update_count );
    code_u32( c, &m->kind.payload_size );
    code_u32( c, chunk_records );
}

// ---- sizes

enum
{
    MANIFEST_PARTS_MOST = 1 << 24,
    SIGNATURE_BYTES = 8,
    RECORD_PLAIN = 40,   ///< id, box, flags, 4 bytes of nothing
    RECORD_FILTERS = 64, ///< box before, filter, filter before
    RECORD_MARGINS = 24, ///< rule, motion
};

static const char s_manifest_signature[] = "CLVMANIF", s_part_signature[] = "CLVMPART";

mpi_save_kind clv_mpi_save_kind( uint64_t save, uint32_t flags, uint32_t payload_size )
{
    mpi_save_kind kind = { .save = save, .flags = flags, .payload_size = payload_size };
    kind.record_size = RECORD_PLAIN + ( ( flags & SAVES_FILTERS ) != 0 ? (uint64_t)RECORD_FILTERS : 0 ) +
        ( ( flags & SAVES_MARGINS ) != 0 ? (uint64_t)RECORD_MARGINS : 0 ) +
        ( (uint64_t)payload_size + 7 ) / 8 * 8;
    uint64_t fit = CHUNK_BYTES / kind.record_size;
    kind.chunk_records = fit < 1 ? 1 : fit < CHUNK_RECORDS ? fit : CHUNK_RECORDS;
    CLV_ASSERT( kind.record_size % 8 == 0 && kind.chunk_records > 0 ); // sums are made of words
    return kind;
}

uint64_t clv_mpi_section_size( uint64_t count, uint64_t record_size, uint64_t chunk_records )
{
    CLV_ASSERT( chunk_records > 0 );
    uint64_t blocks = count / chunk_records + ( count % chunk_records != 0 );
    return count * record_size + blocks * sizeof( uint64_t );
}

mpi_section clv_mpi_section( const mpi_save_kind* kind, bool is_pairs )
{
    return is_pairs ? ( mpi_section ){ true, PAIR_RECORD_BYTES, CHUNK_RECORDS }
                    : ( mpi_section ){ false, kind->record_size, kind->chunk_records };
}

uint64_t clv_mpi_part_size( const mpi_save_kind* kind, uint64_t object_count, uint64_t pair_count )
{
    return PART_HEADER_BYTES + clv_mpi_section_size( object_count, kind->record_size, kind->chunk_records ) +
        clv_mpi_section_size( pair_count, PAIR_RECORD_BYTES, CHUNK_RECORDS );
}

uint64_t clv_mpi_chunk_room( const mpi_save_kind* kind )
{
    uint64_t objects = kind->record_size * kind->chunk_records,
             pairs = (uint64_t)PAIR_RECORD_BYTES * CHUNK_RECORDS;
    return ( objects > pairs ? objects : pairs ) + 8;
}

uint64_t clv_mpi_record_offset(
    const mpi_save_kind* kind, const mpi_part* part, const mpi_section* section, uint64_t record )
{
    uint64_t objects = clv_mpi_section_size( part->object_count, kind->record_size, kind->chunk_records );
    return PART_HEADER_BYTES + ( section->is_pairs ? objects : 0 ) + record * section->record_size +
        record / section->chunk_records * 8;
}

uint64_t clv_mpi_chunk_seed( const mpi_save_kind* kind, uint32_t part, bool is_pairs, uint64_t chunk )
{
    return clv_mpi_ids_mix( kind->save + clv_mpi_ids_mix( chunk * 2 + is_pairs + 1 ) + part );
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

// ---- the header of a part

void clv_mpi_part_header_write(
    uint8_t* bytes, const mpi_save_kind* kind, uint32_t part, uint32_t part_count, const mpi_part* sizes )
{
    uint8_t* at = bytes;
    memcpy( at, s_part_signature, 8 );
    at = mpi_put_u32( at + 8, CHECKPOINT_VERSION );
    at = mpi_put_u32( at, kind->flags );
    at = mpi_put_u64( at, kind->save );
    at = mpi_put_u32( at, part );
    at = mpi_put_u32( at, part_count );
    at = mpi_put_u64( at, sizes->object_count );
    at = mpi_put_u64( at, sizes->pair_count );
    at = mpi_put_u32( at, kind->payload_size );
    at = mpi_put_u32( at, (uint32_t)kind->chunk_records );
    CLV_ASSERT( at == bytes + PART_HEADER_BYTES - 8 );
    mpi_put_u64( at, clv_mpi_file_sum( kind->save, bytes, PART_HEADER_BYTES - 8 ) );
}

// ---- the manifest

uint64_t clv_mpi_manifest_size( uint64_t part_count )
{
    return MANIFEST_HEADER_BYTES + part_count * MANIFEST_PART_BYTES + sizeof( uint64_t );
}

static uint64_t part_offset( uint32_t part )
{
    return MANIFEST_HEADER_BYTES + (uint64_t)part * MANIFEST_PART_BYTES;
}

void clv_mpi_manifest_put_part( uint8_t* bytes, uint32_t part, const mpi_part* sizes )
{
    coder c = { bytes + part_offset( part ), true };
    mpi_part copy = *sizes;
    code_part( &c, &copy );
}

mpi_part clv_mpi_manifest_part( const uint8_t* bytes, uint32_t part )
{
    coder c = { (uint8_t*)(uintptr_t)( bytes + part_offset( part ) ), false };
    mpi_part sizes = { 0 };
    code_part( &c, &sizes );
    return sizes;
}

void clv_mpi_manifest_write( uint8_t* bytes, const mpi_manifest* manifest )
{
    coder c = { bytes + SIGNATURE_BYTES, true };
    mpi_manifest copy = *manifest;
    uint32_t version = CHECKPOINT_VERSION, chunk_records = (uint32_t)manifest->kind.chunk_records;
    memcpy( bytes, s_manifest_signature, SIGNATURE_BYTES );
    code_manifest( &c, &copy, &version, &chunk_records );
    CLV_ASSERT( c.at == bytes + MANIFEST_HEADER_BYTES );
    uint64_t size = clv_mpi_manifest_size( manifest->part_count ) - 8;
    mpi_put_u64( bytes + size, clv_mpi_file_sum( 0, bytes, size ) );
}

// Impossible counts, whose sizes would not fit 64 bits, are refused before they are multiplied.
static const char* check_parts( const uint8_t* bytes, const mpi_manifest* manifest, uint64_t* offset )
{
    uint64_t objects = 0, pairs = 0;
    for ( uint32_t i = 0; i < manifest->part_count; ++i )
    {
        mpi_part part = clv_mpi_manifest_part( bytes, i );
        *offset = MANIFEST_HEADER_BYTES + (uint64_t)i * MANIFEST_PART_BYTES;
        if ( part.object_count > CLV_MAX_OBJECTS || part.pair_count > UINT64_C( 1 ) << 56 ||
            part.size != clv_mpi_part_size( &manifest->kind, part.object_count, part.pair_count ) )
        {
            return "has a part with counts that do not fit its size";
        }
        objects += part.object_count;
        pairs = pairs + part.pair_count < pairs ? UINT64_MAX : pairs + part.pair_count;
    }
    *offset = 32;
    return objects != manifest->object_count || pairs != manifest->pair_count
        ? "has sums that differ from its parts"
        : NULL;
}

const char* clv_mpi_manifest_read(
    const uint8_t* bytes, uint64_t size, mpi_manifest* manifest, uint64_t* offset )
{
    *offset = 0;
    if ( size < MANIFEST_HEADER_BYTES || memcmp( bytes, s_manifest_signature, SIGNATURE_BYTES ) != 0 )
    {
        return "is no manifest of a checkpoint: wrong signature";
    }
    uint32_t version = 0, chunk_records = 0;
    coder c = { (uint8_t*)(uintptr_t)( bytes + SIGNATURE_BYTES ), false };
    code_manifest( &c, manifest, &version, &chunk_records );
    *offset = SIGNATURE_BYTES;
    if ( version != CHECKPOINT_VERSION )
    {
        return "has a version other than 1";
    }
    *offset = 24;
    if ( manifest->part_count == 0 || manifest->part_count > MANIFEST_PARTS_MOST ||
        size != clv_mpi_manifest_size( manifest->part_count ) )
    {
        return "has a number of parts that does not fit its size";
    }
    *offset = size - 8;
    if ( mpi_get_u64( bytes + size - 8 ) != clv_mpi_file_sum( 0, bytes, size - 8 ) )
    {
        return "checksum mismatch";
    }
    uint32_t flags = manifest->kind.flags;
    manifest->kind = clv_mpi_save_kind( manifest->kind.save, flags, manifest->kind.payload_size );
    bool has_before = ( flags & SAVES_EVENTS ) == 0 || ( flags & SAVES_FILTERS ) != 0;
    *offset = 12;
    if ( ( flags & ~(uint32_t)SAVES_ALL ) != 0 || !has_before || manifest->generation > 1 ||
        chunk_records != manifest->kind.chunk_records )
    {
        return "has settings that version 1 does not have";
    }
    return check_parts( bytes, manifest, offset );
}

uint8_t* clv_mpi_manifest_fetch( clv_mpi_space* space, const char* base, uint64_t* size )
{
    mpi_file file;
    char path[FILE_PATH_ROOM];
    clv_mpi_manifest_path( path, base );
    uint8_t* bytes = NULL;
    bool ok = clv_mpi_file_open( &file, path ) && clv_mpi_file_size( &file, size );
    if ( ok &&
        ( *size < clv_mpi_manifest_size( 1 ) || *size > clv_mpi_manifest_size( MANIFEST_PARTS_MOST ) ) )
    {
        clv_mpi_file_error_at( space, path, "is no manifest of a checkpoint: it ends", *size );
    }
    else if ( ok )
    {
        bytes = clv_base_memory_take( &space->memory, *size, 1 );
        clv_mpi_reserved( space, bytes != NULL, "a manifest" );
        ok = bytes == NULL || clv_mpi_file_read( &file, 0, bytes, *size );
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
