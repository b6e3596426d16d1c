// SPDX-License-Identifier: MIT
// Which bit of a key tells of which axis, and the tables for it.
#include "query/query_curve.h"

#include "base/assertion.h"

#include "base/bits.h"

#include <float.h>
#include <string.h>

// Which axis each bit of the key tells of: always that along which cells are longest.
static void plan_curve( query_curve* c, const float low[3], const float high[3], uint32_t bit_count )
{
    double side[3];
    memset( c, 0, sizeof( *c ) );
    CLV_ASSERT( bit_count <= QUERY_KEY_BITS );
    for ( int axis = 0; axis < 3; ++axis )
    {
        c->low[axis] = low[axis];
        CLV_ASSERT( low[axis] <= high[axis] );
        side[axis] = (double)high[axis] - (double)low[axis];
    }
    uint32_t order[QUERY_KEY_BITS], used = 0;
    for ( ; used < bit_count; ++used )
    {
        int longest = -1;
        for ( int axis = 0; axis < 3; ++axis )
        {
            bool is_longer = longest < 0 || side[axis] > side[longest];
            longest = c->bits[axis] < QUERY_AXIS_BITS && side[axis] > 0 && is_longer ? axis : longest;
        }
        if ( longest < 0 )
        {
            break;
        }
        order[used] = (uint32_t)longest;
        c->bits[longest] += 1;
        side[longest] *= 0.5;
    }
    CLV_ASSERT( used == c->bits[0] + c->bits[1] + c->bits[2] );
    uint32_t left[3] = { c->bits[0], c->bits[1], c->bits[2] };
    for ( uint32_t i = 0; i < used; ++i )
    {
        left[order[i]] -= 1;
        c->spread[order[i]][left[order[i]]] = 1u << ( used - 1 - i );
    }
    CLV_ASSERT( ( left[0] | left[1] | left[2] ) == 0 );
    for ( int axis = 0; axis < 3; ++axis )
    {
        double whole = (double)high[axis] - (double)low[axis];
        c->scale[axis] = c->bits[axis] > 0 ? (float)( (double)( 1u << c->bits[axis] ) / whole ) : 0.0f;
        c->scale[axis] = c->scale[axis] <= FLT_MAX ? c->scale[axis] : FLT_MAX;
        c->most[axis] = (float)( ( 1u << c->bits[axis] ) - 1 );
    }
}

static void fill_tables( query_curve_tables* t )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        t->spread[axis][0] = 0;
        CLV_ASSERT( t->c.bits[axis] <= QUERY_AXIS_BITS );
        for ( uint32_t value = 1; value < 1u << t->c.bits[axis]; ++value )
        {
            t->spread[axis][value] =
                t->spread[axis][value & ( value - 1 )] | t->c.spread[axis][base_lowest_bit( value )];
        }
    }
}

void clv_query_curve_plan(
    query_curve_tables* t, const float low[3], const float high[3], uint32_t bit_count )
{
    plan_curve( &t->c, low, high, bit_count );
    fill_tables( t );
}
