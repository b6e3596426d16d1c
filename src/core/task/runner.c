// SPDX-License-Identifier: MIT
#include "task/task.h"

#include "base/fp_mode.h"

bool clv_task_runner_start(
    task_runner* runner, uint32_t worker_count, double spin_ms, clv_task_hooks hooks, base_memory* memory )
{
    *runner = ( task_runner ){ worker_count, hooks, NULL };
    if ( worker_count <= 1 || hooks.run != NULL )
    {
        return true;
    }
    runner->pool = clv_task_pool_create( worker_count, spin_ms, memory );
    return runner->pool != NULL;
}

void clv_task_runner_stop( task_runner* runner, base_memory* memory )
{
    if ( runner->pool != NULL )
    {
        clv_task_pool_destroy( runner->pool, memory );
    }
    *runner = ( task_runner ){ 0 };
}

typedef struct guest_job
{
    clv_task* piece;
    void* context;
} guest_job;

// The caller's threads have modes of their own, which must not change an answer.
static void run_as_guest( uint32_t index, uint32_t worker, void* context )
{
    const guest_job* job = context;
    base_fp_mode mode = base_fp_enter();
    job->piece( index, worker, job->context );
    base_fp_leave( mode );
}

void clv_task_run( task_runner* runner, clv_task* piece, uint32_t count, void* context )
{
    if ( runner->worker_count <= 1 || count <= 1 )
    {
        for ( uint32_t index = 0; index < count; ++index )
        {
            piece( index, 0, context );
        }
    }
    else if ( runner->hooks.run != NULL )
    {
        guest_job job = { piece, context };
        runner->hooks.run( run_as_guest, count, &job, runner->hooks.user );
    }
    else
    {
        clv_task_pool_run( runner->pool, piece, count, context, true );
    }
}

void clv_task_offer( task_runner* runner, clv_task* piece, uint32_t count, void* context )
{
    if ( runner->pool != NULL && count > 1 )
    {
        clv_task_pool_run( runner->pool, piece, count, context, false );
        return;
    }
    for ( uint32_t index = 0; index < count; ++index )
    {
        piece( index, 0, context );
    }
}
