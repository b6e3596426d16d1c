// SPDX-License-Identifier: MIT
// The frames that are to be seen: boxes, and how the bodies in them are turned where a file tells.
#pragma once

#include "lab/frame/frame_source.h"
#include "lab/frame/scene_spec.h"

/// Zero-initialised is closed.
typedef struct view_input
{
    frame_source source;
    scene_reader poses; ///< of a .posrot file
    bool has_poses;
    clv_aabb* boxes;        ///< of the frame read last
    clv_aabb* boxes_before; ///< and of the one before it
    body_state* bodies;     ///< of the frame read last; NULL without poses
    uint32_t first, last;   ///< frames to be seen, of the source's
} view_input;

/// Opens what the user wrote. `frames` is "A:B", "A:", ":B" or NULL for all. False for what scene_spec_parse refuses, damaged files, and frames
/// that are not there.
bool view_input_open( view_input* input, const char* what, const char* frames, lab_error* why );

/// Frame `frame` into `boxes` and `bodies`; what was in `boxes` goes to `boxes_before`.
bool view_input_read( view_input* input, uint32_t frame, lab_error* why );
void view_input_close( view_input* input );
