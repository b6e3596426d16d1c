// SPDX-License-Identifier: MIT
// Structures have checkers that debug builds and tests ask after every step. Here each is broken in one place after the
// other, and its checker must say so: one that is always content proves nothing.
#include "bvh/bvh_tree.h"
#include "grid/grid_cells.h"
#include "pair/table.h"
#include "rest/rest_world.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum
{
    OBJECTS = 200,
    ROW = 150
};

static clv_aabb s_boxes[OBJECTS];

static void fill_boxes( void )
{
    test_random random = test_random_make( 3 );
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        float x = test_random_between( &random, 0, 6 ), y = test_random_between( &random, 0, 6 );
        s_boxes[i] = test_cube( x, y, test_random_between( &random, 0, 6 ), 0.5f );
        // A row in which each just touches the next, and at its end one that nobody touches.
        if ( i >= ROW )
        {
            s_boxes[i] = test_cube( (float)i, i + 1 < OBJECTS ? 20 : 30, 0, 0.5f );
        }
    }
}

/// `place` holds `value` for as long as the checker looks; it must complain in these words, and be content afterwards.
#define SPOIL( place, value, words )                                                                         \
    do                                                                                                       \
    {                                                                                                        \
        char kept_[sizeof( place )];                                                                         \
        memcpy( kept_, &( place ), sizeof( place ) );                                                        \
        ( place ) = ( value );                                                                               \
        check_words( ASK, words );                                                                           \
        memcpy( &( place ), kept_, sizeof( place ) );                                                        \
        CHECK( ASK == NULL );                                                                                \
    } while ( 0 )

static void check_words( const char* said, const char* words )
{
    test_where.note = words;
    CHECK( said != NULL );
    CHECK( strstr( said, words ) != NULL );
}

// ---- a tree of boxes

#define ASK clv_bvh_tree_check( &tree )

static void a_broken_tree_of_boxes_is_noticed( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    bvh_tree tree;
    clv_bvh_tree_init( &tree );
    CHECK( clv_bvh_tree_reserve( &tree, &memory, OBJECTS, OBJECTS ) );
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        clv_bvh_tree_insert( &tree, i, s_boxes[i] );
    }
    CHECK( ASK == NULL );
    bvh_node* leaf = &tree.nodes.items[tree.leaves.items[7]];
    SPOIL( leaf->child[0], 8, "belongs to another" );
    SPOIL( leaf->parent, tree.nodes.items[tree.leaves.items[100]].parent, "does not know its child" );
    SPOIL( tree.nodes.items[leaf->parent].box, s_boxes[199], "sticks out" );
    SPOIL( tree.root, tree.leaves.items[7], "does not end at the root" );
    SPOIL( tree.leaf_count, OBJECTS + 1, "more or fewer leaves" );
    SPOIL( tree.leaves.items[7], BVH_NONE, "more or fewer leaves" );

    // The root under one of its own children, in the place of a grandchild: the way up from the first leaf.
    uint32_t below = tree.leaves.items[0], at = tree.nodes.items[below].parent;
    while ( tree.nodes.items[at].parent != tree.root )
    {
        below = at;
        at = tree.nodes.items[at].parent;
    }
    bvh_node kept = tree.nodes.items[at];
    tree.nodes.items[at].box = tree.nodes.items[tree.root].box;
    tree.nodes.items[at].child[kept.child[0] == below] = tree.root;
    tree.nodes.items[tree.root].parent = at;
    check_words( ASK, "in circles" );
    tree.nodes.items[at] = kept;
    tree.nodes.items[tree.root].parent = BVH_NONE;
    CHECK( ASK == NULL );
    clv_bvh_tree_free( &tree, &memory );
    CHECK_EQUAL( memory.bytes, 0 );
}

#undef ASK

// ---- cells of a grid

#define ASK clv_grid_cells_check( &cells, &input )

// A group of a cell with two entries or more.
static uint32_t find_group( const grid_cells* cells )
{
    uint32_t key = 0;
    while ( cells->starts.items[key + 1] - cells->starts.items[key] < 2 )
    {
        key += 1;
        CHECK( key < cells->lattice.cell_count * GRID_GROUPS );
    }
    return key;
}

static void broken_cells_are_noticed( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    task_runner alone = { 0 };
    clv_method_input input = { .boxes = s_boxes, .live_count = OBJECTS };
    grid_cells cells = { 0 };
    CHECK_OK( clv_grid_cells_build( &cells, &memory, &alone, &input, 8, 3 ) );
    CHECK( ASK == NULL );
    SPOIL( cells.spans.items[5].high[1], (uint16_t)cells.lattice.cells[1], "cells that are not there" );
    SPOIL( cells.spans.items[5].low[2], (uint16_t)( cells.spans.items[5].high[2] + 1 ),
        "cells that are not there" );
    SPOIL( cells.entries.count, cells.entries.count - 1, "more or fewer entries" );
    uint32_t first = cells.starts.items[find_group( &cells )];
    SPOIL( cells.entries.items[first + 1], cells.entries.items[first], "not in ascending order" );
    clv_grid_cells_release( &cells, &memory );
    CHECK_EQUAL( memory.bytes, 0 );
}

#undef ASK

// ---- a set of pairs

#define ASK clv_pair_table_check( &table )

static void a_broken_set_of_pairs_is_noticed( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    pair_table table = { 0 };
    for ( uint32_t i = 0; i < 50; ++i )
    {
        CHECK( clv_pair_table_add( &table, &memory, i, i + 1 + i % 3 ) );
    }
    CHECK( ASK == NULL );
    SPOIL( table.list.count, 49, "more or fewer keys" );
    SPOIL( table.list.items[20].b, 77, "not found" );
    clv_pair_table_free( &table, &memory );
    CHECK_EQUAL( memory.bytes, 0 );
}

#undef ASK

// ---- a world at rest

typedef struct rested
{
    base_memory memory;
    task_runner alone;
    clv_engine blocks;
    rest_world world;
    char text[200];
} rested;

static const char* ask_rested( rested* r )
{
    return clv_rest_world_check( &r->world, r->text, sizeof( r->text ) ) ? NULL : r->text;
}

static void open_rested( rested* r )
{
    *r = ( rested ){ .memory = clv_base_memory_make( ( clv_allocator ){ 0 } ) };
    const simd_kernels* kernels = clv_simd_kernels_for( clv_isa_best() );
    clv_engine_init( &r->blocks, &r->memory, kernels, &r->alone, 64, 64 );
    clv_rest_world_init( &r->world, &r->memory, kernels, &r->alone );
    clv_method_input input = {
        .boxes = s_boxes, .live_count = OBJECTS, .slot_count = OBJECTS, .members_changed = true
    };
    uint64_t tests = 0;
    CHECK( clv_rest_world_enter( &r->world, &input, OBJECTS, UINT64_MAX, &r->blocks, &tests ) );
    CHECK( r->world.is_on );
    CHECK( clv_rest_world_refit( &r->world, 0, &s_boxes[0] ) ); // which makes its grid and chains
    CHECK( r->world.pairs.sure_count > 10 && r->world.pairs.marginal.count > 2 );
}

static void close_rested( rested* r )
{
    clv_rest_world_release( &r->world );
    clv_engine_release( &r->blocks );
    CHECK_EQUAL( r->memory.bytes, 0 );
}

#define ASK ask_rested( &r )

// Somebody with a pair, or without one.
static uint32_t find_slot( const rest_pairs* pairs, bool has_pairs )
{
    bool seen[OBJECTS] = { false };
    for ( uint64_t i = 0; i < pairs->list.count; ++i )
    {
        seen[pairs->list.items[i].a] = seen[pairs->list.items[i].b] = true;
    }
    for ( uint32_t i = 0; i < pairs->marginal.count; ++i )
    {
        seen[pairs->marginal.pairs.items[i].a] = seen[pairs->marginal.pairs.items[i].b] = true;
    }
    uint32_t slot = 0;
    while ( seen[slot] != has_pairs )
    {
        slot += 1;
        CHECK( slot < OBJECTS );
    }
    return slot;
}

static void objects_at_rest_that_are_wrong_are_noticed( void )
{
    rested r;
    open_rested( &r );
    rest_world* world = &r.world;
    CHECK( ASK == NULL );
    uint32_t slot = find_slot( &world->pairs, true );
    simd_rest_box away = world->boxes.items[slot];
    away.lower[0] += 100, away.upper[0] += 100;
    SPOIL( world->boxes.items[slot], away, "wrong class" );
    uint64_t without = world->known[slot >> 6] & ~( (uint64_t)1 << ( slot & 63 ) );
    SPOIL( world->known[slot >> 6], without, "not there" );
    rest_zone zone = rest_zone_of( &world->boxes.items[slot] );
    clv_rest_grid_remove( &world->grid, slot, &zone.fat );
    check_words( ASK, "not once in the grid" );
    CHECK( clv_rest_grid_insert( &world->grid, slot, &zone.fat ) );
    CHECK( ASK == NULL );

    // Nobody touches the last one, but it is found where the one below it is.
    zone = rest_zone_of( &world->boxes.items[OBJECTS - 1] );
    clv_rest_grid_remove( &world->grid, OBJECTS - 1, &zone.fat );
    zone = rest_zone_of( &world->boxes.items[OBJECTS - 2] );
    CHECK( clv_rest_grid_insert( &world->grid, OBJECTS - 1, &zone.fat ) );
    slot = OBJECTS - 1;
    without = world->known[slot >> 6] & ~( (uint64_t)1 << ( slot & 63 ) );
    world->known[slot >> 6] = without;
    check_words( ASK, "an object that went" );
    close_rested( &r );
}

static void pairs_at_rest_that_are_wrong_are_noticed( void )
{
    rested r;
    open_rested( &r );
    rest_pairs* pairs = &r.world.pairs;
    rest_marginal* marginal = &pairs->marginal;
    clv_pair pair = marginal->pairs.items[0];
    uint32_t other = find_slot( pairs, false );
    SPOIL( marginal->heads.items[2 * pair.a + 1], 99, "longer or shorter" );
    SPOIL( marginal->heads.items[2 * other], marginal->heads.items[2 * pair.a], "somebody else's" );
    uint32_t touching = 0;
    while ( !rest_marginal_is_touching( marginal, touching ) )
    {
        touching += 1;
        CHECK( touching < marginal->count );
    }
    SPOIL( marginal->places.items[touching], 0, "not where it says" );
    SPOIL( marginal->touching.items[touching >> 6],
        marginal->touching.items[touching >> 6] & ~( 1ull << ( touching & 63 ) ), "do not make up the list" );
    close_rested( &r );
}

#undef ASK

int main( int argc, char** argv )
{
    fill_boxes();
    const test_case cases[] = {
        TEST_CASE( a_broken_tree_of_boxes_is_noticed ),
        TEST_CASE( broken_cells_are_noticed ),
        TEST_CASE( a_broken_set_of_pairs_is_noticed ),
        TEST_CASE( objects_at_rest_that_are_wrong_are_noticed ),
        TEST_CASE( pairs_at_rest_that_are_wrong_are_noticed ),
    };
    return test_run( "checker", cases, TEST_COUNT( cases ), argc, argv );
}
