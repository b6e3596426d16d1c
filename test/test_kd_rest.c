// SPDX-License-Identifier: MIT
// Incremental detection in the KD-tree: what is not searched, that nothing is lost by it, and that workers
// and instruction sets make no difference. Brute force judges every frame.
#include "method_driver.h"
#include "space/instrument.h"

#include <stdlib.h>
#include <string.h>

static const kd_variant s_variants[] = {
    { "kd-paper-incremental", "kd.leaf=8" },
    { "kd-paper", "kd.leaf=8" },
    { "kd-incremental", "kd.leaf=8" },
    { "kd-incremental", "kd.leaf=8,kd.query=0" },
    { "kd", "kd.leaf=8" },
    { "kd", "kd.leaf=8,kd.query=0" },
};

static void each_variant( void ( *body )( method_driver* r, crowd* s ) )
{
    for ( size_t i = 0; i < TEST_COUNT( s_variants ); ++i )
    {
        method_driver r;
        static crowd s;
        test_where.note = s_variants[i].settings;
        driver_open( &r, s_variants[i].method, s_variants[i].settings, clv_isa_best() );
        crowd_open( &s, 41 + i );
        body( &r, &s );
        driver_close( &r );
    }
}

// Frames in which nothing moves, until all pairs are known.
static void come_to_rest( method_driver* r, crowd* s )
{
    for ( uint32_t frame = 0; frame < 4; ++frame )
    {
        driver_judge_next( r, s, frame );
    }
    CHECK( driver_figure( r, "incremental" ) == 1 );
    CHECK( driver_figure( r, "active objects" ) == 0 );
}

// ---- what is not searched

static void all_static_body( method_driver* r, crowd* s )
{
    come_to_rest( r, s );
    CHECK( r->list.sink.count > 50 );
    CHECK( driver_figure( r, "nodes searched" ) == 0 );
    CHECK( driver_figure( r, "pairs tested" ) == 0 );
    CHECK( driver_figure( r, "cached pairs" ) >= (double)r->list.sink.count );
}

static void a_world_at_rest_is_not_searched( void )
{
    each_variant( all_static_body );
}

static void one_mover_body( method_driver* r, crowd* s )
{
    come_to_rest( r, s );
    for ( uint32_t frame = 4; frame < 40; ++frame )
    {
        s->boxes[frame % 3] = crowd_moved( s->boxes[frame % 3], frame % 2 == 0 ? 0.7f : -0.4f, 0.3f, 0 );
        driver_judge_next( r, s, frame );
        CHECK( driver_figure( r, "active objects" ) == 1 );
        if ( driver_figure( r, "by query" ) == 0 )
        {
            CHECK( driver_figure( r, "nodes searched" ) < driver_figure( r, "nodes" ) / 2 );
        }
    }
}

static void subtrees_at_rest_are_not_entered_for_one_mover( void )
{
    each_variant( one_mover_body );
}

// A wall across the whole world is external to every node. While it rests, so do they; when it moves, all are
// entered.
static void wall_body( method_driver* r, crowd* s )
{
    s->boxes[0] = test_box( -0.2f, -14, -14, 0.2f, 14, 14 );
    come_to_rest( r, s );
    for ( uint32_t frame = 4; frame < 16; ++frame )
    {
        bool wall_moves = frame % 4 == 3;
        clv_aabb* box = wall_moves ? &s->boxes[0] : &s->boxes[7];
        *box = crowd_moved( *box, frame % 8 < 4 ? 1.5f : -1.5f, 0, 0 );
        driver_judge_next( r, s, frame );
    }
}

static void static_and_moving_externals_match_brute_force( void )
{
    each_variant( wall_body );
}

// Objects that stop and start again, in turn: pairs of two that stopped in the same frame were found before
// they did.
static void stop_and_go_body( method_driver* r, crowd* s )
{
    for ( uint32_t frame = 0; frame < 60; ++frame )
    {
        for ( uint32_t slot = 0; slot < CROWD_OBJECTS; ++slot )
        {
            bool moves = ( slot * 7 + frame / 3 * 31 ) % 100 < frame % 40;
            float step = ( slot + frame ) % 2 == 0 ? 0.6f : -0.6f;
            s->boxes[slot] = moves ? crowd_moved( s->boxes[slot], step, -step, step ) : s->boxes[slot];
        }
        driver_judge_next( r, s, frame );
    }
}

static void objects_that_stop_together_keep_their_pairs( void )
{
    each_variant( stop_and_go_body );
}

// Every share of movers in turn, so that adaptive detection changes its mode again and again.
static void switch_body( method_driver* r, crowd* s )
{
    for ( uint32_t frame = 0; frame < 48; ++frame )
    {
        static const uint32_t percents[] = { 0, 0, 90, 0, 5, 5, 45, 30 };
        crowd_jitter( s, percents[frame % TEST_COUNT( percents )], 0.8f );
        driver_judge_next( r, s, frame );
    }
}

static void every_change_of_modes_matches_brute_force( void )
{
    each_variant( switch_body );
}

static void members_body( method_driver* r, crowd* s )
{
    come_to_rest( r, s );
    for ( uint32_t frame = 4; frame < 60; ++frame )
    {
        for ( uint32_t i = 0; i < 5; ++i )
        {
            uint32_t slot = test_random_below( &s->random, CROWD_OBJECTS );
            s->alive[slot] = !s->alive[slot];
            s->boxes[slot] = crowd_box( s );
        }
        s->changed = true;
        crowd_list( s );
        crowd_jitter( s, frame % 3, 0.5f );
        driver_judge_next( r, s, frame );
        CHECK( driver_figure( r, "incremental" ) == 1 );
        driver_judge_next( r, s, frame );
    }
}

static void objects_come_and_go_while_the_others_rest( void )
{
    each_variant( members_body );
}

// ---- pairs that are sure

// A box that shrinks stays inside its grown one, and its pairs end all the same.
static void shrink_body( method_driver* r, crowd* s )
{
    for ( uint32_t slot = 0; slot < CROWD_OBJECTS; ++slot )
    {
        s->boxes[slot] = test_cube( 1.5f * (float)( slot % 20 ), 1.5f * (float)( slot / 20 ), 0, 0.8f );
    }
    come_to_rest( r, s );
    uint64_t before = r->list.sink.count;
    for ( uint32_t frame = 4; frame < 10; ++frame )
    {
        for ( uint32_t slot = 0; slot < CROWD_OBJECTS; slot += 7 )
        {
            float half = frame == 9 ? 0.8f : 0.8f - 0.03f * (float)( frame - 3 );
            s->boxes[slot] = test_cube( 1.5f * (float)( slot % 20 ), 1.5f * (float)( slot / 20 ), 0, half );
        }
        driver_judge_next( r, s, frame );
        CHECK( frame == 9 ? r->list.sink.count == before : frame < 6 || r->list.sink.count < before );
    }
}

static void a_box_that_shrinks_inside_its_grown_box_loses_its_pairs( void )
{
    each_variant( shrink_body );
}

// Inside their grown boxes, boxes tremble, and pairs that barely touch come and go while no object counts as
// moving.
static void tremble_body( method_driver* r, crowd* s )
{
    for ( uint32_t slot = 0; slot < CROWD_OBJECTS; ++slot )
    {
        s->boxes[slot] = test_cube( (float)( slot % 20 ), (float)( slot / 20 ), 0, 0.5f );
    }
    come_to_rest( r, s );
    clv_aabb boxes[CROWD_OBJECTS];
    memcpy( boxes, s->boxes, sizeof( boxes ) );
    for ( uint32_t frame = 4; frame < 24; ++frame )
    {
        for ( uint32_t slot = 0; slot < CROWD_OBJECTS; ++slot )
        {
            float x = test_random_between( &s->random, -0.004f, 0.004f );
            s->boxes[slot] = crowd_moved( boxes[slot], x, -x, x );
        }
        driver_judge_next( r, s, frame );
        CHECK( driver_figure( r, "active objects" ) == 0 );
        CHECK( driver_figure( r, "cached pairs" ) > (double)r->list.sink.count );
    }
}

static void pairs_that_barely_touch_come_and_go_at_rest( void )
{
    each_variant( tremble_body );
}

// ---- workers and instruction sets

enum
{
    COUNT = 6000,
    FRAMES = 10
};

static void move_some( clv_aabb* boxes, uint32_t frame )
{
    static const uint32_t one_in[FRAMES] = { 1, 1, 0, 3000, 40, 0, 2, 2, 5, 0 }; // 0: none
    for ( uint32_t i = 0; i < COUNT && one_in[frame] > 0; ++i )
    {
        float step = ( i / 3 + frame ) % 2 == 0 ? 0.4f : -0.4f;
        boxes[i] = i % one_in[frame] == 0 ? crowd_moved( boxes[i], step, step, -step ) : boxes[i];
    }
}

// Every frame's set is the expected one; returns a hash of the order of all lists.
static uint64_t order_of_run( const char* name, clv_isa isa, uint32_t worker_count, const uint64_t* expected )
{
    static clv_aabb boxes[COUNT];
    static clv_id ids[COUNT];
    clv_space_def def = clv_default_space_def();
    clv_space* space;
    def.method = name;
    def.settings = "kd.leaf=64";
    def.isa = isa;
    def.worker_count = worker_count;
    test_where.method = name;
    test_where.isa = isa;
    test_where.worker_count = worker_count;
    CHECK_OK( clv_space_create( &def, &space ) );
    test_random random = test_random_make( 7 );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_cube( test_random_between( &random, 0, 40 ), test_random_between( &random, 0, 40 ),
            test_random_between( &random, 0, 12 ), 0.6f );
    }
    CHECK_OK( clv_space_add( space, boxes, COUNT, ids ) );
    uint64_t order = 0;
    for ( uint32_t frame = 0; frame < FRAMES; ++frame )
    {
        test_where.frame = frame;
        move_some( boxes, frame );
        CHECK_OK( clv_space_move( space, ids, boxes, COUNT ) );
        CHECK_OK( clv_space_update( space ) );
        clv_pair_view view = clv_space_pairs( space );
        uint64_t hash = test_set_hash( view.pairs, view.count );
        CHECK_EQUAL( hash, expected[frame] );
        order = order * 31 + test_order_hash( view.pairs, view.count );
    }
    clv_space_destroy( space );
    return order;
}

static void find_expected( uint64_t expected[FRAMES] )
{
    static clv_aabb boxes[COUNT];
    clv_pair* pairs = test_alloc( COUNT * 40, sizeof( clv_pair ) );
    test_random random = test_random_make( 7 );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_cube( test_random_between( &random, 0, 40 ), test_random_between( &random, 0, 40 ),
            test_random_between( &random, 0, 12 ), 0.6f );
    }
    for ( uint32_t frame = 0; frame < FRAMES; ++frame )
    {
        move_some( boxes, frame );
        uint64_t count = 0;
        for ( uint32_t a = 0; a < COUNT; ++a )
        {
            for ( uint32_t b = a + 1; b < COUNT; ++b )
            {
                if ( clv_aabb_overlap( boxes[a], boxes[b] ) )
                {
                    CHECK( count < COUNT * 40 );
                    pairs[count++] = ( clv_pair ){ a, b };
                }
            }
        }
        expected[frame] = test_set_hash( pairs, count );
    }
    free( pairs );
}

static void workers_and_instruction_sets_make_no_difference( void )
{
    static const char* const names[] = { "kd-paper-incremental", "kd-paper", "kd-paper-complete",
        "kd-incremental", "kd" };
    uint64_t expected[FRAMES];
    find_expected( expected );
    for ( size_t i = 0; i < TEST_COUNT( names ); ++i )
    {
        uint64_t order = order_of_run( names[i], CLV_ISA_SCALAR, 1, expected );
        for ( clv_isa isa = CLV_ISA_SCALAR; isa < CLV_ISA_COUNT; ++isa )
        {
            for ( uint32_t workers = 1; workers <= 4 && clv_isa_is_supported( isa ); ++workers )
            {
                CHECK_EQUAL( order_of_run( names[i], isa, workers, expected ), order );
            }
        }
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_world_at_rest_is_not_searched ),
        TEST_CASE( subtrees_at_rest_are_not_entered_for_one_mover ),
        TEST_CASE( static_and_moving_externals_match_brute_force ),
        TEST_CASE( objects_that_stop_together_keep_their_pairs ),
        TEST_CASE( every_change_of_modes_matches_brute_force ),
        TEST_CASE( objects_come_and_go_while_the_others_rest ),
        TEST_CASE( a_box_that_shrinks_inside_its_grown_box_loses_its_pairs ),
        TEST_CASE( pairs_that_barely_touch_come_and_go_at_rest ),
        TEST_CASE( workers_and_instruction_sets_make_no_difference ),
    };
    return test_run( "kd_rest", cases, TEST_COUNT( cases ), argc, argv );
}
