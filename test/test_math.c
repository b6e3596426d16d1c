// SPDX-License-Identifier: MIT
#include "math/orient.h"
#include "math/splitmix.h"
#include "solid/solid_polar.h"
#include "support.h"

static bool is_near( double a, double b, double tolerance )
{
    return a - b <= tolerance && b - a <= tolerance;
}

static double matrix_difference( const math_mat3* a, const math_mat3* b )
{
    double largest = 0.0;
    for ( int i = 0; i < 9; ++i )
    {
        largest = math_max( largest, math_abs( a->m[i / 3][i % 3] - b->m[i / 3][i % 3] ) );
    }
    return largest;
}

static double off_rotation( const math_mat3* r )
{
    math_mat3 transposed = math_transpose( r ), identity = math_identity();
    math_mat3 product = math_multiply( &transposed, r );
    return matrix_difference( &product, &identity );
}

static math_mat3 random_matrix( math_random* random )
{
    math_mat3 a;
    for ( int i = 0; i < 9; ++i )
    {
        a.m[i / 3][i % 3] = math_random_between( random, -1, 1 );
    }
    return a;
}

static math_mat3 random_symmetric( math_random* random )
{
    math_mat3 a = random_matrix( random );
    a.m[1][0] = a.m[0][1], a.m[2][0] = a.m[0][2], a.m[2][1] = a.m[1][2];
    return a;
}

// ---- vectors and quaternions

static void cross_product_is_right_handed( void )
{
    math_vec3 z = math_cross( math_make( 1, 0, 0 ), math_make( 0, 1, 0 ) );
    CHECK( z.x == 0.0 && z.y == 0.0 && z.z == 1.0 );
}

static void normalize_keeps_tiny_and_huge_vectors( void )
{
    math_vec3 otherwise = { 0, 1, 0 };
    CHECK(
        is_near( math_length( math_normalize( math_make( 3e-200, 4e-200, 0 ), otherwise ) ), 1.0, 1e-15 ) );
    CHECK(
        is_near( math_length( math_normalize( math_make( 3e200, 4e200, 1e200 ), otherwise ) ), 1.0, 1e-15 ) );
    CHECK( math_normalize( math_make( 0, 0, 0 ), otherwise ).y == 1.0 );
}

static void perpendicular_is_unit_and_at_right_angles( void )
{
    math_random random = math_random_seed( 1 );
    for ( int i = 0; i < 1000; ++i )
    {
        math_vec3 v = math_random_direction( &random ), p = math_perpendicular( v );
        CHECK( is_near( math_length( p ), 1.0, 1e-14 ) && is_near( math_dot( v, p ), 0.0, 1e-14 ) );
    }
}

static void quaternion_and_matrix_are_the_same_rotation( void )
{
    math_random random = math_random_seed( 2 );
    for ( int i = 0; i < 10000; ++i )
    {
        math_quat q = math_random_rotation( &random );
        if ( i % 4 == 0 )
        {
            q.w = 0.0; // half turns, where the trace says nothing
            q = math_quat_normalize( q );
        }
        math_mat3 m = math_quat_matrix( q );
        math_quat back = math_quat_from_matrix( &m );
        math_mat3 again = math_quat_matrix( back );
        CHECK( matrix_difference( &m, &again ) < 1e-14 );
        CHECK( back.w >= 0.0 );
        CHECK( is_near( math_determinant( &m ), 1.0, 1e-14 ) && off_rotation( &m ) < 1e-14 );
    }
}

static void a_quaternion_of_no_length_is_no_rotation( void )
{
    CHECK( math_quat_normalize( math_quat_make( 0, 0, 0, 0 ) ).w == 1.0 );
    CHECK( math_quat_normalize( math_quat_make( NAN, 0, 0, 1 ) ).w == 1.0 );
    CHECK( math_quat_normalize( math_quat_make( 0, INFINITY, 0, 1 ) ).w == 1.0 );
}

// ---- eigenvalues

// Figure 4.2 of the k-DOP paper, printed in no particular order; an eigenvector's sign is free.
static void eigen_of_figure_4_2( void )
{
    math_mat3 m = { { { 4, 2, 0 }, { 2, 5, 3 }, { 0, 3, 6 } } };
    double values[3] = { 8.9089, 4.6395, 1.4516 };
    math_vec3 vectors[3] = { { 0.27285, 0.6697, 0.69069 }, { 0.79072, 0.25284, -0.55753 },
        { -0.54801, 0.69826, -0.46056 } };
    math_eigen eigen = math_eigen_symmetric( &m );
    CHECK( eigen.converged );
    for ( int i = 0; i < 3; ++i )
    {
        CHECK( is_near( eigen.values[i], values[i], 5.1e-5 ) );
        CHECK( is_near( math_abs( math_dot( math_column( &eigen.vectors, i ), vectors[i] ) ), 1.0, 2e-5 ) );
    }
}

static void eigenvectors_are_a_rotation_that_diagonalises( void )
{
    math_random random = math_random_seed( 4 );
    for ( int i = 0; i < 20000; ++i )
    {
        math_mat3 m = random_symmetric( &random );
        math_eigen eigen = math_eigen_symmetric( &m );
        CHECK( eigen.converged && eigen.round_count <= 16 );
        CHECK( eigen.values[0] >= eigen.values[1] && eigen.values[1] >= eigen.values[2] );
        CHECK( off_rotation( &eigen.vectors ) < 1e-14 );
        CHECK( is_near( math_determinant( &eigen.vectors ), 1.0, 1e-14 ) );
        for ( int k = 0; k < 3; ++k )
        {
            math_vec3 v = math_column( &eigen.vectors, k );
            CHECK( math_length( math_sub( math_apply( &m, v ), math_scale( v, eigen.values[k] ) ) ) < 1e-14 );
        }
    }
}

static void eigen_of_diagonal_repeated_and_zero( void )
{
    math_mat3 diagonal = { { { 1, 0, 0 }, { 0, 3, 0 }, { 0, 0, 2 } } }, zero = { { { 0 } } };
    math_eigen eigen = math_eigen_symmetric( &diagonal );
    CHECK( eigen.converged && eigen.values[0] == 3 && eigen.values[1] == 2 && eigen.values[2] == 1 );
    CHECK( math_abs( eigen.vectors.m[1][0] ) == 1.0 );
    eigen = math_eigen_symmetric( &zero );
    CHECK( eigen.converged && eigen.values[0] == 0.0 );
    math_mat3 repeated = { { { 2, 1, 1 }, { 1, 2, 1 }, { 1, 1, 2 } } };
    eigen = math_eigen_symmetric( &repeated );
    CHECK( is_near( eigen.values[0], 4, 1e-14 ) && is_near( eigen.values[1], 1, 1e-14 ) );
    CHECK( is_near( eigen.values[2], 1, 1e-14 ) );
}

static void eigen_refuses_nan_and_infinity( void )
{
    math_mat3 m = { { { 1, NAN, 0 }, { NAN, 1, 0 }, { 0, 0, 1 } } };
    CHECK( !math_eigen_symmetric( &m ).converged );
    m.m[0][1] = 0, m.m[2][2] = INFINITY;
    CHECK( !math_eigen_symmetric( &m ).converged );
    m.m[2][2] = NAN;
    CHECK( !math_eigen_symmetric( &m ).converged );
}

// ---- polar decomposition

static void polar_finds_the_rotation_back( void )
{
    math_random random = math_random_seed( 6 );
    for ( int i = 0; i < 10000; ++i )
    {
        math_mat3 r = math_quat_matrix( math_random_rotation( &random ) ), v = random_matrix( &random );
        math_mat3 vt = math_transpose( &v ), s = math_multiply( &vt, &v );
        s.m[0][0] += 0.1, s.m[1][1] += 0.1, s.m[2][2] += 0.1; // away from singular
        math_mat3 a = math_multiply( &r, &s ), found = math_identity(), stretch = found;
        CHECK( math_polar_decompose( &a, 0.01, &found, &stretch ) == MATH_POLAR_OK );
        CHECK( matrix_difference( &found, &r ) < 1e-11 );
        CHECK( matrix_difference( &stretch, &s ) < 1e-11 );
    }
}

static void polar_of_a_mirror_keeps_the_mirror( void )
{
    math_mat3 mirror = { { { -2, 0, 0 }, { 0, 3, 0 }, { 0, 0, 4 } } }, r;
    CHECK( math_polar_decompose( &mirror, 0.01, &r, NULL ) == MATH_POLAR_OK );
    CHECK( is_near( math_determinant( &r ), -1.0, 1e-14 ) );
}

static void polar_names_its_exceptions( void )
{
    math_mat3 r = math_identity(), flat = { { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 0 } } }, zero = { { { 0 } } };
    math_mat3 bad = { { { NAN, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } };
    CHECK( math_polar_decompose( &flat, 0.01, &r, NULL ) == MATH_POLAR_SINGULAR );
    CHECK( math_polar_decompose( &zero, 0.01, &r, NULL ) == MATH_POLAR_SINGULAR );
    CHECK( math_polar_decompose( &bad, 0.01, &r, NULL ) == MATH_POLAR_DIVERGED );
    // The inverse root of a thin matrix has an error of its own; without any tolerance that is drift.
    math_random random = math_random_seed( 8 );
    math_mat3 thin = math_quat_matrix( math_random_rotation( &random ) );
    thin.m[0][0] *= 1e-4, thin.m[1][0] *= 1e-4, thin.m[2][0] *= 1e-4;
    math_mat3 turn = math_quat_matrix( math_random_rotation( &random ) );
    thin = math_multiply( &thin, &turn );
    CHECK( math_polar_decompose( &thin, 0.0, &r, NULL ) == MATH_POLAR_DRIFTED );
    CHECK( matrix_difference( &r, &( math_mat3 ){ { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } } ) == 0.0 );
    CHECK( math_polar_decompose( &thin, 0.01, &r, NULL ) == MATH_POLAR_OK );
}

// ---- orientation

static void orientation_follows_the_right_hand( void )
{
    clv_vec3 o = { 0, 0, 0 }, x = { 1, 0, 0 }, y = { 0, 1, 0 }, z = { 0, 0, 1 }, below = { 3, 4, -1e-30f };
    CHECK( clv_math_orient2( o, x, y ) == 1 && clv_math_orient2( o, y, x ) == -1 &&
        clv_math_orient2( o, x, x ) == 0 );
    CHECK( clv_math_orient3( o, x, y, z ) == 1 && clv_math_orient3( o, y, x, z ) == -1 );
    CHECK( clv_math_orient3( o, x, y, below ) == -1 );
    below.z = 0.0f;
    CHECK( clv_math_orient3( o, x, y, below ) == 0 );
}

static clv_vec3 random_point( math_random* random )
{
    clv_vec3 p = { (float)math_random_between( random, -1, 1 ), (float)math_random_between( random, -1, 1 ),
        (float)math_random_between( random, -1, 1 ) };
    return p;
}

// Points one float away from a plane through small whole numbers: their side is known, the determinant is all
// rounding.
// A sliver a float's last digit wide, turned anyhow: its normal is at right angles to both edges, and points
// the way the exact signs say.
static void normals_of_slivers_are_true( void )
{
    for ( uint32_t seed = 1; seed <= 1000; ++seed )
    {
        test_where.seed = seed;
        math_random random = math_random_seed( seed );
        clv_vec3 a = math_narrow( math_random_direction( &random ) );
        clv_vec3 b = math_narrow( math_random_direction( &random ) );
        math_vec3 between = math_add_scaled( math_widen( a ), math_sub( math_widen( b ), math_widen( a ) ),
            math_random_between( &random, -1, 2 ) );
        clv_vec3 c = math_narrow( between );
        math_vec3 normal = clv_math_triangle_normal( a, b, c );
        double length = math_length( normal );
        CHECK_EQUAL( length == 0.0, clv_math_is_collinear( a, b, c ) );
        math_vec3 ab = math_sub( math_widen( b ), math_widen( a ) );
        math_vec3 ac = math_sub( math_widen( c ), math_widen( a ) );
        CHECK( math_abs( math_dot( normal, ab ) ) <= 1e-8 * length );
        CHECK( math_abs( math_dot( normal, ac ) ) <= 1e-8 * length );
        const double parts[3] = { normal.x, normal.y, normal.z };
        for ( int axis = 0; axis < 3; ++axis )
        {
            int sign = parts[axis] > 0.0 ? 1 : parts[axis] < 0.0 ? -1 : 0;
            CHECK(
                clv_math_orient2_along( axis, a, b, c ) == sign || math_abs( parts[axis] ) < 1e-8 * length );
        }
    }
}

static void orientation_is_exact_one_float_off_a_plane( void )
{
    math_random random = math_random_seed( 7 );
    for ( int i = 0; i < 20000; ++i )
    {
        // a, b, c on the plane z = x + y, at coordinates whose sums are exact
        clv_vec3 p[4];
        for ( int k = 0; k < 4; ++k )
        {
            p[k].x = (float)(int)math_random_between( &random, 1, 4e6 );
            p[k].y = (float)(int)math_random_between( &random, 1, 4e6 );
            p[k].z = p[k].x + p[k].y;
        }
        CHECK( clv_math_orient3( p[0], p[1], p[2], p[3] ) == 0 );
        int side = clv_math_orient2( p[0], p[1], p[2] ); // seen from above
        p[3].z = nextafterf( p[3].z, INFINITY );
        CHECK( clv_math_orient3( p[0], p[1], p[2], p[3] ) == side );
        p[3].z = nextafterf( nextafterf( p[3].z, 0.0f ), 0.0f );
        CHECK( clv_math_orient3( p[0], p[1], p[2], p[3] ) == -side );
    }
}

static void orientation_changes_sign_with_every_swap( void )
{
    math_random random = math_random_seed( 9 );
    for ( int i = 0; i < 20000; ++i )
    {
        clv_vec3 a = random_point( &random ), b = random_point( &random ), c = random_point( &random );
        clv_vec3 d = { 0.25f * a.x + 0.75f * b.x, 0.25f * a.y + 0.75f * b.y, 0.25f * a.z + 0.75f * b.z };
        int sign = clv_math_orient3( a, b, c, d );
        CHECK( clv_math_orient3( b, a, c, d ) == -sign && clv_math_orient3( a, c, b, d ) == -sign );
        CHECK( clv_math_orient3( a, b, d, c ) == -sign && clv_math_orient3( d, b, c, a ) == -sign );
        int flat = clv_math_orient2( a, b, d );
        CHECK( clv_math_orient2( b, d, a ) == flat && clv_math_orient2( b, a, d ) == -flat );
    }
}

static void orientation_holds_at_the_ends_of_float( void )
{
    clv_vec3 o = { 0, 0, 0 }, x = { 3e38f, 0, 0 }, y = { 0, 3e38f, 0 }, z = { 0, 0, 1e-45f };
    CHECK( clv_math_orient3( o, x, y, z ) == 1 );
    clv_vec3 tx = { 1e-45f, 0, 0 }, ty = { 0, 1e-45f, 0 };
    CHECK( clv_math_orient3( o, tx, ty, z ) == 1 && clv_math_orient2( o, tx, ty ) == 1 );
    CHECK( clv_math_is_collinear( o, tx, x ) && !clv_math_is_collinear( o, x, z ) &&
        clv_math_is_collinear( z, z, y ) );
}

// ---- rounding

static math_vec3 there_and_back( math_vec3 v )
{
    return math_widen( math_narrow( v ) );
}

static math_quat turn_there_and_back( math_quat q )
{
    return math_quat_widen( math_quat_narrow( q ) );
}

// Whatever the compiler thinks of the way there and back: through pointers, so that it compiles the way by
// itself.
static void narrowing_to_float_rounds( void )
{
    math_vec3 ( *volatile way )( math_vec3 ) = there_and_back;
    math_quat ( *volatile turn )( math_quat ) = turn_there_and_back;
    math_vec3 v = { 1.0 / 3, 1.0 / 7, 1.0 / 11 }, w = way( v );
    math_quat q = { 1.0 / 3, 1.0 / 7, 1.0 / 11, 1.0 / 13 }, r = turn( q );
    CHECK( w.x == (double)( 1.0f / 3 ) && w.y == (double)( 1.0f / 7 ) && w.z == (double)( 1.0f / 11 ) );
    CHECK( r.x == w.x && r.y == w.y && r.z == w.z && r.w == (double)( 1.0f / 13 ) );
}

int main( int argc, char** argv )
{
    static const test_case cases[] = {
        TEST_CASE( cross_product_is_right_handed ),
        TEST_CASE( normalize_keeps_tiny_and_huge_vectors ),
        TEST_CASE( perpendicular_is_unit_and_at_right_angles ),
        TEST_CASE( quaternion_and_matrix_are_the_same_rotation ),
        TEST_CASE( a_quaternion_of_no_length_is_no_rotation ),
        TEST_CASE( eigen_of_figure_4_2 ),
        TEST_CASE( eigenvectors_are_a_rotation_that_diagonalises ),
        TEST_CASE( eigen_of_diagonal_repeated_and_zero ),
        TEST_CASE( eigen_refuses_nan_and_infinity ),
        TEST_CASE( polar_finds_the_rotation_back ),
        TEST_CASE( polar_of_a_mirror_keeps_the_mirror ),
        TEST_CASE( polar_names_its_exceptions ),
        TEST_CASE( orientation_follows_the_right_hand ),
        TEST_CASE( narrowing_to_float_rounds ),
        TEST_CASE( normals_of_slivers_are_true ),
        TEST_CASE( orientation_is_exact_one_float_off_a_plane ),
        TEST_CASE( orientation_changes_sign_with_every_swap ),
        TEST_CASE( orientation_holds_at_the_ends_of_float ),
    };
    return test_run( "math", cases, TEST_COUNT( cases ), argc, argv );
}
