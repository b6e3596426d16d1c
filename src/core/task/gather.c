// SPDX-License-Identifier: MIT
#include "task/gather.h"

#include "base/assertion.h"
#include "pair/counting_sink.h"

#include <stdatomic.h>
#include <string.h>

enum
{
    CHUNK = sizeof( task_chunk ) / sizeof( clv_pair ),
    LEAST_CHUNKS = 32,
    SPARE_CHUNKS = 512,   // 2 MiB, beyond what the sink itself has room for
    JOIN_ALONE = 1 << 14, // pairs up to which one worker joins them
};

#define NO_CHUNK UINT32_MAX

// One run over all pieces.
typedef struct gathering
{
    task_gather* gather;
    task_search* search;
    void* context;
    uint32_t first, end;   ///< pieces of this round
    const uint32_t* turns; ///< NULL: in order of number
    atomic_uint next_free;
    uint32_t chunk_end;
} gathering;

// A piece's sink: takes a new chunk when the last one is full.
typedef struct piece_sink
{
    clv_pair_sink sink;
    gathering* job;
    task_gather_piece* piece;
    uint32_t chunk;
} piece_sink;

static void close_chunk( piece_sink* out )
{
    if ( out->chunk != NO_CHUNK )
    {
        CLV_ASSERT( out->sink.count <= CHUNK );
        out->job->gather->chunk_counts.items[out->chunk] = (uint32_t)out->sink.count;
        out->piece->pair_count += out->sink.count;
    }
}

static void link_chunk( piece_sink* out, uint32_t chunk )
{
    task_gather* gather = out->job->gather;
    CLV_ASSERT( chunk < out->job->chunk_end && chunk != out->chunk );
    gather->next_chunks.items[chunk] = NO_CHUNK;
    if ( out->chunk == NO_CHUNK )
    {
        out->piece->first_chunk = chunk;
    }
    else
    {
        gather->next_chunks.items[out->chunk] = chunk;
    }
    out->chunk = chunk;
}

static clv_result take_chunk( clv_pair_sink* sink )
{
    piece_sink* out = (piece_sink*)sink;
    gathering* job = out->job;
    close_chunk( out );
    // Looked at before it is counted up, or it could wrap.
    uint32_t chunk = atomic_load_explicit( &job->next_free, memory_order_relaxed );
    if ( chunk < job->chunk_end )
    {
        chunk = atomic_fetch_add_explicit( &job->next_free, 1, memory_order_relaxed );
    }
    if ( chunk >= job->chunk_end )
    {
        return CLV_OUT_OF_MEMORY;
    }
    link_chunk( out, chunk );
    out->piece->chunk_count += 1;
    sink->pairs = job->gather->chunks.items[chunk].pairs;
    sink->count = 0;
    sink->capacity = CHUNK;
    return CLV_OK;
}

static void run_piece( uint32_t index, uint32_t worker, void* context )
{
    gathering* job = context;
    index = job->turns != NULL ? job->turns[index] : index + job->first;
    CLV_ASSERT( index < job->gather->pieces.capacity );
    // Neighbours in the array are written by other workers.
    task_gather_piece done = { .first_chunk = NO_CHUNK };
    piece_sink out = { { .make_room = take_chunk }, job, &done, NO_CHUNK };
    done.is_done = job->search( index, worker, &out.sink, &done.test_count, job->context ) == CLV_OK;
    close_chunk( &out );
    job->gather->pieces.items[index] = done;
}

static bool reserve_chunks( task_gather* gather, base_memory* memory, uint64_t count )
{
    return count < NO_CHUNK / 2 && base_array_reserve( &gather->chunk_counts, memory, count ) &&
        base_array_reserve( &gather->next_chunks, memory, count ) &&
        base_array_renew( &gather->chunks, memory, count );
}

static clv_result copy_piece( const task_gather* gather, const task_gather_piece* piece, clv_pair_sink* sink )
{
    CLV_ASSERT( piece->is_done );
    clv_result result = CLV_OK;
    for ( uint32_t chunk = piece->first_chunk; chunk != NO_CHUNK && result == CLV_OK;
          chunk = gather->next_chunks.items[chunk] )
    {
        result = clv_pair_sink_put_all(
            sink, gather->chunks.items[chunk].pairs, gather->chunk_counts.items[chunk] );
    }
    return result;
}

// A piece for which there were no chunks, again and straight into the caller's sink; the chunks it would have
// needed.
static clv_result run_here( gathering* job, uint32_t index, clv_pair_sink* sink, uint64_t* chunk_count )
{
    pair_counting_sink counting = pair_counting_open( sink );
    task_gather_piece* piece = &job->gather->pieces.items[index];
    piece->test_count = 0;
    clv_result result = job->search( index, 0, &counting.sink, &piece->test_count, job->context );
    piece->pair_count = pair_counting_close( &counting );
    *chunk_count = piece->pair_count / ( CHUNK - CLV_PAIR_SINK_ROOM ) + 1;
    return result;
}

static clv_result join( gathering* job, clv_pair_sink* sink, uint64_t* test_count, uint64_t* chunk_count )
{
    task_gather* gather = job->gather;
    clv_result result = CLV_OK;
    for ( uint32_t i = job->first; i < job->end && result == CLV_OK; ++i )
    {
        uint64_t needed = gather->pieces.items[i].chunk_count;
        result = gather->pieces.items[i].is_done ? copy_piece( gather, &gather->pieces.items[i], sink )
                                                 : run_here( job, i, sink, &needed );
        *chunk_count += needed;
        *test_count += gather->pieces.items[i].test_count;
    }
    return result;
}

typedef struct join_job
{
    const task_gather* gather;
    uint32_t first; ///< piece
    clv_pair* pairs;
} join_job;

// One piece's pairs to their places.
static void join_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    const join_job* job = context;
    const task_gather* gather = job->gather;
    index += job->first;
    clv_pair* out = job->pairs + gather->pieces.items[index].first_pair;
    for ( uint32_t chunk = gather->pieces.items[index].first_chunk; chunk != NO_CHUNK;
          chunk = gather->next_chunks.items[chunk] )
    {
        uint32_t count = gather->chunk_counts.items[chunk];
        memcpy( out, gather->chunks.items[chunk].pairs, count * sizeof( clv_pair ) );
        out += count;
    }
    CLV_ASSERT(
        out == job->pairs + gather->pieces.items[index].first_pair + gather->pieces.items[index].pair_count );
}

// True if so many more pairs fit. A visitor's sink does not grow, and neither does a list beyond its limit.
static bool make_room_for( clv_pair_sink* sink, uint64_t pairs )
{
    uint64_t before = 0;
    bool ok = true;
    sink->expected = pairs;
    while ( ok && sink->capacity - sink->count < pairs && sink->capacity > before )
    {
        before = sink->capacity;
        ok = sink->make_room( sink ) == CLV_OK;
    }
    return ok && sink->capacity - sink->count >= pairs;
}

// All pieces at once, where they are complete, many, and the sink has room for them all. False if not.
static bool join_together( const gathering* round, task_runner* tasks, clv_pair_sink* sink,
    uint64_t* test_count, uint64_t* chunk_count )
{
    task_gather* gather = round->gather;
    uint64_t pairs = 0, tests = 0, chunks = 0;
    for ( uint32_t i = round->first; i < round->end; ++i )
    {
        task_gather_piece* piece = &gather->pieces.items[i];
        if ( !piece->is_done )
        {
            return false;
        }
        piece->first_pair = pairs;
        pairs += piece->pair_count;
        tests += piece->test_count;
        chunks += piece->chunk_count;
    }
    if ( pairs <= JOIN_ALONE || !make_room_for( sink, pairs ) )
    {
        return false;
    }
    CLV_ASSERT( sink->count + pairs <= sink->capacity );
    join_job job = { gather, round->first, sink->pairs + sink->count };
    clv_task_run( tasks, join_piece, round->end - round->first, &job );
    sink->count += pairs;
    *test_count += tests;
    *chunk_count += chunks;
    return true;
}

// Chunks for a round: all that the last run could have used, if these are not many more than the sink has
// room for. A list has as much from the frame before; a visitor has no list, and chunks must not become one.
static uint64_t most_chunks( const task_gather* gather, uint32_t piece_count, const clv_pair_sink* sink )
{
    uint64_t least = LEAST_CHUNKS + (uint64_t)piece_count;
    uint64_t most = sink->capacity / ( CHUNK - CLV_PAIR_SINK_ROOM ) + SPARE_CHUNKS + least;
    uint64_t wanted = gather->wanted_chunks > least ? gather->wanted_chunks : least;
    return wanted < most ? wanted : most;
}

// Pieces that are run before their pairs are put into the sink and the chunks are free again: all of them, or
// as many as are likely to find chunks.
static uint32_t round_length(
    const task_gather* gather, uint32_t piece_count, uint64_t chunks, uint32_t workers )
{
    if ( gather->wanted_chunks <= chunks )
    {
        return piece_count;
    }
    uint64_t length = (uint64_t)piece_count * chunks / gather->wanted_chunks;
    return length > workers ? (uint32_t)length : workers;
}

static void run_round( gathering* job, task_runner* tasks, uint32_t piece_count )
{
    CLV_ASSERT( job->first < job->end && job->end <= piece_count );
    atomic_store_explicit( &job->next_free, 0, memory_order_relaxed );
    job->turns = job->end - job->first == piece_count ? job->gather->turns : NULL;
    clv_task_run( tasks, run_piece, job->end - job->first, job );
}

static clv_result join_round(
    gathering* job, task_runner* tasks, clv_pair_sink* sink, uint64_t* test_count, uint64_t* chunk_count )
{
    return join_together( job, tasks, sink, test_count, chunk_count )
        ? CLV_OK
        : join( job, sink, test_count, chunk_count );
}

// Memory for pieces and as many chunks as may be, and how many pieces are run at once. False if out of memory
// for the pieces; fewer chunks than wanted cost time and nothing else.
static bool open_gathering( gathering* job, base_memory* memory, task_runner* tasks, uint32_t piece_count,
    const clv_pair_sink* sink, uint32_t* length )
{
    task_gather* gather = job->gather;
    if ( !base_array_reserve( &gather->pieces, memory, piece_count ) )
    {
        return false;
    }
    uint64_t chunks = most_chunks( gather, piece_count, sink );
    reserve_chunks( gather, memory, chunks );
    uint64_t capacity = gather->chunks.capacity;
    capacity = gather->chunk_counts.capacity < capacity ? gather->chunk_counts.capacity : capacity;
    capacity = gather->next_chunks.capacity < capacity ? gather->next_chunks.capacity : capacity;
    job->chunk_end = capacity < NO_CHUNK / 2 ? (uint32_t)capacity : NO_CHUNK / 2;
    atomic_init( &job->next_free, 0 );
    *length = round_length( gather, piece_count, chunks, task_worker_count( tasks ) );
    return true;
}

clv_result clv_task_gather_run( task_gather* gather, base_memory* memory, task_runner* tasks,
    uint32_t piece_count, task_search* search, void* context, clv_pair_sink* sink, uint64_t* test_count )
{
    clv_result result = CLV_OK;
    if ( task_worker_count( tasks ) == 1 || piece_count <= 1 )
    {
        for ( uint32_t i = 0; i < piece_count && result == CLV_OK; ++i )
        {
            sink->expected = i > 0 ? sink->count / i * ( piece_count - i ) : 0;
            result = search( i, 0, sink, test_count, context );
        }
        return result;
    }
    gathering job = { .gather = gather, .search = search, .context = context };
    uint32_t length = 0;
    if ( !open_gathering( &job, memory, tasks, piece_count, sink, &length ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    uint64_t chunk_count = 0;
    while ( job.end < piece_count && result == CLV_OK )
    {
        job.first = job.end;
        job.end = length < piece_count - job.first ? job.first + length : piece_count;
        run_round( &job, tasks, piece_count );
        result = join_round( &job, tasks, sink, test_count, &chunk_count );
    }
    gather->wanted_chunks = result == CLV_OK ? chunk_count : gather->wanted_chunks;
    return result;
}

bool clv_task_gather_try( task_gather* gather, base_memory* memory, task_runner* tasks, uint32_t piece_count,
    task_search* search, bool ( *is_good )( void* context ), void* context, clv_pair_sink* sink,
    uint64_t* test_count, clv_result* result )
{
    gathering job = { .gather = gather, .search = search, .context = context, .end = piece_count };
    uint32_t length = 0;
    if ( !open_gathering( &job, memory, tasks, piece_count, sink, &length ) || length < piece_count )
    {
        return false;
    }
    run_round( &job, tasks, piece_count );
    if ( !is_good( context ) )
    {
        return false;
    }
    uint64_t chunk_count = 0;
    *result = join_round( &job, tasks, sink, test_count, &chunk_count );
    gather->wanted_chunks = *result == CLV_OK ? chunk_count : gather->wanted_chunks;
    return true;
}

void clv_task_gather_release( task_gather* gather, base_memory* memory )
{
    base_array_free( &gather->chunks, memory );
    base_array_free( &gather->chunk_counts, memory );
    base_array_free( &gather->next_chunks, memory );
    base_array_free( &gather->pieces, memory );
    *gather = ( task_gather ){ 0 };
}
