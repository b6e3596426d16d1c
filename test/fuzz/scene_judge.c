// SPDX-License-Identifier: MIT
#include "scene_judge.h"

#include "fuzz_bytes.h"
#include "lab/base/platform.h"
#include "lab/frame/scene_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t word_at( const uint8_t* data, size_t offset )
{
    return (uint32_t)data[offset] + 256u * data[offset + 1] + 65536u * data[offset + 2] +
        16777216u * data[offset + 3];
}

static void put_word( uint8_t* data, size_t offset, uint32_t word )
{
    for ( size_t i = 0; i < 4; ++i, word /= 256 )
    {
        data[offset + i] = (uint8_t)( word % 256 );
    }
}

static bool is_name( const uint8_t* text )
{
    size_t length = 0;
    while ( length < 128 && text[length] >= 32 && text[length] < 127 )
    {
        length += 1;
    }
    bool ends = length < 128;
    for ( ; length < 128; ++length )
    {
        ends = ends && text[length] == 0;
    }
    return ends;
}

// Lower, pad, upper, pad: by the bits, so that no comparison of floats is trusted.
static bool is_nan( uint32_t bits )
{
    return ( bits & 0x7FFFFFFFu ) > 0x7F800000u;
}

static int64_t order_of( uint32_t bits )
{
    int64_t magnitude = bits & 0x7FFFFFFFu;
    return ( bits >> 31 ) != 0 ? -magnitude : magnitude; // both zeros are 0
}

static bool is_record( const uint8_t* record )
{
    for ( size_t axis = 0; axis < 3; ++axis )
    {
        uint32_t lower = word_at( record, 4 * axis );
        uint32_t upper = word_at( record, 16 + 4 * axis );
        if ( is_nan( lower ) || is_nan( upper ) || order_of( lower ) > order_of( upper ) )
        {
            return false;
        }
    }
    return word_at( record, 12 ) == 0 && word_at( record, 28 ) == 0;
}

bool scene_judge_is_good( const uint8_t* data, size_t size )
{
    if ( size < 304 || !is_name( data ) || !is_name( data + 128 ) || word_at( data, 264 ) != 0 ||
        word_at( data, 268 ) != 0 || !is_record( data + 272 ) || ( size - 304 ) % 32 != 0 )
    {
        return false;
    }
    uint64_t objects = word_at( data, 256 ), frames = word_at( data, 260 );
    uint64_t records = ( size - 304 ) / 32;
    if ( objects == 0 || objects > INT32_MAX || frames == 0 || frames > INT32_MAX || objects > records ||
        records % objects != 0 || records / objects != frames + 1 )
    {
        return false;
    }
    for ( uint64_t i = 0; i < records; ++i )
    {
        if ( !is_record( data + 304 + 32 * i ) )
        {
            return false;
        }
    }
    return true;
}

size_t scene_judge_make( uint8_t* data, uint32_t object_count, uint32_t frame_count )
{
    size_t record_count = (size_t)object_count * ( (size_t)frame_count + 1 );
    memset( data, 0, 304 + 32 * record_count );
    memcpy( data, "judged", 6 );
    memcpy( data + 128, "cubes", 5 );
    put_word( data, 256, object_count );
    put_word( data, 260, frame_count );
    for ( size_t i = 0; i <= record_count; ++i ) // the world is a record like the others
    {
        uint8_t* record = data + 272 + 32 * i;
        for ( size_t axis = 0; axis < 3; ++axis )
        {
            put_word( record, 4 * axis, 0xBF800000u );      // -1
            put_word( record, 16 + 4 * axis, 0x3F800000u ); // 1
        }
    }
    return 304 + 32 * record_count;
}

const char* scene_judge_path( void )
{
    static char path[512];
    const char* folder = getenv( "TMPDIR" );
    folder = folder != NULL ? folder : getenv( "TEMP" );
    snprintf( path, sizeof( path ), "%s/cleave-judge-%" PRIu64, folder != NULL ? folder : "/tmp",
        platform_process_id() );
    return path;
}

static void write_bytes( const char* path, const uint8_t* data, size_t size )
{
    FILE* file = fopen( path, "wb" );
    FUZZ_CHECK( file != NULL && fwrite( data, 1, size, file ) == size && fclose( file ) == 0,
        "%s: cannot be written", path );
}

static void check_error( const lab_error* why, const char* path )
{
    FUZZ_CHECK( why->status == LAB_BAD_INPUT && strstr( why->text, path ) != NULL &&
            strchr( why->text, '\n' ) == NULL,
        "'%s' is no error message about %s", why->text, path );
}

static void check_same_bytes( const char* path, const uint8_t* data, size_t size )
{
    uint8_t* copy = malloc( size + 1 );
    FILE* file = fopen( path, "rb" );
    FUZZ_CHECK( copy != NULL && file != NULL, "%s: was not written", path );
    size_t got = fread( copy, 1, size + 1, file );
    fclose( file );
    FUZZ_CHECK( got == size && memcmp( copy, data, size ) == 0, "%s: %zu bytes came back from %zu, or others",
        path, got, size );
    free( copy );
}

// Every frame, forwards; then the first once more, which needs a seek. A bad box ends it.
static bool read_all( scene_reader* reader, clv_aabb* boxes, lab_error* why )
{
    uint32_t object_count = reader->header.object_count;
    for ( uint32_t frame = 0; frame <= reader->header.frame_count; ++frame )
    {
        if ( !scene_reader_read( reader, frame, boxes + (size_t)frame * object_count, why ) )
        {
            return false;
        }
    }
    return scene_reader_read( reader, 0, boxes, why );
}

static void write_all( const char* path, const scene_reader* reader, const clv_aabb* boxes )
{
    scene_writer writer;
    lab_error why = { LAB_DONE, "" };
    bool ok = scene_writer_open( &writer, path, &reader->header, &why );
    for ( uint32_t frame = 0; ok && frame <= reader->header.frame_count; ++frame )
    {
        ok = scene_writer_put( &writer, boxes + (size_t)frame * reader->header.object_count, &why );
    }
    ok = ok && scene_writer_commit( &writer, &why );
    FUZZ_CHECK( ok, "what was read cannot be written: %s", why.text );
}

// ---- the same bytes as positions and rotations

static bool is_infinite( uint32_t bits )
{
    return ( bits & 0x7FFFFFFFu ) == 0x7F800000u;
}

static bool is_pose( const uint8_t* record )
{
    double square = 0;
    for ( size_t i = 0; i < 8; ++i )
    {
        uint32_t bits = word_at( record, 4 * i );
        if ( i == 3 ? bits != 0 : is_nan( bits ) || is_infinite( bits ) )
        {
            return false;
        }
        float value;
        memcpy( &value, &bits, sizeof( value ) );
        square += i < 4 ? 0 : (double)value * (double)value;
    }
    return square >= 0.999 && square <= 1.001;
}

// Good boxes, of which those of the first frame have an end on every side and the others are read as poses.
static bool is_good_recording( const uint8_t* boxes, const uint8_t* poses, size_t size )
{
    if ( !scene_judge_is_good( boxes, size ) )
    {
        return false;
    }
    uint64_t objects = word_at( poses, 256 ), records = ( size - 304 ) / 32;
    for ( uint64_t i = 0; i < records; ++i )
    {
        const uint8_t* record = poses + 304 + 32 * i;
        bool good = i >= objects ? is_pose( record ) : true;
        for ( size_t word = 0; i < objects && word < 8; ++word )
        {
            good = good && !is_infinite( word_at( record, 4 * word ) );
        }
        if ( !good )
        {
            return false;
        }
    }
    return true;
}

// Turns what scene_judge_make put into later frames, where it is still whole, into poses; `boxes` gets their
// places back as good boxes, so that one judge of headers and first frames will do.
static void make_poses( uint8_t* boxes, uint8_t* poses, size_t size )
{
    static const uint32_t good[8] = { 0xBF800000u, 0xBF800000u, 0xBF800000u, 0, 0x3F800000u, 0x3F800000u,
        0x3F800000u, 0 };
    uint64_t first = size > 304 ? 304 + 32 * (uint64_t)word_at( boxes, 256 ) : size;
    for ( uint64_t at = first; at + 32 <= size; at += 32 )
    {
        for ( size_t i = 0; i < 8; ++i )
        {
            bool is_whole = word_at( boxes, at + 4 * i ) == good[i];
            put_word( poses, at + 4 * i, is_whole && i >= 4 ? 0x3F000000u : word_at( boxes, at + 4 * i ) );
            put_word( boxes, at + 4 * i, good[i] );
        }
    }
}

static void judge_recording( const char* path, const uint8_t* data, size_t size )
{
    char name[600];
    snprintf( name, sizeof( name ), "%s.posrot", path );
    uint8_t* boxes = malloc( 2 * size + 1 );
    FUZZ_CHECK( boxes != NULL, "no memory for a copy" );
    uint8_t* poses = boxes + size;
    memcpy( boxes, data, size );
    memcpy( poses, data, size );
    make_poses( boxes, poses, size );
    bool good = is_good_recording( boxes, poses, size );
    write_bytes( name, poses, size );
    scene_reader reader;
    lab_error why = { LAB_DONE, "" };
    bool read = false;
    if ( scene_reader_open( &reader, name, &why ) )
    {
        clv_aabb* out = malloc( size );
        FUZZ_CHECK( out != NULL, "no memory for boxes" );
        read = read_all( &reader, out, &why );
        free( out );
        scene_reader_close( &reader );
    }
    FUZZ_CHECK( read == good, "a %s recording of %zu bytes was %s: %s", good ? "good" : "bad", size,
        read ? "read" : "refused", why.text );
    if ( !read )
    {
        check_error( &why, name );
    }
    free( boxes );
    remove( name );
}

void scene_judge_file( const char* path, const uint8_t* data, size_t size )
{
    write_bytes( path, data, size );
    scene_reader reader;
    lab_error why = { LAB_DONE, "" };
    bool good = scene_judge_is_good( data, size );
    bool opened = scene_reader_open( &reader, path, &why );
    bool read = false;
    if ( opened )
    {
        clv_aabb* boxes = malloc( size ); // 24 bytes of each 32, and the header to spare
        FUZZ_CHECK( boxes != NULL, "no memory for boxes" );
        read = read_all( &reader, boxes, &why );
        if ( read )
        {
            write_all( path, &reader, boxes );
            check_same_bytes( path, data, size );
        }
        free( boxes );
        scene_reader_close( &reader );
    }
    FUZZ_CHECK( read == good, "a %s file of %zu bytes was %s: %s", good ? "good" : "bad", size,
        read ? "read" : "refused", why.text );
    if ( !read )
    {
        check_error( &why, path );
    }
    remove( path );
    judge_recording( path, data, size );
}
