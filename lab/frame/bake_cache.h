// SPDX-License-Identifier: MIT
// Scenes asked for by name are baked once and kept: in $CLEAVE_CACHE, else $XDG_CACHE_HOME/cleave, else
// ~/.cache/cleave. The folder holds at most CLEAVE_CACHE_LIMIT MiB (default 8192; 0: keep nothing); the least
// recently used scenes go first. Processes may share it: files appear whole, by rename, and one that is gone
// is baked again.
#pragma once

#include "lab/frame/frame_source.h"

#define BAKE_CACHE_LIMIT_MIB 8192

/// Opens the scene from the folder, baking it first if need be. Where it cannot be kept (no folder, too
/// large, disk full) it is made on the fly, with a note.
bool bake_cache_open( frame_source* source, const bake_def* def, lab_error* why );

/// Is it there already?
bool bake_cache_holds( const bake_def* def );

/// Bakes into the folder what of these is not there yet, windows of the same run from one simulation. False where that cannot
/// be: no folder, no room, interrupted.
bool bake_cache_fill( const bake_def* defs, uint32_t count, lab_error* why );
