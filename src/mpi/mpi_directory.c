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
    memset( space->send_words, 0, (size_t)n * sizeof( int ) );
    if ( count > INT32_MAX || !base_array_renew( &space->scratch, &space->memory, count ) )
    {
        return false;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        space->send_words[watcher_of( space, ids[i] )] += 1;
    }
    int start = 0;
    for ( int32_t r = 0; r < n; ++r )
    {
        space->send_starts[r] = start;
        start += space->send_words[r];
    }
    CLV_ASSERT( start == (int)count ); // all of them have a watcher
    for ( uint32_t i = 0; i < count; ++i )
    {
        space->scratch.items[space->send_starts[watcher_of( space, ids[i] )]++] = ids[i];
    }
    for ( int32_t r = 0; r < n; ++r )
    {
        space->send_starts[r] -= space->send_words[r];
        CLV_ASSERT( space->send_starts[r] >= 0 );
    }
    return true;
}

// What the others have for this process, into `inbox`. `mine` is false where there was no memory to sort.
static clv_result deliver(
    clv_mpi_space* space, const uint64_t* ids, uint32_t count, bool is_adding, uint64_t* total )
{
    clv_result mine = sort_by_watcher( space, ids, count )
        ? CLV_OK
        : clv_mpi_complain( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory to look %u ids up", count );
    clv_result result = clv_mpi_agree( space, mine );
    MPI_Request request;
    if ( result != CLV_OK ||
        !clv_mpi_went_well( space,
            MPI_Ialltoall(
                space->send_words, 1, MPI_INT, space->receive_words, 1, MPI_INT, space->all, &request ),
            "an exchange" ) ||
        !clv_mpi_wait( space, &request, 1 ) )
    {
        return space->is_lost ? CLV_LOST : result;
    }
    *total = 0;
    for ( int32_t r = 0; r < space->process_count; ++r )
    {
        space->receive_starts[r] = (int)*total;
        *total += (uint64_t)space->receive_words[r];
    }
    bool fits = *total <= INT32_MAX && base_array_renew( &space->inbox, &space->memory, *total ) &&
        ( !is_adding ||
            clv_mpi_ids_reserve( &space->directory, &space->memory, space->directory.count + *total ) );
    result = clv_mpi_agree( space,
        fits ? CLV_OK
             : clv_mpi_complain( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory to look ids up" ) );
    if ( result != CLV_OK ||
        !clv_mpi_went_well( space,
            MPI_Ialltoallv( space->scratch.items, space->send_words, space->send_starts, MPI_UINT64_T,
                space->inbox.items, space->receive_words, space->receive_starts, MPI_UINT64_T, space->all,
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
    CLV_ASSERT( at < space->inbox.capacity );
    while ( rank + 1 < space->process_count && (uint64_t)space->receive_starts[rank + 1] <= at )
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
        CLV_ASSERT( i < space->inbox.capacity );
        if ( clv_mpi_ids_find( &space->directory, space->inbox.items[i] ) != MPI_NONE )
        {
            return i;
        }
        clv_mpi_ids_put( &space->directory, space->inbox.items[i], 0 );
    }
    return total;
}

// The watcher knew whose id it was, and that process alone knows which of its entries.
static clv_result hear_position( clv_mpi_space* space, const uint64_t* ids, uint32_t count )
{
    uint32_t* position = &space->wire.heard.position;
    *position = 0;
    while ( space->rank == space->error.rank && *position < count && ids[*position] != space->error.id )
    {
        *position += 1;
    }
    MPI_Request request;
    if ( !clv_mpi_went_well( space,
             MPI_Ibcast( position, 1, MPI_UINT32_T, space->error.rank, space->all, &request ),
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
        uint64_t id = space->inbox.items[known];
        mine = clv_mpi_complain( space, CLV_DUPLICATE_ID, UINT32_MAX, id,
            "process %d adds object %llu, which some process has already", sender, (unsigned long long)id );
        space->error.rank = sender;
    }
    result = space->def.trust_ids ? CLV_OK : clv_mpi_agree( space, mine );
    for ( uint64_t i = 0; result != CLV_OK && i < known; ++i )
    {
        clv_mpi_ids_drop( &space->directory, space->inbox.items[i] );
    }
    CLV_ASSERT( result != CLV_OK || space->directory.count >= total );
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
        clv_mpi_ids_drop( &space->directory, space->inbox.items[i] );
    }
    return result;
}
