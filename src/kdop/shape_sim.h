// SPDX-License-Identifier: MIT
#pragma once

#include "volume.h"

// Rigid bodies by shape matching, or soft ones: the dynamics of the k-DOP paper (Amaral, COPPE 2021). A frame
// moves every body, finds candidate pairs with a clv_volume_sweep, and then ten times over looks at each
// pair: do they touch (GJK), how deep (EPA), and if so pushes the vertices that are inside the other body
// onto the contact plane and puts the body where it fits them best. It is here to repeat the paper's
// experiment and its tables. It has no friction, no spin and no sleep.
//
// Lengths are the scene's, times are frames. One thread owns a simulation. The same calls give the same bits
// with every compiler and on every machine.

typedef struct clv_shape_sim clv_shape_sim;

/// How GJK and EPA find a body's farthest vertex.
typedef enum clv_support_search
{
    CLV_SUPPORT_AUTO = 0, ///< scanning up to 32 vertices, climbing above
    CLV_SUPPORT_SCAN = 1, ///< every vertex is looked at
    CLV_SUPPORT_CLIMB =
        2, ///< from neighbour to neighbour while it goes up; soft bodies are scanned all the same
} clv_support_search;

/// What a body may become when it is pushed: Müller et al., "Meshless deformations based on shape matching"
/// (2005).
typedef enum clv_match_mode
{
    CLV_MATCH_RIGID = 0,     ///< the paper's: moved and turned
    CLV_MATCH_LINEAR = 1,    ///< stretched and sheared as well; the volume stays
    CLV_MATCH_QUADRATIC = 2, ///< bent and twisted as well
} clv_match_mode;

/// How a body moves while nothing touches it; x position, v velocity, g acceleration, d damping, a frame at a
/// time.
typedef enum clv_integrator
{
    CLV_VELOCITY_VERLET = 0, ///< x += v + g/2; v = (v + g) d: the paper's
    CLV_EULER = 1,           ///< x += v; v = (v + g) d
    CLV_RUNGE_KUTTA = 2,     ///< the midpoint rule: with a constant g the same motion as velocity Verlet
    CLV_VERLET = 3,          ///< x += d (x - x before) + g, where v is x - x before
} clv_integrator;

/// The velocity of a body that touched something, about which the paper says nothing; docs/physics.md
/// compares.
typedef enum clv_contact_velocity
{
    CLV_VELOCITY_MOVED =
        0, ///< what it moved in this frame, contacts included: falls end and the heap comes to rest
    CLV_VELOCITY_KEPT = 1, ///< as if nothing had happened: the paper's equations to the letter, under which
                           ///< a resting body goes on falling and is pushed out again, every frame
} clv_contact_velocity;

/// Settings, copied on create. Start from clv_default_shape_sim_def.
typedef struct clv_shape_sim_def
{
    uint32_t size;                      ///< sizeof( clv_shape_sim_def ), set by the default function
    uint32_t cookie;                    ///< proof that the default function was called
    clv_volume_kind volume;             ///< default CLV_VOLUME_AABB
    clv_integrator integrator;          ///< default CLV_VELOCITY_VERLET
    clv_contact_velocity after_contact; ///< default CLV_VELOCITY_MOVED
    float carry;                ///< of CLV_VELOCITY_MOVED: share of the move kept, 0 .. 1; default 0.8
    float gravity;              ///< downwards along y; default 9.8; finite, >= 0
    float speed;                ///< scales gravity; default 0.0049, the paper prints 0.003
    float damping;              ///< velocity kept from frame to frame, 0 .. 1; default 0.95
    uint32_t round_count;       ///< check, contact, match; default 10
    uint32_t pca_period;        ///< as in clv_volume_sweep_def; default 30
    bool has_floor;             ///< below y = 0 all is solid, and what gets there is pushed out; default true
    bool stage_times;           ///< fill the times in the statistics; clocks are read for every pair
    clv_allocator allocator;    ///< zero: the C library's
    clv_logger logger;          ///< zero: silence
    clv_support_search support; ///< default CLV_SUPPORT_AUTO
    clv_match_mode match;       ///< default CLV_MATCH_RIGID
    float softness; ///< part of a deformation that stays to the next frame, 0 .. 0.999; default 0.5
} clv_shape_sim_def;

clv_shape_sim_def clv_default_shape_sim_def( void );

/// What is wrong with it, or NULL.
const char* clv_shape_sim_why_bad( const clv_shape_sim_def* def );

/// CLV_BAD_DEF or CLV_OUT_OF_MEMORY leave *sim NULL; the reason goes to the def's logger.
clv_result clv_shape_sim_create( const clv_shape_sim_def* def, clv_shape_sim** sim );

/// NULL is legal.
void clv_shape_sim_destroy( clv_shape_sim* sim );

/// Add a body at rest. The hull must outlive the simulation; its vertices are the body's particles, all of
/// one mass. Soft bodies are what is convex around their vertices, deformed or not. Bodies are numbered 0, 1,
/// 2, … CLV_BAD_ARGUMENT for no hull or a transform that is not finite; CLV_OUT_OF_MEMORY.
clv_result clv_shape_sim_add( clv_shape_sim* sim, const clv_hull* hull, clv_transform at );

/// One frame. After CLV_OUT_OF_MEMORY nothing has moved, and the same call works once there is memory.
clv_result clv_shape_sim_step( clv_shape_sim* sim );

uint32_t clv_shape_sim_body_count( const clv_shape_sim* sim );

/// Where a body is, rounded to float. `body` below the count.
clv_transform clv_shape_sim_transform( const clv_shape_sim* sim, uint32_t body );
clv_vec3 clv_shape_sim_velocity( const clv_shape_sim* sim, uint32_t body );

/// Where a body's vertices are, as many as its hull has and in that order, deformed if it is soft. Writes up
/// to `capacity` of them and returns how many there are. clv_shape_sim_transform is then the rigid body that
/// fits best.
uint32_t clv_shape_sim_vertices(
    const clv_shape_sim* sim, uint32_t body, clv_vec3* vertices, uint32_t capacity );

/// Counts, measures and times of the last frame. Pairs with the floor are counted apart.
typedef struct clv_shape_sim_stats
{
    uint64_t frame;                 ///< frames so far
    uint64_t candidate_count;       ///< pairs of bodies the sweep let through
    uint64_t hit_count;             ///< of them, those that touched in some round
    uint64_t floor_candidate_count; ///< bodies whose volume reaches the floor
    uint64_t floor_hit_count;       ///< bodies that touched it
    uint64_t landed_count;          ///< bodies that touched anything in this frame or before
    double deepest;                 ///< penetration at the start of the last round
    double mean_depth;              ///< of the contacts of the last round; 0 without any
    double kinetic_energy;          ///< of bodies of mass 1
    double potential_energy;        ///< above y = 0

    // Skipped matches, the paper's exceptions.
    uint64_t unconverged_count; ///< GJK or EPA without an answer
    uint64_t singular_count;    ///< particles on a plane: the rotation is not determined
    uint64_t diverged_count;    ///< no square root found
    uint64_t drifted_count;     ///< rotation off by more than 1 % in some axis
    uint64_t unturned_count;    ///< bodies that no round could match: moved, not turned

    uint32_t axis; ///< the sweep's, as in clv_volume_sweep_stats
    double integrate_ms, volume_ms, sweep_ms, narrow_ms, match_ms;
    double axis_ms, project_ms, sort_ms, prune_ms; ///< of sweep_ms, as in clv_volume_sweep_stats

    // How far vertices of soft bodies are from where the rigid ones would have them, by the size of the body.
    // 0 for rigid ones.
    double deformation_mean, deformation_most;
} clv_shape_sim_stats;

clv_shape_sim_stats clv_shape_sim_get_stats( const clv_shape_sim* sim );
