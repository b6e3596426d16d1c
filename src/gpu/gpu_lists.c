// SPDX-License-Identifier: MIT
// Lists of pairs: on their way to the host, and what begun and ended from one to the next.
#include "base/assertion.h"
#include "gpu_state.h"

enum
{
    READ_MOST = 1 << 23, // pairs that come to the host at once
    AHEAD_MOST = 1
        << 18, // and before their number is known: of more the wait is no matter, and what is read in vain is
    TABLE_LEAST = 256,
    BEGUN = 0,
    ENDED = 1,
};

// Of pairs that one table takes: entries have a number of 32 bits, and there are twice as many.
#define PAIRS_MOST ( UINT64_C( 1 ) << 30 )

// ---- to the host. If the last list was fetched, the next one will be too: it is sent for together
// with the counters, as many pairs as there were and some more, so that there is one wait instead of two.

clv_result clv_gpu_fetch_ahead( clv_gpu* gpu )
{
    gpu_ahead* ahead = &gpu->ahead;
    uint64_t most = gpu->pair_room < READ_MOST ? gpu->pair_room : READ_MOST;
    uint64_t count = ahead->last_count + ahead->last_count / 64 + 64;
    count = count < most ? count : most;
    bool is_wanted = ahead->is_wanted && ahead->last_count < most && ahead->last_count <= AHEAD_MOST &&
        !ahead->is_off && !gpu->is_chunked;
    ahead->is_wanted = false;
    ahead->count = 0;
    if ( !is_wanted || count == 0 )
    {
        return CLV_OK;
    }
    clv_result result = clv_gpu_host_reserve( gpu, &gpu->download, (size_t)count * sizeof( clv_pair ) );
    if ( result == CLV_OUT_OF_MEMORY ) // of the host: the list may never be read
    {
        gpu->error[0] = '\0';
        return CLV_OK;
    }
    if ( result == CLV_OK )
    {
        CLV_ASSERT( gpu_holds( &gpu->buffers.pairs, count, sizeof( clv_pair ) ) );
        CLV_ASSERT( gpu->download.bytes / sizeof( clv_pair ) >= count );
        cl_int error = gpu->cl->clEnqueueReadBuffer( gpu->queue, gpu->buffers.pairs.memory, 0, 0,
            (size_t)count * sizeof( clv_pair ), gpu->download.data, 0, NULL, NULL );
        result = clv_gpu_check( gpu, error, "reading from the device" );
    }
    ahead->count = result == CLV_OK ? count : 0;
    return result;
}

// The list's first pairs may be here already.
static clv_result fetch( clv_gpu* gpu, cl_mem pairs, uint64_t first, uint64_t count )
{
    gpu_ahead* ahead = &gpu->ahead;
    bool is_list = pairs == gpu->buffers.pairs.memory && first == 0;
    if ( is_list )
    {
        CLV_ASSERT( count <= gpu->pair_room );
        ahead->is_wanted = true;
        ahead->last_count = count;
    }
    if ( is_list && count <= ahead->count )
    {
        return CLV_OK;
    }
    size_t bytes = (size_t)count * sizeof( clv_pair );
    ahead->count = 0;
    clv_result result = clv_gpu_host_reserve( gpu, &gpu->download, bytes );
    return result == CLV_OK && count > 0
        ? clv_gpu_read( gpu, pairs, first * sizeof( clv_pair ), gpu->download.data, bytes )
        : result;
}

bool clv_gpu_comes_whole( const clv_gpu* gpu )
{
    return gpu->has_list && !gpu->is_piecewise && !gpu->is_chunked && gpu->counters.pair_count <= READ_MOST;
}

clv_result clv_gpu_download( clv_gpu* gpu, const clv_pair** pairs )
{
    CLV_ASSERT( gpu->has_list && !gpu->is_piecewise );
    clv_result result = fetch( gpu, gpu->buffers.pairs.memory, 0, gpu->counters.pair_count );
    *pairs = gpu->download.data;
    return result == CLV_OK ? result : clv_gpu_end_failed( gpu, result );
}

// READ_MOST at a time.
clv_result clv_gpu_show_list(
    clv_gpu* gpu, cl_mem pairs, uint64_t count, clv_pair_visitor* visit, void* user )
{
    for ( uint64_t first = 0; first < count; first += READ_MOST )
    {
        uint64_t part = count - first < READ_MOST ? count - first : READ_MOST;
        clv_result result = fetch( gpu, pairs, first, part );
        CLV_ASSERT( result != CLV_OK || gpu->download.bytes / sizeof( clv_pair ) >= part );
        if ( result != CLV_OK )
        {
            return result;
        }
        if ( !visit( gpu->download.data, (size_t)part, user ) )
        {
            return CLV_STOPPED;
        }
    }
    return CLV_OK;
}

// ---- begun and ended pairs: this update's list against the one before, on the device. The list before lies
// in a buffer of its own with its table; both change sides when the next update begins.

// The last list becomes the one before. Several updates may begin before one ends; the first of them does it.
bool clv_gpu_events_begin( clv_gpu* gpu )
{
    gpu_events* events = &gpu->events;
    gpu_buffers* b = &gpu->buffers;
    events->counts[BEGUN] = 0;
    events->counts[ENDED] = 0;
    if ( !gpu->def.events || !gpu->has_list )
    {
        return false;
    }
    CLV_ASSERT( gpu->counters.pair_count <= PAIRS_MOST && !gpu->is_piecewise ); // or there were no events
    CLV_ASSERT( gpu_holds( &b->pair_table, (uint64_t)events->mask + 1, sizeof( uint32_t ) ) );
    uint64_t room = gpu->pair_room;
    gpu_swap( &b->pairs, &b->pairs_before );
    gpu_swap( &b->pair_table, &b->pair_table_before );
    gpu->pair_room = events->room_before;
    events->room_before = room;
    events->has_before = true;
    events->mask_before = events->mask;
    events->count_before = (uint32_t)gpu->counters.pair_count;
    return true;
}

static clv_result make_table( clv_gpu* gpu, uint32_t count )
{
    gpu_events* events = &gpu->events;
    gpu_buffers* b = &gpu->buffers;
    uint64_t entries = TABLE_LEAST;
    while ( entries < 2 * (uint64_t)count )
    {
        entries *= 2;
    }
    CLV_ASSERT( ( entries & ( entries - 1 ) ) == 0 && entries <= 2 * PAIRS_MOST );
    events->mask = (uint32_t)( entries - 1 );
    clv_result result = clv_gpu_reserve( gpu, &b->pair_table, entries * sizeof( uint32_t ) );
    GPU_THEN( result, clv_gpu_fill( gpu, b->pair_table.memory, entries, UINT32_MAX ) );
    if ( result != CLV_OK || count == 0 )
    {
        return result;
    }
    CLV_ASSERT( gpu_holds( &b->pairs, count, sizeof( clv_pair ) ) );
    CLV_ASSERT( gpu_holds( &b->pair_table, entries, sizeof( uint32_t ) ) );
    return GPU_LAUNCH( gpu, GPU_KERNEL_events_insert, count, b->pairs, count, b->pair_table, events->mask );
}

// A list of pairs with its table.
typedef struct pair_set
{
    cl_mem pairs, table;
    uint32_t count, mask;
} pair_set;

static clv_result find_missing( clv_gpu* gpu, const pair_set* own, const pair_set* other, uint32_t which )
{
    gpu_buffers* b = &gpu->buffers;
    gpu_buffer* out = which == BEGUN ? &b->begun : &b->ended;
    uint32_t room = gpu->events.rooms[which];
    CLV_ASSERT( gpu_holds( out, room, sizeof( clv_pair ) ) && other->table != NULL );
    if ( own->count == 0 )
    {
        return CLV_OK;
    }
    return GPU_LAUNCH( gpu, GPU_KERNEL_events_missing, own->count, own->pairs, own->count, other->pairs,
        other->table, other->mask, out->memory, room, b->event_counts, which );
}

static clv_result reserve_events( clv_gpu* gpu, uint32_t which, uint64_t count )
{
    gpu_events* events = &gpu->events;
    gpu_buffer* buffer = which == BEGUN ? &gpu->buffers.begun : &gpu->buffers.ended;
    CLV_ASSERT( count <= UINT32_MAX );
    if ( buffer->memory != NULL && events->rooms[which] >= count )
    {
        return CLV_OK;
    }
    events->rooms[which] = 0;
    clv_result result = clv_gpu_reserve( gpu, buffer, count * sizeof( clv_pair ) );
    events->rooms[which] = result == CLV_OK ? (uint32_t)count : 0;
    return result;
}

static clv_result find_both( clv_gpu* gpu, const pair_set* now, const pair_set* before )
{
    gpu_buffers* b = &gpu->buffers;
    clv_result result = clv_gpu_fill( gpu, b->event_counts.memory, 2, 0 );
    GPU_THEN( result, find_missing( gpu, now, before, BEGUN ) );
    GPU_THEN( result, find_missing( gpu, before, now, ENDED ) );
    GPU_THEN( result,
        clv_gpu_read( gpu, b->event_counts.memory, 0, gpu->events.counts, sizeof( gpu->events.counts ) ) );
    return result;
}

// Without a list before: an empty one, with an empty table.
static clv_result make_before( clv_gpu* gpu )
{
    gpu_events* events = &gpu->events;
    gpu_buffers* b = &gpu->buffers;
    if ( events->has_before )
    {
        return CLV_OK;
    }
    events->count_before = 0;
    events->mask_before = TABLE_LEAST - 1;
    clv_result result = clv_gpu_reserve( gpu, &b->pair_table_before, TABLE_LEAST * sizeof( uint32_t ) );
    GPU_THEN( result, clv_gpu_reserve( gpu, &b->pairs_before, sizeof( clv_pair ) ) );
    GPU_THEN( result, clv_gpu_fill( gpu, b->pair_table_before.memory, TABLE_LEAST, UINT32_MAX ) );
    return result;
}

static clv_result reserve( clv_gpu* gpu )
{
    uint64_t least = gpu->def.event_capacity < PAIRS_MOST ? gpu->def.event_capacity : PAIRS_MOST;
    clv_result result = clv_gpu_reserve( gpu, &gpu->buffers.event_counts, sizeof( gpu->events.counts ) );
    GPU_THEN( result, reserve_events( gpu, BEGUN, least ) );
    GPU_THEN( result, reserve_events( gpu, ENDED, least ) );
    return result == CLV_OK ? make_before( gpu ) : result;
}

clv_result clv_gpu_events_find( clv_gpu* gpu )
{
    gpu_events* events = &gpu->events;
    gpu_buffers* b = &gpu->buffers;
    uint64_t count = gpu->counters.pair_count;
    if ( gpu->is_chunked )
    {
        return clv_gpu_fail( gpu, CLV_TOO_MANY_PAIRS,
            "begun and ended pairs need the whole list on the device, and %u boxes are searched in blocks of at most %u",
            gpu->frame.count, clv_gpu_chunk_most( gpu ) );
    }
    if ( gpu->is_piecewise || count > PAIRS_MOST )
    {
        return clv_gpu_fail( gpu, CLV_TOO_MANY_PAIRS,
            "begun and ended pairs need the whole list on the device, and %llu pairs are more than memory_most takes",
            (unsigned long long)count );
    }
    clv_result result = reserve( gpu );
    result = result == CLV_OK && b->pairs.memory == NULL
        ? clv_gpu_reserve( gpu, &b->pairs, sizeof( clv_pair ) )
        : result;
    GPU_THEN( result, make_table( gpu, (uint32_t)count ) );
    pair_set now = { b->pairs.memory, b->pair_table.memory, (uint32_t)count, events->mask };
    pair_set before = { b->pairs_before.memory, b->pair_table_before.memory, events->count_before,
        events->mask_before };
    CLV_ASSERT( result != CLV_OK || gpu_holds( &b->pairs_before, events->count_before, sizeof( clv_pair ) ) );
    GPU_THEN( result, find_both( gpu, &now, &before ) );
    bool was_cut =
        events->counts[BEGUN] > events->rooms[BEGUN] || events->counts[ENDED] > events->rooms[ENDED];
    if ( result == CLV_OK && was_cut )
    {
        uint64_t begun = events->counts[BEGUN] + (uint64_t)events->counts[BEGUN] / 4;
        uint64_t ended = events->counts[ENDED] + (uint64_t)events->counts[ENDED] / 4;
        result = reserve_events( gpu, BEGUN, begun );
        GPU_THEN( result, reserve_events( gpu, ENDED, ended ) );
        GPU_THEN( result, find_both( gpu, &now, &before ) );
    }
    if ( result != CLV_OK )
    {
        events->counts[BEGUN] = 0;
        events->counts[ENDED] = 0;
    }
    return result;
}

// ---- asking

uint64_t clv_gpu_begun_count( const clv_gpu* gpu )
{
    return gpu->has_list ? gpu->events.counts[BEGUN] : 0;
}

uint64_t clv_gpu_ended_count( const clv_gpu* gpu )
{
    return gpu->has_list ? gpu->events.counts[ENDED] : 0;
}

void* clv_gpu_begun_buffer( const clv_gpu* gpu )
{
    return gpu->has_list && gpu->def.events ? gpu->buffers.begun.memory : NULL;
}

void* clv_gpu_ended_buffer( const clv_gpu* gpu )
{
    return gpu->has_list && gpu->def.events ? gpu->buffers.ended.memory : NULL;
}

// A device that fails is closed.
static clv_result show( clv_gpu* gpu, cl_mem pairs, uint64_t count, clv_pair_visitor* visit, void* user )
{
    CLV_ASSERT( gpu != NULL && visit != NULL );
    gpu->error[0] = '\0';
    clv_result result = clv_gpu_show_list( gpu, pairs, count, visit, user );
    return result == CLV_OK || result == CLV_STOPPED ? result : clv_gpu_end_failed( gpu, result );
}

clv_result clv_gpu_read_begun( clv_gpu* gpu, clv_pair_visitor* visit, void* user )
{
    return show( gpu, gpu->buffers.begun.memory, clv_gpu_begun_count( gpu ), visit, user );
}

clv_result clv_gpu_read_ended( clv_gpu* gpu, clv_pair_visitor* visit, void* user )
{
    return show( gpu, gpu->buffers.ended.memory, clv_gpu_ended_count( gpu ), visit, user );
}
