// SPDX-License-Identifier: MIT
// The program as users start it: words in, status, stdout and stderr out.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct program_answer
{
    int status; ///< of exit; 128 + the signal's number if one ended it
    char out[1 << 16];
    char errors[1 << 16];
} program_answer;

/// Runs TEST_PROGRAM with the words of `line`, as a shell would split them, and waits.
program_answer* program_run( const char* line );

/// The same on a terminal of so many columns: what appears there, both streams, is `out`.
program_answer* program_run_on_terminal( const char* line, int columns );

/// Starts it in the background, its output to nowhere, its errors to a file; the process's number.
int program_start( const char* line );
const char* program_error_file( void );

/// Sends a signal, waits, and answers as program_answer.status.
int program_end( int process, int signal_number );

/// Did stdout, or stderr, say that?
bool program_said( const program_answer* answer, const char* text );
