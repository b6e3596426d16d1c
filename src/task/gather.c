// SPDX-License-Identifier: MIT
#include "task/gather.h"

#include "base/assertion.h"

#include <stdatomic.h>

enum
{
    CHUNK = 512, // pairs: a page
};

#define NO_CHUNK UINT32_MAX

// One round over the pieces that are not done yet.
typedef struct round
{
    task_gather* gather;
    task_search* search;
    void* context;
    atomic_uint next_free;
    uint32_t chunk_end;
} round;

// A piece's sink: takes a new chunk when the last one is full, or loses pairs but counts them.
typedef struct piece_sink
{
    pair_sink sink;
    round* job;
    task_gather_piece* piece;
    uint32_t chunk;
    uint32_t worker;
} piece_sink;

static void close_chunk( piece_sink* out )
{
    if ( out->chunk != NO_CHUNK )
    {
        out->job->gather->chunk_counts[out->chunk] = (uint32_t)out->sink.count;
    }
}

static void link_chunk( piece_sink* out, uint32_t chunk )
{
    task_gather* gather = out->job->gather;
    gather->next_chunks[chunk] = NO_CHUNK;
    if ( out->chunk == NO_CHUNK )
    {
        out->piece->first_chunk = chunk;
    }
    else
    {
        gather->next_chunks[out->chunk] = chunk;
    }
    out->piece->last_chunk = chunk;
    out->chunk = chunk;
}

static clv_result take_chunk( pair_sink* sink )
{
    piece_sink* out = (piece_sink*)sink;
    round* job = out->job;
    close_chunk( out );
    out->piece->needed_chunks += 1;
    uint32_t chunk = NO_CHUNK;
    if ( out->piece->is_done )
    {
        // Only looked at once there are no more, or the counter could wrap.
        if ( atomic_load_explicit( &job->next_free, memory_order_relaxed ) < job->chunk_end )
        {
            chunk = atomic_fetch_add_explicit( &job->next_free, 1, memory_order_relaxed );
        }
        out->piece->is_done = chunk < job->chunk_end;
    }
    if ( out->piece->is_done )
    {
        link_chunk( out, chunk );
    }
    else
    {
        out->chunk = NO_CHUNK;
    }
    uint64_t place = out->piece->is_done ? chunk : out->worker;
    sink->pairs = job->gather->pairs + place * CHUNK;
    sink->count = 0;
    sink->capacity = CHUNK;
    return CLV_OK;
}

static void run_piece( uint32_t index, uint32_t worker, void* context )
{
    round* job = context;
    task_gather_piece* piece = &job->gather->pieces[index];
    if ( piece->is_done )
    {
        return;
    }
    *piece = ( task_gather_piece ){ NO_CHUNK, NO_CHUNK, 0, true, 0 };
    piece_sink out = { { NULL, 0, 0, take_chunk }, job, piece, NO_CHUNK, worker };
    uint64_t test_count = 0; // neighbours in the array are written by other workers
    clv_result result = job->search( index, worker, &out.sink, &test_count, job->context );
    CLV_ASSERT( result == CLV_OK );
    (void)result;
    close_chunk( &out );
    piece->test_count = test_count;
}

static bool reserve_chunks( task_gather* gather, base_memory* memory, uint64_t count, uint64_t kept )
{
    void* pairs = gather->pairs;
    void* counts = gather->chunk_counts;
    void* next = gather->next_chunks;
    bool ok = count < NO_CHUNK &&
        base_memory_reserve(
            memory, &counts, &gather->counts_capacity, kept, count, sizeof( *gather->chunk_counts ) ) &&
        base_memory_reserve(
            memory, &next, &gather->next_capacity, kept, count, sizeof( *gather->next_chunks ) ) &&
        base_memory_reserve(
            memory, &pairs, &gather->chunk_capacity, kept, count, CHUNK * sizeof( clv_pair ) );
    gather->pairs = pairs;
    gather->chunk_counts = counts;
    gather->next_chunks = next;
    return ok;
}

static bool reserve_pieces( task_gather* gather, base_memory* memory, uint32_t count )
{
    void* pieces = gather->pieces;
    bool ok = base_memory_reserve(
        memory, &pieces, &gather->piece_capacity, 0, count, sizeof( task_gather_piece ) );
    gather->pieces = pieces;
    return ok;
}

// Chunks that the unfinished pieces would have needed.
static uint64_t missing_chunks( const task_gather* gather, uint32_t piece_count )
{
    uint64_t missing = 0;
    for ( uint32_t i = 0; i < piece_count; ++i )
    {
        missing += gather->pieces[i].is_done ? 0 : gather->pieces[i].needed_chunks;
    }
    return missing;
}

static clv_result run_pieces( round* job, base_memory* memory, task_runner* tasks, uint32_t piece_count )
{
    task_gather* gather = job->gather;
    uint32_t lost_chunks = task_worker_count( tasks );
    uint64_t used = lost_chunks;
    uint64_t kept = 0; // chunks that hold pairs of this round's finished pieces
    uint64_t missing = 1;
    while ( missing > 0 )
    {
        if ( !reserve_chunks( gather, memory, used + missing, kept ) )
        {
            return CLV_OUT_OF_MEMORY;
        }
        uint64_t capacity = gather->chunk_capacity;
        job->chunk_end = capacity < NO_CHUNK / 2 ? (uint32_t)capacity : NO_CHUNK / 2;
        atomic_init( &job->next_free, (uint32_t)used );
        task_run( tasks, run_piece, piece_count, job );
        uint32_t next_free = atomic_load_explicit( &job->next_free, memory_order_relaxed );
        used = next_free < job->chunk_end ? next_free : job->chunk_end;
        kept = used;
        missing = missing_chunks( gather, piece_count );
    }
    return CLV_OK;
}

static clv_result join(
    const task_gather* gather, uint32_t piece_count, pair_sink* sink, uint64_t* test_count )
{
    clv_result result = CLV_OK;
    for ( uint32_t i = 0; i < piece_count && result == CLV_OK; ++i )
    {
        uint32_t chunk = gather->pieces[i].first_chunk;
        for ( ; chunk != NO_CHUNK && result == CLV_OK; chunk = gather->next_chunks[chunk] )
        {
            result = pair_sink_put_all(
                sink, gather->pairs + (uint64_t)chunk * CHUNK, gather->chunk_counts[chunk] );
        }
        *test_count += gather->pieces[i].test_count;
    }
    return result;
}

clv_result task_gather_run( task_gather* gather, base_memory* memory, task_runner* tasks,
    uint32_t piece_count, task_search* search, void* context, pair_sink* sink, uint64_t* test_count )
{
    clv_result result = CLV_OK;
    if ( task_worker_count( tasks ) == 1 )
    {
        for ( uint32_t i = 0; i < piece_count && result == CLV_OK; ++i )
        {
            result = search( i, 0, sink, test_count, context );
        }
        return result;
    }
    if ( !reserve_pieces( gather, memory, piece_count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    for ( uint32_t i = 0; i < piece_count; ++i )
    {
        gather->pieces[i].is_done = false;
    }
    round job = { .gather = gather, .search = search, .context = context };
    result = run_pieces( &job, memory, tasks, piece_count );
    return result == CLV_OK ? join( gather, piece_count, sink, test_count ) : result;
}

void task_gather_release( task_gather* gather, base_memory* memory )
{
    base_memory_give( memory, gather->pairs, gather->chunk_capacity, CHUNK * sizeof( clv_pair ) );
    base_memory_give(
        memory, gather->chunk_counts, gather->counts_capacity, sizeof( *gather->chunk_counts ) );
    base_memory_give( memory, gather->next_chunks, gather->next_capacity, sizeof( *gather->next_chunks ) );
    base_memory_give( memory, gather->pieces, gather->piece_capacity, sizeof( task_gather_piece ) );
    *gather = ( task_gather ){ 0 };
}
