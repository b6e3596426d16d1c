// SPDX-License-Identifier: MIT
// The k-DOP paper's pipeline on the device against clv_shape_sim, frame by frame: bodies and counts to the
// last bit.
#include "cleave/physics.h"
#include "gpu_body_calls.h"
#include "gpu_fixture.h"
#include "gpu_schedule.h"
#include "math/splitmix.h"

#include <math.h>
#include <string.h>

enum
{
    BODIES_MOST = 64,
};

static clv_gpu* s_gpu;

typedef struct twins
{
    clv_hull* hulls[3];
    uint32_t hull_of[BODIES_MOST];
    clv_transform at[BODIES_MOST];
    uint32_t count;
    clv_shape_sim* cpu;
    clv_gpu_sim* gpu;
} twins;

static void begin_twins( twins* t, const clv_shape_sim_def* def, clv_vec3 scale, uint32_t count, float step )
{
    static const clv_vec3 s_plate[4] = { { -1, 0, -1 }, { 1, 0, -1 }, { 1, 0, 1 }, { -1, 0, 1 } };
    clv_gpu_hull views[3];
    clv_hull_def flat = clv_default_hull_def();
    math_random random = math_random_seed( 1 );
    flat.points = s_plate;
    flat.point_count = 4;
    CHECK_OK( clv_hull_create_truncated_octahedron( scale, &t->hulls[0] ) );
    CHECK_OK( clv_hull_create_box( scale, &t->hulls[1] ) );
    CHECK_OK( clv_hull_create( &flat, &t->hulls[2] ) );
    CHECK_OK( clv_shape_sim_create( def, &t->cpu ) );
    t->count = count;
    for ( int i = 0; i < 3; ++i )
    {
        clv_hull_view view = clv_hull_get_view( t->hulls[i] );
        views[i] = ( clv_gpu_hull ){ view.vertices, view.vertex_count };
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        t->hull_of[i] = i % 11 == 10 ? 2 : i % 5 == 4 ? 1 : 0;
        t->at[i] = clv_transform_at( 0, step * (float)( i + 1 ), 0 );
        t->at[i].rotation = math_quat_narrow( math_random_rotation( &random ) );
        CHECK_OK( clv_shape_sim_add( t->cpu, t->hulls[t->hull_of[i]], t->at[i] ) );
    }
    CHECK_OK( clv_gpu_set_bodies( s_gpu, views, 3, t->hull_of, count ) );
    CHECK_OK( clv_gpu_sim_create( s_gpu, def, t->at, &t->gpu ) );
}

static void end_twins( twins* t )
{
    clv_gpu_sim_destroy( t->gpu );
    clv_shape_sim_destroy( t->cpu );
    for ( int i = 0; i < 3; ++i )
    {
        clv_hull_destroy( t->hulls[i] );
    }
}

static void compare_stats( const twins* t )
{
    clv_shape_sim_stats a = clv_shape_sim_get_stats( t->cpu );
    clv_shape_sim_stats b = clv_gpu_sim_get_stats( t->gpu );
    CHECK_EQUAL( b.frame, a.frame );
    CHECK_EQUAL( b.candidate_count, a.candidate_count );
    CHECK_EQUAL( b.hit_count, a.hit_count );
    CHECK_EQUAL( b.floor_candidate_count, a.floor_candidate_count );
    CHECK_EQUAL( b.floor_hit_count, a.floor_hit_count );
    CHECK_EQUAL( b.landed_count, a.landed_count );
    CHECK_EQUAL( b.unconverged_count, a.unconverged_count );
    CHECK_EQUAL( b.singular_count, a.singular_count );
    CHECK_EQUAL( b.diverged_count, a.diverged_count );
    CHECK_EQUAL( b.drifted_count, a.drifted_count );
    CHECK_EQUAL( b.unturned_count, a.unturned_count );
    CHECK_EQUAL( b.axis, a.axis );
    CHECK( b.deepest == a.deepest && b.mean_depth == a.mean_depth );
    CHECK( b.kinetic_energy == a.kinetic_energy && b.potential_energy == a.potential_energy );
}

// Velocities lie in front of the other numbers of a body's motion.
static void read_motions( uint32_t count, double motions[BODIES_MOST][MOTION_DOUBLES] )
{
    const gpu_bodies* bodies = gpu_bodies_of( s_gpu );
    CHECK_OK( clv_gpu_read( s_gpu, bodies->on.motions.memory, 0, motions, count * sizeof( motions[0] ) ) );
}

static void step_twins( twins* t, uint32_t frames )
{
    static double s_motions[BODIES_MOST][MOTION_DOUBLES];
    for ( uint32_t frame = 0; frame < frames; ++frame )
    {
        test_where.frame = frame;
        CHECK_OK( clv_shape_sim_step( t->cpu ) );
        CHECK_OK( clv_gpu_sim_step( t->gpu ) );
        compare_stats( t );
        read_motions( t->count, s_motions );
        for ( uint32_t i = 0; i < t->count; ++i )
        {
            clv_transform a = clv_shape_sim_transform( t->cpu, i );
            clv_transform b = clv_gpu_sim_transform( t->gpu, i );
            clv_vec3 v = clv_shape_sim_velocity( t->cpu, i );
            const double* w = s_motions[i];
            CHECK( memcmp( &a, &b, sizeof( a ) ) == 0 );
            CHECK( v.x == (float)w[0] && v.y == (float)w[1] && v.z == (float)w[2] );
        }
    }
}

static void the_tower_falls_as_on_the_cpu( void )
{
    static twins s_twins;
    clv_shape_sim_def def = clv_default_shape_sim_def();
    for ( int kind = CLV_VOLUME_AABB; kind <= CLV_VOLUME_SPHERE; ++kind )
    {
        def.volume = (clv_volume_kind)kind;
        def.pca_period = 7;
        begin_twins( &s_twins, &def, ( clv_vec3 ){ 1, kind == 1 ? 3.0f : 1.0f, 1 }, 24, 2.5f );
        step_twins( &s_twins, 160 );
        CHECK( clv_gpu_sim_get_stats( s_twins.gpu ).hit_count > 5 );
        CHECK_EQUAL( clv_gpu_sim_finished_count( s_twins.gpu ), 0 );
        end_twins( &s_twins );
    }
}

// Every way to fly, what becomes of velocities, no floor, few rounds, all in one spot.
static void other_settings_are_the_cpus_too( void )
{
    static twins s_twins;
    for ( int how = 0; how < 4; ++how )
    {
        clv_shape_sim_def def = clv_default_shape_sim_def();
        def.integrator = (clv_integrator)how;
        def.after_contact = how % 2 == 0 ? CLV_VELOCITY_KEPT : CLV_VELOCITY_MOVED;
        def.has_floor = how != 3;
        def.round_count = how == 1 ? 1 : 3;
        def.pca_period = how == 2 ? 0 : 5;
        begin_twins( &s_twins, &def, ( clv_vec3 ){ 1, 1, 1 }, how == 3 ? 16 : 1 + 8 * (uint32_t)how,
            how == 3 ? 0.0f : 1.5f );
        step_twins( &s_twins, 30 );
        end_twins( &s_twins );
    }
}

// Bodies smaller than what they fall in a frame end up wholly below the floor, and are lifted.
static void small_bodies_are_lifted_as_on_the_cpu( void )
{
    static twins s_twins;
    for ( int rule = 0; rule < 2; ++rule )
    {
        clv_shape_sim_def def = clv_default_shape_sim_def();
        uint64_t singular_count = 0;
        def.after_contact = rule == 0 ? CLV_VELOCITY_KEPT : CLV_VELOCITY_MOVED;
        def.round_count = 4;
        def.speed = 0.03f;
        begin_twins( &s_twins, &def, ( clv_vec3 ){ 0.15f, 0.15f, 0.15f }, 16, 0.5f );
        for ( int k = 0; k < 40; ++k )
        {
            step_twins( &s_twins, 1 );
            singular_count += clv_shape_sim_get_stats( s_twins.cpu ).singular_count;
            for ( uint32_t i = 0; i < s_twins.count; ++i )
            {
                CHECK( clv_gpu_sim_transform( s_twins.gpu, i ).position.y > -0.3f );
            }
        }
        CHECK( singular_count > 10 );
        end_twins( &s_twins );
    }
}

// Room for a tetrahedron and no more: whatever is deeper goes to the host in the middle of a frame.
static void undecided_contacts_are_finished_on_the_host( void )
{
    static twins s_twins;
    clv_shape_sim_def def = clv_default_shape_sim_def();
    gpu_bodies_of( s_gpu )->polytope_room = 5;
    begin_twins( &s_twins, &def, ( clv_vec3 ){ 1, 1, 1 }, 16, 1.8f );
    step_twins( &s_twins, 40 );
    CHECK( clv_gpu_sim_finished_count( s_twins.gpu ) > 10 );
    gpu_bodies_of( s_gpu )->polytope_room = 0;
    end_twins( &s_twins );
}

// Another update, and a device that was closed, between frames.
static void frames_go_on_after_others_used_the_device( void )
{
    static twins s_twins;
    clv_shape_sim_def def = clv_default_shape_sim_def();
    begin_twins( &s_twins, &def, ( clv_vec3 ){ 1, 1, 1 }, 12, 1.8f );
    for ( int k = 0; k < 3; ++k )
    {
        step_twins( &s_twins, 5 );
        if ( k == 0 )
        {
            CHECK_OK( gpu_test_update_bodies( s_gpu, CLV_VOLUME_SPHERE, s_twins.at ) );
        }
        else
        {
            clv_gpu_close( s_gpu );
        }
    }
    end_twins( &s_twins );
}

static void bad_simulations_are_refused( void )
{
    static twins s_twins;
    clv_gpu_sim* sim = (clv_gpu_sim*)(uintptr_t)8;
    clv_shape_sim_def def = clv_default_shape_sim_def();
    begin_twins( &s_twins, &def, ( clv_vec3 ){ 1, 1, 1 }, 4, 3 );
    def.cookie = 0;
    CHECK_RESULT( clv_gpu_sim_create( s_gpu, &def, s_twins.at, &sim ), CLV_BAD_DEF );
    CHECK( sim == NULL );
    def = clv_default_shape_sim_def();
    def.round_count = 0;
    CHECK_RESULT( clv_gpu_sim_create( s_gpu, &def, s_twins.at, &sim ), CLV_BAD_DEF );
    def.round_count = 1;
    def.carry = NAN;
    CHECK_RESULT( clv_gpu_sim_create( s_gpu, &def, s_twins.at, &sim ), CLV_BAD_DEF );
    def.carry = 1;
    def.volume = CLV_VOLUME_OBB;
    CHECK_RESULT( clv_gpu_sim_create( s_gpu, &def, s_twins.at, &sim ), CLV_UNSUPPORTED );
    def.volume = CLV_VOLUME_AABB;
    def.match = CLV_MATCH_LINEAR;
    CHECK_RESULT( clv_gpu_sim_create( s_gpu, &def, s_twins.at, &sim ), CLV_UNSUPPORTED );
    def.match = CLV_MATCH_RIGID;
    s_twins.at[3].position.y = INFINITY;
    CHECK_RESULT( clv_gpu_sim_create( s_gpu, &def, s_twins.at, &sim ), CLV_BAD_ARGUMENT );
    CHECK( strstr( clv_gpu_error( s_gpu ), "body 3" ) != NULL );
    step_twins( &s_twins, 2 );
    CHECK_OK( clv_gpu_set_bodies( s_gpu, NULL, 0, NULL, 0 ) );
    CHECK_RESULT( clv_gpu_sim_step( s_twins.gpu ), CLV_STALE );
    end_twins( &s_twins );
    def = clv_default_shape_sim_def();
    CHECK_OK( clv_gpu_sim_create( s_gpu, &def, NULL, &sim ) ); // without bodies
    CHECK_OK( clv_gpu_sim_step( sim ) );
    CHECK_EQUAL( clv_gpu_sim_get_stats( sim ).frame, 1 );
    clv_gpu_sim_destroy( sim );
}

// ---- the schedule

// No two tasks of a level have a body in common, and of two that do the CPU's first has the lower level.
static void levels_keep_the_order( void )
{
    enum
    {
        BODIES = 40,
        PAIRS = 200,
        ROUNDS = 3
    };
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    gpu_schedule schedule = { 0 };
    clv_pair pairs[PAIRS];
    uint32_t reaches[BODIES];
    test_random random = test_random_make( 3 );
    uint32_t count = 0;
    for ( uint32_t a = 0; a < BODIES; ++a )
    {
        reaches[a] = test_random_below( &random, 2 );
        for ( uint32_t b = a + 1; b < BODIES && count < PAIRS; ++b )
        {
            if ( test_random_chance( &random, 25 ) )
            {
                pairs[count++] = ( clv_pair ){ a, b };
            }
        }
    }
    const gpu_schedule_input input = { pairs, count, reaches, BODIES, ROUNDS };
    CHECK( clv_gpu_schedule_make( &schedule, &memory, &input ) );
    uint32_t done[PAIRS + BODIES] = { 0 }; // rounds each task had
    for ( uint32_t level = 0; level < schedule.level_count; ++level )
    {
        bool is_busy[BODIES] = { false };
        CHECK( schedule.starts.items[level] < schedule.starts.items[level + 1] );
        for ( uint32_t at = schedule.starts.items[level]; at < schedule.starts.items[level + 1]; ++at )
        {
            uint32_t task = schedule.tasks.items[at] & 0x7FFFFFFFu;
            uint32_t bodies[2] = { task < count ? pairs[task].a : task - count,
                task < count ? pairs[task].b : task - count };
            uint32_t round = done[task]++;
            CHECK( ( schedule.tasks.items[at] >> 31 ) == ( round + 1 == ROUNDS ? 1u : 0u ) );
            CHECK( !is_busy[bodies[0]] && !is_busy[bodies[1]] );
            is_busy[bodies[0]] = is_busy[bodies[1]] = true;
            for ( uint32_t other = 0; other < count; ++other )
            {
                bool is_shared = pairs[other].a == bodies[0] || pairs[other].a == bodies[1] ||
                    pairs[other].b == bodies[0] || pairs[other].b == bodies[1];
                CHECK( !is_shared || other == task || done[other] == ( other < task ? round + 1 : round ) );
            }
        }
    }
    for ( uint32_t task = 0; task < count + BODIES; ++task )
    {
        CHECK_EQUAL( done[task], task < count || reaches[task - count] != 0 ? ROUNDS : 0 );
    }
    clv_gpu_schedule_free( &schedule, &memory );
    CHECK_EQUAL( memory.bytes, 0 );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( the_tower_falls_as_on_the_cpu ),
        TEST_CASE( other_settings_are_the_cpus_too ),
        TEST_CASE( small_bodies_are_lifted_as_on_the_cpu ),
        TEST_CASE( undecided_contacts_are_finished_on_the_host ),
        TEST_CASE( frames_go_on_after_others_used_the_device ),
        TEST_CASE( bad_simulations_are_refused ),
        TEST_CASE( levels_keep_the_order ),
    };
    if ( gpu_test_is_skipped() )
    {
        return 77;
    }
    s_gpu = gpu_test_make( CLV_GPU_AUTO );
    int status = test_run( "gpu_sim", cases, TEST_COUNT( cases ), argc, argv );
    clv_gpu_destroy( s_gpu );
    return status;
}
