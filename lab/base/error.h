// SPDX-License-Identifier: MIT
// One sentence about what went wrong. Functions that can fail take an error and return false; a command
// prints it, as the one line on stderr, and returns its status.
#pragma once

#include <stdbool.h>

#if defined( __GNUC__ ) || defined( __clang__ )
#define LAB_ERROR_FORMAT( format_position, first_position )                                                  \
    __attribute__( ( format( printf, format_position, first_position ) ) )
#else
#define LAB_ERROR_FORMAT( format_position, first_position )
#endif

/// What the program answers to its caller.
typedef enum lab_status
{
    LAB_DONE = 0,
    LAB_DISAGREES = 1,     ///< a check failed, a run failed, or results differ
    LAB_BAD_INPUT = 2,     ///< bad usage, bad files, no room on the disk
    LAB_UNFINISHED = 3,    ///< the time given was up; the same command goes on
    LAB_INTERRUPTED = 130, ///< Ctrl-C
} lab_status;

typedef struct lab_error
{
    lab_status status;
    char text[1024]; ///< what, where, and what to do; without a newline
} lab_error;

/// Sets the sentence and LAB_BAD_INPUT. Always false, so that a failing function ends in `return
/// lab_error_write( … )`.
bool lab_error_write( lab_error* why, const char* format, ... ) LAB_ERROR_FORMAT( 2, 3 );

/// For a check that failed and has said so: no sentence, and LAB_DISAGREES. Always false.
bool lab_error_disagrees( lab_error* why );

/// For work that was told to stop.
bool lab_error_interrupted( lab_error* why );

/// "cleave: TEXT" as one line on stderr, whatever bytes a file name brought along; nothing without a
/// sentence. Returns the status.
lab_status lab_error_print( const lab_error* why );

/// The same in one step: prints, returns LAB_BAD_INPUT.
lab_status lab_fail( const char* format, ... ) LAB_ERROR_FORMAT( 1, 2 );

/// A line that is no failure: "cleave: note: TEXT" on stderr.
void lab_note( const char* format, ... ) LAB_ERROR_FORMAT( 1, 2 );

/// For small strings whose callers have no way to fail: removes temporary files, prints one
/// line and ends the program.
_Noreturn void lab_out_of_memory( void );
