// SPDX-License-Identifier: MIT
// An update in the order of its stages: cut (now and then), select receivers, exchange, receive, search,
// list, agree, finish. Up to the last agreement nothing is lost: if one process fails, all forget their
// ghosts, and the next update sends them anew. At the end each process's work is compared: is space to be cut
// anew?
#include "base/assertion.h"
#include "base/fp_mode.h"
#include "base/timer.h"
#include "mpi_state.h"

static double ms_since( uint64_t start )
{
    return (double)( clv_base_clock_ns() - start ) * 1e-6;
}

// ---- balance

// All from counters that come out the same in every run, unless the def wants time; and the decision from
// numbers that all processes have. Costs were fitted to processor time: move and update on 4 processes, 15
// scenes with 25,000 to 200,000 boxes per process, by AVX-512, AVX2 and scalar code (bench/mpi.md). An own
// box takes 23 to 30 ns; a ghost about 120 where it stays one, 500 to 700 where objects change their owners;
// a pair 7 to 30; a test 0.2, by scalar code 1.

enum
{
    WORK_TEST = 1, ///< the unit
    WORK_PAIR = 64,
    WORK_OWN = 256,
    WORK_GHOST = 1024,
    WEIGHT_SCALE = 16 ///< of an object's weight, so that whole numbers are fine enough
};

#define WEIGHT_MOST ( (double)( 1u << 30 ) )

// A cut costs about two updates: all boxes are counted many times, some change their owner, and grids are
// laid anew. By the ski-rental rule it is made once imbalance has cost as much since the last one; a little
// sooner, since processes differ more in time than in counters. The first cut was made without knowing any
// work, so the second comes sooner still. A cut that did not help doubles the price.
#define FIRST_PRICE 1.0
#define CUT_PRICE 1.5
#define MOST_PRICE 1024.0

static uint64_t time_here( const clv_mpi_space* space, uint64_t start )
{
    uint64_t all = clv_base_clock_ns() - start, waited = (uint64_t)( space->stats.wait_ms * 1e6 );
    return all > waited ? all - waited : 0;
}

static void measure_work( clv_mpi_space* space, uint64_t start )
{
    const clv_mpi_stats* s = &space->stats;
    if ( space->def.balance_by_time )
    {
        space->partition.work = space->partition.work_to_share = time_here( space, start );
        return;
    }
    uint64_t own = s->own_count * WORK_OWN, ghosts = s->ghost_count * WORK_GHOST;
    uint64_t found = s->pair_count * WORK_PAIR + s->test_count * WORK_TEST;
    space->partition.work = own + ghosts + found;
    // Ghosts do not go where own boxes go: a few boxes among many ghosts would weigh as a thousand each.
    space->partition.work_to_share = own + ( ghosts < own ? ghosts : own ) + found;
    CLV_ASSERT( space->partition.work_to_share <= space->partition.work );
}

// In how many pairs of the last search each slot was.
static void count_pairs( const clv_mpi_space* space, uint32_t* counts )
{
    clv_pair_view view = clv_space_pairs( space->inside );
    memset( counts, 0, space->slots.end * sizeof( uint32_t ) );
    for ( uint64_t i = 0; view.valid && i < view.count; ++i )
    {
        // Slots are never fewer than at the search, unless they were brought into a row, and then there is no
        // list.
        CLV_ASSERT( view.pairs[i].a < space->slots.end && view.pairs[i].b < space->slots.end );
        counts[view.pairs[i].a] += 1;
        counts[view.pairs[i].b] += 1;
    }
}

// The work of the process, divided by what each object alone takes; half of each of its pairs is the other's.
static void share_work( const clv_mpi_space* space, const uint32_t* pair_counts, uint64_t* weights )
{
    CLV_ASSERT( !space->slots.own_is_stale );
    uint64_t count = space->slots.own.count, sum = 0;
    for ( uint64_t i = 0; i < count; ++i )
    {
        weights[i] = WORK_OWN + (uint64_t)pair_counts[space->slots.own.items[i]] * ( WORK_PAIR / 2 );
        sum += weights[i];
    }
    double each = WEIGHT_SCALE *
        ( space->partition.work_to_share > 0 && sum > 0 ? (double)space->partition.work_to_share / (double)sum
                                                        : 1 );
    for ( uint64_t i = 0; i < count; ++i )
    {
        double weight = (double)weights[i] * each;
        weights[i] = weight < 1 ? 1 : weight > WEIGHT_MOST ? (uint64_t)WEIGHT_MOST : (uint64_t)weight;
    }
}

bool clv_mpi_weigh_objects( clv_mpi_space* space, uint64_t* weights )
{
    base_memory* memory = &space->memory;
    uint64_t slots = space->slots.end;
    if ( space->def.borrowed || slots == 0 )
    {
        // Borrowed objects stay with the process that added them, and the work is where they lie: it is not
        // known per object.
        for ( uint64_t i = 0; i < space->slots.own.count; ++i )
        {
            weights[i] = WORK_OWN * WEIGHT_SCALE;
        }
        return true;
    }
    uint32_t* pair_counts = clv_base_memory_take( memory, slots, sizeof( uint32_t ) );
    if ( pair_counts != NULL )
    {
        count_pairs( space, pair_counts );
        share_work( space, pair_counts, weights );
        clv_base_memory_give( memory, pair_counts, slots, sizeof( uint32_t ) );
    }
    return pair_counts != NULL;
}

void clv_mpi_reset_balance( clv_mpi_space* space )
{
    space->partition.updates_since_cut = 0;
    space->partition.loss = 0;
    space->partition.price = FIRST_PRICE;
    space->partition.imbalance_before_cut = 0;
    space->partition.work = space->partition.work_to_share = 0;
}

static void decide_cut( clv_mpi_space* space )
{
    clv_mpi_stats* s = &space->stats;
    if ( s->was_cut )
    {
        space->partition.loss = 0;
        return; // objects change their owners now: the next update shows what the cut is worth
    }
    space->partition.updates_since_cut += 1;
    if ( space->partition.updates_since_cut == 1 && space->partition.imbalance_before_cut > 0 )
    {
        bool has_helped = s->imbalance < space->partition.imbalance_before_cut * 0.75;
        space->partition.price = has_helped           ? CUT_PRICE
            : space->partition.price * 2 > MOST_PRICE ? MOST_PRICE
                                                      : space->partition.price * 2;
    }
    space->partition.loss += s->imbalance;
    CLV_ASSERT( space->partition.price >= FIRST_PRICE && space->partition.price <= MOST_PRICE );
    s->will_cut = space->process_count > 1 && s->all_own_count > 0 &&
        s->imbalance > (double)space->def.imbalance && space->partition.loss >= space->partition.price;
    space->partition.cut_is_due = s->will_cut;
    space->partition.imbalance_before_cut = s->imbalance;
}

// ---- after a failure

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

// ---- the end of a good update

static void take_payloads( clv_mpi_space* space )
{
    for ( uint64_t i = 0; space->def.payload.size > 0 && i < space->exchange.arrivals.count; ++i )
    {
        CLV_ASSERT( space->exchange.arrivals.items[i] < space->exchange.inbox.count );
        mpi_record text =
            clv_mpi_record_read( space, &space->exchange.inbox, space->exchange.arrivals.items[i] );
        space->def.payload.unpack( text.id, text.payload, space->def.payload.user );
    }
}

// One object at the end of a good update. True: it is out of this process's reach.
static bool finish_slot( clv_mpi_space* space, uint32_t slot )
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

// A group of own objects that stay and have no history: only their flags change.
static bool finish_group( clv_mpi_space* space, uint32_t slot )
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
        return true; // nothing to change
    }
    for ( uint32_t i = 0; i < SLOT_GROUP; ++i )
    {
        flags[i] = ( flags[i] & ~(uint32_t)( SLOT_MOVED | SLOT_CHANGED ) ) | SLOT_OLD;
    }
    return true;
}

static void finish_slots( clv_mpi_space* space )
{
    const uint32_t mask = SLOT_LIVE | SLOT_OWN | SLOT_ARRIVED | SLOT_LEAVING | SLOT_STATIC | SLOT_WAS_STATIC,
                   stays = SLOT_LIVE | SLOT_OWN;
    bool is_plain = !space->modes.has_history && !space->modes.has_margins,
         is_anonymous = mpi_ghosts_are_anonymous( space );
    // Slots that are left from the front, those of arrivals from the back: together no more than there are.
    uint64_t gone = 0, came = space->slots.end;
    CLV_ASSERT( space->slots.end <= space->slots.gone.capacity );
    if ( space->process_count == 1 && is_plain && !space->slots.has_news )
    {
        CLV_ASSERT( space->slots.ghost_count == 0 && space->exchange.arrivals.count == 0 );
        return;
    }
    for ( uint32_t slot = 0; slot < space->slots.end; ++slot )
    {
        uint32_t* flags = &space->columns.flags.items[slot];
        if ( slot % SLOT_GROUP == 0 && finish_group( space, slot ) )
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
            if ( finish_slot( space, slot ) || ( is_anonymous && ( was & SLOT_LEAVING ) != 0 ) )
            {
                space->slots.gone.items[gone++] = slot;
            }
            else if ( ( was & SLOT_ARRIVED ) != 0 )
            {
                space->slots.gone.items[--came] = slot;
            }
        }
    }
    if ( is_anonymous )
    {
        clv_mpi_lookup_log(
            space, space->slots.gone.items, gone, space->slots.gone.items + came, space->slots.end - came );
    }
    else
    {
        clv_mpi_objects_drop_all( space, space->slots.gone.items, gone );
    }
    space->slots.has_news = false;
}

static void finish_update( clv_mpi_space* space )
{
    take_payloads( space );
    finish_slots( space );
    space->slots.border_is_known = false;
    space->slots.moved_count = 0;
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

// ---- numbers of all processes

// Sums and the largest over all, and one result for all.
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
        return clv_mpi_inner_result( space, result );
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

// Test boxes, and space cut anew where that is due. An error of this process is shared with the exchange,
// unless all must know now.
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
    clv_result mine =
        clv_mpi_reserved( space, fits && clv_mpi_objects_list_own( space ), "a list of objects" );
    bool is_shared = space->partition.cut_is_due;
    mine = cut_if_due( space, mine );
    if ( mine != CLV_OK && is_shared )
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
    // An error of this process alone is shared at the end, in the sums.
    mine = result == CLV_OK ? clv_mpi_receive( space ) : result;
    space->stats.own_count = space->slots.own.count;
    space->stats.ghost_count = space->slots.ghost_count;
    mine = mine == CLV_OK ? search_inside( space ) : mine;
    space->stats.pair_count = space->pairs.list.count;
    measure_work( space, start );
    result = sum_up( space, mine );
    if ( result != CLV_OK )
    {
        return fail( space, result );
    }
    finish_update( space );
    CLV_VALIDATE( clv_mpi_space_check( space ) == NULL );
    space->stats.own_count = space->slots.own.count;
    space->stats.memory_bytes = space->memory.bytes + clv_space_stats( space->inside ).memory_bytes;
    decide_cut( space );
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
