// SPDX-License-Identifier: MIT
// What the files of a checkpoint look like; docs/mpi.md has the same in words. A manifest names the parts,
// one per process that wrote; a part has its objects and its pairs of the last good update, in chunks with a
// checksum each, so that any process can read any range of it and still notice every byte that is not as it
// was written. Numbers are little-endian.
#pragma once

#include "mpi_state.h"

#include <stdio.h>

enum
{
    FILE_PATH_ROOM = 4096 + 64,
    FILE_REASON_ROOM = 160,
    CHECKPOINT_VERSION = 1,
    PART_HEADER_BYTES = 64,     ///< the last 8 are a checksum
    PART_SAVE_OFFSET = 16,      ///< where the number of the save is in it
    MANIFEST_HEADER_BYTES = 64, ///< then the parts, then a checksum
    MANIFEST_PART_BYTES = 32,
    PAIR_RECORD_BYTES = 32,
    CHUNK_RECORDS = 4096, ///< in a chunk at most,
    CHUNK_BYTES = 1 << 20 ///< and no more bytes than this, but for one record
};

// ---- files: written beside their place and renamed when they are whole

typedef struct mpi_file
{
    FILE* stream;
    uint64_t at;                   ///< where the next byte goes
    char path[FILE_PATH_ROOM];     ///< its place
    char beside[FILE_PATH_ROOM];   ///< where it is written first; empty while it is only read
    char reason[FILE_REASON_ROOM]; ///< why the last call failed, with the offset where there is one
} mpi_file;

/// Sums of 64-bit words, each mixed in by a bijection: a different word always gives a different sum. `size`
/// is a multiple of 8.
uint64_t clv_mpi_file_sum( uint64_t seed, const uint8_t* bytes, uint64_t size );

/// Writing. False: it failed, `reason` says why, and what was written is removed. The last: on the disk, and
/// renamed to its place.
bool clv_mpi_file_create( mpi_file* file, const char* path );
bool clv_mpi_file_write( mpi_file* file, const uint8_t* bytes, uint64_t size );
bool clv_mpi_file_finish( mpi_file* file );

/// Reading, at 64-bit offsets.
bool clv_mpi_file_open( mpi_file* file, const char* path );
bool clv_mpi_file_size( mpi_file* file, uint64_t* size );
bool clv_mpi_file_read( mpi_file* file, uint64_t offset, uint8_t* bytes, uint64_t size );
void clv_mpi_file_close( mpi_file* file );

/// Does no such file exist?
bool clv_mpi_file_is_missing( const char* path );

/// A number that another save does not have.
uint64_t clv_mpi_file_unique( void );

/// CLV_FILE_FAILED with the file's name and what is wrong with it; the second at which byte.
clv_result clv_mpi_file_error( clv_mpi_space* space, const char* path, const char* reason );
clv_result clv_mpi_file_error_at(
    clv_mpi_space* space, const char* path, const char* reason, uint64_t offset );

static inline uint8_t* mpi_put_u32( uint8_t* to, uint32_t value )
{
    for ( int i = 0; i < 4; ++i )
    {
        to[i] = (uint8_t)( value >> ( 8 * i ) );
    }
    return to + 4;
}

static inline uint8_t* mpi_put_u64( uint8_t* to, uint64_t value )
{
    return mpi_put_u32( mpi_put_u32( to, (uint32_t)value ), (uint32_t)( value >> 32 ) );
}

static inline uint8_t* mpi_put_float( uint8_t* to, float value )
{
    uint32_t bits;
    memcpy( &bits, &value, sizeof( bits ) );
    return mpi_put_u32( to, bits );
}

static inline uint32_t mpi_get_u32( const uint8_t* from )
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static inline uint64_t mpi_get_u64( const uint8_t* from )
{
    return (uint64_t)mpi_get_u32( from ) | (uint64_t)mpi_get_u32( from + 4 ) << 32;
}

// ---- what is in them

/// What objects carry, in both files.
enum
{
    SAVES_EVENTS = 1,     ///< pairs of the last good update follow the objects
    SAVES_FILTERS = 2,    ///< records have boxes and filters of the last good update, and the filter now
    SAVES_MARGINS = 4,    ///< records have margin rule and motion
    SAVES_NO_STATICS = 8, ///< pairs of two static objects were skipped
    SAVES_ALL = 15
};

/// Of a checkpoint as a whole.
typedef struct mpi_save_kind
{
    uint64_t save; ///< a number of this save alone
    uint32_t flags, payload_size;
    uint64_t record_size, chunk_records; ///< of objects
} mpi_save_kind;

typedef struct mpi_part
{
    uint64_t object_count, pair_count;
    uint64_t size;       ///< of the file
    uint64_t header_sum; ///< its header's checksum
} mpi_part;

typedef struct mpi_manifest
{
    mpi_save_kind kind;
    uint32_t part_count;
    uint32_t generation; ///< 0 or 1: parts are called PATH.a-… or PATH.b-…
    uint64_t update_count, object_count, pair_count;
} mpi_manifest;

/// Objects, or pairs, of a part.
typedef struct mpi_section
{
    bool is_pairs;
    uint64_t record_size, chunk_records;
} mpi_section;

/// An object as its record has it.
typedef struct mpi_saved_object
{
    uint64_t id;
    clv_aabb box; ///< as given
    uint32_t flags;
    clv_aabb before;
    clv_filter filter, filter_before;
    clv_margin_rule rule;
    clv_vec3 motion;
} mpi_saved_object;

typedef struct mpi_saved_pair
{
    uint64_t a, b;
    clv_vec3 corner;
    uint32_t is_gone;
} mpi_saved_pair;

/// Sizes of records follow from flags and payload.
mpi_save_kind clv_mpi_save_kind( uint64_t save, uint32_t flags, uint32_t payload_size );
mpi_section clv_mpi_section( const mpi_save_kind* kind, bool is_pairs );

/// Bytes of `count` records in chunks, checksums included; of a whole part; and of the longest chunk.
uint64_t clv_mpi_section_size( uint64_t count, uint64_t record_size, uint64_t chunk_records );
uint64_t clv_mpi_part_size( const mpi_save_kind* kind, uint64_t object_count, uint64_t pair_count );
uint64_t clv_mpi_chunk_room( const mpi_save_kind* kind );

/// Where a record is in its part.
uint64_t clv_mpi_record_offset(
    const mpi_save_kind* kind, const mpi_part* part, const mpi_section* section, uint64_t record );

/// Where sums of a chunk begin: a chunk of another save, part or place has another sum.
uint64_t clv_mpi_chunk_seed( const mpi_save_kind* kind, uint32_t part, bool is_pairs, uint64_t chunk );

/// Records to bytes, or bytes to records: one description for both ways. The first returns where the payload
/// is.
uint8_t* clv_mpi_code_object(
    uint8_t* bytes, bool writes, const mpi_save_kind* kind, mpi_saved_object* object );
void clv_mpi_code_pair( uint8_t* bytes, bool writes, mpi_saved_pair* pair );

void clv_mpi_part_header_write(
    uint8_t* bytes, const mpi_save_kind* kind, uint32_t part, uint32_t part_count, const mpi_part* sizes );

void clv_mpi_part_path( char path[FILE_PATH_ROOM], const char* base, uint32_t generation, uint32_t part );
void clv_mpi_manifest_path( char path[FILE_PATH_ROOM], const char* base );

/// Is there a path, and short enough for all names that are made of it?
clv_result clv_mpi_check_path( clv_mpi_space* space, const char* base );

uint64_t clv_mpi_manifest_size( uint64_t part_count );

/// Header and checksum around the part table, which is there already.
void clv_mpi_manifest_write( uint8_t* bytes, const mpi_manifest* manifest );
void clv_mpi_manifest_put_part( uint8_t* bytes, uint32_t part, const mpi_part* sizes );
mpi_part clv_mpi_manifest_part( const uint8_t* bytes, uint32_t part );

/// Everything that bytes alone can tell. NULL, or what is wrong, and at which byte.
const char* clv_mpi_manifest_read(
    const uint8_t* bytes, uint64_t size, mpi_manifest* manifest, uint64_t* offset );

/// The manifest as it is in its file, from this space's memory; *size bytes, or NULL and an error.
uint8_t* clv_mpi_manifest_fetch( clv_mpi_space* space, const char* base, uint64_t* size );
