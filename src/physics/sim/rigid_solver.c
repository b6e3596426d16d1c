// SPDX-License-Identifier: MIT
// Contacts by substeps with soft constraints and relaxation, as E. Catto describes in "Solver2D" (2024): per
// substep one pass of impulses that also pushes overlaps apart, then the bodies move, then one pass that
// takes the push out of the velocities again, so that undoing an overlap adds no energy. Friction acts once
// per contact, at the mean of its points, with a twist about the normal. docs/physics.md argues the choice.
//
// Four contacts are solved side by side (lanes.h); rigid_color.c sees to it that they share no body.
#include "sim/rigid_block.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <stddef.h>

_Static_assert( sizeof( rigid_motion ) == 64 && offsetof( rigid_motion, spin ) == 12, "rows of four" );

/// Velocities of one side of a block.
typedef struct lane_motion
{
    math_lanes3 v, w;
} lane_motion;

/// How far b has moved against a since the step began, and both have turned.
typedef struct lane_shift
{
    math_lanes3 shift, turn_a, turn_b;
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
    bool soft;    ///< push overlaps apart; otherwise only keep them from growing
    bool bounces; ///< the hardest push is to be known
    bool rubs;    ///< solve friction too
    bool lean;
} solve_pass;

typedef struct solve_job
{
    clv_rigid* world;
    rigid_softness soft[2];
    float substep_seconds;
    bool repeats; ///< impulses are carried over from the substep before body by body
    solve_pass pass;
    uint32_t round_first, round_count; ///< blocks of the round under way
} solve_job;

/// Rows of four numbers of each body, from `offset` on and the next, as numbers of four bodies.
static BASE_INLINE void read_rows( const rigid_motion* motions, const uint32_t* index, uint32_t offset,
    math_lanes low[MATH_LANES], math_lanes high[MATH_LANES] )
{
    for ( uint32_t l = 0; l < MATH_LANES; ++l )
    {
        const float* row = (const float*)&motions[index[l]] + offset;
        low[l] = math_lanes_load( row );
        high[l] = math_lanes_load( row + 4 );
    }
    math_lanes_transpose( low );
    math_lanes_transpose( high );
}

static lane_motion read_velocity( const rigid_motion* motions, const uint32_t* index )
{
    math_lanes low[MATH_LANES], high[MATH_LANES];
    read_rows( motions, index, 0, low, high );
    return ( lane_motion ){ { low[0], low[1], low[2] }, { low[3], high[0], high[1] } };
}

/// Shift and turn lie in the upper half of row 1 and in row 2.
static void read_side(
    const rigid_motion* motions, const uint32_t* index, math_lanes3* shift, math_lanes3* turn )
{
    math_lanes low[MATH_LANES], high[MATH_LANES];
    read_rows( motions, index, 4, low, high );
    *shift = ( math_lanes3 ){ low[2], low[3], high[0] };
    *turn = ( math_lanes3 ){ high[1], high[2], high[3] };
}

static lane_shift read_shift( const rigid_motion* motions, const rigid_block* block )
{
    lane_shift out;
    math_lanes3 shift_a, shift_b;
    read_side( motions, block->a, &shift_a, &out.turn_a );
    read_side( motions, block->b, &shift_b, &out.turn_b );
    out.shift = math_lanes3_sub( shift_b, shift_a );
    return out;
}

static void write_velocity(
    rigid_motion* motions, const uint32_t* index, const uint32_t* moves, const lane_motion* in )
{
    math_lanes low[MATH_LANES] = { in->v.x, in->v.y, in->v.z, in->w.x };
    math_lanes high[MATH_LANES] = { in->w.y, in->w.z, in->w.y, in->w.z };
    math_lanes_transpose( low );
    math_lanes_transpose( high );
    for ( uint32_t l = 0; l < MATH_LANES; ++l )
    {
        if ( moves[l] != 0 )
        {
            float* row = (float*)&motions[index[l]];
            math_lanes_store( row, low[l] );
            memcpy( row + 4, &high[l], 2 * sizeof( float ) );
        }
    }
}

/// An impulse p on b and -p on a, with the spins it gives to each.
static inline void push( const rigid_block* block, lane_motion* a, lane_motion* b, math_lanes3 p,
    math_lanes3 spin_a, math_lanes3 spin_b )
{
    a->v = math_lanes3_sub( a->v, math_lanes3_scale( p, math_lanes_load( block->inverse_mass_a ) ) );
    a->w = math_lanes3_sub( a->w, spin_a );
    b->v = math_lanes3_add( b->v, math_lanes3_scale( p, math_lanes_load( block->inverse_mass_b ) ) );
    b->w = math_lanes3_add( b->w, spin_b );
}

/// A normal impulse at one point. A lean world knows the spin that an impulse gives; the rounding is another
/// then.
static inline void push_point( const rigid_block* block, const rigid_block_point* point, lane_motion* a,
    lane_motion* b, math_lanes impulse, bool lean )
{
    math_lanes3 p = math_lanes3_scale( math_lanes3_load( block->normal[0] ), impulse );
    if ( lean )
    {
        push( block, a, b, p, math_lanes3_scale( math_lanes3_load( point->spin_a[0] ), impulse ),
            math_lanes3_scale( math_lanes3_load( point->spin_b[0] ), impulse ) );
        return;
    }
    math_lanes3 torque_a = math_lanes3_scale( math_lanes3_load( point->arm_a[0] ), impulse );
    math_lanes3 torque_b = math_lanes3_scale( math_lanes3_load( point->arm_b[0] ), impulse );
    push( block, a, b, p, math_lanes3_transform( block->inertia_a[0], torque_a ),
        math_lanes3_transform( block->inertia_b[0], torque_b ) );
}

/// A friction impulse ( s0, s1 ) along the tangents and a twist about the normal.
static inline void push_friction(
    const rigid_block* block, lane_motion* a, lane_motion* b, math_lanes s0, math_lanes s1, math_lanes twist )
{
    math_lanes3 p = math_lanes3_add( math_lanes3_scale( math_lanes3_load( block->tangent[0][0] ), s0 ),
        math_lanes3_scale( math_lanes3_load( block->tangent[1][0] ), s1 ) );
    math_lanes3 turn = math_lanes3_scale( math_lanes3_load( block->normal[0] ), twist );
    math_lanes3 torque_a = math_lanes3_cross( math_lanes3_load( block->anchor_a[0] ), p );
    math_lanes3 torque_b = math_lanes3_cross( math_lanes3_load( block->anchor_b[0] ), p );
    push( block, a, b, p, math_lanes3_transform( block->inertia_a[0], math_lanes3_add( torque_a, turn ) ),
        math_lanes3_transform( block->inertia_b[0], math_lanes3_add( torque_b, turn ) ) );
}

static void warm_start( rigid_block* block, lane_motion* a, lane_motion* b, bool lean )
{
    push_friction( block, a, b, math_lanes_load( block->slide[0] ), math_lanes_load( block->slide[1] ),
        math_lanes_load( block->twist ) );
    for ( uint32_t k = 0; k < block->point_count; ++k )
    {
        rigid_block_point* point = &block->points[k];
        push_point( block, point, a, b, math_lanes_load( point->impulse ), lean );
    }
}

/// Speed of b against a where friction acts.
static math_lanes3 slip_at_anchor( const rigid_block* block, const lane_motion* a, const lane_motion* b )
{
    math_lanes3 va =
        math_lanes3_add( a->v, math_lanes3_cross( a->w, math_lanes3_load( block->anchor_a[0] ) ) );
    math_lanes3 vb =
        math_lanes3_add( b->v, math_lanes3_cross( b->w, math_lanes3_load( block->anchor_b[0] ) ) );
    return math_lanes3_sub( vb, va );
}

/// Friction stops the sliding at the anchor and the twisting about the normal, within what the load allows.
static void solve_friction( rigid_block* block, lane_motion* a, lane_motion* b, float friction )
{
    math_lanes load = math_lanes_set( 0.0f ), moment = load, mu = math_lanes_set( friction );
    for ( uint32_t k = 0; k < block->point_count; ++k )
    {
        const rigid_block_point* point = &block->points[k];
        math_lanes share = math_lanes_mul( mu, math_lanes_load( point->impulse ) );
        load = math_lanes_add( load, share );
        moment = math_lanes_add( moment, math_lanes_mul( share, math_lanes_load( point->lever ) ) );
    }
    math_lanes3 slip = slip_at_anchor( block, a, b );
    math_lanes slip0 = math_lanes3_dot( math_lanes3_load( block->tangent[0][0] ), slip );
    math_lanes slip1 = math_lanes3_dot( math_lanes3_load( block->tangent[1][0] ), slip );
    math_lanes m01 = math_lanes_load( block->slide_mass[1] );
    math_lanes d0 = math_lanes_add(
        math_lanes_mul( math_lanes_load( block->slide_mass[0] ), slip0 ), math_lanes_mul( m01, slip1 ) );
    math_lanes d1 = math_lanes_add(
        math_lanes_mul( m01, slip0 ), math_lanes_mul( math_lanes_load( block->slide_mass[2] ), slip1 ) );
    math_lanes before0 = math_lanes_load( block->slide[0] ), before1 = math_lanes_load( block->slide[1] );
    math_lanes s0 = math_lanes_sub( before0, d0 ), s1 = math_lanes_sub( before1, d1 );
    math_lanes square = math_lanes_add( math_lanes_mul( s0, s0 ), math_lanes_mul( s1, s1 ) );
    math_lanes scale = math_lanes_shorten( square, load );
    s0 = math_lanes_mul( s0, scale );
    s1 = math_lanes_mul( s1, scale );

    math_lanes turning =
        math_lanes3_dot( math_lanes3_load( block->normal[0] ), math_lanes3_sub( b->w, a->w ) );
    math_lanes twist_before = math_lanes_load( block->twist );
    math_lanes twist =
        math_lanes_sub( twist_before, math_lanes_mul( math_lanes_load( block->twist_mass ), turning ) );
    twist = math_lanes_min( twist, moment );
    twist = math_lanes_max( twist, math_lanes_sub( math_lanes_set( 0.0f ), moment ) );

    math_lanes_store( block->slide[0], s0 );
    math_lanes_store( block->slide[1], s1 );
    math_lanes_store( block->twist, twist );
    push_friction( block, a, b, math_lanes_sub( s0, before0 ), math_lanes_sub( s1, before1 ),
        math_lanes_sub( twist, twist_before ) );
}

/// Along the normal, what b does against a at one point: for velocities the speed at which they part, for
/// displacements the gap that opened.
static inline math_lanes along_normal( const rigid_block* block, const rigid_block_point* point,
    math_lanes3 difference, math_lanes3 turn_a, math_lanes3 turn_b )
{
    math_lanes linear = math_lanes3_dot( math_lanes3_load( block->normal[0] ), difference );
    math_lanes angular = math_lanes_sub( math_lanes3_dot( math_lanes3_load( point->arm_b[0] ), turn_b ),
        math_lanes3_dot( math_lanes3_load( point->arm_a[0] ), turn_a ) );
    return math_lanes_add( linear, angular );
}

static inline math_lanes parting(
    const rigid_block* block, const rigid_block_point* point, const lane_motion* a, const lane_motion* b )
{
    return along_normal( block, point, math_lanes3_sub( b->v, a->v ), a->w, b->w );
}

static void solve_point( const rigid_block* block, rigid_block_point* point, const lane_shift* shift,
    const solve_pass* pass, lane_motion* a, lane_motion* b )
{
    const math_lanes zero = math_lanes_set( 0.0f ), one = math_lanes_set( 1.0f );
    math_lanes separation = math_lanes_add( math_lanes_load( point->separation ),
        along_normal( block, point, shift->shift, shift->turn_a, shift->turn_b ) );
    math_lanes speed = parting( block, point, a, b );

    // Apart: they may close the gap in this substep, and no more. Overlapping: out, but not too fast.
    math_lanes bias = zero, mass_scale = one, impulse_scale = zero;
    if ( pass->soft )
    {
        bias = math_lanes_max( math_lanes_mul( separation, math_lanes_load( block->bias_rate ) ),
            math_lanes_set( -pass->push_speed ) );
        mass_scale = math_lanes_load( block->mass_scale );
        impulse_scale = math_lanes_load( block->impulse_scale );
    }
    math_lanes gap_speed = math_lanes_mul( separation, math_lanes_set( pass->inverse_seconds ) );
    bias = math_lanes_if_greater( separation, zero, gap_speed, bias );
    mass_scale = math_lanes_if_greater( separation, zero, one, mass_scale );
    impulse_scale = math_lanes_if_greater( separation, zero, zero, impulse_scale );

    math_lanes before = math_lanes_load( point->impulse );
    math_lanes gain = math_lanes_mul(
        math_lanes_mul( math_lanes_load( point->mass ), mass_scale ), math_lanes_add( speed, bias ) );
    math_lanes impulse =
        math_lanes_sub( math_lanes_sub( before, gain ), math_lanes_mul( impulse_scale, before ) );
    impulse = math_lanes_max( impulse, zero );
    math_lanes_store( point->impulse, impulse );
    math_lanes_store(
        point->impulse_most, math_lanes_max( impulse, math_lanes_load( point->impulse_most ) ) );
    push_point( block, point, a, b, math_lanes_sub( impulse, before ), pass->lean );
}

static void solve_block(
    rigid_block* block, const rigid_motion* motions, const solve_pass* pass, lane_motion* a, lane_motion* b )
{
    lane_shift shift = read_shift( motions, block );
    if ( pass->rubs )
    {
        solve_friction( block, a, b, pass->friction );
    }
    for ( uint32_t k = 0; k < block->point_count; ++k )
    {
        solve_point( block, &block->points[k], &shift, pass, a, b );
    }
}

/// Points that were hit hard leave with a share of the speed they came with.
static void bounce_block( rigid_block* block, lane_motion* a, lane_motion* b, float restitution, float least )
{
    const math_lanes zero = math_lanes_set( 0.0f );
    for ( uint32_t k = 0; k < block->point_count; ++k )
    {
        rigid_block_point* point = &block->points[k];
        math_lanes approach = math_lanes_load( point->approach ), before = math_lanes_load( point->impulse );
        math_lanes wanted = math_lanes_mul( math_lanes_set( restitution ), approach );
        math_lanes gain = math_lanes_mul(
            math_lanes_load( point->mass ), math_lanes_add( parting( block, point, a, b ), wanted ) );
        math_lanes impulse = math_lanes_max( math_lanes_sub( before, gain ), zero );
        impulse = math_lanes_if_greater( math_lanes_set( -least ), approach, impulse, before );
        impulse = math_lanes_if_greater( math_lanes_load( point->impulse_most ), zero, impulse, before );
        math_lanes_store( point->impulse, impulse );
        push_point( block, point, a, b, math_lanes_sub( impulse, before ), false );
    }
}

/// A substep of gravity, and a limit to the spin.
static rigid_speed accelerated( const rigid_motion* motion, clv_vec3 gain, float spin_most )
{
    rigid_speed speed = { sim_add( motion->velocity, gain ), motion->spin };
    float square = sim_dot( speed.spin, speed.spin );
    if ( square > spin_most * spin_most )
    {
        speed.spin = sim_scale( speed.spin, spin_most / sqrtf( square ) );
    }
    return speed;
}

/// In the later substeps of a lean world contacts give to a body again what they gave in the substep before,
/// without a pass over them: the impulses of a substep add up to those it ends with, and arms and normals
/// stay the same throughout the step.
static void accelerate_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    const solve_job* job = context;
    clv_rigid* world = job->world;
    rigid_range bodies = rigid_piece( world->count, RIGID_BODY_PIECE, index );
    clv_vec3 gain = sim_scale( world->def.gravity, job->substep_seconds );
    for ( uint32_t body = bodies.begin; body < bodies.end; ++body )
    {
        if ( rigid_is_movable( world, body ) )
        {
            rigid_motion* motion = &world->motions[body];
            rigid_speed* before = &world->befores[body];
            rigid_speed speed = accelerated( motion, gain, world->def.spin_most ), next = speed;
            if ( job->repeats )
            {
                next.velocity = sim_add( speed.velocity, sim_sub( motion->velocity, before->velocity ) );
                next.spin = sim_add( speed.spin, sim_sub( motion->spin, before->spin ) );
            }
            motion->velocity = next.velocity;
            motion->spin = next.spin;
            if ( world->def.lean )
            {
                *before = speed;
            }
        }
    }
}

static void advance_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    const solve_job* job = context;
    rigid_range bodies = rigid_piece( job->world->count, RIGID_BODY_PIECE, index );
    for ( uint32_t body = bodies.begin; body < bodies.end; ++body )
    {
        rigid_motion* motion = &job->world->motions[body];
        motion->shift = sim_add_scaled( motion->shift, job->substep_seconds, motion->velocity );
        motion->turn = sim_add_scaled( motion->turn, job->substep_seconds, motion->spin );
    }
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
        math_fetch( &motions[block->a[lane]] );
        math_fetch( &motions[block->b[lane]] );
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
        CLV_ASSERT( block->point_count >= 1 && block->point_count <= NARROW_MANIFOLD_POINTS );
        lane_motion a = read_velocity( world->motions, block->a );
        lane_motion b = read_velocity( world->motions, block->b );
        switch ( job->pass.kind )
        {
        case PASS_WARM: warm_start( block, &a, &b, world->def.lean ); break;
        case PASS_SOLVE: solve_block( block, world->motions, &job->pass, &a, &b ); break;
        case PASS_BOUNCE:
            bounce_block( block, &a, &b, world->def.restitution, world->def.restitution_speed );
            break;
        }
        write_velocity( world->motions, block->a, block->moves_a, &a );
        write_velocity( world->motions, block->b, block->moves_b, &b );
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
        CLV_ASSERT(
            job->round_first <= rounds->first[round + 1] && rounds->first[round + 1] <= world->block_count );
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
    const bool bounces = world->def.restitution > 0.0f;
    const solve_pass warm = { PASS_WARM, 1.0f / job->substep_seconds, world->def.friction, 0.0f, false,
        bounces, true, world->def.lean };
    solve_pass soft = warm, relax = warm, bounce = warm;
    soft.kind = relax.kind = PASS_SOLVE;
    soft.soft = true;
    soft.push_speed = world->def.push_speed;
    soft.rubs = !world->def.lean;
    bounce.kind = PASS_BOUNCE;

    clv_task_run( runner, prepare_piece, block_pieces, job );
    for ( uint32_t substep = 0; substep < world->substeps; ++substep )
    {
        job->repeats = world->def.lean && substep > 0;
        clv_task_run( runner, accelerate_piece, body_pieces, job );
        if ( !job->repeats )
        {
            run_passes( job, warm );
        }
        run_passes( job, soft );
        clv_task_run( runner, advance_piece, body_pieces, job );
        run_passes( job, relax );
    }
    if ( bounces )
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
