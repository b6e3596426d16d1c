// SPDX-License-Identifier: MIT
// The manifest of a checkpoint, and the sizes that follow from it.
#include "base/assertion.h"
#include "mpi_checkpoint.h"

enum
{
    MANIFEST_PARTS_MOST = 1 << 24,
    VERSION_AT = 8,
    RECORD_PLAIN = 40,   ///< id, box, flags, 4 bytes of nothing
    RECORD_FILTERS = 64, ///< box before, filter, filter before
    RECORD_MARGINS = 24, ///< rule, motion
};

static const char s_manifest_mark[] = "CLVMANIF", s_part_mark[] = "CLVMPART";

// ---- sizes

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

uint64_t clv_mpi_part_size( const mpi_save_kind* kind, uint64_t object_count, uint64_t pair_count )
{
    return PART_HEADER_BYTES + clv_mpi_section_size( object_count, kind->record_size, kind->chunk_records ) +
        clv_mpi_section_size( pair_count, PAIR_RECORD_BYTES, CHUNK_RECORDS );
}

uint64_t clv_mpi_chunk_seed( const mpi_save_kind* kind, uint32_t part, bool is_pairs, uint64_t block )
{
    return clv_mpi_ids_mix( kind->save + clv_mpi_ids_mix( block * 2 + is_pairs + 1 ) + part );
}

// ---- names

static bool write_path( char path[FILE_PATH_ROOM], int length )
{
    (void)path;
    return length > 0 && length + 8 < FILE_PATH_ROOM; // with room for what is written beside
}

bool clv_mpi_part_path( char path[FILE_PATH_ROOM], const char* base, uint32_t generation, uint32_t part )
{
    return write_path(
        path, snprintf( path, FILE_PATH_ROOM, "%s.%c-%u", base, generation == 0 ? 'a' : 'b', part ) );
}

bool clv_mpi_manifest_path( char path[FILE_PATH_ROOM], const char* base )
{
    return write_path( path, snprintf( path, FILE_PATH_ROOM, "%s.manifest", base ) );
}

// The end of a long path is what tells files apart.
static const char* short_path( const char* path, const char** dots )
{
    enum
    {
        SHOWN = 90
    };
    size_t length = strlen( path );
    *dots = length > SHOWN ? "..." : "";
    return length > SHOWN ? path + ( length - SHOWN ) : path;
}

clv_result clv_mpi_file_error( clv_mpi_space* space, const char* path, const char* reason )
{
    const char* dots;
    const char* shown = short_path( path, &dots );
    return clv_mpi_fail( space, CLV_FILE_FAILED, "%s%s: %s", dots, shown, reason );
}

clv_result clv_mpi_file_error_at(
    clv_mpi_space* space, const char* path, const char* reason, uint64_t offset )
{
    const char* dots;
    const char* shown = short_path( path, &dots );
    return clv_mpi_fail(
        space, CLV_FILE_FAILED, "%s%s: %s at byte %llu", dots, shown, reason, (unsigned long long)offset );
}

// ---- parts

void clv_mpi_part_header_write(
    uint8_t* bytes, const mpi_save_kind* kind, uint32_t part, uint32_t part_count, const mpi_part* sizes )
{
    uint8_t* at = bytes;
    memcpy( at, s_part_mark, 8 );
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

void clv_mpi_manifest_put_part( uint8_t* bytes, uint32_t part, const mpi_part* sizes )
{
    uint8_t* at = bytes + MANIFEST_HEADER_BYTES + (uint64_t)part * MANIFEST_PART_BYTES;
    at = mpi_put_u64( at, sizes->object_count );
    at = mpi_put_u64( at, sizes->pair_count );
    at = mpi_put_u64( at, sizes->size );
    mpi_put_u64( at, sizes->header_sum );
}

mpi_part clv_mpi_manifest_part( const uint8_t* bytes, uint32_t part )
{
    const uint8_t* at = bytes + MANIFEST_HEADER_BYTES + (uint64_t)part * MANIFEST_PART_BYTES;
    return ( mpi_part ){ mpi_get_u64( at ), mpi_get_u64( at + 8 ), mpi_get_u64( at + 16 ),
        mpi_get_u64( at + 24 ) };
}

void clv_mpi_manifest_write( uint8_t* bytes, const mpi_manifest* manifest )
{
    uint8_t* at = bytes;
    memcpy( at, s_manifest_mark, 8 );
    at = mpi_put_u32( at + VERSION_AT, CHECKPOINT_VERSION );
    at = mpi_put_u32( at, manifest->kind.flags );
    at = mpi_put_u64( at, manifest->kind.save );
    at = mpi_put_u32( at, manifest->part_count );
    at = mpi_put_u32( at, manifest->generation );
    at = mpi_put_u64( at, manifest->object_count );
    at = mpi_put_u64( at, manifest->pair_count );
    at = mpi_put_u64( at, manifest->update_count );
    at = mpi_put_u32( at, manifest->kind.payload_size );
    CLV_ASSERT( at == bytes + MANIFEST_HEADER_BYTES - 4 );
    mpi_put_u32( at, (uint32_t)manifest->kind.chunk_records );
    uint64_t size = clv_mpi_manifest_size( manifest->part_count ) - 8;
    mpi_put_u64( bytes + size, clv_mpi_file_sum( 0, bytes, size ) );
}

// Counts that cannot be, with sizes that would not fit 64 bits, are refused before anything is multiplied.
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
            return "has a part with counts that do not fit its size,";
        }
        objects += part.object_count;
        pairs = pairs + part.pair_count < pairs ? UINT64_MAX : pairs + part.pair_count;
    }
    *offset = 32;
    return objects != manifest->object_count || pairs != manifest->pair_count
        ? "has sums that are not those of its parts,"
        : NULL;
}

const char* clv_mpi_manifest_read(
    const uint8_t* bytes, uint64_t size, mpi_manifest* manifest, uint64_t* offset )
{
    *offset = 0;
    if ( size < MANIFEST_HEADER_BYTES || memcmp( bytes, s_manifest_mark, 8 ) != 0 )
    {
        return "is no manifest of a checkpoint: another mark";
    }
    *offset = VERSION_AT;
    if ( mpi_get_u32( bytes + VERSION_AT ) != CHECKPOINT_VERSION )
    {
        return "is of another version than 1:";
    }
    uint32_t part_count = mpi_get_u32( bytes + 24 );
    *offset = 24;
    if ( part_count == 0 || part_count > MANIFEST_PARTS_MOST || size != clv_mpi_manifest_size( part_count ) )
    {
        return "has not the size of its number of parts,";
    }
    *offset = size - 8;
    if ( mpi_get_u64( bytes + size - 8 ) != clv_mpi_file_sum( 0, bytes, size - 8 ) )
    {
        return "is not as its checksum says,";
    }
    uint32_t flags = mpi_get_u32( bytes + 12 );
    manifest->kind = clv_mpi_save_kind( mpi_get_u64( bytes + 16 ), flags, mpi_get_u32( bytes + 56 ) );
    manifest->part_count = part_count;
    manifest->generation = mpi_get_u32( bytes + 28 );
    manifest->object_count = mpi_get_u64( bytes + 32 );
    manifest->pair_count = mpi_get_u64( bytes + 40 );
    manifest->update_count = mpi_get_u64( bytes + 48 );
    bool has_before = ( flags & SAVES_EVENTS ) == 0 || ( flags & SAVES_FILTERS ) != 0;
    *offset = 12;
    if ( ( flags & ~(uint32_t)SAVES_ALL ) != 0 || !has_before || manifest->generation > 1 ||
        mpi_get_u32( bytes + 60 ) != manifest->kind.chunk_records )
    {
        return "has settings that no version 1 writes,";
    }
    return check_parts( bytes, manifest, offset );
}

uint8_t* clv_mpi_manifest_fetch( clv_mpi_space* space, const char* base, uint64_t* size )
{
    mpi_file file;
    char path[FILE_PATH_ROOM];
    clv_mpi_manifest_path( path, base );
    if ( !clv_mpi_file_open( &file, path ) || !clv_mpi_file_size( &file, size ) )
    {
        clv_mpi_file_error( space, path, file.reason );
        clv_mpi_file_close( &file );
        return NULL;
    }
    uint8_t* bytes = NULL;
    if ( *size < clv_mpi_manifest_size( 1 ) || *size > clv_mpi_manifest_size( MANIFEST_PARTS_MOST ) )
    {
        clv_mpi_file_error_at( space, path, "is no manifest of a checkpoint: it ends", *size );
    }
    else
    {
        bytes = clv_base_memory_take( &space->memory, *size, 1 );
        if ( bytes == NULL )
        {
            clv_mpi_fail( space, CLV_OUT_OF_MEMORY, "no memory for a manifest" );
        }
        else if ( !clv_mpi_file_read( &file, 0, bytes, *size ) )
        {
            clv_mpi_file_error( space, path, file.reason );
            clv_base_memory_give( &space->memory, bytes, *size, 1 );
            bytes = NULL;
        }
    }
    clv_mpi_file_close( &file );
    return bytes;
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

uint64_t clv_mpi_chunk_room( const mpi_save_kind* kind )
{
    uint64_t objects = kind->record_size * kind->chunk_records,
             pairs = (uint64_t)PAIR_RECORD_BYTES * CHUNK_RECORDS;
    return ( objects > pairs ? objects : pairs ) + 8;
}
