// SPDX-License-Identifier: MIT
// Sums run over the slots in order, in double, on one thread and without SIMD, so that every instruction set chooses the
// same axis.
#include "sweep/axis.h"

#include <math.h>

enum
{
    CENTRES = 32,
    OUTLIER_REACH = 10 // an outlier lies this many times the bulk's width away from the bulk
};

typedef struct centre_window
{
    double low[3], high[3];
    double middle[3]; // sums are taken about this, so that a swarm at 1e7 keeps its digits
} centre_window;

static void centre_of( const clv_method_input* input, uint32_t index, double centre[3] )
{
    const clv_aabb* box = &input->boxes[clv_method_live_slot( input, index )];
    centre[0] = 0.5 * ( (double)box->lower.x + (double)box->upper.x );
    centre[1] = 0.5 * ( (double)box->lower.y + (double)box->upper.y );
    centre[2] = 0.5 * ( (double)box->lower.z + (double)box->upper.z );
}

static bool is_finite_centre( const double centre[3] )
{
    double sum =
        centre[0] + centre[1] + centre[2]; // finite numbers of float's range cannot overflow a double
    return sum - sum == 0;
}

static void sort_centres( double* values, uint32_t count )
{
    for ( uint32_t i = 1; i < count; ++i )
    {
        double value = values[i];
        uint32_t hole = i;
        for ( ; hole > 0 && values[hole - 1] > value; --hole )
        {
            values[hole] = values[hole - 1];
        }
        values[hole] = value;
    }
}

static uint32_t take_samples( const clv_method_input* input, double samples[3][CENTRES] )
{
    uint32_t count = 0;
    uint32_t step = input->live_count / CENTRES + 1;
    for ( uint32_t i = 0; i < input->live_count; i += step )
    {
        double centre[3];
        centre_of( input, i, centre );
        if ( is_finite_centre( centre ) )
        {
            samples[0][count] = centre[0];
            samples[1][count] = centre[1];
            samples[2][count] = centre[2];
            count += 1;
        }
    }
    return count;
}

// Where the middle 80 % of a sample lie, widened. A sample without width tells nothing and excludes nobody.
static centre_window find_window( const clv_method_input* input )
{
    double samples[3][CENTRES];
    uint32_t count = take_samples( input, samples );
    centre_window w;
    for ( int axis = 0; axis < 3; ++axis )
    {
        w.low[axis] = -INFINITY;
        w.high[axis] = INFINITY;
        w.middle[axis] = 0;
        if ( count > 0 )
        {
            sort_centres( samples[axis], count );
            double first = samples[axis][count / 10];
            double last = samples[axis][count - 1 - count / 10];
            w.middle[axis] = samples[axis][count / 2];
            if ( last > first )
            {
                w.low[axis] = first - OUTLIER_REACH * ( last - first );
                w.high[axis] = last + OUTLIER_REACH * ( last - first );
            }
        }
    }
    return w;
}

static bool is_inside( const centre_window* w, const double centre[3] )
{
    return centre[0] >= w->low[0] && centre[0] <= w->high[0] && centre[1] >= w->low[1] &&
        centre[1] <= w->high[1] && centre[2] >= w->low[2] && centre[2] <= w->high[2];
}

int clv_sweep_choose_axis( const clv_method_input* input )
{
    centre_window w = find_window( input );
    double sum[3] = { 0 }, square[3] = { 0 };
    double inside = 0;
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        double centre[3];
        centre_of( input, i, centre );
        if ( is_finite_centre( centre ) && is_inside( &w, centre ) )
        {
            for ( int axis = 0; axis < 3; ++axis )
            {
                double offset = centre[axis] - w.middle[axis];
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
