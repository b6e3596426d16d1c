// SPDX-License-Identifier: MIT
// A world at rest in which objects go, stay away for some frames and come back: slots that are empty for a
// while, which replacing an object at once does not show.
#include "space/instrument.h"
#include "space/space_internal.h"
#include "support.h"

#include <string.h>

enum
{
    OBJECTS = 400,
    FRAMES = 80,
};

typedef struct stage
{
    clv_space* spaces[2]; ///< under test, and brute force
    clv_id ids[2][OBJECTS];
    clv_aabb boxes[OBJECTS];
    test_random random;
    uint32_t rest_frames;
} stage;

static clv_aabb random_box( stage* s )
{
    return test_cube( test_random_between( &s->random, -4, 4 ), test_random_between( &s->random, -4, 4 ),
        test_random_between( &s->random, -4, 4 ), test_random_between( &s->random, 0.3f, 0.6f ) );
}

static void stage_open( stage* s, const char* settings )
{
    memset( s, 0, sizeof( *s ) );
    s->random = test_random_make( 17 );
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        s->boxes[i] = random_box( s );
    }
    for ( int k = 0; k < 2; ++k )
    {
        clv_space_def def = clv_default_space_def();
        def.method = k == 0 ? "cleave" : "brute";
        def.settings = k == 0 ? settings : NULL;
        CHECK_OK( clv_space_create( &def, &s->spaces[k] ) );
        CHECK_OK( clv_space_add( s->spaces[k], s->boxes, OBJECTS, s->ids[k] ) );
    }
}

static void stage_close( stage* s )
{
    clv_space_destroy( s->spaces[0] );
    clv_space_destroy( s->spaces[1] );
}

// An object that is away has a null id.
static void come_or_go( stage* s, uint32_t i )
{
    bool is_here = s->ids[0][i].generation != 0;
    bool is_back_elsewhere = test_random_chance( &s->random, 50 );
    s->boxes[i] = is_back_elsewhere ? random_box( s ) : s->boxes[i];
    for ( int k = 0; k < 2; ++k )
    {
        if ( is_here )
        {
            CHECK_OK( clv_space_remove_one( s->spaces[k], s->ids[k][i] ) );
            s->ids[k][i] = clv_null_id();
        }
        else
        {
            CHECK_OK( clv_space_add_one( s->spaces[k], s->boxes[i], &s->ids[k][i] ) );
        }
    }
}

static void stage_step( stage* s )
{
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        bool is_here = s->ids[0][i].generation != 0;
        if ( test_random_chance( &s->random, is_here ? 1 : 8 ) )
        {
            come_or_go( s, i );
        }
        else if ( is_here && test_random_chance( &s->random, 1 ) )
        {
            s->boxes[i] = random_box( s );
            CHECK_OK( clv_space_move_one( s->spaces[0], s->ids[0][i], s->boxes[i] ) );
            CHECK_OK( clv_space_move_one( s->spaces[1], s->ids[1][i], s->boxes[i] ) );
        }
    }
}

static bool is_at_rest( const clv_space* space )
{
    clv_method_figure figures[64];
    uint32_t count = clv_space_report( space, figures, TEST_COUNT( figures ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( strcmp( figures[i].name, "at rest" ) == 0 )
        {
            return figures[i].value != 0;
        }
    }
    return false;
}

static void stage_judge( stage* s )
{
    CHECK_OK( clv_space_update( s->spaces[0] ) );
    CHECK_OK( clv_space_update( s->spaces[1] ) );
    clv_pair_view found = clv_space_pairs( s->spaces[0] ), expected = clv_space_pairs( s->spaces[1] );
    CHECK_EQUAL( found.count, expected.count );
    CHECK_EQUAL( test_set_hash( found.pairs, found.count ), test_set_hash( expected.pairs, expected.count ) );
    char text[200] = "";
    if ( !clv_method_cleave.check( s->spaces[0]->method_state, text, sizeof( text ) ) )
    {
        test_fail( __FILE__, __LINE__, "%s", text );
    }
    s->rest_frames += is_at_rest( s->spaces[0] );
}

static void removed_objects_take_their_pairs_along( void )
{
    static const char* const settings[] = {
        "cleave.few=0,cleave.rest=1,cleave.block=50",
        "cleave.few=0,cleave.rest=2,cleave.rest_least=0,cleave.block=50",
    };
    static stage s;
    for ( size_t i = 0; i < TEST_COUNT( settings ); ++i )
    {
        test_where.note = settings[i];
        stage_open( &s, settings[i] );
        for ( uint32_t frame = 0; frame < FRAMES; ++frame )
        {
            test_where.frame = frame;
            stage_judge( &s );
            stage_step( &s );
        }
        CHECK( i > 0 ||
            s.rest_frames == FRAMES ); // followed whatever it costs; the other one as counters advise
        stage_close( &s );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( removed_objects_take_their_pairs_along ),
    };
    return test_run( "rest_members", cases, TEST_COUNT( cases ), argc, argv );
}
