// SPDX-License-Identifier: MIT
// Queries against brute force: every kind, every crowd, every instruction set and number of workers, with
// filters, margins and objects that come and go in between; and the little cases one by one.
#include "heap.h"
#include "query/query_shape.h"
#include "query_world.h"
#include "task/task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t s_sizes[] = { 0, 1, 2, 8, 9, 65, 300 };

static clv_space_def def_for( clv_isa isa, uint32_t worker_count )
{
    clv_space_def def = clv_default_space_def();
    def.isa = isa;
    def.worker_count = worker_count;
    test_where.isa = isa;
    test_where.worker_count = worker_count;
    return def;
}

static void every_query_is_brute_force( void )
{
    for ( int isa = CLV_ISA_SCALAR; isa < CLV_ISA_COUNT; ++isa )
    {
        for ( uint32_t i = 0; i < TEST_CROWD_COUNT * TEST_COUNT( s_sizes ); ++i )
        {
            if ( !clv_isa_is_supported( (clv_isa)isa ) )
            {
                continue;
            }
            clv_space_def def = def_for( (clv_isa)isa, 1 );
            test_where.seed = i;
            query_world* world = query_world_make(
                &def, (test_crowd)( i / TEST_COUNT( s_sizes ) ), s_sizes[i % TEST_COUNT( s_sizes )], i );
            CHECK_OK( clv_space_update( world->space ) );
            query_world_see( world );
            query_world_check( world, 12 );
            query_world_free( world );
        }
    }
}

// Frames with everything: what was changed since the update is seen as it was.
static void live_one( clv_isa isa, uint32_t workers, test_crowd crowd, uint32_t count, uint32_t queries )
{
    clv_space_def def = def_for( isa, workers );
    test_where.seed = (uint64_t)crowd;
    query_world* world = query_world_make( &def, crowd, count, 77 + (uint64_t)crowd );
    CHECK_OK( clv_space_update( world->space ) );
    query_world_see( world );
    query_world_check( world, 3 );
    for ( uint32_t frame = 0; frame < 6; ++frame )
    {
        test_where.frame = frame;
        if ( frame == 2 )
        {
            query_world_set_margins( world );
        }
        if ( frame == 3 )
        {
            query_world_set_filters( world );
        }
        query_world_change( world );
        query_world_check( world, 3 );
        if ( frame % 3 == 1 )
        {
            CHECK_OK( clv_space_refresh( world->space ) );
        }
        else
        {
            CHECK_OK( clv_space_update( world->space ) );
        }
        query_world_see( world );
        query_world_check( world, queries );
    }
    test_where.frame = 0;
    query_world_free( world );
}

static void changes_are_seen_at_the_update( void )
{
    for ( int crowd = 0; crowd < TEST_CROWD_COUNT; ++crowd )
    {
        live_one( clv_isa_best(), 1, (test_crowd)crowd, 250, 8 );
    }
    live_one( CLV_ISA_SCALAR, 1, TEST_CROWD_MIXED, 250, 8 );
}

// Lists long enough to be shared, and a world of several parts.
static void workers_give_the_same_answers( void )
{
    live_one( clv_isa_best(), 3, TEST_CROWD_MIXED, 120, 260 );
    clv_space_def def = def_for( clv_isa_best(), 3 );
    query_world* world = query_world_make( &def, TEST_CROWD_CLUSTER, 4200, 3 );
    CHECK_OK( clv_space_refresh( world->space ) );
    query_world_see( world );
    query_world_check( world, 260 );
    query_world_free( world );
}

// Too many nodes for the cache: lists are gone through in another order, which must not show.
static void long_lists_over_large_worlds_are_the_same( void )
{
    enum
    {
        LARGE = 150000,
        LIST = 600,
    };
    clv_space_def def = def_for( clv_isa_best(), 2 );
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    test_random random = test_random_make( 12 );
    clv_aabb* boxes = test_alloc( LARGE, sizeof( clv_aabb ) );
    for ( uint32_t i = 0; i < LARGE; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, LARGE, &random );
    }
    CHECK_OK( clv_space_add( space, boxes, LARGE, NULL ) );
    CHECK_OK( clv_space_refresh( space ) );
    clv_ray rays[LIST];
    clv_vec3 points[LIST];
    clv_hit hits[LIST], near[LIST * 2];
    for ( uint32_t i = 0; i < LIST; ++i )
    {
        points[i] = boxes[test_random_below( &random, LARGE )].upper;
        clv_vec3 way = { test_random_between( &random, -1, 1 ), test_random_between( &random, -1, 1 ), 0.1f };
        rays[i] = ( clv_ray ){ points[i], way, INFINITY };
    }
    clv_queries of_rays = clv_query_rays( rays, LIST ), of_points = clv_query_points( points, LIST );
    CHECK_OK( clv_space_query_closest( space, &of_rays, hits, NULL ) );
    CHECK_OK( clv_space_query_nearest( space, &of_points, 2, INFINITY, near, NULL ) );
    for ( uint32_t i = 0; i < LIST; ++i )
    {
        clv_hit hit, two[2];
        clv_space_cast_ray( space, rays[i], &hit );
        CHECK( memcmp( &hit, &hits[i], sizeof( hit ) ) == 0 );
        CHECK_OK( clv_space_nearest( space, points[i], 2, INFINITY, two ) );
        CHECK( memcmp( two, near + 2 * i, sizeof( two ) ) == 0 );
    }
    free( boxes );
    clv_space_destroy( space );
}

// ---- little cases

static clv_space* space_of( const clv_aabb* boxes, uint32_t count, clv_id* ids )
{
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_OK( clv_space_add( space, boxes, count, ids ) );
    return space;
}

static const clv_aabb s_three[3] = { { { 0, 0, 0 }, { 1, 1, 1 } }, { { 2, 0, 0 }, { 3, 1, 1 } },
    { { 2, 0, 0 }, { 3, 1, 1 } } };

static void nothing_is_seen_before_the_first_update( void )
{
    clv_space* space = space_of( s_three, 3, NULL );
    clv_hit hit;
    uint64_t count = 7;
    CHECK( !clv_space_cast_ray( space, clv_segment( ( clv_vec3 ){ 0 }, ( clv_vec3 ){ 9, 0, 0 } ), &hit ) );
    CHECK_EQUAL( hit.index, CLV_NO_HIT );
    CHECK_OK( clv_space_overlap_box( space, s_three[0], NULL, 0, &count ) );
    CHECK_EQUAL( count, 0 );
    CHECK_OK( clv_space_update( space ) );
    CHECK_RESULT( clv_space_overlap_box( space, s_three[0], NULL, 0, &count ), CLV_NO_ROOM );
    CHECK_EQUAL( count, 1 );
    clv_space_clear( space );
    CHECK_OK( clv_space_overlap_box( space, s_three[0], NULL, 0, &count ) );
    CHECK_EQUAL( count, 0 );
    clv_space_destroy( space );
}

static void touching_counts_and_of_equals_the_lowest_slot( void )
{
    clv_space* space = space_of( s_three, 3, NULL );
    CHECK_OK( clv_space_update( space ) );
    clv_hit hits[4];
    uint64_t count = 0;
    clv_aabb between = test_box( 1, 1, 1, 2, 2, 2 );
    CHECK_OK( clv_space_overlap_box( space, between, hits, 4, &count ) );
    CHECK_EQUAL( count, 3 );
    CHECK( hits[0].index == 0 && hits[1].index == 1 && hits[2].index == 2 );
    clv_ray along = { { 1.5f, 1, 1 }, { 1, 0, 0 }, INFINITY };
    CHECK( clv_space_cast_ray( space, along, hits ) );
    CHECK( hits[0].index == 1 && hits[0].t == 0.5f );
    clv_ray inside = { { 2.5f, 0.5f, 0.5f }, { -1, 0, 0 }, 1 };
    CHECK( clv_space_cast_ray( space, inside, hits ) );
    CHECK( hits[0].index == 1 && hits[0].t == 0 );
    clv_ray still = { { 1, 1, 1 }, { 0, 0, 0 }, 0 };
    CHECK( clv_space_cast_ray( space, still, hits ) );
    CHECK( hits[0].index == 0 && hits[0].t == 0 );
    clv_ray just_short = { { 1.5f, 0.5f, 0.5f }, { 1, 0, 0 }, 0.49f };
    CHECK( !clv_space_cast_ray( space, just_short, hits ) );
    CHECK( clv_space_is_blocked( space, ( clv_vec3 ){ 1.5f, 0, 0 }, ( clv_vec3 ){ 2, 0, 0 } ) );
    CHECK( !clv_space_is_blocked( space, ( clv_vec3 ){ 1.5f, 0, 0 }, ( clv_vec3 ){ 1.75f, 9, 0 } ) );
    CHECK_OK( clv_space_nearest( space, ( clv_vec3 ){ 1.75f, 0.5f, 0.5f }, 4, INFINITY, hits ) );
    CHECK( hits[0].index == 1 && hits[1].index == 2 && hits[2].index == 0 && hits[3].index == CLV_NO_HIT );
    CHECK( hits[0].t == 0.25f && hits[1].t == 0.25f && hits[2].t == 0.75f );
    clv_space_destroy( space );
}

// Squares that no float holds: which is nearer only doubles know. (Found by the fuzzer.)
static void far_neighbours_are_told_apart( void )
{
    clv_aabb boxes[64];
    for ( int i = 0; i < 64; ++i )
    {
        float at = 1e37f * (float)( 64 - i % 32 ) / 2;
        boxes[i] = test_box( at, 0, 0, at, 1, (float)i );
    }
    clv_space* space = space_of( boxes, 64, NULL );
    CHECK_OK( clv_space_update( space ) );
    clv_hit hits[3];
    CHECK_OK( clv_space_nearest( space, ( clv_vec3 ){ -1e38f, 0, 0 }, 3, INFINITY, hits ) );
    CHECK( hits[0].index == 31 && hits[1].index == 63 && hits[2].index == 30 );
    clv_space_destroy( space );
}

// A distance that is a float short of the neighbour: lanes let it pass, doubles do not. On every instruction
// set.
static void neighbours_end_at_the_distance( void )
{
    for ( int isa = CLV_ISA_SCALAR; isa < CLV_ISA_COUNT; ++isa )
    {
        if ( !clv_isa_is_supported( (clv_isa)isa ) )
        {
            continue;
        }
        clv_space_def def = def_for( (clv_isa)isa, 1 );
        clv_space* space = NULL;
        CHECK_OK( clv_space_create( &def, &space ) );
        clv_aabb box = test_box( 3, 0, 0, 4, 1, 1 );
        CHECK_OK( clv_space_add( space, &box, 1, NULL ) );
        CHECK_OK( clv_space_update( space ) );
        clv_vec3 points[6];
        clv_hit hits[6];
        for ( int i = 0; i < 6; ++i )
        {
            points[i] = ( clv_vec3 ){ 0, 0.5f, 0.5f };
        }
        clv_queries list = clv_query_points( points, 6 );
        for ( uint32_t count = 1; count <= 6; count += 5 ) // alone, and in turn
        {
            list.count = count;
            CHECK_OK( clv_space_query_nearest( space, &list, 1, 3, hits, NULL ) );
            CHECK( hits[0].index == 0 && hits[0].t == 3 && hits[count - 1].index == 0 );
            CHECK_OK( clv_space_query_nearest( space, &list, 1, nextafterf( 3, 0 ), hits, NULL ) );
            CHECK( hits[0].index == CLV_NO_HIT && hits[count - 1].index == CLV_NO_HIT );
        }
        clv_space_destroy( space );
    }
}

static void moved_is_seen_where_it_was_and_removed_is_not_seen( void )
{
    clv_id ids[3];
    clv_space* space = space_of( s_three, 3, ids );
    CHECK_OK( clv_space_update( space ) );
    clv_hit hits[4];
    uint64_t count = 0;
    CHECK_OK( clv_space_overlap_box( space, s_three[1], hits, 4, &count ) );
    CHECK_EQUAL( count, 2 );
    CHECK_OK( clv_space_move_one( space, ids[1], test_cube( 50, 0, 0, 1 ) ) );
    CHECK_OK( clv_space_remove_one( space, ids[2] ) );
    clv_id newcomer;
    CHECK_OK( clv_space_add_one( space, s_three[2], &newcomer ) );
    CHECK_EQUAL( newcomer.index, 2 );
    CHECK_OK( clv_space_overlap_box( space, s_three[1], hits, 4, &count ) );
    CHECK( count == 1 && hits[0].index == 1 );
    CHECK_OK( clv_space_update( space ) );
    CHECK_OK( clv_space_overlap_box( space, s_three[1], hits, 4, &count ) );
    CHECK( count == 1 && hits[0].index == 2 );
    clv_space_destroy( space );
}

// With a motion the box of the update is the swept one, until the next update or refresh.
static void a_motion_is_seen_until_it_is_spent( void )
{
    clv_id ids[3];
    clv_space* space = space_of( s_three, 3, ids );
    clv_vec3 up = { 0, 9, 0 };
    clv_aabb above = test_cube( 0.5f, 8, 0.5f, 0.25f );
    uint64_t count = 0;
    clv_hit hits[4];
    CHECK_OK( clv_space_set_motion( space, ids, &up, 1 ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_OK( clv_space_overlap_box( space, above, hits, 4, &count ) );
    CHECK( count == 1 && hits[0].index == 0 );
    CHECK_OK( clv_space_set_motion( space, ids + 1, &up, 1 ) ); // drops the spent one; what is seen stays
    CHECK_OK( clv_space_overlap_box( space, above, hits, 4, &count ) );
    CHECK_EQUAL( count, 1 );
    CHECK_OK( clv_space_update( space ) );
    CHECK_OK( clv_space_overlap_box( space, above, hits, 4, &count ) );
    CHECK_EQUAL( count, 0 );
    CHECK_OK( clv_space_refresh( space ) );
    clv_aabb beside = test_cube( 2.5f, 8, 0.5f, 0.25f );
    CHECK_OK( clv_space_overlap_box( space, beside, hits, 4, &count ) );
    CHECK_EQUAL( count, 0 );
    clv_space_destroy( space );
}

// The first question of all comes too late to know where boxes were.
static void a_first_question_after_a_move_is_stale( void )
{
    clv_id ids[3];
    clv_space* space = space_of( s_three, 3, ids );
    CHECK_OK( clv_space_update( space ) );
    CHECK_OK( clv_space_move_one( space, ids[1], test_cube( 50, 0, 0, 1 ) ) );
    uint64_t count = 0;
    clv_hit hits[4];
    CHECK_RESULT( clv_space_overlap_box( space, s_three[1], hits, 4, &count ), CLV_STALE );
    CHECK_OK( clv_space_refresh( space ) );
    CHECK_OK( clv_space_overlap_box( space, s_three[1], hits, 4, &count ) );
    CHECK( count == 1 && hits[0].index == 2 );
    // From the first query on the boxes of updates without queries are kept too.
    CHECK_OK( clv_space_move_one( space, ids[1], s_three[1] ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_OK( clv_space_move_one( space, ids[1], test_cube( 70, 0, 0, 1 ) ) );
    CHECK_OK( clv_space_overlap_box( space, s_three[1], hits, 4, &count ) );
    CHECK_EQUAL( count, 2 );
    clv_space_destroy( space );
}

// Nothing that cannot be asked is asked, and the position says which.
static void bad_queries_are_refused_by_position( void )
{
    clv_space* space = space_of( s_three, 3, NULL );
    CHECK_OK( clv_space_update( space ) );
    clv_plane planes[2][1] = { { { { 1, 0, 0 }, 1 } }, { { { NAN, 0, 0 }, 1 } } };
    clv_half_spaces regions[2] = { { planes[0], 1 }, { planes[1], 1 } };
    const clv_vec3 o = { 0, 0, 0 }, n = { 0, NAN, 0 }, i = { INFINITY, 0, 0 };
    clv_vec3 points[2] = { o, n };
    clv_aabb boxes[2] = { { o, o }, { { 1, 0, 0 }, o } };
    clv_sphere spheres[2] = { { o, 1 }, { o, -1 } };
    clv_neighbourhood around[2] = { { { o, o }, INFINITY }, { { o, o }, NAN } };
    clv_capsule capsules[2] = { { o, o, 1 }, { o, i, 1 } };
    clv_oriented_box turned[2] = { { o, o, { 0, 0, 0, 1 } }, { o, { -1, 0, 0 }, { 0, 0, 0, 1 } } };
    clv_ray rays[2] = { { o, o, INFINITY }, { o, i, 1 } };
    clv_box_cast box_casts[2] = { { { o, o }, o, 1 }, { { o, i }, o, 1 } };
    clv_sphere_cast sphere_casts[2] = { { { o, 1 }, o, 1 }, { { o, INFINITY }, o, 1 } };
    clv_capsule_cast capsule_casts[2] = { { { o, o, 1 }, o, 1 }, { { o, o, 1 }, o, NAN } };
    const clv_queries lists[] = { clv_query_points( points, 2 ), clv_query_boxes( boxes, 2 ),
        clv_query_spheres( spheres, 2 ), clv_query_neighbourhoods( around, 2 ),
        clv_query_capsules( capsules, 2 ), clv_query_oriented_boxes( turned, 2 ),
        clv_query_half_spaces( regions, 2 ), clv_query_rays( rays, 2 ), clv_query_box_casts( box_casts, 2 ),
        clv_query_sphere_casts( sphere_casts, 2 ), clv_query_capsule_casts( capsule_casts, 2 ) };
    CHECK_EQUAL( TEST_COUNT( lists ), QUERY_KINDS );
    for ( size_t kind = 0; kind < TEST_COUNT( lists ); ++kind )
    {
        clv_hit hits[8];
        uint64_t offsets[3] = { 7, 7, 7 };
        uint32_t position = 9;
        clv_result wanted = lists[kind].kind == CLV_QUERY_BOX ? CLV_BAD_BOX : CLV_BAD_ARGUMENT;
        clv_query_lists out = { offsets, hits, 8, 5, 9 };
        CHECK_RESULT( clv_space_query_all( space, &lists[kind], &out ), wanted );
        CHECK( out.position == 1 && out.count == 5 && offsets[0] == 7 );
        CHECK_RESULT( clv_space_query_any( space, &lists[kind], hits, &position ), wanted );
        CHECK_EQUAL( position, 1 );
        clv_queries good = lists[kind];
        good.count = 1;
        CHECK_OK( clv_space_query_any( space, &good, hits, NULL ) );
        good.kind = (clv_query_kind)( kind % 2 == 0 ? 0 : QUERY_KINDS + 1 );
        CHECK_RESULT( clv_space_query_any( space, &good, hits, &position ), CLV_BAD_ARGUMENT );
        CHECK_EQUAL( position, 0 );
    }
    clv_hit hit;
    CHECK_RESULT( clv_space_nearest( space, o, 1, NAN, &hit ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_space_nearest( space, o, 1, -1, &hit ), CLV_BAD_ARGUMENT );
    clv_queries none = clv_query_rays( NULL, 0 );
    CHECK_OK( clv_space_query_closest( space, &none, NULL, NULL ) );
    clv_space_destroy( space );
}

// ---- callbacks

typedef struct asked
{
    const clv_space* space;
    uint32_t count;
    float reach; ///< to set; negative: leave it
    bool answer;
    bool tries_to_change;
} asked;

static bool answer_callback( const clv_space* space, uint32_t query, clv_hit hit, float* reach, void* user )
{
    asked* a = user;
    CHECK( space == a->space && query == 0 && hit.t <= *reach );
    a->count += 1;
    *reach = a->reach >= 0 ? a->reach : *reach;
    uint64_t count = 0;
    clv_hit hits[4];
    CHECK_OK( clv_space_overlap_box( space, s_three[0], hits, 4, &count ) ); // it may ask
    return a->answer;
}

static void a_callback_decides_and_shortens( void )
{
    clv_space* space = space_of( s_three, 3, NULL );
    CHECK_OK( clv_space_update( space ) );
    clv_ray ray = { { -1, 0.5f, 0.5f }, { 1, 0, 0 }, INFINITY };
    clv_queries queries = clv_query_rays( &ray, 1 );
    asked a = { space, 0, -1, false, false };
    queries.callback = answer_callback;
    queries.user = &a;
    clv_hit hits[4];
    CHECK_OK( clv_space_query_closest( space, &queries, hits, NULL ) );
    CHECK( hits[0].index == CLV_NO_HIT && a.count == 3 );
    a = ( asked ){ space, 0, -1, true, false };
    CHECK_OK( clv_space_query_closest( space, &queries, hits, NULL ) );
    CHECK( hits[0].index == 0 && hits[0].t == 1 );
    // Everything up to 2: whatever is asked about first, only the first box is left.
    a = ( asked ){ space, 0, 2, true, false };
    clv_query_lists lists = { NULL, hits, 4, 0, 0 };
    CHECK_OK( clv_space_query_all( space, &queries, &lists ) );
    CHECK( lists.count == 1 && hits[0].index == 0 );
    a = ( asked ){ space, 0, 0.5f, false, false };
    CHECK_OK( clv_space_query_closest( space, &queries, hits, NULL ) );
    CHECK( hits[0].index == CLV_NO_HIT && a.count == 1 );
    clv_space_destroy( space );
}

typedef struct intruder
{
    clv_space* space;
    uint32_t attempts;
} intruder;

static bool refuse_to_stop( const char* condition, const char* file, int line, void* user )
{
    (void)condition;
    (void)file;
    (void)line;
    (void)user;
    return false;
}

static bool change_inside( uint32_t query, const clv_hit* hits, uint64_t count, void* user )
{
    intruder* it = user;
    (void)query;
    (void)hits;
    (void)count;
    it->attempts += 1;
    CHECK_RESULT( clv_space_update( it->space ), CLV_BUSY );
    CHECK_RESULT( clv_space_refresh( it->space ), CLV_BUSY );
    CHECK_RESULT( clv_space_add_one( it->space, s_three[0], NULL ), CLV_BUSY );
    return false;
}

static bool ask_inside( const clv_pair* pairs, size_t count, void* user )
{
    (void)pairs;
    (void)count;
    intruder* it = user;
    clv_hit hit;
    uint64_t found = 0;
    it->attempts += 1;
    CHECK_RESULT( clv_space_overlap_box( it->space, s_three[0], &hit, 1, &found ), CLV_BUSY );
    return true;
}

static void a_space_at_work_is_busy( void )
{
    clv_set_assert_hook( refuse_to_stop, NULL );
    clv_space* space = space_of( s_three, 3, NULL );
    CHECK_OK( clv_space_update( space ) );
    intruder it = { space, 0 };
    clv_queries queries = clv_query_boxes( s_three, 3 );
    CHECK_RESULT( clv_space_query_visit( space, &queries, change_inside, &it, NULL ), CLV_STOPPED );
    CHECK_EQUAL( it.attempts, 1 );
    CHECK_OK( clv_space_visit( space, ask_inside, &it ) );
    CHECK_EQUAL( it.attempts, 2 );
    CHECK_OK( clv_space_update( space ) );
    clv_space_destroy( space );
    clv_set_assert_hook( NULL, NULL );
}

// ---- threads

enum
{
    ASKERS = 4,
    ROUNDS = 12,
};

typedef struct crowd_of_askers
{
    const clv_space* space;
    clv_ray rays[300];
    clv_hit hits[ASKERS][300];
    clv_hit lists[ASKERS][4000];
    uint64_t counts[ASKERS];
    size_t bytes[ASKERS];
} crowd_of_askers;

static void ask_as_one( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    crowd_of_askers* all = context;
    clv_queries queries = clv_query_rays( all->rays, 300 );
    uint64_t offsets[301];
    clv_query_lists lists = { offsets, all->lists[piece], 4000, 0, 0 };
    CHECK_OK( clv_space_query_closest( all->space, &queries, all->hits[piece], NULL ) );
    CHECK_OK( clv_space_query_all( all->space, &queries, &lists ) );
    all->counts[piece] = lists.count;
    all->bytes[piece] = clv_space_stats( all->space ).memory_bytes;
}

// The first to ask builds or refits, the others wait; one gets the workers, the others go alone. All hear the
// same.
static void four_threads_and_workers_ask_at_once( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ NULL, NULL, NULL } );
    task_pool* pool = clv_task_pool_create( ASKERS, 0, &memory );
    CHECK( pool != NULL );
    clv_space_def def = def_for( clv_isa_best(), 2 );
    query_world* world = query_world_make( &def, TEST_CROWD_SPREAD, 1500, 4 );
    crowd_of_askers* all = test_alloc( 1, sizeof( crowd_of_askers ) );
    all->space = world->space;
    for ( int round = 0; round < ROUNDS; ++round )
    {
        query_world_change( world );
        CHECK_OK( clv_space_update( world->space ) );
        query_world_see( world );
        for ( int i = 0; i < 300; ++i )
        {
            all->rays[i] = query_world_item( world, CLV_QUERY_RAY, NULL ).ray;
            all->rays[i].max_t = 3;
        }
        clv_task_pool_run( pool, ask_as_one, ASKERS, all, true );
        for ( int i = 1; i < ASKERS; ++i )
        {
            CHECK( memcmp( all->hits[0], all->hits[i], sizeof( all->hits[0] ) ) == 0 );
            CHECK_EQUAL( all->counts[0], all->counts[i] );
            CHECK( memcmp( all->lists[0], all->lists[i], (size_t)all->counts[0] * sizeof( clv_hit ) ) == 0 );
        }
    }
    query_world_check( world, 2 );
    free( all );
    query_world_free( world );
    clv_task_pool_destroy( pool, &memory );
}

// ---- two spaces

static void pairs_between_two_spaces_are_brute_force( void )
{
    enum
    {
        MANY = 300,
    };
    for ( int crowd = 0; crowd < TEST_CROWD_COUNT; ++crowd )
    {
        // Alone, and many enough to be shared by workers: crowds in one spot find more than waits in a piece.
        bool is_shared = crowd % 2 == 1;
        clv_space_def def = clv_default_space_def();
        query_world* a = query_world_make( &def, (test_crowd)crowd, is_shared ? MANY : 150, 5 );
        def.worker_count = is_shared ? 3 : 1;
        query_world* b = query_world_make( &def, (test_crowd)crowd, 190, 6 );
        if ( crowd % 4 < 2 )
        {
            query_world_set_filters( crowd % 8 < 4 ? a : b );
            query_world_set_margins( a );
        }
        CHECK_OK( clv_space_update( a->space ) );
        CHECK_OK( clv_space_update( b->space ) );
        query_world_see( a );
        query_world_see( b );
        clv_pair* pairs = test_alloc( MANY * 200, sizeof( clv_pair ) );
        uint64_t count = 0, expected = 0;
        CHECK_OK( clv_space_query_pairs( a->space, b->space, false, pairs, MANY * 200, &count ) );
        query_world_change( a ); // only what was removed may go
        query_world_change( b );
        CHECK_OK( clv_space_query_pairs( a->space, b->space, crowd % 3 == 0, pairs, MANY * 200, &count ) );
        for ( uint32_t i = 0; i < a->count; ++i )
        {
            query_item_any item = { .box = crowd % 3 == 0 ? a->seen_given[i] : a->seen_box[i] };
            clv_hit hits[QUERY_WORLD_MOST];
            uint32_t found = a->is_seen[i]
                ? query_world_all( b, CLV_QUERY_BOX, &item, &a->filters[i], crowd % 3 == 0, hits )
                : 0;
            for ( uint32_t j = 0; j < found; ++j, ++expected )
            {
                CHECK( expected < count && pairs[expected].a == i && pairs[expected].b == hits[j].index );
            }
        }
        CHECK_EQUAL( count, expected );
        if ( expected > 0 )
        {
            CHECK_RESULT(
                clv_space_query_pairs( a->space, b->space, crowd % 3 == 0, pairs, 0, &count ), CLV_NO_ROOM );
            CHECK_EQUAL( count, expected );
        }
        free( pairs );
        query_world_free( a );
        query_world_free( b );
    }
}

// ---- memory

static bool count_hits( uint32_t query, const clv_hit* hits, uint64_t count, void* user )
{
    (void)query;
    (void)hits;
    *(uint64_t*)user += count;
    return true;
}

// A query that finds more than fits the stack, with and without memory for it.
static void visit_many( const clv_space* space, const clv_queries* queries, heap* memory )
{
    uint64_t seen = 0;
    memory->refuse_from = memory->allocate_count + 1;
    memory->refuse_count = 1;
    CHECK_RESULT( clv_space_query_visit( space, queries, count_hits, &seen, NULL ), CLV_OUT_OF_MEMORY );
    heap_heal( memory );
    CHECK_OK( clv_space_query_visit( space, queries, count_hits, &seen, NULL ) );
    CHECK_EQUAL( seen, 899 );
}

// Whatever is refused: the right answer or CLV_OUT_OF_MEMORY, and the right one once memory is back. Nothing
// leaks.
static void without_memory_queries_answer_out_of_memory( void )
{
    for ( uint64_t refused = 1; refused < 60; ++refused )
    {
        heap memory = { 0 };
        clv_space_def def = clv_default_space_def();
        def.allocator = heap_hooks( &memory );
        query_world* world = query_world_make( &def, TEST_CROWD_SPREAD, 900, 1 );
        CHECK_OK( clv_space_update( world->space ) );
        query_world_see( world );
        memory.refuse_from = memory.allocate_count + refused;
        memory.refuse_count = refused % 2 == 0 ? 1 : UINT64_MAX;
        clv_hit* hits = test_alloc( 1000, sizeof( clv_hit ) );
        clv_aabb all = test_box( -1e9f, -1e9f, -1e9f, 1e9f, 1e9f, 1e9f );
        uint64_t count = 0;
        clv_result result = clv_space_overlap_box( world->space, all, hits, 1000, &count );
        CHECK( result == CLV_OUT_OF_MEMORY || ( result == CLV_OK && count == 900 ) );
        // A move must not suffer.
        clv_aabb moved = test_cube( 5e9f, 0, 0, 1 );
        CHECK_OK( clv_space_move_one( world->space, world->ids[0], moved ) );
        result = clv_space_overlap_box( world->space, all, hits, 1000, &count );
        CHECK( result == CLV_OUT_OF_MEMORY || ( result == CLV_OK && count == 900 ) );
        clv_queries queries = clv_query_boxes( &all, 1 );
        heap_heal( &memory );
        CHECK_OK( clv_space_update( world->space ) );
        world->given[0] = moved;
        query_world_see( world );
        CHECK_OK( clv_space_overlap_box( world->space, all, hits, 1000, &count ) );
        CHECK_EQUAL( count, 899 );
        visit_many( world->space, &queries, &memory );
        query_world_check( world, 2 );
        CHECK_OK( clv_space_shrink( world->space ) );
        query_world_check( world, 2 );
        free( hits );
        query_world_free( world );
        CHECK_EQUAL( memory.block_count, 0 );
    }
}

// Without queries there is no cost, and in a steady world they cost once.
static void a_steady_question_takes_no_memory( void )
{
    heap memory = { 0 };
    clv_space_def def = clv_default_space_def();
    def.allocator = heap_hooks( &memory );
    query_world* world = query_world_make( &def, TEST_CROWD_SPREAD, 500, 1 );
    for ( int frame = 0; frame < 6; ++frame )
    {
        for ( uint32_t i = 0; i < world->count; ++i )
        {
            world->given[i] = test_crowd_step( world->crowd, world->given[i], &world->random );
        }
        CHECK_OK( clv_space_move( world->space, world->ids, world->given, world->count ) );
        CHECK_OK( clv_space_update( world->space ) );
        uint64_t before = memory.allocate_count;
        query_world_see( world );
        query_world_check( world, 4 );
        CHECK( frame == 0 || memory.allocate_count == before );
    }
    query_world_free( world );
}

// ---- shapes by themselves

// The distance of a line and a box by halving an interval on a convex function: slow, plain and independent.
static double slow_distance( const query_capsule* c, const double shift[3], const clv_aabb* box )
{
    double low = 0, high = 1, least = INFINITY;
    for ( int step = 0; step < 200; ++step )
    {
        double s[2] = { low + ( high - low ) / 3, high - ( high - low ) / 3 }, d[2];
        for ( int i = 0; i < 2; ++i )
        {
            double sum = 0;
            for ( int axis = 0; axis < 3; ++axis )
            {
                double p = c->a[axis] + s[i] * ( c->b[axis] - c->a[axis] ) + shift[axis];
                double lower = (double)( &box->lower.x )[axis], upper = (double)( &box->upper.x )[axis];
                double gap = p < lower ? lower - p : p > upper ? p - upper : 0;
                sum += gap * gap;
            }
            d[i] = sqrt( sum );
            least = d[i] < least ? d[i] : least;
        }
        low = d[0] < d[1] ? low : s[0];
        high = d[0] < d[1] ? s[1] : high;
    }
    return least;
}

static void capsules_are_where_they_are( void )
{
    test_random random = test_random_make( 9 );
    for ( int i = 0; i < 800; ++i )
    {
        clv_aabb box = test_crowd_box( i % 3 == 0 ? TEST_CROWD_BARS : TEST_CROWD_SPREAD, 9, &random );
        query_capsule c = { .radius = (double)test_random_between( &random, 0, 2 ) };
        double motion[3];
        for ( int axis = 0; axis < 3; ++axis )
        {
            c.a[axis] = (double)test_random_between( &random, -5, 5 );
            c.b[axis] = i % 5 == 0 ? c.a[axis] : (double)test_random_between( &random, -5, 5 );
            motion[axis] = (double)test_random_between( &random, -1, 1 );
        }
        const double still[3] = { 0, 0, 0 };
        const clv_aabb64 seen = query_widen( &box );
        double distance = slow_distance( &c, still, &box );
        if ( fabs( distance - c.radius ) > 1e-9 )
        {
            CHECK( clv_query_capsule_meets( &c, &seen ) == ( distance < c.radius ) );
        }
        double time = 0;
        bool is_met = clv_query_capsule_cast( &c, motion, 20, &seen, &time );
        double nearest = INFINITY;
        for ( int step = 0; step <= 100; ++step )
        {
            double t = is_met ? time * step / 100 : 20.0 * step / 100;
            double shift[3] = { motion[0] * t, motion[1] * t, motion[2] * t };
            double d = slow_distance( &c, shift, &box );
            nearest = d < nearest ? d : nearest;
        }
        // Met: never nearer than the radius on the way, and as near at the end. Not met: never so near.
        CHECK( nearest >= c.radius - 1e-6 || ( is_met && time == 0 ) );
        CHECK( !is_met || time == 0 || fabs( nearest - c.radius ) < 1e-6 );
    }
}

static void turned_boxes_are_where_they_are( void )
{
    test_random random = test_random_make( 10 );
    uint32_t met = 0;
    for ( int i = 0; i < 4000; ++i )
    {
        clv_vec3 center = { test_random_between( &random, -3, 3 ), test_random_between( &random, -3, 3 ),
            test_random_between( &random, -3, 3 ) };
        clv_vec3 half = { test_random_between( &random, 0, 2 ), test_random_between( &random, 0, 2 ),
            test_random_between( &random, 0, 2 ) };
        clv_quat q = { test_random_between( &random, -1, 1 ), test_random_between( &random, -1, 1 ),
            test_random_between( &random, -1, 1 ), test_random_between( &random, -1, 1 ) };
        clv_aabb box = test_cube( 0, 0, 0, test_random_between( &random, 0.1f, 2 ) );
        clv_shape own = clv_box_shape( box.upper ), other = clv_box_shape( half );
        clv_transform at = { center, q };
        clv_distance judge;
        CHECK_OK( clv_shape_distance( own, clv_identity_transform(), other, at, NULL, &judge ) );
        const double middle[3] = { (double)center.x, (double)center.y, (double)center.z };
        const double sides[3] = { (double)half.x, (double)half.y, (double)half.z };
        const double rotation[4] = { (double)q.x, (double)q.y, (double)q.z, (double)q.w };
        const clv_aabb64 seen = query_widen( &box ), from = query_box_from( &seen, middle );
        query_turned_box turned = clv_query_turn( sides, rotation );
        bool is_met = clv_query_turned_box_faces_meet( &turned, &from ) &&
            clv_query_turned_box_edges_meet( &turned, &from );
        met += is_met;
        CHECK( is_met == ( judge.distance <= 0 ) || judge.distance < 1e-4f );
    }
    CHECK( met > 400 && met < 3600 );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( nothing_is_seen_before_the_first_update ),
        TEST_CASE( touching_counts_and_of_equals_the_lowest_slot ),
        TEST_CASE( far_neighbours_are_told_apart ),
        TEST_CASE( neighbours_end_at_the_distance ),
        TEST_CASE( moved_is_seen_where_it_was_and_removed_is_not_seen ),
        TEST_CASE( a_motion_is_seen_until_it_is_spent ),
        TEST_CASE( a_first_question_after_a_move_is_stale ),
        TEST_CASE( bad_queries_are_refused_by_position ),
        TEST_CASE( a_callback_decides_and_shortens ),
        TEST_CASE( a_space_at_work_is_busy ),
        TEST_CASE( capsules_are_where_they_are ),
        TEST_CASE( turned_boxes_are_where_they_are ),
        TEST_CASE( every_query_is_brute_force ),
        TEST_CASE( changes_are_seen_at_the_update ),
        TEST_CASE( workers_give_the_same_answers ),
        TEST_CASE( long_lists_over_large_worlds_are_the_same ),
        TEST_CASE( four_threads_and_workers_ask_at_once ),
        TEST_CASE( pairs_between_two_spaces_are_brute_force ),
        TEST_CASE( without_memory_queries_answer_out_of_memory ),
        TEST_CASE( a_steady_question_takes_no_memory ),
    };
    return test_run( "query", cases, TEST_COUNT( cases ), argc, argv );
}
