// SPDX-License-Identifier: MIT
// Sure and marginal pairs, their list and their chains, against a table of all pairs; and which boxes are
// near, against all boxes.
#include "rest/loose_grid.h"
#include "rest/rest_pairs.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    SLOTS = 40,
    BOXES = 600
};

typedef struct table
{
    rest_class classes[SLOTS][SLOTS];
    bool touches[SLOTS][SLOTS];
} table;

static void check_list( const rest_pairs* pairs, const table* t )
{
    bool seen[SLOTS][SLOTS] = { { false } };
    uint64_t expected = 0;
    for ( uint64_t i = 0; i < pairs->list.count; ++i )
    {
        clv_pair pair = pairs->list.items[i];
        CHECK( pair.a < pair.b && pair.b < SLOTS && !seen[pair.a][pair.b] );
        seen[pair.a][pair.b] = true;
        CHECK( t->touches[pair.a][pair.b] );
        CHECK_EQUAL( t->classes[pair.a][pair.b] == REST_SURE, i < pairs->sure_count );
    }
    for ( uint32_t i = 0; i < SLOTS * SLOTS; ++i )
    {
        expected += t->touches[i / SLOTS][i % SLOTS];
    }
    CHECK_EQUAL( pairs->list.count, expected );
    const char* broken = clv_rest_pairs_check( pairs, SLOTS );
    CHECK_TEXT( broken != NULL ? broken : "", "" );
}

static void change_one( rest_pairs* pairs, table* t, test_random* random )
{
    uint32_t a = test_random_below( random, SLOTS - 1 );
    uint32_t b =
        test_random_chance( random, 20 ) ? SLOTS - 1 : a + 1 + test_random_below( random, SLOTS - 1 - a );
    rest_class from = t->classes[a][b];
    rest_class to = (rest_class)test_random_below( random, 3 );
    if ( from == to )
    {
        uint32_t number =
            from == REST_MARGINAL ? clv_rest_marginal_find( &pairs->marginal, ( clv_pair ){ a, b } ) : 0;
        if ( from == REST_MARGINAL )
        {
            CHECK( number != REST_NO_PAIR );
            t->touches[a][b] = test_random_chance( random, 50 );
            CHECK( clv_rest_pairs_turn( pairs, number, t->touches[a][b] ) );
        }
        return;
    }
    bool swap = test_random_chance( random, 50 );
    CHECK( clv_rest_pairs_change( pairs, swap ? b : a, swap ? a : b, from, to ) );
    t->classes[a][b] = to;
    t->touches[a][b] = to == REST_SURE || ( to == REST_MARGINAL && from == REST_SURE );
}

static void classes_change_and_the_list_follows( void )
{
    for ( uint32_t seed = 1; seed <= 8; ++seed )
    {
        test_where.seed = seed;
        test_random random = test_random_make( seed );
        base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
        rest_pairs pairs;
        clv_rest_pairs_init( &pairs, &memory );
        for ( int round = 0; round < 2; ++round ) // the second begins with the memory of the first
        {
            static table t;
            memset( &t, 0, sizeof( t ) );
            CHECK( clv_rest_pairs_begin( &pairs, SLOTS, 10, UINT64_MAX ) );
            for ( uint32_t i = 0; i < test_scaled( 3000 ); ++i )
            {
                change_one( &pairs, &t, &random );
                if ( i % 8 == 0 )
                {
                    check_list( &pairs, &t );
                }
            }
        }
        clv_rest_pairs_release( &pairs );
        CHECK_EQUAL( memory.bytes, 0 );
    }
}

// ---- the loose grid

typedef struct place
{
    simd_rest_box rests[BOXES];
    uint64_t known[( BOXES + 63 ) / 64];
    rest_grid grid;
} place;

static clv_aabb fat_of( const place* p, uint32_t slot )
{
    return rest_zone_of( &p->rests[slot] ).fat;
}

static void set_known( place* p, uint32_t slot, bool known )
{
    uint64_t bit = (uint64_t)1 << ( slot & 63 );
    p->known[slot >> 6] = known ? p->known[slot >> 6] | bit : p->known[slot >> 6] & ~bit;
}

static bool is_known( const place* p, uint32_t slot )
{
    return ( p->known[slot >> 6] >> ( slot & 63 ) & 1 ) != 0;
}

static void check_asked( place* p, const clv_aabb* box )
{
    uint32_t times[BOXES] = { 0 };
    CHECK( clv_rest_grid_ask( &p->grid, box ) );
    for ( uint32_t i = 0; i < p->grid.found.count; ++i )
    {
        times[p->grid.found.items[i]] += 1;
    }
    for ( uint32_t slot = 0; slot < BOXES; ++slot )
    {
        bool must = is_known( p, slot ) && clv_aabb_overlap( fat_of( p, slot ), *box );
        CHECK( times[slot] <= is_known( p, slot ) );
        CHECK( !must || times[slot] == 1 );
    }
}

static void all_near_boxes_are_found( void )
{
    place* p = test_alloc( 1, sizeof( place ) );
    for ( uint32_t c = 0; c < TEST_CROWD_COUNT; ++c )
    {
        test_where.seed = c;
        test_random random = test_random_make( c + 1 );
        base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
        memset( p, 0, sizeof( *p ) );
        clv_rest_grid_init( &p->grid, &memory, clv_simd_kernels_for( clv_isa_best() ) );
        for ( uint32_t slot = 0; slot < BOXES; ++slot )
        {
            clv_aabb box = test_crowd_box( (test_crowd)c, BOXES, &random );
            p->rests[slot] = rest_box_make( &box, clv_rest_margin( &box, 0.01f, slot ) );
            set_known( p, slot, slot % 7 != 0 );
        }
        CHECK( clv_rest_grid_make( &p->grid, p->rests, p->known, BOXES ) );
        for ( uint32_t i = 0; i < 400; ++i )
        {
            uint32_t slot = test_random_below( &random, BOXES );
            clv_aabb before = fat_of( p, slot );
            check_asked( p, &before );
            bool was_known = is_known( p, slot );
            set_known( p, slot, i % 5 != 0 );
            clv_aabb box = test_crowd_box( (test_crowd)( i % TEST_CROWD_COUNT ), BOXES, &random );
            p->rests[slot] = rest_box_make( &box, clv_rest_margin( &box, 1, slot ) );
            clv_aabb after = fat_of( p, slot );
            if ( was_known && is_known( p, slot ) )
            {
                CHECK( clv_rest_grid_move( &p->grid, slot, &before, &after ) );
            }
            else if ( was_known )
            {
                clv_rest_grid_remove( &p->grid, slot, &before );
            }
            else if ( is_known( p, slot ) )
            {
                CHECK( clv_rest_grid_insert( &p->grid, slot, &after ) );
            }
            CHECK( clv_rest_grid_check( &p->grid, p->rests, p->known, BOXES ) == NULL );
        }
        clv_rest_grid_release( &p->grid );
        CHECK_EQUAL( memory.bytes, 0 );
    }
    free( p );
}

// All gather in one cell after another: what a cell no longer needs another takes.
static void cells_give_back_what_a_crowd_leaves( void )
{
    place* p = test_alloc( 1, sizeof( place ) );
    test_random random = test_random_make( 5 );
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    clv_rest_grid_init( &p->grid, &memory, clv_simd_kernels_for( CLV_ISA_SCALAR ) );
    for ( uint32_t slot = 0; slot < BOXES; ++slot )
    {
        clv_aabb cube = test_cube( test_random_between( &random, 0, 20 ),
            test_random_between( &random, 0, 20 ), test_random_between( &random, 0, 20 ), 0.5f );
        p->rests[slot] = rest_box_make( &cube, 0 );
        set_known( p, slot, true );
    }
    CHECK( clv_rest_grid_make( &p->grid, p->rests, p->known, BOXES ) );
    uint64_t first = p->grid.entries.count, most = 0;
    for ( uint32_t round = 0; round < 60; ++round )
    {
        float at = 0.3f * (float)round;
        for ( uint32_t slot = 0; slot < BOXES; ++slot )
        {
            clv_aabb before = fat_of( p, slot ), cube = test_cube( at, at, at, 0.5f );
            p->rests[slot] = rest_box_make( &cube, 0 );
            CHECK( clv_rest_grid_move( &p->grid, slot, &before, &cube ) );
        }
        CHECK( clv_rest_grid_check( &p->grid, p->rests, p->known, BOXES ) == NULL );
        most = p->grid.entries.count;
    }
    CHECK( most <= first + 8 * BOXES );
    clv_rest_grid_release( &p->grid );
    CHECK_EQUAL( memory.bytes, 0 );
    free( p );
}

// Nothing tells how large cells should be where no box of the sample has finite sides.
static void endless_boxes_need_no_cells( void )
{
    const uint32_t count = 4096;
    simd_rest_box* rests = test_alloc( count, sizeof( simd_rest_box ) );
    uint64_t* known = test_alloc( count / 64, sizeof( uint64_t ) );
    memset( known, 0xff, count / 8 );
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    rest_grid grid;
    clv_rest_grid_init( &grid, &memory, clv_simd_kernels_for( CLV_ISA_SCALAR ) );
    CHECK( clv_rest_grid_reserve( &grid, count ) );
    for ( uint32_t slot = 0; slot < count; ++slot )
    {
        clv_aabb wall = test_box( (float)slot, 0, 0, INFINITY, 1, 1 );
        rests[slot] = rest_box_make( &wall, 0 );
    }
    CHECK( clv_rest_grid_plan( &grid, rests, known, count ) );
    CHECK_EQUAL( grid.level_count, 1 );
    clv_aabb cube = test_cube( 100, 0.5f, 0.5f, 0.25f );
    CHECK( clv_rest_grid_insert( &grid, 7, &cube ) && clv_rest_grid_ask( &grid, &cube ) );
    CHECK( grid.found.count == 1 && grid.found.items[0] == 7 );
    clv_rest_grid_release( &grid );
    CHECK_EQUAL( memory.bytes, 0 );
    free( rests );
    free( known );
}

// ---- margins

static void margins_keep_to_their_bounds( void )
{
    clv_aabb cube = test_cube( 5, 5, 5, 0.5f );
    clv_aabb endless = test_box( 0, 0, 0, INFINITY, 1, 1 );
    clv_aabb huge = test_box( -3e38f, 0, 0, 3e38f, 1, 1 );
    CHECK( clv_rest_margin( &cube, 0, 1 ) == 0.0003f );
    CHECK( clv_rest_margin( &cube, 1, 1 ) == 0.2f );
    CHECK( clv_rest_margin( &cube, INFINITY, 1 ) == 0.2f );
    CHECK( clv_rest_margin( &endless, 1, 1 ) == 0 );
    CHECK( clv_rest_margin( &huge, 1, 1 ) == 0 );
    float least = 1, most = 0;
    for ( uint32_t salt = 0; salt < 1000; ++salt )
    {
        float margin = clv_rest_margin( &cube, 0.005f, salt );
        least = margin < least ? margin : least;
        most = margin > most ? margin : most;
    }
    CHECK( least >= 0.04f && least < 0.045f && most <= 0.12f && most > 0.115f );
}

// Whatever the boxes do within their margins, sure pairs touch and pairs apart do not; in float, with large
// numbers too.
static void classes_hold_wherever_the_boxes_are( void )
{
    for ( uint32_t seed = 1; seed <= test_scaled( 20000 ); ++seed )
    {
        test_where.seed = seed;
        test_random random = test_random_make( seed );
        float at = powf( 10, test_random_between( &random, -2, 7 ) );
        simd_rest_box rests[2];
        clv_aabb boxes[2];
        for ( int i = 0; i < 2; ++i )
        {
            clv_aabb reference = test_cube( at + test_random_between( &random, -1, 1 ),
                test_random_between( &random, -1, 1 ), 0, test_random_between( &random, 0, 1 ) );
            rests[i] = rest_box_make(
                &reference, clv_rest_margin( &reference, test_random_between( &random, 0, 0.1f ), seed ) );
            for ( int face = 0; face < 6; ++face )
            {
                float rest = face < 3 ? rests[i].lower[face] : rests[i].upper[face - 3];
                float e = test_random_chance( &random, 30 )
                    ? rests[i].margin
                    : rests[i].margin * test_random_between( &random, 0, 1 );
                ( &boxes[i].lower.x )[face] = test_random_chance( &random, 50 ) ? rest - e : rest + e;
            }
        }
        CHECK_EQUAL( clv_simd_kernels_for( CLV_ISA_SCALAR )->find_strays( boxes, rests, 2 ), 0 );
        rest_zone zones[2] = { rest_zone_of( &rests[0] ), rest_zone_of( &rests[1] ) };
        rest_class class = rest_classify( &zones[0], &zones[1] );
        bool touch = clv_aabb_overlap( boxes[0], boxes[1] );
        CHECK( class != REST_SURE || touch );
        CHECK( class != REST_APART || !touch );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( classes_change_and_the_list_follows ),
        TEST_CASE( all_near_boxes_are_found ),
        TEST_CASE( cells_give_back_what_a_crowd_leaves ),
        TEST_CASE( endless_boxes_need_no_cells ),
        TEST_CASE( margins_keep_to_their_bounds ),
        TEST_CASE( classes_hold_wherever_the_boxes_are ),
    };
    return test_run( "rest_pairs", cases, TEST_COUNT( cases ), argc, argv );
}
