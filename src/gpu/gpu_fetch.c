// SPDX-License-Identifier: MIT
// Lists of pairs on their way to the host. Who fetched the last list is taken to want the next one too: it is
// sent for together with the counters, as many pairs as there were and some more, so that there is one wait
// instead of two.
#include "gpu_state.h"

#include "base/assertion.h"

enum
{
    READ_MOST = 1 << 23, // pairs that come to the host at once
    AHEAD_MOST = 1
        << 18, // and before their number is known: of more the wait is no matter, and what is read in vain is
};

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

clv_result clv_gpu_show( clv_gpu* gpu, cl_mem pairs, uint64_t count, clv_pair_visitor* visit, void* user )
{
    CLV_ASSERT( gpu != NULL && visit != NULL );
    gpu->error[0] = '\0';
    clv_result result = clv_gpu_show_list( gpu, pairs, count, visit, user );
    return result == CLV_OK || result == CLV_STOPPED ? result : clv_gpu_end_failed( gpu, result );
}
