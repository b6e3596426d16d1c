// SPDX-License-Identifier: MIT
// One sentence about what went wrong. Functions that can fail take a complaint and answer false; a command
// prints it, as the one line on stderr, and returns its status.
#pragma once

#include <stdbool.h>

#if defined( __GNUC__ ) || defined( __clang__ )
#define COMPLAINT_FORMAT( format_position, first_position )                                                  \
    __attribute__( ( format( printf, format_position, first_position ) ) )
#else
#define COMPLAINT_FORMAT( format_position, first_position )
#endif

/// What the program answers to its caller.
typedef enum lab_status
{
    LAB_DONE = 0,
    LAB_DISAGREES = 1,     ///< a check failed, a run failed, or results differ
    LAB_BAD_INPUT = 2,     ///< bad usage, bad files, no room on the disk
    LAB_INTERRUPTED = 130, ///< Ctrl-C
} lab_status;

typedef struct complaint
{
    lab_status status;
    char text[1024]; ///< what, where, and what to do; without a newline
} complaint;

/// Sets the sentence and LAB_BAD_INPUT. Always false, so that a failing function ends in `return
/// complaint_write( … )`.
bool complaint_write( complaint* why, const char* format, ... ) COMPLAINT_FORMAT( 2, 3 );

/// For work that was told to stop.
bool complaint_interrupted( complaint* why );

/// "cleave: TEXT" as one line on stderr, whatever bytes a file name brought along. Returns the status.
lab_status complaint_print( const complaint* why );

/// The same in one step: prints, returns LAB_BAD_INPUT.
lab_status complain( const char* format, ... ) COMPLAINT_FORMAT( 1, 2 );

/// A line that is no failure: "cleave: note: TEXT" on stderr.
void complaint_note( const char* format, ... ) COMPLAINT_FORMAT( 1, 2 );

/// For the few small strings nobody can do without: cleans up temporary files, says so and ends the program.
_Noreturn void complaint_out_of_memory( void );
