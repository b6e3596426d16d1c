// SPDX-License-Identifier: MIT
// What several processes agree on, and how long one waits for the others.
#include "base/assertion.h"
#include "base/timer.h"
#include "mpi_state.h"

#include <stdarg.h>
#include <stdio.h>

#if defined( __unix__ ) || defined( __APPLE__ )
#include <sched.h>
#endif

static void yield( void )
{
#if defined( __unix__ ) || defined( __APPLE__ )
    sched_yield(); // several processes may share a core
#endif
}

clv_result clv_mpi_fail(
    clv_mpi_space* space, clv_result code, uint32_t position, uint64_t id, const char* format, ... )
{
    CLV_ASSERT( code != CLV_OK );
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( space->error_text, sizeof( space->error_text ), format, arguments );
    va_end( arguments );
    space->error = ( clv_mpi_error ){ code, space->rank, position, id, space->error_text };
    return code;
}

bool clv_mpi_succeeded( clv_mpi_space* space, int answer, const char* what )
{
    if ( answer == MPI_SUCCESS )
    {
        return true;
    }
    char reason[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string( answer, reason, &length );
    clv_mpi_fail(
        space, CLV_LOST, UINT32_MAX, 0, "%s failed: %.*s", what, length > 150 ? 150 : length, reason );
    space->is_lost = true;
    return false;
}

// One after the other: none of them ends before the last, and an error is that of its request. (MPI_Waitall answers that there is one
// among the statuses; and MPICH's MPI_STATUSES_IGNORE is an array of none to GCC, which warns.)
static bool wait_for( clv_mpi_space* space, MPI_Request* requests, int count )
{
    static const char what[] = "waiting for other processes";
    bool has_limit = space->def.time_limit > 0, is_well = true;
    uint64_t start = clv_base_clock_ns();
    for ( int i = 0; is_well && i < count; )
    {
        int done = 1;
        is_well = clv_mpi_succeeded( space,
            has_limit ? MPI_Test( &requests[i], &done, MPI_STATUS_IGNORE )
                      : MPI_Wait( &requests[i], MPI_STATUS_IGNORE ),
            what );
        i += done;
        if ( is_well && !done && (double)( clv_base_clock_ns() - start ) > space->def.time_limit * 1e9 )
        {
            clv_mpi_fail( space, CLV_LOST, UINT32_MAX, 0,
                "no answer from another process within %g s; it may have ended", space->def.time_limit );
            space->is_lost = true;
            is_well = false;
        }
        if ( !done )
        {
            yield();
        }
    }
    return is_well;
}

bool clv_mpi_wait( clv_mpi_space* space, MPI_Request* requests, int count )
{
    if ( space->is_lost )
    {
        return false;
    }
    uint64_t start = clv_base_clock_ns();
    bool is_there = wait_for( space, requests, count );
    space->stats.wait_ms += (double)( clv_base_clock_ns() - start ) * 1e-6;
    return is_there;
}

// The first process that complains tells everybody.
static clv_result hear( clv_mpi_space* space, int32_t speaker )
{
    mpi_wire_error* first_error = &space->net.wire.first_error;
    *first_error = ( mpi_wire_error ){ 0 };
    if ( space->rank == speaker )
    {
        *first_error = ( mpi_wire_error ){ (int32_t)space->error.code, space->error.rank,
            space->error.position, 0, space->error.id, "" };
        snprintf( first_error->text, sizeof( first_error->text ), "%s", space->error_text );
    }
    MPI_Request request;
    if ( !clv_mpi_succeeded( space,
             MPI_Ibcast(
                 first_error, (int)sizeof( *first_error ), MPI_BYTE, speaker, space->net.all, &request ),
             "a broadcast" ) ||
        !clv_mpi_wait( space, &request, 1 ) )
    {
        return CLV_LOST;
    }
    snprintf( space->error_text, sizeof( space->error_text ), "%s", first_error->text );
    space->error = ( clv_mpi_error ){ (clv_result)first_error->code, first_error->rank, first_error->position,
        first_error->id, space->error_text };
    return space->error.code;
}

// The larger the number, the lower the rank: the first of those who complain is first_error. 0 is content.
static int32_t plea_of( const clv_mpi_space* space, clv_result mine )
{
    CLV_ASSERT( space->rank >= 0 && space->rank < space->process_count ); // a plea is above 0
    return mine == CLV_OK ? 0 : space->process_count - space->rank;
}

static clv_result judge( clv_mpi_space* space, int32_t plea )
{
    if ( plea == 0 )
    {
        space->error = ( clv_mpi_error ){ CLV_OK, -1, UINT32_MAX, 0, "" };
        return CLV_OK;
    }
    return hear( space, space->process_count - plea );
}

static clv_result agree_on( clv_mpi_space* space, clv_result mine, int count )
{
    if ( space->is_lost )
    {
        return CLV_LOST;
    }
    // What is told is the last complaint: a code without one would be first_error as another.
    CLV_ASSERT( mine == CLV_OK || mine == space->error.code );
    mpi_wire* wire = &space->net.wire;
    wire->reduce_in[0] = plea_of( space, mine );
    MPI_Request request;
    if ( !clv_mpi_succeeded( space,
             MPI_Iallreduce(
                 wire->reduce_in, wire->reduce_out, count, MPI_INT32_T, MPI_MAX, space->net.all, &request ),
             "a reduction" ) ||
        !clv_mpi_wait( space, &request, 1 ) )
    {
        return CLV_LOST;
    }
    return judge( space, wire->reduce_out[0] );
}

clv_result clv_mpi_agree( clv_mpi_space* space, clv_result mine )
{
    return agree_on( space, mine, 1 );
}

clv_result clv_mpi_agree_and_reduce( clv_mpi_space* space, clv_result mine )
{
    return agree_on(
        space, mine, (int)( sizeof( space->net.wire.reduce_in ) / sizeof( space->net.wire.reduce_in[0] ) ) );
}

// ---- sums

// What MPI calls for two tallies. They are one element of a type of their own, so that MPI does not cut them up.
static void add_up( void* from, void* into, int* count, MPI_Datatype* type )
{
    (void)type;
    const uint64_t* a = from;
    uint64_t* b = into;
    for ( int i = 0; i < *count; ++i, a += TALLY_COUNT, b += TALLY_COUNT )
    {
        for ( int k = 0; k < TALLY_COUNT; ++k )
        {
            b[k] = k > TALLY_MOST_WORK ? a[k] + b[k] : a[k] > b[k] ? a[k] : b[k];
        }
    }
}

bool clv_mpi_tally_open( clv_mpi_space* space )
{
    return MPI_Type_contiguous( TALLY_COUNT, MPI_UINT64_T, &space->net.tally ) == MPI_SUCCESS &&
        MPI_Type_commit( &space->net.tally ) == MPI_SUCCESS &&
        MPI_Op_create( add_up, 1, &space->net.add_up ) == MPI_SUCCESS;
}

void clv_mpi_tally_close( clv_mpi_space* space )
{
    if ( space->net.add_up != MPI_OP_NULL )
    {
        MPI_Op_free( &space->net.add_up );
    }
    if ( space->net.tally != MPI_DATATYPE_NULL )
    {
        MPI_Type_free( &space->net.tally );
    }
}

clv_result clv_mpi_agree_on_sums( clv_mpi_space* space, clv_result mine )
{
    if ( space->is_lost )
    {
        return CLV_LOST;
    }
    CLV_ASSERT( mine == CLV_OK || mine == space->error.code );
    space->net.wire.own[TALLY_ERROR] = (uint64_t)plea_of( space, mine );
    MPI_Request request;
    if ( !clv_mpi_succeeded( space,
             MPI_Iallreduce( space->net.wire.own, space->net.wire.sums, 1, space->net.tally,
                 space->net.add_up, space->net.all, &request ),
             "a reduction" ) ||
        !clv_mpi_wait( space, &request, 1 ) )
    {
        return CLV_LOST;
    }
    return judge( space, (int32_t)space->net.wire.sums[TALLY_ERROR] );
}
