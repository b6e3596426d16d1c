// SPDX-License-Identifier: MIT
#include "sim/rigid_block.h"

#include "base/assertion.h"

#include <string.h>

/// One contact with all that its lane is made of.
typedef struct lane_body
{
    float inverse_mass;
    sim_sym3 inertia;
    clv_vec3 velocity, spin;
} lane_body;

rigid_softness clv_sim_rigid_soft( float hertz, float damping_ratio, float substep_seconds )
{
    float omega = 2.0f * 3.14159265f * hertz;
    float a1 = 2.0f * damping_ratio + substep_seconds * omega;
    float a2 = substep_seconds * omega * a1;
    float a3 = 1.0f / ( 1.0f + a2 );
    rigid_softness soft = { omega / a1, a2 * a3, a3 };
    return soft;
}

static lane_body read_body( const clv_rigid* world, uint32_t index, uint32_t moves )
{
    lane_body body;
    memset( &body, 0, sizeof( body ) );
    if ( moves != 0 )
    {
        body.inverse_mass = world->answers[index].inverse_mass;
        body.inertia = world->answers[index].inverse_inertia;
    }
    // Velocities are for bouncing alone, and cost a cache miss.
    if ( world->def.restitution > 0.0f )
    {
        body.velocity = world->motions[index].velocity;
        body.spin = world->motions[index].spin;
    }
    return body;
}

static void put3( float out[3][RIGID_LANES], uint32_t lane, clv_vec3 v )
{
    out[0][lane] = v.x;
    out[1][lane] = v.y;
    out[2][lane] = v.z;
}

static void put6( float out[6][RIGID_LANES], uint32_t lane, const sim_sym3* s )
{
    out[0][lane] = s->xx;
    out[1][lane] = s->yy;
    out[2][lane] = s->zz;
    out[3][lane] = s->xy;
    out[4][lane] = s->xz;
    out[5][lane] = s->yz;
}

static float angular_mass( const lane_body* body, clv_vec3 u, clv_vec3 v )
{
    return sim_dot( sim_sym3_mul( &body->inertia, u ), v );
}

static float inverse_or_zero( float x )
{
    return x > 0.0f ? 1.0f / x : 0.0f;
}

/// Where friction acts: the mean of the points.
static clv_vec3 anchor_of( const rigid_contact* contact )
{
    clv_vec3 sum = contact->points[0].offset;
    for ( uint32_t k = 1; k < contact->count; ++k )
    {
        sum = sim_add( sum, contact->points[k].offset );
    }
    return sim_scale( sum, 1.0f / (float)contact->count );
}

static void prepare_friction( rigid_block* block, uint32_t lane, const lane_body* a, const lane_body* b,
    clv_vec3 anchor_a, clv_vec3 anchor_b )
{
    const rigid_contact* contact = block->contacts[lane];
    clv_vec3 n = contact->normal, t0 = sim_perpendicular( n ), t1 = sim_cross( n, t0 );
    clv_vec3 a0 = sim_cross( anchor_a, t0 ), a1 = sim_cross( anchor_a, t1 );
    clv_vec3 b0 = sim_cross( anchor_b, t0 ), b1 = sim_cross( anchor_b, t1 );
    float linear = a->inverse_mass + b->inverse_mass;
    float k00 = linear + angular_mass( a, a0, a0 ) + angular_mass( b, b0, b0 );
    float k11 = linear + angular_mass( a, a1, a1 ) + angular_mass( b, b1, b1 );
    float k01 = angular_mass( a, a0, a1 ) + angular_mass( b, b0, b1 );
    float inverse = inverse_or_zero( k00 * k11 - k01 * k01 );
    block->slide_mass[0][lane] = k11 * inverse;
    block->slide_mass[1][lane] = -k01 * inverse;
    block->slide_mass[2][lane] = k00 * inverse;
    block->twist_mass[lane] = inverse_or_zero( angular_mass( a, n, n ) + angular_mass( b, n, n ) );
    block->slide[0][lane] = sim_dot( contact->friction, t0 );
    block->slide[1][lane] = sim_dot( contact->friction, t1 );
    block->twist[lane] = contact->count > 1 ? contact->twist : 0.0f;
    put3( block->normal, lane, n );
    put3( block->tangent[0], lane, t0 );
    put3( block->tangent[1], lane, t1 );
    put3( block->anchor_a, lane, anchor_a );
    put3( block->anchor_b, lane, anchor_b );
}

static void prepare_point( rigid_block* block, uint32_t lane, uint32_t k, const lane_body* a,
    const lane_body* b, clv_vec3 to_b, clv_vec3 anchor )
{
    const rigid_contact* contact = block->contacts[lane];
    const rigid_point* source = &contact->points[k];
    rigid_block_point* point = &block->points[k];
    clv_vec3 n = contact->normal;
    clv_vec3 arm_a = sim_cross( source->offset, n );
    clv_vec3 arm_b = sim_cross( sim_sub( source->offset, to_b ), n );
    put3( point->arm_a, lane, arm_a );
    put3( point->arm_b, lane, arm_b );
    float k_normal =
        a->inverse_mass + b->inverse_mass + angular_mass( a, arm_a, arm_a ) + angular_mass( b, arm_b, arm_b );
    point->mass[lane] = inverse_or_zero( k_normal );
    point->separation[lane] = source->separation;
    point->impulse[lane] = source->impulse;
    point->impulse_most[lane] = 0.0f;
    point->approach[lane] = sim_dot( n, sim_sub( b->velocity, a->velocity ) ) + sim_dot( arm_b, b->spin ) -
        sim_dot( arm_a, a->spin );
    point->lever[lane] = sim_length( sim_sub( source->offset, anchor ) );
}

static void prepare_lane( clv_rigid* world, rigid_block* block, uint32_t lane, const rigid_softness soft[2] )
{
    const rigid_contact* contact = block->contacts[lane];
    lane_body a = read_body( world, block->a[lane], block->moves_a[lane] );
    lane_body b = read_body( world, block->b[lane], block->moves_b[lane] );
    clv_vec3 to_b = contact->to_b;
    clv_vec3 anchor = anchor_of( contact );
    prepare_friction( block, lane, &a, &b, anchor, sim_sub( anchor, to_b ) );
    for ( uint32_t k = 0; k < contact->count; ++k )
    {
        prepare_point( block, lane, k, &a, &b, to_b, anchor );
    }
    const rigid_softness* s = &soft[block->moves_a[lane] != 0 && block->moves_b[lane] != 0 ? 0 : 1];
    block->bias_rate[lane] = s->bias_rate;
    block->mass_scale[lane] = s->mass_scale;
    block->impulse_scale[lane] = s->impulse_scale;
    block->inverse_mass_a[lane] = a.inverse_mass;
    block->inverse_mass_b[lane] = b.inverse_mass;
    put6( block->inertia_a, lane, &a.inertia );
    put6( block->inertia_b, lane, &b.inertia );
}

/// All zero: whatever an idle lane computes is 0 and goes nowhere.
static void idle_lane( rigid_block* block, uint32_t lane )
{
    clv_vec3 zero = { 0.0f, 0.0f, 0.0f };
    sim_sym3 none = { 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f };
    put3( block->normal, lane, zero );
    put3( block->tangent[0], lane, zero );
    put3( block->tangent[1], lane, zero );
    put3( block->anchor_a, lane, zero );
    put3( block->anchor_b, lane, zero );
    put3( block->slide_mass, lane, zero );
    block->slide[0][lane] = block->slide[1][lane] = 0.0f;
    block->twist_mass[lane] = block->twist[lane] = 0.0f;
    block->inverse_mass_a[lane] = block->inverse_mass_b[lane] = 0.0f;
    put6( block->inertia_a, lane, &none );
    put6( block->inertia_b, lane, &none );
    block->bias_rate[lane] = block->mass_scale[lane] = block->impulse_scale[lane] = 0.0f;
    for ( uint32_t k = 0; k < block->point_count; ++k )
    {
        rigid_block_point* point = &block->points[k];
        put3( point->arm_a, lane, zero );
        put3( point->arm_b, lane, zero );
        point->separation[lane] = point->mass[lane] = point->impulse[lane] = 0.0f;
        point->impulse_most[lane] = point->approach[lane] = point->lever[lane] = 0.0f;
    }
}

void clv_sim_rigid_block_prepare( clv_rigid* world, rigid_block* block, const rigid_softness soft[2] )
{
    CLV_ASSERT( block->point_count >= 1 && block->point_count <= NARROW_MANIFOLD_POINTS );
    for ( uint32_t lane = 0; lane < RIGID_LANES; ++lane )
    {
        if ( block->contacts[lane] != NULL )
        {
            prepare_lane( world, block, lane, soft );
        }
        else
        {
            idle_lane( block, lane );
        }
    }
}

void clv_sim_rigid_block_fetch( const clv_rigid* world, const rigid_block* block )
{
    for ( uint32_t lane = 0; lane < RIGID_LANES; ++lane )
    {
        const char* contact = (const char*)block->contacts[lane];
        if ( contact != NULL )
        {
            sim_fetch( contact );
            sim_fetch( contact + 64 );
            sim_fetch( contact + 128 );
            sim_fetch( &world->answers[block->a[lane]] );
            sim_fetch( &world->answers[block->b[lane]] );
        }
    }
}

void clv_sim_rigid_block_store( rigid_block* block )
{
    for ( uint32_t lane = 0; lane < RIGID_LANES; ++lane )
    {
        rigid_contact* contact = block->contacts[lane];
        if ( contact == NULL )
        {
            continue;
        }
        float s0 = block->slide[0][lane], s1 = block->slide[1][lane];
        contact->friction = sim_vec3( s0 * block->tangent[0][0][lane] + s1 * block->tangent[1][0][lane],
            s0 * block->tangent[0][1][lane] + s1 * block->tangent[1][1][lane],
            s0 * block->tangent[0][2][lane] + s1 * block->tangent[1][2][lane] );
        contact->twist = block->twist[lane];
        for ( uint32_t k = 0; k < block->point_count; ++k )
        {
            contact->points[k].impulse = block->points[k].impulse[lane];
        }
    }
}
