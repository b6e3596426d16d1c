// SPDX-License-Identifier: MIT
// Our own threads: a fixed crew that waits for a job, takes its pieces, and waits again. The caller works
// along as worker 0. Each begins with a share of its own, the same part of the numbers in every job, since
// what it wrote in the last job is near; then it helps the others with theirs. A crew member spins for a
// moment before it sleeps, because a frame is several jobs with little between them; longer where the def
// asks for it, because waking a thread takes 40 to 90 microseconds. A job is over when its pieces are done: a
// member that is still asleep is not waited for.
//
// A share's end and its next piece are one word, so that a member that comes late can tell, whatever job it
// finds there, whether it got a piece; while it has one, the job cannot end.
#include "task/task.h"

#include "base/assertion.h"
#include "base/fp_mode.h"
#include "base/timer.h"

#include <stdatomic.h>
#include <string.h>

#ifdef _WIN32
#include "base/win32.h"
typedef SRWLOCK lock_type;
typedef CONDITION_VARIABLE signal_type;
typedef HANDLE thread_type;
#else
#include <pthread.h>
#include <sched.h>
typedef pthread_mutex_t lock_type;
typedef pthread_cond_t signal_type;
typedef pthread_t thread_type;
#endif

#ifdef __linux__
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

enum
{
    SPINS = 4000,    // 50 to 300 microseconds, as long as the processor pauses
    LOOK_SPINS = 200 // between two looks at the clock
};

enum
{
    LINE = 64, // bytes that processors pass to each other
    END_SHIFT = 32
};

// One of the crew; worker 0, the caller, has no thread. On lines of its own: many look at each ticket.
typedef struct member
{
    _Alignas( LINE ) _Atomic uint64_t ticket; // its share of the job: end << END_SHIFT | next piece
    struct task_pool* pool;
    thread_type thread;
    uint32_t worker;
} member;

struct task_pool
{
    lock_type lock;
    signal_type job_there;
    uint32_t worker_count;
    uint32_t started_count;
    uint64_t spin_ns; // beyond SPINS

    clv_task* piece; // the job: published by the tickets
    void* context;

    // Each on a line of its own: many spin on the first while others count up the second.
    _Alignas( LINE ) atomic_uint job_number; // written under the lock, if there is one; read while spinning
    atomic_bool is_stopping;                 // likewise
    atomic_uint sleeper_count;
    _Alignas( LINE ) atomic_uint done_count; // pieces done
    member members[];                        // worker_count
};

// ---- the two platforms

static void work_as_member( member* self );

#ifdef _WIN32

static void lock_init( task_pool* pool )
{
    InitializeSRWLock( &pool->lock );
    InitializeConditionVariable( &pool->job_there );
}

static void lock_done( task_pool* pool )
{
    (void)pool;
}

static void lock_take( task_pool* pool )
{
    AcquireSRWLockExclusive( &pool->lock );
}

static void lock_give( task_pool* pool )
{
    ReleaseSRWLockExclusive( &pool->lock );
}

static void wait_for_job( task_pool* pool )
{
    SleepConditionVariableSRW( &pool->job_there, &pool->lock, INFINITE, 0 );
}

static void wake_all( task_pool* pool )
{
    WakeAllConditionVariable( &pool->job_there );
}

static DWORD WINAPI enter_thread( void* argument )
{
    work_as_member( argument );
    return 0;
}

static bool thread_start( member* self )
{
    self->thread = CreateThread( NULL, 0, enter_thread, self, 0, NULL );
    return self->thread != NULL;
}

static void thread_join( member* self )
{
    WaitForSingleObject( self->thread, INFINITE );
    CloseHandle( self->thread );
}

static void let_others_run( void )
{
    SwitchToThread();
}

#else

#ifndef __linux__

static void lock_init( task_pool* pool )
{
    pthread_mutex_init( &pool->lock, NULL );
    pthread_cond_init( &pool->job_there, NULL );
}

static void lock_done( task_pool* pool )
{
    pthread_cond_destroy( &pool->job_there );
    pthread_mutex_destroy( &pool->lock );
}

static void lock_take( task_pool* pool )
{
    pthread_mutex_lock( &pool->lock );
}

static void lock_give( task_pool* pool )
{
    pthread_mutex_unlock( &pool->lock );
}

static void wait_for_job( task_pool* pool )
{
    pthread_cond_wait( &pool->job_there, &pool->lock );
}

static void wake_all( task_pool* pool )
{
    pthread_cond_broadcast( &pool->job_there );
}

#endif

static void* enter_thread( void* argument )
{
    work_as_member( argument );
    return NULL;
}

static bool thread_start( member* self )
{
    return pthread_create( &self->thread, NULL, enter_thread, self ) == 0;
}

static void thread_join( member* self )
{
    pthread_join( self->thread, NULL );
}

static void let_others_run( void )
{
    sched_yield();
}

#endif

// ---- sleeping

#ifdef __linux__

static void sleeping_init( task_pool* pool )
{
    (void)pool;
}

static void sleeping_done( task_pool* pool )
{
    (void)pool;
}

static void wake( task_pool* pool )
{
    syscall( SYS_futex, &pool->job_number, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0 );
}

// Either the sleeper is counted when a job comes, or it finds the job's number when it lies down.
static uint32_t sleep_until_job( task_pool* pool, uint32_t last )
{
    uint32_t number = last;
    atomic_fetch_add( &pool->sleeper_count, 1 );
    while ( number == last )
    {
        syscall( SYS_futex, &pool->job_number, FUTEX_WAIT_PRIVATE, last, NULL, NULL, 0 );
        number = atomic_load( &pool->job_number );
    }
    atomic_fetch_sub( &pool->sleeper_count, 1 );
    return number;
}

// Hand a new job, or the wish to stop, to all workers, or to those that are awake.
static void publish( task_pool* pool, bool wakes )
{
    atomic_fetch_add( &pool->job_number, 1 );
    if ( wakes && atomic_load( &pool->sleeper_count ) > 0 )
    {
        wake( pool );
    }
}

#else

static void sleeping_init( task_pool* pool )
{
    lock_init( pool );
}

static void sleeping_done( task_pool* pool )
{
    lock_done( pool );
}

static uint32_t sleep_until_job( task_pool* pool, uint32_t last )
{
    lock_take( pool );
    while ( atomic_load_explicit( &pool->job_number, memory_order_acquire ) == last )
    {
        wait_for_job( pool );
    }
    uint32_t number = atomic_load_explicit( &pool->job_number, memory_order_acquire );
    lock_give( pool );
    return number;
}

// Hand a new job, or the wish to stop, to all workers, or to those that are awake.
static void publish( task_pool* pool, bool wakes )
{
    lock_take( pool );
    atomic_fetch_add_explicit( &pool->job_number, 1, memory_order_release );
    if ( wakes )
    {
        wake_all( pool );
    }
    lock_give( pool );
}

#endif

static void spin_pause( void )
{
#if defined( __SSE2__ ) && !defined( __wasm__ )
    _mm_pause();
#else
    atomic_signal_fence( memory_order_seq_cst );
#endif
}

// ---- the crew

// Pieces of one share, as long as there are any.
static void take_share( task_pool* pool, member* share, uint32_t worker )
{
    // Read before it is counted up, so that an empty share is not written to.
    uint64_t ticket = atomic_load_explicit( &share->ticket, memory_order_relaxed );
    while ( (uint32_t)ticket < (uint32_t)( ticket >> END_SHIFT ) )
    {
        ticket = atomic_fetch_add_explicit( &share->ticket, 1, memory_order_acquire );
        uint32_t index = (uint32_t)ticket;
        if ( index < (uint32_t)( ticket >> END_SHIFT ) )
        {
            pool->piece( index, worker, pool->context );
            atomic_fetch_add_explicit( &pool->done_count, 1, memory_order_release );
        }
    }
}

static void take_pieces( task_pool* pool, uint32_t worker )
{
    for ( uint32_t i = 0; i < pool->worker_count; ++i )
    {
        uint32_t other = worker + i < pool->worker_count ? worker + i : worker + i - pool->worker_count;
        take_share( pool, &pool->members[other], worker );
    }
}

// The number of the job that is there; `last` if there was no other in all that time.
static uint32_t spin_for_job( const task_pool* pool, uint32_t last, int spins )
{
    uint32_t number = atomic_load_explicit( &pool->job_number, memory_order_acquire );
    for ( int spin = 0; spin < spins && number == last; ++spin )
    {
        spin_pause();
        number = atomic_load_explicit( &pool->job_number, memory_order_acquire );
    }
    return number;
}

// Returns when a job with another number than `last` is there; its number.
static uint32_t await_job( task_pool* pool, uint32_t last )
{
    uint32_t number = spin_for_job( pool, last, SPINS );
    if ( number == last && pool->spin_ns > 0 )
    {
        uint64_t begin_ns = clv_base_clock_ns();
        do
        {
            let_others_run(); // a thread that has work must not wait for one that looks for some
            number = spin_for_job( pool, last, LOOK_SPINS );
        } while ( number == last && clv_base_clock_ns() - begin_ns < pool->spin_ns );
    }
    return number != last ? number : sleep_until_job( pool, last );
}

static void work_as_member( member* self )
{
    task_pool* pool = self->pool;
    base_fp_enter(); // the thread is ours: its modes stay at the defaults
    uint32_t job = 0;
    for ( ;; )
    {
        job = await_job( pool, job );
        if ( atomic_load_explicit( &pool->is_stopping, memory_order_acquire ) )
        {
            return;
        }
        take_pieces( pool, self->worker );
    }
}

void clv_task_pool_run( task_pool* pool, clv_task* piece, uint32_t count, void* context, bool wakes )
{
    CLV_ASSERT( count < UINT32_MAX / 2 ); // members that find nothing left count on
    uint32_t workers = pool->worker_count;
    pool->piece = piece;
    pool->context = context;
    atomic_store_explicit( &pool->done_count, 0, memory_order_relaxed );
    for ( uint32_t i = 0; i < workers; ++i )
    {
        uint64_t first = (uint64_t)count * i / workers, end = (uint64_t)count * ( i + 1 ) / workers;
        atomic_store_explicit( &pool->members[i].ticket, end << END_SHIFT | first, memory_order_release );
    }
    publish( pool, wakes );
    take_pieces( pool, 0 );
    int spin = 0;
    while ( atomic_load_explicit( &pool->done_count, memory_order_acquire ) < count )
    {
        if ( spin < SPINS )
        {
            spin += 1;
            spin_pause();
        }
        else
        {
            let_others_run();
        }
    }
}

static size_t pool_bytes( uint32_t worker_count )
{
    return sizeof( task_pool ) + worker_count * sizeof( member );
}

void clv_task_pool_destroy( task_pool* pool, base_memory* memory )
{
    atomic_store_explicit( &pool->is_stopping, true, memory_order_release );
    publish( pool, true );
    for ( uint32_t i = 0; i < pool->started_count; ++i )
    {
        thread_join( &pool->members[i + 1] );
    }
    sleeping_done( pool );
    clv_base_memory_give( memory, pool, 1, pool_bytes( pool->worker_count ) );
}

task_pool* clv_task_pool_create( uint32_t worker_count, double spin_ms, base_memory* memory )
{
    task_pool* pool = clv_base_memory_take( memory, 1, pool_bytes( worker_count ) );
    if ( pool == NULL )
    {
        return NULL;
    }
    memset( pool, 0, pool_bytes( worker_count ) );
    pool->worker_count = worker_count;
    pool->spin_ns = (uint64_t)( spin_ms * 1e6 );
    sleeping_init( pool );
    for ( uint32_t i = 1; i < worker_count; ++i )
    {
        member* self = &pool->members[i];
        self->pool = pool;
        self->worker = i;
        if ( !thread_start( self ) )
        {
            clv_task_pool_destroy( pool, memory );
            return NULL;
        }
        pool->started_count += 1;
    }
    return pool;
}
