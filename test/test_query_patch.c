// SPDX-License-Identifier: MIT
// A few objects change between questions and the tree follows by these alone: against brute force, in every
// crowd, in spaces of floats, of two axes and of doubles; with threads that ask, and without memory. And the
// tree that comes of it is what query_tree.h says, is not built for every change, and has no long chains.
#include "far_crowd.h"
#include "heap.h"
#include "judge_answer.h"
#include "query_world.h"
#include "space/space_internal.h"
#include "task/task.h"

#include <stdlib.h>
#include <string.h>

static const query_tree* tree_of( const clv_space* space )
{
    return &space->query.tree;
}

static void check_tree( const clv_space* space )
{
    const query_state* state = &space->query;
    const query_boxes from = { state->copies[OBJECT_BOX], state->copies[OBJECT_GENERATION], state->slot_count,
        state->live_count };
    const char* wrong = clv_query_tree_check( tree_of( space ), &from );
    const clv_aabb64* boxes64 = query_copy( state, OBJECT_BOX64 );
    if ( wrong == NULL && boxes64 != NULL )
    {
        wrong = clv_query_tree64_check( &state->tree64, tree_of( space ), boxes64, &from );
    }
    if ( wrong != NULL )
    {
        test_fail( __FILE__, __LINE__, "%s", wrong );
    }
    CHECK( !state->store_is_seen || clv_query_state_is_copy( state, &space->objects ) );
}

static void show( clv_space* space, bool is_update )
{
    CHECK_OK( is_update ? clv_space_update( space ) : clv_space_refresh( space ) );
}

// ---- lives

// One change to a few between questions; now and then so many that all is refitted. After an update without a
// question the first change makes the copy, and what follows it is seen at the next update alone.
static void live_by_few( clv_isa isa, uint32_t workers, test_crowd crowd, uint32_t count, uint32_t steps )
{
    clv_space_def def = clv_default_space_def();
    def.isa = isa;
    def.worker_count = workers;
    test_where.isa = isa;
    test_where.seed = (uint64_t)crowd;
    query_world* world = query_world_make( &def, crowd, count, 31 + (uint64_t)crowd );
    show( world->space, true );
    query_world_see( world );
    query_world_check( world, 1 );
    uint64_t builds = tree_of( world->space )->build_count;
    for ( uint32_t step = 0; step < steps; ++step )
    {
        test_where.frame = step;
        if ( step == steps / 2 )
        {
            query_world_set_margins( world );
            query_world_set_filters( world );
        }
        if ( step % 64 == 63 )
        {
            query_world_change( world );
        }
        for ( uint32_t i = test_random_below( &world->random, 4 ); i < 4; ++i )
        {
            query_world_change_one( world );
        }
        if ( test_random_chance( &world->random, 40 ) )
        {
            query_world_check( world, 1 ); // as it was, but for those that went
        }
        show( world->space, test_random_chance( &world->random, 50 ) );
        query_world_see( world );
        if ( test_random_chance( &world->random, 60 ) )
        {
            query_world_check( world, 1 );
            check_tree( world->space );
        }
    }
    CHECK( ( tree_of( world->space )->build_count - builds ) * 4 < steps );
    query_world_free( world );
}

static void few_changes_are_brute_force( void )
{
    for ( int crowd = 0; crowd < TEST_CROWD_COUNT; ++crowd )
    {
        live_by_few( clv_isa_best(), 1, (test_crowd)crowd, 900, 60 * test_scaled( 1 ) );
    }
    live_by_few( CLV_ISA_SCALAR, 1, TEST_CROWD_MIXED, 900, 60 );
}

static void few_changes_are_brute_force_in_double_and_flat( void )
{
    for ( int i = 0; i < FAR_CROWD_KIND_COUNT + TEST_CROWD_COUNT; ++i )
    {
        bool is_flat = i >= FAR_CROWD_KIND_COUNT;
        int crowd = is_flat ? i - FAR_CROWD_KIND_COUNT : i;
        if ( i == FAR_CROWD_DECADES )
        {
            continue; // of casts whose times round to 0 there, which is the first depends on the order of the walk
        }
        test_where.seed = (uint64_t)crowd;
        judge_world* world = judge_world_make( is_flat, CLV_ISA_AUTO, 1, crowd, 650, 43 + (uint64_t)crowd );
        show( world->space, true );
        judge_world_see( world, true );
        judge_answer_check( world, 1 );
        for ( uint32_t step = 0; step < 30 * test_scaled( 1 ); ++step )
        {
            test_where.frame = step;
            judge_world_change_one( world );
            if ( step % 3 == 1 )
            {
                judge_answer_check( world, 1 );
            }
            show( world->space, step % 8 == 3 );
            judge_world_see( world, step % 8 == 3 );
            judge_answer_check( world, 1 );
            check_tree( world->space );
        }
        judge_world_free( world );
    }
}

// Objects move from a town to another, far away, until floats show all of them anew: these are other boxes.
static void another_map_of_doubles_is_a_whole_change( void )
{
    judge_world* world = judge_world_make( false, CLV_ISA_AUTO, 1, FAR_CROWD_NEAR, 650, 3 );
    show( world->space, false );
    const double before = world->space->far.map.axes[0].origin;
    bool is_new = false;
    for ( uint32_t i = 0; i < 600; ++i )
    {
        double x = 1e9 + i % 8 * 2, y = 1e9 + i / 8 % 8 * 2, z = 1e9 + i / 64 * 2;
        world->given[i] = ( clv_aabb64 ){ { x, y, z }, { x + 1, y + 1, z + 1 } };
        CHECK_OK( clv_space_move64( world->space, &world->ids[i], &world->given[i], 1 ) );
        show( world->space, false );
        check_tree( world->space );
        is_new |= world->space->far.map.axes[0].origin != before || world->space->far.has_cells;
    }
    CHECK( is_new );
    judge_world_see( world, false );
    judge_answer_check( world, 2 );
    judge_world_free( world );
}

// The same calls, the same tree: bit by bit, whatever the instruction set and the workers.
static void every_machine_has_the_same_tree( void )
{
    static query_node expected[4000];
    uint32_t expected_count = 0;
    for ( int isa = CLV_ISA_SCALAR; isa < CLV_ISA_COUNT; ++isa )
    {
        for ( uint32_t workers = 1; workers <= 3 && clv_isa_is_supported( (clv_isa)isa ); workers += 2 )
        {
            clv_space_def def = clv_default_space_def();
            def.isa = (clv_isa)isa;
            def.worker_count = workers;
            query_world* world = query_world_make( &def, TEST_CROWD_MIXED, 3000, 5 );
            show( world->space, false );
            for ( uint32_t step = 0; step < 400; ++step )
            {
                query_world_change_one( world );
                show( world->space, false );
            }
            const query_tree* tree = tree_of( world->space );
            CHECK( tree->node_count <= TEST_COUNT( expected ) );
            if ( isa == CLV_ISA_SCALAR && workers == 1 )
            {
                CHECK( tree->patch_count > 0 && tree->node_count > tree->built_nodes );
                expected_count = tree->node_count;
                memcpy( expected, tree->nodes, tree->node_count * sizeof( query_node ) );
            }
            CHECK_EQUAL( tree->node_count, expected_count );
            CHECK( memcmp( tree->nodes, expected, expected_count * sizeof( query_node ) ) == 0 );
            query_world_free( world );
        }
    }
}

// ---- worlds that hurt

enum
{
    CROWD = 3000,
    COMERS = 1500,
    MOST_BUILDS = 24, // one in 16 changes takes 12 to 16
};

static clv_aabb cube_at( float x, float y, float z, float half )
{
    return test_box( x - half, y - half, z - half, x + half, y + half, z + half );
}

static clv_aabb equal_cube( uint32_t i )
{
    (void)i;
    return cube_at( 3, 3, 3, 1 );
}

static clv_aabb next_cube( uint32_t i )
{
    return cube_at( (float)i * 3, 0, 0, 1 );
}

static clv_aabb last_cube( uint32_t i )
{
    return cube_at( (float)i * -3, (float)i * 3, 0, 1 );
}

static clv_aabb larger_cube( uint32_t i )
{
    return cube_at( 0, 0, 0, 1 + (float)i );
}

static clv_aabb endless( uint32_t i )
{
    return test_box( -INFINITY, -INFINITY, -INFINITY, INFINITY, (float)i, INFINITY );
}

static clv_aabb point( uint32_t i )
{
    return cube_at( (float)( i % 7 ), (float)( i / 7 ), 0, 0 );
}

static clv_aabb one_giant_moves( uint32_t i )
{
    return cube_at( (float)( i % 50 ) * 10, 0, 0, 2000 );
}

static const struct
{
    const char* name;
    clv_aabb ( *crowd )( uint32_t i );
    clv_aabb ( *comer )( uint32_t i );
    uint32_t deeper; // levels, at most
    bool is_one;     // it moves and comes but once
} s_worlds[] = {
    { "all equal", equal_cube, equal_cube, 2, false },
    { "in a row, behind the last", next_cube, next_cube, 12, false },
    { "in a row, to both sides", next_cube, last_cube, 12, false },
    { "each around the last", next_cube, larger_cube, QUERY_DEPTH, false },
    { "without an end", next_cube, endless, QUERY_DEPTH, false },
    { "points among equal ones", equal_cube, point, 6, false },
    { "one giant moves", next_cube, one_giant_moves, 2, true },
};

static uint64_t count_boxes( const clv_space* space, clv_aabb box )
{
    static clv_hit hits[CROWD + COMERS];
    uint64_t count = 0;
    CHECK_OK( clv_space_overlap_box( space, box, hits, CROWD + COMERS, &count ) );
    return count;
}

static void odd_worlds_make_no_chains_and_few_builds( void )
{
    const clv_aabb all = test_box( -INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY );
    for ( size_t number = 0; number < TEST_COUNT( s_worlds ); ++number )
    {
        test_where.note = s_worlds[number].name;
        clv_space_def def = clv_default_space_def();
        clv_space* space = NULL;
        CHECK_OK( clv_space_create( &def, &space ) );
        clv_id ids[COMERS];
        for ( uint32_t i = 0; i < CROWD; ++i )
        {
            CHECK_OK( clv_space_add_one( space, s_worlds[number].crowd( i ), &ids[0] ) );
        }
        show( space, false );
        uint64_t builds = tree_of( space )->build_count, refits = tree_of( space )->refit_count;
        uint32_t depth = tree_of( space )->depth;
        for ( uint32_t i = 0; i < COMERS; ++i )
        {
            test_where.frame = i;
            clv_aabb box = s_worlds[number].comer( CROWD + i );
            CHECK_OK( s_worlds[number].is_one && i > 0 ? clv_space_move_one( space, ids[0], box )
                                                       : clv_space_add_one( space, box, &ids[i] ) );
            show( space, false );
            CHECK( tree_of( space )->depth <= depth + s_worlds[number].deeper );
            if ( i % 100 == 99 )
            {
                check_tree( space );
                CHECK_EQUAL( count_boxes( space, all ), CROWD + ( s_worlds[number].is_one ? 1 : i + 1 ) );
            }
        }
        for ( uint32_t i = 0; i < COMERS && !s_worlds[number].is_one; ++i )
        {
            CHECK_OK( clv_space_remove_one( space, ids[i] ) );
            show( space, false );
        }
        check_tree( space );
        CHECK_EQUAL( count_boxes( space, all ), CROWD + ( s_worlds[number].is_one ? 1 : 0 ) );
        CHECK( tree_of( space )->build_count - builds <= MOST_BUILDS );
        CHECK_EQUAL( tree_of( space )->refit_count, refits );
        clv_space_destroy( space );
    }
}

// One object moves again and again before a question: that is one change.
static void one_that_moves_often_is_one_change( void )
{
    clv_space_def def = clv_default_space_def();
    query_world* world = query_world_make( &def, TEST_CROWD_SPREAD, 2000, 2 );
    show( world->space, false );
    uint64_t refits = tree_of( world->space )->refit_count;
    for ( uint32_t i = 0; i < 5000; ++i )
    {
        world->given[7] = test_crowd_step( world->crowd, world->given[7], &world->random );
        CHECK_OK( clv_space_move_one( world->space, world->ids[7], world->given[7] ) );
    }
    show( world->space, false );
    CHECK_EQUAL( tree_of( world->space )->refit_count, refits );
    query_world_see( world );
    query_world_check( world, 2 );
    CHECK_OK( clv_space_move( world->space, world->ids, world->given, world->count ) ); // all: a whole refit
    show( world->space, false );
    CHECK_EQUAL( tree_of( world->space )->refit_count, refits + 1 );
    query_world_check( world, 2 );
    query_world_free( world );
}

// ---- threads, memory

enum
{
    ASKERS = 4,
    ROUNDS = 40,
    RAYS = 60,
};

typedef struct few_askers
{
    clv_space* space;
    clv_ray rays[RAYS];
    clv_hit hits[ASKERS][RAYS];
} few_askers;

static void ask_rays( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    few_askers* all = context;
    clv_queries queries = clv_query_rays( all->rays, RAYS );
    CHECK_OK( clv_space_query_closest( all->space, &queries, all->hits[piece], NULL ) );
}

// The first of them makes the tree follow, the others wait.
static void threads_and_workers_ask_after_one_change( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ NULL, NULL, NULL } );
    task_pool* pool = clv_task_pool_create( ASKERS, 0, &memory );
    CHECK( pool != NULL );
    clv_space_def def = clv_default_space_def();
    def.worker_count = 2;
    query_world* world = query_world_make( &def, TEST_CROWD_SPREAD, 1500, 4 );
    few_askers* all = test_alloc( 1, sizeof( few_askers ) );
    all->space = world->space;
    for ( int round = 0; round < ROUNDS; ++round )
    {
        show( world->space, true );
        query_world_see( world );
        for ( int i = 0; i < RAYS; ++i )
        {
            all->rays[i] = query_world_item( world, CLV_QUERY_RAY, NULL ).ray;
        }
        clv_task_pool_run( pool, ask_rays, ASKERS, all, true );
        for ( int i = 1; i < ASKERS; ++i )
        {
            CHECK( memcmp( all->hits[0], all->hits[i], sizeof( all->hits[0] ) ) == 0 );
        }
        query_world_change_one( world );
        clv_task_pool_run( pool, ask_rays, ASKERS, all, true ); // where it was
    }
    CHECK( tree_of( world->space )->patch_count > 0 );
    query_world_check( world, 2 );
    free( all );
    query_world_free( world );
    clv_task_pool_destroy( pool, &memory );
}

// Whatever is refused, each question is answered right or with CLV_OUT_OF_MEMORY, and
// right once memory is back.
static void without_memory_few_changes_are_not_lost( void )
{
    const clv_aabb all = test_box( -INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY );
    for ( uint64_t refused = 1; refused < 24; ++refused )
    {
        heap memory = { 0 };
        clv_space_def def = clv_default_space_def();
        def.allocator = heap_hooks( &memory );
        query_world* world = query_world_make( &def, TEST_CROWD_SPREAD, 900, 1 );
        show( world->space, false );
        query_world_see( world );
        for ( uint32_t step = 0; step < 60; ++step )
        {
            query_world_change_one( world );
            memory.refuse_from = memory.allocate_count + refused;
            memory.refuse_count = refused % 3 == 0 ? 1 : UINT64_MAX;
            clv_result result = clv_space_refresh( world->space );
            CHECK( result == CLV_OK || result == CLV_OUT_OF_MEMORY );
            heap_heal( &memory );
            query_world_see( world );
            uint64_t there = 0;
            for ( uint32_t i = 0; i < world->count; ++i )
            {
                there += world->is_there[i];
            }
            CHECK_EQUAL( count_boxes( world->space, all ), there );
            refused += step % 8 == 7;
        }
        query_world_check( world, 2 );
        check_tree( world->space );
        CHECK_OK( clv_space_shrink( world->space ) );
        query_world_change_one( world );
        show( world->space, false );
        query_world_see( world );
        query_world_check( world, 2 );
        query_world_free( world );
        CHECK_EQUAL( memory.block_count, 0 );
    }
}

// A refit of all after nodes were made behind the others, by several workers and parts.
static void whole_frames_follow_few_changes( void )
{
    clv_space_def def = clv_default_space_def();
    def.worker_count = 3;
    query_world* world = query_world_make( &def, TEST_CROWD_CLUSTER, 4100, 3 );
    show( world->space, false );
    uint64_t builds = tree_of( world->space )->build_count;
    for ( uint32_t i = 0; i < 90; ++i )
    {
        query_world_change_one( world );
        show( world->space, false );
    }
    CHECK( tree_of( world->space )->node_count > tree_of( world->space )->built_nodes );
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        if ( world->is_there[i] )
        {
            clv_vec3 by = { 0.125f, 0, 0 };
            world->given[i].lower.x += by.x;
            world->given[i].upper.x += by.x;
            CHECK_OK( clv_space_move_one( world->space, world->ids[i], world->given[i] ) );
        }
    }
    uint64_t refits = tree_of( world->space )->refit_count;
    show( world->space, false );
    CHECK_EQUAL( tree_of( world->space )->refit_count, refits + 1 );
    CHECK_EQUAL( tree_of( world->space )->build_count, builds );
    check_tree( world->space );
    query_world_see( world );
    query_world_check( world, 3 );
    query_world_free( world );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( few_changes_are_brute_force ),
        TEST_CASE( few_changes_are_brute_force_in_double_and_flat ),
        TEST_CASE( another_map_of_doubles_is_a_whole_change ),
        TEST_CASE( every_machine_has_the_same_tree ),
        TEST_CASE( odd_worlds_make_no_chains_and_few_builds ),
        TEST_CASE( one_that_moves_often_is_one_change ),
        TEST_CASE( whole_frames_follow_few_changes ),
        TEST_CASE( threads_and_workers_ask_after_one_change ),
        TEST_CASE( without_memory_few_changes_are_not_lost ),
    };
    return test_run( "query_patch", cases, TEST_COUNT( cases ), argc, argv );
}
