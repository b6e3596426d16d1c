// SPDX-License-Identifier: MIT
// Frames of boxes, from a file or made on the fly.
#pragma once

#include "lab/frame/bake.h"
#include "lab/frame/scene_file.h"

/// Zero-initialised is closed.
typedef struct frame_source
{
    scene_header header;
    void* state;
    bool ( *read )( void* state, uint32_t frame, clv_aabb* boxes, lab_error* why );
    void ( *close )( void* state );
} frame_source;

bool frame_source_open_file( frame_source* source, const char* path, lab_error* why );

/// The frames a baked file would hold, without the file. Ascending is cheap; going back starts the scene
/// again.
bool frame_source_open_scene( frame_source* source, const bake_def* def, lab_error* why );

/// Narrows an open source to `frame_count` frames after frame `from` of its own. False, and closed, if out of memory.
bool frame_source_cut( frame_source* source, uint32_t from, uint32_t frame_count );

/// Frame 0 .. header.frame_count into `boxes`, header.object_count long.
bool frame_source_read( frame_source* source, uint32_t frame, clv_aabb* boxes, lab_error* why );
void frame_source_close( frame_source* source );

/// Room for one frame of the source, to free; NULL with an error if there is none.
clv_aabb* frame_source_boxes( const frame_source* source, lab_error* why );
