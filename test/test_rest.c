// SPDX-License-Identifier: MIT
// Worlds that mostly rest: whatever moves, comes, goes or does neither, every list is that of brute force, in
// an order that depends on the calls alone, and the mode that follows such worlds costs nothing where nothing
// happens.
#include "rest_crowd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void a_followed_world_is_always_right( void )
{
    static const uint32_t sizes[] = { 5, 64, 65, 700 };
    for ( uint32_t m = 0; m < rest_crowd_motion_count; ++m )
    {
        for ( uint32_t i = 0; i < TEST_COUNT( sizes ); ++i )
        {
            uint32_t frames = test_scaled( rest_crowd_motions[m].frames );
            rest_crowd_outcome out = rest_crowd_run(
                &rest_crowd_motions[m], sizes[i], REST_CROWD_FOLLOWED, CLV_ISA_AUTO, 1, frames );
            CHECK_EQUAL( out.rest_frames, frames );
        }
    }
}

static void a_world_whose_mode_is_chosen_is_always_right( void )
{
    for ( uint32_t m = 0; m < rest_crowd_motion_count; ++m )
    {
        uint32_t frames = test_scaled( rest_crowd_motions[m].frames );
        rest_crowd_run( &rest_crowd_motions[m], 64, REST_CROWD_CHOSEN, CLV_ISA_AUTO, 1, frames );
        rest_crowd_run( &rest_crowd_motions[m], REST_CROWD_MOST, REST_CROWD_CHOSEN, CLV_ISA_AUTO, 1, frames );
    }
}

static void thousands_of_frames_between_rest_and_motion_are_right( void )
{
    const rest_crowd_motion* m = &rest_crowd_motions[rest_crowd_motion_count - 1];
    rest_crowd_run( m, 64, REST_CROWD_FOLLOWED, CLV_ISA_AUTO, 1, test_scaled( 3000 ) );
    uint32_t frames = test_scaled( 3000 );
    rest_crowd_outcome out = rest_crowd_run( m, 128, REST_CROWD_CHOSEN, CLV_ISA_AUTO, 1, frames );
    CHECK( out.rest_frames > frames / 100 && out.rest_frames < frames - frames / 30 );
}

static void order_is_the_same_for_every_instruction_set_and_crew( void )
{
    static const char* const settings[] = { REST_CROWD_FOLLOWED, REST_CROWD_CHOSEN };
    for ( uint32_t m = 0; m < 2 * rest_crowd_motion_count; ++m )
    {
        const rest_crowd_motion* moving = &rest_crowd_motions[m / 2];
        uint32_t frames = test_scaled( moving->frames < 60 ? moving->frames : 60 );
        rest_crowd_outcome expected =
            rest_crowd_run( moving, 900, settings[m % 2], CLV_ISA_SCALAR, 1, frames );
        for ( int isa = CLV_ISA_SSE2; isa < CLV_ISA_COUNT; ++isa )
        {
            if ( clv_isa_is_supported( (clv_isa)isa ) )
            {
                rest_crowd_outcome out =
                    rest_crowd_run( moving, 900, settings[m % 2], (clv_isa)isa, 1, frames );
                CHECK_EQUAL( out.order_hash, expected.order_hash );
            }
        }
        for ( uint32_t workers = 2; workers <= 8; workers += 3 )
        {
            rest_crowd_outcome out =
                rest_crowd_run( moving, 900, settings[m % 2], CLV_ISA_AUTO, workers, frames );
            CHECK_EQUAL( out.order_hash, expected.order_hash );
        }
    }
}

enum
{
    LARGE = 40000,
    LARGE_FRAMES = 8
};

// Enough boxes and marginal pairs for several pieces of work. A hash of all lists in order, and of all sets.
static rest_crowd_outcome live_large( const char* settings, uint32_t workers, uint64_t* set_hash )
{
    test_random random = test_random_make( 17 );
    clv_aabb* boxes = test_alloc( LARGE, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( LARGE, sizeof( clv_id ) );
    for ( uint32_t i = 0; i < LARGE; ++i )
    {
        boxes[i] = test_cube( test_random_between( &random, 0, 40 ), test_random_between( &random, 0, 40 ),
            test_random_between( &random, 0, 40 ), 0.5f );
    }
    clv_space* space = rest_crowd_space( "cleave", settings, CLV_ISA_AUTO, workers );
    CHECK_OK( clv_space_add( space, boxes, LARGE, ids ) );
    rest_crowd_outcome out = { 0, 0 };
    *set_hash = 0;
    for ( uint32_t frame = 0; frame < LARGE_FRAMES; ++frame )
    {
        test_where.frame = frame;
        for ( uint32_t i = frame; i < LARGE; i += frame == 2 ? 1 : 9 )
        {
            boxes[i] =
                rest_crowd_shifted( boxes[i], test_random_between( &random, -0.02f, 0.02f ), 0, 0.01f );
        }
        CHECK_OK( clv_space_move( space, ids, boxes, LARGE ) );
        CHECK_OK( clv_space_update( space ) );
        clv_pair_view view = clv_space_pairs( space );
        out.order_hash = test_mix( out.order_hash ^ test_order_hash( view.pairs, view.count ) );
        *set_hash = test_mix( *set_hash ^ test_set_hash( view.pairs, view.count ) );
        out.rest_frames += rest_crowd_is_at_rest( space );
    }
    clv_space_destroy( space );
    free( boxes );
    free( ids );
    return out;
}

static void any_number_of_workers_makes_the_same_list( void )
{
    uint64_t searched = 0, followed = 0;
    live_large( "cleave.rest=0", 1, &searched );
    rest_crowd_outcome expected = live_large( "cleave.rest=1", 1, &followed );
    CHECK_EQUAL( followed, searched );
    CHECK_EQUAL( expected.rest_frames, LARGE_FRAMES );
    uint32_t step = test_scaled( 4 ) < 4 ? 3 : 1;
    for ( uint32_t workers = 2; workers <= 8; workers += step )
    {
        test_where.worker_count = workers;
        CHECK_EQUAL( live_large( "cleave.rest=1", workers, &followed ).order_hash, expected.order_hash );
    }
}

static const rest_crowd_motion* motion_of( void ( *move )( rest_crowd* ), uint32_t churn )
{
    for ( uint32_t m = 0; m < rest_crowd_motion_count; ++m )
    {
        if ( rest_crowd_motions[m].move == move && rest_crowd_motions[m].churn == churn )
        {
            return &rest_crowd_motions[m];
        }
    }
    test_fail( __FILE__, __LINE__, "no such motion" );
    return NULL;
}

static void the_mode_follows_rest_and_searches_motion( void )
{
    // From the fourth update on: three tell a new space that its world rests.
    CHECK( rest_crowd_run( motion_of( rest_crowd_jitter_below, 0 ), REST_CROWD_MOST, REST_CROWD_CHOSEN,
               CLV_ISA_AUTO, 1, 60 )
               .rest_frames >= 57 );
    CHECK( rest_crowd_run(
               motion_of( rest_crowd_few, 0 ), REST_CROWD_MOST, REST_CROWD_CHOSEN, CLV_ISA_AUTO, 1, 60 )
               .rest_frames >= 40 );
    CHECK( rest_crowd_run( motion_of( rest_crowd_one_in_fifty, 0 ), REST_CROWD_MOST, REST_CROWD_CHOSEN,
               CLV_ISA_AUTO, 1, 60 )
               .rest_frames <= 20 );
    CHECK_EQUAL( rest_crowd_run( motion_of( rest_crowd_teleport_all, 0 ), REST_CROWD_MOST, REST_CROWD_CHOSEN,
                     CLV_ISA_AUTO, 1, 60 )
                     .rest_frames,
        0 );
    CHECK( rest_crowd_run(
               motion_of( rest_crowd_drift, 0 ), REST_CROWD_MOST, REST_CROWD_CHOSEN, CLV_ISA_AUTO, 1, 60 )
               .rest_frames <= 12 );
    CHECK_EQUAL( rest_crowd_run( motion_of( rest_crowd_jitter_below, 0 ), REST_CROWD_MOST,
                     "cleave.few=0,cleave.rest=0", CLV_ISA_AUTO, 1, 60 )
                     .rest_frames,
        0 );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_followed_world_is_always_right ),
        TEST_CASE( a_world_whose_mode_is_chosen_is_always_right ),
        TEST_CASE( thousands_of_frames_between_rest_and_motion_are_right ),
        TEST_CASE( order_is_the_same_for_every_instruction_set_and_crew ),
        TEST_CASE( any_number_of_workers_makes_the_same_list ),
        TEST_CASE( the_mode_follows_rest_and_searches_motion ),
    };
    return test_run( "rest", cases, TEST_COUNT( cases ), argc, argv );
}
