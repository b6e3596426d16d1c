// SPDX-License-Identifier: MIT
// An update in the order of its parts: cut (now and then), address, exchange, receive, search, list, agree, commit. Up to the last
// agreement nothing is lost: if anybody fails, everybody forgets its ghosts, and the next update tells them anew.
#include "base/assertion.h"
#include "base/fp_mode.h"
#include "base/timer.h"
#include "mpi_check.h"
#include "mpi_state.h"

static double ms_since( uint64_t start )
{
    return (double)( clv_base_clock_ns() - start ) * 1e-6;
}

// ---- cutting

// Objects on all processes. Zoltan has nothing good to say about none at all.
static bool count_all( clv_mpi_space* space, uint64_t own, uint64_t* count )
{
    MPI_Request request;
    space->net.wire.own[0] = own;
    int answer = MPI_Iallreduce(
        space->net.wire.own, space->net.wire.sums, 1, MPI_UINT64_T, MPI_SUM, space->net.all, &request );
    bool ok = clv_mpi_succeeded( space, answer, "a reduction" ) && clv_mpi_wait( space, &request, 1 );
    *count = space->net.wire.sums[0];
    return ok;
}

clv_result clv_mpi_cut_points(
    clv_mpi_space* space, const clv_vec3* points, const uint64_t* weights, uint64_t count, mpi_regions* into )
{
    bool by_zoltan = space->def.cutter == CLV_MPI_CUT_ZOLTAN ||
        ( space->def.cutter == CLV_MPI_CUT_AUTO && clv_mpi_has_zoltan() );
    uint64_t count_of_all = 0;
    if ( by_zoltan && !count_all( space, count, &count_of_all ) )
    {
        return CLV_LOST;
    }
    if ( count_of_all == 0 )
    {
        return clv_mpi_bisect( space, points, weights, count, into );
    }
    clv_result result = clv_mpi_zoltan( space, points, weights, count, into );
    // Zoltan gives up where all points are alike, and says so on all processes.
    return result == CLV_UNSUPPORTED ? clv_mpi_bisect( space, points, weights, count, into ) : result;
}

clv_result clv_mpi_cut( clv_mpi_space* space )
{
    if ( space->process_count == 1 )
    {
        return CLV_OK;
    }
    uint64_t count = space->slots.own.count;
    CLV_ASSERT( !space->slots.own_is_stale );
    base_memory* memory = &space->memory;
    clv_vec3* points = clv_base_memory_take( memory, count, sizeof( clv_vec3 ) );
    uint64_t* weights = clv_base_memory_take( memory, count, sizeof( uint64_t ) );
    mpi_regions fresh;
    bool ok = clv_mpi_regions_open( &fresh, memory, space->process_count );
    bool fits = ok && ( count == 0 || ( points != NULL && weights != NULL ) );
    fits = fits && clv_mpi_weigh_objects( space, weights );
    for ( uint64_t i = 0; fits && i < count; ++i )
    {
        points[i] = clv_mpi_box_middle( &space->columns.boxes.items[space->slots.own.items[i]] );
    }
    clv_result result = clv_mpi_agree( space,
        fits ? CLV_OK : clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory to cut space" ) );
    result = result == CLV_OK ? clv_mpi_cut_points( space, points, weights, count, &fresh ) : result;
    if ( result == CLV_OK )
    {
        CLV_ASSERT( fresh.cuts.count + 1 == (uint64_t)space->process_count );
        clv_mpi_regions_copy( &space->partition.regions, &fresh );
        memset( space->net.sends_to, 0, (size_t)space->process_count );
        space->partition.updates_since_cut = 0;
        space->stats.was_cut = true;
        space->stats.cut_count += 1;
    }
    if ( space->is_lost )
    {
        return CLV_LOST; // what is on its way may still be read and written
    }
    if ( ok )
    {
        clv_mpi_regions_close( &fresh, memory );
    }
    clv_base_memory_give( memory, points, count, sizeof( clv_vec3 ) );
    clv_base_memory_give( memory, weights, count, sizeof( uint64_t ) );
    return result;
}

// ---- ghosts made anew

static void forget_ghosts( clv_mpi_space* space )
{
    for ( uint32_t slot = 0; slot < space->slots.end; ++slot )
    {
        uint32_t* flags = &space->columns.flags.items[slot];
        if ( ( *flags & ( SLOT_LIVE | SLOT_OWN ) ) == SLOT_LIVE )
        {
            clv_mpi_objects_drop( space, slot );
        }
        *flags &= ~(uint32_t)( SLOT_ARRIVED | SLOT_LEAVING );
        space->columns.identities.items[slot].owner = space->rank;
    }
}

// ---- after the search

static void take_payloads( clv_mpi_space* space )
{
    for ( uint64_t i = 0; space->def.payload.size > 0 && i < space->exchange.arrivals.count; ++i )
    {
        CLV_ASSERT( space->exchange.arrivals.items[i] < space->exchange.inbox.count );
        mpi_record text =
            clv_mpi_record_read( space, space->exchange.inbox.items + space->exchange.arrivals.items[i] );
        space->def.payload.unpack( text.id, text.payload, space->def.payload.user );
    }
}

// One object of which the update is over. True: it is nobody's here any more.
static bool settle( clv_mpi_space* space, uint32_t slot )
{
    mpi_columns* c = &space->columns;
    uint32_t* flags = &c->flags.items[slot];
    bool is_leaving = ( *flags & SLOT_LEAVING ) != 0;
    CLV_ASSERT( ( *flags & SLOT_LIVE ) != 0 && ( !is_leaving || ( *flags & SLOT_OWN ) != 0 ) );
    CLV_ASSERT( ( *flags & SLOT_ARRIVED ) == 0 || ( *flags & SLOT_OWN ) == 0 );
    space->stats.arrived_count += ( *flags & SLOT_ARRIVED ) != 0;
    space->stats.left_count += is_leaving;
    space->slots.own_is_stale |= ( *flags & ( SLOT_ARRIVED | SLOT_LEAVING ) ) != 0;
    *flags |= ( *flags & SLOT_ARRIVED ) != 0 ? (uint32_t)SLOT_OWN : 0;
    *flags &= ~(uint32_t)( SLOT_ARRIVED | SLOT_LEAVING | SLOT_MOVED | SLOT_CHANGED | SLOT_WAS_STATIC |
        ( is_leaving ? SLOT_OWN : 0 ) );
    *flags |= SLOT_OLD | ( ( *flags & SLOT_STATIC ) != 0 ? SLOT_WAS_STATIC : 0u );
    if ( space->modes.has_history )
    {
        c->befores.items[slot] = c->boxes.items[slot];
        c->filters_before.items[slot] = c->filters.items[slot];
    }
    if ( space->modes.has_margins )
    {
        c->motions.items[slot] = ( clv_vec3 ){ 0, 0, 0 };
    }
    bool is_ghost = ( *flags & SLOT_OWN ) == 0;
    return !mpi_ghosts_are_anonymous( space ) && is_ghost &&
        !mpi_region_reached( &space->partition.regions.bounds[space->rank], &c->boxes.items[slot] );
}

// A block of own objects that stay, and of which nothing is remembered: their flags.
static bool settle_block( clv_mpi_space* space, uint32_t slot )
{
    uint32_t* flags = space->columns.flags.items + slot;
    uint32_t any, all;
    if ( space->modes.has_history || space->modes.has_margins || slot + SLOT_GROUP > space->slots.end )
    {
        return false;
    }
    all = mpi_group_flags( flags, &any );
    if ( ( all & SLOT_OWN ) == 0 ||
        ( any & ( SLOT_ARRIVED | SLOT_LEAVING | SLOT_STATIC | SLOT_WAS_STATIC ) ) != 0 )
    {
        return false;
    }
    if ( ( all & SLOT_OLD ) != 0 && ( any & ( SLOT_MOVED | SLOT_CHANGED ) ) == 0 )
    {
        return true; // as they are to be
    }
    for ( uint32_t i = 0; i < SLOT_GROUP; ++i )
    {
        flags[i] = ( flags[i] & ~(uint32_t)( SLOT_MOVED | SLOT_CHANGED ) ) | SLOT_OLD;
    }
    return true;
}

static void settle_all( clv_mpi_space* space )
{
    const uint32_t mask = SLOT_LIVE | SLOT_OWN | SLOT_ARRIVED | SLOT_LEAVING | SLOT_STATIC | SLOT_WAS_STATIC,
                   stays = SLOT_LIVE | SLOT_OWN;
    bool is_plain = !space->modes.has_history && !space->modes.has_margins,
         has_berths = mpi_ghosts_are_anonymous( space );
    // Those that go from the front, those that come from the back: together no more than there are.
    uint64_t gone = 0, came = space->slots.end;
    CLV_ASSERT( space->slots.end <= space->slots.gone.capacity );
    for ( uint32_t slot = 0; slot < space->slots.end; ++slot )
    {
        uint32_t* flags = &space->columns.flags.items[slot];
        if ( slot % SLOT_GROUP == 0 && settle_block( space, slot ) )
        {
            slot += SLOT_GROUP - 1;
        }
        else if ( is_plain && ( *flags & mask ) == stays )
        {
            *flags = ( *flags & ~(uint32_t)( SLOT_MOVED | SLOT_CHANGED ) ) | SLOT_OLD;
        }
        else if ( ( *flags & SLOT_LIVE ) != 0 )
        {
            uint32_t was = *flags;
            CLV_ASSERT( gone < came );
            if ( settle( space, slot ) || ( has_berths && ( was & SLOT_LEAVING ) != 0 ) )
            {
                space->slots.gone.items[gone++] = slot;
            }
            else if ( ( was & SLOT_ARRIVED ) != 0 )
            {
                space->slots.gone.items[--came] = slot;
            }
        }
    }
    if ( has_berths )
    {
        clv_mpi_lookup_log(
            space, space->slots.gone.items, gone, space->slots.gone.items + came, space->slots.end - came );
    }
    else
    {
        clv_mpi_objects_drop_all( space, space->slots.gone.items, gone );
    }
    space->slots.border_is_known = false;
    space->slots.moved_count = 0;
}

void clv_mpi_finish_update( clv_mpi_space* space )
{
    take_payloads( space );
    settle_all( space );
    if ( space->stats.was_cut || space->modes.must_resend )
    {
        clv_mpi_regions_copy( &space->partition.regions_before, &space->partition.regions );
    }
    clv_mpi_objects_list_own( space ); // room for all slots was made in clv_mpi_receive
    CLV_ASSERT( !space->slots.own_is_stale );
    if ( space->def.space.events )
    {
        mpi_found_list other = space->pairs.found_before;
        space->pairs.found_before = space->pairs.found;
        space->pairs.found = other;
    }
    base_array_free( &space->pairs.corners, &space->memory );
    space->pairs.keeps_corners = false;
    space->modes.must_resend = false;
    space->pairs.is_valid = true;
    space->pairs.objects_changed = false;
    space->questions.has_bounds = false;
}

// ---- everybody's numbers

// Sums and the largest over all; and whether everybody is content.
static clv_result sum_up( clv_mpi_space* space, clv_result mine )
{
    clv_mpi_stats* s = &space->stats;
    const uint64_t own[TALLY_COUNT] = { [TALLY_MOST_WORK] = space->partition.work,
        [TALLY_WORK] = space->partition.work,
        [TALLY_OWN] = s->own_count,
        [TALLY_GHOSTS] = s->ghost_count,
        [TALLY_PAIRS] = s->pair_count,
        [TALLY_BYTES] = s->bytes_sent,
        [TALLY_OWNING] = s->own_count > 0 };
    const uint64_t* sums = space->net.wire.sums;
    memcpy( space->net.wire.own, own, sizeof( own ) );
    clv_result result = clv_mpi_agree_on_sums( space, mine );
    if ( result != CLV_OK )
    {
        return result;
    }
    s->all_own_count = sums[TALLY_OWN];
    s->all_ghost_count = sums[TALLY_GHOSTS];
    s->all_pair_count = sums[TALLY_PAIRS];
    s->all_bytes_sent = sums[TALLY_BYTES];
    s->owning_processes = (uint32_t)sums[TALLY_OWNING];
    double most = (double)sums[TALLY_MOST_WORK], all = (double)sums[TALLY_WORK];
    s->imbalance = all > 0 ? most * space->process_count / all - 1 : 0;
    return CLV_OK;
}

// ---- all of it

static clv_result search_inside( clv_mpi_space* space )
{
    uint64_t start = clv_base_clock_ns();
    clv_result result = clv_space_update( space->inside );
    space->stats.search_ms += ms_since( start );
    if ( result != CLV_OK )
    {
        return clv_mpi_fail( space, result, UINT32_MAX, 0, "%s", clv_space_error( space->inside ).text );
    }
    CLV_ASSERT( clv_space_pairs( space->inside ).valid );
    space->stats.test_count = clv_space_stats( space->inside ).test_count;
    start = clv_base_clock_ns();
    result = clv_mpi_list( space );
    space->stats.list_ms = ms_since( start );
    return result;
}

static void begin_stats( clv_mpi_space* space )
{
    space->stats_before = space->stats;
    clv_mpi_stats fresh = { .update_count = space->stats.update_count, .cut_count = space->stats.cut_count };
    space->stats = fresh;
}

// Test boxes, and space cut anew where that is due. A failure of one's own is told with the letters, unless all need to know now.
static clv_result cut_if_due( clv_mpi_space* space, clv_result mine )
{
    clv_result result = space->partition.cut_is_due ? clv_mpi_agree( space, mine ) : mine;
    if ( result == CLV_OK )
    {
        clv_mpi_objects_apply_margins( space );
    }
    if ( !space->partition.cut_is_due || result != CLV_OK )
    {
        return result;
    }
    uint64_t start = clv_base_clock_ns();
    result = clv_mpi_cut( space );
    space->stats.cut_ms = ms_since( start );
    space->partition.cut_is_due = result != CLV_OK;
    return result;
}

static clv_result fail( clv_mpi_space* space, clv_result result )
{
    space->modes.must_resend = true;
    uint64_t cuts = space->stats.cut_count;
    space->stats = space->stats_before;
    space->stats.cut_count = cuts;
    space->pairs.list.count = space->pairs.begun.count = space->pairs.ended.count = 0;
    return space->is_lost ? CLV_LOST : result;
}

static clv_result update_now( clv_mpi_space* space )
{
    if ( space->is_lost )
    {
        return CLV_LOST;
    }
    uint64_t start = clv_base_clock_ns();
    space->pairs.is_valid = false;
    space->pairs.list.count = space->pairs.begun.count = space->pairs.ended.count = 0;
    begin_stats( space );
    bool fits = !space->modes.must_resend || clv_mpi_keep_corners( space );
    if ( space->modes.must_resend && fits )
    {
        forget_ghosts( space );
    }
    clv_result mine = fits && clv_mpi_objects_list_own( space )
        ? CLV_OK
        : clv_mpi_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for a list of objects" );
    bool all_know = space->partition.cut_is_due;
    mine = cut_if_due( space, mine );
    if ( mine != CLV_OK && all_know )
    {
        return fail( space, mine );
    }
    if ( mine == CLV_OK )
    {
        clv_mpi_pack_slots( space ); // after the cut, which weighs objects by the slots of the last search
    }
    uint64_t sending = clv_base_clock_ns();
    CLV_ASSERT( mine != CLV_OK || !space->slots.own_is_stale );
    CLV_ASSERT( space->slots.end == clv_space_stats( space->inside ).slot_count );
    clv_mpi_next_stamp( space );
    mine = mine == CLV_OK ? clv_mpi_select_receivers( space ) : mine;
    clv_result result = clv_mpi_exchange( space, mine );
    space->stats.send_ms = ms_since( sending );
    // What failed on this process alone is told at the end, where everybody listens.
    mine = result == CLV_OK ? clv_mpi_receive( space ) : result;
    space->stats.own_count = space->slots.own.count;
    space->stats.ghost_count = space->slots.ghost_count;
    mine = mine == CLV_OK ? search_inside( space ) : mine;
    space->stats.pair_count = space->pairs.list.count;
    clv_mpi_measure_work( space, start );
    result = sum_up( space, mine );
    if ( result != CLV_OK )
    {
        return fail( space, result );
    }
    clv_mpi_finish_update( space );
    CLV_VALIDATE( clv_mpi_space_check( space ) == NULL );
    space->stats.own_count = space->slots.own.count;
    space->stats.memory_bytes = space->memory.bytes + clv_space_stats( space->inside ).memory_bytes;
    clv_mpi_decide_cut( space );
    space->stats.update_count += 1;
    return CLV_OK;
}

clv_result clv_mpi_space_update( clv_mpi_space* space )
{
    base_fp_mode mode = base_fp_enter();
    clv_result result = update_now( space );
    base_fp_leave( mode );
    return result;
}
