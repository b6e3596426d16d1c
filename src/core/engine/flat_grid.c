// SPDX-License-Identifier: MIT
// The grid over all boxes, where they are in one: chosen by a sample now and then, kept in between while a
// few boxes say that it still serves. Any grid is right; a bad one is only slow.
#include "engine/engine_internal.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <string.h>

enum
{
    GRID_LIFE = 8, // updates
    BOXES_PER_SAMPLE = 16,
    FLAT_LEAST_SAMPLES = 32,
    FLAT_HOLD_SAMPLES = 32,
    STRIP_LEAST = 128,
};

// A region where most of the boxes are.
static void measure_region( clv_engine* engine, const clv_method_input* input )
{
    cell_extent most = clv_engine_block_measure( input );
    memcpy( engine->flat.region_low, most.low, sizeof( most.low ) );
    memcpy( engine->flat.region_high, most.high, sizeof( most.high ) );
}

// Two samples of the same boxes differ a little; the grid need not, and then all boxes stay in the same
// cells.
static bool grids_are_alike( const cell_grid* a, const cell_grid* b )
{
    bool are_alike = true;
    for ( int axis = 0; axis < 3; ++axis )
    {
        float shift = ( a->origin[axis] - b->origin[axis] ) * a->scale[axis] / CELL_STEPS;
        float ratio = a->scale[axis] / b->scale[axis];
        are_alike = are_alike && a->dims[axis] == b->dims[axis] && shift > -0.25f && shift < 0.25f &&
            ratio > 0.98f && ratio < 1.02f;
    }
    return are_alike;
}

// A few boxes, always the same, that tell whether all have moved elsewhere or changed their size. At equal
// distances: they are compared with themselves, and to pick others in every update would cost 2 % of an
// update of 100 boxes. Of boxes in a single cell half as many are looked at: a worse scale costs those
// little.
typedef struct held_sample
{
    uint32_t seen, outside;
    float size; ///< of all together
} held_sample;

static held_sample resample( const clv_engine* engine, const clv_method_input* input )
{
    held_sample sample = { 0, 0, 0 };
    uint32_t wanted = input->live_count <= CELL_ALONE ? FLAT_HOLD_SAMPLES / 2 : FLAT_HOLD_SAMPLES;
    uint32_t step = input->live_count / wanted + 1;
    for ( uint32_t i = 0; i < input->live_count; i += step )
    {
        const clv_aabb* box = &input->boxes[clv_method_live_slot( input, i )];
        const float* lower = &box->lower.x;
        const float* upper = &box->upper.x;
        int is_out = 0;
        for ( int axis = 0; axis < 3; ++axis )
        {
            is_out |= ( upper[axis] < engine->flat.region_low[axis] ) |
                ( lower[axis] > engine->flat.region_high[axis] );
            sample.size += upper[axis] - lower[axis];
        }
        sample.outside += (uint32_t)is_out;
        sample.seen += 1;
    }
    CLV_ASSERT( sample.outside <= sample.seen && sample.seen <= input->live_count );
    return sample;
}

// So few that cells cost more than they save, and more than one register tests at once in any case.
static bool is_strip_size( const clv_engine* engine, uint32_t count )
{
    return count > STRIP_LEAST && count <= engine->strip_boxes;
}

// Are so many boxes better in a strip? Then engine->strip_axis is its axis. Few samples tell of many boxes,
// and a search of all of them tells more.
static bool choose_strip( clv_engine* engine, const clv_aabb* samples, uint32_t sample_count, uint32_t count,
    const cell_grid* grid )
{
    if ( !clv_engine_strip_paid( engine ) )
    {
        engine->strip_axis =
            clv_engine_strip_axis( engine->kernels->cells, samples, sample_count, count, grid );
        engine->strip_tests = 0;
    }
    return engine->strip_axis >= 0;
}

// A grid for a sample of the boxes.
BASE_COLD void clv_engine_choose_grid( clv_engine* engine, const clv_method_input* input, bool may_be_strip )
{
    cell_job* job = &engine->flat;
    clv_aabb samples[CELL_SAMPLES];
    uint32_t count =
        input->live_count / BOXES_PER_SAMPLE; // few take less time to search than to measure well
    count = count < FLAT_LEAST_SAMPLES ? FLAT_LEAST_SAMPLES : count;
    count = count < CELL_SAMPLES ? count : CELL_SAMPLES;
    count = count < input->live_count ? count : input->live_count;
    for ( uint32_t i = 0; i < count; ++i )
    {
        samples[i] = input->boxes[clv_method_live_slot( input, base_sample( i, count, input->live_count ) )];
    }
    CLV_ASSERT( count <= CELL_SAMPLES && count <= input->live_count );
    measure_region( engine, input );
    may_be_strip = may_be_strip && is_strip_size( engine, input->live_count );
    bool is_strip = false;
    cell_grid grid = { .dims = { 0, 0, 0 } };
    if ( input->live_count <= CELL_ALONE || may_be_strip )
    {
        engine->flat_extent =
            clv_engine_cell_measure_alone( samples, count, job->region_low, job->region_high );
        grid = clv_engine_cell_grid_choose( 1, &engine->flat_extent );
        is_strip = may_be_strip && choose_strip( engine, samples, count, input->live_count, &grid );
    }
    if ( input->live_count > CELL_ALONE && !is_strip )
    {
        engine->flat_extent = clv_engine_cell_measure( samples, count, job->region_low, job->region_high );
        grid = clv_engine_cell_grid_choose( input->live_count, &engine->flat_extent );
    }
    engine->strip_axis = is_strip ? engine->strip_axis : -1;
    engine->chosen = grids_are_alike( &grid, &engine->chosen ) ? engine->chosen : grid;
    engine->reasons |= CLV_REASON_GRID;
    engine->grid_age = 0;
    engine->grid_count = input->live_count;
    CLV_ASSERT( ( input->live_count > CELL_ALONE && engine->strip_axis < 0 ) ||
        cell_grid_count( &engine->chosen ) == 1 );
    held_sample held = resample( engine, input );
    engine->held_size = held.size;
    engine->held_outside = held.outside;
}

// Does the last choice still serve? Any grid is right, and a sample is many trips to memory, all by one
// worker; so it is made now and then, and in between a few boxes are looked at.
bool clv_engine_grid_serves( const clv_engine* engine, const clv_method_input* input )
{
    uint32_t then = engine->grid_count, count = input->live_count;
    bool is_alike = ( count <= CELL_ALONE ) == ( then <= CELL_ALONE ) && count <= then + then / 4 &&
        count >= then - then / 4; // a few boxes go into one cell, and the grid has to have no other
    is_alike = is_alike && is_strip_size( engine, count ) == is_strip_size( engine, then ) &&
        ( engine->strip_axis < 0 || ( engine->axes.sharp_left == 0 && clv_engine_strip_paid( engine ) ) );
    if ( then == 0 || engine->grid_age >= GRID_LIFE || !is_alike )
    {
        return false;
    }
    held_sample sample = resample( engine, input );
    bool is_other_size = sample.size > 2 * engine->held_size || sample.size < engine->held_size / 2;
    // Some may always lie far out: count only boxes that left since.
    return sample.outside <= engine->held_outside + sample.seen / 16 && !is_other_size;
}
