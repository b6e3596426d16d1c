// SPDX-License-Identifier: MIT
// So few boxes that cells cost more than they save: all are in one, in order of where they begin on one axis.
// Then 64 boxes have to be tested only against those 64 that begin before they end, which is a look at 64
// bytes. No box is in two places, nothing is counted beforehand, and everything stays in the first-level
// cache.
#include "engine/engine_internal.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <string.h>

enum
{
    JUDGE_SAMPLES = 32,
    STRIP_REACH = 64, // boxes that a box may meet on the axis, in the mean, for a strip to be worth it
    STRIP_TIES = 4,   // tests in float for every box, in vain, from which one cell is too coarse
    STRIP_TESTS = STRIP_REACH + 96, // for every box, in bytes: whole words of 64 are tested
    STRIP_BUCKETS = CELL_STEPS,
};

// ---- is it worth it, and on which axis?

static bool bytes_meet_on( uint64_t a, uint64_t b, int axis )
{
    uint8_t a_lower = (uint8_t)( a >> ( 8 * axis ) ), a_upper = (uint8_t)( a >> ( 32 + 8 * axis ) );
    uint8_t b_lower = (uint8_t)( b >> ( 8 * axis ) ), b_upper = (uint8_t)( b >> ( 32 + 8 * axis ) );
    return ( a_lower <= b_upper ) & ( b_lower <= a_upper );
}

static bool boxes_meet( const clv_aabb* a, const clv_aabb* b )
{
    bool meet = true;
    for ( int axis = 0; axis < 3; ++axis )
    {
        meet = meet & ( ( &a->lower.x )[axis] <= ( &b->upper.x )[axis] ) &
            ( ( &b->lower.x )[axis] <= ( &a->upper.x )[axis] );
    }
    return meet;
}

// What a few boxes, each against each other, say of all.
typedef struct strip_judgement
{
    uint32_t tests;
    uint32_t met[3];  ///< in bytes, by axis
    uint32_t in_vain; ///< met on all three, and do not touch
} strip_judgement;

static BASE_COLD strip_judgement judge(
    const simd_cells* kernels, const clv_aabb* samples, uint32_t sample_count, const cell_grid* grid )
{
    const scaling s = scaling_of( grid );
    uint32_t count = sample_count < JUDGE_SAMPLES ? sample_count : JUDGE_SAMPLES;
    uint32_t numbers[JUDGE_SAMPLES];
    cell_record records[JUDGE_SAMPLES];
    for ( uint32_t i = 0; i < count; ++i )
    {
        numbers[i] = i * sample_count / count;
    }
    cell_boxes some = { samples, numbers, 0, count };
    kernels->make_records( &some, &s, records );
    strip_judgement judgement = { count * ( count - 1 ) / 2, { 0, 0, 0 }, 0 };
    for ( uint32_t i = 1; i < count; ++i )
    {
        for ( uint32_t j = 0; j < i; ++j )
        {
            uint32_t met = 0;
            for ( int axis = 0; axis < 3; ++axis )
            {
                bool meet = bytes_meet_on( records[i].code, records[j].code, axis );
                judgement.met[axis] += meet;
                met += meet;
            }
            judgement.in_vain += met == 3 && !boxes_meet( &samples[numbers[i]], &samples[numbers[j]] );
        }
    }
    return judgement;
}

BASE_COLD int32_t clv_engine_strip_axis( const simd_cells* kernels, const clv_aabb* samples,
    uint32_t sample_count, uint32_t count, const cell_grid* grid )
{
    CLV_ASSERT( cell_grid_count( grid ) == 1 );
    strip_judgement j = judge( kernels, samples, sample_count, grid );
    int32_t best = j.met[1] < j.met[0] ? 1 : 0;
    best = j.met[2] < j.met[best] ? 2 : best;
    // Of all count * count / 2 pairs, so many for each box.
    uint64_t reach = (uint64_t)j.met[best] * count, most_reach = 2 * STRIP_REACH * (uint64_t)j.tests;
    uint64_t in_vain = (uint64_t)j.in_vain * count, most_in_vain = 2 * STRIP_TIES * (uint64_t)j.tests;
    return reach <= most_reach && in_vain <= most_in_vain ? best : -1;
}

bool clv_engine_strip_paid( const clv_engine* engine )
{
    return engine->strip_axis >= 0 && engine->strip_tests <= (uint64_t)STRIP_TESTS * engine->flat.count;
}

// ---- in order

// By counting: as they were, among those that begin at the same 256th.
static void sort_records( const cell_record* records, uint32_t count, uint32_t axis, cell_entry* out )
{
    const uint32_t shift = 8 * axis;
    uint32_t places[STRIP_BUCKETS] = { 0 }, sum = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        places[records[i].code >> shift & 0xFF] += 1;
    }
    for ( uint32_t bucket = 0; bucket < STRIP_BUCKETS; ++bucket )
    {
        uint32_t here = places[bucket];
        places[bucket] = sum;
        sum += here;
    }
    CLV_ASSERT( sum == count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        out[places[records[i].code >> shift & 0xFF]++] = records[i];
    }
}

bool clv_engine_strip_fill( clv_engine* engine, const clv_method_input* input )
{
    uint32_t count = input->live_count;
    cell_scratch* scratch = &engine->scratches.items[0];
    CLV_ASSERT( engine->strip_axis >= 0 );
    if ( !base_array_renew( &engine->records, engine->memory, count ) ||
        !clv_engine_cell_scratch_reserve_entries(
            scratch, engine->memory, ( cell_layout ){ count, 0, count } ) )
    {
        return false;
    }
    clv_engine_make_all( engine, input );
    sort_records( engine->records.items, count, (uint32_t)engine->strip_axis, scratch->entries );
    memset( scratch->entries + count, 0, CELL_SLACK * sizeof( cell_entry ) );
    engine->grid_age += 1;
    return true;
}

// ---- searched

clv_result clv_engine_strip_search( clv_engine* engine, clv_pair_sink* sink, uint64_t* test_count )
{
    const simd_cells* kernels = engine->kernels->cells;
    cell_scratch* scratch = &engine->scratches.items[0];
    CLV_ASSERT( engine->strip_axis >= 0 && engine->flat.count <= engine->strip_boxes );
    cell_counters counters = { .cell_count = 1, .entry_count = engine->flat.count };
    cell_search search = { engine->exact, sink, scratch->lanes, scratch->slots, scratch->ties, 0, &counters,
        engine->strip_axis };
    sink->expected = 0;
    clv_result result = kernels->search_cell( &search, scratch->entries, engine->flat.count );
    result = result == CLV_OK && search.tie_count > 0 ? kernels->settle_ties( &search ) : result;
    if ( result == CLV_OK )
    {
        clv_engine_count( engine, 0, &counters );
        engine->strip_tests = counters.test_count;
    }
    *test_count += counters.test_count;
    return result;
}
