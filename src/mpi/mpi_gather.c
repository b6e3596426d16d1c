// SPDX-License-Identifier: MIT
// The whole list on one process, for files and comparisons: not for every update.
#include "base/assertion.h"
#include "mpi_state.h"

#include <stddef.h>

enum
{
    PIECE = 1 << 20 ///< pairs per message
};

// A pair is three words of 8 bytes.
static bool pass_pieces(
    clv_mpi_space* space, bool sends, int32_t other, clv_mpi_pair* pairs, uint64_t count )
{
    for ( uint64_t first = 0; first < count; first += PIECE )
    {
        uint64_t left = count - first;
        int words =
            (int)( ( left < PIECE ? left : PIECE ) * ( sizeof( clv_mpi_pair ) / sizeof( uint64_t ) ) );
        MPI_Request request;
        int answer = sends
            ? MPI_Isend( pairs + first, words, MPI_UINT64_T, other, 7, space->net.all, &request )
            : MPI_Irecv( pairs + first, words, MPI_UINT64_T, other, 7, space->net.all, &request );
        if ( !clv_mpi_succeeded( space, answer, "a message" ) || !clv_mpi_wait( space, &request, 1 ) )
        {
            return false;
        }
    }
    return true;
}

static bool comes_first( const clv_mpi_pair* x, const clv_mpi_pair* y )
{
    return x->a != y->a ? x->a < y->a : x->b < y->b;
}

static void sink_down( clv_mpi_pair* heap, uint64_t count, uint64_t at )
{
    for ( uint64_t child = 2 * at + 1; child < count; child = 2 * at + 1 )
    {
        child += child + 1 < count && comes_first( &heap[child], &heap[child + 1] );
        if ( !comes_first( &heap[at], &heap[child] ) )
        {
            return;
        }
        clv_mpi_pair other = heap[at];
        heap[at] = heap[child];
        heap[child] = other;
        at = child;
    }
}

static void sort_pairs( clv_mpi_pair* pairs, uint64_t count )
{
    for ( uint64_t i = count / 2; i-- > 0; )
    {
        sink_down( pairs, count, i );
    }
    for ( uint64_t i = count; i-- > 1; )
    {
        clv_mpi_pair last = pairs[i];
        pairs[i] = pairs[0];
        pairs[0] = last;
        sink_down( pairs, i, 0 );
    }
}

static clv_result collect( clv_mpi_space* space, int32_t root, const uint64_t* counts )
{
    if ( space->rank != root )
    {
        return pass_pieces( space, true, root, space->pairs.list.items, space->pairs.list.count ) ? CLV_OK
                                                                                                  : CLV_LOST;
    }
    uint64_t at = 0;
    CLV_ASSERT( counts[root] == space->pairs.list.count );
    for ( int32_t r = 0; r < space->process_count; ++r )
    {
        if ( r == root && counts[r] > 0 )
        {
            memcpy( space->pairs.gathered.items + at, space->pairs.list.items,
                counts[r] * sizeof( clv_mpi_pair ) );
        }
        else if ( r != root && !pass_pieces( space, false, r, space->pairs.gathered.items + at, counts[r] ) )
        {
            return CLV_LOST;
        }
        at += counts[r];
    }
    CLV_ASSERT( at <= space->pairs.gathered.capacity ); // the room for their sum
    sort_pairs( space->pairs.gathered.items, at );
    space->pairs.gathered.count = at;
    return CLV_OK;
}

clv_result clv_mpi_space_gather( clv_mpi_space* space, int32_t root, clv_mpi_pair_view* view )
{
    *view = ( clv_mpi_pair_view ){ NULL, 0, false };
    if ( space->is_lost )
    {
        return CLV_LOST;
    }
    clv_result mine = root < 0 || root >= space->process_count
        ? clv_mpi_fail( space, CLV_BAD_ARGUMENT, UINT32_MAX, 0, "there is no process %d", root )
        : !space->pairs.is_valid ? clv_mpi_fail( space, CLV_STALE, UINT32_MAX, 0,
                                       "there is no list: the last update failed, or there was none" )
                                 : CLV_OK;
    clv_result result = clv_mpi_agree( space, mine );
    if ( result != CLV_OK )
    {
        return result;
    }
    CLV_ASSERT( root >= 0 && root < space->process_count && space->pairs.is_valid );
    uint64_t total = 0;
    space->net.wire.pair_count = space->pairs.list.count;
    base_array_renew( &space->exchange.scratch, &space->memory, (uint64_t)space->process_count );
    bool fits = space->exchange.scratch.items != NULL;
    result = clv_mpi_agree( space,
        fits ? CLV_OK : clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory to count pairs" ) );
    MPI_Request request;
    if ( result != CLV_OK )
    {
        return result;
    }
    if ( !clv_mpi_succeeded( space,
             MPI_Iallgather( &space->net.wire.pair_count, 1, MPI_UINT64_T, space->exchange.scratch.items, 1,
                 MPI_UINT64_T, space->net.all, &request ),
             "an exchange" ) ||
        !clv_mpi_wait( space, &request, 1 ) )
    {
        return CLV_LOST;
    }
    for ( int32_t r = 0; r < space->process_count; ++r )
    {
        total += space->exchange.scratch.items[r];
    }
    fits = space->rank != root || base_array_renew( &space->pairs.gathered, &space->memory, total );
    result = clv_mpi_agree( space,
        fits ? CLV_OK
             : clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for %llu pairs",
                   (unsigned long long)total ) );
    result = result == CLV_OK ? collect( space, root, space->exchange.scratch.items ) : result;
    if ( result == CLV_OK && space->rank == root )
    {
        *view = ( clv_mpi_pair_view ){ space->pairs.gathered.items, space->pairs.gathered.count, true };
    }
    return result;
}
