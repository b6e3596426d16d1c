// SPDX-License-Identifier: MIT
// How the processes of a space agree: errors, collective calls with a time limit, and data sorted by the
// process it goes to.
#include "base/assertion.h"
#include "base/timer.h"
#include "mpi_state.h"

#include <stdarg.h>
#include <stdio.h>

#if defined( __unix__ ) || defined( __APPLE__ )
#include <sched.h>
#endif

// ---- errors of this process

static clv_result set_error( clv_mpi_space* space, clv_result code, uint32_t position, uint64_t id,
    const char* format, va_list arguments )
{
    CLV_ASSERT( code != CLV_OK );
    vsnprintf( space->error_text, sizeof( space->error_text ), format, arguments );
    space->error = ( clv_mpi_error ){ code, space->rank, position, id, space->error_text };
    return code;
}

clv_result clv_mpi_fail_at(
    clv_mpi_space* space, clv_result code, uint32_t position, uint64_t id, const char* format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    set_error( space, code, position, id, format, arguments );
    va_end( arguments );
    return code;
}

clv_result clv_mpi_fail( clv_mpi_space* space, clv_result code, const char* format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    set_error( space, code, UINT32_MAX, 0, format, arguments );
    va_end( arguments );
    return code;
}

clv_result clv_mpi_reserved( clv_mpi_space* space, bool has_memory, const char* what )
{
    return has_memory
        ? CLV_OK
        : clv_mpi_fail( space, CLV_OUT_OF_MEMORY, "process %d has no memory for %s", space->rank, what );
}

clv_result clv_mpi_inner_result( clv_mpi_space* space, clv_result result )
{
    return result == CLV_OK ? CLV_OK
                            : clv_mpi_fail( space, result, "%s", clv_space_error( space->inside ).text );
}

// ---- collective calls

static void yield( void )
{
#if defined( __unix__ ) || defined( __APPLE__ )
    sched_yield(); // several processes may share a core
#endif
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
    clv_mpi_fail( space, CLV_LOST, "%s failed: %.*s", what, length > 150 ? 150 : length, reason );
    space->is_lost = true;
    return false;
}

static bool wait_for( clv_mpi_space* space, MPI_Request* request )
{
    static const char what[] = "waiting for other processes";
    if ( !( space->def.time_limit > 0 ) )
    {
        return clv_mpi_succeeded( space, MPI_Wait( request, MPI_STATUS_IGNORE ), what );
    }
    uint64_t start = clv_base_clock_ns();
    int done = 0;
    while ( clv_mpi_succeeded( space, MPI_Test( request, &done, MPI_STATUS_IGNORE ), what ) && !done )
    {
        if ( (double)( clv_base_clock_ns() - start ) > space->def.time_limit * 1e9 )
        {
            clv_mpi_fail( space, CLV_LOST, "no answer from another process within %g s; it may have ended",
                space->def.time_limit );
            space->is_lost = true;
            return false;
        }
        yield();
    }
    return !space->is_lost;
}

bool clv_mpi_complete( clv_mpi_space* space, int answer, MPI_Request* request, const char* what )
{
    if ( space->is_lost || !clv_mpi_succeeded( space, answer, what ) )
    {
        return false;
    }
    uint64_t start = clv_base_clock_ns();
    bool is_done = wait_for( space, request );
    space->stats.wait_ms += (double)( clv_base_clock_ns() - start ) * 1e-6;
    return is_done;
}

bool clv_mpi_reduce(
    clv_mpi_space* space, const void* in, void* out, uint64_t count, MPI_Datatype type, MPI_Op op )
{
    CLV_ASSERT( count <= INT32_MAX ); // MPI counts in int
    MPI_Request request;
    int answer = MPI_Iallreduce( in, out, (int)count, type, op, space->net.all, &request );
    return clv_mpi_complete( space, answer, &request, "a reduction" );
}

bool clv_mpi_broadcast( clv_mpi_space* space, void* bytes, uint64_t size, int32_t root )
{
    CLV_ASSERT( size <= INT32_MAX && root >= 0 && root < space->process_count );
    MPI_Request request;
    int answer = MPI_Ibcast( bytes, (int)size, MPI_BYTE, root, space->net.all, &request );
    return clv_mpi_complete( space, answer, &request, "a broadcast" );
}

bool clv_mpi_gather_all( clv_mpi_space* space, const void* in, void* out, int count, MPI_Datatype type )
{
    MPI_Request request;
    int answer = MPI_Iallgather( in, count, type, out, count, type, space->net.all, &request );
    return clv_mpi_complete( space, answer, &request, "an exchange" );
}

uint64_t clv_mpi_starts_of( const int* counts, int* starts, int32_t count )
{
    uint64_t total = 0;
    for ( int32_t r = 0; r < count; ++r )
    {
        CLV_ASSERT( counts[r] >= 0 );
        starts[r] = total <= INT32_MAX ? (int)total : 0; // the caller refuses more
        total += (uint64_t)counts[r];
    }
    return total;
}

void clv_mpi_sort_by_rank( clv_mpi_space* space, const void* items, uint64_t count, size_t item_size,
    mpi_rank_of* rank_of, const void* user, void* sorted )
{
    mpi_exchange* e = &space->exchange;
    const char* from = items;
    memset( e->send_words, 0, (size_t)space->process_count * sizeof( int ) );
    for ( uint64_t i = 0; i < count; ++i )
    {
        int32_t rank = rank_of( user, from + i * item_size );
        CLV_ASSERT( rank >= 0 && rank < space->process_count );
        e->send_words[rank] += 1;
    }
    uint64_t total = clv_mpi_starts_of( e->send_words, e->send_starts, space->process_count );
    CLV_ASSERT( total == count );
    (void)total;
    for ( uint64_t i = 0; i < count; ++i )
    {
        uint64_t at = (uint64_t)e->send_starts[rank_of( user, from + i * item_size )]++;
        memcpy( (char*)sorted + at * item_size, from + i * item_size, item_size );
    }
    clv_mpi_starts_of( e->send_words, e->send_starts, space->process_count );
}

clv_result clv_mpi_deliver( clv_mpi_space* space, clv_result mine, const uint64_t* from, base_u64_array* into,
    int item_words, const char* what )
{
    mpi_exchange* e = &space->exchange;
    clv_result result = clv_mpi_agree( space, mine );
    if ( result != CLV_OK )
    {
        return result;
    }
    MPI_Request request;
    MPI_Datatype item = MPI_DATATYPE_NULL;
    int answer =
        MPI_Ialltoall( e->send_words, 1, MPI_INT, e->receive_words, 1, MPI_INT, space->net.all, &request );
    if ( !clv_mpi_complete( space, answer, &request, "an exchange" ) ||
        !clv_mpi_succeeded( space, MPI_Type_contiguous( item_words, MPI_UINT64_T, &item ), "a type" ) ||
        !clv_mpi_succeeded( space, MPI_Type_commit( &item ), "a type" ) )
    {
        return CLV_LOST;
    }
    uint64_t total = clv_mpi_starts_of( e->receive_words, e->receive_starts, space->process_count );
    into->count = 0;
    mine = total > INT32_MAX
        ? clv_mpi_fail( space, CLV_TOO_MANY_OBJECTS,
              "process %d would receive %llu %s, more than one message holds: use smaller batches or more processes",
              space->rank, (unsigned long long)total, what )
        : clv_mpi_reserved(
              space, base_array_renew( into, &space->memory, total * (uint64_t)item_words ), what );
    result = clv_mpi_agree( space, mine );
    if ( result == CLV_OK )
    {
        into->count = total * (uint64_t)item_words;
        answer = MPI_Ialltoallv( from, e->send_words, e->send_starts, item, into->items, e->receive_words,
            e->receive_starts, item, space->net.all, &request );
        result = clv_mpi_complete( space, answer, &request, "an exchange" ) ? CLV_OK : CLV_LOST;
    }
    MPI_Type_free( &item );
    return result;
}

// ---- agreement

// The first process with an error sends it to all.
static clv_result share_error( clv_mpi_space* space, int32_t sender )
{
    mpi_wire_error* error = &space->net.wire.first_error;
    *error = ( mpi_wire_error ){ 0 };
    if ( space->rank == sender )
    {
        *error = ( mpi_wire_error ){ (int32_t)space->error.code, space->error.rank, space->error.position, 0,
            space->error.id, "" };
        snprintf( error->text, sizeof( error->text ), "%s", space->error_text );
    }
    if ( !clv_mpi_broadcast( space, error, sizeof( *error ), sender ) )
    {
        return CLV_LOST;
    }
    CLV_ASSERT( error->code != CLV_OK );
    snprintf( space->error_text, sizeof( space->error_text ), "%s", error->text );
    space->error = ( clv_mpi_error ){ (clv_result)error->code, error->rank, error->position, error->id,
        space->error_text };
    return space->error.code;
}

// Reduced to its largest: 0 without an error, else the larger the lower the rank, so that the first process's
// error is shared.
static int32_t error_priority( const clv_mpi_space* space, clv_result mine )
{
    CLV_ASSERT( space->rank >= 0 && space->rank < space->process_count ); // a priority is above 0
    // What is sent is space->error: a code without it would be reported as another.
    CLV_ASSERT( mine == CLV_OK || space->is_lost || mine == space->error.code );
    return mine == CLV_OK ? 0 : space->process_count - space->rank;
}

static clv_result agreed_result( clv_mpi_space* space, int32_t priority )
{
    if ( priority == 0 )
    {
        space->error = ( clv_mpi_error ){ CLV_OK, -1, UINT32_MAX, 0, "" };
        return CLV_OK;
    }
    return share_error( space, space->process_count - priority );
}

static clv_result agree_on( clv_mpi_space* space, clv_result mine, uint64_t count )
{
    mpi_wire* wire = &space->net.wire;
    wire->reduce_in[0] = error_priority( space, mine );
    return !space->is_lost &&
            clv_mpi_reduce( space, wire->reduce_in, wire->reduce_out, count, MPI_INT32_T, MPI_MAX )
        ? agreed_result( space, wire->reduce_out[0] )
        : CLV_LOST;
}

clv_result clv_mpi_agree( clv_mpi_space* space, clv_result mine )
{
    return agree_on( space, mine, 1 );
}

clv_result clv_mpi_agree_reserved( clv_mpi_space* space, bool has_memory, const char* what )
{
    return clv_mpi_agree( space, clv_mpi_reserved( space, has_memory, what ) );
}

clv_result clv_mpi_agree_and_reduce( clv_mpi_space* space, clv_result mine )
{
    return agree_on(
        space, mine, sizeof( space->net.wire.reduce_in ) / sizeof( space->net.wire.reduce_in[0] ) );
}

// ---- sums

// MPI calls this for two tallies. A tally is one element of its own type, so that MPI does not split it.
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
    mpi_wire* wire = &space->net.wire;
    wire->own[TALLY_ERROR] = (uint64_t)error_priority( space, mine );
    return !space->is_lost &&
            clv_mpi_reduce( space, wire->own, wire->sums, 1, space->net.tally, space->net.add_up )
        ? agreed_result( space, (int32_t)wire->sums[TALLY_ERROR] )
        : CLV_LOST;
}
