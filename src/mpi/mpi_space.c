// SPDX-License-Identifier: MIT
// A space over processes: how they agree, with errors, collective calls with a time limit, and data sorted by
// the process it goes to; and how it is made, asked about, ended.
#include "base/assertion.h"
#include "base/bits.h"
#include "base/fp_mode.h"
#include "base/timer.h"
#include "mpi_state.h"

#include <stdarg.h>
#include <stdio.h>

#if defined( __unix__ ) || defined( __APPLE__ )
#include <sched.h>
#endif

// ---- errors of this process

clv_result clv_mpi_fail_at(
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

static bool open_tally( clv_mpi_space* space )
{
    return MPI_Type_contiguous( TALLY_COUNT, MPI_UINT64_T, &space->net.tally ) == MPI_SUCCESS &&
        MPI_Type_commit( &space->net.tally ) == MPI_SUCCESS &&
        MPI_Op_create( add_up, 1, &space->net.add_up ) == MPI_SUCCESS;
}

static void close_tally( clv_mpi_space* space )
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

// ---- defs

enum
{
    COOKIE = 0x434C564D
};

clv_mpi_def clv_default_mpi_def( void )
{
    clv_mpi_def def = { .size = sizeof( clv_mpi_def ), .cookie = COOKIE, .imbalance = 0.1f, .wide = 16 };
    def.space = clv_default_space_def();
    return def;
}

static const char* fault_of( const clv_mpi_def* def )
{
    bool has_payload = def->payload.size > 0;
    return def->space.filter != NULL ? "space.filter is to be left NULL; def.filter asks by ids"
        : def->space.max_pairs != 0 || def->space.pair_data
        ? "space.max_pairs and space.pair_data are to be left 0"
        : def->space.doubles || def->space.flat ? "spaces of doubles and flat ones stay in one process"
        : !( def->imbalance > 0 )               ? "imbalance must be above 0; 0.1 is the default"
        : !( def->time_limit >= 0 )             ? "time_limit must be 0 or more"
        : def->wide == 0                        ? "wide must be 1 or more; 16 is the default"
        : has_payload && def->borrowed          ? "borrowed objects never leave, so they need no payload"
        : has_payload && ( def->payload.pack == NULL || def->payload.unpack == NULL )
        ? "a payload needs pack and unpack"
        : def->cutter == CLV_MPI_CUT_ZOLTAN && !clv_mpi_has_zoltan() ? "this library was built without Zoltan"
                                                                     : NULL;
}

static void log_line( const clv_logger* logger, const char* text )
{
    if ( logger->write != NULL )
    {
        logger->write( CLV_LOG_ERROR, text, logger->user );
    }
}

// Inside, boxes are test boxes already, and lists are ours to sort and compare.
static bool ask_filter( const clv_space* inside, clv_pair pair, void* user )
{
    const clv_mpi_space* space = user;
    (void)inside;
    uint64_t a = space->columns.ids.items[pair.a], b = space->columns.ids.items[pair.b];
    return space->def.filter( a < b ? a : b, a < b ? b : a, space->def.filter_user );
}

clv_result clv_mpi_open_inside( clv_mpi_space* space, clv_space** inside )
{
    clv_space_def def = space->def.space;
    def.margin = def.margin_by_size = def.margin_by_speed = 0;
    def.sorted = def.events = false;
    def.filter = space->def.filter != NULL ? ask_filter : NULL;
    def.filter_user = space;
    return clv_space_create( &def, inside );
}

// ---- memory

static uint64_t table_bytes( const clv_mpi_space* space )
{
    uint64_t n = (uint64_t)space->process_count;
    return n * sizeof( uint64_t ) + 11 * ( n + 1 ) * sizeof( int32_t ) + 2 * n;
}

// Tables by process, in one piece of memory that begins with `words`.
static bool take_tables( clv_mpi_space* space )
{
    mpi_exchange* e = &space->exchange;
    mpi_net* net = &space->net;
    uint64_t n = (uint64_t)space->process_count;
    e->words = clv_base_memory_take( &space->memory, table_bytes( space ), 1 );
    if ( e->words == NULL )
    {
        return false;
    }
    memset( e->words, 0, table_bytes( space ) );
    int32_t* next = (int32_t*)( e->words + n );
    int32_t** const tables[] = { &e->ranks, &e->ranks_before, &e->counts, &net->out_ranks, &net->in_ranks,
        &e->send_words, &e->send_starts, &e->receive_words, &e->receive_starts, &e->wide_words,
        &e->wide_starts };
    for ( size_t i = 0; i < sizeof( tables ) / sizeof( tables[0] ); ++i )
    {
        *tables[i] = next;
        next += n + 1;
    }
    net->sends_to = (uint8_t*)next;
    net->receives_from = net->sends_to + n;
    CLV_ASSERT( net->receives_from + n == (uint8_t*)e->words + table_bytes( space ) );
    return clv_mpi_regions_open( &space->partition.regions, &space->memory, space->process_count ) &&
        clv_mpi_regions_open( &space->partition.regions_before, &space->memory, space->process_count );
}

static void give_all( clv_mpi_space* space )
{
    base_memory* memory = &space->memory;
    clv_mpi_columns_free( space );
    mpi_slots* s = &space->slots;
    base_array_free( &s->own, memory );
    base_array_free( &s->border, memory );
    base_array_free( &s->ghosts, memory );
    base_array_free( &s->gone, memory );
    base_array_free( &s->moved_ids, memory );
    base_array_free( &s->moved_boxes, memory );
    mpi_lookup* l = &space->lookup;
    clv_mpi_ids_free( &l->table, memory );
    clv_mpi_ids_free( &l->directory, memory );
    base_array_free( &l->changes, memory );
    base_array_free( &l->batch, memory );
    base_array_free( &l->previous_batch, memory );
    clv_mpi_regions_close( &space->partition.regions, memory );
    clv_mpi_regions_close( &space->partition.regions_before, memory );
    mpi_exchange* e = &space->exchange;
    clv_base_memory_give( memory, e->words, table_bytes( space ), 1 );
    base_array_free( &e->sends, memory );
    base_array_free( &e->wide, memory );
    base_array_free( &e->outbox, memory );
    base_array_free( &e->inbox, memory );
    base_array_free( &e->wide_outbox, memory );
    base_array_free( &e->new_records, memory );
    base_array_free( &e->new_ids, memory );
    base_array_free( &e->new_boxes, memory );
    base_array_free( &e->arrivals, memory );
    base_array_free( &e->scratch, memory );
    mpi_pairs* p = &space->pairs;
    base_array_free( &p->found, memory );
    base_array_free( &p->found_before, memory );
    base_array_free( &p->found_scratch, memory );
    base_array_free( &p->corners, memory );
    base_array_free( &p->list, memory );
    base_array_free( &p->begun, memory );
    base_array_free( &p->ended, memory );
    base_array_free( &p->gathered, memory );
    clv_mpi_questions_free( &space->questions, memory );
}

// ---- made and ended

// What must be the same on all processes, in one number.
static uint64_t hash_def( const clv_mpi_def* def )
{
    const uint64_t parts[] = { def->payload.size, def->space.events, def->space.sorted,
        def->space.skip_static_pairs, def->borrowed, def->balance_by_time, def->trust_ids, def->wide,
        (uint64_t)def->cutter, clv_mpi_has_zoltan(), def->filter != NULL, base_float_order( def->imbalance ),
        base_float_order( def->space.margin ), base_float_order( def->space.margin_by_size ),
        base_float_order( def->space.margin_by_speed ) };
    uint64_t hash = 0;
    for ( size_t i = 0; i < sizeof( parts ) / sizeof( parts[0] ); ++i )
    {
        hash = clv_mpi_ids_mix( hash + parts[i] + 0x9E3779B97F4A7C15u );
    }
    return hash;
}

// The defs of all processes are good and the same, and all had memory, or none gets a space.
static clv_result agree_early( MPI_Comm communicator, clv_result mine, uint64_t hash, bool* is_same )
{
    const uint64_t own[3] = { (uint64_t)mine, hash, ~hash };
    uint64_t most[3] = { 0, 0, 0 };
    if ( MPI_Allreduce( own, most, 3, MPI_UINT64_T, MPI_MAX, communicator ) != MPI_SUCCESS )
    {
        return CLV_LOST;
    }
    *is_same = most[1] == ~most[2];
    return most[0] != CLV_OK ? (clv_result)most[0] : *is_same ? CLV_OK : CLV_BAD_DEF;
}

static clv_mpi_space* make_space( const clv_mpi_def* def, MPI_Comm communicator, clv_result* result )
{
    base_memory memory = clv_base_memory_make( def->space.allocator );
    clv_mpi_space* space = clv_base_memory_take( &memory, 1, sizeof( clv_mpi_space ) );
    if ( space == NULL )
    {
        *result = CLV_OUT_OF_MEMORY;
        return NULL;
    }
    *space = ( clv_mpi_space ){ .def = *def,
        .memory = memory,
        .net = { .all = MPI_COMM_NULL,
            .neighbours = MPI_COMM_NULL,
            .tally = MPI_DATATYPE_NULL,
            .add_up = MPI_OP_NULL },
        .slots = { .ids_are_slots = true },
        .partition = { .cut_is_due = true } };
    clv_mpi_reset_balance( space );
    MPI_Comm_rank( communicator, &space->rank );
    MPI_Comm_size( communicator, &space->process_count );
    space->modes.has_history = def->space.events;
    space->modes.has_margins =
        def->space.margin > 0 || def->space.margin_by_size > 0 || def->space.margin_by_speed > 0;
    space->error = ( clv_mpi_error ){ CLV_OK, -1, UINT32_MAX, 0, "" };
    *result = take_tables( space ) ? clv_mpi_open_inside( space, &space->inside ) : CLV_OUT_OF_MEMORY;
    return space;
}

static void end_space( clv_mpi_space* space )
{
    clv_space_destroy( space->inside );
    close_tally( space );
    give_all( space );
    base_memory memory = space->memory;
    clv_base_memory_give( &memory, space, 1, sizeof( clv_mpi_space ) );
}

static clv_result create_now( MPI_Comm communicator, const clv_mpi_def* def, clv_mpi_space** space )
{
    *space = NULL;
    bool is_def = def->cookie == COOKIE && def->size == sizeof( clv_mpi_def );
    const char* fault = is_def ? fault_of( def ) : "the def was not made by clv_default_mpi_def";
    clv_result mine = fault == NULL ? CLV_OK : CLV_BAD_DEF;
    if ( is_def && fault != NULL )
    {
        log_line( &def->space.logger, fault );
    }
    clv_mpi_space* fresh = mine == CLV_OK ? make_space( def, communicator, &mine ) : NULL;
    bool is_same = true;
    clv_result result = agree_early( communicator, mine, is_def ? hash_def( def ) : 0, &is_same );
    if ( result == CLV_OK &&
        ( MPI_Comm_dup( communicator, &fresh->net.all ) != MPI_SUCCESS ||
            MPI_Comm_set_errhandler( fresh->net.all, MPI_ERRORS_RETURN ) != MPI_SUCCESS ||
            !open_tally( fresh ) ) )
    {
        result = CLV_LOST;
    }
    if ( result != CLV_OK )
    {
        if ( is_def && mine == CLV_OK )
        {
            log_line( &def->space.logger,
                is_same ? "another process could not make its part of the space"
                        : "the defs of the processes differ" );
        }
        if ( fresh != NULL )
        {
            end_space( fresh );
        }
        return result;
    }
    *space = fresh;
    return CLV_OK;
}

clv_result clv_mpi_space_create( MPI_Comm communicator, const clv_mpi_def* def, clv_mpi_space** space )
{
    base_fp_mode mode = base_fp_enter();
    clv_result result = create_now( communicator, def, space );
    base_fp_leave( mode );
    return result;
}

void clv_mpi_space_destroy( clv_mpi_space* space )
{
    if ( space == NULL )
    {
        return;
    }
    // After a loss MPI's buffers and communicators stay: freeing a communicator would wait for the process
    // that is gone, and a message that comes late is still written to its buffer.
    if ( space->is_lost )
    {
        clv_space_destroy( space->inside );
        space->inside = NULL;
        return;
    }
    if ( space->net.neighbours != MPI_COMM_NULL )
    {
        MPI_Comm_free( &space->net.neighbours );
    }
    MPI_Comm_free( &space->net.all );
    end_space( space );
}

clv_mpi_pair_view clv_mpi_space_pairs( const clv_mpi_space* space )
{
    clv_mpi_pair_view view = { space->pairs.list.items, space->pairs.is_valid ? space->pairs.list.count : 0,
        space->pairs.is_valid };
    return view;
}

clv_mpi_event_view clv_mpi_space_events( const clv_mpi_space* space )
{
    bool is_valid = space->pairs.is_valid;
    clv_mpi_event_view view = { space->pairs.begun.items, is_valid ? space->pairs.begun.count : 0,
        space->pairs.ended.items, is_valid ? space->pairs.ended.count : 0 };
    return view;
}

clv_mpi_stats clv_mpi_space_stats( const clv_mpi_space* space )
{
    return space->stats;
}

clv_mpi_error clv_mpi_space_error( const clv_mpi_space* space )
{
    return space->error;
}

clv_mpi_region clv_mpi_space_region( const clv_mpi_space* space, int32_t rank )
{
    return space->partition.regions.bounds[rank < 0 || rank >= space->process_count ? space->rank : rank];
}
