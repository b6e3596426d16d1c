// SPDX-License-Identifier: MIT
// Every body of a recorded scene cut in 8: how Broadmark reached a million objects without simulating them.
// Bodies of a .posrot file are cut along their own axes; of a .aabbs file the boxes are, since it does not
// tell how the bodies in them are turned.
#pragma once

#include "lab/frame/scene_file.h"

typedef struct splitter_def
{
    const char* input;  ///< .aabbs or .posrot
    const char* output; ///< .aabbs
    bool keep_size;     ///< the world grows to twice its side instead of the pieces being half as large
} splitter_def;

/// Writes the scene, with a progress bar; all of it or nothing. What was written is in *header. A FILE.churn
/// beside the input gets a companion beside the output.
bool splitter_write( const splitter_def* def, scene_header* header, lab_error* why );
