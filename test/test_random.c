// SPDX-License-Identifier: MIT
// Random lives against the oracle: 64 seeds of births, deaths, moves, teleports, margins, filters, static
// hints and refilters, on every method and instruction set at once.
#include "space_group.h"

#include <stdlib.h>
#include <string.h>

enum
{
    MOST = 700, // of anything in one batch
    SHRINKING = 320,
};

typedef struct life
{
    space_group all;
    test_random random;
    test_crowd crowd;
    uint32_t size; ///< objects it tends to
    bool has_motions;
    clv_id ids[MOST];
    clv_aabb boxes[MOST];
} life;

static bool accept_by_user_data( uint64_t user_data_a, uint64_t user_data_b )
{
    return ( test_mix( user_data_a ) ^ test_mix( user_data_b ) ) % 4 != 0;
}

static clv_aabb new_box( life* one )
{
    return test_crowd_box( one->crowd, one->size, &one->random );
}

static uint32_t pick( life* one, uint32_t most )
{
    uint32_t count = test_random_below( &one->random, most < MOST ? most + 1 : MOST );
    return oracle_pick_some( &one->all.world, count, one->ids, &one->random );
}

// ---- what happens in a frame

static void births( life* one )
{
    uint32_t alive = one->all.world.object_count;
    uint32_t room = alive < one->size ? one->size - alive : 3;
    uint32_t count = test_random_below( &one->random, room + 1 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        one->boxes[i] = new_box( one );
    }
    space_group_add( &one->all, one->boxes, count, NULL );
}

static void deaths( life* one )
{
    uint32_t count = pick( one, one->size / 8 + 1 );
    space_group_remove( &one->all, one->ids, count );
}

static void moves( life* one )
{
    uint32_t count = pick( one, one->size );
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_aabb box = oracle_find( &one->all.world, one->ids[i] )->box;
        one->boxes[i] = test_random_chance( &one->random, 5 )
            ? new_box( one )
            : test_crowd_step( one->crowd, box, &one->random );
    }
    space_group_move( &one->all, one->ids, one->boxes, count );
}

// In slot order, the way an engine hands over a whole scene.
static void all_objects_move( life* one )
{
    uint32_t count = 0;
    for ( uint32_t slot = 0; slot < one->all.world.slot_count && count < MOST; ++slot )
    {
        const oracle_object* object = &one->all.world.objects[slot];
        if ( object->alive )
        {
            one->ids[count] = object->id;
            one->boxes[count++] = test_crowd_step( one->crowd, object->box, &one->random );
        }
    }
    space_group_move( &one->all, one->ids, one->boxes, count );
}

static void teleports( life* one )
{
    uint32_t count = pick( one, one->size / 4 + 1 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        one->boxes[i] = new_box( one );
    }
    space_group_move( &one->all, one->ids, one->boxes, count );
}

static void margins( life* one )
{
    float values[MOST];
    uint32_t count = pick( one, one->size / 8 + 1 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        values[i] =
            test_random_chance( &one->random, 30 ) ? 0.0f : test_random_between( &one->random, 0.0f, 0.5f );
    }
    space_group_set_margin( &one->all, one->ids, values, count );
}

static void margin_rules( life* one )
{
    clv_margin_rule values[MOST];
    uint32_t count = pick( one, one->size / 8 + 1 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        values[i].fixed = test_random_chance( &one->random, 60 ) ? 0.0f : 0.25f;
        values[i].by_size = test_random_chance( &one->random, 50 ) ? 0.0f : 0.1f;
        values[i].by_speed = test_random_chance( &one->random, 50 ) ? 0.0f : 0.3f;
    }
    space_group_set_margin_rule( &one->all, one->ids, values, count );
}

// As far as a box of this crowd goes in a step, or far along one axis.
static void motions( life* one )
{
    clv_vec3 values[MOST];
    uint32_t count = pick( one, one->size / 2 + 1 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        float reach = test_random_chance( &one->random, 10 ) ? 20.0f : 1.0f;
        values[i].x =
            test_random_chance( &one->random, 30 ) ? 0 : test_random_between( &one->random, -reach, reach );
        values[i].y = test_random_chance( &one->random, 30 ) ? 0 : test_random_between( &one->random, -1, 1 );
        values[i].z = test_random_chance( &one->random, 30 ) ? 0 : test_random_between( &one->random, -1, 1 );
    }
    space_group_set_motion( &one->all, one->ids, values, count );
}

static void filters( life* one )
{
    clv_filter values[MOST];
    uint32_t count = pick( one, one->size / 4 + 1 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint64_t bits = test_random_next( &one->random );
        values[i] = ( clv_filter ){ (uint64_t)1 << ( bits & 3 ), ( bits >> 2 ) & 15,
            (int32_t)( ( bits >> 6 ) & 7 ) - 3 };
        values[i] = test_random_chance( &one->random, 50 ) ? clv_default_filter() : values[i];
    }
    space_group_set_filter( &one->all, one->ids, values, count );
}

static void hints( life* one )
{
    bool values[MOST];
    uint32_t count = pick( one, one->size / 2 + 1 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        values[i] = test_random_chance( &one->random, 50 );
    }
    space_group_set_static( &one->all, one->ids, values, count );
}

static void answers( life* one )
{
    uint64_t values[MOST];
    uint32_t count = pick( one, one->size / 8 + 1 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        values[i] = test_random_below( &one->random, 50 );
    }
    space_group_set_user_data( &one->all, one->ids, values, count );
}

static void happen( life* one )
{
    static void ( *const events[] )( life* ) = { births, births, deaths, moves, moves, all_objects_move,
        teleports, margins, filters, hints, answers, motions, margin_rules };
    // Every other life without motions and rules: once used, they keep a space off the short way of a move.
    uint32_t kinds = (uint32_t)TEST_COUNT( events ) - ( one->has_motions ? 0 : 2 );
    uint32_t count = test_random_below( &one->random, 5 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        events[test_random_below( &one->random, kinds )]( one );
    }
    uint32_t dice = test_random_below( &one->random, 100 );
    if ( dice < 2 )
    {
        space_group_clear( &one->all );
    }
    else if ( dice < 6 )
    {
        space_group_shrink( &one->all );
    }
}

// ---- lives

static void live( uint64_t seed, uint32_t size, uint32_t frames )
{
    life* one = test_alloc( 1, sizeof( life ) );
    one->random = test_random_make( seed );
    one->crowd = (test_crowd)( seed % TEST_CROWD_COUNT );
    one->size = size;
    clv_space_def def = clv_default_space_def();
    uint64_t bits = test_random_next( &one->random );
    def.sorted = ( bits & 3 ) == 0;
    def.events = ( bits & 4 ) != 0;
    def.skip_static_pairs = ( bits & 8 ) != 0;
    def.margin = ( bits & 48 ) == 0 ? 0.125f : 0.0f;
    def.margin_by_size = ( bits & 0xF000 ) == 0 ? 0.125f : 0.0f;
    one->has_motions = seed % 2 == 0;
    def.settings = test_settings_token( ( bits & 128 ) != 0 ? 1 + ( bits >> 8 & 3 ) : 0 );
    space_group_open( &one->all, &def, ( bits & 64 ) != 0 ? accept_by_user_data : NULL );
    for ( uint32_t i = 0; i < size; ++i )
    {
        one->boxes[i] = new_box( one );
    }
    space_group_add( &one->all, one->boxes, size, NULL );
    for ( uint32_t frame = 0; frame < frames; ++frame )
    {
        test_where.seed = seed;
        test_where.frame = frame;
        space_group_update( &one->all );
        happen( one );
    }
    space_group_update( &one->all );
    space_group_check_objects( &one->all );
    space_group_close( &one->all );
    free( one );
}

static void random_lives_match_the_oracle( void )
{
    const uint32_t sizes[] = { 500, 3, 17, 64, 33, 250, 128, 100 };
    for ( uint32_t seed = 1; seed <= test_scaled( 64 ); ++seed )
    {
        live( seed, sizes[( seed / TEST_CROWD_COUNT ) % TEST_COUNT( sizes )], 12 );
    }
}

static void every_small_number_of_boxes_matches_the_oracle( void )
{
    uint32_t step = test_scaled( 3 ) < 3 ? 3 : 1;
    for ( uint32_t size = 0; size <= 70; size += step )
    {
        live( 1000 + size, size, 3 );
    }
}

// A dense still crowd, then every box moved, at sizes around the kernels' and the methods' edges.
static void check_edge_size( uint32_t count, test_crowd crowd )
{
    space_group all;
    space_group_open( &all, NULL, NULL );
    test_random random = test_random_make( count );
    clv_aabb* boxes = test_alloc( count, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( count, sizeof( clv_id ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        boxes[i] = test_crowd_box( crowd, count, &random );
    }
    space_group_add( &all, boxes, count, ids );
    test_where.seed = count;
    test_where.frame = 0;
    space_group_update( &all );
    for ( uint32_t i = 0; i < count; ++i )
    {
        boxes[i] = test_crowd_step( crowd, boxes[i], &random );
    }
    space_group_move( &all, ids, boxes, count );
    space_group_remove( &all, ids + count / 2, 1 ); // a hole: slots and places differ from here on
    test_where.frame = 1;
    space_group_update( &all );
    free( boxes );
    free( ids );
    space_group_close( &all );
}

static void sizes_at_the_edges_of_tiles_match_the_oracle( void )
{
    const uint32_t sizes[] = { 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 1039, 1040, 1041, 2047, 2048,
        2049, 3000 };
    for ( size_t i = 0; i < TEST_COUNT( sizes ); ++i )
    {
        // With a small CLEAVE_TEST_SCALE one crowd each, in turn: the oracle compares every two boxes.
        bool is_whole = test_scaled( 2 ) == 2;
        if ( is_whole || i % 2 == 0 )
        {
            check_edge_size( sizes[i], TEST_CROWD_SPREAD );
        }
        if ( is_whole || i % 2 == 1 )
        {
            check_edge_size( sizes[i], TEST_CROWD_MIXED );
        }
    }
}

// What was there a frame ago must not answer: a dense crowd loses one after the other, past every lane and
// tile edge.
static void a_shrinking_crowd_leaves_nothing_behind( void )
{
    space_group all;
    space_group_open( &all, NULL, NULL );
    clv_aabb boxes[SHRINKING];
    clv_id ids[SHRINKING];
    for ( uint32_t i = 0; i < SHRINKING; ++i )
    {
        boxes[i] = test_cube( 0.25f * (float)i, 0.125f * (float)( i % 8 ), 0, 2 );
    }
    space_group_add( &all, boxes, SHRINKING, ids );
    for ( uint32_t count = SHRINKING; count > 0; --count )
    {
        test_where.frame = count;
        space_group_update( &all );
        space_group_remove( &all, &ids[( count * 7 ) % 3 == 0 ? count - 1 : 0], 1 );
        ids[0] = ( count * 7 ) % 3 == 0 ? ids[0] : ids[count - 1];
    }
    space_group_update( &all );
    CHECK_EQUAL( all.world.pair_count, 0 );
    space_group_close( &all );
}

static void a_scene_at_rest_is_found_whole_in_every_frame( void )
{
    space_group all;
    space_group_open( &all, NULL, NULL );
    test_random random = test_random_make( 5 );
    clv_aabb boxes[300];
    clv_id ids[300];
    for ( uint32_t i = 0; i < 300; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, 300, &random );
    }
    space_group_add( &all, boxes, 300, ids );
    for ( uint32_t frame = 0; frame < 10; ++frame )
    {
        test_where.frame = frame;
        space_group_update( &all );
        CHECK( all.world.pair_count > 0 );
        space_group_move(
            &all, ids, boxes, frame % 2 == 0 ? 300 : 0 ); // handed over again, unchanged, or not at all
    }
    space_group_close( &all );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( random_lives_match_the_oracle ),
        TEST_CASE( every_small_number_of_boxes_matches_the_oracle ),
        TEST_CASE( sizes_at_the_edges_of_tiles_match_the_oracle ),
        TEST_CASE( a_shrinking_crowd_leaves_nothing_behind ),
        TEST_CASE( a_scene_at_rest_is_found_whole_in_every_frame ),
    };
    return test_run( "random", cases, TEST_COUNT( cases ), argc, argv );
}
