// SPDX-License-Identifier: MIT
#if !defined( _WIN32 )
#define _POSIX_C_SOURCE 200809L
#endif

#include "lab/base/interrupt.h"

#include "lab/base/stop_action.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#if defined( _WIN32 )
#include <io.h>
#else
#include <unistd.h>
#endif

// Output files are few: two results files, and the windows of a scene that one simulation writes.
#define GUARD_COUNT 64

static const char* volatile guarded[GUARD_COUNT];
static volatile sig_atomic_t raised = 0;
static volatile long guarded_process = 0;
static const char* volatile stop_note = NULL;

void interrupt_guard_process( long process )
{
    guarded_process = process;
}

void interrupt_set_note( const char* note )
{
    stop_note = note;
}

bool interrupt_raised( void )
{
    return raised != 0;
}

bool interrupt_guard( const char* path )
{
    for ( int index = 0; index < GUARD_COUNT; ++index )
    {
        if ( guarded[index] == NULL )
        {
            guarded[index] = path;
            return true;
        }
    }
    return false;
}

void interrupt_release( const char* path )
{
    for ( int index = 0; index < GUARD_COUNT; ++index )
    {
        if ( guarded[index] == path )
        {
            guarded[index] = NULL;
        }
    }
}

void interrupt_remove_files( void )
{
    for ( int index = 0; index < GUARD_COUNT; ++index )
    {
        const char* path = guarded[index];
        if ( path != NULL )
        {
#if defined( _WIN32 )
            _unlink( path );
#else
            unlink( path );
#endif
        }
    }
}

#if defined( _WIN32 )

void interrupt_end_process( void )
{
}

static void on_signal( int number )
{
    signal( number, SIG_DFL );
    if ( stop_action_ask() )
    {
        return;
    }
    // An open file cannot be removed here, so the writers stop by themselves; a second Ctrl-C stops at once.
    raised = 1;
}

void interrupt_install( void )
{
    signal( SIGINT, on_signal );
    signal( SIGTERM, on_signal );
}

#else

void interrupt_end_process( void )
{
    long process = guarded_process;
    if ( process > 0 )
    {
        kill( (pid_t)process, SIGKILL );
    }
}

static void on_signal( int number )
{
    if ( number != SIGPIPE && stop_action_ask() )
    {
        return;
    }
    raised = 1;
    interrupt_remove_files(); // unlink may be called from a handler, and so may kill and write
    interrupt_end_process();
    const char* note = stop_note;
    if ( ( number == SIGINT && write( STDERR_FILENO, "\n", 1 ) < 0 ) ||
        ( note != NULL && write( STDERR_FILENO, note, strlen( note ) ) < 0 ) )
    {
        // The terminal is gone: nothing is printed.
    }
    _exit( 128 + number );
}

void interrupt_install( void )
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
    struct sigaction action = { 0 };
    action.sa_handler = on_signal;
    action.sa_flags =
        SA_RESTART; // while the stop action runs the work goes on, and must not fail in reading a file
    sigfillset( &action.sa_mask );
    for ( size_t index = 0; index < sizeof( signals ) / sizeof( signals[0] ); ++index )
    {
        struct sigaction before;
        // `nohup` has the hang-up ignored on purpose. A script's background jobs start with SIGINT ignored
        // too, yet a SIGINT sent to one of them is meant.
        if ( signals[index] == SIGHUP && sigaction( SIGHUP, NULL, &before ) == 0 &&
            before.sa_handler == SIG_IGN )
        {
            continue;
        }
        sigaction( signals[index], &action, NULL );
    }
    // A file-size limit shall come back as a failed write, which has a sentence of its own.
    signal( SIGXFSZ, SIG_IGN );
}

#endif
