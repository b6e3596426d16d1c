// SPDX-License-Identifier: MIT
#include "task/gather.h"

#include "base/assertion.h"
#include "pair/counting_sink.h"

#include <stdatomic.h>
#include <string.h>

enum
{
    CHUNK = sizeof( ( (task_chunk*)0 )->pairs ) / sizeof( clv_pair ),
    LEAST_CHUNKS = 32,
    SPARE_CHUNKS = 512,   // 2 MiB, beyond what the sink itself has room for
    JOIN_ALONE = 1 << 11, // pairs up to which one worker joins them
};

#define NO_CHUNK UINT32_MAX
#define NO_PIECE UINT32_MAX
#define UNKNOWN UINT64_MAX

// What workers tell each other of a piece that is joined early: how many pairs it has, and where in the list
// they go. Both are UNKNOWN at first. A place becomes known with the place and the size of the piece before:
// whoever stores the later of the two finds the other there.
typedef struct gather_mark
{
    _Atomic uint64_t size, place;
} gather_mark;

// What one worker has of its own: pieces that are not joined yet, in order, and chunks of those that are. On
// a cache line.
typedef struct gather_worker
{
    _Alignas( 64 ) uint32_t first_piece;
    uint32_t last_piece, free_chunk;
} gather_worker;

typedef struct gathering gathering;

// What is done for pieces that are joined early: a table, so that a program without them is linked without.
typedef struct gather_early
{
    void ( *open )( gathering* job );
    void ( *add )( const gathering* job, uint32_t worker, uint32_t index );
    void ( *close )( gathering* job );
} gather_early;

// One run over all pieces.
struct gathering
{
    task_gather* gather;
    base_memory* memory;
    task_runner* tasks;
    task_search* search;
    void* context;
    clv_pair_sink* sink;
    uint64_t* test_count;
    gather_worker* workers; ///< where pieces are joined early
    uint32_t piece_count;
    uint32_t first, end;       ///< pieces of this round
    bool is_again;             ///< for those of them that found no chunk
    const uint32_t* turns;     ///< NULL: in order of number
    const gather_early* early; ///< NULL: pieces are joined when all are found
    uint64_t room;             ///< pairs that the list has room for, where they are joined before
    atomic_uint next_piece, next_free;
    uint32_t chunk_end;
    uint64_t chunk_count; ///< that the rounds before could have used
};

// A piece's sink: takes a new chunk when the last one is full.
typedef struct piece_sink
{
    clv_pair_sink sink;
    gathering* job;
    uint32_t* free_chunk; ///< NO_CHUNK: none
    task_gather_piece* piece;
    uint32_t chunk;
} piece_sink;

static task_chunk* chunk_at( const gathering* job, uint32_t chunk )
{
    return &job->gather->chunks.items[chunk];
}

static bool has_new_chunks( gathering* job )
{
    return atomic_load_explicit( &job->next_free, memory_order_relaxed ) < job->chunk_end;
}

static void close_chunk( piece_sink* out )
{
    if ( out->chunk != NO_CHUNK )
    {
        CLV_ASSERT( out->sink.count <= CHUNK );
        chunk_at( out->job, out->chunk )->count = (uint32_t)out->sink.count;
        out->piece->pair_count += out->sink.count;
    }
}

static void link_chunk( piece_sink* out, uint32_t chunk )
{
    CLV_ASSERT( chunk < out->job->chunk_end && chunk != out->chunk );
    chunk_at( out->job, chunk )->next = NO_CHUNK;
    if ( out->chunk == NO_CHUNK )
    {
        out->piece->first_chunk = chunk;
    }
    else
    {
        chunk_at( out->job, out->chunk )->next = chunk;
    }
    out->chunk = chunk;
}

static clv_result take_chunk( clv_pair_sink* sink )
{
    piece_sink* out = (piece_sink*)sink;
    gathering* job = out->job;
    close_chunk( out );
    uint32_t chunk = *out->free_chunk;
    if ( chunk != NO_CHUNK )
    {
        *out->free_chunk = chunk_at( job, chunk )->next;
    }
    else if ( has_new_chunks( job ) ) // looked at before it is counted up, or it could wrap
    {
        chunk = atomic_fetch_add_explicit( &job->next_free, 1, memory_order_relaxed );
    }
    if ( chunk >= job->chunk_end )
    {
        out->piece->is_short = true;
        return CLV_OUT_OF_MEMORY;
    }
    link_chunk( out, chunk );
    out->piece->chunk_count += 1;
    sink->pairs = chunk_at( job, chunk )->pairs;
    sink->count = 0;
    sink->capacity = CHUNK;
    return CLV_OK;
}

// One piece's pairs to their place.
static void copy_to_place( const gathering* job, const task_gather_piece* piece, uint64_t place )
{
    clv_pair* out = job->sink->pairs + place;
    CLV_ASSERT( piece->is_done && place >= job->sink->count );
    CLV_ASSERT( place + piece->pair_count <= job->sink->capacity );
    for ( uint32_t chunk = piece->first_chunk; chunk != NO_CHUNK; chunk = chunk_at( job, chunk )->next )
    {
        uint32_t count = chunk_at( job, chunk )->count;
        memcpy( out, chunk_at( job, chunk )->pairs, count * sizeof( clv_pair ) );
        out += count;
    }
}

// The pieces of a round together.
typedef struct round_sums
{
    uint32_t undone, short_count; ///< pieces; some of the former found too few chunks
    uint64_t pairs, tests, chunks;
} round_sums;

static round_sums sum_pieces( const gathering* job, uint32_t end )
{
    round_sums sums = { 0, 0, 0, 0, 0 };
    for ( uint32_t i = job->first; i < end; ++i )
    {
        task_gather_piece* piece = &job->gather->pieces.items[i];
        piece->first_pair = sums.pairs;
        sums.undone += !piece->is_done;
        sums.short_count += piece->is_short;
        sums.pairs += piece->pair_count;
        sums.tests += piece->test_count;
        sums.chunks += piece->chunk_count;
    }
    return sums;
}

static void add_joined( gathering* job, const round_sums* sums )
{
    job->sink->count += sums->pairs;
    *job->test_count += sums->tests;
    job->chunk_count += sums->chunks;
}

// ---- joined early

// From a piece on whose size is known: the places of those behind it, as far as there is room.
static void tell_places( const gathering* job, uint32_t piece )
{
    gather_mark* marks = job->gather->marks.items;
    uint64_t place = atomic_load( &marks[piece].place ), size = atomic_load( &marks[piece].size );
    while ( place != UNKNOWN && size != UNKNOWN && size <= job->room - place )
    {
        piece += 1;
        place += size;
        CLV_ASSERT( piece <= job->end && place <= job->room );
        atomic_store( &marks[piece].place, place );
        size = atomic_load( &marks[piece].size ); // UNKNOWN behind the last
    }
}

// A worker's pieces, as far as their places are known.
static void join_found( const gathering* job, gather_worker* self )
{
    const gather_mark* marks = job->gather->marks.items;
    while ( self->first_piece != NO_PIECE )
    {
        const task_gather_piece* piece = &job->gather->pieces.items[self->first_piece];
        uint64_t place = atomic_load( &marks[self->first_piece].place );
        if ( place == UNKNOWN || piece->pair_count > job->room - place )
        {
            return;
        }
        copy_to_place( job, piece, place );
        for ( uint32_t chunk = piece->first_chunk, next; chunk != NO_CHUNK; chunk = next )
        {
            next = chunk_at( job, chunk )->next;
            chunk_at( job, chunk )->next = self->free_chunk;
            self->free_chunk = chunk;
        }
        self->first_piece = piece->next;
    }
}

static void join_worker( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    const gathering* job = context;
    join_found( job, &job->workers[index] );
}

// A piece is found: by the calling worker, last.
static void add_found( const gathering* job, uint32_t worker, uint32_t index )
{
    task_gather_piece* pieces = job->gather->pieces.items;
    gather_worker* self = &job->workers[worker];
    pieces[index].next = NO_PIECE;
    *( self->first_piece != NO_PIECE ? &pieces[self->last_piece].next : &self->first_piece ) = index;
    self->last_piece = index;
    atomic_store( &job->gather->marks.items[index].size, pieces[index].pair_count );
    tell_places( job, index );
    join_found( job, self );
}

// Before pieces are run, for the first time or again: nothing is found, and one place is known.
static void open_early( gathering* job )
{
    task_gather* gather = job->gather;
    for ( uint32_t i = 0; i < task_worker_count( job->tasks ); ++i )
    {
        gather_worker* worker = &job->workers[i];
        worker->first_piece = NO_PIECE;
        worker->free_chunk = job->is_again ? worker->free_chunk : NO_CHUNK;
    }
    job->room = job->sink->capacity;
    atomic_store_explicit( &job->next_piece, job->first, memory_order_relaxed );
    for ( uint32_t i = job->first; i <= job->end; ++i )
    {
        atomic_init( &gather->marks.items[i].size, UNKNOWN );
        atomic_init( &gather->marks.items[i].place, i == job->first ? job->sink->count : UNKNOWN );
    }
}

// After they are: the pieces up to the first whose place is not known are joined, and no longer of the round.
static void close_early( gathering* job )
{
    const task_gather* gather = job->gather;
    uint32_t joined = job->first, workers = task_worker_count( job->tasks );
    while ( joined < job->end && atomic_load( &gather->marks.items[joined + 1].place ) != UNKNOWN )
    {
        joined += 1;
    }
    bool is_left = false;
    for ( uint32_t i = 0; i < workers; ++i )
    {
        is_left = is_left || job->workers[i].first_piece < joined;
    }
    if ( is_left )
    {
        clv_task_run( job->tasks, join_worker, workers, job );
    }
    const round_sums sums = sum_pieces( job, joined );
    add_joined( job, &sums );
    job->first = joined;
}

const gather_early clv_task_gather_early = { open_early, add_found, close_early };

// ---- a piece

static void run_piece( uint32_t index, uint32_t worker, void* context )
{
    gathering* job = context;
    index = job->early != NULL ? atomic_fetch_add_explicit( &job->next_piece, 1, memory_order_relaxed )
        : job->turns != NULL   ? job->turns[index]
                               : index + job->first;
    CLV_ASSERT( index < job->gather->pieces.capacity );
    if ( job->is_again && !job->gather->pieces.items[index].is_short )
    {
        return;
    }
    // Neighbours in the array are written by other workers.
    task_gather_piece done = { .first_chunk = NO_CHUNK };
    uint32_t none = NO_CHUNK, *free_chunk = job->early != NULL ? &job->workers[worker].free_chunk : &none;
    piece_sink out = { { .make_room = take_chunk }, job, free_chunk, &done, NO_CHUNK };
    // Most of a search may lie before its first pair: without chunks it is not begun.
    done.is_short = *free_chunk == NO_CHUNK && !has_new_chunks( job );
    done.is_done =
        !done.is_short && job->search( index, worker, &out.sink, &done.test_count, job->context ) == CLV_OK;
    close_chunk( &out );
    job->gather->pieces.items[index] = done;
    if ( job->early != NULL && done.is_done )
    {
        job->early->add( job, worker, index );
    }
}

// ---- joining

// A piece for which there were no chunks, again and straight into the caller's sink; the chunks it would have
// needed are noted.
static clv_result run_here( gathering* job, uint32_t index )
{
    pair_counting_sink counting = pair_counting_open( job->sink );
    task_gather_piece* piece = &job->gather->pieces.items[index];
    CLV_ASSERT( !piece->is_done );
    piece->test_count = 0;
    job->gather->is_alone = true;
    clv_result result = job->search( index, 0, &counting.sink, &piece->test_count, job->context );
    job->gather->is_alone = false;
    piece->pair_count = pair_counting_close( &counting );
    piece->chunk_count = (uint32_t)( piece->pair_count / ( CHUNK - CLV_PAIR_SINK_ROOM ) ) + 1;
    return result;
}

static clv_result copy_piece( const gathering* job, const task_gather_piece* piece )
{
    CLV_ASSERT( piece->is_done );
    clv_result result = CLV_OK;
    for ( uint32_t chunk = piece->first_chunk; chunk != NO_CHUNK && result == CLV_OK;
          chunk = chunk_at( job, chunk )->next )
    {
        result =
            clv_pair_sink_put_all( job->sink, chunk_at( job, chunk )->pairs, chunk_at( job, chunk )->count );
    }
    return result;
}

// One after the other.
static clv_result join( gathering* job )
{
    clv_result result = CLV_OK;
    for ( uint32_t i = job->first; i < job->end && result == CLV_OK; ++i )
    {
        const task_gather_piece* piece = &job->gather->pieces.items[i];
        result = piece->is_done ? copy_piece( job, piece ) : run_here( job, i );
        *job->test_count += piece->test_count;
        job->chunk_count += piece->chunk_count;
    }
    return result;
}

static void join_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    const gathering* job = context;
    const task_gather_piece* piece = &job->gather->pieces.items[index + job->first];
    copy_to_place( job, piece, job->sink->count + piece->first_pair );
}

// Room for so many more pairs, as far as it may be. A visitor's sink does not grow, and neither does a list
// beyond its limit.
static clv_result make_room_for( clv_pair_sink* sink, uint64_t pairs )
{
    bool grows = true; // a fresh list has no room yet
    clv_result result = CLV_OK;
    sink->expected = pairs;
    while ( result == CLV_OK && grows && sink->capacity - sink->count < pairs )
    {
        uint64_t before = sink->capacity;
        result = sink->make_room( sink );
        grows = sink->capacity > before;
    }
    return result;
}

// All pieces at once where they are complete, many, and the sink has room for them all; one by one if not.
static clv_result join_round( gathering* job )
{
    clv_pair_sink* sink = job->sink;
    const round_sums sums = sum_pieces( job, job->end );
    bool is_large = sums.undone == 0 && sums.pairs > JOIN_ALONE;
    clv_result result = is_large ? make_room_for( sink, sums.pairs ) : CLV_OK;
    if ( result == CLV_OK && ( !is_large || sink->capacity - sink->count < sums.pairs ) )
    {
        result = join( job );
    }
    else if ( result == CLV_OK )
    {
        clv_task_run( job->tasks, join_piece, job->end - job->first, job );
        add_joined( job, &sums );
    }
    return result;
}

// ---- rounds

// Chunks for a round: all that it is likely to use, if these are not many more than the sink has room for. A
// list has as much from the frame before; a visitor has no list, and chunks must not become one.
static uint64_t most_chunks( const gathering* job, uint64_t wanted, uint32_t piece_count )
{
    uint64_t least = LEAST_CHUNKS + (uint64_t)piece_count;
    uint64_t most = job->sink->capacity / ( CHUNK - CLV_PAIR_SINK_ROOM ) + SPARE_CHUNKS + least;
    wanted = wanted > least ? wanted : least;
    return wanted < most ? wanted : most;
}

// Memory for as many, and as many more in the middle of a round, if a list can be made as large. Fewer than
// wanted cost time and nothing else.
static clv_result find_chunks( gathering* job, uint64_t wanted, uint32_t piece_count, uint32_t used )
{
    task_gather* gather = job->gather;
    clv_pair_sink* sink = job->sink;
    uint64_t pairs = wanted * ( CHUNK - CLV_PAIR_SINK_ROOM );
    clv_result result =
        used > 0 || most_chunks( job, wanted, piece_count ) < wanted ? make_room_for( sink, pairs ) : CLV_OK;
    CLV_ASSERT( used <= gather->chunks.capacity );
    gather->chunks.count = used; // they stay as they are
    if ( used == 0 )
    {
        base_array_renew( &gather->chunks, job->memory, most_chunks( job, wanted, piece_count ) );
    }
    else if ( sink->capacity - sink->count >= pairs )
    {
        base_array_reserve( &gather->chunks, job->memory, wanted );
    }
    uint64_t end = gather->chunks.capacity < NO_CHUNK / 2 ? gather->chunks.capacity : NO_CHUNK / 2;
    job->chunk_end = (uint32_t)end;
    atomic_store_explicit( &job->next_free, used, memory_order_relaxed );
    return result;
}

// All pieces of a round; those that found no chunk again, by all workers, while more are to be had. What the
// sink said, should it have been asked.
static clv_result run_round( gathering* job )
{
    clv_result result = CLV_OK;
    uint32_t count = job->end - job->first, used = 0;
    job->turns = count == job->piece_count ? job->gather->turns : NULL;
    job->is_again = false;
    do
    {
        if ( job->early != NULL )
        {
            job->early->open( job );
        }
        clv_task_run( job->tasks, run_piece, job->end - job->first, job );
        job->is_again = true;
        if ( job->early != NULL )
        {
            job->early->close( job );
        }
        const round_sums sums = sum_pieces( job, job->end );
        used = job->chunk_end;
        if ( sums.short_count > 0 )
        {
            // As many as the others, one that did not come to its end added to them.
            uint64_t more = (uint64_t)used * sums.short_count / ( count - sums.short_count + 1 );
            result = find_chunks( job, used + more + LEAST_CHUNKS, count, used );
        }
    } while ( result == CLV_OK && job->chunk_end > used );
    return result;
}

// Pieces that are run before their pairs are put into the sink and the chunks are free again: all that are
// left, or as many as are likely to find chunks; where nothing is known about them, `few`.
static clv_result open_round( gathering* job, uint32_t few )
{
    uint32_t left = job->piece_count - job->end, workers = task_worker_count( job->tasks );
    uint64_t wanted = job->gather->wanted_chunks;
    job->first = job->end;
    uint64_t length = job->first > 0 || wanted > 0 ? left : few;
    wanted = wanted == 0 && job->first > 0 ? job->chunk_count * job->piece_count / job->first : wanted;
    wanted = wanted * length / job->piece_count;
    clv_result result = find_chunks( job, wanted, (uint32_t)length, 0 );
    if ( wanted > job->chunk_end )
    {
        length = length * job->chunk_end / wanted;
        length = length > workers ? length : workers;
    }
    job->end += length < left ? (uint32_t)length : left;
    return result;
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
    clv_task_gather_try(
        gather, memory, tasks, piece_count, search, NULL, context, sink, test_count, &result );
    return result;
}

bool clv_task_gather_try( task_gather* gather, base_memory* memory, task_runner* tasks, uint32_t piece_count,
    task_search* search, bool ( *is_good )( void* context ), void* context, clv_pair_sink* sink,
    uint64_t* test_count, clv_result* result )
{
    gather_worker workers[CLV_MAX_WORKERS];
    gathering job = {
        .gather = gather,
        .memory = memory,
        .tasks = tasks,
        .search = search,
        .context = context,
        .sink = sink,
        .test_count = test_count,
        .workers = workers,
        .piece_count = piece_count,
        .early = is_good == NULL ? gather->early : NULL,
    };
    uint32_t few = is_good != NULL ? piece_count : task_worker_count( tasks );
    bool ok = base_array_reserve( &gather->pieces, memory, piece_count ) &&
        ( job.early == NULL || base_array_reserve( &gather->marks, memory, (uint64_t)piece_count + 1 ) );
    *result = ok ? CLV_OK : CLV_OUT_OF_MEMORY;
    while ( job.end < piece_count && *result == CLV_OK )
    {
        *result = open_round( &job, few );
        bool is_vain = is_good != NULL && job.end < piece_count;
        if ( *result == CLV_OK && !is_vain )
        {
            *result = run_round( &job );
            is_vain =
                is_good != NULL && ( sum_pieces( &job, job.end ).short_count > 0 || !is_good( context ) );
        }
        if ( *result == CLV_OK && is_vain )
        {
            return false;
        }
        *result = *result == CLV_OK ? join_round( &job ) : *result;
    }
    CLV_ASSERT( *result != CLV_OK || job.end == piece_count );
    gather->wanted_chunks = *result == CLV_OK ? job.chunk_count : gather->wanted_chunks;
    return true;
}

void clv_task_gather_release( task_gather* gather, base_memory* memory )
{
    base_array_free( &gather->chunks, memory );
    base_array_free( &gather->pieces, memory );
    base_array_free( &gather->marks, memory );
    *gather = ( task_gather ){ 0 };
}
