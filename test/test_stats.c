// SPDX-License-Identifier: MIT
#include "space_group.h"

enum
{
    OBJECTS = 500,
};

static void add_crowd( clv_space* space, clv_id* ids )
{
    test_random random = test_random_make( 8 );
    clv_aabb boxes[OBJECTS];
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, OBJECTS, &random );
    }
    CHECK_OK( clv_space_add( space, boxes, OBJECTS, ids ) );
}

static void a_new_space_has_counted_nothing( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space* space = test_space_make( test_variant_at( i ), NULL );
        clv_stats stats = clv_space_stats( space );
        CHECK_EQUAL( stats.object_count, 0 );
        CHECK_EQUAL( stats.slot_count, 0 );
        CHECK_EQUAL( stats.pair_count, 0 );
        CHECK_EQUAL( stats.candidate_count, 0 );
        CHECK_EQUAL( stats.test_count, 0 );
        CHECK_EQUAL( stats.update_count, 0 );
        CHECK( stats.update_ms == 0.0 && stats.search_ms == 0.0 && stats.clean_ms == 0.0 &&
            stats.output_ms == 0.0 );
        CHECK( stats.memory_bytes > 0 && stats.memory_peak_bytes >= stats.memory_bytes );
        clv_space_destroy( space );
    }
}

static void objects_and_slots_are_counted( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space* space = test_space_make( test_variant_at( i ), NULL );
        clv_id ids[OBJECTS];
        add_crowd( space, ids );
        CHECK_EQUAL( clv_space_stats( space ).object_count, OBJECTS );
        CHECK_EQUAL( clv_space_stats( space ).slot_count, OBJECTS );
        CHECK_OK( clv_space_remove( space, ids, 100 ) );
        CHECK_EQUAL( clv_space_stats( space ).object_count, OBJECTS - 100 );
        CHECK_EQUAL( clv_space_stats( space ).slot_count, OBJECTS );
        CHECK_OK( clv_space_add_one( space, test_cube( 0, 0, 0, 1 ), NULL ) );
        CHECK_EQUAL( clv_space_stats( space ).slot_count, OBJECTS ); // a free one was used again
        CHECK_EQUAL( clv_space_object_count( space ), OBJECTS - 99 );
        clv_space_destroy( space );
    }
}

static void an_update_counts_its_work( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space* space = test_space_make( test_variant_at( i ), NULL );
        clv_id ids[OBJECTS];
        add_crowd( space, ids );
        for ( uint32_t round = 1; round <= 3; ++round )
        {
            CHECK_OK( clv_space_update( space ) );
            clv_stats stats = clv_space_stats( space );
            CHECK_EQUAL( stats.update_count, round );
            CHECK_EQUAL( stats.pair_count, clv_space_pairs( space ).count );
            CHECK( stats.pair_count > 0 );
            CHECK_EQUAL( stats.candidate_count, stats.pair_count );
            CHECK_EQUAL( stats.begun_count, 0 );
            CHECK_EQUAL( stats.ended_count, 0 );
            CHECK( stats.update_ms == 0.0 && stats.search_ms == 0.0 && stats.clean_ms == 0.0 &&
                stats.output_ms == 0.0 );
        }
        clv_space_destroy( space );
    }
}

static void brute_force_tests_every_pair_of_boxes( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        if ( clv_method_find( "brute" ) != test_variant_at( i ).method )
        {
            continue;
        }
        clv_space* space = test_space_make( test_variant_at( i ), NULL );
        clv_id ids[OBJECTS];
        add_crowd( space, ids );
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( clv_space_stats( space ).test_count, (uint64_t)OBJECTS * ( OBJECTS - 1 ) / 2 );
        clv_space_destroy( space );
    }
}

static bool reasonable( double milliseconds )
{
    return milliseconds >= 0.0 && milliseconds < 60000.0; // no NaN, no infinity
}

static void stages_are_timed_where_the_def_asks( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space_def def = clv_default_space_def();
        def.stage_times = true;
        def.sorted = true;
        def.events = true;
        clv_space* space = test_space_make( test_variant_at( i ), &def );
        clv_id ids[OBJECTS];
        add_crowd( space, ids );
        double total = 0.0;
        for ( uint32_t round = 0; round < 10; ++round )
        {
            CHECK_OK( clv_space_update( space ) );
            clv_stats stats = clv_space_stats( space );
            CHECK( reasonable( stats.update_ms ) && reasonable( stats.search_ms ) &&
                reasonable( stats.output_ms ) );
            CHECK( reasonable( stats.clean_ms ) );
            total += stats.update_ms + stats.search_ms + stats.output_ms;
        }
        CHECK( total > 0.0 );
        clv_space_destroy( space );
    }
}

// Methods that keep pairs from update to update drop those that ended in a stage of its own; others have
// nothing to drop.
static void pairs_that_are_kept_are_cleaned( void )
{
    static const struct
    {
        const char* method;
        bool keeps;
    } rows[] = { { "brute", false }, { "sap", false }, { "grid", false }, { "kd-complete", false },
        { "isap", true }, { "tracy", true }, { "kd-incremental", true } };
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        test_where.method = rows[row].method;
        clv_space_def def = clv_default_space_def();
        def.stage_times = true;
        def.method = rows[row].method;
        clv_space* space = NULL;
        CHECK( clv_space_create( &def, &space ) == CLV_OK );
        clv_id ids[OBJECTS];
        add_crowd( space, ids );
        double clean = 0;
        for ( uint32_t round = 0; round < 50; ++round )
        {
            CHECK_OK( clv_space_update( space ) );
            clv_stats stats = clv_space_stats( space );
            CHECK( stats.clean_ms >= 0 && stats.update_ms >= 0 && stats.search_ms >= 0 );
            clean += stats.clean_ms;
        }
        CHECK( ( clean > 0 ) == rows[row].keeps );
        clv_space_destroy( space );
    }
}

static void events_are_counted( void )
{
    clv_space_def def = clv_default_space_def();
    def.events = true;
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space* space = test_space_make( test_variant_at( i ), &def );
        clv_id ids[OBJECTS];
        add_crowd( space, ids );
        CHECK_OK( clv_space_update( space ) );
        clv_stats stats = clv_space_stats( space );
        CHECK_EQUAL( stats.begun_count, stats.pair_count );
        CHECK_EQUAL( stats.ended_count, 0 );
        CHECK_OK( clv_space_remove( space, ids, OBJECTS ) );
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( clv_space_stats( space ).ended_count, stats.pair_count );
        CHECK_EQUAL( clv_space_stats( space ).begun_count, 0 );
        CHECK_EQUAL( clv_space_stats( space ).pair_count, 0 );
        clv_space_destroy( space );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_new_space_has_counted_nothing ),
        TEST_CASE( objects_and_slots_are_counted ),
        TEST_CASE( an_update_counts_its_work ),
        TEST_CASE( brute_force_tests_every_pair_of_boxes ),
        TEST_CASE( stages_are_timed_where_the_def_asks ),
        TEST_CASE( pairs_that_are_kept_are_cleaned ),
        TEST_CASE( events_are_counted ),
    };
    return test_run( "stats", cases, TEST_COUNT( cases ), argc, argv );
}
