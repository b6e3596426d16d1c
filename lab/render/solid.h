// SPDX-License-Identifier: MIT
// A body's surface: a box, turned or not, or a truncated octahedron; and the volumes around it.
#pragma once

#include "lab/render/picture.h"
#include "lab/view/view_input.h"

#define SOLID_CORNERS 24

typedef struct solid
{
    view_shape shape;
    double middle[3], half[3];
    double turn[3][3]; ///< columns are the body's axes
    double corners[SOLID_CORNERS][3];
    uint32_t corner_count, face_count;
    double radius; ///< of the sphere around it
} solid;

solid solid_of_box( clv_aabb box );
solid solid_of_body( view_shape shape, const body_state* body );

/// The corners of a face, in order, and its normal; returns how many there are.
uint32_t solid_face( const solid* self, uint32_t face, double corners[PICTURE_CORNERS][3], double normal[3] );

/// The edges of the 18-DOP around it: the box, and its edges cut off at 45 degrees.
void solid_draw_dop( const solid* self, picture* out, picture_ink ink );

/// The outline of the sphere around its middle.
void solid_draw_sphere( const solid* self, picture* out, picture_ink ink );
