// SPDX-License-Identifier: MIT
// Pictures without a screen: what is nearer hides what is farther, files that others can read, words that are
// refused.
#define _POSIX_C_SOURCE 200809L
#include "inflate.h"
#include "lab/render/picture.h"
#include "lab/render/render_scene.h"
#include "program.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PNG "test_render.png"
#define SVG "test_render.svg"
#define SIDE 120

static const picture_ink s_red = { 200, 0, 0, 1 }, s_green = { 0, 200, 0, 1 }, s_none = { 0, 0, 0, 0 };

static picture empty_picture( void )
{
    clv_aabb box = { { -1, -1, -1 }, { 1, 1, 1 } };
    return ( picture ){ .camera = picture_camera_make( box, 0, 0, 1, SIDE, SIDE ),
        .ground = { 250, 251, 252, 1 } };
}

// A square that faces the eye.
static void add_square( picture* out, double z, picture_ink ink )
{
    const double corners[4][3] = { { -0.5, -0.5, z }, { 0.5, -0.5, z }, { 0.5, 0.5, z }, { -0.5, 0.5, z } };
    picture_add_face( out, corners, 4, ink, s_none );
}

static void what_is_nearer_hides_what_is_farther( void )
{
    for ( int turn = 0; turn < 2; ++turn )
    {
        picture seen = empty_picture();
        add_square( &seen, turn == 0 ? -0.5 : 0.5, s_red );
        add_square( &seen, turn == 0 ? 0.5 : -0.5, s_green );
        uint8_t* pixels = raster_draw( &seen );
        const uint8_t* middle = pixels + 3 * ( SIDE / 2 * SIDE + SIDE / 2 );
        CHECK( pixels != NULL && middle[turn == 0 ? 1 : 0] == 200 && middle[turn == 0 ? 0 : 1] == 0 );
        CHECK( pixels[0] == 250 && pixels[1] == 251 && pixels[2] == 252 );
        free( pixels );
        picture_free( &seen );
    }
}

static void lines_are_hidden_unless_they_are_above( void )
{
    const double from[3] = { -0.9, 0, -0.5 }, to[3] = { 0.9, 0, -0.5 };
    const picture_ink blue = { 0, 0, 250, 1 };
    for ( int above = 0; above < 2; ++above )
    {
        picture seen = empty_picture();
        add_square( &seen, 0.5, s_red );
        picture_add_line( &seen, from, to, blue, 3, above == 1 );
        uint8_t* pixels = raster_draw( &seen );
        const uint8_t* middle = pixels + 3 * ( SIDE / 2 * SIDE + SIDE / 2 );
        const uint8_t* beside = pixels + 3 * ( SIDE / 2 * SIDE + SIDE / 2 - 22 );
        CHECK( middle[2] == ( above == 1 ? 250 : 0 ) );
        CHECK( beside[2] == 250 && beside[0] == 0 );
        free( pixels );
        picture_free( &seen );
    }
}

static void what_lies_behind_the_eye_is_left_out( void )
{
    picture seen = empty_picture();
    add_square( &seen, 100, s_red );
    CHECK_EQUAL( seen.face_count, 0 );
    picture_free( &seen );
}

// ---- bodies

static void faces_are_whole_and_look_outwards( void )
{
    for ( int shape = 0; shape < 2; ++shape )
    {
        body_state body = {
            .position = { 3, 4, 5 }, .rotation = { 0.5, 0.5, -0.5, 0.5 }, .half_sides = { 1, 2, 3 }
        };
        solid made = solid_of_body( (view_shape)shape, &body );
        uint32_t corner_count = 0;
        for ( uint32_t face = 0; face < made.face_count; ++face )
        {
            double corners[PICTURE_CORNERS][3], normal[3], out = 0;
            uint32_t count = solid_face( &made, face, corners, normal );
            CHECK_EQUAL( count, shape == 0 || face < 6 ? 4 : 6 );
            corner_count += count;
            for ( int axis = 0; axis < 3; ++axis )
            {
                out += normal[axis] * ( corners[0][axis] - made.middle[axis] );
            }
            CHECK( out > 0 );
        }
        CHECK_EQUAL( corner_count, shape == 0 ? 24 : 72 ); // three faces at each corner
    }
}

static void a_dop_of_a_box_has_its_twelve_edges( void )
{
    clv_aabb box = { { -0.5f, -0.5f, -0.5f }, { 0.5f, 0.5f, 0.5f } };
    solid made = solid_of_box( box );
    picture seen = empty_picture();
    solid_draw_dop( &made, &seen, s_red );
    double longest = 0;
    for ( size_t i = 0; i < seen.line_count; ++i )
    {
        longest = fmax( longest,
            hypot( (double)seen.lines[i].ends[1].x - (double)seen.lines[i].ends[0].x,
                (double)seen.lines[i].ends[1].y - (double)seen.lines[i].ends[0].y ) );
    }
    CHECK( seen.line_count >= 24 && longest < SIDE / 2.0 );
    picture_free( &seen );
}

// ---- files

static uint32_t word_at( const uint8_t* bytes )
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void a_png_comes_back( void )
{
    enum
    {
        WIDTH = 37,
        HEIGHT = 21
    };
    uint8_t pixels[3 * WIDTH * HEIGHT];
    test_random random = test_random_make( 5 );
    for ( size_t i = 0; i < sizeof( pixels ); ++i )
    {
        pixels[i] = (uint8_t)( i % 5 == 0 ? test_random_next( &random ) : 77 );
    }
    lab_error why;
    CHECK( png_file_write( PNG, pixels, WIDTH, HEIGHT, &why ) );
    uint8_t bytes[1 << 14];
    FILE* file = fopen( PNG, "rb" );
    size_t count = fread( bytes, 1, sizeof( bytes ), file );
    fclose( file );
    CHECK( memcmp( bytes, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16 ) == 0 );
    CHECK( word_at( bytes + 16 ) == WIDTH && word_at( bytes + 20 ) == HEIGHT );
    CHECK(
        memcmp( bytes + 37, "IDAT", 4 ) == 0 && memcmp( bytes + count - 8, "IEND\xae\x42\x60\x82", 8 ) == 0 );
    CHECK_EQUAL( word_at( bytes + 33 ) + 33 + 12 + 12, count );
    byte_buffer rows = { 0 };
    CHECK_EQUAL( test_inflate( bytes + 43, word_at( bytes + 33 ) - 6, &rows ), word_at( bytes + 33 ) - 6 );
    CHECK_EQUAL( rows.count, (size_t)HEIGHT * ( 3 * WIDTH + 1 ) );
    size_t wrong = 0;
    for ( size_t y = 0; y < HEIGHT; ++y )
    {
        uint8_t* row = rows.bytes + y * ( 3 * WIDTH + 1 );
        for ( size_t i = 1; i <= 3 * WIDTH; ++i )
        {
            row[i] = (uint8_t)( row[i] + ( y > 0 ? row[(ptrdiff_t)i - 3 * WIDTH - 1] : 0 ) );
            wrong += row[i] != pixels[y * 3 * WIDTH + i - 1];
        }
    }
    CHECK_EQUAL( wrong, 0 );
    byte_buffer_free( &rows );
}

static void render( const char* line, const char* said )
{
    program_answer* answer = program_run( line );
    CHECK_EQUAL( answer->status, 0 );
    CHECK( program_said( answer, said ) );
}

static void scenes_of_every_kind_are_drawn( void )
{
    render( "render brownian-free:300@0+4 --frame 3 --size 320x200 -o " PNG, "frame 3, 300 objects" );
    render(
        "render brownian-free:300@0+4 --colour node --overlay pairs,tree,cells,boxes --set kd.leaf=32 --size 320x200 -o " PNG,
        "frame 4" );
    render( "render freefall:60@0+9 --bodies --colour speed --overlay sphere --dark --size 320x200 -o " SVG,
        "frame 9" );
    render( "render tower:12@0+60 --bodies --overlay 18-dop --region -8,0,-8,8,12,8 --size 320x200 -o " PNG,
        "tower" );
    const char* const odd[] = { "half-spaces", "endless", "denormal", "decades-12", "equal", "outlier" };
    for ( size_t i = 0; i < sizeof( odd ) / sizeof( odd[0] ); ++i )
    {
        char line[128];
        snprintf( line, sizeof( line ), "render %s:200@0+2 --colour %s --size 160x100 -o " PNG, odd[i],
            i % 2 == 0 ? "size" : "static" );
        render( line, "200 objects" );
    }
}

static void an_svg_has_three_faces_a_cube( void )
{
    render( "render brownian-free:50@0+2 --frame 0 -o " SVG, "50 objects" );
    FILE* file = fopen( SVG, "rb" );
    char text[200];
    int fills = 0;
    while ( fgets( text, sizeof( text ), file ) != NULL )
    {
        fills += strstr( text, "Z\" fill=" ) != NULL;
    }
    fclose( file );
    CHECK_EQUAL( fills, 150 );
}

static void refuse( const char* line, const char* reason )
{
    program_answer* answer = program_run( line );
    CHECK_EQUAL( answer->status, 2 );
    CHECK( program_said( answer, reason ) );
}

// In place of ffmpeg, which need not be here: what it is given goes to the file, or it fails.
static void put_ffmpeg( const char* script )
{
    static char path[8192];
    char here[4096];
    CHECK( getcwd( here, sizeof( here ) ) != NULL );
    mkdir( "test_render_bin", 0755 );
    FILE* file = fopen( "test_render_bin/ffmpeg", "w" );
    CHECK( file != NULL && fputs( script, file ) >= 0 && fclose( file ) == 0 &&
        chmod( "test_render_bin/ffmpeg", 0755 ) == 0 );
    snprintf( path, sizeof( path ), "%s/test_render_bin:/usr/bin:/bin", here );
    setenv( "PATH", path, 1 );
}

static void a_film_is_handed_to_ffmpeg( void )
{
    put_ffmpeg( "#!/bin/sh\nfor last; do :; done\ncat >\"${last#file:}\"\n" );
    render( "render brownian-free:50@0+4 --frames 1:3 --size 32x20 -o test_render.gif", "3 frames" );
    struct stat entry;
    CHECK( stat( "test_render.gif", &entry ) == 0 && entry.st_size == 3 * 3 * 32 * 20 );
    remove( "test_render.gif" );
    // One that fails leaves what was there.
    FILE* old = fopen( "test_render.mp4", "w" );
    CHECK( old != NULL && fputs( "old", old ) >= 0 && fclose( old ) == 0 );
    put_ffmpeg( "#!/bin/sh\nfor last; do :; done\ncat >\"${last#file:}\"\nexit 3\n" );
    refuse( "render brownian-free:50@0+4 --frames 1:3 --size 32x20 -o test_render.mp4", "ffmpeg failed" );
    CHECK( stat( "test_render.mp4", &entry ) == 0 && entry.st_size == 3 );
    remove( "test_render.mp4" );
    refuse( "render brownian-free:50@0+4 --frames 1:3 -o no-such-folder/x.gif", "no-such-folder" );
    setenv( "PATH", "/nowhere", 1 );
    refuse( "render brownian-free:50@0+4 --frames 1:3 --size 32x20 -o test_render.mp4", "needs ffmpeg" );
    setenv( "PATH", "/usr/bin:/bin", 1 );
    remove( "test_render_bin/ffmpeg" );
    rmdir( "test_render_bin" );
}

// Frames, width and height of a film, as ffprobe counts them.
static void probe( const char* path, const char* expected )
{
    char line[512], said[256] = "";
    snprintf( line, sizeof( line ),
        "ffprobe -v error -count_frames -show_entries stream=codec_name,width,height,nb_read_frames -of csv=p=0 'file:%s'",
        path );
    FILE* pipe = popen( line, "r" );
    CHECK( pipe != NULL && fgets( said, sizeof( said ), pipe ) != NULL && pclose( pipe ) == 0 );
    said[strcspn( said, "\r\n" )] = '\0';
    if ( strcmp( said, expected ) != 0 )
    {
        printf( "%s is %s, not %s\n", path, said, expected );
    }
    CHECK( strcmp( said, expected ) == 0 );
}

static void films_are_what_ffmpeg_reads( void )
{
    if ( system( "command -v ffmpeg >/dev/null 2>&1 && command -v ffprobe >/dev/null 2>&1" ) != 0 )
    {
        printf(
            "skipped: ffmpeg is not installed (Debian: ffmpeg); films were tried with a stand-in alone\n" );
        return;
    }
    render( "render brownian-free:50@0+4 --frames 0:4 --size 33x21 -o test:render.gif", "5 frames" );
    probe( "test:render.gif", "gif,33,21,5" );
    remove( "test:render.gif" );
    render( "render brownian-free:50@0+4 --frames 1:3 --size 33x21 -o test_render.mp4", "3 frames" );
    probe( "test_render.mp4", "h264,34,22,3" ); // its codec wants even sides
    remove( "test_render.mp4" );
}

static void bad_words_are_refused( void )
{
    remove( PNG );
#define SCENE "render brownian-free:50@0+2 "
    refuse( SCENE, "needs -o FILE" );
    refuse( SCENE "-o " PNG "x", "pictures end in .png" );
    refuse( SCENE "--frame 3 -o " PNG, "has no frame 3; use 0 to 2" );
    refuse( SCENE "--size 12 -o " PNG, "'12' is no size" );
    refuse( SCENE "--size 9999x10 -o " PNG, "is no size" );
    refuse( SCENE "--colour pink -o " PNG, "there is no 'pink'" );
    refuse( SCENE "--overlay stars -o " PNG, "there is no 'stars'" );
    refuse( SCENE "--overlay 18-dop -o " PNG, "need bodies" );
    refuse( SCENE "--bodies -o " PNG, "does not tell how its bodies are turned" );
    refuse( SCENE "--region 0,0,0,1,1 -o " PNG, "is no box" );
    refuse( SCENE "--region 0,0,0,1,1,0 -o " PNG, "is no box" );
    refuse( SCENE "--zoom 0 -o " PNG, "--zoom" );
    refuse( SCENE "--frames 0:2 -o " PNG, "makes a film" );
    refuse( SCENE "-o test_render.gif", "is a film" );
    refuse( "render nowhere.aabbs -o " PNG, "nowhere.aabbs" );
    CHECK( access( PNG, F_OK ) != 0 );
#undef SCENE
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( what_is_nearer_hides_what_is_farther ),
        TEST_CASE( lines_are_hidden_unless_they_are_above ),
        TEST_CASE( what_lies_behind_the_eye_is_left_out ),
        TEST_CASE( faces_are_whole_and_look_outwards ),
        TEST_CASE( a_dop_of_a_box_has_its_twelve_edges ),
        TEST_CASE( a_png_comes_back ),
        TEST_CASE( scenes_of_every_kind_are_drawn ),
        TEST_CASE( an_svg_has_three_faces_a_cube ),
        TEST_CASE( bad_words_are_refused ),
        TEST_CASE( a_film_is_handed_to_ffmpeg ),
        TEST_CASE( films_are_what_ffmpeg_reads ),
    };
    int status = test_run( "render", cases, TEST_COUNT( cases ), argc, argv );
    remove( PNG );
    remove( SVG );
    return status;
}
