// SPDX-License-Identifier: MIT
// Sums run over the slots in order, in double, on one thread and without SIMD, so that every instruction set
// chooses the same axis.
#include "sweep/axis.h"

#include "sweep/bulk.h"

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
