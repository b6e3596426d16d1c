// SPDX-License-Identifier: MIT
// Where scenes come from: a row in a table per scene. A generator advances frame by frame in memory O(N);
// to get a file, write the frames down.
#pragma once

#include "cleave/sim.h"
#include "lab/base/error.h"
#include "lab/scene/body.h"
#include "shape_sim.h"

#include <stdint.h>

// ---- What a physical scene is made of: world, bodies, forces. The built-in scenes are recipes, and a recipe
// can be read from a small text file; docs/lab.md tells the format.

#define RECIPE_NAME_ROOM 64
#define RECIPE_GROUPS_MOST 16

typedef enum recipe_shape
{
    RECIPE_TYPE,     ///< cubes or assorted, as --type says
    RECIPE_ASSORTED, ///< Broadmark's mixture
    RECIPE_BOX,      ///< sides as given
    RECIPE_RANDOM,   ///< each side uniform from sides[0] to sides[1]
} recipe_shape;

typedef enum recipe_place
{
    RECIPE_START,  ///< at random in the recipe's start region
    RECIPE_CENTER, ///< in the middle of the world
    RECIPE_STREET, ///< on the floor, on a square lattice: a city
} recipe_place;

typedef struct recipe_group
{
    double share;   ///< of all bodies; 0: `count` of them; below 0: the rest
    uint32_t count; ///< used if share is 0
    recipe_shape shape;
    double sides[3];
    bool sides_by_world; ///< sides are shares of the world's side
    bool is_static;
    recipe_place place;
} recipe_group;

typedef enum recipe_gravity
{
    RECIPE_NO_GRAVITY,
    RECIPE_DOWN,    ///< against y
    RECIPE_TURNING, ///< Broadmark's: an axis that turns about an axis that turns
} recipe_gravity;

typedef enum recipe_region
{
    RECIPE_BALL,
    RECIPE_CUBE,
    RECIPE_SLAB, ///< above the floor, from wall to wall
} recipe_region;

typedef enum recipe_speed
{
    RECIPE_SPEED_BALL,  ///< velocity uniform in a ball
    RECIPE_SPEED_RANGE, ///< any direction, magnitude uniform from 0
} recipe_speed;

typedef struct recipe
{
    char name[RECIPE_NAME_ROOM];
    uint32_t body_count; ///< unless asked otherwise; 0: 8000
    uint64_t seed;       ///< unless asked otherwise; 0: 1
    double density;      ///< bodies per cubic metre; 0: `side` counts
    double side;         ///< of the world, metres
    double origin[3];    ///< of the world's centre
    double frame_seconds;
    uint32_t substeps;
    recipe_region region;
    /// of the start region, as a share of the side; for a cube half its side, for a slab its height
    double reach;
    recipe_speed speed_law;
    double speed; ///< metres per second, or sides per second
    bool speed_by_world;
    recipe_gravity gravity;
    double gravity_amount; ///< metres, or sides, per second squared
    bool gravity_by_world;
    double gravity_period;  ///< seconds per turn
    double kick_share;      ///< of the bodies, per frame: get a new velocity, in turn
    double teleport_share;  ///< are put elsewhere
    double churn_share;     ///< die, and another body is born under the same number
    uint32_t contacts_from; ///< first frame with contacts; before it bodies pass through each other
    double friction, restitution;
    bool sleep;
    bool lean;                               ///< solved with fewer contacts and passes: clv_rigid_def.lean
    recipe_group groups[RECIPE_GROUPS_MOST]; ///< none: all of RECIPE_TYPE
    uint32_t group_count;
} recipe;

/// Broadmark's world, start and speed; no gravity, no kicks.
recipe recipe_default( const char* name );

/// Read the text of a scene file; recipe_read reads the file. The error names the file, the
/// line and what was expected.
bool recipe_parse( const char* name, const char* text, recipe* result, lab_error* why );
bool recipe_read( const char* path, recipe* result, lab_error* why );

/// Does this operand of `gen` look like a scene file? Those end in .scene.
bool recipe_is_path( const char* text );

/// First body of group `index` and the one past its last, for a scene of `body_count`.
void recipe_group_range(
    const recipe* scene, uint32_t index, uint32_t body_count, uint32_t* begin, uint32_t* end );

/// Most bodies of a scene: their numbers fit what a file can tell.
#define GENERATOR_BODIES_MOST 2000000000
#define GENERATOR_SIMULATED_MOST 10000000 ///< where contacts are solved
#define GENERATOR_FRAMES 60               ///< recorded unless asked otherwise

typedef struct generator_def
{
    uint32_t body_count;
    body_type type;
    uint64_t seed;
    bool split;            ///< eight objects per body
    uint32_t thread_count; ///< changes no byte of the result
    bool lean;             ///< contacts are solved as recipe.lean has it; the boxes are others then
    const recipe* recipe;  ///< of a scene file, alive as long as the scene; NULL for the scenes of the table

    // Where many processes share a scene (generator.has_parts): only these bodies are made, and only their
    // boxes written. body_count is that of the whole scene all the same.
    uint32_t part_first, part_count; ///< part_count 0: all
} generator_def;

/// What scenes have in common; generator_families has the words.
typedef enum generator_family
{
    FAMILY_FREE,      ///< bodies fly, without contacts
    FAMILY_PACKED,    ///< side by side, at rest
    FAMILY_BROADMARK, ///< its three scenes
    FAMILY_RAY_KD,    ///< of the RAY KD-tree paper
    FAMILY_K_DOP,     ///< of the k-DOP paper
    FAMILY_HARD,      ///< scenes that hurt, with contacts
    FAMILY_WORST,     ///< scenes that hurt, without
    FAMILY_ODD,       ///< worlds that are no cube
} generator_family;

extern const choice generator_families[]; ///< in this order

typedef struct generator generator;
struct generator
{
    const char* name;
    const char* about;
    generator_family family;
    uint32_t version; ///< raised when the same def gives other boxes, so that caches notice
    uint32_t bodies_most;
    /// no contacts: bodies pass through each other, so that a part of them can be made without the rest
    bool has_parts;
    const char* recipe;            ///< of physical scenes: the text of a scene file
    const struct swarm_law* swarm; ///< of scenes without physics; swarm.h

    /// The scene at frame 0, or NULL if out of memory. `self` is this row.
    void* ( *create )( const generator* self, const generator_def* def );
    void ( *destroy )( void* state );
    clv_aabb ( *world )( const void* state );
    bool ( *step )( void* state, lab_error* why ); ///< one frame on, or what stands in the way
    void ( *boxes )(
        void* state, clv_aabb* boxes ); ///< as of now: one per body, or eight of each in turn if split

    /// What the last step saw; NULL if nothing is simulated.
    clv_rigid_report ( *report )( const void* state );

    /// Bodies that died in the last step and were born again elsewhere, ascending; `*bodies` lives until the
    /// next. NULL if none ever do.
    uint32_t ( *reborn )( const void* state, const uint32_t** bodies );
};

/// The table, in parts: family by family. The first row is what commands take unless told otherwise.
uint32_t generator_count( void );
const generator* generator_at( uint32_t index );

/// NULL if there is no such scene.
const generator* generator_find( const char* name );

/// What to write behind "no scene 'name'; ": "did you mean x? scenes are x, y and z".
text_long generator_advice( const char* name );
const char* generator_name( uint32_t index ); ///< NULL beyond the last

/// Objects of a def's scene: eight per body where it splits.
uint32_t generator_object_count( const generator_def* def );

/// Bodies that a def makes: all, or those of its part.
uint32_t generator_part_count( const generator_def* def );

/// Runs the recipe of a scene file; not in the table.
extern const generator generator_recipe;

/// The parts of the table.
typedef struct generator_rows
{
    const generator* items;
    uint32_t count;
} generator_rows;

extern const generator_rows generator_moving;    ///< swarm.c: bodies that fly or tremble
extern const generator_rows generator_simulated; ///< recipe.c: bodies that touch
extern const generator_rows generator_hard;      ///< hard_worlds.c

/// generator.step of physical scenes, and the bodies behind their boxes, to show or push them; these
/// live as long as the scene.
bool recipe_run_step( void* state, lab_error* why );
clv_rigid* recipe_run_rigid( void* state );

/// tower.c: the row's functions, and the bodies behind the boxes, to show them; these live as long as the
/// scene.
void* tower_create( const generator* self, const generator_def* def );
void tower_destroy( void* state );
clv_aabb tower_world( const void* state );
bool tower_step( void* state, lab_error* why );
void tower_boxes( void* state, clv_aabb* boxes );
const clv_shape_sim* tower_sim( const void* state );
