// SPDX-License-Identifier: MIT
// Which regions a question may find something in: never too few. Times and distances inside are rounded, so that what is met may
// lie a little beside the way; the way is made wider by more than that.
#include "mpi_query.h"
#include "mpi_regions.h"

#include "base/directed.h"

#include <float.h>

/// A box that goes straight on, in double.
typedef struct path
{
    double lower[3], upper[3]; ///< of the box at the beginning
    double motion[3];          ///< all of it
    double pad[3];             ///< rounding
    bool moves;
} path;

size_t clv_mpi_query_size( clv_query_kind kind )
{
    switch ( kind )
    {
    case CLV_QUERY_POINT: return sizeof( clv_vec3 );
    case CLV_QUERY_BOX: return sizeof( clv_aabb );
    case CLV_QUERY_SPHERE: return sizeof( clv_sphere );
    case CLV_QUERY_NEIGHBOURHOOD: return sizeof( clv_neighbourhood );
    case CLV_QUERY_CAPSULE: return sizeof( clv_capsule );
    case CLV_QUERY_ORIENTED_BOX: return sizeof( clv_oriented_box );
    case CLV_QUERY_RAY: return sizeof( clv_ray );
    case CLV_QUERY_BOX_CAST: return sizeof( clv_box_cast );
    case CLV_QUERY_SPHERE_CAST: return sizeof( clv_sphere_cast );
    case CLV_QUERY_CAPSULE_CAST: return sizeof( clv_capsule_cast );
    default: return 0;
    }
}

// ---- what a question covers

static void put_box( path* p, clv_aabb box, double more )
{
    const double lower[3] = { (double)box.lower.x, (double)box.lower.y, (double)box.lower.z };
    const double upper[3] = { (double)box.upper.x, (double)box.upper.y, (double)box.upper.z };
    *p = ( path ){ .moves = false };
    for ( int axis = 0; axis < 3; ++axis )
    {
        // Infinity less infinity is no number; what has no end reaches everywhere.
        p->lower[axis] = more < INFINITY ? lower[axis] - more : -INFINITY;
        p->upper[axis] = more < INFINITY ? upper[axis] + more : INFINITY;
        p->pad[axis] = more < INFINITY ? more * 1e-5 : 0;
    }
}

static void put_motion( path* p, clv_vec3 direction, float max_t, float limit )
{
    double end = (double)( max_t < limit ? max_t : limit );
    end = end < (double)FLT_MAX ? end : (double)FLT_MAX;
    const double way[3] = { (double)direction.x, (double)direction.y, (double)direction.z };
    for ( int axis = 0; axis < 3; ++axis )
    {
        double length = fabs( way[axis] ) * end;
        p->motion[axis] = way[axis] * end;
        // The reciprocal of a number so small is infinite: then the question stands still along this axis.
        p->pad[axis] +=
            fabs( way[axis] ) < (double)FLT_MIN ? length : length * 1e-5 + fabs( way[axis] ) * 1e-44;
    }
    p->moves = true;
}

static clv_aabb box_of_capsule( const clv_capsule* c )
{
    clv_aabb box = { { fminf( c->a.x, c->b.x ), fminf( c->a.y, c->b.y ), fminf( c->a.z, c->b.z ) },
        { fmaxf( c->a.x, c->b.x ), fmaxf( c->a.y, c->b.y ), fmaxf( c->a.z, c->b.z ) } };
    return box;
}

// However it is turned.
static double reach_of_turned( const clv_oriented_box* box )
{
    double x = (double)box->half_size.x, y = (double)box->half_size.y, z = (double)box->half_size.z;
    return sqrt( x * x + y * y + z * z );
}

static void put_query( path* p, const clv_queries* list, uint32_t index, float limit )
{
    const void* items = list->items;
    switch ( list->kind )
    {
    case CLV_QUERY_POINT:
    {
        clv_vec3 point = ( (const clv_vec3*)items )[index];
        put_box( p, ( clv_aabb ){ point, point }, 0 );
        break;
    }
    case CLV_QUERY_BOX: put_box( p, ( (const clv_aabb*)items )[index], 0 ); break;
    case CLV_QUERY_SPHERE:
    {
        clv_sphere s = ( (const clv_sphere*)items )[index];
        put_box( p, ( clv_aabb ){ s.center, s.center }, (double)s.radius );
        break;
    }
    case CLV_QUERY_NEIGHBOURHOOD:
    {
        clv_neighbourhood around = ( (const clv_neighbourhood*)items )[index];
        put_box( p, around.box, (double)around.distance );
        break;
    }
    case CLV_QUERY_CAPSULE:
    {
        clv_capsule c = ( (const clv_capsule*)items )[index];
        put_box( p, box_of_capsule( &c ), (double)c.radius );
        break;
    }
    case CLV_QUERY_ORIENTED_BOX:
    {
        clv_oriented_box turned = ( (const clv_oriented_box*)items )[index];
        put_box( p, ( clv_aabb ){ turned.center, turned.center }, reach_of_turned( &turned ) );
        break;
    }
    case CLV_QUERY_RAY:
    {
        clv_ray ray = ( (const clv_ray*)items )[index];
        put_box( p, ( clv_aabb ){ ray.origin, ray.origin }, 0 );
        put_motion( p, ray.direction, ray.max_t, limit );
        break;
    }
    case CLV_QUERY_BOX_CAST:
    {
        clv_box_cast cast = ( (const clv_box_cast*)items )[index];
        put_box( p, cast.box, 0 );
        put_motion( p, cast.motion, cast.max_t, limit );
        break;
    }
    case CLV_QUERY_SPHERE_CAST:
    {
        clv_sphere_cast cast = ( (const clv_sphere_cast*)items )[index];
        put_box( p, ( clv_aabb ){ cast.sphere.center, cast.sphere.center }, (double)cast.sphere.radius );
        put_motion( p, cast.motion, cast.max_t, limit );
        break;
    }
    default: // CLV_QUERY_CAPSULE_CAST: others were refused
    {
        clv_capsule_cast cast = ( (const clv_capsule_cast*)items )[index];
        put_box( p, box_of_capsule( &cast.capsule ), (double)cast.capsule.radius );
        put_motion( p, cast.motion, cast.max_t, limit );
        break;
    }
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
    double first = 0, last = 1;
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

clv_vec3 clv_mpi_query_begin( const clv_queries* list, uint32_t index )
{
    path p;
    put_query( &p, list, index, 0 );
    clv_aabb box = { { round_down( p.lower[0] ), round_down( p.lower[1] ), round_down( p.lower[2] ) },
        { round_up( p.upper[0] ), round_up( p.upper[1] ), round_up( p.upper[2] ) } };
    return clv_mpi_box_middle( &box );
}

uint32_t clv_mpi_query_reach(
    const mpi_asking* asking, uint32_t index, float limit, const mpi_regions* regions, int32_t* ranks )
{
    path p;
    put_query( &p, asking->list, index, limit );
    if ( asking->mode == MPI_ASK_NEAREST )
    {
        clv_aabb box = { { round_down( p.lower[0] ), round_down( p.lower[1] ), round_down( p.lower[2] ) },
            { round_up( p.upper[0] ), round_up( p.upper[1] ), round_up( p.upper[2] ) } };
        put_box( &p, box, (double)limit );
    }
    clv_aabb around = { { least_of( &p, 0 ), least_of( &p, 1 ), least_of( &p, 2 ) },
        { most_of( &p, 0 ), most_of( &p, 1 ), most_of( &p, 2 ) } };
    uint32_t reached = clv_mpi_regions_reach( regions, &around, ranks ), count = 0;
    for ( uint32_t i = 0; i < reached; ++i )
    {
        ranks[count] = ranks[i];
        count += !p.moves || passes( &p, &regions->bounds[ranks[i]] );
    }
    return count;
}
