// SPDX-License-Identifier: MIT
// Every allocation of everything beside the space refused in turn: hulls, sweeps, simulations. No crash, no
// leak, what there was is as it was, the same call works once memory is back, and then all goes on as if
// nothing had happened.
#include "physics_script.h"

static uint64_t play_refused( const physics_script* script, uint64_t from, uint64_t count, bool* ended )
{
    test_where.seed = from;
    script_run l = { .memory = { .refuse_from = from, .refuse_count = count } };
    physics_script_play( &l, script );
    *ended = l.memory.refused_count == 0;
    return l.hash;
}

static void check_refusals( const physics_script* script, uint64_t count )
{
    bool ended = false;
    uint64_t expected = play_refused( script, 0, 0, &ended );
    CHECK( ended );
    ended = false;
    uint64_t from = 0;
    while ( !ended )
    {
        from += 1;
        CHECK( from < 5000 );
        CHECK_EQUAL( play_refused( script, from, count, &ended ), expected );
    }
    CHECK( from > 10 ); // the script does allocate
}

static void any_one_refused_allocation_leaves_no_trace( void )
{
    for ( uint32_t i = 0; i < physics_script_count; ++i )
    {
        check_refusals( &physics_scripts[i], 1 );
    }
}

static void any_lasting_refusal_leaves_no_trace( void )
{
    for ( uint32_t i = 0; i < physics_script_count; ++i )
    {
        check_refusals( &physics_scripts[i], UINT64_MAX );
    }
}

static void any_number_of_workers_lives_the_same_life( void )
{
    bool ended;
    CHECK_EQUAL( play_refused( &physics_scripts[physics_script_count - 1], 0, 0, &ended ),
        play_refused( &physics_scripts[physics_script_count - 2], 0, 0, &ended ) );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( any_one_refused_allocation_leaves_no_trace ),
        TEST_CASE( any_lasting_refusal_leaves_no_trace ),
        TEST_CASE( any_number_of_workers_lives_the_same_life ),
    };
    return test_run( "refusal", cases, TEST_COUNT( cases ), argc, argv );
}
