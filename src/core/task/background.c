// SPDX-License-Identifier: MIT
#include "task/background.h"

#ifdef _WIN32

void clv_task_background_init( task_background* background )
{
    background->is_running = false;
    InitializeSRWLock( &background->lock );
    InitializeConditionVariable( &background->signal );
}

void clv_task_background_done( task_background* background )
{
    (void)background;
}

static DWORD WINAPI enter_background( void* argument )
{
    task_background* background = argument;
    background->work( background->context );
    return 0;
}

static bool start_background( task_background* background )
{
    background->thread = CreateThread( NULL, 0, enter_background, background, 0, NULL );
    return background->thread != NULL;
}

static void join_background( task_background* background )
{
    WaitForSingleObject( background->thread, INFINITE );
    CloseHandle( background->thread );
}

void clv_task_background_lock( task_background* background )
{
    AcquireSRWLockExclusive( &background->lock );
}

void clv_task_background_unlock( task_background* background )
{
    ReleaseSRWLockExclusive( &background->lock );
}

void clv_task_background_wait( task_background* background )
{
    SleepConditionVariableSRW( &background->signal, &background->lock, INFINITE, 0 );
}

void clv_task_background_signal( task_background* background )
{
    WakeAllConditionVariable( &background->signal );
}

#else

void clv_task_background_init( task_background* background )
{
    background->is_running = false;
    pthread_mutex_init( &background->lock, NULL );
    pthread_cond_init( &background->signal, NULL );
}

void clv_task_background_done( task_background* background )
{
    pthread_cond_destroy( &background->signal );
    pthread_mutex_destroy( &background->lock );
}

static void* enter_background( void* argument )
{
    task_background* background = argument;
    background->work( background->context );
    return NULL;
}

static bool start_background( task_background* background )
{
    return pthread_create( &background->thread, NULL, enter_background, background ) == 0;
}

static void join_background( task_background* background )
{
    pthread_join( background->thread, NULL );
}

void clv_task_background_lock( task_background* background )
{
    pthread_mutex_lock( &background->lock );
}

void clv_task_background_unlock( task_background* background )
{
    pthread_mutex_unlock( &background->lock );
}

void clv_task_background_wait( task_background* background )
{
    pthread_cond_wait( &background->signal, &background->lock );
}

void clv_task_background_signal( task_background* background )
{
    pthread_cond_broadcast( &background->signal );
}

#endif

bool clv_task_background_start( task_background* background, void ( *work )( void* context ), void* context )
{
    background->work = work;
    background->context = context;
    background->is_running = start_background( background );
    return background->is_running;
}

void clv_task_background_join( task_background* background )
{
    if ( background->is_running )
    {
        join_background( background );
        background->is_running = false;
    }
}
