// SPDX-License-Identifier: MIT
// What a physical scene is made of: world, bodies, forces. The built-in scenes are recipes, and a recipe can be read
// from a small text file; docs/lab.md tells the format.
#pragma once

#include "lab/base/error.h"

#include <stdint.h>

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
    double
        reach; ///< of the start region, as a share of the side; for a cube half its side, for a slab its height
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

/// Read a scene file. The error names the file, the line and what was expected.
bool recipe_read( const char* path, recipe* result, lab_error* why );

/// Does this operand of `gen` look like a scene file? Those end in .scene.
bool recipe_is_path( const char* text );

/// First body of group `index` and the one past its last, for a scene of `body_count`.
void recipe_group_range(
    const recipe* scene, uint32_t index, uint32_t body_count, uint32_t* begin, uint32_t* end );
