// SPDX-License-Identifier: MIT
// The geometry of a cell: its edges, completed where it is open, and its inverse.
#include "near/near_internal.h"

#include "base/assertion.h"

#include <float.h>
#include <math.h>

static void cross( const double a[3], const double b[3], double out[3] )
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot( const double a[3], const double b[3] )
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double length( const double a[3] )
{
    return hypot( hypot( a[0], a[1] ), a[2] );
}

// A unit vector along `v`; false if it has no length.
static bool make_unit( double v[3] )
{
    double size = length( v );
    for ( int axis = 0; axis < 3; ++axis )
    {
        v[axis] /= size;
    }
    return size > 0 && base_is_finite( size );
}

// The coordinate axis from which `v` points away most, made perpendicular to it.
static void perpendicular_to( const double v[3], double out[3] )
{
    int least = fabs( v[0] ) <= fabs( v[1] ) ? 0 : 1;
    least = fabs( v[2] ) < fabs( v[least] ) ? 2 : least;
    double axis[3] = { least == 0, least == 1, least == 2 };
    double beside[3];
    cross( v, axis, beside );
    cross( beside, v, out );
    make_unit( out );
}

// Open axes get unit vectors across the periodic ones; of none that is periodic, the coordinate axes.
static void complete_edges( near_frame* frame )
{
    const bool* is_set = frame->cell.periodic;
    int first = is_set[0] ? 0 : is_set[1] ? 1 : 2;
    int set_count = is_set[0] + is_set[1] + is_set[2];
    double( *edges )[3] = frame->edges;
    if ( set_count == 0 )
    {
        memset( edges, 0, sizeof( frame->edges ) );
        edges[0][0] = edges[1][1] = edges[2][2] = 1;
    }
    else if ( set_count == 1 )
    {
        int next = ( first + 1 ) % 3, last = ( first + 2 ) % 3;
        double along[3] = { edges[first][0], edges[first][1], edges[first][2] };
        make_unit( along );
        if ( along[next] == 0 && along[last] == 0 ) // any two across it do: those that make it diagonal
        {
            memset( edges[next], 0, sizeof( edges[next] ) );
            memset( edges[last], 0, sizeof( edges[last] ) );
            edges[next][next] = edges[last][last] = 1;
        }
        else
        {
            perpendicular_to( along, edges[next] );
            cross( along, edges[next], edges[last] );
            make_unit( edges[last] );
        }
    }
    else if ( set_count == 2 )
    {
        int open = !is_set[0] ? 0 : !is_set[1] ? 1 : 2;
        double a[3], b[3];
        memcpy( a, edges[( open + 1 ) % 3], sizeof( a ) );
        memcpy( b, edges[( open + 2 ) % 3], sizeof( b ) );
        make_unit( a );
        make_unit( b );
        cross( a, b, edges[open] );
        make_unit( edges[open] );
    }
}

static bool edges_are_good( const near_frame* frame, uint32_t axes )
{
    for ( int k = 0; k < 3; ++k )
    {
        double size = frame->cell.periodic[k] ? length( frame->edges[k] ) : 1;
        bool is_flat = axes == 3 || !frame->cell.periodic[k] || frame->edges[k][2] == 0;
        if ( !( size > 0 ) || !base_is_finite( size ) || !is_flat )
        {
            return false;
        }
    }
    return true;
}

static bool has_diagonal_edges( const near_frame* frame )
{
    bool is_diagonal = true;
    for ( int k = 0; k < 3; ++k )
    {
        is_diagonal =
            is_diagonal && frame->edges[k][( k + 1 ) % 3] == 0 && frame->edges[k][( k + 2 ) % 3] == 0;
    }
    return is_diagonal;
}

// Inverse and heights; false if the edges lie in a plane, or nearly.
static bool invert( near_frame* frame )
{
    double( *edges )[3] = frame->edges;
    double normals[3][3];
    for ( int k = 0; k < 3; ++k )
    {
        cross( edges[( k + 1 ) % 3], edges[( k + 2 ) % 3], normals[k] );
    }
    double volume = dot( edges[0], normals[0] );
    double box = length( edges[0] ) * length( edges[1] ) * length( edges[2] );
    if ( !( fabs( volume ) > 1e-10 * box ) || !base_is_finite( box ) || !( fabs( volume ) >= DBL_MIN ) )
    {
        return false;
    }
    frame->volume = fabs( volume );
    for ( int k = 0; k < 3; ++k )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            frame->inverse[k][axis] = normals[k][axis] / volume;
        }
        frame->heights[k] = fabs( volume ) / length( normals[k] );
    }
    return true;
}

clv_result clv_near_frame_make( clv_near* near, const clv_near_cell* cell, near_frame* frame )
{
    memset( frame, 0, sizeof( *frame ) );
    if ( cell != NULL )
    {
        frame->cell = *cell;
        memcpy( frame->edges, cell->edges, sizeof( frame->edges ) );
    }
    if ( near->def.flat && frame->cell.periodic[2] )
    {
        return clv_near_fail( near, CLV_BAD_ARGUMENT, UINT32_MAX, "flat points have no third periodic axis" );
    }
    const bool* periodic = frame->cell.periodic;
    frame->is_periodic = periodic[0] || periodic[1] || periodic[2];
    bool is_good = edges_are_good( frame, near_axes( near ) );
    double scale = 0;
    if ( is_good )
    {
        complete_edges( frame );
        is_good = invert( frame );
        frame->is_diagonal = has_diagonal_edges( frame );
        for ( int k = 0; k < 3; ++k )
        {
            scale += periodic[k] ? length( frame->edges[k] ) : 0;
        }
    }
    if ( !is_good || !base_is_finite( near_round( near, 4 * scale ) ) )
    {
        return clv_near_fail( near, CLV_BAD_ARGUMENT, UINT32_MAX,
            "the cell is singular, not finite, too large for its points' type, or leaves the plane of flat ones" );
    }
    return CLV_OK;
}

void clv_near_frame_slack( const near_frame* frame, const double most[3], double epsilon, double slack[3] )
{
    // Along periodic edges a wrapped point lies within the cell, across them where it was.
    double far[3] = { 0, 0, 0 };
    for ( int k = 0; k < 3; ++k )
    {
        const double* row = frame->inverse[k];
        double s = fabs( row[0] ) * most[0] + fabs( row[1] ) * most[1] + fabs( row[2] ) * most[2];
        for ( int axis = 0; axis < 3; ++axis )
        {
            far[axis] += fabs( frame->edges[k][axis] ) * ( frame->cell.periodic[k] ? 1 : s );
        }
    }
    for ( int k = 0; k < 3; ++k )
    {
        const double* row = frame->inverse[k];
        double s = fabs( row[0] ) * far[0] + fabs( row[1] ) * far[1] + fabs( row[2] ) * far[2];
        slack[k] = frame->is_periodic ? 32 * epsilon * s * frame->heights[k] : 0;
    }
}
