// SPDX-License-Identifier: MIT
#include "task/lock.h"

#ifdef _WIN32

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

void clv_task_lock_init( task_lock* lock )
{
    InitializeSRWLock( (SRWLOCK*)&lock->word );
}

void clv_task_lock_done( task_lock* lock )
{
    (void)lock;
}

void clv_task_lock_take( task_lock* lock )
{
    AcquireSRWLockExclusive( (SRWLOCK*)&lock->word );
}

void clv_task_lock_give( task_lock* lock )
{
    ReleaseSRWLockExclusive( (SRWLOCK*)&lock->word );
}

#else

void clv_task_lock_init( task_lock* lock )
{
    pthread_mutex_init( &lock->mutex, NULL );
}

void clv_task_lock_done( task_lock* lock )
{
    pthread_mutex_destroy( &lock->mutex );
}

void clv_task_lock_take( task_lock* lock )
{
    pthread_mutex_lock( &lock->mutex );
}

void clv_task_lock_give( task_lock* lock )
{
    pthread_mutex_unlock( &lock->mutex );
}

#endif
