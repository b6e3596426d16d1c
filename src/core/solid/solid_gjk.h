// SPDX-License-Identifier: MIT
// Gilbert, Johnson, Keerthi, "A fast procedure for computing the distance between complex objects in
// three-dimensional space" (1988); extreme points by Cameron's hill climbing (1997), the start and the end of
// the search after van den Bergen, "Proximity queries and penetration depth computation on 3d game objects"
// (2001). Johnson's subalgorithm by Voronoi regions, after Ericson, "Real-Time Collision Detection", 5.1. It
// differs where simplices degenerate, as they do whenever shapes touch: a triangle without area is its three
// edges, a tetrahedron without volume its four faces, and of several candidates the nearest wins.
//
// The shapes come from in front of this text: narrow_core with a `pose` and the vertex `last` that a search
// begins with, clv_narrow_core_support, clv_narrow_core_point, clv_narrow_core_point_count and
// narrow_core_extent, and clv_pair_cache. In C these are narrow/core.h and cleave/narrow.h, on a device
// core.cl.
#ifndef __OPENCL_C_VERSION__
#pragma once
#include "solid/solid_math.h"
#endif

/// More rounds than any pair of 10 million needed, by a factor of five.
#define NARROW_GJK_ROUNDS 128

// Touching: nearer than this share of the difference's size. Far above the rounding of doubles, far below
// floats'.
#define GJK_TOUCH 1e-12
// Nothing nearer than this share of the distance is left to find.
#define GJK_CLOSE_ENOUGH 1e-12
// A triangle's area (a tetrahedron's volume) below this share of what its edges allow is none.
#define SIMPLEX_FLAT 1e-14

/// A point of the difference of two shapes, and the numbers of the two points it is the difference of: where
/// these are is found again when it is asked for, since whatever is kept is copied in every round.
typedef struct narrow_vertex
{
    math_vec3 w;  // a - b
    double reach; // the largest coordinate of the two: what rounding is measured by
    solid_u32 index_a, index_b;
} narrow_vertex;

/// Up to four points; with weights, a point in their convex hull.
typedef struct narrow_simplex
{
    narrow_vertex vertices[4];
    double weights[4];
    int count;
} narrow_simplex;

typedef struct narrow_gjk
{
    narrow_simplex simplex; // vertices of the difference around or next to the origin
    math_vec3 nearest;      // of the difference, a - b; zero where the cores touch
    double distance;        // between the cores; with `stop_apart`, only a lower bound if beyond the skins
    bool touching;          // the cores (without skins) touch
    bool converged;
    solid_u32 round_count;
} narrow_gjk;

// ---- the difference of two shapes

SOLID narrow_vertex narrow_difference( math_vec3 at_a, math_vec3 at_b, solid_u32 index_a, solid_u32 index_b )
{
    narrow_vertex v;
    v.w = math_sub( at_a, at_b );
    v.reach = math_max( math_largest( at_a ), math_largest( at_b ) );
    v.index_a = index_a;
    v.index_b = index_b;
    return v;
}

/// The point of the difference farthest along `direction`.
SOLID narrow_vertex narrow_difference_support( narrow_core* a, narrow_core* b, math_vec3 direction )
{
    solid_u32 index_a, index_b;
    math_vec3 at_a = clv_narrow_core_support( a, direction, &index_a );
    math_vec3 at_b = clv_narrow_core_support( b, math_neg( direction ), &index_b );
    return narrow_difference( at_a, at_b, index_a, index_b );
}

// ---- the simplex

// A candidate: which of the vertices, with which weights, and how near.
typedef struct simplex_nearest
{
    double weights[4];
    math_vec3 point;
    double squared;
} simplex_nearest;

SOLID simplex_nearest simplex_candidate( math_vec3 point )
{
    simplex_nearest n;
    n.weights[0] = n.weights[1] = n.weights[2] = n.weights[3] = 0.0;
    n.point = point;
    n.squared = math_length_squared( point );
    return n;
}

SOLID simplex_nearest simplex_at_vertex( math_vec3 p, solid_u32 i )
{
    simplex_nearest n = simplex_candidate( p );
    n.weights[i] = 1.0;
    return n;
}

SOLID simplex_nearest simplex_on_segment( const math_vec3* p, solid_u32 i, solid_u32 j )
{
    math_vec3 edge = math_sub( p[j], p[i] );
    double length = math_length_squared( edge );
    double t = -math_dot( p[i], edge );
    if ( !( t > 0.0 ) )
    {
        return simplex_at_vertex( p[i], i );
    }
    if ( t >= length )
    {
        return simplex_at_vertex( p[j], j );
    }
    t /= length;
    simplex_nearest n = simplex_candidate( math_add_scaled( p[i], edge, t ) );
    n.weights[i] = 1.0 - t;
    n.weights[j] = t;
    return n;
}

SOLID simplex_nearest simplex_nearer( simplex_nearest a, simplex_nearest b )
{
    return b.squared < a.squared ? b : a;
}

SOLID simplex_nearest simplex_on_triangle( const math_vec3* p, solid_u32 i, solid_u32 j, solid_u32 k )
{
    math_vec3 ij = math_sub( p[j], p[i] ), ik = math_sub( p[k], p[i] ), jk = math_sub( p[k], p[j] );
    math_vec3 normal = math_cross( ij, ik );
    double area = math_length_squared( normal );
    double longest = math_max(
        math_max( math_length_squared( ij ), math_length_squared( ik ) ), math_length_squared( jk ) );
    // Twice the areas of the three triangles with the origin's projection, as shares of the whole.
    double wi = math_dot( normal, math_cross( p[j], p[k] ) );
    double wj = math_dot( normal, math_cross( p[k], p[i] ) );
    double wk = math_dot( normal, math_cross( p[i], p[j] ) );
    if ( area > SIMPLEX_FLAT * SIMPLEX_FLAT * longest * longest && wi > 0.0 && wj > 0.0 && wk > 0.0 )
    {
        simplex_nearest n = simplex_candidate( math_scale( normal, math_dot( normal, p[i] ) / area ) );
        double sum = wi + wj + wk;
        n.weights[i] = wi / sum;
        n.weights[j] = wj / sum;
        n.weights[k] = wk / sum;
        return n;
    }
    // Outside of some edge: the nearest point is on one of the edges, and trying all three is safe at any
    // corner.
    return simplex_nearer( simplex_nearer( simplex_on_segment( p, i, j ), simplex_on_segment( p, i, k ) ),
        simplex_on_segment( p, j, k ) );
}

// Digit number `place` of a word of four bits each: what a small table holds.
SOLID solid_u32 solid_digit( solid_u32 word, solid_u32 place )
{
    return ( word >> ( 4 * place ) ) & 15;
}

// The faces of a tetrahedron the origin is outside of; true with *n untouched if there is none.
SOLID bool simplex_on_tetrahedron( const math_vec3* p, simplex_nearest* n )
{
    math_vec3 a = math_sub( p[1], p[0] ), b = math_sub( p[2], p[0] ), c = math_sub( p[3], p[0] );
    double volume = math_dot( math_cross( a, b ), c );
    double size = sqrt( math_length_squared( a ) * math_length_squared( b ) * math_length_squared( c ) );
    bool flat = math_abs( volume ) <= SIMPLEX_FLAT * size;
    bool found = false;
    for ( int f = 0; f < 4; ++f )
    {
        // The corners of each face, the vertex opposite last: 0123 0312 0231 1320.
        solid_u32 corners = f == 0 ? 0x3210u : f == 1 ? 0x2130u : f == 2 ? 0x1320u : 0x0231u;
        solid_u32 i = solid_digit( corners, 0 ), j = solid_digit( corners, 1 ), k = solid_digit( corners, 2 );
        solid_u32 top = solid_digit( corners, 3 );
        math_vec3 normal = math_cross( math_sub( p[j], p[i] ), math_sub( p[k], p[i] ) );
        double origin_side = -math_dot( normal, p[i] );
        double top_side = math_dot( normal, math_sub( p[top], p[i] ) );
        if ( flat || origin_side * top_side < 0.0 )
        {
            simplex_nearest candidate = simplex_on_triangle( p, i, j, k );
            *n = found ? simplex_nearer( *n, candidate ) : candidate;
            found = true;
        }
    }
    return !found;
}

SOLID math_vec3 simplex_keep( narrow_simplex* simplex, const simplex_nearest* n )
{
    int kept = 0;
    for ( int i = 0; i < simplex->count; ++i )
    {
        if ( n->weights[i] > 0.0 )
        {
            simplex->vertices[kept] = simplex->vertices[i];
            simplex->weights[kept++] = n->weights[i];
        }
    }
    CLV_ASSERT( kept >= 1 );
    simplex->count = kept;
    return n->point;
}

/// Finds the point of the simplex nearest to the origin, drops every vertex it does not need and sets the
/// weights. Four vertices are left only where the origin is inside the tetrahedron, and then (0, 0, 0) is
/// returned.
SOLID math_vec3 narrow_simplex_reduce( narrow_simplex* simplex )
{
    math_vec3 p[4];
    CLV_ASSERT( simplex->count >= 1 && simplex->count <= 4 );
    for ( int i = 0; i < simplex->count; ++i )
    {
        p[i] = simplex->vertices[i].w;
    }
    simplex_nearest n = simplex_at_vertex( simplex->vertices[0].w, 0 );
    if ( simplex->count == 2 )
    {
        n = simplex_on_segment( p, 0, 1 );
    }
    if ( simplex->count == 3 )
    {
        n = simplex_on_triangle( p, 0, 1, 2 );
    }
    if ( simplex->count == 4 && simplex_on_tetrahedron( p, &n ) )
    {
        return math_make( 0, 0, 0 );
    }
    return simplex_keep( simplex, &n );
}

/// The points on both shapes that the weights tell.
SOLID void narrow_simplex_witness( const narrow_core* core_a, const narrow_core* core_b,
    const narrow_simplex* simplex, math_vec3* a, math_vec3* b )
{
    *a = math_make( 0, 0, 0 );
    *b = math_make( 0, 0, 0 );
    for ( int i = 0; i < simplex->count; ++i )
    {
        const narrow_vertex* v = &simplex->vertices[i];
        *a = math_add_scaled( *a, clv_narrow_core_point( core_a, v->index_a ), simplex->weights[i] );
        *b = math_add_scaled( *b, clv_narrow_core_point( core_b, v->index_b ), simplex->weights[i] );
    }
}

// ---- the search

SOLID void gjk_start( narrow_core* a, narrow_core* b, const clv_pair_cache* cache, narrow_gjk* g )
{
    solid_u32 count_a = clv_narrow_core_point_count( a ), count_b = clv_narrow_core_point_count( b );
    g->simplex.count = 0;
    g->round_count = 0;
    for ( solid_u32 i = 0; cache != 0 && i < cache->count && i < 4; ++i )
    {
        // A cache of other shapes costs rounds, never a wrong answer; but it must not point beyond this hull.
        if ( cache->a[i] < count_a && cache->b[i] < count_b )
        {
            g->simplex.vertices[g->simplex.count++] =
                narrow_difference( clv_narrow_core_point( a, cache->a[i] ),
                    clv_narrow_core_point( b, cache->b[i] ), cache->a[i], cache->b[i] );
        }
    }
    if ( g->simplex.count == 0 )
    {
        math_vec3 towards = math_sub( b->pose.position, a->pose.position );
        if ( math_length_squared( towards ) == 0.0 )
        {
            towards = math_make( 1, 0, 0 );
        }
        g->simplex.vertices[0] = narrow_difference_support( a, b, towards );
        g->simplex.count = 1;
        g->round_count = 1;
    }
    else
    {
        a->last = g->simplex.vertices[0].index_a;
        b->last = g->simplex.vertices[0].index_b;
    }
}

SOLID bool gjk_contains( const narrow_simplex* s, const narrow_vertex* v )
{
    for ( int i = 0; i < s->count; ++i )
    {
        if ( s->vertices[i].index_a == v->index_a && s->vertices[i].index_b == v->index_b )
        {
            return true;
        }
    }
    return false;
}

SOLID void gjk_save( const narrow_gjk* g, clv_pair_cache* cache )
{
    cache->count = (solid_u32)g->simplex.count;
    for ( int i = 0; i < g->simplex.count; ++i )
    {
        cache->a[i] = g->simplex.vertices[i].index_a;
        cache->b[i] = g->simplex.vertices[i].index_b;
    }
}

SOLID double gjk_reach( const narrow_simplex* s )
{
    double largest = 0.0;
    for ( int i = 0; i < s->count; ++i )
    {
        largest = math_max( largest, s->vertices[i].reach );
    }
    return largest;
}

SOLID void gjk_approach( narrow_core* a, narrow_core* b, double skins, bool stop_apart, narrow_gjk* g )
{
    narrow_simplex before = g->simplex;
    double squared = (double)INFINITY, size = 0.0;
    for ( ;; )
    {
        size = math_max( size, gjk_reach( &g->simplex ) );
        math_vec3 nearest = narrow_simplex_reduce( &g->simplex );
        double now = math_length_squared( nearest );
        if ( g->simplex.count == 4 || now <= GJK_TOUCH * GJK_TOUCH * size * size )
        {
            g->nearest = math_make( 0, 0, 0 );
            g->touching = g->converged = true;
            return;
        }
        if ( now >= squared )
        {
            g->simplex = before; // rounding; the round before was as near as it gets
            g->converged = true;
            return;
        }
        squared = now;
        g->nearest = nearest;
        if ( g->round_count >= NARROW_GJK_ROUNDS )
        {
            return;
        }

        narrow_vertex v = narrow_difference_support( a, b, math_neg( nearest ) );
        g->round_count += 1;
        double along = math_dot( nearest, v.w ); // the difference lies beyond along / |nearest|
        bool apart = along > 0.0 && along * along > squared * skins * skins;
        if ( ( stop_apart && apart ) || squared - along <= GJK_CLOSE_ENOUGH * squared ||
            gjk_contains( &g->simplex, &v ) )
        {
            g->converged = true;
            return;
        }
        CLV_ASSERT( g->simplex.count < 4 );
        before = g->simplex;
        g->simplex.vertices[g->simplex.count++] = v;
    }
}

/// `skins`: the sum of both radii. With `stop_apart` the search ends as soon as cores are known to be farther
/// apart. `cache` may be 0.
SOLID void narrow_gjk_search(
    narrow_core* a, narrow_core* b, double skins, bool stop_apart, clv_pair_cache* cache, narrow_gjk* result )
{
    CLV_ASSERT( skins >= 0.0 );
    result->touching = result->converged = false;
    gjk_start( a, b, cache, result );
    gjk_approach( a, b, skins, stop_apart, result );
    result->distance = math_length( result->nearest );
    CLV_ASSERT( !result->touching || result->distance == 0.0 );
    if ( cache != 0 )
    {
        gjk_save( result, cache );
    }
}
