// SPDX-License-Identifier: MIT
// Boxes around placed shapes. Extremes are found in double and rounded outwards to float.
#include "narrow/bound.h"

#include <string.h>

// The neighbour of a float one step up. Infinity stays.
static float next_up( float value )
{
    uint32_t bits;
    if ( value == 0.0f )
    {
        bits = 1; // the smallest denormal
    }
    else
    {
        memcpy( &bits, &value, sizeof( bits ) );
        bits = value == HUGE_VALF ? bits : value > 0.0f ? bits + 1 : bits - 1;
    }
    memcpy( &value, &bits, sizeof( value ) );
    return value;
}

float clv_narrow_round_up( double value )
{
    float rounded = (float)value;
    return (double)rounded < value ? next_up( rounded ) : rounded;
}

float clv_narrow_round_down( double value )
{
    return -clv_narrow_round_up( -value );
}

static math_vec3 least( math_vec3 a, math_vec3 b )
{
    return math_make( math_min( a.x, b.x ), math_min( a.y, b.y ), math_min( a.z, b.z ) );
}

static math_vec3 most( math_vec3 a, math_vec3 b )
{
    return math_make( math_max( a.x, b.x ), math_max( a.y, b.y ), math_max( a.z, b.z ) );
}

clv_aabb clv_narrow_core_aabb( const narrow_core* core, double radius )
{
    math_vec3 lower = clv_narrow_core_point( core, 0 ), upper = lower;
    uint32_t count = clv_narrow_core_point_count( core );
    for ( uint32_t i = 1; i < count; ++i )
    {
        math_vec3 p = clv_narrow_core_point( core, i );
        lower = least( lower, p ), upper = most( upper, p );
    }
    clv_aabb aabb = { { clv_narrow_round_down( lower.x - radius ), clv_narrow_round_down( lower.y - radius ),
                          clv_narrow_round_down( lower.z - radius ) },
        { clv_narrow_round_up( upper.x + radius ), clv_narrow_round_up( upper.y + radius ),
            clv_narrow_round_up( upper.z + radius ) } };
    return aabb;
}
