// SPDX-License-Identifier: MIT
// Ctrl-C and its relatives must leave no half-written file behind.
#pragma once

#include <stdbool.h>

/// From now on SIGINT, SIGTERM, SIGHUP and SIGPIPE remove the files guarded below and end the program with
/// 128 + the signal's number: 130 for Ctrl-C. A command's stop action runs first, but for SIGPIPE. Where a file in use cannot
/// be removed (Windows), Ctrl-C only raises the flag.
void interrupt_install( void );

/// Has Ctrl-C been pressed? Code that writes files checks between two pieces of work.
bool interrupt_raised( void );

/// A temporary file to remove if the program is interrupted: guard before creating it, release once it is
/// renamed or removed. `path` stays where it is until then. False if the table is full.
bool interrupt_guard( const char* path );
void interrupt_release( const char* path );

/// Remove every guarded file now.
void interrupt_remove_files( void );

/// A process to end along with the program; 0: none any more.
void interrupt_guard_process( long process );

/// End that process now.
void interrupt_end_process( void );

/// A line to leave on stderr if the program is interrupted, such as how to go on; NULL: none. It stays where it is.
void interrupt_set_note( const char* note );
