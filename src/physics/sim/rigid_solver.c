// SPDX-License-Identifier: MIT
// Contacts by substeps with soft constraints and relaxation, as E. Catto describes in "Solver2D" (2024): per substep
// one pass of impulses that also pushes overlaps apart, then the bodies move, then one pass that takes the push out
// of the velocities again, so that undoing an overlap adds no energy. Friction acts once per contact, at the mean of
// its points, with a twist about the normal. docs/dynamics.md argues the choice.
//
// Four contacts are solved side by side (sim_lanes.h); rigid_color.c sees to it that they share no body.
#include "sim/rigid_block.h"

#include "base/assertion.h"

#include <stddef.h>

_Static_assert( sizeof( rigid_motion ) == 64 && offsetof( rigid_motion, spin ) == 12, "rows of four" );

/// Velocities of one side of a block.
typedef struct lane_motion
{
    sim_lanes3 v, w;
} lane_motion;

/// How far b has moved against a since the step began, and both have turned.
typedef struct lane_shift
{
    sim_lanes3 shift, turn_a, turn_b;
} lane_shift;

typedef enum pass_kind
{
    PASS_WARM,
    PASS_SOLVE,
    PASS_BOUNCE,
} pass_kind;

/// One pass over all blocks.
typedef struct solve_pass
{
    pass_kind kind;
    float inverse_seconds;
    float friction;
    float push_speed;
    bool soft; ///< push overlaps apart; otherwise only keep them from growing
} solve_pass;

typedef struct solve_job
{
    clv_rigid* world;
    rigid_softness soft[2];
    float substep_seconds;
    solve_pass pass;
    uint32_t round_first, round_count; ///< blocks of the round under way
} solve_job;

static void read_velocity( const rigid_motion* motions, const uint32_t* index, lane_motion* out )
{
    sim_lanes low[SIM_LANES], high[SIM_LANES];
    for ( uint32_t l = 0; l < SIM_LANES; ++l )
    {
        const float* row = (const float*)&motions[index[l]];
        low[l] = sim_lanes_load( row );
        high[l] = sim_lanes_load( row + 4 );
    }
    sim_lanes_transpose( low );
    sim_lanes_transpose( high );
    out->v = ( sim_lanes3 ){ low[0], low[1], low[2] };
    out->w = ( sim_lanes3 ){ low[3], high[0], high[1] };
}

/// Shift and turn lie in the upper half of row 1 and in row 2.
static void read_side(
    const rigid_motion* motions, const uint32_t* index, sim_lanes3* shift, sim_lanes3* turn )
{
    sim_lanes low[SIM_LANES], high[SIM_LANES];
    for ( uint32_t l = 0; l < SIM_LANES; ++l )
    {
        const float* row = (const float*)&motions[index[l]];
        low[l] = sim_lanes_load( row + 4 );
        high[l] = sim_lanes_load( row + 8 );
    }
    sim_lanes_transpose( low );
    sim_lanes_transpose( high );
    *shift = ( sim_lanes3 ){ low[2], low[3], high[0] };
    *turn = ( sim_lanes3 ){ high[1], high[2], high[3] };
}

static lane_shift read_shift( const rigid_motion* motions, const rigid_block* block )
{
    lane_shift out;
    sim_lanes3 shift_a, shift_b;
    read_side( motions, block->a, &shift_a, &out.turn_a );
    read_side( motions, block->b, &shift_b, &out.turn_b );
    out.shift = sim_lanes3_sub( shift_b, shift_a );
    return out;
}

static void write_velocity(
    rigid_motion* motions, const uint32_t* index, const uint32_t* moves, const lane_motion* in )
{
    sim_lanes low[SIM_LANES] = { in->v.x, in->v.y, in->v.z, in->w.x };
    sim_lanes high[SIM_LANES] = { in->w.y, in->w.z, in->w.y, in->w.z };
    sim_lanes_transpose( low );
    sim_lanes_transpose( high );
    for ( uint32_t l = 0; l < SIM_LANES; ++l )
    {
        if ( moves[l] != 0 )
        {
            float* row = (float*)&motions[index[l]];
            sim_lanes_store( row, low[l] );
            memcpy( row + 4, &high[l], 2 * sizeof( float ) );
        }
    }
}

/// An impulse p on b and -p on a, with the torques it makes on each.
static inline void push( const rigid_block* block, lane_motion* a, lane_motion* b, sim_lanes3 p,
    sim_lanes3 torque_a, sim_lanes3 torque_b )
{
    a->v = sim_lanes3_sub( a->v, sim_lanes3_scale( p, sim_lanes_load( block->inverse_mass_a ) ) );
    a->w = sim_lanes3_sub( a->w, sim_lanes3_transform( block->inertia_a[0], torque_a ) );
    b->v = sim_lanes3_add( b->v, sim_lanes3_scale( p, sim_lanes_load( block->inverse_mass_b ) ) );
    b->w = sim_lanes3_add( b->w, sim_lanes3_transform( block->inertia_b[0], torque_b ) );
}

/// A normal impulse at one point.
static inline void push_point( const rigid_block* block, const rigid_block_point* point, lane_motion* a,
    lane_motion* b, sim_lanes impulse )
{
    push( block, a, b, sim_lanes3_scale( sim_lanes3_load( block->normal[0] ), impulse ),
        sim_lanes3_scale( sim_lanes3_load( point->arm_a[0] ), impulse ),
        sim_lanes3_scale( sim_lanes3_load( point->arm_b[0] ), impulse ) );
}

/// A friction impulse ( s0, s1 ) along the tangents and a twist about the normal.
static inline void push_friction(
    const rigid_block* block, lane_motion* a, lane_motion* b, sim_lanes s0, sim_lanes s1, sim_lanes twist )
{
    sim_lanes3 p = sim_lanes3_add( sim_lanes3_scale( sim_lanes3_load( block->tangent[0][0] ), s0 ),
        sim_lanes3_scale( sim_lanes3_load( block->tangent[1][0] ), s1 ) );
    sim_lanes3 turn = sim_lanes3_scale( sim_lanes3_load( block->normal[0] ), twist );
    sim_lanes3 torque_a = sim_lanes3_cross( sim_lanes3_load( block->anchor_a[0] ), p );
    sim_lanes3 torque_b = sim_lanes3_cross( sim_lanes3_load( block->anchor_b[0] ), p );
    push( block, a, b, p, sim_lanes3_add( torque_a, turn ), sim_lanes3_add( torque_b, turn ) );
}

static void warm_start( rigid_block* block, rigid_motion* motions )
{
    lane_motion a, b;
    read_velocity( motions, block->a, &a );
    read_velocity( motions, block->b, &b );
    push_friction( block, &a, &b, sim_lanes_load( block->slide[0] ), sim_lanes_load( block->slide[1] ),
        sim_lanes_load( block->twist ) );
    for ( uint32_t k = 0; k < block->point_count; ++k )
    {
        rigid_block_point* point = &block->points[k];
        push_point( block, point, &a, &b, sim_lanes_load( point->impulse ) );
    }
    write_velocity( motions, block->a, block->moves_a, &a );
    write_velocity( motions, block->b, block->moves_b, &b );
}

/// Speed of b against a where friction acts.
static sim_lanes3 slip_at_anchor( const rigid_block* block, const lane_motion* a, const lane_motion* b )
{
    sim_lanes3 va = sim_lanes3_add( a->v, sim_lanes3_cross( a->w, sim_lanes3_load( block->anchor_a[0] ) ) );
    sim_lanes3 vb = sim_lanes3_add( b->v, sim_lanes3_cross( b->w, sim_lanes3_load( block->anchor_b[0] ) ) );
    return sim_lanes3_sub( vb, va );
}

/// Friction stops the sliding at the anchor and the twisting about the normal, within what the load allows.
static void solve_friction( rigid_block* block, lane_motion* a, lane_motion* b, float friction )
{
    sim_lanes load = sim_lanes_set( 0.0f ), moment = load, mu = sim_lanes_set( friction );
    for ( uint32_t k = 0; k < block->point_count; ++k )
    {
        const rigid_block_point* point = &block->points[k];
        sim_lanes share = sim_lanes_mul( mu, sim_lanes_load( point->impulse ) );
        load = sim_lanes_add( load, share );
        moment = sim_lanes_add( moment, sim_lanes_mul( share, sim_lanes_load( point->lever ) ) );
    }
    sim_lanes3 slip = slip_at_anchor( block, a, b );
    sim_lanes slip0 = sim_lanes3_dot( sim_lanes3_load( block->tangent[0][0] ), slip );
    sim_lanes slip1 = sim_lanes3_dot( sim_lanes3_load( block->tangent[1][0] ), slip );
    sim_lanes m01 = sim_lanes_load( block->slide_mass[1] );
    sim_lanes d0 = sim_lanes_add(
        sim_lanes_mul( sim_lanes_load( block->slide_mass[0] ), slip0 ), sim_lanes_mul( m01, slip1 ) );
    sim_lanes d1 = sim_lanes_add(
        sim_lanes_mul( m01, slip0 ), sim_lanes_mul( sim_lanes_load( block->slide_mass[2] ), slip1 ) );
    sim_lanes before0 = sim_lanes_load( block->slide[0] ), before1 = sim_lanes_load( block->slide[1] );
    sim_lanes s0 = sim_lanes_sub( before0, d0 ), s1 = sim_lanes_sub( before1, d1 );
    sim_lanes square = sim_lanes_add( sim_lanes_mul( s0, s0 ), sim_lanes_mul( s1, s1 ) );
    sim_lanes scale = sim_lanes_shorten( square, load );
    s0 = sim_lanes_mul( s0, scale );
    s1 = sim_lanes_mul( s1, scale );

    sim_lanes turning = sim_lanes3_dot( sim_lanes3_load( block->normal[0] ), sim_lanes3_sub( b->w, a->w ) );
    sim_lanes twist_before = sim_lanes_load( block->twist );
    sim_lanes twist =
        sim_lanes_sub( twist_before, sim_lanes_mul( sim_lanes_load( block->twist_mass ), turning ) );
    twist = sim_lanes_min( twist, moment );
    twist = sim_lanes_max( twist, sim_lanes_sub( sim_lanes_set( 0.0f ), moment ) );

    sim_lanes_store( block->slide[0], s0 );
    sim_lanes_store( block->slide[1], s1 );
    sim_lanes_store( block->twist, twist );
    push_friction( block, a, b, sim_lanes_sub( s0, before0 ), sim_lanes_sub( s1, before1 ),
        sim_lanes_sub( twist, twist_before ) );
}

/// Along the normal, what b does against a at one point: for velocities the speed at which they part, for
/// displacements the gap that opened.
static inline sim_lanes along_normal( const rigid_block* block, const rigid_block_point* point,
    sim_lanes3 difference, sim_lanes3 turn_a, sim_lanes3 turn_b )
{
    sim_lanes linear = sim_lanes3_dot( sim_lanes3_load( block->normal[0] ), difference );
    sim_lanes angular = sim_lanes_sub( sim_lanes3_dot( sim_lanes3_load( point->arm_b[0] ), turn_b ),
        sim_lanes3_dot( sim_lanes3_load( point->arm_a[0] ), turn_a ) );
    return sim_lanes_add( linear, angular );
}

static inline sim_lanes parting(
    const rigid_block* block, const rigid_block_point* point, const lane_motion* a, const lane_motion* b )
{
    return along_normal( block, point, sim_lanes3_sub( b->v, a->v ), a->w, b->w );
}

static void solve_point( const rigid_block* block, rigid_block_point* point, const lane_shift* shift,
    const solve_pass* pass, lane_motion* a, lane_motion* b )
{
    const sim_lanes zero = sim_lanes_set( 0.0f ), one = sim_lanes_set( 1.0f );
    sim_lanes separation = sim_lanes_add( sim_lanes_load( point->separation ),
        along_normal( block, point, shift->shift, shift->turn_a, shift->turn_b ) );
    sim_lanes speed = parting( block, point, a, b );

    // Apart: they may close the gap in this substep, and no more. Overlapping: out, but not too fast.
    sim_lanes bias = zero, mass_scale = one, impulse_scale = zero;
    if ( pass->soft )
    {
        bias = sim_lanes_max( sim_lanes_mul( separation, sim_lanes_load( block->bias_rate ) ),
            sim_lanes_set( -pass->push_speed ) );
        mass_scale = sim_lanes_load( block->mass_scale );
        impulse_scale = sim_lanes_load( block->impulse_scale );
    }
    sim_lanes gap_speed = sim_lanes_mul( separation, sim_lanes_set( pass->inverse_seconds ) );
    bias = sim_lanes_if_greater( separation, zero, gap_speed, bias );
    mass_scale = sim_lanes_if_greater( separation, zero, one, mass_scale );
    impulse_scale = sim_lanes_if_greater( separation, zero, zero, impulse_scale );

    sim_lanes before = sim_lanes_load( point->impulse );
    sim_lanes gain = sim_lanes_mul(
        sim_lanes_mul( sim_lanes_load( point->mass ), mass_scale ), sim_lanes_add( speed, bias ) );
    sim_lanes impulse =
        sim_lanes_sub( sim_lanes_sub( before, gain ), sim_lanes_mul( impulse_scale, before ) );
    impulse = sim_lanes_max( impulse, zero );
    sim_lanes_store( point->impulse, impulse );
    sim_lanes_store( point->impulse_most, sim_lanes_max( impulse, sim_lanes_load( point->impulse_most ) ) );
    push_point( block, point, a, b, sim_lanes_sub( impulse, before ) );
}

static void solve_block( rigid_block* block, rigid_motion* motions, const solve_pass* pass )
{
    lane_motion a, b;
    read_velocity( motions, block->a, &a );
    read_velocity( motions, block->b, &b );
    lane_shift shift = read_shift( motions, block );
    solve_friction( block, &a, &b, pass->friction );
    for ( uint32_t k = 0; k < block->point_count; ++k )
    {
        solve_point( block, &block->points[k], &shift, pass, &a, &b );
    }
    write_velocity( motions, block->a, block->moves_a, &a );
    write_velocity( motions, block->b, block->moves_b, &b );
}

/// Points that were hit hard leave with a share of the speed they came with.
static void bounce_block( rigid_block* block, rigid_motion* motions, float restitution, float least )
{
    const sim_lanes zero = sim_lanes_set( 0.0f );
    lane_motion a, b;
    read_velocity( motions, block->a, &a );
    read_velocity( motions, block->b, &b );
    for ( uint32_t k = 0; k < block->point_count; ++k )
    {
        rigid_block_point* point = &block->points[k];
        sim_lanes approach = sim_lanes_load( point->approach ), before = sim_lanes_load( point->impulse );
        sim_lanes wanted = sim_lanes_mul( sim_lanes_set( restitution ), approach );
        sim_lanes gain = sim_lanes_mul(
            sim_lanes_load( point->mass ), sim_lanes_add( parting( block, point, &a, &b ), wanted ) );
        sim_lanes impulse = sim_lanes_max( sim_lanes_sub( before, gain ), zero );
        impulse = sim_lanes_if_greater( sim_lanes_set( -least ), approach, impulse, before );
        impulse = sim_lanes_if_greater( sim_lanes_load( point->impulse_most ), zero, impulse, before );
        sim_lanes_store( point->impulse, impulse );
        push_point( block, point, &a, &b, sim_lanes_sub( impulse, before ) );
    }
    write_velocity( motions, block->a, block->moves_a, &a );
    write_velocity( motions, block->b, block->moves_b, &b );
}

static void accelerate( clv_rigid* world, rigid_range bodies, float seconds )
{
    clv_vec3 gain = sim_scale( world->def.gravity, seconds );
    float most = world->def.spin_most;
    for ( uint32_t body = bodies.begin; body < bodies.end; ++body )
    {
        if ( !rigid_is_movable( world, body ) )
        {
            continue;
        }
        rigid_motion* motion = &world->motions[body];
        motion->velocity = sim_add( motion->velocity, gain );
        float square = sim_dot( motion->spin, motion->spin );
        if ( square > most * most )
        {
            motion->spin = sim_scale( motion->spin, most / sqrtf( square ) );
        }
    }
}

static void advance( clv_rigid* world, rigid_range bodies, float seconds )
{
    for ( uint32_t body = bodies.begin; body < bodies.end; ++body )
    {
        rigid_motion* motion = &world->motions[body];
        motion->shift = sim_add_scaled( motion->shift, seconds, motion->velocity );
        motion->turn = sim_add_scaled( motion->turn, seconds, motion->spin );
    }
}

static void accelerate_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    const solve_job* job = context;
    accelerate( job->world, rigid_piece( job->world->count, RIGID_BODY_PIECE, index ), job->substep_seconds );
}

static void advance_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    const solve_job* job = context;
    advance( job->world, rigid_piece( job->world->count, RIGID_BODY_PIECE, index ), job->substep_seconds );
}

static void prepare_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    const solve_job* job = context;
    rigid_range range = rigid_piece( job->world->block_count, RIGID_BLOCK_PIECE, index );
    for ( uint32_t i = range.begin; i < range.end; ++i )
    {
        if ( i + 2 < range.end )
        {
            clv_sim_rigid_block_fetch( job->world, &job->world->blocks.items[i + 2] );
        }
        clv_sim_rigid_block_prepare( job->world, &job->world->blocks.items[i], job->soft );
    }
}

static void store_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    const solve_job* job = context;
    rigid_range range = rigid_piece( job->world->block_count, RIGID_BLOCK_PIECE, index );
    for ( uint32_t i = range.begin; i < range.end; ++i )
    {
        clv_sim_rigid_block_store( &job->world->blocks.items[i] );
    }
}

/// Blocks between the one that is fetched and the one that is solved.
#define BLOCKS_AHEAD 2

static void fetch_motions( const rigid_motion* motions, const rigid_block* block )
{
    for ( uint32_t lane = 0; lane < RIGID_LANES; ++lane )
    {
        sim_fetch( &motions[block->a[lane]] );
        sim_fetch( &motions[block->b[lane]] );
    }
}

static void pass_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    const solve_job* job = context;
    clv_rigid* world = job->world;
    rigid_range range = rigid_piece( job->round_count, RIGID_BLOCK_PIECE, index );
    uint32_t end = job->round_first + range.end;
    for ( uint32_t i = job->round_first + range.begin; i < end; ++i )
    {
        if ( i + BLOCKS_AHEAD < end )
        {
            fetch_motions( world->motions, &world->blocks.items[i + BLOCKS_AHEAD] );
        }
        rigid_block* block = &world->blocks.items[i];
        switch ( job->pass.kind )
        {
        case PASS_WARM: warm_start( block, world->motions ); break;
        case PASS_SOLVE: solve_block( block, world->motions, &job->pass ); break;
        case PASS_BOUNCE:
            bounce_block( block, world->motions, world->def.restitution, world->def.restitution_speed );
            break;
        }
    }
}

/// All rounds one after the other, each shared by the workers; then the overflow, in order.
static void run_passes( solve_job* job, solve_pass pass )
{
    clv_rigid* world = job->world;
    const rigid_rounds* rounds = &world->rounds;
    job->pass = pass;
    for ( uint32_t round = 0; round < rounds->color_count; ++round )
    {
        job->round_first = rounds->first[round];
        job->round_count = rounds->first[round + 1] - job->round_first;
        clv_task_run(
            &world->runner, pass_piece, rigid_piece_count( job->round_count, RIGID_BLOCK_PIECE ), job );
    }
    job->round_first = rounds->first[RIGID_COLORS];
    job->round_count = rounds->overflow_count;
    for ( uint32_t i = 0; i < rigid_piece_count( job->round_count, RIGID_BLOCK_PIECE ); ++i )
    {
        pass_piece( i, 0, job );
    }
}

static void run_substeps( solve_job* job )
{
    clv_rigid* world = job->world;
    task_runner* runner = &world->runner;
    uint32_t body_pieces = rigid_piece_count( world->count, RIGID_BODY_PIECE );
    uint32_t block_pieces = rigid_piece_count( world->block_count, RIGID_BLOCK_PIECE );
    solve_pass warm = { PASS_WARM, 1.0f / job->substep_seconds, world->def.friction, 0.0f, false };
    solve_pass soft = { PASS_SOLVE, warm.inverse_seconds, warm.friction, world->def.push_speed, true };
    solve_pass relax = { PASS_SOLVE, warm.inverse_seconds, warm.friction, 0.0f, false };
    solve_pass bounce = { PASS_BOUNCE, warm.inverse_seconds, warm.friction, 0.0f, false };

    clv_task_run( runner, prepare_piece, block_pieces, job );
    for ( uint32_t substep = 0; substep < world->substeps; ++substep )
    {
        clv_task_run( runner, accelerate_piece, body_pieces, job );
        run_passes( job, warm );
        run_passes( job, soft );
        clv_task_run( runner, advance_piece, body_pieces, job );
        run_passes( job, relax );
    }
    if ( world->def.restitution > 0.0f )
    {
        run_passes( job, bounce );
    }
    clv_task_run( runner, store_piece, block_pieces, job );
}

void clv_sim_rigid_solve( clv_rigid* world )
{
    CLV_ASSERT( world->substeps >= 1 && world->seconds > 0.0f );
    float seconds = world->seconds / (float)world->substeps;
    float hertz = sim_min( world->def.contact_hertz, 0.25f / seconds );
    solve_job job = {
        .world = world,
        .soft = { clv_sim_rigid_soft( hertz, world->def.contact_damping, seconds ),
            clv_sim_rigid_soft( 2.0f * hertz, world->def.contact_damping, seconds ) },
        .substep_seconds = seconds,
    };
    run_substeps( &job );
}
