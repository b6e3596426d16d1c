// SPDX-License-Identifier: MIT
// Gilbert, Johnson, Keerthi, "A fast procedure for computing the distance between complex objects in
// three-dimensional space" (1988); extreme points by Cameron's hill climbing (1997), the start and the end of
// the search after van den Bergen, "Proximity queries and penetration depth computation on 3d game objects"
// (2001).
#include "narrow/gjk.h"

#include "base/assertion.h"

// Touching: nearer than this share of the difference's size. Far above the rounding of doubles, far below
// floats'.
#define TOUCH 1e-12
// Nothing nearer than this share of the distance is left to find.
#define GJK_CLOSE_ENOUGH 1e-12

narrow_vertex clv_narrow_difference_support( narrow_core* a, narrow_core* b, math_vec3 direction )
{
    narrow_vertex v;
    v.a = clv_narrow_core_support( a, direction, &v.index_a );
    v.b = clv_narrow_core_support( b, math_neg( direction ), &v.index_b );
    v.w = math_sub( v.a, v.b );
    return v;
}

static void start_simplex( narrow_core* a, narrow_core* b, const clv_pair_cache* cache, narrow_gjk* g )
{
    g->simplex.count = 0;
    uint32_t ends_a = clv_narrow_core_point_count( a ), ends_b = clv_narrow_core_point_count( b );
    for ( uint32_t i = 0; cache != NULL && i < cache->count && i < 4; ++i )
    {
        // A cache of other shapes costs rounds, never a wrong answer; but it must not point beyond this hull.
        if ( cache->a[i] < ends_a && cache->b[i] < ends_b )
        {
            narrow_vertex* v = &g->simplex.vertices[g->simplex.count++];
            v->index_a = cache->a[i], v->index_b = cache->b[i];
            v->a = clv_narrow_core_point( a, v->index_a );
            v->b = clv_narrow_core_point( b, v->index_b );
            v->w = math_sub( v->a, v->b );
        }
    }
    if ( g->simplex.count == 0 )
    {
        math_vec3 towards = math_sub( b->pose.position, a->pose.position );
        if ( math_length_squared( towards ) == 0.0 )
        {
            towards = math_make( 1, 0, 0 );
        }
        g->simplex.vertices[0] = clv_narrow_difference_support( a, b, towards );
        g->simplex.count = 1;
        g->round_count = 1;
    }
    else
    {
        a->last = g->simplex.vertices[0].index_a, b->last = g->simplex.vertices[0].index_b;
    }
}

static bool contains( const narrow_simplex* s, const narrow_vertex* v )
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

static void save( const narrow_gjk* g, clv_pair_cache* cache )
{
    if ( cache != NULL )
    {
        cache->count = (uint32_t)g->simplex.count;
        for ( int i = 0; i < g->simplex.count; ++i )
        {
            cache->a[i] = g->simplex.vertices[i].index_a;
            cache->b[i] = g->simplex.vertices[i].index_b;
        }
    }
}

// How large the numbers are that were subtracted from each other: what rounding is measured by.
static double reach( const narrow_simplex* s )
{
    double largest = 0.0;
    for ( int i = 0; i < s->count; ++i )
    {
        largest = math_max(
            largest, math_max( math_largest( s->vertices[i].a ), math_largest( s->vertices[i].b ) ) );
    }
    return largest;
}

static void approach_origin( narrow_core* a, narrow_core* b, double skins, bool stop_apart, narrow_gjk* g )
{
    narrow_simplex before = g->simplex;
    double squared = HUGE_VAL, size = 0.0;
    for ( ;; )
    {
        size = math_max( size, reach( &g->simplex ) );
        math_vec3 nearest = clv_narrow_simplex_reduce( &g->simplex );
        double now = math_length_squared( nearest );
        if ( g->simplex.count == 4 || now <= TOUCH * TOUCH * size * size )
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

        narrow_vertex v = clv_narrow_difference_support( a, b, math_neg( nearest ) );
        g->round_count += 1;
        double along = math_dot( nearest, v.w ); // the difference lies beyond along / |nearest|
        bool apart = along > 0.0 && along * along > squared * skins * skins;
        if ( ( stop_apart && apart ) || squared - along <= GJK_CLOSE_ENOUGH * squared ||
            contains( &g->simplex, &v ) )
        {
            g->converged = true;
            return;
        }
        before = g->simplex;
        g->simplex.vertices[g->simplex.count++] = v;
    }
}

void clv_narrow_gjk_search(
    narrow_core* a, narrow_core* b, double skins, bool stop_apart, clv_pair_cache* cache, narrow_gjk* result )
{
    CLV_ASSERT( skins >= 0.0 );
    result->touching = result->converged = false;
    result->round_count = 0;
    start_simplex( a, b, cache, result );
    approach_origin( a, b, skins, stop_apart, result );
    result->distance = math_length( result->nearest );
    save( result, cache );
}
