// SPDX-License-Identifier: MIT
// What a terminal can show: colours, and characters beyond ASCII. Files and pipes get plain text.
#pragma once

#include "lab/base/choice.h"

#include <stdio.h>

typedef enum terminal_style
{
    TERMINAL_PLAIN,
    TERMINAL_HEADING,
    TERMINAL_GOOD, ///< the fastest; agreement
    TERMINAL_BAD,  ///< errors; what is slower, fails or disagrees
    TERMINAL_NOTE,
} terminal_style;

/// Colours when: "auto", "always", "never". With auto on a terminal alone, unless TERM is missing or "dumb" or NO_COLOR is set
/// and not empty.
extern const choice terminal_wishes[];
void terminal_set_wish( int wish ); ///< a value of these; auto at first

/// What begins and ends a style on that stream; "" where it has no colours.
const char* terminal_begin( terminal_style style, FILE* stream );
const char* terminal_end( terminal_style style, FILE* stream );

/// Prints in a style.
void terminal_print( terminal_style style, FILE* stream, const char* format, ... ) LAB_ERROR_FORMAT( 3, 4 );

/// Takes "--ansi WHEN" and "--ansi=WHEN" off the front of the words behind the program's name.
bool terminal_load_words( int* argc, char*** argv, lab_error* why );

/// Does the locale have UTF-8? Of LC_ALL, LC_CTYPE and LANG the first that is not empty says.
bool terminal_is_utf8( void );

/// The text as the locale can show it, to free: without UTF-8 the signs that we use are written in ASCII (+-, x, -, ...).
char* terminal_text( const char* text );
