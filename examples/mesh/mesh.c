// SPDX-License-Identifier: MIT
// Where does a mesh run through itself? A tube is bent into an eight, and its two arms pass through each
// other. Boxes of triangles go to a space; the pairs that it finds are tested exactly. Coordinates are whole
// numbers below 2^18, as a mesh is snapped to a grid, so every determinant fits into 64 bits and no rounding
// decides: touching, parallel and flat cases are answered rightly. Pairs that share a corner are neighbours
// on the surface, and not counted.
//
// Usage: mesh
#include <cleave/cleave.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum
{
    ALONG = 120, // corners along the tube
    AROUND = 20, // and around it
    CORNERS = ALONG * AROUND,
    TRIANGLES = 2 * CORNERS,
    GRID = 100000 // steps per unit
};

typedef struct point
{
    int64_t x, y, z;
} point;

typedef struct mesh
{
    point corners[CORNERS];
    int triangles[TRIANGLES][3];
    clv_aabb boxes[TRIANGLES];
} mesh;

// ---- the mesh

// A point of the circle, i of n steps around: by the rational form of its quarters, which needs no sine and
// so is the same on every machine.
static void circle( int i, int n, double* c, double* s )
{
    int quarter = 4 * i / n;
    double t = (double)( 4 * i - quarter * n ) / n;
    double x = ( 1 - t * t ) / ( 1 + t * t ), y = 2 * t / ( 1 + t * t );
    *c = quarter == 0 ? x : quarter == 1 ? -y : quarter == 2 ? -x : y;
    *s = quarter == 0 ? y : quarter == 1 ? x : quarter == 2 ? -y : -x;
}

static int64_t snap( double value )
{
    return (int64_t)floor( value * GRID + 0.5 );
}

// The eight is ( cos, sin cos ), the tube's circle lies across it and upright; one arm is a little higher
// than the other.
static void fill( mesh* m )
{
    for ( int i = 0; i < ALONG; ++i )
    {
        double c, s;
        circle( i, ALONG, &c, &s );
        double across[2] = { -( c * c - s * s ), -s }; // the way along is ( -sin, cos^2 - sin^2 )
        double length = sqrt( across[0] * across[0] + across[1] * across[1] );
        for ( int k = 0; k < AROUND; ++k )
        {
            double u, v;
            circle( k, AROUND, &u, &v );
            point corner = { snap( c + 0.15 * u * across[0] / length ),
                snap( s * c + 0.15 * u * across[1] / length ), snap( 0.15 * v + 0.05 * s ) };
            int next = ( i + 1 ) % ALONG, beside = ( k + 1 ) % AROUND, at = i * AROUND + k;
            int corners[4] = { at, next * AROUND + k, next * AROUND + beside, i * AROUND + beside };
            m->corners[at] = corner;
            for ( int j = 0; j < 3; ++j )
            {
                m->triangles[2 * at][j] = corners[j];
                m->triangles[2 * at + 1][j] = corners[( j + 2 ) % 4];
            }
        }
    }
}

// ---- the exact test: signs of determinants

static int sign( int64_t value )
{
    return value > 0 ? 1 : value < 0 ? -1 : 0;
}

static point minus( point a, point b )
{
    point difference = { a.x - b.x, a.y - b.y, a.z - b.z };
    return difference;
}

static point cross( point a, point b )
{
    point product = { a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
    return product;
}

// On which side of the plane through a, b and c is d? Differences are below 2^19, so the sum is below 6 *
// 2^57.
static int side( point a, point b, point c, point d )
{
    point n = cross( minus( b, a ), minus( c, a ) ), e = minus( d, a );
    return sign( n.x * e.x + n.y * e.y + n.z * e.z );
}

// The same in the plane, of points with z left out.
static int turn( point a, point b, point c )
{
    return sign( ( b.x - a.x ) * ( c.y - a.y ) - ( b.y - a.y ) * ( c.x - a.x ) );
}

static bool is_between( int64_t a, int64_t b, int64_t value )
{
    return a <= b ? a <= value && value <= b : b <= value && value <= a;
}

static bool segments_meet( point a, point b, point p, point q )
{
    int ap = turn( a, b, p ), aq = turn( a, b, q ), pa = turn( p, q, a ), pb = turn( p, q, b );
    if ( ap * aq < 0 && pa * pb < 0 )
    {
        return true;
    }
    return ( ap == 0 && is_between( a.x, b.x, p.x ) && is_between( a.y, b.y, p.y ) ) ||
        ( aq == 0 && is_between( a.x, b.x, q.x ) && is_between( a.y, b.y, q.y ) ) ||
        ( pa == 0 && is_between( p.x, q.x, a.x ) && is_between( p.y, q.y, a.y ) ) ||
        ( pb == 0 && is_between( p.x, q.x, b.x ) && is_between( p.y, q.y, b.y ) );
}

// All three sides of one sign, or 0.
static bool agree( int a, int b, int c )
{
    return ( a >= 0 && b >= 0 && c >= 0 ) || ( a <= 0 && b <= 0 && c <= 0 );
}

// A point with the axis left out along which the triangle's normal is not 0.
static point flattened( point p, point normal )
{
    point by_x = { p.y, p.z, 0 }, by_y = { p.z, p.x, 0 };
    return normal.z != 0 ? p : normal.x != 0 ? by_x : by_y;
}

static bool edge_meets_flat_triangle( point p, point q, const point t[3] )
{
    point normal = cross( minus( t[1], t[0] ), minus( t[2], t[0] ) ), f[3];
    p = flattened( p, normal );
    q = flattened( q, normal );
    for ( int k = 0; k < 3; ++k )
    {
        f[k] = flattened( t[k], normal );
    }
    return agree( turn( f[0], f[1], p ), turn( f[1], f[2], p ), turn( f[2], f[0], p ) ) ||
        segments_meet( f[0], f[1], p, q ) || segments_meet( f[1], f[2], p, q ) ||
        segments_meet( f[2], f[0], p, q );
}

static bool edge_meets_triangle( point p, point q, const point t[3] )
{
    int first = side( t[0], t[1], t[2], p ), second = side( t[0], t[1], t[2], q );
    if ( first == 0 && second == 0 )
    {
        return edge_meets_flat_triangle( p, q, t );
    }
    return first * second <= 0 &&
        agree( side( p, q, t[0], t[1] ), side( p, q, t[1], t[2] ), side( p, q, t[2], t[0] ) );
}

// Two triangles with an area meet where an edge of one meets the other.
static bool meet( const point s[3], const point t[3] )
{
    for ( int j = 0; j < 3; ++j )
    {
        if ( edge_meets_triangle( s[j], s[( j + 1 ) % 3], t ) ||
            edge_meets_triangle( t[j], t[( j + 1 ) % 3], s ) )
        {
            return true;
        }
    }
    return false;
}

// Against the triangle ( 0, 0, 0 ), ( 4, 0, 0 ), ( 0, 4, 0 ): what rounding gets wrong first.
static bool known_cases_are_right( void )
{
    static const point fixed[3] = { { 0, 0, 0 }, { 4, 0, 0 }, { 0, 4, 0 } };
    static const struct
    {
        point corners[3];
        bool meets;
    } cases[] = {
        { { { 1, 1, -1 }, { 1, 1, 1 }, { 9, 9, 1 } }, true },      // an edge through its middle
        { { { 1, 1, 0 }, { 1, 1, 5 }, { 2, 1, 5 } }, true },       // a corner on its face
        { { { 2, 2, -1 }, { 2, 2, 1 }, { 9, 9, 0 } }, true },      // an edge through its edge
        { { { 4, 0, 0 }, { 9, 0, 1 }, { 9, 1, 0 } }, true },       // corner on corner
        { { { 5, 0, 0 }, { 9, 0, 1 }, { 9, 1, 0 } }, false },      // one step beside that
        { { { 1, 1, 0 }, { 2, 1, 0 }, { 1, 2, 0 } }, true },       // in its plane, inside
        { { { -9, -9, 0 }, { 30, -9, 0 }, { -9, 30, 0 } }, true }, // in its plane, around it
        { { { 4, 1, 0 }, { 9, 1, 0 }, { 9, 9, 0 } }, false },      // in its plane, beside it
        { { { 2, 0, 0 }, { 6, 0, 0 }, { 4, -3, 0 } }, true },      // in its plane, along an edge
        { { { 0, 0, 1 }, { 4, 0, 1 }, { 0, 4, 1 } }, false },      // parallel
    };
    for ( size_t i = 0; i < sizeof( cases ) / sizeof( cases[0] ); ++i )
    {
        if ( meet( fixed, cases[i].corners ) != cases[i].meets ||
            meet( cases[i].corners, fixed ) != cases[i].meets )
        {
            return false;
        }
    }
    return true;
}

static bool triangles_meet( const mesh* m, uint32_t a, uint32_t b )
{
    point s[3], t[3];
    for ( int j = 0; j < 3; ++j )
    {
        for ( int k = 0; k < 3; ++k )
        {
            if ( m->triangles[a][j] == m->triangles[b][k] )
            {
                return false; // neighbours
            }
        }
        s[j] = m->corners[m->triangles[a][j]];
        t[j] = m->corners[m->triangles[b][j]];
    }
    return meet( s, t );
}

// ---- boxes first

// Whole numbers below 2^24 are exact as floats, so these are the triangles' boxes to the bit.
static void find_boxes( mesh* m )
{
    for ( int i = 0; i < TRIANGLES; ++i )
    {
        point p = m->corners[m->triangles[i][0]], low = p, high = p;
        for ( int k = 1; k < 3; ++k )
        {
            p = m->corners[m->triangles[i][k]];
            low =
                ( point ){ p.x < low.x ? p.x : low.x, p.y < low.y ? p.y : low.y, p.z < low.z ? p.z : low.z };
            high = ( point ){ p.x > high.x ? p.x : high.x, p.y > high.y ? p.y : high.y,
                p.z > high.z ? p.z : high.z };
        }
        m->boxes[i] = ( clv_aabb ){ { (float)low.x, (float)low.y, (float)low.z },
            { (float)high.x, (float)high.y, (float)high.z } };
    }
}

typedef struct tally
{
    const mesh* mesh;
    uint64_t box_pairs, meeting, sum; // the sum tells sets of pairs apart
} tally;

static void test_pair( tally* t, uint32_t a, uint32_t b )
{
    if ( triangles_meet( t->mesh, a, b ) )
    {
        t->meeting += 1;
        t->sum += ( (uint64_t)a * TRIANGLES + b ) * UINT64_C( 0x9E3779B97F4A7C15 );
    }
}

static bool take_pairs( const clv_pair* pairs, size_t count, void* user )
{
    tally* t = user;
    t->box_pairs += count;
    for ( size_t i = 0; i < count; ++i )
    {
        test_pair( t, pairs[i].a, pairs[i].b );
    }
    return true;
}

static bool run( const mesh* m, clv_space* space )
{
    tally found = { m, 0, 0, 0 }, brute = { m, 0, 0, 0 };
    if ( clv_space_add( space, m->boxes, TRIANGLES, NULL ) != CLV_OK ||
        clv_space_visit( space, take_pairs, &found ) != CLV_OK )
    {
        fprintf( stderr, "mesh: %s\n", clv_space_error( space ).text );
        return false;
    }
    for ( uint32_t a = 0; a < TRIANGLES; ++a )
    {
        for ( uint32_t b = a + 1; b < TRIANGLES; ++b )
        {
            test_pair( &brute, a, b );
        }
    }
    printf( "%d triangles, %llu pairs of boxes\n", TRIANGLES, (unsigned long long)found.box_pairs );
    printf( "%llu pairs of triangles meet that share no corner\n", (unsigned long long)found.meeting );
    printf( "the same pairs as by testing every two triangles: %s\n",
        found.meeting == brute.meeting && found.sum == brute.sum ? "yes" : "no" );
    printf( "triangles that touch, or lie in one plane, are told rightly: %s\n",
        known_cases_are_right() ? "yes" : "no" );
    return true;
}

int main( void )
{
    mesh* m = malloc( sizeof( *m ) );
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    bool good = m != NULL && clv_space_create( &def, &space ) == CLV_OK;
    if ( good )
    {
        fill( m );
        find_boxes( m );
        good = run( m, space );
    }
    clv_space_destroy( space );
    free( m );
    return good ? 0 : 1;
}
