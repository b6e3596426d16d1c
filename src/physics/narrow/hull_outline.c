// SPDX-License-Identifier: MIT
// Which corners of the outlines between faces are needed: Douglas and Peucker, "Algorithms for the reduction
// of the number of points required to represent a digitized line or its caricature" (1973).
#include "narrow/hull.h"

#include "base/assertion.h"
#include <string.h>

static double distance_to_segment( math_vec3 p, math_vec3 a, math_vec3 b )
{
    math_vec3 along = math_sub( b, a ), from = math_sub( p, a );
    double length = math_length_squared( along ), t = math_dot( from, along );
    t = !( t > 0.0 ) ? 0.0 : t >= length ? 1.0 : t / length;
    return math_length( math_sub( from, math_scale( along, t ) ) );
}

// Of a path both of whose ends stay, all inner points are taken for needless; those farther from what stays
// than the tolerance are then brought back, the farthest first.
static double thin_path( const hull_outline* o, uint32_t count, double tolerance )
{
    double loss = 0.0;
    for ( uint32_t i = 1; i + 1 < count; ++i )
    {
        o->redundant[o->path[i]] = true;
    }
    uint32_t low = 0, high = count - 1;
    while ( low + 1 < count )
    {
        math_vec3 a = math_widen( o->points[o->path[low]] ), b = math_widen( o->points[o->path[high]] );
        uint32_t farthest = low;
        double most = 0.0;
        for ( uint32_t i = low + 1; i < high; ++i )
        {
            double off = distance_to_segment( math_widen( o->points[o->path[i]] ), a, b );
            if ( off > most )
            {
                most = off, farthest = i;
            }
        }
        if ( most > tolerance )
        {
            o->redundant[o->path[farthest]] = false;
            high = farthest;
            continue;
        }
        loss = math_max( loss, most );
        low = high;
        do
        {
            high += 1;
        } while ( high + 1 < count && o->redundant[o->path[high]] );
    }
    return loss;
}

static uint32_t outline_step( const hull_outline* o, uint32_t before, uint32_t at )
{
    return o->links[2 * (size_t)at] == before ? o->links[2 * (size_t)at + 1] : o->links[2 * (size_t)at];
}

// From a point on a ring without a corner of three faces: the farthest of all, which is a corner for certain.
static uint32_t farthest_on_ring( const hull_outline* o, uint32_t first )
{
    math_vec3 origin = math_widen( o->points[first] );
    uint32_t best = first, before = first;
    double most = -1.0;
    for ( uint32_t at = o->links[2 * (size_t)first]; at != first; )
    {
        double off = math_length( math_sub( math_widen( o->points[at] ), origin ) );
        best = off > most ? at : best;
        most = math_max( most, off );
        uint32_t following = outline_step( o, before, at );
        before = at, at = following;
    }
    return best;
}

// The path that `point` is on, from a corner of three faces to the next; or once round, with the first point
// at both ends.
static uint32_t outline_walk( const hull_outline* o, uint32_t point )
{
    uint32_t before = point, at = o->links[2 * (size_t)point];
    while ( o->degree[at] == 2 && at != point )
    {
        uint32_t following = outline_step( o, before, at );
        before = at, at = following;
    }
    uint32_t first = at, next = before;
    if ( at == point )
    {
        first = farthest_on_ring( o, point );
        next = o->links[2 * (size_t)first];
    }
    uint32_t count = 0;
    o->path[count++] = first;
    before = first, at = next;
    while ( o->degree[at] == 2 && at != first )
    {
        o->path[count++] = at;
        o->seen[at] = 0;
        uint32_t following = outline_step( o, before, at );
        before = at, at = following;
    }
    o->seen[first] = 0;
    o->path[count++] = at;
    CLV_ASSERT( count >= 3 );
    return count;
}

double clv_narrow_hull_outline_thin( const hull_outline* o, double tolerance )
{
    double loss = 0.0;
    for ( uint32_t p = 0; p < o->point_count; ++p )
    {
        if ( o->degree[p] == 2 && o->seen[p] != 0 )
        {
            loss = math_max( loss, thin_path( o, outline_walk( o, p ), tolerance ) );
        }
    }
    for ( uint32_t p = 0; p < o->point_count; ++p )
    {
        o->seen[p] = UINT32_MAX;
    }
    return loss;
}

double clv_narrow_hull_ring_thin( const clv_vec3* points, uint32_t point_count, const hull_mesh* mesh,
    double tolerance, bool* redundant, uint32_t* redundant_count )
{
    // Once round, from a point that is a corner for certain: the farthest from any.
    uint32_t n = mesh->ring_count, first = 0;
    double most = -1.0;
    for ( uint32_t i = 0; i < n; ++i )
    {
        math_vec3 across =
            math_sub( math_widen( points[mesh->ring.items[i]] ), math_widen( points[mesh->ring.items[0]] ) );
        first = math_length( across ) > most ? i : first;
        most = math_max( most, math_length( across ) );
    }
    CLV_ASSERT( mesh->ring.capacity >= 2 * (uint64_t)n + 1 );
    hull_outline outline = { .points = points, .path = mesh->ring.items + n, .redundant = redundant };
    for ( uint32_t i = 0; i <= n; ++i )
    {
        outline.path[i] = mesh->ring.items[( first + i ) % n];
    }
    memset( redundant, 0, point_count * sizeof( bool ) );
    double loss = thin_path( &outline, n + 1, tolerance );
    *redundant_count = 0;
    for ( uint32_t i = 0; i < n; ++i )
    {
        *redundant_count += redundant[mesh->ring.items[i]] ? 1 : 0;
    }
    return loss;
}

static uint32_t farthest_from( const clv_vec3* points, uint32_t count, uint32_t from )
{
    uint32_t best = from;
    double most = 0.0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        double off = math_length( math_sub( math_widen( points[i] ), math_widen( points[from] ) ) );
        best = off > most ? i : best;
        most = math_max( most, off );
    }
    return best;
}

bool clv_narrow_hull_is_straight( const clv_vec3* points, uint32_t count, double tolerance, bool* redundant )
{
    // Two passes find the ends of anything straight.
    uint32_t a = farthest_from( points, count, 0 ), b = farthest_from( points, count, a );
    math_vec3 from = math_widen( points[a] ), to = math_widen( points[b] );
    for ( uint32_t i = 0; i < count; ++i )
    {
        redundant[i] = i != a && i != b;
        if ( distance_to_segment( math_widen( points[i] ), from, to ) > tolerance )
        {
            return false;
        }
    }
    return true;
}
