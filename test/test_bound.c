// SPDX-License-Identifier: MIT
// Memory is bounded by max_pairs, and by nothing but the boxes where pairs are visited, however long the
// world rests: what is remembered of pairs to save a search is not worth more than the promise.
#include "heap.h"

#include <stdlib.h>
#include <string.h>

enum
{
    BOXES = 1500,
    UPDATES = 30,
    MANY = 250000,
    MIB = 1 << 20
};

typedef struct world
{
    heap memory;
    clv_space* space;
    test_random random;
    clv_aabb boxes[BOXES];
    clv_id ids[BOXES];
    uint32_t tick;
} world;

// Boxes in a cube of this side, and their own about 1: 1 makes nearly all of them touch, 30 a few each.
static void place( world* w, float side )
{
    for ( uint32_t i = 0; i < BOXES; ++i )
    {
        w->boxes[i] = test_cube( test_random_between( &w->random, 0, side ),
            test_random_between( &w->random, 0, side ), test_random_between( &w->random, 0, side ), 0.5f );
    }
}

static world* open_world( test_variant variant, clv_space_def def, float side )
{
    world* w = test_alloc( 1, sizeof( world ) );
    w->memory = ( heap ){ 0 };
    w->tick = 0;
    w->random = test_random_make( 3 );
    def.allocator = heap_hooks( &w->memory );
    bool is_default = variant.method == clv_method_find( METHOD_DEFAULT );
    def.settings = is_default && variant.worker_count > 1 ? "cleave.alone=0,cleave.block=256" : NULL;
    w->space = test_space_make( variant, &def );
    place( w, side );
    CHECK_OK( clv_space_add( w->space, w->boxes, BOXES, w->ids ) );
    return w;
}

static void close_world( world* w )
{
    clv_space_destroy( w->space );
    CHECK_EQUAL( w->memory.bytes, 0 );
    free( w );
}

static void move_all( world* w )
{
    CHECK_OK( clv_space_move( w->space, w->ids, w->boxes, BOXES ) );
}

static void tremble( world* w )
{
    for ( uint32_t i = 0; i < BOXES; ++i )
    {
        float by = ( i + w->tick ) % 2 == 0 ? 1e-4f : -1e-4f; // to and fro
        w->boxes[i].lower.x += by;
        w->boxes[i].upper.x += by;
    }
    w->tick += 1;
    move_all( w );
}

// The default and methods that remember pairs to save a search; methods that are made of pairs hold them all
// the same.
static const char* const s_names[] = { "cleave", "kd", "kd-incremental", "kd-complete", "sap" };

typedef void check_one( test_variant variant );

static void for_each( check_one* check )
{
    for ( uint32_t i = 0; i < TEST_COUNT( s_names ) * 2; ++i )
    {
        test_variant variant = { clv_method_find( s_names[i / 2] ), CLV_ISA_AUTO, i % 2 == 0 ? 1 : 3 };
        // The tree's rows gather alike: one of them does it with several workers.
        bool is_kin = strncmp( variant.method->name, "kd-", 3 ) == 0;
        if ( variant.worker_count == 1 || ( variant.method->has_threads && !is_kin ) )
        {
            check( variant );
        }
    }
}

static void check_failing( test_variant variant )
{
    clv_space_def def = clv_default_space_def();
    def.max_pairs = 1000;
    world* w = open_world( variant, def, 0.4f );
    for ( uint32_t i = 0; i < UPDATES; ++i )
    {
        test_where.frame = i;
        CHECK_RESULT( clv_space_update( w->space ), CLV_TOO_MANY_PAIRS );
        CHECK_EQUAL( clv_space_error( w->space ).pair_count, 1001 );
        if ( i % 2 == 0 )
        {
            tremble( w );
        }
    }
    // 1,124,250 pairs would be 9 MB.
    CHECK( w->memory.peak_bytes < 3 * MIB );
    close_world( w );
}

static void updates_that_fail_for_too_many_pairs_stay_cheap( void )
{
    for_each( check_failing );
}

typedef struct tally
{
    uint64_t count, hash;
} tally;

static bool count( const clv_pair* pairs, size_t pair_count, void* user )
{
    tally* all = user;
    all->count += pair_count;
    all->hash += test_set_hash( pairs, pair_count );
    return true;
}

static tally visit( clv_space* space )
{
    tally all = { 0, 0 };
    CHECK_OK( clv_space_visit( space, count, &all ) );
    return all;
}

static void check_visits( test_variant variant )
{
    clv_space_def def = clv_default_space_def();
    world* w = open_world( variant, def, 1.5f );
    for ( uint32_t i = 0; i < UPDATES; ++i )
    {
        test_where.frame = i;
        CHECK( visit( w->space ).count > MANY );
        if ( i % 4 != 3 )
        {
            tremble( w );
        }
    }
    CHECK( w->memory.peak_bytes < 3 * MIB );
    close_world( w );
}

static void a_space_that_is_only_visited_keeps_no_pairs( void )
{
    for_each( check_visits );
}

// A list of a few pairs, and then the world shrinks and is visited only: the list may stay, and nothing may
// grow.
static void check_list_then_visits( test_variant variant )
{
    clv_space_def def = clv_default_space_def();
    world* w = open_world( variant, def, 30 );
    for ( uint32_t i = 0; i < UPDATES; ++i )
    {
        CHECK_OK( clv_space_update( w->space ) );
        tremble( w );
    }
    place( w, 1.5f );
    move_all( w );
    for ( uint32_t i = 0; i < UPDATES; ++i )
    {
        test_where.frame = i;
        CHECK( visit( w->space ).count > MANY );
        tremble( w );
    }
    CHECK( w->memory.peak_bytes < 3 * MIB );
    close_world( w );
}

static void visits_after_a_list_grow_nothing( void )
{
    for_each( check_list_then_visits );
}

static clv_pair_view list( clv_space* space )
{
    CHECK_OK( clv_space_update( space ) );
    return clv_space_pairs( space );
}

// Lists and visits in every mixture, members coming and going: each finds what a space that never saw a visit
// lists.
static void check_mixture( test_variant variant )
{
    test_variant judge_variant = { clv_method_find( "sap" ), CLV_ISA_AUTO, 1 };
    clv_space* judge = test_space_make( judge_variant, NULL );
    world* w = open_world( variant, clv_default_space_def(), 12 );
    clv_id ids[BOXES];
    CHECK_OK( clv_space_add( judge, w->boxes, BOXES, ids ) );
    uint32_t visits = 0;
    for ( uint32_t i = 0; i < 120; ++i )
    {
        test_where.frame = i;
        clv_pair_view view = list( judge );
        bool is_visit = i > 30 && test_random_chance( &w->random, i % 40 < 20 ? 20 : 80 );
        tally all = { 0, 0 };
        if ( is_visit )
        {
            all = visit( w->space );
            visits += 1;
        }
        else
        {
            clv_pair_view own = list( w->space );
            all = ( tally ){ own.count, test_set_hash( own.pairs, own.count ) };
        }
        CHECK_EQUAL( all.count, view.count );
        CHECK_EQUAL( all.hash, test_set_hash( view.pairs, view.count ) );
        uint32_t kind = test_random_below( &w->random, 8 );
        uint32_t at = test_random_below( &w->random, BOXES );
        if ( kind < 4 )
        {
            tremble( w );
            CHECK_OK( clv_space_move( judge, ids, w->boxes, BOXES ) );
        }
        else if ( kind < 6 )
        {
            w->boxes[at] = test_cube( 6, 6, test_random_between( &w->random, 0, 12 ), 2 );
            CHECK_OK( clv_space_move_one( w->space, w->ids[at], w->boxes[at] ) );
            CHECK_OK( clv_space_move_one( judge, ids[at], w->boxes[at] ) );
        }
        else if ( kind < 7 )
        {
            w->boxes[at] = test_cube( 3, test_random_between( &w->random, 0, 12 ), 3, 1 );
            CHECK_OK( clv_space_remove_one( w->space, w->ids[at] ) );
            CHECK_OK( clv_space_remove_one( judge, ids[at] ) );
            CHECK_OK( clv_space_add_one( w->space, w->boxes[at], &w->ids[at] ) );
            CHECK_OK( clv_space_add_one( judge, w->boxes[at], &ids[at] ) );
        }
    }
    CHECK( visits > 20 );
    clv_space_destroy( judge );
    close_world( w );
}

static void lists_and_visits_may_be_mixed( void )
{
    for_each( check_mixture );
}

// Filters thin what is found: pairs that are none in the end do not fail an update, and are not kept on the
// quiet either.
static void check_filtered( test_variant variant )
{
    clv_space_def def = clv_default_space_def();
    def.max_pairs = 20000;
    world* w = open_world( variant, def, 1.5f );
    clv_filter filters[BOXES];
    for ( uint32_t i = 0; i < BOXES; ++i )
    {
        filters[i] = clv_default_filter();
        filters[i].group = i % 500 == 0 ? 0 : -1; // six meet all others, which do not meet each other
    }
    CHECK_OK( clv_space_set_filter( w->space, w->ids, filters, BOXES ) );
    for ( uint32_t i = 0; i < UPDATES; ++i )
    {
        test_where.frame = i;
        clv_pair_view view = list( w->space );
        CHECK( view.valid && view.count > 500 && view.count <= 20000 );
        CHECK( clv_space_stats( w->space ).candidate_count > MANY );
        tremble( w );
    }
    CHECK( w->memory.peak_bytes < 4 * MIB );
    close_world( w );
}

static void candidates_the_filters_drop_are_not_kept_beyond_the_limit( void )
{
    for_each( check_filtered );
}

// As many pairs as are allowed, give or take a few, and margins that would make them more.
static void check_brink( test_variant variant )
{
    world* free_world = open_world( variant, clv_default_space_def(), 12 );
    const clv_aabb aside = test_cube( -50, 0, 0, 0.5f );
    CHECK_OK( clv_space_move_one( free_world->space, free_world->ids[0], aside ) );
    uint64_t usual = list( free_world->space ).count;
    for ( int32_t more = -2; more <= 64; more += more < 2 ? 1 : 31 )
    {
        clv_space_def def = clv_default_space_def();
        def.max_pairs = (uint64_t)( (int64_t)usual + more );
        world* w = open_world( variant, def, 12 );
        for ( uint32_t i = 0; i < UPDATES; ++i )
        {
            test_where.frame = i;
            // One box that touches nothing moves, so that the world is not still.
            w->boxes[0] = test_cube( -50 - (float)i, 0, 0, 0.5f );
            CHECK_OK( clv_space_move_one( w->space, w->ids[0], w->boxes[0] ) );
            CHECK_RESULT( clv_space_update( w->space ), more < 0 ? CLV_TOO_MANY_PAIRS : CLV_OK );
            CHECK_EQUAL( clv_space_pairs( w->space ).count, more < 0 ? 0 : usual );
        }
        close_world( w );
    }
    close_world( free_world );
}

static void the_limit_is_the_same_at_rest( void )
{
    for_each( check_brink );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( updates_that_fail_for_too_many_pairs_stay_cheap ),
        TEST_CASE( a_space_that_is_only_visited_keeps_no_pairs ),
        TEST_CASE( visits_after_a_list_grow_nothing ),
        TEST_CASE( lists_and_visits_may_be_mixed ),
        TEST_CASE( candidates_the_filters_drop_are_not_kept_beyond_the_limit ),
        TEST_CASE( the_limit_is_the_same_at_rest ),
    };
    return test_run( "bound", cases, TEST_COUNT( cases ), argc, argv );
}
