// SPDX-License-Identifier: MIT
// A space over processes: made, asked about, ended.
#include "base/assertion.h"
#include "base/bits.h"
#include "base/fp_mode.h"
#include "mpi_state.h"

#include <stdio.h>

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
    clv_mpi_tally_close( space );
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
            !clv_mpi_tally_open( fresh ) ) )
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
