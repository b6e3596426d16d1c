// SPDX-License-Identifier: MIT
// What happens when an assertion fails: the hook hears it and decides; without one the program says so and
// stops.
#define _POSIX_C_SOURCE 200809L // fork

#include "base/assertion.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

typedef struct report
{
    int count;
    int line;
    char condition[64];
} report;

static bool note_and_go_on( const char* condition, const char* file, int line, void* user )
{
    report* heard = user;
    heard->count += 1;
    heard->line = line;
    snprintf( heard->condition, sizeof( heard->condition ), "%s", condition );
    CHECK( strstr( file, "test_assertion.c" ) != NULL );
    return false;
}

static void the_hook_gets_the_condition_and_may_go_on( void )
{
    report heard = { 0, 0, "" };
    clv_set_assert_hook( note_and_go_on, &heard );
    clv_assert_failed( "1 == 2", __FILE__, 7 );
    clv_set_assert_hook( NULL, NULL );
    CHECK_EQUAL( heard.count, 1 );
    CHECK_EQUAL( heard.line, 7 );
    CHECK_TEXT( heard.condition, "1 == 2" );
}

#if !defined( _WIN32 )

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void without_a_hook_the_program_prints_and_stops( void )
{
    int ends[2];
    CHECK( pipe( ends ) == 0 );
    pid_t child = fork();
    CHECK( child >= 0 );
    if ( child == 0 )
    {
        setrlimit( RLIMIT_CORE, &( struct rlimit ){ 0, 0 } );
        signal( SIGABRT, SIG_DFL );
        dup2( ends[1], STDERR_FILENO );
        clv_set_assert_hook( NULL, NULL );
        clv_assert_failed( "a < b", "pair.c", 12 );
        _exit( 0 );
    }
    close( ends[1] );
    char text[256] = "";
    ssize_t length = read( ends[0], text, sizeof( text ) - 1 );
    close( ends[0] );
    int status = 0;
    waitpid( child, &status, 0 );
    CHECK( length > 0 );
    CHECK( strncmp( text, "cleave: assertion failed: a < b, pair.c:12", 42 ) == 0 );
    CHECK(
        !WIFEXITED( status ) || WEXITSTATUS( status ) != 0 ); // a sanitizer may turn the signal into a status
}

#endif

int main( int argc, char** argv )
{
    static const test_case cases[] = {
        TEST_CASE( the_hook_gets_the_condition_and_may_go_on ),
#if !defined( _WIN32 )
        TEST_CASE( without_a_hook_the_program_prints_and_stops ),
#endif
    };
    return test_run( "assertion", cases, TEST_COUNT( cases ), argc, argv );
}
