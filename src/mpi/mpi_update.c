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
    space->wire.own[0] = own;
    int answer =
        MPI_Iallreduce( space->wire.own, space->wire.sums, 1, MPI_UINT64_T, MPI_SUM, space->all, &request );
    bool ok = clv_mpi_went_well( space, answer, "a reduction" ) && clv_mpi_wait( space, &request, 1 );
    *count = space->wire.sums[0];
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
    uint64_t count = space->own.count;
    CLV_ASSERT( !space->own_is_stale );
    base_memory* memory = &space->memory;
    clv_vec3* points = clv_base_memory_take( memory, count, sizeof( clv_vec3 ) );
    uint64_t* weights = clv_base_memory_take( memory, count, sizeof( uint64_t ) );
    mpi_regions fresh;
    bool ok = clv_mpi_regions_open( &fresh, memory, space->process_count );
    bool fits = ok && ( count == 0 || ( points != NULL && weights != NULL ) );
    fits = fits && clv_mpi_weigh( space, weights );
    for ( uint64_t i = 0; fits && i < count; ++i )
    {
        points[i] = clv_mpi_box_middle( &space->columns.boxes.items[space->own.items[i]] );
    }
    clv_result result = clv_mpi_agree( space,
        fits ? CLV_OK
             : clv_mpi_complain( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory to cut space" ) );
    result = result == CLV_OK ? clv_mpi_cut_points( space, points, weights, count, &fresh ) : result;
    if ( result == CLV_OK )
    {
        CLV_ASSERT( fresh.cuts.count + 1 == (uint64_t)space->process_count );
        clv_mpi_regions_copy( &space->regions, &fresh );
        memset( space->writes_to, 0, (size_t)space->process_count );
        space->updates_since_cut = 0;
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
    for ( uint32_t slot = 0; slot < space->slot_end; ++slot )
    {
        uint32_t* flags = &space->columns.flags.items[slot];
        if ( ( *flags & ( MPI_LIVE | MPI_OWN ) ) == MPI_LIVE )
        {
            clv_mpi_objects_drop( space, slot );
        }
        *flags &= ~(uint32_t)( MPI_ARRIVED | MPI_GOING );
        space->columns.names.items[slot].owner = space->rank;
    }
}

// ---- after the search

static void take_payloads( clv_mpi_space* space )
{
    for ( uint64_t i = 0; space->def.payload.size > 0 && i < space->arrivals.count; ++i )
    {
        CLV_ASSERT( space->arrivals.items[i] < space->inbox.count );
        mpi_letter_text text = clv_mpi_letter_read( space, space->inbox.items + space->arrivals.items[i] );
        space->def.payload.unpack( text.id, text.payload, space->def.payload.user );
    }
}

// One object of which the update is over. True: it is nobody's here any more.
static bool settle( clv_mpi_space* space, uint32_t slot )
{
    mpi_columns* c = &space->columns;
    uint32_t* flags = &c->flags.items[slot];
    bool is_leaving = ( *flags & MPI_GOING ) != 0;
    CLV_ASSERT( ( *flags & MPI_LIVE ) != 0 && ( !is_leaving || ( *flags & MPI_OWN ) != 0 ) );
    CLV_ASSERT( ( *flags & MPI_ARRIVED ) == 0 || ( *flags & MPI_OWN ) == 0 );
    space->stats.arrived_count += ( *flags & MPI_ARRIVED ) != 0;
    space->stats.left_count += is_leaving;
    space->own_is_stale |= ( *flags & ( MPI_ARRIVED | MPI_GOING ) ) != 0;
    *flags |= ( *flags & MPI_ARRIVED ) != 0 ? (uint32_t)MPI_OWN : 0;
    *flags &= ~(uint32_t)( MPI_ARRIVED | MPI_GOING | MPI_MOVED | MPI_CHANGED | MPI_WAS_STATIC |
        ( is_leaving ? MPI_OWN : 0 ) );
    *flags |= MPI_OLD | ( ( *flags & MPI_STATIC ) != 0 ? MPI_WAS_STATIC : 0u );
    if ( space->remembers )
    {
        c->befores.items[slot] = c->boxes.items[slot];
        c->filters_before.items[slot] = c->filters.items[slot];
    }
    if ( space->grows )
    {
        c->motions.items[slot] = ( clv_vec3 ){ 0, 0, 0 };
    }
    bool is_ghost = ( *flags & MPI_OWN ) == 0;
    return !mpi_has_berths( space ) && is_ghost &&
        !mpi_region_reached( &space->regions.bounds[space->rank], &c->boxes.items[slot] );
}

// A block of own objects that stay, and of which nothing is remembered: their flags.
static bool settle_block( clv_mpi_space* space, uint32_t slot )
{
    uint32_t* flags = space->columns.flags.items + slot;
    uint32_t any, all;
    if ( space->remembers || space->grows || slot + MPI_BLOCK > space->slot_end )
    {
        return false;
    }
    all = mpi_flags_of( flags, &any );
    if ( ( all & MPI_OWN ) == 0 || ( any & ( MPI_ARRIVED | MPI_GOING | MPI_STATIC | MPI_WAS_STATIC ) ) != 0 )
    {
        return false;
    }
    if ( ( all & MPI_OLD ) != 0 && ( any & ( MPI_MOVED | MPI_CHANGED ) ) == 0 )
    {
        return true; // as they are to be
    }
    for ( uint32_t i = 0; i < MPI_BLOCK; ++i )
    {
        flags[i] = ( flags[i] & ~(uint32_t)( MPI_MOVED | MPI_CHANGED ) ) | MPI_OLD;
    }
    return true;
}

static void settle_all( clv_mpi_space* space )
{
    const uint32_t mask = MPI_LIVE | MPI_OWN | MPI_ARRIVED | MPI_GOING | MPI_STATIC | MPI_WAS_STATIC,
                   stays = MPI_LIVE | MPI_OWN;
    bool is_plain = !space->remembers && !space->grows, has_berths = mpi_has_berths( space );
    // Those that go from the front, those that come from the back: together no more than there are.
    uint64_t gone = 0, came = space->slot_end;
    CLV_ASSERT( space->slot_end <= space->gone.capacity );
    for ( uint32_t slot = 0; slot < space->slot_end; ++slot )
    {
        uint32_t* flags = &space->columns.flags.items[slot];
        if ( slot % MPI_BLOCK == 0 && settle_block( space, slot ) )
        {
            slot += MPI_BLOCK - 1;
        }
        else if ( is_plain && ( *flags & mask ) == stays )
        {
            *flags = ( *flags & ~(uint32_t)( MPI_MOVED | MPI_CHANGED ) ) | MPI_OLD;
        }
        else if ( ( *flags & MPI_LIVE ) != 0 )
        {
            uint32_t was = *flags;
            CLV_ASSERT( gone < came );
            if ( settle( space, slot ) || ( has_berths && ( was & MPI_GOING ) != 0 ) )
            {
                space->gone.items[gone++] = slot;
            }
            else if ( ( was & MPI_ARRIVED ) != 0 )
            {
                space->gone.items[--came] = slot;
            }
        }
    }
    if ( has_berths )
    {
        clv_mpi_names_note(
            space, space->gone.items, gone, space->gone.items + came, space->slot_end - came );
    }
    else
    {
        clv_mpi_objects_drop_all( space, space->gone.items, gone );
    }
    space->outer_is_known = false;
    space->moved_count = 0;
}

void clv_mpi_commit( clv_mpi_space* space )
{
    take_payloads( space );
    settle_all( space );
    if ( space->stats.was_cut || space->must_tell_all )
    {
        clv_mpi_regions_copy( &space->regions_before, &space->regions );
    }
    clv_mpi_objects_list( space ); // room for all slots was made in clv_mpi_receive
    CLV_ASSERT( !space->own_is_stale );
    if ( space->def.space.events )
    {
        mpi_found_list other = space->found_before;
        space->found_before = space->found;
        space->found = other;
    }
    base_array_free( &space->corners, &space->memory );
    space->keeps_corners = false;
    space->must_tell_all = false;
    space->list_is_valid = true;
    space->has_changed = false;
    space->questions.has_bounds = false;
}

// ---- everybody's numbers

// Sums and the largest over all; and whether everybody is content.
static clv_result sum_up( clv_mpi_space* space, clv_result mine )
{
    clv_mpi_stats* s = &space->stats;
    const uint64_t own[MPI_TALLY] = { [MPI_TALLY_MOST_WORK] = space->work,
        [MPI_TALLY_WORK] = space->work,
        [MPI_TALLY_OWN] = s->own_count,
        [MPI_TALLY_GHOSTS] = s->ghost_count,
        [MPI_TALLY_PAIRS] = s->pair_count,
        [MPI_TALLY_BYTES] = s->bytes_sent,
        [MPI_TALLY_OWNING] = s->own_count > 0 };
    const uint64_t* sums = space->wire.sums;
    memcpy( space->wire.own, own, sizeof( own ) );
    clv_result result = clv_mpi_agree_on_sums( space, mine );
    if ( result != CLV_OK )
    {
        return result;
    }
    s->all_own_count = sums[MPI_TALLY_OWN];
    s->all_ghost_count = sums[MPI_TALLY_GHOSTS];
    s->all_pair_count = sums[MPI_TALLY_PAIRS];
    s->all_bytes_sent = sums[MPI_TALLY_BYTES];
    s->owning_processes = (uint32_t)sums[MPI_TALLY_OWNING];
    double most = (double)sums[MPI_TALLY_MOST_WORK], all = (double)sums[MPI_TALLY_WORK];
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
        return clv_mpi_complain( space, result, UINT32_MAX, 0, "%s", clv_space_error( space->inside ).text );
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
    clv_result result = space->cut_is_due ? clv_mpi_agree( space, mine ) : mine;
    if ( result == CLV_OK )
    {
        clv_mpi_objects_grow( space );
    }
    if ( !space->cut_is_due || result != CLV_OK )
    {
        return result;
    }
    uint64_t start = clv_base_clock_ns();
    result = clv_mpi_cut( space );
    space->stats.cut_ms = ms_since( start );
    space->cut_is_due = result != CLV_OK;
    return result;
}

static clv_result fail( clv_mpi_space* space, clv_result result )
{
    space->must_tell_all = true;
    uint64_t cuts = space->stats.cut_count;
    space->stats = space->stats_before;
    space->stats.cut_count = cuts;
    space->pairs.count = space->begun.count = space->ended.count = 0;
    return space->is_lost ? CLV_LOST : result;
}

static clv_result update_now( clv_mpi_space* space )
{
    if ( space->is_lost )
    {
        return CLV_LOST;
    }
    uint64_t start = clv_base_clock_ns();
    space->list_is_valid = false;
    space->pairs.count = space->begun.count = space->ended.count = 0;
    begin_stats( space );
    bool fits = !space->must_tell_all || clv_mpi_keep_corners( space );
    if ( space->must_tell_all && fits )
    {
        forget_ghosts( space );
    }
    clv_result mine = fits && clv_mpi_objects_list( space )
        ? CLV_OK
        : clv_mpi_complain( space, CLV_OUT_OF_MEMORY, UINT32_MAX, 0, "no memory for a list of objects" );
    bool all_know = space->cut_is_due;
    mine = cut_if_due( space, mine );
    if ( mine != CLV_OK && all_know )
    {
        return fail( space, mine );
    }
    if ( mine == CLV_OK )
    {
        clv_mpi_pack( space ); // after the cut, which weighs objects by the slots of the last search
    }
    uint64_t sending = clv_base_clock_ns();
    CLV_ASSERT( mine != CLV_OK || !space->own_is_stale );
    CLV_ASSERT( space->slot_end == clv_space_stats( space->inside ).slot_count );
    clv_mpi_next_stamp( space );
    mine = mine == CLV_OK ? clv_mpi_address( space ) : mine;
    clv_result result = clv_mpi_exchange( space, mine );
    space->stats.send_ms = ms_since( sending );
    // What failed on this process alone is told at the end, where everybody listens.
    mine = result == CLV_OK ? clv_mpi_receive( space ) : result;
    space->stats.own_count = space->own.count;
    space->stats.ghost_count = space->ghost_count;
    mine = mine == CLV_OK ? search_inside( space ) : mine;
    space->stats.pair_count = space->pairs.count;
    clv_mpi_note_work( space, start );
    result = sum_up( space, mine );
    if ( result != CLV_OK )
    {
        return fail( space, result );
    }
    clv_mpi_commit( space );
    CLV_VALIDATE( clv_mpi_space_check( space ) == NULL );
    space->stats.own_count = space->own.count;
    space->stats.memory_bytes = space->memory.bytes + clv_space_stats( space->inside ).memory_bytes;
    clv_mpi_judge_balance( space );
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
