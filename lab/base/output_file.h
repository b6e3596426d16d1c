// SPDX-License-Identifier: MIT
// A file that appears whole or not at all: written beside its target under another name, renamed when
// complete, removed on any failure and on Ctrl-C. Pipes and devices are written in place. Also one without a
// name, that only the program that wrote it reads.
#pragma once

#include "lab/base/error.h"

#include <stdint.h>
#include <stdio.h>

typedef struct output_file
{
    FILE* stream;
    char* path;      ///< the target; of a private one the folder
    char* temporary; ///< NULL when written in place
    bool is_private;
    uint64_t bytes; ///< written so far
} output_file;

/// False if the target is a folder, may not be written, or its folder does not exist.
bool output_file_open( output_file* file, const char* path, lab_error* why );

/// A file without a name in $TMPDIR, or /tmp, that other users cannot read. Committed, it stays open:
/// `stream` is at its beginning, to be read, until it is abandoned.
bool output_file_open_private( output_file* file, lab_error* why );

/// False with the system's reason, such as a full disk; the file is then abandoned.
bool output_file_write( output_file* file, const void* data, size_t size, lab_error* why );

/// Flush, close, rename: after true the target is there. After false the file is abandoned.
bool output_file_commit( output_file* file, lab_error* why );

/// A whole file in one step.
bool output_file_put( const char* path, const void* data, size_t size, lab_error* why );

/// printf into it.
bool output_file_format( output_file* file, lab_error* why, const char* format, ... )
    LAB_ERROR_FORMAT( 3, 4 );

/// What `write` prints to a stream: a whole file, or standard output where `path` is NULL.
bool output_file_print(
    const char* path, void ( *write )( FILE* stream, const void* user ), const void* user, lab_error* why );

/// Closes and removes what was written; the target stays as it was. Legal after a failure, a commit, and on
/// zeroes.
void output_file_abandon( output_file* file );

/// Why the last call of the system failed, by errno.
const char* system_reason( void );

// ---- Files of one kind given where another is wanted: a recipe to bench, a table to report. Their endings
// tell, and then the error says what takes them instead of calling them damaged.

/// True unless `path` ends as a file of another kind than `wanted` (".aabbs", ".json", …), and is there.
bool file_kind_check( const char* path, const char* wanted, lab_error* why );
