// SPDX-License-Identifier: MIT
#include "lab/frame/scene_file.h"

#include "lab/base/platform.h"
#include "lab/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_OFFSET 128
#define OBJECTS_OFFSET 256
#define FRAMES_OFFSET 260
#define ZEROS_OFFSET 264
#define WORLD_OFFSET 272

// Boxes per read or write: 64 KiB of file.
#define CHUNK_BOXES 2048

// What to do about a file that is wrong, wherever it is.
static const char* damaged( const char* path )
{
    return text_ends_with( path, POSE_FILE_ENDING )
        ? "the file is damaged or no " POSE_FILE_ENDING " recording; copy or record it again"
        : "the file is damaged or no .aabbs scene; bake it again with `cleave gen`";
}

// "PATH: at byte OFFSET: what; what to do". Always false.
static bool fail_at( const char* path, uint64_t offset, lab_error* why, const char* format, ... )
    LAB_ERROR_FORMAT( 4, 5 );

static bool fail_at( const char* path, uint64_t offset, lab_error* why, const char* format, ... )
{
    char text[512];
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( text, sizeof( text ), format, arguments );
    va_end( arguments );
    return lab_error_write( why, "%s: at byte %" PRIu64 ": %s; %s", path, offset, text, damaged( path ) );
}

bool scene_file_bytes( uint32_t object_count, uint32_t frame_count, uint64_t* bytes )
{
    uint64_t frames = (uint64_t)frame_count + 1;
    uint64_t most = ( (uint64_t)INT64_MAX - SCENE_HEADER_BYTES ) / SCENE_BOX_BYTES;
    if ( object_count != 0 && frames > most / object_count )
    {
        return false;
    }
    *bytes = SCENE_HEADER_BYTES + SCENE_BOX_BYTES * ( frames * object_count );
    return true;
}

uint64_t scene_file_offset( uint32_t object_count, uint32_t frame, uint32_t object )
{
    return SCENE_HEADER_BYTES + SCENE_BOX_BYTES * ( (uint64_t)object_count * frame + object );
}

// ---- pose record

// How far the square of a rotation's length may be from 1: what floats lose is a
// millionth, garbage is further off.
#define LENGTH_SLACK 1e-3

static double square_length( const unsigned char* bytes )
{
    double sum = 0;
    for ( uint32_t index = 0; index < 4; ++index )
    {
        double value = (double)scene_decode_float( bytes + 16 + 4 * index );
        sum += value * value;
    }
    return sum;
}

// Position and rotation of `body` from a record. False, the body untouched, for a pad that is not 0, a NaN,
// an infinity, and a rotation whose length is not 1.
static bool pose_record_decode( const unsigned char* bytes, body_state* body )
{
    double square = square_length( bytes );
    bool is_good = fabs( square - 1 ) <= LENGTH_SLACK && scene_decode_u32( bytes + 12 ) == 0;
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        float value = scene_decode_float( bytes + 4 * axis );
        is_good = is_good && value - value == 0;
    }
    if ( !is_good )
    {
        return false;
    }
    double length = sqrt( square );
    for ( uint32_t index = 0; index < 4; ++index )
    {
        body->rotation[index] = (double)scene_decode_float( bytes + 16 + 4 * index ) / length;
    }
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        body->position[axis] = (double)scene_decode_float( bytes + 4 * axis );
    }
    return true;
}

// Why such a record is bad, with the offset of the byte to blame; `what` is "frame 3, body 17". Always false.
static bool pose_record_fail(
    const unsigned char* bytes, uint64_t offset, const char* path, const char* what, lab_error* why )
{
    for ( uint32_t index = 0; index < 8; ++index )
    {
        float value = scene_decode_float( bytes + 4 * index );
        uint64_t at = offset + 4 * index;
        if ( index == 3 && scene_decode_u32( bytes + 12 ) != 0 )
        {
            return fail_at( path, at, why, "the pad of %s is not 0", what );
        }
        if ( value - value != 0 )
        {
            return fail_at( path, at, why, "the %s of %s is %s", index < 3 ? "position" : "rotation", what,
                value != value ? "NaN" : "infinite" );
        }
    }
    return fail_at( path, offset + 16, why, "the rotation of %s has the length %.6g, not 1", what,
        sqrt( square_length( bytes ) ) );
}

// An unturned body that fills the box. False, the body untouched, if a side of the box is infinite.
static bool pose_body_of_box( clv_aabb box, body_state* body )
{
    body_state made = { .rotation = { 0, 0, 0, 1 } };
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        double lower = (double)( &box.lower.x )[axis];
        double upper = (double)( &box.upper.x )[axis];
        if ( !( upper - lower < INFINITY ) )
        {
            return false;
        }
        made.position[axis] = 0.5 * ( lower + upper );
        made.half_sides[axis] = (float)( 0.5 * ( upper - lower ) );
    }
    *body = made;
    return true;
}

// ---- records

static clv_aabb decode_box( const unsigned char* bytes )
{
    clv_aabb box = {
        { scene_decode_float( bytes ), scene_decode_float( bytes + 4 ), scene_decode_float( bytes + 8 ) },
        { scene_decode_float( bytes + 16 ), scene_decode_float( bytes + 20 ),
            scene_decode_float( bytes + 24 ) },
    };
    return box;
}

static void encode_box( unsigned char* bytes, clv_aabb box )
{
    scene_encode_float( bytes, box.lower.x );
    scene_encode_float( bytes + 4, box.lower.y );
    scene_encode_float( bytes + 8, box.lower.z );
    scene_encode_u32( bytes + 12, 0 );
    scene_encode_float( bytes + 16, box.upper.x );
    scene_encode_float( bytes + 20, box.upper.y );
    scene_encode_float( bytes + 24, box.upper.z );
    scene_encode_u32( bytes + 28, 0 );
}

// True if all is well with a record of 32 bytes. The pads are +0, bit by bit.
static bool record_is_good( const unsigned char* bytes, clv_aabb box )
{
    return clv_aabb_is_valid( box ) && scene_decode_u32( bytes + 12 ) == 0 &&
        scene_decode_u32( bytes + 28 ) == 0;
}

// Which byte of a bad record is to blame, and why. `field` is "the world" or "frame 3, box 17".
static bool fail_record(
    const unsigned char* bytes, uint64_t offset, const char* path, const char* field, lab_error* why )
{
    for ( uint32_t index = 0; index < 8; ++index )
    {
        float value = scene_decode_float( bytes + 4 * index );
        uint64_t at = offset + 4 * index;
        if ( index % 4 == 3 && scene_decode_u32( bytes + 4 * index ) != 0 )
        {
            return fail_at( path, at, why, "the pad of %s is not 0", field );
        }
        if ( value != value )
        {
            return fail_at( path, at, why, "%s has a NaN", field );
        }
    }
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        float lower = scene_decode_float( bytes + 4 * axis );
        float upper = scene_decode_float( bytes + 16 + 4 * axis );
        if ( lower > upper )
        {
            return fail_at( path, offset + 4 * axis, why, "%s is inverted: lower %c %g > upper %g", field,
                "xyz"[axis], (double)lower, (double)upper );
        }
    }
    return fail_at( path, offset, why, "%s is bad", field );
}

// ---- header

static bool check_name(
    const char* text, uint32_t offset, const char* path, const char* field, lab_error* why )
{
    uint32_t length = 0;
    while ( length < SCENE_NAME_ROOM && text[length] != '\0' )
    {
        if ( text[length] < 32 || text[length] > 126 )
        {
            return fail_at( path, offset + length, why, "the %s has the unprintable byte 0x%02x", field,
                (unsigned)(unsigned char)text[length] );
        }
        length += 1;
    }
    if ( length == SCENE_NAME_ROOM )
    {
        return fail_at( path, offset, why, "the %s does not end within %d bytes", field, SCENE_NAME_ROOM );
    }
    for ( ; length < SCENE_NAME_ROOM; ++length )
    {
        if ( text[length] != '\0' )
        {
            return fail_at( path, offset + length, why, "the %s is not padded with zeros", field );
        }
    }
    return true;
}

static bool check_count(
    uint32_t value, uint32_t offset, const char* path, const char* field, lab_error* why )
{
    if ( value == 0 || value > INT32_MAX )
    {
        return fail_at( path, offset, why, "the number of %s is %" PRId64 ", must be 1 to %d", field,
            value > INT32_MAX ? (int64_t)value - ( INT64_C( 1 ) << 32 ) : 0, INT32_MAX );
    }
    return true;
}

// The header of 304 bytes. Checks every field; `path` is for the error.
static bool decode_header(
    scene_header* header, const unsigned char bytes[SCENE_HEADER_BYTES], const char* path, lab_error* why )
{
    memcpy( header->name, bytes, SCENE_NAME_ROOM );
    memcpy( header->type, bytes + TYPE_OFFSET, SCENE_NAME_ROOM );
    header->object_count = scene_decode_u32( bytes + OBJECTS_OFFSET );
    header->frame_count = scene_decode_u32( bytes + FRAMES_OFFSET );
    header->world = decode_box( bytes + WORLD_OFFSET );
    if ( !check_name( header->name, 0, path, "scene's name", why ) ||
        !check_name( header->type, TYPE_OFFSET, path, "objects' type", why ) ||
        !check_count( header->object_count, OBJECTS_OFFSET, path, "objects", why ) ||
        !check_count( header->frame_count, FRAMES_OFFSET, path, "frames", why ) )
    {
        return false;
    }
    for ( uint32_t offset = ZEROS_OFFSET; offset < WORLD_OFFSET; offset += 4 )
    {
        if ( scene_decode_u32( bytes + offset ) != 0 )
        {
            return fail_at(
                path, offset, why, "must be 0, is 0x%08" PRIx32, scene_decode_u32( bytes + offset ) );
        }
    }
    return record_is_good( bytes + WORLD_OFFSET, header->world ) ||
        fail_record( bytes + WORLD_OFFSET, WORLD_OFFSET, path, "the world", why );
}

// The inverse; checks every field too.
static bool encode_header(
    const scene_header* header, unsigned char bytes[SCENE_HEADER_BYTES], const char* path, lab_error* why )
{
    memset( bytes, 0, SCENE_HEADER_BYTES );
    memcpy( bytes, header->name, SCENE_NAME_ROOM );
    memcpy( bytes + TYPE_OFFSET, header->type, SCENE_NAME_ROOM );
    scene_encode_u32( bytes + OBJECTS_OFFSET, header->object_count );
    scene_encode_u32( bytes + FRAMES_OFFSET, header->frame_count );
    encode_box( bytes + WORLD_OFFSET, header->world );
    scene_header copy;
    return decode_header( &copy, bytes, path, why );
}

// ---- reader

static bool check_kind( const char* path, platform_entry* entry, lab_error* why )
{
    errno = 0;
    *entry = platform_look( path );
    switch ( entry->kind )
    {
    case PLATFORM_MISSING:
        return lab_error_write( why, "%s: cannot be opened: %s; check the path", path,
            errno != 0 ? strerror( errno ) : "not found" );
    case PLATFORM_FOLDER: return lab_error_write( why, "%s: is a folder; name a .aabbs file in it", path );
    case PLATFORM_OTHER:
        return lab_error_write( why,
            "%s: is a pipe or device; frames are read more than once, so save it to a file first", path );
    case PLATFORM_FILE: break;
    }
    if ( entry->size < SCENE_HEADER_BYTES )
    {
        return fail_at(
            path, entry->size, why, "ends inside the header, which takes %d bytes", SCENE_HEADER_BYTES );
    }
    return true;
}

static bool check_size( const scene_reader* reader, lab_error* why )
{
    const scene_header* header = &reader->header;
    uint64_t expected = 0;
    if ( !scene_file_bytes( header->object_count, header->frame_count, &expected ) )
    {
        return lab_error_write( why,
            "%s: at byte %d: %" PRIu32 " objects in %" PRIu32 " frames fit in no file; %s", reader->path,
            OBJECTS_OFFSET, header->object_count, header->frame_count, damaged( reader->path ) );
    }
    if ( reader->file_bytes < expected )
    {
        return lab_error_write( why,
            "%s: at byte %" PRIu64 ": the file ends, but its header (%" PRIu32 " objects, 1 + %" PRIu32
            " frames) promises %" PRIu64 " bytes; it is truncated, copy or bake it again",
            reader->path, reader->file_bytes, header->object_count, header->frame_count, expected );
    }
    if ( reader->file_bytes > expected )
    {
        return fail_at( reader->path, expected, why,
            "the scene ends here (%" PRIu32 " objects, 1 + %" PRIu32
            " frames), yet the file goes on to byte %" PRIu64,
            header->object_count, header->frame_count, reader->file_bytes );
    }
    return true;
}

// Exactly `size` bytes from where the stream stands.
static bool read_bytes( scene_reader* reader, void* bytes, size_t size, lab_error* why )
{
    errno = 0;
    size_t got = fread( bytes, 1, size, reader->stream );
    reader->next_offset += got;
    if ( got == size )
    {
        return true;
    }
    if ( ferror( reader->stream ) )
    {
        return lab_error_write( why, "%s: at byte %" PRIu64 ": cannot be read: %s", reader->path,
            reader->next_offset, system_reason() );
    }
    return lab_error_write( why,
        "%s: at byte %" PRIu64 ": the file ends early; something shortened it while it was read",
        reader->path, reader->next_offset );
}

static bool open_stream( scene_reader* reader, const char* path, lab_error* why )
{
    platform_entry entry;
    if ( !check_kind( path, &entry, why ) )
    {
        return false;
    }
    reader->path = text_copy( path );
    reader->file_bytes = entry.size;
    errno = 0;
    reader->stream = platform_open( path );
    if ( reader->stream == NULL )
    {
        return lab_error_write( why, "%s: cannot be opened: %s", path, system_reason() );
    }
    unsigned char bytes[SCENE_HEADER_BYTES];
    return read_bytes( reader, bytes, sizeof( bytes ), why ) &&
        decode_header( &reader->header, bytes, path, why ) && check_size( reader, why );
}

static bool seek_record( scene_reader* reader, uint32_t frame, uint32_t object, lab_error* why )
{
    uint64_t offset = scene_file_offset( reader->header.object_count, frame, object );
    if ( offset == reader->next_offset )
    {
        return true;
    }
    errno = 0;
    if ( !platform_seek( reader->stream, offset ) )
    {
        return lab_error_write(
            why, "%s: at byte %" PRIu64 ": cannot go there: %s", reader->path, offset, system_reason() );
    }
    reader->next_offset = offset;
    return true;
}

/// Which object a record is of, and where it goes.
typedef struct record_place
{
    uint32_t object, element;
} record_place;

// How a frame's records are taken: one becomes an element of `out`, or is refused and then blamed.
typedef struct record_kind
{
    const char* noun;
    bool ( *take )( const scene_reader* reader, const unsigned char* record, record_place place, void* out );
    bool ( *blame )(
        const unsigned char* record, uint64_t offset, const char* path, const char* field, lab_error* why );
} record_kind;

static bool take_box( const scene_reader* reader, const unsigned char* record, record_place place, void* out )
{
    (void)reader;
    clv_aabb* boxes = out;
    boxes[place.element] = decode_box( record );
    return record_is_good( record, boxes[place.element] );
}

// The first box of a body, for its sides.
static bool take_sides(
    const scene_reader* reader, const unsigned char* record, record_place place, void* out )
{
    (void)reader;
    body_state* bodies = out;
    clv_aabb box = decode_box( record );
    return record_is_good( record, box ) && pose_body_of_box( box, &bodies[place.element] );
}

static bool take_body(
    const scene_reader* reader, const unsigned char* record, record_place place, void* out )
{
    body_state* bodies = out;
    bodies[place.element] = reader->bodies[place.object];
    return pose_record_decode( record, &bodies[place.element] );
}

static bool take_body_box(
    const scene_reader* reader, const unsigned char* record, record_place place, void* out )
{
    clv_aabb* boxes = out;
    body_state body = reader->bodies[place.object];
    bool good = pose_record_decode( record, &body );
    boxes[place.element] = body_box( &body );
    return good;
}

static bool blame_sides(
    const unsigned char* record, uint64_t offset, const char* path, const char* field, lab_error* why )
{
    clv_aabb box = decode_box( record );
    if ( !record_is_good( record, box ) )
    {
        return fail_record( record, offset, path, field, why );
    }
    return fail_at( path, offset, why, "%s is infinite, which no body that turns can be", field );
}

static const record_kind s_boxes = { "box", take_box, fail_record };
static const record_kind s_sides = { "box", take_sides, blame_sides };
static const record_kind s_bodies = { "body", take_body, pose_record_fail };
static const record_kind s_body_boxes = { "body", take_body_box, pose_record_fail };

/// Objects first .. first + count.
typedef struct record_range
{
    uint32_t first, count;
} record_range;

static bool read_range( scene_reader* reader, uint32_t frame, record_range range, const record_kind* kind,
    void* out, lab_error* why )
{
    if ( frame > reader->header.frame_count )
    {
        return lab_error_write( why, "%s: has no frame %" PRIu32 "; the last is %" PRIu32, reader->path,
            frame, reader->header.frame_count );
    }
    if ( !seek_record( reader, frame, range.first, why ) )
    {
        return false;
    }
    unsigned char bytes[CHUNK_BOXES * SCENE_BOX_BYTES];
    for ( uint32_t first = 0; first < range.count; first += CHUNK_BOXES )
    {
        uint32_t left = range.count - first;
        uint32_t count = left < CHUNK_BOXES ? left : CHUNK_BOXES;
        uint64_t offset = reader->next_offset;
        if ( !read_bytes( reader, bytes, (size_t)count * SCENE_BOX_BYTES, why ) )
        {
            return false;
        }
        for ( uint32_t index = 0; index < count; ++index )
        {
            const unsigned char* record = bytes + (size_t)index * SCENE_BOX_BYTES;
            record_place place = { range.first + first + index, first + index };
            if ( !kind->take( reader, record, place, out ) )
            {
                char field[64];
                snprintf( field, sizeof( field ), "frame %" PRIu32 ", %s %" PRIu32, frame, kind->noun,
                    place.object );
                return kind->blame(
                    record, offset + (uint64_t)index * SCENE_BOX_BYTES, reader->path, field, why );
            }
        }
    }
    return true;
}

static bool read_records(
    scene_reader* reader, uint32_t frame, const record_kind* kind, void* out, lab_error* why )
{
    record_range all = { 0, reader->header.object_count };
    return read_range( reader, frame, all, kind, out, why );
}

// Bodies at the start, which hold the sides that later frames do not tell.
static bool read_sides( scene_reader* reader, lab_error* why )
{
    reader->bodies = lab_take( reader->header.object_count, sizeof( body_state ) );
    return read_records( reader, 0, &s_sides, reader->bodies, why );
}

bool scene_reader_open( scene_reader* reader, const char* path, lab_error* why )
{
    *reader = ( scene_reader ){ .has_poses = text_ends_with( path, POSE_FILE_ENDING ) };
    bool opened = open_stream( reader, path, why ) && ( !reader->has_poses || read_sides( reader, why ) );
    if ( !opened )
    {
        scene_reader_close( reader );
    }
    return opened;
}

bool scene_reader_read( scene_reader* reader, uint32_t frame, clv_aabb* boxes, lab_error* why )
{
    bool is_posed = reader->has_poses && frame > 0;
    return read_records( reader, frame, is_posed ? &s_body_boxes : &s_boxes, boxes, why );
}

bool scene_reader_read_part(
    scene_reader* reader, uint32_t frame, uint32_t first, uint32_t count, clv_aabb* boxes, lab_error* why )
{
    bool is_posed = reader->has_poses && frame > 0;
    record_range range = { first, count };
    return read_range( reader, frame, range, is_posed ? &s_body_boxes : &s_boxes, boxes, why );
}

bool scene_reader_read_bodies( scene_reader* reader, uint32_t frame, body_state* bodies, lab_error* why )
{
    if ( !reader->has_poses )
    {
        return lab_error_write(
            why, "%s: holds boxes, not bodies; name a " POSE_FILE_ENDING " file", reader->path );
    }
    return read_records( reader, frame, frame == 0 ? &s_sides : &s_bodies, bodies, why );
}

void scene_reader_close( scene_reader* reader )
{
    if ( reader->stream != NULL )
    {
        fclose( reader->stream );
    }
    free( reader->path );
    free( reader->bodies );
    reader->stream = NULL;
    reader->path = NULL;
    reader->bodies = NULL;
}

// ---- writer

bool scene_writer_open( scene_writer* writer, const char* path, const scene_header* header, lab_error* why )
{
    *writer = ( scene_writer ){ 0 };
    writer->header = *header;
    unsigned char bytes[SCENE_HEADER_BYTES];
    uint64_t size = 0;
    if ( !encode_header( header, bytes, path, why ) )
    {
        return false;
    }
    if ( !scene_file_bytes( header->object_count, header->frame_count, &size ) )
    {
        return lab_error_write( why,
            "%s: %" PRIu32 " objects in %" PRIu32 " frames fit in no file; use fewer frames", path,
            header->object_count, header->frame_count );
    }
    return output_file_open( &writer->file, path, why ) &&
        output_file_write( &writer->file, bytes, sizeof( bytes ), why );
}

// Boxes as bytes, unless one of them is none. `first` is the number of the first.
static bool encode_chunk( unsigned char* bytes, const clv_aabb* boxes, uint32_t count, const char* path,
    uint32_t frame, uint32_t first, lab_error* why )
{
    for ( uint32_t index = 0; index < count; ++index )
    {
        encode_box( bytes + (size_t)index * SCENE_BOX_BYTES, boxes[index] );
        if ( !clv_aabb_is_valid( boxes[index] ) )
        {
            return lab_error_write( why,
                "%s: frame %" PRIu32 ", box %" PRIu32 " has a NaN or is inverted and was not written", path,
                frame, first + index );
        }
    }
    return true;
}

/// Takes encoded boxes.
typedef bool box_sink( void* user, const void* bytes, size_t size, lab_error* why );

// Boxes of a frame from number `first` on, chunk by chunk, unless one of them is none.
static bool write_boxes( const char* path, uint32_t frame, uint32_t first, const clv_aabb* boxes,
    uint32_t count, box_sink* sink, void* user, lab_error* why )
{
    unsigned char bytes[CHUNK_BOXES * SCENE_BOX_BYTES];
    bool good = true;
    for ( uint32_t at = 0; good && at < count; at += CHUNK_BOXES )
    {
        uint32_t chunk = count - at < CHUNK_BOXES ? count - at : CHUNK_BOXES;
        good = encode_chunk( bytes, boxes + at, chunk, path, frame, first + at, why ) &&
            sink( user, bytes, (size_t)chunk * SCENE_BOX_BYTES, why );
    }
    return good;
}

static bool write_to_file( void* user, const void* bytes, size_t size, lab_error* why )
{
    return output_file_write( user, bytes, size, why );
}

bool scene_writer_put( scene_writer* writer, const clv_aabb* boxes, lab_error* why )
{
    const scene_header* header = &writer->header;
    bool good = ( writer->frames_written <= header->frame_count ||
                    lab_error_write( why, "%s: got more than its 1 + %" PRIu32 " frames", writer->file.path,
                        header->frame_count ) ) &&
        write_boxes( writer->file.path, writer->frames_written, 0, boxes, header->object_count, write_to_file,
            &writer->file, why );
    if ( !good )
    {
        scene_writer_abandon( writer );
    }
    writer->frames_written += good ? 1 : 0;
    return good;
}

bool scene_writer_commit( scene_writer* writer, lab_error* why )
{
    if ( writer->frames_written != (uint64_t)writer->header.frame_count + 1 )
    {
        lab_error_write( why, "%s: got %" PRIu32 " of its 1 + %" PRIu32 " frames", writer->file.path,
            writer->frames_written, writer->header.frame_count );
        scene_writer_abandon( writer );
        return false;
    }
    return output_file_commit( &writer->file, why );
}

void scene_writer_abandon( scene_writer* writer )
{
    output_file_abandon( &writer->file );
}

// ---- a file that many processes fill

const char* scene_writer_share( scene_writer* writer, lab_error* why )
{
    const char* path = writer->file.path;
    if ( writer->file.temporary == NULL )
    {
        lab_error_write(
            why, "%s: is a pipe or device, which many processes cannot fill; name a file", path );
        return NULL;
    }
    errno = 0;
    if ( fflush( writer->file.stream ) != 0 )
    {
        lab_error_write( why, "%s: at byte 0: cannot be written: %s", path, system_reason() );
        return NULL;
    }
    writer->frames_written = writer->header.frame_count + 1; // by the parts
    return writer->file.temporary;
}

// The first byte that may not have been written, for the message about room.
static bool fail_part( scene_part* part, uint64_t offset, lab_error* why )
{
    return lab_error_write( why,
        "%s: at byte %" PRIu64 ": cannot be written: %s; nothing was kept, make room and try again",
        part->path, offset, system_reason() );
}

bool scene_part_open( scene_part* part, const char* shared, const char* path, uint32_t object_count,
    uint32_t first, uint32_t count, lab_error* why )
{
    *part = ( scene_part ){ .object_count = object_count, .first = first, .count = count };
    part->path = text_copy( path );
    errno = 0;
    part->stream = platform_update( shared );
    if ( part->stream == NULL )
    {
        lab_error_write( why, "%s: cannot be opened by this process: %s; all need the same folder", path,
            system_reason() );
        scene_part_close( part, NULL );
        return false;
    }
    return true;
}

static bool write_to_part( void* user, const void* bytes, size_t size, lab_error* why )
{
    scene_part* part = user;
    errno = 0;
    size_t written = fwrite( bytes, 1, size, part->stream );
    part->offset += written;
    return written == size || fail_part( part, part->offset, why );
}

bool scene_part_put( scene_part* part, uint32_t frame, const clv_aabb* boxes, lab_error* why )
{
    part->offset = scene_file_offset( part->object_count, frame, part->first );
    errno = 0;
    if ( !platform_seek( part->stream, part->offset ) )
    {
        return fail_part( part, part->offset, why ); // what was buffered goes out here too
    }
    if ( !write_boxes( part->path, frame, part->first, boxes, part->count, write_to_part, part, why ) )
    {
        return false;
    }
    errno = 0;
    return fflush( part->stream ) == 0 || fail_part( part, part->offset, why );
}

bool scene_part_close( scene_part* part, lab_error* why )
{
    errno = 0;
    bool good = part->stream == NULL || fclose( part->stream ) == 0;
    if ( !good && why != NULL )
    {
        fail_part( part, scene_file_offset( part->object_count, 0, part->first ), why );
    }
    free( part->path );
    *part = ( scene_part ){ 0 };
    return good;
}
