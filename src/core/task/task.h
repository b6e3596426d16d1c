// SPDX-License-Identifier: MIT
// The only place with threads in it. Work is cut into numbered pieces whose number does not depend on the
// workers; each piece writes where its number says, and the results are joined in order of number. So the
// outcome is the same for any number of workers. Pieces take no memory: allocator hooks belong to the calling
// thread.
#pragma once

#include "base/memory.h"
#include "cleave/types.h"

typedef struct task_pool task_pool;

/// The threads that work for one space. Zero-initialised: the calling thread alone.
typedef struct task_runner
{
    uint32_t worker_count; ///< 0 or 1: the calling thread alone
    clv_task_hooks hooks;  ///< the caller's, if it gave any
    task_pool* pool;       ///< our own threads, if it did not
} task_runner;

/// Starts worker_count - 1 threads unless the caller brought hooks; without work they look for some for
/// spin_ms milliseconds, at least a moment, before they sleep. False if memory or threads could not be had;
/// then nothing was started.
bool clv_task_runner_start(
    task_runner* runner, uint32_t worker_count, double spin_ms, clv_task_hooks hooks, base_memory* memory );
void clv_task_runner_stop( task_runner* runner, base_memory* memory );

static inline uint32_t task_worker_count( const task_runner* runner )
{
    return runner->worker_count > 1 ? runner->worker_count : 1;
}

/// Call piece( index, worker, context ) once for every index below `count`, and return when all are done.
/// With one worker, or one piece, everything happens here, in order, as worker 0. Otherwise worker is below
/// task_worker_count and no two calls with the same worker run at once.
void clv_task_run( task_runner* runner, clv_task* piece, uint32_t count, void* context );

/// The same for work of some ten microseconds, which is not worth waking a thread for: our own threads take
/// part as far as they are awake, and the caller's hooks are not asked.
void clv_task_offer( task_runner* runner, clv_task* piece, uint32_t count, void* context );

// ---- the pool behind it, scheduler.c

task_pool* clv_task_pool_create( uint32_t worker_count, double spin_ms, base_memory* memory );
void clv_task_pool_destroy( task_pool* pool, base_memory* memory );
void clv_task_pool_run( task_pool* pool, clv_task* piece, uint32_t count, void* context, bool wakes );
