// SPDX-License-Identifier: MIT
#include "lab/view/view_scale.h"

#include <math.h>
#include <stdlib.h>

enum
{
    STEPS_PER_SIDE = 64,
    STEPS_MOST = 1 << 26, // from the origin
    SAMPLES = 4096,
};

static int compare_doubles( const void* a, const void* b )
{
    double first = *(const double*)a, second = *(const double*)b;
    return ( first > second ) - ( first < second );
}

// The middle one of the sides of some boxes, those without length left out; 0 if there are none.
static double middle_side( const clv_aabb* boxes, uint32_t count )
{
    static double sides[3 * SAMPLES]; // much for a stack
    uint32_t side_count = 0, samples = count < SAMPLES ? count : SAMPLES;
    for ( uint32_t i = 0; i < samples; ++i )
    {
        const clv_aabb* box = &boxes[(uint64_t)i * count / samples];
        for ( int axis = 0; axis < 3; ++axis )
        {
            double side = (double)( &box->upper.x )[axis] - (double)( &box->lower.x )[axis];
            if ( side > 0 && isfinite( side ) )
            {
                sides[side_count++] = side;
            }
        }
    }
    qsort( sides, side_count, sizeof( double ), compare_doubles );
    return side_count > 0 ? sides[side_count / 2] : 0;
}

static void widen( double value, double range[2] )
{
    if ( isfinite( value ) )
    {
        range[0] = value < range[0] ? value : range[0];
        range[1] = value > range[1] ? value : range[1];
    }
}

view_scale view_scale_choose( const clv_aabb* boxes, uint32_t count )
{
    view_scale scale = { { 0, 0, 0 }, 0 };
    double widest = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double range[2] = { INFINITY, -INFINITY };
        for ( uint32_t i = 0; i < count; ++i )
        {
            widen( (double)( &boxes[i].lower.x )[axis], range );
            widen( (double)( &boxes[i].upper.x )[axis], range );
        }
        scale.origin[axis] = range[0] <= range[1] ? range[0] / 2 + range[1] / 2 : 0;
        widest = fmax( widest, range[0] <= range[1] ? range[1] - range[0] : 0 );
    }
    double side = middle_side( boxes, count );
    side = side > 0 ? side : widest > 0 ? widest / 256 : 1;
    scale.step = fmax( side / STEPS_PER_SIDE, widest / STEPS_MOST );
    return scale;
}

int32_t view_scale_place( const view_scale* scale, double value, int axis )
{
    if ( isinf( value ) )
    {
        return value > 0 ? VIEW_INFINITE : -VIEW_INFINITE;
    }
    double steps = ( value - scale->origin[axis] ) / scale->step;
    steps = fmin( fmax( steps, -STEPS_MOST ), STEPS_MOST );
    return (int32_t)floor( steps + 0.5 );
}
