// SPDX-License-Identifier: MIT
// What looks at a tree and changes nothing: the checker and the dump.
#include "kd/kd_engine.h"
#include "kd_fixture.h"

#include <stdlib.h>
#include <string.h>

typedef void damage( kd_fixture* g );

static void damage_offset( kd_fixture* g )
{
    kd_fixture_node( g, "LR" )->offset = 1;
}
static void damage_block( kd_fixture* g )
{
    kd_fixture_node( g, "L" )->begin -= 1;
}
static void damage_population( kd_fixture* g )
{
    kd_fixture_node( g, "" )->population += 1;
}
static void damage_region( kd_fixture* g )
{
    kd_fixture_node( g, "LL" )->upper[0] += 1;
}
static void damage_parent( kd_fixture* g )
{
    kd_fixture_node( g, "LL" )->parent = KD_NONE;
}
static void damage_place( kd_fixture* g )
{
    g->boxes[0] = test_cube( 50, 0, 0, 0.5f );
}
static void damage_ideal( kd_fixture* g )
{
    g->boxes[11] = test_cube( 3, 0, 0, 0.5f );
}
static void damage_limit( kd_fixture* g )
{
    g->tree.leaf_limit = 3;
}
static void damage_least( kd_fixture* g )
{
    g->tree.leaf_limit = 15;
}
static void damage_child( kd_fixture* g )
{
    kd_fixture_node( g, "L" )->right = KD_NONE;
}
static void damage_end( kd_fixture* g )
{
    g->tree.count -= 1;
}

static void damage_root( kd_fixture* g )
{
    kd_fixture_node( g, "" )->parent = 1;
}
static void damage_count( kd_fixture* g )
{
    g->tree.node_count += 2;
}
static void damage_count_down( kd_fixture* g )
{
    g->tree.node_count -= 2;
}
static void damage_free( kd_fixture* g )
{
    g->tree.node_end += 1;
}
static void damage_rest( kd_fixture* g )
{
    kd_fixture_node( g, "R" )->rest_end = g->tree.count + 1;
}
static void damage_leaf( kd_fixture* g )
{
    kd_fixture_node( g, "R" )->population += 1;
    kd_fixture_node( g, "" )->population += 1;
}
static void damage_lifted( kd_fixture* g )
{
    kd_fixture_node( g, "R" )->lifted = true;
}
static void damage_outside( kd_fixture* g )
{
    g->tree.outside.items[g->tree.outside_count++] = 3;
}
static void the_checker_names_every_kind_of_damage( void )
{
    static const struct
    {
        damage* act;
        const char* word;
    } cases[] = {
        { damage_offset, "delayed offset" },
        { damage_block, "in-order" },
        { damage_population, "population" },
        { damage_region, "plane" },
        { damage_parent, "parent" },
        { damage_place, "does not hold" },
        { damage_ideal, "R3" },
        { damage_limit, "R1" },
        { damage_least, "R2" },
        { damage_child, "strictly binary" },
        { damage_end, "array" },
        { damage_root, "root" },
        { damage_count, "are counted" },
        { damage_count_down, "can be reached" },
        { damage_free, "free nodes" },
        { damage_rest, "at rest" },
        { damage_leaf, "leaf" },
        { damage_lifted, "to be emptied" },
        { damage_outside, "is outside" },
    };
    for ( size_t i = 0; i < TEST_COUNT( cases ); ++i )
    {
        kd_fixture g;
        kd_fixture_of_figure_5( &g );
        cases[i].act( &g );
        char text[256] = "";
        test_where.note = cases[i].word;
        CHECK( !clv_kd_check( &g.tree, text, sizeof( text ) ) );
        if ( strstr( text, cases[i].word ) == NULL )
        {
            test_fail( __FILE__, __LINE__, "'%s' does not speak of '%s'", text, cases[i].word );
        }
        clv_kd_tree_release( &g.tree );
    }
}

// ---- an engine whose objects rest: pairs are kept, and a node has cells

enum
{
    RESTING = 60,
    RESTING_PAIRS = 4096
};

typedef struct kd_resting
{
    base_memory memory;
    task_runner alone;
    kd_engine engine;
    clv_aabb boxes[RESTING];
    clv_pair pairs[RESTING_PAIRS];
} kd_resting;

static clv_result no_more_room( clv_pair_sink* sink )
{
    (void)sink;
    return CLV_OUT_OF_MEMORY;
}

// A row in which each overlaps the next; the last one moves.
static void kd_resting_open( kd_resting* r )
{
    const kd_rules rules = { .mode = KD_MODE_INCREMENTAL,
        .leaf_limit = RESTING,
        .search = { .sweep = KD_SWEEP_SMALL },
        .epsilon = 0.01,
        .static_share = 0.6,
        .query_share = 0.5 };
    memset( r, 0, sizeof( *r ) );
    r->memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    clv_kd_engine_init(
        &r->engine, &r->memory, &r->alone, clv_simd_method_kernels_for( CLV_ISA_SCALAR ), &rules );
    for ( uint32_t frame = 0; frame < 4; ++frame )
    {
        for ( uint32_t i = 0; i < RESTING; ++i )
        {
            r->boxes[i] = test_cube( (float)i * 0.75f, i + 1 < RESTING ? 0 : 0.125f * (float)frame, 0, 0.5f );
        }
        clv_method_input input = {
            .boxes = r->boxes, .live_count = RESTING, .slot_count = RESTING, .members_changed = frame == 0
        };
        clv_pair_sink sink = { .pairs = r->pairs, .capacity = RESTING_PAIRS, .make_room = no_more_room };
        CHECK_OK( clv_kd_engine_update( &r->engine, &input ) );
        CHECK_OK( clv_kd_engine_search( &r->engine, &input, &sink ) );
    }
    const kd_node* root = &r->engine.tree.nodes.items[r->engine.tree.root];
    CHECK( r->engine.rest.sure_count > 1 && root->rest_end > root->rest_begin );
}

static void damage_member( kd_engine* engine )
{
    engine->tree.order.items[0] = engine->tree.order.items[1];
}
static void damage_known( kd_engine* engine )
{
    base_bits_remove( engine->rest.known.items, 5 );
}
static void damage_pool( kd_engine* engine )
{
    engine->tree.pool.items[engine->tree.nodes.items[engine->tree.root].rest_pool].lower.x += 1;
}
static void damage_moving( kd_engine* engine )
{
    base_bits_add( engine->rest.moving.items, RESTING );
}
static void damage_moving_count( kd_engine* engine )
{
    engine->rest.moving_count += 1;
}
static void damage_kept( kd_engine* engine )
{
    engine->rest.sure.items[0].b = RESTING;
}
static void damage_kept_self( kd_engine* engine )
{
    engine->rest.sure.items[0].a = engine->rest.sure.items[0].b;
}
static void damage_kept_place( kd_engine* engine )
{
    engine->rest.sure.items[0] = ( clv_pair ){ 0, 9 };
}

static void the_checker_names_damage_to_what_rests( void )
{
    static const struct
    {
        void ( *act )( kd_engine* engine );
        const char* word;
    } cases[] = {
        { damage_member, "no member, or there twice" },
        { damage_known, "members" },
        { damage_pool, "not found in its cell" },
        { damage_moving, "moves and is no member" },
        { damage_moving_count, "are counted" },
        { damage_kept, "not one of two members" },
        { damage_kept_self, "not one of two members" },
        { damage_kept_place, "rests apart" },
    };
    for ( size_t i = 0; i < TEST_COUNT( cases ); ++i )
    {
        kd_resting* r = test_alloc( 1, sizeof( kd_resting ) );
        char text[256] = "";
        kd_resting_open( r );
        test_where.note = cases[i].word;
        CHECK( clv_kd_engine_check( &r->engine, text, sizeof( text ) ) );
        CHECK( clv_kd_rest_check( &r->engine.rest, text, sizeof( text ) ) );
        cases[i].act( &r->engine );
        CHECK( !clv_kd_engine_check( &r->engine, text, sizeof( text ) ) ||
            !clv_kd_rest_check( &r->engine.rest, text, sizeof( text ) ) );
        if ( strstr( text, cases[i].word ) == NULL )
        {
            test_fail( __FILE__, __LINE__, "'%s' does not speak of '%s'", text, cases[i].word );
        }
        clv_kd_engine_release( &r->engine );
        CHECK_EQUAL( r->memory.bytes, 0 );
        free( r );
    }
}

static void the_dump_tells_every_node_and_object( void )
{
    kd_fixture g;
    kd_fixture_of_figure_5( &g );
    size_t length = clv_kd_dump( &g.tree, NULL, 0 );
    char* text = malloc( length + 1 );
    CHECK_EQUAL( clv_kd_dump( &g.tree, text, length + 1 ), length );
    CHECK_EQUAL( strlen( text ), length );
    uint32_t nodes = 0;
    for ( const char* at = text; ( at = strstr( at, "\"node\":" ) ) != NULL; ++at )
    {
        nodes += 1;
    }
    CHECK_EQUAL( nodes, 5 );
    CHECK( strstr( text, "\"objects\": [8, 9, 10]" ) != NULL );
    CHECK( strstr( text, "\"plane\": -12" ) != NULL );
    char small[16];
    CHECK_EQUAL( clv_kd_dump( &g.tree, small, sizeof( small ) ), length );
    CHECK_EQUAL( strlen( small ), sizeof( small ) - 1 );
    free( text );
    kd_fixture_close( &g );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( the_checker_names_every_kind_of_damage ),
        TEST_CASE( the_checker_names_damage_to_what_rests ),
        TEST_CASE( the_dump_tells_every_node_and_object ),
    };
    return test_run( "kd_instruments", cases, TEST_COUNT( cases ), argc, argv );
}
