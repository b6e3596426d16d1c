// SPDX-License-Identifier: MIT
// Frames of boxes, from a file or made on the fly.
#pragma once

#include "cleave/geom.h"
#include "lab/frame/bake.h"
#include "lab/frame/scene_file.h"

#include <stdint.h>

/// Zero-initialised is closed.
typedef struct frame_source
{
    scene_header header;
    void* state;
    uint32_t from; ///< frame of the state's that is frame 0 here
    bool ( *read )( void* state, uint32_t frame, clv_aabb* boxes, lab_error* why );
    void ( *close )( void* state );
} frame_source;

bool frame_source_open_file( frame_source* source, const char* path, lab_error* why );

/// The frames a baked file would hold, without the file. Ascending is cheap; going back starts the scene
/// again.
bool frame_source_open_scene( frame_source* source, const bake_def* def, lab_error* why );

/// Of a source that frame_source_open_scene opened: the generator's state as of the frame read last.
void* frame_source_running( const frame_source* source );

/// Frame 0 .. header.frame_count into `boxes`, header.object_count long.
bool frame_source_read( frame_source* source, uint32_t frame, clv_aabb* boxes, lab_error* why );
void frame_source_close( frame_source* source );

/// Room for one frame of the source, to free.
clv_aabb* frame_source_boxes( const frame_source* source );

// ---- Scenes asked for by name are baked once and kept: in $CLEAVE_CACHE, else $XDG_CACHE_HOME/cleave, else
// ~/.cache/cleave. The folder holds at most CLEAVE_CACHE_LIMIT MiB (default 8192; 0: keep nothing); the least
// recently used scenes go first. Processes may share it: files appear whole, by rename, and one that is gone
// is baked again.

#define BAKE_CACHE_LIMIT_MIB 8192

/// Opens the scene from the folder, baking it first if need be. Where it cannot be kept (no folder, too
/// large, disk full) it is made on the fly, with a note.
bool bake_cache_open( frame_source* source, const bake_def* def, lab_error* why );

/// Is it there already?
bool bake_cache_holds( const bake_def* def );

/// Bakes into the folder what of these is not there yet, windows of the same run from one simulation. False
/// where that cannot be: no folder, no room, interrupted.
bool bake_cache_fill( const bake_def* defs, uint32_t count, lab_error* why );

// ---- What one can say about a frame without finding pairs.

/// Share of the objects none of whose faces moved by more than 1 % of the object's mean side (of the frame
/// before; infinite sides do not count) between two frames.
double frame_static_share( const clv_aabb* before, const clv_aabb* after, uint32_t count );

typedef struct frame_stats
{
    double size_min, size_max; ///< shortest and longest side of any box
    double size_mean;          ///< over all finite sides
    uint32_t outside_world;    ///< boxes whose centre lies outside the world
} frame_stats;

frame_stats frame_stats_of( const clv_aabb* boxes, uint32_t count, clv_aabb world );
