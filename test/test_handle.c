// SPDX-License-Identifier: MIT
// Handles that cannot lie: pairs read after a removal, and views read after their death.
#include "heap.h"

#include <stdlib.h>
#include <string.h>

enum
{
    MOST = 160
};

static void check_ids( const clv_space* space, clv_pair_view view, uint64_t at, clv_id a, clv_id b )
{
    clv_id_pair ids;
    CHECK_OK( clv_space_pair_ids( space, view, at, 1, &ids ) );
    CHECK( clv_id_equals( ids.a, a ) );
    CHECK( clv_id_equals( ids.b, b ) );
}

static void a_pair_does_not_name_the_newcomer( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space* space = test_space_make( test_variant_at( i ), NULL );
        const clv_aabb boxes[3] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ),
            test_cube( 90, 0, 0, 1 ) };
        clv_id ids[3], newcomer;
        CHECK_OK( clv_space_add( space, boxes, 3, ids ) );
        CHECK_OK( clv_space_update( space ) );
        clv_pair_view view = clv_space_pairs( space );
        CHECK_EQUAL( view.count, 1 );
        check_ids( space, view, 0, ids[0], ids[1] );
        CHECK_OK( clv_space_remove_one( space, ids[1] ) );
        check_ids( space, view, 0, ids[0], clv_null_id() );
        CHECK_OK( clv_space_add_one( space, boxes[2], &newcomer ) );
        CHECK_EQUAL( newcomer.index, ids[1].index ); // the slot is another object's now
        check_ids( space, view, 0, ids[0], clv_null_id() );
        CHECK_OK( clv_space_remove_one( space, ids[0] ) );
        check_ids( space, view, 0, clv_null_id(), clv_null_id() );
        CHECK_OK( clv_space_remove_one( space, newcomer ) );
        CHECK_OK( clv_space_add( space, boxes, 2, ids ) );
        check_ids( space, view, 0, clv_null_id(), clv_null_id() );
        CHECK_OK( clv_space_update( space ) ); // and from here on they are the ones
        view = clv_space_pairs( space );
        CHECK_EQUAL( view.count, 1 );
        bool in_order = ids[0].index < ids[1].index;
        check_ids( space, view, 0, in_order ? ids[0] : ids[1], in_order ? ids[1] : ids[0] );
        clv_space_destroy( space );
    }
}

static void check_dead( const clv_space* space, clv_pair_view view )
{
    clv_id_pair ids = { { 7, 7 }, { 8, 8 } };
    clv_result code = clv_space_error( space ).code;
    CHECK_RESULT( clv_space_pair_ids( space, view, 0, 1, &ids ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_space_pair_ids( space, view, 0, 0, NULL ), CLV_BAD_ARGUMENT );
    CHECK( ids.a.index == 7 && ids.b.generation == 8 );
    CHECK_RESULT( clv_space_error( space ).code, code );
}

static bool see( const clv_pair* pairs, size_t count, void* user )
{
    (void)pairs;
    clv_space* space = user;
    CHECK( count > 0 );
    check_dead( space, clv_space_pairs( space ) ); // there is none while a visit is under way
    return true;
}

static void dead_views_are_recognised( void )
{
    clv_space_def def = clv_default_space_def();
    def.max_pairs = 1;
    clv_space* space = test_space_make( test_variant_at( 0 ), &def );
    const clv_aabb boxes[3] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ), test_cube( 0, 1, 0, 1 ) };
    clv_id ids[3];
    const clv_pair_view none = { 0 };
    check_dead( space, none );
    check_dead( space, clv_space_pairs( space ) ); // before the first update
    CHECK_OK( clv_space_add( space, boxes, 2, ids ) );
    CHECK_OK( clv_space_update( space ) );
    clv_pair_view view = clv_space_pairs( space );
    check_ids( space, view, 0, ids[0], ids[1] );
    check_dead( space, none );
    CHECK_OK( clv_space_update( space ) ); // the same pairs once more, and another list
    check_dead( space, view );
    view = clv_space_pairs( space );
    check_ids( space, view, 0, ids[0], ids[1] );
    CHECK_OK( clv_space_shrink( space ) );
    check_dead( space, view );
    view = clv_space_pairs( space );
    check_ids( space, view, 0, ids[0], ids[1] );
    CHECK_OK( clv_space_visit( space, see, space ) );
    check_dead( space, view );
    check_dead( space, clv_space_pairs( space ) );
    CHECK_OK( clv_space_update( space ) );
    view = clv_space_pairs( space );
    CHECK_OK( clv_space_add_one( space, boxes[2], &ids[2] ) );
    check_ids( space, view, 0, ids[0], ids[1] ); // outlives add
    CHECK_RESULT( clv_space_update( space ), CLV_TOO_MANY_PAIRS );
    check_dead( space, view );
    check_dead( space, clv_space_pairs( space ) );
    CHECK_OK( clv_space_remove_one( space, ids[2] ) );
    CHECK_OK( clv_space_update( space ) );
    view = clv_space_pairs( space );
    clv_space_clear( space );
    check_dead( space, view );
    clv_space_destroy( space );
}

static void only_pairs_of_the_view_are_told( void )
{
    clv_space* space = test_space_make( test_variant_at( 0 ), NULL );
    clv_aabb boxes[8];
    for ( uint32_t i = 0; i < 8; ++i )
    {
        boxes[i] = test_cube( (float)i, 0, 0, 0.5f );
    }
    CHECK_OK( clv_space_add( space, boxes, 8, NULL ) );
    CHECK_OK( clv_space_update( space ) );
    clv_pair_view view = clv_space_pairs( space );
    CHECK_EQUAL( view.count, 7 );
    clv_id_pair ids[8];
    CHECK_OK( clv_space_pair_ids( space, view, 0, 7, ids ) );
    CHECK_OK( clv_space_pair_ids( space, view, 3, 4, ids ) );
    CHECK( ids[0].a.index == view.pairs[3].a && ids[3].b.index == view.pairs[6].b );
    CHECK_OK( clv_space_pair_ids( space, view, 7, 0, NULL ) );
    CHECK_RESULT( clv_space_pair_ids( space, view, 0, 8, ids ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_space_pair_ids( space, view, 7, 1, ids ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_space_pair_ids( space, view, 8, 0, ids ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_space_pair_ids( space, view, 1, UINT64_MAX, ids ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_space_pair_ids( space, view, UINT64_MAX, 2, ids ), CLV_BAD_ARGUMENT );
    clv_space_destroy( space );
}

// ---- random lives against what was noted when the list was new

typedef struct noted
{
    clv_id_pair pairs[MOST * MOST / 2];
    uint64_t count;
} noted;

static void note( noted* list, const clv_space* space )
{
    clv_pair_view view = clv_space_pairs( space );
    list->count = view.count;
    for ( uint64_t i = 0; i < view.count; ++i )
    {
        list->pairs[i] = ( clv_id_pair ){ clv_space_id_at( space, view.pairs[i].a ),
            clv_space_id_at( space, view.pairs[i].b ) };
    }
}

static void check_noted( const noted* list, const clv_space* space, clv_pair_view view )
{
    clv_id_pair* ids = test_alloc( (size_t)list->count, sizeof( clv_id_pair ) );
    CHECK_EQUAL( view.count, list->count );
    CHECK_OK( clv_space_pair_ids( space, view, 0, view.count, ids ) );
    for ( uint64_t i = 0; i < list->count; ++i )
    {
        clv_id a = list->pairs[i].a, b = list->pairs[i].b;
        CHECK( clv_id_equals( ids[i].a, clv_space_contains( space, a ) ? a : clv_null_id() ) );
        CHECK( clv_id_equals( ids[i].b, clv_space_contains( space, b ) ? b : clv_null_id() ) );
    }
    free( ids );
}

// Objects go and come, several times between two updates.
static void turn_over( clv_space* space, clv_id* ids, test_random* random )
{
    uint32_t first = test_random_below( random, MOST - 20 ), count = 1 + test_random_below( random, 19 );
    clv_aabb boxes[20];
    for ( uint32_t i = 0; i < count; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, MOST, random );
    }
    CHECK_OK( clv_space_remove( space, ids + first, count ) );
    uint32_t fewer = test_random_chance( random, 30 ) ? count - 1 : count;
    CHECK_OK( clv_space_add( space, boxes, fewer, ids + first ) );
    if ( fewer < count )
    {
        CHECK_OK( clv_space_add( space, boxes + fewer, 1, ids + first + fewer ) );
    }
}

static void ids_of_pairs_are_right_through_random_lives( void )
{
    noted* list = test_alloc( 1, sizeof( noted ) );
    for ( uint32_t v = 0; v < test_variant_count(); ++v )
    {
        test_where.seed = v;
        test_random random = test_random_make( 100 + v );
        clv_space_def def = clv_default_space_def();
        def.sorted = v % 2 == 0;
        def.events = v % 3 == 0;
        def.settings = test_settings_token( v % 4 );
        clv_space* space = test_space_make( test_variant_at( v ), &def );
        clv_aabb boxes[MOST];
        clv_id ids[MOST];
        for ( uint32_t i = 0; i < MOST; ++i )
        {
            boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, MOST, &random );
        }
        CHECK_OK( clv_space_add( space, boxes, MOST, ids ) );
        for ( uint32_t frame = 0; frame < 12; ++frame )
        {
            test_where.frame = frame;
            CHECK_OK( clv_space_update( space ) );
            clv_pair_view view = clv_space_pairs( space );
            note( list, space );
            check_noted( list, space, view );
            for ( uint32_t turn = 0; turn < frame % 4; ++turn )
            {
                turn_over( space, ids, &random );
                check_noted( list, space, view );
            }
        }
        clv_space_destroy( space );
    }
    free( list );
}

// The note of used slots is taken with the memory of an add: refused, it adds nothing.
static void an_add_without_memory_for_its_note_fails( void )
{
    heap hooks = { 0 };
    clv_space_def def = clv_default_space_def();
    def.allocator = heap_hooks( &hooks );
    clv_space* space = test_space_make( test_variant_at( 0 ), &def );
    const clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ) };
    clv_id ids[2], again = { 7, 7 };
    CHECK_OK( clv_space_add( space, boxes, 2, ids ) );
    CHECK_OK( clv_space_update( space ) );
    clv_pair_view view = clv_space_pairs( space );
    CHECK_OK( clv_space_remove_one( space, ids[0] ) );
    hooks.refuse_from = hooks.allocate_count + 1;
    hooks.refuse_count = UINT64_MAX;
    CHECK_RESULT( clv_space_add_one( space, boxes[0], &again ), CLV_OUT_OF_MEMORY );
    CHECK( again.index == 7 && clv_space_object_count( space ) == 1 );
    heap_heal( &hooks );
    CHECK_OK( clv_space_add_one( space, boxes[0], &again ) );
    CHECK_EQUAL( again.index, ids[0].index );
    check_ids( space, view, 0, clv_null_id(), ids[1] );
    clv_space_destroy( space );
    CHECK_EQUAL( hooks.bytes, 0 );
}

// ---- user data

static void check_user( clv_user_pair pair, uint64_t a, uint64_t b )
{
    CHECK_EQUAL( pair.a, a );
    CHECK_EQUAL( pair.b, b );
}

static clv_space* make_watched( uint32_t variant, clv_id* ids, clv_allocator hooks )
{
    clv_space_def def = clv_default_space_def();
    def.events = true;
    def.allocator = hooks;
    clv_space* space = test_space_make( test_variant_at( variant ), &def );
    const clv_aabb boxes[3] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ), test_cube( 2, 0, 0, 1 ) };
    CHECK_OK( clv_space_add( space, boxes, 3, ids ) );
    return space;
}

static void ended_events_tell_what_their_objects_carried( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        const clv_allocator own = { 0 };
        clv_id ids[3], newcomer;
        clv_space* space = make_watched( i, ids, own );
        CHECK_OK( clv_space_update( space ) );
        clv_event_view events = clv_space_events( space );
        CHECK_EQUAL( events.begun_count, 3 );
        CHECK( events.begun_user == NULL && clv_space_user_data( space ).values == NULL );
        const uint64_t first[3] = { 10, 11, 12 }, later[1] = { 99 }, latest[1] = { 100 };
        CHECK_OK( clv_space_set_user_data( space, ids, first, 3 ) );
        CHECK_OK( clv_space_update( space ) );
        CHECK_OK(
            clv_space_set_user_data( space, &ids[1], later, 1 ) ); // changed after the update, then gone
        CHECK_OK( clv_space_remove_one( space, ids[1] ) );
        for ( int turn = 0; turn < 2;
              ++turn ) // two newcomers in its slot, the first of them gone before it was seen
        {
            CHECK_OK( clv_space_add_one( space, test_cube( 50, 0, 0, 1 ), &newcomer ) );
            CHECK_EQUAL( newcomer.index, ids[1].index );
            CHECK_OK( clv_space_set_user_data( space, &newcomer, latest, 1 ) );
            turn == 0 ? CHECK_OK( clv_space_remove_one( space, newcomer ) ) : (void)0;
        }
        CHECK_OK( clv_space_set_user_data( space, &ids[2], latest, 1 ) ); // lives: what it carries now
        CHECK_OK( clv_space_update( space ) );
        events = clv_space_events( space );
        CHECK_EQUAL( events.ended_count, 2 );
        check_user( events.ended_user[0], 10, 99 );
        check_user( events.ended_user[1], 99, 100 );
        CHECK( clv_id_equals( events.ended[1].a, ids[1] ) );
        // What is set afterwards does not change what was reported.
        CHECK_OK( clv_space_set_user_data( space, &ids[0], later, 1 ) );
        check_user( clv_space_events( space ).ended_user[0], 10, 99 );
        CHECK_OK( clv_space_shrink( space ) );
        check_user( clv_space_events( space ).ended_user[1], 99, 100 );
        clv_space_destroy( space );
    }
}

static void begun_events_tell_what_their_objects_carry( void )
{
    clv_space_def def = clv_default_space_def();
    def.events = true;
    clv_space* space = test_space_make( test_variant_at( 0 ), &def );
    const clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ) };
    clv_id ids[2];
    CHECK_OK( clv_space_add( space, boxes, 2, ids ) );
    const uint64_t value = UINT64_MAX;
    CHECK_OK( clv_space_set_user_data( space, &ids[1], &value, 1 ) );
    CHECK_OK( clv_space_update( space ) );
    check_user( clv_space_events( space ).begun_user[0], 0, UINT64_MAX );
    clv_space_destroy( space );
}

// A failed update reports nothing, and the next one what the first would have.
static void user_data_of_the_removed_survives_a_failed_update( void )
{
    heap hooks = { 0 };
    clv_id ids[3];
    clv_space* space = make_watched( 0, ids, heap_hooks( &hooks ) );
    const uint64_t values[3] = { 10, 11, 12 };
    CHECK_OK( clv_space_set_user_data( space, ids, values, 3 ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_OK( clv_space_shrink( space ) );
    CHECK_OK( clv_space_remove_one( space, ids[0] ) );
    CHECK_OK( clv_space_add_one( space, test_cube( 70, 0, 0, 1 ), &ids[0] ) );
    for ( uint64_t refusal = 1; true; ++refusal )
    {
        hooks.refuse_from = hooks.allocate_count + refusal;
        hooks.refuse_count = UINT64_MAX;
        clv_result result = clv_space_update( space );
        heap_heal( &hooks );
        if ( result == CLV_OK )
        {
            CHECK( refusal > 1 );
            break;
        }
        CHECK_RESULT( result, CLV_OUT_OF_MEMORY );
        CHECK_EQUAL( clv_space_events( space ).ended_count, 0 );
    }
    clv_event_view events = clv_space_events( space );
    CHECK_EQUAL( events.ended_count, 2 );
    check_user( events.ended_user[0], 10, 11 );
    check_user( events.ended_user[1], 10, 12 );
    clv_space_destroy( space );
    CHECK_EQUAL( hooks.bytes, 0 );
}

static void user_data_lies_by_slot( void )
{
    clv_space* space = test_space_make( test_variant_at( 0 ), NULL );
    const clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ) };
    clv_id ids[2];
    CHECK_EQUAL( clv_space_user_data( space ).count, 0 );
    CHECK_OK( clv_space_add( space, boxes, 2, ids ) );
    CHECK_EQUAL( clv_space_user_data( space ).count, 0 );
    const uint64_t value = 5;
    CHECK_OK( clv_space_set_user_data( space, &ids[1], &value, 1 ) );
    clv_user_data_view view = clv_space_user_data( space );
    CHECK( view.count == 2 && view.values[0] == 0 && view.values[1] == 5 );
    CHECK_OK( clv_space_update( space ) );
    CHECK_OK( clv_space_move( space, ids, boxes, 2 ) );
    clv_pair pair = clv_space_pairs( space ).pairs[0];
    CHECK( view.values[pair.a] == 0 && view.values[pair.b] == 5 ); // outlives both
    CHECK_OK( clv_space_remove_one( space, ids[1] ) );
    CHECK_EQUAL( view.values[1], 5 ); // of the object that was there last
    CHECK_OK( clv_space_add_one( space, boxes[1], &ids[1] ) );
    view = clv_space_user_data( space );
    CHECK( view.count == 2 && view.values[1] == 0 );
    clv_space_destroy( space );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_pair_does_not_name_the_newcomer ),
        TEST_CASE( dead_views_are_recognised ),
        TEST_CASE( only_pairs_of_the_view_are_told ),
        TEST_CASE( ids_of_pairs_are_right_through_random_lives ),
        TEST_CASE( an_add_without_memory_for_its_note_fails ),
        TEST_CASE( ended_events_tell_what_their_objects_carried ),
        TEST_CASE( begun_events_tell_what_their_objects_carry ),
        TEST_CASE( user_data_of_the_removed_survives_a_failed_update ),
        TEST_CASE( user_data_lies_by_slot ),
    };
    return test_run( "handle", cases, TEST_COUNT( cases ), argc, argv );
}
