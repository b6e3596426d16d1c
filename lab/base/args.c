// SPDX-License-Identifier: MIT
#include "lab/base/args.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// More than any command has; the closest name is looked for among them.
#define FLAGS_MOST 32

void size_list_add( size_list* list, uint64_t size )
{
    *lab_list_next( list->items, list->count ) = size;
}

void size_list_free( size_list* list )
{
    free( list->items );
    list->items = NULL;
    list->count = 0;
}

bool args_is_help( const char* word )
{
    return strcmp( word, "--help" ) == 0 || strcmp( word, "-h" ) == 0;
}

// "--frames" or "--frames=60" for a long name; "-n" or "-n8k" for a letter. *value is what is glued on, or
// NULL.
static const args_flag* find_flag( const args_table* table, const char* word, const char** value )
{
    *value = NULL;
    for ( uint32_t index = 0; index < table->flag_count; ++index )
    {
        const args_flag* flag = &table->flags[index];
        size_t length = strlen( flag->name );
        if ( strncmp( word, flag->name, length ) == 0 && ( word[length] == '\0' || word[length] == '=' ) )
        {
            *value = word[length] == '=' ? word + length + 1 : NULL;
            return flag;
        }
        if ( flag->letter != 0 && word[0] == '-' && word[1] == flag->letter )
        {
            *value = word[2] != '\0' ? word + 2 : NULL;
            return flag;
        }
    }
    return NULL;
}

static bool fail_unknown( const args_table* table, const char* word, lab_error* why )
{
    const char* names[FLAGS_MOST + 1] = { "--help" };
    uint32_t count = 1;
    for ( uint32_t index = 0; index < table->flag_count && count <= FLAGS_MOST; ++index )
    {
        names[count++] = table->flags[index].name;
    }
    size_t length = strcspn( word, "=" );
    char* bare = text_copy( word );
    bare[length] = '\0';
    const char* closest = text_closest( bare, names, count );
    if ( closest != NULL )
    {
        lab_error_write( why, "%s: unknown flag %s; did you mean %s?", table->command, bare, closest );
    }
    else
    {
        lab_error_write( why, "%s: unknown flag %s; `cleave %s --help` lists the flags", table->command, bare,
            table->command );
    }
    free( bare );
    return false;
}

// As users know it: -n where there is a letter.
static const char* shown_name( const args_flag* flag, char buffer[3] )
{
    buffer[0] = '-';
    buffer[1] = flag->letter;
    buffer[2] = '\0';
    return flag->letter != 0 ? buffer : flag->name;
}

// Sizes are written in many ways; of the other numbers the range is what a user wants to know.
static bool fail_size( const args_table* table, const args_flag* flag, const char* text, lab_error* why )
{
    char letter[3];
    const char* name = shown_name( flag, letter );
    if ( flag->kind == ARGS_SIZE || flag->kind == ARGS_SIZES )
    {
        return lab_error_write(
            why, "%s: %s '%s' is no size; write 8000, 8k, 128k or 1m", table->command, name, text );
    }
    return lab_error_write( why, "%s: %s '%s' is no %s; use %" PRIu64 " to %" PRIu64, table->command, name,
        text, flag->kind == ARGS_SEED ? "seed" : "number", flag->least, flag->most );
}

static bool read_size(
    const args_table* table, const args_flag* flag, const char* text, uint64_t* size, lab_error* why )
{
    if ( !text_parse_size( text, size ) )
    {
        return fail_size( table, flag, text, why );
    }
    if ( *size < flag->least || *size > flag->most )
    {
        return lab_error_write( why, "%s: %s %s is out of range; use %" PRIu64 " to %" PRIu64, table->command,
            shown_name( flag, ( char[3] ){ 0 } ), text, flag->least, flag->most );
    }
    return true;
}

static bool read_number(
    const args_table* table, const args_flag* flag, const char* text, double* number, lab_error* why )
{
    char* end = NULL;
    errno = 0;
    double value = strtod( text, &end );
    // The comparisons are written so that NaN fails them.
    if ( end == text || *end != '\0' || errno != 0 || !( value >= 0 && value <= (double)flag->most ) )
    {
        return lab_error_write( why, "%s: %s '%s' is no number%s; use 0 to %" PRIu64, table->command,
            shown_name( flag, ( char[3] ){ 0 } ), text, flag->kind == ARGS_SECONDS ? " of seconds" : "",
            flag->most );
    }
    *number = value;
    return true;
}

static bool read_sizes( const args_table* table, const args_flag* flag, const char* text, lab_error* why )
{
    text_list items = { 0 };
    if ( !text_list_add_split( &items, text ) )
    {
        text_list_free( &items ); // what stood before the empty item made room
        return lab_error_write( why, "%s: %s '%s' has an empty item; write %s", table->command,
            shown_name( flag, ( char[3] ){ 0 } ), text, flag->kind == ARGS_SIZES ? "8k,32k" : "1,2" );
    }
    bool good = true;
    for ( uint32_t index = 0; good && index < items.count; ++index )
    {
        uint64_t size = 0;
        good = read_size( table, flag, items.items[index], &size, why );
        if ( good )
        {
            size_list_add( flag->value, size );
        }
    }
    text_list_free( &items );
    return good;
}

static bool read_value( const args_table* table, const args_flag* flag, const char* text, lab_error* why )
{
    switch ( flag->kind )
    {
    case ARGS_TEXT:
        if ( text[0] == '\0' )
        {
            return lab_error_write( why, "%s: %s needs a %s that is not empty", table->command,
                shown_name( flag, ( char[3] ){ 0 } ), flag->value_name );
        }
        *(const char**)flag->value = text;
        return true;
    case ARGS_SIZE:
    case ARGS_COUNT:
    case ARGS_SEED: return read_size( table, flag, text, flag->value, why );
    case ARGS_SECONDS:
    case ARGS_NUMBER: return read_number( table, flag, text, flag->value, why );
    case ARGS_SIZES:
    case ARGS_COUNTS: return read_sizes( table, flag, text, why );
    case ARGS_TEXTS:
        if ( !text_list_add_split( flag->value, text ) )
        {
            return lab_error_write( why, "%s: %s '%s' has an empty item", table->command,
                shown_name( flag, ( char[3] ){ 0 } ), text );
        }
        return true;
    case ARGS_SWITCH: break;
    }
    return true;
}

bool args_is_value( const char* word )
{
    return word[0] != '-' || word[1] == '\0' || ( word[1] >= '0' && word[1] <= '9' );
}

// One flag and its value; *position moves past the value if that is a word of its own.
static bool read_flag( const args_table* table, int argc, char** argv, int* position, lab_error* why )
{
    const char* word = argv[*position];
    const char* text = NULL;
    const args_flag* flag = find_flag( table, word, &text );
    if ( flag == NULL )
    {
        return fail_unknown( table, word, why );
    }
    if ( flag->kind == ARGS_SWITCH )
    {
        if ( text != NULL )
        {
            return lab_error_write(
                why, "%s: %s takes no value, yet has '%s'", table->command, flag->name, text );
        }
        *(bool*)flag->value = true;
        return true;
    }
    if ( text == NULL )
    {
        if ( *position + 1 >= argc || !args_is_value( argv[*position + 1] ) )
        {
            return lab_error_write(
                why, "%s: %s needs a value: %s %s", table->command, word, word, flag->value_name );
        }
        text = argv[++*position];
    }
    return read_value( table, flag, text, why );
}

static bool check_operands( const args_table* table, const text_list* operands, lab_error* why )
{
    if ( operands->count < table->operand_least )
    {
        return lab_error_write( why, "%s: needs %s; usage: cleave %s %s", table->command, table->operand_name,
            table->command, table->usage );
    }
    if ( operands->count > table->operand_most )
    {
        return lab_error_write( why, "%s: does not know what to do with '%s'; usage: cleave %s %s",
            table->command, operands->items[table->operand_most], table->command, table->usage );
    }
    return true;
}

static void print_default( const args_flag* flag )
{
    char size[TEXT_SIZE_ROOM];
    bool is_number = flag->kind == ARGS_SIZE || flag->kind == ARGS_COUNT || flag->kind == ARGS_SEED;
    uint64_t number = is_number ? *(const uint64_t*)flag->value : ARGS_UNSET;
    if ( number != ARGS_UNSET && flag->kind == ARGS_SIZE )
    {
        printf( " (default %s)", text_size( number, size ) );
    }
    else if ( number != ARGS_UNSET )
    {
        printf( " (default %" PRIu64 ")", number );
    }
    else if ( flag->kind == ARGS_TEXT && *(const char**)flag->value != NULL )
    {
        printf( " (default %s)", *(const char**)flag->value );
    }
}

static void print_help( const args_table* table )
{
    printf( "Usage: cleave %s %s\n\n%s\n", table->command, table->usage, table->about );
    if ( table->flag_count > 0 )
    {
        printf( "\nFlags:\n" );
    }
    for ( uint32_t index = 0; index < table->flag_count; ++index )
    {
        const args_flag* flag = &table->flags[index];
        char left[64];
        char letter[8] = "    ";
        if ( flag->letter != 0 )
        {
            snprintf( letter, sizeof( letter ), "-%c, ", flag->letter );
        }
        snprintf( left, sizeof( left ), "  %s%s %s", letter, flag->name,
            flag->value_name != NULL ? flag->value_name : "" );
        int padding = text_width( left ) < 28 ? (int)( 28 - text_width( left ) ) : 1;
        printf( "%s%*s%s", left, padding, "", flag->help );
        print_default( flag );
        printf( "\n" );
    }
    if ( table->notes != NULL )
    {
        printf( "\n%s\n", table->notes );
    }
    printf( "\nExample:\n%s\n", table->example );
}

static bool asks_for_help( int argc, char** argv )
{
    for ( int index = 0; index < argc && strcmp( argv[index], "--" ) != 0; ++index )
    {
        if ( args_is_help( argv[index] ) )
        {
            return true;
        }
    }
    return false;
}

static bool read_words( const args_table* table, int argc, char** argv, text_list* operands, lab_error* why )
{
    bool flags_end = false;
    for ( int position = 0; position < argc; ++position )
    {
        const char* word = argv[position];
        if ( !flags_end && strcmp( word, "--" ) == 0 )
        {
            flags_end = true;
        }
        else if ( !flags_end && word[0] == '-' && word[1] != '\0' )
        {
            if ( !read_flag( table, argc, argv, &position, why ) )
            {
                return false;
            }
        }
        else
        {
            text_list_add( operands, word );
        }
    }
    return check_operands( table, operands, why );
}

lab_status args_run( const args_table* table, int argc, char** argv, args_command* command, void* flags )
{
    if ( asks_for_help( argc, argv ) )
    {
        print_help( table );
        return LAB_DONE;
    }
    lab_error why;
    text_list operands = { 0 };
    lab_status status = read_words( table, argc, argv, &operands, &why ) ? command( flags, &operands )
                                                                         : lab_error_print( &why );
    text_list_free( &operands );
    return status;
}
