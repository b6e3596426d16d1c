// SPDX-License-Identifier: MIT
// Solid boxes that move and turn, and the axis-aligned boxes around them. What every scene generator is made
// of.
#pragma once

#include "cleave/geom.h"
#include "lab/base/text.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum body_type
{
    BODY_CUBES,    ///< side 1
    BODY_ASSORTED, ///< cubes, bars, planks, squares and random boxes by index mod 80; on average of volume 1
} body_type;

#define BODY_TYPE_COUNT 2
extern const choice body_types[]; ///< "cubes", "assorted"; in this order

#define BODY_SPLIT 8 ///< pieces of a body that is cut in two along each of its axes

const char* body_type_name( body_type type );

/// The inverse. False, and *type untouched, if there is no such type.
bool body_type_from_name( const char* name, body_type* type );

typedef struct body_state
{
    double position[3];
    double velocity[3]; ///< metres per second
    double rotation[4]; ///< unit quaternion x y z w
    float half_sides[3];
    float spin[3]; ///< radians per second about the world's axes
} body_state;

/// Half the sides of body `index`.
void body_half_sides( body_type type, uint64_t seed, uint64_t index, float half_sides[3] );

/// Turn by the spin for some seconds. A rational step and a square root; no sine whose rounding may differ.
void body_turn( body_state* body, double seconds );

/// Of a unit quaternion: the body's axes as columns.
void body_rotation_matrix( const double q[4], double matrix[3][3] );

/// The box around a body, rounded to float.
clv_aabb body_box( const body_state* body );

/// The boxes around its eight pieces, which move rigidly with it; piece k lies on the upper side of axis j if
/// bit j of k is set.
void body_split_boxes( const body_state* body, clv_aabb boxes[BODY_SPLIT] );

/// The box itself cut in 8, the pieces in the same order. One that is infinite on an axis is cut at the
/// face that is not, or at 0.
void body_split_box( clv_aabb box, clv_aabb pieces[BODY_SPLIT] );

/// The box of body or box `index` into its place among others: one each, or eight of each where they are
/// split.
void body_write( const body_state* body, bool split, uint64_t index, clv_aabb* boxes );
void body_write_box( clv_aabb box, bool split, uint64_t index, clv_aabb* boxes );

/// Cube root by Newton's method: + * / alone.
double body_cube_root( double value );

/// e to the x, |x| < 30: by halving and squaring, since the library's may round differently elsewhere.
double body_exponential( double x );

/// Where a body is after so long a way from the middle, reflected between -wall and wall.
double body_bounce( double way, double wall );
