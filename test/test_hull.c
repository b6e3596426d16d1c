// SPDX-License-Identifier: MIT
#include "cleave/narrow.h"
#include "math/orient.h"
#include "math/splitmix.h"
#include "narrow/hull.h"
#include "support.h"
#include "volume.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

static clv_hull* make_hull( const clv_vec3* points, uint32_t count )
{
    clv_hull_def def = clv_default_hull_def();
    def.points = points;
    def.point_count = count;
    clv_hull* hull = NULL;
    CHECK_OK( clv_hull_create( &def, &hull ) );
    return hull;
}

static void check_hull( const clv_hull* hull )
{
    const char* wrong = clv_narrow_hull_check( hull );
    if ( wrong != NULL )
    {
        test_fail( __FILE__, __LINE__, "%s", wrong );
    }
}

static void check_counts( const clv_hull* hull, uint32_t vertices, uint32_t edges, uint32_t faces )
{
    clv_hull_view view = clv_hull_get_view( hull );
    check_hull( hull );
    CHECK_EQUAL( view.dimension, 3 );
    CHECK_EQUAL( view.vertex_count, vertices );
    CHECK_EQUAL( view.edge_count, edges );
    CHECK_EQUAL( view.face_count, faces );
}

static uint32_t faces_with_corners( const clv_hull* hull, uint32_t corners )
{
    clv_hull_view view = clv_hull_get_view( hull );
    uint32_t count = 0;
    for ( uint32_t f = 0; f < view.face_count; ++f )
    {
        count += view.face_starts[f + 1] - view.face_starts[f] == corners ? 1 : 0;
    }
    return count;
}

// No point of the input is outside by more than the stated tolerance.
static void check_contains( const clv_hull* hull, const clv_vec3* points, uint32_t count, double slack )
{
    clv_hull_view view = clv_hull_get_view( hull );
    for ( uint32_t f = 0; f < view.face_count; ++f )
    {
        math_vec3 normal = math_widen( view.face_planes[f].normal );
        for ( uint32_t i = 0; i < count; ++i )
        {
            CHECK(
                math_dot( normal, math_widen( points[i] ) ) <= (double)view.face_planes[f].offset + slack );
        }
    }
}

// ---- solids with names

static void box_has_8_vertices_12_edges_6_faces( void )
{
    clv_hull* hull = NULL;
    CHECK_OK( clv_hull_create_box( ( clv_vec3 ){ 1, 2, 3 }, &hull ) );
    check_counts( hull, 8, 12, 6 );
    CHECK_EQUAL( faces_with_corners( hull, 4 ), 6 );
    clv_hull_destroy( hull );
}

static void truncated_octahedron_has_14_faces( void )
{
    const clv_vec3 sizes[3] = { { 1, 1, 1 }, { 1, 3, 1 }, { 0.37f, 1.71f, 2.93f } };
    for ( int i = 0; i < 3; ++i )
    {
        clv_hull* hull = NULL;
        CHECK_OK( clv_hull_create_truncated_octahedron( sizes[i], &hull ) );
        check_counts( hull, 24, 36, 14 );
        CHECK_EQUAL( faces_with_corners( hull, 4 ), 6 );
        CHECK_EQUAL( faces_with_corners( hull, 6 ), 8 );
        clv_hull_destroy( hull );
    }
}

static void rhombicuboctahedron_has_26_faces( void )
{
    const clv_vec3 sizes[3] = { { 1, 1, 1 }, { 1, 3, 1 }, { 0.37f, 1.71f, 2.93f } };
    for ( int i = 0; i < 3; ++i )
    {
        clv_hull* hull = NULL;
        CHECK_OK( clv_hull_create_rhombicuboctahedron( sizes[i], &hull ) );
        check_counts( hull, 24, 48, 26 );
        CHECK_EQUAL( faces_with_corners( hull, 3 ), 8 );
        CHECK_EQUAL( faces_with_corners( hull, 4 ), 18 );
        clv_hull_destroy( hull );
    }
}

static void sizes_must_be_positive_and_finite( void )
{
    clv_hull* hull = NULL;
    CHECK_RESULT( clv_hull_create_box( ( clv_vec3 ){ 1, 0, 1 }, &hull ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_hull_create_box( ( clv_vec3 ){ 1, NAN, 1 }, &hull ), CLV_BAD_ARGUMENT );
    CHECK_RESULT(
        clv_hull_create_truncated_octahedron( ( clv_vec3 ){ INFINITY, 1, 1 }, &hull ), CLV_BAD_ARGUMENT );
    CHECK( hull == NULL );
}

// ---- points

static clv_vec3 random_point( math_random* random, double size )
{
    clv_vec3 p = { (float)math_random_between( random, -size, size ),
        (float)math_random_between( random, -size, size ),
        (float)math_random_between( random, -size, size ) };
    return p;
}

static void random_clouds_give_closed_convex_hulls( void )
{
    for ( uint32_t seed = 1; seed <= 200; ++seed )
    {
        test_where.seed = seed;
        math_random random = math_random_seed( seed );
        uint32_t count = 4 + (uint32_t)math_random_between( &random, 0, 200 );
        clv_vec3 points[204];
        for ( uint32_t i = 0; i < count; ++i )
        {
            points[i] = random_point( &random, 10.0 );
        }
        clv_hull* hull = make_hull( points, count );
        check_hull( hull );
        check_contains( hull, points, count, 2e-5 );
        clv_hull_destroy( hull );
    }
}

static void points_on_a_sphere_are_all_vertices( void )
{
    math_random random = math_random_seed( 77 );
    static clv_vec3 points[2000];
    for ( uint32_t i = 0; i < 2000; ++i )
    {
        points[i] = math_narrow( math_random_direction( &random ) );
    }
    clv_hull* hull = make_hull( points, 2000 );
    check_hull( hull );
    CHECK( clv_hull_get_view( hull ).vertex_count >= 1990 ); // a few are flat with their neighbours
    clv_hull_destroy( hull );
}

// Whole-number grids: everything is coplanar with everything, every point there many times.
static void grid_points_make_a_clean_box( void )
{
    static clv_vec3 points[2 * 1000];
    for ( uint32_t i = 0; i < 1000; ++i )
    {
        points[i] = points[1999 - i] =
            ( clv_vec3 ){ (float)( i % 10 ), (float)( i / 10 % 10 ), (float)( i / 100 ) };
    }
    clv_hull* hull = make_hull( points, 2000 );
    check_counts( hull, 8, 12, 6 );
    clv_hull_destroy( hull );
}

// The same box turned: its faces are no longer exactly flat in float, and still come out as six.
static void turned_grids_make_a_clean_box_too( void )
{
    for ( uint32_t seed = 1; seed <= 100; ++seed )
    {
        test_where.seed = seed;
        math_random random = math_random_seed( seed );
        math_mat3 turn = math_quat_matrix( math_random_rotation( &random ) );
        clv_vec3 points[125];
        for ( uint32_t i = 0; i < 125; ++i )
        {
            points[i] = math_narrow( math_apply( &turn, math_make( i % 5, i / 5 % 5, i / 25 ) ) );
        }
        clv_hull* hull = make_hull( points, 125 );
        check_counts( hull, 8, 12, 6 );
        clv_hull_destroy( hull );
    }
}

static void lattice_clouds_stay_consistent( void )
{
    for ( uint32_t seed = 1; seed <= 500; ++seed )
    {
        test_where.seed = seed;
        math_random random = math_random_seed( seed );
        clv_vec3 points[60];
        for ( uint32_t i = 0; i < 60; ++i )
        {
            points[i] = ( clv_vec3 ){ (float)(int)math_random_between( &random, 0, 4 ),
                (float)(int)math_random_between( &random, 0, 4 ),
                (float)(int)math_random_between( &random, 0, 4 ) };
        }
        clv_hull* hull = make_hull( points, 60 );
        check_hull( hull );
        check_contains( hull, points, 60, 1e-5 );
        clv_hull_destroy( hull );
    }
}

// A slab thinner than the tolerance: both sides are flat with each other.
static void wafers_and_needles_do_not_break( void )
{
    for ( uint32_t seed = 1; seed <= 300; ++seed )
    {
        test_where.seed = seed;
        math_random random = math_random_seed( seed );
        clv_vec3 points[50];
        for ( uint32_t i = 0; i < 50; ++i )
        {
            points[i] = random_point( &random, 1.0 );
            points[i].z *= 1e-7f;
            points[i].y *= seed % 2 == 0 ? 1e-7f : 1.0f;
        }
        clv_hull* hull = make_hull( points, 50 );
        check_hull( hull );
        clv_hull_destroy( hull );
    }
}

static void hulls_far_from_the_origin_are_right( void )
{
    math_random random = math_random_seed( 5 );
    clv_vec3 points[300];
    for ( uint32_t i = 0; i < 300; ++i )
    {
        points[i] = random_point( &random, 8.0 );
        points[i].x += 1e6f;
    }
    clv_hull* hull = make_hull( points, 300 );
    check_hull( hull );
    clv_hull_destroy( hull );
}

// ---- less than a solid

// Corners as far out as floats go: their distance from the origin is beyond the floats, so the radius is
// infinite, and every answer that is made from it is still one.
static void hulls_at_the_end_of_the_floats_answer( void )
{
    clv_vec3 points[8];
    for ( int i = 0; i < 8; ++i )
    {
        points[i] = ( clv_vec3 ){ i & 1 ? FLT_MAX : -FLT_MAX, i & 2 ? FLT_MAX : -FLT_MAX,
            i & 4 ? FLT_MAX : -FLT_MAX };
    }
    clv_hull_def def = clv_default_hull_def();
    def.points = points;
    def.point_count = 8;
    clv_hull* hull = NULL;
    CHECK_OK( clv_hull_create( &def, &hull ) );
    CHECK( clv_narrow_hull_check( hull ) == NULL );
    clv_hull_view view = clv_hull_get_view( hull );
    CHECK( view.vertex_count == 8 && view.face_count == 6 && view.radius == INFINITY );
    clv_shape shape = clv_hull_shape( hull );
    clv_transform here = clv_identity_transform();
    clv_aabb box;
    clv_sphere sphere;
    clv_dop18 dop;
    clv_obb obb;
    CHECK_OK( clv_shape_aabb( shape, here, &box ) );
    CHECK( box.lower.x == -FLT_MAX && box.upper.z == FLT_MAX );
    CHECK_OK( clv_shape_sphere( shape, here, &sphere ) );
    CHECK( sphere.radius == INFINITY && sphere.center.x == 0 );
    CHECK_OK( clv_shape_dop18( shape, here, &dop ) );
    CHECK( dop.upper[0] == FLT_MAX && dop.upper[3] == INFINITY && dop.lower[8] == -INFINITY );
    CHECK_OK( clv_shape_obb( shape, here, &obb ) );
    CHECK( obb.half_size.x >= FLT_MAX );
    // A small ball within, and one that touches nothing since there is no room outside.
    bool touching = false;
    CHECK_OK( clv_shape_overlap( shape, here, clv_sphere_shape( 1 ), here, NULL, &touching ) );
    CHECK( touching );
    clv_distance distance;
    CHECK_OK( clv_shape_distance(
        shape, here, clv_sphere_shape( 1 ), clv_transform_at( 1, 2, 3 ), NULL, &distance ) );
    CHECK( distance.distance == 0.0f );
    clv_contact contact;
    CHECK_OK( clv_shape_contact(
        shape, here, clv_sphere_shape( 1 ), clv_transform_at( 1, 2, 3 ), NULL, &contact ) );
    CHECK( contact.touching && contact.depth == contact.depth && contact.normal.x == contact.normal.x );
    clv_vec3 farthest;
    CHECK_OK( clv_shape_support( shape, here, ( clv_vec3 ){ 1, 1, 1 }, &farthest ) );
    CHECK( farthest.x == FLT_MAX && farthest.y == FLT_MAX && farthest.z == FLT_MAX );
    clv_hull_destroy( hull );
}

static void coplanar_points_make_two_faces( void )
{
    clv_vec3 points[7] = { { 0, 1, 0 }, { 4, 1, 0 }, { 2, 1, 2 }, { 4, 1, 4 }, { 0, 1, 4 }, { 2, 1, 0 },
        { 0, 1, 0 } };
    clv_hull* hull = make_hull( points, 7 );
    clv_hull_view view = clv_hull_get_view( hull );
    check_hull( hull );
    CHECK( view.dimension == 2 && view.vertex_count == 4 && view.edge_count == 4 && view.face_count == 2 );
    CHECK( view.face_planes[0].normal.y == -view.face_planes[1].normal.y );
    CHECK( fabsf( view.face_planes[0].normal.y ) == 1.0f );
    // Counter-clockwise from outside: the corners turn round the normal.
    for ( uint32_t f = 0; f < 2; ++f )
    {
        const uint32_t* c = view.face_corners + view.face_starts[f];
        math_vec3 p = math_sub( math_widen( view.vertices[c[1]] ), math_widen( view.vertices[c[0]] ) );
        math_vec3 q = math_sub( math_widen( view.vertices[c[2]] ), math_widen( view.vertices[c[1]] ) );
        CHECK( math_dot( math_cross( p, q ), math_widen( view.face_planes[f].normal ) ) > 0.0 );
    }
    clv_hull_destroy( hull );
}

static void collinear_points_make_a_segment( void )
{
    clv_vec3 points[5] = { { 1, 1, 1 }, { 3, 3, 3 }, { 2, 2, 2 }, { -1, -1, -1 }, { 3, 3, 3 } };
    clv_hull* hull = make_hull( points, 5 );
    clv_hull_view view = clv_hull_get_view( hull );
    check_hull( hull );
    CHECK( view.dimension == 1 && view.vertex_count == 2 && view.edge_count == 1 && view.face_count == 0 );
    CHECK( view.vertices[0].x == -1.0f && view.vertices[1].x == 3.0f );
    clv_hull_destroy( hull );
}

static void equal_points_make_a_point( void )
{
    clv_vec3 points[3] = { { 1, 2, 3 }, { 1, 2, 3 }, { 1, 2, 3 } };
    for ( uint32_t count = 1; count <= 3; ++count )
    {
        clv_hull* hull = make_hull( points, count );
        clv_hull_view view = clv_hull_get_view( hull );
        check_hull( hull );
        CHECK(
            view.dimension == 0 && view.vertex_count == 1 && view.edge_count == 0 && view.face_count == 0 );
        clv_hull_destroy( hull );
    }
}

// ---- what is refused

static void keep_line( clv_log_level level, const char* line, void* user )
{
    (void)level;
    snprintf( (char*)user, 200, "%s", line );
}

static void bad_points_are_named( void )
{
    char line[200] = "";
    clv_vec3 points[5] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, NAN }, { 0, INFINITY, 0 } };
    clv_hull_def def = clv_default_hull_def();
    def.logger = ( clv_logger ){ keep_line, line };
    def.points = points;
    def.point_count = 5;
    clv_hull* hull = NULL;
    CHECK_RESULT( clv_hull_create( &def, &hull ), CLV_BAD_ARGUMENT );
    CHECK( hull == NULL && strstr( line, "point 3" ) != NULL );
    def.point_count = 0;
    CHECK_RESULT( clv_hull_create( &def, &hull ), CLV_BAD_ARGUMENT );
    def.point_count = 3;
    def.cookie = 0;
    CHECK_RESULT( clv_hull_create( &def, &hull ), CLV_BAD_DEF );
}

// ---- the checker

static void the_checker_names_every_kind_of_damage( void )
{
    clv_hull* hull = NULL;
    CHECK_OK( clv_hull_create_box( ( clv_vec3 ){ 1, 1, 1 }, &hull ) );
    CHECK( clv_narrow_hull_check( hull ) == NULL );
#define DAMAGE( place, value, text )                                                                         \
    do                                                                                                       \
    {                                                                                                        \
        test_where.note = #place;                                                                            \
        const char* wrong;                                                                                   \
        hull_damaged = ( place );                                                                            \
        ( place ) = ( value );                                                                               \
        wrong = clv_narrow_hull_check( hull );                                                               \
        ( place ) = hull_damaged;                                                                            \
        CHECK( wrong != NULL );                                                                              \
        CHECK_TEXT( wrong, text );                                                                           \
        CHECK( clv_narrow_hull_check( hull ) == NULL );                                                      \
    } while ( 0 )
    uint32_t hull_damaged;
    DAMAGE( hull->edge_count, 11, "Euler's formula does not hold" );
    DAMAGE( hull->neighbour_starts[1], 2, "a vertex has too few neighbours" );
    DAMAGE( hull->neighbours[0], 7, "a neighbour does not know of it" );
    DAMAGE( hull->face_starts[1], 2, "a face has fewer than three corners" );
    DAMAGE( hull->face_corners[1], hull->face_corners[2], "two corners in a row are not neighbours" );
#undef DAMAGE
    float kept = hull->radius;
    hull->radius = 1;
    CHECK_TEXT( clv_narrow_hull_check( hull ), "a vertex is beyond the radius" );
    hull->radius = kept;
    clv_plane plane = hull->face_planes[0];
    hull->face_planes[0].normal.x += 0.5f;
    CHECK_TEXT( clv_narrow_hull_check( hull ), "a normal is not of length 1" );
    hull->face_planes[0] = plane;
    hull->face_planes[0].offset -= 0.5f;
    CHECK_TEXT( clv_narrow_hull_check( hull ), "a vertex is outside of a face" );
    hull->face_planes[0] = plane;
    clv_hull_destroy( hull );
}

typedef struct stingy
{
    uint32_t left;
    int64_t held;
} stingy;

static void* stingy_allocate( size_t size, size_t alignment, void* user )
{
    stingy* s = user;
    if ( s->left == 0 )
    {
        return NULL;
    }
    s->left -= 1;
    s->held += 1;
    char* block = malloc( size + alignment + sizeof( void* ) );
    char* data =
        (char*)( ( (uintptr_t)block + alignment + sizeof( void* ) ) & ~(uintptr_t)( alignment - 1 ) );
    memcpy( data - sizeof( void* ), &block, sizeof( void* ) );
    return data;
}

static void stingy_release( void* memory, size_t size, size_t alignment, void* user )
{
    (void)size, (void)alignment;
    ( (stingy*)user )->held -= 1;
    void* block;
    memcpy( &block, (char*)memory - sizeof( void* ), sizeof( void* ) );
    free( block );
}

static void running_out_of_memory_anywhere_leaks_nothing( void )
{
    math_random random = math_random_seed( 3 );
    clv_vec3 points[64];
    for ( uint32_t i = 0; i < 64; ++i )
    {
        points[i] = random_point( &random, 1.0 );
    }
    for ( uint32_t limit = 0;; ++limit )
    {
        stingy s = { limit, 0 };
        clv_hull_def def = clv_default_hull_def();
        def.points = points;
        def.point_count = 64;
        def.allocator = ( clv_allocator ){ stingy_allocate, stingy_release, &s };
        clv_hull* hull = NULL;
        clv_result result = clv_hull_create( &def, &hull );
        clv_hull_destroy( hull );
        CHECK( s.held == 0 );
        if ( result == CLV_OK )
        {
            CHECK( limit > 10 );
            return;
        }
        CHECK_RESULT( result, CLV_OUT_OF_MEMORY );
        CHECK( hull == NULL );
    }
}

int main( int argc, char** argv )
{
    static const test_case cases[] = {
        TEST_CASE( box_has_8_vertices_12_edges_6_faces ),
        TEST_CASE( truncated_octahedron_has_14_faces ),
        TEST_CASE( rhombicuboctahedron_has_26_faces ),
        TEST_CASE( sizes_must_be_positive_and_finite ),
        TEST_CASE( random_clouds_give_closed_convex_hulls ),
        TEST_CASE( points_on_a_sphere_are_all_vertices ),
        TEST_CASE( grid_points_make_a_clean_box ),
        TEST_CASE( turned_grids_make_a_clean_box_too ),
        TEST_CASE( lattice_clouds_stay_consistent ),
        TEST_CASE( wafers_and_needles_do_not_break ),
        TEST_CASE( hulls_far_from_the_origin_are_right ),
        TEST_CASE( hulls_at_the_end_of_the_floats_answer ),
        TEST_CASE( coplanar_points_make_two_faces ),
        TEST_CASE( collinear_points_make_a_segment ),
        TEST_CASE( equal_points_make_a_point ),
        TEST_CASE( bad_points_are_named ),
        TEST_CASE( the_checker_names_every_kind_of_damage ),
        TEST_CASE( running_out_of_memory_anywhere_leaks_nothing ),
    };
    return test_run( "hull", cases, TEST_COUNT( cases ), argc, argv );
}
