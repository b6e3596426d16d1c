// SPDX-License-Identifier: MIT
// Letters from process to process. In a steady update they go to neighbours alone, by a neighbourhood collective; who the
// neighbours are is asked of everybody only when somebody has a letter for a stranger. Boxes that reach very many regions
// travel apart, from each process to all, so that one floor does not make everybody everybody's neighbour.
#include "base/assertion.h"
#include "base/timer.h"
#include "mpi_check.h"
#include "mpi_state.h"

// ---- letters in order

// Sorted by receiver.
static clv_result sort_letters( clv_mpi_space* space )
{
    uint64_t count = space->exchange.sends.count;
    if ( !base_array_renew( &space->exchange.sorted_sends, &space->memory, count ) )
    {
        return clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for %llu letters",
            (unsigned long long)count );
    }
    uint32_t* starts = space->exchange.counts;
    memset( starts, 0, ( (size_t)space->process_count + 1 ) * sizeof( uint32_t ) );
    for ( uint64_t i = 0; i < count; ++i )
    {
        CLV_ASSERT( space->exchange.sends.items[i].to >= 0 &&
            space->exchange.sends.items[i].to < space->process_count );
        CLV_ASSERT( space->exchange.sends.items[i].to != space->rank ); // no process is its own neighbour
        starts[space->exchange.sends.items[i].to + 1] += 1;
    }
    for ( int32_t r = 0; r < space->process_count; ++r )
    {
        space->net.sends_to[r] |= starts[r + 1] > 0 ? 2 : 0;
        starts[r + 1] += starts[r];
    }
    CLV_ASSERT( starts[space->process_count] == count );
    for ( uint64_t i = 0; i < count; ++i )
    {
        space->exchange.sorted_sends.items[starts[space->exchange.sends.items[i].to]++] =
            space->exchange.sends.items[i];
    }
    CLV_ASSERT( starts[space->process_count - 1] == count ); // every start is an end now
    return CLV_OK;
}

static uint64_t wide_words( const clv_mpi_space* space )
{
    return space->exchange.wide.count *
        clv_mpi_record_words( space, space->modes.has_history ? RECORD_FULL : 0 );
}

// Room for everything this process says, before anybody says anything.
static clv_result reserve_outboxes( clv_mpi_space* space )
{
    uint64_t words = 0;
    for ( uint64_t i = 0; i < space->exchange.sends.count; ++i )
    {
        const mpi_send* letter = &space->exchange.sends.items[i];
        uint64_t more = clv_mpi_record_words( space, letter->kind );
        space->exchange.words[letter->to] += more;
        words += more;
    }
    if ( words > INT32_MAX || wide_words( space ) > INT32_MAX )
    {
        return clv_mpi_fail(
            space, CLV_TOO_MANY_OBJECTS, UINT32_MAX, 0, "more ghosts than one message can tell" );
    }
    if ( !base_array_renew( &space->exchange.outbox, &space->memory, words ) ||
        !base_array_renew( &space->exchange.wide_outbox, &space->memory, wide_words( space ) ) )
    {
        return clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for letters" );
    }
    return CLV_OK;
}

static bool has_strangers( const clv_mpi_space* space )
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

// Everybody asks everybody once. Who was a neighbour stays one until space is cut anew.
static clv_result meet( clv_mpi_space* space )
{
    for ( int32_t r = 0; r < space->process_count; ++r )
    {
        space->net.sends_to[r] = space->net.sends_to[r] != 0;
    }
    MPI_Request request;
    if ( !clv_mpi_succeeded( space,
             MPI_Ialltoall( space->net.sends_to, 1, MPI_UINT8_T, space->net.receives_from, 1, MPI_UINT8_T,
                 space->net.all, &request ),
             "an exchange" ) ||
        !clv_mpi_wait( space, &request, 1 ) )
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
    int answer = MPI_Dist_graph_create_adjacent( space->net.all, space->net.in_count, space->net.in_ranks,
        space->exchange.receive_words, space->net.out_count, space->net.out_ranks, space->exchange.send_words,
        MPI_INFO_NULL, 0, &space->net.neighbours );
    return clv_mpi_succeeded( space, answer, "making a graph" ) ? CLV_OK : CLV_LOST;
}

// ---- sending

static void write_outbox( clv_mpi_space* space )
{
    uint64_t* at = space->exchange.outbox.items;
    uint64_t next = 0;
    for ( int32_t i = 0; i < space->net.out_count; ++i )
    {
        uint64_t* begin = at;
        for ( ; next < space->exchange.sends.count &&
              space->exchange.sorted_sends.items[next].to == space->net.out_ranks[i];
              ++next )
        {
            const mpi_send* letter = &space->exchange.sorted_sends.items[next];
            if ( next + PREFETCH_DISTANCE < space->exchange.sends.count )
            {
                clv_mpi_slot_fetch( space, letter[PREFETCH_DISTANCE].slot );
            }
            at = clv_mpi_record_write( space, letter->slot, letter->kind, at );
        }
        space->exchange.send_starts[i] = (int)( begin - space->exchange.outbox.items );
        // What is written is what the neighbour was told to expect.
        CLV_ASSERT( at - begin == space->exchange.send_words[i] );
        CLV_ASSERT( (uint64_t)( at - space->exchange.outbox.items ) <= space->exchange.outbox.capacity );
        space->stats.bytes_sent += (uint64_t)( at - begin ) * sizeof( uint64_t );
        space->stats.message_count += at != begin;
    }
    CLV_ASSERT( next == space->exchange.sends.count ); // each letter has gone to a neighbour
}

// A few of many.
static clv_result move_marked( clv_mpi_space* space )
{
    const mpi_columns* c = &space->columns;
    uint64_t count = 0;
    CLV_ASSERT( space->slots.own.count <= space->slots.moved_ids.capacity &&
        space->slots.own.count <= space->slots.moved_boxes.capacity );
    for ( uint64_t i = 0; i < space->slots.own.count; ++i )
    {
        uint32_t slot = space->slots.own.items[i];
        space->slots.moved_ids.items[count] = c->locals.items[slot];
        space->slots.moved_boxes.items[count] = c->boxes.items[slot];
        count += ( c->flags.items[slot] & SLOT_MOVED ) != 0;
    }
    return clv_space_move(
        space->inside, space->slots.moved_ids.items, space->slots.moved_boxes.items, (uint32_t)count );
}

uint32_t clv_mpi_end_of_row( const clv_mpi_space* space, uint32_t slot, uint32_t end )
{
    const uint32_t* flags = space->columns.flags.items;
    CLV_ASSERT( slot <= end && end <= space->slots.end );
    uint32_t any;
    while ( slot + SLOT_GROUP <= end && ( mpi_group_flags( flags + slot, &any ) & SLOT_LIVE ) != 0 )
    {
        slot += SLOT_GROUP;
    }
    while ( slot < end && ( flags[slot] & SLOT_LIVE ) != 0 )
    {
        slot += 1;
    }
    return slot;
}

// Most of them: our columns are what the space inside reads fastest, as far as slots in a row are taken. Boxes of ghosts go along,
// as it has them already. Rows that are too short for a call of their own are gathered.
static clv_result move_rows( clv_mpi_space* space )
{
    enum
    {
        SHORT_ROW = 8
    };
    const mpi_columns* c = &space->columns;
    uint64_t count = 0;
    clv_result result = CLV_OK;
    for ( uint32_t first = 0; result == CLV_OK && first < space->slots.end; )
    {
        uint32_t end = clv_mpi_end_of_row( space, first, space->slots.end );
        CLV_ASSERT( first <= end && count + ( end - first ) <= space->slots.moved_ids.capacity );
        if ( end - first >= SHORT_ROW )
        {
            result =
                clv_space_move( space->inside, &c->locals.items[first], &c->boxes.items[first], end - first );
            first = end;
        }
        for ( ; first < end; ++first )
        {
            space->slots.moved_ids.items[count] = c->locals.items[first];
            space->slots.moved_boxes.items[count++] = c->boxes.items[first];
        }
        first += 1; // the one that is free
    }
    return result == CLV_OK ? clv_space_move( space->inside, space->slots.moved_ids.items,
                                  space->slots.moved_boxes.items, (uint32_t)count )
                            : result;
}

// Own boxes inside, while letters are on their way: the others need nothing of that.
static clv_result move_own( clv_mpi_space* space )
{
    if ( space->slots.moved_count == 0 )
    {
        return CLV_OK;
    }
    if ( !base_array_renew( &space->slots.moved_ids, &space->memory, space->slots.end ) ||
        !base_array_renew( &space->slots.moved_boxes, &space->memory, space->slots.end ) )
    {
        return clv_mpi_fail(
            space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for %u boxes", space->slots.end );
    }
    clv_result result =
        space->slots.moved_count * 2 > space->slots.own.count ? move_rows( space ) : move_marked( space );
    return result == CLV_OK
        ? CLV_OK
        : clv_mpi_fail( space, result, UINT32_MAX, 0, "%s", clv_space_error( space->inside ).text );
}

// How many words each neighbour is to expect; strangers hear of theirs when they have met.
static bool exchange_counts( clv_mpi_space* space, bool has_letters )
{
    for ( int32_t i = 0; i < space->net.out_count; ++i )
    {
        CLV_ASSERT( !has_letters || space->exchange.words[space->net.out_ranks[i]] <= INT32_MAX );
        space->exchange.send_words[i] = has_letters ? (int)space->exchange.words[space->net.out_ranks[i]] : 0;
    }
    MPI_Request request;
    return clv_mpi_succeeded( space,
               MPI_Ineighbor_alltoall( space->exchange.send_words, 1, MPI_INT, space->exchange.receive_words,
                   1, MPI_INT, space->net.neighbours, &request ),
               "an exchange" ) &&
        clv_mpi_wait( space, &request, 1 );
}

static clv_result reserve_inbox( clv_mpi_space* space )
{
    uint64_t words = 0;
    for ( int32_t i = 0; i < space->net.in_count; ++i )
    {
        space->exchange.receive_starts[i] = (int)words;
        words += (uint64_t)space->exchange.receive_words[i];
        if ( words > INT32_MAX )
        {
            return clv_mpi_fail(
                space, CLV_TOO_MANY_OBJECTS, UINT32_MAX, 0, "more ghosts than one message can tell" );
        }
    }
    space->exchange.inbox.count = 0;
    if ( !base_array_renew( &space->exchange.inbox, &space->memory, words ) )
    {
        return clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for ghosts" );
    }
    space->exchange.inbox.count = words;
    return CLV_OK;
}

static clv_result exchange_letters( clv_mpi_space* space )
{
    CLV_ASSERT( space->net.neighbours != MPI_COMM_NULL );
    write_outbox( space );
    MPI_Request request;
    if ( !clv_mpi_succeeded( space,
             MPI_Ineighbor_alltoallv( space->exchange.outbox.items, space->exchange.send_words,
                 space->exchange.send_starts, MPI_UINT64_T, space->exchange.inbox.items,
                 space->exchange.receive_words, space->exchange.receive_starts, MPI_UINT64_T,
                 space->net.neighbours, &request ),
             "an exchange" ) )
    {
        return CLV_LOST;
    }
    uint64_t start = clv_base_clock_ns();
    clv_result mine = move_own( space );
    space->stats.search_ms += (double)( clv_base_clock_ns() - start ) * 1e-6;
    return clv_mpi_wait( space, &request, 1 ) ? mine : CLV_LOST;
}

// ---- to all at once

static clv_result share_wide( clv_mpi_space* space )
{
    uint32_t kind_all = space->modes.has_history ? RECORD_FULL : 0;
    uint64_t* at = space->exchange.wide_outbox.items;
    for ( uint64_t i = 0; i < space->exchange.wide.count; ++i )
    {
        uint32_t slot = space->exchange.wide.items[i], flags = space->columns.flags.items[slot];
        uint32_t kind = kind_all | ( ( flags & SLOT_STATIC ) != 0 ? RECORD_STATIC : 0u ) |
            ( ( flags & SLOT_OLD ) != 0 ? RECORD_OLD : 0u ) |
            ( ( flags & SLOT_WAS_STATIC ) != 0 ? RECORD_WAS_STATIC : 0u );
        at = clv_mpi_record_write( space, slot, kind, at );
    }
    CLV_ASSERT( (uint64_t)( at - space->exchange.wide_outbox.items ) == wide_words( space ) );
    int words = space->net.wire.words = (int)( at - space->exchange.wide_outbox.items );
    space->stats.bytes_sent += (uint64_t)words * sizeof( uint64_t ) * ( (uint64_t)space->process_count - 1 );
    MPI_Request request;
    if ( !clv_mpi_succeeded( space,
             MPI_Iallgather( &space->net.wire.words, 1, MPI_INT, space->exchange.wide_words, 1, MPI_INT,
                 space->net.all, &request ),
             "an exchange" ) ||
        !clv_mpi_wait( space, &request, 1 ) )
    {
        return CLV_LOST;
    }
    uint64_t total = 0;
    for ( int32_t r = 0; r < space->process_count && total <= INT32_MAX; ++r )
    {
        space->exchange.wide_starts[r] = (int)total;
        total += (uint64_t)space->exchange.wide_words[r];
    }
    space->exchange.wide_inbox.count = 0;
    bool fits = total <= INT32_MAX && base_array_renew( &space->exchange.wide_inbox, &space->memory, total );
    clv_result result = clv_mpi_agree( space,
        fits ? CLV_OK
             : clv_mpi_fail(
                   space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for boxes that reach everywhere" ) );
    if ( result != CLV_OK )
    {
        return result;
    }
    CLV_ASSERT( space->exchange.wide_words[space->rank] == words );
    space->exchange.wide_inbox.count = total;
    return clv_mpi_succeeded( space,
               MPI_Iallgatherv( space->exchange.wide_outbox.items, words, MPI_UINT64_T,
                   space->exchange.wide_inbox.items, space->exchange.wide_words, space->exchange.wide_starts,
                   MPI_UINT64_T, space->net.all, &request ),
               "an exchange" ) &&
            clv_mpi_wait( space, &request, 1 )
        ? CLV_OK
        : CLV_LOST;
}

// ---- all of it

// Counts to the neighbours there are, and room for what they have.
static clv_result expect_letters( clv_mpi_space* space, clv_result mine )
{
    if ( !exchange_counts( space, mine == CLV_OK ) )
    {
        return CLV_LOST;
    }
    clv_result room = reserve_inbox( space );
    return mine == CLV_OK ? room : mine;
}

// A message without a place to go to would be lost: all have room for theirs, or none sends. In a steady update that is one
// reduction, in which everybody also says whether it has letters for a stranger and boxes for all.
static clv_result prepare( clv_mpi_space* space, clv_result mine )
{
    bool has_met = space->net.neighbours != MPI_COMM_NULL;
    memset( space->exchange.words, 0, (size_t)space->process_count * sizeof( uint64_t ) );
    mine = mine == CLV_OK ? sort_letters( space ) : mine;
    mine = mine == CLV_OK ? reserve_outboxes( space ) : mine;
    mine = has_met ? expect_letters( space, mine ) : mine;
    space->net.wire.reduce_in[1] = !has_met || ( mine == CLV_OK && has_strangers( space ) );
    space->net.wire.reduce_in[2] = mine == CLV_OK && space->exchange.wide.count > 0;
    clv_result result = clv_mpi_agree_and_reduce( space, mine );
    if ( result != CLV_OK || space->net.wire.reduce_out[1] == 0 )
    {
        return result;
    }
    result = meet( space );
    result = result == CLV_OK ? expect_letters( space, CLV_OK ) : result;
    return clv_mpi_agree( space, result ); // which leaves the third wish as it is
}

clv_result clv_mpi_exchange( clv_mpi_space* space, clv_result mine )
{
    space->exchange.wide_inbox.count = 0;
    clv_result result = prepare( space, mine );
    result = result == CLV_OK && space->net.wire.reduce_out[2] != 0 ? share_wide( space ) : result;
    result = result == CLV_OK ? exchange_letters( space ) : result;
    for ( int32_t r = 0; r < space->process_count; ++r )
    {
        space->net.sends_to[r] &= 1;
    }
    space->stats.neighbour_count = (uint32_t)space->net.out_count;
    return result;
}

// ---- ghosts

// Ghosts were forgotten, and this one was here after the last good update: pairs of it that ended, and those that others report
// now, can only be told apart by its box. It goes again when the update is over.
static bool is_last_word_for_us( const clv_mpi_space* space, const mpi_record* text )
{
    if ( !space->modes.must_resend || text->full == NULL || ( text->kind & RECORD_OLD ) == 0 )
    {
        return false;
    }
    clv_aabb before;
    memcpy( &before, text->full, sizeof( before ) );
    return mpi_region_reached( &space->partition.regions_before.bounds[space->rank], &before );
}

// What a letter says, into the slot that its object has.
static void note_letter( clv_mpi_space* space, const clv_aabb* here, uint32_t slot, const mpi_record* text )
{
    CLV_ASSERT( slot < space->slots.end &&
        ( space->columns.flags.items[slot] & ( SLOT_LIVE | SLOT_OWN ) ) == SLOT_LIVE );
    clv_mpi_record_apply( space, slot, text );
    bool is_inside = mpi_box_encloses( here, &text->box );
    space->columns.flags.items[slot] &= ~(uint32_t)SLOT_INSIDE;
    space->columns.flags.items[slot] |= is_inside ? (uint32_t)SLOT_INSIDE : 0;
    space->columns.identities.items[slot].is_inside = is_inside;
}

bool clv_mpi_defer_record( clv_mpi_space* space, uint64_t at, const mpi_record* text )
{
    uint64_t count = space->exchange.new_records.count;
    CLV_ASSERT( space->exchange.new_ids.count == count && space->exchange.new_boxes.count == count );
    if ( !base_array_reserve( &space->exchange.new_records, &space->memory, count + 1 ) ||
        !base_array_reserve( &space->exchange.new_ids, &space->memory, count + 1 ) ||
        !base_array_reserve( &space->exchange.new_boxes, &space->memory, count + 1 ) )
    {
        return false;
    }
    space->exchange.new_records.items[count] = at;
    space->exchange.new_ids.items[count] = text->id;
    space->exchange.new_boxes.items[count] = text->box;
    space->exchange.new_records.count = space->exchange.new_ids.count = space->exchange.new_boxes.count =
        count + 1;
    return true;
}

bool clv_mpi_log_arrival( clv_mpi_space* space, uint64_t at, const mpi_record* text )
{
    CLV_ASSERT( at < space->exchange.inbox.count );
    if ( text->payload == NULL )
    {
        return true;
    }
    if ( !base_array_reserve(
             &space->exchange.arrivals, &space->memory, space->exchange.arrivals.count + 1 ) )
    {
        return false;
    }
    space->exchange.arrivals.items[space->exchange.arrivals.count++] = at;
    return true;
}

// One letter: an object that is known gets its new box; one that is new waits for the others that are.
static bool receive_one(
    clv_mpi_space* space, const clv_aabb* here, uint64_t at, const mpi_record* text, bool is_wide )
{
    uint32_t slot = clv_mpi_ids_find( &space->lookup.table, text->id );
    if ( slot != SLOT_NONE && ( space->columns.flags.items[slot] & SLOT_OWN ) != 0 )
    {
        return true; // its own wide one comes back
    }
    if ( slot != SLOT_NONE )
    {
        note_letter( space, here, slot, text );
        return true;
    }
    bool is_near = mpi_region_reached( &space->partition.regions.bounds[space->rank], &text->box ) ||
        is_last_word_for_us( space, text );
    return ( ( is_wide || space->def.space.events ) && !is_near ) || clv_mpi_defer_record( space, at, text );
}

// All that are new at once: one by one they would cost as much as the search.
static clv_result take_fresh( clv_mpi_space* space, const clv_aabb* here, const uint64_t* words )
{
    uint64_t count = space->exchange.new_records.count;
    if ( count == 0 )
    {
        return CLV_OK;
    }
    if ( !base_array_renew( &space->slots.gone, &space->memory, count ) )
    {
        return clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for ghosts" );
    }
    uint32_t* slots = space->slots.gone.items; // nobody is gone yet
    CLV_ASSERT( count <= space->slots.gone.capacity && count == space->exchange.new_ids.count );
    clv_result result = count <= CLV_MAX_OBJECTS
        ? clv_mpi_objects_take( space, space->exchange.new_ids.items, space->exchange.new_boxes.items,
              (uint32_t)count, SLOT_MOVED, slots )
        : clv_mpi_fail( space, CLV_TOO_MANY_OBJECTS, UINT32_MAX, 0, "too many ghosts" );
    for ( uint64_t i = 0; result == CLV_OK && i < count; ++i )
    {
        mpi_record text = clv_mpi_record_read( space, words + space->exchange.new_records.items[i] );
        note_letter( space, here, slots[i], &text );
    }
    return result;
}

// Where the letter behind this one begins; meanwhile its id is looked for.
static uint64_t fetch_one( const clv_mpi_space* space, const base_u64_array* box, uint64_t at )
{
    if ( at >= box->count )
    {
        return at;
    }
    clv_mpi_ids_fetch( &space->lookup.table, box->items[at] );
    return at + clv_mpi_record_words( space, (uint32_t)( box->items[at + 4] >> 32 ) );
}

static clv_result receive_all( clv_mpi_space* space, const base_u64_array* box, bool is_wide )
{
    const clv_aabb here = clv_mpi_region_inner( &space->partition.regions.bounds[space->rank] );
    space->exchange.new_records.count = space->exchange.new_ids.count = space->exchange.new_boxes.count = 0;
    bool ok = true;
    uint64_t next = 0;
    for ( uint32_t i = 0; i < PREFETCH_DISTANCE; ++i )
    {
        next = fetch_one( space, box, next );
    }
    for ( uint64_t at = 0; ok && at < box->count; )
    {
        next = fetch_one( space, box, next );
        mpi_record text = clv_mpi_record_read( space, box->items + at );
        ok = receive_one( space, &here, at, &text, is_wide ) &&
            ( is_wide || clv_mpi_log_arrival( space, at, &text ) );
        at = (uint64_t)( text.end - box->items );
    }
    return ok ? take_fresh( space, &here, box->items )
              : clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for ghosts" );
}

// Ghosts that nobody told of are gone: removed, or out of reach. The others are listed.
static void list_ghosts( clv_mpi_space* space )
{
    const mpi_columns* c = &space->columns;
    uint64_t count = 0, gone = 0;
    CLV_ASSERT(
        space->slots.end <= space->slots.ghosts.capacity && space->slots.end <= space->slots.gone.capacity );
    for ( uint32_t slot = 0, any; slot < space->slots.end; ++slot )
    {
        if ( slot % SLOT_GROUP == 0 && slot + SLOT_GROUP <= space->slots.end &&
            ( mpi_group_flags( c->flags.items + slot, &any ) & SLOT_OWN ) != 0 )
        {
            slot += SLOT_GROUP - 1;
            continue;
        }
        if ( ( c->flags.items[slot] & ( SLOT_LIVE | SLOT_OWN ) ) != SLOT_LIVE )
        {
            continue;
        }
        bool is_told = c->stamps.items[slot] == space->slots.stamp;
        ( is_told ? space->slots.ghosts.items : space->slots.gone.items )[is_told ? count : gone] = slot;
        count += is_told;
        gone += !is_told;
    }
    CLV_ASSERT( count + gone + space->slots.own.count <= space->slots.end );
    space->slots.ghosts.count = space->slots.ghost_count = count;
    clv_mpi_objects_drop_all( space, space->slots.gone.items, gone );
}

// Filters and hints, of own objects and ghosts, that are new.
static clv_result tell_filters( clv_mpi_space* space )
{
    const mpi_columns* c = &space->columns;
    clv_result result = CLV_OK;
    for ( uint32_t slot = 0; space->modes.has_history && result == CLV_OK && slot < space->slots.end; ++slot )
    {
        uint32_t flags = c->flags.items[slot];
        if ( ( flags & SLOT_LIVE ) != 0 && ( flags & SLOT_CHANGED ) != 0 )
        {
            clv_id id = c->locals.items[slot];
            bool is_static = ( flags & SLOT_STATIC ) != 0;
            result = clv_space_set_filter( space->inside, &id, &c->filters.items[slot], 1 );
            result = result == CLV_OK ? clv_space_set_static( space->inside, &id, &is_static, 1 ) : result;
        }
    }
    return result;
}

static clv_result move_ghosts( clv_mpi_space* space )
{
    const mpi_columns* c = &space->columns;
    uint64_t count = 0;
    for ( uint64_t i = 0; i < space->slots.ghosts.count; ++i )
    {
        CLV_ASSERT( space->slots.ghosts.items[i] < space->slots.end );
        uint32_t slot = space->slots.ghosts.items[i];
        space->slots.moved_ids.items[count] = c->locals.items[slot];
        space->slots.moved_boxes.items[count] = c->boxes.items[slot];
        count += ( c->flags.items[slot] & SLOT_MOVED ) != 0;
    }
    return clv_space_move(
        space->inside, space->slots.moved_ids.items, space->slots.moved_boxes.items, (uint32_t)count );
}

clv_result clv_mpi_receive( clv_mpi_space* space )
{
    space->exchange.arrivals.count = 0;
    if ( mpi_ghosts_are_anonymous( space ) )
    {
        return clv_mpi_receive_anonymous( space );
    }
    clv_result result = receive_all( space, &space->exchange.inbox, false );
    result = result == CLV_OK ? receive_all( space, &space->exchange.wide_inbox, true ) : result;
    if ( result != CLV_OK )
    {
        return result;
    }
    if ( !base_array_renew( &space->slots.ghosts, &space->memory, space->slots.end ) ||
        !base_array_renew( &space->slots.gone, &space->memory, space->slots.end ) ||
        !base_array_renew( &space->slots.moved_ids, &space->memory, space->slots.end ) ||
        !base_array_renew( &space->slots.moved_boxes, &space->memory, space->slots.end ) ||
        !base_array_reserve( &space->slots.own, &space->memory, space->slots.end ) ) // for those that arrive
    {
        return clv_mpi_fail(
            space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for %u boxes", space->slots.end );
    }
    CLV_ASSERT( !space->slots.own_is_stale );
    list_ghosts( space );
    CLV_VALIDATE( clv_mpi_ghosts_check( space ) == NULL );
    result = tell_filters( space );
    result = result == CLV_OK ? move_ghosts( space ) : result;
    return result == CLV_OK
        ? CLV_OK
        : clv_mpi_fail( space, result, UINT32_MAX, 0, "%s", clv_space_error( space->inside ).text );
}
