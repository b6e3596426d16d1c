// SPDX-License-Identifier: MIT
#include "cleave/narrow.h"
#include "shapes.h"
#include "support.h"

static bool is_near( double a, double b, double tolerance )
{
    return a - b <= tolerance && b - a <= tolerance;
}

static clv_contact ask( clv_shape a, clv_transform at_a, clv_shape b, clv_transform at_b )
{
    clv_contact c;
    CHECK_OK( clv_shape_contact( a, at_a, b, at_b, NULL, &c ) );
    return c;
}

// Moving b by depth * normal parts them and no less along that normal would; the points lie on both surfaces.
static void check_contact( clv_shape a, clv_transform at_a, clv_shape b, clv_transform at_b, clv_contact c )
{
    math_vec3 n = math_widen( c.normal ), pa = math_widen( c.point_a ), pb = math_widen( c.point_b );
    double depth = (double)c.depth;
    CHECK( c.converged && depth >= 0.0 && is_near( math_length( n ), 1.0, 1e-6 ) );
    double reach_a = shapes_reach( a, at_a, n ), reach_b = shapes_reach( b, at_b, math_neg( n ) );
    CHECK( is_near( reach_a + reach_b, depth, 1e-5 ) );
    CHECK( math_length( math_sub( math_sub( pa, pb ), math_scale( n, depth ) ) ) < 1e-5 );
    CHECK( is_near( math_dot( n, pa ), reach_a, 1e-5 ) && is_near( -math_dot( n, pb ), reach_b, 1e-5 ) );
}

// ---- exact little cases

static void boxes_overlapping_by_a_slice( void )
{
    clv_shape box = clv_box_shape( ( clv_vec3 ){ 1, 1, 1 } );
    clv_contact c = ask( box, clv_identity_transform(), box, clv_transform_at( 0.5f, 1.75f, 0.25f ) );
    CHECK( c.touching && is_near( (double)c.depth, 0.25, 1e-9 ) && c.normal.y == 1.0f );
    CHECK( c.point_a.y == 1.0f && c.point_b.y == 0.75f );
    c = ask( box, clv_transform_at( 0.5f, 1.75f, 0.25f ), box, clv_identity_transform() );
    CHECK( is_near( (double)c.depth, 0.25, 1e-9 ) && c.normal.y == -1.0f );
    c = ask( box, clv_identity_transform(), box, clv_transform_at( 0, 3, 0 ) );
    CHECK( !c.touching && c.depth == 0.0f );
}

static void the_same_body_twice_is_two_deep( void )
{
    clv_shape box = clv_box_shape( ( clv_vec3 ){ 3, 1, 2 } );
    clv_contact c = ask( box, clv_identity_transform(), box, clv_identity_transform() );
    CHECK( is_near( (double)c.depth, 2.0, 1e-9 ) && fabsf( c.normal.y ) == 1.0f );
    math_random random = math_random_seed( 21 );
    for ( int kind = 0; kind < SHAPES_KIND_COUNT; ++kind )
    {
        for ( int i = 0; i < 100; ++i )
        {
            clv_shape shape = shapes_make( (shapes_kind)kind );
            clv_transform at = shapes_pose( &random, 2 );
            c = ask( shape, at, shape, at );
            CHECK( c.touching );
            check_contact( shape, at, shape, at, c );
        }
    }
}

static void touching_is_depth_zero( void )
{
    clv_shape box = clv_box_shape( ( clv_vec3 ){ 1, 1, 1 } );
    for ( int corner = 1; corner < 8; ++corner )
    {
        clv_transform at =
            clv_transform_at( corner & 1 ? 2.0f : 0.0f, corner & 2 ? 2.0f : 0.0f, corner & 4 ? 2.0f : 0.0f );
        clv_contact c = ask( box, clv_identity_transform(), box, at );
        CHECK( c.touching && is_near( (double)c.depth, 0.0, 1e-9 ) );
        check_contact( box, clv_identity_transform(), box, at, c );
    }
}

static void spheres_are_exact( void )
{
    math_random random = math_random_seed( 22 );
    for ( int i = 0; i < 20000; ++i )
    {
        clv_shape a = clv_sphere_shape( (float)math_random_between( &random, 0.5, 2 ) );
        clv_shape b = clv_sphere_shape( (float)math_random_between( &random, 0.5, 2 ) );
        clv_transform at_a = shapes_pose( &random, 1 ), at_b = shapes_pose( &random, 1 );
        double between = math_length( math_sub( math_widen( at_b.position ), math_widen( at_a.position ) ) );
        double depth = (double)a.radius + (double)b.radius - between;
        clv_contact c = ask( a, at_a, b, at_b );
        CHECK( c.touching == ( depth >= 0.0 ) );
        if ( c.touching )
        {
            CHECK( is_near( (double)c.depth, depth, 1e-6 ) );
            check_contact( a, at_a, b, at_b, c );
        }
    }
    clv_shape sphere = clv_sphere_shape( 1 );
    clv_contact c = ask( sphere, clv_transform_at( 1, 1, 1 ), sphere, clv_transform_at( 1, 1, 1 ) );
    CHECK( c.touching && c.depth == 2.0f && c.converged );
}

static void flat_shapes_touch_without_depth( void )
{
    clv_shape square = shapes_make( SHAPES_SQUARE ), point = clv_sphere_shape( 0 );
    clv_contact c = ask( square, clv_identity_transform(), point, clv_transform_at( 0.1f, 0.2f, 0 ) );
    CHECK( c.touching && c.depth == 0.0f && c.converged && fabsf( c.normal.z ) == 1.0f );
    c = ask( square, clv_identity_transform(), square, clv_transform_at( 0.3f, 0.2f, 0 ) );
    CHECK( c.touching && c.depth == 0.0f && fabsf( c.normal.z ) == 1.0f );
    c = ask( point, clv_identity_transform(), point, clv_identity_transform() );
    CHECK( c.touching && c.depth == 0.0f && c.converged );
    clv_shape ball = clv_sphere_shape( 0.5f ); // its centre in the square: out through either side
    c = ask( square, clv_identity_transform(), ball, clv_transform_at( 0.1f, 0.2f, 0 ) );
    CHECK( c.touching && c.depth == 0.5f && fabsf( c.normal.z ) == 1.0f );
}

static void a_skin_adds_to_the_depth( void )
{
    clv_shape box = clv_box_shape( ( clv_vec3 ){ 1, 1, 1 } ), round = box;
    round.radius = 0.25f;
    clv_contact c = ask( box, clv_identity_transform(), round, clv_transform_at( 0, 2.125f, 0 ) );
    CHECK( c.touching && is_near( (double)c.depth, 0.125, 1e-7 ) && c.epa_round_count == 0 );
    c = ask( box, clv_identity_transform(), round, clv_transform_at( 0, 1.5f, 0 ) );
    CHECK( is_near( (double)c.depth, 0.75, 1e-7 ) && c.epa_round_count > 0 );
}

// ---- against other judges

static void boxes_agree_with_separating_axes( void )
{
    math_random random = math_random_seed( 23 );
    clv_vec3 half_a = { 1.0f, 0.6f, 1.4f }, half_b = { 0.5f, 2.0f, 0.7f };
    clv_shape a = clv_box_shape( half_a ), b = clv_box_shape( half_b );
    uint32_t touching = 0;
    for ( uint32_t i = 0; i < test_scaled( 50000 ); ++i )
    {
        clv_transform at_a = shapes_pose( &random, 1 ), at_b = shapes_pose( &random, 1 );
        clv_contact c = ask( a, at_a, b, at_b );
        if ( c.touching )
        {
            touching += 1;
            double depth = -shapes_box_separation( half_a, at_a, half_b, at_b );
            CHECK( is_near( (double)c.depth, depth, 2e-6 ) );
            check_contact( a, at_a, b, at_b, c );
        }
    }
    CHECK( touching > test_scaled( 50000 ) / 5 );
}

static void hulls_agree_with_separating_axes( void )
{
    const shapes_kind kinds[3] = { SHAPES_OCTAHEDRON, SHAPES_RHOMBI, SHAPES_BOX_HULL };
    for ( uint32_t seed = 0; seed < 9; ++seed )
    {
        test_where.seed = seed;
        math_random random = math_random_seed( seed );
        clv_shape a = shapes_make( kinds[seed % 3] ), b = shapes_make( kinds[seed / 3] );
        for ( uint32_t i = 0; i < test_scaled( 40 ); ++i )
        {
            clv_transform at_a = shapes_pose( &random, 0.8 ), at_b = shapes_pose( &random, 0.8 );
            clv_contact c = ask( a, at_a, b, at_b );
            double separation = shapes_hull_separation( a.hull, at_a, b.hull, at_b );
            CHECK( c.touching == ( separation <= 0.0 ) );
            if ( c.touching )
            {
                CHECK( is_near( (double)c.depth, -separation, 2e-6 ) );
            }
        }
    }
}

static void every_contact_parts_the_shapes( void )
{
    uint32_t touching = 0;
    for ( uint32_t kinds = 0; kinds < SHAPES_KIND_COUNT * SHAPES_KIND_COUNT; ++kinds )
    {
        clv_shape a = shapes_make( kinds % SHAPES_KIND_COUNT ), b = shapes_make( kinds / SHAPES_KIND_COUNT );
        math_random random = math_random_seed( kinds );
        test_where.seed = kinds;
        for ( uint32_t i = 0; i < test_scaled( 600 ); ++i )
        {
            clv_transform at_a = shapes_pose( &random, 0.7 ), at_b = shapes_pose( &random, 0.7 );
            clv_contact c = ask( a, at_a, b, at_b );
            if ( c.touching )
            {
                check_contact( a, at_a, b, at_b, c );
                touching += 1;
            }
        }
    }
    CHECK( touching > test_scaled( 600 ) * 16 );
}

// The worst for an expansion: differences full of parallel edges and coplanar faces.
static void parallel_bodies_part_too( void )
{
    math_random random = math_random_seed( 24 );
    for ( uint32_t i = 0; i < test_scaled( 20000 ); ++i )
    {
        clv_shape shape = shapes_make( (shapes_kind)( i % 4 ) );
        clv_transform at_a = shapes_pose( &random, 2 ), at_b = at_a;
        math_pose pose = math_pose_widen( at_a );
        math_vec3 step =
            i % 3 == 0 ? math_column( &pose.rotation, (int)( i / 3 % 3 ) ) : math_random_direction( &random );
        at_b.position =
            math_narrow( math_add_scaled( pose.position, step, math_random_between( &random, 0, 1.2 ) ) );
        clv_contact c = ask( shape, at_a, shape, at_b );
        CHECK( c.touching );
        check_contact( shape, at_a, shape, at_b, c );
    }
}

// ---- the floor

static void plane_contacts_are_the_lowest_vertex( void )
{
    clv_plane floor = { { 0, 1, 0 }, 0 };
    clv_contact c;
    CHECK_OK( clv_shape_plane_contact(
        clv_box_shape( ( clv_vec3 ){ 1, 1, 1 } ), clv_transform_at( 0, 0.75f, 0 ), floor, &c ) );
    CHECK( c.touching && c.depth == 0.25f && c.normal.y == -1.0f && c.point_a.y == -0.25f &&
        c.point_b.y == 0.0f );
    CHECK_OK( clv_shape_plane_contact( clv_sphere_shape( 1 ), clv_transform_at( 0, 1, 0 ), floor, &c ) );
    CHECK( c.touching && c.depth == 0.0f );
    CHECK_OK( clv_shape_plane_contact( clv_sphere_shape( 1 ), clv_transform_at( 0, 1.001f, 0 ), floor, &c ) );
    CHECK( !c.touching );
    math_random random = math_random_seed( 25 );
    for ( int i = 0; i < 5000; ++i )
    {
        clv_shape shape = shapes_make( (shapes_kind)( i % SHAPES_KIND_COUNT ) );
        clv_transform at = shapes_pose( &random, 2 );
        clv_plane plane = { math_narrow( math_random_direction( &random ) ), 0.5f };
        CHECK_OK( clv_shape_plane_contact( shape, at, plane, &c ) );
        double depth = 0.5 + shapes_reach( shape, at, math_neg( math_widen( plane.normal ) ) );
        CHECK( is_near( depth, 0.0, 1e-6 ) || c.touching == ( depth > 0.0 ) );
        CHECK( !c.touching || is_near( (double)c.depth, depth, 1e-6 ) );
    }
    floor.offset = NAN;
    CHECK_RESULT( clv_shape_plane_contact( clv_sphere_shape( 1 ), clv_identity_transform(), floor, &c ),
        CLV_BAD_ARGUMENT );
}

int main( int argc, char** argv )
{
    static const test_case cases[] = {
        TEST_CASE( boxes_overlapping_by_a_slice ),
        TEST_CASE( the_same_body_twice_is_two_deep ),
        TEST_CASE( touching_is_depth_zero ),
        TEST_CASE( spheres_are_exact ),
        TEST_CASE( flat_shapes_touch_without_depth ),
        TEST_CASE( a_skin_adds_to_the_depth ),
        TEST_CASE( boxes_agree_with_separating_axes ),
        TEST_CASE( hulls_agree_with_separating_axes ),
        TEST_CASE( every_contact_parts_the_shapes ),
        TEST_CASE( parallel_bodies_part_too ),
        TEST_CASE( plane_contacts_are_the_lowest_vertex ),
    };
    return test_run( "epa", cases, TEST_COUNT( cases ), argc, argv );
}
