// SPDX-License-Identifier: MIT
// Which objects may be pairs: categories, masks, groups, static pairs, and the callback.
#include "pair/decisions.h"
#include "space_group.h"

#include <stdlib.h>
#include <string.h>

// ---- categories, masks, groups

static void check_filters( clv_filter a, clv_filter b, bool meet )
{
    space_group all;
    space_group_open( &all, NULL, NULL );
    const clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ) };
    const clv_pair pair = { 0, 1 };
    clv_id ids[2];
    space_group_add( &all, boxes, 2, ids );
    space_group_expect( &all, &pair, 1 ); // the defaults meet
    const clv_filter filters[2] = { a, b };
    space_group_set_filter( &all, ids, filters, 2 );
    space_group_expect( &all, &pair, meet ? 1 : 0 );
    const clv_filter plain[2] = { clv_default_filter(), clv_default_filter() };
    space_group_set_filter( &all, ids, plain, 2 );
    space_group_expect( &all, &pair, 1 );
    space_group_close( &all );
}

static void both_masks_must_agree( void )
{
    check_filters( ( clv_filter ){ 1, 2, 0 }, ( clv_filter ){ 2, 1, 0 }, true );
    check_filters( ( clv_filter ){ 1, 2, 0 }, ( clv_filter ){ 2, 2, 0 }, false );
    check_filters( ( clv_filter ){ 1, 1, 0 }, ( clv_filter ){ 2, 1, 0 }, false );
    check_filters( ( clv_filter ){ 1, 0, 0 }, ( clv_filter ){ 1, 1, 0 }, false );
    check_filters( ( clv_filter ){ 0, UINT64_MAX, 0 }, ( clv_filter ){ 1, UINT64_MAX, 0 }, false );
    check_filters( ( clv_filter ){ 3, 4, 0 }, ( clv_filter ){ 4, 2, 0 }, true );
}

static void all_64_categories_count( void )
{
    const uint64_t top = (uint64_t)1 << 63;
    const uint64_t middle = (uint64_t)1 << 32;
    check_filters( ( clv_filter ){ top, middle, 0 }, ( clv_filter ){ middle, top, 0 }, true );
    check_filters( ( clv_filter ){ top, middle, 0 }, ( clv_filter ){ middle, ~top, 0 }, false );
    check_filters( ( clv_filter ){ middle, UINT64_MAX, 0 }, ( clv_filter ){ 1, 0xFFFFFFFFu, 0 }, false );
}

static void equal_groups_decide_before_masks( void )
{
    check_filters( ( clv_filter ){ 1, 0, 5 }, ( clv_filter ){ 1, 0, 5 }, true );
    check_filters( ( clv_filter ){ 1, 1, -5 }, ( clv_filter ){ 1, 1, -5 }, false );
    check_filters( ( clv_filter ){ 1, 1, 5 }, ( clv_filter ){ 1, 1, -5 }, true );
    check_filters( ( clv_filter ){ 1, 0, 5 }, ( clv_filter ){ 1, 1, 6 }, false );
    check_filters( ( clv_filter ){ 1, 1, -5 }, ( clv_filter ){ 1, 1, -6 }, true );
    check_filters( ( clv_filter ){ 1, 0, 0 }, ( clv_filter ){ 1, 0, 0 }, false );
    check_filters( ( clv_filter ){ 1, 0, INT32_MAX }, ( clv_filter ){ 1, 0, INT32_MAX }, true );
    check_filters( ( clv_filter ){ 1, 1, INT32_MIN }, ( clv_filter ){ 1, 1, INT32_MIN }, false );
}

// ---- static pairs

static void static_pairs_are_left_out_where_the_def_says( void )
{
    for ( uint32_t skip = 0; skip < 2; ++skip )
    {
        clv_space_def def = clv_default_space_def();
        def.skip_static_pairs = skip != 0;
        space_group all;
        space_group_open( &all, &def, NULL );
        const clv_aabb boxes[3] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ),
            test_cube( 2, 0, 0, 1 ) };
        clv_id ids[3];
        const bool hints[2] = { true, true };
        const bool no_hints[2] = { false, false };
        space_group_add( &all, boxes, 3, ids );
        const clv_pair every[] = { { 0, 1 }, { 0, 2 }, { 1, 2 } };
        const clv_pair moving[] = { { 0, 1 }, { 1, 2 } };
        space_group_expect( &all, every, 3 );
        const clv_id outer[2] = { ids[0], ids[2] };
        space_group_set_static( &all, outer, hints, 2 );
        space_group_expect( &all, skip != 0 ? moving : every, skip != 0 ? 2 : 3 );
        // Static is a hint: the object moves all the same.
        const clv_aabb away = test_cube( 100, 0, 0, 1 );
        space_group_move( &all, &ids[0], &away, 1 );
        space_group_expect( &all, &every[2], 1 );
        space_group_move( &all, &ids[0], &boxes[0], 1 );
        space_group_set_static( &all, outer, no_hints, 2 );
        space_group_expect( &all, every, 3 );
        space_group_close( &all );
    }
}

static void static_pairs_are_left_out_even_in_positive_groups( void )
{
    clv_space_def def = clv_default_space_def();
    def.skip_static_pairs = true;
    space_group all;
    space_group_open( &all, &def, NULL );
    const clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ) };
    const clv_filter filters[2] = { { 1, 0, 3 }, { 1, 0, 3 } };
    const bool hints[2] = { true, true };
    clv_id ids[2];
    space_group_add( &all, boxes, 2, ids );
    space_group_set_filter( &all, ids, filters, 2 );
    space_group_set_static( &all, ids, hints, 2 );
    space_group_expect( &all, NULL, 0 );
    space_group_close( &all );
}

// ---- the callback

typedef struct asked
{
    clv_pair pairs[4096];
    uint32_t count;
    uint32_t refuse; ///< pairs whose a + b is a multiple of this do not count; 0: all count
} asked;

static bool ask( const clv_space* space, clv_pair pair, void* user )
{
    asked* log = user;
    CHECK( log->count < TEST_COUNT( log->pairs ) );
    CHECK( pair.a < pair.b );
    // Functions of a const space may be called from here.
    CHECK( clv_space_contains( space, clv_space_id_at( space, pair.a ) ) );
    CHECK( clv_space_contains( space, clv_space_id_at( space, pair.b ) ) );
    log->pairs[log->count++] = pair;
    return log->refuse == 0 || ( pair.a + pair.b ) % log->refuse != 0;
}

enum
{
    CROWD = 60,
};

typedef struct crowd_space
{
    clv_space* space;
    asked log;
    clv_id ids[CROWD];
    clv_aabb boxes[CROWD];
} crowd_space;

static void crowd_open( crowd_space* crowd, test_variant variant, bool sorted )
{
    memset( crowd, 0, sizeof( *crowd ) );
    clv_space_def def = clv_default_space_def();
    def.filter = ask;
    def.filter_user = &crowd->log;
    def.sorted = sorted;
    crowd->space = test_space_make( variant, &def );
    crowd->log.refuse = 3;
    test_random random = test_random_make( 21 );
    for ( uint32_t i = 0; i < CROWD; ++i )
    {
        crowd->boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, CROWD / 2, &random );
    }
    CHECK_OK( clv_space_add( crowd->space, crowd->boxes, CROWD, crowd->ids ) );
}

// What was asked and accepted stands in the list in the order of asking.
static void check_asked_in_list_order( const crowd_space* crowd )
{
    clv_pair_view view = clv_space_pairs( crowd->space );
    uint64_t at = 0;
    for ( uint32_t i = 0; i < crowd->log.count; ++i )
    {
        clv_pair pair = crowd->log.pairs[i];
        if ( ( pair.a + pair.b ) % crowd->log.refuse == 0 )
        {
            continue;
        }
        while ( at < view.count && ( view.pairs[at].a != pair.a || view.pairs[at].b != pair.b ) )
        {
            at += 1;
        }
        CHECK( at < view.count );
    }
}

static void the_callback_is_asked_once_in_list_order( void )
{
    for ( uint32_t i = 0; i < test_variant_count() * 2; ++i )
    {
        crowd_space* crowd = test_alloc( 1, sizeof( *crowd ) );
        crowd_open( crowd, test_variant_at( i / 2 ), i % 2 == 1 );
        CHECK_OK( clv_space_update( crowd->space ) );
        clv_stats stats = clv_space_stats( crowd->space );
        CHECK( stats.pair_count > 10 && stats.candidate_count > stats.pair_count );
        CHECK_EQUAL( crowd->log.count, stats.candidate_count );
        check_asked_in_list_order( crowd );
        clv_pair_view view = clv_space_pairs( crowd->space );
        for ( uint64_t p = 0; p < view.count; ++p )
        {
            CHECK( ( view.pairs[p].a + view.pairs[p].b ) % 3 != 0 );
        }

        // The next frames, with and without movement that changes no pair, ask nothing.
        uint64_t count = stats.pair_count;
        crowd->log.count = 0;
        for ( uint32_t frame = 0; frame < 3; ++frame )
        {
            CHECK_OK( clv_space_move( crowd->space, crowd->ids, crowd->boxes, frame == 0 ? 0 : CROWD ) );
            CHECK_OK( clv_space_update( crowd->space ) );
            CHECK_EQUAL( clv_space_pairs( crowd->space ).count, count );
            CHECK_EQUAL( crowd->log.count, 0 );
        }
        clv_space_destroy( crowd->space );
        free( crowd );
    }
}

static uint32_t pairs_of( const crowd_space* crowd, uint32_t index )
{
    uint32_t count = 0;
    for ( uint32_t other = 0; other < CROWD; ++other )
    {
        count += other != index && clv_aabb_overlap( crowd->boxes[index], crowd->boxes[other] );
    }
    return count;
}

static uint32_t busiest( const crowd_space* crowd )
{
    uint32_t best = 0;
    for ( uint32_t i = 1; i < CROWD; ++i )
    {
        best = pairs_of( crowd, i ) > pairs_of( crowd, best ) ? i : best;
    }
    return best;
}

static void check_asked_about( const crowd_space* crowd, uint32_t index )
{
    CHECK_EQUAL( crowd->log.count, pairs_of( crowd, index ) );
    for ( uint32_t i = 0; i < crowd->log.count; ++i )
    {
        CHECK( crowd->log.pairs[i].a == index || crowd->log.pairs[i].b == index );
    }
}

static void a_refilter_asks_again_about_its_objects_only( void )
{
    for ( uint32_t i = 0; i < test_variant_count() * 2; ++i )
    {
        crowd_space* crowd = test_alloc( 1, sizeof( *crowd ) );
        crowd_open( crowd, test_variant_at( i / 2 ), i % 2 == 1 );
        CHECK_OK( clv_space_update( crowd->space ) );
        uint32_t index = busiest( crowd );
        CHECK( pairs_of( crowd, index ) > 1 );

        crowd->log.count = 0;
        CHECK_OK( clv_space_refilter( crowd->space, &crowd->ids[index], 1 ) );
        CHECK_OK( clv_space_update( crowd->space ) );
        check_asked_about( crowd, index );
        check_asked_in_list_order( crowd );

        crowd->log.count = 0;
        const clv_filter filter = clv_default_filter();
        CHECK_OK( clv_space_set_filter( crowd->space, &crowd->ids[index], &filter, 1 ) );
        CHECK_OK( clv_space_update( crowd->space ) );
        check_asked_about( crowd, index );

        crowd->log.count = 0;
        CHECK_OK( clv_space_update( crowd->space ) );
        CHECK_EQUAL( crowd->log.count, 0 );
        clv_space_destroy( crowd->space );
        free( crowd );
    }
}

static void a_new_object_in_an_old_slot_is_asked_about( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        crowd_space* crowd = test_alloc( 1, sizeof( *crowd ) );
        crowd_open( crowd, test_variant_at( i ), false );
        CHECK_OK( clv_space_update( crowd->space ) );
        uint32_t index = busiest( crowd );
        clv_id fresh;
        crowd->log.count = 0;
        CHECK_OK( clv_space_remove_one( crowd->space, crowd->ids[index] ) );
        CHECK_OK( clv_space_add_one( crowd->space, crowd->boxes[index], &fresh ) );
        CHECK_EQUAL( fresh.index, index );
        CHECK_OK( clv_space_update( crowd->space ) );
        check_asked_about( crowd, index );
        clv_space_destroy( crowd->space );
        free( crowd );
    }
}

static void the_callbacks_new_answer_counts_after_a_refilter( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        crowd_space* crowd = test_alloc( 1, sizeof( *crowd ) );
        crowd_open( crowd, test_variant_at( i ), false );
        crowd->log.refuse = 0;
        CHECK_OK( clv_space_update( crowd->space ) );
        uint64_t all = clv_space_pairs( crowd->space ).count;
        crowd->log.refuse = 1; // from now on nothing counts, but no answer was asked for again
        CHECK_OK( clv_space_update( crowd->space ) );
        CHECK_EQUAL( clv_space_pairs( crowd->space ).count, all );
        uint32_t index = busiest( crowd );
        CHECK_OK( clv_space_refilter( crowd->space, &crowd->ids[index], 1 ) );
        CHECK_OK( clv_space_update( crowd->space ) );
        CHECK_EQUAL( clv_space_pairs( crowd->space ).count, all - pairs_of( crowd, index ) );
        CHECK_OK( clv_space_refilter( crowd->space, crowd->ids, CROWD ) );
        CHECK_OK( clv_space_update( crowd->space ) );
        CHECK_EQUAL( clv_space_pairs( crowd->space ).count, 0 );
        crowd->log.refuse = 0;
        CHECK_OK( clv_space_refilter( crowd->space, crowd->ids, CROWD ) );
        CHECK_OK( clv_space_update( crowd->space ) );
        CHECK_EQUAL( clv_space_pairs( crowd->space ).count, all );
        clv_space_destroy( crowd->space );
        free( crowd );
    }
}

static void a_refilter_outlives_a_failed_update( void )
{
    for ( uint32_t i = 0; i < test_variant_count() * 2; ++i )
    {
        asked* log = test_alloc( 1, sizeof( asked ) );
        clv_space_def def = clv_default_space_def();
        def.filter = ask;
        def.filter_user = log;
        def.sorted = i % 2 == 1;
        def.max_pairs = 3;
        clv_space* space = test_space_make( test_variant_at( i / 2 ), &def );
        const clv_aabb apart[4] = { test_cube( 0, 0, 0, 1 ), test_cube( 2, 0, 0, 1 ), test_cube( 4, 0, 0, 1 ),
            test_cube( 6, 0, 0, 1 ) };
        const clv_aabb together[4] = { test_cube( 0, 0, 0, 1 ), test_cube( 0, 0, 0, 1 ),
            test_cube( 0, 0, 0, 1 ), test_cube( 0, 0, 0, 1 ) };
        clv_id ids[4];
        CHECK_OK( clv_space_add( space, apart, 4, ids ) );
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( clv_space_pairs( space ).count, 3 );
        CHECK_OK( clv_space_refilter( space, &ids[0], 1 ) );
        CHECK_OK( clv_space_move( space, ids, together, 4 ) );
        CHECK_RESULT( clv_space_update( space ), CLV_TOO_MANY_PAIRS );
        CHECK_OK( clv_space_move( space, ids, apart, 4 ) );
        log->refuse = 1; // a new answer, which pair (0, 1) alone may get
        log->count = 0;
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( log->count, 1 );
        CHECK_EQUAL( log->pairs[0].a, 0 );
        CHECK_EQUAL( clv_space_pairs( space ).count, 2 );
        clv_space_destroy( space );
        free( log );
    }
}

static void the_callback_is_asked_only_about_what_passed_the_filters( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        crowd_space* crowd = test_alloc( 1, sizeof( *crowd ) );
        crowd_open( crowd, test_variant_at( i ), false );
        clv_filter filters[CROWD];
        for ( uint32_t k = 0; k < CROWD; ++k )
        {
            filters[k] = k < CROWD / 2 ? ( clv_filter ){ 1, 0, -1 } : ( clv_filter ){ 1, 0, 1 };
        }
        CHECK_OK( clv_space_set_filter( crowd->space, crowd->ids, filters, CROWD ) );
        CHECK_OK( clv_space_update( crowd->space ) );
        CHECK( crowd->log.count > 0 );
        for ( uint32_t k = 0; k < crowd->log.count; ++k )
        {
            CHECK( crowd->log.pairs[k].a >= CROWD / 2 );
        }
        clv_space_destroy( crowd->space );
        free( crowd );
    }
}

static void a_refilter_without_a_callback_is_legal( void )
{
    space_group all;
    space_group_open( &all, NULL, NULL );
    const clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ) };
    const clv_pair pair = { 0, 1 };
    clv_id ids[2];
    space_group_add( &all, boxes, 2, ids );
    space_group_expect( &all, &pair, 1 );
    space_group_refilter( &all, ids, 2 );
    space_group_expect( &all, &pair, 1 );
    space_group_close( &all );
}

// The longest row of places without a hole: the longest unsuccessful look-up.
static uint64_t longest_row( const pair_keys* decisions )
{
    uint64_t longest = 0, row = 0;
    for ( uint64_t i = 0; i < decisions->capacity; ++i )
    {
        row = decisions->places[i] == 0 ? 0 : row + 1;
        longest = row > longest ? row : longest;
    }
    return longest;
}

static void answers_about_a_hub_lie_spread( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    for ( uint32_t hub_is_first = 0; hub_is_first < 2; ++hub_is_first )
    {
        pair_keys decisions = { 0 };
        for ( uint32_t i = 1; i <= 5000; ++i )
        {
            clv_pair pair = hub_is_first != 0 ? ( clv_pair ){ 0, i } : ( clv_pair ){ i, 9000 };
            CHECK( clv_pair_decisions_put( &decisions, &memory, pair, i % 3 == 0 ) );
        }
        CHECK( longest_row( &decisions ) < 100 );
        for ( uint32_t i = 1; i <= 5000; ++i )
        {
            clv_pair pair = hub_is_first != 0 ? ( clv_pair ){ 0, i } : ( clv_pair ){ i, 9000 };
            bool answer = false;
            CHECK( clv_pair_decisions_get( &decisions, pair, &answer ) && answer == ( i % 3 == 0 ) );
        }
        clv_pair_keys_free( &decisions, &memory );
    }
    CHECK_EQUAL( memory.bytes, 0 );
}

// ---- many objects with few different filters

enum
{
    CLASSED = 700
};

typedef struct classed_world
{
    clv_space *filtered, *all; ///< the same calls, but for filters
    clv_id ids[CLASSED];
    clv_filter filters[CLASSED];
    bool statics[CLASSED];
    test_random random;
} classed_world;

static clv_aabb classed_box( classed_world* w )
{
    float x = test_random_between( &w->random, 0, 5 ), y = test_random_between( &w->random, 0, 5 );
    return test_cube( x, y, test_random_between( &w->random, 0, 5 ), 1 );
}

static clv_filter classed_filter( classed_world* w, uint32_t kinds )
{
    uint32_t kind = test_random_below( &w->random, kinds );
    return ( clv_filter ){ (uint64_t)1 << kind % 64, ~( (uint64_t)1 << ( kind * 7 + 3 ) % 64 ),
        kind % 5 == 0 ? (int32_t)( kind / 5 ) - 3 : 0 };
}

// The rule of types.h once more.
static bool classed_may_pair( const classed_world* w, clv_pair pair, bool skips_static )
{
    const clv_filter *a = &w->filters[pair.a], *b = &w->filters[pair.b];
    if ( skips_static && w->statics[pair.a] && w->statics[pair.b] )
    {
        return false;
    }
    if ( a->group != 0 && a->group == b->group )
    {
        return a->group > 0;
    }
    return ( a->category & b->mask ) != 0 && ( b->category & a->mask ) != 0;
}

static void classed_add( classed_world* w, uint32_t i, const clv_filter* filter )
{
    clv_aabb box = classed_box( w );
    clv_add_def with = clv_default_add_def();
    with.boxes = &box;
    with.filters = filter;
    with.is_static = filter != NULL ? &w->statics[i] : NULL;
    clv_id id;
    CHECK_OK( clv_space_add( w->all, &box, 1, &id ) );
    CHECK_OK( filter != NULL ? clv_space_add_with( w->filtered, &with, 1, &w->ids[i] )
                             : clv_space_add( w->filtered, &box, 1, &w->ids[i] ) );
    CHECK_EQUAL( id.index, i );
    CHECK_EQUAL( w->ids[i].index, i );
    w->filters[i] = filter != NULL ? *filter : clv_default_filter();
    w->statics[i] = filter != NULL && w->statics[i];
}

static void classed_change( classed_world* w, uint32_t kinds )
{
    for ( uint32_t change = 0; change < 20; ++change )
    {
        uint32_t i = test_random_below( &w->random, CLASSED );
        clv_filter filter = classed_filter( w, kinds );
        w->statics[i] = test_random_below( &w->random, 2 ) != 0;
        switch ( test_random_below( &w->random, 4 ) )
        {
        case 0:
            w->filters[i] = filter;
            CHECK_OK( clv_space_set_filter( w->filtered, &w->ids[i], &filter, 1 ) );
            CHECK_OK( clv_space_set_static( w->filtered, &w->ids[i], &w->statics[i], 1 ) );
            break;
        case 1: // another object in the same slot, with a filter of its own or without
        case 2:
            CHECK_OK( clv_space_remove( w->filtered, &w->ids[i], 1 ) );
            CHECK_OK( clv_space_remove( w->all, &w->ids[i], 1 ) );
            classed_add( w, i, change % 2 == 0 ? &filter : NULL );
            break;
        default: CHECK_OK( clv_space_set_static( w->filtered, &w->ids[i], &w->statics[i], 1 ) ); break;
        }
    }
}

static void classed_check( const classed_world* w, bool skips_static )
{
    clv_pair_view all = clv_space_pairs( w->all ), some = clv_space_pairs( w->filtered );
    uint64_t kept = 0;
    CHECK( all.count > CLASSED );
    for ( uint64_t i = 0; i < all.count; ++i )
    {
        if ( classed_may_pair( w, all.pairs[i], skips_static ) )
        {
            CHECK( kept < some.count );
            CHECK( some.pairs[kept].a == all.pairs[i].a && some.pairs[kept].b == all.pairs[i].b );
            kept += 1;
        }
    }
    CHECK_EQUAL( kept, some.count );
}

// One class each, all 64 that a table has room for, one more, and as many as objects: the list is the
// unfiltered one without the pairs that may not meet, whatever changed since the table was made.
static void any_number_of_different_filters_thins_the_list( void )
{
    static const uint32_t kinds[] = { 1, 4, 64, 65, 300 };
    for ( uint32_t run = 0; run < 2 * TEST_COUNT( kinds ); ++run )
    {
        clv_space_def def = clv_default_space_def();
        classed_world w = { .random = test_random_make( run + 1 ) };
        CHECK_OK( clv_space_create( &def, &w.all ) );
        def.skip_static_pairs = run % 2 != 0;
        CHECK_OK( clv_space_create( &def, &w.filtered ) );
        for ( uint32_t i = 0; i < CLASSED; ++i )
        {
            clv_filter filter = classed_filter( &w, kinds[run / 2] );
            w.statics[i] = test_random_below( &w.random, 2 ) != 0;
            classed_add( &w, i, &filter );
        }
        for ( uint32_t step = 0; step < 12; ++step )
        {
            CHECK_OK( clv_space_update( w.all ) );
            CHECK_OK( clv_space_update( w.filtered ) );
            classed_check( &w, def.skip_static_pairs );
            if ( step % 3 != 0 ) // now and then nothing changes but places
            {
                classed_change( &w, kinds[run / 2] );
            }
            clv_aabb box = classed_box( &w );
            CHECK_OK( clv_space_move( w.all, &w.ids[step], &box, 1 ) );
            CHECK_OK( clv_space_move( w.filtered, &w.ids[step], &box, 1 ) );
        }
        clv_space_destroy( w.all );
        clv_space_destroy( w.filtered );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( both_masks_must_agree ),
        TEST_CASE( all_64_categories_count ),
        TEST_CASE( equal_groups_decide_before_masks ),
        TEST_CASE( static_pairs_are_left_out_where_the_def_says ),
        TEST_CASE( static_pairs_are_left_out_even_in_positive_groups ),
        TEST_CASE( the_callback_is_asked_once_in_list_order ),
        TEST_CASE( a_refilter_asks_again_about_its_objects_only ),
        TEST_CASE( a_new_object_in_an_old_slot_is_asked_about ),
        TEST_CASE( the_callbacks_new_answer_counts_after_a_refilter ),
        TEST_CASE( a_refilter_outlives_a_failed_update ),
        TEST_CASE( the_callback_is_asked_only_about_what_passed_the_filters ),
        TEST_CASE( a_refilter_without_a_callback_is_legal ),
        TEST_CASE( answers_about_a_hub_lie_spread ),
        TEST_CASE( any_number_of_different_filters_thins_the_list ),
    };
    return test_run( "filter", cases, TEST_COUNT( cases ), argc, argv );
}
