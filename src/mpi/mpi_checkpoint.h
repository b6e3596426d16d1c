// SPDX-License-Identifier: MIT
// What the files of a checkpoint look like; docs/mpi.md has the same in words. Each is a container of
// base/parts.h: a manifest, and a part per process that wrote, with its objects and its pairs of the last
// good update. Their chunks have sizes that follow from the manifest and a sum each, so that any process can
// read any range and still notice every byte that is not as it was written.
#pragma once

#include "base/parts.h"
#include "mpi_state.h"

#include <stdio.h>

#define CHECKPOINT_MANIFEST BASE_TAG( 'C', 'K', 'P', 'M' )
#define CHECKPOINT_PART BASE_TAG( 'C', 'K', 'P', 'P' )

enum
{
    FILE_PATH_ROOM = 4096 + 64,
    FILE_REASON_ROOM = 160,
    CHECKPOINT_VERSION = 1, ///< of both kinds
    MANIFEST_PART_BYTES = 16,
    MANIFEST_SETTINGS_AT = BASE_PARTS_HEADER_BYTES + BASE_PART_HEAD_BYTES, ///< in the file
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
    char reason[FILE_REASON_ROOM]; ///< why the system could not, with the offset where there is one
} mpi_file;

/// Writing a container. False: it failed, `reason` says why, and what was written is removed. The last: its
/// end, all of it on the disk, and renamed to its place.
bool clv_mpi_file_create(
    mpi_file* file, base_parts_writer* writer, const char* path, uint32_t kind, uint64_t stamp );
bool clv_mpi_file_finish( mpi_file* file, base_parts_writer* writer );

/// Reading, at 64-bit offsets; the last is a base_parts_get, with `file` for its user.
bool clv_mpi_file_open( mpi_file* file, const char* path );
bool clv_mpi_file_size( mpi_file* file, uint64_t* size );
bool clv_mpi_file_read( uint64_t offset, void* bytes, uint64_t size, void* file );
void clv_mpi_file_close( mpi_file* file );

/// Does no such file exist?
bool clv_mpi_file_is_missing( const char* path );

/// A number that another save does not have.
uint64_t clv_mpi_file_unique( void );

/// CLV_FILE_FAILED with the file's name and what is wrong with it: in words, by a reader, or by the system,
/// if that had a reason, else by the reader.
clv_result clv_mpi_file_error( clv_mpi_space* space, const char* path, const char* reason );
clv_result clv_mpi_reader_error( clv_mpi_space* space, const char* path, const base_parts_reader* reader );
clv_result clv_mpi_file_reader_error(
    clv_mpi_space* space, const mpi_file* file, const base_parts_reader* reader );

// ---- what is in them

/// What objects carry.
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
    uint64_t save; ///< a number of this save alone: the manifest's stamp; a part adds its number to it
    uint32_t flags, payload_size;
    uint64_t record_size, chunk_records; ///< of objects
} mpi_save_kind;

typedef struct mpi_part
{
    uint64_t object_count, pair_count;
} mpi_part;

typedef struct mpi_manifest
{
    mpi_save_kind kind;
    uint32_t part_count;
    uint32_t generation; ///< 0 or 1: parts are called PATH.a-… or PATH.b-…
    uint64_t update_count, object_count, pair_count;
    const uint8_t* parts; ///< in the bytes that it was read from
} mpi_manifest;

/// Objects, or pairs, of a part: where they are in its file, and what its container calls them.
typedef struct mpi_section
{
    uint32_t tag, first_chunk; ///< the number of the first one
    uint64_t count, record_size, chunk_records;
    uint64_t begin, end; ///< in the file
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

/// Sizes of records follow from flags and payload, places from counts. The pairs end where the end begins.
mpi_save_kind clv_mpi_save_kind( uint64_t save, uint32_t flags, uint32_t payload_size );
mpi_section clv_mpi_section( const mpi_save_kind* kind, const mpi_part* part, bool is_pairs );

/// Records in the chunk that begins with `first`.
uint64_t clv_mpi_chunk_count( const mpi_section* section, uint64_t first );

/// Where a record, or the chunk that begins with it, is in the file.
uint64_t clv_mpi_record_offset( const mpi_section* section, uint64_t record );
uint64_t clv_mpi_chunk_offset( const mpi_section* section, uint64_t first );

/// Records to bytes, or bytes to records: one description for both ways. The first returns where the payload
/// is.
uint8_t* clv_mpi_code_object(
    uint8_t* bytes, bool writes, const mpi_save_kind* kind, mpi_saved_object* object );
void clv_mpi_code_pair( uint8_t* bytes, bool writes, mpi_saved_pair* pair );

void clv_mpi_part_path( char path[FILE_PATH_ROOM], const char* base, uint32_t generation, uint32_t part );
void clv_mpi_manifest_path( char path[FILE_PATH_ROOM], const char* base );

/// Is there a path, and short enough for all names that are made of it?
clv_result clv_mpi_check_path( clv_mpi_space* space, const char* base );

/// A part's file and a reader of it; it is of this save. To be closed after a failure too, which
/// clv_mpi_file_reader_error tells.
bool clv_mpi_part_open( mpi_file* file, base_parts_reader* reader, const char* base,
    const mpi_save_kind* kind, uint32_t generation, uint32_t part );

/// From bytes in memory: everything that they alone can tell. False: the reader says what is wrong.
bool clv_mpi_manifest_read( base_parts_reader* reader, mpi_manifest* manifest );
mpi_part clv_mpi_manifest_part( const mpi_manifest* manifest, uint32_t part );
void clv_mpi_manifest_write(
    base_parts_writer* writer, const mpi_manifest* manifest, const uint64_t* counts );

/// The manifest as it is in its file, from this space's memory; *size bytes, or NULL and an error.
uint8_t* clv_mpi_manifest_fetch( clv_mpi_space* space, const char* base, uint64_t* size );
