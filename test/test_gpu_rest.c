// SPDX-License-Identifier: MIT
// Worlds that mostly rest, on a device: only boxes that changed are searched for, and the list is still that
// of two loops, whichever boxes move: none, few, other ones in turn, all, large ones, far ones; with lists
// that are cut, with events, without waiting, and when boxes come and go.
#include "gpu_fixture.h"
#include "gpu_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    COUNT = 2000
};

static clv_aabb s_boxes[COUNT];

// Cubes with room about them, some of other sizes; the last one lies around all.
static void make_world( bool is_mixed )
{
    test_random random = test_random_make( 31 );
    for ( int i = 0; i < COUNT; ++i )
    {
        float half = is_mixed && i % 20 == 0 ? 0.5f * (float)( 1 + i % 7 ) : 0.5f;
        s_boxes[i] = test_cube( test_random_between( &random, 0, 36 ), test_random_between( &random, 0, 36 ),
            test_random_between( &random, 0, 36 ), half );
    }
    if ( is_mixed )
    {
        s_boxes[COUNT - 1] = test_box( -80, -80, -80, 120, 120, 120 );
    }
}

static void shift( int i, float x, float y, float z )
{
    clv_aabb* box = &s_boxes[i];
    *box = test_box( box->lower.x + x, box->lower.y + y, box->lower.z + z, box->upper.x + x, box->upper.y + y,
        box->upper.z + z );
}

// The grid, which compares from its second frame on whatever it sees.
static clv_gpu* make_gpu( uint64_t pair_capacity, bool has_events )
{
    clv_gpu_def def = clv_default_gpu_def();
    clv_gpu* gpu = NULL;
    def.way = CLV_GPU_GRID;
    def.pair_capacity = pair_capacity;
    def.events = has_events;
    def.count_tests = true;
    CHECK_OK( clv_gpu_create( &def, &gpu ) );
    gpu->grid_wish.keeps = 1; // of so few it would not
    gpu->grid_wish.rests = 1;
    gpu->grid_wish.rest_part = 16; // so few could hardly move else
    test_where.method = "grid at rest";
    return gpu;
}

static uint64_t rests_of( clv_gpu* gpu )
{
    return clv_gpu_get_stats( gpu ).rest_count;
}

// One more update agrees, and was searched for what changed alone, or was not.
static void agree( clv_gpu* gpu, uint32_t count, bool rests, const char* note )
{
    uint64_t before = rests_of( gpu );
    gpu_test_agree( gpu, s_boxes, count, note );
    CHECK_EQUAL( rests_of( gpu ), before + ( rests ? 1 : 0 ) );
}

// One box in `part`, from `first` on, goes on a little.
static void step( int first, int part, float by )
{
    for ( int i = first; i < COUNT - 1; i += part )
    {
        shift( i, by, i % 2 == 0 ? by : -by, by / 2 );
    }
}

// ---- who moves

static void run_mixes( clv_gpu* gpu, bool is_mixed )
{
    make_world( is_mixed );
    agree( gpu, COUNT, false, "first" );
    uint64_t tests = clv_gpu_get_stats( gpu ).test_count;
    agree( gpu, COUNT, true, "none" );
    CHECK_EQUAL( clv_gpu_get_stats( gpu ).test_count, 0 );
    step( 0, 100, 0.4f );
    agree( gpu, COUNT, true, "one in a hundred" );
    CHECK( clv_gpu_get_stats( gpu ).test_count > 0 && clv_gpu_get_stats( gpu ).test_count < tests );
    for ( int frame = 0; frame < 6; ++frame ) // other ones in turn, some of whom leave their cells for good
    {
        step( frame % 3, 50, 0.3f );
        agree( gpu, COUNT, true, "other ones in turn" );
    }
    agree( gpu, COUNT, true, "none again" );
    step( 0, 1, 0.2f );
    agree( gpu, COUNT, false, "all" );
    agree( gpu, COUNT, true, "none after all" );
    for ( int i = 0; i < 30; ++i ) // to one spot among the others, and far away
    {
        s_boxes[11 + 31 * i] = test_cube( i % 4 == 0 ? -500.0f : 10 + 0.1f * (float)i, 12, 11, 0.5f );
    }
    agree( gpu, COUNT, true, "some elsewhere" );
    CHECK( gpu->counters.moved_count >= 25 && gpu->counters.moved_count <= 64 );
    step( 11, 31, 0.1f );
    agree( gpu, COUNT, true, "some elsewhere go on" );
    for ( int i = 0; i < 70; ++i ) // more than a search of all would bear
    {
        shift( 19 * i, -5, 3, 7 );
    }
    agree( gpu, COUNT, true, "seventy elsewhere" );
    CHECK( gpu->counters.moved_count > 64 );
    for ( int frame = 0; frame < 6; ++frame ) // and the order is kept all the while
    {
        step( frame, 100, 0.1f );
        agree( gpu, COUNT, true, "and go on" );
    }
    for ( int i = 0; i < 390; ++i ) // too many: all is laid anew
    {
        shift( 5 * i, 9, -7, 5 );
    }
    agree( gpu, COUNT, false, "many elsewhere" );
    CHECK( gpu->counters.moved_count > 64 );
    step( 5, 77, -0.2f );
    agree( gpu, COUNT, true, "laid anew" );
}

static void pairs_are_right_whichever_boxes_move( void )
{
    for ( int mixed = 0; mixed < 2; ++mixed )
    {
        clv_gpu* gpu = make_gpu( 1 << 16, false );
        run_mixes( gpu, mixed != 0 );
        if ( mixed != 0 ) // the one around all rests, moves, and rests
        {
            shift( COUNT - 1, 1, 0, 0 );
            gpu_test_agree( gpu, s_boxes, COUNT, "a giant moves" );
            step( 3, 200, 0.2f );
            agree( gpu, COUNT, true, "a giant rests" );
        }
        else // one that the plan did not know: it fits no level once all is laid anew
        {
            s_boxes[COUNT - 1] = test_box( -8, -8, -8, 44, 44, 44 );
            for ( int i = 0; i < 390; ++i )
            {
                shift( 5 * i, 3, 7, -5 );
            }
            agree( gpu, COUNT, false, "a giant comes" );
            CHECK_EQUAL( clv_gpu_get_stats( gpu ).large_count, 1 );
            step( 3, 200, 9.0f ); // some of whom leave it
            agree( gpu, COUNT, true, "it rests" );
            shift( COUNT - 1, 1, 0, 0 );
            agree( gpu, COUNT, false, "it moves" );
        }
        clv_gpu_destroy( gpu );
    }
}

// Who left its cell and rests asks for those that changed, by rows or, where these are very many, one by one;
// and two that left, of whom one rests.
static void a_resting_box_that_moved_meets_its_neighbours( void )
{
    for ( int wide = 0; wide < 2; ++wide )
    {
        clv_gpu* gpu = make_gpu( 1 << 16, false );
        make_world( false );
        for ( int i = 0; i < COUNT; ++i ) // many rows
        {
            s_boxes[i].lower.x *= 0.1f;
            s_boxes[i] =
                test_cube( s_boxes[i].lower.x, s_boxes[i].lower.y * 4, s_boxes[i].lower.z * 4, 0.5f );
        }
        agree( gpu, COUNT, false, "a layer" );
        s_boxes[7] = wide != 0 ? test_box( 0, -1, -1, 1, 150, 150 ) : test_cube( 2, 70, 70, 1.5f );
        s_boxes[9] = test_cube( 2, 71, 71, 0.5f );
        agree(
            gpu, COUNT, wide == 0, "some leave" ); // a wide one is searched with all, and stays where it is
        CHECK( gpu->counters.moved_count >= 1 && gpu->counters.moved_count <= 2 );
        for ( int frame = 0; frame < 4; ++frame ) // into them, within them, and out
        {
            for ( int i = 0; i < 20; ++i )
            {
                s_boxes[50 * i + 11] = test_cube(
                    1.5f, frame == 3 ? 200.0f : 69.0f + (float)i / 5, 70 + 0.1f * (float)frame, 0.5f );
            }
            agree( gpu, COUNT, true, "met by who rests" );
        }
        shift( 9, 0, 0.2f, 0 ); // and those two with each other
        agree( gpu, COUNT, true, "two that left" );
        shift( 9, 0, 5, 5 );
        agree( gpu, COUNT, true, "two that left, apart" );
        clv_gpu_destroy( gpu );
    }
}

// In a layer of very many rows one that moves across all of them would keep its items busy for long: all is
// searched then.
static void a_mover_across_many_rows_makes_a_full_search( void )
{
    clv_gpu* gpu = make_gpu( 1 << 16, false );
    make_world( false );
    for ( int i = 0; i < COUNT; ++i )
    {
        s_boxes[i].lower = ( clv_vec3 ){ 0, s_boxes[i].lower.y * 4, s_boxes[i].lower.z * 4 };
        s_boxes[i].upper = ( clv_vec3 ){ 1, s_boxes[i].lower.y + 1, s_boxes[i].lower.z + 1 };
    }
    agree( gpu, COUNT, false, "a layer" );
    shift( 3, 0, 0.3f, 0 );
    agree( gpu, COUNT, true, "a layer at rest" );
    s_boxes[5] = test_box( 0, -1, -1, 1, 150, 150 );
    agree( gpu, COUNT, false, "one across all rows" );
    shift( 3, 0, 0.3f, 0 );
    agree( gpu, COUNT, true, "it rests" );
    clv_gpu_destroy( gpu );
}

// -0 and 0 are other bits and the same box; and a box that comes back is where it was.
static void bits_that_change_change_no_pairs( void )
{
    clv_gpu* gpu = make_gpu( 1 << 16, false );
    make_world( false );
    s_boxes[0] = test_box( 0, 0, 0, 1, 1, 1 );
    s_boxes[1] = test_box( -1, -1, -1, 0, 0, 0 );
    agree( gpu, COUNT, false, "zero" );
    s_boxes[0].lower = ( clv_vec3 ){ -0.0f, -0.0f, -0.0f };
    agree( gpu, COUNT, true, "minus zero" );
    s_boxes[1].upper.y = -1e-30f;
    agree( gpu, COUNT, true, "apart" );
    s_boxes[1].upper.y = 0;
    agree( gpu, COUNT, true, "back" );
    shift( 7, 20, 0, 0 );
    agree( gpu, COUNT, true, "out of its cell" );
    shift( 7, -20, 0, 0 );
    agree( gpu, COUNT, true, "and back into it" );
    CHECK_EQUAL( gpu->counters.moved_count, 1 ); // who left is met by way of the list until all is laid anew
    clv_gpu_destroy( gpu );
}

// ---- worlds that are hard

static void hostile_worlds_at_rest_agree( void )
{
    enum
    {
        SOME = 600
    };
    uint64_t rests = 0;
    for ( int world = 0; world < 4; ++world )
    {
        clv_gpu* gpu = make_gpu( 1 << 16, false );
        test_random random = test_random_make( 32 );
        for ( int i = 0; i < SOME; ++i )
        {
            float x = test_random_between( &random, 0, 20 );
            float y = test_random_between( &random, 0, 20 );
            s_boxes[i] = world == 0 ? test_cube( 1, 2, 3, 0.5f ) // all equal
                : world == 1 && i % 2 == 0
                ? test_box( -INFINITY, y, -INFINITY, INFINITY, y + 1, x )     // half infinite
                : world == 2 ? test_box( 30 * x, 0, 0, 30 * x + 1 + y, 1, 1 ) // a line
                             : test_cube( x, y, test_random_between( &random, 0, 20 ), 0.5f );
        }
        if ( world == 3 )
        {
            s_boxes[5] = test_box( -1e30f, -1, -1, 1e30f, 21, 21 );
        }
        for ( int frame = 0; frame < 4; ++frame )
        {
            gpu_test_agree( gpu, s_boxes, SOME, "hostile" );
            shift( 7 + frame, 0.25f, -0.25f, 0 );
            shift( 400 - frame, 3, 3, 3 );
        }
        rests += rests_of( gpu );
        clv_gpu_destroy( gpu );
    }
    CHECK( rests >= 6 ); // others go to the tree
}

// ---- lists

static uint64_t pairs_now( void )
{
    uint64_t count = 0;
    free( gpu_test_brute( s_boxes, COUNT, &count ) );
    return count;
}

// The list grows while few move: cut, and searched whole with room for all; then carried over from the longer
// one.
static void lists_without_room_are_searched_whole( void )
{
    make_world( false );
    uint64_t need = pairs_now();
    const uint64_t capacities[] = { 0, 1, need - 1, need };
    for ( size_t k = 0; k < TEST_COUNT( capacities ); ++k )
    {
        make_world( false );
        clv_gpu* gpu = make_gpu( capacities[k], false );
        agree( gpu, COUNT, false, "first" );
        agree( gpu, COUNT, true, "carried" );
        for ( int i = 0; i < 40; ++i ) // all on one spot: 780 pairs more
        {
            s_boxes[17 * i] = test_cube( 10, 12, 11, 0.5f );
        }
        gpu_test_agree( gpu, s_boxes, COUNT, "more than there is room for" );
        agree( gpu, COUNT, true, "carried from the longer list" );
        step( 0, 100, 0.3f );
        agree( gpu, COUNT, true, "and filtered" );
        for ( int i = 0; i < 120; ++i ) // many who left their cells, and a list that is cut again
        {
            s_boxes[15 * i] = test_cube( i % 2 == 0 ? 10.0f : 20.0f, 12 + 0.001f * (float)i, 11, 0.5f );
        }
        gpu_test_agree( gpu, s_boxes, COUNT, "cut, and many left" );
        clv_gpu_destroy( gpu );
    }
}

// A list that does not fit the device is nowhere whole: nothing is carried over from it.
static void lists_in_pieces_are_not_carried( void )
{
    make_world( false );
    uint64_t need = pairs_now();
    clv_gpu_def def = clv_default_gpu_def();
    clv_gpu* gpu = NULL;
    def.way = CLV_GPU_GRID;
    def.pair_capacity = 8;
    def.memory_most = ( need + 100 ) * sizeof( clv_pair );
    CHECK_OK( clv_gpu_create( &def, &gpu ) );
    gpu->grid_wish.keeps = 1;
    gpu->grid_wish.rests = 1;
    agree( gpu, COUNT, false, "first" );
    agree( gpu, COUNT, true, "carried" );
    static clv_aabb before[COUNT];
    memcpy( before, s_boxes, sizeof( before ) );
    for ( int i = 0; i < 120; ++i ) // more pairs than the room that pieces have
    {
        s_boxes[16 * i] = test_cube( 10, 12, 11, 0.5f );
    }
    gpu_test_agree( gpu, s_boxes, COUNT, "in pieces" );
    CHECK( clv_gpu_pair_buffer( gpu ) == NULL );
    agree( gpu, COUNT, false, "in pieces again" );
    CHECK( clv_gpu_pair_buffer( gpu ) == NULL );
    memcpy( s_boxes, before, sizeof( before ) );
    agree( gpu, COUNT, false, "whole again" );
    agree( gpu, COUNT, true, "and carried again" );
    clv_gpu_destroy( gpu );
}

// ---- boxes that come and go, and bad ones

static void boxes_that_come_and_go_agree( void )
{
    clv_gpu* gpu = make_gpu( 1 << 16, false );
    make_world( false );
    agree( gpu, COUNT - 100, false, "first" );
    agree( gpu, COUNT - 100, true, "carried" );
    agree( gpu, COUNT - 50, false, "fifty came" );
    agree( gpu, COUNT - 50, true, "carried" );
    s_boxes[7] = s_boxes[COUNT - 51];
    agree( gpu, COUNT - 51, false, "one went, the last took its place" );
    agree( gpu, COUNT - 51, true, "carried" );
    agree( gpu, 1, false, "one is left" );
    agree( gpu, COUNT - 51, false, "all are back" );
    agree( gpu, COUNT - 51, true, "carried" );
    clv_aabb good = s_boxes[9];
    s_boxes[9].lower.y = NAN;
    CHECK_EQUAL( clv_gpu_update( gpu, s_boxes, COUNT - 51 ), CLV_BAD_BOX );
    s_boxes[9] = good;
    agree( gpu, COUNT - 51, false, "after a bad one" );
    agree( gpu, COUNT - 51, true, "carried" );
    clv_gpu_destroy( gpu );
}

// ---- without waiting

// Several frames in the queue: each goes on from the one before it, and after one that could not the last is
// searched whole.
static void frames_that_are_not_waited_for_agree( void )
{
    enum
    {
        FRAMES = 5
    };
    clv_gpu* gpu = make_gpu( 8, false );
    gpu_buffer buffers[FRAMES] = { { 0 } };
    for ( int round = 0; round < 3; ++round )
    {
        make_world( false );
        gpu_test_agree( gpu, s_boxes, COUNT, "first" );
        for ( int frame = 0; frame < FRAMES; ++frame )
        {
            step( frame, round == 1 && frame == 2 ? 1 : 100, 0.3f );   // in one of them all move,
            for ( int i = 0; i < 40 && round == 2 && frame == 1; ++i ) // in another the list has no room
            {
                s_boxes[16 * i] = test_cube( 10, 12, 11, 0.5f );
            }
            CHECK_OK( clv_gpu_reserve( gpu, &buffers[frame], sizeof( s_boxes ) ) );
            CHECK_OK( clv_gpu_write( gpu, buffers[frame].memory, 0, s_boxes, sizeof( s_boxes ), true ) );
            CHECK_OK( clv_gpu_enqueue( gpu, buffers[frame].memory, COUNT ) );
        }
        uint64_t before = rests_of( gpu );
        CHECK_OK( clv_gpu_wait( gpu ) );
        CHECK_EQUAL( rests_of( gpu ) - before, round == 0 ? 1 : 0 );
        uint64_t expected_count = 0;
        uint64_t found_count = 0;
        clv_pair* expected = gpu_test_brute( s_boxes, COUNT, &expected_count );
        clv_pair* found = gpu_test_pairs( gpu, &found_count );
        CHECK_EQUAL( found_count, expected_count );
        CHECK( memcmp( found, expected, found_count * sizeof( clv_pair ) ) == 0 );
        free( expected );
        free( found );
        agree( gpu, COUNT, true, "after them" );
    }
    for ( int frame = 0; frame < FRAMES; ++frame )
    {
        clv_gpu_release( gpu, &buffers[frame] );
    }
    clv_gpu_destroy( gpu );
}

// ---- begun and ended pairs

// Pairs of `own` that are not in `other`, both sorted.
static clv_pair* subtract(
    const clv_pair* own, uint64_t own_count, const clv_pair* other, uint64_t other_count, uint64_t* count )
{
    clv_pair* rest = malloc( ( own_count + 1 ) * sizeof( clv_pair ) );
    uint64_t k = 0;
    *count = 0;
    for ( uint64_t i = 0; i < own_count; ++i )
    {
        while ( k < other_count &&
            ( other[k].a < own[i].a || ( other[k].a == own[i].a && other[k].b < own[i].b ) ) )
        {
            k += 1;
        }
        if ( k == other_count || other[k].a != own[i].a || other[k].b != own[i].b )
        {
            rest[( *count )++] = own[i];
        }
    }
    return rest;
}

static void check_found( clv_pair* expected, uint64_t expected_count, clv_pair* found, uint64_t found_count )
{
    CHECK_EQUAL( found_count, expected_count );
    CHECK( memcmp( found, expected, found_count * sizeof( clv_pair ) ) == 0 );
    free( expected );
    free( found );
}

static void begun_and_ended_pairs_agree_at_rest( void )
{
    clv_gpu* gpu = make_gpu( 100, true );
    make_world( false );
    clv_pair* before = NULL;
    uint64_t before_count = 0;
    for ( int frame = 0; frame < 8; ++frame )
    {
        uint64_t now_count = 0;
        uint64_t begun_count = 0;
        uint64_t ended_count = 0;
        agree( gpu, COUNT, frame != 0 && frame != 5, "events" );
        clv_pair* now = gpu_test_brute( s_boxes, COUNT, &now_count );
        clv_pair* begun = subtract( now, now_count, before, before_count, &begun_count );
        clv_pair* ended = subtract( before, before_count, now, now_count, &ended_count );
        CHECK( frame == 3 || begun_count + ended_count > 0 );
        uint64_t found_count = 0;
        clv_pair* found = gpu_test_begun( gpu, &found_count );
        check_found( begun, begun_count, found, found_count );
        found = gpu_test_ended( gpu, &found_count );
        check_found( ended, ended_count, found, found_count );
        free( before );
        before = now;
        before_count = now_count;
        if ( frame != 2 ) // then none moves
        {
            step( frame, frame == 4 ? 1 : 20, 0.5f );
        }
    }
    free( before );
    clv_gpu_destroy( gpu );
}

// An update of no boxes takes no slot, but its lists are swapped; what it left must not be taken for the list
// of the frame before.
static void nothing_is_carried_over_an_empty_update( void )
{
    clv_gpu* gpu = make_gpu( 1 << 14, true );
    make_world( false );
    for ( int frame = 0; frame < 6; ++frame )
    {
        agree( gpu, COUNT, frame != 0 && frame != 4, "before and after nothing" );
        if ( frame == 3 )
        {
            gpu_test_agree( gpu, s_boxes, 0, "nothing" );
            continue; // and none moved
        }
        step( frame, 20, 0.5f );
    }
    clv_gpu_destroy( gpu );
}

// Slots come round: after as many frames of another way as there are slots, the frame before is none of the
// grid's.
static void nothing_is_carried_over_other_ways( void )
{
    for ( int rests = 0; rests < 2; ++rests )
    {
        clv_gpu* gpu = make_gpu( 1 << 14, false );
        gpu->grid_wish.rests = rests == 0 ? -1 : 1;
        make_world( false );
        agree( gpu, COUNT, false, "before other ways" );
        agree( gpu, COUNT, rests != 0, "before other ways" );
        for ( int frame = 0; frame < GPU_SLOTS; ++frame )
        {
            gpu->def.way = CLV_GPU_TILES;
            CHECK_OK( clv_gpu_update( gpu, s_boxes, 40 ) );
        }
        gpu->def.way = CLV_GPU_GRID;
        step( 0, 50, 0.5f );
        agree( gpu, COUNT, false, "after other ways" );
        clv_gpu_destroy( gpu );
    }
}

// ---- when

// By itself: it begins when few changed twice in a row, ends when many did, and is tried again later.
static void comparing_begins_and_ends_by_itself( void )
{
    clv_gpu* gpu = make_gpu( 1 << 16, false );
    gpu->grid_wish.rests = 0;
    make_world( false );
    for ( int frame = 0; frame < 6; ++frame ) // no order, two calm ones, one that enters
    {
        agree( gpu, COUNT, frame >= 4, "calm" );
        step( 0, 100, 0.1f );
    }
    for ( int frame = 0; frame < 4; ++frame )
    {
        step( 0, 1, 0.05f );
        agree( gpu, COUNT, false, "busy" );
        CHECK( gpu->rest.tracks == ( frame < 1 ) );
    }
    for ( int frame = 0; frame < 4; ++frame )
    {
        agree( gpu, COUNT, false, "calm, too early" );
    }
    CHECK_EQUAL( gpu->rest.pause, 64 );
    gpu->stats.update_count += 1000; // long after
    for ( int frame = 0; frame < 5; ++frame )
    {
        agree( gpu, COUNT, frame >= 3, "calm again" );
    }
    for ( int frame = 0; frame < 4; ++frame ) // it did not last: the next try is farther off
    {
        step( 0, 1, 0.05f );
        agree( gpu, COUNT, false, "busy again" );
    }
    CHECK_EQUAL( gpu->rest.pause, 256 );
    gpu->stats.update_count += 1000;
    for ( int frame = 0; frame < 5; ++frame )
    {
        agree( gpu, COUNT, frame >= 3, "calm once more" );
    }
    for ( uint32_t frame = 0; frame < 6; ++frame ) // boxes come in every frame: nothing is entered in vain
    {
        agree( gpu, COUNT - 7 + frame, false, "coming" );
        CHECK( !gpu->rest.tracks );
    }
    gpu->grid_wish.rests = -1;
    for ( int frame = 0; frame < 5; ++frame )
    {
        agree( gpu, COUNT, false, "never" );
    }
    clv_gpu_destroy( gpu );
}

// Those that left their cells are laid anew before they are too many, in one frame; where that comes soon
// after the last time comparing ends.
static void boxes_that_left_their_cells_are_laid_anew_in_time( void )
{
    clv_gpu* gpu = make_gpu( 1 << 16, false );
    gpu->grid_wish.rests = 0;
    make_world( false );
    for ( int frame = 0; frame < 5; ++frame )
    {
        agree( gpu, COUNT, frame >= 4, "calm" );
    }
    const int lasts[] = { 9, 2, 2 }; // frames until many leave
    for ( size_t k = 0; k < TEST_COUNT( lasts ); ++k )
    {
        for ( int frame = 1; frame < lasts[k]; ++frame )
        {
            step( frame, 200, 0.01f );
            agree( gpu, COUNT, true, "few leave" );
        }
        for ( int i = 0; i < 160; ++i ) // of 271 that may
        {
            shift( 12 * i + (int)k, 4, -4, 4 );
        }
        agree( gpu, COUNT, true, "many leave" );
        CHECK( gpu->counters.moved_count > 135 );
        CHECK( gpu->rest.tracks == ( k < 2 ) );
        agree( gpu, COUNT, false, "laid anew" );
        CHECK( k == 2 || gpu->rest.tracks );
    }
    CHECK( !gpu->rest.tracks && gpu->rest.pause == 64 );
    clv_gpu_destroy( gpu );
}

// Cells that are laid anew after a frame that was to search only what changed do not tell that no box stays:
// many may have left in many frames.
static void an_order_outlasts_frames_that_were_not_done( void )
{
    clv_gpu* gpu = make_gpu( 1 << 16, false );
    make_world( false );
    agree( gpu, COUNT, false, "first" );
    for ( int frame = 0; frame < 7; ++frame )
    {
        for ( int i = 0; i < 300; ++i )
        {
            shift( 6 * i + frame, 4, -4, 4 );
        }
        agree( gpu, COUNT, false, "many leave" );
        CHECK( gpu->counters.moved_count > 64 );
        CHECK( gpu->grid.keeps && gpu->grid.is_planned );
    }
    clv_gpu_destroy( gpu );
}

// Where all leave their cells in every frame the order is given up; where they do in every fourth, it is not,
// though just these are waited for.
static void an_order_is_dropped_where_no_box_stays( void )
{
    for ( int every = 1; every <= 4; every += 3 )
    {
        clv_gpu* gpu = make_gpu( 1 << 16, false );
        gpu_buffer buffer = { 0 };
        gpu->grid_wish.rests = -1;
        make_world( false );
        CHECK_OK( clv_gpu_reserve( gpu, &buffer, sizeof( s_boxes ) ) );
        for ( int frame = 0; frame <= 9 * every; ++frame )
        {
            bool is_last = frame % every == 0;
            step( 0, 1, !is_last ? 0 : frame / every % 2 == 0 ? 3.0f : -3.0f );
            CHECK_OK( clv_gpu_write( gpu, buffer.memory, 0, s_boxes, sizeof( s_boxes ), true ) );
            CHECK_OK( clv_gpu_enqueue( gpu, buffer.memory, COUNT ) );
            CHECK_OK( is_last ? clv_gpu_wait( gpu ) : CLV_OK );
        }
        CHECK_EQUAL( gpu->grid.keeps, every == 4 );
        clv_gpu_release( gpu, &buffer );
        clv_gpu_destroy( gpu );
    }
}

// The shares as they are without a wish: of 20,000 boxes one in a hundred begins and goes on, one in forty
// does neither, nor does one in a hundred where there are 29 pairs per box to carry over.
static void one_in_a_hundred_is_at_rest( void )
{
    enum
    {
        MANY = 20000
    };
    static const struct
    {
        int part;
        float span;
        bool rests;
    } s_worlds[] = { { 100, 80, true }, { 40, 80, false }, { 100, 14, false } };
    clv_aabb* boxes = malloc( MANY * sizeof( clv_aabb ) );
    for ( size_t world = 0; world < TEST_COUNT( s_worlds ); ++world )
    {
        clv_gpu* gpu = make_gpu( 1 << 16, false );
        float span = s_worlds[world].span;
        gpu->grid_wish = ( gpu_grid_wish ){ .keeps = 1 };
        test_random random = test_random_make( 33 );
        for ( int i = 0; i < MANY; ++i )
        {
            float x = test_random_between( &random, 0, span ), y = test_random_between( &random, 0, span );
            boxes[i] = test_cube( x, y, test_random_between( &random, 0, span ), 0.5f );
        }
        int good = 0; // in a row; when it begins is the sample's luck
        for ( int frame = 0; frame < ( s_worlds[world].rests ? 60 : 12 ) && good < 8; ++frame )
        {
            uint64_t before = rests_of( gpu );
            CHECK_OK( clv_gpu_update( gpu, boxes, MANY ) );
            CHECK( good == 0 || rests_of( gpu ) > before );
            good += rests_of( gpu ) > before ? 1 : 0;
            for ( int i = 0; i < MANY; i += s_worlds[world].part )
            {
                boxes[i].lower.x += 0.01f;
                boxes[i].upper.x += 0.01f;
            }
        }
        CHECK_EQUAL( good, s_worlds[world].rests ? 8 : 0 );
        CHECK( gpu->frame.way == CLV_GPU_GRID );
        clv_gpu_destroy( gpu );
    }
    free( boxes );
}

// So dense that cells with room for an order would hold too much, while the plain ones would not: the tree
// serves for one frame, not for long.
static void an_order_that_is_refused_gives_way_to_plain_cells( void )
{
    clv_gpu* gpu = make_gpu( 1 << 20, false );
    gpu->grid_wish = ( gpu_grid_wish ){ .rest_least = 1000, .rest_part = 16 };
    test_random random = test_random_make( 5 );
    for ( int i = 0; i < COUNT; ++i )
    {
        float x = test_random_between( &random, 0, 3.6f ), y = test_random_between( &random, 0, 3.6f );
        s_boxes[i] = test_cube( x, y, test_random_between( &random, 0, 3.6f ), 0.5f );
    }
    agree( gpu, COUNT, false, "plain cells" );
    CHECK( gpu->frame.way == CLV_GPU_GRID && !gpu->grid.keeps );
    gpu->rest.wants_order = true; // as when the world was seen to rest before it was pressed together
    gpu->grid.is_planned = false;
    agree( gpu, COUNT, false, "cells with an order" );
    CHECK( gpu->frame.way != CLV_GPU_GRID && !gpu->rest.wants_order );
    agree( gpu, COUNT, false, "plain cells again" );
    CHECK( gpu->frame.way == CLV_GPU_GRID && !gpu->grid.keeps );
    clv_gpu_destroy( gpu );
}

// What resting takes was too much once: it is not asked for again.
static void a_device_without_room_does_not_rest( void )
{
    clv_gpu* gpu = make_gpu( 1 << 14, false );
    make_world( false );
    agree( gpu, COUNT, false, "room" );
    agree( gpu, COUNT, true, "room" );
    CHECK( clv_gpu_end_failed( gpu, CLV_OUT_OF_MEMORY ) == CLV_OUT_OF_MEMORY );
    for ( int frame = 0; frame < 3; ++frame )
    {
        agree( gpu, COUNT, false, "no room" );
    }
    clv_gpu_destroy( gpu );
}

// A dense world, whose order is not kept as a rule: it is, from when it is seen to rest until it does no
// more.
static void an_order_is_kept_for_a_world_at_rest( void )
{
    clv_gpu* gpu = make_gpu( 1 << 16, false );
    gpu->grid_wish = ( gpu_grid_wish ){ .rest_least = 1000, .rest_part = 16 };
    make_world( false );
    for ( int i = 0; i < COUNT; ++i ) // six meet each
    {
        clv_vec3 at = s_boxes[i].lower;
        s_boxes[i] = test_cube( at.x * 0.3f, at.y * 0.3f, at.z * 0.3f, 0.5f );
    }
    for ( int frame = 0; frame < 7;
          ++frame ) // one that keeps a sample, two calm ones, one that is planned anew
    {
        agree( gpu, COUNT, frame >= 4, "dense, calm" );
        CHECK( gpu->grid.keeps == ( frame >= 3 ) );
        step( frame, 100, 0.1f );
    }
    for ( int frame = 0; frame < 4; ++frame )
    {
        step( 0, 1, 0.05f );
        agree( gpu, COUNT, false, "dense, busy" );
        CHECK( gpu->grid.keeps == ( frame < 2 ) );
    }
    gpu->stats.update_count += 1000; // long after
    for ( int frame = 0; frame < 5; ++frame )
    {
        agree( gpu, COUNT, frame >= 3, "dense, calm again" );
    }
    agree( gpu, COUNT - 1, false, "one went" );
    agree( gpu, COUNT - 1, false, "planned anew" );
    CHECK( !gpu->grid.keeps );
    clv_gpu_destroy( gpu );
}

// ---- for a device that is watched (scripts/check.sh oclgrind)

static void small_worlds_at_rest_agree( void )
{
    enum
    {
        SOME = 290 // a group and a part of one
    };
    clv_gpu* gpu = make_gpu( 4096, false );
    make_world( true );
    for ( int i = 0; i < SOME; ++i )
    {
        shift( i, -s_boxes[i].lower.x * 0.6f, -s_boxes[i].lower.y * 0.6f, -s_boxes[i].lower.z * 0.6f );
    }
    s_boxes[SOME - 1] = test_box( -3, -3, -3, 40, 40, 40 );
    agree( gpu, SOME, false, "small" );
    shift( 1, 0.2f, 0, 0 );
    shift( 288, 5, 5, 5 );
    agree( gpu, SOME, true, "small, few" );
    for ( int i = 1; i < SOME; i += 2 )
    {
        shift( i, 2, 2, 2 );
    }
    agree( gpu, SOME, false, "small, many" );
    clv_gpu_destroy( gpu );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( pairs_are_right_whichever_boxes_move ),
        TEST_CASE( a_mover_across_many_rows_makes_a_full_search ),
        TEST_CASE( a_resting_box_that_moved_meets_its_neighbours ),
        TEST_CASE( bits_that_change_change_no_pairs ),
        TEST_CASE( hostile_worlds_at_rest_agree ),
        TEST_CASE( lists_without_room_are_searched_whole ),
        TEST_CASE( lists_in_pieces_are_not_carried ),
        TEST_CASE( boxes_that_come_and_go_agree ),
        TEST_CASE( frames_that_are_not_waited_for_agree ),
        TEST_CASE( begun_and_ended_pairs_agree_at_rest ),
        TEST_CASE( nothing_is_carried_over_an_empty_update ),
        TEST_CASE( nothing_is_carried_over_other_ways ),
        TEST_CASE( comparing_begins_and_ends_by_itself ),
        TEST_CASE( boxes_that_left_their_cells_are_laid_anew_in_time ),
        TEST_CASE( an_order_outlasts_frames_that_were_not_done ),
        TEST_CASE( an_order_is_dropped_where_no_box_stays ),
        TEST_CASE( one_in_a_hundred_is_at_rest ),
        TEST_CASE( an_order_is_kept_for_a_world_at_rest ),
        TEST_CASE( an_order_that_is_refused_gives_way_to_plain_cells ),
        TEST_CASE( a_device_without_room_does_not_rest ),
        TEST_CASE( small_worlds_at_rest_agree ),
    };
    return gpu_test_is_skipped() ? 77 : test_run( "gpu_rest", cases, TEST_COUNT( cases ), argc, argv );
}
