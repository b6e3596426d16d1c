// SPDX-License-Identifier: MIT
// Ctrl-C and its relatives must leave no half-written file behind.
#pragma once

#include <stdbool.h>

/// From now on SIGINT, SIGTERM, SIGHUP and SIGPIPE remove the files guarded below and end the program with
/// 128 + the signal's number: 130 for Ctrl-C. A command's stop action runs first, but for SIGPIPE. Where a
/// file in use cannot be removed (Windows), Ctrl-C only raises the flag.
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

/// A line to leave on stderr if the program is interrupted, such as how to go on; NULL:
/// none. It stays where it is.
void interrupt_set_note( const char* note );

// ---- What a long command still does when it is told to stop: write down what is finished. It runs at
// once, on a thread of its own, while the work goes on: a signal handler may not open files, and the work
// may not return for minutes.

typedef void stop_action( void* user );

/// From now on the first SIGINT, SIGTERM or SIGHUP runs `action`, removes guarded files and ends the
/// program with status 1; a second one ends it as if there were no action. Where no thread can be
/// had, the first one does too.
void stop_action_begin( stop_action* action, void* user );

/// Between these two the action does not start: for changing the data that it reads. Hold does not return
/// once the action runs. Not nested.
void stop_action_hold( void );
void stop_action_resume( void );

/// No action any more, because its work is done; resumes if it was held.
void stop_action_end( void );
