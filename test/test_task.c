// SPDX-License-Identifier: MIT
// Numbered pieces of work: each done once, by a worker of its own, before the call returns.
#include "heap.h"
#include "task/task.h"

#include <stdatomic.h>

enum
{
    PIECES = 500,
};

typedef struct job
{
    atomic_uint done[PIECES];
    atomic_uint working[CLV_MAX_WORKERS]; ///< pieces in the hands of this worker right now
    atomic_uint faults;
    uint32_t worker_count;
    uint32_t plain[PIECES]; ///< written without care: the call's return must make it visible
} job;

static void work( uint32_t index, uint32_t worker, void* context )
{
    job* all = context;
    if ( index >= PIECES || worker >= all->worker_count )
    {
        atomic_fetch_add( &all->faults, 1 );
        return;
    }
    if ( atomic_fetch_add( &all->working[worker], 1 ) != 0 )
    {
        atomic_fetch_add( &all->faults, 1 );
    }
    atomic_fetch_add( &all->done[index], 1 );
    all->plain[index] += index + 1;
    atomic_fetch_sub( &all->working[worker], 1 );
}

static void check_jobs( task_runner* runner, uint32_t worker_count, uint32_t jobs )
{
    static job all;
    for ( uint32_t number = 0; number < jobs; ++number )
    {
        test_where.frame = number;
        uint32_t count = number % 7 == 0 ? PIECES : number % 11;
        for ( uint32_t i = 0; i < PIECES; ++i )
        {
            atomic_store( &all.done[i], 0 );
            all.plain[i] = 0;
        }
        atomic_store( &all.faults, 0 );
        all.worker_count = worker_count;
        clv_task_run( runner, work, count, &all );
        CHECK_EQUAL( atomic_load( &all.faults ), 0 );
        for ( uint32_t i = 0; i < PIECES; ++i )
        {
            CHECK_EQUAL( atomic_load( &all.done[i] ), i < count ? 1 : 0 );
            CHECK_EQUAL( all.plain[i], i < count ? i + 1 : 0 );
        }
    }
}

static void every_piece_is_done_once( void )
{
    const uint32_t worker_counts[] = { 1, 2, 3, 8 };
    for ( size_t i = 0; i < TEST_COUNT( worker_counts ); ++i )
    {
        heap hooks = { 0 };
        base_memory memory = clv_base_memory_make( heap_hooks( &hooks ) );
        task_runner runner;
        test_where.worker_count = worker_counts[i];
        double spin_ms = i == 1 ? 50 : 0; // changes nothing but the time
        CHECK(
            clv_task_runner_start( &runner, worker_counts[i], spin_ms, ( clv_task_hooks ){ 0 }, &memory ) );
        CHECK_EQUAL( task_worker_count( &runner ), worker_counts[i] );
        uint64_t allocate_count = hooks.allocate_count;
        check_jobs( &runner, worker_counts[i], 300 );
        CHECK_EQUAL( hooks.allocate_count, allocate_count );
        clv_task_runner_stop( &runner, &memory );
        CHECK_EQUAL( hooks.bytes, 0 );
    }
}

static void run_backwards( clv_task* task, uint32_t count, void* context, void* user )
{
    uint32_t* call_count = user;
    *call_count += 1;
    for ( uint32_t i = count; i > 0; --i )
    {
        task( i - 1, i % 3, context );
    }
}

static void the_callers_threads_are_used_where_there_are_any( void )
{
    heap hooks = { 0 };
    base_memory memory = clv_base_memory_make( heap_hooks( &hooks ) );
    uint32_t call_count = 0;
    task_runner runner;
    CHECK(
        clv_task_runner_start( &runner, 3, 0, ( clv_task_hooks ){ run_backwards, &call_count }, &memory ) );
    CHECK_EQUAL( hooks.allocate_count, 0 );
    check_jobs( &runner, 3, 100 );
    CHECK( call_count > 50 );
    clv_task_runner_stop( &runner, &memory );
}

static void idle_crews_start_and_stop( void )
{
    heap hooks = { 0 };
    base_memory memory = clv_base_memory_make( heap_hooks( &hooks ) );
    for ( uint32_t round = 0; round < 50; ++round )
    {
        task_runner runner;
        CHECK( clv_task_runner_start( &runner, 4, 0, ( clv_task_hooks ){ 0 }, &memory ) );
        check_jobs( &runner, 4, round % 3 );
        clv_task_runner_stop( &runner, &memory );
    }
    CHECK_EQUAL( hooks.bytes, 0 );
    hooks.refuse_from = hooks.allocate_count + 1;
    hooks.refuse_count = 1;
    task_runner runner;
    CHECK( !clv_task_runner_start( &runner, 4, 0, ( clv_task_hooks ){ 0 }, &memory ) );
    CHECK_EQUAL( hooks.bytes, 0 );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( every_piece_is_done_once ),
        TEST_CASE( the_callers_threads_are_used_where_there_are_any ),
        TEST_CASE( idle_crews_start_and_stop ),
    };
    return test_run( "task", cases, TEST_COUNT( cases ), argc, argv );
}
