// SPDX-License-Identifier: MIT
// Structures have checkers that debug builds and tests ask after every step. Here each is broken in one place
// after the other, and its checker must say so: one that is always content proves nothing.
#include "bvh/bvh_tree.h"
#include "grid/grid_cells.h"
#include "near/near_internal.h"
#include "object/store.h"
#include "pair/table.h"
#include "query/query_tree.h"
#include "rest/rest_world.h"
#include "support.h"

#include <math.h>
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
        // A row in which each just touches the next, and at its end one that touches nothing.
        if ( i >= ROW )
        {
            s_boxes[i] = test_cube( (float)i, i + 1 < OBJECTS ? 20 : 30, 0, 0.5f );
        }
    }
}

/// `place` holds `value` for as long as the checker looks; it must complain in these words, and be content
/// afterwards.
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
    cells.lattice = clv_grid_lattice_choose( &input, 8, 3 );
    CHECK_OK( clv_grid_cells_enter( &cells, &memory, &alone, &input ) );
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

// ---- the tree of queries

// A tree over the first objects; the others are not there. Five are a single node, whose lanes no hull above
// it tells of.
typedef struct asked
{
    base_memory memory;
    task_runner alone;
    const simd_queries* kernels;
    query_boxes from;
    query_tree tree;
    query_tree64 wide;
    uint32_t generations[OBJECTS];
    clv_aabb64 boxes64[OBJECTS];
} asked;

static void open_asked( asked* a, uint32_t count )
{
    *a = ( asked ){ .memory = clv_base_memory_make( ( clv_allocator ){ 0 } ) };
    a->kernels = &clv_simd_queries_scalar;
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        const clv_aabb* box = &s_boxes[i];
        a->generations[i] = i < count;
        a->boxes64[i] = ( clv_aabb64 ){ { (double)box->lower.x, (double)box->lower.y, (double)box->lower.z },
            { (double)box->upper.x, (double)box->upper.y, (double)box->upper.z } };
    }
    a->from = ( query_boxes ){ s_boxes, a->generations, OBJECTS, count };
    CHECK( clv_query_tree_build( &a->tree, &a->from, a->kernels, &a->memory, &a->alone ) );
    CHECK( clv_query_tree64_bring(
        &a->wide, &a->tree, a->boxes64, &a->from, a->kernels, &a->memory, &a->alone ) );
}

static void close_asked( asked* a )
{
    clv_query_tree64_free( &a->wide, &a->memory );
    clv_query_tree_free( &a->tree, &a->memory );
    CHECK_EQUAL( a->memory.bytes, 0 );
}

enum lane_kind
{
    LANE_INNER,
    LANE_OBJECT,
    LANE_EMPTY
};

// The first lane of that kind, from node `index` on: that node, and the lane in *lane.
static uint32_t find_lane( const query_tree* tree, uint32_t index, enum lane_kind kind, uint32_t* lane )
{
    for ( ; index < tree->node_count; ++index )
    {
        for ( *lane = 0; *lane < QUERY_LANES; ++*lane )
        {
            uint32_t child = tree->nodes[index].child[*lane];
            enum lane_kind is = child == QUERY_EMPTY ? LANE_EMPTY
                : ( child & QUERY_OBJECT ) != 0      ? LANE_OBJECT
                                                     : LANE_INNER;
            if ( is == kind )
            {
                return index;
            }
        }
    }
    CHECK( false );
    return 0;
}

#define ASK clv_query_tree_check( &a.tree, &a.from )

static void broken_lanes_of_a_query_tree_are_noticed( void )
{
    asked a;
    open_asked( &a, 5 );
    CHECK( ASK == NULL );
    uint32_t lane;
    query_node* node = &a.tree.nodes[find_lane( &a.tree, 0, LANE_EMPTY, &lane )];
    SPOIL( node->lower[1][lane], -INFINITY, "an empty lane has a box" );
    SPOIL( node->least[lane], 3, "an empty lane has a box or a lowest slot" );
    node = &a.tree.nodes[find_lane( &a.tree, 0, LANE_OBJECT, &lane )];
    uint32_t slot = node->child[lane] & ~QUERY_OBJECT;
    SPOIL( node->child[lane], QUERY_OBJECT | 5, "an object that is not there" );
    SPOIL( a.generations[slot], 2, "an object that is not there" );
    SPOIL( node->least[lane], slot + 1, "an object's lowest slot is not its own" );
    SPOIL( node->upper[2][lane], 1e30f, "an object's box is not its own" );
    SPOIL( a.generations[5], 1, "missing, or there twice" );
    SPOIL( a.from.live_count, 6, "the number of objects" );
    SPOIL( a.tree.item_count, 4, "the number of objects" );
    close_asked( &a );

    open_asked( &a, OBJECTS - 1 );
    node = &a.tree.nodes[find_lane( &a.tree, 0, LANE_INNER, &lane )];
    SPOIL( node->lower[0][lane], node->lower[0][lane] - 1, "not the hull" ); // though all are inside
    SPOIL( node->lower[0][lane], node->lower[0][lane] + 1, "not the hull" );
    SPOIL( node->least[lane], node->least[lane] + 1, "lowest slot is not that of the lanes below" );
    close_asked( &a );
}

// Two objects with one box, and one of them in both lanes: as many as before, and every hull is right.
static void an_object_twice_in_a_query_tree_is_noticed( void )
{
    asked a;
    clv_aabb kept = s_boxes[8];
    s_boxes[8] = s_boxes[7];
    open_asked( &a, OBJECTS - 1 );
    CHECK( ASK == NULL );
    for ( uint32_t i = 0; i < a.tree.node_count * QUERY_LANES; ++i )
    {
        query_node* node = &a.tree.nodes[i / QUERY_LANES];
        uint32_t lane = i % QUERY_LANES;
        if ( node->child[lane] == ( QUERY_OBJECT | 8 ) && query_node_least( node ) != 8 )
        {
            node->child[lane] = QUERY_OBJECT | 7;
            node->least[lane] = 7;
        }
    }
    check_words( ASK, "missing, or there twice" );
    s_boxes[8] = kept;
    close_asked( &a );
}

static void broken_nodes_of_a_query_tree_are_noticed( void )
{
    asked a;
    open_asked( &a, OBJECTS - 1 );
    uint32_t lane, second;
    query_node* root = &a.tree.nodes[find_lane( &a.tree, 0, LANE_INNER, &lane )];
    CHECK( root == a.tree.nodes );
    for ( second = lane + 1; ( root->child[second] & QUERY_OBJECT ) != 0; ++second )
    {
        CHECK( second + 1 < QUERY_LANES );
    }
    SPOIL( root->child[lane], 0, "comes before its parent" );
    SPOIL( root->child[lane], a.tree.node_count, "or is not there" );
    query_node kept = *root; // two nodes change places
    root->child[lane] = kept.child[second];
    root->child[second] = kept.child[lane];
    for ( int axis = 0; axis < 3; ++axis )
    {
        root->lower[axis][lane] = kept.lower[axis][second];
        root->lower[axis][second] = kept.lower[axis][lane];
        root->upper[axis][lane] = kept.upper[axis][second];
        root->upper[axis][second] = kept.upper[axis][lane];
    }
    root->least[lane] = kept.least[second];
    root->least[second] = kept.least[lane];
    check_words( ASK, "does not follow those below the lane before it" );
    *root = kept;
    CHECK( ASK == NULL );
    SPOIL( a.tree.depth, 1, "deeper than the tree says" );
    SPOIL( a.tree.depth, QUERY_DEPTH + 1, "deeper than stacks" );
    SPOIL( a.tree.node_count, a.tree.node_count + 1, "has no parent" );
    CHECK( a.tree.part_count > 0 );
    SPOIL( a.tree.parts[0].end, a.tree.parts[0].end - 1, "a part is not one node with all below it" );
    SPOIL( a.tree.parts[0].first, a.tree.node_count, "a part is not one node with all below it" );
    close_asked( &a );
}

// Nodes made since the build, and the links by which few objects are followed.
static void broken_links_of_a_query_tree_are_noticed( void )
{
    asked a;
    open_asked( &a, OBJECTS - 9 );
    uint32_t comers[8];
    for ( uint32_t i = 0; i < 8; ++i )
    {
        comers[i] = OBJECTS - 9 + i;
        a.generations[comers[i]] = 1;
    }
    a.from.live_count += 8;
    const query_slots changed = { comers, 8 };
    CHECK( clv_query_tree_patch( &a.tree, &a.wide, a.boxes64, &a.from, &changed, a.kernels, &a.memory ) );
    CHECK( ASK == NULL );
    CHECK( clv_query_tree64_check( &a.wide, &a.tree, a.boxes64, &a.from ) == NULL );
    CHECK( a.tree.node_count > a.tree.built_nodes && a.tree.patch_count == 8 );
    uint32_t made = a.tree.node_count - 1, built = a.tree.built_nodes;
    SPOIL( a.tree.links.parents[made], made, "another than the one above it" );
    SPOIL( a.tree.links.places[comers[3]], QUERY_EMPTY, "another node than that of its lane" );
    SPOIL( a.tree.links.place_count, 3, "another node than that of its lane" );
    SPOIL( a.tree.built_nodes, a.tree.node_count, "does not follow those below the lane before it" );
    SPOIL( a.tree.built_nodes, built - 1, "a part is not one node with all below it" );
    SPOIL( a.tree.built_nodes, a.tree.node_count + 1, "fewer nodes than the build made" );
    SPOIL( a.tree.node_count, a.tree.node_count + 1, "has no parent" );
    close_asked( &a );
}

#undef ASK
#define ASK clv_query_tree64_check( &a.wide, &a.tree, a.boxes64, &a.from )

static void broken_nodes_of_doubles_are_noticed( void )
{
    asked a;
    open_asked( &a, 5 );
    CHECK( ASK == NULL );
    uint32_t lane;
    query_node* node = &a.wide.nodes[find_lane( &a.tree, 0, LANE_OBJECT, &lane )];
    uint32_t slot = node->child[lane] & ~QUERY_OBJECT;
    SPOIL( node->upper[0][lane], node->lower[0][lane], "box in double is beyond its lane" );
    SPOIL( node->lower[2][lane], node->upper[2][lane], "box in double is beyond its lane" );
    SPOIL( node->origin[1], node->origin[1] + 1e6, "box in double is beyond its lane" );
    SPOIL( node->origin[3], node->origin[3] + 1, "another child or lowest slot" );
    SPOIL( node->child[lane], QUERY_EMPTY, "another child or lowest slot" );
    SPOIL( a.generations[slot], 2, "an object that is not there" );
    node = &a.wide.nodes[find_lane( &a.tree, 0, LANE_EMPTY, &lane )];
    SPOIL( node->lower[0][lane], -INFINITY, "an empty lane has a box in double" );
    close_asked( &a );

    open_asked( &a, OBJECTS - 1 );
    node = &a.wide.nodes[find_lane( &a.tree, 0, LANE_INNER, &lane )];
    SPOIL( node->lower[2][lane], node->upper[2][lane], "in double does not hold the lanes below" );
    close_asked( &a );
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
    clv_engine_init( &r->blocks, &r->memory, kernels, &r->alone, 64, 64, 0 );
    clv_rest_world_init( &r->world, &r->memory, kernels, &r->alone );
    clv_method_input input = {
        .boxes = s_boxes, .live_count = OBJECTS, .slot_count = OBJECTS, .members_changed = true
    };
    uint64_t tests = 0;
    CHECK( clv_rest_world_enter( &r->world, &input, OBJECTS, UINT64_MAX, &r->blocks, &tests ) );
    CHECK( r->world.is_on );
    CHECK( clv_rest_world_refit( &r->world, 0, &s_boxes[0] ) ); // which makes its grid
    CHECK( clv_rest_marginal_link( &r->world.pairs.marginal ) );
    CHECK( r->world.pairs.sure_count > 10 && r->world.pairs.marginal.count > 2 );
}

static void close_rested( rested* r )
{
    clv_rest_world_release( &r->world );
    clv_engine_release( &r->blocks );
    CHECK_EQUAL( r->memory.bytes, 0 );
}

#define ASK ask_rested( &r )

// An object with a pair, or without one.
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

    // The last one touches nothing, but it is found where the one below it is.
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

// The grid alone: which object is where.
static void a_wrong_grid_at_rest_is_noticed( void )
{
    rested r;
    open_rested( &r );
    rest_world* world = &r.world;
    rest_grid* grid = &world->grid;
    CHECK( ASK == NULL );

    // Two cells change places.
    rest_cell* cells = grid->cells.items;
    uint32_t first = 0, second;
    while ( cells[first].count == 0 )
    {
        first += 1;
    }
    for ( second = first + 1; cells[second].count == 0; ++second )
    {
        CHECK( second + 1 < grid->cells.count );
    }
    rest_cell kept = cells[first];
    cells[first] = cells[second];
    cells[second] = kept;
    check_words( ASK, "another cell than its own" );
    cells[second] = cells[first];
    cells[first] = kept;
    CHECK( ASK == NULL );
    SPOIL( cells[first].count, kept.room + 1, "more objects than room" );
    SPOIL(
        grid->entries.items[kept.first].lower, grid->entries.items[kept.first].lower ^ 1, "of another box" );
    SPOIL( grid->entries.count, grid->entries.count + 1, "belongs to no cell" );
    SPOIL( grid->free_blocks[0], 1, "leads nowhere" );

    // A box larger than every level.
    simd_rest_box small = world->boxes.items[OBJECTS - 1];
    rest_zone zone = rest_zone_of( &small );
    clv_rest_grid_remove( grid, OBJECTS - 1, &zone.fat );
    clv_aabb large = { { -1e6f, 100, -1e6f }, { 1e6f, 101, 1e6f } };
    world->boxes.items[OBJECTS - 1] = rest_box_make( &large, 0 );
    CHECK( clv_rest_grid_insert( grid, OBJECTS - 1, &large ) );
    rest_cell* last = &grid->cells.items[grid->cells.count - 1];
    CHECK( last->count == 1 && ASK == NULL );
    SPOIL( grid->places.items[OBJECTS - 1], 7, "does not know its place" );
    SPOIL( last->count, 0, "not once in the grid" );
    close_rested( &r );
}

// Cells that empty give their blocks back, and cells that fill take these.
static void blocks_of_a_grid_at_rest_are_used_again( void )
{
    rested r;
    open_rested( &r );
    rest_grid* grid = &r.world.grid;
    uint64_t entry_count = 0;
    for ( uint32_t round = 0; round < 6; ++round )
    {
        for ( uint32_t slot = 0; slot < OBJECTS; ++slot )
        {
            rest_zone zone = rest_zone_of( &r.world.boxes.items[slot] );
            clv_rest_grid_remove( grid, slot, &zone.fat );
        }
        for ( uint32_t slot = 0; slot < OBJECTS; ++slot )
        {
            rest_zone zone = rest_zone_of( &r.world.boxes.items[slot] );
            CHECK( clv_rest_grid_insert( grid, slot, &zone.fat ) );
        }
        CHECK( ASK == NULL );
        entry_count = round == 0 ? grid->entries.count : entry_count;
        CHECK_EQUAL( grid->entries.count, entry_count );
    }
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
    SPOIL( marginal->heads.items[2 * other], marginal->heads.items[2 * pair.a], "a pair of other objects" );
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

static const char* ask_boxes( rested* r, const clv_method_input* input )
{
    return clv_rest_world_check_boxes( &r->world, input, r->text, sizeof( r->text ) ) ? NULL : r->text;
}

#define ASK ask_boxes( &r, &input )

static void boxes_that_do_not_rest_are_noticed( void )
{
    rested r;
    open_rested( &r );
    clv_method_input input = { .boxes = s_boxes, .live_count = OBJECTS, .slot_count = OBJECTS };
    CHECK( ASK == NULL );
    SPOIL( s_boxes[OBJECTS - 1].lower.y, s_boxes[OBJECTS - 1].lower.y - 1, "left its margin" );
    SPOIL( s_boxes[OBJECTS - 1].upper.z, s_boxes[OBJECTS - 1].upper.z - 0.5f, "left its margin" );
    SPOIL( input.live_count, OBJECTS - 1, "an object that went is followed" );
    SPOIL( r.world.known[0], r.world.known[0] & ~(uint64_t)1, "a live object is not followed" );
    rest_marginal* marginal = &r.world.pairs.marginal;
    SPOIL( marginal->touching.items[0], marginal->touching.items[0] ^ 1, "was not tested" );
    close_rested( &r );
}

#undef ASK

// ---- points in cells, and lists of them

// A list of points in a periodic cell, with squares and shifts.
static clv_near* make_points( bool full, bool by_point )
{
    static float s_xyz[3 * OBJECTS];
    test_random random = test_random_make( 8 );
    for ( uint32_t i = 0; i < 3 * OBJECTS; ++i )
    {
        s_xyz[i] = test_random_between( &random, 0, 10 );
    }
    clv_near_cell cell = { .edges = { { 10, 0, 0 }, { 0, 10, 0 }, { 0, 0, 10 } },
        .periodic = { true, true, true } };
    clv_near_points points = {
        .positions = s_xyz, .stride = 3 * sizeof( float ), .count = OBJECTS, .cell = &cell
    };
    clv_near_def def = clv_default_near_def();
    def.cutoff = 1.5;
    def.full = full;
    def.by_point = by_point;
    def.shifts = def.squared = true;
    clv_near* near = NULL;
    CHECK_OK( clv_near_create( &def, &near ) );
    CHECK_OK( clv_near_update( near, &points, NULL ) );
    CHECK( near->grid.cell_count > 8 && near->pairs.count > OBJECTS );
    return near;
}

// A cell with two points or more.
static uint32_t find_cell( const clv_near* near )
{
    uint32_t cell = 0;
    while ( near->starts.items[cell + 1] - near->starts.items[cell] < 2 )
    {
        cell += 1;
        CHECK( cell < near->grid.cell_count );
    }
    return cell;
}

#define ASK clv_near_grid_check( near )

static void points_in_wrong_cells_are_noticed( void )
{
    clv_near* near = make_points( true, true );
    CHECK( ASK == NULL );
    uint32_t first = near->starts.items[find_cell( near )], id = near->ids.items[first];
    float* x = (float*)(void*)near->lanes.items;
    SPOIL( near->grid.last[1], near->grid.last[1] + 1, "another last one" );
    SPOIL( near->grid.layers[2], 0, "spans no cell" );
    SPOIL( near->grid.cell_count, near->grid.cell_count - 1, "more or fewer cells" );
    SPOIL( near->starts.items[0], 1, "begin at the first point" );
    SPOIL( near->starts.items[find_cell( near ) + 1], 0, "ends before it begins" );
    SPOIL( near->ids.items[first + 1], near->ids.items[first], "do not ascend" );
    SPOIL( near->cells.items[id], near->cells.items[id] + 1, "a point of another cell" );
    SPOIL( x[first], x[first] + 1, "not where its cell has it" );
    SPOIL( near->grid.lower[0], near->grid.lower[0] - 0.5, "lies in another cell" );
    SPOIL( near->point_count, OBJECTS + 1, "more or fewer points" );
    clv_near_destroy( near );
}

#undef ASK
#define ASK clv_near_list_check( near, 1.5 * 1.5 )

static void wrong_lists_of_near_points_are_noticed( void )
{
    for ( int form = 0; form < 3; ++form )
    {
        bool is_full = form < 2, by_point = form == 1;
        clv_near* near = make_points( is_full, by_point );
        CHECK( ASK == NULL );
        clv_pair* pair = &near->pairs.items[is_full ? 0 : 3];
        uint32_t* second = is_full ? near_row_entries( pair, 0 ) : &pair->b;
        float* squared = (float*)(void*)near->squared.items;
        SPOIL( *second, OBJECTS, is_full ? "not those of the pairs" : "not there" );
        SPOIL( squared[5], 2.5f, "further away" );
        if ( !is_full )
        {
            SPOIL( near->shifts.count, near->shifts.count - 3, "more or fewer shifts" );
            SPOIL( *pair, ( ( clv_pair ){ pair->b, pair->a } ), "in the wrong order" );
            clv_near_destroy( near );
            continue;
        }
        SPOIL( pair->a, *second, "not those of the pairs" );
        SPOIL( pair->b, 0, "a row is empty" );
        SPOIL( near->entry_shifts.items[7], near->entry_shifts.items[7] + 1, "none from the other side" );
        SPOIL( near->offsets.items[OBJECTS], near->offsets.items[OBJECTS] + 1, "more or fewer entries" );
        SPOIL( near->offsets.items[7], near->offsets.items[OBJECTS] + 1, "end before they begin" );
        if ( by_point )
        {
            SPOIL( near->indices.items[2], near->indices.items[2] + 1, "not those of the pairs" );
        }
        else
        {
            SPOIL( near->sides.items[2].a, near->sides.items[2].a + 1, "another point's" );
            SPOIL( near->sides.items[2].b, near->sides.items[2].b + 1, "not those of the pairs" );
        }
        clv_near_destroy( near );
    }
}

#undef ASK

// ---- slots

#define ASK clv_object_store_check( &store )

static void wrong_slots_are_noticed( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    object_store store = clv_object_store_make( &memory, ( clv_margin_rule ){ 0.25f, 0, 0 } );
    CHECK( ASK == NULL );
    CHECK( clv_object_store_use_margins( &store ) && clv_object_store_use( &store, OBJECT_STAMP ) );
    CHECK_OK( clv_object_store_prepare_add( &store, OBJECTS ) );
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        clv_object_store_add( &store, s_boxes[i] );
    }
    CHECK( ASK == NULL );
    clv_object_store_remove( &store, 7 );
    clv_object_store_remove( &store, 30 );
    clv_object_store_remove( &store, 31 );
    CHECK( clv_object_store_list_live( &store ) );
    CHECK( ASK == NULL );
    uint32_t* generations = object_generations( &store );
    clv_aabb* boxes = object_boxes( &store );
    SPOIL( store.capacities[OBJECT_GENERATION], OBJECTS - 1, "no room for all slots" );
    SPOIL( store.capacities[OBJECT_MOTION], 4, "is not there has a capacity" );
    SPOIL( store.columns[OBJECT_MARGIN_BY], store.columns[OBJECT_MARGIN], "no room for all slots" );
    SPOIL( store.moved_is_known, true, "but not of all" );
    SPOIL( store.live_count, store.live_count + 1, "slots are alive" );
    SPOIL( generations[9], 2, "slots are alive" );
    SPOIL( store.free_count, 2, "slots are free" );
    SPOIL( generations[30], 0, "slots are free" );
    SPOIL( store.first_free, 9, "one that is not free" );
    SPOIL( boxes[30].lower.x, boxes[31].lower.x, "does not end with the last" ); // 31, 30, 30
    SPOIL( store.free_is_row, true, "said to be a row" );
    SPOIL( store.live.items[4], 7, "not alive, or not in order" );
    SPOIL( store.live.count, store.live.count - 1, "longer or shorter" );
    SPOIL( ( (uint32_t*)store.columns[OBJECT_STAMP] )[12], 5, "still to come" );
    SPOIL( ( (float*)store.columns[OBJECT_MARGIN] )[12], 0.5f, "not the box as given" );
    SPOIL( boxes[12].upper.y, boxes[12].upper.y + 1, "not the box as given" );
    clv_object_store_clear( &store );
    CHECK( ASK == NULL );
    CHECK( store.free_is_row );
    clv_object_store_free( &store );
    CHECK_EQUAL( memory.bytes, 0 );
}

#undef ASK

int main( int argc, char** argv )
{
    fill_boxes();
    const test_case cases[] = {
        TEST_CASE( a_broken_tree_of_boxes_is_noticed ),
        TEST_CASE( broken_cells_are_noticed ),
        TEST_CASE( a_broken_set_of_pairs_is_noticed ),
        TEST_CASE( broken_lanes_of_a_query_tree_are_noticed ),
        TEST_CASE( an_object_twice_in_a_query_tree_is_noticed ),
        TEST_CASE( broken_nodes_of_a_query_tree_are_noticed ),
        TEST_CASE( broken_links_of_a_query_tree_are_noticed ),
        TEST_CASE( broken_nodes_of_doubles_are_noticed ),
        TEST_CASE( objects_at_rest_that_are_wrong_are_noticed ),
        TEST_CASE( a_wrong_grid_at_rest_is_noticed ),
        TEST_CASE( blocks_of_a_grid_at_rest_are_used_again ),
        TEST_CASE( pairs_at_rest_that_are_wrong_are_noticed ),
        TEST_CASE( boxes_that_do_not_rest_are_noticed ),
        TEST_CASE( points_in_wrong_cells_are_noticed ),
        TEST_CASE( wrong_lists_of_near_points_are_noticed ),
        TEST_CASE( wrong_slots_are_noticed ),
    };
    return test_run( "checker", cases, TEST_COUNT( cases ), argc, argv );
}
