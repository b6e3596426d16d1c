// SPDX-License-Identifier: MIT
// The points where one way of detecting takes over from another in the KD-tree, refusals on the way, and
// shapes that trees dislike.
#include "method_driver.h"
#include "space/instrument.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void a_scene_that_starts_at_rest_is_found_in_every_frame( void )
{
    static const char* const names[] = { "kd-incremental", "kd" };
    for ( int i = 0; i < 2; ++i )
    {
        method_driver r;
        static crowd s;
        driver_open( &r, names[i], "kd.leaf=8", clv_isa_best() );
        crowd_open( &s, 3 );
        for ( uint32_t frame = 0; frame < 6; ++frame )
        {
            driver_judge_next( &r, &s, frame );
        }
        CHECK( r.list.sink.count > 50 );
        CHECK( driver_figure( &r, "incremental" ) == 1 );
        CHECK( driver_figure( &r, "by query" ) == 1 );
        CHECK( driver_figure( &r, "active objects" ) == 0 );
        CHECK( driver_figure( &r, "cached pairs" ) >= (double)r.list.sink.count );
        CHECK( driver_figure( &r, "pairs tested" ) == 0 );
        driver_close( &r );
    }
}

static void kd_switches_at_its_share_and_is_right_on_both_sides( void )
{
    method_driver r;
    static crowd s;
    driver_open( &r, "kd", "kd.leaf=8,kd.static=0.5,kd.query=0", clv_isa_best() );
    crowd_open( &s, 4 );
    driver_judge_next( &r, &s, 0 );
    CHECK( driver_figure( &r, "incremental" ) == 0 ); // all are new
    uint32_t frame = 1;
    for ( uint32_t moving = 0; moving <= CROWD_OBJECTS; moving += 25 )
    {
        for ( uint32_t repeat = 0; repeat < 3; ++repeat )
        {
            for ( uint32_t slot = 0; slot < moving; ++slot )
            {
                s.boxes[slot] = crowd_box( &s );
            }
            driver_judge_next( &r, &s, frame++ );
            double moved_count = driver_figure( &r, "moving objects" );
            CHECK( moved_count <= moving );
            CHECK( ( driver_figure( &r, "incremental" ) == 1 ) ==
                ( CROWD_OBJECTS - moved_count > 0.5 * CROWD_OBJECTS ) );
        }
        // And to and fro.
        driver_judge_next( &r, &s, frame++ );
        CHECK( driver_figure( &r, "incremental" ) == 1 );
        crowd_scatter( &s );
        driver_judge_next( &r, &s, frame++ );
        CHECK( driver_figure( &r, "incremental" ) == 0 );
        driver_judge_next( &r, &s, frame++ );
    }
    driver_close( &r );
}

static void kd_remembers_only_where_few_move( void )
{
    method_driver r;
    static crowd s;
    driver_open( &r, "kd", "kd.leaf=8,kd.query=0.1", clv_isa_best() );
    crowd_open( &s, 9 );
    driver_judge_next( &r, &s, 0 );
    driver_judge_next( &r, &s, 1 );
    CHECK(
        driver_figure( &r, "incremental" ) == 1 && driver_figure( &r, "by query" ) == 0 ); // fills the cache
    for ( uint32_t frame = 2; frame < 20; ++frame )
    {
        uint32_t moving = frame % 2 == 0 ? CROWD_OBJECTS / 10 : CROWD_OBJECTS / 10 + 1;
        for ( uint32_t slot = 0; slot < moving; ++slot )
        {
            s.boxes[slot] = crowd_moved( s.boxes[slot], frame % 4 < 2 ? 5.0f : -5.0f, 0, 0 );
        }
        driver_judge_next( &r, &s, frame );
        CHECK( driver_figure( &r, "moving objects" ) == moving );
        CHECK( ( driver_figure( &r, "incremental" ) == 1 ) == ( frame % 2 == 0 ) );
    }
    driver_close( &r );
}

// A number that the last update of a space told.
static double figure_of( clv_space* space, const char* name )
{
    clv_method_figure figures[128];
    uint32_t count = clv_space_report( space, figures, TEST_COUNT( figures ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( strcmp( figures[i].name, name ) == 0 )
        {
            return figures[i].value;
        }
    }
    CHECK( false );
    return 0;
}

static void where_all_move_only_a_sample_is_looked_at( void )
{
    enum
    {
        COUNT = 4096
    };
    clv_space_def def = clv_default_space_def();
    def.method = "kd";
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    clv_aabb* boxes = test_alloc( COUNT, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( COUNT, sizeof( clv_id ) );
    for ( uint32_t frame = 0; frame < 3; ++frame )
    {
        for ( uint32_t i = 0; i < COUNT; ++i )
        {
            boxes[i] = test_cube( (float)( i % 64 ) * 2 + (float)frame, (float)( i / 64 ) * 2, 0, 0.5f );
        }
        CHECK_OK( frame == 0 ? clv_space_add( space, boxes, COUNT, ids )
                             : clv_space_move( space, ids, boxes, COUNT ) );
        CHECK_OK( clv_space_update( space ) );
        double moving = figure_of( space, "moving objects" );
        CHECK( frame == 0 ? moving == COUNT : moving > COUNT / 16 && moving <= COUNT / 4 );
        CHECK( figure_of( space, "incremental" ) == 0 );
    }
    free( boxes );
    free( ids );
    clv_space_destroy( space );
}

static void an_update_after_a_refused_one_is_right( void )
{
    for ( uint32_t way = 0; way < kd_variant_count; ++way )
    {
        method_driver r;
        static crowd s;
        driver_open( &r, kd_variants[way].method, kd_variants[way].settings, clv_isa_best() );
        crowd_open( &s, 5 );
        for ( uint32_t frame = 0; frame < 40; ++frame )
        {
            if ( frame % 4 == 2 )
            {
                r.list.limit = frame;
                free( r.list.sink.pairs );
                r.list.sink.pairs = NULL;
                r.list.sink.capacity = 0;
                CHECK_RESULT( driver_update( &r, &s ), CLV_TOO_MANY_PAIRS );
                r.list.limit = UINT64_MAX;
            }
            driver_judge_next( &r, &s, frame );
            if ( frame % 3 == 0 )
            {
                crowd_jitter( &s, 3, 2 );
            }
        }
        driver_close( &r );
    }
}

// While all others rest: its pairs went with it, and come once.
static void a_box_that_returns_is_found_once( void )
{
    for ( uint32_t way = 0; way < kd_variant_count; ++way )
    {
        method_driver r;
        static crowd s;
        driver_open( &r, kd_variants[way].method, kd_variants[way].settings, clv_isa_best() );
        crowd_open( &s, 11 );
        uint32_t frame = 0;
        for ( uint32_t i = 0; i < 4; ++i )
        {
            driver_judge_next( &r, &s, frame++ );
        }
        for ( uint32_t slot = 0; slot < CROWD_OBJECTS; slot += 9 )
        {
            clv_aabb box = s.boxes[slot];
            for ( int alive = 0; alive <= 1; ++alive )
            {
                s.alive[slot] = alive == 1;
                s.boxes[slot] = box;
                s.changed = true;
                crowd_list( &s );
                driver_judge_next( &r, &s, frame++ );
            }
        }
        driver_close( &r );
    }
}

static void empty_and_single_spaces_are_legal( void )
{
    for ( uint32_t way = 0; way < kd_variant_count; ++way )
    {
        method_driver r;
        static crowd s;
        driver_open( &r, kd_variants[way].method, kd_variants[way].settings, clv_isa_best() );
        crowd_open( &s, 6 );
        for ( uint32_t frame = 0; frame < 30; ++frame )
        {
            static const uint32_t counts[6] = { 0, 1, 300, 0, 2, 60 };
            for ( uint32_t slot = 0; slot < CROWD_OBJECTS; ++slot )
            {
                s.alive[slot] = ( slot * 7 + frame ) % CROWD_OBJECTS < counts[frame % 6];
                s.boxes[slot] = crowd_box( &s );
            }
            s.changed = true;
            crowd_list( &s );
            driver_judge_next( &r, &s, frame );
        }
        driver_close( &r );
    }
}

// ---- shapes that trees dislike

static void shape_same( uint32_t i, clv_aabb* box )
{
    (void)i;
    *box = test_cube( 1, 2, 3, 0.5f );
}
static void shape_line( uint32_t i, clv_aabb* box )
{
    *box = test_cube( (float)i * 0.9f, 0, 0, 0.5f );
}
static void shape_point( uint32_t i, clv_aabb* box )
{
    float x = (float)( i % 17 ), y = (float)( i % 13 );
    *box = test_box( x, y, 0, x, y, 0 );
}
static void shape_bars( uint32_t i, clv_aabb* box )
{
    float y = (float)( i % 20 ), z = (float)( i / 20 );
    *box = test_box( -100 - (float)i, y, z, 100 + (float)i, y + 0.5f, z + 0.5f );
}
static void shape_planes( uint32_t i, clv_aabb* box )
{
    *box = test_box( -50, -50, (float)i * 0.3f, 50, 50, (float)i * 0.3f + 0.2f );
}
static void shape_huge( uint32_t i, clv_aabb* box )
{
    *box = i == 0 ? test_cube( 0, 0, 0, 1000 )
                  : test_cube( (float)( i * 7 % 50 ), (float)( i * 11 % 50 ), (float)( i % 9 ), 0.4f );
}
static void shape_powers( uint32_t i, clv_aabb* box )
{
    float x = ldexpf( 1, (int)( i % 200 ) - 100 );
    *box = test_box( x, 0, 0, x * 1.5f, 1, 1 );
}
static void shape_endless( uint32_t i, clv_aabb* box )
{
    float x = (float)( i % 30 ), y = (float)( i / 30 );
    *box = test_box( x, y, -INFINITY, x + 1.1f, y + 0.5f, INFINITY );
}

static void awkward_shapes_match_brute_force( void )
{
    static void ( *const shapes[] )( uint32_t, clv_aabb* ) = { shape_same, shape_line, shape_point,
        shape_bars, shape_planes, shape_huge, shape_powers, shape_endless };
    for ( size_t shape = 0; shape < TEST_COUNT( shapes ); ++shape )
    {
        for ( uint32_t way = 0; way < kd_variant_count; ++way )
        {
            test_where.seed = shape;
            method_driver r;
            static crowd s;
            driver_open( &r, kd_variants[way].method, kd_variants[way].settings, clv_isa_best() );
            crowd_open( &s, 8 );
            for ( uint32_t frame = 0; frame < 12; ++frame )
            {
                for ( uint32_t i = 0; i < CROWD_OBJECTS; ++i )
                {
                    // In order, backwards, at rest.
                    shapes[shape]( frame < 4 ? i : CROWD_OBJECTS - 1 - i, &s.boxes[i] );
                }
                driver_judge_next( &r, &s, frame );
            }
            CHECK( driver_figure( &r, "height" ) <= 40 );
            driver_close( &r );
        }
    }
}

// More of them than small boxes take at once, and all in one place: both are sorted.
static void many_askers_find_each_other( void )
{
    enum
    {
        MANY = 20000
    };
    static clv_aabb boxes[MANY];
    static clv_id ids[MANY];
    uint64_t order = 0;
    for ( int isa = CLV_ISA_SCALAR; isa <= CLV_ISA_NEON; ++isa )
    {
        test_random random = test_random_make( 3 );
        for ( uint32_t i = 0; i < MANY; ++i )
        {
            boxes[i] = test_cube( test_random_between( &random, 0, 60 ),
                test_random_between( &random, 0, 60 ), test_random_between( &random, 0, 60 ), 1 );
        }
        if ( !clv_isa_is_supported( (clv_isa)isa ) )
        {
            continue;
        }
        clv_space* spaces[2];
        for ( uint32_t which = 0; which < 2; ++which )
        {
            clv_space_def def = clv_default_space_def();
            def.isa = (clv_isa)isa;
            def.method = which == 0 ? "kd-incremental" : "sap";
            def.settings = which == 0 ? "kd.query=1,kd.leaf=500" : NULL;
            CHECK_OK( clv_space_create( &def, &spaces[which] ) );
            CHECK_OK( clv_space_add( spaces[which], boxes, MANY, ids ) );
            CHECK_OK( clv_space_update( spaces[which] ) );
        }
        uint64_t sum = 0;
        for ( uint32_t frame = 0; frame < 6; ++frame )
        {
            test_where.frame = frame;
            for ( uint32_t i = 0; i < MANY / 2; ++i )
            {
                // In the last frames nearly all in one bucket.
                boxes[i] = frame < 4 ? crowd_moved( boxes[i], 0.3f, -0.2f, 0.1f )
                                     : test_cube( i == 0 ? 1e4f : (float)i * 1e-4f, (float)( i % 97 ),
                                           (float)( i % 89 ), 0.2f );
            }
            uint64_t hashes[2];
            for ( uint32_t which = 0; which < 2; ++which )
            {
                CHECK_OK( clv_space_move( spaces[which], ids, boxes, MANY ) );
                CHECK_OK( clv_space_update( spaces[which] ) );
                clv_pair_view view = clv_space_pairs( spaces[which] );
                hashes[which] = test_set_hash( view.pairs, view.count );
                sum = which == 0 ? sum * 31 + test_order_hash( view.pairs, view.count ) : sum;
            }
            CHECK( hashes[0] == hashes[1] );
        }
        CHECK( order == 0 || order == sum );
        order = sum;
        clv_space_destroy( spaces[0] );
        clv_space_destroy( spaces[1] );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_scene_that_starts_at_rest_is_found_in_every_frame ),
        TEST_CASE( kd_switches_at_its_share_and_is_right_on_both_sides ),
        TEST_CASE( kd_remembers_only_where_few_move ),
        TEST_CASE( where_all_move_only_a_sample_is_looked_at ),
        TEST_CASE( an_update_after_a_refused_one_is_right ),
        TEST_CASE( a_box_that_returns_is_found_once ),
        TEST_CASE( empty_and_single_spaces_are_legal ),
        TEST_CASE( awkward_shapes_match_brute_force ),
        TEST_CASE( many_askers_find_each_other ),
    };
    return test_run( "kd_modes", cases, TEST_COUNT( cases ), argc, argv );
}
