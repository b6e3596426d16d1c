// SPDX-License-Identifier: MIT
#include "lab/base/terminal.h"

#include "base/timer.h"
#include "lab/base/platform.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- colours

enum
{
    WISH_AUTO,
    WISH_ALWAYS,
    WISH_NEVER,
};

const choice terminal_wishes[] = { { "auto", WISH_AUTO }, { "always", WISH_ALWAYS }, { "never", WISH_NEVER },
    { NULL, 0 } };

static int s_wish = WISH_AUTO;

static bool is_set( const char* name )
{
    const char* value = getenv( name );
    return value != NULL && value[0] != '\0';
}

static bool has_colours( FILE* stream )
{
    return s_wish == WISH_ALWAYS ||
        ( s_wish == WISH_AUTO && !is_set( "NO_COLOR" ) && platform_has_colours( stream ) );
}

// What begins and ends a style on that stream; "" where it has no colours.
static const char* terminal_begin( terminal_style style, FILE* stream )
{
    static const char* const codes[] = { "", "\033[1m", "\033[32m", "\033[1;31m", "\033[33m" };
    return has_colours( stream ) ? codes[style] : "";
}

static const char* terminal_end( terminal_style style, FILE* stream )
{
    return style != TERMINAL_PLAIN && has_colours( stream ) ? "\033[0m" : "";
}

void terminal_print( terminal_style style, FILE* stream, const char* format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    fputs( terminal_begin( style, stream ), stream );
    vfprintf( stream, format, arguments );
    fputs( terminal_end( style, stream ), stream );
    va_end( arguments );
}

bool terminal_load_words( int* argc, char*** argv, lab_error* why )
{
    for ( const char* wish = text_take_flag( argc, argv, "--ansi" ); wish != NULL;
          wish = text_take_flag( argc, argv, "--ansi" ) )
    {
        if ( !choice_find( terminal_wishes, wish, &s_wish ) )
        {
            return lab_error_write(
                why, "--ansi: there is no '%.100s'; %s", wish, choice_advice( terminal_wishes, wish ).text );
        }
    }
    return true;
}

// ---- characters

static bool names_utf8( const char* locale )
{
    for ( const char* c = locale; *c != '\0'; ++c )
    {
        bool is_utf = ( c[0] == 'U' || c[0] == 'u' ) && ( c[1] == 'T' || c[1] == 't' ) &&
            ( c[2] == 'F' || c[2] == 'f' );
        if ( is_utf && ( c[3] == '8' || ( c[3] == '-' && c[4] == '8' ) ) )
        {
            return true;
        }
    }
    return false;
}

// Does the locale have UTF-8? Of LC_ALL, LC_CTYPE and LANG the first that is not empty says.
static bool terminal_is_utf8( void )
{
    static const char* const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for ( size_t index = 0; index < sizeof( names ) / sizeof( names[0] ); ++index )
    {
        const char* locale = getenv( names[index] );
        if ( locale != NULL && locale[0] != '\0' )
        {
            return names_utf8( locale );
        }
    }
    return platform_has_utf8();
}

char* terminal_text( const char* text )
{
    static const char* const signs[][2] = { { "\xC2\xB1", "+-" }, { "\xC3\x97", "x" }, // ± ×
        { "\xE2\x80\x93", "-" }, { "\xE2\x80\xA6", "..." },                            // – …
        { "\xE2\x9C\x93", "ok" }, { "\xE2\x9C\x97", "NO" } };                          // ✓ ✗
    const size_t longest = 3;
    if ( terminal_is_utf8() )
    {
        return text_copy( text );
    }
    char* plain = lab_take( longest * strlen( text ) + 1, 1 );
    char* to = plain;
    while ( *text != '\0' )
    {
        const char* sign = NULL;
        for ( size_t index = 0; sign == NULL && index < sizeof( signs ) / sizeof( signs[0] ); ++index )
        {
            if ( text_starts_with( text, signs[index][0] ) )
            {
                sign = signs[index][1];
                text += strlen( signs[index][0] );
            }
        }
        if ( sign == NULL )
        {
            *to++ = *text++;
            continue;
        }
        memcpy( to, sign, strlen( sign ) );
        to += strlen( sign );
    }
    *to = '\0';
    return plain;
}

// ---- text table

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

void text_table_add_cells( text_table* table, const char* format, ... )
{
    char row[2048];
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( row, sizeof( row ), format, arguments );
    va_end( arguments );
    for ( char* cell = row; cell != NULL; )
    {
        char* tab = strchr( cell, '\t' );
        if ( tab != NULL )
        {
            *tab++ = '\0';
        }
        add_cell( table, cell, TERMINAL_PLAIN );
        cell = tab;
    }
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

// ---- progress

#define SECOND_NS UINT64_C( 1000000000 )
#define FIRST_NS ( SECOND_NS / 2 )
#define TERMINAL_STEP_NS ( SECOND_NS / 10 )
#define LINE_STEP_NS ( 5 * SECOND_NS )

static bool is_quiet = false;
static atomic_bool is_over = false;
static atomic_bool is_line_dirty = false;

void progress_set_quiet( bool quiet )
{
    is_quiet = quiet;
}

void progress_clear_line( void )
{
    if ( is_line_dirty )
    {
        fputs( "\r\033[K", stderr );
        is_line_dirty = false;
    }
}

void progress_end_all( void )
{
    is_over = true;
    progress_clear_line();
}

bool progress_is_over( void )
{
    return is_over;
}

void progress_begin( progress_bar* bar, const char* label, const char* unit, uint64_t total )
{
    snprintf( bar->label, sizeof( bar->label ), "%s", label );
    bar->unit = unit;
    bar->total = total;
    bar->begin_ns = clv_base_clock_ns();
    bar->is_terminal = platform_is_terminal( stderr );
    bar->shown_ns = bar->begin_ns;
}

void progress_format_time( double seconds, char* buffer, size_t size )
{
    if ( seconds < 100 )
    {
        snprintf( buffer, size, "%.0f s", seconds );
    }
    else if ( seconds < 6000 )
    {
        snprintf( buffer, size, "%.0f min", seconds / 60 );
    }
    else
    {
        snprintf( buffer, size, "%.1f h", seconds / 3600 );
    }
}

static void format_state( const progress_bar* bar, uint64_t done, uint64_t now, char* buffer, size_t size )
{
    double elapsed = (double)( now - bar->begin_ns ) / 1e9;
    double rate = elapsed > 0 ? (double)done / elapsed : 0;
    char left[32] = "?";
    if ( rate > 0 )
    {
        progress_format_time( (double)( bar->total - done ) / rate, left, sizeof( left ) );
    }
    snprintf( buffer, size, "%" PRIu64 "/%" PRIu64 " %s, %.3g/s, %s left", done, bar->total, bar->unit, rate,
        left );
}

static void draw_bar( const progress_bar* bar, uint64_t done, const char* state )
{
    enum
    {
        BAR_MOST = 30
    };
    size_t columns = platform_columns();
    size_t taken = strlen( bar->label ) + strlen( state ) + 5;
    size_t width = columns > taken + 5 ? columns - taken : 0;
    width = width < BAR_MOST ? width : BAR_MOST;
    char cells[BAR_MOST + 1];
    size_t filled = bar->total > 0 ? (size_t)( (double)width * (double)done / (double)bar->total ) : width;
    for ( size_t index = 0; index < width; ++index )
    {
        cells[index] = index < filled ? '#' : '.';
    }
    cells[width] = '\0';
    char line[256];
    snprintf( line, sizeof( line ), "%s [%s] %s", bar->label, cells, state );
    // A line that wraps could not be taken back.
    if ( columns > 1 && columns - 1 < sizeof( line ) )
    {
        line[columns - 1] = '\0';
    }
    fprintf( stderr, "\r\033[K%s", line );
    fflush( stderr );
    is_line_dirty = true;
}

void progress_show( progress_bar* bar, uint64_t done )
{
    uint64_t now = clv_base_clock_ns();
    uint64_t step = bar->is_terminal ? TERMINAL_STEP_NS : LINE_STEP_NS;
    if ( is_quiet || is_over || now - bar->begin_ns < FIRST_NS || now - bar->shown_ns < step )
    {
        return;
    }
    bar->shown_ns = now;
    done = done < bar->total ? done : bar->total;
    char state[128];
    format_state( bar, done, now, state, sizeof( state ) );
    if ( bar->is_terminal )
    {
        draw_bar( bar, done, state );
    }
    else
    {
        fprintf( stderr, "%s: %s\n", bar->label, state );
    }
}

void progress_end( progress_bar* bar )
{
    (void)bar;
    progress_clear_line();
}
