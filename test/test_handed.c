// SPDX-License-Identifier: MIT
// What a space makes of a method that hands over what is none of its pairs: slots that are not there end the
// update in every build, and nothing is read or written past an end; the wrong way round, dead and told twice
// they are asserted in debug builds.
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum
{
    COUNT = 40,
    PAIRS_MOST = 20000,
};

typedef enum manner
{
    PUT_ALL,
    BY_HAND,
    LENT,
    MANNER_COUNT
} manner;

// What the method hands over next.
static struct
{
    clv_pair pairs[PAIRS_MOST];
    uint64_t count;
    manner manner;
    bool is_deaf; ///< to what the sink says
} s_script;

static void* create( const clv_method_context* context )
{
    (void)context;
    return malloc( 1 );
}

static void destroy( void* state )
{
    free( state );
}

static clv_result put_by_hand( clv_pair_sink* sink )
{
    clv_result result = CLV_OK;
    for ( uint64_t i = 0; i < s_script.count && result == CLV_OK; ++i )
    {
        result = sink->count == sink->capacity ? sink->make_room( sink ) : CLV_OK;
        if ( result == CLV_OK )
        {
            sink->pairs[sink->count++] = s_script.pairs[i];
        }
    }
    return result;
}

static clv_result update(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    (void)state, (void)input, (void)counters;
    clv_result result = s_script.manner == PUT_ALL
        ? clv_pair_sink_put_all( sink, s_script.pairs, s_script.count )
        : s_script.manner == LENT ? clv_pair_sink_lend( sink, s_script.pairs, s_script.count )
                                  : put_by_hand( sink );
    return s_script.is_deaf ? CLV_OK : result;
}

static const clv_method s_row = {
    .size = sizeof( clv_method ),
    .version = CLV_METHOD_VERSION,
    .name = "scripted",
    .family = "bad",
    .source = "tests",
    .licence = "MIT",
    .time_cost = "-",
    .space_cost = "-",
    .create = create,
    .destroy = destroy,
    .update = update,
};

// ---- spaces of all kinds

typedef enum kind
{
    PLAIN,
    SORTED,
    EVENTS,
    WITH_DATA,
    CALLBACK,
    SORTED_CALLBACK,
    CATEGORIES,
    DOUBLES,
    FLAT,
    KIND_COUNT
} kind;

static bool allow( const clv_space* space, clv_pair pair, void* user )
{
    (void)space, (void)user;
    CHECK( pair.a < COUNT && pair.b < COUNT );
    return true;
}

// All boxes touch, so that every pair of slots is a true one.
static clv_space* make_space( kind which )
{
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    clv_id ids[COUNT];
    def.method = "scripted";
    def.sorted = which == SORTED || which == SORTED_CALLBACK;
    def.events = which == EVENTS;
    def.pair_data = which == WITH_DATA;
    def.filter = which == CALLBACK || which == SORTED_CALLBACK ? allow : NULL;
    def.doubles = which == DOUBLES;
    def.flat = which == FLAT;
    CHECK_OK( clv_space_create( &def, &space ) );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        const clv_aabb box = test_cube( 0, 0, 0, 1 );
        const clv_aabb64 box64 = { { -1, -1, -1 }, { 1, 1, 1 } };
        const clv_aabb2 box2 = { { -1, -1 }, { 1, 1 } };
        CHECK_OK( which == DOUBLES ? clv_space_add64( space, &box64, 1, &ids[i] )
                : which == FLAT    ? clv_space_add2( space, &box2, 1, &ids[i] )
                                   : clv_space_add( space, &box, 1, &ids[i] ) );
    }
    if ( which == CATEGORIES )
    {
        clv_filter filter = clv_default_filter();
        filter.category = 2;
        CHECK_OK( clv_space_set_filter( space, ids, &filter, 1 ) );
    }
    return space;
}

// `count` different pairs of slots other than 5.
static void script( uint64_t count, manner how )
{
    s_script.manner = how;
    s_script.is_deaf = false;
    s_script.count = 0;
    for ( uint32_t a = 0; a < COUNT; ++a )
    {
        for ( uint32_t b = a + 1; b < COUNT && s_script.count < count; ++b )
        {
            s_script.pairs[s_script.count] = ( clv_pair ){ a, b };
            s_script.count += a != 5 && b != 5;
        }
    }
    CHECK_EQUAL( s_script.count, count );
}

// ---- slots that are not there

static void check_refused( clv_space* space, clv_result result, clv_pair bad, uint32_t position )
{
    char slots[64];
    clv_error error = clv_space_error( space );
    CHECK_EQUAL( (uint64_t)result, CLV_BAD_ARGUMENT );
    snprintf( slots, sizeof( slots ), "slots %u and %u", bad.a, bad.b );
    CHECK( strstr( error.text, "method scripted" ) != NULL && strstr( error.text, slots ) != NULL );
    CHECK( error.code == CLV_BAD_ARGUMENT && error.position == position );
    CHECK( !clv_space_pairs( space ).valid && clv_space_pairs( space ).count == 0 );
    CHECK( clv_space_events( space ).begun_count == 0 && clv_space_events( space ).ended_count == 0 );
}

static void a_slot_out_of_range_ends_the_update( void )
{
    static const clv_pair s_strays[] = { { 0, COUNT }, { COUNT, COUNT + 1 }, { 3, UINT32_MAX },
        { UINT32_MAX - 1, UINT32_MAX }, { COUNT + 5000000, 1 } };
    for ( int which = 0; which < KIND_COUNT; ++which )
    {
        for ( int how = 0; how < MANNER_COUNT; ++how )
        {
            clv_space* space = make_space( (kind)which );
            script( 30, (manner)how );
            CHECK_OK( clv_space_update( space ) );
            for ( size_t i = 0; i < TEST_COUNT( s_strays ); ++i )
            {
                uint32_t at = (uint32_t)i * 100;
                script( 600, (manner)how );
                s_script.pairs[at] = s_strays[i];
                // a method that does not stop writes past the end
                s_script.is_deaf = i == 2 && how != BY_HAND;
                check_refused( space, clv_space_update( space ), s_strays[i], at );
            }
            script( 31, (manner)how );
            CHECK_OK( clv_space_update( space ) ); // as if nothing had been
            CHECK_EQUAL( clv_space_pairs( space ).count, 31 );
            CHECK_EQUAL( clv_space_events( space ).begun_count, which == EVENTS ? 1 : 0 );
            clv_space_destroy( space );
        }
    }
}

static bool see( const clv_pair* pairs, size_t count, void* user )
{
    for ( size_t i = 0; i < count; ++i )
    {
        CHECK( pairs[i].a < pairs[i].b && pairs[i].b < COUNT );
    }
    *(uint64_t*)user += count;
    return true;
}

// Far into many pairs, which a visitor sees up to the piece with the bad one.
static void a_visitor_sees_no_slot_out_of_range( void )
{
    const clv_pair bad = { 1, COUNT };
    clv_space* space = make_space( PLAIN );
    for ( int how = 0; how < MANNER_COUNT; ++how )
    {
        uint64_t seen = 0;
        script( 700, (manner)how );
        for ( ; s_script.count < PAIRS_MOST; ++s_script.count )
        {
            s_script.pairs[s_script.count] = s_script.pairs[s_script.count % 700];
        }
        s_script.pairs[PAIRS_MOST - 9] = bad;
        check_refused( space, clv_space_visit( space, see, &seen ), bad, PAIRS_MOST - 9 );
        CHECK( seen > 0 && seen < PAIRS_MOST && clv_space_error( space ).pair_count >= seen );
        check_refused( space, clv_space_update( space ), bad, PAIRS_MOST - 9 );
        script( 700, (manner)how );
        seen = 0;
        CHECK_OK( clv_space_visit( space, see, &seen ) );
        CHECK_EQUAL( seen, 700 );
    }
    clv_space_destroy( space );
}

// ---- what debug builds assert

static uint32_t s_order_count, s_dead_count, s_twice_count, s_other_count;

static bool count_assertions( const char* condition, const char* file, int line, void* user )
{
    (void)file, (void)line, (void)user;
    bool is_order = strstr( condition, ".a < " ) != NULL,
         is_dead = strstr( condition, "object_is_live_at" ) != NULL,
         is_twice = strstr( condition, "is_distinct" ) != NULL;
    s_order_count += is_order;
    s_dead_count += is_dead;
    s_twice_count += is_twice;
    s_other_count += !is_order && !is_dead && !is_twice;
    return false;
}

static void expect( clv_space* space, uint32_t order, uint32_t dead, uint32_t twice )
{
    s_order_count = s_dead_count = s_twice_count = s_other_count = 0;
    clv_set_assert_hook( count_assertions, NULL );
    CHECK_OK( clv_space_update( space ) );
    clv_set_assert_hook( NULL, NULL );
    CHECK_EQUAL( s_other_count, 0 );
#ifndef NDEBUG
    CHECK_EQUAL( s_order_count, order );
    CHECK_EQUAL( s_dead_count, dead );
#else
    CHECK( order + dead > 0 || s_order_count + s_dead_count == 0 );
#endif
#if !defined( NDEBUG ) && defined( CLV_VALIDATE_ENABLED )
    CHECK_EQUAL( s_twice_count, twice );
#else
    (void)twice;
#endif
}

static void debug_builds_assert_each_pair( void )
{
    for ( int how = 0; how < MANNER_COUNT; ++how )
    {
        for ( int which = 0; which <= CATEGORIES; ++which )
        {
            if ( which != PLAIN && which != SORTED && which != CATEGORIES )
            {
                continue; // what counts on good pairs asserts them once more
            }
            clv_space* space = make_space( (kind)which );
            script( 100, (manner)how );
            expect( space, 0, 0, 0 );
            s_script.pairs[7] = ( clv_pair ){ 9, 2 };
            s_script.pairs[99] = ( clv_pair ){ 6, 6 };
            expect( space, 2, 0, 0 );
            script( 100, (manner)how );
            s_script.pairs[99] = s_script.pairs[0];
            expect( space, 0, 0, 1 );
            clv_id gone = clv_space_id_at( space, 5 );
            CHECK_OK( clv_space_remove( space, &gone, 1 ) );
            script( 100, (manner)how );
            s_script.pairs[50] = ( clv_pair ){ 3, 5 };
            s_script.pairs[51] = ( clv_pair ){ 5, COUNT - 1 };
            expect( space, 0, 2, 0 );
            clv_space_destroy( space );
        }
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_slot_out_of_range_ends_the_update ),
        TEST_CASE( a_visitor_sees_no_slot_out_of_range ),
        TEST_CASE( debug_builds_assert_each_pair ),
    };
    if ( clv_method_register( &s_row ) != CLV_OK )
    {
        return 1;
    }
    return test_run( "handed", cases, TEST_COUNT( cases ), argc, argv );
}
