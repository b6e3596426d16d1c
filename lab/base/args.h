// SPDX-License-Identifier: MIT
// Flags of a command, read by a table. The same table prints the help, so that neither can forget a flag.
#pragma once

#include "lab/base/error.h"
#include "lab/base/text.h"

#include <stdio.h>

typedef enum args_kind
{
    ARGS_SWITCH,  ///< bool, no value
    ARGS_TEXT,    ///< const char*, into argv
    ARGS_NAME,    ///< char[ARGS_NAME_ROOM], a copy
    ARGS_SIZE,    ///< uint64_t, how many objects, as text_parse_size reads it, least .. most
    ARGS_COUNT,   ///< likewise, of anything else: frames, passes, MiB
    ARGS_SEED,    ///< likewise, of random numbers
    ARGS_SECONDS, ///< double, 0 .. most
    ARGS_NUMBER,  ///< likewise, of anything else
    ARGS_TEXTS,   ///< text_list, comma separated, may be repeated
    ARGS_SIZES,   ///< size_list, likewise, each least .. most
    ARGS_COUNTS,  ///< likewise, of anything else
} args_kind;

/// A size that is not set; as a default it stays out of the help.
#define ARGS_UNSET UINT64_MAX

#define ARGS_NAME_ROOM 64

/// Zero-initialised is empty.
typedef struct size_list
{
    uint64_t* items;
    uint32_t count;
} size_list;

void size_list_add( size_list* list, uint64_t size );
void size_list_add_all( size_list* list, const size_list* from );
void size_list_free( size_list* list );

typedef struct args_flag
{
    const char* name; ///< "--frames"
    char letter;      ///< 'n' for -n, or 0
    args_kind kind;
    void* value;            ///< of the kind's type; holds the default before parsing
    const char* value_name; ///< in the help: "F", "OUT"; NULL for a switch
    const char* help;       ///< one sentence, without full stop
    uint64_t least, most;   ///< for sizes, seconds and numbers
    const choice* choices;  ///< of a text: any other word is refused, with the one that was meant; or NULL
} args_flag;

/// Texts are paragraphs; rows below a line "Title:" begin with two spaces, and have a name, two spaces more
/// and a text. Commands, flags and the like stand in `…`.
typedef struct args_table
{
    const char* program; ///< NULL: "cleave"
    const char* command; ///< "bench"; NULL: the program as a whole
    const char* usage;   ///< what follows "cleave bench"
    const char* about;   ///< a sentence or paragraph
    const char* notes;   ///< printed below the flags, or NULL
    const char* example; ///< lines of "cleave …"
    const args_flag* flags;
    uint32_t flag_count;
    bool* given;                   ///< by index of the flag: set if it is on the command line; or NULL
    const char* operand_name;      ///< in "needs …": "a WHAT", "an EXPERIMENT"; NULL if there are none
    const choice* operand_choices; ///< those there are, or NULL: any text
    uint32_t operand_least, operand_most;
} args_table;

/// Rows of an array of flags, by what they take, and of flags that many commands have.
#define ARGS_ROW( name, letter, kind, value, value_name, help, least, most )                                 \
    {                                                                                                        \
        name, letter, kind, value, value_name, help, least, most, NULL                                       \
    }
#define ARGS_ROW_WORDS( name, kind, value, value_name, choices, help )                                       \
    {                                                                                                        \
        name, 0, kind, value, value_name, help, 0, 0, choices                                                \
    }
#define ARGS_ROW_RANGE( name, kind, value, value_name, help, least, most )                                   \
    ARGS_ROW( name, 0, kind, value, value_name, help, least, most )
#define ARGS_ROW_SWITCH( name, value, help ) ARGS_ROW( name, 0, ARGS_SWITCH, value, NULL, help, 0, 0 )
#define ARGS_ROW_TEXT( name, value, value_name, help )                                                       \
    ARGS_ROW( name, 0, ARGS_TEXT, value, value_name, help, 0, 0 )
#define ARGS_ROW_TEXTS( name, value, value_name, help )                                                      \
    ARGS_ROW( name, 0, ARGS_TEXTS, value, value_name, help, 0, 0 )
#define ARGS_ROW_OUTPUT( value, value_name, help )                                                           \
    ARGS_ROW( "--output", 'o', ARGS_TEXT, value, value_name, help, 0, 0 )
#define ARGS_ROW_METHOD( value, help ) ARGS_ROW( "--method", 'm', ARGS_TEXT, value, "METHOD", help, 0, 0 )
#define ARGS_ROW_SETTINGS( value, help ) ARGS_ROW_TEXTS( "--set", value, "P=V,…", help )
#define ARGS_ROW_QUIET( value ) ARGS_ROW( "--quiet", 'q', ARGS_SWITCH, value, NULL, "no progress", 0, 0 )

/// One operand, and no other: of a table.
#define ARGS_ONE_OPERAND( name ) .operand_name = ( name ), .operand_least = 1, .operand_most = 1

/// The flags of a table, from an array of them.
#define ARGS_FLAGS( list ) .flags = ( list ), .flag_count = sizeof( list ) / sizeof( ( list )[0] )

/// A command: `flags` is what the values of its table are in, `operands` the other words. It may take those
/// over. False says what went wrong, and the program's exit status.
typedef bool args_command( void* flags, text_list* operands, lab_error* why );

/// Reads argv[0 .. argc) of a command (its name is not among them): "--flag value", "--flag=value", "-n 8k",
/// "-n8k"; "--" ends the flags. A flag given twice counts the last time, except lists, which grow. Then runs
/// the command and frees the lists; or prints the help, if that was asked for, or what is wrong.
lab_status args_run( const args_table* table, int argc, char** argv, args_command* command, void* flags );

/// Reads them alone; `operands` are the other words. False names what is wrong.
bool args_read( const args_table* table, int argc, char** argv, text_list* operands, lab_error* why );

/// Empties a value if its kind is a list.
void args_free_value( args_kind kind, void* value );

/// Flags of the program, which stand before the command.
extern const args_flag args_program_flags[];
extern const uint32_t args_program_flag_count;

/// Hands the table of a command to `visit` instead of running it: for listings of what there is.
typedef void args_visitor( const args_table* table, void* user );
void args_visit( lab_status ( *command )( int argc, char** argv ), args_visitor* visit, void* user );

/// What `--help` prints.
void args_print_help( const args_table* table, FILE* stream );

/// "use the first F frames (default 60)", to free; in UTF-8.
char* args_flag_help( const args_flag* flag );

/// True for the words --help and -h.
bool args_is_help( const char* word );
