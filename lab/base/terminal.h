// SPDX-License-Identifier: MIT
// What a terminal can show: colours, and characters beyond ASCII. Files and pipes get plain text.
#pragma once

#include "lab/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum terminal_style
{
    TERMINAL_PLAIN,
    TERMINAL_HEADING,
    TERMINAL_GOOD, ///< the fastest; agreement
    TERMINAL_BAD,  ///< errors; what is slower, fails or disagrees
    TERMINAL_NOTE,
} terminal_style;

/// Colours when: "auto", "always", "never". With auto on a terminal alone, unless TERM is missing or "dumb"
/// or NO_COLOR is set and not empty.
extern const choice terminal_wishes[];

/// Prints in a style.
void terminal_print( terminal_style style, FILE* stream, const char* format, ... ) LAB_ERROR_FORMAT( 3, 4 );

/// Takes "--ansi WHEN" and "--ansi=WHEN" off the front of the words behind the program's name.
bool terminal_load_words( int* argc, char*** argv, lab_error* why );

/// The text as the locale can show it, to free: without UTF-8 the signs that we use are written
/// in ASCII (+-, x, -, ...).
char* terminal_text( const char* text );

// ---- Columns that line up. On a terminal that is too narrow for all of them those that matter least are
// left out and named, and a text in the last column is folded; files and pipes get everything.

typedef struct text_table
{
    text_list cells;        ///< row by row, the headings first
    terminal_style* styles; ///< of the cells
    uint32_t column_count;
    uint64_t is_right; ///< bit per column
    const char* least; ///< headings to leave out, the first one first
} text_table;

/// Headings separated by '|'; one that begins with '>' has its column set right. At most 64.
void text_table_begin( text_table* table, const char* headings );

/// Headings separated by '|', in the order in which they may go where there is no room.
/// They stay where they are.
void text_table_leave_out( text_table* table, const char* headings );

/// The next cell, row by row.
void text_table_add( text_table* table, const char* format, ... ) LAB_ERROR_FORMAT( 2, 3 );

/// Several cells, with tabs between them; for values that have none.
void text_table_add_cells( text_table* table, const char* format, ... ) LAB_ERROR_FORMAT( 2, 3 );

/// A colour for the last cell added, or for the row that it ends.
void text_table_style( text_table* table, terminal_style style );
void text_table_style_row( text_table* table, terminal_style style );

/// What was added is dropped; legal after printing too.
void text_table_free( text_table* table );

/// Prints all rows and frees the table.
void text_table_print( text_table* table, FILE* stream );

/// The same within so many columns; 0: any number.
void text_table_print_within( text_table* table, FILE* stream, size_t room );

// ---- How far long work has come, on stderr: a bar with rate and time left on a terminal, a plain line now
// and then otherwise. Work that ends within half a second shows nothing.

typedef struct progress_bar
{
    char label[64];
    const char* unit; ///< "frames"; alive as long as the bar
    uint64_t total;
    uint64_t begin_ns;
    uint64_t shown_ns; ///< when a line was last written
    bool is_terminal;
} progress_bar;

void progress_begin( progress_bar* bar, const char* label, const char* unit, uint64_t total );

/// `done` of the total so far. Cheap enough to call a thousand times a second.
void progress_show( progress_bar* bar, uint64_t done );

/// Takes the bar away.
void progress_end( progress_bar* bar );

/// True: nothing is shown from now on.
void progress_set_quiet( bool quiet );

/// Takes the bar away and shows nothing ever after, whatever the work that goes on says; from any thread.
void progress_end_all( void );
bool progress_is_over( void );

/// Takes a bar off the terminal's line, so that another message can stand there.
void progress_clear_line( void );

/// "12 s", "3 min", "1.5 h".
void progress_format_time( double seconds, char* buffer, size_t size );
