// SPDX-License-Identifier: MIT
// Is a probe a question? Limits are those of doubles, which every finite float is within.
#include "query/query_probe.h"

#include "base/bits.h"

#include <math.h>

static bool is_finite_place( const double v[3] )
{
    return base_is_finite( v[0] ) && base_is_finite( v[1] ) && base_is_finite( v[2] );
}

// Small enough to be squared and summed up.
static bool is_modest( const double* numbers, int count )
{
    bool is_good = true;
    for ( int i = 0; i < count; ++i )
    {
        is_good = is_good && fabs( numbers[i] ) <= QUERY_MOST;
    }
    return is_good;
}

static bool is_ordered( const double lower[3], const double upper[3] )
{
    return lower[0] <= upper[0] && lower[1] <= upper[1] && lower[2] <= upper[2];
}

static bool are_planes( const query_probe* p )
{
    bool is_good = is_modest( p->a, 3 );
    for ( uint32_t i = 0; i < p->plane_count && is_good; ++i )
    {
        const query_plane plane = query_plane_at( p, i );
        is_good = is_modest( plane.normal, 3 ) && plane.offset == plane.offset;
    }
    return is_good;
}

static bool is_round( const query_probe* p )
{
    bool is_moving = p->form == QUERY_ROUND_CAST;
    return is_modest( p->a, 3 ) && is_modest( p->b, 3 ) && p->radius >= 0 && p->radius <= QUERY_MOST &&
        ( !is_moving || ( is_modest( p->motion, 3 ) && p->max_t >= 0 ) );
}

static bool is_turned( const query_probe* p )
{
    const double none[3] = { 0, 0, 0 };
    return is_modest( p->a, 3 ) && is_modest( p->half, 3 ) && is_ordered( none, p->half ) &&
        is_modest( p->turn, 4 );
}

clv_result clv_query_probe_check( const query_probe* p )
{
    bool is_good = false;
    if ( p->is_box && !is_ordered( p->a, p->b ) )
    {
        return CLV_BAD_BOX;
    }
    switch ( p->form )
    {
    case QUERY_OVERLAP: is_good = is_ordered( p->a, p->b ); break; // a place that is no number is not
    case QUERY_DISTANCE: is_good = ( p->is_box || is_finite_place( p->a ) ) && p->radius >= 0; break;
    case QUERY_TURNED: is_good = is_turned( p ); break;
    case QUERY_PLANES: is_good = are_planes( p ); break;
    case QUERY_CAST:
        is_good = is_finite_place( p->a ) && is_finite_place( p->b ) && is_finite_place( p->motion ) &&
            p->max_t >= 0;
        break;
    case QUERY_CAPSULE:
    case QUERY_ROUND_CAST: is_good = is_round( p ); break;
    default: break;
    }
    return is_good ? CLV_OK : CLV_BAD_ARGUMENT;
}
