// SPDX-License-Identifier: MIT
// Methods from shared objects, through the program: `cleave --plugin FILE COMMAND …`. plugin_method.c is the
// plug-in, good and bad.
#include "program.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

#define PLUGIN( name ) TEST_PLUGINS "/" name ".so"

static program_answer* run_with( const char* plugin, const char* line )
{
    char words[1024];
    snprintf( words, sizeof( words ), "--plugin %s %s", plugin, line );
    return program_run( words );
}

static void a_plugged_in_method_is_listed( void )
{
    program_answer* answer = run_with( PLUGIN( "good" ), "methods" );
    CHECK_EQUAL( answer->status, 0 );
    CHECK( strstr( answer->out, "\nplugged " ) != NULL );
    CHECK( strstr( answer->out, "plugged.nothing" ) != NULL );
    answer = program_run( "methods" );
    CHECK( answer->status == 0 && strstr( answer->out, "plugged" ) == NULL );
}

static void it_is_verified_and_timed_like_any_other( void )
{
    program_answer* answer =
        run_with( PLUGIN( "good" ), "verify brownian-free:700 -m plugged --frames 5 --threads 1,3 -q" );
    CHECK_EQUAL( answer->status, 0 );
    CHECK( strstr( answer->out, "All agree" ) != NULL );
    answer = run_with( PLUGIN( "good" ),
        "bench brownian-free:300 -m plugged,sap --frames 3 --repeat 1 -q --set plugged.nothing=2" );
    CHECK_EQUAL( answer->status, 0 );
    CHECK( strstr( answer->out, "plugged" ) != NULL );
}

static void runs_in_child_processes_have_the_plugin_too( void )
{
    program_answer* answer =
        run_with( PLUGIN( "good" ), "bench brownian-free:300 -m plugged --frames 3 --repeat 1 -q --isolate" );
    CHECK_EQUAL( answer->status, 0 );
    CHECK( strstr( answer->out, "plugged" ) != NULL && strstr( answer->out, "failed" ) == NULL );
}

static void several_plugins_may_be_named_and_joined( void )
{
    program_answer* answer = program_run(
        "--plugin " PLUGIN( "good" ) " --plugin=" PLUGIN( "second" ) " verify -n 200 -m plugged,plugged-2 "
                                                                     "--frames 3 -q" );
    CHECK_EQUAL( answer->status, 0 );
}

static void one_that_hands_over_what_is_not_there_is_named( void )
{
    program_answer* answer =
        run_with( PLUGIN( "strays" ), "verify brownian-free:200 -m plugged --frames 5 -q" );
    CHECK( answer->status == 1 || answer->status == 2 );
    CHECK( program_said( answer, "method plugged handed over a pair of slots 1 and 1000000200" ) );
    answer = run_with( PLUGIN( "strays" ), "bench brownian-free:200 -m plugged --frames 5 --repeat 1 -q" );
    CHECK( answer->status == 1 || answer->status == 2 );
    CHECK( program_said( answer, "method plugged handed over a pair" ) );
}

static void invalid_plugins_are_refused_with_one_line( void )
{
    static const struct
    {
        const char* words;
        const char* said;
    } rows[] = {
        { "--plugin " PLUGIN( "none" ) " methods", "No such file" },
        { "--plugin " TEST_PLUGINS " methods", "is no file" },
        { "--plugin " __FILE__ " methods", "test_plugin.c" },
        { "--plugin " PLUGIN( "no_entry" ) " methods", "exports no clv_plugin_register" },
        { "--plugin " PLUGIN( "old_row" ) " methods", "a method of version 99" },
        { "--plugin " PLUGIN( "future" ) " methods", "another version of cleave" },
        { "--plugin " PLUGIN( "taken" ) " methods", "there is a method brute already" },
        { "--plugin " PLUGIN( "spaced" ) " methods", "name must be" },
        { "--plugin " PLUGIN( "good" ) " --plugin " PLUGIN( "good" ) " methods", "a method plugged already" },
        { "--plugin", "needs a file" },
        { "--plugin=", "needs a file" },
        { "--plugins x methods", "did you mean --plugin?" },
    };
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        test_where.note = rows[row].words;
        program_answer* answer = program_run( rows[row].words );
        CHECK_EQUAL( answer->status, 2 );
        CHECK( strstr( answer->errors, rows[row].said ) != NULL );
        const char* newline = strchr( answer->errors, '\n' );
        CHECK( newline != NULL && newline[1] == '\0' && answer->out[0] == '\0' );
    }
    CHECK_EQUAL( program_run( "--plugin " PLUGIN( "good" ) )->status, 2 ); // and no command
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_plugged_in_method_is_listed ),
        TEST_CASE( it_is_verified_and_timed_like_any_other ),
        TEST_CASE( runs_in_child_processes_have_the_plugin_too ),
        TEST_CASE( several_plugins_may_be_named_and_joined ),
        TEST_CASE( one_that_hands_over_what_is_not_there_is_named ),
        TEST_CASE( invalid_plugins_are_refused_with_one_line ),
    };
    return test_run( "plugin", cases, TEST_COUNT( cases ), argc, argv );
}
