// SPDX-License-Identifier: MIT
// Columns that line up.
#pragma once

#include "lab/text.h"

#include <stdio.h>

typedef struct text_table
{
    text_list cells; ///< row by row, the headings first
    uint32_t column_count;
    uint64_t is_right; ///< bit per column
} text_table;

/// Headings separated by '|'; one that begins with '>' has its column set right. At most 64.
void text_table_begin( text_table* table, const char* headings );

/// The next cell, row by row.
void text_table_add( text_table* table, const char* format, ... ) COMPLAINT_FORMAT( 2, 3 );

/// Prints all rows and frees the table.
void text_table_print( text_table* table, FILE* stream );
