// SPDX-License-Identifier: MIT
// The frames that are to be seen: boxes, and how the bodies in them are turned where a file tells.
#pragma once

#include "lab/frame/frame_source.h"
#include "lab/frame/scene_list.h"

typedef enum view_shape
{
    VIEW_BOXES,
    VIEW_OCTAHEDRA, ///< truncated, as the k-DOP paper has them
} view_shape;

/// Zero-initialised is closed.
typedef struct view_input
{
    frame_source source; ///< its header alone where a scene runs
    scene_reader poses;  ///< of a .posrot file
    bool has_file_poses;
    bake_def def; ///< of a scene that runs, to know its bodies
    void* running;
    uint64_t running_frame;
    bool has_poses; ///< `bodies` are known
    view_shape shape;
    clv_aabb* boxes;        ///< of the frame read last
    clv_aabb* boxes_before; ///< and of the one before it
    body_state* bodies;     ///< of the frame read last: sides, positions, rotations; NULL without poses
    uint32_t first, last;   ///< frames to be seen, of the source's
} view_input;

typedef struct view_input_def
{
    const char* what;   ///< as scene_spec_parse reads it
    const char* frames; ///< "A:B", "A:", ":B", "A", or NULL for all
    /// a scene by name is run, not taken from the cache: a .aabbs file has no rotations
    bool wants_bodies;
} view_input_def;

/// Opens what the user wrote. False for what scene_spec_parse refuses, damaged files, frames that are not
/// there, and bodies that nothing tells of.
bool view_input_open( view_input* input, const view_input_def* def, lab_error* why );

/// Frame `frame` into `boxes` and `bodies`; what was in `boxes` goes to `boxes_before`. Ascending is cheap.
bool view_input_read( view_input* input, uint32_t frame, lab_error* why );
void view_input_close( view_input* input );
