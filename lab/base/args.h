// SPDX-License-Identifier: MIT
// Flags of a command, read by a table. The same table prints the help, so that neither can forget a flag.
#pragma once

#include "lab/base/error.h"
#include "lab/base/text.h"

typedef enum args_kind
{
    ARGS_SWITCH,  ///< bool, no value
    ARGS_TEXT,    ///< const char*, into argv
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

/// Zero-initialised is empty.
typedef struct size_list
{
    uint64_t* items;
    uint32_t count;
} size_list;

void size_list_add( size_list* list, uint64_t size );
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
} args_flag;

typedef struct args_table
{
    const char* command; ///< "bench"
    const char* usage;   ///< what follows "cleave bench"
    const char* about;   ///< a sentence or paragraph
    const char* notes;   ///< printed below the flags, or NULL
    const char* example; ///< lines of "cleave …"
    const args_flag* flags;
    uint32_t flag_count;
    const char* operand_name; ///< in "needs …": "a WHAT", "an EXPERIMENT"; NULL if there are none
    uint32_t operand_least, operand_most;
} args_table;

/// A command: `flags` is what the values of its table are in, `operands` the other words. It may take those over.
typedef lab_status args_command( void* flags, text_list* operands );

/// Reads argv[0 .. argc) of a command (its name is not among them): "--flag value", "--flag=value", "-n 8k", "-n8k"; "--" ends
/// the flags. A flag given twice counts the last time, except lists, which grow. Then runs the command; or prints the help, if
/// that was asked for, or what is wrong.
lab_status args_run( const args_table* table, int argc, char** argv, args_command* command, void* flags );

/// True for the words --help and -h.
bool args_is_help( const char* word );

/// A lone "-" is a value (standard output) and so is "-1", wrong as it may be; "-n" after "-o" is a flag.
bool args_is_value( const char* word );
