// SPDX-License-Identifier: MIT
// Boxes fall, stack, slide, bounce and come to rest as they should; nothing explodes, nothing leaves, and the
// bits do not depend on the number of workers.
#include "cleave/sim.h"
#include "heap.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRAME ( 1.0f / 60.0f )
#define SUBSTEPS 4

static clv_rigid* make_world( const clv_rigid_def* def )
{
    clv_rigid* world;
    CHECK_RESULT( clv_rigid_create( def, &world ), CLV_OK );
    return world;
}

/// Worlds are made lean where a test says so.
static bool s_lean;

static clv_rigid_def usual_def( void )
{
    clv_rigid_def def = clv_default_rigid_def();
    CHECK( !def.lean );
    def.lean = s_lean;
    return def;
}

static clv_rigid_def floor_def( void )
{
    clv_rigid_def def = usual_def();
    def.walls.lower.y = 0.0f;
    return def;
}

static clv_rigid_body cube_at( float x, float y, float z )
{
    clv_rigid_body body = clv_default_rigid_body();
    body.position = ( clv_vec3 ){ x, y, z };
    return body;
}

static void add( clv_rigid* world, clv_rigid_body body )
{
    CHECK_RESULT( clv_rigid_add( world, &body, 1 ), CLV_OK );
}

static void step( clv_rigid* world, uint32_t frames )
{
    for ( uint32_t frame = 0; frame < frames; ++frame )
    {
        test_where.frame = frame;
        CHECK_RESULT( clv_rigid_step( world, FRAME, SUBSTEPS ), CLV_OK );
    }
}

static float speed_of( const clv_rigid* world, uint32_t index )
{
    clv_vec3 v = clv_rigid_get( world, index ).velocity;
    return sqrtf( v.x * v.x + v.y * v.y + v.z * v.z );
}

static void a_box_comes_to_rest_on_the_floor( void )
{
    clv_rigid_def def = floor_def();
    clv_rigid* world = make_world( &def );
    add( world, cube_at( 0, 3, 0 ) );
    step( world, 180 );
    clv_rigid_body body = clv_rigid_get( world, 0 );
    CHECK( fabsf( body.position.y - 0.5f ) < 0.01f );
    CHECK( speed_of( world, 0 ) == 0.0f );
    CHECK( clv_rigid_is_asleep( world, 0 ) );
    clv_rigid_destroy( world );
}

static void a_stack_of_ten_stands( void )
{
    clv_rigid_def def = floor_def();
    def.sleep = false; // it must stand by itself
    clv_rigid* world = make_world( &def );
    for ( uint32_t i = 0; i < 10; ++i )
    {
        add( world, cube_at( 0, 0.5f + (float)i, 0 ) );
    }
    step( world, 600 );
    for ( uint32_t i = 0; i < 10; ++i )
    {
        clv_rigid_body body = clv_rigid_get( world, i );
        CHECK( fabsf( body.position.x ) < 0.02f && fabsf( body.position.z ) < 0.02f );
        CHECK( fabsf( body.position.y - 0.5f - (float)i ) < 0.01f * (float)( i + 1 ) );
        CHECK( speed_of( world, i ) < 0.01f );
    }
    CHECK( clv_rigid_last_report( world ).penetration_most < 0.01 );
    clv_rigid_destroy( world );
}

// Cubes on each other without sleep, masses from 1 at the bottom to `top` in even steps. Do they stand, and
// how far does the last one sink?
static bool stands(
    const clv_rigid_def* def, uint32_t count, float top, uint32_t substeps, float seconds, float* sunk )
{
    clv_rigid* world = make_world( def );
    bool is_up = true;
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_rigid_body cube = cube_at( 0, 0.5f + (float)i, 0 );
        cube.mass = 1.0f + ( top - 1.0f ) * (float)i / (float)( count - 1 );
        add( world, cube );
    }
    *sunk = 0;
    for ( uint32_t frame = 0; frame < (uint32_t)( seconds / FRAME ) && is_up; ++frame )
    {
        test_where.frame = frame;
        CHECK_RESULT( clv_rigid_step( world, FRAME, substeps ), CLV_OK );
        clv_vec3 at = clv_rigid_get( world, count - 1 ).position;
        *sunk = fmaxf( *sunk, (float)count - 0.5f - at.y );
        is_up = fabsf( at.x ) < 0.25f && fabsf( at.z ) < 0.25f && *sunk < 0.25f;
    }
    clv_rigid_destroy( world );
    return is_up;
}

// What docs/physics.md says of light bodies under heavy ones, and how to hold more.
static void stacks_stand_as_high_as_the_docs_say( void )
{
    static const struct
    {
        uint32_t count;
        float top;
    } rows[] = { { 14, 1 }, { 12, 4 }, { 10, 8 }, { 8, 16 }, { 6, 64 } };
    clv_rigid_def def = floor_def();
    float sunk = 0;
    def.sleep = false;
    for ( size_t i = 0; i < TEST_COUNT( rows ); ++i )
    {
        test_where.seed = i;
        CHECK( stands( &def, rows[i].count, rows[i].top, SUBSTEPS, 60, &sunk ) && sunk < 0.1f );
    }
    def.sleep = true;
    CHECK( stands( &def, 10, 28, SUBSTEPS, 60, &sunk ) );
    def.sleep = false;
    CHECK( !stands( &def, 10, 28, SUBSTEPS, 20, &sunk ) ); // springs of 30 Hz are too soft for that
    def.contact_hertz = 60;
    CHECK( stands( &def, 10, 28, 8, 60, &sunk ) && sunk < 0.03f );
}

/// How far a cube gets on the floor within two seconds when gravity leans over by `slope`.
static float slide( float slope )
{
    clv_rigid_def def = floor_def();
    float length = sqrtf( 1.0f + slope * slope );
    def.gravity = ( clv_vec3 ){ 9.81f * slope / length, -9.81f / length, 0 };
    clv_rigid* world = make_world( &def );
    clv_rigid_body plank = cube_at( 0, 0.1f, 0 );
    plank.half = ( clv_vec3 ){ 0.5f, 0.1f, 0.5f };
    add( world, plank );
    step( world, 120 );
    float way = clv_rigid_get( world, 0 ).position.x;
    clv_rigid_destroy( world );
    return way;
}

static void friction_holds_up_to_its_coefficient_and_no_farther( void )
{
    CHECK( slide( 0.55f ) < 0.01f );
    // a = g ( sin - mu cos ), s = a t^2 / 2
    float slope = 0.9f, cosine = 1.0f / sqrtf( 1.0f + slope * slope );
    float expected = 0.5f * 9.81f * cosine * ( slope - 0.6f ) * 4.0f;
    CHECK( fabsf( slide( slope ) - expected ) < 0.05f * expected );
}

/// A plank that spins on the floor about the vertical is stopped by the twist of the contact alone.
static void a_spinning_plank_stops( void )
{
    clv_rigid_def def = floor_def();
    clv_rigid* world = make_world( &def );
    clv_rigid_body plank = cube_at( 0, 0.1f, 0 );
    plank.half = ( clv_vec3 ){ 1.0f, 0.1f, 1.0f };
    plank.angular_velocity = ( clv_vec3 ){ 0, 5, 0 };
    add( world, plank );
    step( world, 10 );
    CHECK( fabsf( clv_rigid_get( world, 0 ).angular_velocity.y ) > 2.0f );
    step( world, 110 );
    CHECK( fabsf( clv_rigid_get( world, 0 ).angular_velocity.y ) < 0.01f );
    clv_rigid_destroy( world );
}

static float bounce_height( float restitution )
{
    clv_rigid_def def = floor_def();
    def.restitution = restitution;
    clv_rigid* world = make_world( &def );
    add( world, cube_at( 0, 2.5f, 0 ) );
    float highest = 0;
    bool landed = false;
    for ( uint32_t frame = 0; frame < 120; ++frame )
    {
        step( world, 1 );
        clv_rigid_body body = clv_rigid_get( world, 0 );
        landed = landed || body.position.y < 0.55f;
        highest = landed ? fmaxf( highest, body.position.y ) : 0;
    }
    clv_rigid_destroy( world );
    return highest;
}

static void restitution_gives_back_its_share( void )
{
    CHECK( bounce_height( 0.0f ) < 0.56f );
    float half = bounce_height( 0.5f ); // a quarter of the height
    CHECK( half > 0.5f + 0.35f && half < 0.5f + 0.65f );
    float full = bounce_height( 1.0f );
    CHECK( full > 2.1f && full < 2.7f );
}

/// Overlaps are undone at up to 3 metres per second, of which one relaxing pass over four points leaves a few
/// percent.
static void undoing_an_overlap_adds_little_speed( void )
{
    clv_rigid_def def = usual_def();
    def.gravity = ( clv_vec3 ){ 0, 0, 0 };
    clv_rigid* world = make_world( &def );
    add( world, cube_at( 0, 0, 0 ) );
    add( world, cube_at( 0.7f, 0, 0 ) );
    for ( uint32_t frame = 0; frame < 60; ++frame )
    {
        step( world, 1 );
        CHECK( speed_of( world, 0 ) < 0.15f );
        CHECK( fabsf( speed_of( world, 0 ) - speed_of( world, 1 ) ) < 1e-3f );
    }
    CHECK( clv_rigid_get( world, 1 ).position.x - clv_rigid_get( world, 0 ).position.x > 0.999f );
    clv_rigid_destroy( world );
}

/// It would be a fifth of its side inside where it is met only when it touches.
static void a_fast_body_stops_at_the_surface( void )
{
    clv_rigid_def def = usual_def();
    def.gravity = ( clv_vec3 ){ 0, 0, 0 };
    clv_rigid* world = make_world( &def );
    clv_rigid_body rock = cube_at( 0, 0, 0 ), ball = cube_at( 1.51f, 0.1f, 0 );
    rock.mass = 0;
    ball.velocity.x = -6;
    add( world, rock );
    add( world, ball );
    for ( uint32_t frame = 0; frame < 10; ++frame )
    {
        CHECK_RESULT( clv_rigid_step( world, 1.0f / 30.0f, SUBSTEPS ), CLV_OK );
        CHECK( clv_rigid_get( world, 1 ).position.x > 0.98f );
    }
    CHECK( clv_rigid_get( world, 1 ).position.x < 1.1f );
    clv_rigid_destroy( world );
}

// ---- crowds

static clv_rigid* make_crowd( uint32_t count, uint32_t workers, bool assorted, float side )
{
    clv_rigid_def def = usual_def();
    float h = 0.5f * side;
    def.walls = ( clv_aabb ){ { -h, -h, -h }, { h, h, h } };
    def.worker_count = workers;
    clv_rigid* world = make_world( &def );
    test_random random = test_random_make( 5 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        float r = 0.4f * side;
        // One draw after the other: the order of arguments is the compiler's.
        float z = test_random_between( &random, -r, r );
        float y = test_random_between( &random, -r, r );
        float x = test_random_between( &random, -r, r );
        clv_rigid_body body = cube_at( x, y, z );
        body.velocity.x = test_random_between( &random, -9, 9 );
        body.velocity.y = test_random_between( &random, -9, 9 );
        body.velocity.z = test_random_between( &random, -9, 9 );
        if ( assorted )
        {
            body.half.x = test_random_between( &random, 0.05f, 1 );
            body.half.y = test_random_between( &random, 0.05f, 1 );
            body.half.z = i % 10 == 0 ? 3.0f : test_random_between( &random, 0.05f, 1 );
        }
        add( world, body );
    }
    return world;
}

static void a_crowd_comes_to_rest_inside_the_walls( void )
{
    const float side = 16;
    clv_rigid* world = make_crowd( 600, 1, true, side );
    double last = INFINITY, least_gain = 0, start = 0, late = 0;
    for ( uint32_t frame = 0; frame < 500; ++frame )
    {
        step( world, 1 );
        test_where.frame = frame;
        clv_rigid_report report = clv_rigid_last_report( world );
        double energy = report.kinetic_energy + report.potential_energy;
        start = frame == 0 ? report.kinetic_energy : start;
        least_gain = fmax( least_gain, energy - last );
        last = energy;
        late += frame >= 400 ? report.kinetic_energy / 100 : 0;
        for ( uint32_t i = 0; i < 600; ++i )
        {
            clv_vec3 p = clv_rigid_get( world, i ).position;
            CHECK(
                fabsf( p.x ) <= 0.5f * side && fabsf( p.y ) <= 0.5f * side && fabsf( p.z ) <= 0.5f * side );
        }
    }
    // Pushing overlaps out lifts bodies a little; a hundredth of a percent of what they started with is no
    // growth.
    CHECK( least_gain < 1e-4 * start + 0.5 );
    clv_rigid_report report = clv_rigid_last_report( world );
    CHECK( late < 1e-3 * start ); // a mean: single bodies may still slip off the heap
    CHECK( report.penetration_mean_relative < 0.02 );
    CHECK_EQUAL( report.body_count, 600 );
    clv_rigid_destroy( world );
}

static uint64_t hash_run( uint32_t workers, bool assorted )
{
    clv_rigid* world = make_crowd( 3000, workers, assorted, 28 );
    clv_aabb* boxes = test_alloc( 3000, sizeof( clv_aabb ) );
    uint64_t hash = 0;
    for ( uint32_t frame = 0; frame < test_scaled( 40 ); ++frame )
    {
        step( world, 1 );
        clv_rigid_boxes( world, boxes );
        for ( uint32_t i = 0; i < 3000; ++i )
        {
            uint64_t words[3];
            memcpy( words, &boxes[i], sizeof( words ) );
            hash = test_mix( hash ^ words[0] ) + test_mix( words[1] + 1 ) + test_mix( words[2] + 2 ) * 3;
        }
    }
    free( boxes );
    clv_rigid_destroy( world );
    return hash;
}

static void any_number_of_workers_gives_the_same_bits( void )
{
    for ( int assorted = 0; assorted < 2; ++assorted )
    {
        uint64_t expected = hash_run( 1, assorted != 0 );
        for ( uint32_t workers = 2; workers <= 4; ++workers )
        {
            test_where.seed = workers;
            if ( test_is_share( workers + (uint32_t)assorted, 3 ) )
            {
                CHECK_EQUAL( hash_run( workers, assorted != 0 ), expected );
            }
        }
    }
}

/// Kinetic energy, and potential against this gravity.
static double energy_of( const clv_rigid* world, clv_vec3 g )
{
    double energy = clv_rigid_last_report( world ).kinetic_energy;
    for ( uint32_t i = 0; i < clv_rigid_body_count( world ); ++i )
    {
        clv_rigid_body body = clv_rigid_get( world, i );
        clv_vec3 p = body.position;
        energy -= (double)( body.mass * ( g.x * p.x + g.y * p.y + g.z * p.z ) );
    }
    return energy;
}

/// How far the box that sticks out most does so.
static double most_outside( const clv_rigid* world, clv_aabb* boxes, float half )
{
    float most = 0;
    clv_rigid_boxes( world, boxes );
    for ( uint32_t i = 0; i < clv_rigid_body_count( world ); ++i )
    {
        const clv_aabb* box = &boxes[i];
        float lower = fminf( box->lower.x, fminf( box->lower.y, box->lower.z ) );
        float upper = fmaxf( box->upper.x, fmaxf( box->upper.y, box->upper.z ) );
        most = fmaxf( most, fmaxf( upper, -lower ) - half );
    }
    return (double)most;
}

/// Gravity turns once in six seconds and throws a heap from wall to wall, 30 frames a second: the
/// playground's scene.
static void a_thrown_heap_stays_whole( void )
{
    const uint32_t count = 500;
    const float side = 16;
    clv_rigid* world = make_crowd( count, 1, false, side );
    clv_aabb* boxes = test_alloc( count, sizeof( clv_aabb ) );
    double overlap = 0, kinetic = 0, gain_most = 0;
    const uint32_t frames = 360, from = 60; // the crowd starts with bodies inside each other
    for ( uint32_t frame = 0; frame < frames; ++frame )
    {
        test_where.frame = frame;
        float angle = 6.2831853f * (float)frame / 180.0f;
        clv_vec3 gravity = { 12 * cosf( angle ), 12 * sinf( angle ), 5 * sinf( 0.7f * angle ) };
        CHECK_RESULT( clv_rigid_set_gravity( world, gravity ), CLV_OK );
        double before = energy_of( world, gravity );
        CHECK_RESULT( clv_rigid_step( world, 1.0f / 30.0f, SUBSTEPS ), CLV_OK );
        clv_rigid_report report = clv_rigid_last_report( world );
        CHECK( report.lost_count == 0 );
        CHECK( report.clamped_count == 0 );
        if ( frame >= from )
        {
            gain_most = fmax( gain_most, energy_of( world, gravity ) - before );
            kinetic += report.kinetic_energy / ( frames - from );
            overlap += report.penetration_mean_relative / ( frames - from );
            CHECK( report.penetration_most_relative < 0.6 );
            CHECK( most_outside( world, boxes, 0.5f * side ) < 0.25 );
        }
    }
    CHECK( overlap < 0.02 );
    CHECK( kinetic > 5000 ); // it is thrown
    CHECK( gain_most < 1e-3 * kinetic );
    free( boxes );
    clv_rigid_destroy( world );
}

static void reports_count_what_is_there( void )
{
    clv_rigid_def def = floor_def();
    def.sleep = false;
    clv_rigid* world = make_world( &def );
    add( world, cube_at( 0, 0.5f, 0 ) );
    add( world, cube_at( 0, 1.4f, 0 ) );
    add( world, cube_at( 9, 5.0f, 0 ) );
    clv_rigid_body wall = cube_at( -9, 5, 0 );
    wall.mass = 0;
    add( world, wall );
    step( world, 1 );
    clv_rigid_report report = clv_rigid_last_report( world );
    CHECK_EQUAL( report.body_count, 4 );
    CHECK_EQUAL( report.static_count, 1 );
    CHECK_EQUAL( report.sleeping_count, 0 );
    CHECK_EQUAL( report.contact_count, 1 );
    CHECK_EQUAL( report.wall_contact_count, 1 );
    CHECK_EQUAL( report.point_count, 8 );
    CHECK( fabs( report.penetration_most - 0.1 ) < 1e-5 );
    CHECK( fabs( report.penetration_most_relative - 0.1 ) < 1e-5 );
    CHECK( report.kinetic_energy > 0 );
    clv_rigid_destroy( world );
}

// ---- sleeping and static bodies

static void sleepers_wake_when_hit_and_not_before( void )
{
    clv_rigid_def def = floor_def();
    clv_rigid* world = make_world( &def );
    add( world, cube_at( 0, 0.5f, 0 ) );
    add( world, cube_at( 0, 1.5f, 0 ) );
    add( world, cube_at( 50, 0.5f, 0 ) );
    add( world, cube_at( 0, 60, 0 ) );
    step( world, 90 );
    CHECK( clv_rigid_is_asleep( world, 0 ) && clv_rigid_is_asleep( world, 1 ) &&
        clv_rigid_is_asleep( world, 2 ) );
    CHECK( !clv_rigid_is_asleep( world, 3 ) );
    bool woke = false;
    for ( uint32_t frame = 0; frame < 200; ++frame )
    {
        step( world, 1 );
        woke = woke || ( !clv_rigid_is_asleep( world, 0 ) && !clv_rigid_is_asleep( world, 1 ) );
        CHECK( clv_rigid_is_asleep( world, 2 ) );
    }
    CHECK( woke );
    clv_rigid_destroy( world );
}

static void taking_the_support_away_wakes_what_lay_on_it( void )
{
    clv_rigid_def def = floor_def();
    clv_rigid* world = make_world( &def );
    clv_rigid_body table = cube_at( 0, 5, 0 );
    table.mass = 0;
    add( world, table );
    add( world, cube_at( 0, 6, 0 ) );
    step( world, 90 );
    CHECK( clv_rigid_is_asleep( world, 1 ) );
    table.position.x = 20;
    CHECK_RESULT( clv_rigid_place( world, 0, &table ), CLV_OK );
    step( world, 120 );
    CHECK( fabsf( clv_rigid_get( world, 1 ).position.y - 0.5f ) < 0.02f );
    CHECK( clv_rigid_get( world, 0 ).position.y == 5.0f );
    clv_rigid_destroy( world );
}

static void turning_gravity_wakes_everything( void )
{
    clv_rigid_def def = floor_def();
    clv_rigid* world = make_world( &def );
    add( world, cube_at( 0, 0.5f, 0 ) );
    step( world, 90 );
    CHECK( clv_rigid_is_asleep( world, 0 ) );
    clv_rigid_set_gravity( world, ( clv_vec3 ){ 0, 9.81f, 0 } );
    step( world, 30 );
    CHECK( clv_rigid_get( world, 0 ).position.y > 1.0f );
    clv_rigid_destroy( world );
}

static void gravity_that_is_not_finite_is_refused( void )
{
    clv_rigid_def def = floor_def();
    clv_rigid* world = make_world( &def );
    add( world, cube_at( 0, 0.5f, 0 ) );
    step( world, 90 );
    const float bad[] = { NAN, INFINITY, -INFINITY };
    for ( int i = 0; i < 9; ++i )
    {
        clv_vec3 gravity = { 0, -9.81f, 0 };
        ( &gravity.x )[i % 3] = bad[i / 3];
        CHECK_EQUAL( clv_rigid_set_gravity( world, gravity ), CLV_BAD_ARGUMENT );
        CHECK_TEXT( clv_rigid_error( world ).text, "set_gravity: the gravity is not finite" );
        CHECK( clv_rigid_is_asleep( world, 0 ) ); // nothing happened
    }
    CHECK_EQUAL( clv_rigid_set_gravity( world, ( clv_vec3 ){ 0, 9.81f, 0 } ), CLV_OK );
    CHECK_EQUAL( clv_rigid_error( world ).code, CLV_OK );
    step( world, 30 );
    CHECK( clv_rigid_get( world, 0 ).position.y > 1.0f );
    clv_rigid_destroy( world );
}

// A bar that 200 cubes lie on is in more contacts than there are rounds.
static void a_body_in_more_contacts_than_rounds_is_solved_too( void )
{
    clv_rigid_def def = floor_def();
    clv_rigid* world = make_world( &def );
    clv_rigid_body slab = cube_at( 0, 0.25f, 0 );
    slab.half = ( clv_vec3 ){ 12, 0.25f, 12 };
    slab.mass = 200; // as much as it carries
    add( world, slab );
    for ( int i = 0; i < 200; ++i )
    {
        add( world, cube_at( (float)( i % 15 ) * 1.5f - 10.5f, 1.2f, (float)( i / 15 ) * 1.5f - 10 ) );
    }
    step( world, 20 );
    CHECK( clv_rigid_last_report( world ).overflow_count > 100 );
    step( world, 100 );
    for ( uint32_t i = 1; i <= 200; ++i )
    {
        CHECK( fabsf( clv_rigid_get( world, i ).position.y - 1.0f ) < 0.05f );
    }
    clv_rigid_destroy( world );
}

// Walls hold centres: a body put or thrown beyond comes back onto them and loses its speed outwards.
static void centres_beyond_a_wall_are_put_back( void )
{
    clv_rigid_def def = clv_default_rigid_def();
    def.walls = test_box( -5, -5, -5, 5, 5, 5 );
    def.gravity = ( clv_vec3 ){ 0, 0, 0 };
    clv_rigid* world = make_world( &def );
    add( world, cube_at( 0, -9, 0 ) );
    add( world, cube_at( 9, 0, 0 ) );
    clv_rigid_body flying = cube_at( 0, 0, 4 );
    flying.velocity.z = 900;
    add( world, flying );
    step( world, 1 );
    CHECK( clv_rigid_last_report( world ).clamped_count >= 2 );
    for ( uint32_t i = 0; i < 3; ++i )
    {
        clv_rigid_body body = clv_rigid_get( world, i );
        CHECK(
            fabsf( body.position.x ) <= 5 && fabsf( body.position.y ) <= 5 && fabsf( body.position.z ) <= 5 );
        CHECK( body.velocity.x <= 0 || i != 1 );
        CHECK( body.velocity.y >= 0 || i != 0 );
        CHECK( body.velocity.z <= 0 || i != 2 );
    }
    clv_rigid_destroy( world );
}

// ---- bad input

static void bad_bodies_are_refused_with_their_position( void )
{
    clv_rigid_def def = floor_def();
    clv_rigid* world = make_world( &def );
    clv_rigid_body bodies[3] = { cube_at( 0, 1, 0 ), cube_at( 2, 1, 0 ), cube_at( 4, 1, 0 ) };
    bodies[2].position.x = NAN;
    CHECK_RESULT( clv_rigid_add( world, bodies, 3 ), CLV_BAD_BOX );
    CHECK_EQUAL( clv_rigid_error( world ).position, 2 );
    CHECK_EQUAL( clv_rigid_body_count( world ), 0 );
    bodies[2] = cube_at( 4, 1, 0 );
    bodies[1].half.y = 0;
    CHECK_RESULT( clv_rigid_add( world, bodies, 3 ), CLV_BAD_BOX );
    CHECK_EQUAL( clv_rigid_error( world ).position, 1 );
    bodies[1] = cube_at( 2, 1, 0 );
    bodies[0].mass = -1;
    CHECK_RESULT( clv_rigid_add( world, bodies, 3 ), CLV_BAD_ARGUMENT );
    bodies[0] = cube_at( 0, 1, 0 );
    bodies[0].rotation.w = 2;
    CHECK_RESULT( clv_rigid_add( world, bodies, 3 ), CLV_BAD_BOX );
    bodies[0] = cube_at( 0, 1, 0 );
    bodies[0].angular_velocity.z = INFINITY;
    CHECK_RESULT( clv_rigid_add( world, bodies, 3 ), CLV_BAD_BOX );
    bodies[0] = cube_at( 0, 1, 0 );
    CHECK_RESULT( clv_rigid_add( world, bodies, 3 ), CLV_OK );
    bodies[0].half.z = -1;
    CHECK_RESULT( clv_rigid_place( world, 1, bodies ), CLV_BAD_BOX );
    CHECK_RESULT( clv_rigid_set_velocity( world, 3, ( clv_vec3 ){ 0, 0, 0 } ), CLV_BAD_ID );
    CHECK_RESULT( clv_rigid_place( world, 3, bodies ), CLV_BAD_ID );
    CHECK_RESULT( clv_rigid_set_velocity( world, 0, ( clv_vec3 ){ INFINITY, 0, 0 } ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_rigid_step( world, 0, 4 ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_rigid_step( world, FRAME, 0 ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_rigid_step( world, FRAME, 4 ), CLV_OK );
    clv_rigid_destroy( world );
}

static void note_line( clv_log_level level, const char* line, void* user )
{
    (void)level;
    snprintf( user, 128, "%s", line );
}

// `wrong` differs from the default in one member; the reason must speak of `word`.
static void check_refusal( clv_rigid_def wrong, clv_result expected, const char* word )
{
    char line[128] = "";
    clv_rigid* world = (clv_rigid*)(uintptr_t)8;
    wrong.logger = ( clv_logger ){ note_line, line };
    test_where.note = word;
    CHECK_RESULT( clv_rigid_create( &wrong, &world ), expected );
    CHECK( world == NULL );
    CHECK( strstr( line, word ) != NULL );
    wrong.logger = ( clv_logger ){ 0 };
    CHECK_RESULT( clv_rigid_create( &wrong, &world ), expected ); // no logger is needed
}

static void bad_defs_are_refused_with_the_reason( void )
{
    const clv_rigid_def good = clv_default_rigid_def();
    heap hooks = { 0 };
    clv_rigid_def bad;
#define REFUSE( change, word ) bad = good, change, check_refusal( bad, CLV_BAD_DEF, word )
    REFUSE( bad.cookie = 1, "" );
    REFUSE( bad.size -= 1, "" );
    REFUSE( bad.worker_count = 0, "worker_count" );
    REFUSE( bad.worker_count = CLV_MAX_WORKERS + 1, "worker_count" );
    REFUSE( ( bad.walls.upper.x = -INFINITY, bad.walls.lower.x = 0 ), "walls" );
    REFUSE( bad.gravity.y = NAN, "gravity" );
    REFUSE( bad.friction = NAN, "friction" );
    REFUSE( bad.restitution = 1.5f, "restitution" );
    REFUSE( bad.restitution_speed = -1, "restitution" );
    REFUSE( bad.push_speed = INFINITY, "push_speed" );
    REFUSE( bad.spin_most = -1, "spin_most" );
    REFUSE( bad.contact_hertz = 0, "contact_hertz" );
    REFUSE( bad.contact_damping = NAN, "contact_damping" );
    REFUSE( bad.sleep_speed = -1, "sleep_speed" );
    REFUSE( bad.sleep_seconds = NAN, "sleep_seconds" );
    // Taken at its word, half an allocator would end in a call of NULL.
    REFUSE( ( bad.allocator = heap_hooks( &hooks ), bad.allocator.release = NULL ), "allocator" );
#undef REFUSE
    bad = good;
    bad.method = "no such";
    check_refusal( bad, CLV_BAD_DEF, "no such" );
    heap empty = { .refuse_from = 1, .refuse_count = UINT64_MAX };
    bad = good;
    bad.allocator = heap_hooks( &empty );
    check_refusal( bad, CLV_OUT_OF_MEMORY, "memory" );
}

/// No body of the heap goes on trembling, which would keep all others awake.
static void a_lean_heap_falls_asleep( void )
{
    s_lean = true;
    clv_rigid* world = make_crowd( 600, 1, false, 16 );
    step( world, 720 );
    clv_rigid_report report = clv_rigid_last_report( world );
    CHECK_EQUAL( report.sleeping_count, 600 );
    CHECK( report.penetration_mean_relative < 0.004 && report.penetration_most_relative < 0.05 );
    clv_rigid_destroy( world );
    s_lean = false;
}

/// One search in which bodies look ahead by their own speeds, one warm start and one relaxing pass: all that
/// is true of a world is true of a lean one.
static void a_lean_world_passes_the_same_tests( void )
{
    s_lean = true;
    a_box_comes_to_rest_on_the_floor();
    a_stack_of_ten_stands();
    friction_holds_up_to_its_coefficient_and_no_farther();
    a_spinning_plank_stops();
    restitution_gives_back_its_share();
    undoing_an_overlap_adds_little_speed();
    a_fast_body_stops_at_the_surface();
    a_crowd_comes_to_rest_inside_the_walls();
    a_thrown_heap_stays_whole();
    sleepers_wake_when_hit_and_not_before();
    taking_the_support_away_wakes_what_lay_on_it();
    turning_gravity_wakes_everything();
    a_body_in_more_contacts_than_rounds_is_solved_too();
    any_number_of_workers_gives_the_same_bits();
    s_lean = false;
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_box_comes_to_rest_on_the_floor ),
        TEST_CASE( a_stack_of_ten_stands ),
        TEST_CASE( stacks_stand_as_high_as_the_docs_say ),
        TEST_CASE( friction_holds_up_to_its_coefficient_and_no_farther ),
        TEST_CASE( a_spinning_plank_stops ),
        TEST_CASE( restitution_gives_back_its_share ),
        TEST_CASE( undoing_an_overlap_adds_little_speed ),
        TEST_CASE( a_fast_body_stops_at_the_surface ),
        TEST_CASE( a_crowd_comes_to_rest_inside_the_walls ),
        TEST_CASE( a_thrown_heap_stays_whole ),
        TEST_CASE( any_number_of_workers_gives_the_same_bits ),
        TEST_CASE( reports_count_what_is_there ),
        TEST_CASE( sleepers_wake_when_hit_and_not_before ),
        TEST_CASE( taking_the_support_away_wakes_what_lay_on_it ),
        TEST_CASE( turning_gravity_wakes_everything ),
        TEST_CASE( gravity_that_is_not_finite_is_refused ),
        TEST_CASE( a_body_in_more_contacts_than_rounds_is_solved_too ),
        TEST_CASE( centres_beyond_a_wall_are_put_back ),
        TEST_CASE( a_lean_heap_falls_asleep ),
        TEST_CASE( a_lean_world_passes_the_same_tests ),
        TEST_CASE( bad_bodies_are_refused_with_their_position ),
        TEST_CASE( bad_defs_are_refused_with_the_reason ),
    };
    return test_run( "rigid", cases, TEST_COUNT( cases ), argc, argv );
}
