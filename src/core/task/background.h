// SPDX-License-Identifier: MIT
// One thread that works behind the caller's back, with a lock and a signal between the two.
#pragma once

#include "base/exact.h"

#include <stdbool.h>

#ifdef _WIN32
#include "base/win32.h"
#else
#include <pthread.h>
#endif

typedef struct task_background
{
    void ( *work )( void* context );
    void* context;
    bool is_running;
#ifdef _WIN32
    SRWLOCK lock;
    CONDITION_VARIABLE signal;
    HANDLE thread;
#else
    pthread_mutex_t lock;
    pthread_cond_t signal;
    pthread_t thread;
#endif
} task_background;

/// Lock and signal alone, and their end.
void clv_task_background_init( task_background* background );
void clv_task_background_done( task_background* background );

/// A thread that calls `work` once; false if there is none to be had. `join` waits until it has returned.
bool clv_task_background_start( task_background* background, void ( *work )( void* context ), void* context );
void clv_task_background_join( task_background* background );

void clv_task_background_lock( task_background* background );
void clv_task_background_unlock( task_background* background );

/// With the lock held: until the other side signals, or for no reason at all.
void clv_task_background_wait( task_background* background );
void clv_task_background_signal( task_background* background );
