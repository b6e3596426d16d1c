// SPDX-License-Identifier: MIT
// Sums run over the slots in order, in double, on one thread and without SIMD, so that every instruction set
// chooses the same axis.
#include "sweep/axis.h"

#include "base/assertion.h"

#include <math.h>

// ---- bulk

// By insertion at shrinking distances (Shell 1959), those of Ciura (2001): of 256 numbers a tenth of the work
// of distance 1 alone.
void clv_sweep_sort_ascending( double* values, uint32_t count )
{
    static const uint32_t gaps[] = { 57, 23, 10, 4, 1 };
    for ( size_t pass = 0; pass < sizeof( gaps ) / sizeof( gaps[0] ); ++pass )
    {
        uint32_t gap = gaps[pass];
        for ( uint32_t i = gap; i < count; ++i )
        {
            double value = values[i];
            uint32_t hole = i;
            for ( ; hole >= gap && values[hole - gap] > value; hole -= gap )
            {
                values[hole] = values[hole - gap];
            }
            values[hole] = value;
        }
    }
}

void clv_sweep_sample_take( const clv_method_input* input, uint32_t most, sweep_sample* sample )
{
    CLV_ASSERT( most > 0 && most <= SWEEP_BULK_SAMPLES );
    uint32_t count = 0;
    uint32_t step = input->live_count / most + 1;
    for ( uint32_t first = 0; first < input->live_count; first += step )
    {
        uint32_t slot = clv_method_live_slot( input, base_sample_step( first, step, input->live_count ) );
        double centre[3];
        sweep_centre_of( &input->boxes[slot], centre );
        if ( sweep_centre_is_finite( centre ) )
        {
            sample->slots[count] = slot;
            sample->centres[0][count] = centre[0];
            sample->centres[1][count] = centre[1];
            sample->centres[2][count] = centre[2];
            count += 1;
        }
    }
    sample->count = count;
    for ( int axis = 0; axis < 3; ++axis )
    {
        clv_sweep_sort_ascending( sample->centres[axis], count );
    }
}

sweep_bulk clv_sweep_bulk_find(
    const clv_method_input* input, uint32_t sample_count, uint32_t tail, double reach )
{
    sweep_sample sample;
    clv_sweep_sample_take( input, sample_count, &sample );
    uint32_t count = sample.count;
    sweep_bulk bulk;
    for ( int axis = 0; axis < 3; ++axis )
    {
        const double* sorted = sample.centres[axis];
        double first = count > 0 ? sorted[count / tail] : 0;
        double last = count > 0 ? sorted[count - 1 - count / tail] : 0;
        bool has_width = last > first;
        bulk.low[axis] = has_width ? first - reach * ( last - first ) : -INFINITY;
        bulk.high[axis] = has_width ? last + reach * ( last - first ) : INFINITY;
        bulk.middle[axis] = count > 0 ? sorted[count / 2] : 0;
    }
    return bulk;
}

// ---- axis

enum
{
    CENTRES = 32,
    CENTRE_TAIL = 10,  // the middle 80 % of these are the bulk
    OUTLIER_REACH = 10 // an outlier lies this many times the bulk's width away from the bulk
};

int clv_sweep_choose_axis( const clv_method_input* input )
{
    sweep_bulk bulk = clv_sweep_bulk_find( input, CENTRES, CENTRE_TAIL, OUTLIER_REACH );
    double sum[3] = { 0 }, square[3] = { 0 };
    double inside = 0;
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        double centre[3];
        sweep_centre_of( &input->boxes[clv_method_live_slot( input, i )], centre );
        if ( sweep_bulk_has( &bulk, centre ) )
        {
            for ( int axis = 0; axis < 3; ++axis )
            {
                double offset = centre[axis] - bulk.middle[axis]; // so that a swarm at 1e7 keeps its digits
                sum[axis] += offset;
                square[axis] += offset * offset;
            }
            inside += 1;
        }
    }
    int best = 0;
    double best_variance = -1;
    for ( int axis = 0; axis < 3 && inside > 0; ++axis )
    {
        double variance = square[axis] / inside - ( sum[axis] / inside ) * ( sum[axis] / inside );
        if ( variance > best_variance )
        {
            best = axis;
            best_variance = variance;
        }
    }
    return best;
}
