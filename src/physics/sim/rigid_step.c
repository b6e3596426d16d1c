// SPDX-License-Identifier: MIT
// One step of the world, from boxes to boxes.
#include "sim/rigid_world.h"

#include "base/assertion.h"
#include "base/fp_mode.h"
#include "base/number.h"
#include "base/timer.h"

static clv_aabb bounds_of( const narrow_box* box )
{
    clv_vec3 e = rigid_extent_of( box );
    clv_aabb bounds = { sim_sub( box->center, e ), sim_add( box->center, e ) };
    return bounds;
}

void clv_rigid_boxes( const clv_rigid* world, clv_aabb* boxes )
{
    CLV_ASSERT( world != NULL && ( boxes != NULL || world->count == 0 ) );
    base_fp_mode mode = base_fp_enter();
    for ( uint32_t body = 0; body < world->count; ++body )
    {
        boxes[body] = bounds_of( &world->boxes[body] );
    }
    base_fp_leave( mode );
}

/// Bodies look ahead by what they may move in the step, but not so far that a contact with the wrong side of
/// something would be made up.
static float reach_of( const clv_rigid* world, uint32_t body )
{
    const rigid_motion* motion = &world->motions[body];
    const rigid_pose* pose = &world->poses[body];
    if ( !rigid_is_movable( world, body ) )
    {
        return 0.01f * pose->side;
    }
    float speed = sim_length( motion->velocity ) + sim_length( world->def.gravity ) * world->seconds;
    float reach = 0.01f * pose->side + speed * world->seconds;
    return sim_min( reach, 0.25f * pose->side );
}

/// Make a side and the one across from it reach `way` ahead, but not more than `most`.
static void stretch( float* lower, float* upper, float way, float most )
{
    *lower += sim_max( sim_min( way, 0.0f ), -most );
    *upper += sim_min( sim_max( way, 0.0f ), most );
}

/// Bounds of a body in a lean world: grown by a fiftieth of its side and stretched along its way. Bodies that
/// fly side by side stretch the same way, and so meet few boxes more than at rest.
static clv_aabb stretched_bounds( const clv_rigid* world, uint32_t body )
{
    const float side = world->poses[body].side, most = RIGID_LEAN_REACH * side, seconds = world->seconds;
    clv_aabb bounds = clv_aabb_grow( bounds_of( &world->boxes[body] ), RIGID_LEAN_SLACK * side );
    if ( rigid_is_movable( world, body ) )
    {
        clv_vec3 velocity = sim_add_scaled( world->motions[body].velocity, seconds, world->def.gravity );
        stretch( &bounds.lower.x, &bounds.upper.x, velocity.x * seconds, most );
        stretch( &bounds.lower.y, &bounds.upper.y, velocity.y * seconds, most );
        stretch( &bounds.lower.z, &bounds.upper.z, velocity.z * seconds, most );
    }
    return bounds;
}

static void grow_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    clv_rigid* world = context;
    rigid_range range = rigid_piece( world->count, RIGID_BODY_PIECE, index );
    for ( uint32_t body = range.begin; body < range.end; ++body )
    {
        if ( world->def.lean )
        {
            world->reaches[body] = RIGID_LEAN_REACH * world->poses[body].side;
            world->bounds[body] = stretched_bounds( world, body );
        }
        else
        {
            float reach = reach_of( world, body );
            world->reaches[body] = reach;
            world->bounds[body] = clv_aabb_grow( bounds_of( &world->boxes[body] ), reach );
        }
    }
}

static clv_result find_pairs( clv_rigid* world )
{
    clv_task_run( &world->runner, grow_piece, rigid_piece_count( world->count, RIGID_BODY_PIECE ), world );
    clv_result result = CLV_OK;
    uint32_t known = world->spaced_count, fresh = world->count - known;
    CLV_ASSERT( known <= world->count );
    if ( fresh > 0 )
    {
        result = clv_space_add( world->space, world->bounds + known, fresh, world->ids + known );
        world->spaced_count += result == CLV_OK ? fresh : 0;
    }
    if ( result == CLV_OK )
    {
        result = clv_space_move( world->space, world->ids, world->bounds, known );
    }
    return result == CLV_OK ? clv_space_update( world->space ) : result;
}

/// A centre that got past a wall is put back onto it and loses its outward speed. How often that was needed
/// counts.
static uint32_t clamp_axis( float* position, float* velocity, float lower, float upper )
{
    if ( *position < lower )
    {
        *position = lower;
        *velocity = sim_max( *velocity, 0.0f );
        return 1;
    }
    if ( *position > upper )
    {
        *position = upper;
        *velocity = sim_min( *velocity, 0.0f );
        return 1;
    }
    return 0;
}

/// 0 unless a component is infinite or NaN: nothing else differs from itself.
static float excess_of( clv_vec3 v )
{
    return ( v.x - v.x ) + ( v.y - v.y ) + ( v.z - v.z );
}

/// Speeds or lengths so large that a sum or product of them was no number any more?
static bool is_lost( const rigid_pose* pose, const rigid_motion* motion )
{
    clv_quat q = pose->rotation;
    float excess = excess_of( pose->position ) + excess_of( sim_vec3( q.x, q.y, q.z ) ) + ( q.w - q.w ) +
        excess_of( motion->velocity ) + excess_of( motion->spin );
    return !( excess == 0.0f );
}

enum
{
    MARK_CLAMPED = 1,
    MARK_LOST
};

static void settle_body( clv_rigid* world, uint32_t body )
{
    rigid_pose* pose = &world->poses[body];
    rigid_motion* motion = &world->motions[body];
    const clv_aabb* walls = &world->def.walls;
    const rigid_pose before = *pose;
    pose->position = sim_add( pose->position, motion->shift );
    pose->rotation = sim_quat_turn( pose->rotation, motion->turn );
    if ( is_lost( pose, motion ) )
    {
        *pose = before;
        motion->velocity = motion->spin = sim_vec3( 0.0f, 0.0f, 0.0f );
        world->marks[body] = MARK_LOST;
        clv_sim_rigid_refresh( world, body );
        return;
    }
    uint32_t clamped = clamp_axis( &pose->position.x, &motion->velocity.x, walls->lower.x, walls->upper.x ) +
        clamp_axis( &pose->position.y, &motion->velocity.y, walls->lower.y, walls->upper.y ) +
        clamp_axis( &pose->position.z, &motion->velocity.z, walls->lower.z, walls->upper.z );
    world->marks[body] = clamped > 0 ? MARK_CLAMPED : 0;
    clv_sim_rigid_refresh( world, body );
}

static void settle_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    clv_rigid* world = context;
    rigid_range range = rigid_piece( world->count, RIGID_BODY_PIECE, index );
    for ( uint32_t body = range.begin; body < range.end; ++body )
    {
        rigid_motion* motion = &world->motions[body];
        world->marks[body] = 0;
        if ( rigid_is_movable( world, body ) )
        {
            settle_body( world, body );
        }
        motion->shift = sim_vec3( 0.0f, 0.0f, 0.0f );
        motion->turn = sim_vec3( 0.0f, 0.0f, 0.0f );
        motion->fresh = world->marks[body] == MARK_LOST; // what its contacts remember is no number either
    }
}

/// Sums over contacts as they were found. In list order, so that the last bit is always the same.
static void report_contacts( clv_rigid* world, clv_rigid_report* report )
{
    double sum = 0.0, relative_sum = 0.0;
    uint32_t count = rigid_contact_count( &world->now );
    for ( uint32_t i = 0; i < count; ++i )
    {
        const rigid_link* link = rigid_link_at( &world->now, i );
        report->point_count += link->point_count;
        if ( link->separation < 0.0f )
        {
            float side = world->poses[link->a].side;
            side = link->b < RIGID_WALL ? sim_min( side, world->poses[link->b].side ) : side;
            double depth = -(double)link->separation, relative = depth / (double)side;
            sum += depth;
            relative_sum += relative;
            report->penetrating_count += 1;
            report->penetration_most = depth > report->penetration_most ? depth : report->penetration_most;
            report->penetration_most_relative =
                relative > report->penetration_most_relative ? relative : report->penetration_most_relative;
        }
    }
    report->contact_count = world->now.bodies.count;
    report->wall_contact_count = world->now.walls.count;
    double n = report->penetrating_count > 0 ? (double)report->penetrating_count : 1.0;
    report->penetration_mean = sum / n;
    report->penetration_mean_relative = relative_sum / n;
    report->color_count = world->rounds.color_count;
    report->overflow_count = world->rounds.overflow_count;
}

static void report_bodies( clv_rigid* world, clv_rigid_report* report )
{
    clv_vec3 g = world->def.gravity;
    for ( uint32_t body = 0; body < world->count; ++body )
    {
        const rigid_motion* motion = &world->motions[body];
        const rigid_pose* pose = &world->poses[body];
        report->clamped_count += world->marks[body] == MARK_CLAMPED;
        report->lost_count += world->marks[body] == MARK_LOST;
        if ( motion->inverse_mass == 0.0f )
        {
            continue;
        }
        const float( *axes )[3] = (const float( * )[3])world->boxes[body].axes;
        const float inverse[3] = { pose->inverse_inertia.x, pose->inverse_inertia.y,
            pose->inverse_inertia.z };
        double energy = (double)pose->mass * (double)sim_dot( motion->velocity, motion->velocity );
        for ( int j = 0; j < 3; ++j )
        {
            float spin =
                motion->spin.x * axes[j][0] + motion->spin.y * axes[j][1] + motion->spin.z * axes[j][2];
            energy += (double)( spin * spin / inverse[j] );
        }
        report->kinetic_energy += 0.5 * energy;
        report->potential_energy -= (double)pose->mass * (double)sim_dot( g, pose->position );
    }
    report->body_count = world->count;
    report->static_count = world->static_count;
    report->sleeping_count = world->sleeping_count;
}

static void swap_contacts( clv_rigid* world )
{
    rigid_contacts last = world->last;
    world->last = world->now;
    world->now = last;
}

static clv_result fail_step( clv_rigid* world, clv_result result, const char* reason )
{
    return clv_sim_rigid_fail( world, result, UINT32_MAX, "step: %s of %u bodies", reason, world->count );
}

/// All bodies sleep or are static, and none was added: the step would change no bit.
static bool is_at_rest( const clv_rigid* world )
{
    return !world->any_fresh && world->sleeping_count + world->static_count == world->count;
}

/// The last report still holds; only the time was not spent.
static clv_result rest( clv_rigid* world )
{
    clv_rigid_report* report = &world->report;
    report->kinetic_energy = 0.0;
    report->clamped_count = report->lost_count = 0;
    report->find_ms = report->manifold_ms = report->solve_ms = report->other_ms = 0.0;
    return clv_sim_rigid_succeed( world );
}

/// Everything that may run out of memory, then everything that moves.
static clv_result run_step( clv_rigid* world )
{
    clv_rigid_report report = { 0 };
    uint64_t start = clv_base_clock_ns();
    clv_result result = world->no_contacts ? CLV_OK : find_pairs( world );
    if ( result != CLV_OK )
    {
        return fail_step( world, result, "could not find the pairs" );
    }
    uint64_t found = clv_base_clock_ns();
    clv_pair_view view = { 0 };
    if ( !world->no_contacts )
    {
        view = clv_space_pairs( world->space );
    }
    if ( !clv_sim_rigid_collide( world, view.pairs, view.count ) )
    {
        return fail_step( world, CLV_OUT_OF_MEMORY, "no memory for the contacts" );
    }
    uint64_t collided = clv_base_clock_ns();
    clv_sim_rigid_wake_touched( world );
    if ( !clv_sim_rigid_color( world ) )
    {
        return fail_step( world, CLV_OUT_OF_MEMORY, "no memory for the rounds" );
    }
    report.pair_count = view.count;
    report_contacts( world, &report );
    uint64_t colored = clv_base_clock_ns();
    clv_sim_rigid_solve( world );
    uint64_t solved = clv_base_clock_ns();

    clv_task_run( &world->runner, settle_piece, rigid_piece_count( world->count, RIGID_BODY_PIECE ), world );
    report_bodies( world, &report );
    world->any_fresh = report.lost_count > 0;
    if ( world->def.sleep )
    {
        clv_sim_rigid_sleep_rested( world );
        report.sleeping_count = world->sleeping_count;
    }
    CLV_ASSERT( world->sleeping_count + world->static_count <= world->count );
    swap_contacts( world );
    uint64_t end = clv_base_clock_ns();
    report.find_ms = base_clock_ms( start, found );
    report.manifold_ms = base_clock_ms( found, collided );
    report.solve_ms = base_clock_ms( colored, solved );
    report.other_ms = (double)( colored - collided + end - solved ) * 1e-6;
    world->report = report;
    return clv_sim_rigid_succeed( world );
}

static clv_result step_world( clv_rigid* world, float seconds, uint32_t substeps )
{
    if ( !( seconds > 0.0f ) || !isfinite( seconds ) || substeps < 1 )
    {
        char number[32];
        clv_base_write_number( (double)seconds, number, sizeof( number ) );
        return clv_sim_rigid_fail( world, CLV_BAD_ARGUMENT, UINT32_MAX,
            "step: needs seconds > 0 and at least 1 substep, not %s and %u", number, substeps );
    }
    world->seconds = seconds;
    world->substeps = substeps;
    return is_at_rest( world ) ? rest( world ) : run_step( world );
}

clv_result clv_rigid_step( clv_rigid* world, float seconds, uint32_t substeps )
{
    CLV_ASSERT( world != NULL );
    base_fp_mode mode = base_fp_enter();
    base_fp_settle( &seconds );
    clv_result result = step_world( world, seconds, substeps );
    base_fp_leave( mode );
    return result;
}
