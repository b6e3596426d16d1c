// SPDX-License-Identifier: MIT
// Bodies that touch each other rest together or not at all: an island falls asleep when the last of its
// bodies has been slow for long enough, and wakes as a whole when something fast touches it.
#include "sim/rigid_world.h"

#include "base/assertion.h"

static uint32_t find_root( uint32_t* parents, uint32_t body )
{
    while ( parents[body] != body )
    {
        parents[body] = parents[parents[body]]; // halve the path: keeps trees flat without a second walk
        CLV_ASSERT( parents[body] <= body );    // a root is the lowest of its island
        body = parents[body];
    }
    return body;
}

/// The smaller index becomes the root, whatever the order of the contacts.
static void join( uint32_t* parents, uint32_t a, uint32_t b )
{
    a = find_root( parents, a );
    b = find_root( parents, b );
    if ( a < b )
    {
        parents[b] = a;
    }
    else
    {
        parents[a] = b;
    }
}

static void wake_one( clv_rigid* world, uint32_t body )
{
    CLV_ASSERT( rigid_is_asleep( world, body ) );
    world->islands[body] = RIGID_NONE;
    world->rest_seconds[body] = 0.0f;
    CLV_ASSERT( world->sleeping_count > 0 );
    world->sleeping_count -= 1;
}

void clv_sim_rigid_wake( clv_rigid* world, uint32_t body )
{
    uint32_t island = world->islands[body];
    for ( uint32_t i = 0; island != RIGID_NONE && i < world->count; ++i )
    {
        if ( world->islands[i] == island )
        {
            wake_one( world, i );
        }
    }
    world->rest_seconds[body] = 0.0f;
}

void clv_sim_rigid_wake_all( clv_rigid* world )
{
    for ( uint32_t i = 0; world->sleeping_count > 0 && i < world->count; ++i )
    {
        if ( world->islands[i] != RIGID_NONE )
        {
            wake_one( world, i );
        }
    }
}

/// Wake every island whose number is marked. Islands are numbered by their first body.
static void wake_marked( clv_rigid* world )
{
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        uint32_t island = world->islands[i];
        if ( island != RIGID_NONE && world->marks[island] != 0 )
        {
            wake_one( world, i );
        }
    }
}

static bool is_faster( const clv_rigid* world, uint32_t body, float limit )
{
    const rigid_motion* motion = &world->motions[body];
    float radius = world->poses[body].radius;
    float square = sim_dot( motion->velocity, motion->velocity ) +
        sim_dot( motion->spin, motion->spin ) * radius * radius;
    return square > limit * limit;
}

static bool is_fast( const clv_rigid* world, uint32_t body )
{
    return is_faster( world, body, world->def.sleep_speed );
}

static bool touches( const rigid_link* link )
{
    return link->separation <= 0.0f;
}

/// Does `other` give the sleeper `body` reason to wake? Something slow may lie down on it as on a floor.
static bool disturbs( const clv_rigid* world, uint32_t body, uint32_t other )
{
    bool moved = world->motions[other].fresh != 0;
    return rigid_is_asleep( world, body ) &&
        ( moved || ( rigid_is_movable( world, other ) && is_fast( world, other ) ) );
}

static bool mark_disturbed( clv_rigid* world, const rigid_contact_set* set, bool touching_only )
{
    bool any = false;
    for ( uint32_t i = 0; i < set->count; ++i )
    {
        const rigid_link* link = &set->links.items[i];
        uint32_t sleeper = disturbs( world, link->a, link->b ) ? link->a
            : disturbs( world, link->b, link->a )              ? link->b
                                                               : RIGID_NONE;
        if ( sleeper != RIGID_NONE && ( !touching_only || touches( link ) ) )
        {
            world->marks[world->islands[sleeper]] = 1;
            any = true;
        }
    }
    return any;
}

void clv_sim_rigid_wake_touched( clv_rigid* world )
{
    if ( world->sleeping_count == 0 )
    {
        return;
    }
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        world->marks[i] = 0;
    }
    bool any = mark_disturbed( world, &world->now.bodies, true );
    // What lay against a body that was taken away has lost its support.
    any |= world->any_fresh && mark_disturbed( world, &world->last.bodies, false );
    if ( any )
    {
        wake_marked( world );
    }
}

/// With one relaxing pass a step, one body in some thousand goes on rocking at about the speed that counts as
/// rest, and keeps all others awake.
static void calm( clv_rigid* world, uint32_t body )
{
    if ( !is_faster( world, body, 2.0f * world->def.sleep_speed ) )
    {
        rigid_motion* motion = &world->motions[body];
        motion->velocity = sim_scale( motion->velocity, RIGID_LEAN_CALM );
        motion->spin = sim_scale( motion->spin, RIGID_LEAN_CALM );
    }
}

static void count_rest( clv_rigid* world )
{
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        world->parents[i] = i;
        world->marks[i] = 0;
        if ( rigid_is_movable( world, i ) )
        {
            world->rest_seconds[i] = is_fast( world, i ) ? 0.0f : world->rest_seconds[i] + world->seconds;
            if ( world->def.lean )
            {
                calm( world, i );
            }
        }
    }
}

void clv_sim_rigid_sleep_rested( clv_rigid* world )
{
    count_rest( world );
    const rigid_contact_set* set = &world->now.bodies;
    for ( uint32_t i = 0; i < set->count; ++i )
    {
        const rigid_link* link = &set->links.items[i];
        if ( rigid_is_movable( world, link->a ) && rigid_is_movable( world, link->b ) && touches( link ) )
        {
            join( world->parents, link->a, link->b );
        }
    }
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        if ( rigid_is_movable( world, i ) && world->rest_seconds[i] < world->def.sleep_seconds )
        {
            world->marks[find_root( world->parents, i )] = 1;
        }
    }
    // Decide for all before any body falls asleep: find_root needs the parents only, but movable changes with
    // sleep.
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        uint32_t root = find_root( world->parents, i );
        if ( rigid_is_movable( world, i ) && world->marks[root] == 0 )
        {
            CLV_ASSERT( root <= i && !rigid_is_asleep( world, i ) );
            world->islands[i] = root;
            world->motions[i].velocity = sim_vec3( 0.0f, 0.0f, 0.0f );
            world->motions[i].spin = sim_vec3( 0.0f, 0.0f, 0.0f );
            world->sleeping_count += 1;
        }
    }
}
