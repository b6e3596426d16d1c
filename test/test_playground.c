// SPDX-License-Identifier: MIT
// The playground's engine, view/engine/playground.c, compiled for this machine and called as its page does:
// every scene is made and moves, and two methods find the same pairs. view/test/engine.test.mjs looks closer,
// at the module in the page.
#include "support.h"

#include <string.h>

// Called by name, from JavaScript: there is no header.
int pg_start( void );
const char* pg_error( void );
int pg_open( const char* name, uint32_t bodies, double seed, int lean );
int pg_step( void );
void pg_hold( uint32_t body, float x, float y, float z );
uint32_t pg_pour( float x, float y, float z, uint32_t count );
uint32_t pg_count( void );
int pg_choose( int side, const char* method, const char* settings );
double pg_update( int side );
void pg_hash( int side, uint32_t* out );
double pg_event_count( int ended );
uint32_t pg_tree( int side, double step );
const char* pg_cells( void );
const uint8_t* pg_apart( void );

enum
{
    FRAMES = 5,
    TELLER = 2, // the side that tells what began and ended
};

static void choose( void )
{
    CHECK( pg_choose( 0, "cleave", "" ) && pg_choose( 1, "kd", "kd.leaf=64" ) &&
        pg_choose( TELLER, "cleave", "" ) );
}

/// One frame's pairs, by all sides.
static double count_pairs( void )
{
    double count = pg_update( 0 );
    CHECK( count >= 0 && pg_update( 1 ) == count && pg_update( TELLER ) == count );
    uint32_t hashes[2][2];
    pg_hash( 0, hashes[0] );
    pg_hash( 1, hashes[1] );
    CHECK( memcmp( hashes[0], hashes[1], sizeof( hashes[0] ) ) == 0 );
    return count;
}

static void every_scene_is_made_and_moves( void )
{
    static const char* const scenes[] = { "freefall", "brownian", "gravity", "city", "tower" };
    for ( size_t i = 0; i < TEST_COUNT( scenes ); ++i )
    {
        test_where.note = scenes[i];
        CHECK( pg_open( scenes[i], 200, 3, 1 ) == 1 );
        CHECK_EQUAL( pg_count(), 200 );
        choose();
        count_pairs();
        for ( int frame = 0; frame < FRAMES; ++frame )
        {
            CHECK( pg_step() == 1 );
            count_pairs();
        }
        CHECK( pg_tree( 1, 1.0 / 1024 ) > 0 );
        CHECK( pg_cells()[0] == '[' );
        CHECK( pg_apart() != NULL );
    }
}

static void bodies_are_poured_up_to_the_limit( void )
{
    CHECK( pg_open( "pour", 50, 1, 1 ) == 1 );
    choose();
    CHECK_EQUAL( pg_pour( 0, 5, 0, 40 ), 40 );
    CHECK_EQUAL( pg_pour( 0, 5, 0, 40 ), 10 );
    double count = count_pairs();
    CHECK( count > 0 && pg_event_count( 0 ) == count && pg_event_count( 1 ) == 0 );
    pg_hold( 7, 0, 12, 0 );
    CHECK( pg_step() == 1 );
    count_pairs();
}

static void what_is_wrong_is_said( void )
{
    CHECK( pg_open( "nothing", 10, 1, 1 ) == 0 );
    CHECK( strstr( pg_error(), "nothing with 10 bodies cannot be made" ) != NULL );
    CHECK( pg_open( "pour", 10, 1, 1 ) == 1 );
    CHECK( pg_choose( 0, "nothing", NULL ) == 0 );
    CHECK( strstr( pg_error(), "no method 'nothing'" ) != NULL );
}

int main( int argc, char** argv )
{
    static const test_case cases[] = {
        TEST_CASE( every_scene_is_made_and_moves ),
        TEST_CASE( bodies_are_poured_up_to_the_limit ),
        TEST_CASE( what_is_wrong_is_said ),
    };
    return pg_start() == 0 ? test_run( "playground", cases, TEST_COUNT( cases ), argc, argv ) : 1;
}
