// SPDX-License-Identifier: MIT
// A module of bad methods: they crash, hang, take all memory, exit, or find nothing. The program loads it
// in place of ODE's when CLEAVE_PEERS names its folder; test_runner.c does.
#define _DEFAULT_SOURCE
#include "cleave/method.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void* create( const clv_method_context* context )
{
    (void)context;
    return malloc( 1 );
}

static void destroy( void* state )
{
    free( state );
}

static clv_result crash(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    (void)state, (void)input, (void)sink, (void)counters;
    signal( SIGSEGV, SIG_DFL ); // sanitizers have a word of their own to say otherwise
    raise( SIGSEGV );
    return CLV_OK;
}

static clv_result give_up(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    (void)state, (void)input, (void)sink, (void)counters;
    static const char last_words[] = "chatter\nthe very last words\n\n";
    if ( write( STDOUT_FILENO, last_words, sizeof( last_words ) - 1 ) < 0 )
    {
        return CLV_OK;
    }
    abort();
}

static clv_result hang(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    (void)state, (void)input, (void)sink, (void)counters;
    while ( sleep( 1 ) < 2 )
    {
    }
    return CLV_OK;
}

// What was taken last; it is never given back.
static char* s_meal;

// Memory as methods take it; asked politely, it says when there is no more.
static clv_result eat(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    (void)state, (void)input, (void)sink, (void)counters;
    for ( size_t bytes = 0; bytes < (size_t)1 << 30; bytes += 1 << 20 )
    {
        s_meal = malloc( 1 << 20 );
        if ( s_meal == NULL )
        {
            return CLV_OUT_OF_MEMORY;
        }
        memset( s_meal, 1, 1 << 20 );
    }
    return hang( state, input, sink, counters );
}

// Memory that no limit of the process counts.
static clv_result eat_shared(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    size_t size = (size_t)1 << 30;
    char* more = mmap( NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0 );
    for ( size_t byte = 0; more != MAP_FAILED && byte < size; byte += 4096 )
    {
        more[byte] = 1;
        if ( byte % ( 1 << 22 ) == 0 )
        {
            usleep( 1000 ); // so that the watcher sees it grow
        }
    }
    return hang( state, input, sink, counters );
}

// Addresses that are never written to, as a device's driver takes them.
static clv_result reserve(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    (void)state, (void)input, (void)sink, (void)counters;
    size_t size = (size_t)1 << 30;
    void* more = mmap( NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0 );
    return more == MAP_FAILED || munmap( more, size ) != 0 ? CLV_OUT_OF_MEMORY : CLV_OK;
}

#define HEIRLOOM "CLEAVE_TEST_HEIRLOOM"
#define HEIRLOOM_HANDLE 200

// Did this process find in its environment, or among its handles, what the module left there in the one that
// started it?
static bool s_is_heir;

// As drivers do when they are loaded: OpenCL's loader and PoCL write to the environment, others open a device
// for as long as the process lives.
static void leave_traces( void )
{
    s_is_heir = getenv( HEIRLOOM ) != NULL || fcntl( HEIRLOOM_HANDLE, F_GETFD ) >= 0;
    setenv( HEIRLOOM, "1", 1 );
    int nothing = open( "/dev/null", O_RDONLY );
    dup2( nothing, HEIRLOOM_HANDLE );
    close( nothing );
}

static clv_result inherit(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    (void)state, (void)input, (void)sink, (void)counters;
    _exit( s_is_heir ? 5 : 4 );
}

static clv_result leave(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    (void)state, (void)input, (void)sink, (void)counters;
    _exit( 3 );
}

// Leaves a process behind that has the same pipes open, as a driver's helper may.
static clv_result leave_an_orphan(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    (void)state, (void)input, (void)sink, (void)counters;
    if ( fork() == 0 )
    {
        sleep( 40 );
    }
    _exit( 6 );
}

static clv_result vanish(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    (void)state, (void)input, (void)sink, (void)counters;
    _exit( 0 );
}

static clv_result find_nothing(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    (void)state, (void)input, (void)sink, (void)counters;
    return CLV_OK;
}

#define ROW( own_name, own_update )                                                                          \
    {                                                                                                        \
        .size = sizeof( clv_method ), .version = CLV_METHOD_VERSION, .name = ( own_name ), .family = "bad",  \
        .source = "tests", .licence = "MIT", .time_cost = "-", .space_cost = "-", .create = create,          \
        .destroy = destroy, .update = ( own_update )                                                         \
    }

static const clv_method rows[] = {
    ROW( "bad-crash", crash ),
    ROW( "bad-abort", give_up ),
    ROW( "bad-hang", hang ),
    ROW( "bad-eat", eat ),
    ROW( "bad-eat-shared", eat_shared ),
    ROW( "gpu-bad-reserve", reserve ), // by its name one of those on a device
    ROW( "bad-heir", inherit ),
    ROW( "bad-leave", leave ),
    ROW( "bad-orphan", leave_an_orphan ),
    ROW( "bad-vanish", vanish ),
    ROW( "bad-blind", find_nothing ),
    { .size = sizeof( clv_method ),
        .version = CLV_METHOD_VERSION,
        .name = "bad-opaque",
        .family = "bad",
        .source = "tests",
        .licence = "MIT",
        .time_cost = "-",
        .space_cost = "-",
        .is_opaque = true,
        .create = create,
        .destroy = destroy,
        .update = find_nothing },
};

CLV_PLUGIN clv_result clv_plugin_register( const clv_plugin_host* host )
{
    leave_traces();
    return clv_plugin_register_all( host, rows, sizeof( rows ) / sizeof( rows[0] ) );
}
