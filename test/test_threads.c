// SPDX-License-Identifier: MIT
// Every method with threads gives the same list in the same order for any number of workers, on our own
// threads and on the caller's.
#include "space/instrument.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The thread sanitizer is 20 times as slow, and checks which thread touches what; three workers and a few
// frames show it.
#if defined( __SANITIZE_THREAD__ )
enum
{
    IS_WATCHED = 1,
    FRAMES = 3,
    TREE_SHARE = 6,
    COUNTS_SHARE = 1,
    TREE_LEAST = 3, // workers
    TREE_STEP = 5
};
static const uint32_t s_worker_counts[] = { 1, 3 };
#else
// With a small CLEAVE_TEST_SCALE each world has one in three of the numbers of workers, and the next world
// the next.
enum
{
    IS_WATCHED = 0,
    FRAMES = 6,
    TREE_SHARE = 2,
    COUNTS_SHARE = 3,
    TREE_LEAST = 2,
    TREE_STEP = 1
};
static const uint32_t s_worker_counts[] = { 1, 2, 3, 8 };
#endif

// Sizes that no number of workers divides, and the smallest.
static const uint32_t s_sizes[] = { 0, 1, 2, 3, 257, 1009, 4099 };

static clv_space* make_space( const clv_method* row, uint32_t worker_count, clv_task_hooks hooks )
{
    clv_space_def def = clv_default_space_def();
    def.method = row->name;
    // Small blocks and leaves, so that there is something to share: 4099 boxes fill many, 1009 lie in one
    // grid.
    def.settings = strcmp( row->name, METHOD_DEFAULT ) == 0 ? "cleave.block=50,cleave.alone=300"
        : strncmp( row->name, "kd", 2 ) == 0                ? "kd.leaf=60"
                                                            : NULL;
    def.worker_count = worker_count;
    def.tasks = hooks;
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_EQUAL( clv_space_worker_count( space ), worker_count );
    test_where.method = row->name;
    test_where.worker_count = worker_count;
    return space;
}

// Some frames of a crowd that moves, with some coming and going: a hash of all lists in order.
static uint64_t hash_life(
    const clv_method* row, uint32_t worker_count, clv_task_hooks hooks, test_crowd crowd, uint32_t count )
{
    clv_space* space = make_space( row, worker_count, hooks );
    test_random random = test_random_make( 7 + count );
    clv_aabb* boxes = test_alloc( count, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( count, sizeof( clv_id ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        boxes[i] = test_crowd_box( crowd, count, &random );
    }
    CHECK_OK( clv_space_add( space, boxes, count, ids ) );
    uint64_t hash = 0;
    for ( uint32_t frame = 0; frame < FRAMES; ++frame )
    {
        test_where.frame = frame;
        uint32_t turnover = count / 10;
        for ( uint32_t i = 0; i < count; ++i )
        {
            boxes[i] = test_crowd_step( crowd, boxes[i], &random );
        }
        CHECK_OK( clv_space_remove( space, ids, turnover ) );
        CHECK_OK( clv_space_add( space, boxes, turnover, ids ) );
        CHECK_OK( clv_space_move( space, ids, boxes, count ) );
        CHECK_OK( clv_space_update( space ) );
        clv_pair_view view = clv_space_pairs( space );
        hash = test_mix( hash ^ test_order_hash( view.pairs, view.count ) );
        hash = test_mix( hash ^ clv_space_stats( space ).test_count );
    }
    free( boxes );
    free( ids );
    clv_space_destroy( space );
    return hash;
}

static void any_number_of_workers_gives_the_same_list( void )
{
    clv_task_hooks none = { 0 };
    for ( uint32_t m = 0; m < clv_method_count(); ++m )
    {
        const clv_method* row = clv_method_at( m );
        for ( uint32_t c = 0; row->has_threads && c < TEST_CROWD_COUNT * TEST_COUNT( s_sizes ); ++c )
        {
            test_crowd crowd = (test_crowd)( c / TEST_COUNT( s_sizes ) );
            uint32_t size = s_sizes[c % TEST_COUNT( s_sizes )];
            // The large ones on two crowds only: with many pairs, and with everything odd in it.
            bool is_wanted = size < 2000 || crowd == TEST_CROWD_SPREAD || crowd == TEST_CROWD_MIXED;
            // The rows of the KD-tree are many, and share what there is to do.
            is_wanted &=
                strcmp( row->family, "kd-tree" ) != 0 || size > 2000 || c % TREE_SHARE == m % TREE_SHARE;
            // One worker has no races: under the sanitizer it is compared at one size, and by the other
            // builds at all sizes.
            bool is_compared = is_wanted && ( !IS_WATCHED || size == 257 );
            uint64_t expected = is_compared ? hash_life( row, 1, none, crowd, size ) : 0;
            for ( uint32_t w = 1; w < TEST_COUNT( s_worker_counts ) && is_wanted; ++w )
            {
                test_where.seed = c;
                if ( test_is_share( c + m + w, COUNTS_SHARE ) )
                {
                    uint64_t hash = hash_life( row, s_worker_counts[w], none, crowd, size );
                    CHECK_EQUAL( hash, is_compared ? expected : hash );
                }
            }
        }
    }
}

// A caller's own "threads": all pieces here, backwards, with worker numbers in turn.
typedef struct own_threads
{
    uint32_t worker_count;
    uint64_t piece_count;
} own_threads;

static void run_backwards( clv_task* task, uint32_t count, void* context, void* user )
{
    own_threads* own = user;
    for ( uint32_t i = count; i > 0; --i )
    {
        task( i - 1, ( i - 1 ) % own->worker_count, context );
        own->piece_count += 1;
    }
}

static void the_callers_threads_give_the_same_list( void )
{
    clv_task_hooks none = { 0 };
    for ( uint32_t m = 0; m < clv_method_count(); ++m )
    {
        const clv_method* row = clv_method_at( m );
        for ( uint32_t w = 1; row->has_threads && w < TEST_COUNT( s_worker_counts ); ++w )
        {
            if ( !test_is_share( m + w, COUNTS_SHARE ) )
            {
                continue;
            }
            own_threads own = { s_worker_counts[w], 0 };
            clv_task_hooks hooks = { run_backwards, &own };
            uint64_t expected = hash_life( row, 1, none, TEST_CROWD_SPREAD, 4099 );
            CHECK_EQUAL( hash_life( row, own.worker_count, hooks, TEST_CROWD_SPREAD, 4099 ), expected );
            CHECK( own.piece_count > 0 );
        }
    }
}

// What a KD-tree was asked and what it answered, over frames in which all move, some, few, or none: all ways
// of detecting.
static uint64_t hash_tree( const clv_method* row, uint32_t worker_count )
{
    enum
    {
        COUNT = 3001,
        FIGURES_MOST = 128
    };
    clv_task_hooks none = { 0 };
    clv_space* space = make_space( row, worker_count, none );
    test_random random = test_random_make( 31 );
    clv_aabb* boxes = test_alloc( COUNT, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( COUNT, sizeof( clv_id ) );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, COUNT, &random );
    }
    CHECK_OK( clv_space_add( space, boxes, COUNT, ids ) );
    uint64_t hash = 0;
    for ( uint32_t frame = 0; frame < 12; ++frame )
    {
        static const uint32_t moving[] = { COUNT, COUNT / 3, COUNT / 30, 0 };
        test_where.frame = frame;
        for ( uint32_t i = 0; i < moving[frame % TEST_COUNT( moving )]; ++i )
        {
            boxes[i] = test_crowd_step( TEST_CROWD_SPREAD, boxes[i], &random );
        }
        CHECK_OK( clv_space_move( space, ids, boxes, COUNT ) );
        CHECK_OK( clv_space_update( space ) );
        clv_pair_view view = clv_space_pairs( space );
        hash = test_mix( hash ^ test_order_hash( view.pairs, view.count ) );
        clv_method_figure figures[FIGURES_MOST];
        uint32_t count = clv_space_report( space, figures, FIGURES_MOST );
        CHECK( count <= FIGURES_MOST );
        for ( uint32_t i = 0; i < count; ++i )
        {
            hash = test_mix( hash ^ (uint64_t)figures[i].value );
        }
    }
    free( boxes );
    free( ids );
    clv_space_destroy( space );
    return hash;
}

static void a_tree_is_searched_alike_by_one_to_eight_workers( void )
{
    static const char* const names[] = { "kd-rebuilt", "kd-complete", "kd-incremental", "kd",
        "kd-paper-incremental", "kd-paper", "ray-kd" };
    for ( size_t i = 0; i < TEST_COUNT( names ); ++i )
    {
        const clv_method* row = clv_method_find( names[i] );
        uint64_t expected = hash_tree( row, 1 );
        for ( uint32_t worker_count = TREE_LEAST; worker_count <= 8; worker_count += TREE_STEP )
        {
            if ( test_is_share( (uint32_t)i + worker_count, COUNTS_SHARE ) )
            {
                CHECK_EQUAL( hash_tree( row, worker_count ), expected );
            }
        }
    }
}

// Worlds that trees dislike, beside those of test_crowd: all on one spot, sorted along a line, half of them
// without an end.
typedef enum hostile
{
    HOSTILE_SPOT = 64, // behind all crowds; their numbers are seeds, too
    HOSTILE_SORTED,
    HOSTILE_HALF_ENDLESS,
    HOSTILE_DENSE,    ///< every other one in a ball, so that a few leaves have most of the tests
    HOSTILE_SQUEEZED, ///< along one axis after the other
    HOSTILE_COUNT
} hostile;

static clv_aabb hostile_box( uint32_t world, uint32_t count, uint32_t i, test_random* random )
{
    float side = test_random_between( random, 0.5f, 1 );
    float x = test_random_between( random, -20, 20 ), y = test_random_between( random, -20, 20 ),
          z = test_random_between( random, -20, 20 );
    switch ( world )
    {
    case HOSTILE_SPOT: return test_cube( 3, 4, 5, 1 );
    case HOSTILE_SORTED: return test_cube( (float)i * 0.5f, 0, 0, side );
    case HOSTILE_HALF_ENDLESS:
    {
        clv_aabb box = test_cube( x, y, z, side );
        box.upper.z = i % 2 == 0 ? INFINITY : box.upper.z;
        box.lower.x = i % 8 == 0 ? -INFINITY : box.lower.x;
        return box;
    }
    case HOSTILE_DENSE:
        return i % 2 == 0 ? test_cube( x * 0.1f, y * 0.1f, z * 0.1f, side ) : test_cube( x, y, z, side );
    default: return test_crowd_box( (test_crowd)world, count, random );
    }
}

// Where it goes: near, or all of the world is squeezed along one axis after the other, so that planes must
// move, go and come.
static clv_aabb hostile_step( uint32_t world, clv_aabb box, uint32_t frame, test_random* random )
{
    if ( world != HOSTILE_SQUEEZED )
    {
        return test_crowd_step( TEST_CROWD_SPREAD, box, random );
    }
    float* lower = &box.lower.x;
    float* upper = &box.upper.x;
    float centre = ( lower[frame % 3] + upper[frame % 3] ) / 2, half = ( upper[0] - lower[0] ) / 2;
    centre = centre > 0 ? centre * centre / 20 : centre * 1.25f;
    lower[frame % 3] = centre - half;
    upper[frame % 3] = centre + half;
    return box;
}

// What a method answered and counted in the last update.
typedef struct told
{
    uint64_t set, order;
    double changes; ///< of the shape of a tree
} told;

static told told_by( clv_space* space )
{
    enum
    {
        FIGURES_MOST = 128
    };
    clv_pair_view view = clv_space_pairs( space );
    told t = { test_set_hash( view.pairs, view.count ), test_order_hash( view.pairs, view.count ), 0 };
    clv_method_figure figures[FIGURES_MOST];
    uint32_t count = clv_space_report( space, figures, FIGURES_MOST );
    CHECK( count <= FIGURES_MOST );
    for ( uint32_t i = 0; i < count; ++i )
    {
        t.order = test_mix( t.order ^ (uint64_t)figures[i].value );
        bool is_change =
            strcmp( figures[i].name, "collapses" ) == 0 || strcmp( figures[i].name, "translations" ) == 0;
        t.changes += is_change ? figures[i].value : 0;
    }
    return t;
}

// Some frames of such a world.
static told live_hostile(
    const char* name, const char* settings, uint32_t worker_count, uint32_t world, uint32_t count )
{
    clv_space_def def = clv_default_space_def();
    def.method = name;
    def.settings = settings;
    def.worker_count = worker_count;
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    test_random random = test_random_make( world );
    clv_aabb* boxes = test_alloc( count, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( count, sizeof( clv_id ) );
    told sum = { 0 };
    for ( uint32_t frame = 0; frame < ( world == HOSTILE_SQUEEZED ? 6 : 3 ); ++frame )
    {
        test_where.frame = frame;
        for ( uint32_t i = 0; i < count; ++i )
        {
            boxes[i] = frame == 0 ? hostile_box( world, count, i, &random )
                                  : hostile_step( world, boxes[i], frame, &random );
        }
        CHECK_OK( frame == 0 ? clv_space_add( space, boxes, count, ids )
                             : clv_space_move( space, ids, boxes, count ) );
        CHECK_OK( clv_space_update( space ) );
        told t = told_by( space );
        sum.set = test_mix( sum.set ^ t.set );
        sum.order = test_mix( sum.order ^ t.order );
        sum.changes += t.changes;
    }
    free( boxes );
    free( ids );
    clv_space_destroy( space );
    return sum;
}

// With leaves so large that some have more tests than a worker's share, and are cut.
static void hostile_worlds_are_searched_alike_by_up_to_sixteen_workers( void )
{
    static const struct
    {
        const char *name, *settings;
    } rows[] = { { "kd", "kd.leaf=700" }, { "kd-incremental", "kd.leaf=300" }, { "kd-paper", "kd.leaf=50" } };
    static const uint32_t worlds[] = { TEST_CROWD_SPREAD, TEST_CROWD_MIXED, TEST_CROWD_SAME, TEST_CROWD_FLAT,
        TEST_CROWD_KNOTS, HOSTILE_SPOT, HOSTILE_SORTED, HOSTILE_HALF_ENDLESS, HOSTILE_DENSE,
        HOSTILE_SQUEEZED };
#if defined( __SANITIZE_THREAD__ )
    static const uint32_t worker_counts[] = { 4 };
#else
    static const uint32_t worker_counts[] = { 2, 3, 4, 7, 8, 16 };
#endif
    for ( uint32_t i = 0; i < TEST_COUNT( worlds ); ++i )
    {
        uint32_t count = worlds[i] == HOSTILE_SPOT || worlds[i] == TEST_CROWD_SAME ? 500 : 3001;
        uint64_t set = IS_WATCHED ? 0 : live_hostile( "brute", NULL, 1, worlds[i], count ).set;
        for ( uint32_t m = 0; m < TEST_COUNT( rows ); ++m )
        {
            test_where.method = rows[m].name;
            test_where.seed = worlds[i];
            test_where.worker_count = 1;
            told alone = live_hostile( rows[m].name, rows[m].settings, 1, worlds[i], count );
            CHECK_EQUAL( alone.set, IS_WATCHED ? alone.set : set );
            CHECK( worlds[i] != HOSTILE_SQUEEZED || alone.changes >= 3 );
            for ( uint32_t w = 0; w < TEST_COUNT( worker_counts ); ++w )
            {
                if ( !test_is_share( i + m + w, COUNTS_SHARE ) )
                {
                    continue;
                }
                test_where.worker_count = worker_counts[w];
                told several =
                    live_hostile( rows[m].name, rows[m].settings, worker_counts[w], worlds[i], count );
                CHECK_EQUAL( several.order, alone.order );
            }
        }
    }
}

// Enough objects in one node that several workers look at them together when it is cut.
static void large_nodes_are_cut_alike_by_any_number_of_workers( void )
{
#if defined( __SANITIZE_THREAD__ )
    static const char* const names[] = { "kd" };
    static const uint32_t worker_counts[] = { 3 };
    const uint32_t count = 17001;
#else
    static const char* const names[] = { "kd", "kd-rebuilt", "kd-paper" };
    static const uint32_t worker_counts[] = { 2, 3, 16 };
    const uint32_t count = 40001;
#endif
    for ( size_t i = 0; i < TEST_COUNT( names ); ++i )
    {
        test_where.method = names[i];
        told alone = live_hostile( names[i], "kd.leaf=3000", 1, HOSTILE_SQUEEZED, count );
        CHECK_EQUAL( alone.set, live_hostile( "sap", NULL, 1, HOSTILE_SQUEEZED, count ).set );
        for ( uint32_t w = 0; w < TEST_COUNT( worker_counts ); ++w )
        {
            if ( !test_is_share( (uint32_t)i + w, COUNTS_SHARE ) )
            {
                continue;
            }
            test_where.worker_count = worker_counts[w];
            told several =
                live_hostile( names[i], "kd.leaf=3000", worker_counts[w], HOSTILE_SQUEEZED, count );
            CHECK_EQUAL( several.order, alone.order );
        }
    }
}

// Enough boxes that several workers take them.
static void a_large_move_is_taken_whole_or_not_at_all( void )
{
    enum
    {
        COUNT = 40001
    };
    const clv_method* row = clv_method_find( METHOD_DEFAULT );
    clv_task_hooks none = { 0 };
    clv_space* space = make_space( row, 5, none );
    clv_aabb* boxes = test_alloc( COUNT, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( COUNT, sizeof( clv_id ) );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_cube( (float)i, 0, 0, 0.25f );
    }
    CHECK_OK( clv_space_add( space, boxes, COUNT, ids ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_pairs( space ).count, 0 );

    // Bad in the last piece: none of the others moves either.
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_cube( 0, (float)i, 0, 0.25f );
    }
    boxes[COUNT - 3].upper.z = -9;
    CHECK_EQUAL( clv_space_move( space, ids, boxes, COUNT ), CLV_BAD_BOX );
    CHECK_EQUAL( clv_space_error( space ).position, COUNT - 3 );
    const uint32_t looked_at[] = { 1, COUNT / 2, COUNT - 1 };
    for ( uint32_t i = 0; i < TEST_COUNT( looked_at ); ++i )
    {
        clv_aabb box;
        CHECK_OK( clv_space_get_box( space, ids[looked_at[i]], &box ) );
        CHECK( box.lower.x > 0 );
    }

    // All of them, each a neighbour's touching neighbour now; and those alone that are told apart from what
    // they were.
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_cube( (float)i, 0, 0, 0.5f );
    }
    CHECK_OK( clv_space_move( space, ids, boxes, COUNT ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_pairs( space ).count, COUNT - 1 );
    for ( uint32_t i = 0; i < COUNT; i += 1000 )
    {
        boxes[i] = test_cube( (float)i, 1000, 0, 0.5f );
    }
    CHECK_OK( clv_space_move( space, ids, boxes, COUNT ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_pairs( space ).count, COUNT - 1 - 2 * ( COUNT / 1000 + 1 ) + 2 );
    free( boxes );
    free( ids );
    clv_space_destroy( space );
}

// A few move among many, all are handed over: what counts as moved must not depend on the worker.
static uint64_t order_after_a_few_moved( uint32_t worker_count )
{
    enum
    {
        COUNT = 131072,
        FIRST = 64512,
        LAST = 66048
    };
    clv_space_def def = clv_default_space_def();
    def.worker_count = worker_count;
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    clv_aabb* boxes = test_alloc( COUNT, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( COUNT, sizeof( clv_id ) );
    test_random random = test_random_make( 5 );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_cube( test_random_between( &random, -50, 50 ),
            test_random_between( &random, -50, 50 ), test_random_between( &random, -50, 50 ), 0.5f );
    }
    CHECK_OK( clv_space_add( space, boxes, COUNT, ids ) );
    uint64_t hash = 0;
    for ( uint32_t frame = 0; frame < 3; ++frame )
    {
        for ( uint32_t i = FIRST; i < LAST && frame > 0; ++i )
        {
            boxes[i].lower.x += 0.25f, boxes[i].upper.x += 0.25f;
        }
        CHECK_OK( clv_space_move( space, ids, boxes, COUNT ) );
        CHECK_OK( clv_space_update( space ) );
        clv_pair_view view = clv_space_pairs( space );
        hash = test_mix( hash ^ test_order_hash( view.pairs, view.count ) );
    }
    free( boxes );
    free( ids );
    clv_space_destroy( space );
    return hash;
}

static void the_set_of_movers_does_not_depend_on_workers( void )
{
    uint64_t expected = order_after_a_few_moved( 1 );
    CHECK_EQUAL( order_after_a_few_moved( 2 ), expected );
    CHECK_EQUAL( order_after_a_few_moved( 5 ), expected );
}

// Pieces that the caller's threads are handed in two frames of so many cubes on the default settings.
static uint64_t pieces_of_a_frame( uint32_t count )
{
    own_threads own = { 2, 0 };
    clv_space_def def = clv_default_space_def();
    def.worker_count = own.worker_count;
    def.tasks.run = run_backwards;
    def.tasks.user = &own;
    clv_space* space;
    CHECK_OK( clv_space_create( &def, &space ) );
    clv_aabb* boxes = test_alloc( count, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( count, sizeof( clv_id ) );
    for ( uint32_t frame = 0; frame < 2; ++frame )
    {
        for ( uint32_t i = 0; i < count; ++i )
        {
            boxes[i] =
                test_cube( (float)( i % 32 + frame ), (float)( i / 32 % 32 ), (float)( i / 1024 ), 0.25f );
        }
        CHECK_OK( frame == 0 ? clv_space_add( space, boxes, count, ids )
                             : clv_space_move( space, ids, boxes, count ) );
        CHECK_OK( clv_space_update( space ) );
    }
    CHECK_EQUAL( clv_space_worker_count( space ), 2 ); // how many may help, whether or not they are asked
    free( boxes );
    free( ids );
    clv_space_destroy( space );
    return own.piece_count;
}

// What space.h and docs/use-it.md say about when workers help.
static void the_default_asks_for_help_above_8192_boxes( void )
{
    CHECK_EQUAL( pieces_of_a_frame( 8192 ), 0 );
    CHECK( pieces_of_a_frame( 8193 ) > 0 );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( any_number_of_workers_gives_the_same_list ),
        TEST_CASE( the_callers_threads_give_the_same_list ),
        TEST_CASE( a_tree_is_searched_alike_by_one_to_eight_workers ),
        TEST_CASE( hostile_worlds_are_searched_alike_by_up_to_sixteen_workers ),
        TEST_CASE( large_nodes_are_cut_alike_by_any_number_of_workers ),
        TEST_CASE( a_large_move_is_taken_whole_or_not_at_all ),
        TEST_CASE( the_set_of_movers_does_not_depend_on_workers ),
        TEST_CASE( the_default_asks_for_help_above_8192_boxes ),
    };
    return test_run( "threads", cases, TEST_COUNT( cases ), argc, argv );
}
