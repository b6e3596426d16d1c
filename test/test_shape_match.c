// SPDX-License-Identifier: MIT
#include "heap.h"
#include "math/splitmix.h"
#include "shape_sim.h"
#include "shapes.h"
#include "soft_match.h"
#include "support.h"

#include <string.h>

static bool is_near( double a, double b, double tolerance )
{
    return a - b <= tolerance && b - a <= tolerance;
}

// ---- matching one body

static void a_plane_out_of_reach_changes_nothing( void )
{
    math_random random = math_random_seed( 51 );
    for ( int i = 0; i < 1000; ++i )
    {
        sim_rest_shape rest =
            sim_rest_shape_of( shapes_make( i % 2 ? SHAPES_OCTAHEDRON : SHAPES_CLOUD ).hull );
        math_pose pose = math_pose_widen( shapes_pose( &random, 10 ) ), fitted;
        sim_contact_plane plane = { math_random_direction( &random ), 100.0 };
        CHECK( sim_shape_match( &rest, &pose, plane, &fitted ) == MATH_POLAR_OK );
        CHECK( math_length( math_sub( fitted.position, pose.position ) ) < 1e-13 );
        math_vec3 x = math_make( 1, 2, 3 );
        math_vec3 turned = math_sub( math_apply( &fitted.rotation, x ), math_apply( &pose.rotation, x ) );
        CHECK( math_length( turned ) < 1e-12 );
    }
}

// A face flat on the floor: six of 24 vertices pushed up by d lift the body by d / 4 and do not turn it.
static void a_face_is_pushed_up_without_turning( void )
{
    clv_hull* hull = NULL;
    CHECK_OK( clv_hull_create_box( ( clv_vec3 ){ 1, 1, 1 }, &hull ) );
    sim_rest_shape rest = sim_rest_shape_of( hull );
    math_pose pose = { math_identity(), { 5, 0.9, 7 } }, fitted;
    sim_contact_plane floor = { { 0, -1, 0 }, 0.0 }; // everything below y = 0 is beyond
    CHECK( sim_shape_match( &rest, &pose, floor, &fitted ) == MATH_POLAR_OK );
    CHECK( is_near( fitted.position.y, 0.95, 1e-14 ) && is_near( fitted.position.x, 5, 1e-14 ) );
    CHECK( is_near( fitted.rotation.m[1][1], 1.0, 1e-14 ) );
    clv_hull_destroy( hull );
}

// One corner in the floor: the body rises and turns away from it, and the corner is less deep than before.
static void a_corner_turns_the_body( void )
{
    math_random random = math_random_seed( 52 );
    uint32_t turned = 0;
    for ( int i = 0; i < 1000; ++i )
    {
        clv_shape shape = shapes_make( SHAPES_OCTAHEDRON );
        sim_rest_shape rest = sim_rest_shape_of( shape.hull );
        clv_transform at = shapes_pose( &random, 1 );
        math_pose pose = math_pose_widen( at ), fitted;
        double lowest = -shapes_reach( shape, at, math_make( 0, -1, 0 ) );
        sim_contact_plane floor = { { 0, -1, 0 }, -( lowest + 0.05 ) };
        CHECK( sim_shape_match( &rest, &pose, floor, &fitted ) == MATH_POLAR_OK );
        CHECK( fitted.position.y > pose.position.y );
        clv_transform after = { math_narrow( fitted.position ),
            math_quat_narrow( math_quat_from_matrix( &fitted.rotation ) ) };
        CHECK( -shapes_reach( shape, after, math_make( 0, -1, 0 ) ) > lowest );
        CHECK( is_near( math_determinant( &fitted.rotation ), 1.0, 1e-12 ) );
        turned += math_abs( fitted.rotation.m[0][1] - pose.rotation.m[0][1] ) > 1e-6 ? 1 : 0;
    }
    CHECK( turned > 900 );
}

// Stretched bodies have stretched particle sums; the rotation found is the body's all the same.
static void stretched_bodies_keep_their_rotation( void )
{
    math_random random = math_random_seed( 53 );
    clv_hull* hull = NULL;
    CHECK_OK( clv_hull_create_truncated_octahedron( ( clv_vec3 ){ 1, 3, 1 }, &hull ) );
    sim_rest_shape rest = sim_rest_shape_of( hull );
    for ( int i = 0; i < 1000; ++i )
    {
        math_pose pose = math_pose_widen( shapes_pose( &random, 10 ) ), fitted;
        sim_contact_plane plane = { { 0, 1, 0 }, 1e9 };
        CHECK( sim_shape_match( &rest, &pose, plane, &fitted ) == MATH_POLAR_OK );
        for ( int k = 0; k < 9; ++k )
        {
            CHECK( is_near( fitted.rotation.m[k / 3][k % 3], pose.rotation.m[k / 3][k % 3], 1e-12 ) );
        }
    }
    clv_hull_destroy( hull );
}

static void flattened_bodies_only_move( void )
{
    sim_rest_shape rest = sim_rest_shape_of( shapes_make( SHAPES_OCTAHEDRON ).hull );
    math_pose pose = { math_identity(), { 0, 0, 0 } }, fitted;
    sim_contact_plane above_all = { { 0, -1, 0 }, -5.0 }; // every vertex ends on the plane y = 5
    CHECK( sim_shape_match( &rest, &pose, above_all, &fitted ) == MATH_POLAR_SINGULAR );
    CHECK( is_near( fitted.position.y, 5.0, 1e-12 ) && fitted.rotation.m[0][0] == 1.0 );
}

// ---- bodies without thickness

static clv_hull* make_flat( clv_vec3 half )
{
    clv_vec3 points[8];
    for ( int i = 0; i < 8; ++i )
    {
        points[i] =
            ( clv_vec3 ){ i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z };
    }
    clv_hull_def def = clv_default_hull_def();
    def.points = points;
    def.point_count = 8;
    clv_hull* hull = NULL;
    CHECK_OK( clv_hull_create( &def, &hull ) );
    return hull;
}

// A plate turns as a box does that is a hundredth as thick as wide, and a needle's axis as that of such a
// bar.
static void plates_and_needles_turn_as_thin_boxes_do( void )
{
    const clv_vec3 flat[4] = { { 1, 0, 0.7f }, { 1, 1e-6f, 0.7f }, { 1, 0, 0 }, { 1, 1e-9f, 1e-8f } };
    const clv_vec3 thick[4] = { { 1, 0.01f, 0.7f }, { 1, 0.01f, 0.7f }, { 1, 0.01f, 0.01f },
        { 1, 0.01f, 0.01f } };
    for ( uint32_t seed = 1; seed <= 400; ++seed )
    {
        test_where.seed = seed;
        math_random random = math_random_seed( seed );
        clv_hull *hull = make_flat( flat[seed % 4] ), *like = make_flat( thick[seed % 4] );
        sim_rest_shape rest = sim_rest_shape_of( hull ), rest_like = sim_rest_shape_of( like );
        CHECK_EQUAL( rest.rank, seed % 4 < 2 ? 2 : 1 );
        CHECK_EQUAL( rest_like.rank, 3 );
        math_pose pose = { math_quat_matrix( math_random_rotation( &random ) ), { 0, 5, 0 } }, fitted,
                  expected;
        sim_contact_plane floor = { { 0, -1, 0 }, math_random_between( &random, -4.99, -4.5 ) };
        CHECK( sim_shape_match( &rest, &pose, floor, &fitted ) == MATH_POLAR_OK );
        CHECK( is_near( math_determinant( &fitted.rotation ), 1.0, 1e-9 ) );
        if ( sim_shape_match( &rest_like, &pose, floor, &expected ) == MATH_POLAR_OK )
        {
            math_vec3 axis = seed % 4 < 2 ? math_make( 0, 1, 0 ) : math_make( 1, 0, 0 );
            math_vec3 a = math_apply( &fitted.rotation, axis ), b = math_apply( &expected.rotation, axis );
            CHECK( math_length( math_sub( a, b ) ) < 0.05 );
            CHECK( math_length( math_sub( fitted.position, expected.position ) ) < 0.05 );
        }
        clv_hull_destroy( hull );
        clv_hull_destroy( like );
    }
}

static void points_only_move( void )
{
    clv_hull* hull = make_flat( ( clv_vec3 ){ 0, 0, 0 } );
    sim_rest_shape rest = sim_rest_shape_of( hull );
    CHECK_EQUAL( rest.rank, 0 );
    math_random random = math_random_seed( 3 );
    math_pose pose = { math_quat_matrix( math_random_rotation( &random ) ), { 1, -2, 3 } }, fitted;
    sim_contact_plane floor = { { 0, -1, 0 }, 0.0 };
    CHECK( sim_shape_match( &rest, &pose, floor, &fitted ) == MATH_POLAR_OK );
    CHECK( is_near( fitted.position.y, 0.0, 1e-12 ) );
    CHECK( is_near( fitted.rotation.m[0][0], pose.rotation.m[0][0], 1e-12 ) );
    clv_hull_destroy( hull );
}

// Plates, needles and solids among each other, thrown on the floor askew: nothing is lost, and plates come to
// lie flat.
static void flat_bodies_fall_and_lie_down( void )
{
    const clv_vec3 halves[4] = { { 1, 0, 1 }, { 1, 1e-7f, 0.6f }, { 1, 0, 0 }, { 0.5f, 0.5f, 0.5f } };
    for ( int volume = 0; volume < 3; ++volume )
    {
        clv_shape_sim_def def = clv_default_shape_sim_def();
        def.volume = (clv_volume_kind)volume;
        clv_shape_sim* sim = NULL;
        CHECK_OK( clv_shape_sim_create( &def, &sim ) );
        clv_hull* hulls[4];
        math_random random = math_random_seed( 9 );
        for ( int i = 0; i < 4; ++i )
        {
            hulls[i] = make_flat( halves[i] );
            clv_transform at = shapes_pose( &random, 0.1 );
            at.position.x = 5.0f * (float)i;
            at.position.y = 3;
            CHECK_OK( clv_shape_sim_add( sim, hulls[i], at ) );
            at.position.y = 9; // and one more on top of it
            CHECK_OK( clv_shape_sim_add( sim, hulls[i], at ) );
        }
        for ( int frame = 0; frame < 1500; ++frame )
        {
            CHECK_OK( clv_shape_sim_step( sim ) );
            CHECK_EQUAL( clv_shape_sim_get_stats( sim ).singular_count, 0 );
        }
        for ( uint32_t i = 0; i < 8; ++i )
        {
            math_pose pose = math_pose_widen( clv_shape_sim_transform( sim, i ) );
            clv_hull_view view = clv_hull_get_view( hulls[i / 2] );
            double lowest = HUGE_VAL, highest = -HUGE_VAL;
            for ( uint32_t v = 0; v < view.vertex_count; ++v )
            {
                double y = math_pose_apply( &pose, math_widen( view.vertices[v] ) ).y;
                lowest = math_min( lowest, y ), highest = math_max( highest, y );
            }
            test_where.frame = i;
            CHECK( lowest > -0.1 && highest < 3.0 );
            CHECK( i >= 6 || i % 2 == 1 || highest < 0.4 ); // the lower ones of plates and needles
        }
        clv_shape_sim_destroy( sim );
        for ( int i = 0; i < 4; ++i )
        {
            clv_hull_destroy( hulls[i] );
        }
    }
}

// ---- integrators

static void integrators_follow_their_formulas( void )
{
    math_vec3 g = { 0, -1, 0 }, x = { 0, 10, 0 }, v = { 2, 0, 0 };
    sim_fly( CLV_VELOCITY_VERLET, g, 0.5, &x, &v );
    CHECK( x.x == 2.0 && x.y == 9.5 && v.x == 1.0 && v.y == -0.5 );
    x = math_make( 0, 10, 0 ), v = math_make( 2, 0, 0 );
    sim_fly( CLV_EULER, g, 0.5, &x, &v );
    CHECK( x.x == 2.0 && x.y == 10.0 && v.x == 1.0 && v.y == -0.5 );
    x = math_make( 0, 10, 0 ), v = math_make( 2, 0, 0 );
    sim_fly( CLV_VERLET, g, 0.5, &x, &v );
    CHECK( x.x == 1.0 && x.y == 9.0 && v.x == 1.0 && v.y == -1.0 );
}

static void runge_kutta_is_velocity_verlet_under_constant_gravity( void )
{
    math_vec3 g = { 0, -0.05, 0 }, x = { 0, 10, 0 }, v = { 2, 0, 1 }, y = x, w = v;
    for ( int i = 0; i < 1000; ++i )
    {
        sim_fly( CLV_VELOCITY_VERLET, g, 0.95, &x, &v );
        sim_fly( CLV_RUNGE_KUTTA, g, 0.95, &y, &w );
        CHECK( x.x == y.x && x.y == y.y && x.z == y.z && v.y == w.y );
    }
}

// Without damping: exact for both second-order methods, off by g/2 a frame for Euler's.
static void free_fall_is_a_parabola( void )
{
    for ( int how = 0; how < 4; ++how )
    {
        math_vec3 g = { 0, -0.25, 0 }, x = { 0, 0, 0 }, v = { 0, 0, 0 };
        for ( int i = 0; i < 100; ++i )
        {
            sim_fly( how, g, 1.0, &x, &v );
        }
        double off = how == CLV_EULER ? 0.125 * 100 : how == CLV_VERLET ? -0.125 * 100 : 0.0;
        CHECK( x.y == -0.125 * 100 * 100 + off );
    }
}

// ---- whole simulations

static clv_shape_sim* make_tower(
    const clv_shape_sim_def* def, const clv_hull* hull, uint32_t count, double gap )
{
    clv_shape_sim* sim = NULL;
    CHECK_OK( clv_shape_sim_create( def, &sim ) );
    math_random random = math_random_seed( 54 );
    for ( uint32_t i = 1; i <= count; ++i )
    {
        clv_transform at = clv_transform_at( 0, (float)( gap * i ), 0 );
        at.rotation = math_quat_narrow( math_random_rotation( &random ) );
        CHECK_OK( clv_shape_sim_add( sim, hull, at ) );
    }
    return sim;
}

static uint64_t hash_bodies( const clv_shape_sim* sim )
{
    uint64_t hash = 0;
    for ( uint32_t i = 0; i < clv_shape_sim_body_count( sim ); ++i )
    {
        clv_transform at = clv_shape_sim_transform( sim, i );
        uint32_t words[7];
        memcpy( words, &at, sizeof( words ) );
        for ( int k = 0; k < 7; ++k )
        {
            hash = test_mix( hash ^ words[k] );
        }
    }
    return hash;
}

static clv_hull* make_octahedron( void )
{
    clv_hull* hull = NULL;
    CHECK_OK( clv_hull_create_truncated_octahedron( ( clv_vec3 ){ 1, 1, 1 }, &hull ) );
    return hull;
}

static void a_body_falls_lands_and_rests( void )
{
    clv_hull* hull = make_octahedron();
    clv_shape_sim_def def = clv_default_shape_sim_def();
    clv_shape_sim* sim = make_tower( &def, hull, 1, 10 );
    for ( int i = 0; i < 400; ++i )
    {
        CHECK_OK( clv_shape_sim_step( sim ) );
    }
    clv_shape_sim_stats stats = clv_shape_sim_get_stats( sim );
    CHECK( stats.frame == 400 && stats.landed_count == 1 && stats.floor_hit_count == 1 );
    CHECK( stats.kinetic_energy < 1e-9 && stats.deepest < 0.02 );
    float y = clv_shape_sim_transform( sim, 0 ).position.y;
    CHECK( y > 0.75f && y < 1.0f ); // on a hexagon or a square
    clv_shape_sim_destroy( sim );
    clv_hull_destroy( hull );
}

// Forty bodies, every volume and integrator: energy falls, penetration stays small, everything comes to rest
// on the floor.
static void towers_collapse_without_gaining_energy( void )
{
    clv_hull* hull = make_octahedron();
    for ( int variant = 0; variant < 6; ++variant )
    {
        clv_shape_sim_def def = clv_default_shape_sim_def();
        def.volume = (clv_volume_kind)( variant % 3 );
        def.integrator = variant < 3 ? CLV_VELOCITY_VERLET : (clv_integrator)( variant - 2 );
        test_where.seed = (uint64_t)variant;
        clv_shape_sim* sim = make_tower( &def, hull, 40, 4 );
        double energy = HUGE_VAL, first = 0.0;
        for ( uint32_t frame = 0; frame < 700; ++frame )
        {
            test_where.frame = frame;
            CHECK_OK( clv_shape_sim_step( sim ) );
            clv_shape_sim_stats stats = clv_shape_sim_get_stats( sim );
            double now = stats.kinetic_energy + stats.potential_energy;
            first = frame == 0 ? now : first;
            // Pushing bodies apart may lift one a little; Euler's rule gains half of g squared a frame while
            // they fall.
            CHECK( now <= energy + 2e-4 * first );
            CHECK( now <= first * ( def.integrator == CLV_EULER ? 1.001 : 1.0 ) );
            CHECK( stats.deepest < 1.0 && stats.mean_depth < 0.3 );
            CHECK( stats.hit_count <= stats.candidate_count );
            energy = now;
        }
        clv_shape_sim_stats stats = clv_shape_sim_get_stats( sim );
        CHECK_EQUAL( stats.landed_count, 40 );
        // Under Euler's rule a resting body falls in every other frame.
        CHECK( stats.kinetic_energy < ( def.integrator == CLV_EULER ? 0.1 : 1e-3 ) && stats.deepest < 0.05 );
        clv_shape_sim_destroy( sim );
    }
    clv_hull_destroy( hull );
}

static void stage_times_change_nothing( void )
{
    clv_hull* hull = make_octahedron();
    uint64_t hashes[2];
    for ( int timed = 0; timed < 2; ++timed )
    {
        clv_shape_sim_def def = clv_default_shape_sim_def();
        def.stage_times = timed == 1;
        clv_shape_sim* sim = make_tower( &def, hull, 20, 3 );
        for ( int i = 0; i < 200; ++i )
        {
            CHECK_OK( clv_shape_sim_step( sim ) );
        }
        clv_shape_sim_stats stats = clv_shape_sim_get_stats( sim );
        CHECK( ( stats.narrow_ms > 0.0 ) == ( timed == 1 ) );
        // The phases of the sweep lie within it, and are not told unless asked for.
        double phases_ms = stats.axis_ms + stats.project_ms + stats.sort_ms + stats.prune_ms;
        CHECK( ( phases_ms > 0.0 ) == ( timed == 1 ) );
        CHECK( phases_ms <= stats.sweep_ms + 1e-9 );
        hashes[timed] = hash_bodies( sim );
        clv_shape_sim_destroy( sim );
    }
    CHECK_EQUAL( hashes[0], hashes[1] );
    clv_hull_destroy( hull );
}

// The same bits with every compiler, optimisation and machine; a change of results must be meant.
static void a_tower_ends_in_golden_bits( void )
{
    static const uint64_t golden[3] = { UINT64_C( 11546233766805630262 ), UINT64_C( 508905723824050901 ),
        UINT64_C( 9960711412947822591 ) };
    clv_hull* hull = make_octahedron();
    for ( int volume = 0; volume < 3; ++volume )
    {
        clv_shape_sim_def def = clv_default_shape_sim_def();
        def.volume = (clv_volume_kind)volume;
        clv_shape_sim* sim = make_tower( &def, hull, 40, 5 );
        for ( int i = 0; i < 500; ++i )
        {
            CHECK_OK( clv_shape_sim_step( sim ) );
        }
        test_where.seed = (uint64_t)volume;
        CHECK_EQUAL( hash_bodies( sim ), golden[volume] );
        clv_shape_sim_destroy( sim );
    }
    clv_hull_destroy( hull );
}

static void kept_velocities_go_on_falling( void )
{
    clv_hull* hull = make_octahedron();
    clv_shape_sim_def def = clv_default_shape_sim_def();
    def.after_contact = CLV_VELOCITY_KEPT;
    clv_shape_sim* sim = make_tower( &def, hull, 1, 10 );
    for ( int i = 0; i < 400; ++i )
    {
        CHECK_OK( clv_shape_sim_step( sim ) );
    }
    // Terminal velocity: g d / ( 1 - d ).
    CHECK( is_near( (double)clv_shape_sim_velocity( sim, 0 ).y, -9.8 * 0.0049 * 0.95 / 0.05, 1e-4 ) );
    float y = clv_shape_sim_transform( sim, 0 ).position.y;
    CHECK( y > 0.5f && y < 1.0f );
    clv_shape_sim_destroy( sim );
    clv_hull_destroy( hull );
}

// Twenty cubes turned at random above each other, the lowest center in `frames` frames.
static double drop_heap( const clv_shape_sim_def* def, double side, uint64_t seed, uint32_t frames )
{
    clv_hull* hull = NULL;
    clv_shape_sim* sim = NULL;
    math_random random = math_random_seed( seed );
    float half = (float)( side / 2 );
    double lowest = HUGE_VAL;
    CHECK_OK( clv_hull_create_box( ( clv_vec3 ){ half, half, half }, &hull ) );
    CHECK_OK( clv_shape_sim_create( def, &sim ) );
    for ( uint32_t i = 0; i < 20; ++i )
    {
        double x = math_random_between( &random, -1.5 * side, 1.5 * side );
        double z = math_random_between( &random, -1.5 * side, 1.5 * side );
        clv_transform at = clv_transform_at( (float)x, (float)( 1 + 1.5 * side * i ), (float)z );
        at.rotation = math_quat_narrow( math_random_rotation( &random ) );
        CHECK_OK( clv_shape_sim_add( sim, hull, at ) );
    }
    for ( uint32_t frame = 0; frame < frames; ++frame )
    {
        test_where.frame = frame;
        CHECK_OK( clv_shape_sim_step( sim ) );
        for ( uint32_t i = 0; i < 20; ++i )
        {
            lowest = fmin( lowest, (double)clv_shape_sim_transform( sim, i ).position.y );
        }
    }
    clv_shape_sim_destroy( sim );
    clv_hull_destroy( hull );
    return lowest;
}

// One round brings the mean of its vertices to the floor, the next ones push it out.
static void a_body_below_the_floor_is_lifted( void )
{
    for ( uint32_t rounds = 1; rounds <= 10; rounds += 9 )
    {
        clv_shape_sim_def def = clv_default_shape_sim_def();
        clv_hull* hull = NULL;
        clv_shape_sim* sim = NULL;
        def.gravity = 0;
        def.round_count = rounds;
        CHECK_OK( clv_hull_create_box( ( clv_vec3 ){ 0.5f, 0.5f, 0.5f }, &hull ) );
        CHECK_OK( clv_shape_sim_create( &def, &sim ) );
        CHECK_OK( clv_shape_sim_add( sim, hull, clv_transform_at( 0, -5, 0 ) ) );
        CHECK_OK( clv_shape_sim_step( sim ) );
        float y = clv_shape_sim_transform( sim, 0 ).position.y;
        CHECK( rounds == 1 ? y == 0.0f : y > 0.45f && y <= 0.5f );
        CHECK_EQUAL( clv_shape_sim_get_stats( sim ).singular_count, 1 );
        CHECK_EQUAL( clv_shape_sim_get_stats( sim ).unturned_count, rounds == 1 ? 1 : 0 );
        clv_shape_sim_destroy( sim );
        clv_hull_destroy( hull );
    }
}

// A body that falls farther in a frame than it is large is wholly below the floor then, and those above it
// keep it busy.
static void nothing_sinks_through_the_floor( void )
{
    for ( uint32_t seed = 1; seed <= test_scaled( 8 ); ++seed )
    {
        for ( int kept = 0; kept < 2; ++kept )
        {
            clv_shape_sim_def def = clv_default_shape_sim_def();
            def.after_contact = kept == 1 ? CLV_VELOCITY_KEPT : CLV_VELOCITY_MOVED;
            def.volume = (clv_volume_kind)( seed % 3 );
            def.integrator = (clv_integrator)( seed % 4 );
            test_where.seed = seed;
            CHECK( drop_heap( &def, 1.0, seed, 200 ) > 0.0 );
            CHECK( drop_heap( &def, 0.2, seed, 80 ) > 0.0 );
        }
    }
    for ( int match = CLV_MATCH_LINEAR; match <= CLV_MATCH_QUADRATIC; ++match )
    {
        clv_shape_sim_def def = clv_default_shape_sim_def();
        def.after_contact = CLV_VELOCITY_KEPT;
        def.match = (clv_match_mode)match;
        CHECK( drop_heap( &def, 1.0, 3, 200 ) > -1.0 ); // by less than it is large
    }
}

static void note_line( clv_log_level level, const char* line, void* user )
{
    (void)level;
    snprintf( user, 128, "%s", line );
}

// `wrong` differs from the default in one member; the reason must speak of `word`.
static void check_refusal( clv_shape_sim_def wrong, clv_result expected, const char* word )
{
    char line[128] = "";
    clv_shape_sim* sim = (clv_shape_sim*)(uintptr_t)8;
    wrong.logger = ( clv_logger ){ note_line, line };
    test_where.note = word;
    CHECK_RESULT( clv_shape_sim_create( &wrong, &sim ), expected );
    CHECK( sim == NULL );
    CHECK( strstr( line, word ) != NULL );
    wrong.logger = ( clv_logger ){ 0 };
    CHECK_RESULT( clv_shape_sim_create( &wrong, &sim ), expected ); // no logger is needed
}

static void bad_defs_are_refused_with_the_reason( void )
{
    const clv_shape_sim_def good = clv_default_shape_sim_def();
    heap hooks = { 0 };
    clv_shape_sim_def bad;
#define REFUSE( change, word ) bad = good, change, check_refusal( bad, CLV_BAD_DEF, word )
    REFUSE( bad.cookie = 1, "clv_default_shape_sim_def" );
    REFUSE( bad.size -= 1, "clv_default_shape_sim_def" );
    REFUSE( bad.volume = (clv_volume_kind)7, "volume" );
    REFUSE( bad.integrator = (clv_integrator)4, "integrator" );
    REFUSE( bad.after_contact = (clv_contact_velocity)2, "after_contact" );
    REFUSE( bad.gravity = NAN, "gravity" );
    REFUSE( bad.speed = -1, "speed" );
    REFUSE( bad.speed = INFINITY, "speed" );
    REFUSE( bad.damping = 1.5f, "damping" );
    REFUSE( bad.damping = -0.5f, "damping" );
    REFUSE( bad.carry = NAN, "carry" );
    REFUSE( bad.carry = 2, "carry" );
    REFUSE( bad.round_count = 0, "round_count" );
    REFUSE( bad.round_count = 1001, "round_count" );
    // Taken at its word, half an allocator would end in a call of NULL.
    REFUSE( ( bad.allocator = heap_hooks( &hooks ), bad.allocator.release = NULL ), "allocator" );
#undef REFUSE
    heap empty = { .refuse_from = 1, .refuse_count = UINT64_MAX };
    bad = good;
    bad.allocator = heap_hooks( &empty );
    check_refusal( bad, CLV_OUT_OF_MEMORY, "memory" );
}

static void bad_bodies_are_refused( void )
{
    clv_shape_sim* sim = NULL;
    clv_shape_sim_def def = clv_default_shape_sim_def();
    CHECK_OK( clv_shape_sim_create( &def, &sim ) );
    clv_hull* hull = make_octahedron();
    CHECK_RESULT( clv_shape_sim_add( sim, NULL, clv_identity_transform() ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_shape_sim_add( sim, hull, clv_transform_at( 0, NAN, 0 ) ), CLV_BAD_ARGUMENT );
    CHECK_OK( clv_shape_sim_step( sim ) ); // an empty world is a world
    CHECK_EQUAL( clv_shape_sim_body_count( sim ), 0 );
    clv_shape_sim_destroy( sim );
    clv_hull_destroy( hull );
}

int main( int argc, char** argv )
{
    static const test_case cases[] = {
        TEST_CASE( a_plane_out_of_reach_changes_nothing ),
        TEST_CASE( a_face_is_pushed_up_without_turning ),
        TEST_CASE( a_corner_turns_the_body ),
        TEST_CASE( stretched_bodies_keep_their_rotation ),
        TEST_CASE( flattened_bodies_only_move ),
        TEST_CASE( plates_and_needles_turn_as_thin_boxes_do ),
        TEST_CASE( points_only_move ),
        TEST_CASE( flat_bodies_fall_and_lie_down ),
        TEST_CASE( integrators_follow_their_formulas ),
        TEST_CASE( runge_kutta_is_velocity_verlet_under_constant_gravity ),
        TEST_CASE( free_fall_is_a_parabola ),
        TEST_CASE( a_body_falls_lands_and_rests ),
        TEST_CASE( towers_collapse_without_gaining_energy ),
        TEST_CASE( stage_times_change_nothing ),
        TEST_CASE( a_tower_ends_in_golden_bits ),
        TEST_CASE( kept_velocities_go_on_falling ),
        TEST_CASE( a_body_below_the_floor_is_lifted ),
        TEST_CASE( nothing_sinks_through_the_floor ),
        TEST_CASE( bad_defs_are_refused_with_the_reason ),
        TEST_CASE( bad_bodies_are_refused ),
    };
    return test_run( "shape_match", cases, TEST_COUNT( cases ), argc, argv );
}
