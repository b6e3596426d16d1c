// SPDX-License-Identifier: MIT
// Judges .aabbs bytes by the format's rules alone, and holds what the reader and writer make of them against
// that.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A good file? Written apart from lab/frame/scene_file.c.
bool scene_judge_is_good( const uint8_t* data, size_t size );

/// Writes a good file of that many boxes and frames to `data`; its size.
size_t scene_judge_make( uint8_t* data, uint32_t object_count, uint32_t frame_count );

/// Puts the bytes into the file `path` and reads them: a good one must be read whole and written again byte
/// for byte, a bad one refused with one line that names the file; likewise as a .posrot recording, which is
/// not written again. Stops the program otherwise. Removes the file.
void scene_judge_file( const char* path, const uint8_t* data, size_t size );

/// A path for scratch files that no other process uses, in the folder for such things.
const char* scene_judge_path( void );
