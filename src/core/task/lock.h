// SPDX-License-Identifier: MIT
// A lock for what several callers may want at the same time: queries of one space from several threads.
#pragma once

#include "base/exact.h"

#ifdef _WIN32

/// Windows' SRWLOCK, which is one pointer.
typedef struct task_lock
{
    void* word;
} task_lock;

#define TASK_LOCK_STATIC                                                                                     \
    {                                                                                                        \
        NULL                                                                                                 \
    }

#else

#include <pthread.h>

typedef struct task_lock
{
    pthread_mutex_t mutex;
} task_lock;

/// For one that lives as long as the program and needs no init.
#define TASK_LOCK_STATIC                                                                                     \
    {                                                                                                        \
        PTHREAD_MUTEX_INITIALIZER                                                                            \
    }

#endif

void clv_task_lock_init( task_lock* lock );
void clv_task_lock_done( task_lock* lock );
void clv_task_lock_take( task_lock* lock );
void clv_task_lock_give( task_lock* lock );
