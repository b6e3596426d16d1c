// SPDX-License-Identifier: MIT
#include "lab/base/parallel.h"

// Long enough to outweigh handing it over, short enough that threads end together.
#define STRETCH_LENGTH 8192

typedef struct parallel_loop
{
    uint64_t count;
    parallel_stretch* stretch;
    void* user;
} parallel_loop;

void parallel_crew_start( parallel_crew* crew, uint32_t thread_count )
{
    *crew = ( parallel_crew ){ 0 };
    crew->memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    uint32_t worker_count = thread_count < CLV_MAX_WORKERS ? thread_count : CLV_MAX_WORKERS;
    if ( worker_count > 1 &&
        !clv_task_runner_start( &crew->runner, worker_count, 0, ( clv_task_hooks ){ 0 }, &crew->memory ) )
    {
        crew->runner = ( task_runner ){ 0 };
    }
}

void parallel_crew_stop( parallel_crew* crew )
{
    clv_task_runner_stop( &crew->runner, &crew->memory );
}

static void run_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    const parallel_loop* loop = context;
    uint64_t begin = (uint64_t)index * STRETCH_LENGTH;
    uint64_t end = begin + STRETCH_LENGTH < loop->count ? begin + STRETCH_LENGTH : loop->count;
    loop->stretch( begin, end, loop->user );
}

void parallel_for( parallel_crew* crew, uint64_t count, parallel_stretch* stretch, void* user )
{
    parallel_loop loop = { count, stretch, user };
    clv_task_run(
        &crew->runner, run_piece, (uint32_t)( ( count + STRETCH_LENGTH - 1 ) / STRETCH_LENGTH ), &loop );
}
