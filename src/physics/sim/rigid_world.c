// SPDX-License-Identifier: MIT
// Birth, death and contents of a world of rigid boxes.
#include "sim/rigid_world.h"

#include "base/assertion.h"
#include "base/finite.h"
#include "base/fp_mode.h"
#include "base/refusal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COOKIE 0x51317Eu

clv_rigid_def clv_default_rigid_def( void )
{
    clv_rigid_def def;
    memset( &def, 0, sizeof( def ) );
    def.size = (uint32_t)sizeof( def );
    def.cookie = COOKIE;
    def.worker_count = 1;
    def.walls.lower = sim_vec3( -INFINITY, -INFINITY, -INFINITY );
    def.walls.upper = sim_vec3( INFINITY, INFINITY, INFINITY );
    def.gravity = sim_vec3( 0.0f, -9.81f, 0.0f );
    def.friction = 0.6f;
    def.restitution_speed = 1.0f;
    def.push_speed = 3.0f;
    def.spin_most = 7.0f;
    def.contact_hertz = 30.0f;
    def.contact_damping = 10.0f;
    def.sleep = true;
    def.sleep_speed = 0.05f;
    def.sleep_seconds = 0.5f;
    return def;
}

clv_rigid_body clv_default_rigid_body( void )
{
    clv_rigid_body body;
    memset( &body, 0, sizeof( body ) );
    body.half = sim_vec3( 0.5f, 0.5f, 0.5f );
    body.rotation.w = 1.0f;
    body.mass = 1.0f;
    return body;
}

/// Finite and at least `least`?
static bool is_in( float value, float least, float most )
{
    return value >= least && value <= most;
}

static clv_result check_rigid_def( const clv_rigid_def* def )
{
    if ( def->cookie != COOKIE || def->size != sizeof( *def ) )
    {
        return CLV_BAD_DEF; // without the default function not even the logger can be trusted
    }
    if ( def->worker_count < 1 || def->worker_count > CLV_MAX_WORKERS )
    {
        return base_refuse( &def->logger, CLV_BAD_DEF, "def.worker_count must be 1 to 256" );
    }
    if ( ( def->allocator.allocate == NULL ) != ( def->allocator.release == NULL ) )
    {
        return base_refuse(
            &def->logger, CLV_BAD_DEF, "def.allocator has one hook of two; set both, or none" );
    }
    if ( !clv_aabb_is_valid( def->walls ) )
    {
        return base_refuse(
            &def->logger, CLV_BAD_DEF, "def.walls must be a box; use infinite sides for no walls" );
    }
    if ( !base_is_finite_point( def->gravity ) )
    {
        return base_refuse( &def->logger, CLV_BAD_DEF, "def.gravity must be finite" );
    }
    if ( !is_in( def->friction, 0.0f, 1e6f ) || !is_in( def->restitution, 0.0f, 1.0f ) ||
        !is_in( def->restitution_speed, 0.0f, 1e6f ) )
    {
        return base_refuse(
            &def->logger, CLV_BAD_DEF, "def.friction must be >= 0 and def.restitution 0 to 1" );
    }
    if ( !is_in( def->push_speed, 0.0f, 1e6f ) || !is_in( def->spin_most, 0.0f, 1e6f ) ||
        !is_in( def->contact_hertz, 1e-3f, 1e6f ) || !is_in( def->contact_damping, 0.0f, 1e6f ) )
    {
        return base_refuse( &def->logger, CLV_BAD_DEF,
            "def.push_speed, spin_most, contact_hertz and contact_damping must be finite and positive" );
    }
    if ( !is_in( def->sleep_speed, 0.0f, 1e6f ) || !is_in( def->sleep_seconds, 0.0f, 1e6f ) )
    {
        return base_refuse(
            &def->logger, CLV_BAD_DEF, "def.sleep_speed and sleep_seconds must be finite and >= 0" );
    }
    return CLV_OK;
}

/// All arrays that are as long as there are bodies, one list for growing and for giving back.
#define BODY_COLUMNS( X )                                                                                    \
    X( poses )                                                                                               \
    X( boxes )                                                                                               \
    X( answers )                                                                                             \
    X( bounds )                                                                                              \
    X( reaches )                                                                                             \
    X( befores )                                                                                             \
    X( ids )                                                                                                 \
    X( masks )                                                                                               \
    X( rest_seconds )                                                                                        \
    X( islands )                                                                                             \
    X( parents )                                                                                             \
    X( marks )                                                                                               \
    X( motions )

/// A failure leaves some columns longer than `capacity`; each carries its own true length.
static bool grow_bodies( clv_rigid* world, uint64_t needed )
{
    if ( needed <= world->capacity )
    {
        return true;
    }
    uint64_t wanted = world->capacity + world->capacity / 2;
    wanted = wanted > needed ? wanted : needed;
    clv_rigid fresh = *world;
    bool good = true;
#define TAKE( column )                                                                                       \
    fresh.column = clv_base_memory_take( &world->memory, wanted + 1, sizeof( *fresh.column ) );              \
    good = good && fresh.column != NULL;
    BODY_COLUMNS( TAKE )
#undef TAKE
    if ( !good )
    {
#define GIVE( column )                                                                                       \
    clv_base_memory_give( &world->memory, fresh.column, wanted + 1, sizeof( *fresh.column ) );
        BODY_COLUMNS( GIVE )
#undef GIVE
        return false;
    }
#define MOVE( column )                                                                                       \
    if ( world->count > 0 )                                                                                  \
    {                                                                                                        \
        memcpy( fresh.column, world->column, world->count * sizeof( *fresh.column ) );                       \
    }                                                                                                        \
    clv_base_memory_give( &world->memory, world->column, world->capacity + 1, sizeof( *world->column ) );    \
    world->column = fresh.column;
    BODY_COLUMNS( MOVE )
#undef MOVE
    world->capacity = wanted;
    memset( &world->motions[world->count], 0, sizeof( rigid_motion ) );
    return true;
}

static clv_result fill_world( clv_rigid* world )
{
    clv_task_hooks none = { 0 };
    if ( !clv_task_runner_start( &world->runner, world->def.worker_count, 0, none, &world->memory ) )
    {
        return base_refuse( &world->def.logger, CLV_OUT_OF_MEMORY, "no threads or no memory for them" );
    }
    clv_space_def space = clv_default_space_def();
    space.capacity = world->def.capacity;
    space.sorted = true;
    space.worker_count = world->def.worker_count;
    space.method = world->def.method;
    space.allocator = world->def.allocator;
    space.logger = world->def.logger;
    clv_result result = clv_space_create( &space, &world->space );
    if ( result != CLV_OK )
    {
        return result;
    }
    uint64_t capacity = world->def.capacity > 0 ? world->def.capacity : 1;
    return grow_bodies( world, capacity )
        ? CLV_OK
        : base_refuse( &world->def.logger, CLV_OUT_OF_MEMORY, "no memory for the bodies" );
}

static clv_result create_world( const clv_rigid_def* def, clv_rigid** world )
{
    clv_result result = check_rigid_def( def );
    if ( result != CLV_OK )
    {
        return result;
    }
    base_memory memory = clv_base_memory_make( def->allocator );
    clv_rigid* made = clv_base_memory_take( &memory, 1, sizeof( *made ) );
    if ( made == NULL )
    {
        return base_refuse( &def->logger, CLV_OUT_OF_MEMORY, "no memory for the world" );
    }
    memset( made, 0, sizeof( *made ) );
    made->memory = memory;
    made->def = *def;
    result = fill_world( made );
    if ( result != CLV_OK )
    {
        clv_rigid_destroy( made );
        return result;
    }
    *world = made;
    return CLV_OK;
}

clv_result clv_rigid_create( const clv_rigid_def* def, clv_rigid** world )
{
    CLV_ASSERT( def != NULL && world != NULL );
    *world = NULL;
    base_fp_mode mode = base_fp_enter();
    clv_result result = create_world( def, world );
    base_fp_leave( mode );
    return result;
}

void clv_rigid_destroy( clv_rigid* world )
{
    if ( world == NULL )
    {
        return;
    }
    base_memory* memory = &world->memory;
    clv_task_runner_stop( &world->runner, memory );
    clv_space_destroy( world->space );
#define GIVE( column )                                                                                       \
    clv_base_memory_give( memory, world->column, world->capacity + 1, sizeof( *world->column ) );
    BODY_COLUMNS( GIVE )
#undef GIVE
    clv_sim_rigid_contacts_free( world, &world->now );
    clv_sim_rigid_contacts_free( world, &world->last );
    base_array_free( &world->wall_pairs, memory );
    base_array_free( &world->blocks, memory );
    base_array_free( &world->colors, memory );
    base_memory last = world->memory;
    clv_base_memory_give( &last, world, 1, sizeof( *world ) );
}

/// NULL if the body is as it should be, else what is wrong with it.
static const char* body_fault( const clv_rigid_body* body )
{
    clv_quat q = body->rotation;
    float length = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    if ( !base_is_finite_point( body->half ) ||
        !( body->half.x > 0.0f && body->half.y > 0.0f && body->half.z > 0.0f ) )
    {
        return "half sides must be finite and above 0";
    }
    if ( !base_is_finite_point( body->position ) )
    {
        return "its position is not finite";
    }
    if ( !is_in( length, 0.999f, 1.001f ) )
    {
        return "its rotation is not a unit quaternion";
    }
    if ( !base_is_finite_point( body->velocity ) || !base_is_finite_point( body->angular_velocity ) )
    {
        return "its velocity is not finite";
    }
    if ( !is_in( body->mass, 0.0f, 3e38f ) )
    {
        return "its mass must be finite and at least 0";
    }
    return NULL;
}

clv_result clv_sim_rigid_fail( clv_rigid* world, clv_result code, uint32_t position, const char* format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( world->error_text, sizeof( world->error_text ), format, arguments );
    va_end( arguments );
    world->error = ( clv_error ){ code, position, clv_null_id(), 0, world->error_text };
    return code;
}

clv_result clv_sim_rigid_succeed( clv_rigid* world )
{
    world->error = ( clv_error ){ CLV_OK, UINT32_MAX, clv_null_id(), 0, "" };
    return CLV_OK;
}

static clv_result check_body( clv_rigid* world, const clv_rigid_body* body, uint32_t position )
{
    const char* fault = body_fault( body );
    if ( fault == NULL )
    {
        return CLV_OK;
    }
    bool mass = !is_in( body->mass, 0.0f, 3e38f );
    return clv_sim_rigid_fail(
        world, mass ? CLV_BAD_ARGUMENT : CLV_BAD_BOX, position, "body %u: %s", position, fault );
}

void clv_sim_rigid_refresh( clv_rigid* world, uint32_t body )
{
    const rigid_pose* pose = &world->poses[body];
    sim_mat3 turn = sim_mat3_from_quat( pose->rotation );
    narrow_box* box = &world->boxes[body];
    box->center = pose->position;
    box->half = pose->half;
    for ( int j = 0; j < 3; ++j )
    {
        for ( int i = 0; i < 3; ++i )
        {
            box->axes[j][i] = turn.m[i][j];
        }
    }
    world->answers[body].inverse_inertia = sim_sym3_from_diagonal( &turn, pose->inverse_inertia );
    world->answers[body].inverse_mass = world->motions[body].inverse_mass;
}

static void set_body( clv_rigid* world, uint32_t index, const clv_rigid_body* body )
{
    clv_vec3 h = body->half;
    float m = body->mass;
    // A solid box: a third of the mass times the half sides squared.
    clv_vec3 inertia = { m * ( h.y * h.y + h.z * h.z ) / 3.0f, m * ( h.x * h.x + h.z * h.z ) / 3.0f,
        m * ( h.x * h.x + h.y * h.y ) / 3.0f };
    rigid_pose* pose = &world->poses[index];
    pose->position = body->position;
    pose->rotation = sim_quat_normalize( body->rotation );
    pose->half = h;
    pose->mass = m;
    pose->radius = sim_length( h );
    pose->side = 2.0f * ( h.x + h.y + h.z ) / 3.0f;
    bool moves = m > 0.0f && inertia.x > 0.0f && inertia.y > 0.0f && inertia.z > 0.0f;
    pose->inverse_inertia = moves ? sim_vec3( 1.0f / inertia.x, 1.0f / inertia.y, 1.0f / inertia.z )
                                  : sim_vec3( 0.0f, 0.0f, 0.0f );
    rigid_motion* motion = &world->motions[index];
    memset( motion, 0, sizeof( *motion ) );
    motion->fresh = 1;
    motion->inverse_mass = moves ? 1.0f / m : 0.0f;
    if ( moves )
    {
        motion->velocity = body->velocity;
        motion->spin = body->angular_velocity;
    }
    world->rest_seconds[index] = 0.0f;
    world->islands[index] = RIGID_NONE;
    world->any_fresh = true;
    clv_sim_rigid_refresh( world, index );
}

static clv_result add_bodies( clv_rigid* world, const clv_rigid_body* bodies, uint32_t count )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_result result = check_body( world, &bodies[i], i );
        if ( result != CLV_OK )
        {
            return result;
        }
    }
    if ( count > CLV_MAX_OBJECTS - world->count )
    {
        return clv_sim_rigid_fail( world, CLV_TOO_MANY_OBJECTS, UINT32_MAX,
            "%u bodies and %u more are too many", world->count, count );
    }
    if ( !grow_bodies( world, (uint64_t)world->count + count ) )
    {
        return clv_sim_rigid_fail(
            world, CLV_OUT_OF_MEMORY, UINT32_MAX, "no memory for %u more bodies", count );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        set_body( world, world->count + i, &bodies[i] );
        world->static_count += rigid_is_static( world, world->count + i ) ? 1u : 0u;
    }
    world->count += count;
    memset( &world->motions[world->count], 0, sizeof( rigid_motion ) );
    return clv_sim_rigid_succeed( world );
}

clv_result clv_rigid_add( clv_rigid* world, const clv_rigid_body* bodies, uint32_t count )
{
    CLV_ASSERT( world != NULL && ( bodies != NULL || count == 0 ) );
    base_fp_mode mode = base_fp_enter();
    clv_result result = add_bodies( world, bodies, count );
    base_fp_leave( mode );
    return result;
}

static clv_result check_index( clv_rigid* world, uint32_t index )
{
    return index < world->count ? CLV_OK
                                : clv_sim_rigid_fail( world, CLV_BAD_ID, UINT32_MAX,
                                      "no body %u; there are %u", index, world->count );
}

static clv_result place_body( clv_rigid* world, uint32_t index, const clv_rigid_body* body )
{
    clv_result result = check_index( world, index );
    result = result == CLV_OK ? check_body( world, body, 0 ) : result;
    if ( result != CLV_OK )
    {
        return result;
    }
    clv_sim_rigid_wake( world, index );
    world->static_count -= rigid_is_static( world, index ) ? 1u : 0u;
    set_body( world, index, body );
    world->static_count += rigid_is_static( world, index ) ? 1u : 0u;
    return clv_sim_rigid_succeed( world );
}

clv_result clv_rigid_place( clv_rigid* world, uint32_t index, const clv_rigid_body* body )
{
    CLV_ASSERT( world != NULL && body != NULL );
    base_fp_mode mode = base_fp_enter();
    clv_result result = place_body( world, index, body );
    base_fp_leave( mode );
    return result;
}

static clv_result set_body_velocity( clv_rigid* world, uint32_t index, clv_vec3 velocity )
{
    clv_result result = check_index( world, index );
    if ( result != CLV_OK )
    {
        return result;
    }
    if ( !base_is_finite_point( velocity ) )
    {
        return clv_sim_rigid_fail(
            world, CLV_BAD_ARGUMENT, UINT32_MAX, "velocity of body %u is not finite", index );
    }
    if ( !rigid_is_static( world, index ) )
    {
        clv_sim_rigid_wake( world, index );
        world->motions[index].velocity = velocity;
    }
    return clv_sim_rigid_succeed( world );
}

clv_result clv_rigid_set_velocity( clv_rigid* world, uint32_t index, clv_vec3 velocity )
{
    CLV_ASSERT( world != NULL );
    base_fp_mode mode = base_fp_enter();
    base_fp_settle( &velocity );
    clv_result result = set_body_velocity( world, index, velocity );
    base_fp_settle( &result );
    base_fp_leave( mode );
    return result;
}

clv_result clv_rigid_set_gravity( clv_rigid* world, clv_vec3 gravity )
{
    CLV_ASSERT( world != NULL );
    base_fp_mode mode = base_fp_enter();
    base_fp_settle( &gravity );
    bool good = base_is_finite_point( gravity );
    clv_vec3 old = world->def.gravity;
    bool differs = good && ( gravity.x != old.x || gravity.y != old.y || gravity.z != old.z );
    base_fp_settle( &differs );
    base_fp_leave( mode );
    if ( !good )
    {
        return clv_sim_rigid_fail(
            world, CLV_BAD_ARGUMENT, UINT32_MAX, "set_gravity: the gravity is not finite" );
    }
    if ( differs )
    {
        world->def.gravity = gravity;
        clv_sim_rigid_wake_all( world );
    }
    return clv_sim_rigid_succeed( world );
}

void clv_rigid_set_contacts( clv_rigid* world, bool contacts )
{
    CLV_ASSERT( world != NULL );
    world->no_contacts = !contacts;
}

uint32_t clv_rigid_body_count( const clv_rigid* world )
{
    return world->count;
}

clv_rigid_body clv_rigid_get( const clv_rigid* world, uint32_t index )
{
    CLV_ASSERT( world != NULL && index < world->count );
    const rigid_pose* pose = &world->poses[index];
    const rigid_motion* motion = &world->motions[index];
    return ( clv_rigid_body ){ pose->half, pose->position, pose->rotation, motion->velocity, motion->spin,
        pose->mass };
}

bool clv_rigid_is_asleep( const clv_rigid* world, uint32_t index )
{
    CLV_ASSERT( world != NULL && index < world->count );
    return rigid_is_asleep( world, index );
}

clv_rigid_report clv_rigid_last_report( const clv_rigid* world )
{
    return world->report;
}

clv_error clv_rigid_error( const clv_rigid* world )
{
    return world->error;
}
