// SPDX-License-Identifier: MIT
// Bodies on the device against the same on the CPU: volumes bit by bit, the pairs of each kind of volume by
// two loops, contacts.
#include "cleave/physics.h"
#include "dop.h"
#include "gpu_body_calls.h"
#include "gpu_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    HULLS = 7,
    BODIES_MOST = 4097,
};

static clv_gpu* s_gpu;
static clv_hull* s_hulls[HULLS];
static clv_gpu_hull s_views[HULLS];

static clv_hull* hull_of_points( uint32_t count, clv_vec3 scale, test_random* random )
{
    clv_vec3 points[64];
    clv_hull* hull = NULL;
    for ( uint32_t i = 0; i < count; ++i )
    {
        points[i] = ( clv_vec3 ){ scale.x * test_random_between( random, -1, 1 ),
            scale.y * test_random_between( random, -1, 1 ), scale.z * test_random_between( random, -1, 1 ) };
    }
    clv_hull_def def = clv_default_hull_def();
    def.points = points;
    def.point_count = count;
    CHECK_OK( clv_hull_create( &def, &hull ) );
    return hull;
}

// A solid, a stretched one, a box, a cloud, a plate, a needle, a point.
static void make_hulls( void )
{
    test_random random = test_random_make( 7 );
    CHECK_OK( clv_hull_create_truncated_octahedron( ( clv_vec3 ){ 1, 1, 1 }, &s_hulls[0] ) );
    CHECK_OK( clv_hull_create_rhombicuboctahedron( ( clv_vec3 ){ 1, 3, 1 }, &s_hulls[1] ) );
    CHECK_OK( clv_hull_create_box( ( clv_vec3 ){ 0.5f, 1, 2 }, &s_hulls[2] ) );
    s_hulls[3] = hull_of_points( 40, ( clv_vec3 ){ 1, 1, 1 }, &random );
    s_hulls[4] = hull_of_points( 12, ( clv_vec3 ){ 1, 0, 2 }, &random );
    s_hulls[5] = hull_of_points( 2, ( clv_vec3 ){ 3, 3, 3 }, &random );
    s_hulls[6] = hull_of_points( 1, ( clv_vec3 ){ 1, 1, 1 }, &random );
    for ( int i = 0; i < HULLS; ++i )
    {
        clv_hull_view view = clv_hull_get_view( s_hulls[i] );
        s_views[i] = ( clv_gpu_hull ){ view.vertices, view.vertex_count };
    }
}

typedef struct crowd
{
    uint32_t count;
    uint32_t hulls[BODIES_MOST];
    clv_transform at[BODIES_MOST];
} crowd;

// `far`: from where; `room` holds about one body in each unit of it.
static void make_crowd( crowd* c, uint32_t count, float far, float density, uint32_t only_hull )
{
    test_random random = test_random_make( count + 1 );
    float room = cbrtf( (float)count / density ) * 2;
    c->count = count;
    for ( uint32_t i = 0; i < count; ++i )
    {
        c->hulls[i] = only_hull < HULLS ? only_hull : test_random_below( &random, HULLS );
        c->at[i] = clv_transform_at( far + test_random_between( &random, 0, room ),
            test_random_between( &random, 0, room ) - far, test_random_between( &random, 0, room ) );
        c->at[i].rotation =
            ( clv_quat ){ test_random_between( &random, -1, 1 ), test_random_between( &random, -1, 1 ),
                test_random_between( &random, -1, 1 ), test_random_between( &random, -1, 1 ) };
        if ( i % 5 == 0 )
        {
            c->at[i].rotation = ( clv_quat ){ 0, 0, 0, i % 10 == 0 ? 1.0f : 0.0f }; // none, and no quaternion
        }
    }
}

static void set_crowd( const crowd* c )
{
    CHECK_OK( clv_gpu_set_bodies( s_gpu, s_views, HULLS, c->hulls, c->count ) );
}

// ---- volumes

static void volume_on_cpu( const crowd* c, clv_volume_kind kind, uint32_t i, void* volume )
{
    clv_shape shape = clv_hull_shape( s_hulls[c->hulls[i]] );
    CHECK_OK( kind == CLV_VOLUME_AABB  ? clv_shape_aabb( shape, c->at[i], volume )
            : kind == CLV_VOLUME_DOP18 ? clv_shape_dop18( shape, c->at[i], volume )
                                       : clv_shape_sphere( shape, c->at[i], volume ) );
}

static bool overlap( clv_volume_kind kind, const void* a, const void* b )
{
    return kind == CLV_VOLUME_AABB ? clv_aabb_overlap( *(const clv_aabb*)a, *(const clv_aabb*)b )
        : kind == CLV_VOLUME_DOP18 ? clv_dop18_overlap( a, b )
                                   : clv_sphere_overlap( *(const clv_sphere*)a, *(const clv_sphere*)b );
}

// Volumes as on the CPU to the last bit, and their pairs as two loops over the CPU's have them.
static void check_volumes( const crowd* c, clv_volume_kind kind )
{
    size_t bytes = clv_volume_bytes( kind );
    unsigned char* ours = calloc( c->count + 1, bytes );
    unsigned char* theirs = calloc( c->count + 1, bytes );
    test_where.frame = c->count;
    CHECK_OK( gpu_test_update_bodies( s_gpu, kind, c->at ) );
    CHECK_OK( gpu_test_read_volumes( s_gpu, ours ) );
    for ( uint32_t i = 0; i < c->count; ++i )
    {
        volume_on_cpu( c, kind, i, theirs + i * bytes );
        if ( memcmp( ours + i * bytes, theirs + i * bytes, bytes ) != 0 )
        {
            printf( "body %u of %u, hull %u, kind %d\n", i, c->count, c->hulls[i], (int)kind );
            CHECK( false );
        }
    }
    uint64_t count = 0;
    uint64_t at = 0;
    clv_pair* pairs = gpu_test_pairs( s_gpu, &count );
    for ( uint32_t i = 0; i < c->count; ++i )
    {
        for ( uint32_t j = i + 1; j < c->count; ++j )
        {
            if ( overlap( kind, theirs + i * bytes, theirs + j * bytes ) )
            {
                CHECK( at < count && pairs[at].a == i && pairs[at].b == j );
                at += 1;
            }
        }
    }
    CHECK_EQUAL( at, count );
    free( pairs );
    free( ours );
    free( theirs );
}

static void volumes_and_pairs_are_the_cpus( void )
{
    static const uint32_t s_counts[] = { 0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 1025, BODIES_MOST };
    static crowd s_crowd;
    for ( size_t k = 0; k < TEST_COUNT( s_counts ); ++k )
    {
        make_crowd( &s_crowd, s_counts[k], 0, 2, HULLS );
        set_crowd( &s_crowd );
        check_volumes( &s_crowd, CLV_VOLUME_AABB );
        check_volumes( &s_crowd, CLV_VOLUME_DOP18 );
        check_volumes( &s_crowd, CLV_VOLUME_SPHERE );
    }
}

static void bodies_far_away_and_in_one_spot_agree( void )
{
    static crowd s_crowd;
    static const float s_places[] = { 1e6f, 1e9f, 3e-40f };
    for ( size_t k = 0; k < TEST_COUNT( s_places ); ++k )
    {
        make_crowd( &s_crowd, 200, s_places[k], k == 2 ? 1e6f : 1.0f, k == 0 ? 0 : HULLS );
        set_crowd( &s_crowd );
        check_volumes( &s_crowd, CLV_VOLUME_AABB );
        check_volumes( &s_crowd, CLV_VOLUME_DOP18 );
        check_volumes( &s_crowd, CLV_VOLUME_SPHERE );
    }
}

// Bodies that touch, as floats have it, along every axis of an 18-DOP, and one step apart.
static void touching_counts_and_one_step_apart_does_not( void )
{
    static crowd s_crowd;
    clv_vec3 axes[CLV_DOP_AXIS_COUNT];
    s_crowd.count = 0;
    for ( uint32_t axis = 0; axis < CLV_DOP_AXIS_COUNT; ++axis )
    {
        axes[axis] = clv_dop_axis( CLV_DOP_18, axis );
        for ( int k = 0; k < 4; ++k )
        {
            float far = 64.0f * (float)( 4 * axis + (uint32_t)k );
            float reach = 1.0f + ( k > 1 ? 0x1p-19f : 0.0f );
            s_crowd.hulls[s_crowd.count] = 2;
            s_crowd.at[s_crowd.count++] = clv_transform_at( far, 0, 0 );
            s_crowd.hulls[s_crowd.count] = 2;
            s_crowd.at[s_crowd.count++] = clv_transform_at(
                far + axes[axis].x * reach, axes[axis].y * reach * 2, axes[axis].z * reach * 4 );
        }
    }
    set_crowd( &s_crowd );
    check_volumes( &s_crowd, CLV_VOLUME_AABB );
    CHECK( clv_gpu_pair_count( s_gpu ) > 0 && clv_gpu_pair_count( s_gpu ) < s_crowd.count / 2 );
    check_volumes( &s_crowd, CLV_VOLUME_DOP18 );
    check_volumes( &s_crowd, CLV_VOLUME_SPHERE );
}

static void a_list_that_is_too_short_is_made_whole( void )
{
    static crowd s_crowd;
    clv_gpu_def def = clv_default_gpu_def();
    clv_gpu* kept = s_gpu;
    def.pair_capacity = 1;
    CHECK_OK( clv_gpu_create( &def, &s_gpu ) );
    make_crowd( &s_crowd, 300, 0, 8, 0 );
    set_crowd( &s_crowd );
    check_volumes( &s_crowd, CLV_VOLUME_DOP18 );
    CHECK( clv_gpu_get_stats( s_gpu ).search_count > clv_gpu_get_stats( s_gpu ).update_count );
    clv_gpu_destroy( s_gpu );
    def.memory_most = 64 * sizeof( clv_pair ); // in pieces
    CHECK_OK( clv_gpu_create( &def, &s_gpu ) );
    set_crowd( &s_crowd );
    check_volumes( &s_crowd, CLV_VOLUME_SPHERE );
    CHECK( clv_gpu_get_stats( s_gpu ).piece_count > 1 && clv_gpu_pair_buffer( s_gpu ) == NULL );
    clv_gpu_destroy( s_gpu );
    s_gpu = kept;
}

// The boxes may go on to any other search.
static void boxes_made_on_the_device_go_to_every_search( void )
{
    static crowd s_crowd;
    uint64_t count = 0;
    uint64_t other_count = 0;
    clv_gpu* gpu = NULL;
    clv_gpu_def def = clv_default_gpu_def();
    make_crowd( &s_crowd, 1000, 0, 2, HULLS );
    set_crowd( &s_crowd );
    CHECK_OK( gpu_test_update_bodies( s_gpu, CLV_VOLUME_AABB, s_crowd.at ) );
    clv_pair* pairs = gpu_test_pairs( s_gpu, &count );
    def.queue = clv_gpu_queue( s_gpu );
    def.way = CLV_GPU_GRID;
    CHECK_OK( clv_gpu_create( &def, &gpu ) );
    CHECK_OK( clv_gpu_update_buffer( gpu, gpu_bodies_of( s_gpu )->on.volumes.memory, s_crowd.count ) );
    clv_pair* others = gpu_test_pairs( gpu, &other_count );
    CHECK_EQUAL( count, other_count );
    CHECK( count > 0 && memcmp( pairs, others, count * sizeof( clv_pair ) ) == 0 );
    free( pairs );
    free( others );
    clv_gpu_destroy( gpu );
}

// ---- contacts

static bool is_same_vec( clv_vec3 a, clv_vec3 b, float tolerance )
{
    return fabsf( a.x - b.x ) <= tolerance && fabsf( a.y - b.y ) <= tolerance &&
        fabsf( a.z - b.z ) <= tolerance;
}

// As test_epa has it: the depth is right within 1e-5, and where normal and points are not the CPU's the depth
// along them is as short.
static void check_contact( const crowd* c, clv_pair pair, clv_contact ours, bool is_exact )
{
    clv_contact theirs;
    CHECK_OK( clv_shape_contact( clv_hull_shape( s_hulls[c->hulls[pair.a]] ), c->at[pair.a],
        clv_hull_shape( s_hulls[c->hulls[pair.b]] ), c->at[pair.b], NULL, &theirs ) );
    float far = fabsf( c->at[pair.a].position.x ) + fabsf( c->at[pair.a].position.y ) + 10;
    float tolerance = is_exact ? 0.0f : 1e-6f * far;
    bool is_same = ours.touching == theirs.touching;
    if ( is_same && ours.touching )
    {
        is_same = ours.converged == theirs.converged && fabsf( ours.depth - theirs.depth ) <= tolerance &&
            is_same_vec( ours.normal, theirs.normal, is_exact ? 0.0f : 1e-5f ) &&
            is_same_vec( ours.point_a, theirs.point_a, tolerance ) &&
            is_same_vec( ours.point_b, theirs.point_b, tolerance );
    }
    if ( !is_same && !is_exact ) // two ways out that are as short, or hulls that all but touch
    {
        is_same = ours.touching && theirs.touching ? fabsf( ours.depth - theirs.depth ) <= 1e-6f * far
                                                   : ours.depth + theirs.depth <= 1e-6f * far;
    }
    if ( !is_same )
    {
        printf( "bodies %u and %u, hulls %u and %u: depth %.9g, not %.9g; touching %d, not %d\n", pair.a,
            pair.b, c->hulls[pair.a], c->hulls[pair.b], (double)ours.depth, (double)theirs.depth,
            ours.touching, theirs.touching );
        CHECK( false );
    }
}

// Hull 3 may have more than 32 vertices, which the CPU climbs over.
static bool is_exact_pair( const crowd* c, clv_pair pair )
{
    return s_views[c->hulls[pair.a]].vertex_count <= 32 && s_views[c->hulls[pair.b]].vertex_count <= 32;
}

static uint32_t check_contacts( const crowd* c, const clv_pair* pairs, uint32_t count )
{
    clv_contact* contacts = test_alloc( count, sizeof( clv_contact ) );
    uint32_t touching = 0;
    CHECK_OK( gpu_test_find_contacts( s_gpu, pairs, count, contacts ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        check_contact( c, pairs[i], contacts[i], is_exact_pair( c, pairs[i] ) );
        touching += contacts[i].touching ? 1 : 0;
    }
    free( contacts );
    return touching;
}

static void contacts_of_a_crowd_are_the_cpus( void )
{
    static crowd s_crowd;
    static clv_pair pairs[300 * 20];
    static const float s_places[] = { 0, 1000, 1e6f };
    for ( size_t k = 0; k < TEST_COUNT( s_places ); ++k )
    {
        make_crowd( &s_crowd, 300, s_places[k], 30, HULLS );
        set_crowd( &s_crowd );
        CHECK_OK( gpu_test_update_bodies( s_gpu, CLV_VOLUME_AABB, s_crowd.at ) );
        for ( uint32_t i = 0; i < TEST_COUNT( pairs ); ++i )
        {
            uint32_t a = i % s_crowd.count;
            pairs[i] = ( clv_pair ){ a, ( a + 1 + i / s_crowd.count ) % s_crowd.count };
        }
        uint32_t touching = check_contacts( &s_crowd, pairs, TEST_COUNT( pairs ) );
        CHECK( touching > 100 && touching < TEST_COUNT( pairs ) );
    }
}

// Faces, edges and corners that touch, the same body twice, one inside another, plates on plates, needles
// across, points.
static void contacts_that_are_hard_are_the_cpus( void )
{
    static crowd s_crowd;
    static clv_pair pairs[4000];
    uint32_t count = 0;
    s_crowd.count = 0;
    for ( uint32_t a = 0; a < HULLS; ++a )
    {
        for ( uint32_t b = 0; b < HULLS; ++b )
        {
            for ( int place = 0; place < 27; ++place )
            {
                clv_vec3 reach = { place % 3 == 0 ? 0.0f
                        : place % 3 == 1          ? 1.0f
                                                  : 2.0f,
                    place / 3 % 3 == 0       ? 0.0f
                        : place / 3 % 3 == 1 ? 2.0f
                                             : 4.0f,
                    place / 9 == 0       ? 0.0f
                        : place / 9 == 1 ? 2.0f
                                         : 1e-7f };
                s_crowd.hulls[s_crowd.count] = a;
                s_crowd.at[s_crowd.count++] = clv_transform_at( 0, 0, 0 );
                s_crowd.hulls[s_crowd.count] = b;
                s_crowd.at[s_crowd.count++] = clv_transform_at( reach.x, reach.y, reach.z );
                pairs[count++] = ( clv_pair ){ s_crowd.count - 2, s_crowd.count - 1 };
            }
        }
    }
    set_crowd( &s_crowd );
    CHECK_OK( gpu_test_update_bodies( s_gpu, CLV_VOLUME_DOP18, s_crowd.at ) );
    CHECK( check_contacts( &s_crowd, pairs, count ) > count / 8 );
}

// With room for hardly a tetrahedron nearly all that touch go to the host, and nothing changes.
static void what_a_device_cannot_decide_the_host_finishes( void )
{
    uint64_t finished = gpu_test_finished_count;
    gpu_bodies_of( s_gpu )->polytope_room = 5;
    contacts_of_a_crowd_are_the_cpus();
    CHECK( gpu_test_finished_count > finished );
    gpu_bodies_of( s_gpu )->polytope_room = 4;
    contacts_that_are_hard_are_the_cpus();
    gpu_bodies_of( s_gpu )->polytope_room = 0;
}

// ---- kernels alone

static void read_doubles( gpu_buffer buffer, double* to, size_t count )
{
    CHECK_OK( clv_gpu_read( s_gpu, buffer.memory, 0, to, count * sizeof( double ) ) );
}

// Poses turn by the quaternion they were given, and vertices stand where the pose puts them.
static void poses_and_vertices_are_where_transforms_put_them( void )
{
    static crowd s_crowd;
    static double poses[12 * 300], moved[3 * 300 * 64];
    make_crowd( &s_crowd, 300, 5, 1, HULLS );
    set_crowd( &s_crowd );
    CHECK_OK( gpu_test_update_bodies( s_gpu, CLV_VOLUME_AABB, s_crowd.at ) );
    read_doubles( gpu_bodies_of( s_gpu )->on.poses, poses, 12 * (size_t)s_crowd.count );
    read_doubles( gpu_bodies_of( s_gpu )->on.moved, moved, 3 * (size_t)gpu_bodies_of( s_gpu )->moved_count );
    uint32_t at = 0;
    for ( uint32_t i = 0; i < s_crowd.count; ++i )
    {
        const double* p = poses + 12 * (size_t)i;
        clv_gpu_hull hull = s_views[s_crowd.hulls[i]];
        for ( int r = 0; r < 3; ++r )
        {
            double length = p[3 * r] * p[3 * r] + p[3 * r + 1] * p[3 * r + 1] + p[3 * r + 2] * p[3 * r + 2];
            CHECK( fabs( length - 1 ) < 1e-14 );
        }
        for ( uint32_t v = 0; v < hull.vertex_count; ++v, ++at )
        {
            const float* own = &hull.vertices[v].x;
            for ( int r = 0; r < 3; ++r )
            {
                double wanted = p[3 * r] * (double)own[0] + p[3 * r + 1] * (double)own[1] +
                    p[3 * r + 2] * (double)own[2] + p[9 + r];
                CHECK( fabs( moved[3 * at + (uint32_t)r] - wanted ) < 1e-14 * ( 1 + fabs( wanted ) ) );
            }
        }
    }
}

// The axis is the CPU's for crowds along each of the nine.
static void the_axis_is_the_principal_one( void )
{
    static crowd s_crowd;
    for ( uint32_t axis = 0; axis < CLV_DOP_AXIS_COUNT; ++axis )
    {
        clv_vec3 along = clv_dop_axis( CLV_DOP_18, axis );
        make_crowd( &s_crowd, 500, 0, 1e4f, HULLS );
        for ( uint32_t i = 0; i < s_crowd.count; ++i )
        {
            s_crowd.at[i].position.x += along.x * (float)i;
            s_crowd.at[i].position.y += along.y * (float)i;
            s_crowd.at[i].position.z += along.z * (float)i + 1e5f;
        }
        set_crowd( &s_crowd );
        CHECK_OK( gpu_test_update_bodies( s_gpu, CLV_VOLUME_DOP18, s_crowd.at ) );
        CHECK_EQUAL( clv_gpu_get_stats( s_gpu ).axis, axis );
        set_crowd( &s_crowd );
        CHECK_OK( gpu_test_update_bodies( s_gpu, CLV_VOLUME_SPHERE, s_crowd.at ) );
        CHECK_EQUAL( clv_gpu_get_stats( s_gpu ).axis, axis );
        CHECK_OK( gpu_test_update_bodies( s_gpu, CLV_VOLUME_AABB, s_crowd.at ) );
        CHECK( clv_gpu_get_stats( s_gpu ).axis < 3 );
    }
}

// ---- refusals

static void bad_bodies_are_refused_by_number( void )
{
    static crowd s_crowd;
    static const clv_vec3 s_bad[2] = { { 0, 0, 0 }, { 0, NAN, 0 } };
    clv_gpu_hull bad[2] = { s_views[0], { s_bad, 2 } };
    uint32_t hulls[3] = { 0, 1, 2 };
    clv_aabb box;
    make_crowd( &s_crowd, 3, 0, 2, HULLS );
    set_crowd( &s_crowd );
    CHECK_RESULT( gpu_test_read_volumes( s_gpu, &box ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_gpu_set_bodies( s_gpu, bad, 2, NULL, 3 ), CLV_BAD_ARGUMENT );
    CHECK( strstr( clv_gpu_error( s_gpu ), "vertex 1 of hull 1" ) != NULL );
    bad[1].vertex_count = 0;
    CHECK_RESULT( clv_gpu_set_bodies( s_gpu, bad, 2, NULL, 3 ), CLV_BAD_ARGUMENT );
    CHECK( strstr( clv_gpu_error( s_gpu ), "hull 1 has no vertices" ) != NULL );
    CHECK_RESULT( clv_gpu_set_bodies( s_gpu, s_views, 2, hulls, 3 ), CLV_BAD_ARGUMENT );
    CHECK( strstr( clv_gpu_error( s_gpu ), "body 2 has hull 2, and there are 2" ) != NULL );
    CHECK_RESULT( clv_gpu_set_bodies( s_gpu, NULL, 0, NULL, 1 ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_gpu_set_bodies( s_gpu, s_views, 1, NULL, UINT32_MAX ), CLV_TOO_MANY_OBJECTS );
    check_volumes( &s_crowd, CLV_VOLUME_DOP18 ); // those from before
    clv_transform kept = s_crowd.at[2];
    s_crowd.at[2].rotation.w = INFINITY;
    CHECK_RESULT( gpu_test_update_bodies( s_gpu, CLV_VOLUME_AABB, s_crowd.at ), CLV_BAD_ARGUMENT );
    CHECK( strstr( clv_gpu_error( s_gpu ), "body 2" ) != NULL );
    s_crowd.at[2] = kept;
    check_volumes( &s_crowd, CLV_VOLUME_SPHERE );
    CHECK_OK( clv_gpu_set_bodies( s_gpu, NULL, 0, NULL, 0 ) );
    CHECK_OK( gpu_test_update_bodies( s_gpu, CLV_VOLUME_AABB, NULL ) );
    CHECK_EQUAL( clv_gpu_pair_count( s_gpu ), 0 );
    CHECK_OK( gpu_test_read_volumes( s_gpu, NULL ) );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( volumes_and_pairs_are_the_cpus ),
        TEST_CASE( bodies_far_away_and_in_one_spot_agree ),
        TEST_CASE( touching_counts_and_one_step_apart_does_not ),
        TEST_CASE( a_list_that_is_too_short_is_made_whole ),
        TEST_CASE( boxes_made_on_the_device_go_to_every_search ),
        TEST_CASE( poses_and_vertices_are_where_transforms_put_them ),
        TEST_CASE( the_axis_is_the_principal_one ),
        TEST_CASE( bad_bodies_are_refused_by_number ),
        TEST_CASE( contacts_of_a_crowd_are_the_cpus ),
        TEST_CASE( contacts_that_are_hard_are_the_cpus ),
        TEST_CASE( what_a_device_cannot_decide_the_host_finishes ),
    };
    if ( gpu_test_is_skipped() )
    {
        return 77;
    }
    s_gpu = gpu_test_make( CLV_GPU_AUTO );
    make_hulls();
    int status = test_run( "gpu_bodies", cases, TEST_COUNT( cases ), argc, argv );
    clv_gpu_destroy( s_gpu );
    for ( int i = 0; i < HULLS; ++i )
    {
        clv_hull_destroy( s_hulls[i] );
    }
    return status;
}
