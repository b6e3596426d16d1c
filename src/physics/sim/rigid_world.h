// SPDX-License-Identifier: MIT
// What the files of the rigid-body world share. A step runs them in this order:
//   rigid_step     boxes of all bodies, grown by what they may move            -> clv_space -> pairs
//   rigid_contact  pairs -> manifolds, with last step's impulses               (parallel over chunks of
//                  pairs)
//   rigid_island   wakes what was hit
//   clv_sim_rigid_color    contacts -> rounds in which no body occurs twice            ->
//                          blocks of RIGID_LANES contacts
//   rigid_solver   substeps over the blocks                                    (parallel inside each round)
//   rigid_island   puts to sleep what rests
#pragma once

#include "base/array.h"
#include "cleave/sim.h"
#include "cleave/space.h"
#include "math/lanes.h"
#include "narrow/box_manifold.h"
#include "sim/sim_math.h"
#include "task/task.h"

/// Contacts solved side by side.
#define RIGID_LANES MATH_LANES

/// Rounds; bit i of a body's mask says that round i has it. What fits none is solved one contact after the
/// other.
#define RIGID_COLORS 64

/// A contact with wall k has b = RIGID_WALL + k: k = 2 axis for the lower side, 2 axis + 1 for the upper.
#define RIGID_WALL 0xFFFFFFF0u
#define RIGID_WALL_COUNT 6

/// Pieces of work, whatever the number of workers: pairs, bodies and blocks.
#define RIGID_CHUNK 256
#define RIGID_BODY_PIECE 1024
#define RIGID_BLOCK_PIECE 64

#define RIGID_NONE UINT32_MAX

/// In a lean world: how far ahead a body looks at most, and how far in any case, as shares of its side.
#define RIGID_LEAN_REACH 0.25f
#define RIGID_LEAN_SLACK 0.02f

/// What a body slower than twice the speed of rest keeps of it, step by step, in a lean world that may sleep.
#define RIGID_LEAN_CALM 0.8f

/// What the solver reads and writes of a body: one cache line. The solver loads the first twelve numbers as
/// three rows of four.
typedef struct rigid_motion
{
    clv_vec3 velocity;
    clv_vec3 spin;
    clv_vec3 shift; ///< moved since the step began
    clv_vec3 turn;  ///< rotation vector since then, to first order
    float inverse_mass;
    uint32_t fresh; ///< not 0: placed anew since the last step, so what touched it before means nothing
    uint32_t pad[2];
} rigid_motion;

typedef struct rigid_speed
{
    clv_vec3 velocity, spin;
} rigid_speed;

/// How a body answers to impulses: half a cache line, all that preparing a contact reads of it.
typedef struct rigid_answer
{
    sim_sym3 inverse_inertia; ///< world axes
    float inverse_mass;
    uint32_t pad;
} rigid_answer;

/// Where and what a body is.
typedef struct rigid_pose
{
    clv_vec3 position;
    clv_quat rotation;
    clv_vec3 half;
    clv_vec3 inverse_inertia; ///< about the body's own axes; 0 for a static one
    float mass;
    float radius; ///< of the sphere around it
    float side;   ///< mean
} rigid_pose;

typedef struct rigid_point
{
    clv_vec3 offset; ///< from a's centre when the step began
    float separation;
} rigid_point;

/// Read and written as rows of four numbers, four contacts at a time: rigid_block.c.
typedef struct rigid_contact
{
    clv_vec3 normal;                        ///< from a to b
    clv_vec3 to_b;                          ///< from a's centre to b's; 0 for a wall
    clv_vec3 friction;                      ///< impulse on b in the plane of the contact
    float twist;                            ///< angular impulse about the normal
    float impulses[NARROW_MANIFOLD_POINTS]; ///< of the points, along the normal, per substep
    uint32_t features[NARROW_MANIFOLD_POINTS];
    rigid_point points[NARROW_MANIFOLD_POINTS];
} rigid_contact;

/// Whose contact it is, and what is asked of it more often than its points: a seventh of its length.
typedef struct rigid_link
{
    uint32_t a, b;        ///< bodies, or a body and a wall
    uint32_t contact;     ///< its place among the contacts
    uint32_t point_count; ///< 1 .. NARROW_MANIFOLD_POINTS
    float separation;     ///< least of its points; at most 0 where they touch
} rigid_link;

/// Contacts, and links to them in the order of their pairs. Chunk c of the pairs wrote contacts[c *
/// RIGID_CHUNK …].
typedef struct rigid_contact_set
{
    BASE_ARRAY( rigid_contact ) contacts;
    BASE_ARRAY( rigid_link ) links;
    base_u32_array chunk_counts;
    uint32_t count;
} rigid_contact_set;

/// Two for the pairs of bodies and of walls, and the same of the step before.
typedef struct rigid_contacts
{
    rigid_contact_set bodies, walls;
} rigid_contacts;

typedef struct rigid_block_point
{
    float arm_a[3][RIGID_LANES]; ///< offset x normal
    float arm_b[3][RIGID_LANES];
    float separation[RIGID_LANES];
    float mass[RIGID_LANES]; ///< effective
    float impulse[RIGID_LANES];
    float lever[RIGID_LANES]; ///< distance from the friction anchor

    // In a lean world, and untouched elsewhere: what an impulse of 1 adds to the spins.
    float spin_a[3][RIGID_LANES];
    float spin_b[3][RIGID_LANES];

    // Where things bounce, and untouched elsewhere.
    float impulse_most[RIGID_LANES]; ///< over the substeps
    float approach[RIGID_LANES];     ///< relative speed along the normal when the step began
} rigid_block_point;

/// Up to RIGID_LANES contacts of the same round and the same number of points.
typedef struct rigid_block
{
    uint32_t a[RIGID_LANES], b[RIGID_LANES]; ///< index of the motion; an idle lane has the resting body's
    uint32_t moves_a[RIGID_LANES];           ///< 0: immovable, nothing to write back
    uint32_t moves_b[RIGID_LANES];
    rigid_contact* contacts[RIGID_LANES]; ///< NULL in an idle lane
    uint32_t point_count;

    float normal[3][RIGID_LANES];
    float tangent[2][3][RIGID_LANES];
    float anchor_a[3][RIGID_LANES]; ///< where friction acts, from the centres
    float anchor_b[3][RIGID_LANES];
    float slide_mass[3][RIGID_LANES]; ///< inverse of the 2 x 2 matrix: 11, 12, 22
    float slide[2][RIGID_LANES];      ///< friction impulse along the tangents
    float twist_mass[RIGID_LANES];
    float twist[RIGID_LANES];
    float inverse_mass_a[RIGID_LANES], inverse_mass_b[RIGID_LANES];
    float inertia_a[6][RIGID_LANES], inertia_b[6][RIGID_LANES]; ///< inverse; xx yy zz xy xz yz
    float bias_rate[RIGID_LANES], mass_scale[RIGID_LANES], impulse_scale[RIGID_LANES];
    rigid_block_point points[NARROW_MANIFOLD_POINTS];
} rigid_block;

/// Blocks first[i] .. first[i + 1] are round i; the last range is the overflow, one contact to a block.
typedef struct rigid_rounds
{
    uint32_t first[RIGID_COLORS + 2];
    uint32_t color_count; ///< rounds in use, without the overflow
    uint32_t overflow_count;
} rigid_rounds;

struct clv_rigid
{
    base_memory memory;
    clv_rigid_def def;
    clv_space* space;
    task_runner runner;

    uint32_t count;
    uint64_t capacity; ///< bodies that fit all arrays below
    /// one more than bodies: the last rests for ever and stands for walls and idle lanes
    rigid_motion* motions;
    rigid_pose* poses;
    narrow_box* boxes;
    rigid_answer* answers;
    clv_aabb* bounds; ///< grown
    /// how far each box was grown; in a lean world, how far apart a contact of this body may be
    float* reaches;
    rigid_speed* befores; ///< of a lean world: speeds when the substep began, before contacts changed them
    clv_id* ids;
    uint64_t* masks; ///< rounds each body occurs in
    float* rest_seconds;
    uint32_t* islands; ///< of sleepers: the island they fell asleep with, else RIGID_NONE
    uint32_t* parents; ///< union-find
    uint32_t* marks;   ///< scratch of the islands
    uint32_t static_count, sleeping_count;
    uint32_t spaced_count; ///< bodies the space knows
    bool any_fresh;
    bool no_contacts; ///< between bodies

    rigid_contacts now, last;
    BASE_ARRAY( clv_pair ) wall_pairs;

    BASE_ARRAY( rigid_block ) blocks;
    uint32_t block_count;
    base_u32_array colors; ///< per contact: round * 4 + points - 1
    rigid_rounds rounds;

    float seconds; ///< of the step under way
    uint32_t substeps;

    clv_rigid_report report;
    clv_error error;
    char error_text[192];
};

/// Part of a loop: begin .. end - 1.
typedef struct rigid_range
{
    uint32_t begin, end;
} rigid_range;

/// Piece `index` of a loop over `count`, cut into pieces of `size`.
static inline rigid_range rigid_piece( uint32_t count, uint32_t size, uint32_t index )
{
    rigid_range range = { index * size, count - index * size < size ? count : ( index + 1 ) * size };
    return range;
}

static inline uint32_t rigid_piece_count( uint32_t count, uint32_t size )
{
    return (uint32_t)( ( (uint64_t)count + size - 1 ) / size );
}

static inline bool rigid_is_static( const clv_rigid* world, uint32_t body )
{
    return world->motions[body].inverse_mass == 0.0f;
}

static inline bool rigid_is_asleep( const clv_rigid* world, uint32_t body )
{
    return world->islands[body] != RIGID_NONE;
}

/// Is there any body that does not move?
static inline bool rigid_some_rest( const clv_rigid* world )
{
    return world->sleeping_count + world->static_count > 0;
}

static inline bool rigid_is_movable( const clv_rigid* world, uint32_t body )
{
    return !rigid_is_static( world, body ) && !rigid_is_asleep( world, body );
}

/// Half the extent of a box along each of the world's axes.
static inline clv_vec3 rigid_extent_of( const narrow_box* box )
{
    clv_vec3 h = box->half;
    float e[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        e[axis] = h.x * sim_abs( box->axes[0][axis] ) + h.y * sim_abs( box->axes[1][axis] ) +
            h.z * sim_abs( box->axes[2][axis] );
    }
    return sim_vec3( e[0], e[1], e[2] );
}

/// Keeps the sentence for clv_rigid_error and returns `code`; or that all went well.
clv_result clv_sim_rigid_fail(
    clv_rigid* world, clv_result code, uint32_t position, const char* format, ... );
clv_result clv_sim_rigid_succeed( clv_rigid* world );

/// Box, axes and inertia of a body after its pose changed.
void clv_sim_rigid_refresh( clv_rigid* world, uint32_t body );

/// Wake a body and all that fell asleep with it.
void clv_sim_rigid_wake( clv_rigid* world, uint32_t body );
void clv_sim_rigid_wake_all( clv_rigid* world );

/// Manifolds of these pairs of bodies and of bodies near walls into world->now, impulses from world->last.
/// False: out of memory, nothing changed but world->now.
bool clv_sim_rigid_collide( clv_rigid* world, const clv_pair* pairs, uint64_t pair_count );

/// Link i of both sets, bodies first.
static inline const rigid_link* rigid_link_at( const rigid_contacts* contacts, uint32_t index )
{
    const rigid_contact_set* set = index < contacts->bodies.count ? &contacts->bodies : &contacts->walls;
    return &set->links.items[index - ( set == &contacts->bodies ? 0 : contacts->bodies.count )];
}

static inline uint32_t rigid_contact_count( const rigid_contacts* contacts )
{
    return contacts->bodies.count + contacts->walls.count;
}

void clv_sim_rigid_contacts_free( clv_rigid* world, rigid_contacts* contacts );

/// Sleepers that something fast touches. Call between collide and color.
void clv_sim_rigid_wake_touched( clv_rigid* world );

/// After a step: islands in which all bodies have rested long enough fall asleep.
void clv_sim_rigid_sleep_rested( clv_rigid* world );

/// Assign rounds and lay out world->blocks. False: out of memory.
bool clv_sim_rigid_color( clv_rigid* world );

/// Substeps over the blocks; velocities, poses and impulses are final afterwards.
void clv_sim_rigid_solve( clv_rigid* world );
