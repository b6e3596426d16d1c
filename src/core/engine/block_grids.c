// SPDX-License-Identifier: MIT
// A grid for every block, chosen with the plan: so boxes can be put into their blocks as records already.
// Plain C, in the order of the boxes: every instruction set must choose the same.
#include "engine/block.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <float.h>
#include <math.h>

enum
{
    SAMPLES_PER_BLOCK = 128
};

// Where the boxes of a block begin.
static void plan_region( const block_plan* plan, uint32_t block, float low[3], float high[3] )
{
    CLV_ASSERT( block < plan->block_count );
    block_leaf leaf = plan->leaves.items[block];
    for ( int axis = 0; axis < 3; ++axis )
    {
        float side = CELL_STEPS / plan->grid.scale[axis];
        low[axis] = plan->grid.origin[axis] + (float)( leaf.first >> ( 16 * axis ) & 0xFFFF ) * side;
        high[axis] = plan->grid.origin[axis] + (float)( ( leaf.last >> ( 16 * axis ) & 0xFFFF ) + 1 ) * side;
    }
}

void clv_engine_plan_open_region( const block_plan* plan, uint32_t block, float low[3], float high[3] )
{
    block_leaf leaf = plan->leaves.items[block];
    plan_region( plan, block, low, high );
    for ( int axis = 0; axis < 3; ++axis )
    {
        bool is_first = cell_field( leaf.first, axis ) == 0;
        bool is_last = cell_field( leaf.last, axis ) + 1 == plan->grid.dims[axis];
        low[axis] = is_first ? -INFINITY : low[axis];
        high[axis] = is_last ? INFINITY : high[axis];
    }
}

// Block in whose region a box begins.
static uint32_t block_of( const block_plan* plan, const clv_aabb* box )
{
    const float* lower = &box->lower.x;
    uint32_t cell = 0;
    for ( int axis = 2; axis >= 0; --axis )
    {
        uint32_t dims = plan->grid.dims[axis];
        float at = ( lower[axis] - plan->grid.origin[axis] ) * plan->grid.scale[axis] / CELL_STEPS;
        at = at > 0 ? at : 0;
        at = at < (float)( dims - 1 ) ? at : (float)( dims - 1 );
        cell = cell * dims + (uint32_t)at;
    }
    return plan->map.items[cell];
}

static bool reserve_grids( block_plan* plan, base_memory* memory, uint64_t sample_count )
{
    return base_array_reserve( &plan->grids, memory, plan->block_count ) &&
        base_array_reserve( &plan->scalings, memory, plan->block_count ) &&
        base_array_reserve( &plan->samples, memory, sample_count ) &&
        base_array_reserve( &plan->tallies, memory, (uint64_t)plan->block_count * 2 );
}

// At most SAMPLES_PER_BLOCK of each block, taken evenly from all boxes. counts[block] is how many were taken,
// seen[block] how many there were.
static void take_samples(
    const block_plan* plan, const clv_method_input* input, uint32_t step, uint32_t* counts, uint32_t* seen )
{
    for ( uint32_t first = 0; first < input->live_count; first += step )
    {
        uint32_t sample = base_sample_step( first, step, input->live_count );
        const clv_aabb* box = &input->boxes[clv_method_live_slot( input, sample )];
        uint32_t block = block_of( plan, box );
        CLV_ASSERT( block < plan->block_count );
        if ( counts[block] < SAMPLES_PER_BLOCK )
        {
            plan->samples.items[(size_t)block * SAMPLES_PER_BLOCK + counts[block]++] = *box;
        }
        seen[block] += 1;
    }
}

// Some boxes that are not in the sample lie farther out, and more will: all that is clamped to the border of
// a grid looks alike there and is compared in float.
static void widen( cell_extent* extent, const float low[3], const float high[3] )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        // In double: huge extents, and blocks at the end of the floats, have widths beyond them.
        double slack = ( (double)extent->high[axis] - (double)extent->low[axis] ) * 0.2;
        double from = (double)extent->low[axis] - slack, to = (double)extent->high[axis] + slack;
        from = from > (double)low[axis] ? from : (double)low[axis];
        to = to < (double)high[axis] ? to : (double)high[axis];
        extent->low[axis] = (float)( from > -FLT_MAX ? from : -FLT_MAX );
        extent->high[axis] = (float)( to < FLT_MAX ? to : FLT_MAX );
        // All boxes of a border block may lie beyond its end.
        extent->high[axis] = extent->high[axis] > extent->low[axis] ? extent->high[axis] : extent->low[axis];
    }
}

BASE_COLD bool clv_engine_plan_choose_grids(
    block_plan* plan, base_memory* memory, const clv_method_input* input )
{
    CLV_ASSERT( plan->block_count > 0 );
    uint64_t sample_count = (uint64_t)plan->block_count * SAMPLES_PER_BLOCK;
    if ( !reserve_grids( plan, memory, sample_count ) )
    {
        return false;
    }
    uint32_t* counts = plan->tallies.items;
    uint32_t* seen = counts + plan->block_count;
    for ( uint32_t i = 0; i < 2 * plan->block_count; ++i )
    {
        counts[i] = 0;
    }
    uint32_t step = (uint32_t)( input->live_count / sample_count + 1 );
    take_samples( plan, input, step, counts, seen );
    for ( uint32_t block = 0; block < plan->block_count; ++block )
    {
        float low[3], high[3];
        CLV_ASSERT( counts[block] <= SAMPLES_PER_BLOCK && counts[block] <= seen[block] );
        plan_region( plan, block, low, high );
        const clv_aabb* samples = plan->samples.items + (size_t)block * SAMPLES_PER_BLOCK;
        static const clv_aabb nothing = { { 0, 0, 0 }, { 0, 0, 0 } };
        bool is_empty = counts[block] == 0;
        cell_extent extent =
            clv_engine_cell_measure( is_empty ? &nothing : samples, is_empty ? 1 : counts[block], low, high );
        widen( &extent, low, high );
        plan->grids.items[block] = clv_engine_cell_grid_choose( seen[block] * step + 1, &extent );
        plan->scalings.items[block] = scaling_of( &plan->grids.items[block] );
    }
    return true;
}
