// SPDX-License-Identifier: MIT
#include "object/test_box.h"

#include "base/assertion.h"
#include "base/directed.h"

// Sides without an end give no measure: a floor would be grown by infinity.
static double longer_side( double longest, double side )
{
    return base_is_finite( side ) && side > longest ? side : longest;
}

double clv_object_size( const clv_aabb* box, bool is_flat )
{
    double longest = longer_side( 0, (double)box->upper.x - (double)box->lower.x );
    longest = longer_side( longest, (double)box->upper.y - (double)box->lower.y );
    return is_flat ? longest : longer_side( longest, (double)box->upper.z - (double)box->lower.z );
}

double clv_object_size64( const clv_aabb64* box )
{
    double longest = longer_side( 0, box->upper.x - box->lower.x );
    longest = longer_side( longest, box->upper.y - box->lower.y );
    return longer_side( longest, box->upper.z - box->lower.z );
}

static double length_of( clv_vec3 motion )
{
    double x = motion.x, y = motion.y, z = motion.z;
    return sqrt( x * x + y * y + z * z );
}

float clv_object_margin( clv_margin_rule rule, double size, clv_vec3 motion )
{
    CLV_ASSERT( object_is_margin( rule.fixed ) && size >= 0 && base_is_finite( size ) );
    if ( rule.by_size == 0 && rule.by_speed == 0 )
    {
        return rule.fixed;
    }
    double margin =
        (double)rule.fixed + (double)rule.by_size * size + (double)rule.by_speed * length_of( motion );
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

static void sweep_axis64( double* lower, double* upper, double motion )
{
    if ( motion < 0 )
    {
        *lower = base_sum_down64( *lower, motion );
    }
    else if ( motion > 0 )
    {
        *upper = base_sum_up64( *upper, motion );
    }
}

clv_aabb64 clv_object_sweep64( clv_aabb64 box, clv_vec3 motion )
{
    sweep_axis64( &box.lower.x, &box.upper.x, (double)motion.x );
    sweep_axis64( &box.lower.y, &box.upper.y, (double)motion.y );
    sweep_axis64( &box.lower.z, &box.upper.z, (double)motion.z );
    return box;
}
