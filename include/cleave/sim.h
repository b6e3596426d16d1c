// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/transform.h"
#include "cleave/types.h"

// Rigid boxes that fall, hit each other and come to rest: enough physics for scenes that move realistically.
//
// Life of a frame: clv_rigid_set_velocity, clv_rigid_set_gravity, … -> clv_rigid_step -> clv_rigid_boxes.
//
// A step finds the overlapping pairs once, through a clv_space, builds contact manifolds, and then solves
// contacts in substeps. The same def and calls give the same bits for any worker_count and with every
// compiler that keeps to IEEE 754 (-ffp-contract=off). One thread owns a world. docs/physics.md tells how and
// why.

/// Rigid boxes in a walled world.
typedef struct clv_rigid clv_rigid;

/// Settings, copied on create. Start from clv_default_rigid_def and change what you need.
typedef struct clv_rigid_def
{
    uint32_t size;           ///< sizeof( clv_rigid_def ), set by the default function
    uint32_t cookie;         ///< proof that the default function was called
    uint32_t capacity;       ///< bodies to reserve for; the world still grows past it
    uint32_t worker_count;   ///< threads, the caller's included; 1 .. CLV_MAX_WORKERS; changes no result
    clv_aabb walls;          ///< bodies stay inside; infinite sides: no wall there. Default: no walls
    clv_vec3 gravity;        ///< metres per second squared; default 0, -9.81, 0
    float friction;          ///< Coulomb's coefficient between all surfaces; default 0.6
    float restitution;       ///< 0 no bounce (default), 1 full
    float restitution_speed; ///< slower impacts do not bounce; metres per second, default 1
    float push_speed;        ///< overlaps are undone at this speed at most; metres per second, default 3
    float spin_most;         ///< radians per second a body may turn; default 7
    /// Stiffness of contacts, as if nothing rested on the two bodies; default 30, and never above a quarter
    /// of the substep rate. Where bodies lie on lighter ones a stack buckles: awake, 14 equal cubes stand, or
    /// 10 if the top has 8 times the mass of the bottom, and 8 if 16 times. 60 with 8 substeps at 60 steps a
    /// second holds ten from 1 to 28 (docs/physics.md).
    float contact_hertz;
    float contact_damping;   ///< damping ratio of contacts; default 10
    bool lean;               ///< fewer contacts and passes: half the time, and heaps a little softer
    bool sleep;              ///< groups of touching bodies that rest are left out until something hits them
    float sleep_speed;       ///< slower than this counts as rest; metres per second, default 0.05
    float sleep_seconds;     ///< for this long; default 0.5
    const char* method;      ///< broad phase by name; NULL: the library's default
    clv_allocator allocator; ///< zero: the C library's
    clv_logger logger;       ///< zero: silence
} clv_rigid_def;

CLV_API clv_rigid_def clv_default_rigid_def( void );

/// A box as it is added. Zero it and set what you need; clv_default_rigid_body gives a unit cube of mass 1.
typedef struct clv_rigid_body
{
    clv_vec3 half;             ///< half the sides, each finite and > 0
    clv_vec3 position;         ///< of the centre
    clv_quat rotation;         ///< of unit length
    clv_vec3 velocity;         ///< metres per second
    clv_vec3 angular_velocity; ///< radians per second, world axes
    float mass;                ///< kilograms; 0: static, moved by clv_rigid_place alone
} clv_rigid_body;

CLV_API clv_rigid_body clv_default_rigid_body( void );

/// What the last step saw. Lengths in metres, energies in joules.
typedef struct clv_rigid_report
{
    uint32_t body_count;
    uint32_t static_count; ///< of mass 0
    uint32_t sleeping_count;
    uint64_t pair_count;    ///< overlapping boxes, grown by how far they may move, that were looked at
    uint64_t contact_count; ///< of these, in contact
    uint64_t wall_contact_count;
    uint64_t point_count;             ///< contact points solved
    uint64_t penetrating_count;       ///< contacts that overlap, walls included
    uint32_t color_count;             ///< rounds the contacts were solved in
    uint64_t overflow_count;          ///< contacts that fitted no round and were solved one after the other
    double penetration_most;          ///< deepest overlap at the start of the step
    double penetration_mean;          ///< over the contacts that overlap
    double penetration_most_relative; ///< the same as shares of the smaller mean side of the two bodies
    double penetration_mean_relative;
    double kinetic_energy;   ///< at the end of the step
    double potential_energy; ///< likewise, against gravity as it is; 0 at the origin
    uint32_t clamped_count;  ///< centres that had left the walls and were put back
    uint32_t lost_count;     ///< bodies that grew too fast for numbers, and were stopped where they stood
    double find_ms, manifold_ms, solve_ms, other_ms;
} clv_rigid_report;

/// CLV_BAD_DEF, CLV_UNSUPPORTED or CLV_OUT_OF_MEMORY leave *world NULL; the reason goes to the def's logger.
CLV_API clv_result clv_rigid_create( const clv_rigid_def* def, clv_rigid** world );
CLV_API void clv_rigid_destroy( clv_rigid* world );

/// Add bodies; they are numbered from 0 in the order they come. All or none: CLV_BAD_BOX for sides,
/// positions, rotations or velocities that are not finite or out of range, CLV_BAD_ARGUMENT for a mass below
/// 0; clv_rigid_error tells the position.
CLV_API clv_result clv_rigid_add( clv_rigid* world, const clv_rigid_body* bodies, uint32_t count );

/// Another body in the place of number `index`: another shape, place and speed, and no memory of contacts.
CLV_API clv_result clv_rigid_place( clv_rigid* world, uint32_t index, const clv_rigid_body* body );

/// Wakes the body and what sleeps with it. A static body keeps velocity 0.
CLV_API clv_result clv_rigid_set_velocity( clv_rigid* world, uint32_t index, clv_vec3 velocity );

/// Wakes everything if the gravity changes. CLV_BAD_ARGUMENT, and it stays as it was, if it is not finite.
CLV_API clv_result clv_rigid_set_gravity( clv_rigid* world, clv_vec3 gravity );

/// Without contacts bodies pass through each other; walls hold. On in a new world.
CLV_API void clv_rigid_set_contacts( clv_rigid* world, bool contacts );

/// Move the world `seconds` on: one search for contacts, then `substeps` (at least 1) rounds of solving and
/// moving. After CLV_OUT_OF_MEMORY nothing has moved. A body whose place or speed would be no number any
/// more, as 1e38 metres per second make it, and with it what it touches, is stopped where it stands and
/// counted in the report.
CLV_API clv_result clv_rigid_step( clv_rigid* world, float seconds, uint32_t substeps );

CLV_API uint32_t clv_rigid_body_count( const clv_rigid* world );
CLV_API clv_rigid_body clv_rigid_get( const clv_rigid* world, uint32_t index );
CLV_API bool clv_rigid_is_asleep( const clv_rigid* world, uint32_t index );

/// Bounding boxes of all bodies as they stand now, `clv_rigid_body_count` of them, into the caller's array.
CLV_API void clv_rigid_boxes( const clv_rigid* world, clv_aabb* boxes );

CLV_API clv_rigid_report clv_rigid_last_report( const clv_rigid* world );

/// About the last call that can fail.
CLV_API clv_error clv_rigid_error( const clv_rigid* world );
