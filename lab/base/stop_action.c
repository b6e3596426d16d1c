// SPDX-License-Identifier: MIT
#if !defined( _WIN32 )
#define _POSIX_C_SOURCE 200809L
#endif

#include "lab/base/stop_action.h"

#include "lab/base/error.h"
#include "lab/base/interrupt.h"
#include "lab/base/progress.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

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

// The thread sleeps on a pipe, which is what a handler may write to. It takes no signals itself: these go to the work.
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
    // The signal is here and its thread on the way: what happens from now on belongs to the end, such as a worker that
    // died of the same Ctrl-C.
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

bool stop_action_ask( void )
{
    if ( !atomic_load( &s_has_action ) || atomic_exchange( &s_is_asked, true ) )
    {
        return false;
    }
    wake();
    return true;
}
