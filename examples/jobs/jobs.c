// SPDX-License-Identifier: MIT
// Cleave on the caller's own threads and memory: a job system behind def.tasks, a counting allocator behind
// def.allocator. Shows that the list is the same as on one thread, and that a frame like those before
// allocates nothing.
#include <cleave/cleave.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum
{
    WORKER_COUNT = 4, // the caller and three threads
    BOX_COUNT = 40000,
    PERIOD = 8, // frames after which every box is where it was
    WARM_UP = 4 * PERIOD,
    FRAME_COUNT = 12 * PERIOD
};

// ---- a job system: one job at a time, its pieces taken by threads that are free

typedef struct job_system
{
    pthread_mutex_t mutex;
    pthread_cond_t wake, done;
    pthread_t threads[WORKER_COUNT];
    uint64_t job_number; // changes with every job, so that no thread takes part in one twice
    uint32_t busy_count; // threads in the job
    bool ends;
    clv_task* task;
    void* context;
    uint32_t piece_count;
    atomic_uint next_piece;
    uint64_t job_count; // how often Cleave called
} job_system;

typedef struct worker
{
    job_system* jobs;
    uint32_t number; // 1 .. WORKER_COUNT - 1; the caller is 0
} worker;

static worker s_workers[WORKER_COUNT];

static void take_pieces( job_system* jobs, uint32_t number )
{
    for ( uint32_t i = atomic_fetch_add( &jobs->next_piece, 1 ); i < jobs->piece_count;
          i = atomic_fetch_add( &jobs->next_piece, 1 ) )
    {
        jobs->task( i, number, jobs->context );
    }
}

static void* worker_main( void* user )
{
    worker* self = user;
    job_system* jobs = self->jobs;
    uint64_t seen = 0;
    pthread_mutex_lock( &jobs->mutex );
    while ( !jobs->ends )
    {
        if ( seen == jobs->job_number )
        {
            pthread_cond_wait( &jobs->wake, &jobs->mutex );
            continue;
        }
        seen = jobs->job_number;
        jobs->busy_count += 1;
        pthread_mutex_unlock( &jobs->mutex );
        take_pieces( jobs, self->number );
        pthread_mutex_lock( &jobs->mutex );
        jobs->busy_count -= 1;
        pthread_cond_signal( &jobs->done );
    }
    pthread_mutex_unlock( &jobs->mutex );
    return NULL;
}

// The hook: every piece once, on any thread; back when all are done. Two pieces at once never have the same
// number.
static void run_job( clv_task* task, uint32_t count, void* context, void* user )
{
    job_system* jobs = user;
    pthread_mutex_lock( &jobs->mutex );
    while (
        jobs->busy_count > 0 ) // a thread that woke late for the last job has found it empty, and is leaving
    {
        pthread_cond_wait( &jobs->done, &jobs->mutex );
    }
    jobs->task = task;
    jobs->context = context;
    jobs->piece_count = count;
    atomic_store( &jobs->next_piece, 0 );
    jobs->job_number += 1;
    jobs->job_count += 1;
    pthread_cond_broadcast( &jobs->wake );
    pthread_mutex_unlock( &jobs->mutex );
    take_pieces( jobs, 0 );
    pthread_mutex_lock( &jobs->mutex );
    while ( jobs->busy_count > 0 )
    {
        pthread_cond_wait( &jobs->done, &jobs->mutex );
    }
    jobs->piece_count = 0;
    pthread_mutex_unlock( &jobs->mutex );
}

static void start_jobs( job_system* jobs )
{
    pthread_mutex_init( &jobs->mutex, NULL );
    pthread_cond_init( &jobs->wake, NULL );
    pthread_cond_init( &jobs->done, NULL );
    for ( uint32_t i = 1; i < WORKER_COUNT; ++i )
    {
        s_workers[i].jobs = jobs;
        s_workers[i].number = i;
        if ( pthread_create( &jobs->threads[i], NULL, worker_main, &s_workers[i] ) != 0 )
        {
            fprintf( stderr, "no thread\n" );
            exit( 1 );
        }
    }
}

static void end_jobs( job_system* jobs )
{
    pthread_mutex_lock( &jobs->mutex );
    jobs->ends = true;
    pthread_cond_broadcast( &jobs->wake );
    pthread_mutex_unlock( &jobs->mutex );
    for ( uint32_t i = 1; i < WORKER_COUNT; ++i )
    {
        pthread_join( jobs->threads[i], NULL );
    }
}

// ---- an allocator that counts; called on the thread that calls the space, so plain numbers do

typedef struct heap
{
    uint64_t allocations;
    size_t bytes;
} heap;

static void* take_memory( size_t size, size_t alignment, void* user )
{
    heap* h = user;
    h->allocations += 1;
    h->bytes += size;
    return aligned_alloc( alignment, ( size + alignment - 1 ) / alignment * alignment );
}

static void give_memory( void* memory, size_t size, size_t alignment, void* user )
{
    (void)alignment;
    heap* h = user;
    h->bytes -= size;
    free( memory );
}

// ---- boxes that swing to and fro

static clv_aabb s_boxes[BOX_COUNT];
static clv_id s_ids[BOX_COUNT];

static void place_boxes( int frame )
{
    uint64_t random = 1;
    for ( int i = 0; i < BOX_COUNT; ++i )
    {
        float* lower = &s_boxes[i].lower.x;
        float* upper = &s_boxes[i].upper.x;
        int phase = ( frame + i ) % PERIOD;
        float swing = (float)( phase < PERIOD / 2 ? phase : PERIOD - phase ) / 4;
        for ( int axis = 0; axis < 3; ++axis )
        {
            random = random * 6364136223846793005u + 1442695040888963407u;
            lower[axis] = (float)( ( random >> 33 ) % ( 60 * 64 ) ) / 64 + swing;
            upper[axis] = lower[axis] + 1;
        }
    }
}

// Of the list in its order.
static uint64_t list_hash( clv_pair_view view )
{
    uint64_t hash = 0;
    for ( uint64_t i = 0; i < view.count; ++i )
    {
        hash = ( hash ^ ( (uint64_t)view.pairs[i].a << 32 | view.pairs[i].b ) ) * 0x9E3779B97F4A7C15u;
    }
    return hash;
}

// Frames on one def; the allocations after the warm-up in *late.
static uint64_t run_frames( const clv_space_def* def, const heap* memory, uint64_t* late )
{
    clv_space* space;
    place_boxes( 0 );
    if ( clv_space_create( def, &space ) != CLV_OK ||
        clv_space_add( space, s_boxes, BOX_COUNT, s_ids ) != CLV_OK )
    {
        exit( 1 );
    }
    uint64_t hash = 0;
    for ( int frame = 0; frame < FRAME_COUNT; ++frame )
    {
        uint64_t before = memory->allocations;
        place_boxes( frame );
        if ( clv_space_move( space, s_ids, s_boxes, BOX_COUNT ) != CLV_OK ||
            clv_space_update( space ) != CLV_OK )
        {
            exit( 1 );
        }
        hash = hash * 31 + list_hash( clv_space_pairs( space ) );
        *late += frame < WARM_UP ? 0 : memory->allocations - before;
    }
    clv_space_destroy( space );
    return hash;
}

int main( void )
{
    static job_system jobs;
    heap memory = { 0, 0 };
    start_jobs( &jobs );

    clv_space_def def = clv_default_space_def();
    def.worker_count = WORKER_COUNT;
    def.tasks.run = run_job;
    def.tasks.user = &jobs;
    def.allocator.allocate = take_memory;
    def.allocator.release = give_memory;
    def.allocator.user = &memory;
    uint64_t late = 0;
    uint64_t shared = run_frames( &def, &memory, &late );
    end_jobs( &jobs );
    printf( "%d boxes, %d workers, %d frames\n", BOX_COUNT, WORKER_COUNT, FRAME_COUNT );
    printf( "the job system was %s\n", jobs.job_count > 0 ? "used" : "not used" );
    printf( "allocations after the first %d frames: %llu\n", WARM_UP, (unsigned long long)late );
    printf( "bytes not given back: %zu\n", memory.bytes );

    clv_space_def alone = clv_default_space_def();
    uint64_t ignored = 0;
    printf( "the list on one thread: %s\n",
        run_frames( &alone, &memory, &ignored ) == shared ? "the same" : "another" );
    return 0;
}
