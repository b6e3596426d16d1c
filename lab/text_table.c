// SPDX-License-Identifier: MIT
#include "lab/text_table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MOST 64

void text_table_begin( text_table* table, const char* headings )
{
    *table = ( text_table ){ 0 };
    for ( const char* start = headings; start != NULL && table->column_count < COLUMNS_MOST; )
    {
        const char* end = strchr( start, '|' );
        bool is_right = *start == '>';
        char* heading = text_copy( start + ( is_right ? 1 : 0 ) );
        heading[strcspn( heading, "|" )] = '\0';
        text_list_add( &table->cells, heading );
        free( heading );
        table->is_right |= is_right ? UINT64_C( 1 ) << table->column_count : 0;
        table->column_count += 1;
        start = end != NULL ? end + 1 : NULL;
    }
}

void text_table_add( text_table* table, const char* format, ... )
{
    char cell[512];
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( cell, sizeof( cell ), format, arguments );
    va_end( arguments );
    text_list_add( &table->cells, cell );
}

void text_table_print( text_table* table, FILE* stream )
{
    size_t widths[COLUMNS_MOST] = { 0 };
    for ( uint32_t index = 0; index < table->cells.count; ++index )
    {
        size_t width = text_width( table->cells.items[index] );
        size_t* widest = &widths[index % table->column_count];
        *widest = width > *widest ? width : *widest;
    }
    for ( uint32_t index = 0; index < table->cells.count; ++index )
    {
        uint32_t column = index % table->column_count;
        bool is_last = column + 1 == table->column_count;
        int padding = (int)( widths[column] - text_width( table->cells.items[index] ) );
        bool is_right = ( table->is_right >> column & 1 ) != 0;
        fprintf( stream, "%*s%s", is_right ? padding : 0, "", table->cells.items[index] );
        fprintf( stream, "%*s%s", is_right || is_last ? 0 : padding, "", is_last ? "\n" : "  " );
    }
    text_list_free( &table->cells );
}
