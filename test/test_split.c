// SPDX-License-Identifier: MIT
// Recordings of Broadmark's second kind come in, and every body of a recording goes out as eight.
#define _POSIX_C_SOURCE 200809L
#include "lab/frame/bake.h"
#include "lab/frame/scene_file.h"
#include "program.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define POSES "test_split.posrot"
#define BOXES "test_split.aabbs"
#define OUTPUT "test_split_out.aabbs"
#define BODIES 40
#define FRAMES 3
#define RECORDS ( (size_t)BODIES * ( FRAMES + 1 ) )

typedef struct recording
{
    float sides[BODIES][3]; ///< whole ones
    float position[FRAMES + 1][BODIES][3];
    float rotation[FRAMES + 1][BODIES][4];
    unsigned char bytes[SCENE_HEADER_BYTES + RECORDS * SCENE_BOX_BYTES];
} recording;

static void random_rotation( test_random* random, float rotation[4] )
{
    double square = 0;
    double q[4];
    while ( square < 0.01 || square > 1 )
    {
        square = 0;
        for ( int i = 0; i < 4; ++i )
        {
            q[i] = (double)test_random_between( random, -1, 1 );
            square += q[i] * q[i];
        }
    }
    for ( int i = 0; i < 4; ++i )
    {
        rotation[i] = (float)( q[i] / sqrt( square ) );
    }
}

// Bodies that begin unturned, then jump and turn as they like.
static void make_recording( recording* made )
{
    test_random random = test_random_make( 7 );
    for ( int body = 0; body < BODIES; ++body )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            // Quarters: what is halved twice below stays exact.
            made->sides[body][axis] = 0.25f * (float)( 1 + test_random_below( &random, 16 ) );
        }
        for ( int frame = 0; frame <= FRAMES; ++frame )
        {
            random_rotation( &random, made->rotation[frame][body] );
            for ( int axis = 0; axis < 3; ++axis )
            {
                made->position[frame][body][axis] = (float)test_random_below( &random, 80 ) - 40;
            }
        }
    }
}

static void encode_recording( recording* made )
{
    unsigned char* bytes = made->bytes;
    memset( bytes, 0, sizeof( made->bytes ) );
    snprintf( (char*)bytes, 128, "FreeFall" );
    snprintf( (char*)bytes + 128, 128, "Cubes" );
    scene_encode_u32( bytes + 256, BODIES );
    scene_encode_u32( bytes + 260, FRAMES );
    for ( int axis = 0; axis < 3; ++axis )
    {
        scene_encode_float( bytes + 272 + 4 * axis, -50 );
        scene_encode_float( bytes + 288 + 4 * axis, 50 );
    }
    unsigned char* record = bytes + SCENE_HEADER_BYTES;
    for ( int frame = 0; frame <= FRAMES; ++frame )
    {
        for ( int body = 0; body < BODIES; ++body, record += SCENE_BOX_BYTES )
        {
            for ( int axis = 0; axis < 3; ++axis )
            {
                float at = made->position[frame][body][axis];
                float half = 0.5f * made->sides[body][axis];
                scene_encode_float( record + 4 * axis, frame == 0 ? at - half : at );
                scene_encode_float( record + 16 + 4 * axis, frame == 0 ? at + half : 0 );
            }
            for ( int i = 0; frame > 0 && i < 4; ++i )
            {
                scene_encode_float( record + 16 + 4 * i, made->rotation[frame][body][i] );
            }
        }
    }
}

static void write_bytes( const char* path, const unsigned char* bytes, size_t size )
{
    FILE* file = fopen( path, "wb" );
    CHECK( file != NULL && fwrite( bytes, 1, size, file ) == size );
    CHECK( fclose( file ) == 0 );
}

static recording* write_recording( void )
{
    static recording made;
    make_recording( &made );
    encode_recording( &made );
    write_bytes( POSES, made.bytes, sizeof( made.bytes ) );
    return &made;
}

// All boxes of a file, frame by frame, to free.
static clv_aabb* read_all( const char* path, scene_header* header )
{
    scene_reader reader;
    lab_error why = { LAB_DONE, "" };
    if ( !scene_reader_open( &reader, path, &why ) )
    {
        test_fail( __FILE__, __LINE__, "%s", why.text );
    }
    *header = reader.header;
    clv_aabb* boxes =
        calloc( (size_t)header->object_count * ( header->frame_count + 1 ), sizeof( clv_aabb ) );
    CHECK( boxes != NULL );
    for ( uint32_t frame = 0; frame <= header->frame_count; ++frame )
    {
        if ( !scene_reader_read( &reader, frame, boxes + (size_t)frame * header->object_count, &why ) )
        {
            test_fail( __FILE__, __LINE__, "%s", why.text );
        }
    }
    scene_reader_close( &reader );
    return boxes;
}

// ---- what is right, by another way: corners, turned one by one

static void turn( const float q[4], const double v[3], double turned[3] )
{
    // v + 2 u x ( u x v + w v )
    double u[3] = { (double)q[0], (double)q[1], (double)q[2] };
    double w = (double)q[3];
    double inner[3];
    for ( int i = 0; i < 3; ++i )
    {
        int j = ( i + 1 ) % 3, k = ( i + 2 ) % 3;
        inner[i] = u[j] * v[k] - u[k] * v[j] + w * v[i];
    }
    for ( int i = 0; i < 3; ++i )
    {
        int j = ( i + 1 ) % 3, k = ( i + 2 ) % 3;
        turned[i] = v[i] + 2 * ( u[j] * inner[k] - u[k] * inner[j] );
    }
}

// The box around the part of a body from `lower` to `upper`, both as shares of its half sides.
static void check_part(
    const recording* made, int frame, int body, const int lower[3], const int upper[3], const clv_aabb* box )
{
    static const float unturned[4] = { 0, 0, 0, 1 };
    for ( int axis = 0; axis < 3; ++axis )
    {
        double least = INFINITY, most = -INFINITY;
        for ( int corner = 0; corner < 8; ++corner )
        {
            double local[3], turned[3];
            for ( int i = 0; i < 3; ++i )
            {
                local[i] =
                    0.5 * (double)made->sides[body][i] * ( ( corner >> i & 1 ) != 0 ? upper[i] : lower[i] );
            }
            turn( frame == 0 ? unturned : made->rotation[frame][body], local, turned );
            double at = (double)made->position[frame][body][axis] + turned[axis];
            least = fmin( least, at );
            most = fmax( most, at );
        }
        CHECK( fabs( (double)( &box->lower.x )[axis] - least ) < 2e-5 );
        CHECK( fabs( (double)( &box->upper.x )[axis] - most ) < 2e-5 );
    }
}

// ---- reading

static void a_recording_of_positions_is_read_as_boxes( void )
{
    const recording* made = write_recording();
    scene_header header;
    clv_aabb* boxes = read_all( POSES, &header );
    static const int lower[3] = { -1, -1, -1 }, upper[3] = { 1, 1, 1 };
    CHECK_EQUAL( header.object_count, BODIES );
    for ( int frame = 0; frame <= FRAMES; ++frame )
    {
        for ( int body = 0; body < BODIES; ++body )
        {
            test_where.frame = (uint32_t)frame;
            check_part( made, frame, body, lower, upper, &boxes[frame * BODIES + body] );
        }
    }
    free( boxes );
    // And by every command that takes a scene.
    program_answer* answer = program_run( "info " POSES );
    CHECK( answer->status == 0 && program_said( answer, "FreeFall" ) );
    CHECK_EQUAL( program_run( "verify " POSES " -m sap,kd -q" )->status, 0 );
    CHECK_EQUAL( program_run( "bench " POSES " -m sap -q" )->status, 0 );
}

static void frames_are_read_in_any_order( void )
{
    write_recording();
    scene_header header;
    clv_aabb* boxes = read_all( POSES, &header );
    static clv_aabb again[BODIES];
    scene_reader reader;
    lab_error why = { LAB_DONE, "" };
    CHECK( scene_reader_open( &reader, POSES, &why ) );
    for ( uint32_t frame = FRAMES + 1; frame-- > 0; )
    {
        CHECK( scene_reader_read( &reader, frame, again, &why ) );
        CHECK( memcmp( again, boxes + (size_t)frame * BODIES, sizeof( again ) ) == 0 );
    }
    CHECK( !scene_reader_read( &reader, FRAMES + 1, again, &why ) );
    scene_reader_close( &reader );
    free( boxes );
}

// ---- splitting

static void bodies_are_cut_along_their_own_axes( void )
{
    const recording* made = write_recording();
    program_answer* answer = program_run( "split " POSES " -q -o " OUTPUT );
    CHECK_EQUAL( answer->status, 0 );
    CHECK( program_said( answer, OUTPUT ": FreeFall-split Cubes, 320 objects, 1 + 3 frames" ) );
    scene_header header;
    clv_aabb* boxes = read_all( OUTPUT, &header );
    CHECK_EQUAL( header.object_count, BODIES * BODY_SPLIT );
    CHECK_EQUAL( header.frame_count, FRAMES );
    CHECK( header.world.lower.x == -50 && header.world.upper.z == 50 );
    for ( int i = 0; i < BODIES * BODY_SPLIT * ( FRAMES + 1 ); ++i )
    {
        int piece = i % BODY_SPLIT;
        int lower[3], upper[3];
        for ( int axis = 0; axis < 3; ++axis )
        {
            lower[axis] = ( piece >> axis & 1 ) != 0 ? 0 : -1;
            upper[axis] = lower[axis] + 1;
        }
        int body = i / BODY_SPLIT % BODIES;
        check_part( made, i / BODY_SPLIT / BODIES, body, lower, upper, &boxes[i] );
    }
    free( boxes );
    CHECK_EQUAL( program_run( "verify " OUTPUT " -m sap,kd,grid -q" )->status, 0 );
}

static bool is_inside( clv_aabb inner, clv_aabb outer )
{
    return inner.lower.x >= outer.lower.x && inner.lower.y >= outer.lower.y &&
        inner.lower.z >= outer.lower.z && inner.upper.x <= outer.upper.x && inner.upper.y <= outer.upper.y &&
        inner.upper.z <= outer.upper.z;
}

static double volume_of( clv_aabb box )
{
    return ( (double)box.upper.x - (double)box.lower.x ) * ( (double)box.upper.y - (double)box.lower.y ) *
        ( (double)box.upper.z - (double)box.lower.z );
}

static void boxes_without_bodies_are_cut_themselves( void )
{
    CHECK_EQUAL( program_run( "gen brownian-free -n 60 --frames 2 -q -o " BOXES )->status, 0 );
    CHECK_EQUAL( program_run( "split " BOXES " -q -o " OUTPUT )->status, 0 );
    scene_header header;
    clv_aabb* whole = read_all( BOXES, &header );
    clv_aabb* pieces = read_all( OUTPUT, &header );
    for ( int i = 0; i < 60 * 3; ++i )
    {
        double volume = 0;
        for ( int piece = 0; piece < BODY_SPLIT; ++piece )
        {
            CHECK( is_inside( pieces[BODY_SPLIT * i + piece], whole[i] ) );
            volume += volume_of( pieces[BODY_SPLIT * i + piece] );
        }
        CHECK( fabs( volume - volume_of( whole[i] ) ) < 1e-4 * volume_of( whole[i] ) );
        // All eight meet in the middle, the first and the last at the corners.
        CHECK( pieces[BODY_SPLIT * i].upper.x == pieces[BODY_SPLIT * i + 7].lower.x );
        CHECK( pieces[BODY_SPLIT * i].lower.y == whole[i].lower.y &&
            pieces[BODY_SPLIT * i + 7].upper.z == whole[i].upper.z );
    }
    free( whole );
    free( pieces );
    // A split file can be split again, also into itself.
    CHECK_EQUAL( program_run( "split " OUTPUT " -q -o " OUTPUT )->status, 0 );
    free( read_all( OUTPUT, &header ) );
    CHECK_EQUAL( header.object_count, 60 * 64 );
}

static void infinite_boxes_are_cut_at_the_face_they_have( void )
{
    CHECK_EQUAL( program_run( "gen half-spaces -n 200 --frames 1 -q -o " BOXES )->status, 0 );
    CHECK_EQUAL( program_run( "split " BOXES " -q --keep-size -o " OUTPUT )->status, 0 );
    scene_header header;
    clv_aabb* boxes = read_all( OUTPUT, &header ); // the reader refuses NaN and what is inverted
    uint32_t infinite_count = 0;
    for ( uint32_t i = 0; i < header.object_count; ++i )
    {
        infinite_count += isinf( boxes[i].lower.x ) || isinf( boxes[i].upper.x );
    }
    CHECK( infinite_count > 0 );
    free( boxes );
    CHECK_EQUAL( program_run( "verify " OUTPUT " -m sap -q" )->status, 0 );
}

static void sizes_are_kept_in_a_world_of_twice_the_side( void )
{
    write_recording();
    scene_header header, doubled;
    CHECK_EQUAL( program_run( "split " POSES " -q -o " OUTPUT )->status, 0 );
    clv_aabb* boxes = read_all( OUTPUT, &header );
    CHECK_EQUAL( program_run( "split " POSES " -q --keep-size -o " OUTPUT )->status, 0 );
    clv_aabb* large = read_all( OUTPUT, &doubled );
    CHECK( doubled.world.lower.y == 2 * header.world.lower.y && doubled.object_count == header.object_count );
    for ( size_t i = 0; i < (size_t)BODIES * BODY_SPLIT * ( FRAMES + 1 ); ++i )
    {
        CHECK( large[i].lower.x == 2 * boxes[i].lower.x && large[i].upper.z == 2 * boxes[i].upper.z );
    }
    free( boxes );
    free( large );
}

static void births_and_deaths_are_split_into_pieces( void )
{
    CHECK_EQUAL( program_run( "gen churn -n 200 --frames 3 -q -o " BOXES )->status, 0 );
    CHECK_EQUAL( program_run( "split " BOXES " -q -o " OUTPUT )->status, 0 );
    FILE* before = fopen( BOXES ".churn", "r" );
    FILE* after = fopen( OUTPUT ".churn", "r" );
    CHECK( before != NULL && after != NULL );
    char line[64];
    CHECK( fgets( line, sizeof( line ), after ) != NULL );
    CHECK_TEXT( line, "frame,object\n" );
    CHECK( fgets( line, sizeof( line ), before ) != NULL );
    unsigned frame, object, births = 0;
    while ( fscanf( before, "%u,%u", &frame, &object ) == 2 )
    {
        for ( unsigned piece = 0; piece < BODY_SPLIT; ++piece, ++births )
        {
            unsigned piece_frame, piece_object;
            CHECK( fscanf( after, "%u,%u", &piece_frame, &piece_object ) == 2 );
            CHECK( piece_frame == frame && piece_object == BODY_SPLIT * object + piece );
        }
    }
    CHECK( births > 0 && fscanf( after, "%u", &frame ) != 1 );
    fclose( before );
    fclose( after );
    // One that is none is refused by its line.
    before = fopen( BOXES ".churn", "w" );
    CHECK( before != NULL && fputs( "frame,object\n1,7\n1,200\n", before ) >= 0 && fclose( before ) == 0 );
    program_answer* answer = program_run( "split " BOXES " -q -o " OUTPUT );
    CHECK( answer->status == 2 && program_said( answer, BOXES ".churn:3: must be frame,object" ) );
    remove( BOXES ".churn" );
    remove( OUTPUT ".churn" );
}

// ---- refusing

static bool file_is_there( const char* path )
{
    return access( path, F_OK ) == 0;
}

// Every frame is read by split, so one call finds what is wrong wherever it is.
static void check_refused( const char* path, const char* reason )
{
    remove( OUTPUT );
    char line[256];
    snprintf( line, sizeof( line ), "split %s -q -o " OUTPUT, path );
    program_answer* answer = program_run( line );
    test_where.note = reason;
    CHECK_EQUAL( answer->status, 2 );
    if ( strstr( answer->errors, reason ) == NULL || strstr( answer->errors, path ) == NULL )
    {
        CHECK_TEXT( answer->errors, reason );
    }
    CHECK( !file_is_there( OUTPUT ) );
}

static void damaged_recordings_are_refused_with_file_and_offset( void )
{
    recording* made = write_recording();
    const size_t size = sizeof( made->bytes );
    static const size_t cuts[] = { 0, 100, 303, 304, 304 + 32 * BODIES, 304 + 32 * BODIES + 17 };
    for ( size_t row = 0; row < TEST_COUNT( cuts ); ++row )
    {
        char reason[64];
        snprintf( reason, sizeof( reason ), "at byte %zu", cuts[row] );
        write_bytes( POSES, made->bytes, cuts[row] );
        check_refused( POSES, reason );
    }
    // A record of frame 2, body 5, and what is put at which of its bytes.
    size_t record = SCENE_HEADER_BYTES + SCENE_BOX_BYTES * ( (size_t)2 * BODIES + 5 );
    const struct
    {
        size_t offset;
        float value;
        const char* reason;
    } rows[] = {
        { record + 4, NAN, "the position of frame 2, body 5 is NaN" },
        { record + 8, -INFINITY, "the position of frame 2, body 5 is infinite" },
        { record + 12, 1, "the pad of frame 2, body 5 is not 0" },
        { record + 20, NAN, "the rotation of frame 2, body 5 is NaN" },
        { record + 28, 3, "the rotation of frame 2, body 5 has the length" },
        { SCENE_HEADER_BYTES + 16, INFINITY, "frame 0, box 0 is infinite" },
        { SCENE_HEADER_BYTES + 12, 1, "the pad of frame 0, box 0 is not 0" },
        { SCENE_HEADER_BYTES, 1000, "frame 0, box 0 is inverted" },
        { 272, NAN, "the world has a NaN" },
        { 256, 2, "the number of objects" },
    };
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        unsigned char kept[4];
        memcpy( kept, made->bytes + rows[row].offset, 4 );
        scene_encode_float( made->bytes + rows[row].offset, rows[row].value );
        if ( rows[row].offset == 256 )
        {
            scene_encode_u32( made->bytes + 256, 0xFFFFFFFFu );
        }
        write_bytes( POSES, made->bytes, size );
        memcpy( made->bytes + rows[row].offset, kept, 4 );
        check_refused( POSES, rows[row].reason );
        check_refused( POSES, "at byte" );
    }
    // A byte too many.
    write_bytes( POSES, made->bytes, size );
    FILE* file = fopen( POSES, "ab" );
    CHECK( file != NULL && fputc( 0, file ) == 0 && fclose( file ) == 0 );
    check_refused( POSES, "yet the file goes on" );
    remove( POSES );
    check_refused( POSES, "cannot be opened" );
}

static void a_split_of_too_many_boxes_is_refused( void )
{
    CHECK_EQUAL( program_run( "gen brownian-free -n 1 --frames 1 -q -o " BOXES )->status, 0 );
    // Three hundred million boxes, which is a hole in the file.
    FILE* file = fopen( BOXES, "r+b" );
    unsigned char count[4];
    scene_encode_u32( count, 300000000u );
    CHECK( file != NULL && fseek( file, 256, SEEK_SET ) == 0 && fwrite( count, 4, 1, file ) == 1 );
    CHECK( fclose( file ) == 0 );
    if ( truncate( BOXES, (off_t)SCENE_HEADER_BYTES + (off_t)64 * 300000000 ) == 0 )
    {
        check_refused( BOXES, "at byte 256: 300000000 objects cut in 8" );
    }
    remove( BOXES );
    // What lies so far out that twice as far is nowhere.
    recording* made = write_recording();
    scene_encode_float( made->bytes + SCENE_HEADER_BYTES + 32 * BODIES, 3e38f );
    write_bytes( POSES, made->bytes, sizeof( made->bytes ) );
    program_answer* answer = program_run( "split " POSES " -q --keep-size -o " OUTPUT );
    CHECK( answer->status == 2 && program_said( answer, "frame 1, object 0: twice as far out" ) );
    CHECK_EQUAL( program_run( "split " POSES " -q -o " OUTPUT )->status, 0 );
}

static void bad_words_are_refused( void )
{
    write_recording();
    static const char* const rows[][2] = {
        { "split", "needs a .posrot or .aabbs FILE" },
        { "split " POSES, "needs -o FILE" },
        { "split " POSES " -o x.posrot", "a name that ends in .aabbs" },
        { "split " POSES " -o no/such/folder/x.aabbs", "no/such/folder/x.aabbs" },
        { "split . -o " OUTPUT, "is a folder" },
        { "gen " POSES " -o " OUTPUT, "is a recording of positions and rotations" },
        { "info no-such.posrot", "no-such.posrot: cannot be opened" },
    };
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        program_answer* answer = program_run( rows[row][0] );
        test_where.note = rows[row][0];
        CHECK_EQUAL( answer->status, 2 );
        if ( strstr( answer->errors, rows[row][1] ) == NULL )
        {
            CHECK_TEXT( answer->errors, rows[row][1] );
        }
    }
}

static void an_old_output_outlives_a_failure( void )
{
    recording* made = write_recording();
    write_bytes( OUTPUT, (const unsigned char*)"old", 3 );
    write_bytes( POSES, made->bytes, sizeof( made->bytes ) - 1 );
    CHECK_EQUAL( program_run( "split " POSES " -q -o " OUTPUT )->status, 2 );
    struct stat entry;
    CHECK( stat( OUTPUT, &entry ) == 0 && entry.st_size == 3 );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_recording_of_positions_is_read_as_boxes ),
        TEST_CASE( frames_are_read_in_any_order ),
        TEST_CASE( bodies_are_cut_along_their_own_axes ),
        TEST_CASE( boxes_without_bodies_are_cut_themselves ),
        TEST_CASE( infinite_boxes_are_cut_at_the_face_they_have ),
        TEST_CASE( sizes_are_kept_in_a_world_of_twice_the_side ),
        TEST_CASE( births_and_deaths_are_split_into_pieces ),
        TEST_CASE( damaged_recordings_are_refused_with_file_and_offset ),
        TEST_CASE( a_split_of_too_many_boxes_is_refused ),
        TEST_CASE( bad_words_are_refused ),
        TEST_CASE( an_old_output_outlives_a_failure ),
    };
    int status = test_run( "split", cases, TEST_COUNT( cases ), argc, argv );
    remove( POSES );
    remove( BOXES );
    remove( OUTPUT );
    return status;
}
