// SPDX-License-Identifier: MIT
// The files of one checkpoint as the tests see them, and a world that is worth one.
#pragma once

#include "mpi_checkpoint.h"
#include "mpi_mirror.h"

#include <string.h>

extern char g_checkpoint_path[512]; ///< of the checkpoint, in a folder of the caller's

/// All processes come here before one goes on: files are one process's, and looked at by all.
void checkpoint_meet( void );

mpi_way checkpoint_way( void );

/// With something of everything: removed, added again under its id, dressed, moved since the last update.
void checkpoint_make_busy( mpi_mirror* w );

/// Their names, written to `name`.
char* checkpoint_part_name( char name[600], uint32_t generation, int part );
char* checkpoint_manifest_name( char name[600] );

/// All of a file, with room for 64 bytes behind it; free it.
uint8_t* checkpoint_read_file( const char* name, uint64_t* size );
void checkpoint_write_file( const char* name, const uint8_t* bytes, uint64_t size );
bool checkpoint_is_there( const char* name );

/// The manifest, and its first part.
mpi_manifest checkpoint_look_at_manifest( mpi_part* first );

/// A checkpoint is refused, and says whose fault it is; the space stays empty.
void checkpoint_refuse( mpi_mirror* w, const char* name, const char* word );
