// SPDX-License-Identifier: MIT
// How long work will take, before it is begun: rough constants of a machine of today, good to a factor of three or so. It is
// to tell a minute from an hour.
#pragma once

#include "lab/frame/scene_spec.h"
#include "lab/measure/run_spec.h"

/// Seconds of one frame; 0 if the method cannot run here.
double estimate_frame_s( const run_spec* spec, uint32_t object_count );

/// What opening a scene still takes.
typedef struct estimate_scene
{
    uint32_t object_count, frame_count; ///< that it will have; 0 if a file cannot be read
    uint64_t bake_bytes;                ///< to write first; 0 if it is there
    double bake_s;
} estimate_scene;

estimate_scene estimate_scene_spec(
    const scene_spec* spec, uint32_t body_count, uint32_t frames_wanted, uint64_t seed );

/// "under a second", "about 20 s", "about 3 min".
#define ESTIMATE_ROOM 48
char* estimate_text( double seconds, char buffer[ESTIMATE_ROOM] );
