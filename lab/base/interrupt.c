// SPDX-License-Identifier: MIT
#if !defined( _WIN32 )
#define _POSIX_C_SOURCE 200809L
#endif
#include "lab/base/interrupt.h"

#include "lab/base/error.h"
#include "lab/base/terminal.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined( _WIN32 )
#include <io.h>
#else
#include <unistd.h>
#endif

// For the signal handler: true if the action will run and end the program.
static bool stop_action_ask( void );

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

// End that process now.
static void interrupt_end_process( void )
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

static void interrupt_end_process( void )
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

// ---- stop action

static stop_action* s_action;
static void* s_user;
static bool s_is_held;
static atomic_bool s_is_asked;

// Under the lock. Never returns.
static void run_action( void )
{
    progress_end_all();
    s_action( s_user );
    fflush( stdout );
    interrupt_end_process();
    interrupt_remove_files();
    _Exit( LAB_DISAGREES );
}

#if defined( _WIN32 )

#include <windows.h>

static SRWLOCK s_lock = SRWLOCK_INIT;

static void lock( void )
{
    AcquireSRWLockExclusive( &s_lock );
}

static void unlock( void )
{
    ReleaseSRWLockExclusive( &s_lock );
}

static void wait_for_the_end( void )
{
    Sleep( INFINITE );
}

static bool start_listening( void )
{
    return true;
}

// Ctrl-C has a thread of its own here.
static void wake( void )
{
    lock();
    if ( s_action != NULL )
    {
        run_action();
    }
    unlock();
}

#else

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static pthread_mutex_t s_lock = PTHREAD_MUTEX_INITIALIZER;
static int s_pipe[2] = { -1, -1 };

static void lock( void )
{
    pthread_mutex_lock( &s_lock );
}

static void unlock( void )
{
    pthread_mutex_unlock( &s_lock );
}

static void wait_for_the_end( void )
{
    while ( true )
    {
        pause();
    }
}

static void* listen_for_signals( void* unused )
{
    char byte;
    (void)unused;
    while ( read( s_pipe[0], &byte, 1 ) != 1 )
    {
        if ( errno != EINTR )
        {
            return NULL;
        }
    }
    lock();
    if ( s_action != NULL )
    {
        run_action();
    }
    unlock();
    return NULL;
}

// The thread sleeps on a pipe, which is what a handler may write to. It takes no signals
// itself: these go to the work.
static bool start_listening( void )
{
    sigset_t all, before;
    pthread_t thread;
    if ( s_pipe[0] >= 0 )
    {
        return true;
    }
    if ( pipe( s_pipe ) != 0 )
    {
        return false;
    }
    fcntl( s_pipe[0], F_SETFD, FD_CLOEXEC );
    fcntl( s_pipe[1], F_SETFD, FD_CLOEXEC );
    sigfillset( &all );
    pthread_sigmask( SIG_SETMASK, &all, &before );
    bool started =
        pthread_create( &thread, NULL, listen_for_signals, NULL ) == 0 && pthread_detach( thread ) == 0;
    pthread_sigmask( SIG_SETMASK, &before, NULL );
    return started;
}

static void wake( void )
{
    int reason = errno;
    ssize_t written = write( s_pipe[1], "", 1 );
    (void)written; // an empty pipe takes a byte
    errno = reason;
}

#endif

static atomic_bool s_has_action;

void stop_action_begin( stop_action* action, void* user )
{
    if ( start_listening() )
    {
        lock();
        s_action = action;
        s_user = user;
        unlock();
        atomic_store( &s_has_action, true );
    }
}

void stop_action_hold( void )
{
    lock();
    s_is_held = true;
    // The signal is here and its thread on the way: what happens from now on belongs to the end, such as a
    // worker that died of the same Ctrl-C.
    if ( s_action != NULL && atomic_load( &s_is_asked ) )
    {
        unlock();
        wait_for_the_end();
    }
}

void stop_action_resume( void )
{
    s_is_held = false;
    unlock();
}

void stop_action_end( void )
{
    if ( !s_is_held )
    {
        stop_action_hold();
    }
    s_action = NULL;
    atomic_store( &s_has_action, false );
    stop_action_resume();
}

static bool stop_action_ask( void )
{
    if ( !atomic_load( &s_has_action ) || atomic_exchange( &s_is_asked, true ) )
    {
        return false;
    }
    wake();
    return true;
}
