// SPDX-License-Identifier: MIT
// Columns that line up. On a terminal that is too narrow for all of them those that matter least are left out and named, and a
// text in the last column is folded; files and pipes get everything.
#pragma once

#include "lab/base/terminal.h"
#include "lab/base/text.h"

#include <stdio.h>

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

/// Headings separated by '|', in the order in which they may go where there is no room. They stay where they are.
void text_table_leave_out( text_table* table, const char* headings );

/// The next cell, row by row.
void text_table_add( text_table* table, const char* format, ... ) LAB_ERROR_FORMAT( 2, 3 );

/// A colour for the last cell added, or for the row that it ends.
void text_table_style( text_table* table, terminal_style style );
void text_table_style_row( text_table* table, terminal_style style );

/// What was added is dropped; legal after printing too.
void text_table_free( text_table* table );

/// Prints all rows and frees the table.
void text_table_print( text_table* table, FILE* stream );

/// The same within so many columns; 0: any number.
void text_table_print_within( text_table* table, FILE* stream, size_t room );
