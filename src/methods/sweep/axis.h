// SPDX-License-Identifier: MIT
#pragma once

#include "base/bits.h"
#include "base/exact.h"
#include "cleave/method.h"

// ---- Where most of the boxes are, from a sample of their centres, so that infinite boxes and far outliers
// have no say in how a grid is laid or which axis is swept: one object at 1e9 must not decide for a million
// others. In double, on one thread and without SIMD: the same on every instruction set.

enum
{
    SWEEP_BULK_SAMPLES = 256 ///< at most
};

typedef struct sweep_sample
{
    double centres[3][SWEEP_BULK_SAMPLES]; ///< each axis ascending
    uint32_t slots[SWEEP_BULK_SAMPLES];    ///< as they were taken
    uint32_t count;
} sweep_sample;

/// Of `most` boxes at most; infinite ones are left out.
void clv_sweep_sample_take( const clv_method_input* input, uint32_t most, sweep_sample* sample );

void clv_sweep_sort_ascending( double* values, uint32_t count );

typedef struct sweep_bulk
{
    double low[3], high[3]; ///< of centres; infinite where the sample has no width, which tells nothing
    double middle[3];       ///< the sample's median, 0 if there is no finite box in it
} sweep_bulk;

/// From `sample_count` boxes: where they are without one in `tail` at each end, and `reach` times that width
/// more on both sides.
sweep_bulk clv_sweep_bulk_find(
    const clv_method_input* input, uint32_t sample_count, uint32_t tail, double reach );

static inline void sweep_centre_of( const clv_aabb* box, double centre[3] )
{
    centre[0] = 0.5 * ( (double)box->lower.x + (double)box->upper.x );
    centre[1] = 0.5 * ( (double)box->lower.y + (double)box->upper.y );
    centre[2] = 0.5 * ( (double)box->lower.z + (double)box->upper.z );
}

static inline bool sweep_centre_is_finite( const double centre[3] )
{
    return base_is_finite(
        centre[0] + centre[1] + centre[2] ); // what floats can hold does not overflow a double
}

/// Is a centre finite, and no outlier?
static inline bool sweep_bulk_has( const sweep_bulk* bulk, const double centre[3] )
{
    return sweep_centre_is_finite( centre ) && centre[0] >= bulk->low[0] && centre[0] <= bulk->high[0] &&
        centre[1] >= bulk->low[1] && centre[1] <= bulk->high[1] && centre[2] >= bulk->low[2] &&
        centre[2] <= bulk->high[2];
}

/// The axis (0, 1, 2) on which the centres of the boxes vary most. Infinite boxes and far outliers have no
/// say: one object at 1e9 must not turn the sweep for a million others. The first axis wins a tie.
int clv_sweep_choose_axis( const clv_method_input* input );
