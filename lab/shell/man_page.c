// SPDX-License-Identifier: MIT
#include "lab/shell/man_page.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// ---- characters

// The code point of a UTF-8 sequence, and its length; a byte that begins none stands for itself.
static uint32_t read_code( const char* text, size_t* length )
{
    const unsigned char* bytes = (const unsigned char*)text;
    *length = bytes[0] < 0xC0 ? 1 : bytes[0] < 0xE0 ? 2 : bytes[0] < 0xF0 ? 3 : 4;
    uint32_t code = *length == 1 ? bytes[0] : bytes[0] & ( 0xFFu >> ( *length + 1 ) );
    for ( size_t index = 1; index < *length; ++index )
    {
        code = code << 6 | ( bytes[index] & 0x3Fu );
    }
    return code;
}

// roff reads a backslash as an escape, turns plain hyphens into typographic ones, and takes a line
// that begins with a dot or an apostrophe for a request: the caller never begins one with text
// alone. `…` becomes bold.
static void write_text( const char* text, size_t size, FILE* stream )
{
    bool is_code = false;
    for ( size_t at = 0, length = 0; at < size; at += length )
    {
        uint32_t code = read_code( text + at, &length );
        switch ( code )
        {
        case '\\': fputs( "\\e", stream ); break;
        case '-': fputs( "\\-", stream ); break;
        case '\'': fputs( "\\(aq", stream ); break;
        case '^': fputs( "\\(ha", stream ); break;
        case '~': fputs( "\\(ti", stream ); break;
        case '`':
            is_code = !is_code;
            fputs( is_code ? "\\fB" : "\\fR", stream );
            break;
        case 0x2026: fputs( "...", stream ); break;
        default:
            if ( code < 128 )
            {
                fputc( (int)code, stream );
            }
            else
            {
                fprintf( stream, "\\[u%04X]", (unsigned)code );
            }
        }
    }
}

static void write_upper( const char* text, size_t size, FILE* stream )
{
    for ( size_t at = 0; at < size; ++at )
    {
        fputc( toupper( (unsigned char)text[at] ), stream );
    }
}

// ---- texts

typedef enum text_form
{
    FORM_START, ///< nothing stands below the heading yet
    FORM_PROSE,
    FORM_ROWS,    ///< a name and a text each
    FORM_LITERAL, ///< lines as they are
} text_form;

// Of "  name  text" the width of the name; 0 if the line is none of these.
static size_t row_name( const char* line, size_t length )
{
    for ( size_t at = 3; at + 2 < length && strncmp( line, "  ", 2 ) == 0 && line[2] != ' '; ++at )
    {
        if ( line[at] == ' ' && line[at + 1] == ' ' )
        {
            return at - 2;
        }
    }
    return 0;
}

static void write_line( const char* line, size_t length, text_form* form, FILE* stream )
{
    size_t name = row_name( line, length );
    text_form wanted = name > 0 ? FORM_ROWS : strncmp( line, "  ", 2 ) == 0 ? FORM_LITERAL : FORM_PROSE;
    if ( *form == FORM_LITERAL && wanted != FORM_LITERAL )
    {
        fputs( ".fi\n.RE\n", stream );
    }
    if ( *form == FORM_ROWS && wanted == FORM_PROSE )
    {
        fputs( ".PP\n", stream );
    }
    if ( wanted == FORM_LITERAL && *form != FORM_LITERAL )
    {
        fputs( *form == FORM_START ? ".RS 4\n.nf\n" : ".PP\n.RS 4\n.nf\n", stream );
    }
    if ( wanted == FORM_ROWS )
    {
        fputs( ".TP\n\\fB", stream );
        write_text( line + 2, name, stream );
        fputs( "\\fR\n", stream );
        line += 2 + name;
        length -= 2 + name;
        size_t gap = strspn( line, " " );
        line += gap;
        length -= gap;
    }
    else if ( wanted == FORM_LITERAL )
    {
        line += 2;
        length -= 2;
    }
    fputs( "\\&", stream ); // so that a dot at its beginning is one
    write_text( line, length, stream );
    fputc( '\n', stream );
    *form = wanted;
}

// "Title:", with rows below.
static bool is_title_at( const char* line )
{
    size_t length = strcspn( line, "\n" );
    return length > 0 && line[0] != ' ' && line[length - 1] == ':' && line[length] == '\n' &&
        line[length + 1] == ' ';
}

// A text under `heading`, until a title of its own begins another section.
static void write_section( const char* heading, const char* text, FILE* stream )
{
    text_form form = FORM_START;
    bool needs_heading = true;
    for ( const char* line = text; line != NULL && *line != '\0'; )
    {
        size_t length = strcspn( line, "\n" );
        const char* next = line + length + ( line[length] == '\n' ? 1 : 0 );
        bool is_title = is_title_at( line );
        if ( is_title )
        {
            fputs( form == FORM_LITERAL ? ".fi\n.RE\n.SH " : ".SH ", stream );
            write_upper( line, length - 1, stream );
            fputc( '\n', stream );
            form = FORM_START;
        }
        else if ( length > 0 )
        {
            if ( needs_heading )
            {
                fprintf( stream, ".SH %s\n", heading );
            }
            write_line( line, length, &form, stream );
        }
        else if ( form == FORM_PROSE && next[0] != '\0' && !is_title_at( next ) )
        {
            fputs( ".PP\n", stream );
        }
        needs_heading = needs_heading && !is_title && length == 0;
        line = next;
    }
    fputs( form == FORM_LITERAL ? ".fi\n.RE\n" : "", stream );
}

// ---- parts of a page

static void write_flag( const args_flag* flag, FILE* stream )
{
    char* help = args_flag_help( flag );
    fputs( ".TP\n", stream );
    if ( flag->letter != 0 )
    {
        fprintf( stream, "\\fB\\-%c\\fR, ", flag->letter );
    }
    fputs( "\\fB", stream );
    write_text( flag->name, strlen( flag->name ), stream );
    fputs( "\\fR", stream );
    if ( flag->value_name != NULL )
    {
        fputs( " \\fI", stream );
        write_text( flag->value_name, strlen( flag->value_name ), stream );
        fputs( "\\fR", stream );
    }
    fputs( "\n\\&", stream );
    write_text( help, strlen( help ), stream );
    fputc( '\n', stream );
    free( help );
}

static void write_synopsis( const args_table* help, FILE* stream )
{
    char* usage = text_format( "%s%s%s", help->program != NULL ? help->program : "cleave",
        help->command != NULL ? " " : "", help->command != NULL ? help->command : "" );
    fputs( ".SH SYNOPSIS\n\\fB", stream );
    write_text( usage, strlen( usage ), stream );
    fputs( "\\fR ", stream );
    write_text( help->usage, strlen( help->usage ), stream );
    fputc( '\n', stream );
    free( usage );
}

static void write_see( const man_page* page, FILE* stream )
{
    const char* separator = ".SH SEE ALSO\n";
    for ( uint32_t index = 0; index < page->see->count; ++index )
    {
        const char* other = page->see->items[index];
        if ( strcmp( other, page->name ) != 0 )
        {
            fprintf( stream, "%s\\fB", separator );
            write_text( other, strlen( other ), stream );
            fputs( "\\fR(1)", stream );
            separator = ",\n";
        }
    }
    fputc( '\n', stream );
}

void man_page_write( const man_page* page, const char* version, FILE* stream )
{
    const args_table* help = page->help;
    fputs( ".\\\" Made from the help by the program itself.\n.TH \"", stream );
    write_upper( page->name, strlen( page->name ), stream );
    // No date: the same version makes the same page.
    fprintf( stream, "\" 1 \"\" \"cleave %s\" \"Cleave\"\n.SH NAME\n", version );
    write_text( page->name, strlen( page->name ), stream );
    fputs( " \\- ", stream );
    write_text( page->about, strlen( page->about ), stream );
    fputc( '\n', stream );
    write_synopsis( help, stream );
    write_section( "DESCRIPTION", help->about, stream );
    fputs( help->flag_count > 0 ? ".SH OPTIONS\n" : "", stream );
    for ( uint32_t index = 0; index < help->flag_count; ++index )
    {
        write_flag( &help->flags[index], stream );
    }
    write_section( "NOTES", help->notes, stream );
    write_section( "EXAMPLES", help->example, stream );
    write_see( page, stream );
}
