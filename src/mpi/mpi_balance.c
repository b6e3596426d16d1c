// SPDX-License-Identifier: MIT
// Who has how much to do, what each object has to do with it, and whether space is to be cut anew. All from counters that come out the same
// in every run, unless the def wants time; and the decision from numbers that all processes have.
//
// What things cost was fitted to processor time: move and update on 4 processes, 15 scenes with 25,000 to 200,000 boxes per process, by
// AVX-512, AVX2 and scalar code (bench/mpi.md). An own box takes 23 to 30 ns; a ghost about 120 where it stays one, 500 to 700 where
// objects change their owners; a pair 7 to 30; a test 0.2, by scalar code 1.
#include "base/assertion.h"
#include "base/timer.h"
#include "mpi_state.h"

enum
{
    WORK_TEST = 1, ///< the unit
    WORK_PAIR = 64,
    WORK_OWN = 256,
    WORK_GHOST = 1024,
    WEIGHT_SCALE = 16 ///< of an object's weight, so that whole numbers are fine enough
};

#define WEIGHT_MOST ( (double)( 1u << 30 ) )

// A cut costs about two updates: all boxes are counted many times, some change their owner, and grids are laid anew. It is made once
// imbalance has cost as much since the last one, as who rents buys once the rent paid is the price; a little sooner, since processes
// differ more in time than in counters. The first cut was made without knowing any work, so the second comes sooner still. One that
// did not help doubles the price.
#define FIRST_PRICE 1.0
#define CUT_PRICE 1.5
#define MOST_PRICE 1024.0

// ---- work

static uint64_t time_here( const clv_mpi_space* space, uint64_t start )
{
    uint64_t all = clv_base_clock_ns() - start, waited = (uint64_t)( space->stats.wait_ms * 1e6 );
    return all > waited ? all - waited : 0;
}

void clv_mpi_measure_work( clv_mpi_space* space, uint64_t start )
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
    // A few boxes among many ghosts would weigh as a thousand each, and wherever they go the ghosts do not.
    space->partition.work_to_share = own + ( ghosts < own ? ghosts : own ) + found;
    CLV_ASSERT( space->partition.work_to_share <= space->partition.work );
}

// ---- weights

// In how many pairs of the last search each slot was.
static void count_pairs( const clv_mpi_space* space, uint32_t* counts )
{
    clv_pair_view view = clv_space_pairs( space->inside );
    memset( counts, 0, space->slots.end * sizeof( uint32_t ) );
    for ( uint64_t i = 0; view.valid && i < view.count; ++i )
    {
        // Slots are never fewer than at the search, unless they were brought into a row, and then there is no list.
        CLV_ASSERT( view.pairs[i].a < space->slots.end && view.pairs[i].b < space->slots.end );
        counts[view.pairs[i].a] += 1;
        counts[view.pairs[i].b] += 1;
    }
}

// What the process did, shared out by what each object alone takes; half of each of its pairs is the other's.
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
        // Borrowed objects stay with who added them, and the work is where they lie: nobody knows what his own take.
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

// ---- when to cut

void clv_mpi_reset_balance( clv_mpi_space* space )
{
    space->partition.updates_since_cut = 0;
    space->partition.loss = 0;
    space->partition.price = FIRST_PRICE;
    space->partition.imbalance_before_cut = 0;
    space->partition.work = space->partition.work_to_share = 0;
}

void clv_mpi_decide_cut( clv_mpi_space* space )
{
    clv_mpi_stats* s = &space->stats;
    if ( s->was_cut )
    {
        space->partition.loss = 0;
        return; // objects were still where they had been: the next update shows what the cut is worth
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
