// SPDX-License-Identifier: MIT
// Plain C, in the order of the boxes: every instruction set must choose the same grid.
#include "cell/cell.h"

#include <math.h>

// The sample counted in 4 x 4 x 4 cells: of the others in its cell, a box sees as many as an even spread would give it, times
// this.
static float measure_crowding( const clv_aabb* samples, uint32_t count, const cell_extent* extent )
{
    enum
    {
        SIDE = 4,
        CELLS = SIDE * SIDE * SIDE
    };
    uint32_t counts[CELLS] = { 0 };
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* lower = &samples[i].lower.x;
        uint32_t cell = 0;
        for ( int axis = 0; axis < 3; ++axis )
        {
            float width = extent->high[axis] - extent->low[axis];
            float at = ( lower[axis] - extent->low[axis] ) / width * SIDE;
            at = at > 0 ? at : 0; // also where there is no width
            at = at < SIDE - 1 ? at : SIDE - 1;
            cell = cell * SIDE + (uint32_t)at;
        }
        counts[cell] += 1;
    }
    float seen = 0;
    for ( uint32_t cell = 0; cell < CELLS; ++cell )
    {
        seen += (float)counts[cell] * ( (float)counts[cell] - 1 );
    }
    float even = (float)count * ( (float)count - 1 ) / CELLS;
    return seen > even ? seen / even : 1;
}

static void measure_bounds( const clv_aabb* samples, uint32_t count, float low[3], float high[3] )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        low[axis] = INFINITY;
        high[axis] = -INFINITY;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* lower = &samples[i].lower.x;
        const float* upper = &samples[i].upper.x;
        for ( int axis = 0; axis < 3; ++axis )
        {
            low[axis] = lower[axis] < low[axis] ? lower[axis] : low[axis];
            high[axis] = upper[axis] > high[axis] ? upper[axis] : high[axis];
        }
    }
}

cell_extent cell_measure(
    const clv_aabb* samples, uint32_t count, const float region_low[3], const float region_high[3] )
{
    cell_extent extent = { .crowding = 1 };
    measure_bounds( samples, count, extent.low, extent.high );
    float cap[3], sum[3] = { 0, 0, 0 };
    for ( int axis = 0; axis < 3; ++axis )
    {
        extent.low[axis] = extent.low[axis] > region_low[axis] ? extent.low[axis] : region_low[axis];
        extent.high[axis] = extent.high[axis] < region_high[axis] ? extent.high[axis] : region_high[axis];
        // Boxes may all lie on one side of their region, or have no width; a grid needs none there either.
        extent.high[axis] = extent.high[axis] > extent.low[axis] ? extent.high[axis] : extent.low[axis];
        cap[axis] = extent.high[axis] - extent.low[axis];
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* lower = &samples[i].lower.x;
        const float* upper = &samples[i].upper.x;
        for ( int axis = 0; axis < 3; ++axis )
        {
            float size = upper[axis] - lower[axis];
            sum[axis] += size < cap[axis] ? size : cap[axis];
        }
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        extent.size[axis] = sum[axis] / (float)count;
    }
    extent.crowding = measure_crowding( samples, count, &extent );
    return extent;
}

cell_extent cell_measure_job( const cell_job* job )
{
    clv_aabb samples[CELL_SAMPLES + 1];
    uint32_t step = job->count / CELL_SAMPLES + 1;
    uint32_t count = 0;
    for ( uint32_t i = 0; i < job->count; i += step )
    {
        samples[count++] = job->boxes[cell_slot( &job->records[i] )];
    }
    return cell_measure( samples, count, job->region_low, job->region_high );
}
