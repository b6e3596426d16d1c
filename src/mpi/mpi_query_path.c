// SPDX-License-Identifier: MIT
// Which regions a question may find something in: never too few. Times and distances inside are rounded, so
// that what is met may lie a little beside the way; the way is made wider by more than that.
#include "base/assertion.h"
#include "mpi_query.h"
#include "mpi_regions.h"
#include "query/query_probe.h"

#include "base/directed.h"

#include <float.h>

/// A box that goes straight on, in double.
typedef struct path
{
    double lower[3], upper[3]; ///< of the box at the beginning
    double way[3], first, end; ///< it goes from first to end times this
    double motion[3];          ///< all of it, to the end
    double pad[3];             ///< rounding
    bool moves;
} path;

size_t clv_mpi_query_size( clv_query_kind kind )
{
    bool travels = !query_is_flat( kind ) && !query_is_double( kind ) && kind != CLV_QUERY_HALF_SPACES;
    return travels ? query_kind_size( kind ) : 0;
}

// ---- what a question covers

static void put_box( path* p, const double lower[3], const double upper[3], double more )
{
    *p = ( path ){ .moves = false };
    for ( int axis = 0; axis < 3; ++axis )
    {
        // Infinity less infinity is no number; what has no end reaches everywhere.
        p->lower[axis] = more < INFINITY ? lower[axis] - more : -INFINITY;
        p->upper[axis] = more < INFINITY ? upper[axis] + more : INFINITY;
        p->pad[axis] = more < INFINITY ? more * 1e-5 : 0;
    }
}

// The reciprocal of a number so small is infinite: then the question stands still along this axis.
static bool stands( const path* p, int axis )
{
    return fabs( p->way[axis] ) < (double)FLT_MIN;
}

// Cuts off what is before and after all boxes there are, `all` around them. A way without an end has one
// then, and rounding, which goes with the length of the way, does not reach every region any more. False: it
// comes by none of them. What is no number, of infinities, cuts nothing off.
static bool clip( path* p, const clv_aabb* all )
{
    const double lower[3] = { (double)all->lower.x, (double)all->lower.y, (double)all->lower.z };
    const double upper[3] = { (double)all->upper.x, (double)all->upper.y, (double)all->upper.z };
    double first = 0, last = p->end;
    bool misses = false;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double way = p->way[axis];
        double size = fabs( p->lower[axis] ) + fabs( p->upper[axis] );
        double slack = p->pad[axis] + size * 1e-6 + 1e-30;
        double near = lower[axis] - p->upper[axis], far = upper[axis] - p->lower[axis]; // going up
        if ( !p->moves || stands( p, axis ) )
        {
            slack += fabs( way ) * p->end;
            misses |= near > slack || far < -slack;
            continue;
        }
        double to = way > 0 ? near : far, from = way > 0 ? far : near;
        double enters = to / way - ( fabs( to ) * 1e-5 + slack ) / fabs( way );
        double leaves = from / way + ( fabs( from ) * 1e-5 + slack ) / fabs( way );
        first = enters > first ? enters : first;
        last = leaves < last ? leaves : last;
    }
    p->first = first;
    p->end = last < 0 ? 0 : last;
    return !misses && !( first > last );
}

static void set_out( path* p )
{
    for ( int axis = 0; p->moves && axis < 3; ++axis )
    {
        double length = fabs( p->way[axis] ) * p->end;
        p->motion[axis] = p->way[axis] * p->end;
        p->pad[axis] += stands( p, axis ) ? length : length * 1e-5 + fabs( p->way[axis] ) * 1e-44;
    }
}

// However a turned box is turned.
static double reach_of_turned( const double half[3] )
{
    return sqrt( half[0] * half[0] + half[1] * half[1] + half[2] * half[2] );
}

// The box around both places of a probe, as far as it reaches around them and `more`, on its way.
static void put_query( path* p, const clv_queries* list, uint32_t index, float limit, float more )
{
    query_probe probe;
    double lower[3], upper[3];
    query_probe_read( &probe, list->kind, list->points, index );
    for ( int axis = 0; axis < 3; ++axis )
    {
        lower[axis] = fmin( probe.a[axis], probe.b[axis] );
        upper[axis] = fmax( probe.a[axis], probe.b[axis] );
    }
    double reach = probe.form == QUERY_TURNED ? reach_of_turned( probe.half ) : probe.radius;
    put_box( p, lower, upper, reach + (double)more );
    if ( query_row_of( list->kind )->moves )
    {
        double end = probe.max_t < (double)limit ? probe.max_t : (double)limit;
        p->end = end < (double)FLT_MAX ? end : (double)FLT_MAX;
        memcpy( p->way, probe.motion, sizeof( p->way ) );
        p->moves = true;
    }
}

// ---- regions

static float round_down( double value )
{
    return -base_round_up( -value, 0 );
}

static float round_up( double value )
{
    return base_round_up( value, 0 );
}

static float least_of( const path* p, int axis )
{
    return round_down( p->lower[axis] + ( p->motion[axis] < 0 ? p->motion[axis] : 0 ) - p->pad[axis] );
}

static float most_of( const path* p, int axis )
{
    return round_up( p->upper[axis] + ( p->motion[axis] > 0 ? p->motion[axis] : 0 ) + p->pad[axis] );
}

// Does it come by this region, and not only by the box around its way?
static bool passes( const path* p, const clv_mpi_region* region )
{
    const double lower[3] = { (double)region->lower.x, (double)region->lower.y, (double)region->lower.z };
    const double upper[3] = { (double)region->upper.x, (double)region->upper.y, (double)region->upper.z };
    double first = p->end > 0 ? p->first / p->end : 0, last = 1;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double near = lower[axis] - p->upper[axis] - p->pad[axis];
        double far = upper[axis] - p->lower[axis] + p->pad[axis];
        double motion = p->motion[axis];
        if ( motion == 0 )
        {
            last = near > 0 || far < 0 ? -1 : last;
            continue;
        }
        double enters = ( motion > 0 ? near : far ) / motion, leaves = ( motion > 0 ? far : near ) / motion;
        first = enters > first ? enters : first;
        last = leaves < last ? leaves : last;
    }
    return first <= last;
}

static clv_aabb beginning( const path* p )
{
    return ( clv_aabb ){ { round_down( p->lower[0] ), round_down( p->lower[1] ), round_down( p->lower[2] ) },
        { round_up( p->upper[0] ), round_up( p->upper[1] ), round_up( p->upper[2] ) } };
}

bool clv_mpi_query_begin(
    const mpi_asking* asking, uint32_t index, float limit, const clv_aabb* all, clv_vec3* point )
{
    path p;
    CLV_ASSERT( index < asking->list->count );
    put_query( &p, asking->list, index, limit, 0 );
    bool meets = clip( &p, all ) || asking->mode == ASK_NEAREST;
    for ( int axis = 0; p.moves && axis < 3; ++axis )
    {
        p.lower[axis] += p.way[axis] * p.first;
        p.upper[axis] += p.way[axis] * p.first;
    }
    clv_aabb box = beginning( &p );
    *point = clv_mpi_box_middle( &box );
    return meets;
}

uint32_t clv_mpi_query_reach( const mpi_asking* asking, uint32_t index, float limit, const clv_aabb* all,
    const mpi_regions* regions, int32_t* ranks )
{
    path p;
    CLV_ASSERT( index < asking->list->count && clv_mpi_query_size( asking->list->kind ) > 0 );
    put_query( &p, asking->list, index, limit, asking->mode == ASK_NEAREST ? limit : 0 );
    if ( !clip( &p, all ) )
    {
        return 0;
    }
    set_out( &p );
    clv_aabb around = { { least_of( &p, 0 ), least_of( &p, 1 ), least_of( &p, 2 ) },
        { most_of( &p, 0 ), most_of( &p, 1 ), most_of( &p, 2 ) } };
    uint32_t reached = clv_mpi_regions_reach( regions, &around, ranks ), count = 0;
    CLV_ASSERT( reached <= (uint32_t)regions->process_count );
    for ( uint32_t i = 0; i < reached; ++i )
    {
        ranks[count] = ranks[i];
        count += !p.moves || passes( &p, &regions->bounds[ranks[i]] );
    }
    return count;
}
