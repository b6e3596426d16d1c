// SPDX-License-Identifier: MIT
// What looks at a tree and changes nothing: the checker and the dump.
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
        TEST_CASE( the_dump_tells_every_node_and_object ),
    };
    return test_run( "kd_instruments", cases, TEST_COUNT( cases ), argc, argv );
}
