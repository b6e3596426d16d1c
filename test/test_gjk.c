// SPDX-License-Identifier: MIT
#include "cleave/narrow.h"
#include "narrow/core.h"
#include "shapes.h"
#include "support.h"

static bool is_near( double a, double b, double tolerance )
{
    return a - b <= tolerance && b - a <= tolerance;
}

static clv_distance ask( clv_shape a, clv_transform at_a, clv_shape b, clv_transform at_b )
{
    clv_distance d;
    CHECK_OK( clv_shape_distance( a, at_a, b, at_b, NULL, &d ) );
    return d;
}

// The distance is right if the points are that far apart and the plane through each, across the line between
// them, has the whole of its shape on its own side. No other pair of points can then be nearer.
static void check_certificate(
    clv_shape a, clv_transform at_a, clv_shape b, clv_transform at_b, clv_distance d )
{
    CHECK( d.converged );
    math_vec3 normal = math_widen( d.normal ), from = math_widen( d.point_a ), to = math_widen( d.point_b );
    CHECK( is_near( math_length( math_sub( to, from ) ), (double)d.distance, 1e-5 ) );
    CHECK( is_near( math_dot( normal, math_sub( to, from ) ), (double)d.distance, 1e-5 ) );
    CHECK( shapes_reach( a, at_a, normal ) <= math_dot( normal, from ) + 1e-5 );
    CHECK( shapes_reach( b, at_b, math_neg( normal ) ) <= -math_dot( normal, to ) + 1e-5 );
}

// ---- support

static void climbing_finds_what_looking_at_all_finds( void )
{
    clv_shape cloud = shapes_make( SHAPES_CLOUD ), octahedron = shapes_make( SHAPES_OCTAHEDRON );
    const clv_hull* hulls[2] = { cloud.hull, octahedron.hull };
    math_random random = math_random_seed( 11 );
    for ( int i = 0; i < 20000; ++i )
    {
        const clv_hull* hull = hulls[i % 2];
        math_vec3 direction = math_random_direction( &random );
        uint32_t start = (uint32_t)math_random_between( &random, 0, hull->vertex_count );
        uint32_t brute = clv_narrow_support_brute( hull, direction );
        uint32_t climbed = clv_narrow_support_climb( hull, direction, start );
        double best = math_dot( direction, math_widen( hull->vertices[brute] ) );
        CHECK( is_near( math_dot( direction, math_widen( hull->vertices[climbed] ) ), best, 1e-14 ) );
    }
}

static void support_is_on_the_skin( void )
{
    clv_vec3 point;
    clv_transform at = clv_transform_at( 1, 2, 3 );
    CHECK_OK( clv_shape_support( clv_sphere_shape( 2 ), at, ( clv_vec3 ){ 0, 5, 0 }, &point ) );
    CHECK( point.x == 1.0f && point.y == 4.0f && point.z == 3.0f );
    CHECK_OK(
        clv_shape_support( clv_box_shape( ( clv_vec3 ){ 1, 1, 1 } ), at, ( clv_vec3 ){ 1, -1, 1 }, &point ) );
    CHECK( point.x == 2.0f && point.y == 1.0f && point.z == 4.0f );
    CHECK_RESULT(
        clv_shape_support( clv_sphere_shape( 2 ), at, ( clv_vec3 ){ 0, 0, 0 }, &point ), CLV_BAD_ARGUMENT );
}

// ---- exact little cases

static void boxes_side_by_side( void )
{
    clv_shape box = clv_box_shape( ( clv_vec3 ){ 1, 1, 1 } );
    clv_distance d = ask( box, clv_transform_at( 0, 0, 0 ), box, clv_transform_at( 5, 0, 0 ) );
    CHECK( !d.touching && d.distance == 3.0f && d.normal.x == 1.0f && d.point_a.x == 1.0f &&
        d.point_b.x == 4.0f );
    d = ask( box, clv_transform_at( 0, 0, 0 ), box, clv_transform_at( 5, 6, 0 ) );
    CHECK( is_near( (double)d.distance, 5.0, 1e-6 ) );
    d = ask( box, clv_transform_at( 1e6f, 0, 0 ), box, clv_transform_at( 1e6f + 2.5f, 0, 0 ) );
    CHECK( d.distance == 0.5f );
}

static void touching_faces_edges_and_corners_touch( void )
{
    clv_shape shapes[2] = { clv_box_shape( ( clv_vec3 ){ 1, 1, 1 } ), { 0 } };
    clv_hull* hull = NULL;
    CHECK_OK( clv_hull_create_box( ( clv_vec3 ){ 1, 1, 1 }, &hull ) );
    shapes[1] = clv_hull_shape( hull );
    for ( int i = 0; i < 4; ++i )
    {
        clv_shape a = shapes[i & 1], b = shapes[i >> 1];
        bool touching = false;
        for ( int corner = 1; corner < 8; ++corner )
        {
            clv_transform at = clv_transform_at(
                corner & 1 ? 2.0f : 0.0f, corner & 2 ? 2.0f : 0.0f, corner & 4 ? 2.0f : 0.0f );
            CHECK( ask( a, clv_identity_transform(), b, at ).touching );
            CHECK_OK( clv_shape_overlap( a, clv_identity_transform(), b, at, NULL, &touching ) );
            CHECK( touching );
            clv_transform apart = at;
            apart.position.x *= 1.000001f, apart.position.y *= 1.000001f, apart.position.z *= 1.000001f;
            CHECK( !ask( a, clv_identity_transform(), b, apart ).touching );
            CHECK_OK( clv_shape_overlap( a, clv_identity_transform(), b, apart, NULL, &touching ) );
            CHECK( !touching );
        }
        CHECK( ask( a, clv_identity_transform(), b, clv_identity_transform() ).touching );
    }
    clv_hull_destroy( hull );
}

static void spheres_are_exact( void )
{
    math_random random = math_random_seed( 12 );
    for ( int i = 0; i < 20000; ++i )
    {
        clv_shape a = clv_sphere_shape( (float)math_random_between( &random, 0, 2 ) );
        clv_shape b = clv_sphere_shape( (float)math_random_between( &random, 0, 2 ) );
        clv_transform at_a = shapes_pose( &random, 2 ), at_b = shapes_pose( &random, 2 );
        double between = math_length( math_sub( math_widen( at_b.position ), math_widen( at_a.position ) ) );
        double gap = between - ( (double)a.radius + (double)b.radius );
        clv_distance d = ask( a, at_a, b, at_b );
        CHECK( d.touching == ( gap <= 0.0 ) );
        CHECK( is_near( (double)d.distance, math_max( gap, 0.0 ), 1e-6 ) );
        CHECK( d.round_count <= 2 );
    }
}

static void flat_and_pointlike_shapes_work( void )
{
    clv_shape square = shapes_make( SHAPES_SQUARE ), point = clv_sphere_shape( 0 );
    CHECK( ask( square, clv_transform_at( 0, 0, 0 ), point, clv_transform_at( 0.25f, 0.25f, 0 ) ).touching );
    CHECK( ask( square, clv_transform_at( 0, 0, 0 ), point, clv_transform_at( 0, 0, 2 ) ).distance == 2.0f );
    CHECK( ask( square, clv_transform_at( 0, 0, 0 ), square, clv_transform_at( 0, 0, 1 ) ).distance == 1.0f );
    CHECK( ask( square, clv_transform_at( 0, 0, 0 ), square, clv_transform_at( 2, 0, 0 ) ).touching );
    CHECK( ask( point, clv_transform_at( 1, 1, 1 ), point, clv_transform_at( 1, 1, 1 ) ).touching );
    CHECK( !ask( point, clv_transform_at( 1, 1, 1 ), point, clv_transform_at( 1, 1, 1.0000001f ) ).touching );
}

// ---- random pairs

static void boxes_agree_with_separating_axes( void )
{
    math_random random = math_random_seed( 13 );
    clv_vec3 half_a = { 1.0f, 0.6f, 1.4f }, half_b = { 0.5f, 2.0f, 0.7f };
    clv_shape a = clv_box_shape( half_a ), b = clv_box_shape( half_b );
    uint32_t count = test_scaled( 50000 ), touching_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_transform at_a = shapes_pose( &random, 1.5 ), at_b = shapes_pose( &random, 1.5 );
        double separation = shapes_box_separation( half_a, at_a, half_b, at_b );
        bool touching = false;
        CHECK_OK( clv_shape_overlap( a, at_a, b, at_b, NULL, &touching ) );
        CHECK( ask( a, at_a, b, at_b ).touching == touching );
        CHECK( is_near( separation, 0.0, 1e-9 ) || touching == ( separation < 0.0 ) );
        touching_count += touching ? 1 : 0;
    }
    CHECK( touching_count > count / 10 && touching_count < count - count / 10 );
}

static void every_distance_carries_its_proof( void )
{
    uint32_t count = test_scaled( 600 ), apart = 0;
    for ( uint32_t kinds = 0; kinds < SHAPES_KIND_COUNT * SHAPES_KIND_COUNT; ++kinds )
    {
        clv_shape a = shapes_make( kinds % SHAPES_KIND_COUNT ), b = shapes_make( kinds / SHAPES_KIND_COUNT );
        math_random random = math_random_seed( kinds );
        test_where.seed = kinds;
        for ( uint32_t i = 0; i < count; ++i )
        {
            clv_transform at_a = shapes_pose( &random, 2 ), at_b = shapes_pose( &random, 2 );
            clv_distance d = ask( a, at_a, b, at_b );
            if ( !d.touching )
            {
                check_certificate( a, at_a, b, at_b, d );
                apart += 1;
            }
        }
    }
    CHECK( apart > count * 10 );
}

// Touching shapes give a point of both.
static void touching_shapes_share_the_point( void )
{
    uint32_t count = test_scaled( 200 ), touching = 0;
    for ( uint32_t kinds = 0; kinds < SHAPES_KIND_COUNT * SHAPES_KIND_COUNT; ++kinds )
    {
        clv_shape a = shapes_make( kinds % SHAPES_KIND_COUNT ), b = shapes_make( kinds / SHAPES_KIND_COUNT );
        math_random random = math_random_seed( kinds );
        test_where.seed = kinds;
        for ( uint32_t i = 0; i < count; ++i )
        {
            clv_transform at_a = shapes_pose( &random, 0.7 ), at_b = shapes_pose( &random, 0.7 );
            clv_distance d = ask( a, at_a, b, at_b );
            if ( d.touching )
            {
                touching += 1;
                CHECK( math_length( math_sub( math_widen( d.point_a ), math_widen( d.point_b ) ) ) < 1e-6 );
                clv_transform there = { d.point_a, { 0, 0, 0, 1 } };
                CHECK( ask( a, at_a, clv_sphere_shape( 1e-6f ), there ).touching );
                CHECK( ask( b, at_b, clv_sphere_shape( 1e-6f ), there ).touching );
            }
        }
    }
    CHECK( touching > count * 16 );
}

// Faces that face each other squarely: the nearest point is anywhere on a patch, and simplices degenerate.
static void parallel_bodies_carry_their_proof( void )
{
    math_random random = math_random_seed( 14 );
    for ( uint32_t i = 0; i < test_scaled( 20000 ); ++i )
    {
        shapes_kind kind = (shapes_kind)( i % 4 );
        clv_shape a = shapes_make( kind ), b = a;
        clv_transform at_a = shapes_pose( &random, 2 ), at_b = at_a;
        math_pose pose = math_pose_widen( at_a );
        math_vec3 step = math_column( &pose.rotation, (int)( i / 4 % 3 ) );
        at_b.position =
            math_narrow( math_add_scaled( pose.position, step, math_random_between( &random, 1.5, 4 ) ) );
        clv_distance d = ask( a, at_a, b, at_b );
        if ( !d.touching )
        {
            check_certificate( a, at_a, b, at_b, d );
        }
    }
}

// A pair that moves: the cache must not change the answer, and saves rounds.
static void warm_starts_agree_with_cold_ones( void )
{
    uint64_t warm_rounds = 0, cold_rounds = 0;
    for ( uint32_t seed = 1; seed <= 200; ++seed )
    {
        math_random random = math_random_seed( seed );
        test_where.seed = seed;
        clv_shape a = shapes_make( seed % 2 ? SHAPES_OCTAHEDRON : SHAPES_CLOUD ),
                  b = shapes_make( SHAPES_RHOMBI );
        clv_transform at_a = shapes_pose( &random, 1 ), at_b = shapes_pose( &random, 3 );
        clv_pair_cache cache = { 0 };
        for ( uint32_t frame = 0; frame < 50; ++frame )
        {
            test_where.frame = frame;
            at_b.position.x += 0.01f, at_b.position.y -= 0.02f;
            at_b.rotation.x += 0.005f;
            clv_distance cold = ask( a, at_a, b, at_b ), warm;
            CHECK_OK( clv_shape_distance( a, at_a, b, at_b, &cache, &warm ) );
            CHECK( warm.touching == cold.touching );
            CHECK( is_near( (double)warm.distance, (double)cold.distance, 1e-6 ) );
            warm_rounds += warm.round_count, cold_rounds += cold.round_count;
        }
    }
    CHECK( warm_rounds * 4 < cold_rounds * 3 );
}

static void a_stale_cache_does_no_harm( void )
{
    clv_pair_cache cache = { 4, { 999, 3, 7, 0 }, { 1, 888, 2, 777 } };
    clv_shape a = shapes_make( SHAPES_OCTAHEDRON ), b = shapes_make( SHAPES_BOX );
    clv_distance warm, cold = ask( a, clv_transform_at( 0, 0, 0 ), b, clv_transform_at( 3, 1, 0 ) );
    CHECK_OK(
        clv_shape_distance( a, clv_transform_at( 0, 0, 0 ), b, clv_transform_at( 3, 1, 0 ), &cache, &warm ) );
    CHECK( warm.distance == cold.distance );
    cache.count = 12345;
    CHECK_OK(
        clv_shape_distance( a, clv_transform_at( 0, 0, 0 ), b, clv_transform_at( 3, 1, 0 ), &cache, &warm ) );
    CHECK( warm.distance == cold.distance );
}

// ---- what is refused

static void bad_shapes_and_transforms_are_refused( void )
{
    clv_shape good = clv_sphere_shape( 1 ), bad = clv_sphere_shape( -1 ), hull = clv_hull_shape( NULL );
    clv_transform here = clv_identity_transform(), lost = here, twisted = here;
    lost.position.y = INFINITY, twisted.rotation.w = NAN;
    clv_distance d;
    CHECK_RESULT( clv_shape_distance( good, here, bad, here, NULL, &d ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_shape_distance( hull, here, good, here, NULL, &d ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_shape_distance( good, lost, good, here, NULL, &d ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_shape_distance( good, here, good, twisted, NULL, &d ), CLV_BAD_ARGUMENT );
    bool touching;
    clv_contact contact;
    CHECK_RESULT( clv_shape_overlap( good, lost, good, here, NULL, &touching ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_shape_contact( bad, here, good, here, NULL, &contact ), CLV_BAD_ARGUMENT );
    bad = clv_box_shape( ( clv_vec3 ){ 1, NAN, 1 } );
    CHECK_RESULT( clv_shape_check( bad ), CLV_BAD_ARGUMENT );
    bad.kind = (clv_shape_kind)7;
    CHECK_RESULT( clv_shape_check( bad ), CLV_BAD_ARGUMENT );
}

int main( int argc, char** argv )
{
    static const test_case cases[] = {
        TEST_CASE( climbing_finds_what_looking_at_all_finds ),
        TEST_CASE( support_is_on_the_skin ),
        TEST_CASE( boxes_side_by_side ),
        TEST_CASE( touching_faces_edges_and_corners_touch ),
        TEST_CASE( spheres_are_exact ),
        TEST_CASE( flat_and_pointlike_shapes_work ),
        TEST_CASE( boxes_agree_with_separating_axes ),
        TEST_CASE( every_distance_carries_its_proof ),
        TEST_CASE( touching_shapes_share_the_point ),
        TEST_CASE( parallel_bodies_carry_their_proof ),
        TEST_CASE( warm_starts_agree_with_cold_ones ),
        TEST_CASE( a_stale_cache_does_no_harm ),
        TEST_CASE( bad_shapes_and_transforms_are_refused ),
    };
    return test_run( "gjk", cases, TEST_COUNT( cases ), argc, argv );
}
