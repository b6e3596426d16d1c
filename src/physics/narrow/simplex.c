// SPDX-License-Identifier: MIT
// Johnson's subalgorithm by Voronoi regions, after Ericson, "Real-Time Collision Detection", 5.1. It differs
// where simplices degenerate, as they do whenever shapes touch: a triangle without area is its three edges, a
// tetrahedron without volume its four faces, and of several candidates the nearest wins.
#include "narrow/simplex.h"

// A triangle's area (a tetrahedron's volume) below this share of what its edges allow is none.
#define SIMPLEX_FLAT 1e-14

// A candidate: which of the vertices, with which weights, and how near.
typedef struct nearest
{
    double weights[4];
    math_vec3 point;
    double squared;
} nearest;

static nearest at_vertex( math_vec3 p, int i )
{
    nearest n = { { 0, 0, 0, 0 }, p, math_length_squared( p ) };
    n.weights[i] = 1.0;
    return n;
}

static nearest on_segment( const math_vec3* p, int i, int j )
{
    math_vec3 edge = math_sub( p[j], p[i] );
    double length = math_length_squared( edge );
    double t = -math_dot( p[i], edge );
    if ( !( t > 0.0 ) )
    {
        return at_vertex( p[i], i );
    }
    if ( t >= length )
    {
        return at_vertex( p[j], j );
    }
    t /= length;
    nearest n = { { 0, 0, 0, 0 }, math_add_scaled( p[i], edge, t ), 0.0 };
    n.weights[i] = 1.0 - t;
    n.weights[j] = t;
    n.squared = math_length_squared( n.point );
    return n;
}

static nearest nearer( nearest a, nearest b )
{
    return b.squared < a.squared ? b : a;
}

static nearest on_triangle( const math_vec3* p, int i, int j, int k )
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
        nearest n = { { 0, 0, 0, 0 }, math_scale( normal, math_dot( normal, p[i] ) / area ), 0.0 };
        double sum = wi + wj + wk;
        n.weights[i] = wi / sum, n.weights[j] = wj / sum, n.weights[k] = wk / sum;
        n.squared = math_length_squared( n.point );
        return n;
    }
    // Outside of some edge: the nearest point is on one of the edges, and trying all three is safe at any
    // corner.
    return nearer( nearer( on_segment( p, i, j ), on_segment( p, i, k ) ), on_segment( p, j, k ) );
}

// The faces of a tetrahedron the origin is outside of; true with *n untouched if there is none.
static bool on_tetrahedron( const math_vec3* p, nearest* n )
{
    static const uint8_t faces[4][4] = { { 0, 1, 2, 3 }, { 0, 3, 1, 2 }, { 0, 2, 3, 1 }, { 1, 3, 2, 0 } };
    math_vec3 a = math_sub( p[1], p[0] ), b = math_sub( p[2], p[0] ), c = math_sub( p[3], p[0] );
    double volume = math_dot( math_cross( a, b ), c );
    double size = sqrt( math_length_squared( a ) * math_length_squared( b ) * math_length_squared( c ) );
    bool flat = math_abs( volume ) <= SIMPLEX_FLAT * size;
    bool found = false;
    for ( int f = 0; f < 4; ++f )
    {
        int i = faces[f][0], j = faces[f][1], k = faces[f][2], top = faces[f][3];
        math_vec3 normal = math_cross( math_sub( p[j], p[i] ), math_sub( p[k], p[i] ) );
        double origin_side = -math_dot( normal, p[i] );
        double top_side = math_dot( normal, math_sub( p[top], p[i] ) );
        if ( flat || origin_side * top_side < 0.0 )
        {
            nearest candidate = on_triangle( p, i, j, k );
            *n = found ? nearer( *n, candidate ) : candidate;
            found = true;
        }
    }
    return !found;
}

static math_vec3 keep( narrow_simplex* simplex, const nearest* n )
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
    simplex->count = kept;
    return n->point;
}

math_vec3 clv_narrow_simplex_reduce( narrow_simplex* simplex )
{
    math_vec3 p[4];
    for ( int i = 0; i < simplex->count; ++i )
    {
        p[i] = simplex->vertices[i].w;
    }
    nearest n = at_vertex( p[0], 0 );
    switch ( simplex->count )
    {
    case 2: n = on_segment( p, 0, 1 ); break;
    case 3: n = on_triangle( p, 0, 1, 2 ); break;
    case 4:
        if ( on_tetrahedron( p, &n ) )
        {
            return math_make( 0, 0, 0 );
        }
        break;
    default: break;
    }
    return keep( simplex, &n );
}

void clv_narrow_simplex_witness( const narrow_simplex* simplex, math_vec3* a, math_vec3* b )
{
    *a = *b = math_make( 0, 0, 0 );
    for ( int i = 0; i < simplex->count; ++i )
    {
        *a = math_add_scaled( *a, simplex->vertices[i].a, simplex->weights[i] );
        *b = math_add_scaled( *b, simplex->vertices[i].b, simplex->weights[i] );
    }
}

math_vec3 clv_narrow_simplex_common_point( const narrow_simplex* simplex )
{
    // Each vertex weighs as much as the volume the origin has with the other three.
    const narrow_vertex* v = simplex->vertices;
    math_vec3 o = v[0].w;
    math_vec3 p = math_sub( v[1].w, o ), q = math_sub( v[2].w, o ), r = math_sub( v[3].w, o );
    math_vec3 qr = math_cross( q, r );
    double volume = math_dot( p, qr );
    double weights[4] = { 0, -math_dot( o, qr ) / volume, -math_dot( p, math_cross( o, r ) ) / volume,
        -math_dot( p, math_cross( q, o ) ) / volume };
    weights[0] = 1.0 - weights[1] - weights[2] - weights[3];
    math_vec3 sum = { 0, 0, 0 };
    for ( int i = 0; i < 4; ++i )
    {
        sum = math_add_scaled( sum, v[i].a, weights[i] );
    }
    return sum;
}
