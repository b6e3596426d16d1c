// SPDX-License-Identifier: MIT
// The search without a list.
#include "space_group.h"

#include <stdlib.h>
#include <string.h>

typedef struct visited
{
    clv_pair* pairs;
    uint64_t count, capacity;
    uint32_t chunk_count;
    uint32_t stop_after; ///< chunks; 0: never
} visited;

static bool collect( const clv_pair* pairs, size_t count, void* user )
{
    visited* all = user;
    CHECK( count > 0 );
    if ( all->count + count > all->capacity )
    {
        all->capacity = 2 * all->capacity + count;
        all->pairs = realloc( all->pairs, (size_t)all->capacity * sizeof( clv_pair ) );
        CHECK( all->pairs != NULL );
    }
    memcpy( all->pairs + all->count, pairs, count * sizeof( clv_pair ) );
    all->count += count;
    all->chunk_count += 1;
    return all->stop_after == 0 || all->chunk_count < all->stop_after;
}

static bool accept_most( uint64_t user_data_a, uint64_t user_data_b )
{
    return ( user_data_a ^ user_data_b ) % 5 != 0;
}

static uint32_t s_asked_count;

static bool ask( const clv_space* space, clv_pair pair, void* user )
{
    (void)space;
    (void)user;
    s_asked_count += 1;
    return accept_most( pair.a, pair.b );
}

typedef struct crowd
{
    clv_aabb boxes[600];
    clv_id ids[600];
    test_random random;
} crowd;

static void crowd_step( crowd* group, clv_space* space, uint32_t frame )
{
    for ( uint32_t i = 0; i < 600; ++i )
    {
        group->boxes[i] = frame == 0 ? test_crowd_box( TEST_CROWD_CLUSTER, 600, &group->random )
                                     : test_crowd_step( TEST_CROWD_CLUSTER, group->boxes[i], &group->random );
    }
    if ( frame == 0 )
    {
        CHECK_OK( clv_space_add( space, group->boxes, 600, group->ids ) );
    }
    else
    {
        CHECK_OK( clv_space_move( space, group->ids, group->boxes, 600 ) );
    }
}

// One space updates, its twin visits; the list and the chunks must be the same, in the same order, frame by
// frame.
static void check_twins( test_variant variant, const clv_space_def* def )
{
    clv_space* lists = test_space_make( variant, def );
    clv_space* visits = test_space_make( variant, def );
    crowd* first = test_alloc( 1, sizeof( crowd ) );
    crowd* second = test_alloc( 1, sizeof( crowd ) );
    first->random = second->random = test_random_make( 9 );
    for ( uint32_t frame = 0; frame < 6; ++frame )
    {
        test_where.frame = frame;
        crowd_step( first, lists, frame );
        crowd_step( second, visits, frame );
        CHECK_OK( clv_space_update( lists ) );
        visited all = { 0 };
        CHECK_OK( clv_space_visit( visits, collect, &all ) );
        clv_pair_view view = clv_space_pairs( lists );
        CHECK( view.count > 500 );
        CHECK_EQUAL( all.count, view.count );
        CHECK_EQUAL( test_order_hash( all.pairs, all.count ), test_order_hash( view.pairs, view.count ) );
        CHECK( !clv_space_pairs( visits ).valid );
        CHECK_EQUAL( clv_space_pairs( visits ).count, 0 );
        free( all.pairs );
    }
    // And a list can follow a visit. All move once more: of objects at rest only the space with lists has
    // kept pairs.
    crowd_step( first, lists, 6 );
    crowd_step( second, visits, 6 );
    CHECK_OK( clv_space_update( lists ) );
    CHECK_OK( clv_space_update( visits ) );
    clv_pair_view a = clv_space_pairs( lists );
    clv_pair_view b = clv_space_pairs( visits );
    CHECK( b.valid );
    CHECK_EQUAL( test_order_hash( a.pairs, a.count ), test_order_hash( b.pairs, b.count ) );
    free( first );
    free( second );
    clv_space_destroy( lists );
    clv_space_destroy( visits );
}

static void chunks_are_the_list_in_its_order( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        check_twins( test_variant_at( i ), NULL );
    }
}

static void chunks_are_filtered_like_the_list( void )
{
    clv_space_def def = clv_default_space_def();
    def.filter = ask;
    def.margin = 0.05f;
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        check_twins( test_variant_at( i ), &def );
    }
}

static void a_visit_asks_the_callback_about_every_pair( void )
{
    clv_space_def def = clv_default_space_def();
    def.filter = ask;
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space* space = test_space_make( test_variant_at( i ), &def );
        crowd* group = test_alloc( 1, sizeof( crowd ) );
        group->random = test_random_make( 2 );
        crowd_step( group, space, 0 );
        uint32_t counts[2];
        for ( uint32_t round = 0; round < 2; ++round )
        {
            visited all = { 0 };
            s_asked_count = 0;
            CHECK_OK( clv_space_visit( space, collect, &all ) );
            counts[round] = s_asked_count;
            CHECK( s_asked_count > all.count );
            free( all.pairs );
        }
        CHECK_EQUAL( counts[0], counts[1] );
        free( group );
        clv_space_destroy( space );
    }
}

static void a_visitor_stops_the_search( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space* space = test_space_make( test_variant_at( i ), NULL );
        crowd* group = test_alloc( 1, sizeof( crowd ) );
        group->random = test_random_make( 4 );
        crowd_step( group, space, 0 );
        CHECK_OK( clv_space_update( space ) );
        uint64_t whole = clv_space_pairs( space ).count;

        visited some = { .stop_after = 1 };
        CHECK_RESULT( clv_space_visit( space, collect, &some ), CLV_STOPPED );
        CHECK_EQUAL( some.chunk_count, 1 );
        CHECK( some.count > 0 && some.count <= whole );
        CHECK_RESULT( clv_space_error( space ).code, CLV_STOPPED );
        CHECK( !clv_space_pairs( space ).valid );
        free( some.pairs );

        visited all = { 0 };
        CHECK_OK( clv_space_visit( space, collect, &all ) );
        CHECK_EQUAL( all.count, whole );
        free( all.pairs );
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( clv_space_pairs( space ).count, whole );
        free( group );
        clv_space_destroy( space );
    }
}

static void a_visitor_is_not_called_without_pairs( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space* space = test_space_make( test_variant_at( i ), NULL );
        visited all = { .stop_after = 1 };
        CHECK_OK( clv_space_visit( space, collect, &all ) );
        CHECK_OK( clv_space_add_one( space, test_cube( 0, 0, 0, 1 ), NULL ) );
        CHECK_OK( clv_space_visit( space, collect, &all ) );
        CHECK_EQUAL( all.chunk_count, 0 );
        clv_space_destroy( space );
    }
}

static void a_visit_counts_like_an_update( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space* lists = test_space_make( test_variant_at( i ), NULL );
        clv_space* visits = test_space_make( test_variant_at( i ), NULL );
        crowd* group = test_alloc( 1, sizeof( crowd ) );
        group->random = test_random_make( 6 );
        crowd_step( group, lists, 0 );
        group->random = test_random_make( 6 );
        crowd_step( group, visits, 0 );
        visited all = { 0 };
        CHECK_OK( clv_space_update( lists ) );
        CHECK_OK( clv_space_visit( visits, collect, &all ) );
        clv_stats expected = clv_space_stats( lists );
        clv_stats stats = clv_space_stats( visits );
        CHECK_EQUAL( stats.pair_count, expected.pair_count );
        CHECK_EQUAL( stats.candidate_count, expected.candidate_count );
        CHECK_EQUAL( stats.test_count, expected.test_count );
        CHECK_EQUAL( stats.update_count, 1 );
        free( all.pairs );
        free( group );
        clv_space_destroy( lists );
        clv_space_destroy( visits );
    }
}

static void sorted_spaces_and_spaces_with_events_cannot_be_visited( void )
{
    for ( uint32_t i = 0; i < test_variant_count() * 2; ++i )
    {
        clv_space_def def = clv_default_space_def();
        def.sorted = i % 2 == 0;
        def.events = i % 2 == 1;
        clv_space* space = test_space_make( test_variant_at( i / 2 ), &def );
        const clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ) };
        CHECK_OK( clv_space_add( space, boxes, 2, NULL ) );
        CHECK_OK( clv_space_update( space ) );
        test_snapshot before = test_snapshot_take( space );
        visited all = { 0 };
        CHECK_RESULT( clv_space_visit( space, collect, &all ), CLV_UNSUPPORTED );
        CHECK_EQUAL( all.chunk_count, 0 );
        CHECK( strlen( clv_space_error( space ).text ) > 8 );
        test_snapshot_check( &before, space );
        test_snapshot_free( &before );
        clv_space_destroy( space );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( chunks_are_the_list_in_its_order ),
        TEST_CASE( chunks_are_filtered_like_the_list ),
        TEST_CASE( a_visit_asks_the_callback_about_every_pair ),
        TEST_CASE( a_visitor_stops_the_search ),
        TEST_CASE( a_visitor_is_not_called_without_pairs ),
        TEST_CASE( a_visit_counts_like_an_update ),
        TEST_CASE( sorted_spaces_and_spaces_with_events_cannot_be_visited ),
    };
    return test_run( "visit", cases, TEST_COUNT( cases ), argc, argv );
}
