// SPDX-License-Identifier: MIT
// Spaces whose method is on a device beside one with brute force: lives of objects that come, move and go,
// with sorted lists, events and margins. What a space promises does not depend on where it searches.
#include "gpu_fixture.h"
#include "space/instrument.h"

#include <string.h>

enum
{
    COUNT = 900,
    FRAMES = 5,
    MANY = 5000, // of which those that changed are sent alone
};

static clv_space* make_space( const char* name )
{
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    def.method = name;
    def.sorted = true;
    def.events = true;
    def.margin = 0.125f;
    CHECK_OK( clv_space_create( &def, &space ) );
    return space;
}

static void check_same( const clv_space* space, const clv_space* judge )
{
    clv_pair_view found = clv_space_pairs( space );
    clv_pair_view expected = clv_space_pairs( judge );
    clv_event_view events = clv_space_events( space );
    clv_event_view expected_events = clv_space_events( judge );
    CHECK_EQUAL( found.count, expected.count );
    CHECK( memcmp( found.pairs, expected.pairs, found.count * sizeof( clv_pair ) ) == 0 );
    CHECK_EQUAL( events.begun_count, expected_events.begun_count );
    CHECK_EQUAL( events.ended_count, expected_events.ended_count );
}

// The same calls on both: some objects move, some go, some come, so that slots are reused and live ones have
// gaps.
static void live( clv_space* space, clv_space* judge, test_crowd crowd )
{
    static clv_aabb boxes[COUNT];
    static clv_id ids[COUNT], judge_ids[COUNT];
    test_random random = test_random_make( 21 );
    for ( int i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_crowd_box( crowd, COUNT, &random );
    }
    CHECK_OK( clv_space_update( space ) ); // of nothing
    CHECK_OK( clv_space_add( space, boxes, COUNT, ids ) );
    CHECK_OK( clv_space_add( judge, boxes, COUNT, judge_ids ) );
    for ( uint32_t frame = 0; frame < FRAMES; ++frame )
    {
        test_where.frame = frame;
        CHECK_OK( clv_space_update( space ) );
        CHECK_OK( clv_space_update( judge ) );
        if ( frame > 0 || clv_space_pairs( judge ).count > 0 )
        {
            check_same( space, judge );
        }
        for ( int i = 0; i < COUNT; ++i )
        {
            boxes[i] = test_crowd_step( crowd, boxes[i], &random );
        }
        uint32_t gone = 100 * frame;
        CHECK_OK( clv_space_remove( space, ids + gone, 50 ) );
        CHECK_OK( clv_space_remove( judge, judge_ids + gone, 50 ) );
        CHECK_OK( clv_space_add( space, boxes + gone, 25, ids + gone ) );
        CHECK_OK( clv_space_add( judge, boxes + gone, 25, judge_ids + gone ) );
        CHECK_OK( clv_space_move( space, ids + 600, boxes + 600, 300 ) );
        CHECK_OK( clv_space_move( judge, judge_ids + 600, boxes + 600, 300 ) );
    }
}

static void every_method_lives_like_brute_force( void )
{
    static const char* const s_names[] = { "gpu-tiles", "gpu-grid", "gpu-lbvh", "gpu-sap", "gpu" };
    for ( size_t k = 0; k < TEST_COUNT( s_names ); ++k )
    {
        clv_space* space = make_space( s_names[k] );
        clv_space* judge = make_space( "brute" );
        test_where.method = s_names[k];
        live( space, judge, k % 2 == 0 ? TEST_CROWD_MIXED : TEST_CROWD_LATTICE );
        clv_space_shrink( space );
        CHECK_OK( clv_space_update( space ) ); // the device was closed, and is opened anew
        CHECK_OK( clv_space_update( judge ) );
        check_same( space, judge );
        CHECK( clv_space_stats( space ).test_count > 0 );
        clv_space_destroy( space );
        clv_space_destroy( judge );
    }
}

static double figure_of( const clv_space* space, const char* name )
{
    clv_method_figure figures[32];
    uint32_t count = clv_space_report( space, figures, 32 );
    double value = -1;
    for ( uint32_t i = 0; i < count && i < 32; ++i )
    {
        value = strcmp( figures[i].name, name ) == 0 ? figures[i].value : value;
    }
    return value;
}

// A space of the device and its judge, of the same boxes; lists as the caller may see them where they lie.
typedef struct still_world
{
    clv_space *space, *judge;
    clv_aabb boxes[COUNT];
    clv_id ids[COUNT], judge_ids[COUNT];
} still_world;

static clv_space* make_plain( const char* name, bool sorted )
{
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    def.method = name;
    def.sorted = sorted;
    CHECK_OK( clv_space_create( &def, &space ) );
    return space;
}

static void open_still( still_world* world, const char* name, bool sorted )
{
    test_random random = test_random_make( 5 );
    world->space = make_plain( name, sorted );
    world->judge = make_plain( "brute", sorted );
    for ( int i = 0; i < COUNT; ++i )
    {
        world->boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, COUNT, &random );
    }
    CHECK_OK( clv_space_add( world->space, world->boxes, COUNT, world->ids ) );
    CHECK_OK( clv_space_add( world->judge, world->boxes, COUNT, world->judge_ids ) );
}

static void close_still( still_world* world )
{
    clv_space_destroy( world->space );
    clv_space_destroy( world->judge );
}

static uint64_t hash_of( const clv_space* space )
{
    clv_pair_view view = clv_space_pairs( space );
    return test_set_hash( view.pairs, view.count );
}

static void step_still( still_world* world )
{
    CHECK_OK( clv_space_move( world->space, world->ids, world->boxes, COUNT ) );
    CHECK_OK( clv_space_move( world->judge, world->judge_ids, world->boxes, COUNT ) );
    CHECK_OK( clv_space_update( world->space ) );
    CHECK_OK( clv_space_update( world->judge ) );
    CHECK( clv_space_pairs( world->judge ).count > 0 );
    CHECK_EQUAL( hash_of( world->space ), hash_of( world->judge ) );
}

// Where no bit of a box changed nothing is searched; the list stays, also while memory is given back.
static void a_world_at_rest_is_not_searched( void )
{
    static still_world s_world;
    still_world* world = &s_world;
    const clv_filter apart = { .category = 2, .mask = 4, .group = 0 };
    for ( int kind = 0; kind < 4; ++kind )
    {
        open_still( world, kind < 2 ? "gpu" : "gpu-grid", kind % 2 != 0 );
        step_still( world );
        step_still( world );
        double searches = figure_of( world->space, "gpu.searches" );
        const clv_pair* pairs = clv_space_pairs( world->space ).pairs;
        for ( int frame = 0; frame < 3; ++frame )
        {
            step_still( world );
            CHECK( clv_space_pairs( world->space ).pairs == pairs );
        }
        CHECK_OK( clv_space_set_filter( world->space, world->ids + 3, &apart, 1 ) );
        CHECK_OK( clv_space_set_filter( world->judge, world->judge_ids + 3, &apart, 1 ) );
        step_still( world ); // another list of the same pairs
        CHECK_EQUAL( figure_of( world->space, "gpu.searches" ), searches );
        clv_space_shrink( world->space );
        CHECK_EQUAL( hash_of( world->space ), hash_of( world->judge ) );
        step_still( world );
        CHECK_EQUAL( figure_of( world->space, "gpu.searches" ), searches );
        world->boxes[300 + kind] = world->boxes[8];
        step_still( world );
        CHECK( figure_of( world->space, "gpu.searches" ) > searches );
        clv_space_shrink( world->space );
        clv_space_shrink( world->space );
        CHECK_EQUAL( hash_of( world->space ), hash_of( world->judge ) );
        CHECK_OK( clv_space_remove( world->space, world->ids, 1 ) );
        CHECK_OK( clv_space_remove( world->judge, world->judge_ids, 1 ) );
        CHECK_OK( clv_space_update( world->space ) );
        CHECK_OK( clv_space_update( world->judge ) );
        CHECK_EQUAL( hash_of( world->space ), hash_of( world->judge ) );
        close_still( world );
    }
}

static bool stop_at_once( const clv_pair* pairs, size_t count, void* user )
{
    (void)pairs;
    *(uint64_t*)user += count;
    return false;
}

// Boxes `first` and every `part`th from there on, in both spaces.
static void jostle( still_world* world, clv_aabb* boxes, const clv_id* ids, const clv_id* judge_ids,
    uint32_t first, uint32_t part, test_random* random )
{
    for ( uint32_t i = first; i < MANY; i += part )
    {
        boxes[i] = test_crowd_step( TEST_CROWD_SPREAD, boxes[i], random );
        CHECK_OK( clv_space_move( world->space, ids + i, boxes + i, 1 ) );
        CHECK_OK( clv_space_move( world->judge, judge_ids + i, boxes + i, 1 ) );
    }
    CHECK_OK( clv_space_update( world->judge ) );
}

// One in `part` moves, in a world without and with free slots, also after updates that failed and after
// memory was given back.
static void boxes_that_changed_are_sent_alone( void )
{
    static clv_aabb boxes[MANY];
    static clv_id ids[MANY], judge_ids[MANY];
    static still_world world;
    static const uint32_t s_parts[] = { 500, 9, 1000, 2, 11, MANY };
    test_random random = test_random_make( 9 );
    world.space = make_plain( "gpu", false );
    world.judge = make_plain( "cleave", false );
    for ( int i = 0; i < MANY; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, MANY, &random );
    }
    CHECK_OK( clv_space_add( world.space, boxes, MANY, ids ) );
    CHECK_OK( clv_space_add( world.judge, boxes, MANY, judge_ids ) );
    for ( uint32_t frame = 0; frame < 14; ++frame )
    {
        test_where.frame = frame;
        jostle( &world, boxes, ids, judge_ids, frame % 7 == 6 ? 100 : 7 * frame,
            s_parts[frame % TEST_COUNT( s_parts )], &random );
        if ( frame % 3 == 2 )
        {
            uint64_t seen = 0; // it stops, so the boxes have been sent by an update that failed
            CHECK_RESULT( clv_space_visit( world.space, stop_at_once, &seen ), CLV_STOPPED );
            jostle( &world, boxes, ids, judge_ids, 50 + frame, 700, &random );
        }
        CHECK_OK( clv_space_update( world.space ) );
        CHECK( clv_space_pairs( world.judge ).count > 0 );
        CHECK_EQUAL( hash_of( world.space ), hash_of( world.judge ) );
        if ( frame == 5 || frame == 6 )
        {
            CHECK_OK( clv_space_remove( world.space, ids + frame, 1 ) );
            CHECK_OK( clv_space_remove( world.judge, judge_ids + frame, 1 ) );
        }
        if ( frame == 10 )
        {
            clv_space_shrink( world.space );
        }
    }
    CHECK( figure_of( world.space, "gpu.patches" ) > 0 );
    close_still( &world );
}

static void move_everything( still_world* world, clv_aabb* boxes, uint32_t count, test_random* random )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        boxes[i] = test_crowd_step( TEST_CROWD_SPREAD, boxes[i], random );
    }
    CHECK_OK( clv_space_move_all( world->space, boxes, count ) );
    CHECK_OK( clv_space_move_all( world->judge, boxes, count ) );
    CHECK_OK( clv_space_update( world->space ) );
    CHECK_OK( clv_space_update( world->judge ) );
    CHECK( clv_space_pairs( world->judge ).count > 0 );
    CHECK_EQUAL( hash_of( world->space ), hash_of( world->judge ) );
}

// All move, and the memory that they lie in is given back again and again, for more of it or for less.
static void boxes_are_read_where_they_lie( void )
{
    static clv_aabb boxes[3 * MANY];
    static still_world world;
    test_random random = test_random_make( 10 );
    world.space = make_plain( "gpu", false );
    world.judge = make_plain( "cleave", false );
    for ( int i = 0; i < 3 * MANY; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, 3 * MANY, &random );
    }
    double direct = 0;
    for ( uint32_t stage = 0; stage < 3; ++stage )
    {
        uint32_t count = ( stage + 1 ) * MANY;
        CHECK_OK( clv_space_add( world.space, boxes + count - MANY, MANY, NULL ) );
        CHECK_OK( clv_space_add( world.judge, boxes + count - MANY, MANY, NULL ) );
        for ( uint32_t frame = 0; frame < 12; ++frame )
        {
            test_where.frame = 100 * stage + frame;
            move_everything( &world, boxes, count, &random );
        }
        CHECK( figure_of( world.space, "gpu.direct" ) > direct );
        direct = figure_of( world.space, "gpu.direct" );
        if ( stage == 1 )
        {
            CHECK_OK( clv_space_shrink( world.space ) );
            move_everything( &world, boxes, count, &random );
        }
    }
    close_still( &world );
}

static void limits_hold_on_a_device_too( void )
{
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    static clv_aabb boxes[500];
    for ( int i = 0; i < 500; ++i )
    {
        boxes[i] = test_cube( 0, 0, 0, 1 );
    }
    def.method = "gpu-grid";
    def.max_pairs = 1000;
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_OK( clv_space_add( space, boxes, 500, NULL ) );
    CHECK_RESULT( clv_space_update( space ), CLV_TOO_MANY_PAIRS );
    clv_space_destroy( space );
}

static void settings_are_checked( void )
{
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    def.method = "gpu-sap";
    def.settings = "gpu.device=0,gpu.pca=2,gpu.axis=2";
    CHECK_OK( clv_space_create( &def, &space ) );
    clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ) };
    CHECK_OK( clv_space_add( space, boxes, 2, NULL ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_pairs( space ).count, 1 );
    clv_space_destroy( space );
    def.settings = "gpu.device=64";
    CHECK_RESULT( clv_space_create( &def, &space ), CLV_BAD_DEF );
    def.settings = "gpu.device=63"; // there is none of that number
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_OK( clv_space_add( space, boxes, 2, NULL ) );
    CHECK_RESULT( clv_space_update( space ), CLV_UNSUPPORTED );
    clv_space_destroy( space );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( every_method_lives_like_brute_force ),
        TEST_CASE( a_world_at_rest_is_not_searched ),
        TEST_CASE( boxes_that_changed_are_sent_alone ),
        TEST_CASE( boxes_are_read_where_they_lie ),
        TEST_CASE( limits_hold_on_a_device_too ),
        TEST_CASE( settings_are_checked ),
    };
    if ( gpu_test_is_skipped() )
    {
        return 77;
    }
    if ( clv_gpu_register() != CLV_OK || clv_gpu_register() != CLV_OK )
    {
        return 1;
    }
    return test_run( "gpu_space", cases, TEST_COUNT( cases ), argc, argv );
}
