// SPDX-License-Identifier: MIT
#include "lab/base/text_table.h"

#include "lab/base/platform.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MOST 64

// Columns in which a folded text still reads well, and below which folding is no help.
#define FOLDED_ENOUGH 24
#define FOLDED_LEAST 16

// As the locale can show it.
static void add_cell( text_table* table, const char* text, terminal_style style )
{
    uint32_t count = table->cells.count;
    char* shown = terminal_text( text );
    text_list_add( &table->cells, shown );
    free( shown );
    *lab_list_next( table->styles, count ) = style;
}

void text_table_style( text_table* table, terminal_style style )
{
    table->styles[table->cells.count - 1] = style;
}

void text_table_style_row( text_table* table, terminal_style style )
{
    for ( uint32_t index = table->cells.count - table->column_count; index < table->cells.count; ++index )
    {
        table->styles[index] = style;
    }
}

void text_table_free( text_table* table )
{
    text_list_free( &table->cells );
    free( table->styles );
    table->styles = NULL;
}

void text_table_begin( text_table* table, const char* headings )
{
    *table = ( text_table ){ 0 };
    for ( const char* start = headings; start != NULL && table->column_count < COLUMNS_MOST; )
    {
        const char* end = strchr( start, '|' );
        bool is_right = *start == '>';
        char* heading = text_copy( start + ( is_right ? 1 : 0 ) );
        heading[strcspn( heading, "|" )] = '\0';
        add_cell( table, heading, TERMINAL_HEADING );
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
    add_cell( table, cell, TERMINAL_PLAIN );
}

void text_table_leave_out( text_table* table, const char* headings )
{
    table->least = headings;
}

// ---- what there is room for

// How a table is laid out on a screen.
typedef struct table_layout
{
    size_t widths[COLUMNS_MOST];
    uint64_t is_gone; ///< bit per column
    uint32_t last;    ///< column shown
    size_t room;      ///< 0: any
} table_layout;

static bool is_shown( const table_layout* layout, uint32_t column )
{
    return ( layout->is_gone >> column & 1 ) == 0;
}

static void measure( const text_table* table, table_layout* layout )
{
    for ( uint32_t index = 0; index < table->cells.count; ++index )
    {
        size_t width = text_width( table->cells.items[index] );
        size_t* widest = &layout->widths[index % table->column_count];
        *widest = width > *widest ? width : *widest;
    }
}

// Columns before `end`, with what stands between them.
static size_t width_before( const table_layout* layout, uint32_t end )
{
    size_t width = 0;
    for ( uint32_t column = 0; column < end; ++column )
    {
        width += is_shown( layout, column ) ? layout->widths[column] + 2 : 0;
    }
    return width;
}

static void leave_out( const text_table* table, table_layout* layout, const char* heading, size_t length )
{
    for ( uint32_t column = 0; column < table->column_count; ++column )
    {
        const char* name = table->cells.items[column];
        if ( strlen( name ) == length && strncmp( name, heading, length ) == 0 )
        {
            layout->is_gone |= UINT64_C( 1 ) << column;
        }
    }
}

// A text that can be folded needs less than it would take.
static size_t width_needed( const text_table* table, const table_layout* layout )
{
    uint32_t last = table->column_count - 1;
    bool is_folded = ( table->is_right >> last & 1 ) == 0 && layout->widths[last] > FOLDED_ENOUGH;
    return width_before( layout, last ) + ( is_folded ? FOLDED_ENOUGH : layout->widths[last] );
}

static void fit( const text_table* table, table_layout* layout )
{
    const char* next = table->least;
    while ( next != NULL && layout->room > 0 && width_needed( table, layout ) > layout->room )
    {
        size_t length = strcspn( next, "|" );
        leave_out( table, layout, next, length );
        next = next[length] == '|' ? next + length + 1 : NULL;
    }
    for ( uint32_t column = 0; column < table->column_count; ++column )
    {
        layout->last = is_shown( layout, column ) ? column : layout->last;
    }
}

// ---- printing

// The last column, in as many lines as it takes.
static void print_folded( const table_layout* layout, const char* text, terminal_style style, FILE* stream )
{
    size_t indent = width_before( layout, layout->last );
    size_t room = layout->room > indent + FOLDED_LEAST ? layout->room - indent : SIZE_MAX;
    for ( size_t bytes = text_fold( text, room ); true; bytes = text_fold( text, room ) )
    {
        terminal_print( style, stream, "%.*s", (int)bytes, text );
        fputc( '\n', stream );
        text += bytes;
        text += *text == ' ' ? 1 : 0;
        if ( *text == '\0' )
        {
            return;
        }
        fprintf( stream, "%*s", (int)indent, "" );
    }
}

static void print_cell( const text_table* table, const table_layout* layout, uint32_t index, FILE* stream )
{
    uint32_t column = index % table->column_count;
    const char* text = table->cells.items[index];
    bool is_last = column == layout->last;
    bool is_right = ( table->is_right >> column & 1 ) != 0;
    int padding = (int)( layout->widths[column] - text_width( text ) );
    if ( is_last && !is_right )
    {
        print_folded( layout, text, table->styles[index], stream );
        return;
    }
    fprintf( stream, "%*s", is_right ? padding : 0, "" );
    terminal_print( table->styles[index], stream, "%s", text );
    fprintf( stream, "%*s%s", is_right || is_last ? 0 : padding, "", is_last ? "\n" : "  " );
}

static void name_left_out( const text_table* table, const table_layout* layout, FILE* stream )
{
    const char* before = "left out for want of room: ";
    for ( uint32_t column = 0; column < table->column_count; ++column )
    {
        if ( !is_shown( layout, column ) )
        {
            fprintf( stream, "%s%s", before, table->cells.items[column] );
            before = ", ";
        }
    }
    if ( layout->is_gone != 0 )
    {
        fputs( " (a wider window shows all, and so does | cat)\n", stream );
    }
}

void text_table_print_within( text_table* table, FILE* stream, size_t room )
{
    table_layout layout = { .room = room };
    measure( table, &layout );
    fit( table, &layout );
    for ( uint32_t index = 0; index < table->cells.count; ++index )
    {
        if ( is_shown( &layout, index % table->column_count ) )
        {
            print_cell( table, &layout, index, stream );
        }
    }
    name_left_out( table, &layout, stream );
    text_table_free( table );
}

void text_table_print( text_table* table, FILE* stream )
{
    text_table_print_within( table, stream, platform_stream_columns( stream ) );
}
