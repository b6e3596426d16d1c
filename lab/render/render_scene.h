// SPDX-License-Identifier: MIT
// One frame of a scene as a picture: bodies or boxes in colour, and what lies over them.
#pragma once

#include "lab/render/picture.h"
#include "lab/view/view_cells.h"
#include "lab/view/view_input.h"
#include "lab/view/view_search.h"

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

/// Adds everything to an empty picture whose camera is set. False if out of memory.
bool render_scene( picture* out, const render_source* source, const render_look* look );

/// The world and what is in it; a world far larger than that is left out.
clv_aabb render_scene_box( const view_input* input );
