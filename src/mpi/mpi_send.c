// SPDX-License-Identifier: MIT
// What other processes must know in an update, and how it gets there. A record describes one object in 64-bit
// words: the id, the test box, flags and owner; then, for a process that does not know the object yet, its
// box of the last update and its filters; then, for its next owner, all else. In a steady update records go
// to neighbours alone, by a neighbourhood collective; the neighbours are found by a call to all processes,
// made only when a process has a record for one that is no neighbour yet. Boxes that reach more than def.wide
// regions are sent to all processes apart, so that one floor does not make all processes neighbours of each
// other.
#include "base/assertion.h"
#include "base/timer.h"
#include "mpi_state.h"

static uint64_t payload_words( const clv_mpi_space* space )
{
    return ( (uint64_t)space->def.payload.size + 7 ) / 8;
}

uint64_t clv_mpi_record_words( const clv_mpi_space* space, uint32_t kind )
{
    return RECORD_SHORT_WORDS + ( ( kind & RECORD_FULL ) != 0 ? (uint64_t)RECORD_FULL_WORDS : 0 ) +
        ( ( kind & RECORD_OWNED ) != 0 ? RECORD_OWNED_WORDS + payload_words( space ) : 0 );
}

// ---- receivers

static bool add_send( clv_mpi_space* space, int32_t to, uint32_t slot, uint32_t kind )
{
    CLV_ASSERT( to >= 0 && to < space->process_count && to != space->rank );
    CLV_ASSERT( slot < space->slots.end && ( space->columns.flags.items[slot] & SLOT_OWN ) != 0 );
    if ( !base_array_reserve( &space->exchange.sends, &space->memory, space->exchange.sends.count + 1 ) )
    {
        return false;
    }
    space->exchange.sends.items[space->exchange.sends.count++] = ( mpi_send ){ to, slot, kind };
    return true;
}

// Processes that knew the object after the last good update; none where there is no history.
static uint32_t find_ranks_before( clv_mpi_space* space, uint32_t slot )
{
    bool is_old = ( space->columns.flags.items[slot] & SLOT_OLD ) != 0;
    return space->modes.has_history && is_old
        ? clv_mpi_regions_reach( &space->partition.regions_before, &space->columns.befores.items[slot],
              space->exchange.ranks_before )
        : 0;
}

static uint32_t kind_for( const clv_mpi_space* space, uint32_t slot, bool is_known )
{
    uint32_t flags = space->columns.flags.items[slot];
    bool is_full = space->modes.has_history &&
        ( !is_known || space->modes.must_resend || ( flags & SLOT_CHANGED ) != 0 );
    return ( is_full ? RECORD_FULL : 0u ) | ( ( flags & SLOT_STATIC ) != 0 ? RECORD_STATIC : 0u ) |
        ( ( flags & SLOT_OLD ) != 0 ? RECORD_OLD : 0u ) |
        ( ( flags & SLOT_WAS_STATIC ) != 0 ? RECORD_WAS_STATIC : 0u );
}

// Sends of one own object that does not lie inside the region.
static bool add_sends( clv_mpi_space* space, uint32_t slot )
{
    mpi_columns* c = &space->columns;
    uint32_t now =
        clv_mpi_regions_reach( &space->partition.regions, &c->boxes.items[slot], space->exchange.ranks );
    CLV_ASSERT( now > 0 && now <= (uint32_t)space->process_count ); // ranks[0] may become the owner
    uint32_t before = find_ranks_before( space, slot );
    CLV_ASSERT( before <= (uint32_t)space->process_count );
    bool is_wide = now > space->def.wide || before > space->def.wide;
    // The middle of a box that lies at infinity alone is elsewhere: then the first process that it reaches
    // owns it.
    if ( !space->def.borrowed &&
        !mpi_is_among( space->exchange.ranks, now, c->identities.items[slot].owner ) )
    {
        c->identities.items[slot].owner = space->exchange.ranks[0];
        c->flags.items[slot] &= ~(uint32_t)SLOT_LEAVING;
        c->flags.items[slot] |= space->exchange.ranks[0] != space->rank ? (uint32_t)SLOT_LEAVING : 0;
    }
    int32_t owner = c->identities.items[slot].owner;
    CLV_ASSERT( owner >= 0 && owner < space->process_count );
    CLV_ASSERT( ( owner != space->rank ) == ( ( c->flags.items[slot] & SLOT_LEAVING ) != 0 ) );
    bool ok = true;
    if ( is_wide )
    {
        ok = base_array_reserve( &space->exchange.wide, &space->memory, space->exchange.wide.count + 1 );
        if ( ok )
        {
            space->exchange.wide.items[space->exchange.wide.count++] = slot;
        }
    }
    for ( uint32_t i = 0; ok && i < now; ++i )
    {
        int32_t to = space->exchange.ranks[i];
        bool is_owner = to == owner && owner != space->rank;
        if ( to != space->rank && ( !is_wide || is_owner ) )
        {
            uint32_t kind = kind_for( space, slot, mpi_is_among( space->exchange.ranks_before, before, to ) );
            ok = add_send( space, to, slot, is_owner ? kind | RECORD_OWNED : kind );
        }
    }
    // A last record for those it no longer reaches: they must tell pairs that ended from pairs that others
    // report now.
    for ( uint32_t i = 0; ok && !is_wide && space->def.space.events && i < before; ++i )
    {
        int32_t to = space->exchange.ranks_before[i];
        if ( to != space->rank && !mpi_is_among( space->exchange.ranks, now, to ) )
        {
            ok = add_send( space, to, slot, kind_for( space, slot, true ) );
        }
    }
    return ok;
}

// Written only where it changed: most objects stay inside, and their identities need not be read.
static void set_inside( mpi_columns* c, uint32_t slot, bool is_inside )
{
    uint32_t flags = c->flags.items[slot];
    if ( ( ( flags & SLOT_INSIDE ) != 0 ) != is_inside )
    {
        c->flags.items[slot] = flags ^ SLOT_INSIDE;
        c->identities.items[slot].is_inside = is_inside;
    }
}

static bool was_inside( const clv_mpi_space* space, uint32_t slot, const clv_aabb* here_before )
{
    return !space->modes.has_history || ( space->columns.flags.items[slot] & SLOT_OLD ) == 0 ||
        mpi_box_encloses( here_before, &space->columns.befores.items[slot] );
}

// The sends of an own object, if there are any. False: out of memory.
static bool select_one(
    clv_mpi_space* space, uint32_t slot, const clv_aabb* here, const clv_aabb* here_before )
{
    mpi_columns* c = &space->columns;
    CLV_ASSERT( slot < space->slots.end && ( c->flags.items[slot] & SLOT_OWN ) != 0 );
    bool is_inside = mpi_box_encloses( here, &c->boxes.items[slot] );
    set_inside( c, slot, is_inside );
    if ( is_inside && was_inside( space, slot, here_before ) )
    {
        return true;
    }
    if ( !space->def.borrowed )
    {
        int32_t owner =
            clv_mpi_regions_home( &space->partition.regions, clv_mpi_box_middle( &c->boxes.items[slot] ) );
        c->identities.items[slot].owner = owner;
        c->flags.items[slot] |= owner != space->rank ? (uint32_t)SLOT_LEAVING : 0;
    }
    return add_sends( space, slot );
}

clv_result clv_mpi_select_receivers( clv_mpi_space* space )
{
    space->exchange.sends.count = 0;
    space->exchange.wide.count = 0;
    if ( space->process_count == 1 )
    {
        return CLV_OK;
    }
    const clv_aabb here = clv_mpi_region_inner( &space->partition.regions.bounds[space->rank] );
    const clv_aabb here_before = clv_mpi_region_inner( &space->partition.regions_before.bounds[space->rank] );
    bool border_is_enough = space->slots.border_is_known && !space->modes.has_history &&
        !space->stats.was_cut && !space->modes.must_resend;
    if ( !border_is_enough )
    {
        clv_mpi_boxes_fetch( space );
    }
    const base_u32_array* slots = border_is_enough ? &space->slots.border : &space->slots.own;
    CLV_ASSERT( !space->slots.own_is_stale && slots->count <= space->slots.own.count );
    for ( uint64_t i = 0; i < slots->count; ++i )
    {
        if ( border_is_enough && i + PREFETCH_DISTANCE < slots->count )
        {
            clv_mpi_slot_fetch( space, slots->items[i + PREFETCH_DISTANCE] );
        }
        if ( !select_one( space, slots->items[i], &here, &here_before ) )
        {
            return clv_mpi_reserved( space, false, "ghosts" );
        }
    }
    return CLV_OK;
}

// ---- records

static uint64_t* write_record( clv_mpi_space* space, uint32_t slot, uint32_t kind, uint64_t* at )
{
    const mpi_columns* c = &space->columns;
    CLV_ASSERT( slot < space->slots.end && ( c->flags.items[slot] & SLOT_OWN ) != 0 );
    CLV_ASSERT( ( kind & RECORD_FULL ) == 0 || space->modes.has_history );
    at[0] = c->ids.items[slot];
    memcpy( at + 1, &c->boxes.items[slot], sizeof( clv_aabb ) );
    at[4] = (uint64_t)kind << 32 | (uint32_t)c->identities.items[slot].owner;
    at += RECORD_SHORT_WORDS;
    if ( ( kind & RECORD_FULL ) != 0 )
    {
        memcpy( at, &c->befores.items[slot], sizeof( clv_aabb ) );
        memcpy( at + 3, &c->filters.items[slot], sizeof( clv_filter ) );
        memcpy( at + 6, &c->filters_before.items[slot], sizeof( clv_filter ) );
        at += RECORD_FULL_WORDS;
    }
    if ( ( kind & RECORD_OWNED ) != 0 )
    {
        memset( at, 0, ( RECORD_OWNED_WORDS + payload_words( space ) ) * sizeof( uint64_t ) );
        memcpy( at, space->modes.has_margins ? &c->givens.items[slot] : &c->boxes.items[slot],
            sizeof( clv_aabb ) );
        if ( space->modes.has_margins )
        {
            memcpy( at + 3, &c->rules.items[slot], sizeof( clv_margin_rule ) );
            memcpy( at + 5, &c->motions.items[slot], sizeof( clv_vec3 ) );
        }
        at += RECORD_OWNED_WORDS;
        if ( space->def.payload.size > 0 )
        {
            space->def.payload.pack( c->ids.items[slot], at, space->def.payload.user );
            at += payload_words( space );
        }
    }
    return at;
}

// ---- room

static uint64_t wide_words( const clv_mpi_space* space )
{
    return space->exchange.wide.count *
        clv_mpi_record_words( space, space->modes.has_history ? RECORD_FULL : 0 );
}

static clv_result too_many_ghosts( clv_mpi_space* space )
{
    return clv_mpi_fail( space, CLV_TOO_MANY_OBJECTS,
        "the ghosts of process %d exceed the message limit: use more processes", space->rank );
}

// Room for all that this process sends, before any process sends.
static clv_result reserve_outboxes( clv_mpi_space* space )
{
    uint64_t words = 0;
    for ( uint64_t i = 0; i < space->exchange.sends.count; ++i )
    {
        const mpi_send* send = &space->exchange.sends.items[i];
        uint64_t more = clv_mpi_record_words( space, send->kind );
        space->exchange.words[send->to] += more;
        space->net.sends_to[send->to] |= 2;
        words += more;
    }
    CLV_ASSERT( space->net.sends_to[space->rank] == 0 ); // no process is its own neighbour
    if ( words > INT32_MAX || wide_words( space ) > INT32_MAX )
    {
        return too_many_ghosts( space );
    }
    return clv_mpi_reserved( space,
        base_array_renew( &space->exchange.outbox, &space->memory, words ) &&
            base_array_renew( &space->exchange.wide_outbox, &space->memory, wide_words( space ) ),
        "ghosts to send" );
}

static bool has_new_neighbours( const clv_mpi_space* space )
{
    for ( int32_t r = 0; r < space->process_count; ++r )
    {
        if ( space->net.sends_to[r] == 2 )
        {
            return true;
        }
    }
    return false;
}

// ---- neighbours

// Each process asks each other once. A neighbour stays one until space is cut anew.
static clv_result find_neighbours( clv_mpi_space* space )
{
    for ( int32_t r = 0; r < space->process_count; ++r )
    {
        space->net.sends_to[r] = space->net.sends_to[r] != 0;
    }
    MPI_Request request;
    int answer = MPI_Ialltoall( space->net.sends_to, 1, MPI_UINT8_T, space->net.receives_from, 1, MPI_UINT8_T,
        space->net.all, &request );
    if ( !clv_mpi_complete( space, answer, &request, "an exchange" ) )
    {
        return CLV_LOST;
    }
    space->net.out_count = space->net.in_count = 0;
    for ( int32_t r = 0; r < space->process_count; ++r )
    {
        space->net.out_ranks[space->net.out_count] = r;
        space->net.out_count += space->net.sends_to[r] != 0;
        space->net.in_ranks[space->net.in_count] = r;
        space->net.in_count += space->net.receives_from[r] != 0;
    }
    if ( space->net.neighbours != MPI_COMM_NULL &&
        !clv_mpi_succeeded( space, MPI_Comm_free( &space->net.neighbours ), "leaving a graph" ) )
    {
        return CLV_LOST;
    }
    CLV_ASSERT( space->net.out_count < space->process_count && space->net.sends_to[space->rank] == 0 );
    // All alike; MPI_UNWEIGHTED is an address that GCC thinks is read.
    for ( int32_t r = 0; r < space->process_count; ++r )
    {
        space->exchange.send_words[r] = space->exchange.receive_words[r] = 1;
    }
    answer = MPI_Dist_graph_create_adjacent( space->net.all, space->net.in_count, space->net.in_ranks,
        space->exchange.receive_words, space->net.out_count, space->net.out_ranks, space->exchange.send_words,
        MPI_INFO_NULL, 0, &space->net.neighbours );
    return clv_mpi_succeeded( space, answer, "making a graph" ) ? CLV_OK : CLV_LOST;
}

// ---- sending

// Each record behind those before it to the same neighbour.
static void write_outbox( clv_mpi_space* space )
{
    mpi_exchange* e = &space->exchange;
    clv_mpi_starts_of( e->send_words, e->send_starts, space->net.out_count );
    for ( int32_t i = 0; i < space->net.out_count; ++i )
    {
        e->words[space->net.out_ranks[i]] = (uint64_t)e->send_starts[i];
        space->stats.bytes_sent += (uint64_t)e->send_words[i] * sizeof( uint64_t );
        space->stats.message_count += e->send_words[i] > 0;
    }
    for ( uint64_t i = 0; i < e->sends.count; ++i )
    {
        const mpi_send* send = &e->sends.items[i];
        clv_mpi_slot_fetch(
            space, e->sends.items[i + PREFETCH_DISTANCE < e->sends.count ? i + PREFETCH_DISTANCE : i].slot );
        uint64_t* at = e->outbox.items + e->words[send->to];
        e->words[send->to] =
            (uint64_t)( write_record( space, send->slot, send->kind, at ) - e->outbox.items );
        CLV_ASSERT( e->words[send->to] <= e->outbox.capacity );
    }
    for ( int32_t i = 0; i < space->net.out_count; ++i )
    {
        // What is written is what the neighbour was told to expect.
        CLV_ASSERT( e->words[space->net.out_ranks[i]] == (uint64_t)( e->send_starts[i] + e->send_words[i] ) );
    }
}

// Own boxes that the space inside does not have yet, while records are under way: other processes need
// nothing of that.
static clv_result move_own( clv_mpi_space* space )
{
    if ( space->slots.moved_count == 0 )
    {
        return CLV_OK;
    }
    bool fits = base_array_renew( &space->slots.moved_ids, &space->memory, space->slots.end ) &&
        base_array_renew( &space->slots.moved_boxes, &space->memory, space->slots.end );
    return fits ? clv_mpi_inner_result( space, clv_mpi_move_flagged( space, &space->slots.own ) )
                : clv_mpi_reserved( space, false, "boxes that moved" );
}

// How many words each neighbour is to expect.
static bool exchange_counts( clv_mpi_space* space, bool has_sends )
{
    for ( int32_t i = 0; i < space->net.out_count; ++i )
    {
        CLV_ASSERT( !has_sends || space->exchange.words[space->net.out_ranks[i]] <= INT32_MAX );
        space->exchange.send_words[i] = has_sends ? (int)space->exchange.words[space->net.out_ranks[i]] : 0;
    }
    MPI_Request request;
    int answer = MPI_Ineighbor_alltoall( space->exchange.send_words, 1, MPI_INT,
        space->exchange.receive_words, 1, MPI_INT, space->net.neighbours, &request );
    return clv_mpi_complete( space, answer, &request, "an exchange" );
}

static clv_result reserve_inbox( clv_mpi_space* space )
{
    mpi_exchange* e = &space->exchange;
    uint64_t words = clv_mpi_starts_of( e->receive_words, e->receive_starts, space->net.in_count );
    e->inbox.count = 0;
    if ( words > INT32_MAX )
    {
        return too_many_ghosts( space );
    }
    if ( !base_array_renew( &e->inbox, &space->memory, words ) )
    {
        return clv_mpi_reserved( space, false, "ghosts" );
    }
    e->inbox.count = words;
    return CLV_OK;
}

static clv_result exchange_records( clv_mpi_space* space )
{
    mpi_exchange* e = &space->exchange;
    CLV_ASSERT( space->net.neighbours != MPI_COMM_NULL );
    write_outbox( space );
    MPI_Request request;
    int answer = MPI_Ineighbor_alltoallv( e->outbox.items, e->send_words, e->send_starts, MPI_UINT64_T,
        e->inbox.items, e->receive_words, e->receive_starts, MPI_UINT64_T, space->net.neighbours, &request );
    uint64_t start = clv_base_clock_ns();
    clv_result mine = move_own( space );
    space->stats.search_ms += (double)( clv_base_clock_ns() - start ) * 1e-6;
    return clv_mpi_complete( space, answer, &request, "an exchange" ) ? mine : CLV_LOST;
}

// ---- to all processes

static clv_result broadcast_wide( clv_mpi_space* space )
{
    mpi_exchange* e = &space->exchange;
    uint64_t* at = e->wide_outbox.items;
    for ( uint64_t i = 0; i < e->wide.count; ++i )
    {
        at = write_record( space, e->wide.items[i], kind_for( space, e->wide.items[i], false ), at );
    }
    int words = space->net.wire.words = (int)wide_words( space );
    CLV_ASSERT( at == NULL || at - e->wide_outbox.items == words );
    space->stats.bytes_sent += (uint64_t)words * sizeof( uint64_t ) * ( (uint64_t)space->process_count - 1 );
    if ( !clv_mpi_gather_all( space, &space->net.wire.words, e->wide_words, 1, MPI_INT ) )
    {
        return CLV_LOST;
    }
    // Its own come last, where they are cut off.
    int total = 0;
    for ( int32_t i = 1; i <= space->process_count; ++i )
    {
        int32_t r = ( space->rank + i ) % space->process_count;
        e->wide_starts[r] = total;
        total = e->wide_words[r] <= INT32_MAX - total ? total + e->wide_words[r] : INT32_MAX;
    }
    clv_result result = clv_mpi_agree( space,
        total == INT32_MAX
            ? too_many_ghosts( space )
            : clv_mpi_reserved( space,
                  base_array_renew( &e->inbox, &space->memory, e->inbox.count + (uint64_t)total ),
                  "boxes that reach many regions" ) );
    if ( result != CLV_OK )
    {
        return result;
    }
    CLV_ASSERT( e->wide_words[space->rank] == words && e->wide_starts[space->rank] == total - words );
    CLV_ASSERT( e->inbox.capacity >= e->inbox.count + (uint64_t)total );
    MPI_Request request;
    int answer = MPI_Iallgatherv( e->wide_outbox.items, words, MPI_UINT64_T, e->inbox.items + e->inbox.count,
        e->wide_words, e->wide_starts, MPI_UINT64_T, space->net.all, &request );
    e->inbox.count += (uint64_t)( total - words );
    return clv_mpi_complete( space, answer, &request, "an exchange" ) ? CLV_OK : CLV_LOST;
}

// ---- all of it

// Sizes to and from the neighbours there are, and room for what they send.
static clv_result exchange_sizes( clv_mpi_space* space, clv_result mine )
{
    if ( !exchange_counts( space, mine == CLV_OK ) )
    {
        return CLV_LOST;
    }
    clv_result room = reserve_inbox( space );
    return mine == CLV_OK ? room : mine;
}

// All processes have room for what they receive, or none sends. In a steady update that takes one reduction,
// which also tells whether any process has records for one that is no neighbour yet, and whether any has wide
// boxes.
static clv_result prepare( clv_mpi_space* space, clv_result mine )
{
    bool has_graph = space->net.neighbours != MPI_COMM_NULL;
    memset( space->exchange.words, 0, (size_t)space->process_count * sizeof( uint64_t ) );
    mine = mine == CLV_OK ? reserve_outboxes( space ) : mine;
    mine = has_graph ? exchange_sizes( space, mine ) : mine;
    space->net.wire.reduce_in[1] = !has_graph || ( mine == CLV_OK && has_new_neighbours( space ) );
    space->net.wire.reduce_in[2] = mine == CLV_OK && space->exchange.wide.count > 0;
    clv_result result = clv_mpi_agree_and_reduce( space, mine );
    if ( result != CLV_OK || space->net.wire.reduce_out[1] == 0 )
    {
        return result;
    }
    result = find_neighbours( space );
    result = result == CLV_OK ? exchange_sizes( space, CLV_OK ) : result;
    return clv_mpi_agree( space, result ); // which leaves reduce_out[2] as it is
}

clv_result clv_mpi_exchange( clv_mpi_space* space, clv_result mine )
{
    clv_result result = prepare( space, mine );
    space->exchange.wide_begin = space->exchange.inbox.count;
    result = result == CLV_OK && space->net.wire.reduce_out[2] != 0 ? broadcast_wide( space ) : result;
    result = result == CLV_OK ? exchange_records( space ) : result;
    for ( int32_t r = 0; r < space->process_count; ++r )
    {
        space->net.sends_to[r] &= 1;
    }
    space->stats.neighbour_count = (uint32_t)space->net.out_count;
    return result;
}
