// SPDX-License-Identifier: MIT
// The .aabbs scene file of Broadmark, byte for byte, little endian:
//     0  char[128]  scene name, NUL padded, printable
//   128  char[128]  type of the objects, likewise
//   256  int32      N > 0 objects
//   260  int32      F > 0 frames
//   264  int32[2]   0, 0
//   272  float32[8] world: lower x y z 0, upper x y z 0
//   304             (1 + F) x N x { float32[8]: lower x y z 0, upper x y z 0 }
// Frame 0 is the initial state. Frames are streamed; a file may be far larger than memory.
// A .posrot file is read as well.
#pragma once

#include "cleave/geom.h"
#include "lab/base/error.h"
#include "lab/base/output_file.h"
#include "lab/scene/body.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

// ---- Numbers of scene files: little endian, on any machine.

static inline uint32_t scene_decode_u32( const unsigned char* bytes )
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline void scene_encode_u32( unsigned char* bytes, uint32_t value )
{
    bytes[0] = (unsigned char)( value & 0xFF );
    bytes[1] = (unsigned char)( value >> 8 & 0xFF );
    bytes[2] = (unsigned char)( value >> 16 & 0xFF );
    bytes[3] = (unsigned char)( value >> 24 );
}

static inline float scene_decode_float( const unsigned char* bytes )
{
    uint32_t bits = scene_decode_u32( bytes );
    float value;
    memcpy( &value, &bits, sizeof( value ) );
    return value;
}

static inline void scene_encode_float( unsigned char* bytes, float value )
{
    uint32_t bits;
    memcpy( &bits, &value, sizeof( bits ) );
    scene_encode_u32( bytes, bits );
}

#define SCENE_NAME_ROOM 128
#define SCENE_HEADER_BYTES 304
#define SCENE_BOX_BYTES 32

typedef struct scene_header
{
    char name[SCENE_NAME_ROOM]; ///< printable ASCII, at most 127 characters
    char type[SCENE_NAME_ROOM]; ///< likewise
    uint32_t object_count;      ///< 1 .. INT32_MAX
    uint32_t frame_count;       ///< 1 .. INT32_MAX, not counting frame 0
    clv_aabb world;
} scene_header;

/// Size of the whole file. False, and *bytes untouched, if it does not fit 63 bits.
bool scene_file_bytes( uint32_t object_count, uint32_t frame_count, uint64_t* bytes );

/// Where the record of an object begins.
uint64_t scene_file_offset( uint32_t object_count, uint32_t frame, uint32_t object );

/// Zero-initialised is closed.
typedef struct scene_reader
{
    scene_header header;
    char* path;
    FILE* stream;
    uint64_t next_offset; ///< where the stream stands
    uint64_t file_bytes;
    bool has_poses;     ///< a .posrot file: bodies from frame 1 on
    body_state* bodies; ///< of such a file, as they begin, for their sides
} scene_reader;

/// Checks the header and the exact size. False for what is no regular file, and for what is damaged, with the
/// offset. A name that ends in .posrot says that the frames behind the first are positions and rotations.
bool scene_reader_open( scene_reader* reader, const char* path, lab_error* why );

/// Frame 0 .. frame_count into `boxes`, object_count long. In any order; ascending needs no seek.
/// False, with the offset, for a pad that is not 0, a NaN, an inverted box, or a file that shrank; in a
/// .posrot file also for an infinity and a rotation whose length is not 1.
bool scene_reader_read( scene_reader* reader, uint32_t frame, clv_aabb* boxes, lab_error* why );

/// The same for objects first .. first + count - 1 alone, which the file must have.
bool scene_reader_read_part(
    scene_reader* reader, uint32_t frame, uint32_t first, uint32_t count, clv_aabb* boxes, lab_error* why );

/// The bodies of a .posrot file, object_count of them: sides, positions and rotations. False also for a
/// .aabbs file, which does not tell how the bodies in its boxes are turned.
bool scene_reader_read_bodies( scene_reader* reader, uint32_t frame, body_state* bodies, lab_error* why );
void scene_reader_close( scene_reader* reader );

typedef struct scene_writer
{
    scene_header header;
    output_file file;
    uint32_t frames_written; ///< counting frame 0
} scene_writer;

/// After any false the half-written file is gone.
bool scene_writer_open( scene_writer* writer, const char* path, const scene_header* header, lab_error* why );

/// The next frame, object_count boxes; 1 + frame_count of them make the file complete.
bool scene_writer_put( scene_writer* writer, const clv_aabb* boxes, lab_error* why );

/// False too if frames are missing.
bool scene_writer_commit( scene_writer* writer, lab_error* why );
void scene_writer_abandon( scene_writer* writer );

// A file that many processes fill: one opens a writer, shares its file and commits it when all are
// done; each, that one included, opens its part under the shared name and puts the boxes of its
// objects, frame by frame.

/// What others open until the file is committed; lives as long as the writer. NULL for what is no file.
const char* scene_writer_share( scene_writer* writer, lab_error* why );

/// Zero-initialised is closed.
typedef struct scene_part
{
    char* path; ///< the target's, for errors
    FILE* stream;
    uint32_t object_count, first, count;
    uint64_t offset; ///< of the file, where it stands
} scene_part;

bool scene_part_open( scene_part* part, const char* shared, const char* path, uint32_t object_count,
    uint32_t first, uint32_t count, lab_error* why );

/// `count` boxes of a frame, at their place, handed to the system when it returns. False with the offset.
bool scene_part_put( scene_part* part, uint32_t frame, const clv_aabb* boxes, lab_error* why );

/// False if what was written last did not reach the file. `why` may be NULL.
bool scene_part_close( scene_part* part, lab_error* why );

// ---- Records of a .posrot file, the twin of a .aabbs file that Broadmark's splitter reads: the same header
// and first frame, then per object and frame 32 bytes, position x y z 0 and rotation x y z w. Bodies begin
// unturned, so that their sides are those of their first boxes.

#define POSE_FILE_ENDING ".posrot"
