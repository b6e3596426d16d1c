// SPDX-License-Identifier: MIT
// The container of everything Cleave writes down: snapshots, recordings, checkpoints. A header, then parts,
// each with a tag, a length and a checksum. One writer and one reader; what is inside a part is up to its
// owner.
//
// All numbers are little-endian. Every part begins at a multiple of 8.
//
//   header, 40 bytes
//      0   8  89 43 4C 56 0D 0A 1A 0A: "CLV" between bytes that a transfer as text would change
//      8   4  kind of file, four letters
//     12   4  version of that kind, from 1 on
//     16   4  flags: bit 0: payloads have no checksum, theirs is written as 0
//     20   4  0
//     24   8  stamp: any number of the owner's; it enters every checksum, so a part of another file is
//          noticed
//     32   8  checksum of the 32 bytes before
//   part, 32 bytes and its payload
//      0   4  tag, four letters
//      4   4  number of the part: 0, 1, 2, ... in the order of the file
//      8   8  length of the payload in bytes
//     16   8  checksum of the 16 bytes before
//     24      payload, then 0 to 7 bytes of zero up to a multiple of 8
//          8  checksum of the payload with these zeros
//   the last part has the tag "END." and no payload; nothing follows it.
//
// A checksum is of 64-bit words in eight lanes, each step a bijection of the word: any change within one word
// is noticed for certain, any other with all but 2^-64 of a chance. It begins with the stamp and the part's
// number. It protects from accidents, not from an opponent, who can compute it: owners check what they read.
#pragma once

#include "base/exact.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// Four letters as the number that is written as these bytes.
#define BASE_TAG( a, b, c, d )                                                                               \
    ( (uint32_t)( a ) | (uint32_t)( b ) << 8 | (uint32_t)( c ) << 16 | (uint32_t)( d ) << 24 )

#define BASE_PART_END BASE_TAG( 'E', 'N', 'D', '.' )

enum
{
    BASE_PARTS_HEADER_BYTES = 40,
    BASE_PART_HEAD_BYTES = 24, ///< before the payload
    BASE_PART_SUM_BYTES = 8,   ///< behind it
    BASE_PARTS_UNSUMMED = 1,   ///< flag: for what stays in one program's memory
    BASE_SUM_LANES = 8,
};

/// Bytes in the file of a part with a payload of `length`; the last part is one with none.
static inline uint64_t base_part_bytes( uint64_t length )
{
    return BASE_PART_HEAD_BYTES + ( length + 7 ) / 8 * 8 + BASE_PART_SUM_BYTES;
}

/// The first bytes of every file.
extern const uint8_t clv_base_parts_magic[8];

// ---- checksums

typedef struct base_sum
{
    uint64_t lanes[BASE_SUM_LANES];
    uint64_t length;
    uint8_t waiting[8 * BASE_SUM_LANES]; ///< bytes of a stripe that is not full yet
} base_sum;

/// Bytes in any number of pieces; the same bytes give the same sum however they are cut.
void clv_base_sum_begin( base_sum* sum, uint64_t seed, uint64_t number );
void clv_base_sum_add( base_sum* sum, const void* bytes, uint64_t size );
uint64_t clv_base_sum_end( base_sum* sum );

/// All at once.
uint64_t clv_base_sum_of( uint64_t seed, uint64_t number, const void* bytes, uint64_t size );

// ---- numbers in memory

/// Is this machine's order the file's? Compilers know the answer.
static inline bool base_is_little_endian( void )
{
    const uint32_t one = 1;
    uint8_t first;
    memcpy( &first, &one, 1 );
    return first == 1;
}

static inline void base_put_u32( uint8_t* to, uint32_t value )
{
    for ( int i = 0; i < 4; ++i )
    {
        to[i] = (uint8_t)( value >> ( 8 * i ) );
    }
}

static inline void base_put_u64( uint8_t* to, uint64_t value )
{
    base_put_u32( to, (uint32_t)value );
    base_put_u32( to + 4, (uint32_t)( value >> 32 ) );
}

static inline uint32_t base_get_u32( const uint8_t* from )
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static inline uint64_t base_get_u64( const uint8_t* from )
{
    return (uint64_t)base_get_u32( from ) | (uint64_t)base_get_u32( from + 4 ) << 32;
}

/// `count` numbers of `unit` bytes (1, 2, 4 or 8), integers or floats, between this machine's order and the
/// file's. A copy where these are the same. `to` and `from` do not overlap and may have any alignment.
void clv_base_copy_ordered( void* to, const void* from, uint64_t count, uint32_t unit );

// ---- writing

/// Takes bytes in the order of the file; false: it could not, and is not called again.
typedef bool base_parts_put( const void* bytes, uint64_t size, void* user );

/// Zero it and set where bytes go: `memory` and `capacity`, or `put` and `user`, or neither. Without a place
/// the writer only counts: the same calls then tell the size beforehand, in time that does not depend on
/// lengths.
typedef struct base_parts_writer
{
    uint8_t* memory;
    uint64_t capacity;
    base_parts_put* put;
    void* user;

    uint64_t offset;     ///< bytes so far: once ended, the size of the file
    bool failed;         ///< `put` said no, or `capacity` is too small; nothing is written from then on
    uint32_t part_count; ///< of those begun
    uint32_t flags;
    uint64_t stamp;
    uint64_t length, left; ///< of the payload under way, and how much of it has not come yet
    bool is_open;          ///< between begin and end of a part
    base_sum sum;
} base_parts_writer;

void clv_base_parts_begin(
    base_parts_writer* writer, uint32_t kind, uint32_t version, uint32_t flags, uint64_t stamp );

/// The last part. True if all is written.
bool clv_base_parts_end( base_parts_writer* writer );

/// A part, its payload in any number of pieces that make up `length`, its end.
void clv_base_part_begin( base_parts_writer* writer, uint32_t tag, uint64_t length );
void clv_base_part_put( base_parts_writer* writer, const void* bytes, uint64_t size );
void clv_base_part_put_ordered(
    base_parts_writer* writer, const void* numbers, uint64_t count, uint32_t unit );
void clv_base_part_end( base_parts_writer* writer );

/// All of a part that is in one piece: numbers of `unit` bytes.
void clv_base_part_write(
    base_parts_writer* writer, uint32_t tag, const void* numbers, uint64_t count, uint32_t unit );

// ---- reading

/// Bytes from any offset of the file; false if they cannot be had.
typedef bool base_parts_get( uint64_t offset, void* bytes, uint64_t size, void* user );

/// Zero it and set `size`, and `memory` or `get` with `user`. No length is believed that the size does not
/// allow.
typedef struct base_parts_reader
{
    const uint8_t* memory;
    base_parts_get* get;
    void* user;
    uint64_t size; ///< of the whole file

    uint64_t offset; ///< of the next byte
    uint32_t kind, version, flags;
    uint64_t stamp;
    uint32_t part_count;   ///< of those begun
    uint32_t tag;          ///< of the part under way,
    uint64_t length, left; ///< its payload, and how much of it was not read yet
    uint64_t payload_offset;
    base_sum sum;

    bool failed;           ///< from the first fault on every call answers false
    uint64_t fault_offset; ///< where it is
    char fault[120];       ///< and what: follows the name of the file in a sentence, such as "ends too early"
} base_parts_reader;

/// The header: is it a file of this kind, and of a version from 1 to `version_most`?
bool clv_base_parts_open( base_parts_reader* reader, uint32_t kind, uint32_t version_most );

/// The head of the next part: tag and length. The part before must be closed. The last part is closed by this
/// call, which also checks that nothing follows.
bool clv_base_part_next( base_parts_reader* reader );

/// The next, which must have this tag; `length` unless it is UINT64_MAX.
bool clv_base_part_expect( base_parts_reader* reader, uint32_t tag, uint64_t length );

/// Payload; no more than there is left of it. What is read is not to be trusted before the part is closed,
/// and then only to be what was written.
bool clv_base_part_get( base_parts_reader* reader, void* bytes, uint64_t size );
bool clv_base_part_get_ordered( base_parts_reader* reader, void* numbers, uint64_t count, uint32_t unit );

/// The same where it lies, without a copy; NULL after a fault. Only for a reader of memory.
const uint8_t* clv_base_part_view( base_parts_reader* reader, uint64_t size );

/// All of the payload was read and the sum is right?
bool clv_base_part_close( base_parts_reader* reader );

/// Payload that is not needed: it is read for its sum alone.
bool clv_base_part_skip( base_parts_reader* reader, uint64_t size );

/// To a part whose place and number the owner knows, where a file is not read from its beginning to its end.
void clv_base_part_seek( base_parts_reader* reader, uint64_t offset, uint32_t number );

/// A fault that the owner found in what it read. The first fault stays. False.
bool clv_base_parts_fault( base_parts_reader* reader, uint64_t offset, const char* format, ... );
