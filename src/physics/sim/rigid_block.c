// SPDX-License-Identifier: MIT
#include "sim/rigid_block.h"

#include "base/assertion.h"

#include <stddef.h>

_Static_assert( offsetof( rigid_contact, to_b ) == 12 && offsetof( rigid_contact, friction ) == 24 &&
        offsetof( rigid_contact, impulses ) == 40 && sizeof( rigid_point ) == 16 &&
        sizeof( rigid_answer ) == 32,
    "rows of four" );

/// What is known of four contacts.
typedef struct lane_contact
{
    math_lanes3 normal, to_b, friction;
    math_lanes twist;
    math_lanes impulses[NARROW_MANIFOLD_POINTS];
    math_lanes3 offsets[NARROW_MANIFOLD_POINTS];
    math_lanes separations[NARROW_MANIFOLD_POINTS];
} lane_contact;

/// How four bodies answer to impulses.
typedef struct lane_answer
{
    math_lanes_sym3 inertia;
    math_lanes inverse_mass;
} lane_answer;

/// Stands in idle lanes: whatever they compute is 0 and goes nowhere.
static const rigid_contact s_idle = { .normal = { 1.0f, 0.0f, 0.0f } };

/// Of what does not move.
static const rigid_answer s_immovable;

rigid_softness clv_sim_rigid_soft( float hertz, float damping_ratio, float substep_seconds )
{
    float omega = 2.0f * 3.14159265f * hertz;
    float a1 = 2.0f * damping_ratio + substep_seconds * omega;
    float a2 = substep_seconds * omega * a1;
    float a3 = 1.0f / ( 1.0f + a2 );
    rigid_softness soft = { omega / a1, a2 * a3, a3 };
    return soft;
}

static void load_rows( const float* const from[MATH_LANES], uint32_t offset, math_lanes rows[MATH_LANES] )
{
    for ( uint32_t l = 0; l < MATH_LANES; ++l )
    {
        rows[l] = math_lanes_load( from[l] + offset );
    }
    math_lanes_transpose( rows );
}

static lane_contact load_contacts( const rigid_block* block )
{
    lane_contact to;
    math_lanes rows[MATH_LANES];
    const float* from[MATH_LANES];
    for ( uint32_t l = 0; l < MATH_LANES; ++l )
    {
        from[l] = (const float*)( block->contacts[l] != NULL ? block->contacts[l] : &s_idle );
    }
    load_rows( from, 0, rows );
    to.normal = ( math_lanes3 ){ rows[0], rows[1], rows[2] };
    load_rows( from, 3, rows );
    to.to_b = ( math_lanes3 ){ rows[0], rows[1], rows[2] };
    load_rows( from, 6, rows );
    to.friction = ( math_lanes3 ){ rows[0], rows[1], rows[2] };
    to.twist = rows[3];
    load_rows( from, 10, to.impulses );
    for ( uint32_t k = 0; k < block->point_count; ++k )
    {
        load_rows( from, offsetof( rigid_contact, points ) / sizeof( float ) + 4 * k, rows );
        to.offsets[k] = ( math_lanes3 ){ rows[0], rows[1], rows[2] };
        to.separations[k] = rows[3];
    }
    return to;
}

static lane_answer load_answers( const clv_rigid* world, const uint32_t* index, const uint32_t* moves )
{
    const float* from[MATH_LANES];
    for ( uint32_t l = 0; l < MATH_LANES; ++l )
    {
        from[l] = (const float*)( moves[l] != 0 ? &world->answers[index[l]] : &s_immovable );
    }
    math_lanes low[MATH_LANES], high[MATH_LANES];
    load_rows( from, 0, low );
    load_rows( from, 4, high );
    lane_answer to = { { { low[0], low[1], low[2] }, { low[3], high[0], high[1] } }, high[2] };
    return to;
}

static math_lanes angular_mass( const lane_answer* body, math_lanes3 u, math_lanes3 v )
{
    return math_lanes3_dot( math_lanes_sym3_mul( &body->inertia, u ), v );
}

static math_lanes inverse_or_zero( math_lanes x )
{
    const math_lanes zero = math_lanes_set( 0.0f );
    return math_lanes_if_greater( x, zero, math_lanes_div( math_lanes_set( 1.0f ), x ), zero );
}

/// A unit vector at right angles to the unit vector n, the same for the same n: without the smallest
/// component, so that what remains is at least sqrt( 2/3 ) long.
static math_lanes3 perpendicular( math_lanes3 n )
{
    const math_lanes zero = math_lanes_set( 0.0f );
    math_lanes x = math_lanes_abs( n.x ), y = math_lanes_abs( n.y ), z = math_lanes_abs( n.z );
    math_mask not_x = math_mask_or( math_lanes_greater( x, y ), math_lanes_greater( x, z ) );
    math_mask not_y = math_lanes_greater( y, z );
    math_lanes3 p = {
        math_lanes_select( not_x, math_lanes_select( not_y, n.y, math_lanes_negate( n.z ) ), zero ),
        math_lanes_select( not_x, math_lanes_select( not_y, math_lanes_negate( n.x ), zero ), n.z ),
        math_lanes_select( not_x, math_lanes_select( not_y, zero, n.x ), math_lanes_negate( n.y ) ),
    };
    math_lanes length = math_lanes_sqrt( math_lanes3_dot( p, p ) );
    return math_lanes3_scale( p, math_lanes_div( math_lanes_set( 1.0f ), length ) );
}

/// Where friction acts: the mean of the points.
static math_lanes3 anchor_of( const lane_contact* contact, uint32_t point_count )
{
    math_lanes3 sum = contact->offsets[0];
    for ( uint32_t k = 1; k < point_count; ++k )
    {
        sum = math_lanes3_add( sum, contact->offsets[k] );
    }
    return math_lanes3_scale( sum, math_lanes_set( 1.0f / (float)point_count ) );
}

static void prepare_friction( rigid_block* block, const lane_contact* contact, const lane_answer* a,
    const lane_answer* b, math_lanes3 anchor_a, math_lanes3 anchor_b )
{
    math_lanes3 n = contact->normal, t0 = perpendicular( n ), t1 = math_lanes3_cross( n, t0 );
    math_lanes3 a0 = math_lanes3_cross( anchor_a, t0 ), a1 = math_lanes3_cross( anchor_a, t1 );
    math_lanes3 b0 = math_lanes3_cross( anchor_b, t0 ), b1 = math_lanes3_cross( anchor_b, t1 );
    math_lanes linear = math_lanes_add( a->inverse_mass, b->inverse_mass );
    math_lanes k00 =
        math_lanes_add( math_lanes_add( linear, angular_mass( a, a0, a0 ) ), angular_mass( b, b0, b0 ) );
    math_lanes k11 =
        math_lanes_add( math_lanes_add( linear, angular_mass( a, a1, a1 ) ), angular_mass( b, b1, b1 ) );
    math_lanes k01 = math_lanes_add( angular_mass( a, a0, a1 ), angular_mass( b, b0, b1 ) );
    math_lanes inverse =
        inverse_or_zero( math_lanes_sub( math_lanes_mul( k00, k11 ), math_lanes_mul( k01, k01 ) ) );
    math_lanes_store( block->slide_mass[0], math_lanes_mul( k11, inverse ) );
    math_lanes_store( block->slide_mass[1], math_lanes_mul( math_lanes_negate( k01 ), inverse ) );
    math_lanes_store( block->slide_mass[2], math_lanes_mul( k00, inverse ) );
    math_lanes_store( block->twist_mass,
        inverse_or_zero( math_lanes_add( angular_mass( a, n, n ), angular_mass( b, n, n ) ) ) );
    math_lanes_store( block->slide[0], math_lanes3_dot( contact->friction, t0 ) );
    math_lanes_store( block->slide[1], math_lanes3_dot( contact->friction, t1 ) );
    math_lanes_store( block->twist, block->point_count > 1 ? contact->twist : math_lanes_set( 0.0f ) );
    math_lanes3_store( block->normal[0], n );
    math_lanes3_store( block->tangent[0][0], t0 );
    math_lanes3_store( block->tangent[1][0], t1 );
    math_lanes3_store( block->anchor_a[0], anchor_a );
    math_lanes3_store( block->anchor_b[0], anchor_b );
}

static void prepare_point( rigid_block* block, uint32_t k, const lane_contact* contact, const lane_answer* a,
    const lane_answer* b, math_lanes3 anchor, bool lean )
{
    rigid_block_point* point = &block->points[k];
    math_lanes3 n = contact->normal, offset = contact->offsets[k],
                from_anchor = math_lanes3_sub( offset, anchor );
    math_lanes3 arm_a = math_lanes3_cross( offset, n );
    math_lanes3 arm_b = math_lanes3_cross( math_lanes3_sub( offset, contact->to_b ), n );
    math_lanes3_store( point->arm_a[0], arm_a );
    math_lanes3_store( point->arm_b[0], arm_b );
    math_lanes3 spin_a = math_lanes_sym3_mul( &a->inertia, arm_a ),
                spin_b = math_lanes_sym3_mul( &b->inertia, arm_b );
    math_lanes k_normal = math_lanes_add( a->inverse_mass, b->inverse_mass );
    k_normal = math_lanes_add( k_normal, math_lanes3_dot( spin_a, arm_a ) );
    k_normal = math_lanes_add( k_normal, math_lanes3_dot( spin_b, arm_b ) );
    if ( lean )
    {
        math_lanes3_store( point->spin_a[0], spin_a );
        math_lanes3_store( point->spin_b[0], spin_b );
    }
    math_lanes_store( point->mass, inverse_or_zero( k_normal ) );
    math_lanes_store( point->separation, contact->separations[k] );
    math_lanes_store( point->impulse, contact->impulses[k] );
    math_lanes_store( point->lever, math_lanes_sqrt( math_lanes3_dot( from_anchor, from_anchor ) ) );
}

/// What bouncing asks of each point: how fast they came.
static void prepare_bounce( const clv_rigid* world, rigid_block* block )
{
    for ( uint32_t k = 0; k < block->point_count; ++k )
    {
        rigid_block_point* point = &block->points[k];
        for ( uint32_t l = 0; l < RIGID_LANES; ++l )
        {
            const rigid_motion* a = &world->motions[block->a[l]];
            const rigid_motion* b = &world->motions[block->b[l]];
            clv_vec3 n = sim_vec3( block->normal[0][l], block->normal[1][l], block->normal[2][l] );
            clv_vec3 arm_a = sim_vec3( point->arm_a[0][l], point->arm_a[1][l], point->arm_a[2][l] );
            clv_vec3 arm_b = sim_vec3( point->arm_b[0][l], point->arm_b[1][l], point->arm_b[2][l] );
            point->approach[l] = sim_dot( n, sim_sub( b->velocity, a->velocity ) ) +
                sim_dot( arm_b, b->spin ) - sim_dot( arm_a, a->spin );
            point->impulse_most[l] = 0.0f;
        }
    }
}

static void set_softness( rigid_block* block, const rigid_softness soft[2] )
{
    for ( uint32_t l = 0; l < RIGID_LANES; ++l )
    {
        const rigid_softness* s = &soft[block->moves_a[l] != 0 && block->moves_b[l] != 0 ? 0 : 1];
        block->bias_rate[l] = s->bias_rate;
        block->mass_scale[l] = s->mass_scale;
        block->impulse_scale[l] = s->impulse_scale;
    }
}

void clv_sim_rigid_block_prepare( clv_rigid* world, rigid_block* block, const rigid_softness soft[2] )
{
    CLV_ASSERT( block->point_count >= 1 && block->point_count <= NARROW_MANIFOLD_POINTS );
    lane_contact contact = load_contacts( block );
    lane_answer a = load_answers( world, block->a, block->moves_a );
    lane_answer b = load_answers( world, block->b, block->moves_b );
    math_lanes3 anchor = anchor_of( &contact, block->point_count );
    prepare_friction( block, &contact, &a, &b, anchor, math_lanes3_sub( anchor, contact.to_b ) );
    for ( uint32_t k = 0; k < block->point_count; ++k )
    {
        prepare_point( block, k, &contact, &a, &b, anchor, world->def.lean );
    }
    math_lanes_store( block->inverse_mass_a, a.inverse_mass );
    math_lanes_store( block->inverse_mass_b, b.inverse_mass );
    math_lanes3_store( block->inertia_a[0], a.inertia.diagonal );
    math_lanes3_store( block->inertia_a[3], a.inertia.rest );
    math_lanes3_store( block->inertia_b[0], b.inertia.diagonal );
    math_lanes3_store( block->inertia_b[3], b.inertia.rest );
    set_softness( block, soft );
    if ( world->def.restitution > 0.0f )
    {
        prepare_bounce( world, block );
    }
}

void clv_sim_rigid_block_fetch( const clv_rigid* world, const rigid_block* block )
{
    for ( uint32_t lane = 0; lane < RIGID_LANES; ++lane )
    {
        const char* contact = (const char*)block->contacts[lane];
        if ( contact != NULL )
        {
            math_fetch( contact );
            math_fetch( contact + 64 );
            math_fetch( contact + 128 );
            math_fetch( &world->answers[block->a[lane]] );
            math_fetch( &world->answers[block->b[lane]] );
        }
    }
}

void clv_sim_rigid_block_store( rigid_block* block )
{
    math_lanes s0 = math_lanes_load( block->slide[0] ), s1 = math_lanes_load( block->slide[1] );
    math_lanes3 friction = math_lanes3_add( math_lanes3_scale( math_lanes3_load( block->tangent[0][0] ), s0 ),
        math_lanes3_scale( math_lanes3_load( block->tangent[1][0] ), s1 ) );
    math_lanes frictions[MATH_LANES] = { friction.x, friction.y, friction.z,
        math_lanes_load( block->twist ) };
    math_lanes impulses[MATH_LANES];
    for ( uint32_t k = 0; k < NARROW_MANIFOLD_POINTS; ++k )
    {
        impulses[k] =
            k < block->point_count ? math_lanes_load( block->points[k].impulse ) : math_lanes_set( 0.0f );
    }
    math_lanes_transpose( frictions );
    math_lanes_transpose( impulses );
    for ( uint32_t l = 0; l < RIGID_LANES; ++l )
    {
        float* contact = (float*)block->contacts[l];
        if ( contact != NULL )
        {
            math_lanes_store( contact + 6, frictions[l] );
            math_lanes_store( contact + 10, impulses[l] );
        }
    }
}
