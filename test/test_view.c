// SPDX-License-Identifier: MIT
// What `cleave view` is made of: bytes that any inflater reads, frames that come back, words that are
// refused. view/test looks at the page itself, test_loopback at the server.
#define _POSIX_C_SOURCE 200809L
#include "inflate.h"
#include "lab/base/bytes.h"
#include "lab/view/view_overlay.h"
#include "lab/view/view_page.h"
#include "program.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCENE "test_view.aabbs"
#define PAGE "test_view.html"

static bool comes_back( const uint8_t* bytes, size_t count, size_t* packed_count )
{
    byte_buffer packed = { 0 }, out = { 0 };
    deflate_append( &packed, bytes, count );
    bool good = test_inflate( packed.bytes, packed.count, &out ) == packed.count && out.count == count &&
        ( count == 0 || memcmp( out.bytes, bytes, count ) == 0 );
    *packed_count = packed.count;
    byte_buffer_free( &packed );
    byte_buffer_free( &out );
    return good;
}

static void deflated_bytes_come_back( void )
{
    enum
    {
        MOST = 300000
    };
    uint8_t* bytes = calloc( MOST, 1 );
    size_t packed = 0;
    CHECK( comes_back( bytes, 0, &packed ) );
    CHECK( comes_back( bytes, 1, &packed ) );
    CHECK( comes_back( bytes, MOST, &packed ) && packed < 600 );
    test_random random = test_random_make( 3 );
    for ( int kind = 0; kind < 5; ++kind )
    {
        for ( size_t i = 0; i < MOST; ++i )
        {
            uint32_t draw = (uint32_t)test_random_next( &random );
            bytes[i] = kind == 0 ? (uint8_t)draw                                       // no order at all
                : kind == 1      ? (uint8_t)( draw % 7 * ( draw >> 8 & 1 ) )           // small numbers
                : kind == 2      ? ( i >= 40 && draw % 64 != 0 ? bytes[i - 40] : 'x' ) // repeats
                : kind == 3      ? (uint8_t)( i / 700 )                                // runs
                            : ( i >= 32768 ? bytes[i - 32768] : (uint8_t)draw ); // as far back as it goes
        }
        CHECK( comes_back( bytes, MOST, &packed ) );
        CHECK( packed < ( kind == 0 || kind == 4 ? MOST + MOST / 100 : MOST / 2 ) );
    }
    // Counts like Fibonacci's make codes that are too long: 1, 1, 2, 3, 5, …
    size_t count = 0, one = 1, two = 1;
    for ( int symbol = 0; count + one < MOST; ++symbol )
    {
        memset( bytes + count, symbol, one );
        count += one;
        size_t sum = one + two;
        one = two;
        two = sum;
    }
    for ( size_t i = count - 1; i > 0; --i )
    {
        size_t other = test_random_below( &random, (uint32_t)i + 1 );
        uint8_t kept = bytes[i];
        bytes[i] = bytes[other];
        bytes[other] = kept;
    }
    CHECK( comes_back( bytes, count, &packed ) );
    free( bytes );
}

static void base64_is_as_the_rfc_shows( void )
{
    static const char* shown[] = { "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy" };
    for ( size_t length = 0; length <= 6; ++length )
    {
        byte_buffer out = { 0 };
        base64_append( &out, (const uint8_t*)"foobar", length );
        byte_buffer_put_byte( &out, 0 );
        CHECK_TEXT( (const char*)out.bytes, shown[length] );
        byte_buffer_free( &out );
    }
}

static void steps_suit_boxes_and_worlds( void )
{
    clv_aabb cubes[2] = { { { 0, 0, 0 }, { 2, 2, 2 } }, { { 100, 0, 0 }, { 102, 2, 2 } } };
    view_scale scale = view_scale_choose( cubes, 2 );
    CHECK( scale.step == 2.0 / 64 );
    CHECK( view_scale_place( &scale, scale.origin[0] + 3 * scale.step, 0 ) == 3 );
    CHECK( view_scale_place( &scale, (double)INFINITY, 1 ) == VIEW_INFINITE );
    CHECK( view_scale_place( &scale, -(double)INFINITY, 1 ) == -VIEW_INFINITE );
    CHECK( view_scale_place( &scale, 3e38, 2 ) < VIEW_INFINITE );
    clv_aabb points[2] = { { { 1, 1, 1 }, { 1, 1, 1 } }, { { 1, 1, 1 }, { 1, 1, 1 } } };
    CHECK( view_scale_choose( points, 2 ).step > 0 );
    clv_aabb far_apart[2] = { { { 0, 0, 0 }, { 1e-6f, 1e-6f, 1e-6f } },
        { { 3e38f, 0, 0 }, { 3e38f, 1e-6f, 1e-6f } } };
    scale = view_scale_choose( far_apart, 2 );
    CHECK( isfinite( scale.step ) && view_scale_place( &scale, 3e38, 0 ) > view_scale_place( &scale, 0, 0 ) );
    clv_aabb endless = { { -INFINITY, -INFINITY, -INFINITY }, { INFINITY, INFINITY, INFINITY } };
    scale = view_scale_choose( &endless, 1 );
    CHECK( isfinite( scale.step ) && scale.step > 0 && isfinite( scale.origin[0] ) );
}

static void lists_are_told_apart( void )
{
    const clv_pair first[] = { { 0, 1 }, { 0, 5 }, { 2, 3 }, { 7, 9 } };
    const clv_pair second[] = { { 0, 5 }, { 1, 2 }, { 2, 3 }, { 7, 8 } };
    clv_pair out[4];
    CHECK_EQUAL( view_coder_without( first, 4, second, 4, out, NULL ), 2 );
    CHECK( out[0].b == 1 && out[1].a == 7 && out[1].b == 9 );
    CHECK_EQUAL( view_coder_without( second, 4, first, 4, out, NULL ), 2 );
    CHECK( out[0].a == 1 && out[1].b == 8 );
    CHECK_EQUAL( view_coder_without( first, 0, second, 4, out, NULL ), 0 );
    CHECK_EQUAL( view_coder_without( first, 4, NULL, 0, out, NULL ), 4 );
    uint32_t places[4];
    CHECK_EQUAL( view_coder_without( first, 4, second, 4, NULL, places ), 2 );
    CHECK( places[0] == 0 && places[1] == 3 );
    byte_buffer bytes = { 0 };
    view_coder_put_pairs( &bytes, first, 4 );
    const uint8_t expected[] = { 4, 0, 1, 0, 4, 2, 1, 5, 2, 2, 0, 3 };
    view_coder_put_places( &bytes, places, 2 );
    CHECK( bytes.count == sizeof( expected ) && memcmp( bytes.bytes, expected, sizeof( expected ) ) == 0 );
    byte_buffer_free( &bytes );
}

static void a_body_at_constant_speed_costs_nothing( void )
{
    view_coder coder;
    byte_buffer bytes = { 0 };
    view_coder_open( &coder, 2, 1 );
    view_coder_begin( &coder );
    for ( int frame = 0; frame < 4; ++frame )
    {
        coder.now[0] = 100 * frame;
        coder.now[1] = -5;
        view_coder_put( &coder, &bytes );
    }
    // 0, -5 after it; then a hundred on (two bytes of 200) and nothing; then nothing new.
    const uint8_t expected[] = { 0, 0, 9, 1, 200, 1, 0, 2, 0, 0, 2, 0, 0 };
    CHECK( bytes.count == sizeof( expected ) && memcmp( bytes.bytes, expected, sizeof( expected ) ) == 0 );
    view_coder_close( &coder );
    byte_buffer_free( &bytes );
}

// Two cubes of half side 1: the first in the middle, the second somewhere, both turned about z by so many
// degrees.
static uint8_t compare_cubes( double turn, clv_vec3 second, double second_turn )
{
    const float half[3] = { 1, 1, 1 };
    const clv_pair pair = { 0, 1 };
    const double to_half_radians = 3.14159265358979 / 360;
    view_volumes volumes;
    clv_transform at = clv_identity_transform(), other = { second, { 0, 0, 0, 1 } };
    at.rotation.z = (float)sin( turn * to_half_radians );
    at.rotation.w = (float)cos( turn * to_half_radians );
    other.rotation.z = (float)sin( second_turn * to_half_radians );
    other.rotation.w = (float)cos( second_turn * to_half_radians );
    view_volumes_open( &volumes, 2 );
    CHECK( view_volumes_place( &volumes, VIEW_BOXES, 0, half, at ) == CLV_OK );
    CHECK( view_volumes_place( &volumes, VIEW_BOXES, 1, half, other ) == CLV_OK );
    const uint8_t* bits = view_volumes_find( &volumes, &pair, 1 );
    uint8_t answer = bits != NULL ? bits[0] : 255;
    view_volumes_close( &volumes );
    return answer;
}

static void false_pairs_are_told_by_volume( void )
{
    // In all of these the boxes touch. A corner into a face; a cut-off edge; the same farther out; faces at
    // an angle no 18-DOP has.
    CHECK_EQUAL( compare_cubes( 45, ( clv_vec3 ){ 2.41f, 0, 0 }, 0 ), 0 );
    CHECK_EQUAL(
        compare_cubes( 45, ( clv_vec3 ){ 2.35f, 2.35f, 0 }, 0 ), VIEW_DOPS_APART | VIEW_BODIES_APART );
    CHECK_EQUAL( compare_cubes( 45, ( clv_vec3 ){ 2.8f, 2.8f, 1.9f }, 45 ),
        VIEW_DOPS_APART | VIEW_SPHERES_APART | VIEW_BODIES_APART );
    CHECK_EQUAL( compare_cubes( 22.5, ( clv_vec3 ){ 1.894f, 0.7845f, 0 }, 22.5 ), VIEW_BODIES_APART );
    CHECK_EQUAL( compare_cubes( 22.5, ( clv_vec3 ){ 1.83f, 0.758f, 0 }, 22.5 ), 0 );
}

static void bodies_of_the_same_sides_share_a_hull( void )
{
    const float half[3] = { 1, 2, 1 }, other[3] = { 1, 1, 1 }, bad[3] = { 1, -1, 1 };
    view_volumes volumes;
    view_volumes_open( &volumes, 3 );
    CHECK( view_volumes_place( &volumes, VIEW_OCTAHEDRA, 0, half, clv_identity_transform() ) == CLV_OK );
    CHECK( view_volumes_place( &volumes, VIEW_OCTAHEDRA, 1, other, clv_identity_transform() ) == CLV_OK );
    CHECK( view_volumes_place( &volumes, VIEW_OCTAHEDRA, 2, half, clv_transform_at( 0, 4, 0 ) ) == CLV_OK );
    CHECK_EQUAL( volumes.hull_count, 2 );
    CHECK( view_volumes_place( &volumes, VIEW_OCTAHEDRA, 1, bad, clv_identity_transform() ) != CLV_OK );
    CHECK( view_volumes_place( &volumes, VIEW_BOXES, 1, bad, clv_identity_transform() ) != CLV_OK );
    const clv_pair pair = { 0, 2 }; // tip to tip: they touch
    const uint8_t* bits = view_volumes_find( &volumes, &pair, 1 );
    CHECK( bits != NULL && bits[0] == 0 );
    CHECK( view_volumes_find( &volumes, NULL, 0 ) != NULL );
    view_volumes_close( &volumes );
}

// ---- the program

static void refuse( const char* line, const char* reason )
{
    program_answer* answer = program_run( line );
    CHECK_EQUAL( answer->status, 2 );
    CHECK( program_said( answer, reason ) );
    CHECK( strchr( answer->errors, '\n' ) == answer->errors + strlen( answer->errors ) - 1 );
}

static void bad_words_and_files_are_refused( void )
{
    CHECK_EQUAL( program_run( "gen brownian-free -n 50 --frames 4 -o " SCENE )->status, 0 );
    refuse( "view " SCENE, "needs -o FILE.html" );
    refuse( "view " SCENE " -o " PAGE " --frames 3:2", "has no frames 3:2; use 0:4" );
    refuse( "view " SCENE " -o " PAGE " --frames 0:5", "has no frames 0:5; use 0:4" );
    refuse( "view " SCENE " -o " PAGE " --frames x", "'x' is no range" );
    refuse( "view " SCENE " -o " PAGE " --tree sap", "sap keeps no tree" );
    refuse( "view " SCENE " -o " PAGE " --tree nothing", "nothing" );
    refuse( "view " SCENE " --serve 70000", "'70000' is no port" );
    refuse( "view " SCENE " -o /dev/null --serve", "which --serve cannot read again" );
    refuse( "view nowhere.aabbs -o " PAGE, "nowhere.aabbs" );
    refuse( "view " SCENE " -o no/such/folder/" PAGE, "no/such/folder" );
    CHECK( truncate( SCENE, 5000 ) == 0 );
    refuse( "view " SCENE " -o " PAGE, "5000" );
    CHECK( access( PAGE, F_OK ) != 0 );
}

/// Everything a file holds, to free.
static char* read_whole( const char* path, size_t* count )
{
    FILE* file = fopen( path, "rb" );
    CHECK( file != NULL && fseek( file, 0, SEEK_END ) == 0 );
    *count = (size_t)ftell( file );
    char* bytes = calloc( *count + 1, 1 );
    CHECK( fseek( file, 0, SEEK_SET ) == 0 && fread( bytes, 1, *count, file ) == *count );
    fclose( file );
    return bytes;
}

static void the_same_scene_makes_the_same_page( void )
{
    char* pages[2];
    size_t counts[2];
    for ( int i = 0; i < 2; ++i )
    {
        program_answer* answer =
            program_run( "view brownian-free:300@0+9 --frames 2:8 --set kd.leaf=32 --no-times -o " PAGE );
        CHECK_EQUAL( answer->status, 0 );
        CHECK( program_said( answer, "300 objects, 7 frames" ) );
        pages[i] = read_whole( PAGE, &counts[i] );
    }
    CHECK( counts[0] == counts[1] && memcmp( pages[0], pages[1], counts[0] ) == 0 );
    CHECK( strstr( pages[0], "class=\"block\"" ) != NULL &&
        strstr( pages[0], "\"first\":2,\"count\":7" ) != NULL );
    free( pages[0] );
    free( pages[1] );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( deflated_bytes_come_back ),
        TEST_CASE( base64_is_as_the_rfc_shows ),
        TEST_CASE( steps_suit_boxes_and_worlds ),
        TEST_CASE( lists_are_told_apart ),
        TEST_CASE( a_body_at_constant_speed_costs_nothing ),
        TEST_CASE( false_pairs_are_told_by_volume ),
        TEST_CASE( bodies_of_the_same_sides_share_a_hull ),
        TEST_CASE( bad_words_and_files_are_refused ),
        TEST_CASE( the_same_scene_makes_the_same_page ),
    };
    int status = test_run( "view", cases, TEST_COUNT( cases ), argc, argv );
    remove( SCENE );
    remove( PAGE );
    return status;
}
