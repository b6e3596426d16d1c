// SPDX-License-Identifier: MIT
// What the files of a checkpoint look like; docs/mpi.md has the same in words. A manifest names the parts, one per process that
// wrote; a part has its objects and its pairs of the last good update, in blocks with a checksum each, so that any process can read any
// range of it and still notice every byte that is not as it was written.
#pragma once

#include "mpi_file.h"
#include "mpi_state.h"

enum
{
    CHECKPOINT_VERSION = 1,
    PART_HEADER_BYTES = 64,     ///< bytes, the last 8 a checksum
    PART_SAVE_OFFSET = 16,      ///< where the number of the save is in it
    MANIFEST_HEADER_BYTES = 64, ///< bytes
    MANIFEST_PART_BYTES = 32,   ///< bytes per part after that; then the checksum
    PAIR_RECORD_BYTES = 32,     ///< bytes
    CHUNK_RECORDS = 4096,       ///< in a block at most,
    CHUNK_BYTES = 1 << 20       ///< and no more bytes than this, but for one record
};

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

/// Sizes of records follow from flags and payload.
mpi_save_kind clv_mpi_save_kind( uint64_t save, uint32_t flags, uint32_t payload_size );

/// Bytes of `count` records in blocks, checksums included; and of a whole part.
uint64_t clv_mpi_section_size( uint64_t count, uint64_t record_size, uint64_t chunk_records );
uint64_t clv_mpi_part_size( const mpi_save_kind* kind, uint64_t object_count, uint64_t pair_count );

/// Where sums of a block begin: a block of another save, part or place has another sum.
uint64_t clv_mpi_chunk_seed( const mpi_save_kind* kind, uint32_t part, bool is_pairs, uint64_t block );

void clv_mpi_part_header_write(
    uint8_t* bytes, const mpi_save_kind* kind, uint32_t part, uint32_t part_count, const mpi_part* sizes );

/// False: the path is too long.
bool clv_mpi_part_path( char path[FILE_PATH_ROOM], const char* base, uint32_t generation, uint32_t part );
bool clv_mpi_manifest_path( char path[FILE_PATH_ROOM], const char* base );

uint64_t clv_mpi_manifest_size( uint64_t part_count );

/// Header and checksum around the part table, which is there already.
void clv_mpi_manifest_write( uint8_t* bytes, const mpi_manifest* manifest );
void clv_mpi_manifest_put_part( uint8_t* bytes, uint32_t part, const mpi_part* sizes );
mpi_part clv_mpi_manifest_part( const uint8_t* bytes, uint32_t part );

/// Everything that bytes alone can tell. NULL, or what is wrong, and at which byte.
const char* clv_mpi_manifest_read(
    const uint8_t* bytes, uint64_t size, mpi_manifest* manifest, uint64_t* offset );

/// The manifest as it is in its file, from this space's memory; *size bytes, or NULL and a complaint.
uint8_t* clv_mpi_manifest_fetch( clv_mpi_space* space, const char* base, uint64_t* size );

/// CLV_FILE_FAILED with the file's name and what was wrong with it.
/// Is there one, and short enough for all names that are made of it?
clv_result clv_mpi_check_path( clv_mpi_space* space, const char* base );

/// Bytes of the longest block, checksum included.
uint64_t clv_mpi_chunk_room( const mpi_save_kind* kind );

clv_result clv_mpi_file_error( clv_mpi_space* space, const char* path, const char* reason );
clv_result clv_mpi_file_error_at(
    clv_mpi_space* space, const char* path, const char* reason, uint64_t offset );

// ---- parts, read by ranges

/// A share of all records, in the order of the parts.
typedef struct mpi_range
{
    uint64_t first, count;
} mpi_range;

typedef struct mpi_parts
{
    clv_mpi_space* space;
    const char* base;
    uint8_t* manifest_bytes;
    uint64_t manifest_size;
    mpi_manifest manifest;
    uint8_t* block; ///< room for any block
    uint64_t chunk_room;
} mpi_parts;

/// This process's share of the objects, or of the pairs.
mpi_range clv_mpi_parts_range( const mpi_parts* parts, bool is_pairs );

/// The records of a share. False: there is a complaint.
bool clv_mpi_parts_read( mpi_parts* parts, bool is_pairs, mpi_range share, uint8_t* to );

/// Are they all there? Each process looks at some. False: there is a complaint.
bool clv_mpi_parts_check( mpi_parts* parts );

/// A complaint about a record, by its number among all.
clv_result clv_mpi_parts_error( mpi_parts* parts, bool is_pairs, uint64_t record, const char* reason );
