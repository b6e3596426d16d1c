// SPDX-License-Identifier: MIT
#include "rest/margin.h"

#include "base/assertion.h"

#include <float.h>
#include <math.h>

// Measured: a margin reached in fewer updates is refitted too often, in more makes too many marginal pairs;
// above a fifth of the size marginal pairs cost more than refits; below, jitter of a solver at rest would
// count as motion.
#define UPDATES_TO_REACH 16.0f
#define MOST_OF_SIZE 0.2f
#define LEAST_OF_SIZE 0.0003f

float clv_rest_shift( const clv_aabb* from, const clv_aabb* to )
{
    const float* a = &from->lower.x;
    const float* b = &to->lower.x;
    float most = 0;
    for ( int face = 0; face < 6; ++face )
    {
        float shift = fabsf( a[face] - b[face] ); // NaN where a face stays infinite: that has not moved
        most = shift > most ? shift : most;
    }
    return most;
}

// From a half to one and a half.
static float spread_by( uint32_t salt )
{
    uint32_t mixed = salt * 0x9E3779B9u;
    mixed = ( mixed ^ mixed >> 16 ) * 0x85EBCA6Bu;
    return 0.5f + (float)( ( mixed ^ mixed >> 13 ) >> 8 & 0xFFFF ) / 65536.0f;
}

static float size_of( const clv_aabb* box )
{
    return ( ( box->upper.x - box->lower.x ) + ( box->upper.y - box->lower.y ) +
               ( box->upper.z - box->lower.z ) ) *
        ( 1.0f / 3.0f );
}

float clv_rest_margin( const clv_aabb* box, float speed, uint32_t salt )
{
    float size = size_of( box );
    if ( !( size < FLT_MAX / 4 ) )
    {
        return 0; // infinite, or nearly: any change is a refit
    }
    float least = LEAST_OF_SIZE * size;
    float most = MOST_OF_SIZE * size;
    CLV_ASSERT( speed >= 0 && least <= most );
    float wanted = UPDATES_TO_REACH * speed * spread_by( salt );
    wanted = wanted > least ? wanted : least;
    return wanted < most ? wanted : most;
}

float clv_rest_margin_part( const clv_aabb* box, float margin )
{
    float size = size_of( box );
    return margin > 0 && size > 0 ? margin / size : 0; // there is a margin of finite boxes alone
}
