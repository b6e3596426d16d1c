// SPDX-License-Identifier: MIT
// Queries at the ends of the range: far from the origin, with lines of a billion radii, with motions and
// coordinates next to the smallest and the greatest float. What is expected is worked out by hand or in long
// double, not by the library.
#include "support.h"

#include "base/double_double.h"
#include "query/query_shape.h"

#include "cleave/world_query.h"

#include <float.h>
#include <math.h>

static clv_space* space_of( const clv_aabb* boxes, uint32_t count )
{
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_OK( clv_space_add( space, boxes, count, NULL ) );
    CHECK_OK( clv_space_update( space ) );
    return space;
}

static clv_space* space64_of( const clv_aabb64* boxes, uint32_t count )
{
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    def.doubles = true;
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_OK( clv_space_add64( space, boxes, count, NULL ) );
    CHECK_OK( clv_space_update( space ) );
    return space;
}

static bool is_found( const clv_space* space, clv_queries queries )
{
    clv_hit hit;
    CHECK_OK( clv_space_query_any( space, &queries, &hit, NULL ) );
    return hit.index != CLV_NO_HIT;
}

// ---- turned boxes

// At 10^6 metres floats are 6 cm apart. The turned box reaches 5 / 3 of its half side up, to 1000000.27; the
// other begins at 1000000.3125, and no other axis tells them apart.
static void a_turned_box_far_away_is_decided_in_double( void )
{
    const clv_quat turned = { 1, 0.5f, 0, 2 };
    const clv_aabb box = test_box( -1, -1, 1000000.3125f, 1, 1, 1000002 );
    clv_space* space = space_of( &box, 1 );
    clv_oriented_box apart = { { 0, 0, 1e6f }, { 0.162f, 0.162f, 0.162f }, turned }, touching = apart;
    touching.half_size = ( clv_vec3 ){ 0.188f, 0.188f, 0.188f };
    CHECK( !is_found( space, clv_query_oriented_boxes( &apart, 1 ) ) );
    CHECK( is_found( space, clv_query_oriented_boxes( &touching, 1 ) ) );
    clv_space_destroy( space );
}

static void a_flat_turned_box_far_away_is_decided_in_double( void )
{
    const clv_aabb2 box = { { -1, 1000000.3125f }, { 1, 1000002 } };
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    def.flat = true;
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_OK( clv_space_add2( space, &box, 1, NULL ) );
    CHECK_OK( clv_space_update( space ) );
    clv_oriented_box2 apart = { { 0, 1e6f }, { 0.19f, 0.19f }, { 1, 1 } }, touching = apart;
    touching.half_size.y = 0.26f;
    CHECK( !is_found( space, clv_query_oriented_boxes2( &apart, 1 ) ) );
    CHECK( is_found( space, clv_query_oriented_boxes2( &touching, 1 ) ) );
    clv_space_destroy( space );
}

// The gap of two shadows on one axis, in long double and from the box's numbers as they are; negative: how
// deep they overlap.
static long double shadow_gap( const clv_oriented_box* turned, const long double axes[3][3],
    const clv_aabb* box, const long double along[3] )
{
    long double least = 0, most = 0, reach = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        long double n = along[axis], at = ( &turned->center.x )[axis], part = 0;
        long double lower = ( &box->lower.x )[axis] - at, upper = ( &box->upper.x )[axis] - at;
        least += n > 0 ? n * lower : n * upper;
        most += n > 0 ? n * upper : n * lower;
        for ( int i = 0; i < 3; ++i )
        {
            part += axes[axis][i] * along[i];
        }
        reach += fabsl( part ) * (long double)( &turned->half_size.x )[axis];
    }
    return least - reach > -most - reach ? least - reach : -most - reach;
}

// The largest gap on the axes of both boxes and of their edges.
static long double turned_gap( const clv_oriented_box* turned, const clv_aabb* box )
{
    long double x = turned->rotation.x, y = turned->rotation.y, z = turned->rotation.z,
                w = turned->rotation.w;
    long double size = sqrtl( x * x + y * y + z * z + w * w );
    x /= size;
    y /= size;
    z /= size;
    w /= size;
    const long double axes[3][3] = { { 1 - 2 * ( y * y + z * z ), 2 * ( x * y + w * z ),
                                         2 * ( x * z - w * y ) },
        { 2 * ( x * y - w * z ), 1 - 2 * ( x * x + z * z ), 2 * ( y * z + w * x ) },
        { 2 * ( x * z + w * y ), 2 * ( y * z - w * x ), 1 - 2 * ( x * x + y * y ) } };
    const long double own[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    long double most = -INFINITY;
    for ( int i = 0; i < 3; ++i )
    {
        most = fmaxl( most, shadow_gap( turned, axes, box, own[i] ) );
        most = fmaxl( most, shadow_gap( turned, axes, box, axes[i] ) );
        for ( int j = 0; j < 3; ++j )
        {
            int k = ( j + 1 ) % 3, l = ( j + 2 ) % 3;
            long double across[3] = { 0, 0, 0 }, length = hypotl( axes[i][k], axes[i][l] );
            across[k] = -axes[i][l] / length;
            across[l] = axes[i][k] / length;
            most = length > 1e-5L ? fmaxl( most, shadow_gap( turned, axes, box, across ) ) : most;
        }
    }
    return most;
}

static void turned_boxes_anywhere_are_where_they_are( void )
{
    test_random random = test_random_make( 31 );
    uint32_t met = 0;
    for ( uint32_t i = 0; i < test_scaled( 4000 ); ++i )
    {
        float far = powf( 10, test_random_between( &random, 0, 9 ) ), unit = far * 1e-6f;
        clv_oriented_box turned = { { far, -far, test_random_between( &random, -far, far ) },
            { unit * test_random_between( &random, 0, 1 ), unit,
                unit * test_random_between( &random, 0, 3 ) },
            { test_random_between( &random, -1, 1 ), test_random_between( &random, -1, 1 ),
                test_random_between( &random, -1, 1 ), test_random_between( &random, -1, 1 ) } };
        clv_aabb box = test_cube( turned.center.x + unit * test_random_between( &random, -2, 2 ),
            turned.center.y + unit * test_random_between( &random, -2, 2 ),
            turned.center.z + unit * test_random_between( &random, -2, 2 ), unit );
        long double gap = turned_gap( &turned, &box );
        clv_space* space = space_of( &box, 1 );
        if ( fabsl( gap ) > 1e-12L * (long double)unit )
        {
            CHECK( is_found( space, clv_query_oriented_boxes( &turned, 1 ) ) == ( gap < 0 ) );
        }
        met += gap < 0;
        clv_space_destroy( space );
    }
    CHECK( met > test_scaled( 4000 ) / 20 );
}

// ---- long capsules

// A line from ( -n, -n ) to ( n + 1, n ) and the edge ( 0, h ) of a box above it: what it is apart, in closed
// form that cancels nothing.
static double distance_of_edge( double n, double h )
{
    double k = 1 / ( 2 * n ), length = sqrt( ( 1 + k ) * ( 1 + k ) + 1 );
    return ( 0.5 + h + h * k ) / length;
}

static void a_capsule_of_a_billion_radii_comes_in_time( void )
{
    const clv_aabb64 box = { { -1, 3, -1 }, { 0, 4, 1 } }; // its edge ( 0, 3 ) is lowest and to the right
    clv_space* space = space64_of( &box, 1 );
    for ( double n = 1; n <= 0x1p48; n *= 2 )
    {
        double k = 1 / ( 2 * n ), up = ( 1 + k ) / sqrt( ( 1 + k ) * ( 1 + k ) + 1 );
        for ( double radius = 1; radius >= 1e-6; radius /= 1000 )
        {
            clv_capsule_cast64 cast = { { { -n, -n, 0 }, { n + 1, n, 0 }, radius }, { 0, 0.25, 0 },
                INFINITY };
            clv_queries64 queries = clv_query_capsule_casts64( &cast, 1 );
            clv_hit64 hit;
            double expected = ( distance_of_edge( n, 3 ) - radius ) / ( 0.25 * up );
            CHECK_OK( clv_space_query_closest64( space, &queries, &hit, NULL ) );
            CHECK_EQUAL( hit.index, 0 );
            CHECK( fabs( hit.t - expected ) <= 4e-12 * expected );
        }
    }
    clv_space_destroy( space );
}

static void a_capsule_of_a_billion_radii_ends_at_its_radius( void )
{
    const clv_aabb64 box = { { -1, 3, -1 }, { 0, 4, 1 } };
    clv_space* space = space64_of( &box, 1 );
    for ( double n = 1; n <= 0x1p48; n *= 2 )
    {
        double distance = distance_of_edge( n, 3 );
        for ( int is_near = 0; is_near < 2; ++is_near )
        {
            double radius = distance * ( is_near ? 1 + 1e-14 : 1 - 1e-14 );
            clv_capsule64 capsule = { { -n, -n, 0 }, { n + 1, n, 0 }, radius };
            clv_queries64 queries = clv_query_capsules64( &capsule, 1 );
            clv_hit64 hit;
            CHECK_OK( clv_space_query_any64( space, &queries, &hit, NULL ) );
            CHECK( ( hit.index == 0 ) == is_near );
        }
    }
    clv_space_destroy( space );
}

// A line without a radius meets an edge between their ends: the last step of Newton's method leaves a gap of
// rounding alone.
static void a_line_without_a_radius_meets_edges( void )
{
    test_random random = test_random_make( 32 );
    for ( int i = 0; i < 2000; ++i )
    {
        clv_aabb box = test_box( -3, -3, -3, 0, 0, 3 );
        float along = test_random_between( &random, 0.1f, 2 ), up = test_random_between( &random, -1, 1 );
        // Beside the edge ( 0, 0, z ) and across it, so that it is met between the ends of both.
        clv_capsule_cast cast = { { { 1 + along, 1 - along, -up }, { 1 - along, 1 + along, up }, 0 },
            { -0.7f, -0.6f, test_random_between( &random, -1, 1 ) }, INFINITY };
        clv_space* space = space_of( &box, 1 );
        clv_queries queries = clv_query_capsule_casts( &cast, 1 );
        clv_hit hit;
        CHECK_OK( clv_space_query_closest( space, &queries, &hit, NULL ) );
        CHECK_EQUAL( hit.index, 0 );
        CHECK( fabsf( hit.t - 2 / 1.3f ) < 1e-5f );
        clv_space_destroy( space );
    }
}

// ---- the smallest and the greatest floats

static void check_time( const clv_space* space, clv_queries queries, float expected )
{
    clv_hit hit;
    CHECK_OK( clv_space_query_closest( space, &queries, &hit, NULL ) );
    CHECK_EQUAL( hit.index, 0 );
    CHECK( fabsf( hit.t - expected ) <= 1e-6f * expected );
}

static void a_motion_of_denormals_arrives( void )
{
    const clv_aabb box = test_box( 0.125f, -1, -1, 1, 1, 1 );
    clv_space* space = space_of( &box, 1 );
    for ( float motion = 1e-39f; motion > 1e-40f; motion /= 1.5f )
    {
        clv_sphere_cast sphere = { { { 0, 0, 0 }, 0.09375f }, { motion, 0, 0 }, INFINITY };
        clv_capsule_cast capsule = { { { 0, -9, 0 }, { 0, 9, 0 }, 0.09375f }, { motion, 1, 0 }, INFINITY };
        check_time( space, clv_query_sphere_casts( &sphere, 1 ), 0.03125f / motion );
        capsule.motion.y = 0;
        check_time( space, clv_query_capsule_casts( &capsule, 1 ), 0.03125f / motion );
    }
    clv_space_destroy( space );
}

static void a_sphere_crosses_all_floats( void )
{
    const clv_aabb box = test_box( 2e38f, -1e30f, -1e30f, 3e38f, 1e30f, 1e30f );
    clv_space* space = space_of( &box, 1 );
    clv_sphere_cast sphere = { { { -2e38f, 0, 0 }, 1 }, { 1e38f, 0, 0 }, INFINITY };
    clv_capsule_cast capsule = { { { -2e38f, 0, 0 }, { -3e38f, 0, 0 }, 1 }, { 1e38f, 0, 0 }, INFINITY };
    clv_capsule line = { { -3e38f, 0, 0 }, { 3e38f, 0, 0 }, 1 },
                beside = { { -3e38f, 2e30f, 0 }, { 3e38f, 2e30f, 0 }, 1 };
    clv_sphere large = { { -2e38f, 0, 0 }, FLT_MAX };
    check_time( space, clv_query_sphere_casts( &sphere, 1 ), 4 );
    check_time( space, clv_query_capsule_casts( &capsule, 1 ), 4 );
    sphere.motion.x = FLT_MAX;
    check_time( space, clv_query_sphere_casts( &sphere, 1 ), (float)( 4e38 / (double)FLT_MAX ) );
    sphere.motion.x = -1e38f;
    CHECK( !is_found( space, clv_query_sphere_casts( &sphere, 1 ) ) );
    CHECK( is_found( space, clv_query_capsules( &line, 1 ) ) );
    CHECK( !is_found( space, clv_query_capsules( &beside, 1 ) ) );
    CHECK( !is_found( space, clv_query_spheres( &large, 1 ) ) );
    large.center.x = -1e38f;
    CHECK( is_found( space, clv_query_spheres( &large, 1 ) ) );
    clv_space_destroy( space );
}

static void the_last_time_is_the_greatest_float( void )
{
    const clv_aabb box = test_box( FLT_MAX, -1, -1, FLT_MAX, 1, 1 );
    clv_space* space = space_of( &box, 1 );
    clv_sphere_cast sphere = { { { 0, 0, 0 }, 0 }, { 1, 0, 0 }, INFINITY };
    check_time( space, clv_query_sphere_casts( &sphere, 1 ), FLT_MAX );
    sphere.motion.x = 0.99f;
    CHECK( !is_found( space, clv_query_sphere_casts( &sphere, 1 ) ) );
    clv_space_destroy( space );
}

static bool end_at_half( const clv_space* space, uint32_t query, clv_hit hit, float* reach, void* user )
{
    (void)space;
    (void)query;
    (void)hit;
    (void)user;
    *reach = 0.5f;
    return true;
}

// A hit of a capsule that stands still has no time: a reach that a callback shortens keeps all of them.
static void a_callback_does_not_shorten_a_still_capsule( void )
{
    clv_aabb boxes[40];
    for ( int i = 0; i < 40; ++i )
    {
        boxes[i] = test_cube( ( (float)i - 20 ) * 1.5e37f, 0, 0, 1e36f );
    }
    clv_space* space = space_of( boxes, 40 );
    clv_capsule line = { { -3e38f, 0, 0 }, { 3e38f, 0, 0 }, 1 };
    clv_queries queries = clv_query_capsules( &line, 1 );
    queries.callback = end_at_half;
    clv_hit hits[40];
    clv_query_lists lists = { NULL, hits, 40, 0, 0 };
    CHECK_OK( clv_space_query_all( space, &queries, &lists ) );
    CHECK_EQUAL( lists.count, 40 );
    clv_space_destroy( space );
}

// ---- twice the bits

static void sums_of_two_doubles_keep_what_doubles_lose( void )
{
    test_random random = test_random_make( 33 );
    for ( int i = 0; i < 1000; ++i )
    {
        double_double a = dd_sum( (double)test_random_between( &random, 1, 2 ), 1e-20 );
        double_double b = dd_sum( (double)test_random_between( &random, 1, 2 ), -3e-19 );
        double_double product = dd_multiply( a, b ), root = dd_root( product );
        CHECK( fabs( dd_round( dd_subtract( dd_divide( product, b ), a ) ) ) < 1e-30 );
        CHECK( fabs( dd_round( dd_subtract( dd_multiply( root, root ), product ) ) ) < 1e-30 );
        CHECK( dd_round( dd_subtract( dd_add( a, b ), b ) ) == dd_round( a ) );
    }
    CHECK( dd_root( dd_of( 0 ) ).high == 0 );
    CHECK( dd_is_less( dd_of( 1 ), dd_sum( 1, 1e-30 ) ) && dd_is_less( dd_of( -INFINITY ), dd_of( 0 ) ) );
}

// Where both have enough bits they agree.
static void short_lines_agree_in_both_precisions( void )
{
    test_random random = test_random_make( 34 );
    for ( int i = 0; i < 2000; ++i )
    {
        clv_aabb box = test_crowd_box( i % 4 == 0 ? TEST_CROWD_MIXED : TEST_CROWD_SPREAD, 9, &random );
        clv_aabb64 wide = query_widen( &box );
        query_capsule c = { .radius = (double)test_random_between( &random, 0.01f, 2 ) };
        double motion[3], time = 0, other = 0;
        for ( int axis = 0; axis < 3; ++axis )
        {
            c.a[axis] = (double)test_random_between( &random, -5, 5 );
            c.b[axis] = (double)test_random_between( &random, -5, 5 );
            motion[axis] = (double)test_random_between( &random, -1, 1 );
        }
        CHECK( clv_query_capsule_meets( &c, &wide ) == clv_query_line_meets( &c, &wide ) );
        bool is_met = clv_query_capsule_cast( &c, motion, 20, &wide, &time );
        CHECK( is_met == clv_query_line_cast( &c, motion, 20, &wide, &other ) );
        CHECK( !is_met || fabs( time - other ) <= 1e-9 * other );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_turned_box_far_away_is_decided_in_double ),
        TEST_CASE( a_flat_turned_box_far_away_is_decided_in_double ),
        TEST_CASE( turned_boxes_anywhere_are_where_they_are ),
        TEST_CASE( a_capsule_of_a_billion_radii_comes_in_time ),
        TEST_CASE( a_capsule_of_a_billion_radii_ends_at_its_radius ),
        TEST_CASE( a_line_without_a_radius_meets_edges ),
        TEST_CASE( a_motion_of_denormals_arrives ),
        TEST_CASE( a_sphere_crosses_all_floats ),
        TEST_CASE( the_last_time_is_the_greatest_float ),
        TEST_CASE( a_callback_does_not_shorten_a_still_capsule ),
        TEST_CASE( sums_of_two_doubles_keep_what_doubles_lose ),
        TEST_CASE( short_lines_agree_in_both_precisions ),
    };
    return test_run( "query_ends", cases, TEST_COUNT( cases ), argc, argv );
}
