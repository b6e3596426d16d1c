// SPDX-License-Identifier: MIT
// Scene files are read as written or refused with their line; every scene of the table bakes, the same for
// any number of threads, and stays in its world.
#include "lab/frame/bake.h"
#include "lab/frame/scene_file.h"
#include "lab/scene/generator.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "test_recipe.scene"

static void write_file( const char* path, const char* text )
{
    FILE* stream = fopen( path, "wb" );
    CHECK( stream != NULL );
    fwrite( text, 1, strlen( text ), stream );
    fclose( stream );
}

static void every_statement_is_read( void )
{
    write_file( FILE_NAME,
        "# a comment\n"
        "name   mine\n"
        "objects 2k\n"
        "seed 7\n"
        "world side 40   # metres\n"
        "origin 1e6 -2 3\n"
        "frame 1/60 substeps 8\n"
        "start slab 0.5\n"
        "speed range 10\n"
        "gravity turning 0.4 world period 3\n"
        "kick 0.02\nteleport 0.03\nchurn 0.04\ncontacts from 5\n"
        "friction 0.3\nrestitution 0.1\nsleep off\r\nsolver lean\n"
        "bodies 1 box 0.5 0.1 0.5 world static center\n"
        "bodies 25% random 0.5 2 street\n"
        "bodies rest assorted\n" );
    recipe r;
    lab_error why = { LAB_DONE, "" };
    CHECK( recipe_read( FILE_NAME, &r, &why ) );
    CHECK_TEXT( r.name, "mine" );
    CHECK_EQUAL( r.body_count, 2000 );
    CHECK_EQUAL( r.seed, 7 );
    CHECK( r.density == 0 && r.side == 40 && r.origin[0] == 1e6 && r.origin[1] == -2 && r.origin[2] == 3 );
    CHECK( fabs( r.frame_seconds - 1.0 / 60 ) < 1e-12 && r.substeps == 8 );
    CHECK( r.region == RECIPE_SLAB && r.reach == 0.5 );
    CHECK( r.speed_law == RECIPE_SPEED_RANGE && r.speed == 10 && !r.speed_by_world );
    CHECK( r.gravity == RECIPE_TURNING && r.gravity_amount == 0.4 && r.gravity_by_world &&
        r.gravity_period == 3 );
    CHECK(
        r.kick_share == 0.02 && r.teleport_share == 0.03 && r.churn_share == 0.04 && r.contacts_from == 5 );
    CHECK( r.friction == 0.3 && r.restitution == 0.1 && !r.sleep && r.lean );
    CHECK_EQUAL( r.group_count, 3 );
    CHECK( r.groups[0].count == 1 && r.groups[0].is_static && r.groups[0].place == RECIPE_CENTER );
    CHECK( r.groups[0].sides[1] == 0.1 && r.groups[0].sides_by_world );
    CHECK( r.groups[1].share == 0.25 && r.groups[1].shape == RECIPE_RANDOM && r.groups[1].sides[1] == 2 );
    CHECK( r.groups[2].share < 0 && r.groups[2].shape == RECIPE_ASSORTED );
    remove( FILE_NAME );
}

static void bad_lines_are_named( void )
{
    static const char* const lines[] = { "nmae x", "objects", "objects -5", "objects 1.5", "world",
        "world side 0", "world density nan", "frame 1/0", "frame 0", "start ball 2", "start pyramid 1",
        "speed 3", "speed ball x", "gravity", "gravity up 3", "kick 2", "contacts", "contacts from",
        "friction -1", "restitution 2", "sleep maybe", "solver", "solver thin", "bodies", "bodies 10%",
        "bodies 0% cube 1", "bodies 5 cube", "bodies 5 cube 1 2", "bodies 5 random 3 2",
        "bodies rest box 1 1", "seed one", "name a b", "name", "kick 1 2 3 4 5 6 7 8 9 10 11 12 13",
        "origin 1 2" };
    for ( size_t i = 0; i < TEST_COUNT( lines ); ++i )
    {
        test_where.note = lines[i];
        char text[256];
        snprintf( text, sizeof( text ), "name good\n\n%s\n", lines[i] );
        write_file( FILE_NAME, text );
        recipe r;
        lab_error why = { LAB_DONE, "" };
        CHECK( !recipe_read( FILE_NAME, &r, &why ) );
        CHECK( why.status == LAB_BAD_INPUT );
        CHECK( strstr( why.text, FILE_NAME ":3: " ) == why.text );
    }
    char* flood = test_alloc( 20000, 1 );
    memset( flood, 'a', 19999 );
    flood[19999] = '\0';
    write_file( FILE_NAME, flood );
    free( flood );
    recipe r;
    lab_error why;
    CHECK( !recipe_read( FILE_NAME, &r, &why ) );
    remove( FILE_NAME );
    CHECK( !recipe_read( "no/such/file.scene", &r, &why ) );
}

static void groups_share_the_bodies( void )
{
    recipe r = recipe_default( "groups" );
    r.groups[0] = ( recipe_group ){ .count = 3 };
    r.groups[1] = ( recipe_group ){ .share = -1 };
    r.groups[2] = ( recipe_group ){ .share = 0.25 };
    r.group_count = 3;
    uint32_t begin, end, last = 0, total = 0;
    for ( uint32_t i = 0; i < 3; ++i )
    {
        recipe_group_range( &r, i, 100, &begin, &end );
        CHECK_EQUAL( begin, last );
        last = end;
        total += end - begin;
    }
    CHECK_EQUAL( total, 100 );
    recipe_group_range( &r, 1, 100, &begin, &end );
    CHECK_EQUAL( end - begin, 72 );
    recipe_group_range( &r, 0, 2, &begin, &end ); // more wanted than there are
    CHECK_EQUAL( end - begin, 2 );
}

static uint64_t hash_scene( const generator* scene, const generator_def* def, uint32_t frames )
{
    void* state = scene->create( scene, def );
    CHECK( state != NULL );
    uint32_t count = generator_object_count( def );
    clv_aabb* boxes = test_alloc( count, sizeof( clv_aabb ) );
    clv_aabb world = scene->world( state );
    uint64_t hash = 0;
    for ( uint32_t frame = 0; frame <= frames; ++frame )
    {
        test_where.frame = frame;
        lab_error why;
        CHECK( frame == 0 || scene->step( state, &why ) );
        scene->boxes( state, boxes );
        for ( uint32_t i = 0; i < count; ++i )
        {
            CHECK( clv_aabb_is_valid( boxes[i] ) );
            for ( int axis = 0; axis < 3; ++axis )
            {
                float lower = ( &boxes[i].lower.x )[axis], upper = ( &boxes[i].upper.x )[axis];
                float centre = 0.5f * ( lower + upper ); // a box without an end has none
                CHECK( isinf( lower ) || isinf( upper ) ||
                    ( centre >= ( &world.lower.x )[axis] && centre <= ( &world.upper.x )[axis] ) );
            }
            uint64_t words[3];
            memcpy( words, &boxes[i], sizeof( words ) );
            hash = test_mix( hash ^ words[0] ) + test_mix( words[1] ) * 3 + test_mix( words[2] ) * 5;
        }
    }
    free( boxes );
    scene->destroy( state );
    return hash;
}

static void every_scene_bakes_the_same_with_any_number_of_threads( void )
{
    const uint32_t frames = test_scaled( 25 );
    for ( uint32_t index = 0; index < generator_count(); ++index )
    {
        const generator* scene = generator_at( index );
        test_where.note = scene->name;
        for ( int type = 0; type < BODY_TYPE_COUNT; ++type )
        {
            generator_def def = { .body_count = 700, .type = (body_type)type, .seed = 3, .thread_count = 1 };
            uint64_t expected = hash_scene( scene, &def, frames );
            def.thread_count = 2;
            CHECK_EQUAL( hash_scene( scene, &def, frames ), expected );
            def.seed = 4;
            CHECK( hash_scene( scene, &def, frames ) != expected );
        }
    }
}

static void split_scenes_have_eight_boxes_per_body( void )
{
    generator_def def = { .body_count = 200, .seed = 3, .split = true, .thread_count = 1 };
    CHECK_EQUAL( generator_object_count( &def ), 1600 );
    CHECK( hash_scene( generator_find( "freefall" ), &def, 5 ) != 0 );
}

/// The mean over the bodies of what happened in the recipe's frames tells that its forces were felt.
static double mean_height( const generator* scene, uint32_t frames )
{
    generator_def def = { .body_count = 500, .seed = 1, .thread_count = 1 };
    void* state = scene->create( scene, &def );
    clv_aabb* boxes = test_alloc( 500, sizeof( clv_aabb ) );
    lab_error why;
    for ( uint32_t frame = 0; frame < frames; ++frame )
    {
        CHECK( scene->step( state, &why ) );
    }
    scene->boxes( state, boxes );
    clv_aabb world = scene->world( state );
    double sum = 0;
    for ( uint32_t i = 0; i < 500; ++i )
    {
        sum += 0.5 * (double)( boxes[i].lower.y + boxes[i].upper.y );
    }
    free( boxes );
    scene->destroy( state );
    return sum / 500 / (double)( world.upper.y - world.lower.y );
}

static void free_fall_falls_and_brownian_does_not( void )
{
    CHECK( mean_height( generator_find( "freefall" ), 250 ) < -0.4 );
    CHECK( fabs( mean_height( generator_find( "brownian" ), 250 ) ) < 0.1 );
}

static void churn_lists_objects_born_again( void )
{
    generator_def scene = { .body_count = 300, .seed = 1, .thread_count = 1 };
    bake_def def = { .generator = generator_find( "churn" ), .scene = scene, .from = 4, .frame_count = 6 };
    lab_error why;
    CHECK( bake_write( &def, "test_recipe.aabbs", &why ) );
    FILE* stream = fopen( "test_recipe.aabbs" BAKE_CHURN_ENDING, "rb" );
    CHECK( stream != NULL );
    char line[64];
    CHECK( fgets( line, sizeof( line ), stream ) != NULL );
    CHECK_TEXT( line, "frame,object\n" );
    uint32_t count = 0;
    while ( fgets( line, sizeof( line ), stream ) != NULL )
    {
        char* comma = NULL;
        char* end = NULL;
        unsigned long frame = strtoul( line, &comma, 10 );
        CHECK( comma > line && *comma == ',' );
        unsigned long object = strtoul( comma + 1, &end, 10 );
        CHECK( end > comma + 1 && strcmp( end, "\n" ) == 0 );
        CHECK( frame >= 1 && frame <= 6 && object < 300 );
        count += 1;
    }
    fclose( stream );
    CHECK_EQUAL( count, 6 * 3 );
    scene_reader reader = { 0 };
    CHECK( scene_reader_open( &reader, "test_recipe.aabbs", &why ) );
    CHECK_EQUAL( reader.header.object_count, 300 );
    scene_reader_close( &reader );
    remove( "test_recipe.aabbs" );
    remove( "test_recipe.aabbs" BAKE_CHURN_ENDING );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( every_statement_is_read ),
        TEST_CASE( bad_lines_are_named ),
        TEST_CASE( groups_share_the_bodies ),
        TEST_CASE( every_scene_bakes_the_same_with_any_number_of_threads ),
        TEST_CASE( split_scenes_have_eight_boxes_per_body ),
        TEST_CASE( free_fall_falls_and_brownian_does_not ),
        TEST_CASE( churn_lists_objects_born_again ),
    };
    return test_run( "recipe", cases, TEST_COUNT( cases ), argc, argv );
}
