// SPDX-License-Identifier: MIT
// A word per pair that lives as long as the pair: through updates, other orders, failures, reused slots.
#include "heap.h"
#include "pair/words.h"

#include <stdlib.h>
#include <string.h>

enum
{
    MOST = 240
};

// ---- little cases

static clv_space* make( uint32_t variant, bool sorted, bool events )
{
    clv_space_def def = clv_default_space_def();
    def.pair_data = true;
    def.sorted = sorted;
    def.events = events;
    return test_space_make( test_variant_at( variant ), &def );
}

static void a_word_lives_as_long_as_its_pair( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space* space = make( i, i % 2 == 0, true );
        const clv_aabb near[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ) };
        const clv_aabb far = test_cube( 9, 0, 0, 1 );
        clv_id ids[2];
        CHECK_OK( clv_space_add( space, near, 2, ids ) );
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( clv_space_pairs( space ).data[0], 0 );
        clv_space_pairs( space ).data[0] = 77;
        CHECK_OK( clv_space_update( space ) ); // nothing moved
        CHECK_EQUAL( clv_space_pairs( space ).data[0], 77 );
        CHECK_OK( clv_space_move( space, ids, near, 2 ) );
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( clv_space_pairs( space ).data[0], 77 );
        CHECK_OK( clv_space_move_one( space, ids[1], far ) );
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( clv_space_pairs( space ).count, 0 );
        CHECK_EQUAL( clv_space_events( space ).ended_count, 1 );
        CHECK_EQUAL( clv_space_events( space ).ended_data[0], 77 );
        CHECK_OK( clv_space_move_one( space, ids[1], near[1] ) );
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( clv_space_pairs( space ).data[0], 0 ); // begun again
        clv_space_destroy( space );
    }
}

static void a_reused_slot_is_another_pair( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space* space = make( i, i % 2 == 0, true );
        const clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ) };
        clv_id ids[2];
        CHECK_OK( clv_space_add( space, boxes, 2, ids ) );
        CHECK_OK( clv_space_update( space ) );
        clv_space_pairs( space ).data[0] = UINT64_MAX;
        CHECK_OK( clv_space_remove_one( space, ids[0] ) );
        CHECK_OK( clv_space_add_one( space, boxes[0], &ids[0] ) );
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( clv_space_pairs( space ).count, 1 );
        CHECK_EQUAL( clv_space_pairs( space ).data[0], 0 );
        CHECK_EQUAL( clv_space_events( space ).ended_data[0], UINT64_MAX );
        CHECK_EQUAL( clv_space_events( space ).begun_count, 1 );
        clv_space_destroy( space );
    }
}

static bool stop( const clv_pair* pairs, size_t count, void* user )
{
    (void)pairs;
    (void)count;
    (void)user;
    return false;
}

static void without_pair_data_in_the_def_there_is_none( void )
{
    clv_space_def def = clv_default_space_def();
    def.events = true;
    clv_space* space = test_space_make( test_variant_at( 0 ), &def );
    const clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ) };
    CHECK_OK( clv_space_add( space, boxes, 2, NULL ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK( clv_space_pairs( space ).data == NULL && clv_space_events( space ).ended_data == NULL );
    clv_space_destroy( space );
    space = make( 0, false, false ); // and a visit has no list to keep them beside
    CHECK_RESULT( clv_space_visit( space, stop, NULL ), CLV_UNSUPPORTED );
    CHECK( strstr( clv_space_error( space ).text, "pair data" ) != NULL );
    clv_space_destroy( space );
}

static void a_clear_forgets_all_words( void )
{
    clv_space* space = make( 0, true, true );
    const clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ) };
    for ( uint32_t turn = 0; turn < 3; ++turn )
    {
        CHECK_OK( clv_space_add( space, boxes, 2, NULL ) );
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( clv_space_events( space ).ended_count, 0 );
        CHECK_EQUAL( clv_space_pairs( space ).data[0], 0 );
        clv_space_pairs( space ).data[0] = 5;
        clv_space_clear( space );
    }
    clv_space_destroy( space );
}

// ---- the table

// All pairs of a hub, or of a row of neighbours, find their places at once; that would take minutes
// otherwise.
static void a_hub_of_a_million_finds_its_words( void )
{
    enum
    {
        SPOKES = 1 << 20
    };
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    pair_list list = { 0 };
    base_u64_array words = { 0 };
    pair_word_table table = { 0 };
    CHECK( base_array_reserve( &list, &memory, SPOKES ) );
    CHECK( base_array_reserve( &words, &memory, SPOKES ) );
    for ( uint32_t kind = 0; kind < 3; ++kind )
    {
        list.count = SPOKES >> ( 4 * kind ); // the table is larger than it need be, then
        for ( uint32_t i = 0; i < list.count; ++i )
        {
            list.items[i] = kind == 0 ? ( clv_pair ){ 0, i + 1 }
                : kind == 1           ? ( clv_pair ){ i, SPOKES }
                                      : ( clv_pair ){ i, i + 1 };
            words.items[i] = i % 3 == 0 ? 0 : test_mix( i );
        }
        CHECK( clv_pair_words_fill( &table, &memory, &list, words.items ) );
        for ( uint32_t i = 0; i < list.count; ++i )
        {
            CHECK_EQUAL( clv_pair_words_get( &table, list.items[i] ), words.items[i] );
        }
        CHECK_EQUAL( clv_pair_words_get( &table, ( clv_pair ){ 3, 2 * SPOKES } ), 0 );
    }
    base_array_free( &table.entries, &memory );
    base_array_free( &list, &memory );
    base_array_free( &words, &memory );
    CHECK_EQUAL( memory.bytes, 0 );
}

// ---- random lives against a model of words by id

typedef struct entry
{
    clv_id_pair pair;
    uint64_t word;
} entry;

typedef struct model
{
    entry* entries; ///< of the last good list, sorted by identity
    uint64_t count;
} model;

static int compare( const void* left, const void* right )
{
    const clv_id_pair *p = &( (const entry*)left )->pair, *q = &( (const entry*)right )->pair;
    uint32_t a[4] = { p->a.index, p->b.index, p->a.generation, p->b.generation };
    uint32_t b[4] = { q->a.index, q->b.index, q->a.generation, q->b.generation };
    for ( int i = 0; i < 4; ++i )
    {
        if ( a[i] != b[i] )
        {
            return a[i] < b[i] ? -1 : 1;
        }
    }
    return 0;
}

static uint64_t word_of( const model* words, clv_id_pair pair )
{
    entry key = { pair, 0 };
    const entry* found = words->count == 0
        ? NULL
        : bsearch( &key, words->entries, (size_t)words->count, sizeof( entry ), compare );
    return found != NULL ? found->word : 0;
}

static void check_ended( const model* words, const clv_space* space )
{
    clv_event_view events = clv_space_events( space );
    for ( uint64_t i = 0; i < events.ended_count; ++i )
    {
        CHECK_EQUAL( events.ended_data[i], word_of( words, events.ended[i] ) );
    }
}

// After a good update: every word is what was left there, or 0. Then new ones for some.
static void check_and_write( model* words, const clv_space* space, test_random* random )
{
    check_ended( words, space );
    clv_pair_view view = clv_space_pairs( space );
    entry* fresh = test_alloc( (size_t)view.count, sizeof( entry ) );
    for ( uint64_t i = 0; i < view.count; ++i )
    {
        clv_pair pair = view.pairs[i];
        fresh[i].pair = ( clv_id_pair ){ clv_space_id_at( space, pair.a ), clv_space_id_at( space, pair.b ) };
        CHECK_EQUAL( view.data[i], word_of( words, fresh[i].pair ) );
        if ( test_random_chance( random, 30 ) )
        {
            view.data[i] = test_random_chance( random, 30 ) ? 0 : test_random_next( random );
        }
        fresh[i].word = view.data[i];
    }
    qsort( fresh, (size_t)view.count, sizeof( entry ), compare );
    free( words->entries );
    words->entries = fresh;
    words->count = view.count;
}

typedef struct life
{
    heap hooks;
    clv_space* space;
    clv_aabb boxes[MOST];
    clv_id ids[MOST];
    model words;
    test_random random;
} life;

static void births_and_deaths( life* one )
{
    uint32_t count = 1 + test_random_below( &one->random, 20 );
    uint32_t first = test_random_below( &one->random, MOST - count );
    CHECK_OK( clv_space_remove( one->space, one->ids + first, count ) );
    CHECK_OK( clv_space_add( one->space, one->boxes + first, count, one->ids + first ) );
}

static void steps( life* one )
{
    for ( uint32_t i = 0; i < MOST; ++i )
    {
        one->boxes[i] = test_crowd_step( TEST_CROWD_SPREAD, one->boxes[i], &one->random );
        CHECK_OK( clv_space_move_one( one->space, one->ids[i], one->boxes[i] ) );
    }
}

static void happen( life* one )
{
    uint32_t dice = test_random_below( &one->random, 12 );
    if ( dice < 3 )
    {
        births_and_deaths( one );
    }
    else if ( dice < 7 )
    {
        steps( one );
    }
    else if ( dice == 7 )
    {
        const clv_filter filters[2] = { { 1, 0, 0 }, { 1, UINT64_MAX, 0 } };
        CHECK_OK( clv_space_set_filter(
            one->space, one->ids + test_random_below( &one->random, MOST - 2 ), filters, 2 ) );
    }
    else if ( dice == 8 )
    {
        CHECK_OK( clv_space_shrink( one->space ) );
    }
    // and otherwise nothing moves
}

// Memory that runs out on the way loses no word.
static void update( life* one )
{
    uint64_t refusal = 1 + test_random_below( &one->random, 6 );
    if ( test_random_chance( &one->random, 30 ) )
    {
        one->hooks.refuse_from = one->hooks.allocate_count + refusal;
        one->hooks.refuse_count = UINT64_MAX;
    }
    clv_result result = clv_space_update( one->space );
    heap_heal( &one->hooks );
    if ( result != CLV_OK )
    {
        CHECK_RESULT( result, CLV_OUT_OF_MEMORY );
        CHECK( clv_space_pairs( one->space ).data == NULL );
        test_random_chance( &one->random, 50 ) ? happen( one ) : (void)0;
        CHECK_OK( clv_space_update( one->space ) );
    }
    check_and_write( &one->words, one->space, &one->random );
}

static void live( uint32_t variant, uint32_t seed )
{
    life* one = test_alloc( 1, sizeof( life ) );
    memset( one, 0, sizeof( *one ) );
    one->random = test_random_make( seed );
    clv_space_def def = clv_default_space_def();
    def.allocator = heap_hooks( &one->hooks );
    def.pair_data = true;
    def.sorted = seed % 2 == 0;
    def.events = seed % 3 != 0;
    def.settings = test_settings_token( seed % 4 );
    one->space = test_space_make( test_variant_at( variant ), &def );
    for ( uint32_t i = 0; i < MOST; ++i )
    {
        one->boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, MOST, &one->random );
    }
    CHECK_OK( clv_space_add( one->space, one->boxes, MOST, one->ids ) );
    for ( uint32_t frame = 0; frame < 30; ++frame )
    {
        test_where.seed = seed;
        test_where.frame = frame;
        update( one );
        happen( one );
    }
    CHECK( one->words.count > 20 );
    clv_space_destroy( one->space );
    CHECK_EQUAL( one->hooks.bytes, 0 );
    free( one->words.entries );
    free( one );
}

static void words_follow_their_pairs_through_random_lives( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        for ( uint32_t seed = 1; seed <= test_scaled( test_variant_is_usual( test_variant_at( i ) ) ? 6 : 1 );
              ++seed )
        {
            live( i, 100 * i + seed );
        }
    }
}

// Followed object by object the list is kept in place, changed in places, lent, or made anew.
static void words_stay_in_a_world_at_rest( void )
{
    enum
    {
        COUNT = 900
    };
    clv_space* space = NULL;
    clv_space_def def = clv_default_space_def();
    def.pair_data = true;
    CHECK_OK( clv_space_create( &def, &space ) ); // the default method
    clv_aabb boxes[COUNT];
    clv_id ids[COUNT];
    test_random random = test_random_make( 9 );
    model words = { 0 };
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_cube( (float)( i % 30 ), (float)( i / 30 ), 0, 0.5f );
    }
    CHECK_OK( clv_space_add( space, boxes, COUNT, ids ) );
    for ( uint32_t frame = 0; frame < 60; ++frame )
    {
        test_where.frame = frame;
        CHECK_OK( clv_space_update( space ) );
        check_and_write( &words, space, &random );
        uint32_t mover = test_random_below( &random, COUNT );
        boxes[mover] =
            test_cube( (float)( mover % 30 ) + 0.01f * (float)( frame % 7 ), (float)( mover / 30 ), 0, 0.5f );
        CHECK_OK( clv_space_move( space, ids, boxes, frame % 3 == 0 ? 0 : COUNT ) );
    }
    free( words.entries );
    clv_space_destroy( space );
}

static void a_steady_frame_with_words_allocates_nothing( void )
{
    for ( uint32_t bits = 0; bits < 4; ++bits )
    {
        heap hooks = { 0 };
        clv_space_def def = clv_default_space_def();
        def.allocator = heap_hooks( &hooks );
        def.pair_data = true;
        def.sorted = ( bits & 1 ) != 0;
        def.events = ( bits & 2 ) != 0;
        clv_space* space = NULL;
        CHECK_OK( clv_space_create( &def, &space ) );
        test_random random = test_random_make( 4 );
        clv_aabb boxes[2][MOST];
        clv_id ids[MOST];
        for ( uint32_t i = 0; i < MOST; ++i )
        {
            boxes[0][i] = test_crowd_box( TEST_CROWD_SPREAD, MOST, &random );
            boxes[1][i] = test_crowd_step( TEST_CROWD_SPREAD, boxes[0][i], &random );
        }
        CHECK_OK( clv_space_add( space, boxes[0], MOST, ids ) );
        uint64_t allocated = 0;
        for ( uint32_t frame = 0; frame < 60; ++frame )
        {
            allocated = frame < 30 ? hooks.allocate_count : allocated;
            CHECK_OK( clv_space_move( space, ids, boxes[frame % 2], MOST ) );
            CHECK_OK( clv_space_update( space ) );
            clv_pair_view view = clv_space_pairs( space );
            for ( uint64_t i = 0; i < view.count; ++i )
            {
                view.data[i] += 1;
            }
        }
        CHECK_EQUAL( hooks.allocate_count, allocated );
        clv_space_destroy( space );
        CHECK_EQUAL( hooks.bytes, 0 );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_word_lives_as_long_as_its_pair ),
        TEST_CASE( a_reused_slot_is_another_pair ),
        TEST_CASE( without_pair_data_in_the_def_there_is_none ),
        TEST_CASE( a_clear_forgets_all_words ),
        TEST_CASE( a_hub_of_a_million_finds_its_words ),
        TEST_CASE( words_follow_their_pairs_through_random_lives ),
        TEST_CASE( words_stay_in_a_world_at_rest ),
        TEST_CASE( a_steady_frame_with_words_allocates_nothing ),
    };
    return test_run( "pair_data", cases, TEST_COUNT( cases ), argc, argv );
}
