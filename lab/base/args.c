// SPDX-License-Identifier: MIT
#include "lab/base/args.h"

#include "lab/base/platform.h"
#include "lab/base/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void size_list_add( size_list* list, uint64_t size )
{
    *lab_list_next( list->items, list->count ) = size;
}

void size_list_add_all( size_list* list, const size_list* from )
{
    for ( uint32_t index = 0; index < from->count; ++index )
    {
        size_list_add( list, from->items[index] );
    }
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
        char letter = flag->name[1] != '-' ? flag->name[1] : flag->letter;
        if ( letter != 0 && word[0] == '-' && word[1] == letter )
        {
            *value = word[2] != '\0' ? word + 2 : NULL;
            return flag;
        }
    }
    return NULL;
}

static const char* program_of( const args_table* table )
{
    return table->program != NULL ? table->program : "cleave";
}

static bool no_switch; // flags of the program are read elsewhere
static const char* no_text;

const args_flag args_program_flags[] = {
    ARGS_ROW( "--help", 'h', ARGS_SWITCH, &no_switch, NULL, "print this; behind a command: its help", 0, 0 ),
    ARGS_ROW( "--version", 'V', ARGS_SWITCH, &no_switch, NULL, "print the version", 0, 0 ),
    ARGS_ROW_TEXT( "--plugin", &no_text, "FILE",
        "load methods from a shared object, then run the command; may be repeated" ),
    ARGS_ROW_WORDS( "--ansi", ARGS_TEXT, &no_text, "WHEN", terminal_wishes,
        "colours on the terminal: auto, always or never (default auto)" ),
};
const uint32_t args_program_flag_count = sizeof( args_program_flags ) / sizeof( args_program_flags[0] );

static bool fail_unknown( const args_table* table, const char* word, lab_error* why )
{
    char* bare = text_copy( word );
    bare[strcspn( bare, "=" )] = '\0';
    for ( uint32_t index = 0; index < args_program_flag_count; ++index )
    {
        if ( strcmp( args_program_flags[index].name, bare ) == 0 )
        {
            free( bare );
            return lab_error_write( why, "%s: %s comes before the command: %s %s%s%s %s", table->command,
                args_program_flags[index].name, program_of( table ), args_program_flags[index].name,
                args_program_flags[index].value_name != NULL ? " " : "",
                args_program_flags[index].value_name != NULL ? args_program_flags[index].value_name : "",
                table->command );
        }
    }
    text_guess guess = text_guess_begin( bare );
    text_guess_try( &guess, "--help" );
    for ( uint32_t index = 0; index < table->flag_count; ++index )
    {
        text_guess_try( &guess, table->flags[index].name );
    }
    lab_error_write( why, "%s: unknown flag %s; %s`%s %s --help` lists the flags", table->command, bare,
        text_guess_say( &guess ), program_of( table ), table->command );
    free( bare );
    return false;
}

// "COMMAND: FLAG MESSAGE", the flag as users know it: -n where there is a letter. Always false.
static bool fail_flag( const args_table* table, const args_flag* flag, lab_error* why, const char* format,
    ... ) LAB_ERROR_FORMAT( 4, 5 );

static bool fail_flag(
    const args_table* table, const args_flag* flag, lab_error* why, const char* format, ... )
{
    char message[900];
    const char letter[3] = { '-', flag->letter, '\0' };
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( message, sizeof( message ), format, arguments );
    va_end( arguments );
    return lab_error_write(
        why, "%s: %s%s", table->command, flag->letter != 0 ? letter : flag->name, message );
}

// Sizes are written in many ways; of the other numbers the range is what a user wants to know.
static bool fail_size( const args_table* table, const args_flag* flag, const char* text, lab_error* why )
{
    if ( flag->kind == ARGS_SIZE || flag->kind == ARGS_SIZES )
    {
        return fail_flag( table, flag, why, " '%s' is no size; write 8000, 8k, 128k or 1m", text );
    }
    return fail_flag( table, flag, why, " '%s' is no %s; use %" PRIu64 " to %" PRIu64, text,
        flag->kind == ARGS_SEED ? "seed" : "number", flag->least, flag->most );
}

static bool read_size(
    const args_table* table, const args_flag* flag, const char* text, uint64_t* size, lab_error* why )
{
    if ( !text_parse_size( text, size ) )
    {
        return fail_size( table, flag, text, why );
    }
    return ( *size >= flag->least && *size <= flag->most ) ||
        fail_flag( table, flag, why, " %s is out of range; use %" PRIu64 " to %" PRIu64, text, flag->least,
            flag->most );
}

static bool read_number(
    const args_table* table, const args_flag* flag, const char* text, double* number, lab_error* why )
{
    char* end = NULL;
    errno = 0;
    *number = strtod( text, &end );
    // The comparisons are written so that NaN fails them.
    bool is_number = end != text && *end == '\0' && errno == 0;
    return ( is_number && *number >= 0 && *number <= (double)flag->most ) ||
        fail_flag( table, flag, why, " '%s' is no number%s; use 0 to %" PRIu64, text,
            flag->kind == ARGS_SECONDS ? " of seconds" : "", flag->most );
}

static bool read_sizes( const args_table* table, const args_flag* flag, const char* text, lab_error* why )
{
    text_list items = { 0 };
    bool good = text_list_add_split( &items, text ) ||
        fail_flag( table, flag, why, " '%s' has an empty item; write %s", text,
            flag->kind == ARGS_SIZES ? "8k,32k" : "1,2" );
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

// ---- words out of a list

static bool check_word( const args_table* table, const args_flag* flag, const char* word, lab_error* why )
{
    int ignored = 0;
    const choice* choices = flag->choices;
    return choices == NULL || choice_find( choices, word, &ignored ) ||
        fail_flag(
            table, flag, why, ": there is no '%.200s'; %s", word, choice_advice( choices, word ).text );
}

static bool read_texts( const args_table* table, const args_flag* flag, const char* text, lab_error* why )
{
    text_list* list = flag->value;
    uint32_t first = list->count;
    bool good =
        text_list_add_split( list, text ) || fail_flag( table, flag, why, " '%s' has an empty item", text );
    for ( uint32_t index = first; good && index < list->count; ++index )
    {
        good = check_word( table, flag, list->items[index], why );
    }
    return good;
}

static bool read_value( const args_table* table, const args_flag* flag, const char* text, lab_error* why )
{
    switch ( flag->kind )
    {
    case ARGS_TEXT:
        *(const char**)flag->value = text;
        return ( text[0] != '\0' ||
                   fail_flag( table, flag, why, " needs a %s that is not empty", flag->value_name ) ) &&
            check_word( table, flag, text, why );
    case ARGS_NAME:
        return snprintf( flag->value, ARGS_NAME_ROOM, "%s", text ) < ARGS_NAME_ROOM ||
            lab_error_write( why, "%s: %s '%s' is longer than %d characters", table->command, flag->name,
                text, ARGS_NAME_ROOM - 1 );
    case ARGS_SIZE:
    case ARGS_COUNT:
    case ARGS_SEED: return read_size( table, flag, text, flag->value, why );
    case ARGS_SECONDS:
    case ARGS_NUMBER: return read_number( table, flag, text, flag->value, why );
    case ARGS_SIZES:
    case ARGS_COUNTS: return read_sizes( table, flag, text, why );
    case ARGS_TEXTS: return read_texts( table, flag, text, why );
    case ARGS_SWITCH: break;
    }
    return true;
}

// A lone "-" is a value (standard output) and so is "-1", wrong as it may be; "-n" after "-o" is a flag.
static bool is_value( const char* word )
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
    if ( table->given != NULL )
    {
        table->given[flag - table->flags] = true;
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
        if ( *position + 1 >= argc || !is_value( argv[*position + 1] ) )
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
        return lab_error_write( why, "%s: needs %s; usage: %s %s %s", table->command, table->operand_name,
            program_of( table ), table->command, table->usage );
    }
    if ( operands->count > table->operand_most )
    {
        return lab_error_write( why, "%s: does not know what to do with '%s'; usage: %s %s %s",
            table->command, operands->items[table->operand_most], program_of( table ), table->command,
            table->usage );
    }
    for ( uint32_t index = 0; table->operand_choices != NULL && index < operands->count; ++index )
    {
        int ignored = 0;
        const char* word = operands->items[index];
        if ( !choice_find( table->operand_choices, word, &ignored ) )
        {
            return lab_error_write( why, "%s: '%.200s' is not %s; %s", table->command, word,
                table->operand_name, choice_advice( table->operand_choices, word ).text );
        }
    }
    return true;
}

// ---- help

// Columns below which folding is no help.
#define FOLDED_LEAST 16

char* args_flag_help( const args_flag* flag )
{
    bool is_number = flag->kind == ARGS_SIZE || flag->kind == ARGS_COUNT || flag->kind == ARGS_SEED;
    uint64_t number = is_number ? *(const uint64_t*)flag->value : ARGS_UNSET;
    if ( number != ARGS_UNSET && flag->kind == ARGS_SIZE )
    {
        return text_format( "%s (default %s)", flag->help, text_size( number ).text );
    }
    if ( number != ARGS_UNSET )
    {
        return text_format( "%s (default %" PRIu64 ")", flag->help, number );
    }
    const char* text = flag->kind == ARGS_TEXT ? *(const char**)flag->value
        : flag->kind == ARGS_NAME              ? (const char*)flag->value
                                               : NULL;
    return text != NULL ? text_format( "%s (default %s)", flag->help, text ) : text_copy( flag->help );
}

// A line as the locale can show it, without what belongs to the next.
static void print_line( terminal_style style, const char* line, size_t length, FILE* stream )
{
    char* part = text_format( "%.*s", (int)length, line );
    char* shown = terminal_text( part );
    terminal_print( style, stream, "%s", shown );
    fputc( '\n', stream );
    free( shown );
    free( part );
}

// Titles of rows stand out.
static void print_text( const char* text, FILE* stream )
{
    for ( const char* line = text; *line != '\0'; )
    {
        size_t length = strcspn( line, "\n" );
        const char* next = line + length + ( line[length] == '\n' ? 1 : 0 );
        bool is_title = length > 0 && line[0] != ' ' && line[length - 1] == ':' && next[0] == ' ';
        print_line( is_title ? TERMINAL_HEADING : TERMINAL_PLAIN, line, length, stream );
        line = next;
    }
}

static void print_flag( const args_flag* flag, FILE* stream )
{
    const size_t column = 28; // where texts begin
    char letter[8] = "    ";
    if ( flag->letter != 0 )
    {
        snprintf( letter, sizeof( letter ), "-%c, ", flag->letter );
    }
    char* left = text_format( "  %s%s %s", flag->name[1] == '-' ? letter : "", flag->name,
        flag->value_name != NULL ? flag->value_name : "" );
    char* help = args_flag_help( flag );
    int padding = text_width( left ) + 2 <= column ? (int)( column - text_width( left ) ) : 2;
    // A terminal that is too narrow gets the rest below, set in; files and pipes get one line.
    size_t columns = platform_stream_columns( stream );
    size_t indent = text_width( left ) + (size_t)padding;
    const char* rest = help;
    while ( *rest != '\0' )
    {
        size_t length = text_fold( rest, columns > indent + FOLDED_LEAST ? columns - indent : SIZE_MAX );
        char* line = text_format( "%s%*s%.*s", rest == help ? left : "", rest == help ? padding : (int)indent,
            "", (int)length, rest );
        print_line( TERMINAL_PLAIN, line, strlen( line ), stream );
        free( line );
        rest += length;
        rest += *rest == ' ' ? 1 : 0;
        indent = column;
    }
    free( help );
    free( left );
}

void args_print_help( const args_table* table, FILE* stream )
{
    char* usage = text_format( " %s%s%s %s\n\n", program_of( table ), table->command != NULL ? " " : "",
        table->command != NULL ? table->command : "", table->usage );
    terminal_print( TERMINAL_HEADING, stream, "Usage:" );
    print_text( usage, stream );
    print_text( table->about, stream );
    free( usage );
    if ( table->flag_count > 0 )
    {
        fputc( '\n', stream );
        print_line( TERMINAL_HEADING, "Flags:", 6, stream );
    }
    for ( uint32_t index = 0; index < table->flag_count; ++index )
    {
        print_flag( &table->flags[index], stream );
    }
    if ( table->notes != NULL )
    {
        fputc( '\n', stream );
        print_text( table->notes, stream );
    }
    fputc( '\n', stream );
    print_line( TERMINAL_HEADING, "Example:", 8, stream );
    print_text( table->example, stream );
}

// ---- all together

static args_visitor* s_visitor;
static void* s_visitor_user;

void args_visit( lab_status ( *command )( int argc, char** argv ), args_visitor* visit, void* user )
{
    s_visitor = visit;
    s_visitor_user = user;
    command( 0, NULL );
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

bool args_read( const args_table* table, int argc, char** argv, text_list* operands, lab_error* why )
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

void args_free_value( args_kind kind, void* value )
{
    if ( kind == ARGS_TEXTS )
    {
        text_list_free( value );
    }
    else if ( kind == ARGS_SIZES || kind == ARGS_COUNTS )
    {
        size_list_free( value );
    }
}

lab_status args_run( const args_table* table, int argc, char** argv, args_command* command, void* flags )
{
    if ( s_visitor != NULL )
    {
        args_visitor* visit = s_visitor;
        s_visitor = NULL; // one table, though the visitor may run commands itself
        visit( table, s_visitor_user );
        return LAB_DONE;
    }
    if ( asks_for_help( argc, argv ) )
    {
        args_print_help( table, stdout );
        return LAB_DONE;
    }
    lab_error why;
    text_list operands = { 0 };
    bool good = args_read( table, argc, argv, &operands, &why ) && command( flags, &operands, &why );
    lab_status status = good ? LAB_DONE : lab_error_print( &why );
    text_list_free( &operands );
    for ( uint32_t index = 0; index < table->flag_count; ++index )
    {
        args_free_value( table->flags[index].kind, table->flags[index].value );
    }
    return status;
}
