// SPDX-License-Identifier: MIT
#include "physics_script.h"

#include "cleave/narrow.h"
#include "cleave/sim.h"
#include "shape_sim.h"
#include "volume.h"

#include <math.h>
#include <string.h>

// ---- seeing

static void see_word( script_run* l, uint64_t value )
{
    l->hash = test_mix( l->hash ^ value );
}

static void see_float( script_run* l, float value )
{
    uint32_t bits;
    memcpy( &bits, &value, sizeof( bits ) );
    see_word( l, bits );
}

static void see_double( script_run* l, double value )
{
    uint64_t bits;
    memcpy( &bits, &value, sizeof( bits ) );
    see_word( l, bits );
}

static void see_vec3( script_run* l, clv_vec3 v )
{
    see_float( l, v.x );
    see_float( l, v.y );
    see_float( l, v.z );
}

static void see_transform( script_run* l, clv_transform at )
{
    see_vec3( l, at.position );
    see_vec3( l, ( clv_vec3 ){ at.rotation.x, at.rotation.y, at.rotation.z } );
    see_float( l, at.rotation.w );
}

// ---- calling

static void step_in( script_run* l )
{
    if ( l->enter != NULL )
    {
        l->enter( l );
    }
}

static void step_out( script_run* l, const char* call )
{
    if ( l->leave != NULL )
    {
        l->leave( l, call );
    }
}

/// A call that cannot fail.
#define LOOK( call )                                                                                         \
    do                                                                                                       \
    {                                                                                                        \
        step_in( l );                                                                                        \
        call;                                                                                                \
        step_out( l, #call );                                                                                \
    } while ( 0 )

/// One that may run out of memory: then `as_before` holds, and it works once there is memory.
#define TRY( call, as_before )                                                                               \
    do                                                                                                       \
    {                                                                                                        \
        clv_result result_;                                                                                  \
        LOOK( result_ = ( call ) );                                                                          \
        if ( result_ == CLV_OUT_OF_MEMORY )                                                                  \
        {                                                                                                    \
            CHECK( l->memory.refused_count > 0 );                                                            \
            CHECK( as_before );                                                                              \
            l->failure_count += 1;                                                                           \
            heap_heal( &l->memory );                                                                         \
            LOOK( result_ = ( call ) );                                                                      \
        }                                                                                                    \
        CHECK_OK( result_ );                                                                                 \
    } while ( 0 )

// ---- input, made before the first step

static clv_vec3 random_vec3( test_random* random, float reach )
{
    clv_vec3 v;
    v.x = test_random_between( random, -reach, reach );
    v.y = test_random_between( random, -reach, reach );
    v.z = test_random_between( random, -reach, reach );
    return v;
}

// Turns of a few kinds, exactly of length 1.
static clv_transform random_place( test_random* random, float reach )
{
    static const clv_quat turns[] = { { 0, 0, 0, 1 }, { 0.6f, 0, 0, 0.8f }, { 0, 0.8f, 0.6f, 0 },
        { 0.5f, 0.5f, 0.5f, 0.5f }, { 0.48f, 0.6f, 0.64f, 0 } };
    clv_transform at = { random_vec3( random, reach ),
        turns[test_random_below( random, (uint32_t)TEST_COUNT( turns ) )] };
    return at;
}

// ---- hulls and the narrow phase

enum
{
    CLOUD = 48,
    MEETINGS = 24
};

static void see_hull( script_run* l, const clv_hull* hull )
{
    clv_hull_view view = clv_hull_get_view( hull );
    see_word( l, ( (uint64_t)view.vertex_count << 32 ) | view.face_count );
    for ( uint32_t i = 0; i < view.vertex_count; ++i )
    {
        see_vec3( l, view.vertices[i] );
    }
    for ( uint32_t i = 0; i < view.face_count; ++i )
    {
        see_vec3( l, view.face_planes[i].normal );
        see_float( l, view.face_planes[i].offset );
    }
    see_float( l, view.radius );
}

static clv_hull* make_cloud( script_run* l, uint64_t seed )
{
    test_random random = test_random_make( seed );
    clv_vec3 points[CLOUD];
    for ( uint32_t i = 0; i < CLOUD; ++i )
    {
        points[i] = random_vec3( &random, 1 );
    }
    clv_hull_def def = clv_default_hull_def();
    def.points = points;
    def.point_count = CLOUD;
    def.allocator = heap_hooks( &l->memory );
    size_t bytes = l->memory.bytes;
    clv_hull* hull = NULL;
    TRY( clv_hull_create( &def, &hull ), hull == NULL && l->memory.bytes == bytes );
    see_hull( l, hull );
    return hull;
}

static void meet( script_run* l, clv_shape a, clv_transform at_a, clv_shape b, clv_transform at_b )
{
    clv_distance distance;
    memset( &distance, 0, sizeof( distance ) );
    clv_pair_cache cache = { 0 };
    TRY( clv_shape_distance( a, at_a, b, at_b, &cache, &distance ), false );
    see_float( l, distance.distance );
    see_vec3( l, distance.point_a );
    clv_contact contact;
    memset( &contact, 0, sizeof( contact ) );
    TRY( clv_shape_contact( a, at_a, b, at_b, NULL, &contact ), false );
    CHECK( contact.touching == distance.touching );
    if ( contact.touching )
    {
        see_float( l, contact.depth );
        see_vec3( l, contact.normal );
    }
    bool touching = false;
    TRY( clv_shape_overlap( a, at_a, b, at_b, NULL, &touching ), false );
    CHECK( touching == contact.touching );
    clv_plane floor = { { 0, 1, 0 }, -0.5f };
    TRY( clv_shape_plane_contact( a, at_a, floor, &contact ), false );
    see_word( l, contact.touching );
    clv_vec3 farthest;
    TRY( clv_shape_support( b, at_b, at_a.position, &farthest ), false );
    see_vec3( l, farthest );
}

static void play_narrow( script_run* l )
{
    clv_hull* hulls[5] = { make_cloud( l, 5 ), make_cloud( l, 6 ), NULL, NULL, NULL };
    const clv_vec3 half = { 0.7f, 0.3f, 1.1f };
    TRY( clv_hull_create_box( half, &hulls[2] ), false );
    TRY( clv_hull_create_truncated_octahedron( half, &hulls[3] ), false );
    TRY( clv_hull_create_rhombicuboctahedron( half, &hulls[4] ), false );
    test_random random = test_random_make( 7 );
    for ( uint32_t i = 0; i < MEETINGS; ++i )
    {
        clv_shape a = clv_hull_shape( hulls[i % 5] );
        clv_shape b = i % 4 == 0 ? clv_sphere_shape( 0.4f ) : clv_hull_shape( hulls[i % 3] );
        clv_transform at_a = random_place( &random, 1 ), at_b = random_place( &random, 1 );
        meet( l, a, at_a, b, at_b );
    }
    for ( uint32_t i = 0; i < 5; ++i )
    {
        see_hull( l, hulls[i] );
        LOOK( clv_hull_destroy( hulls[i] ) );
    }
}

// ---- sweeps over volumes

enum
{
    VOLUMES = 60
};

static void see_pairs( script_run* l, clv_pair_view view )
{
    CHECK( view.valid );
    see_word( l, view.count );
    see_word( l, test_order_hash( view.pairs, view.count ) );
}

static void sweep_once( script_run* l, clv_volume_sweep* sweep, uint32_t frame, uint32_t count )
{
    static clv_aabb aabbs[VOLUMES];
    static clv_dop18 dops[VOLUMES];
    static clv_sphere spheres[VOLUMES];
    test_random random = test_random_make( frame );
    // Crowded, so that the list grows; and every third frame so small that denormals decide.
    float reach = frame % 3 == 2 ? 4e-45f : 2.0f;
    clv_vec3 half = { reach / 4, reach / 4, reach / 4 };
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_transform at = clv_transform_at( 0, 0, 0 );
        at.position = random_vec3( &random, 4 * reach );
        // Long along another axis each time, so that it shows when the axis is chosen.
        ( frame % 2 == 0 ? &at.position.x : &at.position.z )[0] *= 3;
        clv_shape shape = half.x > 0 ? clv_box_shape( half ) : clv_sphere_shape( 0 );
        TRY( clv_shape_aabb( shape, at, &aabbs[i] ), false );
        TRY( clv_shape_dop18( shape, at, &dops[i] ), false );
        TRY( clv_shape_sphere( shape, at, &spheres[i] ), false );
    }
#define NONE ( !clv_volume_sweep_pairs( sweep ).valid && clv_volume_sweep_pairs( sweep ).count == 0 )
    TRY( clv_volume_sweep_run( sweep, CLV_VOLUME_AABB, aabbs, count ), NONE );
    see_pairs( l, clv_volume_sweep_pairs( sweep ) );
    TRY( clv_volume_sweep_run( sweep, CLV_VOLUME_DOP18, dops, count ), NONE );
    see_pairs( l, clv_volume_sweep_pairs( sweep ) );
    TRY( clv_volume_sweep_run( sweep, CLV_VOLUME_SPHERE, spheres, count ), NONE );
    see_pairs( l, clv_volume_sweep_pairs( sweep ) );
#undef NONE
    see_word( l, clv_volume_sweep_get_stats( sweep ).axis );
}

static void play_sweep( script_run* l )
{
    clv_volume_sweep_def def = clv_default_volume_sweep_def();
    def.allocator = heap_hooks( &l->memory );
    def.pca_period = 4; // in step with nothing: the axis changes inside a frame
    clv_volume_sweep* sweep = NULL;
    TRY( clv_volume_sweep_create( &def, &sweep ), sweep == NULL && l->memory.bytes == 0 );
    for ( uint32_t frame = 0; frame < 9; ++frame )
    {
        sweep_once( l, sweep, frame, frame * VOLUMES / 8 );
    }
    // Inside out by a denormal: bad whatever the caller's modes.
    const clv_aabb inside_out = { { 1e-45f, 0, 0 }, { 0, 1, 1 } };
    clv_result result;
    LOOK( result = clv_volume_sweep_run( sweep, CLV_VOLUME_AABB, &inside_out, 1 ) );
    CHECK_RESULT( result, CLV_BAD_BOX );
    LOOK( clv_volume_sweep_destroy( sweep ) );
}

// ---- bodies by shape matching

static uint64_t shape_sim_state( script_run* l, const clv_shape_sim* sim )
{
    script_run eye = *l;
    script_run* outer = l;
    eye.hash = 0;
    l = &eye;
    clv_shape_sim_stats stats = clv_shape_sim_get_stats( sim );
    see_word( l, stats.frame );
    see_word( l, stats.candidate_count );
    see_word( l, stats.hit_count );
    see_word( l, stats.floor_hit_count );
    see_double( l, stats.deepest );
    see_double( l, stats.kinetic_energy );
    see_word( l, clv_shape_sim_body_count( sim ) );
    for ( uint32_t i = 0; i < clv_shape_sim_body_count( sim ); ++i )
    {
        clv_transform at;
        clv_vec3 velocity;
        l = outer;
        LOOK( at = clv_shape_sim_transform( sim, i ) );
        LOOK( velocity = clv_shape_sim_velocity( sim, i ) );
        l = &eye;
        see_transform( l, at );
        see_vec3( l, velocity );
    }
    return eye.hash;
}

static void drop_shapes(
    script_run* l, clv_shape_sim* sim, const clv_hull* hull, uint32_t count, uint64_t seed )
{
    test_random random = test_random_make( seed );
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_transform at = random_place( &random, 0.6f );
        at.position.y += 1.0f + (float)i * 0.8f;
        uint64_t before = shape_sim_state( l, sim );
        TRY( clv_shape_sim_add( sim, hull, at ), shape_sim_state( l, sim ) == before );
    }
}

static void fall_as_shapes( script_run* l, clv_volume_kind kind )
{
    clv_hull* hull = NULL;
    CHECK_OK( clv_hull_create_truncated_octahedron( ( clv_vec3 ){ 0.5f, 0.5f, 0.5f }, &hull ) );
    clv_shape_sim_def def = clv_default_shape_sim_def();
    def.allocator = heap_hooks( &l->memory );
    def.volume = kind;
    def.pca_period = 3;
    clv_shape_sim* sim = NULL;
    TRY( clv_shape_sim_create( &def, &sim ), sim == NULL && l->memory.bytes == 0 );
    for ( uint32_t frame = 0; frame < 10; ++frame )
    {
        if ( frame % 5 == 0 )
        {
            drop_shapes( l, sim, hull, 5, 3 + frame );
        }
        uint64_t before = shape_sim_state( l, sim );
        TRY( clv_shape_sim_step( sim ), shape_sim_state( l, sim ) == before );
        see_word( l, shape_sim_state( l, sim ) );
    }
    LOOK( clv_shape_sim_destroy( sim ) );
    clv_hull_destroy( hull );
}

static void play_shape_sim( script_run* l )
{
    fall_as_shapes( l, CLV_VOLUME_AABB );
    fall_as_shapes( l, CLV_VOLUME_DOP18 );
    fall_as_shapes( l, CLV_VOLUME_SPHERE );
}

// ---- rigid boxes

enum
{
    BODIES = 30
};

static uint64_t rigid_state( const script_run* l, const clv_rigid* world )
{
    script_run eye = *l;
    eye.hash = 0;
    clv_rigid_report report = clv_rigid_last_report( world );
    see_word( &eye, report.contact_count );
    see_word( &eye, report.point_count );
    see_word( &eye, report.sleeping_count );
    see_double( &eye, report.kinetic_energy );
    see_double( &eye, report.penetration_most );
    see_word( &eye, clv_rigid_body_count( world ) );
    for ( uint32_t i = 0; i < clv_rigid_body_count( world ); ++i )
    {
        clv_rigid_body body = clv_rigid_get( world, i );
        see_transform( &eye, ( clv_transform ){ body.position, body.rotation } );
        see_vec3( &eye, body.velocity );
        see_vec3( &eye, body.angular_velocity );
    }
    return eye.hash;
}

static void drop_boxes( script_run* l, clv_rigid* world, uint64_t seed )
{
    test_random random = test_random_make( seed );
    clv_rigid_body bodies[BODIES];
    for ( uint32_t i = 0; i < BODIES; ++i )
    {
        clv_transform at = random_place( &random, 1.2f );
        bodies[i] = clv_default_rigid_body();
        bodies[i].half = ( clv_vec3 ){ 0.3f, 0.2f + 0.01f * (float)i, 0.3f };
        bodies[i].position = at.position;
        bodies[i].position.y += 1.6f;
        bodies[i].rotation = at.rotation;
        bodies[i].mass = i % 10 == 9 ? 0 : 1 + 0.1f * (float)i;
    }
    uint64_t before = rigid_state( l, world );
    TRY( clv_rigid_add( world, bodies, BODIES ), rigid_state( l, world ) == before );
}

static void see_boxes( script_run* l, const clv_rigid* world )
{
    clv_aabb boxes[2 * BODIES];
    LOOK( clv_rigid_boxes( world, boxes ) );
    for ( uint32_t i = 0; i < clv_rigid_body_count( world ); ++i )
    {
        see_vec3( l, boxes[i].lower );
        see_vec3( l, boxes[i].upper );
    }
}

static void fall_as_boxes( script_run* l, uint32_t worker_count )
{
    clv_rigid_def def = clv_default_rigid_def();
    def.allocator = heap_hooks( &l->memory );
    def.walls = test_box( -2, 0, -2, 2, INFINITY, 2 );
    def.worker_count = worker_count;
    clv_rigid* world = NULL;
    TRY( clv_rigid_create( &def, &world ), world == NULL && l->memory.bytes == 0 );
    for ( uint32_t frame = 0; frame < 14; ++frame )
    {
        if ( frame % 7 == 0 )
        {
            drop_boxes( l, world, 11 + frame );
        }
        if ( frame == 10 )
        {
            clv_rigid_body body = clv_default_rigid_body();
            body.position.y = 4;
            TRY( clv_rigid_place( world, 3, &body ), false );
            LOOK( clv_rigid_set_gravity( world, ( clv_vec3 ){ 1, -9, 0 } ) );
        }
        uint64_t before = rigid_state( l, world );
        TRY( clv_rigid_step( world, 1.0f / 60, 2 ), rigid_state( l, world ) == before );
        see_word( l, rigid_state( l, world ) );
        see_boxes( l, world );
    }
    LOOK( clv_rigid_destroy( world ) );
}

static void play_rigid( script_run* l )
{
    fall_as_boxes( l, 1 );
}

static void play_rigid_crew( script_run* l )
{
    fall_as_boxes( l, 3 );
}

// ---- all of them

const physics_script physics_scripts[] = {
    { "narrow phase", play_narrow },
    { "volume sweep", play_sweep },
    { "shape simulation", play_shape_sim },
    { "rigid boxes", play_rigid },
    { "rigid boxes, three workers", play_rigid_crew },
};
const uint32_t physics_script_count = (uint32_t)TEST_COUNT( physics_scripts );

void physics_script_play( script_run* l, const physics_script* script )
{
    test_where.note = script->name;
    script->play( l );
    CHECK_EQUAL( l->memory.bytes, 0 );
    CHECK_EQUAL( l->memory.block_count, 0 );
}
