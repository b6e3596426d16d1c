// SPDX-License-Identifier: MIT
// The default engine with blocks so small that a few hundred boxes fill many of them: pairs across blocks and
// cells, once each, whatever the boxes look like.
#include "heap.h"
#include "space/instrument.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    FRAMES = 10
};

// The thread sanitizer looks at workers; what one finds is looked at by the other builds.
#if defined( __SANITIZE_THREAD__ )
enum
{
    IS_WATCHED = 1,
    SLAB_WORKERS = 5, // at least
    SEEDS = 4
};
#else
enum
{
    IS_WATCHED = 0,
    SLAB_WORKERS = 2,
    SEEDS = 16
};
#endif

static clv_space* make_space( const char* name, const char* settings, clv_isa isa, uint32_t workers )
{
    clv_space_def def = clv_default_space_def();
    def.method = name;
    def.settings = settings;
    def.isa = isa;
    def.worker_count = workers;
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    return space;
}

// The same crowd in two spaces for some frames, some boxes coming and going.
typedef struct life
{
    clv_space* judge;
    clv_space* engine;
    clv_aabb* boxes;
    clv_id* ids[2];
    uint32_t count;
    uint64_t order_hash;
} life;

static void life_frame( life* l, test_crowd crowd, test_random* random )
{
    clv_space* spaces[2] = { l->judge, l->engine };
    for ( uint32_t i = 0; i < l->count; ++i )
    {
        bool far = test_random_chance( random, 3 );
        l->boxes[i] =
            far ? test_crowd_box( crowd, l->count, random ) : test_crowd_step( crowd, l->boxes[i], random );
    }
    uint32_t turnover = l->count / 20;
    uint64_t hashes[2];
    for ( int i = 0; i < 2; ++i )
    {
        CHECK_OK( clv_space_remove( spaces[i], l->ids[i], turnover ) );
        CHECK_OK( clv_space_add( spaces[i], l->boxes, turnover, l->ids[i] ) );
        CHECK_OK( clv_space_move( spaces[i], l->ids[i], l->boxes, l->count ) );
        CHECK_OK( clv_space_update( spaces[i] ) );
        clv_pair_view view = clv_space_pairs( spaces[i] );
        hashes[i] = test_mix( test_set_hash( view.pairs, view.count ) ^ view.count );
    }
    CHECK_EQUAL( hashes[1], hashes[0] );
    clv_pair_view view = clv_space_pairs( l->engine );
    l->order_hash = test_mix( l->order_hash ^ test_order_hash( view.pairs, view.count ) );
}

// Lives the crowd through; a hash of the engine's lists in order.
static uint64_t live( test_crowd crowd, uint32_t count, const char* settings, clv_isa isa, uint32_t workers )
{
    test_where.isa = isa;
    test_where.worker_count = workers;
    test_random random = test_random_make( count * 31 + (uint32_t)crowd );
    life l = {
        .judge = make_space( "brute", NULL, CLV_ISA_AUTO, 1 ),
        .engine = make_space( "cleave", settings, isa, workers ),
        .boxes = test_alloc( count, sizeof( clv_aabb ) ),
        .ids = { test_alloc( count, sizeof( clv_id ) ), test_alloc( count, sizeof( clv_id ) ) },
        .count = count,
    };
    for ( uint32_t i = 0; i < count; ++i )
    {
        l.boxes[i] = test_crowd_box( crowd, count, &random );
    }
    CHECK_OK( clv_space_add( l.judge, l.boxes, count, l.ids[0] ) );
    CHECK_OK( clv_space_add( l.engine, l.boxes, count, l.ids[1] ) );
    for ( uint32_t frame = 0; frame < FRAMES; ++frame )
    {
        test_where.frame = frame;
        life_frame( &l, crowd, &random );
    }
    clv_space_destroy( l.judge );
    clv_space_destroy( l.engine );
    free( l.boxes );
    free( l.ids[0] );
    free( l.ids[1] );
    return l.order_hash;
}

static const char* const s_settings[] = { "cleave.few=0,cleave.block=8", "cleave.few=0,cleave.block=75",
    "cleave.few=0,cleave.block=1000,cleave.alone=0,cleave.strip=0", "cleave.few=0" };
static const uint32_t s_sizes[] = { 2, 17, 64, 65, 300, 1500, 4000 };

static void small_blocks_find_what_brute_force_finds( void )
{
    for ( uint32_t c = 0; c < TEST_CROWD_COUNT; ++c )
    {
        for ( uint32_t s = 0; s < TEST_COUNT( s_settings ) * TEST_COUNT( s_sizes ); ++s )
        {
            uint32_t size = s_sizes[s % TEST_COUNT( s_sizes )];
            bool is_quick = size < 2000 || c == TEST_CROWD_SPREAD || c == TEST_CROWD_LATTICE;
            is_quick &= !IS_WATCHED || c == TEST_CROWD_SPREAD;
            test_where.seed = c * 100 + s;
            if ( is_quick )
            {
                live( (test_crowd)c, size, s_settings[s / TEST_COUNT( s_sizes )], CLV_ISA_AUTO, 1 );
            }
        }
    }
}

static void everyone_gives_the_same_order( test_crowd crowd, const char* settings )
{
    uint64_t expected = live( crowd, 700, settings, CLV_ISA_SCALAR, 1 );
    for ( int isa = CLV_ISA_SSE2; isa < CLV_ISA_COUNT; ++isa )
    {
        if ( clv_isa_is_supported( (clv_isa)isa ) && !IS_WATCHED )
        {
            CHECK_EQUAL( live( crowd, 700, settings, (clv_isa)isa, 1 ), expected );
        }
    }
    CHECK_EQUAL( live( crowd, 700, settings, CLV_ISA_AUTO, 2 ), expected );
    CHECK_EQUAL( live( crowd, 700, settings, CLV_ISA_AUTO, 5 ), expected );
}

static void every_instruction_set_and_crew_gives_the_same_order( void )
{
    for ( uint32_t c = 0; c < TEST_CROWD_COUNT; ++c )
    {
        test_where.seed = c;
        everyone_gives_the_same_order( (test_crowd)c, s_settings[0] ); // in many blocks
        everyone_gives_the_same_order( (test_crowd)c, s_settings[2] ); // in one grid that all share
        everyone_gives_the_same_order( (test_crowd)c, s_settings[3] ); // in a strip, where that pays
    }
}

static uint64_t pairs_of( const char* name, const char* settings, const clv_aabb* boxes, uint32_t count )
{
    clv_space* space = make_space( name, settings, CLV_ISA_AUTO, settings != NULL ? 3 : 1 );
    CHECK_OK( clv_space_add( space, boxes, count, NULL ) );
    CHECK_OK( clv_space_update( space ) );
    clv_pair_view view = clv_space_pairs( space );
    uint64_t hash = test_mix( test_set_hash( view.pairs, view.count ) ^ view.count );
    clv_space_destroy( space );
    return hash;
}

// Worlds that mislead a grid laid over their bounds.
static void misleading_worlds_are_searched_right( void )
{
    enum
    {
        COUNT = 3000
    };
    clv_aabb* boxes = test_alloc( COUNT, sizeof( clv_aabb ) );
    for ( uint32_t world = 0; world < 6; ++world )
    {
        test_random random = test_random_make( world + 1 );
        for ( uint32_t i = 0; i < COUNT; ++i )
        {
            float size = world == 3 ? powf( 10, test_random_between( &random, -3, 2 ) ) : 0.5f;
            float spread = world == 0 ? 5.0f : 40.0f;
            boxes[i] = test_cube( test_random_between( &random, -spread, spread ),
                test_random_between( &random, -spread, spread ),
                test_random_between( &random, -spread, spread ), size );
            if ( world == 1 && i % 10 == 0 ) // a tenth of them a thousand kilometres away
            {
                boxes[i] = test_cube( 1e6f, (float)i, 0, 2 );
            }
            if ( world == 2 && i % 3 == 0 ) // needles through everything
            {
                boxes[i].lower.x = -1e5f, boxes[i].upper.x = 1e5f;
            }
            if ( world == 4 ) // a plate without thickness
            {
                boxes[i].lower.y = boxes[i].upper.y = 1;
            }
            if ( world == 5 ) // two crowds, each a point to the other
            {
                float at = i % 2 == 0 ? -1e9f : 1e9f;
                boxes[i].lower.x = boxes[i].upper.x = at;
            }
        }
        test_where.seed = world;
        uint64_t expected = pairs_of( "brute", NULL, boxes, COUNT );
        CHECK_EQUAL( pairs_of( "cleave", NULL, boxes, COUNT ), expected );
        CHECK_EQUAL( pairs_of( "cleave", "cleave.block=50", boxes, COUNT ), expected );
        CHECK_EQUAL( pairs_of( "cleave", "cleave.alone=0", boxes, COUNT ), expected );
    }
    free( boxes );
}

// A region measured some updates ago must not make a crowd of all boxes that have left it, by a little or for
// good.
static void a_world_that_jumps_away_is_found_again( void )
{
    enum
    {
        COUNT = 3000
    };
    clv_space* space = make_space( "cleave", "cleave.rest=0", CLV_ISA_AUTO, 1 );
    clv_aabb* boxes = test_alloc( COUNT, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( COUNT, sizeof( clv_id ) );
    test_random random = test_random_make( 9 );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_cube( test_random_between( &random, -20, 20 ),
            test_random_between( &random, -20, 20 ), test_random_between( &random, -20, 20 ), 0.5f );
    }
    CHECK_OK( clv_space_add( space, boxes, COUNT, ids ) );
    CHECK_OK( clv_space_update( space ) );
    uint64_t tests = clv_space_stats( space ).test_count;
    for ( uint32_t frame = 1; frame < 12; ++frame )
    {
        test_where.frame = frame;
        float jump = frame % 2 == 1 ? 35.0f : 1024.0f;
        for ( uint32_t i = 0; i < COUNT; ++i )
        {
            boxes[i].lower.x += jump, boxes[i].upper.x += jump;
        }
        CHECK_OK( clv_space_move( space, ids, boxes, COUNT ) );
        CHECK_OK( clv_space_update( space ) );
        CHECK( clv_space_stats( space ).test_count < 2 * tests );
        clv_pair_view view = clv_space_pairs( space );
        uint64_t found = test_mix( test_set_hash( view.pairs, view.count ) ^ view.count );
        CHECK_EQUAL( found, pairs_of( "brute", NULL, boxes, COUNT ) );
    }
    free( boxes );
    free( ids );
    clv_space_destroy( space );
}

// One frame of boxes, judged by brute force.
static void check_frame( clv_space* space, const clv_id* ids, const clv_aabb* boxes, uint32_t count )
{
    CHECK_OK( clv_space_move( space, ids, boxes, count ) );
    CHECK_OK( clv_space_update( space ) );
    clv_pair_view view = clv_space_pairs( space );
    uint64_t found = test_mix( test_set_hash( view.pairs, view.count ) ^ view.count );
    CHECK_EQUAL( found, pairs_of( "brute", NULL, boxes, count ) );
}

// Some frames in which three quarters of the boxes are a crowd first, and then everywhere.
static void disperse( clv_space* space, clv_aabb* boxes, clv_id* ids, uint32_t count, test_random* random )
{
    for ( uint32_t frame = 0; frame < 6; ++frame )
    {
        test_where.frame = frame;
        for ( uint32_t k = 0; k < count; ++k )
        {
            float spread = frame == 0 && k % 4 != 0 ? 1.0f : 20.0f;
            boxes[k] = test_cube( test_random_between( random, -spread, spread ),
                test_random_between( random, -spread, spread ),
                test_random_between( random, -spread, spread ), 0.1f );
        }
        if ( frame == 0 )
        {
            CHECK_OK( clv_space_add( space, boxes, count, ids ) );
        }
        check_frame( space, ids, boxes, count );
    }
}

// Blocks have grids chosen with the plan; a crowd that leaves one makes its grid far too fine for the others.
static void a_crowd_may_leave_its_block( void )
{
    enum
    {
        MOST = 2000
    };
    static const uint32_t counts[] = { 330, 400, 800, MOST };
    clv_aabb* boxes = test_alloc( MOST, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( MOST, sizeof( clv_id ) );
    for ( uint32_t i = 0; i < TEST_COUNT( counts ) * 2; ++i )
    {
        const char* settings = "cleave.few=0,cleave.block=8,cleave.rest=0";
        test_random random = test_random_make( i + 1 );
        test_where.seed = i;
        clv_space* space = make_space( "cleave", settings, CLV_ISA_AUTO, 1 + i % 2 * 2 );
        disperse( space, boxes, ids, counts[i / 2], &random );
        clv_space_destroy( space );
    }
    free( boxes );
    free( ids );
}

// One grid shared by several workers keeps its slabs, and room in each, from frame to frame: a few boxes at a
// time gather in one place until it is too small, here and there and back.
static void a_slab_may_outgrow_its_room( void )
{
    enum
    {
        COUNT = 6000
    };
    clv_aabb* boxes = test_alloc( COUNT, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( COUNT, sizeof( clv_id ) );
    for ( uint32_t workers = SLAB_WORKERS; workers <= ( IS_WATCHED ? 5 : 8 ); workers += 3 )
    {
        test_where.worker_count = workers;
        test_random random = test_random_make( workers );
        clv_space* space =
            make_space( "cleave", "cleave.few=0,cleave.alone=0,cleave.rest=0", CLV_ISA_AUTO, workers );
        for ( uint32_t i = 0; i < COUNT; ++i )
        {
            boxes[i] = test_cube( test_random_between( &random, -20, 20 ),
                test_random_between( &random, -20, 20 ), test_random_between( &random, -20, 20 ), 0.4f );
        }
        CHECK_OK( clv_space_add( space, boxes, COUNT, ids ) );
        for ( uint32_t frame = 0; frame < 24; ++frame )
        {
            test_where.frame = frame;
            uint32_t first = test_random_below( &random, COUNT - 60 );
            float z = frame % 6 == 5 ? -19.0f : (float)( frame / 6 ) * 9 - 13;
            for ( uint32_t i = first; i < first + 10 + frame * 2; ++i )
            {
                boxes[i] = test_cube( test_random_between( &random, -20, 20 ),
                    test_random_between( &random, -20, 20 ), z, 0.4f );
            }
            check_frame( space, ids, boxes, COUNT );
        }
        clv_space_destroy( space );
    }
    free( boxes );
    free( ids );
}

static void check_by_brute_force( clv_space* space, clv_space* judge )
{
    clv_space* spaces[2] = { space, judge };
    uint64_t hashes[2];
    for ( int i = 0; i < 2; ++i )
    {
        CHECK_OK( clv_space_update( spaces[i] ) );
        clv_pair_view view = clv_space_pairs( spaces[i] );
        hashes[i] = test_mix( test_set_hash( view.pairs, view.count ) ^ view.count );
    }
    CHECK_EQUAL( hashes[0], hashes[1] );
}

// A grid serves several updates; so few boxes as go into one cell must not be left with one of many, nor more
// with one of one.
static void a_world_may_cross_the_bound_of_one_cell( void )
{
    enum
    {
        MOST = 420
    };
    static const uint32_t counts[] = { 420, 330, 350, 351, 300, 360, 349, 420, 350 };
    clv_aabb boxes[MOST];
    clv_id ids[2][MOST];
    test_random random = test_random_make( 5 );
    for ( uint32_t i = 0; i < MOST; ++i )
    {
        boxes[i] = test_cube( test_random_between( &random, -9, 9 ), test_random_between( &random, -9, 9 ),
            test_random_between( &random, -9, 9 ), 0.5f );
    }
    clv_space* spaces[2] = { make_space( "cleave", "cleave.rest=0", CLV_ISA_AUTO, 1 ),
        make_space( "brute", NULL, CLV_ISA_AUTO, 1 ) };
    uint32_t count = 0;
    for ( uint32_t frame = 0; frame < TEST_COUNT( counts ); ++frame )
    {
        test_where.frame = frame;
        uint32_t wanted = counts[frame], last = count;
        count = wanted;
        for ( int i = 0; i < 2; ++i )
        {
            if ( wanted > last )
            {
                CHECK_OK( clv_space_add( spaces[i], boxes + last, wanted - last, ids[i] + last ) );
            }
            else
            {
                CHECK_OK( clv_space_remove( spaces[i], ids[i] + wanted, last - wanted ) );
            }
        }
        check_by_brute_force( spaces[0], spaces[1] );
    }
    clv_space_destroy( spaces[0] );
    clv_space_destroy( spaces[1] );
}

// With more than 64 chunks of slots, several go together to their slabs; gaps must not mix them up.
static void gaps_among_many_slots_do_not_change_the_order( void )
{
    enum
    {
        SLOTS = 150000,
        KEPT_OF = 10
    };
    clv_aabb* boxes = test_alloc( SLOTS, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( SLOTS, sizeof( clv_id ) );
    uint64_t hashes[2];
    for ( uint32_t i = 0; i < 2; ++i )
    {
        test_where.worker_count = 1 + 2 * i;
        test_random random = test_random_make( 11 );
        clv_space* space =
            make_space( "cleave", "cleave.alone=0,cleave.rest=0", CLV_ISA_AUTO, test_where.worker_count );
        for ( uint32_t k = 0; k < SLOTS; ++k )
        {
            boxes[k] = test_cube( test_random_between( &random, -9, 9 ),
                test_random_between( &random, -9, 9 ), test_random_between( &random, -9, 9 ), 0.3f );
        }
        CHECK_OK( clv_space_add( space, boxes, SLOTS, ids ) );
        uint32_t gone = 0;
        for ( uint32_t k = 0; k + 1 < SLOTS; ++k )
        {
            ids[gone] = ids[k];
            gone += test_random_below( &random, KEPT_OF ) != 0;
        }
        CHECK_OK( clv_space_remove( space, ids, gone ) );
        CHECK_OK( clv_space_update( space ) );
        clv_pair_view view = clv_space_pairs( space );
        CHECK( view.count > 1000 );
        hashes[i] = test_order_hash( view.pairs, view.count );
        clv_space_destroy( space );
    }
    CHECK_EQUAL( hashes[1], hashes[0] );
    free( boxes );
    free( ids );
}

static uint64_t order_of_crew( const clv_aabb* boxes, uint32_t count, uint32_t workers )
{
    test_where.worker_count = workers;
    clv_space* space =
        make_space( "cleave", "cleave.few=0,cleave.block=8,cleave.rest=0", CLV_ISA_AUTO, workers );
    CHECK_OK( clv_space_add( space, boxes, count, NULL ) );
    CHECK_OK( clv_space_update( space ) );
    clv_pair_view view = clv_space_pairs( space );
    uint64_t hash = test_order_hash( view.pairs, view.count );
    clv_space_destroy( space );
    return hash;
}

// A life of several frames in blocks, long enough for several pieces of boxes: all drift, some come and go.
static uint64_t order_of_life( uint32_t workers )
{
    enum
    {
        COUNT = 9000
    };
    static clv_aabb boxes[COUNT];
    static clv_id ids[COUNT];
    test_where.worker_count = workers;
    test_random random = test_random_make( 5 );
    clv_space* space =
        make_space( "cleave", "cleave.few=0,cleave.block=50,cleave.rest=0", CLV_ISA_AUTO, workers );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        boxes[i] =
            test_cube( test_random_between( &random, -12, 12 ), test_random_between( &random, -12, 12 ),
                test_random_between( &random, -12, 12 ), i % 100 == 0 ? 6.0f : 0.8f );
    }
    CHECK_OK( clv_space_add( space, boxes, COUNT, ids ) );
    uint64_t hash = 0;
    for ( uint32_t frame = 0; frame < FRAMES / 2; ++frame )
    {
        for ( uint32_t i = 0; i < COUNT; ++i )
        {
            boxes[i].lower.x += 0.02f;
            boxes[i].upper.x += 0.02f;
        }
        CHECK_OK( clv_space_move( space, ids, boxes, COUNT ) );
        uint32_t first = test_random_below( &random, COUNT - 100 );
        CHECK_OK( clv_space_remove( space, ids + first, 60 ) );
        CHECK_OK( clv_space_update( space ) );
        clv_pair_view view = clv_space_pairs( space );
        CHECK( view.count > COUNT );
        hash = test_mix( hash ^ test_order_hash( view.pairs, view.count ) );
        CHECK_OK( clv_space_add( space, boxes + first, 60, ids + first ) );
    }
    clv_space_destroy( space );
    return hash;
}

static void pieces_do_not_change_the_order_in_blocks( void )
{
    uint64_t alone = order_of_life( 1 );
    CHECK_EQUAL( order_of_life( 2 ), alone );
    CHECK_EQUAL( order_of_life( 5 ), alone );
    CHECK_EQUAL( order_of_life( 16 ), alone );
}

// A dense crowd with one box in four around it. With a core half of all boxes are a crowd within the crowd,
// so that a block has most of its boxes in one cell of its grid and gets another.
static void make_dense_crowd( clv_aabb* boxes, uint32_t count, bool has_core, test_random* random )
{
    const float middle = has_core ? 0.3f : 0; // of a block, not where eight of them meet
    for ( uint32_t i = 0; i < count; ++i )
    {
        float spread = 20, half = has_core ? 0.3f : 0.7f;
        if ( i % 4 > 0 && has_core )
        {
            spread = i % 4 < 3 ? 0.064f : 0.4f;
            half = i % 4 < 3 ? test_random_between( random, 0.02f, 0.04f ) : 0.01f;
        }
        else if ( i % 4 > 0 )
        {
            spread = test_random_between( random, 0, 0.4f );
            half = test_random_between( random, 0.05f, 0.3f );
        }
        boxes[i] = test_cube( middle + test_random_between( random, -spread, spread ),
            middle + test_random_between( random, -spread, spread ),
            middle + test_random_between( random, -spread, spread ), half );
    }
}

// More pairs than there are chunks for: a block is searched a second time, after the first has given it
// another grid.
static void a_block_may_be_searched_twice( void )
{
    enum
    {
        MOST = 3600
    };
    static clv_aabb boxes[MOST];
    for ( uint32_t seed = 0; seed < 16; seed += 16 / SEEDS )
    {
        test_where.seed = seed;
        test_random random = test_random_make( seed );
        bool has_core = seed % 8 == 4;
        uint32_t count = has_core ? MOST : 1500 + seed * 100;
        make_dense_crowd( boxes, count, has_core, &random );
        uint64_t alone = order_of_crew( boxes, count, 1 );
        CHECK_EQUAL( order_of_crew( boxes, count, 2 ), alone );
        CHECK_EQUAL( order_of_crew( boxes, count, 3 ), alone );
    }
}

// Eight small crowds in the corners of a wide world, for which a grid has nearly as many cells as it may.
static void make_corners( clv_aabb* boxes, uint32_t count )
{
    test_random random = test_random_make( 4 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t corner = test_random_below( &random, 8 );
        boxes[i] = test_cube( test_random_between( &random, 0, 20 ) + (float)( corner & 1 ) * 180,
            test_random_between( &random, 0, 20 ) + (float)( corner >> 1 & 1 ) * 180,
            test_random_between( &random, 0, 20 ) + (float)( corner >> 2 ) * 180, 0.1f );
    }
}

// The grid of an update that failed serves the next one, for which fewer boxes, and so fewer cells, are
// expected.
static void a_grid_outlives_the_update_that_failed( void )
{
    enum
    {
        COUNT = 9040,
        GONE = 2140
    };
    clv_aabb* boxes = test_alloc( COUNT, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( COUNT, sizeof( clv_id ) );
    make_corners( boxes, COUNT );
    clv_result result = CLV_OUT_OF_MEMORY;
    for ( uint64_t refused = 1; result != CLV_OK; ++refused )
    {
        test_where.seed = refused;
        heap memory = { 0 };
        clv_space_def def = clv_default_space_def();
        def.settings = "cleave.rest=0";
        def.allocator = heap_hooks( &memory );
        clv_space* space = NULL;
        CHECK_OK( clv_space_create( &def, &space ) );
        CHECK_OK( clv_space_add( space, boxes, COUNT, ids ) );
        memory.refuse_from = memory.allocate_count + refused;
        memory.refuse_count = 1;
        result = clv_space_update( space );
        heap_heal( &memory );
        CHECK_OK( clv_space_remove( space, ids + COUNT - GONE, GONE ) );
        CHECK_OK( clv_space_update( space ) );
        clv_pair_view view = clv_space_pairs( space );
        CHECK_EQUAL( test_mix( test_set_hash( view.pairs, view.count ) ^ view.count ),
            pairs_of( "brute", NULL, boxes, COUNT - GONE ) );
        clv_space_destroy( space );
    }
    free( boxes );
    free( ids );
}

// Finite, but their distances are not.
static void boxes_at_the_end_of_the_numbers_are_found( void )
{
    enum
    {
        COUNT = 1000
    };
    static const char* const settings[] = { "cleave.few=0,cleave.block=8", "cleave.few=0,cleave.alone=0" };
    clv_aabb* boxes = test_alloc( COUNT, sizeof( clv_aabb ) );
    test_random random = test_random_make( 3 );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_cube( test_random_between( &random, -9, 9 ), test_random_between( &random, -9, 9 ),
            test_random_between( &random, -9, 9 ), 0.5f );
        if ( i % 3 == 0 )
        {
            boxes[i].lower.x = boxes[i].upper.x = i % 2 == 0 ? 3.3e38f : -3.3e38f;
        }
    }
    uint64_t expected = pairs_of( "brute", NULL, boxes, COUNT );
    for ( uint32_t i = 0; i < TEST_COUNT( settings ); ++i )
    {
        CHECK_EQUAL( pairs_of( "cleave", settings[i], boxes, COUNT ), expected );
    }
    free( boxes );
}

// ---- worlds that cells of one size do not divide

enum
{
    ODD = 3000
};

static double figure( clv_space* space, const char* name )
{
    clv_method_figure figures[64];
    uint32_t count = clv_space_report( space, figures, 64 );
    CHECK( count <= 64 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( strcmp( figures[i].name, name ) == 0 )
        {
            return figures[i].value;
        }
    }
    test_fail( __FILE__, __LINE__, "no figure '%s'", name );
    return 0;
}

// A space after some updates; in each of them one box moves, or nothing would be searched.
static clv_space* look_at( const clv_aabb* boxes, uint32_t updates )
{
    clv_space* space = make_space( "cleave", "cleave.rest=0", CLV_ISA_AUTO, 1 );
    clv_id* ids = test_alloc( ODD, sizeof( clv_id ) );
    CHECK_OK( clv_space_add( space, boxes, ODD, ids ) );
    for ( uint32_t update = 0; update < updates; ++update )
    {
        clv_aabb box = update % 2 == 0 ? boxes[1] : boxes[0];
        CHECK_OK( clv_space_move( space, ids, &box, 1 ) );
        CHECK_OK( clv_space_update( space ) );
    }
    free( ids );
    return space;
}

static clv_space* look_at_crowd( test_crowd crowd, uint32_t updates )
{
    test_random random = test_random_make( 5 );
    clv_aabb* boxes = test_alloc( ODD, sizeof( clv_aabb ) );
    for ( uint32_t i = 0; i < ODD; ++i )
    {
        boxes[i] = test_crowd_box( crowd, ODD, &random );
    }
    clv_space* space = look_at( boxes, updates );
    free( boxes );
    return space;
}

static void odd_worlds_are_seen_on_another_scale( void )
{
    clv_space* space = look_at_crowd( TEST_CROWD_SPREAD, 3 );
    CHECK( figure( space, "axes not to scale" ) == 0 );
    CHECK( figure( space, "sharpened" ) == 0 );
    clv_space_destroy( space );
    space = look_at_crowd( TEST_CROWD_FLAT, 3 );
    CHECK( figure( space, "axes not to scale" ) == 0 && figure( space, "tests in bytes" ) < ODD * 200.0 );
    clv_space_destroy( space );
    space = look_at_crowd( TEST_CROWD_ENDLESS, 3 );
    CHECK( figure( space, "tests in bytes" ) < ODD * 200.0 );
    clv_space_destroy( space );
    space = look_at_crowd( TEST_CROWD_DECADES, 1 );
    CHECK( figure( space, "axes not to scale" ) == 3 );
    CHECK( figure( space, "tests in bytes" ) < ODD * 300.0 );
    clv_space_destroy( space );
    space = look_at_crowd( TEST_CROWD_TINY, 1 );
    CHECK( figure( space, "axes not to scale" ) == 3 );
    clv_space_destroy( space );
    clv_space_destroy( look_at_crowd( TEST_CROWD_KNOTS, 3 ) );
}

// In the first update: no grid tells these apart, planes do.
static void what_no_scale_tells_apart_is_cut( void )
{
    static const test_crowd crowds[] = { TEST_CROWD_FUNNEL, TEST_CROWD_SIZES, TEST_CROWD_KNOTS };
    for ( uint32_t i = 0; i < TEST_COUNT( crowds ); ++i )
    {
        clv_space* space = look_at_crowd( crowds[i], 1 );
        CHECK( figure( space, "tests in bytes" ) < ODD * 300.0 );
        CHECK( figure( space, "tests in float" ) < ODD * 16.0 );
        clv_space_destroy( space );
    }
}

// Every second box begins where the one before it ends, to the last bit.
static void faces_that_touch_still_touch_when_cut( void )
{
    test_random random = test_random_make( 6 );
    clv_aabb* boxes = test_alloc( ODD, sizeof( clv_aabb ) );
    for ( uint32_t i = 0; i < ODD; i += 2 )
    {
        boxes[i] = boxes[i + 1] = test_crowd_box( TEST_CROWD_FUNNEL, ODD, &random );
        uint32_t axis = i / 2 % 3;
        float* lower = &boxes[i + 1].lower.x + axis;
        float* upper = &boxes[i + 1].upper.x + axis;
        float size = *upper - *lower;
        *lower = *upper;
        *upper += size;
    }
    clv_space* space = look_at( boxes, 4 );
    clv_pair_view view = clv_space_pairs( space );
    CHECK_EQUAL( test_mix( test_set_hash( view.pairs, view.count ) ^ view.count ),
        pairs_of( "brute", NULL, boxes, ODD ) );
    CHECK( view.count >= ODD / 2 - 1 );
    clv_space_destroy( space );
    free( boxes );
}

// On the scale of bits two faces with a gap of one last bit are the same float: the boxes as given decide.
static void what_only_nearly_touches_is_no_pair_on_any_scale( void )
{
    test_random random = test_random_make( 7 );
    clv_aabb* boxes = test_alloc( ODD, sizeof( clv_aabb ) );
    for ( uint32_t i = 0; i < ODD; i += 2 )
    {
        boxes[i] = boxes[i + 1] = test_crowd_box( TEST_CROWD_DECADES, ODD, &random );
        boxes[i + 1].lower.x = nextafterf( boxes[i].upper.x, INFINITY );
        boxes[i + 1].upper.x = boxes[i + 1].lower.x + ( boxes[i].upper.x - boxes[i].lower.x );
    }
    clv_space* space = look_at( boxes, 2 );
    CHECK( figure( space, "axes not to scale" ) == 3 );
    clv_pair_view view = clv_space_pairs( space );
    CHECK_EQUAL( test_mix( test_set_hash( view.pairs, view.count ) ^ view.count ),
        pairs_of( "brute", NULL, boxes, ODD ) );
    clv_space_destroy( space );
    free( boxes );
}

// Where every box has one face at infinity the others still tell them apart in bytes.
static void boxes_without_an_end_are_no_ties( void )
{
    test_random random = test_random_make( 8 );
    clv_aabb* boxes = test_alloc( ODD, sizeof( clv_aabb ) );
    for ( uint32_t i = 0; i < ODD; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, ODD, &random );
        boxes[i].upper.x = INFINITY;
    }
    clv_space* space = look_at( boxes, 2 );
    CHECK( figure( space, "tests in float" ) < 0.2 * figure( space, "candidates" ) );
    clv_space_destroy( space );
    // Nor where they have none on either side of an axis.
    for ( uint32_t i = 0; i < ODD; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_FLAT, ODD, &random );
        boxes[i].lower.y = -INFINITY;
        boxes[i].upper.y = INFINITY;
    }
    space = look_at( boxes, 2 );
    CHECK( figure( space, "tests in bytes" ) < ODD * 50.0 );
    CHECK( figure( space, "tests in float" ) < 0.2 * figure( space, "candidates" ) );
    clv_pair_view view = clv_space_pairs( space );
    CHECK_EQUAL( test_mix( test_set_hash( view.pairs, view.count ) ^ view.count ),
        pairs_of( "brute", NULL, boxes, ODD ) );
    clv_space_destroy( space );
    free( boxes );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( small_blocks_find_what_brute_force_finds ),
        TEST_CASE( every_instruction_set_and_crew_gives_the_same_order ),
        TEST_CASE( misleading_worlds_are_searched_right ),
        TEST_CASE( a_world_that_jumps_away_is_found_again ),
        TEST_CASE( a_crowd_may_leave_its_block ),
        TEST_CASE( a_slab_may_outgrow_its_room ),
        TEST_CASE( a_world_may_cross_the_bound_of_one_cell ),
        TEST_CASE( gaps_among_many_slots_do_not_change_the_order ),
        TEST_CASE( pieces_do_not_change_the_order_in_blocks ),
        TEST_CASE( a_block_may_be_searched_twice ),
        TEST_CASE( a_grid_outlives_the_update_that_failed ),
        TEST_CASE( boxes_at_the_end_of_the_numbers_are_found ),
        TEST_CASE( odd_worlds_are_seen_on_another_scale ),
        TEST_CASE( what_no_scale_tells_apart_is_cut ),
        TEST_CASE( faces_that_touch_still_touch_when_cut ),
        TEST_CASE( what_only_nearly_touches_is_no_pair_on_any_scale ),
        TEST_CASE( boxes_without_an_end_are_no_ties ),
    };
    return test_run( "engine", cases, TEST_COUNT( cases ), argc, argv );
}
