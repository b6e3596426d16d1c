// SPDX-License-Identifier: MIT
#include "lab/base/text.h"

#include "lab/base/platform.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- lab list

void* lab_take( uint64_t count, size_t item_size )
{
    uint64_t wanted = count > 0 ? count : 1;
    void* items = wanted <= SIZE_MAX / item_size ? calloc( (size_t)wanted, item_size ) : NULL;
    if ( items == NULL )
    {
        lab_out_of_memory();
    }
    return items;
}

void* lab_grow( void* items, uint64_t count, size_t item_size )
{
    void* grown = count <= SIZE_MAX / item_size ? realloc( items, (size_t)count * item_size ) : NULL;
    if ( grown == NULL )
    {
        lab_out_of_memory();
    }
    return grown;
}

// ---- text

char* text_format_list( const char* format, va_list arguments )
{
    va_list again;
    va_copy( again, arguments );
    int length = vsnprintf( NULL, 0, format, arguments );
    size_t size = length < 0 ? 1 : (size_t)length + 1;
    char* text = lab_take( size, 1 );
    vsnprintf( text, size, format, again );
    va_end( again );
    return text;
}

char* text_format( const char* format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    char* text = text_format_list( format, arguments );
    va_end( arguments );
    return text;
}

char* text_copy( const char* text )
{
    return text_format( "%s", text );
}

bool text_starts_with( const char* text, const char* start )
{
    return strncmp( text, start, strlen( start ) ) == 0;
}

bool text_is_same( const char* a, const char* b )
{
    return strcmp( a != NULL ? a : "", b != NULL ? b : "" ) == 0;
}

const char* text_base_name( const char* path )
{
    const char* name = path;
    for ( const char* c = path; *c != '\0'; ++c )
    {
        name = ( *c == '/' || *c == '\\' ) && c[1] != '\0' ? c + 1 : name;
    }
    return name;
}

bool text_ends_with( const char* text, const char* end )
{
    size_t length = strlen( text );
    size_t end_length = strlen( end );
    return length >= end_length && strcmp( text + length - end_length, end ) == 0;
}

void text_list_add( text_list* list, const char* text )
{
    *lab_list_next( list->items, list->count ) = text_copy( text );
}

bool text_list_has( const text_list* list, const char* text )
{
    bool found = false;
    for ( uint32_t index = 0; !found && index < list->count; ++index )
    {
        found = strcmp( list->items[index], text ) == 0;
    }
    return found;
}

void text_list_add_all( text_list* list, const text_list* from )
{
    for ( uint32_t index = 0; index < from->count; ++index )
    {
        text_list_add( list, from->items[index] );
    }
}

bool text_list_add_split( text_list* list, const char* text )
{
    uint32_t count_before = list->count;
    const char* start = text;
    while ( true )
    {
        const char* comma = strchr( start, ',' );
        size_t length = comma != NULL ? (size_t)( comma - start ) : strlen( start );
        if ( length == 0 )
        {
            while ( list->count > count_before )
            {
                free( list->items[--list->count] );
            }
            return false;
        }
        char* item = text_copy( start );
        item[length] = '\0';
        text_list_add( list, item );
        free( item );
        if ( comma == NULL )
        {
            return true;
        }
        start = comma + 1;
    }
}

void text_list_free( text_list* list )
{
    for ( uint32_t index = 0; index < list->count; ++index )
    {
        free( list->items[index] );
    }
    free( list->items );
    list->items = NULL;
    list->count = 0;
}

// Levenshtein's distance, one row at a time. Names longer than the row are like nothing.
#define EDIT_ROOM 64

static size_t edit_distance( const char* a, const char* b )
{
    size_t length_a = strlen( a );
    size_t length_b = strlen( b );
    if ( length_a >= EDIT_ROOM || length_b >= EDIT_ROOM )
    {
        return EDIT_ROOM;
    }
    size_t row[EDIT_ROOM];
    for ( size_t j = 0; j <= length_b; ++j )
    {
        row[j] = j;
    }
    for ( size_t i = 1; i <= length_a; ++i )
    {
        size_t diagonal = row[0];
        row[0] = i;
        for ( size_t j = 1; j <= length_b; ++j )
        {
            size_t replace = diagonal + ( a[i - 1] == b[j - 1] ? 0 : 1 );
            size_t insert = row[j - 1] + 1;
            size_t remove = row[j] + 1;
            diagonal = row[j];
            row[j] = replace < insert ? replace : insert;
            row[j] = row[j] < remove ? row[j] : remove;
        }
    }
    return row[length_b];
}

// Also of the name's beginning, so that a slip in a word cut short is recognised.
static size_t likeness( const char* text, const char* name )
{
    size_t whole = edit_distance( text, name );
    char start[EDIT_ROOM];
    snprintf(
        start, sizeof( start ), "%.*s", (int)( strlen( text ) < EDIT_ROOM ? strlen( text ) : 0 ), name );
    size_t beginning = edit_distance( text, start ) + 1;
    return strlen( text ) >= 4 && beginning < whole ? beginning : whole;
}

text_guess text_guess_begin( const char* text )
{
    return ( text_guess ){ .text = text, .least = strlen( text ) / 3 + 2 };
}

void text_guess_try( text_guess* guess, const char* name )
{
    size_t distance = likeness( guess->text, name );
    if ( distance < guess->least && distance < strlen( name ) )
    {
        guess->least = distance;
        guess->closest = name;
    }
}

const char* text_guess_say( text_guess* guess )
{
    guess->said[0] = '\0';
    if ( guess->closest != NULL )
    {
        snprintf( guess->said, sizeof( guess->said ), "did you mean %s? ", guess->closest );
    }
    return guess->said;
}

text_long text_advice( const char* name, text_list known, const char* verb, const char* last )
{
    text_long advice;
    text_guess guess = text_guess_begin( name );
    for ( uint32_t index = 0; index < known.count; ++index )
    {
        text_guess_try( &guess, known.items[index] );
    }
    snprintf( advice.text, sizeof( advice.text ), "%s%s ", text_guess_say( &guess ), verb );
    for ( uint32_t index = 0; index < known.count; ++index )
    {
        size_t length = strlen( advice.text );
        const char* separator = index == 0 ? "" : index + 1 == known.count ? last : ", ";
        snprintf(
            advice.text + length, sizeof( advice.text ) - length, "%s%s", separator, known.items[index] );
    }
    text_list_free( &known );
    return advice;
}

text_list text_list_of( text_name_at* name_at )
{
    text_list names = { 0 };
    for ( uint32_t index = 0; name_at( index ) != NULL; ++index )
    {
        text_list_add( &names, name_at( index ) );
    }
    return names;
}

bool text_parse_size( const char* text, uint64_t* size )
{
    const char* c = text;
    uint64_t value = 0;
    uint32_t digits = 0;
    uint32_t fraction_digits = 0;
    bool in_fraction = false;
    for ( ; ( *c >= '0' && *c <= '9' ) || ( *c == '.' && !in_fraction && digits > 0 ); ++c )
    {
        if ( *c == '.' )
        {
            in_fraction = true;
            continue;
        }
        uint64_t digit = (uint64_t)( *c - '0' );
        if ( value > ( UINT64_MAX - digit ) / 10 )
        {
            return false;
        }
        value = value * 10 + digit;
        digits += 1;
        fraction_digits += in_fraction ? 1 : 0;
    }
    uint32_t zeros = *c == 'k' || *c == 'K' ? 3 : *c == 'm' || *c == 'M' ? 6 : 0;
    c += zeros > 0 ? 1 : 0;
    if ( digits == 0 || *c != '\0' || ( in_fraction && fraction_digits == 0 ) || fraction_digits > zeros )
    {
        return false;
    }
    for ( ; zeros > fraction_digits; --zeros )
    {
        if ( value > UINT64_MAX / 10 )
        {
            return false;
        }
        value *= 10;
    }
    *size = value;
    return true;
}

text_short text_size( uint64_t size )
{
    text_short shown;
    uint64_t unit = size == 0 ? 1 : size % 1000000 == 0 ? 1000000 : size % 1000 == 0 ? 1000 : 1;
    snprintf( shown.text, sizeof( shown.text ), "%" PRIu64 "%s", size / unit,
        unit == 1000000    ? "m"
            : unit == 1000 ? "k"
                           : "" );
    return shown;
}

text_short text_bytes( uint64_t bytes )
{
    static const char* const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    text_short shown;
    double value = (double)bytes;
    size_t unit = 0;
    while ( value >= 1024 && unit + 1 < sizeof( units ) / sizeof( units[0] ) )
    {
        value /= 1024;
        unit += 1;
    }
    snprintf( shown.text, sizeof( shown.text ), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit] );
    return shown;
}

size_t text_width( const char* text )
{
    size_t width = 0;
    for ( const char* c = text; *c != '\0'; ++c )
    {
        width += ( (unsigned char)*c & 0xC0 ) != 0x80 ? 1 : 0;
    }
    return width;
}

size_t text_fold( const char* text, size_t room )
{
    size_t bytes = 0, space = 0;
    for ( size_t width = 0; text[bytes] != '\0' && width < room; ++width )
    {
        space = text[bytes] == ' ' ? bytes : space;
        bytes += 1;
        while ( ( (unsigned char)text[bytes] & 0xC0 ) == 0x80 )
        {
            bytes += 1;
        }
    }
    return text[bytes] == '\0' || text[bytes] == ' ' || space == 0 ? bytes : space;
}

// ---- choice

bool choice_find( const choice* list, const char* word, int* value )
{
    for ( const choice* known = list; known->word != NULL; ++known )
    {
        if ( strcmp( known->word, word ) == 0 )
        {
            *value = known->value;
            return true;
        }
    }
    return false;
}

int choice_value( const choice* list, const char* word )
{
    int value = list[0].value;
    choice_find( list, word, &value );
    return value;
}

text_long choice_advice( const choice* list, const char* word )
{
    text_list known = { 0 };
    for ( ; list->word != NULL; ++list )
    {
        text_list_add( &known, list->word );
    }
    return text_advice( word, known, "use", " or " );
}

const char* text_take_flag( int* argc, char*** argv, const char* flag )
{
    const size_t length = strlen( flag );
    const char* word = *argc > 1 ? ( *argv )[1] : "";
    bool is_joined = text_starts_with( word, flag ) && word[length] == '=';
    if ( !is_joined && strcmp( word, flag ) != 0 )
    {
        return NULL;
    }
    const char* value = is_joined ? word + length + 1 : *argc > 2 ? ( *argv )[2] : "";
    int taken = is_joined || *argc < 3 ? 1 : 2;
    *argc -= taken;
    *argv += taken;
    return value;
}

// ---- lines

bool text_line_fail( const text_line* line, const char* word, const char* message )
{
    return word == NULL
        ? lab_error_write( line->why, "%s:%u: %s", line->path, line->number, message )
        : lab_error_write( line->why, "%s:%u: '%.200s': %s", line->path, line->number, word, message );
}

const char* text_line_next( text_line* line )
{
    return line->next < line->words.count ? line->words.items[line->next++] : NULL;
}

#define BLANKS " \t\r"

// Takes the words of a line apart; `text` is written to, and then `words` is a copy.
static bool read_line( text_line* line, char* text, text_line_read* read, void* user )
{
    text[strcspn( text, "#" )] = '\0';
    for ( size_t end = strlen( text ); end > 0 && strchr( BLANKS, text[end - 1] ) != NULL; --end )
    {
        text[end - 1] = '\0';
    }
    char* word = text + strspn( text, BLANKS );
    char* rest = word + strcspn( word, BLANKS );
    char* values = rest + strspn( rest, BLANKS );
    line->rest = values;
    for ( char* value = values; *value != '\0'; value += strspn( value, BLANKS ) )
    {
        size_t length = strcspn( value, BLANKS );
        char* copy = text_format( "%.*s", (int)length, value );
        text_list_add( &line->words, copy );
        free( copy );
        value += length;
    }
    *rest = '\0';
    line->word = word;
    line->next = 0;
    return *word == '\0' || read( line, user );
}

bool text_lines_read( const char* path, const char* text, text_line_read* read, void* user, lab_error* why )
{
    bool good = true;
    text_line line = { .path = path, .why = why };
    for ( const char* start = text; good && *start != '\0'; )
    {
        size_t length = strcspn( start, "\n" );
        char* copy = text_format( "%.*s", (int)length, start );
        line.number += 1;
        good = read_line( &line, copy, read, user );
        text_list_free( &line.words );
        free( copy );
        start += length + ( start[length] == '\n' ? 1 : 0 );
    }
    return good;
}

#define TEXT_FILE_MOST ( (uint64_t)1 << 20 )

char* text_file_read( const char* path, const char* noun, lab_error* why )
{
    platform_entry entry = platform_look( path );
    bool is_file = entry.kind == PLATFORM_FILE || entry.kind == PLATFORM_MISSING;
    if ( !is_file || entry.size > TEXT_FILE_MOST )
    {
        lab_error_write( why, "%s: is not %s; name a text file of at most 1 MiB", path, noun );
        return NULL;
    }
    char* text = NULL;
    uint64_t length = 0;
    if ( !platform_read( path, &text, &length ) && text == NULL )
    {
        lab_error_write( why, "%s: cannot be read: %s; check the name", path, strerror( errno ) );
        return NULL;
    }
    if ( strlen( text ) != length )
    {
        lab_error_write(
            why, "%s: byte %" PRIu64 ": is no text; name %s", path, (uint64_t)strlen( text ), noun );
        free( text );
        return NULL;
    }
    return text;
}
