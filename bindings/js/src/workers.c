// SPDX-License-Identifier: MIT
// Threads of the page as workers of a space. The module is instantiated once on the calling thread and once
// in each Web Worker (../worker.js), all on one shared memory; the library hands its pieces to js_run_pieces
// by its task hooks and never makes a thread itself. Only the calling thread takes memory, so malloc needs no
// lock.
//
// A page's main thread may not sleep, so it works too, and then spins until those that began have finished.
// Workers spin for a moment after each job, since an update is several, and sleep on the job's number.
#include "binding.h"

#if defined( __wasm_atomics__ )

#include <stdatomic.h>

enum
{
    SPINS = 20000, // about 20 microseconds, less than it takes to wake a thread
};

#define OPEN 0x80000000u // of `state`: workers may join; the other bits count those that are in

static struct
{
    clv_task* task;
    void* context;
    uint32_t count;
    uint32_t worker_count;
    _Atomic uint32_t next;   // piece
    _Atomic uint32_t state;  // of the job
    _Atomic uint32_t number; // of the job; workers sleep on it
} s_job;

static void take_pieces( uint32_t worker )
{
    uint32_t count = s_job.count;
    for ( uint32_t i = atomic_fetch_add( &s_job.next, 1 ); i < count; i = atomic_fetch_add( &s_job.next, 1 ) )
    {
        s_job.task( i, worker, s_job.context );
    }
}

static void run_pieces( clv_task* task, uint32_t count, void* context, void* user )
{
    s_job.task = task;
    s_job.context = context;
    s_job.count = count;
    s_job.worker_count = (uint32_t)(uintptr_t)user;
    atomic_store( &s_job.next, 0 );
    atomic_store( &s_job.state, OPEN );
    atomic_fetch_add( &s_job.number, 1 );
    __builtin_wasm_memory_atomic_notify( (int*)&s_job.number, UINT32_MAX );
    take_pieces( 0 );
    // Closed: a worker that wakes only now finds nothing to join, and is not waited for.
    atomic_fetch_and( &s_job.state, ~OPEN );
    while ( atomic_load( &s_job.state ) != 0 )
    {
    }
}

static void join_job( uint32_t worker )
{
    uint32_t state = atomic_load( &s_job.state );
    while ( ( state & OPEN ) != 0 )
    {
        if ( atomic_compare_exchange_weak( &s_job.state, &state, state + 1 ) )
        {
            // The job stays as it is while a worker is in.
            if ( worker < s_job.worker_count )
            {
                take_pieces( worker );
            }
            atomic_fetch_sub( &s_job.state, 1 );
            return;
        }
    }
}

/// What a Web Worker does: never returns. `worker` is from 1 on.
EMSCRIPTEN_KEEPALIVE void js_work( uint32_t worker )
{
    uint32_t number = atomic_load( &s_job.number );
    for ( ;; )
    {
        join_job( worker );
        for ( int spin = 0; spin < SPINS && atomic_load( &s_job.number ) == number; ++spin )
        {
        }
        __builtin_wasm_memory_atomic_wait32( (int*)&s_job.number, (int)number, -1 );
        number = atomic_load( &s_job.number );
    }
}

clv_task_hooks js_task_hooks( uint32_t worker_count )
{
    clv_task_hooks hooks = { NULL, NULL };
    if ( worker_count > 1 )
    {
        hooks.run = run_pieces;
        hooks.user = (void*)(uintptr_t)worker_count;
    }
    return hooks;
}

#else

clv_task_hooks js_task_hooks( uint32_t worker_count )
{
    (void)worker_count;
    clv_task_hooks hooks = { NULL, NULL };
    return hooks;
}

#endif
