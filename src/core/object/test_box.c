// SPDX-License-Identifier: MIT
#include "object/test_box.h"

#include "base/directed.h"

// The longest side that has a length. Sides without an end give no measure: a floor would be grown by infinity.
static double size_of( clv_aabb box )
{
    const double sides[3] = {
        (double)box.upper.x - (double)box.lower.x,
        (double)box.upper.y - (double)box.lower.y,
        (double)box.upper.z - (double)box.lower.z,
    };
    double longest = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        longest = base_is_finite( sides[axis] ) && sides[axis] > longest ? sides[axis] : longest;
    }
    return longest;
}

static double length_of( clv_vec3 motion )
{
    double x = motion.x, y = motion.y, z = motion.z;
    return sqrt( x * x + y * y + z * z );
}

float clv_object_margin( clv_margin_rule rule, clv_aabb given, clv_vec3 motion )
{
    if ( rule.by_size == 0 && rule.by_speed == 0 )
    {
        return rule.fixed;
    }
    double margin = (double)rule.fixed + (double)rule.by_size * size_of( given ) +
        (double)rule.by_speed * length_of( motion );
    return margin < FLT_MAX ? base_round_up( margin, 0 ) : FLT_MAX;
}

static void sweep_axis( float* lower, float* upper, float motion )
{
    if ( motion < 0 )
    {
        *lower = base_sum_down( *lower, motion );
    }
    else if ( motion > 0 )
    {
        *upper = base_sum_up( *upper, motion );
    }
}

clv_aabb clv_object_sweep( clv_aabb box, clv_vec3 motion )
{
    sweep_axis( &box.lower.x, &box.upper.x, motion.x );
    sweep_axis( &box.lower.y, &box.upper.y, motion.y );
    sweep_axis( &box.lower.z, &box.upper.z, motion.z );
    return box;
}
