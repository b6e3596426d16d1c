// SPDX-License-Identifier: MIT
// Which ids there are: each is watched by the process that its bits name. Asked when objects come and go, never in an update.
#include "base/assertion.h"
#include "mpi_check.h"
#include "mpi_state.h"

static int32_t watcher_of( const clv_mpi_space* space, uint64_t id )
{
    return (int32_t)( clv_mpi_ids_mix( id ) % (uint64_t)space->process_count );
}

// Ids to their watchers: sorted by watcher in `scratch`, counts and starts beside.
static bool sort_by_watcher( clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    int32_t n = space->process_count;
    memset( space->exchange.send_words, 0, (size_t)n * sizeof( int ) );
    if ( count > INT32_MAX || !base_array_renew( &space->exchange.scratch, &space->memory, count ) )
    {
        return false;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        space->exchange.send_words[watcher_of( space, ids[i] )] += 1;
    }
    int start = 0;
    for ( int32_t r = 0; r < n; ++r )
    {
        space->exchange.send_starts[r] = start;
        start += space->exchange.send_words[r];
    }
    CLV_ASSERT( start == (int)count ); // all of them have a watcher
    for ( uint32_t i = 0; i < count; ++i )
    {
        space->exchange.scratch.items[space->exchange.send_starts[watcher_of( space, ids[i] )]++] = ids[i];
    }
    for ( int32_t r = 0; r < n; ++r )
    {
        space->exchange.send_starts[r] -= space->exchange.send_words[r];
        CLV_ASSERT( space->exchange.send_starts[r] >= 0 );
    }
    return true;
}

// What the others have for this process, into `inbox`. `mine` is false where there was no memory to sort.
static clv_result deliver(
    clv_mpi_space* space, const uint64_t* ids, uint32_t count, bool is_adding, uint64_t* total )
{
    clv_result mine = sort_by_watcher( space, ids, count )
        ? CLV_OK
        : clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory to look %u ids up", count );
    clv_result result = clv_mpi_agree( space, mine );
    MPI_Request request;
    if ( result != CLV_OK ||
        !clv_mpi_succeeded( space,
            MPI_Ialltoall( space->exchange.send_words, 1, MPI_INT, space->exchange.receive_words, 1, MPI_INT,
                space->net.all, &request ),
            "an exchange" ) ||
        !clv_mpi_wait( space, &request, 1 ) )
    {
        return space->is_lost ? CLV_LOST : result;
    }
    *total = 0;
    for ( int32_t r = 0; r < space->process_count; ++r )
    {
        space->exchange.receive_starts[r] = (int)*total;
        *total += (uint64_t)space->exchange.receive_words[r];
    }
    bool fits = *total <= INT32_MAX && base_array_renew( &space->exchange.inbox, &space->memory, *total ) &&
        ( !is_adding ||
            clv_mpi_ids_reserve(
                &space->lookup.directory, &space->memory, space->lookup.directory.count + *total ) );
    result = clv_mpi_agree( space,
        fits ? CLV_OK : clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory to look ids up" ) );
    if ( result != CLV_OK ||
        !clv_mpi_succeeded( space,
            MPI_Ialltoallv( space->exchange.scratch.items, space->exchange.send_words,
                space->exchange.send_starts, MPI_UINT64_T, space->exchange.inbox.items,
                space->exchange.receive_words, space->exchange.receive_starts, MPI_UINT64_T, space->net.all,
                &request ),
            "an exchange" ) ||
        !clv_mpi_wait( space, &request, 1 ) )
    {
        return space->is_lost ? CLV_LOST : result;
    }
    return CLV_OK;
}

static int32_t sender_of( const clv_mpi_space* space, uint64_t at )
{
    int32_t rank = 0;
    CLV_ASSERT( at < space->exchange.inbox.capacity );
    while ( rank + 1 < space->process_count && (uint64_t)space->exchange.receive_starts[rank + 1] <= at )
    {
        rank += 1;
    }
    return rank;
}

// The first id that is there already, or `total`; those before it are in.
static uint64_t put_until_known( clv_mpi_space* space, uint64_t total )
{
    for ( uint64_t i = 0; i < total; ++i )
    {
        CLV_ASSERT( i < space->exchange.inbox.capacity );
        if ( clv_mpi_ids_find( &space->lookup.directory, space->exchange.inbox.items[i] ) != SLOT_NONE )
        {
            return i;
        }
        clv_mpi_ids_put( &space->lookup.directory, space->exchange.inbox.items[i], 0 );
    }
    return total;
}

// The watcher knew whose id it was, and that process alone knows which of its entries.
static clv_result hear_position( clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    uint32_t* position = &space->net.wire.first_error.position;
    *position = 0;
    while ( space->rank == space->error.rank && *position < count && ids[*position] != space->error.id )
    {
        *position += 1;
    }
    MPI_Request request;
    if ( !clv_mpi_succeeded( space,
             MPI_Ibcast( position, 1, MPI_UINT32_T, space->error.rank, space->net.all, &request ),
             "a broadcast" ) ||
        !clv_mpi_wait( space, &request, 1 ) )
    {
        return CLV_LOST;
    }
    space->error.position = *position;
    return space->error.code;
}

clv_result clv_mpi_directory_add( clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    uint64_t total = 0;
    clv_result result = space->def.trust_ids ? CLV_OK : deliver( space, ids, count, true, &total );
    if ( result != CLV_OK )
    {
        return result;
    }
    uint64_t known = put_until_known( space, total );
    clv_result mine = CLV_OK;
    if ( known < total )
    {
        int32_t sender = sender_of( space, known );
        uint64_t id = space->exchange.inbox.items[known];
        mine = clv_mpi_fail( space, CLV_DUPLICATE_ID, UINT32_MAX, id,
            "process %d adds object %llu, which some process has already", sender, (unsigned long long)id );
        space->error.rank = sender;
    }
    result = space->def.trust_ids ? CLV_OK : clv_mpi_agree( space, mine );
    for ( uint64_t i = 0; result != CLV_OK && i < known; ++i )
    {
        clv_mpi_ids_drop( &space->lookup.directory, space->exchange.inbox.items[i] );
    }
    CLV_ASSERT( result != CLV_OK || space->lookup.directory.count >= total );
    CLV_VALIDATE( space->is_lost || clv_mpi_directory_check( space ) == NULL );
    return result == CLV_DUPLICATE_ID ? hear_position( space, ids, count ) : result;
}

// Of ids that were just added it needs no memory: what carried them is still there.
clv_result clv_mpi_directory_remove( clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    uint64_t total = 0;
    clv_result result = space->def.trust_ids ? CLV_OK : deliver( space, ids, count, false, &total );
    for ( uint64_t i = 0; result == CLV_OK && i < total; ++i )
    {
        clv_mpi_ids_drop( &space->lookup.directory, space->exchange.inbox.items[i] );
    }
    return result;
}
