// SPDX-License-Identifier: MIT
// A generated scene as a file.
#pragma once

#include "lab/frame/scene_file.h"
#include "lab/scene/generator.h"

typedef struct bake_def
{
    const generator* generator;
    generator_def scene;
    uint32_t from;        ///< frame of the run that becomes frame 0 of the file
    uint32_t frame_count; ///< frames recorded after that
    const char* report;   ///< CSV of what the simulation saw per frame of the run; NULL: none
} bake_def;

#define BAKE_FRAMES_MOST 1000000

/// What the file's header will say; `world` comes from the running scene.
scene_header bake_header( const bake_def* def, clv_aabb world );

/// Beside a file whose bodies die and are born: FILE.churn, text, "frame,object" under a header line. Object
/// `object` of frame `frame` of the file is not the one it was in the frame before.
#define BAKE_CHURN_ENDING ".churn"
#define BAKE_CHURN_HEAD "frame,object\n"

/// Writes the scene, with a progress bar; all of it or nothing.
bool bake_write( const bake_def* def, const char* path, lab_error* why );

/// Several windows of one run, each a file of its own, from one simulation: the defs differ in `from` and
/// `frame_count` alone, have no report, and their bodies are not reborn (bake_may_share). A window is there
/// as soon as its last frame is.
bool bake_write_windows( const bake_def* defs, const char* const* paths, uint32_t count, lab_error* why );
bool bake_may_share( const bake_def* def );

// ---- Recorded scenes whose bodies are cut in 8.

typedef struct splitter_def
{
    const char* input;  ///< .aabbs or .posrot
    const char* output; ///< .aabbs
    bool keep_size;     ///< the world grows to twice its side instead of the pieces being half as large
} splitter_def;

/// Writes the scene, with a progress bar; all of it or nothing. What was written is in *header. A FILE.churn
/// beside the input gets a companion beside the output.
bool splitter_write( const splitter_def* def, scene_header* header, lab_error* why );
