// SPDX-License-Identifier: MIT
// Hulls of clouds that are nearly flat, nearly straight, nearly a point, or far away: whatever a hull leaves
// out lies within 1e-5 of the cloud's diameter of it. The judges look at every triangle of given points or
// vertices; they know nothing of faces, neighbours and GJK.
#include "cleave/narrow.h"
#include "math/orient.h"
#include "math/splitmix.h"
#include "narrow/core.h"
#include "shapes.h"
#include "support.h"
#include "volume.h"

#include <string.h>

#define PROMISE 1e-5 // of the diameter
#define MOST_POINTS 40

typedef struct cloud
{
    clv_vec3 points[MOST_POINTS];
    uint32_t count;
} cloud;

// ---- the judges

static double diameter_of( const clv_vec3* points, uint32_t count )
{
    double most = 0.0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( uint32_t k = 0; k < i; ++k )
        {
            most =
                math_max( most, math_length( math_sub( math_widen( points[i] ), math_widen( points[k] ) ) ) );
        }
    }
    return most;
}

static double to_segment( math_vec3 p, math_vec3 a, math_vec3 b )
{
    math_vec3 along = math_sub( b, a );
    double length = math_length_squared( along ), t = math_dot( math_sub( p, a ), along );
    t = length > 0.0 ? math_min( math_max( t / length, 0.0 ), 1.0 ) : 0.0;
    return math_length( math_sub( p, math_add_scaled( a, along, t ) ) );
}

// Never too small: every point that is measured to belongs to the triangle.
static double to_triangle( math_vec3 p, math_vec3 a, math_vec3 b, math_vec3 c )
{
    double best = math_min( to_segment( p, a, b ), math_min( to_segment( p, b, c ), to_segment( p, c, a ) ) );
    math_vec3 ab = math_sub( b, a ), ac = math_sub( c, a ), ap = math_sub( p, a );
    double bb = math_dot( ab, ab ), bc = math_dot( ab, ac ), cc = math_dot( ac, ac );
    double pb = math_dot( ap, ab ), pc = math_dot( ap, ac ), size = bb * cc - bc * bc;
    double s = ( cc * pb - bc * pc ) / size, t = ( bb * pc - bc * pb ) / size;
    if ( size > 0.0 && s >= 0.0 && t >= 0.0 && s + t <= 1.0 )
    {
        math_vec3 nearest = math_add_scaled( math_add_scaled( a, ab, s ), ac, t );
        best = math_min( best, math_length( math_sub( p, nearest ) ) );
    }
    return best;
}

// Does some triangle of the points have them all behind it, or on it, and `p` before it? Exact.
static bool is_outside( clv_vec3 p, const clv_vec3* points, uint32_t count )
{
    for ( uint32_t i = 0; i < count * count * count; ++i )
    {
        clv_vec3 a = points[i / count / count], b = points[i / count % count], c = points[i % count];
        if ( clv_math_orient3( a, b, c, p ) > 0 )
        {
            bool beyond = true;
            for ( uint32_t k = 0; beyond && k < count; ++k )
            {
                beyond = clv_math_orient3( a, b, c, points[k] ) <= 0;
            }
            if ( beyond )
            {
                return true;
            }
        }
    }
    return false;
}

// How far a point is from the convex set around others. A point within is near none of its triangles, so it
// is asked first which side it is on, but only if it matters.
static double to_hull( clv_vec3 point, const clv_vec3* points, uint32_t count, double good_enough )
{
    math_vec3 p = math_widen( point );
    double best = HUGE_VAL;
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( uint32_t k = 0; k <= i; ++k )
        {
            for ( uint32_t m = 0; m <= k; ++m )
            {
                best = math_min( best,
                    to_triangle(
                        p, math_widen( points[i] ), math_widen( points[k] ), math_widen( points[m] ) ) );
                if ( best <= good_enough )
                {
                    return best;
                }
            }
        }
    }
    return is_outside( point, points, count ) ? best : 0.0;
}

static clv_hull* make_hull( const cloud* c )
{
    clv_hull_def def = clv_default_hull_def();
    def.points = c->points;
    def.point_count = c->count;
    clv_hull* hull = NULL;
    CHECK_OK( clv_hull_create( &def, &hull ) );
    const char* wrong = clv_narrow_hull_check( hull );
    if ( wrong != NULL )
    {
        test_fail( __FILE__, __LINE__, "%s", wrong );
    }
    return hull;
}

static void check_vertices_are_points( const clv_hull* hull, const cloud* c )
{
    clv_hull_view view = clv_hull_get_view( hull );
    for ( uint32_t v = 0; v < view.vertex_count; ++v )
    {
        bool found = false;
        for ( uint32_t i = 0; i < c->count; ++i )
        {
            found = found || memcmp( &view.vertices[v], &c->points[i], sizeof( clv_vec3 ) ) == 0;
        }
        CHECK( found );
    }
}

// In any direction the hull reaches as far as the cloud, whether every vertex is looked at or the climb finds
// it.
static void check_reach( const clv_hull* hull, const cloud* c, math_random* random, double diameter )
{
    clv_hull_view view = clv_hull_get_view( hull );
    uint32_t at = 0;
    for ( int i = 0; i < 60; ++i )
    {
        math_vec3 direction = math_random_direction( random );
        if ( i % 3 == 0 && view.face_count > 0 )
        {
            // Nearly along a face's normal: where thin hulls are flat.
            math_vec3 normal = math_widen( view.face_planes[(uint32_t)i / 3 % view.face_count].normal );
            double tilt = i % 2 == 0 ? 1e-7 : 1e-4;
            direction = math_normalize( math_add_scaled( normal, direction, tilt ), direction );
        }
        double most = -HUGE_VAL, rounding = 0.0;
        for ( uint32_t k = 0; k < c->count; ++k )
        {
            most = math_max( most, math_dot( direction, math_widen( c->points[k] ) ) );
            rounding = math_max( rounding, 1e-15 * math_length( math_widen( c->points[k] ) ) );
        }
        uint32_t brute = clv_narrow_support_brute( hull, direction );
        at = clv_narrow_support_climb( hull, direction, at );
        double reach = math_dot( direction, math_widen( view.vertices[brute] ) );
        double climbed = math_dot( direction, math_widen( view.vertices[at] ) );
        CHECK( reach >= most - PROMISE * diameter - rounding );
        CHECK( climbed >= reach - 1e-9 * diameter - 4.0 * rounding );
    }
}

static void check_cloud( const cloud* c, math_random* random )
{
    clv_hull* hull = make_hull( c );
    clv_hull_view view = clv_hull_get_view( hull );
    double diameter = diameter_of( c->points, c->count );
    check_vertices_are_points( hull, c );
    check_reach( hull, c, random, diameter );
    for ( uint32_t i = 0; i < c->count; ++i )
    {
        double off = to_hull( c->points[i], view.vertices, view.vertex_count, PROMISE * diameter );
        if ( off > PROMISE * diameter )
        {
            test_fail( __FILE__, __LINE__, "point %u of %u is %g diameters off: dimension %u, %u vertices", i,
                c->count, off / diameter, view.dimension, view.vertex_count );
        }
    }
    clv_hull_destroy( hull );
}

// ---- the clouds

typedef enum cloud_kind
{
    KIND_BOX,
    KIND_HEXAGON,
    KIND_PRISM,
    KIND_RING, ///< many corners
    KIND_OCTAHEDRON,
    KIND_BLOB,
    KIND_SPHERE,
    KIND_LENS, ///< thin in the middle too, sharp at the rim
    KIND_WEDGE,
    KIND_GRID, ///< all on faces and edges of a box
    KIND_KINDS
} cloud_kind;

static math_vec3 octahedron_point( uint32_t i )
{
    double p[3], big = i & 4 ? 1.0 : 0.5;
    uint32_t zero = i / 8 % 3;
    p[zero] = 0.0;
    p[( zero + 1 ) % 3] = i & 1 ? big : -big;
    p[( zero + 2 ) % 3] = i & 2 ? 1.5 - big : big - 1.5;
    return math_make( p[0], p[1], p[2] );
}

static uint32_t kind_count( cloud_kind kind, math_random* random )
{
    static const uint32_t counts[KIND_KINDS] = { 8, 6, 12, 30, 24, 20, 24, 17, 9, 27 };
    uint32_t fewer = kind == KIND_BLOB ? (uint32_t)math_random_between( random, 0, 19 ) : 0;
    return counts[kind] - fewer;
}

static math_vec3 round_point( uint32_t i, uint32_t n )
{
    double angle = 6.283185307179586 * (double)i / (double)n;
    return math_make( cos( angle ), sin( angle ), 0 );
}

// Point i of a body about as large as 1 along each axis.
static math_vec3 body_point( cloud_kind kind, uint32_t i, math_random* random )
{
    math_vec3 p = { 0, 0, 0 };
    switch ( kind )
    {
    case KIND_BOX: return math_make( i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1 );
    case KIND_HEXAGON: return round_point( i, 6 );
    case KIND_PRISM:
        p = round_point( i % 6, 6 );
        p.z = i < 6 ? 1 : -1;
        return p;
    case KIND_RING:
        p = round_point( i, 30 );
        p.z = math_random_between( random, -1, 1 );
        return p;
    case KIND_OCTAHEDRON: return octahedron_point( i );
    case KIND_SPHERE: return math_random_direction( random );
    case KIND_LENS:
        p = i < 8 ? round_point( i, 8 ) : math_scale( round_point( i, 8 ), 0.4 );
        p.z = i < 8 ? 0 : i % 2 == 0 ? 1 : -1;
        return p;
    case KIND_WEDGE: return math_make( i % 3, i / 3, i % 3 == 0 ? 0 : i % 3 == 1 ? 0.5 : (double)( i / 3 ) );
    case KIND_GRID:
        return math_make( (double)( i % 3 ) - 1, (double)( i / 3 % 3 ) - 1, (double)( i / 9 ) - 1 );
    default:
        return math_make( math_random_between( random, -1, 1 ), math_random_between( random, -1, 1 ),
            math_random_between( random, -1, 1 ) );
    }
}

// 10^-3 to 10^-12, now and then 1 or 0.
static double random_thickness( math_random* random )
{
    double exponent = math_random_between( random, 1, 14 );
    return exponent < 2 ? 1.0 : exponent > 13 ? 0.0 : pow( 10.0, -exponent );
}

static cloud make_cloud( cloud_kind kind, math_random* random )
{
    cloud c = { .count = kind_count( kind, random ) };
    double choice = math_random_unit( random );
    math_vec3 size = { 1, 1, random_thickness( random ) };
    size.y = choice < 0.3 ? random_thickness( random ) : choice < 0.35 ? size.z : 1.0;
    bool turned = math_random_unit( random ) < 0.7;
    math_mat3 turn = math_quat_matrix( turned ? math_random_rotation( random ) : math_quat_identity() );
    double scale =
        math_random_unit( random ) < 0.5 ? 1.0 : pow( 10.0, math_random_between( random, -20, 20 ) );
    // So far away that floats leave a few steps, or a thousand, to the whole cloud.
    double away = math_random_unit( random ) < 0.8 ? 0.0 : pow( 10.0, math_random_between( random, 0, 6 ) );
    math_vec3 offset = math_scale( math_random_direction( random ), away );
    for ( uint32_t i = 0; i < c.count; ++i )
    {
        math_vec3 p = math_apply( &turn, shapes_stretch( body_point( kind, i, random ), size ) );
        c.points[i] = math_narrow( math_scale( math_add( p, offset ), scale ) );
    }
    // Some points twice, as meshes have them.
    for ( uint32_t i = 0; choice > 0.8 && i < 8; ++i )
    {
        c.points[c.count] = c.points[math_random_bits( random ) % c.count];
        c.count += 1;
    }
    return c;
}

static void no_cloud_loses_a_point( void )
{
    uint32_t clouds = test_scaled( 3000 );
    for ( uint32_t seed = 1; seed <= clouds; ++seed )
    {
        test_where.seed = seed;
        math_random random = math_random_seed( seed );
        cloud c = make_cloud( (cloud_kind)( seed % KIND_KINDS ), &random );
        check_cloud( &c, &random );
    }
}

// Whole steps of the last digit around one place: nothing is left of any shape but the rounding.
static void clouds_of_a_few_floats_lose_no_point( void )
{
    uint32_t clouds = test_scaled( 1000 );
    for ( uint32_t seed = 1; seed <= clouds; ++seed )
    {
        test_where.seed = seed;
        math_random random = math_random_seed( seed );
        cloud c = { .count = 3 + seed % 20 };
        float unit = seed % 2 == 0 ? 0x1p-23f : 0x1p-149f;
        float base = seed % 2 == 0 ? 1.0f : 0.0f;
        for ( uint32_t i = 0; i < c.count; ++i )
        {
            c.points[i].x = base + unit * (float)( math_random_bits( &random ) % 5 );
            c.points[i].y = base + unit * (float)( math_random_bits( &random ) % 4 );
            c.points[i].z = base + unit * (float)( math_random_bits( &random ) % ( 1 + seed % 3 ) );
        }
        check_cloud( &c, &random );
    }
}

// ---- the cases that were lost

static void thin_boxes_keep_their_corners( void )
{
    for ( int i = 0; i < 30; ++i )
    {
        float thin = (float)pow( 10.0, -3 - i / 3 );
        clv_vec3 half = { i % 3 == 0 ? thin : 1, i % 3 == 1 ? thin : 1, i % 3 == 2 ? thin : 1 };
        math_random random = math_random_seed( 1 );
        cloud c = { .count = 8 };
        for ( uint32_t k = 0; k < 8; ++k )
        {
            c.points[k] =
                math_narrow( shapes_stretch( body_point( KIND_BOX, k, &random ), math_widen( half ) ) );
        }
        check_cloud( &c, &random );
        clv_hull* hull = NULL;
        CHECK_OK( clv_hull_create_box( half, &hull ) );
        CHECK( clv_hull_get_view( hull ).vertex_count >= 4 );
        clv_hull_destroy( hull );
    }
}

// Sines and cosines leave 1e-16 where zeros belong: twins that a climb cannot tell apart, on hulls large
// enough to climb.
static void rings_with_twins_are_climbed_to_the_top( void )
{
    for ( uint32_t seed = 1; seed <= 50; ++seed )
    {
        test_where.seed = seed;
        math_random random = math_random_seed( seed );
        cloud c = { .count = MOST_POINTS };
        for ( uint32_t i = 0; i < c.count; ++i )
        {
            math_vec3 p = round_point( i % 19 + seed * ( i / 19 ), 19 + seed % 5 );
            p.z = i < 19 ? 0.5 : i < 38 ? -0.5 : 3.0 * ( (double)i - 38.5 );
            c.points[i] = math_narrow( p );
            c.points[i].z += seed % 2 == 0 ? 1e-17f * (float)i : 0.0f;
        }
        check_cloud( &c, &random );
    }
}

static void turned_hexagons_stay_hexagons( void )
{
    for ( uint32_t seed = 1; seed <= 4000; ++seed )
    {
        test_where.seed = seed;
        math_random random = math_random_seed( seed );
        math_mat3 turn = math_quat_matrix( math_random_rotation( &random ) );
        cloud c = { .count = 6 };
        for ( uint32_t i = 0; i < 6; ++i )
        {
            c.points[i] = math_narrow( math_apply( &turn, round_point( i, 6 ) ) );
        }
        clv_hull* hull = make_hull( &c );
        clv_hull_view view = clv_hull_get_view( hull );
        CHECK_EQUAL( view.dimension, 2 );
        CHECK_EQUAL( view.vertex_count, 6 );
        CHECK_EQUAL( view.face_count, 2 );
        clv_hull_destroy( hull );
    }
}

static void turned_needles_are_segments( void )
{
    for ( uint32_t seed = 1; seed <= 1000; ++seed )
    {
        test_where.seed = seed;
        math_random random = math_random_seed( seed );
        math_mat3 turn = math_quat_matrix( math_random_rotation( &random ) );
        cloud c = { .count = 8 };
        for ( uint32_t i = 0; i < 8; ++i )
        {
            math_vec3 p = body_point( seed % 2 == 0 ? KIND_BOX : KIND_BLOB, i, &random );
            c.points[i] = math_narrow( math_apply( &turn, shapes_stretch( p, math_make( 1, 1e-8, 1e-9 ) ) ) );
        }
        clv_hull* hull = make_hull( &c );
        CHECK_EQUAL( clv_hull_get_view( hull ).dimension, 1 );
        clv_hull_destroy( hull );
        check_cloud( &c, &random );
    }
}

static void flat_octahedra_keep_their_outline( void )
{
    for ( int exponent = 1; exponent <= 12; ++exponent )
    {
        clv_hull* hull = NULL;
        float height = (float)pow( 10.0, -exponent );
        CHECK_OK( clv_hull_create_truncated_octahedron( ( clv_vec3 ){ 1, height, 1 }, &hull ) );
        clv_hull_view view = clv_hull_get_view( hull );
        CHECK( view.vertex_count >= 8 );
        for ( uint32_t i = 0; i < 8; ++i )
        {
            // The middle one of the three squares across the axes, and the outline seen from above.
            math_vec3 p = octahedron_point( 8 + i );
            clv_vec3 corner = { (float)p.x, (float)p.y * height, (float)p.z };
            CHECK( to_hull( corner, view.vertices, view.vertex_count, PROMISE ) <= PROMISE );
        }
        clv_hull_destroy( hull );
    }
}

// ---- two of them

// Of two that do not touch: some pair of triangles has the two nearest points.
static double between( const cloud* a, const cloud* b, math_vec3 shift )
{
    double best = HUGE_VAL;
    for ( int side = 0; side < 2; ++side )
    {
        const cloud *from = side == 0 ? a : b, *to = side == 0 ? b : a;
        math_vec3 move = side == 0 ? math_neg( shift ) : shift;
        for ( uint32_t i = 0; i < from->count; ++i )
        {
            math_vec3 p = math_add( math_widen( from->points[i] ), move );
            for ( uint32_t k = 0; k < to->count * to->count * to->count; ++k )
            {
                best = math_min( best,
                    to_triangle( p, math_widen( to->points[k / to->count / to->count] ),
                        math_widen( to->points[k / to->count % to->count] ),
                        math_widen( to->points[k % to->count] ) ) );
            }
        }
    }
    return best;
}

static double between_segments( math_vec3 a, math_vec3 b, math_vec3 c, math_vec3 d )
{
    math_vec3 u = math_sub( b, a ), v = math_sub( d, c ), w = math_sub( a, c );
    double uu = math_dot( u, u ), uv = math_dot( u, v ), vv = math_dot( v, v );
    double uw = math_dot( u, w ), vw = math_dot( v, w ), size = uu * vv - uv * uv;
    double best = math_min( math_min( to_segment( a, c, d ), to_segment( b, c, d ) ),
        math_min( to_segment( c, a, b ), to_segment( d, a, b ) ) );
    double s = ( uv * vw - vv * uw ) / size, t = ( uu * vw - uv * uw ) / size;
    if ( size > 0.0 && s >= 0.0 && s <= 1.0 && t >= 0.0 && t <= 1.0 )
    {
        math_vec3 apart = math_sub( math_add_scaled( w, u, s ), math_scale( v, t ) );
        best = math_min( best, math_length( apart ) );
    }
    return best;
}

static double between_edges( const cloud* a, const cloud* b, math_vec3 shift )
{
    double best = HUGE_VAL;
    for ( uint32_t i = 0; i < a->count * a->count; ++i )
    {
        math_vec3 from = math_widen( a->points[i / a->count] ), to = math_widen( a->points[i % a->count] );
        for ( uint32_t k = 0; k < b->count * b->count; ++k )
        {
            best = math_min( best,
                between_segments( from, to, math_add( math_widen( b->points[k / b->count] ), shift ),
                    math_add( math_widen( b->points[k % b->count] ), shift ) ) );
        }
    }
    return best;
}

static cloud make_small_cloud( math_random* random )
{
    static const cloud_kind kinds[4] = { KIND_BOX, KIND_HEXAGON, KIND_BLOB, KIND_WEDGE };
    cloud c = make_cloud( kinds[math_random_bits( random ) % 4], random );
    while ( c.count > 9 || !( math_largest( math_widen( c.points[0] ) ) < 10.0 ) ||
        diameter_of( c.points, c.count ) < 0.5 )
    {
        c = make_cloud( kinds[math_random_bits( random ) % 4], random );
    }
    return c;
}

static void distances_are_those_of_the_given_points( void )
{
    uint32_t pairs = test_scaled( 600 );
    for ( uint32_t seed = 1; seed <= pairs; ++seed )
    {
        test_where.seed = seed;
        math_random random = math_random_seed( seed );
        cloud a = make_small_cloud( &random ), b = make_small_cloud( &random );
        double size = diameter_of( a.points, a.count ) + diameter_of( b.points, b.count );
        clv_transform at_a = clv_identity_transform(), at_b = at_a;
        at_b.position = math_narrow( math_scale( math_random_direction( &random ),
            math_random_between( &random, 0.05, 1.5 ) * size + math_largest( math_widen( a.points[0] ) ) ) );
        math_vec3 shift = math_widen( at_b.position );
        clv_hull *hull_a = make_hull( &a ), *hull_b = make_hull( &b );
        clv_distance found;
        CHECK_OK( clv_shape_distance(
            clv_hull_shape( hull_a ), at_a, clv_hull_shape( hull_b ), at_b, NULL, &found ) );
        CHECK( found.converged );
        double expected = math_min( between( &a, &b, shift ), between_edges( &a, &b, shift ) );
        if ( !found.touching )
        {
            CHECK( math_abs( (double)found.distance - expected ) <= 2.0 * PROMISE * size );
        }
        else
        {
            // Triangles within others are near none of theirs; but no direction may part what touches.
            for ( int i = 0; i < 200; ++i )
            {
                math_vec3 n = math_random_direction( &random );
                double reach = -HUGE_VAL, start = HUGE_VAL;
                for ( uint32_t k = 0; k < a.count; ++k )
                {
                    reach = math_max( reach, math_dot( n, math_widen( a.points[k] ) ) );
                }
                for ( uint32_t k = 0; k < b.count; ++k )
                {
                    start = math_min( start, math_dot( n, math_add( math_widen( b.points[k] ), shift ) ) );
                }
                CHECK( start - reach <= 2.0 * PROMISE * size );
            }
        }
        clv_hull_destroy( hull_a );
        clv_hull_destroy( hull_b );
    }
}

// ---- hulls of every dimension, in every query

static clv_shape make_box_hull( clv_vec3 half )
{
    cloud c = { .count = 8 };
    for ( uint32_t i = 0; i < 8; ++i )
    {
        c.points[i].x = i & 1 ? half.x : -half.x;
        c.points[i].y = i & 2 ? half.y : -half.y;
        c.points[i].z = i & 4 ? half.z : -half.z;
    }
    return clv_hull_shape( make_hull( &c ) );
}

static clv_transform random_place( math_random* random, double spread )
{
    clv_transform at;
    at.position = math_narrow(
        math_scale( math_random_direction( random ), math_random_between( random, 0, spread ) ) );
    at.rotation = math_quat_narrow( math_random_rotation( random ) );
    return at;
}

static bool is_near( float a, float b, double slack )
{
    return math_abs( (double)a - (double)b ) <= slack;
}

static void check_volumes( clv_shape a, clv_shape b, clv_transform at, double slack )
{
    clv_aabb box[2];
    clv_dop18 dop[2];
    clv_sphere sphere[2];
    CHECK_OK( clv_shape_aabb( a, at, &box[0] ) );
    CHECK_OK( clv_shape_aabb( b, at, &box[1] ) );
    CHECK_OK( clv_shape_dop18( a, at, &dop[0] ) );
    CHECK_OK( clv_shape_dop18( b, at, &dop[1] ) );
    CHECK_OK( clv_shape_sphere( a, at, &sphere[0] ) );
    CHECK_OK( clv_shape_sphere( b, at, &sphere[1] ) );
    for ( int i = 0; i < CLV_DOP_AXIS_COUNT; ++i )
    {
        CHECK( is_near( dop[0].lower[i], dop[1].lower[i], slack ) &&
            is_near( dop[0].upper[i], dop[1].upper[i], slack ) );
    }
    CHECK( is_near( box[0].lower.x, box[1].lower.x, slack ) &&
        is_near( box[0].upper.z, box[1].upper.z, slack ) );
    CHECK( is_near( sphere[0].radius, sphere[1].radius, slack ) );
}

// The same answers for two shapes that are the same but for how they are written, against any third.
static void check_meeting(
    clv_shape a, clv_shape b, clv_transform at, clv_shape c, clv_transform at_c, double slack )
{
    clv_distance near[2];
    clv_contact deep[2], floor[2];
    bool touching[2];
    const clv_plane plane = { { 0, 1, 0 }, 0.25f };
    clv_vec3 reach[2], along = { 0.3f, -0.5f, 0.8f };
    for ( int i = 0; i < 2; ++i )
    {
        clv_shape shape = i == 0 ? a : b;
        CHECK_OK( clv_shape_distance( shape, at, c, at_c, NULL, &near[i] ) );
        CHECK_OK( clv_shape_overlap( shape, at, c, at_c, NULL, &touching[i] ) );
        CHECK_OK( clv_shape_contact( c, at_c, shape, at, NULL, &deep[i] ) );
        CHECK_OK( clv_shape_plane_contact( shape, at, plane, &floor[i] ) );
        CHECK_OK( clv_shape_support( shape, at, along, &reach[i] ) );
        CHECK( near[i].converged && touching[i] == near[i].touching && touching[i] == deep[i].touching );
    }
    CHECK( is_near( near[0].distance, near[1].distance, slack ) );
    CHECK( is_near( floor[0].depth, floor[1].depth, slack ) );
    double height =
        math_dot( math_widen( along ), math_sub( math_widen( reach[0] ), math_widen( reach[1] ) ) );
    CHECK( math_abs( height ) <= slack );
    // Whether thin bodies touch may hang on the last digit; not how deep they are in each other.
    if ( touching[0] && touching[1] && deep[0].converged && deep[1].converged )
    {
        CHECK( is_near( deep[0].depth, deep[1].depth, slack ) );
    }
    CHECK( touching[0] == touching[1] || ( !touching[0] ? near[0].distance : near[1].distance ) <= slack );
}

static void hulls_of_every_dimension_answer_as_boxes_do( void )
{
    static const clv_vec3 halves[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 0, 0.7f }, { 1, 0, 0.7f },
        { 0, 0.8f, 0.6f }, { 1, 0.4f, 0.7f }, { 1, 1e-7f, 0.7f }, { 1, 1e-9f, 1e-8f } };
    uint32_t meetings = test_scaled( 3000 );
    for ( uint32_t seed = 1; seed <= meetings; ++seed )
    {
        test_where.seed = seed;
        math_random random = math_random_seed( seed );
        clv_vec3 half = halves[seed % TEST_COUNT( halves )];
        clv_vec3 other = halves[seed / TEST_COUNT( halves ) % TEST_COUNT( halves )];
        clv_shape hull = make_box_hull( half ), box = clv_box_shape( half );
        clv_shape third = seed % 3 == 0 ? clv_box_shape( other ) : make_box_hull( other );
        hull.radius = box.radius = seed % 5 == 0 ? 0.2f : 0.0f;
        third.radius = seed % 7 == 0 ? 0.3f : 0.0f;
        clv_transform at = random_place( &random, 1.0 ), at_third = random_place( &random, 1.5 );
        check_volumes( hull, box, at, 1e-5 );
        check_meeting( hull, box, at, third, at_third, 1e-4 );
        clv_hull_destroy( (clv_hull*)(uintptr_t)hull.hull );
        clv_hull_destroy( (clv_hull*)(uintptr_t)third.hull );
    }
}

int main( int argc, char** argv )
{
    static const test_case cases[] = {
        TEST_CASE( thin_boxes_keep_their_corners ),
        TEST_CASE( rings_with_twins_are_climbed_to_the_top ),
        TEST_CASE( turned_hexagons_stay_hexagons ),
        TEST_CASE( turned_needles_are_segments ),
        TEST_CASE( flat_octahedra_keep_their_outline ),
        TEST_CASE( no_cloud_loses_a_point ),
        TEST_CASE( clouds_of_a_few_floats_lose_no_point ),
        TEST_CASE( distances_are_those_of_the_given_points ),
        TEST_CASE( hulls_of_every_dimension_answer_as_boxes_do ),
    };
    return test_run( "cloud", cases, TEST_COUNT( cases ), argc, argv );
}
