// SPDX-License-Identifier: MIT
// One frame of a scene as a picture: bodies or boxes in colour, and what lies over them.
#pragma once

#include "lab/render/picture.h"
#include "lab/view/view_input.h"
#include "lab/view/view_overlay.h"

// ---- A body's surface: a box, turned or not, or a truncated octahedron; and the volumes around it.

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

typedef enum render_colour
{
    RENDER_TOUCHING,
    RENDER_STATIC,
    RENDER_SPEED,
    RENDER_SIZE,
    RENDER_NODE,
} render_colour;

typedef struct render_look
{
    render_colour colour;
    bool has_boxes, has_pairs, has_tree, has_cells, has_dops, has_spheres; ///< overlays
    bool is_dark;
} render_look;

/// What is drawn of: the frame of `input`, its pairs and tree in `search`, cells made here.
typedef struct render_source
{
    const view_input* input;
    const view_search* search;
    view_cells* cells;
    clv_aabb seen; ///< the part of the world that fills the picture
} render_source;

/// Adds everything to an empty picture whose camera is set.
void render_scene( picture* out, const render_source* source, const render_look* look );

/// The world and what is in it; a world far larger than that is left out.
clv_aabb render_scene_box( const view_input* input );
