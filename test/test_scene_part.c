// SPDX-License-Identifier: MIT
// Scenes and files in parts, as many processes share them: parts put together are the whole, at any offset.
#include "lab/frame/frame_source.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

#define OUTPUT "test_scene_part.aabbs"

static void read_boxes( const bake_def* def, uint32_t frame, clv_aabb* boxes )
{
    frame_source source;
    lab_error why;
    CHECK(
        frame_source_open_scene( &source, def, &why ) && frame_source_read( &source, frame, boxes, &why ) );
    frame_source_close( &source );
}

// The parts of 0 .. 3, cut unevenly, and the whole.
static void compare_parts( const generator* scene, bool splits )
{
    enum
    {
        BODIES = 203,
        PIECES = BODIES * BODY_SPLIT
    };
    static clv_aabb whole[PIECES], part[PIECES];
    const uint32_t cuts[4] = { 0, 1, 150, BODIES };
    uint32_t pieces = splits ? BODY_SPLIT : 1;
    bake_def def = { .generator = scene,
        .scene = { .body_count = BODIES,
            .type = BODY_ASSORTED,
            .seed = 5,
            .split = splits,
            .thread_count = 2 },
        .frame_count = 7 };
    read_boxes( &def, 7, whole );
    for ( int i = 0; i < 3; ++i )
    {
        def.scene.part_first = cuts[i];
        def.scene.part_count = cuts[i + 1] - cuts[i];
        read_boxes( &def, 7, part );
        CHECK( memcmp( part, whole + (size_t)cuts[i] * pieces,
                   (size_t)def.scene.part_count * pieces * sizeof( clv_aabb ) ) == 0 );
    }
}

static void parts_of_every_contact_free_scene_are_the_whole( void )
{
    uint32_t count = 0;
    for ( uint32_t i = 0; i < generator_count(); ++i )
    {
        const generator* scene = generator_at( i );
        test_where.note = scene->name;
        for ( int splits = 0; scene->has_parts && splits < 2; ++splits )
        {
            compare_parts( scene, splits != 0 );
            count += 1;
        }
    }
    CHECK( count >= 2 * 28 );
}

// 10^8 boxes and more than 4 GiB to the first byte that is written: a hole up to there costs nothing.
static void offsets_are_right_beyond_four_gigabytes( void )
{
    CHECK( scene_file_offset( 100000000, 2, 99999997 ) == 304 + UINT64_C( 32 ) * 299999997 );
    CHECK( scene_file_offset( INT32_MAX, INT32_MAX, 0 ) == 304 + UINT64_C( 32 ) * INT32_MAX * INT32_MAX );
    scene_header header = { .name = "far", .type = "cubes", .object_count = 100000000, .frame_count = 2 };
    scene_writer writer;
    scene_part part;
    scene_reader reader = { 0 };
    lab_error why;
    const clv_aabb last[3] = { { { 1, 2, 3 }, { 4, 5, 6 } }, { { -1, 0, 0 }, { 7, 8, 9 } },
        { { 0, 0, 0 }, { 1, 1, 1 } } };
    clv_aabb got[3];
    CHECK( scene_writer_open( &writer, OUTPUT, &header, &why ) );
    const char* shared = scene_writer_share( &writer, &why );
    CHECK(
        shared != NULL && scene_part_open( &part, shared, OUTPUT, header.object_count, 99999997, 3, &why ) );
    CHECK( scene_part_put( &part, 2, last, &why ) && scene_part_put( &part, 0, last, &why ) );
    CHECK( scene_part_close( &part, &why ) && scene_writer_commit( &writer, &why ) );
    CHECK( scene_reader_open( &reader, OUTPUT, &why ) );
    for ( uint32_t frame = 0; frame <= 2; frame += 2 )
    {
        CHECK( scene_reader_read_part( &reader, frame, 99999997, 3, got, &why ) );
        CHECK( memcmp( got, last, sizeof( last ) ) == 0 );
    }
    const clv_aabb none[3] = { 0 };
    CHECK( scene_reader_read_part( &reader, 1, 99999997, 3, got, &why ) &&
        memcmp( got, none, sizeof( none ) ) == 0 );
    scene_reader_close( &reader );
    remove( OUTPUT );
}

static void a_full_disk_and_a_bad_box_name_file_and_place( void )
{
    scene_part part;
    lab_error why;
    clv_aabb boxes[3] = { { { 0, 0, 0 }, { 1, 1, 1 } }, { { 2, 0, 0 }, { 1, 1, 1 } },
        { { 0, 0, 0 }, { 1, 1, 1 } } };
    FILE* file = fopen( OUTPUT, "wb" );
    CHECK( file != NULL && fclose( file ) == 0 );
    CHECK( scene_part_open( &part, OUTPUT, OUTPUT, 100, 10, 3, &why ) );
    CHECK(
        !scene_part_put( &part, 4, boxes, &why ) && strstr( why.text, OUTPUT ": frame 4, box 11 " ) != NULL );
    CHECK( scene_part_close( &part, &why ) );
    remove( OUTPUT );
    CHECK(
        !scene_part_open( &part, OUTPUT, OUTPUT, 100, 10, 3, &why ) && strstr( why.text, OUTPUT ) != NULL );
    boxes[1].lower.x = 0;
    if ( scene_part_open( &part, "/dev/full", OUTPUT, 100, 10, 3, &why ) )
    {
        CHECK( !scene_part_put( &part, 4, boxes, &why ) );
        CHECK( strstr( why.text, OUTPUT ": at byte " ) != NULL && strstr( why.text, "No space" ) != NULL );
        scene_part_close( &part, NULL );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( parts_of_every_contact_free_scene_are_the_whole ),
        TEST_CASE( offsets_are_right_beyond_four_gigabytes ),
        TEST_CASE( a_full_disk_and_a_bad_box_name_file_and_place ),
    };
    int status = test_run( "scene_part", cases, TEST_COUNT( cases ), argc, argv );
    remove( OUTPUT );
    return status;
}
