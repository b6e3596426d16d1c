// SPDX-License-Identifier: MIT
// What a space makes of a list that outlives the frame, and what a world at rest costs: lists, events,
// visits, limits, memory, refits.
#include "heap.h"
#include "rest_crowd.h"

#include <stdlib.h>
#include <string.h>

// ---- what the space does with the list

static bool accept_some( const clv_space* space, clv_pair pair, void* user )
{
    (void)space;
    (void)user;
    return ( pair.a + pair.b ) % 5 != 0;
}

// Sorted, filtered, with events: everything that needs a list of the space's own.
static clv_space_def picky_def( const char* name, const char* settings )
{
    clv_space_def def = clv_default_space_def();
    def.method = name;
    def.settings = settings;
    def.sorted = true;
    def.events = true;
    def.skip_static_pairs = true;
    def.filter = accept_some;
    return def;
}

static void check_same( clv_space* space, clv_space* judge )
{
    clv_pair_view pairs = clv_space_pairs( space ), expected = clv_space_pairs( judge );
    clv_event_view events = clv_space_events( space ), expected_events = clv_space_events( judge );
    CHECK_EQUAL( pairs.count, expected.count );
    CHECK( memcmp( pairs.pairs, expected.pairs, (size_t)pairs.count * sizeof( clv_pair ) ) == 0 );
    CHECK_EQUAL( events.begun_count, expected_events.begun_count );
    CHECK_EQUAL( events.ended_count, expected_events.ended_count );
    size_t begun_bytes = (size_t)events.begun_count * sizeof( clv_id_pair );
    size_t ended_bytes = (size_t)events.ended_count * sizeof( clv_id_pair );
    CHECK( begun_bytes == 0 || memcmp( events.begun, expected_events.begun, begun_bytes ) == 0 );
    CHECK( ended_bytes == 0 || memcmp( events.ended, expected_events.ended, ended_bytes ) == 0 );
    CHECK_EQUAL( clv_space_stats( space ).pair_count, clv_space_stats( judge ).pair_count );
    CHECK_EQUAL( clv_space_stats( space ).begun_count, clv_space_stats( judge ).begun_count );
}

// Something in every frame that leaves the boxes alone but not the answer.
static void meddle( rest_crowd* s, clv_space* space, const clv_id* ids )
{
    clv_id some = ids[s->frame * 7 % s->count];
    clv_filter filter = { 1, s->frame % 2 == 0 ? 0 : UINT64_MAX, 0 };
    bool is_static = s->frame % 3 == 0;
    float margin = 0.01f * (float)( s->frame % 4 );
    switch ( s->frame % 8 )
    {
    case 1: CHECK_OK( clv_space_set_filter( space, &some, &filter, 1 ) ); break;
    case 2: CHECK_OK( clv_space_set_static( space, &some, &is_static, 1 ) ); break;
    case 3: CHECK_OK( clv_space_set_margin( space, &some, &margin, 1 ) ); break;
    case 4: CHECK_OK( clv_space_refilter( space, &some, 1 ) ); break;
    case 5: CHECK_OK( clv_space_shrink( space ) ); break;
    default: break;
    }
}

static void filters_events_and_order_see_every_change( void )
{
    static void ( *const moves[] )(
        rest_crowd* ) = { rest_crowd_still, rest_crowd_one_in_fifty, rest_crowd_alternate };
    for ( uint32_t m = 0; m < TEST_COUNT( moves ); ++m )
    {
        rest_crowd* s = test_alloc( 1, sizeof( rest_crowd ) );
        memset( s, 0, sizeof( *s ) );
        s->count = 300;
        s->random = test_random_make( m + 1 );
        clv_space_def def = picky_def( "cleave", REST_CROWD_FOLLOWED ),
                      judge_def = picky_def( "brute", NULL );
        CHECK_OK( clv_space_create( &def, &s->space ) );
        CHECK_OK( clv_space_create( &judge_def, &s->judge ) );
        rest_crowd_teleport_all( s );
        CHECK_OK( clv_space_add( s->space, s->boxes, s->count, s->ids[0] ) );
        CHECK_OK( clv_space_add( s->judge, s->boxes, s->count, s->ids[1] ) );
        for ( s->frame = 0; s->frame < 80; ++s->frame )
        {
            test_where.frame = s->frame;
            moves[m]( s );
            rest_crowd_replace( s, s->frame % 6 == 5 ? 2 : 0 );
            meddle( s, s->space, s->ids[0] );
            meddle( s, s->judge, s->ids[1] );
            CHECK_OK( clv_space_move( s->space, s->ids[0], s->boxes, s->count ) );
            CHECK_OK( clv_space_move( s->judge, s->ids[1], s->boxes, s->count ) );
            CHECK_OK( clv_space_update( s->space ) );
            CHECK_OK( clv_space_update( s->judge ) );
            check_same( s->space, s->judge );
            CHECK( rest_crowd_is_at_rest( s->space ) );
        }
        clv_space_destroy( s->space );
        clv_space_destroy( s->judge );
        free( s );
    }
}

typedef struct visited
{
    const clv_pair* expected;
    uint64_t count;
    uint64_t hash;
} visited;

static bool compare_visit( const clv_pair* pairs, size_t count, void* user )
{
    visited* v = user;
    CHECK( memcmp( pairs, v->expected + v->count, count * sizeof( clv_pair ) ) == 0 );
    v->count += count;
    return true;
}

// A plain space shows the list where it lies: not copied, not even moved while nothing happens; and it
// outlives a shrink.
static void the_list_stays_where_it_is( void )
{
    rest_crowd* s = test_alloc( 1, sizeof( rest_crowd ) );
    memset( s, 0, sizeof( *s ) );
    s->count = 400;
    s->random = test_random_make( 3 );
    s->space = rest_crowd_space( "cleave", REST_CROWD_FOLLOWED, CLV_ISA_AUTO, 1 );
    rest_crowd_teleport_all( s );
    CHECK_OK( clv_space_add( s->space, s->boxes, s->count, s->ids[0] ) );
    CHECK_OK( clv_space_update( s->space ) );
    clv_pair_view first = clv_space_pairs( s->space );
    CHECK( first.count > 100 );
    uint64_t hash = test_order_hash( first.pairs, first.count );
    CHECK_OK( clv_space_shrink( s->space ) );
    CHECK( clv_space_pairs( s->space ).pairs == first.pairs );
    clv_aabb trembling = rest_crowd_shifted( s->boxes[9], 1e-5f, 0, 0 );
    CHECK_OK( clv_space_move( s->space, &s->ids[0][9], &trembling, 1 ) );
    for ( int i = 0; i < 3; ++i )
    {
        CHECK_OK( clv_space_update( s->space ) );
        clv_pair_view view = clv_space_pairs( s->space );
        CHECK( view.valid && view.pairs == first.pairs && view.count == first.count );
        CHECK_EQUAL( test_order_hash( view.pairs, view.count ), hash );
    }
    clv_pair* copy = test_copy( first.pairs, (size_t)first.count, sizeof( clv_pair ) );
    visited v = { copy, 0, 0 };
    CHECK_OK( clv_space_visit( s->space, compare_visit, &v ) );
    CHECK_EQUAL( v.count, first.count );
    CHECK( !clv_space_pairs( s->space ).valid );
    CHECK_OK( clv_space_update( s->space ) );
    CHECK_EQUAL(
        test_order_hash( clv_space_pairs( s->space ).pairs, clv_space_pairs( s->space ).count ), hash );
    clv_space_clear( s->space );
    CHECK( !clv_space_pairs( s->space ).valid );
    CHECK_OK( clv_space_update( s->space ) );
    CHECK_EQUAL( clv_space_pairs( s->space ).count, 0 );
    free( copy );
    clv_space_destroy( s->space );
    free( s );
}

static bool sum_visit( const clv_pair* pairs, size_t count, void* user )
{
    visited* v = user;
    v->count += count;
    v->hash += test_set_hash( pairs, count );
    return true;
}

// Rest, its end, a shrink, and rest again with as many pairs as before: a list that is new
// is no list that was kept.
static void rest_after_a_shrink_has_a_new_list( void )
{
    enum
    {
        SOME = 1000
    };
    clv_aabb* boxes = test_alloc( SOME, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( SOME, sizeof( clv_id ) );
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    def.sorted = true;
    CHECK_OK( clv_space_create( &def, &space ) );
    for ( uint32_t i = 0; i < SOME; ++i ) // in pairs, but for the last two
    {
        float x = i + 1 < SOME ? 10.0f * (float)( i / 2 ) + 0.5f * (float)( i % 2 ) : -100.0f;
        boxes[i] = ( clv_aabb ){ { x, 0, 0 }, { x + 1, 1, 1 } };
    }
    CHECK_OK( clv_space_add( space, boxes, SOME, ids ) );
    CHECK_OK( clv_space_update( space ) );
    for ( int frame = 0; frame < 4; ++frame )
    {
        boxes[0] = rest_crowd_shifted( boxes[0], frame % 2 == 0 ? 0.001f : -0.001f, 0, 0 );
        CHECK_OK( clv_space_move_one( space, ids[0], boxes[0] ) );
        CHECK_OK( clv_space_update( space ) );
    }
    for ( int frame = 0; frame < 8; ++frame )
    {
        for ( uint32_t i = 0; i < SOME; ++i )
        {
            boxes[i] = rest_crowd_shifted( boxes[i], 0, 50, 0 );
        }
        CHECK_OK( clv_space_move( space, ids, boxes, SOME ) );
        CHECK_OK( clv_space_update( space ) );
    }
    CHECK_OK( clv_space_shrink( space ) );
    for ( int frame = 0; frame < 40; ++frame ) // object 1 leaves object 0, and comes back
    {
        float x = frame % 2 == 0 ? 4990.5f : 0.5f;
        boxes[1].lower.x = x;
        boxes[1].upper.x = x + 1;
        CHECK_OK( clv_space_move_one( space, ids[1], boxes[1] ) );
        CHECK_OK( clv_space_update( space ) );
        clv_pair_view view = clv_space_pairs( space );
        CHECK_EQUAL( view.count, SOME / 2 - 1 );
        CHECK_EQUAL( view.pairs[0].a, frame % 2 == 0 ? 1u : 0u );
    }
    clv_space_destroy( space );
    free( boxes );
    free( ids );
}

// Two spaces, one of which has no list to keep: it finds the same pairs frame by frame, and never rests, for
// a world at rest is a list of pairs.
static void a_visited_world_never_rests( void )
{
    static const char* const settings[] = { REST_CROWD_FOLLOWED, REST_CROWD_CHOSEN };
    static void ( *const parts[] )( rest_crowd* ) = { rest_crowd_few, rest_crowd_still,
        rest_crowd_jitter_across, rest_crowd_teleport_few, rest_crowd_drift };
    for ( uint32_t i = 0; i < TEST_COUNT( settings ); ++i )
    {
        rest_crowd* s = test_alloc( 1, sizeof( rest_crowd ) );
        memset( s, 0, sizeof( *s ) );
        s->count = REST_CROWD_MOST;
        s->random = test_random_make( 11 );
        s->space = rest_crowd_space( "cleave", settings[i], CLV_ISA_AUTO, 1 );
        s->judge = rest_crowd_space( "cleave", settings[i], CLV_ISA_AUTO, 1 );
        rest_crowd_teleport_all( s );
        CHECK_OK( clv_space_add( s->space, s->boxes, s->count, s->ids[0] ) );
        CHECK_OK( clv_space_add( s->judge, s->boxes, s->count, s->ids[1] ) );
        for ( s->frame = 0; s->frame < 150; ++s->frame )
        {
            test_where.frame = s->frame;
            parts[s->frame / 20 % TEST_COUNT( parts )]( s );
            CHECK_OK( clv_space_move( s->space, s->ids[0], s->boxes, s->count ) );
            CHECK_OK( clv_space_move( s->judge, s->ids[1], s->boxes, s->count ) );
            CHECK_OK( clv_space_update( s->space ) );
            clv_pair_view view = clv_space_pairs( s->space );
            visited v = { 0 };
            CHECK_OK( clv_space_visit( s->judge, sum_visit, &v ) );
            CHECK_EQUAL( v.count, view.count );
            CHECK_EQUAL( v.hash, test_set_hash( view.pairs, view.count ) );
            CHECK( !rest_crowd_is_at_rest( s->judge ) );
            s->rest_frames += rest_crowd_is_at_rest( s->space );
        }
        CHECK( s->rest_frames > 20 );
        clv_space_destroy( s->space );
        clv_space_destroy( s->judge );
        free( s );
    }
}

static void a_limit_on_pairs_holds_at_rest_too( void )
{
    clv_space_def def = clv_default_space_def();
    def.settings = REST_CROWD_FOLLOWED;
    def.max_pairs = 20;
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    clv_aabb boxes[30];
    clv_id ids[30];
    for ( uint32_t i = 0; i < 30; ++i )
    {
        boxes[i] = test_cube( 2 * (float)i, 0, 0, 0.5f );
    }
    CHECK_OK( clv_space_add( space, boxes, 30, ids ) );
    for ( uint32_t frame = 0; frame < 6; ++frame )
    {
        bool is_crowded = frame % 2 == 1;
        for ( uint32_t i = 0; i < 10; ++i )
        {
            boxes[i] = test_cube( is_crowded ? 0 : 2 * (float)i, 0, 0, 0.5f );
        }
        CHECK_OK( clv_space_move( space, ids, boxes, 30 ) );
        CHECK_RESULT( clv_space_update( space ), is_crowded ? CLV_TOO_MANY_PAIRS : CLV_OK );
        CHECK_EQUAL( clv_space_pairs( space ).valid, !is_crowded );
        CHECK_EQUAL( clv_space_pairs( space ).count, 0 );
        CHECK( !is_crowded || clv_space_error( space ).pair_count > 20 );
    }
    clv_space_destroy( space );
}

// ---- memory

// The k-th allocation refused, and all that follow for a frame: an answer is right or there is none, and the
// next is right.
static uint64_t live_with_refusals( uint64_t refuse_from )
{
    heap memory = { 0 };
    clv_space_def def = clv_default_space_def();
    def.settings = REST_CROWD_FOLLOWED;
    def.allocator = heap_hooks( &memory );
    rest_crowd* s = test_alloc( 1, sizeof( rest_crowd ) );
    memset( s, 0, sizeof( *s ) );
    s->count = 150;
    s->random = test_random_make( 9 );
    s->judge = rest_crowd_space( "brute", NULL, CLV_ISA_AUTO, 1 );
    CHECK_OK( clv_space_create( &def, &s->space ) );
    rest_crowd_teleport_all( s );
    CHECK_OK( clv_space_add( s->space, s->boxes, s->count, s->ids[0] ) );
    CHECK_OK( clv_space_add( s->judge, s->boxes, s->count, s->ids[1] ) );
    uint64_t before = memory.allocate_count;
    memory.refuse_from = before + refuse_from;
    memory.refuse_count = refuse_from % 2 == 0 ? 1 : UINT64_MAX;
    for ( s->frame = 0; s->frame < 12; ++s->frame )
    {
        test_where.frame = s->frame;
        ( s->frame % 5 == 4 ? rest_crowd_teleport_all : rest_crowd_one_in_fifty )( s );
        CHECK_OK( clv_space_move( s->space, s->ids[0], s->boxes, s->count ) );
        CHECK_OK( clv_space_move( s->judge, s->ids[1], s->boxes, s->count ) );
        CHECK_OK( clv_space_update( s->judge ) );
        if ( clv_space_update( s->space ) != CLV_OK )
        {
            CHECK_RESULT( clv_space_error( s->space ).code, CLV_OUT_OF_MEMORY );
            CHECK( !clv_space_pairs( s->space ).valid );
            heap_heal( &memory );
            CHECK_OK( clv_space_update( s->space ) );
        }
        heap_heal( &memory );
        clv_pair_view view = clv_space_pairs( s->space ), expected = clv_space_pairs( s->judge );
        CHECK_EQUAL( view.count, expected.count );
        CHECK_EQUAL(
            test_set_hash( view.pairs, view.count ), test_set_hash( expected.pairs, expected.count ) );
        rest_crowd_check_inside( s->space );
    }
    uint64_t taken = memory.allocate_count - before;
    clv_space_destroy( s->space );
    clv_space_destroy( s->judge );
    CHECK_EQUAL( memory.bytes, 0 );
    free( s );
    return taken;
}

static void refused_memory_ends_rest_and_nothing_else( void )
{
    uint64_t count = live_with_refusals( UINT32_MAX );
    CHECK( count > 20 );
    for ( uint64_t k = 1; k <= count; ++k )
    {
        test_where.seed = k;
        live_with_refusals( k );
    }
}

static void a_frame_at_rest_takes_no_memory( void )
{
    rest_crowd* s = test_alloc( 1, sizeof( rest_crowd ) );
    memset( s, 0, sizeof( *s ) );
    s->count = REST_CROWD_MOST;
    s->random = test_random_make( 5 );
    s->space = rest_crowd_space( "cleave", REST_CROWD_CHOSEN, CLV_ISA_AUTO, 1 );
    rest_crowd_teleport_all( s );
    CHECK_OK( clv_space_add( s->space, s->boxes, s->count, s->ids[0] ) );
    uint64_t taken = 0;
    for ( s->frame = 0; s->frame < 120; ++s->frame )
    {
        rest_crowd_jitter_below( s );
        CHECK_OK( clv_space_move( s->space, s->ids[0], s->boxes, s->count ) );
        CHECK_OK( clv_space_update( s->space ) );
        taken = s->frame == 60 ? clv_space_stats( s->space ).allocation_count : taken;
    }
    CHECK( rest_crowd_is_at_rest( s->space ) );
    CHECK_EQUAL( clv_space_stats( s->space ).allocation_count, taken );
    clv_space_destroy( s->space );
    free( s );
}

// What jitters below its margin costs comparisons and a few tests; what moved alone is looked at where that
// is known.
static void a_world_at_rest_is_hardly_looked_at( void )
{
    rest_crowd* s = test_alloc( 1, sizeof( rest_crowd ) );
    memset( s, 0, sizeof( *s ) );
    s->count = REST_CROWD_MOST;
    s->random = test_random_make( 6 );
    s->space = rest_crowd_space( "cleave", REST_CROWD_FOLLOWED, CLV_ISA_AUTO, 1 );
    rest_crowd_teleport_all( s );
    CHECK_OK( clv_space_add( s->space, s->boxes, s->count, s->ids[0] ) );
    CHECK_OK( clv_space_update( s->space ) );
    for ( s->frame = 0; s->frame < 5; ++s->frame )
    {
        rest_crowd_jitter_below( s );
        CHECK_OK( clv_space_move( s->space, s->ids[0], s->boxes, s->count ) );
        CHECK_OK( clv_space_update( s->space ) );
        CHECK_EQUAL( rest_crowd_figure( s->space, "refits" ), 0 );
        CHECK( rest_crowd_figure( s->space, "marginal tests" ) <= REST_CROWD_MOST / 10 );
        CHECK( rest_crowd_figure( s->space, "sure pairs" ) > 0 );
    }
    s->boxes[7] = rest_crowd_box( s );
    CHECK_OK( clv_space_move( s->space, &s->ids[0][7], &s->boxes[7], 1 ) );
    CHECK_OK( clv_space_update( s->space ) );
    CHECK_EQUAL( rest_crowd_figure( s->space, "refits" ), 1 );
    CHECK( rest_crowd_figure( s->space, "objects around them" ) < REST_CROWD_MOST / 4 );
    CHECK( rest_crowd_figure( s->space, "marginal tests" ) < 40 );
    clv_space_destroy( s->space );
    free( s );
}

static int compare_counts( const void* a, const void* b )
{
    uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
    return ( x > y ) - ( x < y );
}

// A quarter of the boxes set out in the same frame at the same speed: were their margins equal, they would be
// refitted in the same frames ever after, all of them in one of sixteen.
static void refits_are_spread_over_frames( void )
{
    enum
    {
        COUNTED = 60
    };
    rest_crowd* s = test_alloc( 1, sizeof( rest_crowd ) );
    memset( s, 0, sizeof( *s ) );
    s->count = REST_CROWD_MOST;
    s->random = test_random_make( 8 );
    s->space = rest_crowd_space( "cleave", REST_CROWD_FOLLOWED, CLV_ISA_AUTO, 1 );
    rest_crowd_teleport_all( s );
    CHECK_OK( clv_space_add( s->space, s->boxes, s->count, s->ids[0] ) );
    uint32_t counts[COUNTED] = { 0 };
    for ( s->frame = 0; s->frame < 40 + COUNTED; ++s->frame )
    {
        for ( uint32_t i = 0; i < s->count; i += 4 )
        {
            s->boxes[i] = rest_crowd_shifted( s->boxes[i], 0.002f, 0, 0 );
        }
        CHECK_OK( clv_space_move( s->space, s->ids[0], s->boxes, s->count ) );
        CHECK_OK( clv_space_update( s->space ) );
        counts[s->frame % COUNTED] = (uint32_t)rest_crowd_figure( s->space, "refits" );
    }
    qsort( counts, COUNTED, sizeof( uint32_t ), compare_counts );
    CHECK( counts[COUNTED / 2] > 5 );
    CHECK( counts[COUNTED - 1] <= 3 * counts[COUNTED / 2] );
    clv_space_destroy( s->space );
    free( s );
}

// All objects but three, which move a little, are removed.
static void leave_few( uint32_t first )
{
    enum
    {
        SLOTS = 4000,
        LEFT = 3
    };
    clv_aabb* boxes = test_alloc( SLOTS, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( SLOTS, sizeof( clv_id ) );
    for ( uint32_t i = 0; i < SLOTS; ++i )
    {
        boxes[i] = test_cube( 0.6f * (float)( i % 60 ), 0.6f * (float)( i / 60 ), 0, 0.5f );
    }
    clv_space_def def = clv_default_space_def();
    def.settings = REST_CROWD_FOLLOWED;
    clv_space* space;
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_OK( clv_space_add( space, boxes, SLOTS, ids ) );
    CHECK_OK( clv_space_remove( space, ids, first ) );
    CHECK_OK( clv_space_remove( space, ids + first + LEFT, SLOTS - first - LEFT ) );
    for ( uint32_t frame = 0; frame < 40; ++frame )
    {
        test_where.frame = frame;
        boxes[first] = rest_crowd_shifted( boxes[first], 0, frame % 9 == 8 ? 0.5f : 0.0001f, 0 );
        CHECK_OK( clv_space_move( space, ids + first, boxes + first, LEFT ) );
        CHECK_OK( clv_space_update( space ) );
        uint64_t expected = 0;
        for ( uint32_t a = first; a < first + LEFT; ++a )
        {
            for ( uint32_t b = a + 1; b < first + LEFT; ++b )
            {
                expected += clv_aabb_overlap( boxes[a], boxes[b] );
            }
        }
        CHECK_EQUAL( clv_space_pairs( space ).count, expected );
    }
    CHECK( rest_crowd_is_at_rest( space ) );
    clv_space_destroy( space );
    free( boxes );
    free( ids );
}

// Found by random lives in a debug build: cells were laid over a sample of the slots that had nothing in it,
// and a release build read far out of bounds.
static void a_few_left_of_many_rest_too( void )
{
    for ( uint32_t first = 3960; first < 3990; first += 3 ) // some are not in the sample
    {
        test_where.seed = first;
        leave_few( first );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( filters_events_and_order_see_every_change ),
        TEST_CASE( the_list_stays_where_it_is ),
        TEST_CASE( rest_after_a_shrink_has_a_new_list ),
        TEST_CASE( a_visited_world_never_rests ),
        TEST_CASE( a_limit_on_pairs_holds_at_rest_too ),
        TEST_CASE( refused_memory_ends_rest_and_nothing_else ),
        TEST_CASE( a_frame_at_rest_takes_no_memory ),
        TEST_CASE( a_world_at_rest_is_hardly_looked_at ),
        TEST_CASE( refits_are_spread_over_frames ),
        TEST_CASE( a_few_left_of_many_rest_too ),
    };
    return test_run( "rest_space", cases, TEST_COUNT( cases ), argc, argv );
}
